/* sim/adapt: when the mesh and the domains change (the methods are in lib/adapt), and the phases of
 * the scalar field (lib/fifth). */
#include "adapt/adapt.h"

#include <string.h>

#include "oct/field_sets.h"
#include "rt/rt.h"
#include "sim/phase.h"

/* Whether octs may be created or removed in this run. */
static bool adapts(const struct sim *s)
{
    return s->mesh.levelmin < s->mesh.levelmax && !s->amr.refine.frozen;
}

static void count_here(struct sim *s, int from)
{
    struct mesh *m = &s->mesh;
    struct adapt_changes *here = s->amr.refine.here;
    for (int l = 0; l < SIM_CHANGES; l++) here[l] = (struct adapt_changes){0, 0};
    for (int l = from; l < m->levelmax; l++) {
        if (!ghosts_valid(m, l, FLAG)) ghost_fill_flags(&s->comm, m, l);
        here[l] = adapt_count(m, l);
    }
}

const struct adapt_changes *sim_refine_count(struct sim *s)
{
    count_here(s, adapts(s) ? s->mesh.levelmin : s->mesh.levelmax);
    return s->amr.refine.here;
}

void sim_refine_counted(struct sim *s, const struct adapt_changes all[SIM_CHANGES])
{
    s->amr.refine.counted = true;
    memcpy(s->amr.refine.all, all, sizeof s->amr.refine.all);
}

/* Octs held between two sub-steps do not refine, even if flags of finer cells require it. Such
 * flags are dropped, level after level, before changes are counted. Before a coarse step the flags
 * of all levels are made together, and no oct is held. */
static void count_all(struct sim *s, int from)
{
    struct mesh *m = &s->mesh;
    struct adapt_changes *all = s->amr.refine.all;
    int64_t dropped;
    do {
        dropped = 0;
        count_here(s, from);
        for (int l = from + 1; l < m->levelmax && from > m->levelmin; l++)
            dropped += adapt_drop_ungraded(m, l);
        memcpy(all, s->amr.refine.here, sizeof s->amr.refine.all);
        all[m->levelmax].created = dropped; /* no level refines to levelmax + 1 */
        comm_add_i64(&s->comm, &all[from].created, 2 * (m->levelmax - from) + 1);
        dropped = all[m->levelmax].created;
        for (int l = from + 1; l < m->levelmax && dropped > 0; l++) ghosts_set(m, l, FLAG, false);
    } while (dropped > 0);
}

/* With check_ghosts: checks that levels changed by refinement are graded. */
static enum err check_graded(const struct sim *s, int from)
{
    const struct mesh *m = &s->mesh;
    for (int l = from + 1; l <= m->levelmax; l++)
        for (lidx i = 0; i < m->lev[l].nown; i++)
            if (!mesh_is_graded(m, l, i))
                FAIL(ERR_LIMIT,
                     "check_ghosts: after refinement from level %d an oct of level %d touches "
                     "cells that are more than a level coarser",
                     from, l);
    return OK;
}

/* Photons of new octs are no faster than light. */
static void limit_photons(struct sim *s)
{
    const struct units u = sim_units(s);
    if (s->phys.rt) s->phys.hydro.photon_speed = rt_confining_speed(s->phys.rt, &u);
}

enum err sim_refine(struct sim *s, int from)
{
    struct mesh *m = &s->mesh;
    int64_t changes = 0;
    if (!adapts(s)) return OK;
    struct adapt_changes *here = s->amr.refine.here, *all = s->amr.refine.all;
    struct hydro_dev_prolong prolong = {s->device.gas, &s->phys.hydro};
    struct adapt_dev dev = {.mirror = s->device.mirror,
                            .ghost = s->device.ghosts,
                            .gas = {hydro_dev_prolong, &prolong}};
    struct mhd_dev_prolong field = {s->device.field, &s->phys.mhd};
    if (m->magnetic) dev.gas = (struct remap_gas){mhd_dev_prolong, &field};
    struct adapt_values values = {m->hydro ? hydro_prolong : NULL, &s->phys.hydro, NULL,
                                  s->par->run.gpu_hydro};
    if (m->magnetic) values.f = mhd_prolong, values.ctx = &s->phys.mhd;
    if (!s->amr.refine.counted || from > m->levelmin) count_all(s, from);
    s->amr.refine.counted = false;
    limit_photons(s);
    for (int l = from; l < m->levelmax; l++) changes += all[l].created + all[l].removed;
    const bool calms = s->phys.rt && s->par->rt.upload_equilibrium_x; /* on the host */
    if (s->device.on & GPU_HYDRO && !calms)
        values.dev = &dev;
    else if (changes > 0)
        TRY(sim_device_home(s, true));
    /* neither created nor removed octs carry flags, so no level changes the counts of the next
     * one */
    for (int l = from; l < m->levelmax; l++) {
        if (all[l].created + all[l].removed > 0)
            grav_forget(&s->phys.grav, l + 1), fifth_forget(s->phys.fifth, l + 1);
        unsigned char *merging = calms && all[l].removed > 0 ? rt_merging(m, l) : NULL;
        adapt_change(m, &s->comm, s->dom, l, here[l], all[l], &values);
        sim_rt_merged(s, l, merging);
        s->amr.noct[l + 1] = m->lev[l + 1].total;
    }
    return s->check.ghosts ? err_agree(&s->comm, check_graded(s, from)) : OK;
}

/* ---- the scalar field of gravity, which has no file of its own ---- */

enum err step_fifth(struct sim *s, int l, int icount)
{
    const struct grav_source from = {.fourpi = sim_fourpi(s), .rho_tot = s->phys.matter.rho_tot};
    struct fifth_report rep;
    (void)icount;
    return fifth_solve(s->phys.fifth, &s->mesh, &s->comm, l, &from, s->time.aexp, &rep);
}

enum err step_fifth_force(struct sim *s, int l, int icount)
{
    (void)icount;
    fifth_force(s->phys.fifth, &s->mesh, &s->comm, l);
    return OK;
}
