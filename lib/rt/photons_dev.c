/* rt/photons_dev: the parts of a sub-step of photons on a device. Memory was allocated by
 * rt_dev_begin; an error means that the device failed, and the state is lost. */
#include "oct/field_sets.h"
#include "patch/reflux.h"
#include "rt/dev_priv.h"
#include "rt/law.h"

/* Photons of level l are on the device. */
static void need(struct rt_dev *d, struct mesh *m, int l)
{
    BUG_ON(mirror_need(d->mirror, m, l, FLD_PHOTONS, m->nphoton, LOCATION_DEVICE) != OK);
    mirror_send(d->mirror, m);
}

/* They have changed there; ghosts are stale. */
static void wrote(struct rt_dev *d, struct mesh *m, int l)
{
    mirror_wrote(d->mirror, l, FLD_PHOTONS, m->nphoton, LOCATION_DEVICE);
    for (int v = 0; v < m->nphoton; v++) m->lev[l].valid[FLD_PHOTONS + v] = false;
}

/* ---- transport ---- */

/* Photons that leave the box, by the states before the step. */
static void count_left(struct rt_dev *d, struct mesh *m, const struct rt_law *law, int l, double dt)
{
    const int64_t n = 6 * (int64_t)m->lev[l].nown;
    if (!law->vacuum && !mesh_has_boundaries(m)) return;
    dev_launch(d->stream, &photons_left, dev_blocks(n),
               &(struct rt_left_args){d->mirror->mesh_dev, d->num, l, law->groups, law->vacuum,
                                      d->rt->scheme == RT_HLL, dt, d->terms.p});
    rt_dev_count(d, d->terms.p, n, RT_LEFT, 0, law->groups);
}

static void drop_registers(struct rt_dev *d, struct mesh *m, const struct rt_law *law, int l)
{
    if (!law->vacuum || !mirror_has_reflux(d->mirror, m, l, REFLUX_RT)) return;
    dev_launch(d->stream, &photons_drop, dev_blocks(6 * (int64_t)m->lev[l].nown),
               &(struct rt_drop_args){d->mirror->mesh_dev, l});
}

enum err rt_dev_registers(struct rt_dev *d, struct mesh *m, int l)
{
    const struct rt_law law = rt_law_make(d->rt, m);
    TRY(mirror_forget_reflux(d->mirror, l, REFLUX_RT));
    reflux_end(m, l, REFLUX_RT); /* those of the host, of an earlier step, have other rows */
    return patch_dev_reflux_begin(&d->patch, m, l, &law.law);
}

void rt_dev_registers_clear(struct rt_dev *d, struct mesh *m, int l)
{
    const struct reflux *r = &d->mirror->image->lev[l].reflux[REFLUX_RT];
    if (m->lev[l].noct == 0 || !mirror_has_reflux(d->mirror, m, l, REFLUX_RT)) return;
    BUG_ON(mirror_need(d->mirror, m, l, FLD_REFLUX + REFLUX_RT, 1, LOCATION_DEVICE) != OK);
    dev_fill(d->stream, r->flux, 0, reflux_row_bytes(r->nflux, r->nedge) * (size_t)r->n);
    mirror_wrote(d->mirror, l, FLD_REFLUX + REFLUX_RT, 1, LOCATION_DEVICE);
}

void rt_dev_transport(struct rt_dev *d, struct mesh *m, int l, double dt, bool first)
{
    const struct rt_law law = rt_law_make(d->rt, m);
    struct rt_tile_args a = {.num = d->num};
    const struct patch_kernels k = rt_dev_kernels(d, &law, &a);
    if (!first && l < m->levelmax) rt_dev_registers_clear(d, m, l + 1);
    if (m->lev[l].nown == 0) return;
    need(d, m, l);
    count_left(d, m, &law, l, dt);
    BUG_ON(patch_dev_update(&d->patch, m, l, dt, &law.law, &k) != OK);
    drop_registers(d, m, &law, l);
    wrote(d, m, l);
}

void rt_dev_confine(struct rt_dev *d, struct mesh *m, int l)
{
    const int groups = m->nphoton / RT_COMPONENTS;
    const lidx nown = m->lev[l].nown;
    if (nown == 0) return;
    need(d, m, l);
    dev_launch(
        d->stream, &photons_confine, dev_blocks(8 * (int64_t)nown),
        &(struct rt_confine_args){d->mirror->mesh_dev, l, groups, d->rt->c, RT_SMALL, d->terms.p});
    rt_dev_count(d, d->terms.p, nown, RT_RAISED, 0, groups);
    wrote(d, m, l);
}

/* ---- sources ---- */

void rt_dev_sources(struct rt_dev *d, const struct rt_run *r, int l, double dt)
{
    struct mesh *m = r->mesh;
    const struct rt_reach *x = &d->reach[l];
    for (int k = 0; k < d->rt->nsource; k++) {
        if (x->n[k] == 0) continue;
        const int group = d->rt->source[k].group;
        need(d, m, l);
        dev_launch(d->stream, &photons_shine, dev_blocks(x->n[k]),
                   &(struct rt_shine_args){d->mirror->mesh_dev,
                                           rt_source_shine(r, l, k, dt * r->units.time), x->cell[k],
                                           x->n[k], l, group, d->terms.p});
        rt_dev_count(d, d->terms.p, 2 * x->n[k], RT_EMITTED, group, 1);
        wrote(d, m, l);
    }
}

/* ---- between levels ---- */

void rt_dev_receive(struct rt_dev *d, struct mesh *m, int l)
{
    if (m->lev[l].nown == 0) return;
    need(d, m, l);
    BUG_ON(mirror_need(d->mirror, m, l + 1, FLD_REFLUX + REFLUX_RT, 1, LOCATION_DEVICE) != OK);
    mirror_send(d->mirror, m);
    dev_launch(d->stream, &photons_receive, dev_blocks(8 * (int64_t)m->lev[l].nown),
               &(struct rt_receive_args){d->mirror->mesh_dev, l});
    wrote(d, m, l);
}

void rt_dev_restrict(struct rt_dev *d, struct mesh *m, int l)
{
    if (m->lev[l].nown == 0 || m->lev[l + 1].noct == 0) return;
    need(d, m, l);
    need(d, m, l + 1);
    dev_launch(d->stream, &photons_means, dev_blocks(8 * (int64_t)m->lev[l].nown),
               &(struct rt_restrict_args){d->mirror->mesh_dev, l});
    mirror_wrote(d->mirror, l, FLD_PHOTONS, m->nphoton, LOCATION_DEVICE);
}

/* ---- ranks ---- */

static int arrays_of(const struct rt_dev *d, const struct mesh *m, int l, void **arr,
                     size_t *stride)
{
    for (int v = 0; v < m->nphoton; v++) {
        arr[v] = d->mirror->image->lev[l].fld[FLD_PHOTONS + v];
        stride[v] = sizeof(double[8]);
    }
    return m->nphoton;
}

/* ERR_LIMIT: there is no room for messages, and nothing was sent. */
static enum err ghosts_fill(struct rt_dev *d, const struct rt_run *r, int l)
{
    struct ghost_dev_rows x = {0};
    struct ghost_dev_plan *plan;
    void *arr[NPHOTON_MAX];
    size_t stride[NPHOTON_MAX];
    need(d, r->mesh, l);
    const int n = arrays_of(d, r->mesh, l, arr, stride);
    TRY(ghost_dev_level(d->ghosts, r->mesh, l, &plan));
    TRY(ghost_dev_rows_begin(&x, d->ghosts, r->comm, COMM_BULK_DP, plan, n, arr, stride));
    ghost_dev_rows_end(&x, n, arr, stride);
    mirror_wrote(d->mirror, l, FLD_PHOTONS, n, LOCATION_DEVICE);
    return OK;
}

void rt_dev_fill(struct rt_dev *d, const struct rt_run *r, int l)
{
    struct mesh *m = r->mesh;
    if (m->lev[l].plan.shared && ghosts_fill(d, r, l) != OK) {
        rt_dev_lend(d, m, l);
        ghost_fill_set(r->comm, m, l, PHOTONS);
        rt_dev_take(d, m, l);
    }
    ghosts_set(m, l, PHOTONS, true);
}

/* A rank without octs of the level has no registers, but takes part: the size of a row is that of
 * all ranks. */
static enum err registers_fill(struct rt_dev *d, const struct rt_run *r, int l)
{
    struct ghost_dev_rows x = {0};
    struct ghost_dev_plan *plan;
    const struct reflux *f = &d->mirror->image->lev[l].reflux[REFLUX_RT];
    const struct ghost_dev_arrays all = {
        .n = 1, .arr = {f->flux}, .stride = {reflux_row_bytes(r->mesh->nphoton, 0)}, .row = f->row};
    TRY(ghost_dev_level(d->ghosts, r->mesh, l, &plan));
    TRY(ghost_dev_mixed_begin(&x, d->ghosts, r->comm, COMM_BULK_FLUX, plan, &all));
    ghost_dev_mixed_end(&x, &all);
    mirror_wrote(d->mirror, l, FLD_REFLUX + REFLUX_RT, 1, LOCATION_DEVICE);
    return OK;
}

void rt_dev_send(struct rt_dev *d, const struct rt_run *r, int l)
{
    const int registers = FLD_REFLUX + REFLUX_RT;
    if (!r->mesh->lev[l].plan.shared) return;
    BUG_ON(mirror_need(d->mirror, r->mesh, l, registers, 1, LOCATION_DEVICE) != OK);
    if (registers_fill(d, r, l) == OK) return;
    BUG_ON(mirror_need(d->mirror, r->mesh, l, registers, 1, LOCATION_HOST) != OK);
    rt_registers_exchange(r, l);
    mirror_wrote(d->mirror, l, registers, 1, LOCATION_HOST);
}
