/* sim/phases: the functions of the table in sim/step.c, in its order; names ending in _dev:
 * equivalents on a device. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "dom/ghost.h"
#include "hole/horizon.h"
#include "oct/field_sets.h"
#include "patch/reflux.h"
#include "phys/term.h"
#include "sim/phase.h"

enum err step_refine(struct sim *s, int l, int icount)
{
    return sim_refine(s, l);
}

enum err step_balance(struct sim *s, int l, int icount)
{
    sim_domains_become(s, domain_kind(s->dom), true, sim_output_travels(s));
    return OK;
}

enum err step_enter(struct sim *s, int l, int icount)
{
    part_enter(&s->parts, &s->mesh, &s->comm, s->dom, l);
    return OK;
}

enum err step_frames(struct sim *s, int l, int icount)
{
    return sim_observe(s, OBSERVE_ENTRY);
}

enum err step_output(struct sim *s, int l, int icount)
{
    int64_t before = sim_device_copied(s);
    enum err err = sim_output(s);
    s->device.outputs += sim_device_copied(s) - before;
    return err;
}

static struct far_field monopole(const struct sim *s)
{
    const struct sim_matter *x = &s->phys.matter;
    return (struct far_field){x->mass, {x->com[0], x->com[1], x->com[2]}};
}

/* Keeps the monopole with φ. The base level does so before the mass of the step is known. */
static void keep_far(struct sim *s, int l)
{
    struct sim_matter *x = &s->phys.matter;
    x->far_old[l] = l == s->mesh.levelmin ? monopole(s) : x->far[l];
    x->far[l] = monopole(s);
}

static void copy_phi(struct level *lv)
{
    const double(*phi)[8] = (const double(*)[8])level_phi(lv);
    double(*old)[8] = level_phi_old(lv);
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < lv->noct; i++) memcpy(old[i], phi[i], sizeof old[i]);
}

/* Whether the potential is replaced before it is read again: the arrays then change places. With
 * check_ghosts it is poisoned in between, and the arrays of a device are mirrors of both. */
static bool phi_is_solved(const struct sim *s)
{
    return !s->phys.grav.analytic && !s->device.grav && !s->check.ghosts;
}

static enum err phi_kept(struct sim *s, int l)
{
    keep_far(s, l);
    ghosts_set(&s->mesh, l, PHI_OLD, ghosts_valid(&s->mesh, l, PHI));
    return OK;
}

enum err step_keep_phi(struct sim *s, int l, int icount)
{
    struct level *lv = &s->mesh.lev[l];
    if (phi_is_solved(s))
        grav_keep(lv);
    else
        copy_phi(lv);
    return phi_kept(s, l);
}

enum err step_deposit(struct sim *s, int l, int icount)
{
    return sim_density(s, l, icount);
}

enum err step_hand_down(struct sim *s, int l, int icount)
{
    part_hand_down(&s->parts, &s->mesh, &s->comm, s->dom, l);
    return OK;
}

/* ---- gravity ---- */

/* The time into the coarse step, in units of the previous one (0 in the first step). */
static double time_fraction(const struct sim *s, int l, int icount)
{
    return l > s->mesh.levelmin && icount == 2 && s->time.dtold[l - 1] > 0
               ? s->time.dtnew[l] / s->time.dtold[l - 1]
               : 0;
}

static struct grav_source gravity_of(const struct sim *s, int l, int icount)
{
    return (struct grav_source){.fourpi = sim_fourpi(s),
                                .rho_tot = s->phys.matter.rho_tot,
                                .tfrac = time_fraction(s, l, icount),
                                .far = monopole(s),
                                .far_old = s->phys.matter.far_old[l - 1]};
}

enum err step_unkick_gas(struct sim *s, int l, int icount)
{
    hydro_kick(&s->mesh, l, s->amr.on_ghosts, -0.5 * s->time.dtnew[l], &s->phys.hydro);
    return OK;
}

enum err step_poisson(struct sim *s, int l, int icount)
{
    struct sim_device *d = &s->device;
    bool others = s->par->run.gpu_poisson && !d->asked;
    if (others && grav_dev_together(&s->mesh, l, s->comm.size, &s->phys.grav))
        grav_dev_refuse(&s->comm);
    d->asked = false;
    s->phys.grav.minima = s->time.min.level ? &s->time.min.minima : NULL;
    struct grav_source from = gravity_of(s, l, icount);
    const struct grav_report rep = grav_solve(&s->mesh, &s->comm, l, &from, &s->phys.grav);
    sim_timestep_end(s); /* time step of the coarser level */
    return grav_accepted(l, &rep, &s->phys.grav);
}

enum err step_first_phi(struct sim *s, int l, int icount)
{
    copy_phi(&s->mesh.lev[l]);
    return phi_kept(s, l);
}

enum err step_force(struct sim *s, int l, int icount)
{
    struct grav_source from = gravity_of(s, l, icount);
    grav_force(&s->mesh, &s->comm, l, &from, &s->phys.grav);
    return OK;
}

enum err step_energy(struct sim *s, int l, int icount)
{
    sim_potential_energy(s, l);
    return OK;
}

enum err step_kick_parts(struct sim *s, int l, int icount)
{
    struct part_motion *motion = &s->phys.matter.motion;
    motion->counted = s->diag.counting;
    part_kick(&s->parts, &s->mesh, l, s->time.dtnew, s->time.dtold, motion);
    return OK;
}

enum err step_kick_gas(struct sim *s, int l, int icount)
{
    hydro_kick(&s->mesh, l, s->amr.on_ghosts, 0.5 * s->time.dtnew[l], &s->phys.hydro);
    return OK;
}

/* Starts the exchange of gas ghosts, unless the kick was applied to ghosts too. */
enum err step_send_gas(struct sim *s, int l, int icount)
{
    if (ghosts_valid(&s->mesh, l, GAS)) return OK;
    bool begun = false;
    if (s->comm.size > 1) TRY(sim_device_fill_begin(s, l, &begun));
    if (begun) return OK;
    if (s->comm.size > 1) TRY(sim_device_need(s, l, GAS, LOCATION_HOST));
    ghost_fill_hydro_begin(&s->amr.gas_fill, &s->comm, &s->mesh, l);
    return OK;
}

void sim_receive_gas(struct sim *s)
{
    struct level *lv = s->amr.gas_fill.lv;
    sim_device_fill_end(s);
    ghost_fill_end(&s->amr.gas_fill);
    if (lv && s->comm.size > 1) sim_device_wrote(s, lv->level, GAS, LOCATION_HOST);
}

enum err step_receive_gas(struct sim *s, int l, int icount)
{
    sim_receive_gas(s);
    return OK;
}

/* On the finest level only the Godunov step reads the ghosts of the gas, and waits for them after
 * the octs that need none; with check_ghosts they are received here. */
enum err step_receive_early(struct sim *s, int l, int icount)
{
    bool finest = l == s->mesh.levelmax || s->amr.noct[l + 1] == 0;
    if (!finest || s->check.ghosts || s->amr.refine.frozen) sim_receive_gas(s);
    return OK;
}

static void gas_arrives(void *fill)
{
    ghost_fill_end(fill);
}

static struct patch_arrival gas_arrival(struct sim *s, int l)
{
    return (struct patch_arrival){.wait = gas_arrives,
                                  .ctx = &s->amr.gas_fill,
                                  .soon = ghost_near(&s->comm, &s->mesh.lev[l].plan)};
}

/* ---- time and recursion ---- */

enum err step_time_step(struct sim *s, int l, int icount)
{
    const struct mesh *m = &s->mesh;
    bool finer = l < m->levelmax && s->amr.noct[l + 1] > 0;
    TRY(sim_limits_need(s, l));
    s->time.dtold[l] = s->time.dtnew[l];
    sim_timestep_begin(s, l);
    /* otherwise step_poisson of the finer level completes the reduction */
    if (!finer || !m->gravity || s->phys.grav.analytic) sim_timestep_end(s);
    return OK;
}

/* The expansion factor of the new time. A magnetic field grows in all levels that are in a step. */
static void expand(struct sim *s, int l)
{
    const double before = sqrt(s->time.aexp);
    if (!s->phys.cosmo) return;
    cosmo_at(s->phys.cosmo, s->time.t, &s->time.aexp, &s->time.hexp);
    if (!s->mesh.magnetic) return;
    const double growth = sqrt(s->time.aexp) / before;
    for (int k = s->mesh.levelmin; k <= l; k++) s->time.growth[k] *= growth;
    mhd_grow(&s->mesh, l, growth);
}

static enum err advance_time(struct sim *s, int l)
{
    sim_report(s, l);
    if (s->run.end.done) return OK;
    s->time.t += s->time.dtnew[l];
    s->time.nstep++;
    expand(s, l);
    struct sink_run sinks = sim_sinks(s);
    return sinks_any(s->phys.sinks) ? sinks_move(&sinks, l) : OK;
}

enum err step_publish(struct sim *s, int l, int icount)
{
    return sim_publish(s);
}

enum err step_finer(struct sim *s, int l, int icount)
{
    struct mesh *m = &s->mesh;
    s->time.growth[l] = s->time.growth_first[l] = 1;
    if (l < m->levelmax && s->amr.noct[l + 1] > 0) {
        if (m->hydro) TRY(sim_reflux_begin(s, l + 1));
        if (m->nphoton > 0) TRY(sim_rt_registers(s, l + 1));
        if (s->phys.flux && !s->amr.refine.frozen) {
            struct tracer_run r = sim_tracers(s);
            tracers_watch_entry(&r, l + 1);
        }
        TRY(sim_step(s, l + 1, 1));
        s->time.growth_first[l] = s->time.growth[l];
        if (m->magnetic) mhd_between(m, l + 1);
        if (s->time.nsubcycle[l] == 2 && !s->run.end.done) TRY(sim_step(s, l + 1, 2));
        return OK;
    }
    if (l < m->levelmax)
        s->time.dtold[l + 1] = s->time.dtnew[l + 1] = s->time.dtnew[l] / s->time.nsubcycle[l];
    TRY(advance_time(s, l));
    s->time.growth_first[l] = s->time.growth[l];
    return OK;
}

enum err step_add_steps(struct sim *s, int l, int icount)
{
    s->run.cost.updates += s->mesh.cells * (double)s->amr.noct[l];
    s->amr.balance.steps[l] += (double)s->mesh.lev[l].nown;
    if (l == s->mesh.levelmin) return OK;
    if (s->time.nsubcycle[l - 1] == 1) s->time.dtnew[l - 1] = s->time.dtnew[l];
    if (icount == 2) s->time.dtnew[l - 1] = s->time.dtold[l] + s->time.dtnew[l];
    return OK;
}

/* ---- gas ---- */

static size_t reflux_bytes(const struct sim *s)
{
    return reflux_row_bytes(sim_reflux_nflux(s), sim_reflux_edges(s));
}

/* Sends flux corrections of ghost octs from their owners: rows of all octs of the level, empty away
 * from its boundary. Corrections are final after the last step of the level within a step of the
 * coarser one, and travel along with its gas. */
static void registers_send(struct sim *s, int l, size_t row)
{
    const struct xplan *p = &s->mesh.lev[l].plan;
    struct ghost_rows *e = &s->amr.reflux;
    ghost_rows_room(e, &s->comm, COMM_BULK_FLUX, p, false, row);
    reflux_pack(&s->mesh.lev[l], REFLUX_GAS, e->pack.out);
    comm_pack_send(&e->pack);
}

static void registers_receive(struct sim *s, int l)
{
    struct ghost_rows *e = &s->amr.reflux;
    comm_pack_receive(&e->pack);
    reflux_unpack(&s->mesh.lev[l], REFLUX_GAS, e->pack.in);
    comm_pack_free(&e->pack);
    e->plan = NULL;
}

enum err step_send_reflux(struct sim *s, int l, int icount)
{
    bool begun = false;
    if (s->comm.size > 1) TRY(sim_reflux_send(s, l, &begun));
    if (!s->mesh.lev[l].plan.shared || begun) return OK;
    TRY(sim_device_need(s, l, REFLUX, LOCATION_HOST));
    registers_send(s, l, reflux_bytes(s));
    return OK;
}

enum err step_receive_reflux(struct sim *s, int l, int icount)
{
    sim_reflux_receive(s);
    if (!s->amr.reflux.plan) return OK;
    registers_receive(s, l);
    sim_device_wrote(s, l, REFLUX, LOCATION_HOST);
    return OK;
}

/* Wants numbers of the new gas where the next time step of the level needs them and no phase
 * changes its octs in between: in the only level, and between two steps of the finest one. The
 * totals are those of the coarse step. */
static void want_fresh(struct sim *s, int l, int icount)
{
    const bool base = l == s->mesh.levelmin, finest = l == s->mesh.levelmax,
               again = finest && !base && icount < s->time.nsubcycle[l - 1];
    struct hydro_fresh *f = &s->phys.fresh;
    f->sums_wanted = base && finest;
    f->wanted = again || f->sums_wanted;
}

enum err step_godunov(struct sim *s, int l, int icount)
{
    struct mesh *m = &s->mesh;
    struct patch_arrival arrival = gas_arrival(s, l);
    const struct mhd_expansion x = {s->phys.cosmo ? s->time.hexp : 0.0, s->time.growth[l],
                                    s->time.growth_first[l]};
    const struct patch_arrival *a = s->amr.gas_fill.lv ? &arrival : NULL;
    const struct hydro_change *change = sinks_any(s->phys.sinks) ? &s->phys.sinks->round[l].change
                                                                 : NULL;
    struct tracer_run tracers = sim_tracers(s);
    if (s->phys.flux && !s->amr.refine.frozen) s->phys.hydro.flow = tracers_watch(&tracers, l);
    if (!s->amr.refine.frozen) sim_drive_with(s, l);
    want_fresh(s, l, icount);
    if (s->amr.refine.frozen)
        hydro_kick(m, l, false, 0.5 * s->time.dtnew[l],
                   &s->phys.hydro); /* static mesh: no fluxes in this step */
    else if (m->magnetic)
        mhd_update(m, l, s->time.dtnew[l], x, &s->phys.mhd, a, change);
    else
        hydro_update(m, l, s->time.dtnew[l], x.hexp, &s->phys.hydro, a, change);
    return l < m->levelmax && s->amr.noct[l + 1] > 0 ? sim_reflux_end(s, l + 1) : OK;
}

enum err step_kick_again(struct sim *s, int l, int icount)
{
    return step_kick_gas(s, l, icount);
}

/* Faces beside finer cells get their field before source terms need the pressure; all gas is
 * restricted, as afterwards. */
enum err step_restrict_field(struct sim *s, int l, int icount)
{
    sim_restrict_gas(s, l);
    return OK;
}

enum err step_restrict_gas(struct sim *s, int l, int icount)
{
    sim_restrict_gas(s, l);
    fields_restrict(&s->mesh, l);
    if (MEANS) ghost_fill_set(&s->comm, &s->mesh, l, MEANS);
    return OK;
}

/* ---- magnetic field ---- */

enum err step_impose(struct sim *s, int l, int icount)
{
    mhd_impose(&s->mesh, l, s->amr.on_ghosts, &s->phys.mhd);
    if (!s->amr.on_ghosts) ghost_fill_hydro(&s->comm, &s->mesh, l);
    return OK;
}

/* One step of diffusion of a level that has its registers of the finer level. */
static void diffuse_level(struct sim *s, int l, double dt)
{
    struct mesh *m = &s->mesh;
    const int edges = m->ndim > 1 ? REFLUX_EDGES : 0, nflux = mhd_diffuse_nflux(m);
    const bool finer = l < m->levelmax && s->amr.noct[l + 1] > 0;
    if (l > m->levelmin) reflux_begin(m, l, REFLUX_GAS, nflux, edges);
    mhd_diffuse(m, l, dt, &s->phys.mhd);
    if (finer) reflux_end(m, l + 1, REFLUX_GAS);
    if (finer) sim_restrict_gas(s, l);
    ghost_fill_hydro(&s->comm, m, l);
    if (l == m->levelmin || !m->lev[l].plan.shared) return;
    registers_send(s, l, reflux_row_bytes(nflux, edges));
    registers_receive(s, l);
}

static enum err diffuses_too_fast(const struct sim *s, double dt)
{
    FAIL(ERR_PARAM,
         "eta_mag=%g in &HYDRO_PARAMS: the field would diffuse in more than %d steps within one "
         "coarse step of %g: lower eta_mag",
         s->par->hydro.eta_mag, MHD_CYCLES, dt);
}

/* Magnetic diffusion of all levels over the coarse step. */
enum err step_diffuse(struct sim *s, int l, int icount)
{
    const double dt = s->time.dtnew[l];
    int finest = l;
    while (finest < s->mesh.levelmax && s->amr.noct[finest + 1] > 0) finest++;
    const int cycles = mhd_diffuse_cycles(&s->mesh, finest, dt, &s->phys.mhd);
    /* equal on all ranks */
    if (cycles > MHD_CYCLES) return err_agree(&s->comm, diffuses_too_fast(s, dt));
    for (int i = 0; i < cycles; i++)
        for (int k = finest; k >= l; k--) diffuse_level(s, k, dt / cycles);
    return OK;
}

/* ---- phases of the gas on the device ---- */

static enum err kick(struct sim *s, int l, bool ghosts, double part, bool *done)
{
    TRY(hydro_dev_kick(s->device.gas, &s->mesh, l, ghosts, part * s->time.dtnew[l],
                       &s->phys.hydro));
    *done = true;
    return OK;
}

enum err unkick_gas_dev(struct sim *s, int l, int icount, bool *done)
{
    return kick(s, l, s->amr.on_ghosts, -0.5, done);
}

enum err kick_gas_dev(struct sim *s, int l, int icount, bool *done)
{
    return kick(s, l, s->amr.on_ghosts, 0.5, done);
}

enum err kick_again_dev(struct sim *s, int l, int icount, bool *done)
{
    return kick_gas_dev(s, l, icount, done);
}

/* Starts the independent kernels that the time step needs, in up to four streams. */
static enum err numbers_begin(struct sim *s, int l)
{
    struct hydro_dev *h = s->device.gas;
    struct mhd_dev *f = s->device.field;
    struct part_dev *x = s->par->run.pic ? sim_parts_dev(s) : NULL;
    const bool counting = s->diag.counting;
    struct dev_stream *in[4];
    for (int i = 0; i < 4; i++) in[i] = sim_device_stream(s, i);
    if (f) TRY(mhd_dev_courant_begin(f, &s->mesh, l, &s->phys.mhd, counting, in[0]));
    if (h && !f) TRY(hydro_dev_courant_begin(h, &s->mesh, l, &s->phys.hydro, in[0]));
    if (h && !f && counting) TRY(hydro_dev_totals_begin(h, &s->mesh, l, &s->phys.hydro, in[1]));
    if (x) TRY(part_dev_vmax_begin(x, &s->parts, l, in[2]));
    if (x && counting) TRY(part_dev_kinetic_begin(x, &s->parts, l, in[3]));
    return OK;
}

/* The numbers of the gas, which numbers_begin asked for. */
static enum err gas_numbers(struct sim *s, int l, struct sim_gas_numbers *x)
{
    struct sim_device *d = &s->device;
    const struct hydro_sums sums = {&x->mass, &x->energy, &x->internal, x->momentum};
    const struct mhd_sums all = {sums, &x->magnetic, &x->divergence};
    if (d->field)
        return mhd_dev_courant(d->field, &s->mesh, l, &s->phys.mhd, &x->dt,
                               s->diag.counting ? &all : NULL);
    TRY(hydro_dev_courant(d->gas, &s->mesh, l, &s->phys.hydro, &x->dt));
    if (!s->diag.counting) return OK;
    return hydro_dev_totals(d->gas, &s->mesh, l, &s->phys.hydro, &x->mass, &x->energy, &x->internal,
                            x->momentum);
}

/* Without gas the time step reads no field. */
enum err time_step_dev(struct sim *s, int l, int icount, bool *done)
{
    if (!s->mesh.hydro) {
        TRY(numbers_begin(s, l));
        *done = true;
        return step_time_step(s, l, icount);
    }
    if (!sim_runs_dev(s, GPU_HYDRO, l)) return OK;
    TRY(sim_device_need(s, l, GAS | FORCE, LOCATION_DEVICE));
    TRY(sim_turb_send(s, l));
    struct sim_gas_numbers x;
    TRY(numbers_begin(s, l));
    TRY(gas_numbers(s, l, &x));
    s->time.min.gas = &x;
    enum err err = step_time_step(s, l, icount);
    s->time.min.gas = NULL;
    *done = true;
    return err;
}

enum err godunov_dev(struct sim *s, int l, int icount, bool *done)
{
    struct sim_device *d = &s->device;
    struct mesh *m = &s->mesh;
    sim_receive_gas(s);
    const struct hydro_change *change = sinks_any(s->phys.sinks) ? &s->phys.sinks->round[l].change
                                                                 : NULL;
    if (change && change->n > 0 && m->magnetic) return OK;
    if (s->amr.refine.frozen)
        TRY(kick(s, l, false, 0.5, done)); /* static mesh: no fluxes in this step */
    else if (m->magnetic)
        TRY(mhd_dev_update(d->field, m, l, s->time.dtnew[l], 0.0, &s->phys.mhd));
    else
        TRY(hydro_dev_update(d->gas, m, l, s->time.dtnew[l], s->phys.cosmo ? s->time.hexp : 0.0,
                             &s->phys.hydro, change));
    d->bytes += sizeof(double[8]) * (double)m->nvar * (double)m->lev[l].nown;
    *done = true;
    return l < m->levelmax && s->amr.noct[l + 1] > 0 ? sim_reflux_end(s, l + 1) : OK;
}

enum err restrict_field_dev(struct sim *s, int l, int icount, bool *done)
{
    return restrict_gas_dev(s, l, icount, done);
}

enum err restrict_gas_dev(struct sim *s, int l, int icount, bool *done)
{
    if (MEANS) return OK; /* the CPU does all */
    if (s->mesh.magnetic)
        TRY(mhd_dev_restrict(s->device.field, &s->mesh, l, &s->phys.mhd));
    else
        TRY(hydro_dev_restrict(s->device.gas, &s->mesh, l, &s->phys.hydro));
    *done = true;
    return OK;
}

/* ---- gravity on the device ---- */

enum err keep_phi_dev(struct sim *s, int l, int icount, bool *done)
{
    TRY(grav_dev_copy_phi(s->device.grav, &s->mesh, l));
    keep_far(s, l);
    *done = true;
    return OK;
}

enum err first_phi_dev(struct sim *s, int l, int icount, bool *done)
{
    return keep_phi_dev(s, l, icount, done);
}

enum err deposit_dev(struct sim *s, int l, int icount, bool *done)
{
    return sim_density_dev(s, l, icount, done);
}

enum err poisson_dev(struct sim *s, int l, int icount, bool *done)
{
    struct grav_report rep;
    if (grav_dev_lacks(&s->mesh, l, s->comm.size, &s->phys.grav)) return OK;
    s->device.asked = grav_dev_together(&s->mesh, l, s->comm.size, &s->phys.grav);
    s->phys.grav.minima = s->time.min.level ? &s->time.min.minima : NULL;
    struct grav_source from = gravity_of(s, l, icount);
    TRY(grav_dev_solve(s->device.grav, &s->mesh, l, &from, &s->phys.grav, &rep, done));
    if (*done) sim_timestep_end(s); /* time step of the coarser level */
    if (*done) s->device.asked = false;
    return *done ? grav_accepted(l, &rep, &s->phys.grav) : OK;
}

enum err force_dev(struct sim *s, int l, int icount, bool *done)
{
    *done = true;
    struct grav_source from = gravity_of(s, l, icount);
    return grav_dev_force(s->device.grav, &s->mesh, l, &from);
}

enum err energy_dev(struct sim *s, int l, int icount, bool *done)
{
    TRY(grav_dev_energy_begin(s->device.grav, &s->mesh, l, sim_energy_factor(s, l),
                              s->diag.counting));
    s->device.energy = l;
    *done = true;
    return OK;
}

/* ---- particles on the device ---- */

enum err enter_dev(struct sim *s, int l, int icount, bool *done)
{
    TRY(part_dev_enter(s->device.parts, &s->parts, &s->mesh, &s->comm, s->dom, l));
    *done = true;
    return OK;
}

enum err hand_down_dev(struct sim *s, int l, int icount, bool *done)
{
    TRY(part_dev_hand_down(s->device.parts, &s->parts, &s->mesh, &s->comm, s->dom, l));
    *done = true;
    return OK;
}

enum err kick_parts_dev(struct sim *s, int l, int icount, bool *done)
{
    const struct sim_time *t = &s->time;
    TRY(part_dev_synchro(s->device.parts, &s->parts, &s->mesh, l, t->dtnew, t->dtold));
    *done = true;
    return OK;
}

enum err move_parts_dev(struct sim *s, int l, int icount, bool *done)
{
    TRY(part_dev_move(s->device.parts, &s->parts, &s->mesh, l, s->time.dtnew[l]));
    *done = true;
    return OK;
}

enum err merge_dev(struct sim *s, int l, int icount, bool *done)
{
    TRY(part_dev_merge(s->device.parts, &s->parts, &s->mesh, l));
    *done = true;
    return OK;
}

/* ---- sinks and tracers ---- */

/* Coarse terms of black holes: energy release, mergers, births. */
enum err step_black_holes(struct sim *s, int l, int icount)
{
    struct term_run r = sim_term_run(s, TERM_COARSE, l);
    bool here = false;
    TRY(hole_coarse(&r, &s->phys.sinks->table, &here));
    int64_t changed = here;
    comm_max_i64(&s->comm, &changed, 1);
    if (changed)
        sim_send_all_gas(s, true);
    else
        ghosts_set(&s->mesh, l, GAS, true); /* as they were */
    return sim_follow_sinks(s, true);
}

/* Births and supernovae of stellar objects. */
enum err step_stellar(struct sim *s, int l, int icount)
{
    struct sink_run sinks = sim_sinks(s);
    bool changed = false;
    TRY(stellar_coarse(&sinks, s->phys.stellar, &changed));
    if (changed)
        sim_send_all_gas(s, true);
    else
        ghosts_set(&s->mesh, l, GAS, true); /* as they were */
    return OK;
}

enum err step_pull_sinks(struct sim *s, int l, int icount)
{
    struct sink_run sinks = sim_sinks(s);
    if (!sinks_direct(s->phys.sinks)) {
        ghosts_set(&s->mesh, l, FORCE, true); /* as they were */
        return OK;
    }
    TRY(sim_device_need(s, l, FORCE | RHO, LOCATION_HOST));
    sinks_pull(&sinks, l);
    sim_device_wrote(s, l, FORCE, LOCATION_HOST);
    return OK;
}

enum err step_look_around(struct sim *s, int l, int icount)
{
    struct sink_run sinks = sim_sinks(s);
    return sinks_look_around(&sinks, l);
}

enum err step_accrete(struct sim *s, int l, int icount)
{
    struct sink_run sinks = sim_sinks(s);
    if (s->phys.sinks->kind) TRY(sim_device_need(s, l, GAS, LOCATION_HOST));
    return sinks_accrete(&sinks, l);
}

enum err step_renew_sinks(struct sim *s, int l, int icount)
{
    struct sink_run sinks = sim_sinks(s);
    bool fed;
    if (s->phys.tracers != TRACER_NONE || s->phys.sinks->kind) TRY(sim_device_home(s, true));
    TRY(sinks_renew(&sinks, &fed));
    if (fed) {
        TRY(sim_device_home(s, true));
        sim_send_all_gas(s, true);
    }
    return sim_follow_sinks(s, false);
}

enum err step_aim_tracers(struct sim *s, int l, int icount)
{
    struct tracer_run r = sim_tracers(s);
    tracers_aim(&r, l);
    return OK;
}

enum err step_settle_tracers(struct sim *s, int l, int icount)
{
    struct tracer_run r = sim_tracers(s);
    tracers_settle(&r, l);
    return OK;
}

enum err step_jump_tracers(struct sim *s, int l, int icount)
{
    struct tracer_run r = sim_tracers(s);
    tracers_jump(&r, l);
    return s->phys.sinks ? tracers_join_sinks(&r, l) : OK;
}

enum err step_drift_tracers(struct sim *s, int l, int icount)
{
    struct tracer_run r = sim_tracers(s);
    tracers_drift(&r, l);
    return OK;
}

/* ---- the end of a step ---- */

enum err step_move_parts(struct sim *s, int l, int icount)
{
    part_move(&s->parts, &s->mesh, l, s->time.dtnew[l]);
    return OK;
}

enum err step_send_flags(struct sim *s, int l, int icount)
{
    sim_flag_begin(s, l);
    return OK;
}

enum err step_flag(struct sim *s, int l, int icount)
{
    bool found = false;
    if (sim_runs_dev(s, GPU_HYDRO, l) && sim_flag_steep(s, l, &found) != OK) {
        TRY(sim_device_off(s));
        found = false;
    }
    const double aexp = s->phys.cosmo ? s->time.aexp : 1;
    const field_set read = s->phys.rt && rt_flags(s->phys.rt, aexp) ? GAS | PHOTONS : GAS;
    for (int k = l; k >= l - 2 && k >= s->mesh.levelmin && !found; k--)
        TRY(sim_device_need(s, k, read, LOCATION_HOST));
    TRY(sim_device_need(s, l, FLAG, LOCATION_HOST));
    TRY(sim_dense_home(s, l));
    sim_flag_end(s, l, icount);
    sim_device_wrote(s, l, FLAG, LOCATION_HOST);
    return OK;
}

enum err step_merge(struct sim *s, int l, int icount)
{
    part_merge(&s->parts, &s->mesh, l);
    return OK;
}
