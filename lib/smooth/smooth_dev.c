#include "smooth/smooth_dev.h"

#include "base/mem.h"
#include "smooth/dev_priv.h"
#include "smooth/priv.h"

enum {
    POSITION = SMOOTH_BIT(X) | SMOOTH_BIT(Y) | SMOOTH_BIT(Z),
    VELOCITY = SMOOTH_BIT(VX) | SMOOTH_BIT(VY) | SMOOTH_BIT(VZ),
    ACCELERATION = SMOOTH_BIT(AX) | SMOOTH_BIT(AY) | SMOOTH_BIT(AZ),
    FOUND = SMOOTH_BIT(H) | SMOOTH_BIT(OMEGA) | SMOOTH_BIT(DIVV) | SMOOTH_BIT(ALPHA_LOC),
    PUSHED = ACCELERATION | SMOOTH_BIT(DU) | SMOOTH_BIT(VSIG) | SMOOTH_BIT(NEAR)
};

/* ---- the tree ---- */

enum err smooth_dev_tree(struct smooth_dev *d, struct smooth *s, const struct near_frame *frame)
{
    const int64_t rows = s->n + s->ghosts;
    near_dev_free(&d->tree);
    TRY(smooth_dev_reserve(d, s, rows));
    smooth_dev_need(d, s, POSITION | SMOOTH_BIT(ID));
    const struct near_points p = {
        rows,
        {d->column[SMOOTH_X_COLUMN].p, d->column[SMOOTH_Y_COLUMN].p, d->column[SMOOTH_Z_COLUMN].p},
        d->column[SMOOTH_ID_COLUMN].p};
    return near_dev_new(d->dev, d->stream, &p, frame, SMOOTH_ROWS, &d->tree);
}

/* Lists of leaves from the reaches of points, for the kernels. */
static enum err find(struct smooth_dev *d, int64_t own, bool mutual, struct smooth_tree_args *a)
{
    struct near_dev *t = d->tree;
    near_dev_reach(t, d->reach.p);
    TRY(near_dev_find(t, mutual, &d->lists));
    TRY(dev_room_need(d->stream, &d->begin, sizeof(int32_t) * (size_t)(d->lists.n + t->nleaf),
                      "lists of candidates"));
    *a = (struct smooth_tree_args){.n = (int32_t)t->n,
                                   .own = (int32_t)own,
                                   .nleaf = (int32_t)t->nleaf,
                                   .order = t->order,
                                   .first = t->first,
                                   .list_first = d->lists.first,
                                   .list = d->lists.leaf,
                                   .begin = d->begin.p};
    for (int k = 0; k < 3; k++) a->period[k] = t->frame.period[k], a->x[k] = t->x[k];
    dev_launch(d->stream, &smooth_candidates, dev_blocks(t->nleaf), a);
    return OK;
}

/* ---- density ---- */

static const enum smooth_column moving[] = {SMOOTH_VX_COLUMN, SMOOTH_VY_COLUMN, SMOOTH_VZ_COLUMN,
                                            SMOOTH_AX_COLUMN, SMOOTH_AY_COLUMN, SMOOTH_AZ_COLUMN};

/* Velocities and accelerations in the order of the tree. */
static void sort_moving(struct smooth_dev *d, struct smooth_density_args *a)
{
    struct smooth_sort_args sort = {.n = (int32_t)d->tree->n, .order = d->tree->order};
    for (int k = 0; k < 6; k++) {
        sort.from[k] = d->column[moving[k]].p;
        sort.to[k] = d->sorted[k].p;
    }
    for (int k = 0; k < 3; k++) a->v[k] = sort.to[k], a->a[k] = sort.to[3 + k];
    dev_launch(d->stream, &smooth_sort, dev_blocks(sort.n), &sort);
}

/* Reaches of own particles; ghosts seek no neighbours. */
static void density_ready(struct smooth_dev *d, struct smooth *s, double factor)
{
    smooth_dev_need(d, s, VELOCITY | ACCELERATION | SMOOTH_BIT(U) | SMOOTH_BIT(H));
    dev_launch(d->stream, &smooth_reaches, dev_blocks(d->tree->n),
               &(struct smooth_reaches_args){.n = (int32_t)d->tree->n,
                                             .own = (int32_t)s->n,
                                             .factor = factor,
                                             .h = d->column[SMOOTH_H_COLUMN].p,
                                             .reach = d->reach.p});
    dev_fill(d->stream, d->fault.p, 0, (size_t)s->n);
    dev_fill(d->stream, d->counter.p, 0, sizeof(int64_t) * SMOOTH_COUNTERS);
}

/* The error of the particle of the smallest id. */
static enum err complain(struct smooth_dev *d, struct smooth *s)
{
    const size_t n = (size_t)s->n;
    TRY(smooth_dev_home(d, s, SMOOTH_BIT(ID)));
    int8_t *fault = mem_new(n, "faults");
    double *h = mem_new(sizeof *h * n, "faults");
    int64_t bad = -1;
    dev_get(d->stream, fault, d->fault.p, n);
    dev_get(d->stream, h, d->column[SMOOTH_H_COLUMN].p, sizeof *h * n);
    enum err err = dev_wait(d->stream);
    for (int64_t i = 0; i < s->n && err == OK; i++)
        if (fault[i] != SMOOTH_HAS_H && (bad < 0 || s->id[i] < s->id[bad])) bad = i;
    if (bad >= 0) err = smooth_has_no_h((enum smooth_fault)fault[bad], s->id[bad], h[bad]);
    FREE(fault);
    FREE(h);
    return err;
}

enum err smooth_dev_density(struct smooth_dev *d, const struct smooth_par *p, struct smooth *s,
                            double factor, int64_t *beyond)
{
    struct smooth_density_args a = {.par = *p};
    int64_t counter[SMOOTH_COUNTERS];
    *beyond = 0;
    if (s->n == 0) return OK;
    density_ready(d, s, factor);
    TRY(find(d, s->n, false, &a.tree));
    sort_moving(d, &a);
    a.everywhere = smooth_everywhere(p, d->tree->frame.side);
    a.reach = d->reach.p, a.u = d->column[SMOOTH_U_COLUMN].p;
    a.h = d->column[SMOOTH_H_COLUMN].p, a.omega = d->column[SMOOTH_OMEGA_COLUMN].p;
    a.divv = d->column[SMOOTH_DIVV_COLUMN].p;
    a.alpha_loc = d->column[SMOOTH_ALPHA_LOC_COLUMN].p;
    a.fault = d->fault.p, a.counter = d->counter.p;
    dev_launch(d->stream, p->kernel == SMOOTH_M4 ? &smooth_density_m4 : &smooth_density_m6,
               d->tree->nleaf, &a);
    dev_get(d->stream, counter, d->counter.p, sizeof counter);
    TRY(dev_wait(d->stream));
    *beyond = counter[SMOOTH_COUNT_BEYOND];
    smooth_dev_changed(d, FOUND, true);
    return counter[SMOOTH_COUNT_FAULTS] > 0 ? complain(d, s) : OK;
}

/* ---- forces ---- */

/* Fills the rows that pairs need, and the reach of each point. */
static void prepare(struct smooth_dev *d, const struct smooth_par *p)
{
    struct smooth_pairs_args a = {.n = (int32_t)d->tree->n,
                                  .par = *p,
                                  .order = d->tree->order,
                                  .from.u = d->column[SMOOTH_U_COLUMN].p,
                                  .from.h = d->column[SMOOTH_H_COLUMN].p,
                                  .from.alpha = d->column[SMOOTH_ALPHA_COLUMN].p,
                                  .from.omega = d->column[SMOOTH_OMEGA_COLUMN].p,
                                  .reach = d->reach.p,
                                  .reach2 = d->sorted[SORTED_reach2].p,
                                  .counter = d->counter.p};
    for (int k = 0; k < 3; k++) {
        a.from.x[k] = d->column[SMOOTH_X_COLUMN + k].p;
        a.from.v[k] = d->column[SMOOTH_VX_COLUMN + k].p;
    }
#define ROW(name) a.name = d->sorted[SORTED_##name].p;
    SMOOTH_PAIR(ROW)
#undef ROW
    dev_launch(d->stream, &smooth_pairs, dev_blocks(a.n), &a);
}

/* An error names a particle whose h or Ω is not positive. */
static enum err check_positive(struct smooth_dev *d, struct smooth *s)
{
    int64_t counter[SMOOTH_COUNTERS];
    dev_get(d->stream, counter, d->counter.p, sizeof counter);
    TRY(dev_wait(d->stream));
    if (counter[SMOOTH_COUNT_FAULTS] == 0) return OK;
    TRY(smooth_dev_home(d, s, SMOOTH_ALL));
    return smooth_check_positive(s);
}

enum err smooth_dev_forces(struct smooth_dev *d, const struct smooth_par *p, struct smooth *s)
{
    struct smooth_forces_args a = {.par = *p};
    if (s->n == 0) return OK;
    smooth_dev_need(d, s,
                    POSITION | VELOCITY | SMOOTH_BIT(U) | SMOOTH_BIT(H) | SMOOTH_BIT(ALPHA) |
                        SMOOTH_BIT(OMEGA) | SMOOTH_BIT(TYPE));
    dev_fill(d->stream, d->counter.p, 0, sizeof(int64_t) * SMOOTH_COUNTERS);
    prepare(d, p);
    TRY(check_positive(d, s));
    TRY(find(d, s->n, true, &a.tree));
    a.reach2 = d->sorted[SORTED_reach2].p;
#define ROW(name) a.name = d->sorted[SORTED_##name].p;
    SMOOTH_PAIR(ROW)
#undef ROW
    a.type = d->column[SMOOTH_TYPE_COLUMN].p;
    for (int k = 0; k < 3; k++) a.a[k] = d->column[SMOOTH_AX_COLUMN + k].p;
    a.du = d->column[SMOOTH_DU_COLUMN].p, a.vsig = d->column[SMOOTH_VSIG_COLUMN].p;
    a.near = d->column[SMOOTH_NEAR_COLUMN].p;
    dev_launch(d->stream, p->kernel == SMOOTH_M4 ? &smooth_forces_m4 : &smooth_forces_m6,
               d->tree->nleaf, &a);
    smooth_dev_changed(d, PUSHED, true);
    return OK;
}
