/* ramses/crc: checksums over rows. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Sums over rows, which grow side by side, and of which `parts` pieces may be computed at the same
 * time. */
struct crc_rows {
    int rows, parts;
    size_t *bytes; /* [parts] of a row */
    uint32_t *sum; /* [parts][rows] of zip_crc */
};

void crc_rows_init(struct crc_rows *x, int rows, int parts);
void crc_rows_free(struct crc_rows *x);
/* n bytes more of a row in one part; those of row 0 count. */
void crc_rows_add(struct crc_rows *x, int part, int row, const void *p, size_t n);
void crc_rows_join(struct crc_rows *x); /* the other parts follow after the first, which has all */
uint32_t crc_rows_end(struct crc_rows *x); /* of all rows, one after the other; empties them */
