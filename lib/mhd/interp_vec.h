/* mhd/interp_vec: interpolation of an oct of three dimensions by vectors, with the operations and
 * so the bits of mhd_interp_oct. Private to mhd.
 *
 * The eight children are two vectors, of the lower and the upper layer; lanes of other vectors are
 * axes. */
#pragma once
#include <string.h>

#include "mhd/interp_kern.h"
#include "patch/children.h"

/* mhd_interp_slope along all axes. */
VEC4_INLINE vec4 mhd_slopes4(int type, struct crossed x)
{
    const vec4_mask sign = (vec4_mask){0} + LLONG_MIN;
    const vec4 dl = x.own - x.below, dr = x.above - x.own, mean = 0.5 * (dl + dr);
    if (type <= 0) return (vec4){0};
    if (type == 3) return 0.5 * mean;
    const vec4 a = vec4_abs(dl), b = vec4_abs(dr), c = vec4_abs(mean);
    const vec4 lim = (double)type * vec4_pick(a < b, a, b);
    const vec4 s = (vec4)((vec4_mask)vec4_pick(lim < c, lim, c) | ((vec4_mask)mean & sign));
    return 0.5 * vec4_pick(dl * dr > 0.0, s, (vec4){0});
}

/* mhd_interp_face across an axis, a constant, from the slopes of the field on it. */
VEC4_INLINE struct children mhd_face4(int axis, double b, vec4 slope)
{
    static const vec4 sx = {-0.5, 0.5, -0.5, 0.5}, sy = {-0.5, -0.5, 0.5, 0.5};
    vec4 flat = {b, b, b, b};
    if (axis != 0) flat += __builtin_shufflevector(slope, slope, 0, 0, 0, 0) * sx;
    if (axis != 1) flat += __builtin_shufflevector(slope, slope, 1, 1, 1, 1) * sy;
    if (axis == 2) return (struct children){flat, flat};
    const vec4 z = __builtin_shufflevector(slope, slope, 2, 2, 2, 2) * 0.5;
    return (struct children){flat - z, flat + z};
}

/* The field b of the children of a cell across face f, on the faces of that side. */
VEC4_INLINE struct children mhd_face4_fine(const double b[8], int f)
{
    const vec4 lower = vec4_load(b), upper = vec4_load(b + 4);
    switch (f) {
    case 0:
        return (struct children){__builtin_shufflevector(lower, lower, 1, 1, 3, 3),
                                 __builtin_shufflevector(upper, upper, 1, 1, 3, 3)};
    case 1:
        return (struct children){__builtin_shufflevector(lower, lower, 0, 0, 2, 2),
                                 __builtin_shufflevector(upper, upper, 0, 0, 2, 2)};
    case 2:
        return (struct children){__builtin_shufflevector(lower, lower, 2, 3, 2, 3),
                                 __builtin_shufflevector(upper, upper, 2, 3, 2, 3)};
    case 3:
        return (struct children){__builtin_shufflevector(lower, lower, 0, 1, 0, 1),
                                 __builtin_shufflevector(upper, upper, 0, 1, 0, 1)};
    case 4:
        return (struct children){upper, upper};
    }
    return (struct children){lower, lower};
}

/* Four children of a layer: values of `lower` on the lower side of an axis, of `upper` on the upper
 * side. */
VEC4_INLINE vec4 mhd_outer4(int axis, bool layer, struct children lower, struct children upper)
{
    const vec4 a = layer ? lower.upper : lower.lower, b = layer ? upper.upper : upper.lower;
    if (axis == 0) return __builtin_shufflevector(a, b, 0, 5, 2, 7);
    if (axis == 1) return __builtin_shufflevector(a, b, 0, 1, 6, 7);
    return layer ? b : a;
}

/* Sums of mhd_inside_of, lanes by axis. */
struct mhd_inside4 {
    vec4 second, third;
};

/* mhd_sum8 of the terms of pairs of opposite children, 0 … 3 with 7 … 4, by axis. */
VEC4_INLINE vec4 mhd_sum4(const vec4 pair[4])
{
    vec4 by_child[4];
    vec4_transpose(pair, by_child);
    return (by_child[0] + by_child[1]) + (by_child[2] + by_child[3]);
}

VEC4_INLINE struct mhd_inside4 mhd_inside4_of(const struct children out[LAW_FACES])
{
    static const vec4 sign[3] = {{-1, 1, -1, 1}, {-1, -1, 1, 1}, {-1, -1, -1, -1}};
    vec4 b[3], opposite[3], second[4] = {{0}}, third[4] = {{0}};
    for (int d = 0; d < 3; d++) {
        const vec4 x = mhd_outer4(d, true, out[2 * d], out[2 * d + 1]);
        b[d] = mhd_outer4(d, false, out[2 * d], out[2 * d + 1]);
        opposite[d] = __builtin_shufflevector(x, x, 3, 2, 1, 0);
    }
    for (int d = 0; d < 3; d++) {
        const vec4 all = 0.125 * (sign[0] * sign[1] * sign[2]);
        vec4 one = {0}, other = {0}, zero = {0};
        for (int e = 0; e < 3; e++) {
            if (e == d) continue;
            one += 0.125 * (sign[d] * sign[e]) * b[e];
            other += 0.125 * (sign[d] * sign[e]) * opposite[e];
        }
        second[d] = one + other;
        third[d] = (zero + all * b[d]) + (zero + -all * opposite[d]);
    }
    return (struct mhd_inside4){mhd_sum4(second), mhd_sum4(third)};
}

/* mhd_face_inside across an axis, a constant, of all children. */
VEC4_INLINE struct children mhd_inside4_face(int axis, struct mhd_inside4 s, struct children lower,
                                             struct children upper)
{
    static const vec4 half[3][2] = {{{-0.5, 0.5, -0.5, 0.5}, {-0.5, 0.5, -0.5, 0.5}},
                                    {{-0.5, -0.5, 0.5, 0.5}, {-0.5, -0.5, 0.5, 0.5}},
                                    {{-0.5, -0.5, -0.5, -0.5}, {0.5, 0.5, 0.5, 0.5}}};
    const int x = (axis + 1) % 3, y = (axis + 2) % 3;
    vec4 to[2];
    for (int h = 0; h < 2; h++) {
        const vec4 mean = 0.5 * (h ? lower.upper + upper.upper : lower.lower + upper.lower);
        to[h] = mean + s.second[axis] + s.third[x] * half[y][h] + s.third[y] * half[x][h];
    }
    return (struct children){to[0], to[1]};
}

/* The faces across an axis, a constant, of the children: outside, and inside. */
VEC4_INLINE void mhd_faces4(int axis, struct mhd_inside4 s, const struct children out[LAW_FACES],
                            double (*face)[8])
{
    const struct children a = out[2 * axis], b = out[2 * axis + 1],
                          in = mhd_inside4_face(axis, s, a, b);
    const struct children lower = {mhd_outer4(axis, false, a, in), mhd_outer4(axis, true, a, in)},
                          upper = {mhd_outer4(axis, false, in, b), mhd_outer4(axis, true, in, b)};
    memcpy(face[2 * axis], &lower, sizeof lower);
    memcpy(face[2 * axis + 1], &upper, sizeof upper);
}

/* The field on the outer faces across an axis, a constant. */
VEC4_INLINE void mhd_outside4(int axis, const struct mesh *m, int l, lidx i, int c, int type,
                              const struct crossing *at, struct children out[2])
{
    const struct level *lv = &m->lev[l];
    for (int h = 0; h < 2; h++) {
        const int f = 2 * axis + h, bit = 1 << axis;
        const lidx j = ((c & bit) != 0) == h ? lv->nbr[i][f] : i, fine = lv->child[j][c ^ bit];
        const struct crossed x = crossed_of(level_magnetic(lv, f), at);
        out[h] = fine >= 0 ? mhd_face4_fine(level_magnetic(lv + 1, f ^ 1)[fine], f)
                           : mhd_face4(axis, x.own[0], mhd_slopes4(type, x));
    }
}

/* mhd_interp_oct in three dimensions, with minmod slopes of the conserved variables of the gas.
 * Returns whether that is asked for and all cells beside cell c of oct i are on its level. */
static bool mhd_interp_by_vectors(const struct mesh *m, int l, lidx i, int c,
                                  const struct mhd_par *p, double (*gas)[8], double (*face)[8])
{
    struct crossing at;
    struct children out[LAW_FACES];
    if (m->ndim < 3 || p->gas->interpol_type != 1 || mhd_internal(p)) return false;
    if (!crossing_find(&at, 3, &m->lev[l], i, c)) return false;
    for (int v = 0; v < p->gas->nvar; v++) {
        const struct children x = children_of(crossed_of(level_gas(&m->lev[l], v), &at));
        memcpy(gas[v], &x, sizeof x);
    }
    mhd_outside4(0, m, l, i, c, p->interpol_mag, &at, out);
    mhd_outside4(1, m, l, i, c, p->interpol_mag, &at, out + 2);
    mhd_outside4(2, m, l, i, c, p->interpol_mag, &at, out + 4);
    const struct mhd_inside4 s = mhd_inside4_of(out);
    mhd_faces4(0, s, out, face);
    mhd_faces4(1, s, out, face);
    mhd_faces4(2, s, out, face);
    return true;
}
