/* cool/start: see start.h. Implicit steps: T2 at the end of a step is the root of
 * (T2_old - T2)/dt + heating(T2) - cooling(T2). */
#include "cool/start.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_roots.h>
#include <math.h>

#include "base/cgs.h"

static const double A_START = 1e-4, T_CMB = 2.726, MU_START = 1.2195;

struct history_step {
    double a, nH, T2_old, dt;
    struct uv_rates uv;
};

static double change(double T2, void *ctx)
{
    const struct history_step *s = ctx;
    struct gas_rates g = gas_rates_at(T2, s->nH, &s->uv, s->a);
    double unit = 2 * RAMSES_HYDROGEN / (3 * CGS_KB);
    double net = s->nH * (g.heat - g.cool) + (g.compton_heat - g.compton);
    return unit * net + (s->T2_old - T2) / s->dt;
}

/* The root for T2 at the end of the step. The residual falls from positive to negative. */
static double step_root(struct history_step *s)
{
    gsl_function f = {.function = change, .params = s};
    gsl_root_fsolver *solver = gsl_root_fsolver_alloc(gsl_root_fsolver_brent);
    double low = 1e-2, high = 1e8, T2 = s->T2_old;
    if (change(T2, s) > 0)
        low = T2;
    else
        high = T2;
    if (gsl_root_fsolver_set(solver, &f, low, high) == GSL_SUCCESS)
        for (int i = 0; i < 200; i++) {
            gsl_root_fsolver_iterate(solver);
            low = gsl_root_fsolver_x_lower(solver);
            high = gsl_root_fsolver_x_upper(solver);
            if (gsl_root_test_interval(low, high, 0, 1e-10) == GSL_SUCCESS) break;
        }
    T2 = gsl_root_fsolver_root(solver);
    gsl_root_fsolver_free(solver);
    return T2;
}

/* T2 in K at a_end, with step size da/a; *electrons: n_e/n_H at a_end. */
static double evolve(const struct mean_cell *m, const struct uv *uv, double a_end, double step,
                     double *electrons)
{
    double a = A_START, comoving = T_CMB * a / MU_START;
    double nH = m->omega_b * RAMSES_RHO_CRIT * m->h * m->h * RAMSES_HYDROGEN / RAMSES_MH;
    double omega_k = 1 - m->omega_m - m->omega_l;
    struct history_step s = {.T2_old = comoving / (a * a)};
    gsl_error_handler_t *old = gsl_set_error_handler_off();
    for (; a < a_end; a += step * a) {
        double expansion = sqrt(m->omega_m / (a * a * a) + omega_k / (a * a) + m->omega_l);
        s.a = a;
        s.dt = step / (m->h * RAMSES_HUBBLE * expansion);
        s.nH = nH / (a * a * a);
        s.T2_old = comoving / (a * a);
        s.uv = uv_at(uv, a);
        comoving = step_root(&s) * (a * a);
        s.T2_old = comoving / (a * a);
    }
    gsl_set_error_handler(old);
    *electrons = gas_rates_at(s.T2_old, s.nH, &s.uv, s.a).is.e;
    return s.T2_old;
}

double start_floor(const struct mean_cell *m, const struct uv *uv)
{
    double wanted = 1.2e-5 * sqrt(m->omega_m) / (m->h * m->omega_b);
    double a_end = fmin(0.05, 0.5 / (1 + uv->z_reion)), low = 1e-30, high = 1e-20;
    struct uv trial = *uv;
    for (int i = 0; i < 100 && (high - low) / high > 1e-3; i++) {
        double electrons;
        trial.j_floor = 0.5 * (low + high);
        evolve(m, &trial, a_end, 0.05, &electrons);
        *(electrons > wanted ? &high : &low) = trial.j_floor;
    }
    return trial.j_floor;
}

enum err start_temperature(const struct mean_cell *m, const struct uv *uv, double a, double *T2)
{
    double electrons;
    if (!(a > A_START))
        FAIL(
            ERR_PARAM,
            "cooling=.true. needs initial conditions after a=%g, where its thermal history begins: "
            "they are at a=%g",
            A_START, a);
    *T2 = evolve(m, uv, a, 0.02, &electrons);
    return OK;
}
