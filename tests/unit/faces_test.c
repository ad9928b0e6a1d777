/* Fluxes of lists of faces by HLLC (hydro/flux.c) compared with those of single faces
 * (hydro_riemann_hllc), bit by bit: states of one sound speed but for rounding, where the two
 * quotients P/rho differ in their last bit or not at all, states of any magnitude, whose products
 * overflow or underflow, vacuum and infinities. Catches, among others: the quotient of the wrong
 * side, products without their rounding errors, a product that underflows.
 *
 * test: tier=quick */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "check.h"
#include "gas_mesh.h"
#include "hydro/gas_law.h"

enum { LISTS = 3000, PS = PLANE_STRIDE, FACES = 28 }; /* whole vectors, and a half one */

/* A state of density, velocities, pressure. */
typedef void state_of(struct rng *r, double q[GAS_SCALARS]);

static double near_one(struct rng *r)
{
    return 1.0 + 2.220446049250313e-16 * (double)(rng_word(r) % 5);
}

static void isothermal(struct rng *r, double q[GAS_SCALARS])
{
    q[0] = 0.1 + rng_uniform(r);
    for (int d = 1; d <= 3; d++) q[d] = rng_uniform(r) - 0.5;
    q[4] = 0.7 * q[0] * near_one(r);
}

static void even(struct rng *r, double q[GAS_SCALARS])
{
    static const double same[GAS_SCALARS] = {1.3, 0.2, -0.1, 0.4, 0.9};
    for (int v = 0; v < GAS_SCALARS; v++) q[v] = same[v] * near_one(r);
}

static void any(struct rng *r, double q[GAS_SCALARS])
{
    isothermal(r, q);
    const double x = rng_uniform(r), y = rng_uniform(r);
    q[0] *= pow(10.0, 600 * x - 300);
    q[4] *= pow(10.0, 600 * y - 300);
    if (rng_word(r) % 16 == 0) q[rng_word(r) % 2 ? 0 : 4] = rng_word(r) % 2 ? 0.0 : HUGE_VAL;
}

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static void check_face(const struct sweep *s, const double *L, const double *R, const double *F,
                       int i)
{
    struct hydro_gas g = gas_law_of(s)->gas;
    struct hydro_state l = {L[i], L[PS + i], L[2 * PS + i], L[3 * PS + i], L[4 * PS + i]},
                       r = {R[i], R[PS + i], R[2 * PS + i], R[3 * PS + i], R[4 * PS + i]};
    const struct hydro_flux f = hydro_riemann_hllc(l, r, g);
    const double want[GAS_SCALARS] = {f.r, f.u, f.v, f.w, f.e};
    for (int v = 0; v < GAS_SCALARS; v++)
        CHECK(same(F[v * PS + i], want[v] * s->dtdx),
              "face %d, variable %d: %.17g, not %.17g (densities %.17g, %.17g, pressures %.17g, "
              "%.17g)",
              i, v, F[v * PS + i], want[v] * s->dtdx, l.r, r.r, l.p, r.p);
}

static void check_list(struct sweep *s, struct rng *r, state_of *of)
{
    double q[GAS_SCALARS];
    struct face_jobs jobs = {.n = 1, .job = {{.fours = FACES / 4, .L = s->mx, .R = s->px}}};
    jobs.job[0].F = s->fx[0];
    jobs.vectors = vectors_of(&jobs.job[0]);
    for (int i = 0; i < 2 * FACES; i++) {
        of(r, q);
        double *to = i % 2 ? s->px : s->mx;
        for (int v = 0; v < GAS_SCALARS; v++) to[v * PS + i / 2] = q[v];
    }
    gas_fluxes(s, &jobs);
    for (int i = 0; i < FACES; i++) check_face(s, s->mx, s->px, s->fx[0], i);
}

int main(void)
{
    static const bool periodic[6] = {false};
    static state_of *const states[] = {isothermal, even, any};
    struct hydro_par p = {.nvar = GAS_SCALARS,
                          .gamma = 1.4,
                          .smallr = 1e-300,
                          .smallc = 1e-10,
                          .riemann = RIEMANN_HLLC,
                          .slope_type = SLOPE_MINMOD};
    struct mesh m;
    gas_mesh(&m, 2, 2, &p, false, periodic, refine_ball);
    struct gas_law g = gas_law_make(&m, &p);
    struct sweep *s = mem_zero(sizeof *s, "test");
    struct rng r = rng_make(49, 1, 2);
    sweep_init(s, &m, 2, 0.01, &g.law);
    for (int i = 0; i < LISTS; i++) check_list(s, &r, states[i % 3]);
    sweep_fini(s);
    mem_free(s);
    mesh_fini(&m);
    printf("faces_test: %d passed, %d failed\n", passed, failed);
    return failed != 0;
}
