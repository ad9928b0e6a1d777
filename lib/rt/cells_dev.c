/* rt/cells_dev: launches of the chemistry of a level on a device (rt/cells_kernel.c). */
#include <stdio.h>
#include <string.h>

#include "oct/field_sets.h"
#include "rt/batch.h"
#include "rt/dev_priv.h"

enum err rt_dev_cells_begin(struct rt_dev *d, const struct rt_run *r, int l)
{
    struct mesh *m = r->mesh;
    const size_t cells = 8 * (size_t)m->lev[l].nown, groups = (size_t)d->rt->ngroups;
    TRY(mirror_need_set(d->mirror, m, l, GAS | PHOTONS, LOCATION_DEVICE));
    TRY(dev_room_need(d->stream, &d->rest, sizeof(int64_t) * cells, "chemistry cells"));
    TRY(dev_room_need(d->stream, &d->absorbed, sizeof(double) * cells * groups, "radiation sums"));
    if (d->rt->chem->law.emits)
        TRY(dev_room_need(d->stream, &d->emitted, sizeof(double) * cells * groups,
                          "radiation sums"));
    if (d->tables) return OK;
    TRY(dev_new(d->dev, &d->tables, chem_tables_bytes(), "chemistry tables"));
    dev_put(d->stream, d->tables, d->rt->chem->tables, chem_tables_bytes());
    return OK;
}

static struct rt_cell_law law_of(const struct rt_job *j)
{
    struct rt_cell_law w = {.floor = j->floor,
                            .smallr = j->r->hydro->smallr,
                            .dt = j->dt,
                            .hydrogen = j->hydrogen,
                            .per_T2 = j->per_T2,
                            .unit_n = j->unit_n,
                            .unit_f = j->unit_f,
                            .unit_m = j->unit_m,
                            .volume = j->volume,
                            .decay = j->decay,
                            .Z = j->rt->par->physics.z_ave,
                            .T2_max = j->rt->par->physics.t2max,
                            .metal = j->metal,
                            .delayed = j->delayed,
                            .pushes = j->pushes,
                            .smooth = j->rt->smooth && j->rt->advect,
                            .advect = j->rt->advect};
    memcpy(w.x, j->x, sizeof w.x);
    return w;
}

static struct rt_cells_args args_of(struct rt_dev *d, const struct rt_job *j, int l)
{
    struct rt_cells_args a = {.mesh = d->mirror->mesh_dev,
                              .l = l,
                              .law = law_of(j),
                              .chem = *j->chem,
                              .old = d->old.p,
                              .rest = d->rest.p,
                              .nrest = d->nrest,
                              .absorbed = d->absorbed.p,
                              .emitted = d->emitted.p,
                              .stats = d->stats};
    a.chem.tables = d->tables;
    return a;
}

void rt_dev_chemistry(struct rt_dev *d, const struct rt_run *r, int l, double dt)
{
    struct mesh *m = r->mesh;
    const struct rt_job j = rt_job_of(r, l, dt);
    const bool exact = d->rt->chem->rule == CHEM_EXACT;
    const int64_t cells = 8 * (int64_t)m->lev[l].nown;
    const int64_t blocks = (cells + RT_CELL_THREADS - 1) / RT_CELL_THREADS,
                  fill = 4 * (int64_t)dev_processors(d->dev);
    if (cells == 0 || !(j.dt > 0)) return;
    BUG_ON(mirror_need_set(d->mirror, m, l, GAS | PHOTONS, LOCATION_DEVICE) != OK);
    mirror_send(d->mirror, m);
    const struct rt_cells_args a = args_of(d, &j, l);
    dev_fill(d->stream, d->nrest, 0, sizeof *d->nrest);
    dev_launch(d->stream, exact ? &cells_try_exact : &cells_try_ramses, blocks, &a);
    dev_launch(d->stream, exact ? &cells_rest_exact : &cells_rest_ramses,
               fill < blocks ? fill : blocks, &a);
    mirror_wrote_set(d->mirror, m, l, GAS, LOCATION_DEVICE);
    if (!d->rt->advect) return;
    rt_dev_count(d, d->absorbed.p, cells, RT_ABSORBED, 0, d->rt->ngroups);
    if (d->rt->chem->law.emits) rt_dev_count(d, d->emitted.p, cells, RT_EMITTED, 0, d->rt->ngroups);
    mirror_wrote_set(d->mirror, m, l, PHOTONS, LOCATION_DEVICE);
}

/* The error of cells that have not reached the end of a sub-step; it names the oct of the first. */
static enum err unfinished(const struct rt_cell_stats *s, const struct mesh *m, int l)
{
    char where[100] = "";
    double x[3];
    if (s->failed == 0) return OK;
    const lidx oct = m->lev[l].nown - s->stuck;
    okey_cell_centre(m->lev[l].key[oct], 0, mesh_dx(m, l), x);
    for (int d = 0, n = 0; d < m->ndim; d++)
        n += snprintf(where + n, sizeof where - (size_t)n, " %.9g", x[d]);
    FAIL(ERR_LIMIT,
         "thermochemistry does not reach the end of a step in %d sub-steps in %ld cells of level "
         "%d, the first in the oct whose first cell is at%s; reduce the time step "
         "(rt_courant_factor, courant_factor)",
         (int)s->most, (long)s->failed, l, where);
}

enum err rt_dev_end(struct rt_dev *d, const struct rt_run *r, int l)
{
    struct rt_cell_stats s;
    struct rt_ledger *x = &r->rt->ledger;
    dev_get(d->stream, &s, d->stats, sizeof s);
    dev_fill(d->stream, d->stats, 0, sizeof s);
    BUG_ON(dev_wait(d->stream) != OK); /* the state is lost */
    x->cells += s.cells;
    x->substeps += s.steps;
    if (s.most > x->most) x->most = s.most;
    for (int i = 0; i < RT_REASONS; i++) x->refused[i] += s.refused[i];
    return unfinished(&s, r->mesh, l);
}
