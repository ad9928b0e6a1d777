/* chem/step_kern: a sub-step of cells, in vectors on the CPU and for single cells in device kernels
 * (vec/vec.h). The order is that of Rosdahl et al. (2013): photons, temperature, infrared
 * radiation and dust, hydrogen, helium; each uses the newest values. For files of the module alone.
 *
 * A sub-step is refused if a value changes by more than a fraction of itself: 20 % of a photon
 * density, 50 % of a component of a flux, 10 % of T2, of fractions and of the electron density. If
 * no change exceeds half of that, the next sub-step is twice as long. */
#pragma once
#include "base/cgs.h"
#include "chem/par.h"
#include "chem/table_kern.h"

static const double CHEM_T_MIN = 1e-2; /* minimum of T2, K */
static const double CHEM_X_MIN = 1e-20, CHEM_X_SMALL = 1e-6;
static const double CHEM_N_MIN = 1e-50, CHEM_N_SMALL = 1e-13;
static const double CHEM_F_PART = 0.5;
/* ionisation of H2, HI, HeI by cosmic rays, 1/s, and the heat of one (Indriolo et al. 2012, 2015;
 * Glover 2010; Glassgold, Galli & Padovani 2012) */
PTAH_HD double chem_cosmic(int absorber)
{
    return absorber == CHEM_H2   ? 7.525e-16
           : absorber == CHEM_HI ? 4.45e-16
                                 : SINGLE(1.1) * 4.45e-16;
}
static const double CHEM_COSMIC_EV = 10;

/* Variables of a cell; after a sub-step the sums are the contribution of that sub-step. */
struct chem_state {
    vec T2, x[CHEM_FRACTIONS], N[CHEM_GROUPS], F[CHEM_GROUPS][3];
    vec momentum[3], absorbed[CHEM_GROUPS], emitted[CHEM_GROUPS];
};

/* Constants of a cell. */
struct chem_given {
    vec nH, Z, cools, N_rate[CHEM_GROUPS], F_rate[CHEM_GROUPS][3];
    bool smooth;
};

/* Numbers of a sub-step. Fractions xH2, xHI, xHeI and densities are those at its beginning. */
struct chem_work {
    vec h, mu, T, ne, xH2, xHI, xHeI, n[CHEM_ABSORBERS], ion[CHEM_ABSORBERS];
    vec dust;                       /* Z times the part of the gas that has dust */
    vec rho, shield;                /* g/cm³; damping of the background */
    vec kappa_abs, kappa_sc;        /* infrared opacities, cm²/g */
    vec kill[CHEM_GROUPS], scatter; /* absorption rates; scattering rate of group 0, 1/s */
    vec new_photon[CHEM_GROUPS];    /* emission by recombination, 1/cm³/s */
    vec peh;                        /* photo-electric heating, erg/cm³/s */
    vec_bits over[CHEM_REASONS];    /* reasons for refusing the sub-step */
    vec_bits tight;                 /* a change exceeds half of what is allowed */
};

/* The lanes in which a comparison does not hold. */
VEC_INLINE vec_bits chem_not(vec_bits mask)
{
#ifdef VEC_ONE
    return !mask;
#else
    return ~mask;
#endif
}

VEC_INLINE vec chem_clip(vec x, double low, double high)
{
    return vec_min(vec_max(x, vec_of(low)), vec_of(high));
}

/* Judges a change: of a value of the size `size`, at most the part 1/inv is allowed. */
VEC_INLINE void chem_change(struct chem_work *w, vec change, vec size, double inv,
                            enum chem_reason reason)
{
    w->over[reason] |= (vec_bits)(change * inv > size);
    w->tight |= chem_not((vec_bits)(change * (2 * inv) < size));
}

VEC_INLINE vec_bits chem_refused(const struct chem_work *w)
{
    vec_bits any = w->over[0];
    for (int r = 1; r < CHEM_REASONS; r++) any |= w->over[r];
    return any;
}

VEC_INLINE vec chem_mu_vec(const struct chem_par *p, const vec x[CHEM_FRACTIONS], vec T2)
{
    vec neutral = p->h2 ? x[CHEM_XHI] : 1 - x[CHEM_XHII];
    vec particles = p->X * (0.5 + 0.5 * neutral + 1.5 * x[CHEM_XHII]);
    if (p->helium)
        particles += 0.25 * p->Y * (1 + x[CHEM_XHEII] + 2 * x[CHEM_XHEIII]);
    else
        particles += 0.25 * p->Y;
    vec mu = 1 / particles;
    if (p->mu_h2 || p->kappa_T) mu += chem_exp(-(T2 * 1e-3) * (T2 * 1e-3)) * (SINGLE(2.33) - mu);
    return mu;
}

VEC_INLINE vec chem_electrons(const struct chem_par *p, vec nH, const vec x[CHEM_FRACTIONS])
{
    vec ne = nH * x[CHEM_XHII];
    if (p->helium) ne += nH * p->law.he_per_h * (x[CHEM_XHEII] + 2 * x[CHEM_XHEIII]);
    return ne;
}

/* |F| ≤ c N. */
VEC_INLINE void chem_limit_flux(vec F[3], vec cN)
{
    vec F2 = F[0] * F[0] + F[1] * F[1] + F[2] * F[2];
    vec_bits over = (vec_bits)(F2 > cN * cN);
    if (!chem_any(over)) return;
    vec scale = vec_pick(over, cN / vec_sqrt(vec_pick(over, F2, vec_of(1))), vec_of(1));
    for (int i = 0; i < 3; i++) F[i] *= scale;
}

/* The state with legal values. */
VEC_INLINE void chem_enter(const struct chem_par *p, struct chem_state *s)
{
    s->T2 = vec_max(s->T2, vec_of(CHEM_T_MIN));
    for (int i = p->h2 ? CHEM_XHI : CHEM_XHII; i <= (p->helium ? CHEM_XHEIII : CHEM_XHII); i++)
        s->x[i] = chem_clip(s->x[i], CHEM_X_MIN, 1);
    for (int e = p->h2 ? 0 : 2; e < (p->helium ? 4 : 2); e += 2) {
        vec low = s->x[e], high = s->x[e + 1];
        vec_bits over = (vec_bits)(low + high > 1.0), lower = (vec_bits)(low > high);
        s->x[e] = vec_pick(over & lower, 1 - high, low);
        s->x[e + 1] = vec_pick(over & chem_not(lower), 1 - low, high);
    }
    for (int g = 0; g < p->groups; g++) {
        s->N[g] = vec_max(s->N[g], vec_of(CHEM_N_MIN));
        chem_limit_flux(s->F[g], p->law.c * s->N[g]);
    }
}

/* Temperature of all radiation, weighted by opacities; κ of the infrared group follows from it. */
VEC_INLINE vec chem_warm(const struct chem_par *p, const vec N[CHEM_GROUPS])
{
    const double unit = p->c_fraction / RAMSES_RADIATION;
    vec E = p->law.erg[0] * N[0], T = vec_sqrt(vec_sqrt(E * unit));
    vec per = p->group[0].kappa_abs * 0.01 * T * T;
    for (int g = 1; g < p->groups; g++)
        if (p->group[g].kappa_abs > 0) E += p->group[g].kappa_abs / per * p->law.erg[g] * N[g];
    return vec_sqrt(vec_sqrt(E * unit));
}

/* The new state is the old one, and its sums are zero. */
VEC_INLINE void chem_copy(const struct chem_par *p, const struct chem_state *s,
                          struct chem_state *next)
{
    next->T2 = s->T2;
    for (int i = 0; i < CHEM_FRACTIONS; i++) next->x[i] = s->x[i];
    for (int i = 0; i < 3; i++) next->momentum[i] = vec_of(0);
    for (int g = 0; g < p->groups; g++) {
        next->N[g] = s->N[g];
        next->absorbed[g] = next->emitted[g] = vec_of(0);
        for (int i = 0; i < 3; i++) next->F[g][i] = s->F[g][i];
    }
}

VEC_INLINE void chem_begin(const struct chem_par *p, const struct chem_given *k,
                           const struct chem_state *s, struct chem_work *w, struct chem_state *next,
                           vec h)
{
    chem_copy(p, s, next);
    const double he = p->law.he_per_h;
    w->h = h;
    w->xHI = vec_max(p->h2 ? s->x[CHEM_XHI] : 1 - s->x[CHEM_XHII], vec_of(CHEM_X_MIN));
    w->xH2 = w->xHeI = vec_of(0);
    for (int j = 0; j < CHEM_ABSORBERS; j++) w->n[j] = w->ion[j] = vec_of(0);
    if (p->h2) w->xH2 = vec_max((1 - s->x[CHEM_XHI] - s->x[CHEM_XHII]) * 0.5, vec_of(CHEM_X_MIN));
    w->n[CHEM_H2] = k->nH * w->xH2;
    w->n[CHEM_HI] = w->ion[CHEM_H2] = k->nH * w->xHI;
    w->ion[CHEM_HI] = k->nH * s->x[CHEM_XHII];
    if (p->helium) {
        w->xHeI = vec_max(1 - s->x[CHEM_XHEII] - s->x[CHEM_XHEIII], vec_of(CHEM_X_MIN));
        w->n[CHEM_HEI] = k->nH * he * w->xHeI;
        w->n[CHEM_HEII] = w->ion[CHEM_HEI] = k->nH * he * s->x[CHEM_XHEII];
        w->ion[CHEM_HEII] = k->nH * he * s->x[CHEM_XHEIII];
    }
    w->dust = k->Z * (1 - s->x[CHEM_XHII]); /* dust does not survive in ionised gas */
    w->mu = chem_mu_vec(p, s->x, s->T2);
    w->T = p->T_const > 0 ? vec_of(p->T_const) : s->T2 * w->mu;
    w->ne = chem_electrons(p, k->nH, s->x);
    w->shield = p->self_shield ? chem_exp(k->nH * -100) : vec_of(1);
    w->rho = k->nH * p->law.rho_per_h;
    w->scatter = w->peh = vec_of(0);
    w->tight = (vec_bits)(h < 0.0);
    for (int r = 0; r < CHEM_REASONS; r++) w->over[r] = w->tight;
    w->kappa_abs = vec_of(p->groups > 0 ? p->group[0].kappa_abs : 0);
    w->kappa_sc = vec_of(p->groups > 0 ? p->group[0].kappa_sc : 0);
    if (p->kappa_T) {
        vec T = chem_warm(p, s->N), rise = (T * 0.1) * (T * 0.1) * chem_exp(T * -1e-3);
        w->kappa_abs *= rise;
        w->kappa_sc *= rise;
        if (p->T_rad) {
            next->T2 = T / w->mu;
            w->T = T;
        }
    }
}

/* ---- photons ---- */

/* Recombination photons, with the rates of case A less those of case B. */
VEC_INLINE void chem_glow(const struct chem_par *p, struct chem_work *w)
{
    static const int channel[CHEM_ABSORBERS] = {0, CHEM_ALPHA_HII, CHEM_ALPHA_HEII,
                                                CHEM_ALPHA_HEIII};
    struct chem_place at = chem_place(p->tables, w->T);
    for (int j = CHEM_HI; j < (p->helium ? CHEM_ABSORBERS : CHEM_HEI); j++) {
        int g = p->law.recombine_to[j];
        if (g < 0) continue;
        vec rate = chem_rate(&at, channel[j]) - chem_rate(&at, channel[j] + 1);
        w->new_photon[g] += vec_max(rate, vec_of(0)) * w->ion[j] * w->ne;
    }
}

/* Absorption by the electrons of dust grains (Bakes & Tielens 1994; Wolfire et al. 2003), and the
 * heat that they give to the gas. */
VEC_INLINE void chem_grains(const struct chem_par *p, const struct chem_given *k,
                            const struct chem_state *s, struct chem_work *w)
{
    int g = p->peh_group - 1;
    vec field = p->law.erg[g] * s->N[g] * p->law.c / 1.6e-3;
    vec charge = vec_max(field * vec_sqrt(w->T) / w->ne * 2, vec_of(1e-300));
    vec part = 4.87e-2 / (1 + 4e-3 * vec_exp2(SINGLE(0.73) * vec_log2(charge))) +
               3.65e-2 * vec_exp2(SINGLE(0.7) * vec_log2(w->T * 1e-4)) / (1 + 2e-4 * charge);
    w->kill[g] += 8.125e-22 * part * p->law.c * k->nH * w->dust;
    w->peh = 1.3e-24 * part * field * k->nH * w->dust;
}

/* Absorption by gas is added by the caller. */
VEC_INLINE void chem_opacities(const struct chem_par *p, const struct chem_given *k,
                               const struct chem_state *s, struct chem_work *w)
{
    for (int g = 0; g < p->groups; g++) {
        bool infrared = p->infrared && g == 0; /* is exchanged with dust later */
        w->new_photon[g] = vec_of(0);
        w->kill[g] = infrared ? vec_of(0) : p->group[g].kappa_abs * w->rho * w->dust * p->law.c;
    }
    if (p->infrared) w->scatter = w->kappa_sc * w->rho * w->dust * p->law.c;
    if (!p->on_the_spot) chem_glow(p, w);
    if (p->peh_group > 0) chem_grains(p, k, s, w);
}

VEC_INLINE vec chem_absorption(const struct chem_par *p, int g, const vec n[CHEM_ABSORBERS])
{
    const double *c = p->law.absorb[g];
    vec sum = c[CHEM_HI] * n[CHEM_HI];
    if (p->h2) sum += c[CHEM_H2] * n[CHEM_H2];
    if (p->helium) sum += c[CHEM_HEI] * n[CHEM_HEI] + c[CHEM_HEII] * n[CHEM_HEII];
    return sum;
}

VEC_INLINE void chem_flux_changes(const struct chem_par *p, struct chem_work *w, const vec old[3],
                                  const vec now[3])
{
    const double small = CHEM_N_SMALL * p->law.c;
    for (int i = 0; i < 3; i++)
        chem_change(w, vec_abs(now[i] - old[i]), vec_abs(old[i]) + small, 1 / CHEM_F_PART,
                    CHEM_BY_F);
}

/* Momentum of the photons that are absorbed or scattered at the rates of h rate F. */
VEC_INLINE void chem_push(const struct chem_par *p, int g, vec hrate, const vec F[3], vec N,
                          struct chem_state *next)
{
    vec unit = hrate * (p->law.push[g] * p->law.inv_c);
    if (p->iso_press && !(p->infrared && g == 0)) {
        vec size = vec_sqrt(F[0] * F[0] + F[1] * F[1] + F[2] * F[2]);
        vec_bits flows = (vec_bits)(size > 0.0);
        unit = vec_pick(flows, hrate * p->law.push[g] * N / vec_pick(flows, size, vec_of(1)),
                        vec_of(0));
    }
    for (int i = 0; i < 3; i++) next->momentum[i] += F[i] * unit;
}

/* The flux after a sub-step in which photons vanish at the rate hkill/h, so that the part keep of
 * them is left, and the momentum of the gas. */
VEC_INLINE void chem_flow(const struct chem_par *p, const struct chem_given *k,
                          const struct chem_state *s, struct chem_work *w, struct chem_state *next,
                          int g, vec hkill, vec keep)
{
    vec all = hkill;
    if (p->infrared && g == 0) {
        all += w->h * w->scatter;
        keep = 1 / (1 + all);
    }
    for (int i = 0; i < 3; i++) {
        vec F = s->F[g][i];
        if (k->smooth) F += w->h * k->F_rate[g][i];
        next->F[g][i] = F * keep;
    }
    chem_limit_flux(next->F[g], p->law.c * next->N[g]);
    chem_flux_changes(p, w, s->F[g], next->F[g]);
    chem_push(p, g, all, next->F[g], next->N[g], next);
}

/* The photons of a group after a sub-step: by RAMSES's rule with the absorbers at its beginning. */
VEC_INLINE void chem_photons(const struct chem_par *p, const struct chem_given *k,
                             const struct chem_state *s, struct chem_work *w,
                             struct chem_state *next)
{
    chem_opacities(p, k, s, w);
    for (int g = 0; g < p->groups; g++) {
        vec hkill = w->h * (w->kill[g] + chem_absorption(p, g, w->n)), N = s->N[g];
        vec more = w->h * w->new_photon[g], sum = N + more;
        if (k->smooth) sum += w->h * k->N_rate[g];
        vec keep = 1 / (1 + hkill);
        next->N[g] = vec_max(sum * keep, vec_of(CHEM_N_MIN));
        next->absorbed[g] += sum - next->N[g];
        next->emitted[g] += more;
        chem_change(w, vec_abs(next->N[g] - N), N + CHEM_N_SMALL, p->law.inv_N, CHEM_BY_N);
        chem_flow(p, k, s, w, next, g, hkill, keep);
    }
}

/* Dust emits in the infrared what it has absorbed of other groups. */
VEC_INLINE void chem_reemit(const struct chem_par *p, struct chem_work *w, const vec N[CHEM_GROUPS],
                            struct chem_state *next)
{
    for (int g = 1; g < p->groups; g++) {
        double kappa = p->group[g].kappa_abs;
        if (!(kappa > 0)) continue;
        vec more = kappa * w->rho * w->dust * p->law.c * w->h * N[g] * p->law.ratio[g];
        next->N[0] += more;
        next->emitted[0] += more;
    }
}

/* Infrared radiation and the temperature approach each other: both are implicit, with T⁴ linearised
 * (Rosdahl & Teyssier 2015, their equation 85). */
VEC_INLINE void chem_dust(const struct chem_par *p, const struct chem_given *k,
                          const struct chem_state *s, struct chem_work *w, struct chem_state *next)
{
    vec per_C = RAMSES_MH * p->gm1 / CGS_KB * w->mu / w->rho, T = w->T, T3 = T * T * T;
    vec gain = p->law.c * p->law.erg[0] * next->N[0] - RAMSES_C * RAMSES_RADIATION * T3 * T;
    vec dE = gain / (1 / (w->kappa_abs * k->Z * w->rho * w->h) +
                     4 * RAMSES_C * RAMSES_RADIATION * per_C * T3 + p->law.c);
    vec before = next->N[0];
    next->T2 = vec_max(next->T2 + per_C / w->mu * dE, vec_of(CHEM_T_MIN));
    next->N[0] = vec_max(before - dE / p->law.erg[0], vec_of(CHEM_N_MIN));
    next->absorbed[0] += before - next->N[0];
    if (p->rule == CHEM_RAMSES)
        chem_change(w, vec_abs(next->N[0] - s->N[0]), s->N[0] + CHEM_N_SMALL, p->law.inv_N,
                    CHEM_BY_INFRARED);
    chem_change(w, vec_abs(next->T2 - s->T2), s->T2 + p->law.T_small, p->law.inv_T, CHEM_BY_DUST);
    w->T = next->T2 * w->mu;
    chem_limit_flux(next->F[0], p->law.c * next->N[0]);
}
