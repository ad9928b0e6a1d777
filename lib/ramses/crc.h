/* ramses/crc: CRC-32 checksums over rows. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Checksums of rows that grow in parallel, in `parts` pieces that may be computed at the same time.
 */
struct crc_rows {
    int rows, parts;
    size_t *bytes; /* [parts] bytes of a row so far */
    uint32_t *sum; /* [parts][rows] zip_crc of each row */
};

void crc_rows_init(struct crc_rows *x, int rows, int parts);
void crc_rows_free(struct crc_rows *x);
/* Adds n bytes to a row in one part; row 0 counts the bytes. */
void crc_rows_add(struct crc_rows *x, int part, int row, const void *p, size_t n);
void crc_rows_join(struct crc_rows *x);    /* appends the other parts to the first */
uint32_t crc_rows_end(struct crc_rows *x); /* checksum of all rows in sequence; clears x */
