/* cool/net_kern: nodes of the table of rates and net rates of cells, in vectors of cells on the CPU
 * and for single cells in device kernels (vec/vec.h). */
#pragma once
#include "vec/vec.h"

/* ---- the table of rates (cool/table.h) ---- */

enum { TABLE_N = 161, TABLE_T = 101 };
static const double TABLE_N_MIN = -10, TABLE_N_MAX = 6, TABLE_T_MIN = -2, TABLE_T_MAX = 9;

enum table_rate {
    RATE_COOL,         /* cooling, per n_H² */
    RATE_HEAT,         /* heating, per n_H² */
    RATE_COMPTON,      /* Compton cooling, per n_H */
    RATE_COMPTON_HEAT, /* Compton heating, per n_H */
    RATE_METAL,        /* metal cooling at solar metallicity, per n_H² */
    RATE_COUNT,
    RATE_LANES = 8 /* vector length; lanes beyond RATE_COUNT are padding */
};

/* log2 of the rates, and derivatives with respect to the position in the T2 interval (0..1). */
struct table_node {
    double value[RATE_LANES], slope[RATE_LANES];
};

/* The part of the table that exists on a device. A place is a node with those one density and one
 * T2 above, by the number of that node; TABLE_NODES + i: all nodes of density i and the next. */
enum { TABLE_NODES = TABLE_N * TABLE_T, TABLE_PLACES = TABLE_NODES + TABLE_N, PLACE_NONE = -1 };
enum place_state { PLACE_MISSING, PLACE_ASKED, PLACE_THERE, PLACE_READ };
struct table_there {
    const struct table_node *node;
    int32_t *state; /* [TABLE_PLACES] */
};

/* ---- rates of cells ---- */

/* Values of a cell that stay constant while its temperature changes. */
struct solve_point {
    double w;      /* position between two densities, 0..1 */
    double Z, inv; /* metallicity; 1/n_H */
    int i;         /* index of the lower density */
};

static const double SOLVE_HOT = 1e9; /* T2 at the end of the table, K */

#define LOG10_OF_2 0.30102999566398119521

VEC_INLINE vec vec_clamp(vec x, double low, double high)
{
    return vec_min(vec_max(x, vec_of(low)), vec_of(high));
}

/* Locates x on an axis of n points equidistant in log10: *lower is the index of the interval;
 * returns the position in it, outside of 0..1 where x is beyond the axis. */
VEC_INLINE vec vec_locate(vec x, double low, double high, int n, vec *lower)
{
    double per = (n - 1) / (high - low);
    vec at = vec_log2(x) * (LOG10_OF_2 * per) - low * per;
    *lower = vec_clamp(vec_round(at - 0.5), 0, n - 2);
    return at - *lower;
}

/* Interpolates log2 of the rates r to r + VEC - 1 of one cell in a vector, and their derivatives
 * with respect to y: linear in log n_H, cubic (Hermite) in log T2. node: the lower of four nodes;
 * w, y: positions between densities and temperatures. */
VEC_INLINE vec rates_at_node(const struct table_node *node, int r, double w, double y, vec *slope)
{
    const struct table_node *a = node, *b = node + TABLE_T, *c = node + 1, *d = b + 1;
    vec f0 = vec_load(a->value + r), f1 = vec_load(c->value + r);
    vec s0 = vec_load(a->slope + r), s1 = vec_load(c->slope + r);
    f0 += w * (vec_load(b->value + r) - f0);
    f1 += w * (vec_load(d->value + r) - f1);
    s0 += w * (vec_load(b->slope + r) - s0);
    s1 += w * (vec_load(d->slope + r) - s1);
    vec rise = f1 - f0, q = 3 * rise - 2 * s0 - s1, p = s0 + s1 - 2 * rise;
    *slope = s0 + y * (2 * q + y * (3 * p));
    return f0 + y * (s0 + y * (q + y * p));
}

/* Sum of the rates per n_H², for one cell (double) or several (vec). */
#define RATES_JOIN(v, Z, inv)                                                                      \
    ((v)[RATE_COOL] + (Z) * (v)[RATE_METAL] - (v)[RATE_HEAT] +                                     \
     (inv) * ((v)[RATE_COMPTON] - (v)[RATE_COMPTON_HEAT]))

/* Factor from a derivative with respect to y to one with respect to ln T2. */
VEC_INLINE double rate_per_y(void)
{
    return (TABLE_T - 1) / (TABLE_T_MAX - TABLE_T_MIN) * LOG10_OF_2;
}

/* Locates temperatures in the table: returns the lower node, and in *y the position above it. */
VEC_INLINE vec rates_locate(vec T2, vec *y)
{
    vec lower;
    *y = vec_locate(vec_min(T2, vec_of(SOLVE_HOT)), TABLE_T_MIN, TABLE_T_MAX, TABLE_T, &lower);
    return lower;
}

/* Net cooling per n_H² of a vector of cells and its derivative with respect to ln T2, from the
 * logarithms and slopes of rates_at_node. */
VEC_INLINE vec rates_sum(const vec log[RATE_COUNT], const vec turn[RATE_COUNT], vec Z, vec inv,
                         vec *slope)
{
    vec rate[RATE_COUNT], change[RATE_COUNT];
    for (int r = 0; r < RATE_COUNT; r++) {
        rate[r] = vec_exp2(log[r]);
        change[r] = rate[r] * turn[r];
    }
    *slope = RATES_JOIN(change, Z, inv) * rate_per_y();
    return RATES_JOIN(rate, Z, inv);
}

/* Bremsstrahlung of ionised hydrogen, for temperatures above the table. */
VEC_INLINE vec rate_hot(vec T2, vec per_T2, vec *slope)
{
    vec rate = 1.42e-27 * 1.1 * vec_sqrt(T2);
    *slope = 0.5 * rate * per_T2;
    return rate;
}

/* Net cooling per n_H² of one cell, and its derivative with respect to T2. */
PTAH_HD_FN double rate_net(const struct table_node *node, const struct solve_point *p, double T2,
                           double *slope)
{
    double value[RATE_LANES], turn[RATE_LANES];
    vec y, lower, change;
    if (T2 > SOLVE_HOT) {
        double hot = vec_first(rate_hot(vec_of(T2), vec_of(1 / T2), &change));
        *slope = vec_first(change);
        return hot;
    }
    lower = rates_locate(vec_of(T2), &y);
    node += p->i * TABLE_T + (int)vec_first(lower);
    for (int r = 0; r < RATE_COUNT; r += VEC) {
        vec rate = vec_exp2(rates_at_node(node, r, p->w, vec_first(y), &change));
        vec_store(value + r, rate);
        vec_store(turn + r, rate * change);
    }
    *slope = RATES_JOIN(turn, p->Z, p->inv) * rate_per_y() / T2;
    return RATES_JOIN(value, p->Z, p->inv);
}

/* Locates the table density `seen` of a cell. */
VEC_INLINE struct solve_point solve_point(double nH, double seen, double Z)
{
    vec lower, w = vec_locate(vec_of(seen), TABLE_N_MIN, TABLE_N_MAX, TABLE_N, &lower);
    struct solve_point p;
    p.w = vec_first(vec_clamp(w, 0, 1));
    p.Z = Z;
    p.inv = 1 / nH;
    p.i = (int)vec_first(lower);
    return p;
}
