/* sph: the solver of run_params/solver='sph': gas as smoothed particles (smooth/smooth.h), with
 * external forces, point masses and self-gravity. Private header of the module. */
#pragma once
#include "base/sum.h"
#include "param/param.h"
#include "smooth/smooth.h"
#include "swarm/swarm.h"

struct sphfile;
struct sph_dev;

/* Point masses: the same on all ranks. */
enum { SPH_SINKS = 1024 };
struct sph_sink {
    double m, x[3], v[3], a[3], spin[3], racc;
    double accreted; /* mass since the start of the run */
};

struct sph {
    const struct params *par; /* lent */
    const struct comm *comm;  /* lent */
    struct smooth_par eq;
    bool periodic;
    double lo[3], side[3]; /* the box; of an open run, not used */
    struct smooth p;
    struct swarm swarm;
    /* Tree of own and ghost particles of the last evaluation, or the device that has it. */
    struct near *near;
    struct sph_dev *device;
    int64_t total; /* particles of all ranks */
    int nsink;
    struct sph_sink *sink; /* [nsink] */
    double dt;             /* length of the last step; 0: none yet */
    double dt_next;        /* longest step that the last evaluation allows */
    double epot;           /* potential energy at the last evaluation, all ranks */
    double *reach;         /* distance within which neighbours are sought */
    int64_t room;          /* rows of it */
    struct sphfile *from;  /* checkpoint while it is read */
    bool begun;            /* energies.txt has its head */
    bool expect;           /* setups only count their particles */
};

/* The number of particles of this rank has changed: that of the swarm follows. */
static inline void sph_count(struct sph *s)
{
    s->swarm.n = s->p.n, s->swarm.ghosts = s->p.ghosts;
}

/* ---- total.c: exact sums over own particles, by all threads ---- */

/* Particles of a block: their terms stay in the first cache. */
enum { SPH_BLOCK = 512, SPH_SUMS = 9 };
/* Makes terms of all sums of the n rows from `first` on: term[number of the sum][row − first]. */
typedef void sph_terms(const void *ctx, int64_t first, int n, double (*term)[SPH_BLOCK]);
/* Sets nsum ≤ SPH_SUMS sums over this rank's particles, which depend neither on threads nor on the
 * order of rows. Threads call `terms` at once, each for other rows. */
void sph_sums(const struct sph *s, int nsum, sph_terms *terms, const void *ctx, struct sum *sum);

/* ---- step.c ---- */

/* Accelerations, heating rates and the first step of initial particles. (collective, agreed) */
MUST_USE enum err sph_begin(struct sph *s);
/* Adds the gravity of the gas to a, and its energy to epot. (collective, agreed) */
MUST_USE enum err sph_gravity(struct sph *s);
/* Step number `it`, of length dt: leapfrog (kick, drift, kick) with the corrector of Price et al.
 * (2018, section 2.3). (collective, agreed) */
MUST_USE enum err sph_advance(struct sph *s, int64_t it, double dt);

/* ---- init.c: setups by name, a piece of them on each rank, particles with ids from 1 in any order
 * and anywhere: the caller distributes them. Sets eq.mass, total, the box where the setup defines
 * it, h as a first guess, and alpha. With s->expect it makes none, checks memory, and sets eq.mass
 * and total as for all candidates. (collective, agreed) ---- */
MUST_USE enum err sph_setup(struct sph *s);

/* ---- external.c: forces from outside, and of point masses ---- */

/* Adds accelerations by the external force and by point masses to a of own gas particles, and sets
 * those of the point masses by the gas (exact sums over all ranks), by each other and by the
 * external force. *epot: potential energy of gas and point masses in these, all ranks. Particles of
 * other types neither feel nor exert these forces. (collective) */
void sph_external(struct sph *s, double *epot);
/* The centre of a locally isothermal gas: the first point mass, whose motion it follows; with an
 * external mass, or without point masses, the origin. */
void sph_centre(struct sph *s);
/* The longest step that external forces and point masses allow, cfl_force times the shortest
 * √(r³/GM); DBL_MAX: any. The same on all ranks. (collective) */
double sph_external_dt(const struct sph *s);

/* ---- sinks.c: point masses ---- */

/* The point masses of &SPH_PARAMS replace the present ones. */
void sph_sinks_begin(struct sph *s);
/* v += dt a; x += dt v, back into a periodic box. */
void sph_sinks_kick(struct sph *s, double dt);
void sph_sinks_drift(struct sph *s, double dt);
/* Particles that point masses accrete, after a drift, leave the gas: mass, momentum, centre of
 * mass, force and angular momentum (with spin) of gas and point masses stay (to 1e-14). Rows close
 * up in their order, in p and swarm, which then have no ghosts, and the tree is out of date, unless
 * none goes. *gone: number of accreted particles of all ranks, still counted in total. (collective)
 */
void sph_accrete(struct sph *s, int64_t *gone);

/* x − y, of the nearest image in a periodic box. */
void sph_between(const struct sph *s, const double x[3], const double y[3], double d[3]);
/* sph_between of the positions in rows first … first + n − 1 and `at`, with squared distances. */
void sph_displace(const struct sph *s, const double at[3], int64_t first, int n,
                  double (*d)[SPH_BLOCK], double *far2);
