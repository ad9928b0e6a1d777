/* sim/timestep: the longest step that all conditions allow (docs/method/step.md). Minima only: the
 * order of ranks does not matter. */
#include <math.h>

#include "sim/sim.h"

/* This rank's sums of the conserved quantities of the level, once a coarse step (on the first way
 * down). */
static void add_totals(struct sim *s, int l)
{
    struct sum_totals *sum = &s->diag.sum;
    if (!s->diag.counting) return;
    if (s->mesh.hydro)
        hydro_totals(&s->mesh, l, &s->hydro, &sum->mass, &sum->ekin, &sum->eint, sum->momentum);
    if (s->par->run.pic) part_kinetic(&s->parts, l, &sum->ekin);
    if (s->sinks && l == s->mesh.levelmin) sinks_kinetic(s->sinks, &sum->ekin);
}

/* With the time step go the extremes of the number of octs, for the report. */
static double least_of_all(struct sim *s, int l, double dt)
{
    double nown = s->mesh.lev[l].nown, least[3] = {dt, nown, -nown};
    comm_min_f64(&s->comm, least, 3);
    s->noct_least[l] = (int64_t)least[1];
    s->noct_most[l] = (int64_t)-least[2];
    return least[0];
}

/* Of its conditions, that of free fall takes the highest density of this rank: the least of the
 * ranks' time steps is that of the highest density of all, to the last bit, since rounding keeps
 * order. */
double sim_timestep(struct sim *s, int l)
{
    const struct mesh *m = &s->mesh;
    double dx = mesh_dx(m, l), courant = s->hydro.courant_factor;
    double dt = m->boxlen / s->hydro.smallc, dense = s->matter.rho_max[l] + s->hydro.smallr;
    if (sinks_any(s->sinks)) {
        dense = s->matter.rho_max[l];
        struct sink_run sinks = sim_sinks(s);
        dt = fmin(dt, sinks_timestep(&sinks, l, &dense));
    }
    if (m->gravity && s->grav.gravity_type <= 0) {
        double pi = 0.5 * 6.2831853,
               fourpi = s->cosmo ? 1.5 * s->cosmo_par.omega_m * s->time.aexp : 4 * pi;
        dt = fmin(dt, courant * sqrt(3 * pi * pi / 8 / fourpi / dense));
    }
    if (s->cosmo) dt = fmin(dt, s->par->run.dlna_max / s->time.hexp);
    if (s->par->run.pic) {
        double v = part_vmax(&s->parts, l);
        if (v > 0) dt = fmin(dt, courant * dx / v);
    }
    if (m->hydro) dt = fmin(dt, hydro_courant(m, l, &s->hydro));
    dt = least_of_all(s, l, dt);
    add_totals(s, l);
    if (l > m->levelmin) dt = fmin(dt, s->time.dtnew[l - 1] / s->time.nsubcycle[l - 1]);
    return dt;
}
