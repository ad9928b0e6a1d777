/* view/riemann: the exact solution of the Riemann problem of an ideal gas: two uniform states that
 * meet at x = 0 when t = 0. */
#pragma once

struct riemann_state {
    double density, velocity, pressure;
};

struct riemann_problem {
    struct riemann_state side[2]; /* left and right; density 0: vacuum */
    double gamma;                 /* above 1 */
    /* Set by riemann_solve, between the waves: the pressure; the velocity behind the left wave and
     * behind the right one, which differ if a vacuum lies between them. */
    double pressure, velocity[2];
};

void riemann_solve(struct riemann_problem *r);
struct riemann_state riemann_at(const struct riemann_problem *r, double x, double t);
