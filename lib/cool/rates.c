#include "cool/rates.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "vec/vec.h"

static const double MIN = 1e-30;   /* RAMSES's lower limit of the Compton rates */
static const double E_MIN = 1e-15; /* n_e/n_H regarded as zero */

/* ---- equilibrium ---- */

/* Ion densities at n_e = x n_H; returns the electrons per n_H that the ions supply, and *slope, the
 * derivative with respect to x. */
static inline double ions_at(const double recombine[ION_COUNT], const double ionise[ION_COUNT],
                             double nH, const struct uv_rates *uv, double x, struct species *s,
                             double *slope)
{
    const double y = COOL_HELIUM;
    double ne = (x > E_MIN ? x : E_MIN) * nH, b[ION_COUNT], db[ION_COUNT];
    for (int i = 0; i < ION_COUNT; i++) {
        b[i] = ionise[i] + uv->ion[i] / ne;
        db[i] = x > E_MIN ? -uv->ion[i] / (ne * x) : 0;
    }
    double a1 = recombine[ION_HI], a2 = recombine[ION_HEI], a3 = recombine[ION_HEII];
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

/* A vector of VEC gases, or one gas. Loops over gases have no branches, so that the compiler can
 * vectorise them; the bits of a gas do not depend on the number of gases. */
struct gases {
    double recombine[ION_COUNT][VEC], ionise[ION_COUNT][VEC], nH[VEC];
    double x[VEC];     /* n_e/n_H: initial guess and result */
    double given[VEC]; /* electrons per n_H that the ions supply at x */
    double slope[VEC]; /* derivative of `given` with respect to x */
    bool moves[VEC];   /* true until the iteration has converged */
    double e[VEC], hi[VEC], hii[VEC], hei[VEC], heii[VEC], heiii[VEC]; /* struct species */
};

static struct species gas_species(const struct gases *g, int k)
{
    return (struct species){g->e[k], g->hi[k], g->hii[k], g->hei[k], g->heii[k], g->heiii[k]};
}

VEC_INLINE double gas_ions(const struct gases *g, int k, const struct uv_rates *uv, double x,
                           struct species *s, double *slope)
{
    double recombine[ION_COUNT], ionise[ION_COUNT];
    for (int i = 0; i < ION_COUNT; i++) {
        recombine[i] = g->recombine[i][k];
        ionise[i] = g->ionise[i][k];
    }
    return ions_at(recombine, ionise, g->nH[k], uv, x, s, slope);
}

/* Newton step for ln x = ln s(x); returns the factor to be applied to x. */
VEC_INLINE double newton(double given, double slope, double x, double *ratio, double *p)
{
    *ratio = given / x;
    *p = 1 / (1 - slope / *ratio);
    double off = *ratio - 1;
    return 1 + *p * off * (1 + 0.5 * (*p - 1) * off);
}

VEC_INLINE bool far(double ratio)
{
    return fabs(ratio - 1) > 0.1;
}

/* Advances all gases by one Newton step; true if any gas has not converged. */
VEC_INLINE bool gases_step(struct gases *g, int n, const struct uv_rates *uv)
{
    double factor[VEC], ratio[VEC], p[VEC];
    struct species s;
    bool any_far = false, any = false;
    for (int k = 0; k < n; k++) {
        g->given[k] = gas_ions(g, k, uv, g->x[k], &s, &g->slope[k]);
        factor[k] = newton(g->given[k], g->slope[k], g->x[k], &ratio[k], &p[k]);
    }
    for (int k = 0; k < n; k++) any_far |= g->moves[k] & far(ratio[k]);
    for (int k = 0; k < n && any_far; k++)
        if (g->moves[k] && far(ratio[k])) factor[k] = pow(ratio[k], p[k]);
    for (int k = 0; k < n; k++) {
        g->x[k] = g->moves[k] ? g->x[k] * factor[k] : g->x[k];
        g->moves[k] &= (g->given[k] > E_MIN) & !(fabs(ratio[k] - 1) < 1e-14);
        any |= g->moves[k];
    }
    return any;
}

/* Iterates all gases to equilibrium. d ln s/d ln x lies in -1..0: without radiation s is constant,
 * and in strong radiation s ∝ 1/x, so the iteration converges from any start. */
VEC_INLINE void gases_settle(struct gases *g, int n, const struct uv_rates *lent)
{
    const struct uv_rates uv = *lent;
    double unused;
    bool any = false;
#pragma omp simd private(unused)
    for (int k = 0; k < n; k++) {
        struct species s;
        g->given[k] = gas_ions(g, k, &uv, E_MIN, &s, &unused);
    }
    for (int k = 0; k < n; k++) {
        g->moves[k] = g->given[k] > E_MIN;
        g->x[k] = g->moves[k] ? g->x[k] : g->given[k];
        any |= g->moves[k];
    }
    for (int i = 0; i < 100 && any; i++) any = gases_step(g, n, &uv);
#pragma omp simd private(unused)
    for (int k = 0; k < n; k++) {
        struct species s;
        gas_ions(g, k, &uv, g->x[k], &s, &unused);
        g->e[k] = s.hii + s.heii + 2 * s.heiii;
        g->hi[k] = s.hi;
        g->hii[k] = s.hii;
        g->hei[k] = s.hei;
        g->heii[k] = s.heii;
        g->heiii[k] = s.heiii;
    }
}

static void settle_one(struct gases *g, const struct uv_rates *uv)
{
    gases_settle(g, 1, uv);
}

static void settle_all(struct gases *g, const struct uv_rates *uv)
{
    gases_settle(g, VEC, uv);
}

static double mu_of(const struct species *s)
{
    return 1 / (RAMSES_HYDROGEN * (s->e + 1 + COOL_HELIUM));
}

static void gas_put(struct gases *g, int k, const struct rate_coef *c, double guess)
{
    for (int i = 0; i < ION_COUNT; i++) {
        g->recombine[i][k] = c->recombine[i];
        g->ionise[i][k] = c->ionise[i];
    }
    g->x[k] = guess;
}

double species_at(const struct rate_coef *c, double nH, const struct uv_rates *uv, double guess,
                  struct species *s)
{
    struct gases g = {.nH = {nH}};
    gas_put(&g, 0, c, guess);
    settle_one(&g, uv);
    *s = gas_species(&g, 0);
    return mu_of(s);
}

/* ---- rates of T2 ---- */

/* Cache of coefficients. Bisection visits temperatures T2 mu for few values of mu, whatever the
 * density and the expansion factor: the nodes of a binary tree, of which those that have been
 * visited exist. */
enum { CACHED = 400, NOWHERE = -1 };

struct path_node {
    int below[2]; /* nodes of the lower and the upper half of the interval; NOWHERE: not visited */
    bool whole;
    struct rate_coef coef;
};

struct rate_path {
    enum atomic_rates atoms;
    double T2;
    int n, room;
    struct path_node *node;
};

struct rate_path *rate_path_new(enum atomic_rates atoms, double T2)
{
    struct rate_path *p = mem_zero(sizeof *p, "cooling table");
    p->atoms = atoms;
    p->T2 = T2;
    return p;
}

void rate_path_free(struct rate_path *p)
{
    if (p) mem_free(p->node);
    mem_free(p);
}

/* A new node for the temperature T; NOWHERE if the cache is full. */
static int path_add(struct rate_path *p, double T)
{
    if (p->n == CACHED) return NOWHERE;
    if (p->n == p->room) {
        p->room = p->room ? 2 * p->room : 16;
        p->node = mem_grow(p->node, sizeof *p->node * (size_t)p->room, "cooling table");
    }
    struct path_node *new = &p->node[p->n];
    new->below[0] = new->below[1] = NOWHERE;
    new->whole = false;
    rates_chemistry(p->atoms, T, &new->coef);
    return p->n++;
}

/* The node of the first interval (from: NOWHERE), or of a half of that of node `from`. */
static int path_go(struct rate_path *p, int from, int half, double T)
{
    if (from == NOWHERE) return p->n > 0 ? 0 : path_add(p, T);
    int at = p->node[from].below[half];
    if (at != NOWHERE) return at;
    at = path_add(p, T);
    p->node[from].below[half] = at;
    return at;
}

static const struct rate_coef *path_whole(struct rate_path *p, int at, double T,
                                          struct rate_coef *mine)
{
    if (at != NOWHERE && p->node[at].whole) return &p->node[at].coef;
    struct rate_coef *c = at != NOWHERE ? &p->node[at].coef : mine;
    rates_at(p->atoms, T, c);
    if (at != NOWHERE) p->node[at].whole = true;
    return c;
}

/* Adds up the rates of the species in g->is. */
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
    g->cool += s->e * s->e * nH * (c->cool_metastable * s->heii);
    g->compton = fmax(5.406e-36 * T * s->e / a4, MIN);
    g->compton_heat = fmax(5.406e-36 * 2.726 * s->e / (a4 * a), MIN);
}

struct gas_rates gas_rates_of(double T, double nH, const struct uv_rates *uv, double a)
{
    struct rate_coef c;
    struct gas_rates g = {0};
    rates_at(uv->atoms, T, &c);
    g.mu = species_at(&c, nH, uv, 1, &g.is);
    add_up(&g, &c, T, nH, uv, a);
    return g;
}

/* Bisection for mu. mu falls with T, so mu(T2 mu) - mu has one root. The intervals and the
 * tolerance of 1e-4 are RAMSES's, so that tables agree to rounding. */
struct bisection {
    double low, high, mid;
    int at, half; /* node of the interval before, and its half that is the interval now */
    bool lost;    /* the node before is not in the cache */
    bool done;
};

static void bisection_narrow(struct bisection *b, double mu)
{
    double off = (mu - b->mid) / b->mid;
    b->done = fabs(off) <= 1e-4;
    if (b->done) return;
    *(off > 0 ? &b->low : &b->high) = b->mid;
    b->half = off > 0;
}

/* Sets gas k to the midpoint of its interval; g->e[k]: electron density of the last solution. */
static void bisection_enter(struct bisection *b, int k, struct rate_path *p, struct gases *g)
{
    struct rate_coef mine;
    double guess = g->e[k] > 1e-12 ? g->e[k] : 1e-12;
    b->mid = 0.5 * (b->low + b->high);
    if (!b->lost) b->at = path_go(p, b->at, b->half, p->T2 * b->mid);
    b->lost = b->at == NOWHERE;
    if (b->lost) rates_chemistry(p->atoms, p->T2 * b->mid, &mine);
    gas_put(g, k, b->lost ? &mine : &p->node[b->at].coef, guess);
}

/* Fewer than VEC gases are padded with copies of the first; a single gas is computed alone. */
void gas_rates_on(struct rate_path *p, const double nH[], int n, const struct uv_rates *uv,
                  double a, struct gas_rates out[])
{
    struct bisection b[VEC];
    struct gases g;
    struct rate_coef mine;
    int filled = n > 1 ? VEC : 1, left = n;
    for (int k = 0; k < filled; k++) {
        b[k] = (struct bisection){.low = 0.5, .high = 1.3, .at = NOWHERE};
        g.nH[k] = nH[k < n ? k : 0];
        g.e[k] = 1;
    }
    for (int i = 0; i < 50 && left > 0; i++) {
        for (int k = 0; k < filled; k++)
            if (!b[k].done) bisection_enter(&b[k], k, p, &g);
        (n > 1 ? settle_all : settle_one)(&g, uv);
        for (int k = 0; k < filled; k++) {
            if (b[k].done) continue;
            const struct species is = gas_species(&g, k);
            double mu = mu_of(&is);
            if (k < n) out[k] = (struct gas_rates){.mu = mu, .is = is};
            bisection_narrow(&b[k], mu);
            left -= k < n && b[k].done;
        }
    }
    for (int k = 0; k < n; k++)
        add_up(&out[k], path_whole(p, b[k].at, p->T2 * b[k].mid, &mine), p->T2 * b[k].mid, nH[k],
               uv, a);
}

struct gas_rates gas_rates_at(double T2, double nH, const struct uv_rates *uv, double a)
{
    struct gas_rates g;
    struct rate_path *p = rate_path_new(uv->atoms, T2);
    gas_rates_on(p, &nH, 1, uv, a, &g);
    rate_path_free(p);
    return g;
}

/* ---- metals ---- */

static const struct {
    double logT, log, slope;
} METAL[] = {
#define METAL(logT, log, slope) {logT, log, slope},
#include "cool/metals.def"
};
enum { NMETAL = sizeof METAL / sizeof *METAL };

/* Cooling by ions of heavy elements, without hydrogen and helium: returns the rate, and in *slope
 * the rate times its logarithmic slope. */
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

/* Cooling by infrared fine-structure lines. */
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
    *slope = (s1 + s2) / rate * f + rate * df; /* as in RAMSES; the last term is tiny */
    return rate * f;
}
