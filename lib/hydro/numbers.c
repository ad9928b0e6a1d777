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

enum { PS = PLANE_STRIDE };

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

/* ---- numbers of new rows ---- */

/* Numbers of the rows of a thread: the highest signal, totals; n octs wait in part.x. */
struct gas_look {
    double max;
    struct limit limit; /* of max */
    bool sums;
    double vol;
    int n;
    struct part part;
};

/* Rows of cells of some octs in a row: 2y and 2y+1 of both planes, of which fewer dimensions have
 * the same several times; n: cells. */
struct looked {
    const double *row[4];
    int n;
};

/* Whether all cells of a row are certainly below the limit, as octs_are_slow finds it. */
INLINE bool row_is_slow(int ndim, const double *restrict u, int n, struct limit limit,
                        struct hydro_gas g)
{
    const double fast = limit.fast, most = ndim * ndim * g.gamma * (1.0 + MARGIN);
    long long other = 0;
#pragma omp simd simdlen(LANES) reduction(| : other)
    for (int i = 0; i < n; i++) {
        const double r = hydro_max(u[i], g.smallr), x = u[PS + i], y = ndim > 1 ? u[2 * PS + i] : 0,
                     z = ndim > 2 ? u[3 * PS + i] : 0, e = u[GAS_ENERGY * PS + i] * r,
                     kinetic = 0.5 * (x * x + y * y + z * z),
                     thermal = (e - kinetic) + MARGIN_ENERGY * (fabs(e) + kinetic),
                     pressure = hydro_max(g.gm1 * thermal, r * r * g.smallp),
                     spare = fast * r - (fabs(x) + fabs(y) + fabs(z));
        other |= (spare > 0x1p-450) & (most * pressure < spare * spare) ? 0 : 1;
    }
    return other == 0;
}

/* The highest of max and the speeds in a row. */
static double row_speed(const double *u, int n, struct hydro_gas g, double max)
{
    double speed[2 * LINE_OCTS];
#pragma omp simd simdlen(LANES)
    for (int i = 0; i < n; i++)
        speed[i] = hydro_cell_speed(u[i], u[PS + i], u[2 * PS + i], u[3 * PS + i],
                                    u[GAS_ENERGY * PS + i], g);
    for (int i = 0; i < n; i++) max = patch_max(speed[i], max);
    return max;
}

static void look_sum(int ndim, struct gas_look *me)
{
    for (int q = 0; q < MOMENTUM + ndim; q++) sum_add_many(&me->part.of[q], me->n, me->part.x[q]);
    me->n = 0;
}

/* Adds the octs of some rows to the totals, with the operations of total_of. */
INLINE void look_totals(int ndim, struct gas_look *me, struct looked at)
{
    static const int of[HYDRO_TOTALS] = {0, GAS_ENERGY, GAS_MOMENTUM, GAS_MOMENTUM + 1,
                                         GAS_MOMENTUM + 2};
    const double vol = me->vol;
    if (me->n + at.n / 2 > PATCH_BLOCK) look_sum(ndim, me);
    for (int q = 0; q < MOMENTUM + ndim; q++) {
        double *restrict x = me->part.x[q] + me->n, cell[2 * LINE_OCTS];
        const double *restrict a = at.row[0] + of[q] * PS, *restrict b = at.row[1] + of[q] * PS,
                               *restrict c = at.row[2] + of[q] * PS,
                               *restrict d = at.row[3] + of[q] * PS;
#pragma omp simd simdlen(LANES)
        for (int i = 0; i < at.n; i++)
            cell[i] = (a[i] * vol + c[i] * vol) + (b[i] * vol + d[i] * vol);
        for (int i = 0; i < at.n / 2; i++) x[i] = cell[2 * i] + cell[2 * i + 1];
    }
    me->n += at.n / 2;
}

INLINE void look_octs(int ndim, const struct gas_law *g, struct gas_look *me, struct looked at)
{
    for (int k = 0; k < 1 << (ndim - 1); k++) {
        if (row_is_slow(ndim, at.row[k], at.n, me->limit, g->gas)) continue;
        me->max = row_speed(at.row[k], at.n, g->gas, me->max);
        me->limit.fast = me->max * (1.0 - MARGIN);
    }
    if (me->sums) look_totals(ndim, me, at);
}

/* Looks at the runs of own octs of a row. */
INLINE void look_row(int ndim, const struct sweep *s, int y, int z)
{
    const struct gas_law *g = gas_law_of(s);
    struct gas_look *me = &g->look[omp_get_thread_num()];
    for (uint32_t octs = s->slots.own[z + 1][y + 1], left; octs; octs = left) {
        const int first = __builtin_ctz(octs), n = __builtin_ctz(~(octs >> first));
        const int at = plane_at(s->in.w, 2 * (first - 1), 2 * y), up = at + s->in.w;
        left = octs & ~(((1u << n) - 1) << first);
        look_octs(ndim, g, me,
                  (struct looked){{s->sum[0] + at, s->sum[0] + up, s->sum[1] + at, s->sum[1] + up},
                                  2 * n});
    }
}

static void gas_look_row(const struct sweep *s, int y, int z)
{
    if (s->ndim > 2)
        look_row(3, s, y, z);
    else if (s->ndim > 1)
        look_row(2, s, y, z);
    else
        look_row(1, s, y, z);
}

void gas_look_begin(struct gas_law *g, const struct mesh *m, int l)
{
    struct hydro_fresh *f = g->par->fresh;
    const struct law *law = &g->law;
    if (f) f->level = 0;
    if (!f || !f->wanted || m->lev[l + 1].noct > 0) return;
    if (law->finish || law->after || law->nsum > law->nvar) return;
    const int threads = omp_get_max_threads();
    const double least = patch_expected(f->last[l]);
    g->look = mem_new(sizeof *g->look * (size_t)threads, "hydro totals");
    g->law.look = gas_look_row;
    for (int k = 0; k < threads; k++) {
        struct gas_look *me = &g->look[k];
        me->max = least, me->limit = (struct limit){least * (1.0 - MARGIN), 0.0};
        me->sums = f->sums_wanted, me->vol = mesh_share(m, l), me->n = 0;
        for (int q = 0; q < TOTALS; q++) sum_init(&me->part.of[q]);
    }
}

void gas_look_end(struct gas_law *g, const struct mesh *m, int l)
{
    struct hydro_fresh *f = g->par->fresh;
    if (!g->look) return;
    const double least = patch_expected(f->last[l]);
    f->sums = f->sums_wanted, f->signal = -HUGE_VAL;
    for (int q = 0; q < HYDRO_TOTALS; q++) sum_init(&f->total[q]);
    for (int k = 0; k < omp_get_max_threads(); k++) {
        struct gas_look *me = &g->look[k];
        f->signal = patch_max(me->max, f->signal);
        look_sum(m->ndim, me);
        for (int q = 0; q < HYDRO_TOTALS && f->sums; q++) sum_join(&f->total[q], &me->part.of[q]);
    }
    f->level = f->signal > least ? l : 0; /* it is not known if it has fallen that far */
    FREE(g->look);
}

/* Whether the last step has left what is wanted now. */
static bool is_fresh(const struct hydro_par *p, int l, const struct hydro_sums *s)
{
    const struct hydro_fresh *f = p->fresh;
    return f && f->level == l && (!s || (f->sums && !s->internal));
}

static double courant_fresh(const struct mesh *m, int l, const struct gas_law *g,
                            const struct hydro_sums *s)
{
    struct hydro_fresh *f = g->par->fresh;
    f->last[l] = f->signal;
    if (s) sum_join(s->mass, &f->total[MASS]), sum_join(s->energy, &f->total[ENERGY]);
    for (int d = 0; d < 3 && s; d++) sum_join(&s->momentum[d], &f->total[MOMENTUM + d]);
    return gas_step(&g->law, mesh_dx(m, l), f->signal);
}

double hydro_courant(const struct mesh *m, int l, const struct hydro_par *p,
                     const struct hydro_sums *s)
{
    const struct gas_law g = gas_law_make(m, p);
    const int threads = omp_get_max_threads();
    if (is_fresh(p, l, s)) return courant_fresh(m, l, &g, s);
    double *last = p->fresh ? &p->fresh->last[l] : NULL;
    if (!s) return patch_courant(m, l, &g.law, last, NULL);
    struct totals t = {&m->lev[l],         mesh_share(m, l), p->smallr,
                       MOMENTUM + m->ndim, s->internal,      NULL};
    struct sum *all[TOTALS] = {s->mass,         s->energy,       s->momentum,
                               s->momentum + 1, s->momentum + 2, s->internal};
    t.part = mem_new(sizeof *t.part * (size_t)threads, "hydro totals");
    for (int k = 0; k < threads; k++)
        for (int q = 0; q < TOTALS; q++) sum_init(&t.part[k].of[q]);
    double dt = patch_courant(m, l, &g.law, last, &(struct patch_reader){totals_octs, &t});
    for (int k = 0; k < threads; k++)
        for (int q = 0; q < TOTALS; q++)
            if (q < t.end || (t.internal && q == INTERNAL)) sum_join(all[q], &t.part[k].of[q]);
    mem_free(t.part);
    return dt;
}
