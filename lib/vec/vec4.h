/* vec/vec4: four doubles in one register, such as half an oct. Not eight: vectors that the
 * processor does not have are shuffled number by number (gcc 12). All is inlined. */
#pragma once
#include <limits.h>
#include <stdbool.h>

#pragma GCC diagnostic ignored "-Wpsabi"

#define VEC4_INLINE static inline __attribute__((always_inline))

typedef double vec4 __attribute__((vector_size(32)));
typedef double vec4_any __attribute__((vector_size(32), may_alias, aligned(8)));
typedef long long vec4_mask __attribute__((vector_size(32)));

/* Arrays on the stack lie where doubles may lie, which is not where vectors may. */
VEC4_INLINE vec4 vec4_load(const double *x)
{
    return *(const vec4_any *)x;
}

VEC4_INLINE vec4 vec4_abs(vec4 x)
{
    return (vec4)((vec4_mask)x & ((vec4_mask){0} + LLONG_MAX));
}

VEC4_INLINE vec4 vec4_max(vec4 x, vec4 y)
{
    vec4 z;
    for (int c = 0; c < 4; c++) z[c] = x[c] > y[c] ? x[c] : y[c];
    return z;
}

VEC4_INLINE bool vec4_all(vec4_mask x)
{
    return (x[0] & x[1] & x[2] & x[3]) != 0;
}

/* out[i][j] = in[j][i], in registers; what the caller does not use of out costs nothing. */
VEC4_INLINE void vec4_transpose(const vec4 in[4], vec4 out[4])
{
    vec4 a = __builtin_shufflevector(in[0], in[1], 0, 4, 2, 6),
         b = __builtin_shufflevector(in[2], in[3], 0, 4, 2, 6),
         c = __builtin_shufflevector(in[0], in[1], 1, 5, 3, 7),
         d = __builtin_shufflevector(in[2], in[3], 1, 5, 3, 7);
    out[0] = __builtin_shufflevector(a, b, 0, 1, 4, 5);
    out[1] = __builtin_shufflevector(c, d, 0, 1, 4, 5);
    out[2] = __builtin_shufflevector(a, b, 2, 3, 6, 7);
    out[3] = __builtin_shufflevector(c, d, 2, 3, 6, 7);
}
