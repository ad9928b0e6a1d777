/* hydro/godunov_kernel: the Godunov step of a level, a tile a block. The scheme is that of flux.c
 * and hydro.c with their point functions; the order of the loops is another. Between barriers:
 * primitive variables of a patch of 12³ cells; rates of change of the cells that have a face of an
 * own cell; fluxes through all faces; sums of the fluxes, and what is left of the step of each
 * cell. Primitive variables and rates of density, velocities and pressure are in memory that the
 * block shares, where two blocks fit. Limited slopes are found twice, for the rates and for each
 * face, since they do not fit. All else is in scratch of the block, which stays in the cache: a
 * block does one tile after the other. A kernel for each limiter. (docs/gpu.md) */
#include "dev/kernel.h"
#include "hydro/cell_kern.h"
#include "hydro/interp_kern.h"
#include "hydro/kernels.h"

/* Per side: octs and cells of a tile, both with halo. Smaller tiles, of the coarsest levels, lie in
 * the same arrays. P: from plane to plane of the patch; half a warp works on eight cells in x of
 * two planes, which so are in different banks of the shared memory. */
enum { T = 1 << DEV_DEPTH, E = T + 2, N = 2 * T, W = N + 4, P = W * W + 8 };
enum {
    CELLS = W * P,
    OWN = N * N * N,
    SIDE = N * N,
    TRACED = OWN + 6 * SIDE, /* own cells first, then those beyond each side */
    FACES = OWN + SIDE,      /* of a direction: below own cells, then those of the upper side */
    ALL = 3 * FACES,
    GAS = GAS_SCALARS
};
/* Own cells are numbered by x, z, y. */
enum { NEXT_X = 1, NEXT_Y = SIDE, NEXT_Z = N };

struct godunov_shared {
    double q[GAS][CELLS], rate[GAS][TRACED]; /* rate: times half the step */
    int64_t x0[3];
    int32_t slot[DEV_SLOTS];
    unsigned char own[DEV_SLOTS], split[CELLS];
};

/* A tile at work: its octs per side; its own octs; its scratch. */
struct work {
    int t, full;
    int32_t tile, first, count;
    double *flux, *scalar, *old;
};

DEV_FN struct work work_of(const struct godunov_args *a, const struct dev_block *b, int32_t tile)
{
    struct work k;
    k.t = 1 << a->depth;
    k.tile = tile;
    k.first = a->first[tile];
    k.count = a->first[tile + 1] - k.first;
    k.full = k.count == T * T * T;
    k.flux = a->scratch + (int64_t)b->index * GODUNOV_PLANES(a->nvar, a->pfix) * DEV_CELLS;
    k.scalar = k.flux + (int64_t)a->nflux * ALL;
    k.old = k.scalar + (int64_t)(a->nvar - GAS) * CELLS;
    return k;
}

/* Own coordinates, from 0: of the patch's cell, of its oct's place. */
DEV_FN int cell_at(int x, int y, int z)
{
    return x + 2 + W * (y + 2) + P * (z + 2);
}

DEV_FN int place_at(int x, int y, int z)
{
    return ((x + 2) >> 1) + E * (((y + 2) >> 1) + E * ((z + 2) >> 1));
}

/* ---- gather ---- */

DEV_FN void find_octs(const struct godunov_args *a, const struct work *k, struct godunov_shared *s,
                      struct dev_block *b)
{
    const int e = k->t + 2;
    PHASE (i, DEV_SLOTS) {
        int x = i % E, y = i / E % E, z = i / E / E, inside = x < e && y < e && z < e;
        int own = x > 0 && x <= k->t && y > 0 && y <= k->t && z > 0 && z <= k->t;
        int32_t j = DEV_UNUSED;
        if (inside) j = a->slot[(int64_t)k->tile * DEV_SLOTS + x + e * (y + e * z)];
        s->slot[i] = j;
        s->own[i] = own && j >= k->first && j < k->first + k->count;
        if (i > 0) continue;
        int64_t at[3];
        okey_coords(a->level.key[k->first], at);
        for (int d = 0; d < 3; d++) s->x0[d] = at[d] & ~(int64_t)(k->t - 1);
    }
}

/* A cell of the patch: the oct and the number of the cell whose gas it takes, and the boundaries of
 * the box between both, bits of faces. */
struct origin {
    int32_t slot;
    int c, beyond;
};

DEV_FN struct origin origin_beyond(const struct godunov_args *a, const struct work *k,
                                   const struct godunov_shared *s, int at)
{
    int x[3] = {at % P % W, at % P / W, at / P}, beyond = 0;
    const int end = 2 * k->t + 2;
    for (int d = 0; d < 3; d++) {
        int upper = x[d] >= end, f = 2 * d + upper;
        int64_t edge = upper ? ((int64_t)1 << (a->l - 1)) - k->t : 0;
        if ((!upper && x[d] >= 2) || !a->mesh->bounded[f] || s->x0[d] != edge) continue;
        int mirrored = upper ? 2 * end - 1 - x[d] : 3 - x[d], last = upper ? end - 1 : 2;
        x[d] = a->par->bound[f] == BOUND_REFLECT ? mirrored : last;
        beyond |= 1 << f;
    }
    struct origin o = {s->slot[(x[0] >> 1) + E * ((x[1] >> 1) + E * (x[2] >> 1))],
                       (x[0] & 1) + 2 * (x[1] & 1) + 4 * (x[2] & 1), beyond};
    return o;
}

DEV_FN const double *row_of(const struct godunov_args *a, struct origin o)
{
    return a->row + (int64_t)(DEV_MISSING - o.slot) * (a->nvar + 3) * 8 + o.c;
}

/* The first boundary of direction d that is between, as a face; −1: none. */
DEV_FN int face_beyond(int beyond, int d)
{
    int both = beyond >> 2 * d & 3;
    return both ? 2 * d + (both >> 1) : -1;
}

/* Passive scalars, divided by the density. */
DEV_FN void load_scalars(const struct godunov_args *a, const struct work *k, struct origin o,
                         int at, double inv)
{
    for (int v = GAS; v < a->nvar; v++) {
        double x = o.slot >= 0 ? a->level.fld[FLD_U + v][o.slot][o.c] : row_of(a, o)[8 * v];
        for (int d = 0; o.beyond && d < 3; d++) {
            int f = face_beyond(o.beyond, d);
            if (f >= 0) x = hydro_boundary_scalar(a->par, f, v, x);
        }
        k->scalar[(v - GAS) * CELLS + at] = x * inv;
    }
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
    }
    for (int v = 0; v < GAS; v++) s->q[v][at] = u[v];
}

DEV_FN double pull_of(const struct godunov_args *a, struct origin o, int d)
{
    double g = o.slot >= 0 ? a->level.fld[FLD_FX + d][o.slot][o.c]
                           : row_of(a, o)[8 * (a->nvar + d)];
    int f = face_beyond(o.beyond, d);
    return f >= 0 && a->par->bound[f] == BOUND_REFLECT ? -g : g;
}

/* Primitive variables with the gravity predictor. */
DEV_FN void cell_prim(const struct godunov_args *a, const struct work *k, struct godunov_shared *s,
                      struct origin o, int at)
{
    if (o.beyond) bound_cell(a, s, o.beyond, at);
    struct hydro_state x = hydro_prim(s->q[0][at], s->q[1][at], s->q[2][at], s->q[3][at],
                                      s->q[4][at], a->gas);
    double v[3] = {x.u, x.v, x.w};
    s->q[0][at] = x.r;
    s->q[4][at] = x.p;
    for (int d = 0; d < 3; d++) {
        if (a->pfix) k->old[d * CELLS + at] = v[d];
        if (a->gravity) v[d] += pull_of(a, o, d) * (0.5 * a->dt);
        s->q[1 + d][at] = v[d];
    }
    if (a->nvar > GAS) load_scalars(a, k, o, at, 1.0 / x.r);
}

/* The cells of the patch, by octs. */
DEV_FN int patch_at(int i)
{
    int p = i >> 3;
    return 2 * (p % E) + (i & 1) + W * (2 * (p / E % E) + (i >> 1 & 1)) +
           P * (2 * (p / E / E) + (i >> 2 & 1));
}

DEV_FN struct origin origin_of(const struct godunov_args *a, const struct work *k,
                               const struct godunov_shared *s, int i, int at)
{
    struct origin o = {s->slot[i >> 3], i & 7, 0};
    return o.slot == NBR_BOUNDARY ? origin_beyond(a, k, s, at) : o;
}

DEV_FN void gather(const struct godunov_args *a, const struct work *k, struct godunov_shared *s,
                   struct dev_block *b)
{
    PHASE (i, 8 * DEV_SLOTS) {
        int at = patch_at(i), split = 0;
        struct origin o = origin_of(a, k, s, i, at);
        if (o.slot >= 0) {
            for (int v = 0; v < GAS; v++)
                dev_load(&s->q[v][at], &a->level.fld[FLD_U + v][o.slot][o.c]);
            split = !o.beyond && a->level.child[o.slot][o.c] >= 0;
        } else if (o.slot <= DEV_MISSING) {
            for (int v = 0; v < GAS; v++) dev_load(&s->q[v][at], row_of(a, o) + 8 * v);
        }
        s->split[at] = (unsigned char)split;
    }
    PHASE (i, 8 * DEV_SLOTS) {
        int at = patch_at(i);
        struct origin o = origin_of(a, k, s, i, at);
        if (o.slot >= 0 || o.slot <= DEV_MISSING) cell_prim(a, k, s, o, at);
    }
}

/* ---- rates ---- */

DEV_FN int own_near(const struct godunov_shared *s, int p)
{
    const unsigned char *own = s->own + p;
    return own[0] | own[-1] | own[1] | own[-E] | own[E] | own[-E * E] | own[E * E];
}

/* Slopes of variable v of a cell. */
DEV_FN struct hydro_slope3 slopes_of(enum slope type, const double *q, int at, double theta)
{
    return hydro_slopes(type, q + at - P, q + at, q + at + P, W, theta);
}

DEV_FN void cell_rates(const struct godunov_args *a, struct godunov_shared *s, enum slope type,
                       int at, int to)
{
    const double theta = a->gas.theta, h = 0.5 * (a->dt / a->dx);
    struct hydro_slope3 r = slopes_of(type, s->q[0], at, theta),
                        u = slopes_of(type, s->q[1], at, theta),
                        v = slopes_of(type, s->q[2], at, theta),
                        w = slopes_of(type, s->q[3], at, theta),
                        p = slopes_of(type, s->q[4], at, theta);
    const struct hydro_velocity x = {u.c, v.c, w.c};
    const double div = u.x + v.y + w.z, volume = 1.0 / r.c;
    s->rate[0][to] = hydro_rate_density(x, r, div) * h;
    s->rate[1][to] = hydro_rate_velocity(x, u, p.x, volume) * h;
    s->rate[2][to] = hydro_rate_velocity(x, v, p.y, volume) * h;
    s->rate[3][to] = hydro_rate_velocity(x, w, p.z, volume) * h;
    s->rate[4][to] = hydro_rate_pressure(x, p, div, a->gas.gamma) * h;
}

DEV_FN void rates(const struct godunov_args *a, const struct work *k, struct godunov_shared *s,
                  struct dev_block *b, enum slope type)
{
    PHASE (i, TRACED) {
        int x = i % N, z = i / N % N, y = i / SIDE;
        if (i < OWN) {
            if (!k->full && !own_near(s, place_at(x, y, z))) continue;
        } else {
            int f = (i - OWN) / SIDE, d = f >> 1, in = f & 1 ? N - 1 : 0, p = x, q = z;
            x = d == 0 ? in : p;
            y = d == 0 ? p : d == 1 ? in : q;
            z = d == 2 ? in : q;
            if (!k->full && !s->own[place_at(x, y, z)]) continue;
            int out = f & 1 ? 1 : -1;
            x += d == 0 ? out : 0;
            y += d == 1 ? out : 0;
            z += d == 2 ? out : 0;
        }
        cell_rates(a, s, type, cell_at(x, y, z), i);
    }
}

/* ---- fluxes ---- */

/* A face: its direction and number, its cells below and above and their rates. */
struct face {
    int dir, i, at, step, lower, upper;
};

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
    const double h = 0.5 * (a->dt / a->dx);
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

/* Zero where the finer level has its own. */
DEV_FN void face_flux(const struct godunov_args *a, const struct work *k,
                      const struct godunov_shared *s, const struct face *f, enum slope type,
                      enum riemann rs)
{
    const double dtdx = a->dt / a->dx, smallr = a->gas.smallr, theta = a->gas.theta;
    const int dir = f->dir, n = 1 + dir, t1 = dir == 0 ? 2 : 1, t2 = dir == 2 ? 2 : 3;
    double *F = k->flux + f->i;
    if (s->split[f->at] | s->split[f->at - f->step]) {
        for (int v = 0; v < a->nflux; v++) F[v * ALL] = 0.0;
        return;
    }
    struct sides r = sides_of(s, type, f, 0, theta), u = sides_of(s, type, f, n, theta),
                 v = sides_of(s, type, f, t1, theta), w = sides_of(s, type, f, t2, theta),
                 p = sides_of(s, type, f, 4, theta);
    struct hydro_state L = {hydro_floor_density(r.l, s->q[0][f->at - f->step], smallr), u.l, v.l,
                            w.l, p.l},
                       R = {hydro_floor_density(r.r, s->q[0][f->at], smallr), u.r, v.r, w.r, p.r};
    struct hydro_flux x = hydro_face_solve(rs, L, R, a->gas);
    const double mass = x.r * dtdx, left = x.left * dtdx;
    F[0] = mass;
    F[n * ALL] = x.u * dtdx;
    F[t1 * ALL] = x.v * dtdx;
    F[t2 * ALL] = x.w * dtdx;
    F[4 * ALL] = x.e * dtdx;
    for (int i = GAS; i < a->nvar; i++) {
        struct sides q = scalar_sides(a, s, type, f, k->scalar + (i - GAS) * CELLS);
        F[i * ALL] = left * q.l + (mass - left) * q.r;
    }
    if (!a->pfix) return;
    F[a->nvar * ALL] = 0.5 * (L.u + R.u) * dtdx;
    F[(a->nvar + 1) * ALL] = x.eint * dtdx;
}

/* The place among the rates of the cell beyond a side; a, b: its other coordinates. */
DEV_FN int beyond_side(int f, int a, int b)
{
    return OWN + f * SIDE + a + N * b;
}

DEV_FN void fluxes(const struct godunov_args *a, const struct work *k, struct godunov_shared *s,
                   struct dev_block *b, enum slope type, enum riemann rs)
{
    PHASE (i, ALL) {
        struct face f;
        int dir = i / FACES, j = i - dir * FACES, x = j % N, z = j / N % N, y = j / SIDE;
        int p = dir == 0 ? y : x, q = dir == 2 ? y : z, upper = j >= OWN;
        int one = dir == 0 ? NEXT_X : dir == 1 ? NEXT_Y : NEXT_Z;
        if (upper) { /* of the upper side: x and z are its two coordinates */
            p = x;
            q = z;
            x = dir == 0 ? N : p;
            y = dir == 0 ? p : dir == 1 ? N : q;
            z = dir == 2 ? N : q;
        }
        int in = dir == 0 ? x : dir == 1 ? y : z, at = x + N * z + SIDE * y;
        if (!k->full && !(s->own[place_at(x, y, z)] |
                          s->own[place_at(x - (dir == 0), y - (dir == 1), z - (dir == 2))]))
            continue;
        f.dir = dir;
        f.i = i;
        f.at = cell_at(x, y, z);
        f.step = dir == 0 ? 1 : dir == 1 ? W : P;
        f.lower = in == 0 ? beyond_side(2 * dir, p, q) : at - one;
        f.upper = upper ? beyond_side(2 * dir + 1, p, q) : at;
        face_flux(a, k, s, &f, type, rs);
    }
}

DEV_FN void fluxes_by(const struct godunov_args *a, const struct work *k, struct godunov_shared *s,
                      struct dev_block *b, enum slope type)
{
    switch (a->riemann) {
#define RIEMANN(name, text, flux)                                                                  \
    case RIEMANN_##name:                                                                           \
        fluxes(a, k, s, b, type, RIEMANN_##name);                                                  \
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

/* Faces of an own cell: below and above, by directions. */
struct cell_faces {
    int lo[3], hi[3];
};

DEV_FN int face_at(int d, int x, int y, int z)
{
    int in = d == 0 ? x : d == 1 ? y : z, p = d == 0 ? y : x, q = d == 2 ? y : z;
    return d * FACES + (in == N ? OWN + p + N * q : x + N * z + SIDE * y);
}

DEV_FN struct cell_faces faces_of(int x, int y, int z)
{
    struct cell_faces f = {
        {face_at(0, x, y, z), face_at(1, x, y, z), face_at(2, x, y, z)},
        {face_at(0, x + 1, y, z), face_at(1, x, y + 1, z), face_at(2, x, y, z + 1)}};
    return f;
}

/* The fluxes through the faces of own octs that have no neighbour there, into their registers. */
DEV_FN void add_registers(const struct godunov_args *a, const struct work *k,
                          struct godunov_shared *s, struct dev_block *b)
{
    const struct level *lv = &a->level;
    PHASE (i, 6 * T * T * T) {
        int f = i % 6, d = f >> 1, j = i / 6, x = j % T, y = j / T % T, z = j / T / T;
        int place = place_at(2 * x, 2 * y, 2 * z);
        int32_t oct = s->slot[place];
        if (!s->own[place] || lv->nbr[oct][f] != NBR_NONE) continue;
        int far = f & 1 ? 2 : 0, X = 2 * x, Y = 2 * y, Z = 2 * z;
        double *row = lv->edge_flux + ((int64_t)lv->edge[oct] * 6 + f) * a->nflux;
        for (int v = 0; v < a->nflux; v++) {
            for (int m = 0; m < 4; m++) {
                int p = m & 1, q = m >> 1;
                int at = d == 0   ? face_at(0, X + far, Y + p, Z + q)
                         : d == 1 ? face_at(1, X + p, Y + far, Z + q)
                                  : face_at(2, X + p, Y + q, Z + far);
                double flux = k->flux[v * ALL + at] * 0.125;
                row[v] += f & 1 ? flux : -flux;
            }
        }
    }
}

/* ---- the rest of the step of a cell ---- */

/* A cell of an own oct, its place in the patch, its faces, its new state. */
struct own_cell {
    int32_t oct;
    int c, at;
    struct cell_faces face;
    double u[GAS];
    double velocity, energy; /* sums of the extra fluxes */
};

/* The registers of the finer level across face f, or NULL. */
DEV_FN const double *collected(const struct godunov_args *a, const struct own_cell *o, int f)
{
    const struct level *lv = &a->level, *fine = &a->mesh->lev[a->l + 1];
    if (!(a->reflux & 2) || lv->child[o->oct][o->c] >= 0) return NULL;
    return hydro_register(lv, fine, o->oct, o->c, f, a->nflux);
}

DEV_FN void cell_collect(const struct godunov_args *a, struct own_cell *o)
{
    for (int f = 0; f < 6; f++) {
        const double *row = collected(a, o, f);
        if (!row) continue;
        for (int v = 0; v < GAS; v++) o->u[v] += row[v];
        if (!a->pfix) continue;
        o->velocity += row[a->nvar];
        o->energy += row[a->nvar + 1];
    }
}

DEV_FN double cell_sum(const struct work *k, const struct own_cell *o, int v, double u)
{
    const double *x = k->flux + v * ALL;
    const struct cell_faces f = o->face;
    return hydro_add_fluxes(u, x[f.lo[0]], x[f.hi[0]], x[f.lo[1]], x[f.hi[1]], x[f.lo[2]],
                            x[f.hi[2]]);
}

/* Flux in − flux out of variable v over the six faces of a cell, without an old value. */
DEV_FN double cell_extra(const struct work *k, const struct own_cell *o, int v)
{
    const double *x = k->flux + v * ALL;
    const struct cell_faces f = o->face;
    return hydro_add_faces(hydro_add_faces(x[f.lo[0]] - x[f.hi[0]], x[f.lo[1]], x[f.hi[1]]),
                           x[f.lo[2]], x[f.hi[2]]);
}

/* Velocity component of the cell across face f, and its distance: 1, or 1½ cells where it is
 * coarser. */
DEV_FN double velocity_across(const struct godunov_args *a, const struct work *k,
                              const struct own_cell *o, int f, double *distance)
{
    const int d = f >> 1, step = d == 0 ? 1 : d == 1 ? W : P;
    *distance = 1.0;
    if (((o->c >> d & 1) != 0) != (f & 1) || a->level.nbr[o->oct][f] != NBR_NONE)
        return k->old[d * CELLS + o->at + (f & 1 ? step : -step)];
    struct hydro_cell x = hydro_cell_across(a->mesh, a->l, o->oct, o->c, f);
    const struct level *up = &a->mesh->lev[x.level];
    *distance = 1.5;
    return up->fld[FLD_U + 1 + d][x.oct][x.cell] *
           (1.0 / hydro_max(up->fld[FLD_U][x.oct][x.cell], a->gas.smallr));
}

/* The divergence of the old velocities. */
DEV_FN double cell_expansion(const struct godunov_args *a, const struct work *k,
                             const struct own_cell *o)
{
    const double dx = a->dx, dx2 = dx + dx, *v = k->old + o->at;
    const int y = W, z = P;
    int edge = 0;
    for (int f = 0; f < 6; f++) edge |= a->level.nbr[o->oct][f] == NBR_NONE;
    if (!edge)
        return (v[1] - v[-1]) / dx2 + (v[CELLS + y] - v[CELLS - y]) / dx2 +
               (v[2 * CELLS + z] - v[2 * CELLS - z]) / dx2;
    double div = 0.0;
    for (int d = 0; d < 3; d++) {
        double from, to, lo = velocity_across(a, k, o, 2 * d, &from),
                         hi = velocity_across(a, k, o, 2 * d + 1, &to);
        div += (hi - lo) / (from * dx + to * dx);
    }
    return div;
}

DEV_FN double *new_of(const struct godunov_args *a, const struct own_cell *o, int v)
{
    return a->out + ((int64_t)v * a->level.nown + o->oct) * 8 + o->c;
}

DEV_FN void cell_scalars(const struct godunov_args *a, const struct work *k,
                         const struct own_cell *o, double old_density)
{
    double factor = hydro_scalar_factor(old_density, o->u[0], a->gas.smallr);
    for (int v = GAS; v < a->nvar; v++) {
        double old = a->level.fld[FLD_U + v][o->oct][o->c], x = cell_sum(k, o, v, old);
        for (int f = 0; a->reflux & 2 && f < 6; f++) {
            const double *row = collected(a, o, f);
            if (row) x += row[v];
        }
        *new_of(a, o, v) = factor != 0.0 ? old * factor : x;
    }
}

DEV_FN void cell_finish(const struct godunov_args *a, const struct work *k, struct own_cell *o)
{
    const struct level *lv = &a->level;
    const double smallr = a->gas.smallr;
    double *u = o->u, eint = 0.0, old[GAS];
    for (int v = 0; v < GAS; v++) old[v] = lv->fld[FLD_U + v][o->oct][o->c];
    for (int v = 0; v < GAS; v++) u[v] = cell_sum(k, o, v, old[v]);
    o->velocity = a->pfix ? cell_extra(k, o, a->nvar) : 0.0;
    o->energy = a->pfix ? cell_extra(k, o, a->nvar + 1) : 0.0;
    if (a->reflux & 2) cell_collect(a, o);
    if (a->gravity)
        hydro_pull_cell(u[0], &u[1], &u[2], &u[3], &u[4], old[0], lv->fld[FLD_FX][o->oct][o->c],
                        lv->fld[FLD_FY][o->oct][o->c], lv->fld[FLD_FZ][o->oct][o->c], smallr,
                        a->dt);
    if (a->pfix)
        eint = hydro_pdv_cell(old[0], old[1], old[2], old[3], old[4], o->energy,
                              cell_expansion(a, k, o), smallr, a->par->gamma - 1.0, a->dt);
    if (a->nvar > GAS) cell_scalars(a, k, o, old[0]);
    if (a->pfix)
        u[4] = hydro_energy_choose(u[0], u[1], u[2], u[3], u[4], eint, o->velocity,
                                   3.0 * a->hexp * a->dx, a->dx, a->dt, smallr, a->par->beta_fix);
    for (int v = 0; v < GAS; v++) *new_of(a, o, v) = u[v];
}

DEV_FN void finish(const struct godunov_args *a, const struct work *k, struct godunov_shared *s,
                   struct dev_block *b)
{
    PHASE (i, OWN) {
        /* a warp: whole octs */
        int x = i % N, z = (i >> 3 & 1) + 2 * (i >> 5 & 3), y = (i >> 4 & 1) + 2 * (i >> 7);
        int p = place_at(x, y, z);
        if (!k->full && !s->own[p]) continue;
        struct own_cell o;
        o.oct = s->slot[p];
        o.c = (x & 1) + 2 * (y & 1) + 4 * (z & 1);
        o.at = cell_at(x, y, z);
        o.face = faces_of(x, y, z);
        cell_finish(a, k, &o);
    }
}

/* ---- the kernels ---- */

DEV_FN void tiles(const struct godunov_args *a, struct godunov_shared *s, struct dev_block *b,
                  enum slope type)
{
    for (int32_t tile = b->index; tile < a->tiles; tile += b->count) {
        struct work k = work_of(a, b, tile);
        find_octs(a, &k, s, b);
        gather(a, &k, s, b);
        rates(a, &k, s, b, type);
        fluxes_by(a, &k, s, b, type);
        if (a->reflux & 1) add_registers(a, &k, s, b);
        finish(a, &k, s, b);
    }
}

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
