/* chem/law: numbers that follow from parameters, and properties of gas (chem.h). */
#include <math.h>
#include <string.h>

#include "chem/chem.h"
#include "chem/species_kern.h"

/* Ionisation energies of the absorbers, eV; the first dissociates. */
static const double ENERGY[CHEM_ABSORBERS] = {11.20, 13.60, 24.59, 54.42};
static const double LYMAN_WERNER[2] = {11.2, 13.6};
/* Absorption by lines of H2 per photon that dissociates (Nickerson et al. 2018). */
static const double H2_SHIELD = 400;

static const struct {
    double z, phi;
} PHI_ROWS[] = {
#define PHI(z, phi) {SINGLE(z), SINGLE(phi)},
#include "cool/uv.def"
};
enum { NPHI = sizeof PHI_ROWS / sizeof *PHI_ROWS };

/* Strength of the ionising radiation that suppresses cooling by metals, times n_H; intervals are
 * chosen as if z were equidistant, as in RAMSES. */
static double metal_measure(double aexp)
{
    double last = PHI_ROWS[NPHI - 1].z, z = fmax(1 / aexp - 1, 0);
    int i = (int)(fmin(z / last, 1) * (NPHI - 1));
    if (i > NPHI - 2) i = NPHI - 2;
    double f = (fmin(z, last) - PHI_ROWS[i].z) / (PHI_ROWS[i + 1].z - PHI_ROWS[i].z);
    return 1e-4 * (PHI_ROWS[i].phi * (1 - f) + PHI_ROWS[i + 1].phi * f);
}

static bool lyman_werner(const struct chem_group *g)
{
    return g->l0 >= LYMAN_WERNER[0] && g->l0 <= LYMAN_WERNER[1] && g->l1 >= LYMAN_WERNER[0] &&
           g->l1 <= LYMAN_WERNER[1];
}

static void derive_group(struct chem_par *p, int i)
{
    const struct chem_group *g = &p->group[i];
    struct chem_law *law = &p->law;
    bool lines = p->h2 && lyman_werner(g);
    for (int j = 0; j < CHEM_ABSORBERS; j++) {
        bool has = j == CHEM_HI || (j == CHEM_H2 ? p->h2 : p->helium);
        double heat = g->cse[j] * g->egy - g->csn[j] * ENERGY[j];
        law->ionise[i][j] = has ? law->c * g->csn[j] : 0;
        law->absorb[i][j] = law->ionise[i][j] * (lines ? H2_SHIELD : 1);
        law->heat[i][j] = has ? RAMSES_EV * law->c * fmax(heat, 0) : 0;
    }
    law->pump[i] = lines ? law->ionise[i][CHEM_H2] : 0;
    law->erg[i] = g->egy * RAMSES_EV;
    law->ratio[i] = p->infrared ? g->egy / p->group[0].egy : 0;
    double speed = p->rule == CHEM_RAMSES ? RAMSES_C_PUSH : RAMSES_C;
    law->push[i] = law->erg[i] / speed * p->press_boost;
}

/* The largest relative changes in a sub-step. RAMSES rounds them to single precision, so that
 * changes that are just allowed there would be refused here, or the reverse. */
static void derive_limits(struct chem_par *p)
{
    struct chem_law *law = &p->law;
    const bool rounded = p->rule == CHEM_RAMSES;
    law->inv_N = 1 / (rounded ? SINGLE(0.2) : 0.2);
    law->T_small = rounded ? SINGLE(0.1) : 0.1; /* K */
    law->inv_T = law->inv_x = 1 / (rounded ? SINGLE(0.1) : 0.1);
}

static enum err derive_check(const struct chem_par *p)
{
    if (p->groups < 0 || p->groups > CHEM_GROUPS)
        FAIL(ERR_PARAM, "%d groups of photons: at most %d are possible", p->groups, CHEM_GROUPS);
    if (!(p->X > 0 && p->X <= 1 && p->Y >= 0))
        FAIL(ERR_PARAM, "mass fractions X = %g and Y = %g: 0 < X <= 1 and Y >= 0 are needed", p->X,
             p->Y);
    if (p->groups > 0 && !(p->c_fraction > 0 && p->c_fraction <= 1))
        FAIL(ERR_PARAM,
             "rt_c_fraction = %g: the reduced speed of light must be positive and at "
             "most that of light",
             p->c_fraction);
    if (p->infrared && !(p->groups > 0 && p->group[0].egy > 0))
        FAIL(ERR_PARAM, "rt_isIR: group 1 must have a positive energy (group_egy)");
    if (p->infrared && !(p->gm1 > 0))
        FAIL(ERR_PARAM, "rt_isIR: gamma must exceed 1, as dust exchanges heat with the gas");
    if (p->T_rad && !(p->kappa_T && p->infrared))
        FAIL(ERR_PARAM, "rt_T_rad needs rt_isIR and is_kIR_T");
    if (p->kappa_T && !(p->infrared && p->group[0].kappa_abs > 0))
        FAIL(ERR_PARAM, "is_kIR_T needs rt_isIR and a positive kappaAbs of group 1");
    if (p->peh_group < 0 || p->peh_group > p->groups)
        FAIL(ERR_PARAM, "iPEH_group = %d: there are %d groups", p->peh_group, p->groups);
    return OK;
}

enum err chem_derive(struct chem_par *p)
{
    struct chem_law *law = &p->law;
    TRY(derive_check(p));
    memset(law, 0, sizeof *law);
    law->c = p->c_fraction * RAMSES_C;
    law->inv_c = p->groups > 0 ? 1 / law->c : 0;
    for (int g = 0; g < p->groups; g++) derive_group(p, g);
    derive_limits(p);
    law->he_per_h = p->helium ? 0.25 * p->Y / p->X : 0;
    law->rho_per_h = RAMSES_MH / p->X;
    law->heat_unit = p->X / (1.5 * CGS_KB);
    law->T_cmb = SINGLE(2.727) / p->cmb_aexp;
    law->compton = 1.017e-37 * pow(law->T_cmb, 4);
    law->metal_measure = metal_measure(p->aexp);
    law->case_b = p->on_the_spot || !p->advect;
    law->emits = p->advect && (!p->on_the_spot || p->infrared);
    for (int j = 0; j < CHEM_ABSORBERS; j++) {
        int g = p->spec2group[j];
        if (g > p->groups) FAIL(ERR_PARAM, "spec2group: %d of %d groups", g, p->groups);
        law->recombine_to[j] = j == CHEM_H2 ? -1 : g - 1;
    }
    return OK;
}

/* ---- gas ---- */

double chem_mu(const struct chem_par *p, double T2, const double x[CHEM_FRACTIONS])
{
    vec v[CHEM_FRACTIONS];
    for (int i = 0; i < CHEM_FRACTIONS; i++) v[i] = vec_of(x[i]);
    return vec_first(chem_mu_vec(p, v, vec_of(T2)));
}

double chem_temperature(const struct chem_par *p, double T2, const double x[CHEM_FRACTIONS])
{
    return p->T_const > 0 ? p->T_const : T2 * chem_mu(p, T2, x);
}

/* ---- rates at a temperature ---- */

struct chem_rates chem_rates_at(const struct chem_par *p, double T, double nH,
                                const double x[CHEM_FRACTIONS])
{
    static const int ALPHA[3] = {CHEM_ALPHA_HII, CHEM_ALPHA_HEII, CHEM_ALPHA_HEIII};
    static const int BETA[3] = {CHEM_BETA_HI, CHEM_BETA_HEI, CHEM_BETA_HEII};
    struct chem_place at = chem_place(p->tables, vec_of(T));
    struct chem_state s = {.T2 = vec_of(T)}, next;
    struct chem_given k = {.nH = vec_of(nH), .Z = vec_of(0), .cools = vec_of(1)};
    struct chem_work w;
    struct chem_rates r;
    vec slope;
    for (int i = 0; i < 3; i++) {
        r.recombine[i] = vec_first(chem_rate(&at, ALPHA[i] + p->law.case_b));
        r.ionise[i] = vec_first(chem_rate(&at, BETA[i]));
    }
    for (int i = 0; i < CHEM_FRACTIONS; i++) s.x[i] = vec_of(x[i]);
    struct chem_par dark = *p;
    dark.groups = 0;
    dark.kappa_T = false;
    chem_begin(&dark, &k, &s, &w, &next, vec_of(0));
    struct chem_mix m = {.n = w.n, .ion = w.ion, .ne = w.ne, .xH2 = w.xH2, .xHI = w.xHI};
    r.cool = vec_first(chem_cool(p, &at, &m, vec_of(T), &slope));
    return r;
}

/* ---- equilibrium ---- */

/* Densities in equilibrium, per hydrogen nucleus. */
struct equilibrium {
    double e, h2, hi, hii, hei, heii, heiii;
};

/* Coefficients at a temperature. */
struct balance {
    double alpha[3], beta[3], photo[CHEM_ABSORBERS];
    double dust, gas, three, break_hi, break_h2;
};

static struct balance balance_at(const struct chem_par *p, double T,
                                 const double photo[CHEM_ABSORBERS])
{
    static const int ALPHA[3] = {CHEM_ALPHA_HII, CHEM_ALPHA_HEII, CHEM_ALPHA_HEIII};
    static const int BETA[3] = {CHEM_BETA_HI, CHEM_BETA_HEI, CHEM_BETA_HEII};
    struct chem_place at = chem_place(p->tables, vec_of(T));
    struct balance b;
    for (int i = 0; i < 3; i++) {
        b.alpha[i] = vec_first(chem_rate(&at, ALPHA[i] + p->on_the_spot));
        b.beta[i] = vec_first(chem_rate(&at, BETA[i]));
    }
    for (int j = 0; j < CHEM_ABSORBERS; j++)
        b.photo[j] = photo[j] + (p->cosmic_rays && j != CHEM_HEII ? chem_cosmic(j) : 0);
    b.dust = vec_first(chem_rate(&at, CHEM_DUST_H2));
    b.gas = vec_first(chem_rate(&at, CHEM_GAS_H2));
    b.three = vec_first(chem_rate(&at, CHEM_THREE_H2));
    b.break_hi = vec_first(chem_rate(&at, CHEM_BREAK_HI));
    b.break_h2 = vec_first(chem_rate(&at, CHEM_BREAK_H2));
    return b;
}

/* Part of the way that the fraction of H2 goes in an iteration. It leaves time to the electrons of
 * cold gas, which else are too many at the end, and make H2. */
static const double CALM = 0.1;

/* Ratios of rates give the densities at the electron density of the last iteration. */
static void settle_hydrogen(const struct chem_par *p, const struct balance *b, double nH, double Z,
                            double e, struct equilibrium *q)
{
    double up = fmax((b->beta[0] * e * nH + b->photo[CHEM_HI]) / (b->alpha[0] * e * nH), 1e-20);
    double mol = 0; /* n_H2 / n_HI */
    if (p->h2) {
        double make = b->dust * nH * Z * (1 - q->hii) + b->gas * e * nH +
                      b->three * nH * nH * q->hi * (q->hi + q->h2 / 8);
        double lose = nH * (b->break_hi * q->hi + b->break_h2 * q->h2) + b->photo[CHEM_H2];
        mol = make / fmax(lose, 1e-50);
        double h2 = mol > 0 ? 1 / (2 + 1 / mol + up / mol) : 0;
        q->h2 += (p->rule == CHEM_RAMSES ? 1 : CALM) * (h2 - q->h2);
    }
    q->hi = 1 / (1 + up + 2 * mol);
    q->hii = up / (1 + up + 2 * mol);
}

static void settle_helium(const struct chem_par *p, const struct balance *b, double nH, double e,
                          struct equilibrium *q)
{
    double he = p->law.he_per_h, ne = e * nH;
    double first = (b->beta[1] * ne + b->photo[CHEM_HEI]) / (b->alpha[1] * ne);
    double second = (b->beta[2] * ne + b->photo[CHEM_HEII]) / (b->alpha[2] * ne);
    double sum = 1 + first + first * second;
    q->hei = he / sum;
    q->heii = he * first / sum;
    q->heiii = he * first * second / sum;
}

/* Whether fractions depend on the electron density: not if collisions alone make ions. */
static bool needs_electrons(const struct chem_par *p, const struct balance *b)
{
    return p->h2 || b->photo[CHEM_HI] > 0 || b->photo[CHEM_HEI] > 0 || b->photo[CHEM_HEII] > 0;
}

/* Iterates the electron density. In hot gas the fraction of H2, where it destroys itself, swings
 * about the solution; RAMSES then needs up to tens of thousands of iterations, and where it stops
 * shows in the fractions. */
static struct equilibrium settle(const struct chem_par *p, const struct balance *b, double nH,
                                 double Z)
{
    struct equilibrium q = {.e = 1, .hii = 1};
    const double part = needs_electrons(p, b) ? 0.5 : 1;
    double h2 = 0.5;
    for (int i = 0; i < 1000000; i++) {
        double e = fmax(q.e, 1e-15);
        settle_hydrogen(p, b, nH, Z, e, &q);
        if (p->helium) settle_helium(p, b, nH, e, &q);
        double supply = q.hii + q.heii + 2 * q.heiii, off = fabs(q.e - supply);
        double moved = p->h2 ? fabs(q.h2 - h2) : 0;
        q.e += part * (supply - q.e);
        h2 = q.h2;
        if (off <= 1e-8 && moved <= 1e-8) break;
    }
    return q;
}

static double equilibrium_mu(const struct chem_par *p, const struct equilibrium *q)
{
    return 1 / (1 - p->Y) / (q->e + q->h2 + q->hi + q->hii + q->hei + q->heii + q->heiii);
}

double chem_equilibrium(const struct chem_par *p, double T2, double nH, double Z, const double *N,
                        double x[CHEM_FRACTIONS])
{
    double low = 0.5, high = SINGLE(2.3), mu = 0, photo[CHEM_ABSORBERS] = {0};
    double shield = p->self_shield ? exp(-nH / 0.01) : 1;
    struct equilibrium q = {.e = 0};
    const bool fixed = p->T_const > 0 && p->rule != CHEM_RAMSES; /* RAMSES has that of the gas */
    for (int j = 0; j < CHEM_ABSORBERS; j++) {
        photo[j] = p->uv_ion[j] * shield;
        for (int g = 0; N && g < p->groups; g++) photo[j] += p->law.ionise[g][j] * N[g];
    }
    for (int i = 0; i <= 50; i++) {
        double mid = 0.5 * (low + high);
        struct balance b = balance_at(p, fixed ? p->T_const : T2 * mid, photo);
        q = settle(p, &b, nH, Z);
        mu = equilibrium_mu(p, &q);
        double off = (mu - mid) / mid;
        if (fabs(off) <= 1e-4) break;
        *(off > 0 ? &low : &high) = mid;
    }
    double hydrogen = 2 * q.h2 + q.hi + q.hii, helium = q.hei + q.heii + q.heiii;
    x[CHEM_XHI] = q.hi / hydrogen;
    x[CHEM_XHII] = q.hii / hydrogen;
    x[CHEM_XHEII] = helium > 0 ? q.heii / helium : 0;
    x[CHEM_XHEIII] = helium > 0 ? q.heiii / helium : 0;
    return mu;
}
