/* hydro/numbers: what a time step asks of the gas of a level: the Courant step and totals.
 *
 * The Courant step is that of one cell, and a product tells of most cells that it is not theirs:
 * with the speed limit V = (C dx − ½ f dt²)/dt of the step dt found so far, f the pull on the cell,
 * 3c + |u| + |v| + |w| < V if 9 γ P ρ < (V ρ − |m|)², m the momentum by its components, without a
 * division or a root. The others are done as point_kern.h has it, so dt has the bits of all cells
 * done so. */
#include <math.h>
#include <omp.h>

#include "hydro/cell_kern.h"
#include "hydro/gas_law.h"
#include "hydro/hydro.h"
#include "hydro/vec4_load.h"
#include "oct/gas_vec.h"

/* ---- the Courant step ---- */

/* Rounding takes less than the first of speeds and steps, and the second of energies. */
static const double MARGIN = 1e-9, MARGIN_ENERGY = 1e-12;

/* A cell with pull f is slow enough not to matter below the speed fast − brake f. */
struct limit {
    double fast, brake;
};

/* s = max(f dx/v², 1e-4) of hydro_speed_dt is less than the sum of both. */
static struct limit limit_of_step(double dt, double dx, double courant)
{
    double way = courant * dx * (1.0 - MARGIN) * (1.0 - 0.5e-4 * courant);
    return (struct limit){way / dt, 0.5 * dt};
}

/* Whether all cells of a half certainly are below the limit: false where rounding might decide, or
 * a product has left the range of numbers. */
static inline bool half_is_slow(const struct level *lv, lidx i, int h, bool gravity,
                                struct limit limit, struct hydro_gas g)
{
    vec4 zero = {0}, r = vec4_max(load_half(lv, FLD_U, i, h), zero + g.smallr);
    vec4 x = load_half(lv, FLD_U + 1, i, h), y = load_half(lv, FLD_U + 2, i, h),
         z = load_half(lv, FLD_U + 3, i, h), e = load_half(lv, FLD_U + GAS_ENERGY, i, h) * r;
    vec4 speed = zero + limit.fast, m = vec4_abs(x) + vec4_abs(y) + vec4_abs(z);
    if (gravity)
        speed -= limit.brake *
                 (vec4_abs(load_half(lv, FLD_FX, i, h)) + vec4_abs(load_half(lv, FLD_FY, i, h)) +
                  vec4_abs(load_half(lv, FLD_FZ, i, h)));
    vec4 kinetic = gas_kinetic4_rho(x, y, z);
    vec4 thermal = (e - kinetic) + MARGIN_ENERGY * (vec4_abs(e) + kinetic);
    vec4 pressure = vec4_max(g.gm1 * thermal, r * r * g.smallp); /* times density */
    vec4 spare = speed * r - m;
    return vec4_all((spare > 0x1p-450) &
                    (9.0 * g.gamma * (1.0 + MARGIN) * pressure < spare * spare));
}

static inline bool oct_is_slow(const struct level *lv, lidx i, bool gravity, struct limit limit,
                               struct hydro_gas g)
{
    return half_is_slow(lv, i, 0, gravity, limit, g) && half_is_slow(lv, i, 1, gravity, limit, g);
}

/* Of octs first to end: the fastest leaf, if it is faster than this. */
static double courant_still(const struct level *lv, lidx first, lidx end, double fastest,
                            struct hydro_gas g)
{
    for (lidx i = first; i < end; i++) {
        const struct limit limit = {fastest * (1.0 - MARGIN), 0.0};
        if (oct_is_slow(lv, i, false, limit, g)) continue;
        const double *r = lv->fld[FLD_U][i], *mx = lv->fld[FLD_U + 1][i],
                     *my = lv->fld[FLD_U + 2][i], *mz = lv->fld[FLD_U + 3][i],
                     *e = lv->fld[FLD_U + GAS_ENERGY][i];
        const lidx *child = lv->child[i];
        double max = 0.0;
#pragma omp simd reduction(max : max)
        for (int c = 0; c < 8; c++) {
            double x = hydro_cell_speed(r[c], mx[c], my[c], mz[c], e[c], g);
            max = hydro_max(child[c] < 0 ? x : 0.0, max);
        }
        fastest = hydro_max(max, fastest);
    }
    return fastest;
}

/* The shortest step of a leaf, if it is shorter than dt. */
static double courant_pulled(const struct level *lv, lidx first, lidx end, double dt, double dx,
                             double courant, struct hydro_gas g)
{
    struct limit limit = limit_of_step(dt, dx, courant);
    for (lidx i = first; i < end; i++) {
        if (oct_is_slow(lv, i, true, limit, g)) continue;
        const double *r = lv->fld[FLD_U][i], *mx = lv->fld[FLD_U + 1][i],
                     *my = lv->fld[FLD_U + 2][i], *mz = lv->fld[FLD_U + 3][i],
                     *e = lv->fld[FLD_U + GAS_ENERGY][i];
        const double *fx = lv->fld[FLD_FX][i], *fy = lv->fld[FLD_FY][i], *fz = lv->fld[FLD_FZ][i];
        const lidx *child = lv->child[i];
        double min = HUGE_VAL;
#pragma omp simd reduction(min : min)
        for (int c = 0; c < 8; c++) {
            double speed = hydro_cell_speed(r[c], mx[c], my[c], mz[c], e[c], g);
            double x = hydro_speed_dt(speed, fabs(fx[c]) + fabs(fy[c]) + fabs(fz[c]), dx, courant);
            min = hydro_min(child[c] < 0 ? x : HUGE_VAL, min);
        }
        if (!(min < dt)) continue;
        dt = min;
        limit = limit_of_step(dt, dx, courant);
    }
    return dt;
}

/* ---- totals ---- */

/* Of the leaves of an oct, each. */
enum { MASS, ENERGY, MOMENTUM, INTERNAL = MOMENTUM + 3, TOTALS };
enum { BLOCK = 256 }; /* octs */

/* All bits set in the cells that are leaves. */
static inline vec4_mask leaves_of(const struct level *lv, lidx i, int h)
{
    typedef lidx links
        __attribute__((vector_size(4 * sizeof(lidx)), may_alias, aligned(sizeof(lidx))));
    return __builtin_convertvector(*(const links *)(lv->child[i] + 4 * h), vec4_mask) < 0;
}

/* By halves, as hydro_sum8. */
static inline double half_sum(vec4 lower, vec4 upper)
{
    vec4 s = lower + upper;
    s += __builtin_shufflevector(s, s, 2, 3, 0, 1);
    return s[0] + s[1];
}

/* Leaf cells of an oct, as masks of its two halves, and the volume of a cell. */
struct of_oct {
    vec4_mask leaf[2];
    double vol;
};

static inline double total_of(const struct of_oct *o, vec4 lower, vec4 upper)
{
    return half_sum((vec4)((vec4_mask)(lower * o->vol) & o->leaf[0]),
                    (vec4)((vec4_mask)(upper * o->vol) & o->leaf[1]));
}

static inline vec4 internal_of(const struct level *lv, lidx i, int h, double smallr)
{
    vec4 r = vec4_max(load_half(lv, FLD_U, i, h), (vec4){0} + smallr);
    return gas_internal4(load_half(lv, FLD_U + GAS_ENERGY, i, h), r, load_half(lv, FLD_U + 1, i, h),
                         load_half(lv, FLD_U + 2, i, h), load_half(lv, FLD_U + 3, i, h));
}

/* As hydro_oct_totals, by vectors: the same operations. Without finer octs all cells are leaves. */
static inline void block_totals(const struct level *lv, lidx first, int n, bool finer, double vol,
                                double x[TOTALS][BLOCK])
{
    static const int field[INTERNAL] = {FLD_U, FLD_U + GAS_ENERGY, FLD_U + GAS_MOMENTUM,
                                        FLD_U + GAS_MOMENTUM + 1, FLD_U + GAS_MOMENTUM + 2};
    for (int k = 0; k < n; k++) {
        lidx i = first + k;
        struct of_oct o = {{{-1, -1, -1, -1}, {-1, -1, -1, -1}}, vol};
        for (int h = 0; h < 2 && finer; h++) o.leaf[h] = leaves_of(lv, i, h);
        for (int q = 0; q < INTERNAL; q++)
            x[q][k] = total_of(&o, load_half(lv, field[q], i, 0), load_half(lv, field[q], i, 1));
    }
}

static void block_internal(const struct level *lv, lidx first, int n, double vol, double smallr,
                           double x[BLOCK])
{
    for (int k = 0; k < n; k++) {
        lidx i = first + k;
        struct of_oct o = {{leaves_of(lv, i, 0), leaves_of(lv, i, 1)}, vol};
        x[k] = total_of(&o, internal_of(lv, i, 0, smallr), internal_of(lv, i, 1, smallr));
    }
}

/* ---- both ---- */

/* Sums of a thread. */
struct part {
    int n; /* of them are wanted */
    struct sum of[TOTALS];
    double x[TOTALS][BLOCK];
};

static void totals_begin(struct part *t, const struct hydro_sums *s)
{
    t->n = 0;
    if (s) t->n = s->internal ? TOTALS : INTERNAL;
    for (int q = 0; q < t->n; q++) sum_init(&t->of[q]);
}

static void totals_add(struct part *t, const struct level *lv, lidx first, int n, double vol,
                       double smallr)
{
    if (lv[1].noct > 0)
        block_totals(lv, first, n, true, vol, t->x);
    else
        block_totals(lv, first, n, false, vol, t->x);
    if (t->n > INTERNAL) block_internal(lv, first, n, vol, smallr, t->x[INTERNAL]);
    for (int q = 0; q < t->n; q++) sum_add_many(&t->of[q], n, t->x[q]);
}

static void totals_join(const struct part *t, const struct hydro_sums *s)
{
    struct sum *all[TOTALS] = {s->mass,         s->energy,       s->momentum,
                               s->momentum + 1, s->momentum + 2, s->internal};
#pragma omp critical(hydro_sums)
    for (int q = 0; q < t->n; q++) sum_join(all[q], &t->of[q]);
}

/* By blocks that stay in the cache from one to the other. */
double hydro_courant(const struct mesh *m, int l, const struct hydro_par *p,
                     const struct hydro_sums *sums)
{
    const struct level *lv = &m->lev[l];
    const struct hydro_gas g = hydro_gas_of(p);
    const double dx = mesh_dx(m, l), vol = dx * dx * dx, courant = p->courant_factor;
    double dt = HUGE_VAL, fastest = 0.0;
#pragma omp parallel reduction(min : dt) reduction(max : fastest)
    {
        struct part t;
        totals_begin(&t, sums);
        int64_t me = omp_get_thread_num(), threads = omp_get_num_threads();
        lidx end = (lidx)(lv->nown * (me + 1) / threads);
        for (lidx i = (lidx)(lv->nown * me / threads); i < end; i += BLOCK) {
            lidx n = end - i < BLOCK ? end - i : BLOCK;
            if (m->gravity)
                dt = courant_pulled(lv, i, i + n, dt, dx, courant, g);
            else
                fastest = courant_still(lv, i, i + n, fastest, g);
            if (sums) totals_add(&t, lv, i, (int)n, vol, p->smallr);
        }
        if (sums) totals_join(&t, sums);
    }
    if (fastest > 0.0) dt = hydro_speed_dt(fastest, 0.0, dx, courant);
    return dt < HUGE_VAL ? hydro_min(dt, courant * dx / p->smallc) : dt;
}
