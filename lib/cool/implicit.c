/* cool/implicit: two implicit stages per sub-step (SDIRK2: second order, L-stable; Alexander 1977),
 *
 *     y1 = y0 - g dt λ(y1),   y2 = y0 - (1-g) dt λ(y1) - g dt λ(y2),   g = 1 - 1/√2,
 *
 * over which T2 changes by about a tenth at first, and that grow as the cell comes to rest. Where
 * it changes by much more, backward Euler takes their place, whose root exists for any dt: it lies
 * between T2_old and the end of the range of temperatures towards which λ points. Roots are
 * bracketed, and found by bisection and Newton's iteration together, so the method is
 * unconditionally stable. */
#include <math.h>

#include "cool/solve.h"
#include "cool/solve_net.h"

static const double T2_LEAST = 1e-2, T2_MOST = 1e30;

static double net_at(const struct cool_table *t, const struct solve_place *p, double T2, double *s)
{
    return rate_net(t->node[0], p, T2, s);
}

/* The root of T2 - from + dt λ(T2); T2_LEAST where there is none above it. */
static double root(const struct cool_table *t, const struct solve_place *p, double from, double dt,
                   double guess)
{
    double slope, low = T2_LEAST, high = T2_MOST, T2 = guess;
    if (net_at(t, p, from, &slope) > 0)
        high = from;
    else
        low = from;
    for (int i = 0; i < 200 && high - low > 1e-14 * high; i++) {
        if (!(T2 > low && T2 < high)) T2 = sqrt(low) * sqrt(high);
        double off = T2 - from + dt * net_at(t, p, T2, &slope), rise = 1 + dt * slope;
        *(off > 0 ? &high : &low) = T2;
        double next = rise > 0 ? T2 - off / rise : -1;
        if (fabs(next - T2) < 1e-13 * T2) return fmin(fmax(next, low), high);
        T2 = next;
    }
    return low;
}

static double sub_step(const struct cool_table *t, const struct solve_place *p, double T2,
                       double dt)
{
    const double g = 0.29289321881345247560, most = 0.2;
    double first = root(t, p, T2, g * dt, T2), half = first + (1 / g - 2) * (first - T2);
    if (fabs(first - T2) > most * T2 || !(half > T2_LEAST)) return root(t, p, T2, dt, first);
    return root(t, p, half, g * dt, half);
}

static double advance(const struct cool_table *t, const struct solve_place *p, double T2,
                      double total, double finer, int64_t *steps)
{
    double time = 0, slope;
    while (time < total) {
        double rate = finer * 10 * fabs(net_at(t, p, T2, &slope)) / T2;
        double dt = rate * (total - time) > 1 ? 1 / rate : total - time;
        if (dt < total / (1000 * finer)) dt = fmin(total / (1000 * finer), total - time);
        T2 = fmax(sub_step(t, p, T2, dt), T2_LEAST);
        ++*steps;
        if (time + dt <= time) break;
        time += dt;
    }
    return T2;
}

void solve_implicit(const struct cool_table *t, double dt, double finer, struct solve_cells *c)
{
    const double unit = 2 * COOL_X / (3 * COOL_KB);
    for (int k = 0; k < c->n; k++) {
        struct solve_place p = solve_place(c->nH[k], c->seen[k], c->Z[k]);
        c->T2[k] = advance(t, &p, c->T2[k], dt * unit * c->nH[k], finer, &c->steps);
    }
}
