/* cool/rates: see rates.h. Rates: Katz, Weinberg & Hernquist (1996), after Cen (1992); collisional
 * ionisation and recombination of hydrogen with the factors of Theuns et al. (1998). */
#include "cool/rates.h"

#include <math.h>
#include <stdbool.h>

#include "base/mem.h"

static const double F_IONISE = 2.0, F_RECOMBINE = 0.75; /* Theuns et al. 1998 */
static const double LEAST = 1e-30;                      /* RAMSES's floor of the Compton rates */
static const double E_HI = 157809.1, E_HEI = 285335.4, E_HEII = 631515.0; /* K */

/* ---- coefficients ---- */

void rates_chemistry(double T, struct rate_coef *c)
{
    double root = sqrt(T), s = 1 + sqrt(T / 1e5);
    double hydrogenic = pow(T / 1e3, -0.2) / (1 + pow(T / 1e6, 0.7)) / root;
    double dielectronic = 1.9e-3 * pow(T, -1.5) * exp(-470000.0 / T) *
                          (1 + 0.3 * exp(-94000.0 / T));
    c->recombine[ION_HI] = F_RECOMBINE * 8.40e-11 * hydrogenic;
    c->recombine[ION_HEI] = 1.50e-10 * pow(T, -0.6353) + dielectronic;
    c->recombine[ION_HEII] = 3.36e-10 * hydrogenic;
    c->ionise[ION_HI] = F_IONISE * 5.85e-11 * root / s * exp(-E_HI / T);
    c->ionise[ION_HEI] = F_IONISE * 2.38e-11 * root / s * exp(-E_HEI / T);
    c->ionise[ION_HEII] = F_IONISE * 5.68e-12 * root / s * exp(-E_HEII / T);
}

void rates_at(double T, struct rate_coef *c)
{
    rates_chemistry(T, c);
    double root = sqrt(T), s = 1 + sqrt(T / 1e5), off = 5.5 - log10(T);
    double hydrogenic = root * pow(T / 1e3, -0.2) / (1 + pow(T / 1e6, 0.7));
    double gaunt = 1.1 + 0.34 * exp(-off * off / 3);
    double dielectronic = 1.24e-13 * pow(T, -1.5) * exp(-470000.0 / T) *
                          (1 + 0.3 * exp(-94000.0 / T));
    c->cool_own[ION_HI] = F_IONISE * 1.27e-21 * root / s * exp(-E_HI / T) +
                          7.50e-19 / s * exp(-118348.0 / T);
    c->cool_own[ION_HEI] = F_IONISE * 9.38e-22 * root / s * exp(-E_HEI / T) +
                           9.10e-27 / s * pow(T, -0.1687) * exp(-13179.0 / T);
    c->cool_own[ION_HEII] = F_IONISE * 4.95e-22 * root / s * exp(-E_HEII / T) +
                            5.54e-17 / s * pow(T, -0.397) * exp(-473638.0 / T);
    c->cool_next[ION_HI] = 1.42e-27 * root * gaunt + 8.70e-27 * hydrogenic;
    c->cool_next[ION_HEI] = 1.42e-27 * root * gaunt + 1.55e-26 * pow(T, 0.3647) + dielectronic;
    c->cool_next[ION_HEII] = 5.68e-27 * root * gaunt + 3.48e-26 * hydrogenic;
}

/* ---- equilibrium ---- */

/* Ions at n_e = x n_H; returns the electrons that they give, and their derivative by x. */
static double ions_at(const struct rate_coef *c, double nH, const struct uv_rates *uv, double x,
                      struct species *s, double *slope)
{
    const double least = 1e-15, y = COOL_HELIUM;
    double ne = fmax(x, least) * nH, b[ION_COUNT], db[ION_COUNT];
    for (int i = 0; i < ION_COUNT; i++) {
        b[i] = c->ionise[i] + uv->ion[i] / ne;
        db[i] = x > least ? -uv->ion[i] / (ne * x) : 0;
    }
    double a1 = c->recombine[ION_HI], a2 = c->recombine[ION_HEI], a3 = c->recombine[ION_HEII];
    double b1 = b[ION_HI], b2 = b[ION_HEI], b3 = b[ION_HEII];
    double sum = a1 + b1, all = a3 * a2 + b2 * a3 + b3 * b2;
    s->e = x;
    s->hi = a1 / sum;
    s->hii = b1 / sum;
    s->hei = y * a3 * a2 / all;
    s->heii = y * b2 * a3 / all;
    s->heiii = y * b3 * b2 / all;
    *slope = a1 / (sum * sum) * db[ION_HI] +
             y * a3 / (all * all) *
                 ((a3 + 2 * b3) * a2 * db[ION_HEI] + b2 * (2 * a2 + b2) * db[ION_HEII]);
    return s->hii + s->heii + 2 * s->heiii;
}

/* Newton's iteration for ln x = ln s(x), where d ln s/d ln x lies in -1..0: without radiation s is
 * constant, and where radiation rules s ∝ 1/x, so it converges from anywhere. */
double species_at(const struct rate_coef *c, double nH, const struct uv_rates *uv, double guess,
                  struct species *s)
{
    const double least = 1e-15;
    double slope, x = guess, given = ions_at(c, nH, uv, least, s, &slope);
    if (given <= least) x = given;
    for (int i = 0; i < 100 && given > least; i++) {
        given = ions_at(c, nH, uv, x, s, &slope);
        double ratio = given / x, p = 1 / (1 - slope / ratio), off = ratio - 1;
        x *= fabs(off) > 0.1 ? pow(ratio, p) : 1 + p * off * (1 + 0.5 * (p - 1) * off);
        if (fabs(off) < 1e-14) break;
    }
    ions_at(c, nH, uv, x, s, &slope);
    s->e = s->hii + s->heii + 2 * s->heiii;
    return 1 / (COOL_X * (s->e + 1 + COOL_HELIUM));
}

/* ---- rates of T2 ---- */

/* Bisection visits temperatures T2 mu of few mu, whatever the density: nodes of a binary tree, in
 * the order of a heap, whose coefficients are kept. */
enum { DEPTH = 14, KEPT = 400 };

struct rate_path {
    double T2;
    int n;
    short at[1 << DEPTH]; /* 1 + place in coef; 0: not visited */
    bool whole[KEPT];
    struct rate_coef coef[KEPT];
};

struct rate_path *rate_path_new(double T2)
{
    struct rate_path *p = mem_zero(sizeof *p, "cooling table");
    p->T2 = T2;
    return p;
}

void rate_path_free(struct rate_path *p)
{
    mem_free(p);
}

static const struct rate_coef *path_at(struct rate_path *p, int node, double T, bool whole,
                                       struct rate_coef *mine)
{
    int k = p && node < 1 << DEPTH ? p->at[node] - 1 : KEPT;
    if (k < 0 && p->n < KEPT) p->at[node] = (short)((k = p->n++) + 1);
    bool old = k >= 0 && k < KEPT && k + 1 == p->at[node] && p->coef[k].recombine[0] > 0;
    struct rate_coef *c = k >= 0 && k < KEPT ? &p->coef[k] : mine;
    if (whole && !(old && p->whole[k])) {
        rates_at(T, c);
        if (c != mine) p->whole[k] = true;
    } else if (!whole && !old) {
        rates_chemistry(T, c);
    }
    return c;
}

/* Rates of the species in g->is. */
static void add_up(struct gas_rates *g, const struct rate_coef *c, double T, double nH,
                   const struct uv_rates *uv, double a)
{
    const struct species *s = &g->is;
    double own[] = {s->hi, s->hei, s->heii}, next[] = {s->hii, s->heii, s->heiii};
    double a4 = a * a * a * a;
    for (int i = 0; i < ION_COUNT; i++) {
        g->cool += s->e * (c->cool_own[i] * own[i] + c->cool_next[i] * next[i]);
        g->heat += uv->heat[i] * own[i] / nH;
    }
    g->compton = fmax(5.406e-36 * T * s->e / a4, LEAST);
    g->compton_heat = fmax(5.406e-36 * 2.726 * s->e / (a4 * a), LEAST);
}

struct gas_rates gas_rates_of(double T, double nH, const struct uv_rates *uv, double a)
{
    struct rate_coef c;
    struct gas_rates g = {0};
    rates_at(T, &c);
    g.mu = species_at(&c, nH, uv, 1, &g.is);
    add_up(&g, &c, T, nH, uv, a);
    return g;
}

/* mu falls with T, so that mu(T2 mu) - mu has one root. RAMSES bisects it and stops at 1e-4; the
 * same interval is used, so that tables agree to rounding. */
static struct gas_rates bisect(struct rate_path *p, double T2, double nH, const struct uv_rates *uv,
                               double a)
{
    struct rate_coef mine;
    struct gas_rates g = {.is.e = 1};
    double low = 0.5, high = 1.3, mid = 0.9;
    int node = 1;
    for (int i = 0; i < 50; i++) {
        mid = 0.5 * (low + high);
        const struct rate_coef *c = path_at(p, node, T2 * mid, false, &mine);
        g.mu = species_at(c, nH, uv, fmax(g.is.e, 1e-12), &g.is);
        double off = (g.mu - mid) / mid;
        if (fabs(off) <= 1e-4) break;
        *(off > 0 ? &low : &high) = mid;
        node = node < 1 << DEPTH ? 2 * node + (off > 0) : node;
    }
    add_up(&g, path_at(p, node, T2 * mid, true, &mine), T2 * mid, nH, uv, a);
    return g;
}

struct gas_rates gas_rates_at(double T2, double nH, const struct uv_rates *uv, double a)
{
    return bisect(NULL, T2, nH, uv, a);
}

struct gas_rates gas_rates_on(struct rate_path *p, double nH, const struct uv_rates *uv, double a)
{
    return bisect(p, p->T2, nH, uv, a);
}

/* ---- metals ---- */

static const struct {
    double logT, log, slope;
} METAL[] = {
#define METAL(logT, log, slope) {logT, log, slope},
#include "cool/metals.def"
};
enum { NMETAL = sizeof METAL / sizeof *METAL };

/* Ions of heavy elements, without the contribution of hydrogen and helium: its value and the value
 * times its slope. */
static double metal_ions(double logT, double *slope)
{
    *slope = 0;
    if (logT < METAL[0].logT) return 0;
    double first = METAL[0].logT, width = METAL[NMETAL - 1].logT - first;
    int i = (int)((logT - first) / width * (NMETAL - 1));
    if (i > NMETAL - 2) i = NMETAL - 2;
    double f = (logT - METAL[i].logT) / (METAL[i + 1].logT - METAL[i].logT);
    double rate = pow(10, METAL[i].log * (1 - f) + METAL[i + 1].log * f);
    *slope = rate * (METAL[i].slope * (1 - f) + METAL[i + 1].slope * f);
    return rate;
}

/* Fine-structure lines in the infrared. */
static double metal_lines(double T, double logT, double *slope)
{
    double rate = pow(10, -31.522879 + 2 * logT - 20 / T - T * 4.342944e-5);
    *slope = rate * (2 + (20 / T - T * 4.342944e-5) * M_LN10);
    return rate;
}

double metal_rate(double T, double u, double *slope)
{
    double logT = log10(T), s1, s2;
    *slope = 0;
    if (logT < 1 || logT >= METAL[NMETAL - 1].logT) return 0;
    double rate = metal_ions(logT, &s1) + metal_lines(T, logT, &s2);
    double power = 0.4 * pow(T / 1e5, 0.15), hot = 10 * exp(-1e6 / T), g = power + hot;
    double f = 1 / (1 + u / g), dg = (0.15 * power + hot * 1e6 / T) / T;
    double df = u / g * f * f * dg / g;
    *slope = (s1 + s2) / rate * f + rate * df; /* so in RAMSES: a rate too small to count */
    return rate * f;
}
