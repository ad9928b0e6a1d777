/* chem/species_kern: hydrogen and helium after a sub-step (chem/step_kern.h) by RAMSES's rule: one
 * species after the other, then a normalisation (Anninos et al. 1997). For files of the module
 * alone. */
#pragma once
#include "chem/heat_kern.h"

/* Ionisations of absorber j per second by photons, the background and cosmic rays. */
VEC_INLINE vec chem_photo(const struct chem_par *p, const struct chem_work *w, int j,
                          const vec N[CHEM_GROUPS])
{
    vec rate = p->uv_ion[j] * w->shield;
    for (int g = 0; g < p->groups; g++) rate += p->law.ionise[g][j] * N[g];
    if (p->cosmic_rays && j != CHEM_HEII) rate += chem_cosmic(j);
    return rate;
}

/* Formation of H2 per HI atom, and its destruction, 1/s. */
struct chem_h2 {
    vec make, lose;
};

VEC_INLINE struct chem_h2 chem_h2_rates(const struct chem_given *k, const struct chem_work *w,
                                        const struct chem_place *at, vec photo)
{
    vec nH = k->nH, xHI = w->xHI, xH2 = w->xH2;
    struct chem_h2 r;
    r.make = chem_rate(at, CHEM_DUST_H2) * w->dust * nH + chem_rate(at, CHEM_GAS_H2) * w->ne +
             chem_rate(at, CHEM_THREE_H2) * nH * nH * xHI * (xHI + xH2 * 0.125);
    r.lose = photo + nH * (chem_rate(at, CHEM_BREAK_HI) * xHI + chem_rate(at, CHEM_BREAK_H2) * xH2);
    return r;
}

VEC_INLINE void chem_x_change(const struct chem_par *p, struct chem_work *w, vec now, vec old,
                              enum chem_reason reason)
{
    chem_change(w, vec_abs(now - old), old + CHEM_X_SMALL, p->law.inv_x, reason);
}

VEC_INLINE void chem_hydrogen(const struct chem_par *p, const struct chem_given *k,
                              const struct chem_state *s, struct chem_work *w,
                              struct chem_state *next)
{
    struct chem_place at = chem_place(p->tables, w->T);
    vec h = w->h, xH2 = w->xH2, xHII = s->x[CHEM_XHII];
    struct chem_h2 mol = {.make = vec_of(0), .lose = vec_of(0)};
    if (p->h2) {
        mol = chem_h2_rates(k, w, &at, chem_photo(p, w, CHEM_H2, next->N));
        xH2 = chem_clip((mol.make * w->xHI * h + xH2) / (1 + mol.lose * h), CHEM_X_MIN, 0.5);
    }
    vec back = chem_rate(&at, CHEM_ALPHA_HII + p->law.case_b) * w->ne;
    vec up = chem_rate(&at, CHEM_BETA_HI) * w->ne + chem_photo(p, w, CHEM_HI, next->N);
    vec xHI = ((back * xHII + 2 * mol.lose * xH2) * h + w->xHI) / (1 + (up + 2 * mol.make) * h);
    xHI = chem_clip(xHI, CHEM_X_MIN, 1);
    vec ionised = chem_clip((up * xHI * h + xHII) / (1 + back * h), CHEM_X_MIN, 1);
    vec scale = 1 / (2 * xH2 + xHI + ionised);
    xHI *= scale;
    next->x[CHEM_XHI] = xHI;
    next->x[CHEM_XHII] = ionised * scale;
    chem_x_change(p, w, xHI, w->xHI, CHEM_BY_HYDROGEN);
    chem_x_change(p, w, next->x[CHEM_XHII], xHII, CHEM_BY_HYDROGEN);
    if (p->h2) chem_x_change(p, w, xH2 * scale, w->xH2, CHEM_BY_HYDROGEN);
}

VEC_INLINE void chem_helium(const struct chem_par *p, const struct chem_given *k,
                            const struct chem_state *s, struct chem_work *w,
                            struct chem_state *next)
{
    const int b = p->law.case_b;
    vec ne = chem_electrons(p, k->nH, next->x), h = w->h;
    if (!(p->T_const > 0)) w->T = next->T2 * chem_mu_vec(p, next->x, next->T2);
    struct chem_place at = chem_place(p->tables, w->T);
    vec back1 = chem_rate(&at, CHEM_ALPHA_HEII + b) * ne;
    vec back2 = chem_rate(&at, CHEM_ALPHA_HEIII + b) * ne;
    vec up1 = chem_rate(&at, CHEM_BETA_HEI) * ne + chem_photo(p, w, CHEM_HEI, next->N);
    vec up2 = chem_rate(&at, CHEM_BETA_HEII) * ne + chem_photo(p, w, CHEM_HEII, next->N);
    vec old2 = s->x[CHEM_XHEII], old3 = s->x[CHEM_XHEIII];
    vec x1 = chem_clip((back1 * old2 * h + w->xHeI) / (1 + up1 * h), CHEM_X_MIN, 1);
    vec x2 = ((up1 * w->xHeI + back2 * old3) * h + old2) / (1 + (back1 + up2) * h);
    x2 = chem_clip(x2, CHEM_X_MIN, 1);
    vec x3 = chem_clip((up2 * x2 * h + old3) / (1 + back2 * h), CHEM_X_MIN, 1);
    vec scale = 1 / (x1 + x2 + x3);
    next->x[CHEM_XHEII] = x2 * scale;
    next->x[CHEM_XHEIII] = x3 * scale;
    chem_x_change(p, w, x1 * scale, w->xHeI, CHEM_BY_HELIUM);
    chem_x_change(p, w, next->x[CHEM_XHEII], old2, CHEM_BY_HELIUM);
    chem_x_change(p, w, next->x[CHEM_XHEIII], old3, CHEM_BY_HELIUM);
}

/* The end of a sub-step, of both rules. */
VEC_INLINE void chem_finish(const struct chem_par *p, const struct chem_given *k,
                            struct chem_work *w, struct chem_state *next)
{
    vec ne = chem_electrons(p, k->nH, next->x);
    chem_x_change(p, w, ne, w->ne, CHEM_BY_ELECTRONS);
    if (p->T_const > 0) next->T2 = p->T_const / chem_mu_vec(p, next->x, next->T2);
}

/* A sub-step of h seconds by RAMSES's rule. */
VEC_INLINE void chem_step_ramses(const struct chem_par *p, const struct chem_given *k,
                                 const struct chem_state *s, struct chem_work *w,
                                 struct chem_state *next, vec h)
{
    chem_begin(p, k, s, w, next, h);
    if (p->advect && p->groups > 0) {
        chem_photons(p, k, s, w, next);
        if (p->infrared) chem_reemit(p, w, next->N, next);
    }
    if (p->cooling && !p->T_rad) {
        struct chem_mix m = {.n = w->n, .ion = w->ion, .ne = w->ne, .xH2 = w->xH2, .xHI = w->xHI};
        chem_thermal(p, k, s, w, &m, next->N, next);
    }
    if (p->infrared && !p->T_rad && p->group[0].kappa_abs > 0) chem_dust(p, k, s, w, next);
    chem_hydrogen(p, k, s, w, next);
    if (p->helium) chem_helium(p, k, s, w, next);
    chem_finish(p, k, w, next);
}
