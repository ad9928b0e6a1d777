/* fifth/model: what solvers and theories share. Private to fifth. */
#pragma once
#include "base/sum.h"
#include "fifth/fifth.h"
#include "grav/mg.h"

struct fifth_model {
    const char *name;
    enum err (*set)(struct fifth *f, const struct params *p);
    void (*law)(const struct fifth_numbers *n, double a, struct fifth_law *law);
    /* h(ψ) of eight cells and its slope; NULL: see fifth.def */
    void (*react)(const struct fifth_law *law, const double psi[8], double h[8], double slope[8]);
};

#define MODEL(symbol, name, asked, law, react, set)                                                \
    enum err set(struct fifth *, const struct params *);
#include "fifth/fifth.def"
void fr_law(const struct fifth_numbers *n, double a, struct fifth_law *law);
void fr_react(const struct fifth_law *law, const double psi[8], double h[8], double slope[8]);
void ndgp_law(const struct fifth_numbers *n, double a, struct fifth_law *law);

/* A solve of a level. */
struct fifth_task {
    struct fifth *f;
    struct mesh *m;
    const struct comm *c;
    int l;
    struct fifth_law law;
    struct grav_source newton;
};

/* The solvers. (collective) */
void reaction_solve(const struct fifth_task *t, struct fifth_report *rep);
void derivative_solve(const struct fifth_task *t, struct fifth_report *rep);

/* From lend to the next lend of the same level, ψ is in the place of φ on this level and the next
 * coarser one, so that functions of lib/grav act on it. */
void fifth_lend(struct mesh *m, int l);

/* ---- a level with a multigrid hierarchy (multigrid.c) ---- */

/* The hierarchy of the level, with its arrays, until mg_release. (collective) */
struct mg *fifth_hierarchy(const struct fifth_task *t);
/* Sets the first guess, which depends on the coarser level only, and adds the terms of the boundary
 * to rhs, in cell order; both are in colour order then. Own octs only. */
void fifth_guess(const struct fifth_task *t, double (*rhs)[8]);
/* Cycles from a residual *now, of rms, to target; returns their number. (collective) */
int fifth_cycles(const struct fifth_task *t, struct mg *g, double target, double *now);
/* Root mean squares over the level: of sums of squares, of the source, of the residual of top,
 * whose mean residuals it sets too. (collective) */
double fifth_rms(const struct fifth_task *t, struct sum *sum);
double fifth_source_rms(const struct fifth_task *t);
double fifth_residual(const struct fifth_task *t, struct mg_level *top);
/* Fills ghosts of rows of eight. (collective) */
void fifth_fill(const struct comm *c, const struct mg_level *g, void *arr);

/* Source of ∇²ψ of a cell. */
static inline double fifth_source(const struct fifth_task *t, double rho)
{
    return t->law.coupling * (t->newton.fourpi * (rho - t->newton.rho_tot));
}
/* Parameters of lib/grav for the boundary of ψ: no interpolation in time. */
static inline struct grav_source fifth_boundary(double fourpi)
{
    return (struct grav_source){.fourpi = fourpi};
}
