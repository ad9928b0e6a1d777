/* turb/process: see process.h. */
#include "turb/process.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"

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

static double longest(double kappa, double unused)
{
    return kappa > 0 && kappa <= 1 ? 1 : 0;
}

static const struct turb_spectrum spectrum[] = {{"power_law", power_law, 32, false},
                                                {"parabolic", parabolic, 3, false},
                                                {"konstandin", konstandin, 2, false},
                                                {"test", longest, 1, true}};

double turb_weight(const struct turb_spectrum *s, double kappa, const int k[3])
{
    if (s->one && (k[0] != 1 || k[1] != 0 || k[2] != 0)) return 0;
    return s->weight(kappa, 0);
}

enum err turb_spectrum_find(const char *parameter, const char *name,
                            const struct turb_spectrum **out)
{
    for (size_t i = 0; i < sizeof spectrum / sizeof *spectrum; i++)
        if (strcmp(spectrum[i].name, name) == 0) {
            *out = &spectrum[i];
            return OK;
        }
    FAIL(ERR_PARAM,
         "turb_params/%s='%s' must be one of 'power_law', "
         "'parabolic', 'konstandin', 'test'",
         parameter, name);
}

enum err turb_process_check(const struct param_turb *p)
{
    enum { STEPS = 10000 };
    if (!(p->turb_t > 0)) FAIL(ERR_PARAM, "turb_params/turb_t=%g must be > 0", p->turb_t);
    if (p->turb_ndt < 1 || p->turb_ndt > STEPS)
        FAIL(ERR_PARAM, "turb_params/turb_ndt=%d must be 1 .. %d", p->turb_ndt, STEPS);
    if (!(p->comp_frac >= 0 && p->comp_frac <= 1))
        FAIL(ERR_PARAM, "turb_params/comp_frac=%g must be 0 .. 1", p->comp_frac);
    return OK;
}

double turb_process_power(const struct turb_process *o)
{
    double squares = 0;
    for (int i = 0; i < o->modes.n; i++) squares += 2 * o->modes.weight[i] * o->modes.weight[i];
    return sqrt(squares);
}

void turb_modes_free(struct turb_modes *m)
{
    FREE(m->k);
    FREE(m->unit);
    FREE(m->weight);
    m->n = 0;
}

struct turb_process *turb_process_new(const struct param_turb *p, uint64_t seed, int memory,
                                      struct turb_modes *modes)
{
    struct turb_process *o = mem_zero(sizeof *o, "turbulence");
    const size_t n = (size_t)modes->n;
    o->modes = *modes;
    *modes = (struct turb_modes){0};
    o->last = mem_new(sizeof *o->last * n, "turbulence");
    o->next = mem_new(sizeof *o->next * n, "turbulence");
    o->m = -1;
    o->seed = seed;
    o->delta = p->turb_t / p->turb_ndt;
    o->keep = 1 - 1.0 / p->turb_ndt;
    o->along = p->comp_frac, o->across = 1 - p->comp_frac;
    o->first = p->instant_turb ? 5 * (int64_t)p->turb_ndt : 0;
    o->memory = memory * (int64_t)p->turb_ndt;
    return o;
}

void turb_process_free(struct turb_process **out)
{
    struct turb_process *o = *out;
    if (!o) return;
    turb_modes_free(&o->modes);
    FREE(o->last);
    FREE(o->next);
    FREE(*out);
}

/* ---- the process ---- */

/* g_m of mode i: a normal deviate and a random phase for each component, as in RAMSES. */
static void draw(const struct turb_process *o, int i, int64_t m, double g[3][2])
{
    enum { PURPOSE = 0x74757262, AXIS = 17 }; /* 'turb' */
    const int *k = o->modes.k[i];
    uint64_t key = (uint64_t)(m >> 32);
    for (int d = 0; d < 3; d++) key = key << AXIS | (uint64_t)(k[d] + (1 << (AXIS - 1)));
    struct rng r = rng_make(rng_mix(o->seed ^ PURPOSE), key, (uint32_t)m);
    for (int d = 0; d < 3; d++) {
        double size = rng_normal(&r), phase = 2 * M_PI * rng_uniform(&r);
        g[d][0] = size * cos(phase), g[d][1] = size * sin(phase);
    }
}

/* a_m from a_(m-1) */
static void advance(const struct turb_process *o, int i, int64_t m, double a[3][2])
{
    double g[3][2], size = sqrt(o->delta) * o->modes.weight[i];
    const double *unit = o->modes.unit[i];
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
static int64_t origin(const struct turb_process *o, int64_t m)
{
    int64_t block = m / o->memory;
    return block > 0 ? (block - 1) * o->memory : 0;
}

/* a_m; a is a_(m-1), if known. */
static void amplitude(const struct turb_process *o, int i, int64_t m, bool known, double a[3][2])
{
    int64_t from = m;
    if (!known || origin(o, m) != origin(o, m - 1)) {
        memset(a, 0, sizeof(double[3][2]));
        from = origin(o, m);
    }
    for (; from <= m; from++) advance(o, i, from, a);
}

static void move_to(struct turb_process *o, int64_t m)
{
    enum { MANY = 512 }; /* modes that are worth a second thread */
    bool known = o->m >= 0 && m == o->m + 1;
#pragma omp parallel for schedule(static) if (o->modes.n > MANY)
    for (int i = 0; i < o->modes.n; i++) {
        if (known)
            memcpy(o->last[i], o->next[i], sizeof o->last[i]);
        else
            amplitude(o, i, m, false, o->last[i]);
        memcpy(o->next[i], o->last[i], sizeof o->next[i]);
        amplitude(o, i, m + 1, true, o->next[i]);
    }
    o->m = m;
}

void turb_process_move(struct turb_process *o, int64_t m)
{
    while (o->m >= 0 && o->m < m && m - o->m < o->memory) move_to(o, o->m + 1);
    if (o->m != m) move_to(o, m);
}
