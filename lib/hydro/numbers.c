/* hydro/numbers: reductions over the gas of a level for a time step: the Courant step and totals.
 *
 * The Courant step is set by one cell, and a product shows for most cells that it is another: with
 * the speed limit V = (C dx − ½ f dt²)/dt of the smallest step dt so far, f the acceleration of the
 * cell, n the number of dimensions,
 * n c + |u| + |v| + |w| < V if n² γ P ρ < (V ρ − |m|)², m the momentum by its components,
 * without a division or a root. The remaining cells are evaluated by point_kern.h, so dt has the
 * bits of an evaluation of all cells. */
#include <math.h>
#include <omp.h>

#include "base/mem.h"
#include "hydro/cell_kern.h"
#include "hydro/gas_law.h"
#include "hydro/hydro.h"
#include "hydro/vec4_load.h"
#include "oct/gas_vec.h"
#include "patch/courant.h"

/* ---- the Courant step ---- */

/* Relative margins for rounding of speeds and steps, and of energies. */
static const double MARGIN = 1e-9, MARGIN_ENERGY = 1e-12;

/* A cell of acceleration f cannot lower the step if its speed is below fast − brake f. */
struct limit {
    double fast, brake;
};

/* Speed limit of a step. s = max(f dx/v², 1e-4) of hydro_speed_dt is less than the sum of both
 * terms. */
static struct limit limit_of_step(double dt, double dx, double courant)
{
    double way = courant * dx * (1.0 - MARGIN) * (1.0 - 0.5e-4 * courant);
    return (struct limit){way / dt, 0.5 * dt};
}

/* Half h of an oct; of joint = 2 octs the first two cells each. */
INLINE vec4 load_cells(const struct level *lv, int field, lidx i, int h, int joint)
{
    typedef double two __attribute__((vector_size(16), may_alias, aligned(8)));
    if (joint < 2) return load_half(lv, field, i, h);
    const two a = *(const two *)lv->fld[field][i], b = *(const two *)lv->fld[field][i + 1];
    return __builtin_shufflevector(a, b, 0, 1, 2, 3);
}

/* Which cells of a half (load_cells) are certainly below the limit: none where rounding might
 * decide, or a product overflows or underflows. most: what driven turbulence accelerates them at
 * most. */
INLINE vec4_mask half_is_slow(const struct level *lv, lidx i, int h, int joint, bool gravity,
                              double most, struct limit limit, struct hydro_gas g)
{
    vec4 zero = {0}, r = vec4_max(load_cells(lv, FLD_U, i, h, joint), zero + g.smallr);
    vec4 x = load_cells(lv, FLD_U + 1, i, h, joint),
         y = g.ndim > 1 ? load_cells(lv, FLD_U + 2, i, h, joint) : zero,
         z = g.ndim > 2 ? load_cells(lv, FLD_U + 3, i, h, joint) : zero,
         e = load_cells(lv, FLD_U + GAS_ENERGY, i, h, joint) * r;
    vec4 speed = zero + limit.fast, m = vec4_abs(x) + vec4_abs(y) + vec4_abs(z);
    if (most > 0) speed -= limit.brake * most;
    if (gravity)
        speed -= limit.brake * (vec4_abs(load_cells(lv, FLD_FX, i, h, joint)) +
                                vec4_abs(load_cells(lv, FLD_FY, i, h, joint)) +
                                vec4_abs(load_cells(lv, FLD_FZ, i, h, joint)));
    vec4 kinetic = gas_kinetic4_rho(x, y, z);
    vec4 thermal = (e - kinetic) + MARGIN_ENERGY * (vec4_abs(e) + kinetic);
    vec4 pressure = vec4_max(g.gm1 * thermal, r * r * g.smallp); /* pressure times density */
    vec4 spare = speed * r - m;
    return (spare > 0x1p-450) &
           (g.ndim * g.ndim * g.gamma * (1.0 + MARGIN) * pressure < spare * spare);
}

/* In fewer dimensions the upper half of an oct repeats the lower one; in one dimension so does the
 * upper half of that, and a vector has the cells of two octs. octs: 1, or an even number. */
INLINE bool octs_are_slow(const struct level *lv, lidx i, int octs, bool gravity, double most,
                          struct limit limit, struct hydro_gas g)
{
    const int joint = g.ndim < 2 && octs > 1 ? 2 : 1;
    vec4_mask slow = {-1, -1, -1, -1};
    for (int k = 0; k < octs; k += joint) {
        slow &= half_is_slow(lv, i + k, 0, joint, gravity, most, limit, g);
        if (g.ndim > 2) slow &= half_is_slow(lv, i + k, 1, joint, gravity, most, limit, g);
    }
    return vec4_all(slow);
}

/* Which octs have no cell of interest, for one highest signal after the other. */
struct screen {
    struct gas_signal s; /* first */
    struct limit limit;
    double max; /* to which the limit belongs */
};

INLINE bool are_below(struct screen *x, const struct level *lv, lidx i, int octs, double max,
                      bool steps, bool gravity, double most)
{
    if (max != x->max) {
        x->limit = steps ? limit_of_step(-max, x->s.dx, x->s.courant)
                         : (struct limit){max * (1.0 - MARGIN), 0.0};
        x->max = max;
    }
    return octs_are_slow(lv, i, octs, gravity, most, x->limit, x->s.gas);
}

INLINE bool speeds_are_below(void *ctx, const struct level *lv, lidx i, double max)
{
    return are_below(ctx, lv, i, 1, max, false, false, 0.0);
}

INLINE bool steps_are_longer(void *ctx, const struct level *lv, lidx i, double max)
{
    return are_below(ctx, lv, i, 1, max, true, true, 0.0);
}

INLINE bool driven_steps_are_longer(void *ctx, const struct level *lv, lidx i, double max)
{
    struct screen *x = ctx;
    return are_below(ctx, lv, i, 1, max, true, x->s.gravity, x->s.drive.most);
}

INLINE double signal_of(int ndim, struct screen *x, const struct patch_rows *r, double max)
{
    const int cells = ndim < 3 ? 4 : 8;
    if (x->s.drive.a)
        return patch_rows_max(r, cells, max, x, gas_signal_driven, driven_steps_are_longer);
    if (x->s.gravity) return patch_rows_max(r, cells, max, x, gas_signal_step, steps_are_longer);
    return patch_rows_max(r, cells, max, x, gas_signal_speed, speeds_are_below);
}

/* The number of dimensions is a constant here. Octs of fewer than three are screened by fours. */
INLINE double signal_in(int ndim, const struct gas_law *g, const struct patch_rows *r, double max)
{
    enum { FEW = 4 };
    struct screen x = {gas_signal_of(g, r->dx), .max = NAN};
    x.s.gas.ndim = ndim;
    const bool gravity = x.s.gravity, steps = x.s.drive.a || gravity;
    const double most = x.s.drive.a ? x.s.drive.most : 0.0;
    if (ndim > 2) return signal_of(ndim, &x, r, max);
    for (lidx i = r->first, end; i < r->end; i = end) {
        end = r->end - i < FEW ? r->end : i + FEW;
        const struct patch_rows few = {r->lv, r->dx, i, end};
        if (end - i == FEW && are_below(&x, r->lv, i, FEW, max, steps, gravity, most)) continue;
        max = signal_of(ndim, &x, &few, max);
    }
    return max;
}

/* Whether certainly no cell of an oct with non-thermal energies allows a shorter step than -max. */
static bool driven_mixed_steps_are_longer(void *ctx, const struct level *lv, lidx i, double max)
{
    const struct gas_signal *s = ctx;
    const int cells = s->gas.ndim < 3 ? 4 : 8;
    bool longer = true;
    for (int c = 0; c < cells; c++) {
        const double pull = s->drive.most + (s->gravity ? gas_pull(lv, i, c) : 0.0);
        longer &= gas_step_is_longer(gas_signal_mixed(s, lv, i, c), pull, s->dx, s->courant, max);
    }
    return longer;
}

/* With non-thermal energies; a screen spares the acceleration of turbulence. */
static double signal_mixed(const struct gas_law *g, const struct patch_rows *r, double max)
{
    const int cells = g->gas.ndim < 3 ? 4 : 8;
    struct gas_signal s = gas_signal_of(g, r->dx);
    if (s.drive.a)
        return patch_rows_max(r, cells, max, &s, gas_signal_driven, driven_mixed_steps_are_longer);
    if (g->gravity) return patch_rows_max(r, cells, max, &s, gas_signal_mixed_step, NULL);
    return patch_rows_max(r, cells, max, &s, gas_signal_mixed, NULL);
}

double gas_signal(const struct law *law, const struct patch_rows *r, double max)
{
    const struct gas_law *g = (const struct gas_law *)law;
    if (g->par->energy.n > 0) return signal_mixed(g, r, max);
    if (g->gas.ndim > 2) return signal_in(3, g, r, max);
    return g->gas.ndim > 1 ? signal_in(2, g, r, max) : signal_in(1, g, r, max);
}

double gas_step(const struct law *law, double dx, double signal)
{
    const struct gas_law *g = (const struct gas_law *)law;
    const double courant = g->par->courant_factor;
    return hydro_min(gas_signal_is_step(g) ? -signal : hydro_speed_dt(signal, 0.0, dx, courant),
                     courant * dx / g->par->smallc);
}

/* ---- totals ---- */

/* Totals over the leaf cells of an oct. */
enum { MASS, ENERGY, MOMENTUM, INTERNAL = MOMENTUM + 3, TOTALS };

/* Sum by halves, as hydro_sum8. */
static inline double half_sum(vec4 lower, vec4 upper)
{
    vec4 s = lower + upper;
    s += __builtin_shufflevector(s, s, 2, 3, 0, 1);
    return s[0] + s[1];
}

/* Masks of the leaf cells in the two halves of an oct, and the volume of a cell. */
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
    vec4 e = gas_internal4(load_half(lv, FLD_U + GAS_ENERGY, i, h), r,
                           load_half(lv, FLD_U + 1, i, h), load_half(lv, FLD_U + 2, i, h),
                           load_half(lv, FLD_U + 3, i, h));
    for (int k = 0; k < lv->nener; k++) e -= load_half(lv, FLD_U + GAS_SCALARS + k, i, h);
    return e;
}

/* Total of an oct whose upper half repeats the lower one. */
INLINE double flat_total_of(const struct of_oct *o, vec4 lower)
{
    const vec4 x = (vec4)((vec4_mask)(lower * o->vol) & o->leaf[0]);
    return half_sum(x, x);
}

/* Totals by vectors with the same operations as hydro_oct_totals. Without finer octs all cells are
 * leaves. end: of the totals; momenta along missing axes are left out. */
INLINE void block_totals(const struct level *lv, lidx first, int n, bool finer, double vol, int end,
                         double x[TOTALS][PATCH_BLOCK])
{
    static const int field[INTERNAL] = {FLD_U, FLD_U + GAS_ENERGY, FLD_U + GAS_MOMENTUM,
                                        FLD_U + GAS_MOMENTUM + 1, FLD_U + GAS_MOMENTUM + 2};
    for (int k = 0; k < n; k++) {
        lidx i = first + k;
        struct of_oct o = {{{-1, -1, -1, -1}, {-1, -1, -1, -1}}, vol};
        for (int h = 0; h < 2 && finer; h++) o.leaf[h] = leaves_of(lv->child[i] + 4 * h);
        for (int q = 0; q < end; q++)
            x[q][k] = end < MOMENTUM + 3 ? flat_total_of(&o, load_half(lv, field[q], i, 0))
                                         : total_of(&o, load_half(lv, field[q], i, 0),
                                                    load_half(lv, field[q], i, 1));
    }
}

static void block_internal(const struct level *lv, lidx first, int n, double vol, double smallr,
                           double x[PATCH_BLOCK])
{
    for (int k = 0; k < n; k++) {
        lidx i = first + k;
        struct of_oct o = {{leaves_of(lv->child[i]), leaves_of(lv->child[i] + 4)}, vol};
        x[k] = total_of(&o, internal_of(lv, i, 0, smallr), internal_of(lv, i, 1, smallr));
    }
}

/* Sums of a thread. */
struct part {
    struct sum of[TOTALS];
    double x[TOTALS][PATCH_BLOCK];
};

struct totals {
    const struct level *lv;
    double vol, smallr;
    int end;           /* of the totals before the internal energy */
    bool internal;     /* whether that is wanted */
    struct part *part; /* by thread */
};

/* end: t->end, a constant. */
INLINE void level_totals(const struct totals *t, lidx first, int n, int end,
                         double x[TOTALS][PATCH_BLOCK])
{
    if (t->lv[1].noct > 0)
        block_totals(t->lv, first, n, true, t->vol, end, x);
    else
        block_totals(t->lv, first, n, false, t->vol, end, x);
}

static void totals_octs(void *ctx, lidx first, lidx n)
{
    const struct totals *t = ctx;
    const struct level *lv = t->lv;
    struct part *p = &t->part[omp_get_thread_num()];
    if (t->end > MOMENTUM + 2)
        level_totals(t, first, (int)n, MOMENTUM + 3, p->x);
    else if (t->end > MOMENTUM + 1)
        level_totals(t, first, (int)n, MOMENTUM + 2, p->x);
    else
        level_totals(t, first, (int)n, MOMENTUM + 1, p->x);
    for (int q = 0; q < t->end; q++) sum_add_many(&p->of[q], (int)n, p->x[q]);
    if (!t->internal) return;
    block_internal(lv, first, (int)n, t->vol, t->smallr, p->x[INTERNAL]);
    sum_add_many(&p->of[INTERNAL], (int)n, p->x[INTERNAL]);
}

double hydro_courant(const struct mesh *m, int l, const struct hydro_par *p,
                     const struct hydro_sums *s)
{
    const struct gas_law g = gas_law_make(m, p);
    const int threads = omp_get_max_threads();
    if (!s) return patch_courant(m, l, &g.law, NULL);
    struct totals t = {&m->lev[l],         mesh_share(m, l), p->smallr,
                       MOMENTUM + m->ndim, s->internal,      NULL};
    struct sum *all[TOTALS] = {s->mass,         s->energy,       s->momentum,
                               s->momentum + 1, s->momentum + 2, s->internal};
    t.part = mem_new(sizeof *t.part * (size_t)threads, "hydro totals");
    for (int k = 0; k < threads; k++)
        for (int q = 0; q < TOTALS; q++) sum_init(&t.part[k].of[q]);
    double dt = patch_courant(m, l, &g.law, &(struct patch_reader){totals_octs, &t});
    for (int k = 0; k < threads; k++)
        for (int q = 0; q < TOTALS; q++)
            if (q < t.end || (t.internal && q == INTERNAL)) sum_join(all[q], &t.part[k].of[q]);
    mem_free(t.part);
    return dt;
}
