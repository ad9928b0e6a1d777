/* ramses/crc: the checksum of zlib, at memory speed where the machine has carry-less
 * multiplication. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Extends the sum over all bytes so far by n bytes; the sum over none is 0. */
uint32_t crc_add(uint32_t crc, const void *p, size_t n);

/* A sum that is not finished after each piece: that takes longer than a short piece itself. */
struct crc {
    uint32_t sum;
    bool folded; /* into `left`, instead of sum */
    char left[16];
};

/* Sums over rows, which grow side by side, and of which `parts` pieces may be computed at the same
 * time. */
struct crc_rows {
    int rows, parts;
    size_t *bytes;   /* [parts] of a row */
    struct crc *sum; /* [parts][rows] */
};

void crc_rows_init(struct crc_rows *x, int rows, int parts);
void crc_rows_free(struct crc_rows *x);
/* n bytes more of a row in one part; those of row 0 count. */
void crc_rows_add(struct crc_rows *x, int part, int row, const void *p, size_t n);
void crc_rows_join(struct crc_rows *x); /* the other parts follow after the first, which has all */
uint32_t crc_rows_end(struct crc_rows *x); /* of all rows, one after the other; empties them */
