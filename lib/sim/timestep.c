/* sim/timestep: the longest step that all conditions allow (docs/method/step.md). Only minima are
 * reduced, so the order of ranks does not matter. The computation has two halves, so that its
 * reduction can be merged with another one: the step of a level is not needed before the finer
 * level is solved. */
#include <float.h>
#include <math.h>

#include "base/cgs.h"
#include "base/log.h"
#include "phys/term.h"
#include "sim/phase.h"

/* With check_ghosts=.true. a signal that was kept from the Godunov step is found again. */
static double gas_courant(struct sim *s, int l, const struct hydro_sums *sums)
{
    const bool kept = s->check.ghosts && s->phys.fresh.level == l;
    const double dt = hydro_courant(&s->mesh, l, &s->phys.hydro, sums);
    if (!kept) return dt;
    s->phys.fresh.level = 0;
    BUG_ON(hydro_courant(&s->mesh, l, &s->phys.hydro, NULL) != dt);
    return dt;
}

/* Courant step of the gas and, once per coarse step (on the first descent), this rank's sums of
 * conserved quantities. Internal energy is summed with pressure_fix only. */
static double gas_timestep(struct sim *s, int l)
{
    struct sum_totals *sum = &s->diag.sum;
    const struct sim_gas_numbers *gas = s->time.min.gas;
    const struct hydro_sums sums = {&sum->mass, &sum->ekin,
                                    s->phys.hydro.pressure_fix ? &sum->eint : NULL, sum->momentum};
    const struct mhd_sums magnetic = {sums, &sum->emag, &s->diag.divb};
    if (s->mesh.magnetic && !gas)
        return mhd_courant(&s->mesh, l, &s->phys.mhd, s->diag.counting ? &magnetic : NULL);
    if (!gas) return gas_courant(s, l, s->diag.counting ? &sums : NULL);
    if (s->diag.counting) {
        sum_join(&sum->mass, &gas->mass);
        sum_join(&sum->ekin, &gas->energy);
        sum_join(&sum->eint, &gas->internal);
        for (int d = 0; d < 3; d++) sum_join(&sum->momentum[d], &gas->momentum[d]);
    }
    if (s->diag.counting && s->mesh.magnetic) {
        sum_join(&sum->emag, &gas->magnetic);
        s->diag.divb = fmax(gas->divergence, s->diag.divb);
    }
    return gas->dt;
}

/* Adds the kinetic energy of particles and sinks. */
static void add_kinetic(struct sim *s, int l)
{
    if (!s->diag.counting) return;
    if (s->par->run.pic) sim_parts_kinetic(s, l, &s->diag.sum.ekin);
    if (s->phys.sinks && l == s->mesh.levelmin) sinks_kinetic(s->phys.sinks, &s->diag.sum.ekin);
}

/* ---- driven turbulence ---- */

/* From now on the force on level l, and in the Courant condition, is that of the present time. */
static void turb_begin(struct sim *s, int l)
{
    if (!s->phys.turb) return;
    s->phys.force[l] = turb_force_at(s->phys.turb, s->time.t, l);
    s->phys.driving = s->phys.force[l];
    s->phys.hydro.drive = &s->phys.driving;
}

enum err sim_turb_send(struct sim *s, int l)
{
    const struct sim_device *d = &s->device;
    turb_begin(s, l);
    return s->phys.turb ? turb_send(s->phys.turb, d->dev, d->stream, &s->phys.driving) : OK;
}

void sim_drive_with(struct sim *s, int l)
{
    if (!s->phys.turb) return;
    s->phys.driving = s->phys.force[l];
    turb_prepare(s->phys.turb, s->mesh.lev[l].nown, &s->phys.driving);
    s->phys.driven = true;
}

/* Whether the Godunov step has driven the gas, on the host. */
static bool driven_already(struct sim *s)
{
    const bool was = s->phys.driven;
    s->phys.driven = false;
    return was;
}

enum err step_drive_gas(struct sim *s, int l, int icount)
{
    if (driven_already(s)) return OK;
    hydro_drive(&s->mesh, l, s->time.dtnew[l], &s->phys.force[l], s->phys.hydro.smallr);
    return OK;
}

enum err drive_gas_dev(struct sim *s, int l, int icount, bool *done)
{
    const struct sim_device *d = &s->device;
    struct turb_force *f = &s->phys.force[l];
    if (s->phys.driven) return OK; /* the phase of the host has nothing to do */
    TRY(turb_send(s->phys.turb, d->dev, d->stream, f));
    TRY(hydro_dev_drive(d->gas, &s->mesh, l, s->time.dtnew[l], f, s->phys.hydro.smallr));
    *done = true;
    return OK;
}

/* ---- limits ---- */

static bool always(const struct sim *s)
{
    return true;
}

static double box_crossing(struct sim *s, int l, double *dense)
{
    return s->mesh.boxlen / s->phys.hydro.smallc;
}

static bool has_sinks(const struct sim *s)
{
    return sinks_any(s->phys.sinks);
}

static double of_sinks(struct sim *s, int l, double *dense)
{
    struct sink_run sinks = sim_sinks(s);
    *dense = s->phys.matter.rho_max[l];
    return sinks_timestep(&sinks, l, dense);
}

static bool falls(const struct sim *s)
{
    return s->mesh.gravity && !s->phys.grav.analytic;
}

static double free_fall(struct sim *s, int l, double *dense)
{
    double pi = 0.5 * RAMSES_TWOPI,
           fourpi = s->phys.cosmo ? 1.5 * s->phys.cosmo_par.omega_m * s->time.aexp : 4 * pi;
    return s->phys.hydro.courant_factor * sqrt(3 * pi * pi / 8 / fourpi / *dense);
}

static bool expands(const struct sim *s)
{
    return s->phys.cosmo;
}

static double expansion(struct sim *s, int l, double *dense)
{
    const double most = s->par->run.aexp_step_limit;
    double dt = s->par->run.dlna_max / s->time.hexp;
    if (most > 0) dt = fmin(dt, most / (s->time.aexp * s->time.hexp));
    return dt;
}

/* ---- times of outputs ---- */

/* The next time, in code units, that outputs ask for, and its expansion factor (0: the time is
 * given); HUGE_VAL: none. */
static double next_output(const struct sim *s, double *aexp)
{
    const struct param_output *o = &s->par->output;
    const int i = s->run.out.iout - 1;
    double t = HUGE_VAL, a = HUGE_VAL;
    *aexp = 0;
    if (i < s->run.out.noutput) t = s->run.out.tout[i], a = s->run.out.aout[i];
    t = o->exact_output_time ? fmin(t, s->run.out.tout_next) : HUGE_VAL;
    a = fmin(a, s->run.out.aout_next);
    if (s->phys.cosmo && a < DBL_MAX && cosmo_tau(s->phys.cosmo, a) < t) {
        t = cosmo_tau(s->phys.cosmo, a);
        *aexp = a;
    }
    return t < DBL_MAX ? t : HUGE_VAL;
}

static bool meets_outputs(const struct sim *s)
{
    return s->par->output.exact_output_time || (s->par->output.match_aout && s->phys.cosmo);
}

static double until_output(struct sim *s, int l, double *dense)
{
    double aexp, left = next_output(s, &aexp) - s->time.t;
    return l == s->mesh.levelmin && left > 0 ? left : HUGE_VAL;
}

void sim_time_meet(struct sim *s)
{
    static const double ROUNDING = 1e-11; /* of a coarse step, which is the sum of fine ones */
    double aexp, t;
    if (!meets_outputs(s)) return;
    t = next_output(s, &aexp);
    if (!(fabs(t - s->time.t) <= ROUNDING * s->time.dtnew[s->mesh.levelmin])) return;
    s->time.t = t;
    if (aexp > 0) s->time.aexp = aexp;
}

static bool has_particles(const struct sim *s)
{
    return s->par->run.pic;
}

static double of_particles(struct sim *s, int l, double *dense)
{
    double v = sim_parts_vmax(s, l);
    return v > 0 ? s->phys.hydro.courant_factor * mesh_dx(&s->mesh, l) / v : HUGE_VAL;
}

static bool is_driven(const struct sim *s)
{
    return s->phys.turb != NULL;
}

static double of_driving(struct sim *s, int l, double *dense)
{
    return turb_interval(s->phys.turb);
}

static bool has_photons(const struct sim *s)
{
    return s->mesh.nphoton > 0;
}

static double of_photons(struct sim *s, int l, double *dense)
{
    return rt_limit(s->phys.rt, &s->mesh, l);
}

static bool has_gas(const struct sim *s)
{
    return s->mesh.hydro;
}

/* Gas that stands still beside photons limits nothing, as in RAMSES; its sums are needed. */
static double of_gas(struct sim *s, int l, double *dense)
{
    const bool still = s->par->run.static_ && has_photons(s) && s->phys.rt->advect;
    const double dt = gas_timestep(s, l);
    return still ? HUGE_VAL : dt;
}

/* Time-step limits. Their order matters: sinks update `dense`, the maximum density of the level,
 * before free fall uses it. The maximum density of this rank suffices: since rounding is monotonic,
 * the minimum over ranks of the time step equals the step of the maximum density over ranks, bit
 * for bit. Sinks find the maximum over all ranks, and add their own density. `when` agrees on all
 * ranks. */
static const struct limit {
    const char *name;
    bool (*when)(const struct sim *s);
    double (*value)(struct sim *s, int l, double *dense); /* limit on this rank; HUGE_VAL: none */
    bool margin;                                          /* photons shorten it (rt_margin) */
} LIMITS[] = {{"the box", always, box_crossing, true},
              {"sinks", has_sinks, of_sinks, true},
              {"free fall", falls, free_fall, true},
              {"expansion", expands, expansion, true},
              {"an output", meets_outputs, until_output, false},
              {"particles", has_particles, of_particles, false},
              {"driven turbulence", is_driven, of_driving, false},
              {"radiation", has_photons, of_photons, false},
              {"gas", has_gas, of_gas, false}};
enum { NLIMITS = sizeof LIMITS / sizeof *LIMITS };

/* Adds a limit; NaN counts as none. */
static void add_limit(struct sim_minima *q, const char *name, double dt)
{
    BUG_ON(q->n == SIM_LIMITS);
    q->name[q->n] = name;
    q->x[q->n++] = fmin(HUGE_VAL, dt);
}

static const struct term_list *terms_of(const struct sim *s)
{
    return s->time.min.terms ? s->time.min.terms : &TERMS;
}

static void find_limits(struct sim *s, int l)
{
    struct sim_minima *q = &s->time.min;
    const double margin = rt_margin(s->phys.rt);
    double dense = s->phys.matter.rho_max[l] + s->phys.hydro.smallr;
    q->n = 0;
    for (int i = 0; i < NLIMITS; i++) {
        if (!LIMITS[i].when(s)) continue;
        const double dt = LIMITS[i].value(s, l, &dense);
        add_limit(q, LIMITS[i].name, LIMITS[i].margin ? margin * dt : dt);
    }
    const struct term_list *terms = terms_of(s);
    for (int i = 0; i < terms->n; i++) {
        if (!term_limits(s->par, terms->at[i])) continue;
        struct term_run r = sim_term_run(s, TERM_LEVEL, l);
        add_limit(q, terms->at[i]->name, terms->at[i]->limit(&r));
    }
}

enum err sim_limits_need(struct sim *s, int l)
{
    const struct term_list *terms = terms_of(s);
    for (int i = 0; i < terms->n; i++)
        if (term_limits(s->par, terms->at[i]))
            TRY(sim_device_need(s, l, terms->at[i]->reads, LOCATION_HOST));
    return OK;
}

/* The time-step reduction also carries the minimum and maximum number of own octs, for the report,
 * and whether this rank's files of the last checkpoint are on disk. */
void sim_timestep_begin(struct sim *s, int l)
{
    struct sim_minima *q = &s->time.min;
    double nown = s->mesh.lev[l].nown;
    BUG_ON(q->level);
    sim_device_energy_end(s);
    q->level = l;
    if (!q->gas) turb_begin(s, l); /* on a device sim_turb_send has done so */
    find_limits(s, l);
    q->x[q->n] = nown;
    q->x[q->n + 1] = -nown;
    q->x[q->n + 2] = out_is_done(&s->run.late.out);
    q->x[q->n + 3] = -s->diag.divb;
    q->minima = (struct comm_minima){q->n + 4, q->x};
    add_kinetic(s, l);
    s->phys.matter.motion.level = 0;
}

/* On the finest level the sums of the coarse step are complete, and are reduced together with the
 * time step. */
void sim_timestep_end(struct sim *s)
{
    struct sim_minima *q = &s->time.min;
    struct sim_time *t = &s->time;
    int l = q->level;
    if (l == 0) return;
    bool finest = l == s->mesh.levelmax || s->amr.noct[l + 1] == 0;
    if (s->diag.counting && finest)
        comm_sums_min(&s->comm, (struct sum *)&s->diag.sum, SIM_SUMS, &q->minima);
    else if (q->minima.n > 0)
        comm_min_f64(&s->comm, q->x, q->minima.n);
    q->level = 0;
    s->amr.noct_min[l] = (int64_t)q->x[q->n];
    s->amr.noct_max[l] = (int64_t)-q->x[q->n + 1];
    s->diag.divb = -q->x[q->n + 3];
    s->run.late.told = s->run.late.pending;
    s->run.late.done = s->run.late.pending && q->x[q->n + 2] > 0;
    if (l > s->mesh.levelmin)
        add_limit(q, "the coarser level", t->dtnew[l - 1] / t->nsubcycle[l - 1]);
    int min = 0;
    for (int i = 1; i < q->n; i++)
        if (q->x[i] < q->x[min]) min = i;
    t->dtnew[l] = q->x[min];
    log_line(1, " Time step of level %d: %.6E, limited by %s", l, q->x[min], q->name[min]);
}
