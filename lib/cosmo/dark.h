/* cosmo/dark: the density of dark energy, as part of Friedmann's equation (cosmo.h). All zero: a
 * cosmological constant. Local.
 *
 * The equation of state w = w0 + wa (1 − a) (Chevallier & Polarski 2001; Linder 2003) multiplies
 * Ω_Λ by a^(−3(1 + w0 + wa)) exp(−3 wa (1 − a)). Early dark energy adds, in units of today's
 * critical density, ede · 2/(1 + (a/a_e)^(3(1 + w_e))): constant before the expansion factor a_e,
 * and then diluted as a fluid of the equation of state w_e. */
#pragma once
#include <stdbool.h>

struct cosmo_dark {
    double w1, wa; /* 1 + w0, and wa */
    double early;  /* density of early dark energy at a_e over that of all else there; 0: none */
    double a_early, w_early;
};

/* Dark energy by the parameters of &CPL_PARAMS and &EDE_PARAMS; ede: whether the latter apply. */
static inline struct cosmo_dark cosmo_dark_of(double w0, double wa, bool ede, double omega_ede,
                                              double z_ede, double w_ede)
{
    struct cosmo_dark d = {.w1 = 1 + w0, .wa = wa};
    if (ede) d.early = omega_ede, d.a_early = 1 / (1 + z_ede), d.w_early = w_ede;
    return d;
}

/* Whether it is a cosmological constant and nothing else. */
static inline bool cosmo_is_lambda(const struct cosmo_dark *d)
{
    return d->w1 == 0 && d->wa == 0 && d->early == 0;
}
