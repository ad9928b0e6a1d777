/* cool/solve_net: the net rate of one cell from the table. The rates of a cell, neighbours in
 * memory, are computed side by side. */
#pragma once
#include "cool/table.h"
#include "cool/vec.h"

/* What of a cell stays while its temperature changes. */
struct solve_place {
    double w;      /* place between two densities, 0..1 */
    double Z, inv; /* metallicity; 1/n_H */
    int i;         /* of the lower density */
};

static const double SOLVE_HOT = 1e9; /* the end of the table */

#define LOG10_OF_2 0.30102999566398119521

VEC_INLINE vec vec_clamp(vec x, double low, double high)
{
    return vec_min(vec_max(x, vec_of(low)), vec_of(high));
}

/* Places on an axis of n points equidistant in log10 → the interval, and the place in it, beyond
 * 0..1 where x is beyond the axis. */
VEC_INLINE vec vec_place(vec x, double low, double high, int n, vec *lower)
{
    double per = (n - 1) / (high - low);
    vec at = vec_log2(x) * (LOG10_OF_2 * per) - low * per;
    *lower = vec_clamp(vec_round(at - 0.5), 0, n - 2);
    return at - *lower;
}

/* Linear in log n_H, cubic (Hermite) in log T2. node: the lower of four; w, y: places between
 * densities and temperatures. log2 of the rates of one cell, side by side, and their derivatives
 * by y. */
VEC_INLINE vec rates_at_node(const struct table_node *node, double w, double y, vec *slope)
{
    const struct table_node *a = node, *b = node + TABLE_T, *c = node + 1, *d = b + 1;
    vec f0 = vec_load(a->value), f1 = vec_load(c->value);
    vec s0 = vec_load(a->slope), s1 = vec_load(c->slope);
    f0 += w * (vec_load(b->value) - f0);
    f1 += w * (vec_load(d->value) - f1);
    s0 += w * (vec_load(b->slope) - s0);
    s1 += w * (vec_load(d->slope) - s1);
    vec rise = f1 - f0, q = 3 * rise - 2 * s0 - s1, p = s0 + s1 - 2 * rise;
    *slope = s0 + y * (2 * q + y * (3 * p));
    return f0 + y * (s0 + y * (q + y * p));
}

/* The sum of the rates per n_H², of one cell (double) or of several (vec). */
#define RATES_JOIN(v, Z, inv)                                                                      \
    ((v)[RATE_COOL] + (Z) * (v)[RATE_METAL] - (v)[RATE_HEAT] +                                     \
     (inv) * ((v)[RATE_COMPTON] - (v)[RATE_COMPTON_HEAT]))

/* From a derivative by y to one by ln T2. */
VEC_INLINE double rate_per_y(void)
{
    return (TABLE_T - 1) / (TABLE_T_MAX - TABLE_T_MIN) * LOG10_OF_2;
}

/* Bremsstrahlung of ionised hydrogen, above the table. */
VEC_INLINE vec rate_hot(vec T2, vec per_T2, vec *slope)
{
    double s[VEC];
    vec_store(s, T2);
    for (int k = 0; k < VEC; k++) s[k] = __builtin_sqrt(s[k]);
    vec rate = 1.42e-27 * 1.1 * vec_load(s);
    *slope = 0.5 * rate * per_T2;
    return rate;
}

/* The net cooling per n_H² of one cell, and its derivative by T2. */
static inline double rate_net(const struct table_node *node, const struct solve_place *p, double T2,
                              double *slope)
{
    vec hot_slope, lower;
    if (T2 > SOLVE_HOT) {
        double hot = rate_hot(vec_of(T2), vec_of(1 / T2), &hot_slope)[0];
        *slope = hot_slope[0];
        return hot;
    }
    double y = vec_place(vec_of(T2), TABLE_T_MIN, TABLE_T_MAX, TABLE_T, &lower)[0];
    double value[RATE_LANES], turn[RATE_LANES];
    vec change,
        rate = vec_exp2(rates_at_node(node + p->i * TABLE_T + (int)lower[0], p->w, y, &change));
    vec_store(value, rate);
    vec_store(turn, rate * change);
    *slope = RATES_JOIN(turn, p->Z, p->inv) * rate_per_y() / T2;
    return RATES_JOIN(value, p->Z, p->inv);
}

/* The density at which the table is entered → interval and place in it. */
static inline struct solve_place solve_place(double nH, double seen, double Z)
{
    vec lower, w = vec_place(vec_of(seen), TABLE_N_MIN, TABLE_N_MAX, TABLE_N, &lower);
    w = vec_clamp(w, 0, 1);
    return (struct solve_place){.w = w[0], .Z = Z, .inv = 1 / nH, .i = (int)lower[0]};
}
