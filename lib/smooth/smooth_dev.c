#include "smooth/smooth_dev.h"

#include "base/mem.h"
#include "smooth/kernels.h"
#include "smooth/priv.h"
#include "tree/near_dev.h"

/* Rows that density and forces keep in the order of the tree; density has v and a in the
 * first ones. */
enum {
#define ROW(name) SORTED_##name,
    SMOOTH_PAIR(ROW)
#undef ROW
        SORTED_reach2,
    SORTED
};

struct smooth_dev {
    struct dev *dev;           /* lent */
    struct dev_stream *stream; /* lent */
    struct near_dev *tree;
    struct near_dev_lists lists;
    int64_t rows; /* particles that there is room for */
    /* By number: the columns, where neighbours are sought, which have no h. */
    struct dev_room column[SMOOTH_COLUMNS], reach, fault;
    struct dev_room sorted[SORTED], begin, counter;
};

struct smooth_dev *smooth_dev_new(struct dev *d, struct dev_stream *s)
{
    struct smooth_dev *to = mem_zero(sizeof *to, "device");
    to->dev = d;
    to->stream = s;
    return to;
}

void smooth_dev_free(struct smooth_dev **at)
{
    struct smooth_dev *d = *at;
    if (!d) return;
    near_dev_free(&d->tree);
    near_dev_lists_free(d->stream, &d->lists);
    for (int c = 0; c < SMOOTH_COLUMNS; c++) dev_drop(d->stream, d->column[c].p);
    for (int i = 0; i < SORTED; i++) dev_drop(d->stream, d->sorted[i].p);
    struct dev_room *const room[] = {&d->reach, &d->fault, &d->begin, &d->counter};
    for (size_t i = 0; i < sizeof room / sizeof *room; i++) dev_drop(d->stream, room[i]->p);
    FREE(*at);
}

/* ---- memory ---- */

enum err smooth_dev_reserve(struct smooth_dev *d, int64_t rows)
{
    static const char name[] = "smoothed particles";
    if (rows <= d->rows) return OK;
    const int64_t more = rows + rows / 8; /* ghosts come and go */
    const size_t n = (size_t)more;
    for (int c = 0; c < SMOOTH_COLUMNS; c++)
        TRY(dev_room_need(d->stream, &d->column[c], smooth_row[c].bytes * n, name));
    for (int i = 0; i < SORTED; i++)
        TRY(dev_room_need(d->stream, &d->sorted[i], sizeof(double) * n, name));
    TRY(dev_room_need(d->stream, &d->reach, sizeof(double) * n, name));
    TRY(dev_room_need(d->stream, &d->fault, n, name));
    TRY(dev_room_need(d->stream, &d->counter, sizeof(int64_t) * SMOOTH_COUNTERS, name));
    d->rows = more;
    return OK;
}

/* Copies the first rows of columns to the device. */
static void put(struct smooth_dev *d, struct smooth *s, int n, const enum smooth_column *which,
                int64_t rows)
{
    for (int i = 0; i < n; i++) {
        const enum smooth_column c = which[i];
        dev_put(d->stream, d->column[c].p, *smooth_at(s, c), smooth_row[c].bytes * (size_t)rows);
    }
}

/* Copies columns of own particles back. */
static void get(struct smooth_dev *d, struct smooth *s, int n, const enum smooth_column *which)
{
    for (int i = 0; i < n; i++) {
        const enum smooth_column c = which[i];
        dev_get(d->stream, *smooth_at(s, c), d->column[c].p, smooth_row[c].bytes * (size_t)s->n);
    }
}

#define COUNT(which) ((int)(sizeof(which) / sizeof *(which)))

/* ---- the tree ---- */

enum err smooth_dev_tree(struct smooth_dev *d, struct smooth *s, const struct near_frame *frame)
{
    static const enum smooth_column which[] = {SMOOTH_X_COLUMN, SMOOTH_Y_COLUMN, SMOOTH_Z_COLUMN,
                                               SMOOTH_ID_COLUMN};
    const int64_t rows = s->n + s->ghosts;
    near_dev_free(&d->tree);
    TRY(smooth_dev_reserve(d, rows));
    put(d, s, COUNT(which), which, rows);
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
static const enum smooth_column found[] = {SMOOTH_H_COLUMN, SMOOTH_OMEGA_COLUMN, SMOOTH_DIVV_COLUMN,
                                           SMOOTH_ALPHA_LOC_COLUMN};

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

static void density_ready(struct smooth_dev *d, struct smooth *s, const double *reach)
{
    static const enum smooth_column own[] = {SMOOTH_U_COLUMN, SMOOTH_H_COLUMN};
    put(d, s, COUNT(moving), moving, d->tree->n);
    put(d, s, COUNT(own), own, s->n);
    /* Ghosts seek no neighbours. */
    dev_fill(d->stream, d->reach.p, 0, sizeof(double) * (size_t)d->tree->n);
    dev_put(d->stream, d->reach.p, reach, sizeof(double) * (size_t)s->n);
    dev_fill(d->stream, d->fault.p, 0, (size_t)s->n);
    dev_fill(d->stream, d->counter.p, 0, sizeof(int64_t) * SMOOTH_COUNTERS);
}

/* The error of the particle of the smallest id. */
static enum err complain(struct smooth_dev *d, const struct smooth *s)
{
    const size_t n = (size_t)s->n;
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
                            const double *reach, int64_t *beyond)
{
    struct smooth_density_args a = {.par = *p};
    int64_t counter[SMOOTH_COUNTERS];
    *beyond = 0;
    if (s->n == 0) return OK;
    density_ready(d, s, reach);
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
    if (counter[SMOOTH_COUNT_FAULTS] > 0) return complain(d, s);
    get(d, s, COUNT(found), found);
    return dev_wait(d->stream);
}

/* ---- forces ---- */

static const enum smooth_column pushed[] = {SMOOTH_AX_COLUMN,   SMOOTH_AY_COLUMN,
                                            SMOOTH_AZ_COLUMN,   SMOOTH_DU_COLUMN,
                                            SMOOTH_VSIG_COLUMN, SMOOTH_NEAR_COLUMN};

static void forces_ready(struct smooth_dev *d, struct smooth *s)
{
    static const enum smooth_column all[] = {
        SMOOTH_VX_COLUMN, SMOOTH_VY_COLUMN,    SMOOTH_VZ_COLUMN,   SMOOTH_U_COLUMN,
        SMOOTH_H_COLUMN,  SMOOTH_ALPHA_COLUMN, SMOOTH_OMEGA_COLUMN};
    static const enum smooth_column own[] = {SMOOTH_TYPE_COLUMN};
    put(d, s, COUNT(all), all, d->tree->n);
    put(d, s, COUNT(own), own, s->n);
}

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
                                  .reach2 = d->sorted[SORTED_reach2].p};
    for (int k = 0; k < 3; k++) {
        a.from.x[k] = d->column[SMOOTH_X_COLUMN + k].p;
        a.from.v[k] = d->column[SMOOTH_VX_COLUMN + k].p;
    }
#define ROW(name) a.name = d->sorted[SORTED_##name].p;
    SMOOTH_PAIR(ROW)
#undef ROW
    dev_launch(d->stream, &smooth_pairs, dev_blocks(a.n), &a);
}

enum err smooth_dev_forces(struct smooth_dev *d, const struct smooth_par *p, struct smooth *s)
{
    struct smooth_forces_args a = {.par = *p};
    TRY(smooth_check_positive(s));
    if (s->n == 0) return OK;
    forces_ready(d, s);
    prepare(d, p);
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
    get(d, s, COUNT(pushed), pushed);
    return dev_wait(d->stream);
}
