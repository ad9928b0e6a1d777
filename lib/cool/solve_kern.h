/* cool/solve_kern: the methods of cool/solve.h, for C, C++ and CUDA, in vectors of cells on the CPU
 * and for single cells in device kernels (vec/vec.h).
 *
 * original: the integration of RAMSES, with sub-steps of 1/w,
 *
 *     w = max(4 |λ|/T2, 1/total, -4 λ'),   T2 := T2 (1 + λ'/w - λ/(T2 w)) / (1 + λ'/w),
 *
 * in units of time in which dT2/dt = -λ(T2), the net cooling per n_H². No sub-step changes T2 by
 * more than about a quarter, and none makes it negative. The result is linear between the last two
 * sub-steps, the last of which ends at or after the total.
 *
 * implicit: two implicit stages per sub-step (SDIRK2: second order, L-stable; Alexander 1977),
 *
 *     y1 = y0 - g dt λ(y1),   y2 = y0 - (1-g) dt λ(y1) - g dt λ(y2),   g = 1 - 1/√2,
 *
 * where a sub-step changes T2 by about a tenth at first and grows as the cell approaches
 * equilibrium. If T2 changes by much more, backward Euler replaces the two stages: its root exists
 * for any dt, between T2_old and the end of the temperature range towards which λ points. Roots are
 * bracketed and found by bisection combined with Newton's iteration, so the method is
 * unconditionally stable. */
#pragma once
#include <stdbool.h>

#include "base/cgs.h"
#include "cool/net_kern.h"
#include "cool/rates.h"

/* ---- implicit ---- */

static const double IMPLICIT_MIN = 1e-2, IMPLICIT_MAX = 1e30; /* range of T2, K */

/* The root of T2 - from + dt λ(T2); IMPLICIT_MIN if no root lies above it. */
PTAH_HD_OUT double implicit_root(const struct table_node *node, const struct solve_point *p,
                                 double from, double dt, double guess)
{
    double slope, low = IMPLICIT_MIN, high = IMPLICIT_MAX, T2 = guess;
    if (rate_net(node, p, from, &slope) > 0)
        high = from;
    else
        low = from;
    for (int i = 0; i < 200 && high - low > 1e-14 * high; i++) {
        if (!(T2 > low && T2 < high)) T2 = sqrt(low) * sqrt(high);
        double off = T2 - from + dt * rate_net(node, p, T2, &slope), rise = 1 + dt * slope;
        if (off > 0)
            high = T2;
        else
            low = T2;
        double next = rise > 0 ? T2 - off / rise : -1;
        if (fabs(next - T2) < 1e-13 * T2) return fmin(fmax(next, low), high);
        T2 = next;
    }
    return low;
}

PTAH_HD_FN double implicit_step(const struct table_node *node, const struct solve_point *p,
                                double T2, double dt)
{
    const double g = 0.29289321881345247560, max = 0.2;
    double first = implicit_root(node, p, T2, g * dt, T2),
           half = first + (1 / g - 2) * (first - T2);
    if (fabs(first - T2) > max * T2 || !(half > IMPLICIT_MIN))
        return implicit_root(node, p, T2, dt, first);
    return implicit_root(node, p, half, g * dt, half);
}

/* T2 of a cell after dt seconds; `finer`: see solve_implicit; *steps counts sub-steps. */
PTAH_HD_FN double implicit_cell(const struct table_node *node, const struct solve_point *p,
                                double nH, double T2, double dt, double finer, int64_t *steps)
{
    const double unit = 2 * RAMSES_HYDROGEN / (3 * CGS_KB), total = dt * unit * nH;
    double time = 0, slope;
    while (time < total) {
        double rate = finer * 10 * fabs(rate_net(node, p, T2, &slope)) / T2;
        double part = rate * (total - time) > 1 ? 1 / rate : total - time;
        if (part < total / (1000 * finer)) part = fmin(total / (1000 * finer), total - time);
        T2 = fmax(implicit_step(node, p, T2, part), IMPLICIT_MIN);
        ++*steps;
        if (time + part <= time) break;
        time += part;
    }
    return T2;
}

/* ---- original ---- */

enum { ORIGINAL_STEPS = 500 }; /* maximum; further cells use the implicit method */
static const double ORIGINAL_ARRIVED = 1 - 1e-14; /* tolerance: 1/(1/total) may be below total */

/* Values of a vector of cells that stay constant while the cells cool. */
struct original_lane {
    vec w, low; /* position between two densities; first node of the lower one */
    vec inv;    /* 1/n_H */
    vec total;  /* end time, in units in which dT2/dt = -λ */
    vec min;    /* minimum of w of the sub-steps */
};

VEC_INLINE double original_unit(double dt)
{
    return dt * (2 * RAMSES_HYDROGEN / (3 * CGS_KB));
}

VEC_INLINE struct original_lane original_enter(vec nH, vec seen, double unit, double finer)
{
    struct original_lane l;
    vec low, w = vec_locate(seen, TABLE_N_MIN, TABLE_N_MAX, TABLE_N, &low);
    l.inv = 1 / nH;
    l.total = nH * unit;
    l.min = l.inv * (finer / unit);
    l.w = vec_clamp(w, 0, 1);
    l.low = low * (double)TABLE_T;
    return l;
}

/* State after a sub-step; end: T2 at `total`, if `total` lies in the sub-step. */
struct original_now {
    vec T2, t, end;
};

/* Advances T2 and t by one sub-step. net: cooling; slope: derivative with respect to ln T2; both
 * are extrapolated beyond the table. */
VEC_INLINE struct original_now original_step(vec T2, vec t, vec total, vec min, vec net, vec slope,
                                             double finer)
{
    struct original_now now;
    vec one = 1 / T2;
    vec_bits above = (vec_bits)(T2 > SOLVE_HOT);
    slope = slope * one;
    if (vec_any(above)) {
        vec hot_slope, hot = rate_hot(T2, one, &hot_slope);
        net = vec_pick(above, hot, net);
        slope = vec_pick(above, hot_slope, slope);
    }
    vec rate = 4 * finer * vec_abs(net) * one;
    vec w = vec_max(vec_max(rate, -4 * finer * slope), min), step = 1 / w;
    now.T2 = T2 * (1 + (slope - net * one) * step) / (1 + slope * step);
    vec f = (total - t) * w;
    now.end = now.T2 * f + T2 * (1 - f);
    now.t = t + step;
    return now;
}

/* ---- single cells, bit for bit as in solve_original and solve_implicit ---- */

#ifdef VEC_ONE

/* Whether a place exists; notes that it is read. Many threads may do so at the same time, while
 * others ask for a place that does not exist. */
PTAH_HD_FN bool table_has(const struct table_there *t, int place)
{
#if defined(__CUDACC__)
    const int32_t is = *(volatile int32_t *)&t->state[place];
    if (is == PLACE_THERE) *(volatile int32_t *)&t->state[place] = PLACE_READ;
#else
    const int32_t is = __atomic_load_n(&t->state[place], __ATOMIC_RELAXED);
    if (is == PLACE_THERE) __atomic_store_n(&t->state[place], PLACE_READ, __ATOMIC_RELAXED);
#endif
    return is >= PLACE_THERE;
}

/* *lacks: the place that must exist first; then the result is not valid. */
PTAH_HD_FN double cell_implicit(const struct table_there *t, double dt, double nH, double seen,
                                double Z, double T2, int *lacks)
{
    int64_t steps = 0;
    struct solve_point p = solve_point(nH, seen, Z);
    *lacks = table_has(t, TABLE_NODES + p.i) ? PLACE_NONE : TABLE_NODES + p.i;
    return *lacks == PLACE_NONE ? implicit_cell(t->node, &p, nH, T2, dt, 1, &steps) : T2;
}

PTAH_HD_FN double cell_original(const struct table_there *t, double dt, double nH, double seen,
                                double Z, double T2, int *lacks)
{
    const struct original_lane l = original_enter(nH, seen, original_unit(dt), 1);
    struct original_now now;
    now.T2 = T2;
    now.t = 0;
    for (int step = 0; step < ORIGINAL_STEPS; step++) {
        vec log[RATE_COUNT], turn[RATE_COUNT], y, slope;
        const int at = (int)(rates_locate(now.T2, &y) + l.low);
        *lacks = table_has(t, at) ? PLACE_NONE : at;
        if (*lacks != PLACE_NONE) return T2;
        for (int r = 0; r < RATE_COUNT; r++)
            log[r] = rates_at_node(t->node + at, r, l.w, y, &turn[r]);
        vec net = rates_sum(log, turn, Z, l.inv, &slope);
        now = original_step(now.T2, now.t, l.total, l.min, net, slope, 1);
        if (!(now.t < l.total * ORIGINAL_ARRIVED)) return now.end;
    }
    return cell_implicit(t, dt, nH, seen, Z, T2, lacks);
}

#endif
