/* fd/derive: values that follow from the fields, by the differences of the equations: rows for maps
 * and profiles, totals for time series, and the signal speed. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "fd/rows.h"

#define VEC_REGISTER /* must precede vec/vec.h */
#include "fd/rhs_kern.h"

const char *const fd_derived_name[FD_DERIVED] = {
#define DERIVED(symbol, name, text) name,
#include "fd/derived.def"
};
const char *const fd_derived_text[FD_DERIVED] = {
#define DERIVED(symbol, name, text) text,
#include "fd/derived.def"
};

/* The equations, and a brick with the arrays of its fields, which are read. */
struct state {
    struct fd_law law;
    const struct brick *brick;
    const double *field[FD_FIELDS];
    bool entropy, magnetic;
};

static struct state state_of(const struct fd_par *p, const struct brick *b,
                             double *const field[FD_FIELDS])
{
    struct state s = {.law = fd_law(p), .brick = b, .entropy = p->entropy, .magnetic = p->magnetic};
    for (int f = 0; f < FD_FIELDS; f++) s.field[f] = field[f] ? field[f] : field[FD_UX];
    return s;
}

/* A vector of cells: its n cells from number `skip` on are those from cell x of row (y, z) on. */
struct part {
    struct fd_cell cell;
    int skip, n;
};

VEC_INLINE struct part part_of(const struct state *s, int x, int y, int z, int n)
{
    const struct brick *b = s->brick;
    struct part v = {.cell.step = {1, b->stride[1], b->stride[2]}, .n = n < VEC ? n : VEC};
    int from = x;
    if (from + VEC > b->own[0]) from = b->own[0] < VEC ? 0 : b->own[0] - VEC;
    v.skip = x - from;
    int64_t at = b->start + from + y * b->stride[1] + z * b->stride[2];
#define FIELD(symbol, name, needs) v.cell.f[FD_##symbol] = s->field[FD_##symbol] + at;
#include "fd/fields.def"
    return v;
}

VEC_INLINE vec length(const vec v[3])
{
    return vec_sqrt(fd_dot(v, v));
}

VEC_INLINE void vorticity(const struct fd_law *p, const int order, const struct fd_cell *c,
                          vec w[3])
{
    FD_AXES(i, w[i] = fd_curl(p, order, c, FD_UX, i););
}

VEC_INLINE void current(const struct fd_law *p, const int order, const struct fd_cell *c, vec j[3])
{
    FD_AXES(i, const struct fd_seconds d = fd_seconds(p, order, c, FD_AX, i);
            j[i] = (d.mixed - d.across) * p->mu0_inv;);
}

VEC_INLINE vec sound2_of(const struct state *s, const struct fd_cell *c)
{
    return fd_sound2(&s->law, s->entropy ? FD_PART_ENTROPY : 0, c);
}

VEC_INLINE vec density(const struct fd_cell *c)
{
    return fd_exp(vec_load(c->f[FD_LNRHO]));
}

/* Values of the flow. */
VEC_INLINE vec flow_value(const struct state *s, const int order, const struct fd_cell *c,
                          const enum fd_derived what)
{
    const struct fd_law *p = &s->law;
    vec u[3], w[3];
    fd_velocity(c, u);
    if (what == FD_RHO) return density(c);
    if (what == FD_PRESSURE) return density(c) * sound2_of(s, c) * s->law.pressure;
    if (what == FD_TEMPERATURE) return sound2_of(s, c) / p->t_inv;
    if (what == FD_SPEED) return length(u);
    if (what == FD_DIVU)
        return fd_first(order, p->first[0], c->f[FD_UX], c->step[0]) +
               fd_first(order, p->first[1], c->f[FD_UY], c->step[1]) +
               fd_first(order, p->first[2], c->f[FD_UZ], c->step[2]);
    vorticity(p, order, c, w);
    if (what == FD_KINETIC_HELICITY) return fd_dot(w, u);
    return what == FD_OX ? w[0] : what == FD_OY ? w[1] : what == FD_OZ ? w[2] : length(w);
}

/* Values of the magnetic field. */
VEC_INLINE vec magnetic_value(const struct state *s, const int order, const struct fd_cell *c,
                              const enum fd_derived what)
{
    const struct fd_law *p = &s->law;
    vec a[3], b[3], j[3];
    fd_magnetic(p, order, c, b);
    if (what == FD_BX || what == FD_BY || what == FD_BZ)
        return what == FD_BX ? b[0] : what == FD_BY ? b[1] : b[2];
    if (what == FD_FIELD) return length(b);
    if (what == FD_MAGNETIC_HELICITY) {
        FD_AXES(i, a[i] = vec_load(c->f[FD_AX + i]););
        return fd_dot(a, b);
    }
    current(p, order, c, j);
    if (what == FD_CURRENT_HELICITY) return fd_dot(j, b);
    return what == FD_JX ? j[0] : what == FD_JY ? j[1] : what == FD_JZ ? j[2] : length(j);
}

static bool of_magnetic_field(enum fd_derived what)
{
    return (what >= FD_BX && what <= FD_CURRENT) || what == FD_MAGNETIC_HELICITY ||
           what == FD_CURRENT_HELICITY;
}

VEC_INLINE void derive(const struct state *s, const int order, enum fd_derived what, const int x[3],
                       int n, double *value)
{
    double some[VEC];
    for (int i = 0; i < n; i += VEC) {
        const struct part v = part_of(s, x[0] + i, x[1], x[2], n - i);
        vec y = of_magnetic_field(what) ? magnetic_value(s, order, &v.cell, what)
                                        : flow_value(s, order, &v.cell, what);
        vec_store(some, y);
        memcpy(value + i, some + v.skip, (size_t)v.n * sizeof *some);
    }
}

/* f(first arguments, the order as a constant, others) */
#define WITH_ORDER(order, f, s, ...)                                                               \
    do {                                                                                           \
        if ((order) == 2)                                                                          \
            f(s, 2, __VA_ARGS__);                                                                  \
        else if ((order) == 4)                                                                     \
            f(s, 4, __VA_ARGS__);                                                                  \
        else if ((order) == 6)                                                                     \
            f(s, 6, __VA_ARGS__);                                                                  \
        else                                                                                       \
            f(s, 8, __VA_ARGS__);                                                                  \
    } while (0)

bool fd_derive(const struct fd_par *p, const struct brick *b, double *const field[FD_FIELDS],
               enum fd_derived what, const int x[3], int n, double *value)
{
    if (of_magnetic_field(what) ? !p->magnetic : what == FD_TEMPERATURE && !p->entropy)
        return false;
    const struct state s = state_of(p, b, field);
    fd_check_room(p, b);
    WITH_ORDER(p->order, derive, &s, what, x, n, value);
    return true;
}

/* Totals. A row of terms of each sum, then exact addition. */
enum { TERMS = 256 };
struct terms {
    double sum[FD_SUMS][TERMS], u2[TERMS], b2[TERMS], rho[TERMS];
};

static void keep(double *to, struct part v, vec x)
{
    double some[VEC];
    vec_store(some, x);
    memcpy(to, some + v.skip, (size_t)v.n * sizeof *some);
}

VEC_INLINE void flow_terms(const struct state *s, const int order, struct part v, int i,
                           struct terms *t)
{
    vec u[3], w[3], rho = density(&v.cell);
    fd_velocity(&v.cell, u);
    vorticity(&s->law, order, &v.cell, w);
    vec u2 = fd_dot(u, u);
    keep(t->u2 + i, v, u2);
    keep(t->rho + i, v, rho);
    keep(t->sum[FD_SUM_U2] + i, v, u2);
    keep(t->sum[FD_SUM_RHO] + i, v, rho);
    keep(t->sum[FD_SUM_EKIN] + i, v, 0.5 * (rho * u2));
    keep(t->sum[FD_SUM_O2] + i, v, fd_dot(w, w));
    keep(t->sum[FD_SUM_OU] + i, v, fd_dot(w, u));
    if (s->entropy) keep(t->sum[FD_SUM_S] + i, v, vec_load(v.cell.f[FD_S]));
}

VEC_INLINE void magnetic_terms(const struct state *s, const int order, struct part v, int i,
                               struct terms *t)
{
    vec a[3], b[3], j[3];
    FD_AXES(d, a[d] = vec_load(v.cell.f[FD_AX + d]););
    fd_magnetic(&s->law, order, &v.cell, b);
    current(&s->law, order, &v.cell, j);
    vec b2 = fd_dot(b, b);
    keep(t->b2 + i, v, b2);
    keep(t->sum[FD_SUM_B2] + i, v, b2);
    keep(t->sum[FD_SUM_J2] + i, v, fd_dot(j, j));
    keep(t->sum[FD_SUM_EMAG] + i, v, b2 * (0.5 * s->law.mu0_inv));
    keep(t->sum[FD_SUM_AB] + i, v, fd_dot(a, b));
    keep(t->sum[FD_SUM_JB] + i, v, fd_dot(j, b));
}

VEC_INLINE void terms_of(const struct state *s, const int order, const int x[3], int n,
                         struct terms *t)
{
    for (int i = 0; i < n; i += VEC) {
        const struct part v = part_of(s, x[0] + i, x[1], x[2], n - i);
        flow_terms(s, order, v, i, t);
        if (s->magnetic) magnetic_terms(s, order, v, i, t);
    }
}

static void add_terms(struct fd_totals *t, const struct terms *e, int n, bool magnetic)
{
    for (int k = 0; k < FD_SUMS; k++) sum_add_many(&t->sum[k], n, e->sum[k]);
    for (int i = 0; i < n; i++) {
        t->umax = fmax(t->umax, e->u2[i]);
        t->rhomin = fmin(t->rhomin, e->rho[i]);
        t->rhomax = fmax(t->rhomax, e->rho[i]);
        if (magnetic) t->bmax = fmax(t->bmax, e->b2[i]);
    }
}

static void join(struct fd_totals *t, const struct fd_totals *other)
{
    for (int k = 0; k < FD_SUMS; k++) sum_join(&t->sum[k], &other->sum[k]);
    t->umax = fmax(t->umax, sqrt(other->umax));
    t->bmax = fmax(t->bmax, sqrt(other->bmax));
    t->rhomin = fmin(t->rhomin, other->rhomin);
    t->rhomax = fmax(t->rhomax, other->rhomax);
}

static void clear(struct fd_totals *t)
{
    for (int k = 0; k < FD_SUMS; k++) sum_init(&t->sum[k]);
    t->umax = t->bmax = t->rhomax = 0;
    t->rhomin = HUGE_VAL;
}

void fd_totals(const struct fd_par *p, const struct brick *b, double *const field[FD_FIELDS],
               struct fd_totals *t)
{
    const struct state s = state_of(p, b, field);
    const int *n = b->own;
    clear(t);
    fd_check_room(p, b);
#pragma omp parallel
    {
        struct terms e;
        struct fd_totals own;
        memset(&e, 0, sizeof e);
        clear(&own);
#pragma omp for schedule(static)
        for (int64_t row = 0; row < (int64_t)n[1] * n[2]; row++)
            for (int x = 0; x < n[0]; x += TERMS) {
                const int at[3] = {x, (int)(row % n[1]), (int)(row / n[1])};
                const int many = n[0] - x < TERMS ? n[0] - x : TERMS;
                WITH_ORDER(p->order, terms_of, &s, at, many, &e);
                add_terms(&own, &e, many, p->magnetic);
            }
#pragma omp critical
        join(t, &own);
    }
}

/* The signal speed of a row. */
VEC_INLINE void speeds(const struct state *s, const int order, const int x[3], int n, double *max)
{
    const struct fd_law *p = &s->law;
    for (int i = 0; i < n; i += VEC) {
        const struct part v = part_of(s, x[0] + i, x[1], x[2], n - i);
        double some[VEC];
        vec_store(some, fd_signal(p, order, &v.cell));
        for (int k = v.skip; k < v.skip + v.n; k++) *max = fd_faster(*max, some[k]);
    }
}

double fd_signal_speed(const struct fd_par *p, const struct brick *b,
                       double *const field[FD_FIELDS])
{
    const struct state s = state_of(p, b, field);
    const int *n = b->own;
    double max = 0;
    bool bad = false;
    fd_check_room(p, b);
#pragma omp parallel for schedule(static) reduction(max : max) reduction(|| : bad)
    for (int64_t row = 0; row < (int64_t)n[1] * n[2]; row++) {
        const int x[3] = {0, (int)(row % n[1]), (int)(row / n[1])};
        double most = 0;
        WITH_ORDER(p->order, speeds, &s, x, n[0], &most);
        bad = bad || isnan(most);
        max = most > max ? most : max;
    }
    return bad ? NAN : max;
}
