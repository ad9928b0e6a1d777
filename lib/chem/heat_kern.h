/* chem/heat_kern: heating and cooling of cells, and the step of the temperature (chem/step_kern.h).
 * For files of the module alone. */
#pragma once
#include "chem/step_kern.h"

/* Densities of what absorbs photons and of its products, of electrons, 1/cm³, and fractions per
 * hydrogen nucleus, for the rates of a sub-step. */
struct chem_mix {
    const vec *n, *ion;
    vec ne, xH2, xHI;
};

/* Cooling by metals per n_H² at solar metallicity, and *slope: its derivative by T; that of its
 * suppression by ionising radiation is negligible. */
VEC_INLINE vec chem_metals(const struct chem_par *p, const struct chem_place *at, vec T, vec nH,
                           vec *slope)
{
    const double(*metal)[3] = at->table->metal, first = metal[0][0],
          last = metal[CHEM_METALS - 1][0];
    double index[VEC];
    int low[VEC];
    vec log = at->log2 * CHEM_LOG10_2;
    vec i = vec_round((log - first) * ((CHEM_METALS - 1) / (last - first)) - 0.5);
    vec_store(index, 3 * chem_clip(i, 0, CHEM_METALS - 2));
    for (int k = 0; k < VEC; k++) low[k] = (int)index[k];
    vec left = chem_gather(metal[0], low), right = chem_gather(metal[1], low);
    vec f = (log - left) / (right - left);
    vec ions = vec_exp2(
        (chem_gather(metal[0] + 1, low) * (1 - f) + chem_gather(metal[1] + 1, low) * f) *
        (1 / CHEM_LOG10_2));
    ions = vec_pick((vec_bits)(log < first), vec_of(0), ions);
    vec ions_slope = chem_gather(metal[0] + 2, low) * (1 - f) + chem_gather(metal[1] + 2, low) * f;
    vec cold = 20 / T, hot = T * 4.342944e-5; /* infrared lines of fine structure */
    vec lines = vec_exp2(
        vec_max((-SINGLE(31.522879) + 2 * log - cold - hot) * (1 / CHEM_LOG10_2), vec_of(-1000)));
    vec lines_slope = 2 + (cold - hot) * CHEM_LN10;
    vec guard = SINGLE(0.4) * vec_exp2(SINGLE(0.15) * (at->log2 - 16.60964047443681174)) +
                10 * chem_exp(-1e6 / T);
    vec keep = 1 / (1 + p->law.metal_measure / (nH * guard));
    vec_bits out = (vec_bits)(log < 1.0) | (vec_bits)(log >= last);
    vec rate = vec_pick(out, vec_of(0), (ions + lines) * keep);
    *slope = vec_pick(out, vec_of(0), (ions * ions_slope + lines * lines_slope) * keep * keep / T);
    return rate;
}

/* Cooling without metals, erg/cm³/s, and its derivative by T. */
VEC_INLINE vec chem_cool(const struct chem_par *p, const struct chem_place *at,
                         const struct chem_mix *m, vec T, vec *slope)
{
    const int b = p->on_the_spot;
    vec s0, s1,
        sum = m->n[CHEM_HI] * chem_rate_slope(at, CHEM_COOL_HI, &s0) +
              m->ion[CHEM_HI] * chem_rate_slope(at, CHEM_COOL_HII + b, &s1);
    vec slopes = m->n[CHEM_HI] * s0 + m->ion[CHEM_HI] * s1;
    if (p->helium) {
        vec s2, s3, s4;
        sum += m->n[CHEM_HEI] * chem_rate_slope(at, CHEM_COOL_HEI, &s2);
        sum += m->n[CHEM_HEII] * chem_rate_slope(at, CHEM_COOL_HEII + b, &s3);
        sum += m->ion[CHEM_HEII] * chem_rate_slope(at, CHEM_COOL_HEIII + b, &s4);
        slopes += m->n[CHEM_HEI] * s2 + m->n[CHEM_HEII] * s3 + m->ion[CHEM_HEII] * s4;
    }
    sum = m->ne * (sum + p->law.compton * (T - p->law.T_cmb));
    slopes = m->ne * (slopes + p->law.compton);
    if (p->h2) {
        vec s5, s6, n = m->n[CHEM_H2];
        sum += n * (m->n[CHEM_HI] * chem_rate_slope(at, CHEM_COOL_H2HI, &s5));
        sum += n * (n * chem_rate_slope(at, CHEM_COOL_H2H2, &s6));
        slopes += n * (m->n[CHEM_HI] * s5 + n * s6);
    }
    *slope = slopes;
    return sum;
}

/* Heating by pumping of H2 in the Lyman–Werner bands (Baczynski, Glover & Klessen 2015) and by its
 * formation (Hollenbach & McKee 1979; Omukai 2000), erg/cm³/s. */
VEC_INLINE vec chem_molecules(const struct chem_par *p, const struct chem_given *k,
                              const struct chem_work *w, const struct chem_mix *m,
                              const struct chem_place *at, const vec N[CHEM_GROUPS])
{
    vec T = w->T, root = vec_sqrt(T), nH = k->nH, pump = vec_of(0);
    vec by_h2 = SINGLE(1.4) * m->xH2 * chem_exp(-12000 / (T + 1200));
    vec calm = 1e-12 * root * nH *
               (SINGLE(1.4) * chem_exp(-18100 / (T + 1200)) * m->xH2 +
                chem_exp(-1000 / T) * m->xHI);
    for (int g = 0; g < p->groups; g++)
        if (p->law.pump[g] > 0) pump += p->law.pump[g] * N[g];
    pump *= SINGLE(6.94) * 2 * RAMSES_EV * nH * m->xH2 * calm / (calm + 2e-7);
    vec per_T = 400 / T;
    vec critical = 1e6 / (root * (SINGLE(1.6) * m->xHI * chem_exp(-(per_T * per_T)) + by_h2));
    vec part = 1 / (1 + critical / nH), atoms = nH * m->xHI;
    vec dust = (SINGLE(0.2) + SINGLE(4.2) * part) * chem_rate(at, CHEM_DUST_H2) * w->dust * nH;
    vec gas = SINGLE(3.53) * part * chem_rate(at, CHEM_GAS_H2) * m->ne;
    vec three = SINGLE(4.48) * part * chem_rate(at, CHEM_THREE_H2) * nH * atoms *
                (m->xHI + m->xH2 * 0.125);
    return pump + RAMSES_EV * atoms * (dust + gas + three);
}

/* Heating, erg/cm³/s. */
VEC_INLINE vec chem_heat(const struct chem_par *p, const struct chem_given *k,
                         const struct chem_work *w, const struct chem_mix *m,
                         const struct chem_place *at, const vec N[CHEM_GROUPS])
{
    vec sum = w->peh;
    for (int j = p->h2 ? CHEM_H2 : CHEM_HI; j <= (p->helium ? CHEM_HEII : CHEM_HI); j++) {
        vec each = p->uv_heat[j] * w->shield;
        for (int g = 0; p->advect && g < p->groups; g++) each += p->law.heat[g][j] * N[g];
        sum += each * m->n[j];
    }
    if (p->h2) sum += chem_molecules(p, k, w, m, at, N);
    if (p->cosmic_rays) {
        vec ionised = m->n[CHEM_HI] * chem_cosmic(CHEM_HI);
        if (p->h2) ionised += m->n[CHEM_H2] * chem_cosmic(CHEM_H2);
        if (p->helium) ionised += m->n[CHEM_HEI] * chem_cosmic(CHEM_HEI);
        sum += CHEM_COSMIC_EV * RAMSES_EV * ionised;
    }
    return sum;
}

/* T2 after a sub-step with photons N: implicit, with the linearised cooling rate. */
VEC_INLINE void chem_thermal(const struct chem_par *p, const struct chem_given *k,
                             const struct chem_state *s, struct chem_work *w,
                             const struct chem_mix *m, const vec N[CHEM_GROUPS],
                             struct chem_state *next)
{
    vec slope, metal_slope, T = w->T;
    struct chem_place at = chem_place(p->tables, T);
    vec heat = chem_heat(p, k, w, m, &at, N);
    vec cool = chem_cool(p, &at, m, T, &slope);
    if (chem_any((vec_bits)(k->Z > 0.0))) {
        vec weight = k->Z * k->nH * k->nH;
        cool += weight * chem_metals(p, &at, T, k->nH, &metal_slope);
        slope += weight * metal_slope;
    }
    vec unit = p->law.heat_unit / k->nH, rate = unit * (heat - cool);
    vec first = vec_max(s->T2 + rate * w->h, vec_of(CHEM_T_MIN));
    vec T2 = vec_max(s->T2 + rate * w->h / (1 + unit * slope * w->mu * w->h), vec_of(CHEM_T_MIN));
    vec change = vec_max(vec_abs(first - s->T2), vec_abs(T2 - s->T2));
    vec_bits on = (vec_bits)(k->cools > 0.0);
    chem_change(w, vec_pick(on, change, vec_of(0)), s->T2 + p->law.T_small, p->law.inv_T,
                CHEM_BY_T2);
    next->T2 = vec_pick(on, T2, next->T2);
    w->T = vec_pick(on, T2 * w->mu, w->T);
}
