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

/* Cells that have not arrived, side by side. */
struct lanes {
    int n;
    double T2[SOLVE_BLOCK], t[SOLVE_BLOCK], total[SOLVE_BLOCK];
    double w[SOLVE_BLOCK], Z[SOLVE_BLOCK], inv[SOLVE_BLOCK];
    double T2_old[SOLVE_BLOCK], t_old[SOLVE_BLOCK];
    int i[SOLVE_BLOCK], cell[SOLVE_BLOCK];
};

double solve_rate(const struct cool_table *t, double nH, double seen, double Z, double T2,
                  double *slope)
{
    struct solve_place p = solve_place(nH, seen, Z);
    return rate_net(t->node[0], p.w, p.Z, p.inv, p.i, T2, slope);
}

static void lanes_fill(struct lanes *l, const struct solve_cells *c, double dt)
{
    const double unit = 2 * COOL_X / (3 * COOL_KB);
    l->n = c->n;
    for (int k = 0; k < c->n; k++) {
        struct solve_place p = solve_place(c->nH[k], c->seen[k], c->Z[k]);
        l->T2[k] = c->T2[k];
        l->t[k] = 0;
        l->total[k] = dt * unit * c->nH[k];
        l->w[k] = p.w;
        l->Z[k] = p.Z;
        l->inv[k] = p.inv;
        l->i[k] = p.i;
        l->cell[k] = k;
    }
}

static void lanes_step(struct lanes *l, const struct table_node *node, double finer)
{
#pragma omp simd
    for (int k = 0; k < l->n; k++) {
        double T2 = l->T2[k], slope;
        double net = rate_net(node, l->w[k], l->Z[k], l->inv[k], l->i[k], T2, &slope);
        double rate = finer * 4 * fabs(net) / T2, turn = -4 * slope, least = finer / l->total[k];
        double w = rate > turn ? rate : turn;
        w = w > least ? w : least;
        l->T2_old[k] = T2;
        l->t_old[k] = l->t[k];
        l->T2[k] = T2 * (1 + slope / w - net / T2 / w) / (1 + slope / w);
        l->t[k] += 1 / w;
    }
}

/* Cells that have arrived leave; the others move up. */
static void lanes_leave(struct lanes *l, struct solve_cells *c)
{
    int n = 0;
    for (int k = 0; k < l->n; k++) {
        if (!(l->t[k] < l->total[k])) {
            double f = (l->total[k] - l->t_old[k]) / (l->t[k] - l->t_old[k]);
            c->T2[l->cell[k]] = l->T2[k] * f + l->T2_old[k] * (1 - f);
            continue;
        }
        if (n < k) {
            l->T2[n] = l->T2[k];
            l->t[n] = l->t[k];
            l->total[n] = l->total[k];
            l->w[n] = l->w[k];
            l->Z[n] = l->Z[k];
            l->inv[n] = l->inv[k];
            l->i[n] = l->i[k];
            l->cell[n] = l->cell[k];
        }
        n++;
    }
    l->n = n;
}

/* Cells that need too many sub-steps, by the other method. */
static void lanes_rescue(const struct lanes *l, const struct cool_table *t, double dt, double finer,
                         struct solve_cells *c)
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
    for (int k = 0; k < l->n; k++) c->T2[l->cell[k]] = rest.T2[k];
    c->steps += rest.steps;
}

void solve_original(const struct cool_table *t, double dt, double finer, struct solve_cells *c)
{
    struct lanes l;
    lanes_fill(&l, c, dt);
    for (int step = 0; l.n > 0 && step < STEPS_MOST * finer; step++) {
        c->steps += l.n;
        lanes_step(&l, t->node[0], finer);
        lanes_leave(&l, c);
    }
    if (l.n > 0) lanes_rescue(&l, t, dt, finer, c);
}
