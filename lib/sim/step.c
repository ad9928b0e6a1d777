/* sim/step: the order of one step of one level, a line a phase.
 *
 * Levels are advanced by recursion with adaptive steps: level l takes one step, level l+1 one or
 * two inside it, and the coarse step ends as the exact sum of the fine ones. The second-order
 * scheme is kick-drift-kick for particles and, for gas, a half kick with the old force, the Godunov
 * step, and the other half with the new force in the next step. Fluxes through the edge of level
 * l+1 are handed to level l (reflux), so mass, momentum and energy are conserved to round-off.
 * (Teyssier 2002; spec/numerics §2)
 *
 * What must hold between the phases: ghosts of U, PHI and F of every level are valid at the start
 * of a step of any level. */
#include <string.h>

#include "base/mem.h"
#include "base/timer.h"
#include "dom/adapt.h"
#include "dom/ghost.h"
#include "sim/sim.h"

static void save_potential(struct sim *s, int l);
static void gravity(struct sim *s, int l, int icount);
static enum err finer_levels(struct sim *s, int l);
static void advance_time(struct sim *s, int l);
static void gas(struct sim *s, int l);
static void shorten_coarse_step(struct sim *s, int l, int icount);

enum err sim_step(struct sim *s, int l, int icount)
{
    struct mesh *m = &s->mesh;
    struct parts *p = &s->parts;
    if (s->noct[l] == 0) return OK;

    /* phase                                                      reads                     writes
     */
    /* flag, U, PHI, F           levels l+1.. */
    if (l == m->levelmin || icount > 1) sim_refine(s, l);
    /* costs                     who owns what */
    if (l == m->levelmin) sim_balance(s);
    if (s->par->run.pic) timer_start("particles");
    /* positions                 hosts */
    if (s->par->run.pic) part_enter(p, m, &s->comm, s->dom, l);
    if (l == m->levelmin) {
        /*                                    all                       a checkpoint, if due */
        TRY(sim_output(s));
        if (s->end.done) return OK;
    }
    if (m->gravity) {
        /*                             PHI                       PHI_OLD */
        save_potential(s, l);
        /*                             U, particles              RHO, dense */
        sim_density(s, l, icount);
    }
    if (s->par->run.pic) timer_start("particles");
    /* positions             particles of l+1 */
    if (s->par->run.pic) part_hand_down(p, m, &s->comm, s->dom, l);
    if (m->gravity)
        /*                     RHO                       PHI, F, velocities, U (kicks) */
        gravity(s, l, icount);
    timer_start("courant");
    s->time.dtold[l] = s->time.dtnew[l];
    s->time.dtnew[l] = sim_timestep(
        s, l); /*                          U, F, RHO, velocities     dtnew */
    /*                          —                         levels l+1.., time */
    TRY(finer_levels(s, l));
    if (s->end.done) return OK;
    /*                                   U, F, reflux of l+1       U, reflux for l-1 */
    if (m->hydro) gas(s, l);
    if (s->par->run.pic) timer_start("particles");
    /*      F                         velocities, positions */
    if (s->par->run.pic) part_move(p, m, l, s->time.dtnew[l]);
    sim_flag(s, l, icount); /*      U, dense                  flag */
    if (s->par->run.pic) timer_start("particles");
    /*                  particles of l+1          particles of l */
    if (s->par->run.pic) part_merge(p, m, l);
    s->cost.updates += 8 * (double)s->noct[l];
    shorten_coarse_step(s, l, icount); /*                  dt of this level          dt of l-1 */
    return OK;
}

static void save_potential(struct sim *s, int l)
{
    struct level *lv = &s->mesh.lev[l];
    memcpy(lv->fld[FLD_PHI_OLD], lv->fld[FLD_PHI], sizeof lv->fld[0][0] * (size_t)lv->noct);
}

static void gravity(struct sim *s, int l, int icount)
{
    struct mesh *m = &s->mesh;
    double fourpi = sim_fourpi(s);
    /* How far into the coarse step, in units of the previous one (none in the first step). */
    double tfrac = l > m->levelmin && icount == 2 && s->time.dtold[l - 1] > 0
                       ? s->time.dtnew[l] / s->time.dtold[l - 1]
                       : 0;
    timer_start("poisson");
    if (m->hydro) hydro_kick(m, l, -0.5 * s->time.dtnew[l], &s->hydro);
    if (s->grav.gravity_type <= 0)
        grav_solve(m, &s->comm, l, fourpi, s->matter.rho_tot, tfrac, s->matter.mass, s->matter.com,
                   &s->grav);
    if (s->time.nstep == 0) save_potential(s, l);
    grav_force(m, &s->comm, l, tfrac, fourpi, s->matter.mass, s->matter.com, &s->grav);
    sim_potential_energy(s, l);
    if (s->par->run.pic) part_synchro(&s->parts, m, l, s->time.dtnew, s->time.dtold);
    if (m->hydro) {
        hydro_kick(m, l, 0.5 * s->time.dtnew[l], &s->hydro);
        ghost_fill_hydro(&s->comm, m, l);
    }
}

static enum err finer_levels(struct sim *s, int l)
{
    struct mesh *m = &s->mesh;
    if (l < m->levelmax && s->noct[l + 1] > 0) {
        if (m->hydro) hydro_edge_begin(m, l + 1, &s->hydro);
        TRY(sim_step(s, l + 1, 1));
        if (s->time.nsubcycle[l] == 2 && !s->end.done) TRY(sim_step(s, l + 1, 2));
        return OK;
    }
    if (l < m->levelmax)
        s->time.dtold[l + 1] = s->time.dtnew[l + 1] = s->time.dtnew[l] / s->time.nsubcycle[l];
    advance_time(s, l);
    return OK;
}

static void advance_time(struct sim *s, int l)
{
    sim_report(s, l);
    if (s->end.done) return;
    s->time.t += s->time.dtnew[l];
    s->time.nstep++;
    if (s->cosmo) cosmo_at(s->cosmo, s->time.t, &s->time.aexp, &s->time.hexp);
}

/* Ghost octs' corrections come from their owners: rows of all octs of the level, those without an
 * edge empty. */
static void exchange_edges(struct sim *s, int l)
{
    struct level *lv = &s->mesh.lev[l];
    if (s->comm.size == 1) return;
    size_t row = hydro_edge_row_bytes(&s->hydro);
    char *rows = mem_zero(row * (size_t)lv->noct + 1, "reflux rows");
    for (lidx i = 0; i < lv->nown; i++)
        hydro_edge_export(&s->mesh, l, &s->hydro, i, rows + row * (size_t)i);
    void *arr = rows;
    ghost_fill_rows(&s->comm, &lv->plan, 1, &arr, &row);
    for (lidx i = lv->nown; i < lv->noct; i++)
        hydro_edge_import(&s->mesh, l, &s->hydro, i, rows + row * (size_t)i);
    mem_free(rows);
}

static void gas(struct sim *s, int l)
{
    struct mesh *m = &s->mesh;
    bool finer = l < m->levelmax && s->noct[l + 1] > 0;
    timer_start("hydro");
    if (finer) exchange_edges(s, l + 1);
    if (s->refine.frozen)
        hydro_kick(m, l, 0.5 * s->time.dtnew[l], &s->hydro); /* of the step without its fluxes */
    else
        hydro_update(m, l, s->time.dtnew[l], s->cosmo ? s->time.hexp : 0.0, &s->hydro);
    if (finer) hydro_edge_end(m, l + 1);
    if (m->gravity) hydro_kick(m, l, 0.5 * s->time.dtnew[l], &s->hydro);
    if (finer) hydro_restrict(m, l, &s->hydro);
    timer_start("ghosts");
    ghost_fill_hydro(&s->comm, m, l);
}

static void shorten_coarse_step(struct sim *s, int l, int icount)
{
    if (l == s->mesh.levelmin) return;
    if (s->time.nsubcycle[l - 1] == 1) s->time.dtnew[l - 1] = s->time.dtnew[l];
    if (icount == 2) s->time.dtnew[l - 1] = s->time.dtold[l] + s->time.dtnew[l];
}
