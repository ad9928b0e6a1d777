/* Particles with all that an evaluation needs, for tests of smooth. */
#pragma once
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "smooth/smooth.h"

/* The usual numbers of a kernel and an adiabatic gas of n particles of total mass 1. */
static inline struct smooth_par smooth_world_par(enum smooth_kernel k, int64_t n)
{
    return (struct smooth_par){.kernel = k,
                               .eta = smooth_eta(k),
                               .mass = 1.0 / (double)n,
                               .h_tol = 1e-13,
                               .eos = SMOOTH_ADIABATIC,
                               .gamma = 5 / 3.0,
                               .c0 = 1,
                               .r0 = 1,
                               .q = 0.25,
                               .alpha_switch = SMOOTH_CD10,
                               .alpha_max = 1,
                               .beta = 2,
                               .alpha_u = 1,
                               .sigma = 0.1,
                               .shock_heating = true,
                               .pdv_heating = true};
}

static inline void smooth_world_init(struct smooth *s, int64_t n)
{
    *s = (struct smooth){0};
    smooth_reserve(s, n);
    s->n = n;
    for (int64_t i = 0; i < n; i++) {
        s->id[i] = i, s->type[i] = SMOOTH_GAS, s->u[i] = 1;
        s->h[i] = s->alpha[i] = s->divv[i] = s->du[i] = 0;
        for (int k = 0; k < 3; k++) s->x[k][i] = s->v[k][i] = s->a[k][i] = 0;
    }
}

/* side³ particles on a lattice with noise in a box of side 1. */
static inline void smooth_world_lattice(struct smooth *s, int side)
{
    struct rng r = rng_make(1, 2, 3);
    for (int64_t i = 0; i < s->n; i++) {
        const int64_t at[3] = {i % side, i / side % side, i / side / side};
        for (int k = 0; k < 3; k++) {
            double x = ((double)at[k] + 0.5 + 0.4 * (rng_uniform(&r) - 0.5)) / side;
            s->x[k][i] = x - floor(x);
            s->v[k][i] = rng_normal(&r);
            s->a[k][i] = rng_normal(&r);
        }
        s->u[i] = 1 + rng_uniform(&r);
        s->alpha[i] = rng_uniform(&r);
        s->h[i] = 1.1 * 1.2 / side;
    }
}

/* period: sides of the box from 0; 0: open, and then the frame is the unit cube. */
static inline struct near *smooth_world_near(const struct smooth *s, double period, int leaf)
{
    const double side = period > 0 ? period : 1;
    const struct near_frame f = {.side = {side, side, side}, .period = {period, period, period}};
    const struct near_points p = {s->n + s->ghosts, {s->x[0], s->x[1], s->x[2]}, s->id};
    struct near *t;
    if (near_new(&p, &f, leaf, &t) != OK) {
        printf("%s\n", err_message());
        exit(1);
    }
    return t;
}

/* h with reaches that grow until they suffice, as a solver does it. */
static inline enum err smooth_world_density(const struct smooth_par *p, struct smooth *s,
                                            struct near *t)
{
    enum err err = OK;
    double *reach = mem_new((size_t)(s->n + 1) * sizeof *reach, "reach");
    int64_t beyond = 1;
    while (beyond > 0 && err == OK) {
        for (int64_t i = 0; i < s->n; i++) reach[i] = 1.3 * smooth_support(p->kernel) * s->h[i];
        err = smooth_density(p, s, t, reach, &beyond);
    }
    FREE(reach);
    return err;
}
