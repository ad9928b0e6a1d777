/* hydro/godunov_kernel: the Godunov step of the gas on a device, by the engine's loops
 * (patch/godunov.h) with the point functions of cell_kern.h. There is a kernel for each limiter. */
#include "dev/kernel.h"
#include "hydro/cell_kern.h"
#include "hydro/interp_kern.h"
#include "hydro/kernels.h"

enum { GAS = GAS_SCALARS };
#define LAW_ARGS struct godunov_args
#define LAW_CORE GAS
#define LAW_FIELD(v) (FLD_U + (v))
#define LAW_SYSTEM REFLUX_GAS
#define LAW_MIRRORED(a, f) ((a)->par->bound[f] == BOUND_REFLECT)
#define LAW_LIMITER enum slope
#define LAW_SOLVER struct solver
/* A Riemann solver, of gas with non-thermal energies if `mixed`. */
struct solver {
    enum riemann kind;
    bool mixed;
};
#include "patch/godunov.h"

#include "hydro/expansion_dev.h"

/* ---- primitive variables ---- */

/* Arrays in the scratch memory of a block: non-thermal pressures and passive scalars, velocities
 * without the gravity predictor. */
DEV_FN double *scalars_of(const struct work *k)
{
    return k->own;
}

DEV_FN double *old_of(const struct godunov_args *a, const struct work *k)
{
    return k->own + (int64_t)(a->p.nvar - GAS) * CELLS;
}

/* Scalar v of a cell, or non-thermal energy, per volume. */
DEV_FN double scalar_at(const struct godunov_args *a, struct origin o, int v)
{
    double x = o.slot >= 0 ? a->p.level.fld[FLD_U + v][o.slot][o.c] : row_of(a, o)[8 * v];
    for (int d = 0; o.beyond && d < 3; d++) {
        int f = face_beyond(o.beyond, d);
        if (f >= 0) x = hydro_boundary_scalar(a->par, f, v, x);
    }
    return x;
}

/* Loads passive scalars, divided by the density. */
DEV_FN void load_scalars(const struct godunov_args *a, const struct work *k, struct origin o,
                         int at, double inv)
{
    for (int v = GAS + a->nener; v < a->p.nvar; v++)
        scalars_of(k)[(v - GAS) * CELLS + at] = scalar_at(a, o, v) * inv;
}

/* Loads non-thermal pressures; returns the sum of the energies. */
DEV_FN double load_energies(const struct godunov_args *a, const struct work *k, struct origin o,
                            int at)
{
    double sum = 0.0;
    for (int n = 0; n < a->nener; n++) {
        const double e = scalar_at(a, o, GAS + n);
        sum += e;
        scalars_of(k)[n * CELLS + at] = gas_gm1(a->par->energy.gamma[n]) * e;
    }
    return sum;
}

/* Applies boundary conditions of the box to the conserved variables that were loaded. */
DEV_FN_OUT void bound_cell(const struct godunov_args *a, struct godunov_shared *s, int beyond,
                           int at)
{
    double u[GAS];
    for (int v = 0; v < GAS; v++) u[v] = s->q[v][at];
    for (int d = 0; d < 3; d++) {
        int f = face_beyond(beyond, d);
        if (f >= 0) hydro_boundary_gas(a->par, f, u);
        for (int n = 0; n < a->nener && f >= 0 && a->par->bound[f] == BOUND_IMPOSED; n++)
            u[GAS_ENERGY] += hydro_boundary_scalar(a->par, f, GAS + n, 0.0);
    }
    for (int v = 0; v < GAS; v++) s->q[v][at] = u[v];
}

DEV_FN double pull_of(const struct godunov_args *a, struct origin o, int d)
{
    double g = o.slot >= 0 ? a->p.level.fld[FLD_FX + d][o.slot][o.c]
                           : row_of(a, o)[8 * (a->p.nvar + d)];
    int f = face_beyond(o.beyond, d);
    return f >= 0 && a->par->bound[f] == BOUND_REFLECT ? -g : g;
}

/* Primitive variables with the gravity predictor. */
DEV_FN void law_primitive(const struct godunov_args *a, const struct work *k,
                          struct godunov_shared *s, struct origin o, int at)
{
    if (o.beyond) bound_cell(a, s, o.beyond, at);
    if (a->nener) s->q[4][at] -= load_energies(a, k, o, at);
    struct hydro_state x = hydro_prim(s->q[0][at], s->q[1][at], s->q[2][at], s->q[3][at],
                                      s->q[4][at], a->gas);
    double v[3] = {x.u, x.v, x.w};
    s->q[0][at] = x.r;
    s->q[4][at] = x.p;
    for (int d = 0; d < 3; d++) {
        if (a->pfix || a->nener) old_of(a, k)[d * CELLS + at] = v[d];
        if (a->gravity) v[d] += pull_of(a, o, d) * (0.5 * a->p.dt);
        s->q[1 + d][at] = v[d];
    }
    if (a->p.nvar > GAS) load_scalars(a, k, o, at, 1.0 / x.r);
}

/* ---- rates ---- */

/* Slopes of variable v in a cell. */
DEV_FN struct hydro_slope3 slopes_of(enum slope type, const double *q, int at, double theta)
{
    return hydro_slopes(type, q + at - P, q + at, q + at + P, W, theta);
}

/* Adds the slopes of the n non-thermal pressures, q, to those of the pressure. */
DEV_FN_OUT struct hydro_slope3 slopes_total(const double *q, int n, enum slope type, int at,
                                            double theta, struct hydro_slope3 p)
{
    struct hydro_slope3 sum = {0.0, 0.0, 0.0, 0.0};
    for (; n > 0; n--, q += CELLS) {
        const struct hydro_slope3 e = slopes_of(type, q, at, theta);
        sum.x += e.x, sum.y += e.y, sum.z += e.z;
    }
    p.x += sum.x, p.y += sum.y, p.z += sum.z;
    return p;
}

DEV_FN void law_rates(const struct godunov_args *a, const struct work *k, struct godunov_shared *s,
                      enum slope type, int at, int to)
{
    const double theta = a->gas.theta, h = 0.5 * (a->p.dt / a->p.dx);
    struct hydro_slope3 r = slopes_of(type, s->q[0], at, theta),
                        u = slopes_of(type, s->q[1], at, theta),
                        v = slopes_of(type, s->q[2], at, theta),
                        w = slopes_of(type, s->q[3], at, theta),
                        p = slopes_of(type, s->q[4], at, theta);
    const struct hydro_velocity x = {u.c, v.c, w.c};
    const double div = u.x + v.y + w.z, volume = 1.0 / r.c;
    const struct hydro_slope3 total = a->nener ? slopes_total(scalars_of(k), a->nener, type, at,
                                                              theta, p)
                                               : p;
    s->rate[0][to] = hydro_rate_density(x, r, div) * h;
    s->rate[1][to] = hydro_rate_velocity(x, u, total.x, volume) * h;
    s->rate[2][to] = hydro_rate_velocity(x, v, total.y, volume) * h;
    s->rate[3][to] = hydro_rate_velocity(x, w, total.z, volume) * h;
    s->rate[4][to] = hydro_rate_pressure(x, p, div, a->gas.gamma) * h;
}

/* ---- fluxes ---- */

DEV_FN double along(struct hydro_slope3 d, int dir)
{
    return dir == 0 ? d.x : dir == 1 ? d.y : d.z;
}

DEV_FN double slope_along(enum slope type, const double *q, const struct face *f, int at,
                          double theta)
{
    if (type == SLOPE_POSITIVE) return along(slopes_of(type, q, at, theta), f->dir);
    return hydro_slope(type, q[at] - q[at - f->step], q[at + f->step] - q[at], theta);
}

/* States of variable v below and above a face. */
struct sides {
    double l, r;
};

DEV_FN struct sides sides_of(const struct godunov_shared *s, enum slope type, const struct face *f,
                             int v, double theta)
{
    const double *q = s->q[v];
    const int l = f->at - f->step, r = f->at;
    struct sides o = {
        hydro_face_upper(q[l], slope_along(type, q, f, l, theta), s->rate[v][f->lower]),
        hydro_face_lower(q[r], slope_along(type, q, f, r, theta), s->rate[v][f->upper])};
    return o;
}

DEV_FN struct sides scalar_sides(const struct godunov_args *a, const struct godunov_shared *s,
                                 enum slope type, const struct face *f, const double *q)
{
    const double h = 0.5 * (a->p.dt / a->p.dx);
    const int l = f->at - f->step, r = f->at;
    struct hydro_slope3 x = slopes_of(type, q, l, a->gas.theta),
                        y = slopes_of(type, q, r, a->gas.theta);
    const struct hydro_velocity at_l = {s->q[1][l], s->q[2][l], s->q[3][l]},
                                at_r = {s->q[1][r], s->q[2][r], s->q[3][r]};
    double below = hydro_rate_advected(at_l, x), above = hydro_rate_advected(at_r, y);
    struct sides o = {hydro_face_upper(x.c, along(x, f->dir), below * h),
                      hydro_face_lower(y.c, along(y, f->dir), above * h)};
    return o;
}

/* Sum of the slopes of the velocities along their axes. */
DEV_FN double divergence_of(const struct godunov_shared *s, enum slope type, int at, double theta)
{
    return slopes_of(type, s->q[1], at, theta).x + slopes_of(type, s->q[2], at, theta).y +
           slopes_of(type, s->q[3], at, theta).z;
}

/* Non-thermal pressure n on both sides of a face; lower, upper: the divergence in the cells. */
DEV_FN struct sides energy_sides(const struct godunov_args *a, const struct work *k,
                                 const struct godunov_shared *s, enum slope type,
                                 const struct face *f, int n, double lower, double upper)
{
    const double h = 0.5 * (a->p.dt / a->p.dx), gamma = a->par->energy.gamma[n];
    const double *q = scalars_of(k) + n * CELLS;
    const int l = f->at - f->step, r = f->at;
    struct hydro_slope3 x = slopes_of(type, q, l, a->gas.theta),
                        y = slopes_of(type, q, r, a->gas.theta);
    const struct hydro_velocity at_l = {s->q[1][l], s->q[2][l], s->q[3][l]},
                                at_r = {s->q[1][r], s->q[2][r], s->q[3][r]};
    struct sides o = {
        hydro_face_upper(x.c, along(x, f->dir), hydro_rate_pressure(at_l, x, lower, gamma) * h),
        hydro_face_lower(y.c, along(y, f->dir), hydro_rate_pressure(at_r, y, upper, gamma) * h)};
    return o;
}

/* hydro_mixed_flux by the solver of the run; those that iterate are for the CPU. */
DEV_FN struct hydro_flux mixed_solution(enum riemann rs, struct hydro_state L, struct hydro_state R,
                                        struct hydro_gas g, struct hydro_mixed l,
                                        struct hydro_mixed r)
{
    switch (rs) {
#define RIEMANN(name, text, flux)                                                                  \
    case RIEMANN_##name:                                                                           \
        return hydro_mixed_flux(RIEMANN_##name, L, R, g, l, r);
#define ITERATED(name, text)                                                                       \
    case RIEMANN_##name:                                                                           \
        break;
#include "hydro/riemann.def"
#undef RIEMANN
#undef ITERATED
    case RIEMANN_COUNT:
        break;
    }
    return hydro_mixed_flux(RIEMANN_LLF, L, R, g, l, r);
}

/* The flux of gas with non-thermal energies, of states with the thermal pressure; stores the fluxes
 * of the energies. */
DEV_FN_OUT struct hydro_flux mixed_flux(const struct godunov_args *a, const struct work *k,
                                        const struct godunov_shared *s, const struct face *f,
                                        enum slope type, enum riemann rs, struct hydro_state L,
                                        struct hydro_state R)
{
    const double dtdx = a->p.dt / a->p.dx, theta = a->gas.theta;
    const double lower = divergence_of(s, type, f->at - f->step, theta),
                 upper = divergence_of(s, type, f->at, theta);
    const int floors = hydro_mix_floors(rs);
    double *F = k->flux + f->i;
    struct hydro_mixed l = hydro_mix(floors, L.r, L.p, a->gas),
                       r = hydro_mix(floors, R.r, R.p, a->gas);
    for (int n = 0; n < a->nener; n++) {
        const struct sides p = energy_sides(a, k, s, type, f, n, lower, upper);
        l = hydro_mix_add(l, p.l, a->par->energy.gamma[n]);
        r = hydro_mix_add(r, p.r, a->par->energy.gamma[n]);
    }
    L.p = l.p, R.p = r.p;
    const struct hydro_flux x = mixed_solution(rs, L, R, a->gas, l, r);
    for (int n = 0; n < a->nener; n++) {
        const struct sides p = energy_sides(a, k, s, type, f, n, lower, upper);
        const double gamma = a->par->energy.gamma[n];
        F[(GAS + n) * ALL] = hydro_carried(x.left * dtdx, x.r * dtdx, gas_internal_of(p.l, gamma),
                                           l.r, gas_internal_of(p.r, gamma), r.r);
    }
    return x;
}

DEV_FN void law_flux(const struct godunov_args *a, const struct work *k,
                     const struct godunov_shared *s, const struct face *f, enum slope type,
                     struct solver rs)
{
    const double dtdx = a->p.dt / a->p.dx, smallr = a->gas.smallr, theta = a->gas.theta;
    const int dir = f->dir, n = 1 + dir, t1 = dir == 0 ? 2 : 1, t2 = dir == 2 ? 2 : 3;
    double *F = k->flux + f->i;
    struct sides r = sides_of(s, type, f, 0, theta), u = sides_of(s, type, f, n, theta),
                 v = sides_of(s, type, f, t1, theta), w = sides_of(s, type, f, t2, theta),
                 p = sides_of(s, type, f, 4, theta);
    struct hydro_state L = {hydro_floor_density(r.l, s->q[0][f->at - f->step], smallr), u.l, v.l,
                            w.l, p.l},
                       R = {hydro_floor_density(r.r, s->q[0][f->at], smallr), u.r, v.r, w.r, p.r};
    struct hydro_flux x = rs.mixed ? mixed_flux(a, k, s, f, type, rs.kind, L, R)
                                   : hydro_face_solve(rs.kind, L, R, a->gas);
    const double mass = x.r * dtdx, left = x.left * dtdx;
    F[0] = mass;
    F[n * ALL] = x.u * dtdx;
    F[t1 * ALL] = x.v * dtdx;
    F[t2 * ALL] = x.w * dtdx;
    F[4 * ALL] = x.e * dtdx;
    for (int i = GAS + a->nener; i < a->p.nvar; i++) {
        struct sides q = scalar_sides(a, s, type, f, scalars_of(k) + (i - GAS) * CELLS);
        F[i * ALL] = left * q.l + (mass - left) * q.r;
    }
    if (!a->pfix) return;
    F[a->p.nvar * ALL] = 0.5 * (L.u + R.u) * dtdx;
    F[(a->p.nvar + 1) * ALL] = x.eint * dtdx;
}

/* All fluxes of gas with non-thermal energies. A call for each face would make the compiler keep
 * the values of a face in memory for gas without them, too; so would addresses of k and b. */
DEV_FN_OUT void mixed_fluxes(const struct godunov_args *a, struct work k, struct godunov_shared *s,
                             struct dev_block b, enum slope type)
{
    fluxes(a, &k, s, &b, type, (struct solver){a->riemann, true});
}

DEV_FN void law_fluxes(const struct godunov_args *a, const struct work *k, struct godunov_shared *s,
                       struct dev_block *b, enum slope type)
{
    if (a->nener) {
        mixed_fluxes(a, *k, s, *b, type);
        return;
    }
    switch (a->riemann) {
#define RIEMANN(name, text, flux)                                                                  \
    case RIEMANN_##name:                                                                           \
        fluxes(a, k, s, b, type, (struct solver){RIEMANN_##name, false});                          \
        break;
#define ITERATED(name, text)                                                                       \
    case RIEMANN_##name:                                                                           \
        break;
#include "hydro/riemann.def"
#undef RIEMANN
#undef ITERATED
    case RIEMANN_COUNT:
        break;
    }
}

/* ---- update of a cell ---- */

DEV_FN void cell_collect(const struct godunov_args *a, struct own_cell *o)
{
    for (int f = 0; f < 6; f++) {
        const double *row = collected(a, o, f);
        if (!row) continue;
        for (int v = 0; v < GAS; v++) o->u[v] += row[v];
        if (!a->pfix) continue;
        o->extra[0] += row[a->p.nvar];
        o->extra[1] += row[a->p.nvar + 1];
    }
}

/* Divergence of the old velocities in a cell. */
DEV_FN double cell_expansion(const struct godunov_args *a, const struct work *k,
                             const struct own_cell *o)
{
    const double dx2 = a->p.dx + a->p.dx, *v = old_of(a, k) + o->at;
    const int y = W, z = P;
    if (expansion_is_beside(a, o)) return expansion_beside(a, old_of(a, k), o, a->gas.smallr);
    return (v[1] - v[-1]) / dx2 + (v[CELLS + y] - v[CELLS - y]) / dx2 +
           (v[2 * CELLS + z] - v[2 * CELLS - z]) / dx2;
}

/* Change of variable v of a cell by sources. */
DEV_FN double cell_change(const struct godunov_args *a, const struct own_cell *o, int v)
{
    const int32_t row = a->changed[o->oct];
    return row < 0 ? 0.0 : a->change[((int64_t)row * a->p.nvar + v) * 8 + o->c];
}

/* New value of a variable beyond those of the gas, by fluxes and sources. */
DEV_FN double cell_other(const struct godunov_args *a, const struct work *k,
                         const struct own_cell *o, int v, double old)
{
    const double x = cell_next(a, k, o, v, old);
    return a->changed && a->changed[o->oct] >= 0 ? x + cell_change(a, o, v) : x;
}

DEV_FN void cell_scalars(const struct godunov_args *a, const struct work *k,
                         const struct own_cell *o, double old_density)
{
    double factor = hydro_scalar_factor(old_density, o->u[0], a->gas.smallr);
    for (int v = GAS + a->nener; v < a->p.nvar; v++) {
        double old = a->p.level.fld[FLD_U + v][o->oct][o->c], x = cell_other(a, k, o, v, old);
        *new_of(a, o, v) = factor != 0.0 ? old * factor : x;
    }
}

/* The non-thermal energies before and after a step: their sums. */
struct beside {
    double was, is;
};

DEV_FN struct beside cell_energies(const struct godunov_args *a, const struct work *k,
                                   const struct own_cell *o, double div)
{
    struct beside b = {0.0, 0.0};
    for (int v = GAS; v < GAS + a->nener; v++) {
        const double old = a->p.level.fld[FLD_U + v][o->oct][o->c],
                     x = cell_other(a, k, o, v, old) +
                         hydro_energy_pdv(old, a->par->energy.gamma[v - GAS], div, a->p.dt);
        *new_of(a, o, v) = x;
        b.was += old;
        b.is += x;
    }
    return b;
}

DEV_FN void law_finish(const struct godunov_args *a, const struct work *k, struct own_cell *o)
{
    const struct level *lv = &a->p.level;
    const double smallr = a->gas.smallr;
    double *u = o->u, eint = 0.0, old[GAS];
    for (int v = 0; v < GAS; v++) old[v] = lv->fld[FLD_U + v][o->oct][o->c];
    for (int v = 0; v < GAS; v++) u[v] = cell_sum(k, o, v, old[v]);
    o->extra[0] = a->pfix ? cell_extra(k, o, a->p.nvar) : 0.0;
    o->extra[1] = a->pfix ? cell_extra(k, o, a->p.nvar + 1) : 0.0;
    if (a->p.reflux & 2) cell_collect(a, o);
    for (int v = 0; v < GAS && a->changed && a->changed[o->oct] >= 0; v++)
        u[v] += cell_change(a, o, v);
    if (a->gravity)
        hydro_pull_cell(u[0], &u[1], &u[2], &u[3], &u[4], old[0], lv->fld[FLD_FX][o->oct][o->c],
                        lv->fld[FLD_FY][o->oct][o->c], lv->fld[FLD_FZ][o->oct][o->c], smallr,
                        a->p.dt);
    const double div = a->pfix || a->nener ? cell_expansion(a, k, o) : 0.0;
    struct beside more = {0.0, 0.0};
    if (a->nener) more = cell_energies(a, k, o, div);
    if (a->pfix)
        eint = hydro_pdv_cell(old[0], old[1], old[2], old[3], old[4] - more.was, o->extra[1], div,
                              smallr, a->gas.gm1, a->p.dt);
    if (a->p.nvar > GAS) cell_scalars(a, k, o, old[0]);
    if (a->pfix) {
        const double e = u[4] - more.is;
        const double chosen = hydro_energy_choose(u[0], u[1], u[2], u[3], e, eint, o->extra[0],
                                                  3.0 * a->hexp * a->p.dx, a->p.dx, a->p.dt, smallr,
                                                  a->par->beta_fix);
        u[4] = chosen == e ? u[4] : chosen + more.is;
    }
    for (int v = 0; v < GAS; v++) *new_of(a, o, v) = u[v];
}

/* ---- the kernels ---- */

#define GODUNOV(name, type)                                                                        \
    KERNEL(name, struct godunov_args, struct godunov_shared, GODUNOV_THREADS)                      \
    {                                                                                              \
        tiles(a, s, b, type);                                                                      \
    }

GODUNOV(godunov_none, SLOPE_NONE)
GODUNOV(godunov_minmod, SLOPE_MINMOD)
GODUNOV(godunov_moncen, SLOPE_MONCEN)
GODUNOV(godunov_positive, SLOPE_POSITIVE)
GODUNOV(godunov_vanleer, SLOPE_VANLEER)
GODUNOV(godunov_theta, SLOPE_THETA)
