/* patch/godunov: the Godunov step of a level on a device, one tile per block, for any law. The file
 * of a law's kernels (hydro/godunov_kernel.c is an example) defines
 *
 *     LAW_ARGS      type of its arguments, which begin with struct patch_args p
 *     LAW_CORE      number of variables in shared memory, the first of the variables
 *     LAW_FIELD(v)  field of variable v
 *     LAW_SYSTEM    system of the registers
 *     LAW_MIRRORED(a, f)  whether cells beyond boundary f mirror those within
 *     LAW_LIMITER, LAW_SOLVER  types of two compile-time constants passed to the law
 *     LAW_PARTS(a)  (if given) number of parts of LAW_CORE variables, and as many fluxes, that are
 *                   computed one after the other, as no flux needs another part
 *     LAW_RATES     (if given) number of values of a cell that law_rates makes
 *     LAW_EDGES     (only) of a law with a field on faces, which gathers, traces and runs through
 *                   the tiles by itself (mhd/step_kernel.c): its variables are in scratch memory
 *
 * includes this header, defines the functions declared below as functions of the law, and kernels
 * that call `tiles`. Sums and registers are as in patch/sweep and patch/patch, in another order of
 * loops. Barriers separate four stages: primitive variables of a patch of 12³ cells; rates of
 * change of the cells that share a face with an own cell; fluxes through all faces; sums of the
 * fluxes, and the update of each cell. Primitive variables and rates of the core are in shared
 * memory, sized so that two blocks fit. Limited slopes do not fit, and are computed twice, for the
 * rates and for each face. Everything else is in scratch memory of the block, which stays in the
 * cache: a block computes one tile after the other. (docs/gpu.md) */
#pragma once
#ifdef LAW_CORE
#include "dev/kernel.h"
#include "patch/across_kern.h"
#include "patch/kernels.h"
#include "patch/reflux.h"

/* First variable of the part that is computed, and its number of fluxes. */
#ifdef LAW_PARTS
#define LAW_FIRST(k) ((k)->part * LAW_CORE)
#define LAW_NFLUX(a) LAW_CORE
#else
#define LAW_PARTS(a) 1
#define LAW_FIRST(k) 0
#define LAW_NFLUX(a) ((a)->p.nflux)
#endif
#ifndef LAW_RATES
#define LAW_RATES LAW_CORE
#endif

/* Sizes per side: octs and cells of a tile, both with halo. Smaller tiles, of the coarsest levels,
 * use the same arrays. P: stride between planes of the patch, such that the eight cells in x of two
 * planes that half a warp reads are in different banks of shared memory. */
enum { T = 1 << DEV_DEPTH, E = T + 2, N = 2 * T, W = N + 4, P = W * W + 8 };
enum {
    CELLS = W * P,
    OWN = N * N * N,
    SIDE = N * N,
    TRACED = OWN + 6 * SIDE, /* own cells first, then the cells beyond each side */
    /* faces of a direction: lower faces of own cells, then faces of the upper side */
    FACES = OWN + SIDE,
    ALL = 3 * FACES
};
/* Strides between own cells, which are numbered by x, z, y. */
enum { NEXT_X = 1, NEXT_Y = SIDE, NEXT_Z = N };
enum { AXIS_MISSING = -1 }; /* neither boundary is there */

struct godunov_shared {
#ifndef LAW_EDGES
    double q[LAW_CORE][CELLS], rate[LAW_RATES][TRACED]; /* rate: times half the step */
#endif
    int64_t x0[3]; /* position of the tile on the level; AXIS_MISSING: that axis is missing */
    int32_t slot[DEV_SLOTS];
    unsigned char own[DEV_SLOTS], split[CELLS];
#ifdef LAW_EDGES
    unsigned char near[DEV_SLOTS]; /* whether an own oct is there, or across a face or a corner */
#endif
};

/* The tile being computed: octs per side, own octs, scratch memory: fluxes, planes of the law. */
struct work {
    int t, full, ndim, part;
    int32_t tile, first, count;
    double *flux, *own;
};

/* Source of a cell of the patch: oct and cell, and the boundaries of the box between both, a bit
 * for each face. */
struct origin {
    int32_t slot;
    int c, beyond;
};

/* A face: direction, index, the cells below and above and their rates. */
struct face {
    int dir, i, at, step, lower, upper;
};

/* Faces of an own cell below and above, by direction. */
struct cell_faces {
    int lo[3], hi[3];
};

/* A cell of an own oct: its position in the patch, its faces, its new state. */
struct own_cell {
    int32_t oct;
    int c, at;
    struct cell_faces face;
    double u[LAW_CORE], extra[LAW_BESIDE]; /* extra: sums of fluxes without a conserved variable */
};

/* Functions of the law: primitive variables of a cell from the loaded values; rates of change;
 * fluxes, by calling `fluxes` with a solver; flux through one face; new values of a cell. */
#ifndef LAW_EDGES
DEV_FN void law_primitive(const LAW_ARGS *a, const struct work *k, struct godunov_shared *s,
                          struct origin o, int at);
DEV_FN void law_rates(const LAW_ARGS *a, const struct work *k, struct godunov_shared *s,
                      LAW_LIMITER type, int at, int to);
DEV_FN void law_fluxes(const LAW_ARGS *a, const struct work *k, struct godunov_shared *s,
                       struct dev_block *b, LAW_LIMITER type);
#endif
DEV_FN void law_flux(const LAW_ARGS *a, const struct work *k, const struct godunov_shared *s,
                     const struct face *f, LAW_LIMITER type, LAW_SOLVER rs);
DEV_FN void law_finish(const LAW_ARGS *a, const struct work *k, struct own_cell *o);

DEV_FN struct work work_of(const LAW_ARGS *a, const struct dev_block *b, int32_t tile)
{
    struct work k;
    k.t = 1 << a->p.depth;
    k.ndim = a->p.ndim;
    k.part = 0;
    k.tile = tile;
    k.first = a->p.first[tile];
    k.count = a->p.first[tile + 1] - k.first;
    k.full = k.count == T * T * T;
    k.flux = a->p.scratch + (int64_t)b->index * a->p.planes * DEV_CELLS;
    k.own = k.flux + (int64_t)LAW_NFLUX(a) * ALL;
    return k;
}

/* Index of a cell of the patch, and of an oct, from coordinates in the tile, counted from 0. */
DEV_FN int cell_at(int x, int y, int z)
{
    return x + 2 + W * (y + 2) + P * (z + 2);
}

DEV_FN int slot_at(int x, int y, int z)
{
    return ((x + 2) >> 1) + E * (((y + 2) >> 1) + E * ((z + 2) >> 1));
}

/* ---- gather ---- */

DEV_FN void find_octs(const LAW_ARGS *a, const struct work *k, struct godunov_shared *s,
                      struct dev_block *b)
{
    const int e = k->t + 2, ty = k->ndim > 1 ? k->t : 1, tz = k->ndim > 2 ? k->t : 1;
    PHASE (i, DEV_SLOTS) {
        int x = i % E, y = i / E % E, z = i / E / E, inside = x < e && y < e && z < e;
        int own = x > 0 && x <= k->t && y > 0 && y <= ty && z > 0 && z <= tz;
        int32_t j = DEV_UNUSED;
        if (inside) j = a->p.slot[(int64_t)k->tile * DEV_SLOTS + x + e * (y + e * z)];
        s->slot[i] = j;
        s->own[i] = own && j >= k->first && j < k->first + k->count;
        if (i > 0) continue;
        int64_t at[3];
        okey_coords(a->p.level.key[k->first], at);
        for (int d = 0; d < 3; d++)
            s->x0[d] = d < k->ndim ? at[d] & ~(int64_t)(k->t - 1) : AXIS_MISSING;
    }
}

#ifndef LAW_EDGES
DEV_FN struct origin origin_beyond(const LAW_ARGS *a, const struct work *k,
                                   const struct godunov_shared *s, int at)
{
    int x[3] = {at % P % W, at % P / W, at / P}, beyond = 0;
    const int end = 2 * k->t + 2;
    for (int d = 0; d < 3; d++) {
        int upper = x[d] >= end, f = 2 * d + upper;
        int64_t origin = upper ? ((int64_t)1 << (a->p.l - 1)) - k->t : 0;
        if ((!upper && x[d] >= 2) || !a->p.mesh->bounded[f] || s->x0[d] != origin) continue;
        int mirrored = upper ? 2 * end - 1 - x[d] : 3 - x[d], last = upper ? end - 1 : 2;
        x[d] = LAW_MIRRORED(a, f) ? mirrored : last;
        beyond |= 1 << f;
    }
    struct origin o = {s->slot[(x[0] >> 1) + E * ((x[1] >> 1) + E * (x[2] >> 1))],
                       (x[0] & 1) + 2 * (x[1] & 1) + 4 * (x[2] & 1), beyond};
    return o;
}

/* First boundary along direction d in `beyond`, as a face; −1: none. */
DEV_FN int face_beyond(int beyond, int d)
{
    int both = beyond >> 2 * d & 3;
    return both ? 2 * d + (both >> 1) : -1;
}
#endif

DEV_FN const double *row_of(const LAW_ARGS *a, struct origin o)
{
    return a->p.row + (int64_t)(DEV_MISSING - o.slot) * (a->p.nvar + LAW_BESIDE) * 8 + o.c;
}

/* Index of the i-th cell of the patch, in the order of octs. */
DEV_FN int patch_at(int i)
{
    int p = i >> 3;
    return 2 * (p % E) + (i & 1) + W * (2 * (p / E % E) + (i >> 1 & 1)) +
           P * (2 * (p / E / E) + (i >> 2 & 1));
}

#ifndef LAW_EDGES
DEV_FN struct origin origin_of(const LAW_ARGS *a, const struct work *k,
                               const struct godunov_shared *s, int i, int at)
{
    struct origin o = {s->slot[i >> 3], i & 7, 0};
    return o.slot == NBR_BOUNDARY ? origin_beyond(a, k, s, at) : o;
}

DEV_FN void gather(const LAW_ARGS *a, const struct work *k, struct godunov_shared *s,
                   struct dev_block *b)
{
    PHASE (i, 8 * DEV_SLOTS) {
        int at = patch_at(i), split = 0;
        struct origin o = origin_of(a, k, s, i, at);
        if (o.slot >= 0) {
            for (int v = 0; v < LAW_CORE; v++)
                dev_load(&s->q[v][at], &a->p.level.fld[LAW_FIELD(LAW_FIRST(k) + v)][o.slot][o.c]);
            split = !o.beyond && a->p.level.child[o.slot][o.c] >= 0;
        } else if (o.slot <= DEV_MISSING) {
            for (int v = 0; v < LAW_CORE; v++)
                dev_load(&s->q[v][at], row_of(a, o) + 8 * (LAW_FIRST(k) + v));
        }
        s->split[at] = (unsigned char)split;
    }
    PHASE (i, 8 * DEV_SLOTS) {
        int at = patch_at(i);
        struct origin o = origin_of(a, k, s, i, at);
        if (o.slot >= 0 || o.slot <= DEV_MISSING) law_primitive(a, k, s, o, at);
    }
}

/* ---- rates ---- */

DEV_FN int own_near(const struct godunov_shared *s, int p)
{
    const unsigned char *own = s->own + p;
    return own[0] | own[-1] | own[1] | own[-E] | own[E] | own[-E * E] | own[E * E];
}

DEV_FN void rates(const LAW_ARGS *a, const struct work *k, struct godunov_shared *s,
                  struct dev_block *b, LAW_LIMITER type)
{
    PHASE (i, TRACED) {
        int x = i % N, z = i / N % N, y = i / SIDE;
        if (i < OWN) {
            if (!k->full && !own_near(s, slot_at(x, y, z))) continue;
        } else {
            int f = (i - OWN) / SIDE, d = f >> 1, in = f & 1 ? N - 1 : 0, p = x, q = z;
            x = d == 0 ? in : p;
            y = d == 0 ? p : d == 1 ? in : q;
            z = d == 2 ? in : q;
            if (!k->full && !s->own[slot_at(x, y, z)]) continue;
            int out = f & 1 ? 1 : -1;
            x += d == 0 ? out : 0;
            y += d == 1 ? out : 0;
            z += d == 2 ? out : 0;
        }
        law_rates(a, k, s, type, cell_at(x, y, z), i);
    }
}
#endif

/* ---- fluxes ---- */

/* An axis that is missing has two faces, the same for all cells, through which flow −0 and +0:
 * their difference, −0, changes no sum. */
DEV_FN void none_through(const LAW_ARGS *a, const struct work *k, int i)
{
    for (int v = 0; v < LAW_NFLUX(a); v++) k->flux[v * ALL + i] = i % FACES ? 0.0 : -0.0;
}

/* Index among the rates of the cell beyond side f; a, b: its other coordinates. */
DEV_FN int outside_cell(int f, int a, int b)
{
    return OWN + f * SIDE + a + N * b;
}

DEV_FN void fluxes(const LAW_ARGS *a, const struct work *k, struct godunov_shared *s,
                   struct dev_block *b, LAW_LIMITER type, LAW_SOLVER rs)
{
    PHASE (i, ALL) {
        struct face f;
        int dir = i / FACES, j = i - dir * FACES, x = j % N, z = j / N % N, y = j / SIDE;
        int p = dir == 0 ? y : x, q = dir == 2 ? y : z, upper = j >= OWN;
        int one = dir == 0 ? NEXT_X : dir == 1 ? NEXT_Y : NEXT_Z;
        if (upper) { /* faces of the upper side: x and z are the two coordinates */
            p = x;
            q = z;
            x = dir == 0 ? N : p;
            y = dir == 0 ? p : dir == 1 ? N : q;
            z = dir == 2 ? N : q;
        }
        int in = dir == 0 ? x : dir == 1 ? y : z, at = x + N * z + SIDE * y;
        if (dir >= k->ndim) {
            if (j < 2) none_through(a, k, i);
            continue;
        }
        if (!k->full && !(s->own[slot_at(x, y, z)] |
                          s->own[slot_at(x - (dir == 0), y - (dir == 1), z - (dir == 2))]))
            continue;
        f.dir = dir;
        f.i = i;
        f.at = cell_at(x, y, z);
        f.step = dir == 0 ? 1 : dir == 1 ? W : P;
        f.lower = in == 0 ? outside_cell(2 * dir, p, q) : at - one;
        f.upper = upper ? outside_cell(2 * dir + 1, p, q) : at;
        if (s->split[f.at] | s->split[f.at - f.step])
            for (int v = 0; v < LAW_NFLUX(a); v++) k->flux[v * ALL + i] = 0.0;
        else
            law_flux(a, k, s, &f, type, rs);
    }
}

DEV_FN int face_at(int d, int x, int y, int z)
{
    int in = d == 0 ? x : d == 1 ? y : z, p = d == 0 ? y : x, q = d == 2 ? y : z;
    return d * FACES + (in == N ? OWN + p + N * q : x + N * z + SIDE * y);
}

DEV_FN struct cell_faces faces_of(const struct work *k, int x, int y, int z)
{
    struct cell_faces f = {
        {face_at(0, x, y, z), face_at(1, x, y, z), face_at(2, x, y, z)},
        {face_at(0, x + 1, y, z), face_at(1, x, y + 1, z), face_at(2, x, y, z + 1)}};
    for (int d = 1; d < 3; d++) {
        if (d < k->ndim) continue;
        f.lo[d] = d * FACES; /* none_through */
        f.hi[d] = d * FACES + 1;
    }
    return f;
}

/* Adds the fluxes through the n fine faces of a face across axis d to a register, in the order of
 * the CPU; with a field on faces a mirror image has the same sums. */
DEV_FN double faces_added(double to, const double flux[4], int n, int d, double sign)
{
#ifdef LAW_EDGES
    double sum = flux[0];
    if (n == 2) sum = flux[0] + flux[1];
    if (n == 4 && d < 2) sum = (flux[0] + flux[1]) + (flux[2] + flux[3]);
    if (n == 4 && d == 2) sum = (flux[0] + flux[3]) + (flux[1] + flux[2]);
    return to + sum * sign;
#else
    for (int m = 0; m < n; m++) to += flux[m] * sign;
    return to;
#endif
}

/* Adds the fluxes through faces of own octs without a neighbour there to their registers. */
DEV_FN void add_registers(const LAW_ARGS *a, const struct work *k, struct godunov_shared *s,
                          struct dev_block *b)
{
    const struct level *lv = &a->p.level;
    const int n = 1 << (k->ndim - 1); /* fine faces */
    const double weight = 0.5 / n;
    PHASE (i, 6 * T * T * T) {
        int f = i % 6, d = f >> 1, j = i / 6, x = j % T, y = j / T % T, z = j / T / T;
        int slot = slot_at(2 * x, 2 * y, 2 * z);
        int32_t oct = s->slot[slot];
        if (!s->own[slot] || lv->nbr[oct][f] != NBR_NONE) continue;
        int far = f & 1 ? 2 : 0, X = 2 * x, Y = 2 * y, Z = 2 * z;
        double *row = reflux_row(&lv->reflux[LAW_SYSTEM], oct) + f * a->p.nflux + LAW_FIRST(k);
        for (int v = 0; v < LAW_NFLUX(a); v++) {
            double flux[4];
            for (int m = 0; m < n; m++) {
                int p = m & 1, q = m >> 1;
                int at = d == 0   ? face_at(0, X + far, Y + p, Z + q)
                         : d == 1 ? face_at(1, X + p, Y + far, Z + q)
                                  : face_at(2, X + p, Y + q, Z + far);
                flux[m] = k->flux[v * ALL + at];
            }
            row[v] = faces_added(row[v], flux, n, d, f & 1 ? weight : -weight);
        }
    }
}

/* ---- update of a cell ---- */

/* Registers of the finer level across face f, or NULL. */
DEV_FN const double *collected(const LAW_ARGS *a, const struct own_cell *o, int f)
{
    const struct level *lv = &a->p.level, *fine = &a->p.mesh->lev[a->p.l + 1];
    if (!(a->p.reflux & 2) || lv->child[o->oct][o->c] >= 0) return NULL;
    return reflux_across(lv, fine, o->oct, o->c, f, LAW_SYSTEM, a->p.nflux);
}

/* Adds value v of the registers at the lower and the upper face along an axis, NULL: none; with a
 * field on faces a mirror image has the same sums. */
DEV_FN double registers_added(double x, const double *low, const double *high, int v)
{
#ifdef LAW_EDGES
    if (low && high) return x + (low[v] + high[v]);
#endif
    if (low) x += low[v];
    if (high) x += high[v];
    return x;
}

DEV_FN double cell_sum(const struct work *k, const struct own_cell *o, int v, double u)
{
    const double *x = k->flux + v * ALL;
    const struct cell_faces f = o->face;
    return patch_add_fluxes(u, x[f.lo[0]], x[f.hi[0]], x[f.lo[1]], x[f.hi[1]], x[f.lo[2]],
                            x[f.hi[2]]);
}

/* Flux in − flux out of variable v over the six faces of a cell, for a variable without an old
 * value. */
DEV_FN double cell_extra(const struct work *k, const struct own_cell *o, int v)
{
    const double *x = k->flux + v * ALL;
    const struct cell_faces f = o->face;
    return patch_add_faces(patch_add_faces(x[f.lo[0]] - x[f.hi[0]], x[f.lo[1]], x[f.hi[1]]),
                           x[f.lo[2]], x[f.hi[2]]);
}

/* New value of variable v of a cell, u before the step, from the fluxes through its faces and the
 * registers. */
DEV_FN double cell_next(const LAW_ARGS *a, const struct work *k, const struct own_cell *o, int v,
                        double u)
{
    double x = cell_sum(k, o, v, u);
    for (int d = 0; a->p.reflux & 2 && d < 3; d++)
        x = registers_added(x, collected(a, o, 2 * d), collected(a, o, 2 * d + 1),
                            LAW_FIRST(k) + v);
    return x;
}

DEV_FN double *new_of(const LAW_ARGS *a, const struct own_cell *o, int v)
{
    return a->p.out + ((int64_t)v * a->p.level.nown + o->oct) * 8 + o->c;
}

DEV_FN void finish(const LAW_ARGS *a, const struct work *k, struct godunov_shared *s,
                   struct dev_block *b)
{
    PHASE (i, OWN) {
        /* numbering by which a warp has whole octs */
        int x = i % N, z = (i >> 3 & 1) + 2 * (i >> 5 & 3), y = (i >> 4 & 1) + 2 * (i >> 7);
        int p = slot_at(x, y, z);
        if (!k->full && !s->own[p]) continue;
        struct own_cell o;
        o.oct = s->slot[p];
        o.c = (x & 1) + 2 * (y & 1) + 4 * (z & 1);
        o.at = cell_at(x, y, z);
        o.face = faces_of(k, x, y, z);
        law_finish(a, k, &o);
    }
}

/* ---- the step of a tile ---- */

#ifndef LAW_EDGES
DEV_FN void tiles(const LAW_ARGS *a, struct godunov_shared *s, struct dev_block *b,
                  LAW_LIMITER type)
{
    for (int32_t tile = b->index; tile < a->p.tiles; tile += b->count) {
        struct work k = work_of(a, b, tile);
        find_octs(a, &k, s, b);
        for (; k.part < LAW_PARTS(a); k.part++) {
            gather(a, &k, s, b);
            rates(a, &k, s, b, type);
            law_fluxes(a, &k, s, b, type);
            if (a->p.reflux & 1) add_registers(a, &k, s, b);
            finish(a, &k, s, b);
        }
    }
}
#endif
#endif
