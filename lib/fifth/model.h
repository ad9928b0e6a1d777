/* fifth/model: what solvers and theories share. Private to fifth. */
#pragma once
#include "fifth/fifth.h"

struct fifth_model {
    const char *name;
    enum err (*set)(struct fifth *f, const struct params *p);
    void (*law)(const struct fifth_numbers *n, double a, struct fifth_law *law);
    /* h(ψ) and its slope; NULL: see fifth.def */
    void (*react)(const struct fifth_law *law, double psi, double *h, double *slope);
};

#define MODEL(symbol, name, asked, law, react, set)                                                \
    enum err set(struct fifth *, const struct params *);
#include "fifth/fifth.def"
void fr_law(const struct fifth_numbers *n, double a, struct fifth_law *law);
void fr_react(const struct fifth_law *law, double psi, double *h, double *slope);
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
