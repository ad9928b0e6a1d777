/* ramses/crc: see crc.h.
 *
 * The bytes are a polynomial over GF(2), and the checksum is its remainder mod P. So 16 bytes may
 * be replaced by their product with x^k mod P, added to those k bits later. Four rows of 16 bytes
 * are kept in registers, then folded into one, which zlib finishes. (Gopal et al., "Fast CRC
 * computation for generic polynomials using PCLMULQDQ", Intel 2009.) */
#include "ramses/crc.h"

#include <string.h>
#include <zlib.h>

#include "base/mem.h"

/* What was folded is like 16 bytes after none. */
static uint32_t crc_of(struct crc *c)
{
    if (c->folded)
        c->sum = (uint32_t)crc32_z(0xffffffff, (const unsigned char *)c->left, sizeof c->left);
    c->folded = false;
    return c->sum;
}

#ifdef __PCLMUL__
#include <immintrin.h>

/* x^(512+32), x^(512-32) mod P, bits reversed; the same of 128. */
static const uint64_t FOUR[2] = {0x154442bd4, 0x1c6e41596}, ONE[2] = {0x1751997d0, 0x0ccaa009e};

static __m128i fold(__m128i a, __m128i by, __m128i next)
{
    return _mm_xor_si128(
        next, _mm_xor_si128(_mm_clmulepi64_si128(a, by, 0x00), _mm_clmulepi64_si128(a, by, 0x11)));
}

static void fold_all(struct crc *c, const char *p, size_t n)
{
    const __m128i *row = (const __m128i *)p, four = _mm_loadu_si128((const __m128i *)FOUR),
                  one = _mm_loadu_si128((const __m128i *)ONE);
    __m128i a[4];
    for (int k = 0; k < 4; k++) a[k] = _mm_loadu_si128(row + k);
    a[0] = c->folded ? fold(_mm_loadu_si128((const __m128i *)c->left), one, a[0])
                     : _mm_xor_si128(a[0], _mm_cvtsi32_si128((int)~c->sum));
    for (size_t i = 4; i < n / 16; i += 4)
        for (int k = 0; k < 4; k++) a[k] = fold(a[k], four, _mm_loadu_si128(row + i + k));
    for (int k = 1; k < 4; k++) a[k] = fold(a[k - 1], one, a[k]);
    _mm_storeu_si128((__m128i *)c->left, a[3]);
    c->folded = true;
}
#endif

static void extend(struct crc *c, const void *p, size_t n)
{
    const char *s = p;
    size_t most = 0;
#ifdef __PCLMUL__
    most = n / 64 * 64;
    if (most) fold_all(c, s, most);
#endif
    if (n > most) c->sum = (uint32_t)crc32_z(crc_of(c), (const unsigned char *)s + most, n - most);
}

uint32_t crc_add(uint32_t crc, const void *p, size_t n)
{
    struct crc c = {.sum = crc};
    extend(&c, p, n);
    return crc_of(&c);
}

/* ---- rows ---- */

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
    extend(&x->sum[(size_t)part * (size_t)x->rows + (size_t)row], p, n);
    if (row == 0) x->bytes[part] += n;
}

void crc_rows_join(struct crc_rows *x)
{
    for (int part = 1; part < x->parts; part++) {
        struct crc *more = x->sum + (size_t)part * (size_t)x->rows;
        for (int row = 0; row < x->rows && x->bytes[part]; row++) {
            x->sum[row].sum = (uint32_t)crc32_combine(crc_of(&x->sum[row]), crc_of(&more[row]),
                                                      (z_off_t)x->bytes[part]);
            more[row].sum = 0;
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
        all = (uint32_t)crc32_combine(all, crc_of(&x->sum[row]), (z_off_t)x->bytes[0]);
    if (x->rows) memset(x->sum, 0, sizeof *x->sum * (size_t)x->rows);
    x->bytes[0] = 0;
    return all;
}
