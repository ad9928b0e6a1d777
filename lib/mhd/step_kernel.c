/* mhd/step_kernel: a step of gas with a magnetic field on a device, one tile per block, by the
 * engine's loops over faces and registers (patch/godunov.h) and the point functions of
 * step_kern.h. Barriers separate the stages of patch/transport: the values of a patch of 12³
 * cells, primitive variables, electromotive forces at the start, half a step of the field on faces
 * and of the cells, with slopes; fluxes; electromotive forces; registers; the update of each cell.
 *
 * All of it is in scratch memory of the block, in planes of CELLS values, one for each variable:
 * shared memory has room for a third of them. Slopes are stored, since a cell has a part in six
 * faces and twelve edges, so that the Riemann problems, most of the work, keep their registers for
 * themselves. (docs/gpu.md) */
#include "dev/kernel.h"
#include "mhd/interp_kern.h"
#include "mhd/kernels.h"
#include "mhd/step_kern.h"

enum { GAS = GAS_SCALARS };
#define LAW_ARGS struct mhd_step_args
#define LAW_CORE GAS
#define LAW_SYSTEM REFLUX_GAS
#define LAW_LIMITER int
#define LAW_SOLVER enum mhd_solver
#define LAW_EDGES
#include "patch/godunov.h"

#include "hydro/expansion_dev.h"
#include "patch/edges_kern.h"

/* Planes: values of the fields; primitive variables; forces at lower edges, first at the start,
 * then of the step, by axis; field on lower faces after half a step; slopes of the field on lower
 * faces, as in struct mhd_planes; variables after half a step, which replace the fields; their
 * slopes by axis; velocities without gravity (pressure_fix). */
struct planes {
    double *u, *q, *force, *half, *steep, *cell, *slope[3], *old;
};

DEV_FN struct planes planes_of(const struct mhd_step_args *a, const struct work *k)
{
    const int nq = a->cells + 3;
    struct planes p;
    double *d = k->own;
    p.u = p.cell = d, d += a->nfield * CELLS;
    p.q = d, d += nq * CELLS;
    p.force = d, d += 3 * CELLS;
    p.half = d, d += 3 * CELLS;
    p.steep = d, d += 6 * CELLS;
    for (int axis = 0; axis < 3; axis++, d += nq * CELLS) p.slope[axis] = d;
    p.old = d;
    return p;
}

DEV_FN int step_along(int d)
{
    return d == 0 ? 1 : d == 1 ? W : P;
}

/* Field on the lower or the upper faces across axis d. */
DEV_FN const double *face_of(const struct mhd_step_args *a, const struct planes *p, int d,
                             int upper)
{
    return p->u + (a->cells + 2 * d + upper) * CELLS;
}

/* ---- which cells ---- */

/* A cell by its coordinates in the tile. */
struct place {
    int x[3];
};

/* The i-th cell of a cube of n³ cells from `first` on. */
DEV_FN struct place place_of(int i, int n, int first)
{
    struct place c = {{i % n + first, i / n % n + first, i / n / n + first}};
    return c;
}

DEV_FN int place_at(struct place c)
{
    return cell_at(c.x[0], c.x[1], c.x[2]);
}

/* Whether the cell is in or beside an own oct, and its layer exists: along missing axes both layers
 * of the own octs do. */
DEV_FN int is_near(const struct work *k, const struct godunov_shared *s, struct place c)
{
    for (int d = 1; d < 3; d++)
        if (d >= k->ndim && (c.x[d] < 0 || c.x[d] > 1)) return 0;
    return k->full || s->near[slot_at(c.x[0], c.x[1], c.x[2])];
}

DEV_FN void find_near(struct godunov_shared *s, struct dev_block *b)
{
    PHASE (i, DEV_SLOTS) {
        int x = i % E, y = i / E % E, z = i / E / E, any = 0;
        for (int n = 0; n < 27; n++) {
            int p = x + n % 3 - 1, q = y + n / 3 % 3 - 1, r = z + n / 9 - 1;
            if (p >= 0 && p < E && q >= 0 && q < E && r >= 0 && r < E)
                any |= s->own[p + E * (q + E * r)];
        }
        s->near[i] = (unsigned char)any;
    }
}

/* ---- the values of a patch ---- */

/* Field number v of the level. */
DEV_FN int field_of(const struct mhd_step_args *a, int v)
{
    if (v < a->cells) return FLD_U + v;
    return v < a->p.nvar ? FLD_MAGNETIC + v - a->cells : FLD_FX + v - a->p.nvar;
}

DEV_FN void load(const struct mhd_step_args *a, const struct work *k, struct godunov_shared *s,
                 struct dev_block *b)
{
    const struct planes p = planes_of(a, k);
    PHASE (i, 8 * DEV_SLOTS) {
        const int at = patch_at(i);
        const struct origin o = {s->slot[i >> 3], i & 7, 0};
        int split = 0;
        if (o.slot >= 0) {
            for (int v = 0; v < a->nfield; v++)
                p.u[v * CELLS + at] = a->p.level.fld[field_of(a, v)][o.slot][o.c];
            split = a->p.level.child[o.slot][o.c] >= 0;
        } else if (o.slot <= DEV_MISSING) {
            for (int v = 0; v < a->nfield; v++) p.u[v * CELLS + at] = row_of(a, o)[8 * v];
        }
        s->split[at] = (unsigned char)split;
    }
}

/* ---- boundaries ---- */

DEV_FN int at_boundary(const struct mhd_step_args *a, const struct work *k,
                       const struct godunov_shared *s, int f)
{
    const int64_t upper = ((int64_t)1 << (a->p.l - 1)) - k->t;
    return a->p.mesh->bounded[f] && s->x0[f >> 1] == (f & 1 ? upper : 0);
}

DEV_FN void read_cell(const struct mhd_step_args *a, const double *u, int at, double *to)
{
    for (int v = 0; v < a->nfield; v++) to[v] = u[v * CELLS + at];
}

/* Fills the h-th cell beyond boundary f from the cell `from`; near: the cell within the boundary.
 */
DEV_FN_OUT void fill_beyond(const struct mhd_step_args *a, double *u, int f, int h, int to,
                            int from, int near)
{
    double within[LAW_FIELDS], mirrored[LAW_FIELDS], out[LAW_FIELDS];
    read_cell(a, u, near, within);
    read_cell(a, u, from, mirrored);
    for (int v = a->p.nvar; v < a->nfield; v++) out[v] = mirrored[v];
    mhd_beyond(a->par, f, h, within, mirrored, out);
    if (a->gravity && a->par->gas->bound[f] == BOUND_REFLECT)
        out[a->p.nvar + (f >> 1)] = -out[a->p.nvar + (f >> 1)];
    for (int v = 0; v < a->nfield; v++) u[v * CELLS + to] = out[v];
}

/* Fills the cells beyond the boundaries axis after axis, so that corners are beyond all of them. */
DEV_FN void fill_boundaries(const struct mhd_step_args *a, const struct work *k,
                            struct godunov_shared *s, struct dev_block *b)
{
    const struct planes p = planes_of(a, k);
    for (int d = 0; d < k->ndim; d++) {
        if (!a->p.mesh->bounded[2 * d] && !a->p.mesh->bounded[2 * d + 1]) continue;
        PHASE (i, 4 * W * W) {
            const int side = i / (2 * W * W), h = i / (W * W) % 2, n = 2 * k->t, f = 2 * d + side;
            if (!at_boundary(a, k, s, f)) continue;
            struct place to = {{0, 0, 0}}, from, near;
            to.x[(d + 1) % 3] = i % W - 2;
            to.x[(d + 2) % 3] = i / W % W - 2;
            from = near = to;
            near.x[d] = side ? n - 1 : 0;
            to.x[d] = side ? n + h : -1 - h;
            from.x[d] = side ? n - 1 - h : h;
            if (a->par->gas->bound[f] != BOUND_REFLECT) from = near;
            fill_beyond(a, p.u, f, h, place_at(to), place_at(from), place_at(near));
        }
    }
}

/* ---- primitive variables ---- */

DEV_FN void primitive(const struct mhd_step_args *a, const struct work *k, struct godunov_shared *s,
                      struct dev_block *b)
{
    const struct planes p = planes_of(a, k);
    const double half_dt = 0.5 * a->p.dt;
    PHASE (i, 8 * DEV_SLOTS) {
        if (s->slot[i >> 3] == DEV_UNUSED) continue;
        const int at = patch_at(i);
        mhd_primitive_at(p.u, p.u + GAS_ENERGY * CELLS, p.u + a->cells * CELLS, CELLS, at, a->g,
                         p.q, p.q + a->cells * CELLS);
        for (int d = 0; d < 3 && a->pfix; d++) p.old[d * CELLS + at] = p.q[(1 + d) * CELLS + at];
        for (int d = 0; d < k->ndim && a->gravity; d++)
            p.q[(1 + d) * CELLS + at] += p.u[(a->p.nvar + d) * CELLS + at] * half_dt;
        for (int v = GAS; v < a->cells; v++)
            p.q[v * CELLS + at] = p.u[v * CELLS + at] * (1.0 / p.q[at]);
    }
}

/* ---- half a step ---- */

/* Forces at the start at the lower edges of cells −1 … 2t+1. */
DEV_FN void starts(const struct mhd_step_args *a, const struct work *k, struct godunov_shared *s,
                   struct dev_block *b)
{
    const struct planes p = planes_of(a, k);
    enum { R = N + 3 };
    PHASE (i, R * R * R) {
        const struct place c = place_of(i, R, -1);
        if (!is_near(k, s, c)) continue;
        const int at = place_at(c);
        for (int d = k->ndim > 2 ? 0 : 2; d < 3 && k->ndim > 1; d++) {
            const int e = (d + 1) % 3, f = (d + 2) % 3, de = step_along(e), df = step_along(f);
            const double *across_e = face_of(a, &p, e, 0), *across_f = face_of(a, &p, f, 0);
            const struct mhd_start x = {p.q - de - df,   p.q - df,       p.q - de,      p.q,
                                        across_e - df,   across_e,       across_f - de, across_f,
                                        (1 + e) * CELLS, (1 + f) * CELLS};
            p.force[d * CELLS + at] = mhd_start_at(x, at);
        }
    }
}

/* Slopes along the face of the field on the lower face of a cell across axis d. */
DEV_FN void face_slopes(const struct mhd_step_args *a, const struct work *k, const struct planes *p,
                        int d, int at)
{
    for (int t = 0; t < 2; t++) {
        const int along = (d + 1 + t) % 3, step = step_along(along);
        const double *b = face_of(a, p, d, 0) + at;
        if (along >= k->ndim) continue;
        p->steep[(2 * d + t) * CELLS + at] = hydro_slope(a->slope_mag, b[0] - b[-step],
                                                         b[step] - b[0], a->theta);
    }
}

/* Field on the lower faces of cells −1 … 2t along the face, and of 2t+1 across it. */
DEV_FN void halves(const struct mhd_step_args *a, const struct work *k, struct godunov_shared *s,
                   struct dev_block *b)
{
    const struct planes p = planes_of(a, k);
    const double h = 0.5 * (a->p.dt / a->p.dx);
    enum { R = N + 3 };
    PHASE (i, R * R * R) {
        const struct place c = place_of(i, R, -1);
        if (!is_near(k, s, c)) continue;
        const int at = place_at(c);
        for (int d = 0; d < k->ndim; d++) {
            const int e = (d + 1) % 3, f = (d + 2) % 3, there = k->ndim > 1;
            const int on_f = e < k->ndim && there, on_e = f < k->ndim && there;
            if (c.x[e] > N || c.x[f] > N) continue;
            const double *fe = p.force + e * CELLS + at, *ff = p.force + f * CELLS + at;
            const double from = face_of(a, &p, d, 0)[at];
            p.half[d * CELLS + at] = !there
                                         ? from
                                         : mhd_face_half(from, on_f ? h : 0.0, on_f ? ff[0] : 0.0,
                                                         on_f ? ff[step_along(e)] : 0.0,
                                                         on_e ? h : 0.0, on_e ? fe[0] : 0.0,
                                                         on_e ? fe[step_along(f)] : 0.0);
            face_slopes(a, k, &p, d, at);
        }
    }
}

DEV_FN void cell_slopes(const struct mhd_step_args *a, const struct work *k, const struct planes *p,
                        int at)
{
    for (int v = 0; v < a->cells + 3; v++) {
        const double *q = p->q + v * CELLS + at;
        const struct hydro_slope3 x = hydro_slopes(a->slope, q - P, q, q + P, W, a->theta);
        p->slope[0][v * CELLS + at] = x.x;
        if (k->ndim > 1) p->slope[1][v * CELLS + at] = x.y;
        if (k->ndim > 2) p->slope[2][v * CELLS + at] = x.z;
    }
}

/* Cells −1 … 2t after half a step. */
DEV_FN void traces(const struct mhd_step_args *a, const struct work *k, struct godunov_shared *s,
                   struct dev_block *b)
{
    const struct planes p = planes_of(a, k);
    const double h = 0.5 * (a->p.dt / a->p.dx);
    enum { R = N + 2 };
    PHASE (i, R * R * R) {
        const struct place c = place_of(i, R, -1);
        if (!is_near(k, s, c)) continue;
        const int at = place_at(c);
        cell_slopes(a, k, &p, at);
        mhd_cell_half(k->ndim, true, CELLS, a->cells, GAS_ENERGY, h, a->g.gamma, p.q + at,
                      p.slope[0] + at, p.slope[1] + at, p.slope[2] + at, p.cell + at);
        for (int v = GAS; v < a->cells; v++) {
            double x = p.q[v * CELLS + at];
            for (int d = 0; d < k->ndim; d++)
                x = mhd_scalar_half(x, h, p.q[(1 + d) * CELLS + at], p.slope[d][v * CELLS + at]);
            p.cell[v * CELLS + at] = x;
        }
        for (int d = 0; d < k->ndim; d++) {
            const double *b0 = p.half + d * CELLS + at;
            p.cell[(a->cells + d) * CELLS + at] = mhd_middle(b0[0], b0[step_along(d)]);
        }
    }
}

/* ---- fluxes ---- */

DEV_FN void law_flux(const struct mhd_step_args *a, const struct work *k,
                     const struct godunov_shared *s, const struct face *f, int type,
                     enum mhd_solver rs)
{
    const struct planes p = planes_of(a, k);
    const int d = f->dir, e = (d + 1) % 3, g = (d + 2) % 3, at = f->at, ndim = k->ndim;
    const struct mhd_sides sides = {
        p.cell - f->step, p.slope[d] - f->step, p.cell,
        p.slope[d],       p.half + d * CELLS,   mhd_turned_to(d, a->cells)};
    const struct mhd_through x = mhd_through_at(rs, false, sides, CELLS, at, a->p.dt / a->p.dx,
                                                a->g);
    double *F = k->flux + f->i;
    F[0] = x.f.r;
    F[sides.t.n * ALL] = x.f.u;
    F[sides.t.a * ALL] = x.f.v;
    F[sides.t.b * ALL] = x.f.w;
    F[4 * ALL] = x.f.e;
    for (int v = GAS; v < a->cells; v++) {
        const double *lo = sides.lo + v * CELLS + at, *hi = sides.hi + v * CELLS + at,
                     *ls = sides.lo_slope + v * CELLS + at, *hs = sides.hi_slope + v * CELLS + at;
        F[v * ALL] = mhd_scalar_flux(x.f.r, x.f.left, *lo, *ls, *hi, *hs);
    }
    if (e >= ndim) F[(a->cells + e - ndim) * ALL] = x.f.b;
    if (g >= ndim) F[(a->cells + g - ndim) * ALL] = x.f.c;
    if (!a->pfix) return;
    F[(a->cells + 3 - ndim) * ALL] = x.volume;
    F[(a->cells + 4 - ndim) * ALL] = x.f.eint;
}

/* roe: whether the kernel has Roe's solver, which needs more registers than the others. */
DEV_FN void all_fluxes(const struct mhd_step_args *a, const struct work *k,
                       struct godunov_shared *s, struct dev_block *b, bool roe)
{
    switch (a->riemann) {
#define FACE(name, text)                                                                           \
    case MHD_##name:                                                                               \
        if (roe || MHD_##name != MHD_ROE) fluxes(a, k, s, b, 0, MHD_##name);                       \
        break;
#define EDGE(name, text)
#include "mhd/solvers.def"
    case MHD_SOLVERS:
        break;
    }
}

/* ---- forces ---- */

/* Offsets, by axis, of the cells on the lower side of an edge. */
struct edge_at {
    int d, at, back_b, back_c;
};

DEV_FN double force_at(const struct mhd_step_args *a, const struct planes *p,
                       enum mhd_edge_solver solver, struct edge_at e)
{
    const int b = (e.d + 1) % 3, c = (e.d + 2) % 3;
    struct mhd_around x;
    x.total = 0;
    x.u = 1 + b, x.v = 1 + c, x.w = 1 + e.d, x.c = a->cells + e.d;
    for (int i = 0; i < 4; i++) {
        const int up = i & 1, upper = i >> 1;
        const int back = (up ? 0 : e.back_b) + (upper ? 0 : e.back_c);
        const struct mhd_corner corner = {p->cell - back, p->slope[b] - back, p->slope[c] - back,
                                          up ? -0.5 : 0.5, upper ? -0.5 : 0.5};
        x.of[up][upper] = corner;
    }
    for (int side = 0; side < 2; side++) {
        const int back_c = side ? 0 : e.back_c, back_b = side ? 0 : e.back_b;
        x.face_b[side] = p->half + b * CELLS - back_c;
        x.slope_b[side] = p->steep + 2 * b * CELLS - back_c;
        x.face_c[side] = p->half + c * CELLS - back_b;
        x.slope_c[side] = p->steep + (2 * c + 1) * CELLS - back_b;
    }
    return mhd_force_at(solver, &x, CELLS, e.at, a->p.dt / a->p.dx, a->g);
}

/* Forces at the lower edges of cells 0 … 2t that touch an own cell; 0 at a refined one. */
DEV_FN void forces(const struct mhd_step_args *a, const struct work *k, struct godunov_shared *s,
                   struct dev_block *b, enum mhd_edge_solver solver)
{
    const struct planes p = planes_of(a, k);
    enum { R = N + 1, EDGES = R * R * R };
    PHASE (i, 3 * EDGES) {
        const int d = i / EDGES, e = (d + 1) % 3, f = (d + 2) % 3;
        const struct place c = place_of(i % EDGES, R, 0);
        if (c.x[d] >= N || (k->ndim < 3 && d < 2)) continue;
        const struct edge_at edge = {d, place_at(c), step_along(e), step_along(f)};
        int own = k->full, split = 0;
        for (int side = 0; side < 4; side++) {
            struct place n = c;
            n.x[e] -= side & 1;
            n.x[f] -= side >> 1;
            own |= s->own[slot_at(n.x[0], n.x[1], n.x[2])];
            split |= s->split[place_at(n)];
        }
        if (own) p.force[d * CELLS + edge.at] = split ? 0.0 : force_at(a, &p, solver, edge);
    }
}

DEV_FN void all_forces(const struct mhd_step_args *a, const struct work *k,
                       struct godunov_shared *s, struct dev_block *b, bool roe)
{
    if (k->ndim < 2) return;
    switch (a->riemann2d) {
#define FACE(name, text)
#define EDGE(name, text)                                                                           \
    case MHD_EDGE_##name:                                                                          \
        if (roe || MHD_EDGE_##name != MHD_EDGE_ROE) forces(a, k, s, b, MHD_EDGE_##name);           \
        break;
#include "mhd/solvers.def"
    case MHD_EDGE_SOLVERS:
        break;
    }
}

/* Adds the forces along the edges of own octs with registers to these. */
DEV_FN void add_edge_registers(const struct mhd_step_args *a, const struct work *k,
                               struct godunov_shared *s, struct dev_block *b)
{
    const struct planes p = planes_of(a, k);
    const struct reflux *r = &a->p.level.reflux[LAW_SYSTEM];
    PHASE (i, 12 * T * T * T) {
        const int d = i % 12 / 4, on_b = i % 12 & 1, on_c = i % 12 >> 1 & 1;
        const struct place oct = place_of(i / 12, T, 0);
        const int slot = slot_at(2 * oct.x[0], 2 * oct.x[1], 2 * oct.x[2]);
        if (!s->own[slot] || r->row[s->slot[slot]] < 0 || (k->ndim < 3 && d < 2)) continue;
        struct place c = {{2 * oct.x[0], 2 * oct.x[1], 2 * oct.x[2]}};
        c.x[(d + 1) % 3] += 2 * on_b;
        c.x[(d + 2) % 3] += 2 * on_c;
        const double *from = p.force + d * CELLS + place_at(c);
        double *to = reflux_row(r, s->slot[slot]) + 6 * r->nflux + reflux_edge(d, on_b, on_c);
        *to += k->ndim > 2 ? 0.25 * (from[0] + from[step_along(d)]) : 0.5 * from[0];
    }
}

/* ---- update of a cell ---- */

/* The field on the faces of a cell after the forces at its edges, and, along missing axes, after
 * fluxes. */
DEV_FN void faces_next(const struct mhd_step_args *a, const struct work *k,
                       const struct own_cell *o, const double was[LAW_FACES], double is[LAW_FACES])
{
    const struct planes p = planes_of(a, k);
    const double *x = p.force + o->at, *y = x + CELLS, *z = y + CELLS;
    for (int side = 0; side < 2; side++) {
        const int ax = side, ay = side * W, az = side * P;
        is[side] = was[side], is[2 + side] = was[2 + side], is[4 + side] = was[4 + side];
        if (k->ndim < 2) continue;
        is[side] = patch_add_edges(is[side], z[ax], z[ax + W]);
        is[2 + side] = patch_take_edges(is[2 + side], z[ay], z[ay + 1]);
        if (k->ndim < 3) continue;
        is[side] = patch_take_edges(is[side], y[ax], y[ax + P]);
        is[2 + side] = patch_add_edges(is[2 + side], x[ay], x[ay + P]);
        is[4 + side] = patch_take_edges(patch_add_edges(is[4 + side], y[az], y[az + 1]), x[az],
                                        x[az + W]);
    }
    for (int d = k->ndim; d < 3; d++)
        is[2 * d] = cell_sum(k, o, a->cells + d - k->ndim, was[2 * d]);
}

/* Adds the registers of the finer level. */
DEV_FN void cell_collect(const struct mhd_step_args *a, const struct work *k, struct own_cell *o,
                         double is[LAW_FACES])
{
    const int ndim = k->ndim;
    for (int axis = 0; axis < ndim; axis++) {
        const double *low = collected(a, o, 2 * axis), *high = collected(a, o, 2 * axis + 1);
        const int extra = a->cells + 3 - ndim;
        for (int v = 0; v < GAS; v++) o->u[v] = registers_added(o->u[v], low, high, v);
        for (int d = ndim; d < 3; d++)
            is[2 * d] = registers_added(is[2 * d], low, high, a->cells + d - ndim);
        for (int n = 0; n < 2 && a->pfix; n++)
            o->extra[n] = registers_added(o->extra[n], low, high, extra + n);
    }
    const struct patch_cell own = {a->p.l, o->oct, o->c};
    if (ndim > 1)
        edges_add_cell(&a->p.level, &a->p.mesh->lev[a->p.l + 1].reflux[LAW_SYSTEM], ndim, own,
                       false, is);
}

/* Divergence of the old velocities in a cell. */
DEV_FN double cell_expansion(const struct mhd_step_args *a, const struct work *k,
                             const struct own_cell *o)
{
    const double *old = planes_of(a, k).old, dx2 = a->p.dx + a->p.dx;
    double sum = 0.0;
    if (expansion_is_beside(a, o)) return expansion_beside(a, old, o, a->g.smallr);
    for (int d = 0; d < k->ndim; d++) {
        const double *v = old + d * CELLS + o->at;
        sum = mhd_expansion_add(sum, v[-step_along(d)], v[step_along(d)], dx2);
    }
    return sum;
}

DEV_FN void cell_scalars(const struct mhd_step_args *a, const struct work *k,
                         const struct own_cell *o, double old_density)
{
    double factor = hydro_scalar_factor(old_density, o->u[0], a->g.smallr);
    for (int v = GAS; v < a->cells; v++) {
        double old = a->p.level.fld[FLD_U + v][o->oct][o->c], x = cell_next(a, k, o, v, old);
        *new_of(a, o, v) = factor != 0.0 ? old * factor : x;
    }
}

DEV_FN void law_finish(const struct mhd_step_args *a, const struct work *k, struct own_cell *o)
{
    const struct level *lv = &a->p.level;
    const double smallr = a->g.smallr;
    double *u = o->u, eint = 0.0, old[GAS], was[LAW_FACES], is[LAW_FACES];
    const int extra = a->cells + 3 - k->ndim;
    mhd_faces_read(lv, o->oct, o->c, was);
    faces_next(a, k, o, was, is);
    for (int v = 0; v < GAS; v++) old[v] = lv->fld[FLD_U + v][o->oct][o->c];
    for (int v = 0; v < GAS; v++) u[v] = cell_sum(k, o, v, old[v]);
    for (int n = 0; n < 2; n++) o->extra[n] = a->pfix ? cell_sum(k, o, extra + n, 0.0) : 0.0;
    if (a->p.reflux & 2) cell_collect(a, k, o, is);
    for (int d = k->ndim; d < 3; d++) is[2 * d + 1] = is[2 * d];
    const double before = mhd_energy(was), after = mhd_energy(is);
    if (a->gravity)
        hydro_pull_cell(u[0], &u[1], &u[2], &u[3], &u[4], old[0], lv->fld[FLD_FX][o->oct][o->c],
                        lv->fld[FLD_FY][o->oct][o->c], lv->fld[FLD_FZ][o->oct][o->c], smallr,
                        a->p.dt);
    if (a->pfix)
        eint = hydro_pdv_cell(old[0], old[1], old[2], old[3], old[4] - before, o->extra[1],
                              cell_expansion(a, k, o), smallr, a->g.gm1, a->p.dt);
    if (a->cells > GAS) cell_scalars(a, k, o, old[0]);
    if (a->pfix) {
        const double e = u[4] - after,
                     chosen = hydro_energy_choose(u[0], u[1], u[2], u[3], e, eint, o->extra[0],
                                                  3.0 * a->hexp * a->p.dx, a->p.dx, a->p.dt, smallr,
                                                  a->par->gas->beta_fix);
        u[4] = chosen == e ? u[4] : chosen + after;
    }
    for (int v = 0; v < GAS; v++) *new_of(a, o, v) = u[v];
    for (int f = 0; f < LAW_FACES; f++) *new_of(a, o, a->cells + f) = is[f];
}

/* ---- the kernels ---- */

DEV_FN void mhd_tiles(const struct mhd_step_args *a, struct godunov_shared *s, struct dev_block *b,
                      bool roe)
{
    for (int32_t tile = b->index; tile < a->p.tiles; tile += b->count) {
        struct work k = work_of(a, b, tile);
        find_octs(a, &k, s, b);
        if (!k.full) find_near(s, b);
        load(a, &k, s, b);
        fill_boundaries(a, &k, s, b);
        primitive(a, &k, s, b);
        starts(a, &k, s, b);
        halves(a, &k, s, b);
        traces(a, &k, s, b);
        all_fluxes(a, &k, s, b, roe);
        all_forces(a, &k, s, b, roe);
        if (a->p.reflux & 1) add_registers(a, &k, s, b);
        if (a->p.reflux & 1 && k.ndim > 1) add_edge_registers(a, &k, s, b);
        finish(a, &k, s, b);
    }
}

KERNEL(mhd_step, struct mhd_step_args, struct godunov_shared, MHD_THREADS)
{
    mhd_tiles(a, s, b, false);
}

KERNEL(mhd_step_roe, struct mhd_step_args, struct godunov_shared, MHD_THREADS)
{
    mhd_tiles(a, s, b, true);
}
