/* sim/timestep: the longest step that all conditions allow (docs/method/step.md). Minima only: the
 * order of ranks does not matter. In two halves, so that the reduction can be one for something
 * else too: nobody needs the step of a level before the finer level is solved. */
#include <math.h>

#include "sim/sim.h"

/* The Courant step of the gas, and once a coarse step (on the first way down) this rank's sums of
 * what it conserves. Internal energy is reported with pressure_fix only. */
static double gas_timestep(struct sim *s, int l)
{
    struct sum_totals *sum = &s->diag.sum;
    const struct sim_gas_numbers *gas = s->time.least.gas;
    const struct hydro_sums sums = {&sum->mass, &sum->ekin,
                                    s->phys.hydro.pressure_fix ? &sum->eint : NULL, sum->momentum};
    if (!gas) return hydro_courant(&s->mesh, l, &s->phys.hydro, s->diag.counting ? &sums : NULL);
    if (s->diag.counting) {
        sum_join(&sum->mass, &gas->mass);
        sum_join(&sum->ekin, &gas->energy);
        sum_join(&sum->eint, &gas->internal);
        for (int d = 0; d < 3; d++) sum_join(&sum->momentum[d], &gas->momentum[d]);
    }
    return gas->dt;
}

/* The kinetic energy of all else. */
static void add_kinetic(struct sim *s, int l)
{
    if (!s->diag.counting) return;
    if (s->par->run.pic) sim_parts_kinetic(s, l, &s->diag.sum.ekin);
    if (s->phys.sinks && l == s->mesh.levelmin) sinks_kinetic(s->phys.sinks, &s->diag.sum.ekin);
}

/* Of its conditions, that of free fall takes the highest density of this rank: the least of the
 * ranks' time steps is that of the highest density of all, to the last bit, since rounding keeps
 * order. */
static double own_timestep(struct sim *s, int l)
{
    const struct mesh *m = &s->mesh;
    double dx = mesh_dx(m, l), courant = s->phys.hydro.courant_factor;
    double dt = m->boxlen / s->phys.hydro.smallc,
           dense = s->phys.matter.rho_max[l] + s->phys.hydro.smallr;
    if (sinks_any(s->phys.sinks)) {
        dense = s->phys.matter.rho_max[l];
        struct sink_run sinks = sim_sinks(s);
        dt = fmin(dt, sinks_timestep(&sinks, l, &dense));
    }
    if (m->gravity && s->phys.grav.gravity_type <= 0) {
        double pi = 0.5 * 6.2831853,
               fourpi = s->phys.cosmo ? 1.5 * s->phys.cosmo_par.omega_m * s->time.aexp : 4 * pi;
        dt = fmin(dt, courant * sqrt(3 * pi * pi / 8 / fourpi / dense));
    }
    if (s->phys.cosmo) dt = fmin(dt, s->par->run.dlna_max / s->time.hexp);
    if (s->par->run.pic) {
        double v = sim_parts_vmax(s, l);
        if (v > 0) dt = fmin(dt, courant * dx / v);
    }
    return m->hydro ? fmin(dt, gas_timestep(s, l)) : dt;
}

/* With the time step go the extremes of the number of octs, for the report, and whether this rank's
 * files of the last checkpoint are on disk. */
void sim_timestep_begin(struct sim *s, int l)
{
    struct sim_least *q = &s->time.least;
    double nown = s->mesh.lev[l].nown;
    BUG_ON(q->level);
    sim_device_energy_end(s);
    q->level = l;
    q->x[0] = own_timestep(s, l);
    q->x[1] = nown;
    q->x[2] = -nown;
    q->x[3] = out_is_done(&s->run.late.out);
    q->minima = (struct comm_minima){4, q->x};
    add_kinetic(s, l);
}

/* On the finest level the sums of the coarse step are complete: they go along. */
void sim_timestep_end(struct sim *s)
{
    struct sim_least *q = &s->time.least;
    struct sim_time *t = &s->time;
    int l = q->level;
    if (l == 0) return;
    bool finest = l == s->mesh.levelmax || s->amr.noct[l + 1] == 0;
    if (s->diag.counting && finest)
        comm_sums_min(&s->comm, (struct sum *)&s->diag.sum, SIM_SUMS, &q->minima);
    else if (q->minima.n > 0)
        comm_min_f64(&s->comm, q->x, q->minima.n);
    q->level = 0;
    s->amr.noct_least[l] = (int64_t)q->x[1];
    s->amr.noct_most[l] = (int64_t)-q->x[2];
    t->dtnew[l] = q->x[0];
    s->run.late.done = s->run.late.there && q->x[3] > 0;
    if (l > s->mesh.levelmin)
        t->dtnew[l] = fmin(t->dtnew[l], t->dtnew[l - 1] / t->nsubcycle[l - 1]);
}

double sim_timestep(struct sim *s, int l)
{
    sim_timestep_begin(s, l);
    sim_timestep_end(s);
    return s->time.dtnew[l];
}
