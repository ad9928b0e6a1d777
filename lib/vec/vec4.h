/* vec/vec4: vectors of four doubles in one register, such as half an oct. With eight doubles gcc 12
 * would shuffle vectors wider than the registers element by element. All functions are inlined. */
#pragma once
#include <limits.h>
#include <stdbool.h>

#pragma GCC diagnostic ignored "-Wpsabi"

#define VEC4_INLINE static inline __attribute__((always_inline))

typedef double vec4 __attribute__((vector_size(32)));
typedef double vec4_any __attribute__((vector_size(32), may_alias, aligned(8)));
typedef long long vec4_mask __attribute__((vector_size(32)));

/* Loads from an address aligned for doubles only, such as an array on the stack. */
VEC4_INLINE vec4 vec4_load(const double *x)
{
    return *(const vec4_any *)x;
}

VEC4_INLINE vec4 vec4_abs(vec4 x)
{
    return (vec4)((vec4_mask)x & ((vec4_mask){0} + LLONG_MAX));
}

/* Lanes of x where the mask is set, else of y. */
VEC4_INLINE vec4 vec4_pick(vec4_mask mask, vec4 x, vec4 y)
{
    return (vec4)(((vec4_mask)x & mask) | ((vec4_mask)y & ~mask));
}

VEC4_INLINE vec4 vec4_max(vec4 x, vec4 y)
{
    return vec4_pick(x > y, x, y);
}

VEC4_INLINE bool vec4_all(vec4_mask x)
{
    x &= __builtin_shufflevector(x, x, 2, 3, 0, 1);
    return (x[0] & x[1]) != 0;
}

VEC4_INLINE bool vec4_any_of(vec4_mask x)
{
    x |= __builtin_shufflevector(x, x, 2, 3, 0, 1);
    return (x[0] | x[1]) != 0;
}

/* Transposes in registers: out[i][j] = in[j][i]; unused elements of out cost nothing. */
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
