#include "ramses/crc.h"

#include <string.h>
#include <zlib.h>

#include "base/mem.h"
#include "io/zip.h"

void crc_rows_init(struct crc_rows *x, int rows, int parts)
{
    *x = (struct crc_rows){.rows = rows, .parts = parts};
    x->bytes = mem_zero(sizeof *x->bytes * (size_t)parts, "checkpoint");
    x->sum = mem_zero(sizeof *x->sum * (size_t)parts * (size_t)rows + 1, "checkpoint");
}

void crc_rows_free(struct crc_rows *x)
{
    FREE(x->bytes);
    FREE(x->sum);
}

void crc_rows_add(struct crc_rows *x, int part, int row, const void *p, size_t n)
{
    uint32_t *sum = &x->sum[(size_t)part * (size_t)x->rows + (size_t)row];
    *sum = zip_crc(*sum, p, n);
    if (row == 0) x->bytes[part] += n;
}

void crc_rows_join(struct crc_rows *x)
{
    for (int part = 1; part < x->parts; part++) {
        uint32_t *more = x->sum + (size_t)part * (size_t)x->rows;
        for (int row = 0; row < x->rows && x->bytes[part]; row++) {
            x->sum[row] = (uint32_t)crc32_combine(x->sum[row], more[row], (z_off_t)x->bytes[part]);
            more[row] = 0;
        }
        x->bytes[0] += x->bytes[part];
        x->bytes[part] = 0;
    }
}

uint32_t crc_rows_end(struct crc_rows *x)
{
    uint32_t all = 0;
    crc_rows_join(x);
    for (int row = 0; row < x->rows; row++)
        all = (uint32_t)crc32_combine(all, x->sum[row], (z_off_t)x->bytes[0]);
    if (x->rows) memset(x->sum, 0, sizeof *x->sum * (size_t)x->rows);
    x->bytes[0] = 0;
    return all;
}
