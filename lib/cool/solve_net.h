/* cool/solve_net: the net rate of one cell from the table, without branches: loops over it
 * vectorise. */
#pragma once
#include "cool/fast.h"
#include "cool/table.h"

/* What of a cell stays while its temperature changes. */
struct solve_place {
    double w;      /* place between two densities, 0..1 */
    double Z, inv; /* metallicity; 1/n_H */
    int i;         /* of the lower density */
};

static inline __attribute__((always_inline)) double place_clamp(double x, double low, double high)
{
    x = x < low ? low : x;
    return x > high ? high : x;
}

/* Bremsstrahlung of ionised hydrogen, above the table. */
static inline __attribute__((always_inline)) double rate_hot(double T2, double *slope)
{
    double rate = 1.42e-27 * 1.1 * __builtin_sqrt(T2);
    *slope = rate / (2 * T2);
    return rate;
}

/* Linear in log n_H, cubic (Hermite) in log T2. slope: by T2. */
static inline __attribute__((always_inline)) double rate_in_table(const struct table_node *node,
                                                                  double w, double Z, double inv,
                                                                  int i, double T2, double *slope)
{
    const double per = (TABLE_T - 1) / (TABLE_T_MAX - TABLE_T_MIN);
    double at = (fast_log10(T2) - TABLE_T_MIN) * per;
    int k = (int)place_clamp(at, 0, TABLE_T - 2);
    double y = at - k, value[RATE_COUNT], change[RATE_COUNT];
    const double *a = (const double *)&node[k * TABLE_N + i], *b = a + 2 * RATE_COUNT;
    const double *c = a + TABLE_N * 2 * RATE_COUNT, *d = c + 2 * RATE_COUNT;
    for (int r = 0; r < RATE_COUNT; r++) {
        double f0 = a[r] + w * (b[r] - a[r]), f1 = c[r] + w * (d[r] - c[r]);
        double s0 = a[RATE_COUNT + r] + w * (b[RATE_COUNT + r] - a[RATE_COUNT + r]);
        double s1 = c[RATE_COUNT + r] + w * (d[RATE_COUNT + r] - c[RATE_COUNT + r]);
        double rise = f1 - f0, q = 3 * rise - 2 * s0 - s1, p = s0 + s1 - 2 * rise;
        value[r] = fast_exp10(f0 + y * (s0 + y * (q + y * p)));
        change[r] = value[r] * (s0 + y * (2 * q + y * (3 * p)));
    }
    *slope = (change[RATE_COOL] + Z * change[RATE_METAL] - change[RATE_HEAT] +
              inv * (change[RATE_COMPTON] - change[RATE_COMPTON_HEAT])) *
             (per / T2);
    return value[RATE_COOL] + Z * value[RATE_METAL] - value[RATE_HEAT] +
           inv * (value[RATE_COMPTON] - value[RATE_COMPTON_HEAT]);
}

/* The net cooling per n_H². */
static inline __attribute__((always_inline)) double rate_net(const struct table_node *node,
                                                             double w, double Z, double inv, int i,
                                                             double T2, double *slope)
{
    const double last = 1e9;
    double s0, s1, in = rate_in_table(node, w, Z, inv, i, T2 < last ? T2 : last, &s0);
    double hot = rate_hot(T2, &s1);
    *slope = T2 > last ? s1 : s0;
    return T2 > last ? hot : in;
}

/* The density at which the table is entered → interval and place in it. */
static inline struct solve_place solve_place(double nH, double seen, double Z)
{
    const double per = (TABLE_N - 1) / (TABLE_N_MAX - TABLE_N_MIN);
    double at = place_clamp((fast_log10(seen) - TABLE_N_MIN) * per, 0, TABLE_N - 1);
    int i = (int)place_clamp(at, 0, TABLE_N - 2);
    return (struct solve_place){.w = at - i, .Z = Z, .inv = 1 / nH, .i = i};
}
