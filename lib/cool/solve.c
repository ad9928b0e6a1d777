/* cool/solve: the methods (solve_kern.h) for blocks of cells; the original method advances the
 * unfinished cells in vectors. */
#include <string.h>

#include "cool/solve.h"
#include "cool/solve_kern.h"

/* Unfinished cells in vectors; arrays are used up to the next multiple of VEC. */
struct lanes {
    int n;
    double T2[SOLVE_BLOCK], t[SOLVE_BLOCK], total[SOLVE_BLOCK];
    double w[SOLVE_BLOCK], Z[SOLVE_BLOCK], inv[SOLVE_BLOCK];
    double low[SOLVE_BLOCK]; /* first node of the lower neighbouring density */
    double min[SOLVE_BLOCK]; /* minimum of w */
    double end[SOLVE_BLOCK]; /* T2 at `total`, if `total` lies in the last sub-step */
    double y[SOLVE_BLOCK], at[SOLVE_BLOCK]; /* position between two nodes; the lower node */
    /* net cooling and slope from the table, extrapolated */
    double net[SOLVE_BLOCK], slope[SOLVE_BLOCK];
    int cell[SOLVE_BLOCK];
};

/* The cells, and as far as VEC divides copies of the last one. */
static void lanes_copy(struct lanes *l, const struct solve_cells *c, double nH[], double seen[])
{
    size_t n = sizeof *nH * (size_t)c->n;
    memcpy(l->T2, c->T2, n);
    memcpy(l->Z, c->Z, n);
    memcpy(nH, c->nH, n);
    memcpy(seen, c->seen, n);
    for (int k = c->n; k % VEC; k++) {
        l->T2[k] = c->T2[c->n - 1];
        l->Z[k] = c->Z[c->n - 1];
        nH[k] = c->nH[c->n - 1];
        seen[k] = c->seen[c->n - 1];
    }
    for (int k = 0; k < SOLVE_BLOCK; k++) l->cell[k] = k;
}

static void lanes_fill(struct lanes *l, const struct solve_cells *c, double dt, double finer)
{
    const double unit = original_unit(dt);
    double nH[SOLVE_BLOCK], seen[SOLVE_BLOCK];
    l->n = c->n;
    lanes_copy(l, c, nH, seen);
    for (int k = 0; k < l->n; k += VEC) {
        struct original_lane lane = original_enter(vec_load(nH + k), vec_load(seen + k), unit,
                                                   finer);
        vec_store(l->t + k, vec_of(0));
        vec_store(l->inv + k, lane.inv);
        vec_store(l->total + k, lane.total);
        vec_store(l->min + k, lane.min);
        vec_store(l->w + k, lane.w);
        vec_store(l->low + k, lane.low);
    }
}

/* log2 of rates and their derivatives, a vector of rates per cell. */
struct rows {
    double rate[SOLVE_BLOCK][VEC], slope[SOLVE_BLOCK][VEC];
};

VEC_INLINE vec column(const double (*row)[VEC], int r)
{
    return (vec){row[0][r], row[1][r], row[2][r], row[3][r],
                 row[4][r], row[5][r], row[6][r], row[7][r]};
}

/* Exponentiates and adds up the rates, in vectors of cells. */
static void lanes_join(struct lanes *l, const struct rows *rows)
{
    for (int k = 0; k < l->n; k += VEC) {
        vec log[RATE_COUNT], turn[RATE_COUNT], slope;
        for (int r = 0; r < RATE_COUNT; r++) {
            log[r] = column(rows->rate + k, r);
            turn[r] = column(rows->slope + k, r);
        }
        vec_store(l->net + k,
                  rates_sum(log, turn, vec_load(l->Z + k), vec_load(l->inv + k), &slope));
        vec_store(l->slope + k, slope);
    }
}

/* Net cooling and its derivative with respect to ln T2: first the positions of the temperatures, in
 * vectors of cells, then the logarithms of the rates of each cell, which are adjacent in memory. */
static void lanes_rates(struct lanes *l, const struct cool_table *t)
{
    const struct table_node *node = t->node[0];
    struct rows rows;
    for (int k = 0; k < l->n; k += VEC) {
        vec y, lower = rates_locate(vec_load(l->T2 + k), &y);
        vec_store(l->y + k, y);
        vec_store(l->at + k, lower + vec_load(l->low + k));
    }
    for (int k = 0; k < l->n; k++) {
        vec slope;
        int at = (int)l->at[k];
        table_want(t, at);
        vec_store(rows.rate[k], rates_at_node(node + at, 0, l->w[k], l->y[k], &slope));
        vec_store(rows.slope[k], slope);
    }
    lanes_join(l, &rows);
}

static void lanes_step(struct lanes *l, const struct cool_table *t, double finer)
{
    lanes_rates(l, t);
    for (int k = 0; k < l->n; k += VEC) {
        struct original_now now = original_step(
            vec_load(l->T2 + k), vec_load(l->t + k), vec_load(l->total + k), vec_load(l->min + k),
            vec_load(l->net + k), vec_load(l->slope + k), finer);
        vec_store(l->end + k, now.end);
        vec_store(l->T2 + k, now.T2);
        vec_store(l->t + k, now.t);
    }
}

/* Removes finished cells and moves the others up, without branches, which would be unpredictable:
 * values stored for unfinished cells are overwritten when they finish. */
static void lanes_leave(struct lanes *l, double T2[SOLVE_BLOCK])
{
    int n = 0;
    for (int k = 0; k < l->n; k++) {
        int cell = l->cell[k], stays = l->t[k] < l->total[k] * ORIGINAL_ARRIVED;
        T2[cell] = l->end[k];
        l->T2[n] = l->T2[k];
        l->t[n] = l->t[k];
        l->total[n] = l->total[k];
        l->min[n] = l->min[k];
        l->w[n] = l->w[k];
        l->Z[n] = l->Z[k];
        l->inv[n] = l->inv[k];
        l->low[n] = l->low[k];
        l->cell[n] = cell;
        n += stays;
    }
    l->n = n;
}

void solve_implicit(const struct cool_table *t, double dt, double finer, struct solve_cells *c)
{
    for (int k = 0; k < c->n; k++) {
        struct solve_point p = solve_point(c->nH[k], c->seen[k], c->Z[k]);
        c->T2[k] = implicit_cell(t->node[0], &p, c->nH[k], c->T2[k], dt, finer, &c->steps);
    }
}

/* Advances cells that need too many sub-steps by the implicit method. */
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
        table_fill_part(t, solve_point(rest.nH[k], rest.seen[k], rest.Z[k]).i);
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
    for (int step = 0; l.n > 0 && step < ORIGINAL_STEPS * finer; step++) {
        c->steps += l.n;
        lanes_step(&l, t, finer);
        lanes_leave(&l, T2);
    }
    if (l.n > 0) lanes_rescue(&l, t, dt, finer, c, T2);
    for (int k = 0; k < c->n; k++) c->T2[k] = T2[k];
}
