/* api/cells: the cells of a checkpoint as columns.
 *
 * Batches of octs are copied cell by cell: all first cells of the octs of a batch, then all second
 * ones. Leaves are contiguous along the curve of a domain, so runs of them are copied as blocks.
 * Batches that the region or the levels exclude are not read (ckpt_pick). */
#include <math.h>
#include <string.h>

#include "api/priv.h"
#include "base/mem.h"

/* A column is a field by its number (view/gas.h), or one of these. */
enum { COLUMN_X = -4, COLUMN_Y, COLUMN_Z, COLUMN_DX };
static const char *const PLACES[] = {"x", "y", "z", "dx"};

struct run {
    int first, n;
};

struct cells {
    struct ptah *p;
    const struct ptah_cells_ask *ask;
    struct ptah_table *t;
    struct zone zone;
    struct ckpt_pick pick;
    struct ckpt_place place;
    int *column; /* [t->columns] */
    int64_t room;
    int nrun;
    struct run run[CKPT_BATCH];
    unsigned char taken[8][CKPT_BATCH]; /* whether a cell is taken */
};

/* ---- the columns ---- */

static enum err add_column(struct cells *q, int i, const char *name)
{
    const struct ptah *p = q->p;
    static const char *const lists[2] = {"fields", "computed"};
    int place = 0;
    while (place < 4 && strcmp(name, PLACES[place]) != 0) place++;
    if (place < 4) {
        q->column[i] = COLUMN_X + place;
    } else {
        q->column[i] = gas_field(p->s, &p->gas, name);
        if (q->column[i] < 0) return no_name(p, name, lists);
        if (gas_needs_curl(q->column[i]))
            FAIL(ERR_PARAM, "%s: %s needs the neighbours of cells: ask for a map of it", p->s->path,
                 name);
    }
    table_add(q->t, name, "", q->column[i] == GAS_LEVEL ? 'i' : 'd');
    return OK;
}

static enum err add_columns(struct cells *q)
{
    q->column = mem_new(sizeof *q->column * (size_t)q->ask->n + 1, "table");
    for (int i = 0; i < q->ask->n; i++) TRY(add_column(q, i, q->ask->name[i]));
    return OK;
}

/* ---- which cells ---- */

static bool is_wanted(const struct cells *q, int level)
{
    const struct ptah_cells_ask *a = q->ask;
    return a->level > 0 ? level == a->level : a->levelmax <= 0 || level <= a->levelmax;
}

static bool pick_octs(void *ctx, int level, int n, const okey *key)
{
    const struct cells *q = ctx;
    const double width = 2 * source_dx(q->p->s, level);
    if (!is_wanted(q, level)) return false;
    for (int i = 0; i < n && q->zone.shape; i++) {
        int64_t at[3];
        okey_coords(key[i], at);
        const double lo[3] = {(double)at[0] * width, (double)at[1] * width, (double)at[2] * width};
        if (zone_meets(&q->zone, lo, width)) return true;
    }
    return !q->zone.shape;
}

static void take_zone(struct cells *q, const struct source_octs *o, int c)
{
    const double dx = source_dx(q->p->s, o->level);
    for (int i = 0; i < o->n; i++) {
        double x[3];
        if (!q->taken[c][i]) continue;
        okey_cell_centre(o->key[i], c, dx, x);
        q->taken[c][i] = zone_meets(&q->zone, x, 0);
    }
}

/* Whether refined cells of a level are taken too. */
static bool takes_refined(const struct cells *q, int level)
{
    const struct ptah_cells_ask *a = q->ask;
    return a->level > 0 || (a->levelmax > 0 && level >= a->levelmax);
}

/* Whether all cells of a batch are taken. */
static bool takes_all(const struct cells *q, const struct source_octs *o)
{
    unsigned char split = 0;
    if (q->zone.shape) return false;
    for (int i = 0; i < o->n; i++) split |= o->split[i];
    return !split || takes_refined(q, o->level);
}

/* Marks the cells to take; returns their number. */
static int64_t take_cells(struct cells *q, const struct source_octs *o)
{
    const bool whole = takes_refined(q, o->level);
    int64_t n = 0;
    for (int c = 0; c < source_cells(q->p->s); c++) {
        for (int i = 0; i < o->n; i++) q->taken[c][i] = whole || !(o->split[i] >> c & 1);
        if (q->zone.shape) take_zone(q, o, c);
        for (int i = 0; i < o->n; i++) n += q->taken[c][i];
    }
    return n;
}

static void find_runs(struct cells *q, int c, int n)
{
    const unsigned char *t = q->taken[c];
    q->nrun = 0;
    for (int i = 0; i < n;) {
        while (i < n && !t[i]) i++;
        const int first = i;
        while (i < n && t[i]) i++;
        if (i > first) q->run[q->nrun++] = (struct run){first, i - first};
    }
}

/* ---- values ---- */

static double place(const struct source_octs *o, int c, int i, int d, double dx)
{
    double x[3];
    okey_cell_centre(o->key[i], c, dx, x);
    return x[d];
}

static void put_values(const struct cells *q, const struct source_octs *o, int c, int k, double *to)
{
    const int what = q->column[k];
    const double dx = source_dx(q->p->s, o->level);
    for (int r = 0; r < q->nrun; r++) {
        const int first = q->run[r].first, end = first + q->run[r].n;
        if (what >= 0 && what < CKPT_FIELDS) {
            const double *from = o->val[8 * what + c] + first;
            if (to != from) memcpy(to, from, sizeof *to * (size_t)q->run[r].n);
            to += q->run[r].n;
            continue;
        }
        for (int i = first; i < end; i++)
            *to++ = what >= CKPT_FIELDS ? gas_value(&q->p->gas, what, o, c, i)
                    : what == COLUMN_DX ? dx
                                        : place(o, c, i, what - COLUMN_X, dx);
    }
}

static void put_levels(const struct cells *q, int level, int32_t *to)
{
    for (int r = 0; r < q->nrun; r++)
        for (int i = 0; i < q->run[r].n; i++) *to++ = level;
}

static void put_column(const struct cells *q, const struct source_octs *o, int c, int k)
{
    void *data = q->t->column[k].data;
    if (q->t->column[k].type == 'i')
        put_levels(q, o->level, (int32_t *)data + q->t->n);
    else
        put_values(q, o, c, k, (double *)data + q->t->n);
}

/* Values of batches of which all cells are taken are read to their places in the table. */
static void place_octs(void *ctx, const struct source_octs *o, double **val)
{
    const struct cells *q = ctx;
    const int cells = source_cells(q->p->s);
    const int64_t end = q->t->n + (int64_t)cells * o->n;
    if (end > q->room || !is_wanted(q, o->level) || !takes_all(q, o)) return;
    for (int k = 0; k < q->t->columns; k++) {
        const int what = q->column[k];
        double *to = (double *)q->t->column[k].data + q->t->n;
        if (what < 0 || what >= CKPT_FIELDS) continue;
        for (int c = 0; c < cells; c++) val[8 * what + c] = to + (int64_t)c * o->n;
    }
}

static enum err add_octs(const struct source_octs *o, void *ctx)
{
    struct cells *q = ctx;
    if (!is_wanted(q, o->level)) return OK;
    const bool all = takes_all(q, o);
    const int64_t n = all ? (int64_t)source_cells(q->p->s) * o->n : take_cells(q, o),
                  end = q->t->n + n;
    if (n == 0) return OK;
    if (end > q->room) TRY(table_room(q->t, &q->room, 2 * q->room + n, q->p->s->path));
    for (int c = 0; c < source_cells(q->p->s); c++) {
        if (all)
            q->nrun = 1, q->run[0] = (struct run){0, o->n};
        else
            find_runs(q, c, o->n);
#pragma omp parallel for schedule(dynamic, 1)
        for (int k = 0; k < q->t->columns; k++) put_column(q, o, c, k);
        for (int r = 0; r < q->nrun; r++) q->t->n += q->run[r].n;
    }
    return OK;
}

/* ---- reading ---- */

/* The number of leaf cells of a whole checkpoint, by its header. */
static int64_t count_leaves(const struct source *s)
{
    int64_t n = 0;
    for (int l = 1; l <= LEVEL_MAX; l++)
        n += source_cells(s) * s->numbtot[l] - (l > 1 ? s->numbtot[l] : 0);
    return n;
}

static enum err read_cells(struct cells *q)
{
    struct source *s = q->p->s;
    const struct ptah_cells_ask *a = q->ask;
    const bool all = !q->zone.shape && a->level <= 0 && a->levelmax <= 0;
    TRY(add_columns(q));
    q->pick = (struct ckpt_pick){.octs = pick_octs, .ctx = q};
    s->pick = all ? NULL : &q->pick;
    q->place = (struct ckpt_place){.octs = place_octs, .ctx = q};
    s->place = &q->place;
    memset(&s->counts, 0, sizeof s->counts);
    if (all) TRY(table_room(q->t, &q->room, count_leaves(s), s->path));
    for (int i = 0; i < s->npiece; i++) TRY(source_octs(s, i, SOURCE_STORED, add_octs, q));
    return all ? source_check_tree(s) : OK;
}

int ptah_cells(struct ptah *p, const struct ptah_cells_ask *ask, struct ptah_table *out)
{
    const int threads = call_begin();
    struct cells *q = mem_zero(sizeof *q, "table");
    *out = (struct ptah_table){0};
    q->p = p, q->ask = ask, q->t = out;
    enum err e = zone_of(&q->zone, p, &ask->region);
    if (e == OK) e = read_cells(q);
    p->s->pick = NULL, p->s->place = NULL;
    table_trim(out, q->room, e);
    mem_free(q->column);
    ptah_free(q);
    return call_end(threads, e);
}
