/* grav/fourier: Poisson's equation of a complete level of a periodic box, solved at once in Fourier
 * space.
 *
 * With the Green function of the seven-point Laplacian the solution is that to which multigrid
 * converges, to round-off; with the spectral one, −1/k². That for particles makes up for what waves
 * of more than about nine cells lose in cells (docs/method/grav.md).
 *
 * The octs of the level are sent to the pencils of lib/fft and back by a plan that is kept until
 * the domains change. The source may be multiplied by a function of the wave number: the response
 * of matter that is not on the mesh (massive neutrinos). */
#pragma once
#include "comm/comm.h"
#include "grav/green_kern.h"
#include "oct/mesh.h"

struct fourier; /* the kept plan */

/* of the seven-point operator; −1/k²; the first, for a force on particles */
enum green { GREEN_DISCRETE, GREEN_SPECTRAL, GREEN_PARTICLES };

struct fourier_green {
    enum green kind;
    /* the source times 1 + this; wave in units of 2π/box; NULL: 0 */
    double (*response)(const void *ctx, double wave);
    const void *ctx;
    bool fixed; /* lines as devices transform them (fft/fixed.h); the same in all solves */
};

/* Of n³ points (owner: caller). Local. */
struct green_tables green_tables(int n, const struct fourier_green *g);
void green_tables_free(struct green_tables *t);

/* FLD_PHI of own octs of level l from FLD_RHO: ∇²φ = fourpi (ρ − ρ_tot), lengths in units of the
 * box, mean of φ 0. *f: NULL at first. (collective) */
void fourier_solve(struct fourier **f, struct mesh *m, const struct comm *c, int l, double fourpi,
                   double rho_tot, const struct fourier_green *g);
void fourier_free(struct fourier **f);
