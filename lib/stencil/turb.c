/* stencil/turb: see turb.h. */
#include "stencil/turb.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"

struct turb {
    struct waves waves;
    double *weight;                      /* [n] w(|k|) */
    double (*unit)[3];                   /* [n] k/|k| */
    double (*last)[3][2], (*next)[3][2]; /* [n] a_m and a_(m+1) */
    int64_t m;                           /* −1: not yet computed */
    uint64_t seed;
    double delta, keep, along, across; /* Δ; 1 − 1/turb_Ndt; shares of both parts */
    double norm;                       /* acceleration over amplitude */
    int64_t first;                     /* m at the start of the run */
    int64_t memory;                    /* steps after which an amplitude is forgotten */
};

/* ---- parameters ---- */

static double power_law(double kappa, double unused)
{
    return kappa > 0 && kappa <= 32 ? 1 / (kappa * kappa) : 0;
}

static double parabolic(double kappa, double unused)
{
    return kappa > 1 && kappa < 3 ? 1 - (kappa - 2) * (kappa - 2) : 0;
}

static double konstandin(double kappa, double unused)
{
    return kappa >= 0.999999999999999 && kappa < 2 ? 2 - kappa : 0;
}

static const struct spectrum {
    const char *name;
    waves_weight *weight;
    double highest; /* |k| */
} spectrum[] = {
    {"power_law", power_law, 32}, {"parabolic", parabolic, 3}, {"konstandin", konstandin, 2}};

static enum err find_spectrum(const char *name, const struct spectrum **out)
{
    for (size_t i = 0; i < sizeof spectrum / sizeof *spectrum; i++)
        if (strcmp(spectrum[i].name, name) == 0) {
            *out = &spectrum[i];
            return OK;
        }
    FAIL(ERR_PARAM,
         "turb_params/forcing_power_spectrum='%s' must be one of 'power_law', "
         "'parabolic', 'konstandin'",
         name);
}

static enum err check(const struct param_turb *p)
{
    enum { STEPS = 10000 };
    if (p->turb_type != 1)
        FAIL(ERR_PARAM,
             "turb_params/turb_type=%d must be 1: other types than evolving turbulence "
             "are not implemented",
             p->turb_type);
    if (!(p->turb_t > 0)) FAIL(ERR_PARAM, "turb_params/turb_t=%g must be > 0", p->turb_t);
    if (p->turb_ndt < 1 || p->turb_ndt > STEPS)
        FAIL(ERR_PARAM, "turb_params/turb_ndt=%d must be 1 .. %d", p->turb_ndt, STEPS);
    if (!(p->comp_frac >= 0 && p->comp_frac <= 1))
        FAIL(ERR_PARAM, "turb_params/comp_frac=%g must be 0 .. 1", p->comp_frac);
    return OK;
}

/* RAMSES's normalisation: the rms of an amplitude over all modes, times a fit of the rms that the
 * projection leaves. */
static double norm_of(const struct turb *o, const struct param_turb *p)
{
    double squares = 0, s = o->across;
    for (int i = 0; i < o->waves.n; i++) squares += 2 * o->weight[i] * o->weight[i];
    double left = 0.797 * s * s - 0.529 * s + 0.568;
    return p->turb_rms / (sqrt(squares) * left * sqrt(p->turb_t / 2));
}

enum err turb_new(const struct stencil *t, struct turb **out)
{
    enum { FORGOTTEN = 42 }; /* exp(-42) is below the precision of numbers */
    const struct param_turb *p = &t->par->turb;
    const struct spectrum *s = NULL;
    TRY(check(p));
    TRY(find_spectrum(p->forcing_power_spectrum, &s));
    struct turb *o = *out = mem_zero(sizeof *o, "turbulence");
    TRY(waves_list(&o->waves, t, s->weight, 0, s->highest, true,
                   "turb_params/forcing_power_spectrum"));
    size_t n = (size_t)o->waves.n;
    o->weight = mem_new(sizeof *o->weight * n, "turbulence");
    o->unit = mem_new(sizeof *o->unit * n, "turbulence");
    o->last = mem_new(sizeof *o->last * n, "turbulence");
    o->next = mem_new(sizeof *o->next * n, "turbulence");
    for (int i = 0; i < o->waves.n; i++) {
        double k[3];
        waves_vector(t, o->waves.k[i], k);
        double length = sqrt(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]);
        for (int d = 0; d < 3; d++) o->unit[i][d] = k[d] / length;
        o->weight[i] = s->weight(o->waves.kappa[i], 0);
    }
    o->m = -1;
    o->seed = (uint64_t)(p->turb_seed >= 0 ? p->turb_seed : t->par->stencil.seed);
    o->delta = p->turb_t / p->turb_ndt;
    o->keep = 1 - 1.0 / p->turb_ndt;
    o->along = p->comp_frac, o->across = 1 - p->comp_frac;
    o->norm = norm_of(o, p);
    o->first = p->instant_turb ? 5 * (int64_t)p->turb_ndt : 0;
    o->memory = FORGOTTEN * (int64_t)p->turb_ndt;
    return OK;
}

void turb_free(struct turb **out)
{
    struct turb *o = *out;
    if (!o) return;
    waves_free(&o->waves);
    FREE(o->weight);
    FREE(o->unit);
    FREE(o->last);
    FREE(o->next);
    FREE(*out);
}

/* ---- the process ---- */

/* g_m of mode i: a normal deviate and a random phase for each component, as in RAMSES. */
static void draw(const struct turb *o, int i, int64_t m, double g[3][2])
{
    enum { PURPOSE = 0x74757262, AXIS = 17 }; /* 'turb' */
    const int *k = o->waves.k[i];
    uint64_t key = (uint64_t)(m >> 32);
    for (int d = 0; d < 3; d++) key = key << AXIS | (uint64_t)(k[d] + (1 << (AXIS - 1)));
    struct rng r = rng_make(rng_mix(o->seed ^ PURPOSE), key, (uint32_t)m);
    for (int d = 0; d < 3; d++) {
        double size = rng_normal(&r), phase = 2 * M_PI * rng_uniform(&r);
        g[d][0] = size * cos(phase), g[d][1] = size * sin(phase);
    }
}

/* a_m from a_(m-1) */
static void advance(const struct turb *o, int i, int64_t m, double a[3][2])
{
    double g[3][2], size = sqrt(o->delta) * o->weight[i];
    const double *unit = o->unit[i];
    draw(o, i, m, g);
    for (int c = 0; c < 2; c++) {
        double dot = unit[0] * g[0][c] + unit[1] * g[1][c] + unit[2] * g[2][c];
        for (int d = 0; d < 3; d++) {
            double along = unit[d] * dot, across = g[d][c] - along;
            a[d][c] = o->keep * a[d][c] + size * (o->along * along + o->across * across);
        }
    }
}

/* The step from whose zero a_m is computed: at least `memory` steps before, unless it is the first
 * of all. */
static int64_t origin(const struct turb *o, int64_t m)
{
    int64_t block = m / o->memory;
    return block > 0 ? (block - 1) * o->memory : 0;
}

/* a_m; a is a_(m-1), if known. */
static void amplitude(const struct turb *o, int i, int64_t m, bool known, double a[3][2])
{
    int64_t from = m;
    if (!known || origin(o, m) != origin(o, m - 1)) {
        memset(a, 0, sizeof(double[3][2]));
        from = origin(o, m);
    }
    for (; from <= m; from++) advance(o, i, from, a);
}

/* Sets last and next to a_m and a_(m+1). */
static void move_to(struct turb *o, int64_t m)
{
    enum { MANY = 512 }; /* modes that are worth a second thread */
    bool known = o->m >= 0 && m == o->m + 1;
#pragma omp parallel for schedule(static) if (o->waves.n > MANY)
    for (int i = 0; i < o->waves.n; i++) {
        if (known)
            memcpy(o->last[i], o->next[i], sizeof o->last[i]);
        else
            amplitude(o, i, m, false, o->last[i]);
        memcpy(o->next[i], o->last[i], sizeof o->next[i]);
        amplitude(o, i, m + 1, true, o->next[i]);
    }
    o->m = m;
}

const struct waves *turb_at(struct turb *o, double time)
{
    double steps = floor(time / o->delta), f = time / o->delta - steps;
    int64_t m = o->first + (int64_t)steps;
    while (o->m >= 0 && o->m < m && m - o->m < o->memory) move_to(o, o->m + 1);
    if (o->m != m) move_to(o, m);
    for (int i = 0; i < o->waves.n; i++)
        for (int d = 0; d < 3; d++)
            for (int c = 0; c < 2; c++)
                o->waves.amp[i][d][c] = 2 * o->norm *
                                        ((1 - f) * o->last[i][d][c] + f * o->next[i][d][c]);
    return &o->waves;
}
