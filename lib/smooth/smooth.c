/* smooth: kernels by name, the equation of state, the switch of the viscosity in time. */
#include "smooth/smooth.h"

#include "smooth/eos_kern.h"

#define NAME(bar, symbol, name) [SMOOTH_##symbol] = name,
static const char *const kernel_name[] = {SPH_KERNELS(NAME)};
static const char *const eos_name[] = {SPH_EOS(NAME)};
static const char *const switch_name[] = {SPH_SWITCHES(NAME)};
#undef NAME

static const double usual_eta[SMOOTH_KERNELS] = {[SMOOTH_M4] = 1.2, [SMOOTH_M6] = 1.0};

double smooth_support(enum smooth_kernel k)
{
    return kern_support(k);
}

double smooth_eta(enum smooth_kernel k)
{
    return usual_eta[k];
}

const char *smooth_kernel_name(enum smooth_kernel k)
{
    return kernel_name[k];
}

const char *smooth_eos_name(enum smooth_eos e)
{
    return eos_name[e];
}

const char *smooth_switch_name(enum smooth_switch s)
{
    return switch_name[s];
}

double smooth_rho(const struct smooth_par *p, double h)
{
    return smooth_density_of(p, h);
}

void smooth_pressure(const struct smooth_par *p, const struct smooth *s, int64_t i,
                     double *pressure, double *speed)
{
    const double x[3] = {s->x[0][i], s->x[1][i], s->x[2][i]};
    smooth_eos_at(p, smooth_density_of(p, s->h[i]), s->u[i], x, pressure, speed);
}

void smooth_switch(const struct smooth_par *p, struct smooth *s, double dt)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < s->n; i++) {
        double pressure, speed;
        smooth_pressure(p, s, i, &pressure, &speed);
        s->alpha[i] = smooth_alpha_next(p, s->alpha[i], s->alpha_loc[i], s->divv[i], speed, s->h[i],
                                        dt);
    }
}
