/* oct/okey: octree keys. An oct of level l (1 <= l <= OKEY_LEVELS) has integer coordinates 0 <=
 * ix,iy,iz < 2^(l-1); its key interleaves their bits, x lowest: the key of the oct in cell c (c =
 * cx + 2 cy + 4 cz) of oct k is 8 k + c. So the key of the parent is key >> 3, the cell in the
 * parent key & 7, and Morton order is the order of the keys. In units of the box an oct of level l
 * is 2^(1-l) wide and its cells 2^-l. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/device.h"

#ifdef PTAH_MORTON128
typedef unsigned __int128 okey;
enum { OKEY_LEVELS = 42 };
#else
typedef uint64_t okey;
enum { OKEY_LEVELS = 21 };
#endif
typedef int32_t lidx; /* index of an oct in a level of this rank; -1: none */

/* Spreads 21 bits to every third bit, and the inverse. Some processors have an instruction (pdep);
 * on Zen 1 and 2 it is slower than shifts. */
#if defined __BMI2__ && !defined __znver1__ && !defined __znver2__ && !defined __CUDACC__
static inline uint64_t okey_spread21(uint64_t x)
{
    return __builtin_ia32_pdep_di(x, 0x1249249249249249u);
}

static inline uint64_t okey_squeeze21(uint64_t x)
{
    return __builtin_ia32_pext_di(x, 0x1249249249249249u);
}
#else
PTAH_HD_FN uint64_t okey_spread21(uint64_t x)
{
    x &= 0x1fffff;
    x = (x | x << 32) & 0x1f00000000ffffu;
    x = (x | x << 16) & 0x1f0000ff0000ffu;
    x = (x | x << 8) & 0x100f00f00f00f00fu;
    x = (x | x << 4) & 0x10c30c30c30c30c3u;
    x = (x | x << 2) & 0x1249249249249249u;
    return x;
}

PTAH_HD_FN uint64_t okey_squeeze21(uint64_t x)
{
    x &= 0x1249249249249249u;
    x = (x | x >> 2) & 0x10c30c30c30c30c3u;
    x = (x | x >> 4) & 0x100f00f00f00f00fu;
    x = (x | x >> 8) & 0x1f0000ff0000ffu;
    x = (x | x >> 16) & 0x1f00000000ffffu;
    x = (x | x >> 32) & 0x1fffff;
    return x;
}
#endif

PTAH_HD_FN okey okey_make(uint64_t ix, uint64_t iy, uint64_t iz)
{
    okey k = okey_spread21(ix) | okey_spread21(iy) << 1 | okey_spread21(iz) << 2;
#ifdef PTAH_MORTON128
    k |= (okey)(okey_spread21(ix >> 21) | okey_spread21(iy >> 21) << 1 |
                okey_spread21(iz >> 21) << 2)
         << 63;
#endif
    return k;
}

PTAH_HD_FN void okey_coords(okey k, int64_t x[3])
{
    for (int d = 0; d < 3; d++) {
        x[d] = (int64_t)okey_squeeze21((uint64_t)(k >> d));
#ifdef PTAH_MORTON128
        x[d] |= (int64_t)okey_squeeze21((uint64_t)(k >> (63 + d))) << 21;
#endif
    }
}

/* Key of the oct at offset (dx,dy,dz) octs on level l, wrapped periodically. *outside (may be
 * NULL): whether the box was left. */
PTAH_HD_FN okey okey_shift(okey k, int level, int dx, int dy, int dz, bool *outside)
{
    int64_t x[3], n = (int64_t)1 << (level - 1), s[3] = {dx, dy, dz};
    bool out = false;
    okey_coords(k, x);
    for (int d = 0; d < 3; d++) {
        x[d] += s[d];
        if (x[d] < 0 || x[d] >= n) {
            out = true;
            x[d] &= n - 1;
        }
    }
    if (outside) *outside = out;
    return okey_make((uint64_t)x[0], (uint64_t)x[1], (uint64_t)x[2]);
}

/* Centre of cell c of oct k; dx: cell size. */
PTAH_HD_FN void okey_cell_centre(okey k, int c, double dx, double x[3])
{
    int64_t q[3];
    okey_coords(k, q);
    for (int d = 0; d < 3; d++) x[d] = ((double)(2 * q[d] + (c >> d & 1)) + 0.5) * dx;
}
