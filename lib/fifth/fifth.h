/* fifth: the scalar field of gravity beyond Einstein, and its force (docs/method/fifth.md).
 *
 * Each level is solved after its Poisson equation, by its density and, at its boundary, by the
 * field of the next coarser level. The first guess does not depend on earlier solves, so that a
 * restart needs no field, and no result depends on ranks or threads. */
#pragma once
#include "comm/comm.h"
#include "grav/grav.h"
#include "oct/mesh.h"
#include "param/param.h"

struct cosmo_par;

/* The equation at an expansion factor, in code units. */
struct fifth_law {
    double coupling; /* source of ψ over that of φ: ψ/φ where nothing is screened */
    /* f(R): h(ψ) = rate (1 − (ψ/mean)^(−power)) */
    double rate, mean, power;
    double kappa; /* nDGP: ∇²ψ + κ ((∇²ψ)² − (∂i∂jψ)²) = source */
};

struct fifth_model;
struct fifth_numbers { /* what laws depend on */
    double omega_m, omega_l;
    double box; /* H0 times the length of the box over the speed of light */
    double amplitude, index;
    double omega_rc;
    int branch;
};

struct fifth {
    const struct fifth_model *model;
    struct fifth_numbers numbers;
    double eps; /* largest rms of the residual over that of the source */
    int most;   /* iterations of a solve */
    bool strict;
    int verbose;
    struct grav_par newton; /* of solves of ∇² */
};

struct fifth_report {
    int iterations, cycles;
    double error;
    bool converged;
    int64_t unreal; /* nDGP: cells, of this rank, where the equation has no real solution */
};

/* Whether the parameters ask for a theory of the table. */
bool fifth_asked(const struct params *p);
/* The theory of a namelist; *out NULL: Einstein's. grav: parameters of the Poisson solver. */
MUST_USE enum err fifth_new(const struct params *p, const struct cosmo_par *cosmo,
                            const struct grav_par *grav, struct fifth **out);
void fifth_free(struct fifth **f);
const char *fifth_name(const struct fifth *f);
/* The equation at expansion factor a. */
struct fifth_law fifth_law_at(const struct fifth *f, double a);
/* Solves level l for ψ (own and ghosts), from the density of own cells; newton: the source of φ. An
 * error if it does not converge and the run is strict. (collective) */
MUST_USE enum err fifth_solve(struct fifth *f, struct mesh *m, const struct comm *c, int l,
                              const struct grav_source *newton, double aexp,
                              struct fifth_report *rep);
/* Adds −∇ψ to the force of level l (own and ghosts). (collective) */
void fifth_force(struct fifth *f, struct mesh *m, const struct comm *c, int l);
/* Frees what was kept of levels l and finer. Local. */
void fifth_forget(struct fifth *f, int l);
