/* chem/exact_kern: a sub-step that conserves photons and nuclei (chem/step_kern.h). Photons that a
 * rate κ absorbs, and that a source S adds, in h seconds have the mean density
 *
 *     M = ((1 + q/2) N + (1/2 + q/2) h S) / (1 + q + q²/2),   q = h κ,
 *
 * which approximates that of exponential absorption and stays positive. M depends on the densities
 * of what absorbs at the end of the sub-step, which follow from M by backward Euler: n' = chain(n,
 * Γ(M)). This system is iterated, beginning with the densities without photons, from where n'
 * falls monotonically. With the last M, the ionisations h Γ n' are also the photons that vanish, to
 * rounding, however good the iteration is: N + h S - h κ(n') M are left. Heating, momentum and the
 * emission of dust are those of the same photons. The temperature follows.
 *
 * As this is stable for any h, the sub-step is limited by the parts of nuclei that change, not by
 * relative changes of small fractions, and not by changes of photons. For files of the module
 * alone. */
#pragma once
#include "chem/species_kern.h"

enum { EXACT_ITERATIONS = 2 };
/* A fraction may change by 10 % of itself and of this. */
static const double EXACT_X = 0.1;
/* Absorption of more photons than there are that is rounding. Chains of helium can demand more. */
static const double EXACT_DEBT = 1e-15;

/* Rates of a chain a ⇌ b ⇌ c, times h: per b, but b_c and c_b of b and c, a_b of a. */
struct exact_rates {
    vec ab, ba, bc, cb;
};

/* Backward Euler of a chain of three states, with one division; atoms: nuclei per a, of which b has
 * one. All terms are positive. */
VEC_INLINE void exact_chain(const struct exact_rates *r, double atoms, vec *a, vec *b, vec *c)
{
    vec left = 1 + r->ab, right = 1 + r->cb, both = left * right;
    vec all = both + atoms * r->ba * right + r->bc * left, per = 1 / (all * both);
    *b = (*b * both + atoms * r->ab * right * *a + r->cb * left * *c) * (both * per);
    *a = (*a + r->ba * *b) * (right * all * per);
    *c = (*c + r->bc * *b) * (left * all * per);
}

/* Of two states. */
VEC_INLINE void exact_pair(vec up, vec down, vec *b, vec *c)
{
    vec per = 1 / (1 + up + down), sum = *b + *c;
    *b = (*b + down * sum) * per;
    *c = (*c + up * sum) * per;
}

/* Rates times h without photons, those with electrons per electron density; the density of
 * electrons of the iteration; fractions of H2, HI, HII, HeI, HeII, HeIII. */
struct exact_gas {
    struct exact_rates h, he;
    vec ne, used, x[6]; /* used: electrons of these fractions */
};

VEC_INLINE void exact_begin(const struct chem_par *p, const struct chem_given *k,
                            const struct chem_work *w, struct exact_gas *gas)
{
    const int b = p->law.case_b;
    struct chem_place at = chem_place(p->tables, w->T);
    vec h = w->h;
    gas->ne = w->ne;
    gas->h.ab = gas->h.ba = vec_of(0);
    if (p->h2) {
        struct chem_h2 mol = chem_h2_rates(k, w, &at, vec_of(0));
        gas->h.ab = h * mol.lose;
        gas->h.ba = h * mol.make;
    }
    gas->h.bc = h * chem_rate(&at, CHEM_BETA_HI);
    gas->h.cb = h * chem_rate(&at, CHEM_ALPHA_HII + b);
    if (!p->helium) return;
    gas->he.ab = h * chem_rate(&at, CHEM_BETA_HEI);
    gas->he.ba = h * chem_rate(&at, CHEM_ALPHA_HEII + b);
    gas->he.bc = h * chem_rate(&at, CHEM_BETA_HEII);
    gas->he.cb = h * chem_rate(&at, CHEM_ALPHA_HEIII + b);
}

/* Fractions at the end, ionised by photons N, and the densities n of what absorbs. As recombination
 * makes the new electron density fall with that of the iteration, the geometric mean converges. */
VEC_INLINE void exact_ionise(const struct chem_par *p, const struct chem_given *k,
                             const struct chem_state *s, const struct chem_work *w,
                             struct exact_gas *gas, const vec N[CHEM_GROUPS], vec n[CHEM_ABSORBERS])
{
    struct exact_rates h = gas->h;
    vec *x = gas->x, ne = gas->used = gas->ne;
    x[0] = w->xH2;
    x[1] = w->xHI;
    x[2] = s->x[CHEM_XHII];
    if (p->h2) h.ab += w->h * chem_photo(p, w, CHEM_H2, N);
    h.bc = h.bc * ne + w->h * chem_photo(p, w, CHEM_HI, N);
    h.cb *= ne;
    if (p->h2)
        exact_chain(&h, 2, &x[0], &x[1], &x[2]);
    else
        exact_pair(h.bc, h.cb, &x[1], &x[2]);
    n[CHEM_H2] = k->nH * x[0];
    n[CHEM_HI] = k->nH * x[1];
    vec electrons = k->nH * x[2];
    if (p->helium) {
        struct exact_rates he = gas->he;
        vec nHe = k->nH * p->law.he_per_h;
        x[3] = w->xHeI;
        x[4] = s->x[CHEM_XHEII];
        x[5] = s->x[CHEM_XHEIII];
        he.ab = he.ab * ne + w->h * chem_photo(p, w, CHEM_HEI, N);
        he.bc = he.bc * ne + w->h * chem_photo(p, w, CHEM_HEII, N);
        he.ba *= ne;
        he.cb *= ne;
        exact_chain(&he, 1, &x[3], &x[4], &x[5]);
        n[CHEM_HEI] = nHe * x[3];
        n[CHEM_HEII] = nHe * x[4];
        electrons += nHe * (x[4] + 2 * x[5]);
    }
    gas->ne = vec_sqrt(ne * electrons);
}

/* The factors of what was there and of what is added in the mean. */
struct exact_mean {
    vec was, more;
};

/* Photons of a sub-step: at its beginning, what is added, the mean with its q and factors. */
struct exact_light {
    vec was[CHEM_GROUPS], more[CHEM_GROUPS], N[CHEM_GROUPS], q[CHEM_GROUPS];
    struct exact_mean mean[CHEM_GROUPS];
};

VEC_INLINE struct exact_mean exact_mean(vec q)
{
    vec half = 0.5 * q, all = 1 / (1 + q + half * q);
    return (struct exact_mean){.was = (1 + half) * all, .more = (0.5 + half) * all};
}

VEC_INLINE void exact_shine(const struct chem_par *p, const struct chem_work *w,
                            const vec n[CHEM_ABSORBERS], struct exact_light *light)
{
    for (int g = 0; g < p->groups; g++) {
        light->q[g] = w->h * (w->kill[g] + chem_absorption(p, g, n));
        struct exact_mean m = light->mean[g] = exact_mean(light->q[g]);
        light->N[g] = light->was[g] * m.was + light->more[g] * m.more;
    }
}

/* Solves the system; n: densities at the end. */
VEC_INLINE void exact_solve(const struct chem_par *p, const struct chem_given *k,
                            const struct chem_state *s, struct chem_work *w,
                            struct exact_light *light, struct exact_gas *gas, vec n[CHEM_ABSORBERS])
{
    bool shines = p->advect && p->groups > 0;
    exact_begin(p, k, w, gas);
    for (int j = 0; j < CHEM_ABSORBERS; j++) n[j] = vec_of(0);
    for (int g = 0; g < p->groups; g++) light->N[g] = vec_of(0);
    exact_ionise(p, k, s, w, gas, light->N, n);
    if (shines) chem_opacities(p, k, s, w);
    for (int g = 0; shines && g < p->groups; g++) {
        light->was[g] = s->N[g];
        light->more[g] = w->h * (k->smooth ? w->new_photon[g] + k->N_rate[g] : w->new_photon[g]);
    }
    for (int i = 0; i < EXACT_ITERATIONS; i++) {
        if (shines) exact_shine(p, w, n, light);
        exact_ionise(p, k, s, w, gas, light->N, n);
    }
}

/* The rest of a group, its flux, and the momentum of the gas. */
VEC_INLINE void exact_leave(const struct chem_par *p, const struct chem_given *k,
                            const struct chem_state *s, struct chem_work *w,
                            const struct exact_light *light, const vec n[CHEM_ABSORBERS],
                            struct chem_state *next, int g)
{
    vec sum = light->was[g] + light->more[g];
    vec q = w->h * (w->kill[g] + chem_absorption(p, g, n)), gone = q * light->N[g];
    chem_change(w, gone - sum, sum, 1 / EXACT_DEBT, CHEM_BY_N);
    next->N[g] = vec_max(sum - gone, vec_of(CHEM_N_MIN));
    next->absorbed[g] = gone;
    next->emitted[g] = w->h * w->new_photon[g];
    struct exact_mean m = light->mean[g];
    if (p->infrared && g == 0) {
        q += w->h * w->scatter;
        m = exact_mean(light->q[g] + w->h * w->scatter);
    }
    vec mean[3];
    for (int i = 0; i < 3; i++) {
        vec was = s->F[g][i], more = k->smooth ? w->h * k->F_rate[g][i] : vec_of(0);
        mean[i] = was * m.was + more * m.more;
        next->F[g][i] = was + more - q * mean[i];
    }
    chem_limit_flux(next->F[g], p->law.c * next->N[g]);
    chem_push(p, g, q, mean, light->N[g], next);
}

/* Judges the changes of fractions and of the electron density. */
VEC_INLINE void exact_judge(const struct chem_par *p, const struct chem_state *s,
                            struct chem_work *w, const struct exact_gas *gas)
{
    const vec *x = gas->x, xHII = s->x[CHEM_XHII], small = vec_of(EXACT_X);
    const double inv = p->law.inv_x;
    chem_change(w, vec_abs(x[1] - w->xHI), w->xHI + small, inv, CHEM_BY_HYDROGEN);
    chem_change(w, vec_abs(x[2] - xHII), xHII + small, inv, CHEM_BY_HYDROGEN);
    if (p->h2) chem_change(w, vec_abs(x[0] - w->xH2), w->xH2 + small, inv, CHEM_BY_HYDROGEN);
    if (!p->helium) return;
    vec two = s->x[CHEM_XHEII], three = s->x[CHEM_XHEIII];
    chem_change(w, vec_abs(x[3] - w->xHeI), w->xHeI + small, inv, CHEM_BY_HELIUM);
    chem_change(w, vec_abs(x[4] - two), two + small, inv, CHEM_BY_HELIUM);
    chem_change(w, vec_abs(x[5] - three), three + small, inv, CHEM_BY_HELIUM);
}

/* The rates of the whole step that remove photons act at its beginning, together with those of the
 * flux: absorption in the step could otherwise leave fewer photons than they remove. */
VEC_INLINE void exact_enter(const struct chem_par *p, struct chem_state *s, struct chem_given *k,
                            vec dt)
{
    for (int g = 0; k->smooth && g < p->groups; g++) {
        vec_bits out = (vec_bits)(k->N_rate[g] < 0.0);
        s->N[g] = vec_max(s->N[g] + vec_pick(out, dt * k->N_rate[g], vec_of(0)),
                          vec_of(CHEM_N_MIN));
        k->N_rate[g] = vec_pick(out, vec_of(0), k->N_rate[g]);
        for (int i = 0; i < 3; i++) {
            s->F[g][i] += vec_pick(out, dt * k->F_rate[g][i], vec_of(0));
            k->F_rate[g][i] = vec_pick(out, vec_of(0), k->F_rate[g][i]);
        }
        chem_limit_flux(s->F[g], p->law.c * s->N[g]);
    }
}

/* A sub-step of h seconds. */
VEC_INLINE void chem_step_exact(const struct chem_par *p, const struct chem_given *k,
                                const struct chem_state *s, struct chem_work *w,
                                struct chem_state *next, vec h)
{
    const double he = p->law.he_per_h;
    struct exact_light light;
    struct exact_gas gas;
    vec n[CHEM_ABSORBERS], ion[CHEM_ABSORBERS];
    for (int i = 0; i < 6; i++) gas.x[i] = vec_of(0);
    chem_begin(p, k, s, w, next, h);
    exact_solve(p, k, s, w, &light, &gas, n);
    exact_judge(p, s, w, &gas);
    bool shines = p->advect && p->groups > 0;
    for (int g = 0; shines && g < p->groups; g++) exact_leave(p, k, s, w, &light, n, next, g);
    if (shines && p->infrared) chem_reemit(p, w, light.N, next);
    static const int from[CHEM_FRACTIONS] = {1, 2, 4, 5};
    for (int i = 0; i < (p->helium ? CHEM_FRACTIONS : CHEM_XHEII); i++)
        next->x[i] = chem_clip(gas.x[from[i]], CHEM_X_MIN, 1);
    ion[CHEM_H2] = n[CHEM_HI];
    ion[CHEM_HI] = k->nH * gas.x[2];
    ion[CHEM_HEI] = n[CHEM_HEII];
    ion[CHEM_HEII] = p->helium ? k->nH * he * gas.x[5] : vec_of(0);
    vec ne = chem_electrons(p, k->nH, next->x);
    chem_change(w, vec_abs(ne - w->ne), w->ne + EXACT_X * k->nH, p->law.inv_x, CHEM_BY_ELECTRONS);
    if (p->cooling && !p->T_rad && !(p->T_const > 0)) {
        struct chem_mix m = {.n = n, .ion = ion, .ne = ne, .xH2 = gas.x[0], .xHI = gas.x[1]};
        chem_thermal(p, k, s, w, &m, shines ? light.N : next->N, next);
    }
    if (p->infrared && !p->T_rad && p->group[0].kappa_abs > 0) chem_dust(p, k, s, w, next);
    if (p->T_const > 0) next->T2 = p->T_const / chem_mu_vec(p, next->x, next->T2);
}
