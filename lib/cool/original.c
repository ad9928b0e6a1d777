/* cool/original: the integration of RAMSES, with sub-steps of 1/w,
 *
 *     w = max(4 |λ|/T2, 1/total, -4 λ'),   T2 := T2 (1 + λ'/w - λ/(T2 w)) / (1 + λ'/w),
 *
 * in units of time in which dT2/dt = -λ(T2), the net cooling per n_H². No sub-step changes T2 by
 * more than about a quarter, and none makes it negative. The result is linear between the last two
 * sub-steps, the last of which ends at or after the total. */
#include <math.h>

#include "cool/solve.h"
#include "cool/solve_net.h"

enum { STEPS_MOST = 500 };
static const double ARRIVED = 1 - 1e-14; /* 1/(1/total) may be less than total */

/* Cells that have not arrived, side by side; arrays are used up to the next multiple of VEC. */
struct lanes {
    int n;
    double T2[SOLVE_BLOCK], t[SOLVE_BLOCK], total[SOLVE_BLOCK];
    double w[SOLVE_BLOCK], Z[SOLVE_BLOCK], inv[SOLVE_BLOCK];
    double low[SOLVE_BLOCK];   /* first node of the lower of the densities between which it lies */
    double least[SOLVE_BLOCK]; /* of w */
    double end[SOLVE_BLOCK];   /* T2 at `total`, if that lies in the last sub-step */
    double y[SOLVE_BLOCK], at[SOLVE_BLOCK];      /* place between two nodes; the lower one */
    double net[SOLVE_BLOCK], slope[SOLVE_BLOCK]; /* of a table that has no end */
    int cell[SOLVE_BLOCK];
};

double solve_rate(const struct cool_table *t, double nH, double seen, double Z, double T2,
                  double *slope)
{
    struct solve_place p = solve_place(nH, seen, Z);
    return rate_net(t->node[0], &p, T2, slope);
}

/* From cells first to first + VEC; of those beyond the last one, a copy of that. */
static void lanes_fill_eight(struct lanes *l, const struct solve_cells *c, int first, double unit,
                             double finer)
{
    double nH[VEC], seen[VEC];
    for (int k = 0; k < VEC; k++) {
        int from = first + k < c->n ? first + k : c->n - 1;
        l->T2[first + k] = c->T2[from];
        l->Z[first + k] = c->Z[from];
        l->cell[first + k] = first + k;
        nH[k] = c->nH[from];
        seen[k] = c->seen[from];
    }
    vec low, w = vec_place(vec_load(seen), TABLE_N_MIN, TABLE_N_MAX, TABLE_N, &low);
    vec inv = 1 / vec_load(nH);
    vec_store(l->t + first, vec_of(0));
    vec_store(l->inv + first, inv);
    vec_store(l->total + first, vec_load(nH) * unit);
    vec_store(l->least + first, inv * (finer / unit));
    vec_store(l->w + first, vec_clamp(w, 0, 1));
    vec_store(l->low + first, low * TABLE_T);
}

static void lanes_fill(struct lanes *l, const struct solve_cells *c, double dt, double finer)
{
    const double unit = 2 * COOL_X / (3 * COOL_KB);
    l->n = c->n;
    for (int k = 0; k < l->n; k += VEC) lanes_fill_eight(l, c, k, dt * unit, finer);
}

/* Net cooling and its slope by log10 T2: first the place of each temperature, cells side by side,
 * then the rates of each cell side by side. */
static void lanes_rates(struct lanes *l, const struct table_node *node)
{
    for (int k = 0; k < l->n; k += VEC) {
        vec lower, T2 = vec_min(vec_load(l->T2 + k), vec_of(SOLVE_HOT));
        vec_store(l->y + k, vec_place(T2, TABLE_T_MIN, TABLE_T_MAX, TABLE_T, &lower));
        vec_store(l->at + k, lower + vec_load(l->low + k));
    }
    for (int k = 0; k < l->n; k++)
        l->net[k] = rate_at_node(node + (int)l->at[k], l->w[k], l->y[k], l->Z[k], l->inv[k],
                                 &l->slope[k]);
}

static void lanes_step(struct lanes *l, const struct table_node *node, double finer)
{
    lanes_rates(l, node);
    for (int k = 0; k < l->n; k += VEC) {
        vec T2 = vec_load(l->T2 + k), t = vec_load(l->t + k), total = vec_load(l->total + k);
        vec hot_slope, one = 1 / T2;
        vec_bits above = (vec_bits)(T2 > SOLVE_HOT);
        vec hot = rate_hot(T2, one, &hot_slope);
        vec net = vec_pick(above, hot, vec_load(l->net + k));
        vec slope = vec_pick(above, hot_slope, vec_load(l->slope + k) * one);
        vec rate = 4 * finer * vec_abs(net) * one;
        vec w = vec_max(vec_max(rate, -4 * finer * slope), vec_load(l->least + k)), step = 1 / w;
        vec next = T2 * (1 + (slope - net * one) * step) / (1 + slope * step);
        vec f = (total - t) * w;
        vec_store(l->end + k, next * f + T2 * (1 - f));
        vec_store(l->T2 + k, next);
        vec_store(l->t + k, t + step);
    }
}

/* Cells that have arrived leave; the others move up. Without branches, which could not be
 * predicted: what is stored for cells under way is overwritten when they arrive. */
static void lanes_leave(struct lanes *l, double T2[SOLVE_BLOCK])
{
    int n = 0;
    for (int k = 0; k < l->n; k++) {
        int cell = l->cell[k], stays = l->t[k] < l->total[k] * ARRIVED;
        T2[cell] = l->end[k];
        l->T2[n] = l->T2[k];
        l->t[n] = l->t[k];
        l->total[n] = l->total[k];
        l->least[n] = l->least[k];
        l->w[n] = l->w[k];
        l->Z[n] = l->Z[k];
        l->inv[n] = l->inv[k];
        l->low[n] = l->low[k];
        l->cell[n] = cell;
        n += stays;
    }
    l->n = n;
}

/* Cells that need too many sub-steps, by the other method. */
static void lanes_rescue(const struct lanes *l, const struct cool_table *t, double dt, double finer,
                         struct solve_cells *c, double T2[SOLVE_BLOCK])
{
    struct solve_cells rest = {.n = l->n};
    for (int k = 0; k < l->n; k++) {
        int i = l->cell[k];
        rest.nH[k] = c->nH[i];
        rest.seen[k] = c->seen[i];
        rest.Z[k] = c->Z[i];
        rest.T2[k] = c->T2[i];
    }
    solve_implicit(t, dt, finer, &rest);
    for (int k = 0; k < l->n; k++) T2[l->cell[k]] = rest.T2[k];
    c->steps += rest.steps;
}

void solve_original(const struct cool_table *t, double dt, double finer, struct solve_cells *c)
{
    struct lanes l;
    double T2[SOLVE_BLOCK];
    if (c->n == 0) return;
    lanes_fill(&l, c, dt, finer);
    for (int step = 0; l.n > 0 && step < STEPS_MOST * finer; step++) {
        c->steps += l.n;
        lanes_step(&l, t->node[0], finer);
        lanes_leave(&l, T2);
    }
    if (l.n > 0) lanes_rescue(&l, t, dt, finer, c, T2);
    for (int k = 0; k < c->n; k++) c->T2[k] = T2[k];
}
