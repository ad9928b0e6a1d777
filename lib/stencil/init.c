/* stencil/init: see init.h. Flows and waves have kx_init waves per box along each axis; lengths of
 * boxes with unequal sides keep the flows free of divergence. */
#include "stencil/init.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"

/* A cell: cosines and sines of its phases 2π kx_init x/lx, …, wave numbers of the axes, and its key
 * for random numbers. */
struct place {
    const struct stencil *t;
    double c[3], s[3], k[3];
    uint64_t key;
    int field; /* first of the fields that are set */
};
/* Values of n fields at a cell, for an amplitude of 1. */
typedef void shape_fn(const struct place *p, int n, double *v);

static enum err check_mesh(const struct stencil *t);
static enum err check_alfven(const struct stencil *t);
static void fill(struct stencil *t, int field, int n, const char *name, double amplitude,
                 double base);

/* ---- shapes ---- */

static struct rng stream(const struct place *p, int i)
{
    enum { PURPOSE = 0x696e6974 }; /* 'init' */
    return rng_make(rng_mix((uint64_t)p->t->par->stencil.seed ^ PURPOSE), p->key,
                    (uint32_t)(p->field + i));
}

static void random_shape(const struct place *p, int n, double *v)
{
    for (int i = 0; i < n; i++) {
        struct rng g = stream(p, i);
        v[i] = 2 * rng_uniform(&g) - 1;
    }
}

static void gaussian_shape(const struct place *p, int n, double *v)
{
    for (int i = 0; i < n; i++) {
        struct rng g = stream(p, i);
        v[i] = rng_normal(&g);
    }
}

/* A wave along x, in u_x and ln rho. */
static void sound_shape(const struct place *p, int n, double *v)
{
    v[0] = p->c[0];
}

static void alfven_u(const struct place *p, int n, double *v)
{
    v[1] = p->c[0];
}

/* The potential A_z of the damped Alfvén wave along x whose velocity is u_y = Re exp(ikx + st). The
 * equation of motion gives A_z = Re μ0 ρ0 (s + νk²)/(k² B_x) exp(ikx + st), where
 * s = −½(ν+η)k² − i sqrt(k²v_A² − ¼(ν−η)²k⁴). Without oscillation it is the slower decay. */
static void alfven_a(const struct place *p, int n, double *v)
{
    const struct fd_par *q = &p->t->eq;
    double k2 = p->k[0] * p->k[0], b = q->bext[0], inertia = q->mu0 * q->rho0;
    double square = k2 * b * b / inertia - pow((q->nu - q->eta) * k2 / 2, 2);
    double real = (q->nu - q->eta) * k2 / 2, imag = 0; /* s + νk² */
    if (square >= 0)
        imag = -sqrt(square);
    else
        real += sqrt(-square);
    v[2] = inertia / (k2 * b) * (real * p->c[0] - imag * p->s[0]);
}

static void beltrami_shape(const struct place *p, int n, double *v)
{
    v[0] = p->c[2];
    v[1] = -p->s[2];
}

static void abc_shape(const struct place *p, int n, double *v)
{
    const double *f = p->t->par->stencil.abc_init;
    v[0] = f[0] * p->s[2] + f[2] * p->c[1];
    v[1] = f[1] * p->s[0] + f[0] * p->c[2];
    v[2] = f[2] * p->s[1] + f[1] * p->c[0];
}

static void roberts_shape(const struct place *p, int n, double *v)
{
    v[0] = -p->c[0] * p->s[1];
    v[1] = p->s[0] * p->c[1] * (p->k[0] / p->k[1]);
    v[2] = M_SQRT2 * p->c[0] * p->c[1];
}

static void taylor_green_shape(const struct place *p, int n, double *v)
{
    v[0] = p->s[0] * p->c[1] * p->c[2];
    v[1] = -p->c[0] * p->s[1] * p->c[2] * (p->k[0] / p->k[1]);
}

static void orszag_tang_u(const struct place *p, int n, double *v)
{
    v[0] = -p->s[1];
    v[1] = p->s[0];
}

static void orszag_tang_a(const struct place *p, int n, double *v)
{
    v[2] = p->c[1] + 0.5 * (p->c[0] * p->c[0] - p->s[0] * p->s[0]);
}

/* A row for each name of init_u, init_a, init_lnrho and init_s. axes: those along which it varies;
 * finest: its highest wave number over kx_init. */
static const struct shape {
    const char *name;
    shape_fn *u, *a, *scalar;
    const char *axes;
    int finest;
} shape[] = {
    {"none", NULL, NULL, NULL, "", 0},
    {"random", random_shape, random_shape, random_shape, "", 0},
    {"gaussian", gaussian_shape, gaussian_shape, gaussian_shape, "", 0},
    {"sound", sound_shape, NULL, sound_shape, "x", 1},
    {"alfven", alfven_u, alfven_a, NULL, "x", 1},
    {"beltrami", beltrami_shape, beltrami_shape, NULL, "z", 1},
    {"abc", abc_shape, abc_shape, NULL, "xyz", 1},
    {"roberts", roberts_shape, roberts_shape, NULL, "xy", 1},
    {"taylor-green", taylor_green_shape, taylor_green_shape, NULL, "xyz", 1},
    {"orszag-tang", orszag_tang_u, orszag_tang_a, NULL, "xy", 2},
};

static const struct shape *shape_of(const char *name)
{
    const struct shape *s = shape;
    while (strcmp(s->name, name) != 0) {
        s++;
        BUG_ON(s == shape + sizeof shape / sizeof *shape); /* stencil.def has other names */
    }
    return s;
}

/* ---- fields ---- */

enum err stencil_initial(struct stencil *t)
{
    const struct param_stencil *p = &t->par->stencil;
    enum err e = check_mesh(t);
    if (e == OK) e = check_alfven(t);
    TRY(err_agree(t->comm, e));
    fill(t, FD_LNRHO, 1, p->init_lnrho, p->amp_lnrho, log(p->rho0));
    fill(t, FD_UX, 3, p->init_u, p->amp_u, 0);
    fill(t, FD_S, 1, p->init_s, p->amp_s, 0);
    fill(t, FD_AX, 3, p->init_a, p->amp_a, 0);
    return err_agree(t->comm, *p->init_file ? stencil_read_file(t) : OK);
}

/* Refuses waves that are finer than two cells. An axis of one cell has none. */
static enum err check_mesh(const struct stencil *t)
{
    const struct param_stencil *p = &t->par->stencil;
    const struct row {
        enum fd_field field;
        const char *parameter, *value;
    } row[] = {{FD_LNRHO, "init_lnrho", p->init_lnrho},
               {FD_UX, "init_u", p->init_u},
               {FD_S, "init_s", p->init_s},
               {FD_AX, "init_a", p->init_a}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const struct shape *s = shape_of(row[i].value);
        if (!t->a.now[row[i].field]) continue;
        for (const char *a = s->axes; *a; a++) {
            int64_t n = t->n[*a - 'x'];
            if (n > 1 && 2 * (int64_t)s->finest * p->kx_init > n)
                FAIL(ERR_PARAM,
                     "stencil_params/%s='%s' with kx_init=%d has %d waves along %c, of which "
                     "n%c=%lld cells hold %lld at most",
                     row[i].parameter, s->name, p->kx_init, s->finest * p->kx_init, *a, *a,
                     (long long)n, (long long)n / 2);
        }
    }
    return OK;
}

static enum err check_alfven(const struct stencil *t)
{
    if (t->a.now[FD_AX] && strcmp(t->par->stencil.init_a, "alfven") == 0 && t->eq.bext[0] == 0)
        FAIL(ERR_PARAM, "stencil_params/init_a='alfven' needs a field along x: set bext(1)");
    return OK;
}

/* Cosines and sines of all own cells along an axis. */
static void phases(const struct stencil *t, int d, double *c, double *s)
{
    const struct brick *b = &t->brick;
    for (int i = 0; i < b->own[d]; i++) {
        int64_t turn = (b->first[d] + i) * t->par->stencil.kx_init % t->n[d];
        double phase = 2 * M_PI * (double)turn / (double)t->n[d];
        c[i] = cos(phase), s[i] = sin(phase);
    }
}

/* Fields to set, and the cosines and sines along each axis. */
struct task {
    struct stencil *t;
    shape_fn *fn; /* NULL: zero */
    int field, n;
    double amplitude, base, *c[3], *s[3];
};

static void fill_row(const struct task *k, int y, int z)
{
    const struct stencil *t = k->t;
    const struct brick *b = &t->brick;
    const double k1 = 2 * M_PI * t->par->stencil.kx_init;
    int64_t row = ((b->first[2] + z) * t->n[1] + b->first[1] + y) * t->n[0] + b->first[0];
    for (int x = 0; x < b->own[0]; x++) {
        struct place p = {.t = t,
                          .c = {k->c[0][x], k->c[1][y], k->c[2][z]},
                          .s = {k->s[0][x], k->s[1][y], k->s[2][z]},
                          .k = {k1 / t->length[0], k1 / t->length[1], k1 / t->length[2]},
                          .key = (uint64_t)(row + x),
                          .field = k->field};
        double v[3] = {0};
        if (k->fn) k->fn(&p, k->n, v);
        for (int i = 0; i < k->n; i++)
            t->a.now[k->field + i][stencil_at(b, x, y, z)] = k->base + k->amplitude * v[i];
    }
}

/* Sets n fields, from `field` on, to base + amplitude times the shape of this name. Equations
 * without the fields are left alone. */
static void fill(struct stencil *t, int field, int n, const char *name, double amplitude,
                 double base)
{
    const struct shape *sh = shape_of(name);
    const struct brick *b = &t->brick;
    struct task k = {.t = t, .field = field, .n = n, .amplitude = amplitude, .base = base};
    k.fn = field == FD_UX ? sh->u : field == FD_AX ? sh->a : sh->scalar;
    if (!t->a.now[field] || b->own[0] == 0) return;
    for (int d = 0; d < 3; d++) {
        k.c[d] = mem_new(sizeof(double) * 2 * (size_t)b->own[d], "initial phases");
        k.s[d] = k.c[d] + b->own[d];
        phases(t, d, k.c[d], k.s[d]);
    }
#pragma omp parallel for collapse(2) schedule(static)
    for (int z = 0; z < b->own[2]; z++)
        for (int y = 0; y < b->own[1]; y++) fill_row(&k, y, z);
    for (int d = 0; d < 3; d++) FREE(k.c[d]);
}
