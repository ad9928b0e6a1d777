/* adapt/adapt_dev: see adapt_dev.h. If the device lacks memory for a change, the fields return to
 * the host and the change is made there. */
#include "adapt/adapt_dev.h"

#include <string.h>

#include "oct/field_sets.h"

/* The gas is interpolated from its own level and the two coarser ones. */
static int coarsest(int l, int f)
{
    int k = field_row_of(f)->prolong == PROLONG_GAS ? l - 3 : l - 1;
    return k < 1 ? 1 : k;
}

/* Adds the locations of field f on the levels read by interpolation; empty levels do not count. */
static void locations(const struct mirror *x, const struct mesh *m, int l, int f, bool *some_away,
                      bool *all_present)
{
    for (int k = coarsest(l, f); k <= l; k++) {
        bool device = mirror_is_at(x, k, f, LOCATION_DEVICE),
             host = mirror_is_at(x, k, f, LOCATION_HOST);
        if (m->lev[k].noct == 0) continue;
        *some_away |= device && !host;
        *all_present &= device;
    }
}

/* Rows whose fields move together: those that the gas is interpolated with, or one alone. */
static bool row_goes_with(int i, int with)
{
    return i == with ||
           (field_rows[i].prolong == PROLONG_GAS && field_rows[with].prolong == PROLONG_GAS);
}

/* Locations of the fields of row `with` and of those that move with it. */
static void group_locations(const struct mirror *x, const struct mesh *m, int l, int with,
                            bool *away, bool *present)
{
    for (int i = 0; i < FIELD_ROWS; i++) {
        const int first = field_rows[i].first, n = field_row_count(m, &field_rows[i]);
        if (!row_goes_with(i, with)) continue;
        for (int f = first; f < first + n; f++) locations(x, m, l, f, away, present);
    }
}

/* Chooses the fields that are remapped on the device; the components of a row move together. */
static void fields_choose(struct adapt_dev *v, const struct mesh *m, int l, bool alone)
{
    for (int i = 0; i < FIELD_ROWS; i++) {
        bool away = false, present = true;
        const int first = field_rows[i].first, n = field_row_count(m, &field_rows[i]);
        if (n == 0) continue;
        group_locations(v->mirror, m, l, i, &away, &present);
        if (!away && !present) continue;
        for (int f = first; f < first + n; f++) v->f.fld[v->f.n++] = f;
        for (int f = first; f < first + n; f++) v->moves.skip[f] = away || !alone;
    }
}

static enum err fields_bring(struct adapt_dev *v, struct mesh *m, int l)
{
    for (int k = l - 1; k <= l + 1 && k <= m->levelmax; k++) TRY(mirror_links(v->mirror, m, k));
    for (int i = 0; i < v->f.n; i++)
        for (int k = coarsest(l, v->f.fld[i]); k <= l; k++)
            TRY(mirror_need(v->mirror, m, k, v->f.fld[i], 1, LOCATION_DEVICE));
    return OK;
}

/* Returns all fields to the host, which then makes the change. */
static void come_home(struct adapt_dev *v, struct mesh *m, int l)
{
    for (int k = l > 3 ? l - 3 : 1; k <= l; k++) {
        BUG_ON(mirror_need(v->mirror, m, k, 0, MIRROR_FIELDS, LOCATION_HOST) != OK);
        mirror_wrote(v->mirror, k, 0, MIRROR_FIELDS, LOCATION_HOST);
    }
    v->f.n = 0;
    memset(v->moves.skip, 0, sizeof v->moves.skip);
}

void adapt_dev_begin(struct adapt_dev *v, struct mesh *m, int l, bool alone)
{
    v->f.n = 0;
    v->remap.x = NULL;
    v->moves = (struct mesh_moves){.from = NULL};
    fields_choose(v, m, l, alone);
    enum err e = v->f.n > 0 ? fields_bring(v, m, l) : OK;
    if (e != OK) come_home(v, m, l);
    BUG_ON(mirror_settle(v->mirror) != OK); /* copies of arrays that are about to go */
    for (int k = l - 1; k <= l; k++)        /* the host reads and moves flags */
        BUG_ON(mirror_need_set(v->mirror, m, k, FLAG, LOCATION_HOST) != OK);
}

bool adapt_dev_here(const struct adapt_dev *v, int f)
{
    return !v || !v->moves.skip[f];
}

void adapt_dev_rows(struct adapt_dev *v, struct mesh *m, int l, int32_t n, const int32_t *location,
                    double (*rows)[8])
{
    const struct remap_gas *gas = v->gas.fill ? &v->gas : NULL;
    if (n == 0 || v->f.n == 0) return;
    enum err e = remap_rows(v->mirror, m, l, n, location, &v->f, gas, rows);
    if (e != OK) come_home(v, m, l + 1);
}

void adapt_dev_room(struct adapt_dev *v, struct mesh *m, int l, lidx noct, lidx created, lidx rows)
{
    if (v->f.n == 0) return;
    if (remap_begin(&v->remap, v->mirror, m, l, noct, created, rows, &v->f) != OK)
        come_home(v, m, l);
}

void adapt_dev_end(struct adapt_dev *v, struct mesh *m, int l, const struct remap_change *c)
{
    if (v->remap.x) remap_end(&v->remap, m, c, v->gas.fill ? &v->gas : NULL);
    for (int i = 0; i < v->f.n; i++)
        if (v->moves.skip[v->f.fld[i]]) mirror_wrote(v->mirror, l, v->f.fld[i], 1, LOCATION_DEVICE);
}

void adapt_dev_fill(struct adapt_dev *v, const struct comm *c, struct mesh *m, int l, int nfld,
                    const int *fld)
{
    struct level *lv = &m->lev[l], *image = &v->mirror->image->lev[l];
    struct ghost_dev_arrays a = {.n = nfld + 1};
    struct ghost_dev_plan *plan;
    struct ghost_dev_rows rows;
    if (!lv->plan.shared) return;
    for (int i = 0; i < nfld; i++) {
        a.here[i] = adapt_dev_here(v, fld[i]);
        a.arr[i] = a.here[i] ? lv->fld[fld[i]] : image->fld[fld[i]];
        a.stride[i] = sizeof(double[8]);
    }
    a.here[nfld] = true;
    a.arr[nfld] = lv->flag;
    a.stride[nfld] = sizeof lv->flag[0];
    enum err e = ghost_dev_level(v->ghost, m, l, &plan);
    if (e == OK) e = ghost_dev_mixed_begin(&rows, v->ghost, c, COMM_BULK_DP, plan, &a);
    if (e != OK) { /* fallback: fill on the host */
        come_home(v, m, l);
        for (int i = 0; i < nfld; i++) a.arr[i] = lv->fld[fld[i]];
        ghost_fill_rows(c, COMM_BULK_DP, &lv->plan, a.n, a.arr, a.stride);
    } else
        ghost_dev_mixed_end(&rows, &a);
}
