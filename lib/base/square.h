/* base/square: four by four numbers, transposed in registers. Not eight by eight: vectors that the
 * processor does not have are shuffled number by number (gcc 12). */
#pragma once

typedef double vec4 __attribute__((vector_size(32)));

/* out[i][j] = in[j][i]; what the caller does not use of out costs nothing. */
static inline __attribute__((always_inline)) void square_turn(const vec4 in[4], vec4 out[4])
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
