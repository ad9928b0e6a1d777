/* ramses/crc: see crc.h.
 *
 * The bytes are a polynomial over GF(2), and the checksum is its remainder mod P. So 16 bytes may
 * be replaced by their product with x^k mod P, added to those k bits later. Four rows of 16 bytes
 * are kept in registers, then folded into one, which zlib finishes. (Gopal et al., "Fast CRC
 * computation for generic polynomials using PCLMULQDQ", Intel 2009.) */
#include "ramses/crc.h"

#include <zlib.h>

#ifdef __PCLMUL__
#include <immintrin.h>

/* x^(512+32), x^(512-32) mod P, bits reversed; the same of 128. */
static const uint64_t FOUR[2] = {0x154442bd4, 0x1c6e41596}, ONE[2] = {0x1751997d0, 0x0ccaa009e};

static __m128i fold(__m128i a, __m128i by, __m128i next)
{
    return _mm_xor_si128(
        next, _mm_xor_si128(_mm_clmulepi64_si128(a, by, 0x00), _mm_clmulepi64_si128(a, by, 0x11)));
}

static uint32_t fold_all(uint32_t crc, const char *p, size_t n)
{
    const __m128i *row = (const __m128i *)p, four = _mm_loadu_si128((const __m128i *)FOUR),
                  one = _mm_loadu_si128((const __m128i *)ONE);
    __m128i a[4];
    char left[16];
    for (int k = 0; k < 4; k++) a[k] = _mm_loadu_si128(row + k);
    a[0] = _mm_xor_si128(a[0], _mm_cvtsi32_si128((int)~crc));
    for (size_t i = 4; i < n / 16; i += 4)
        for (int k = 0; k < 4; k++) a[k] = fold(a[k], four, _mm_loadu_si128(row + i + k));
    for (int k = 1; k < 4; k++) a[k] = fold(a[k - 1], one, a[k]);
    _mm_storeu_si128((__m128i *)left, a[3]);
    return (uint32_t)crc32_z(0xffffffff, (const unsigned char *)left, sizeof left);
}
#endif

uint32_t crc_add(uint32_t crc, const void *p, size_t n)
{
    const char *s = p;
    size_t most = 0;
#ifdef __PCLMUL__
    most = n / 64 * 64;
    if (most) crc = fold_all(crc, s, most);
#endif
    return (uint32_t)crc32_z(crc, (const unsigned char *)s + most, n - most);
}
