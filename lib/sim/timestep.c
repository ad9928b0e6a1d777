/* sim/timestep: the longest step that all conditions allow (docs/method/step.md). Minima only: the
 * order of ranks does not matter. */
#include <math.h>

#include "sim/sim.h"

/* This rank's sums of the conserved quantities of the level, once a coarse step (on the first way
 * down). */
static void add_totals(struct sim *s, int l)
{
    if (!s->diag.counting) return;
    if (s->mesh.hydro)
        hydro_totals(&s->mesh, l, &s->hydro, &s->diag.mass, &s->diag.ekin, &s->diag.eint,
                     s->diag.momentum);
    if (s->par->run.pic) part_kinetic(&s->parts, l, &s->diag.ekin);
}

double sim_timestep(struct sim *s, int l)
{
    const struct mesh *m = &s->mesh;
    double dx = mesh_dx(m, l), courant = s->hydro.courant_factor;
    double dt = m->boxlen / s->hydro.smallc;
    if (m->gravity && s->grav.gravity_type <= 0) {
        double pi = 0.5 * 6.2831853,
               fourpi = s->cosmo ? 1.5 * s->cosmo_par.omega_m * s->time.aexp : 4 * pi;
        dt = fmin(dt, courant * sqrt(3 * pi * pi / 8 / fourpi /
                                     (s->matter.rho_max[l] + s->hydro.smallr)));
    }
    if (s->cosmo) dt = fmin(dt, s->par->run.dlna_max / s->time.hexp);
    if (s->par->run.pic) {
        double v = part_vmax(&s->parts, l);
        if (v > 0) dt = fmin(dt, courant * dx / v);
    }
    if (m->hydro) dt = fmin(dt, hydro_courant(m, l, &s->hydro));
    comm_min_f64(&s->comm, &dt, 1);
    add_totals(s, l);
    if (l > m->levelmin) dt = fmin(dt, s->time.dtnew[l - 1] / s->time.nsubcycle[l - 1]);
    return dt;
}
