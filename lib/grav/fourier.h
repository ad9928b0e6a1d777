/* grav/fourier: Poisson's equation of a complete level of a periodic box, solved directly in
 * Fourier space.
 *
 * GREEN_DISCRETE is the Green function of the seven-point Laplacian, whose solution equals the
 * converged multigrid solution to round-off; GREEN_SPECTRAL is −1/k². GREEN_PARTICLES compensates
 * the damping of waves longer than about nine cells by deposit and interpolation
 * (docs/method/grav.md).
 *
 * The octs of the level are sent to the pencils of lib/fft and back by a plan that is cached until
 * the domains change. The source may be multiplied by a function of the wave number: the response
 * of matter that is not on the mesh (massive neutrinos). */
#pragma once
#include "comm/comm.h"
#include "grav/green_kern.h"
#include "oct/mesh.h"

struct fourier; /* cached plan */

/* Green functions: seven-point operator; −1/k²; seven-point operator compensated for particles. */
enum green { GREEN_DISCRETE, GREEN_SPECTRAL, GREEN_PARTICLES };

struct fourier_green {
    enum green kind;
    /* Factor of the source minus 1, as a function of wave in units of 2π/box; NULL: 0. */
    double (*response)(const void *ctx, double wave);
    const void *ctx;
    bool fixed; /* true for line transforms of fft/fixed.h, as on devices, in all solves */
};

/* Makes the tables for n³ points (owner: caller). Local. */
struct green_tables green_tables(int n, const struct fourier_green *g);
void green_tables_free(struct green_tables *t);

/* Computes FLD_PHI of own octs of level l from FLD_RHO: ∇²φ = fourpi (ρ − ρ_tot), lengths in units
 * of the box, zero mean. *f is NULL at first. (collective) */
void fourier_solve(struct fourier **f, struct mesh *m, const struct comm *c, int l, double fourpi,
                   double rho_tot, const struct fourier_green *g);
void fourier_free(struct fourier **f);
