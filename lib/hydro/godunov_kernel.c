/* hydro/godunov_kernel: the Godunov step of a level, a tile a block. The scheme is that of flux.c
 * and hydro.c with their point functions; the order of the loops is another: gather with a halo,
 * primitive variables, then for each direction the fluxes through all faces (whose cells are traced
 * anew for each face, which costs less than memory for traced states would), their sums, the
 * registers at coarse-fine boundaries; at last what is left of the step of each cell. A block does
 * one tile after the other in scratch of its own, which stays in the cache. */
#include "dev/kernel.h"
#include "hydro/cell_kern.h"
#include "hydro/interp_kern.h"
#include "hydro/kernels.h"

enum { CELLS = DEV_CELLS, EXTRA = CELLS / 2 };

struct godunov_shared {
    int32_t slot[DEV_SLOTS];
    int place[1 << 3 * DEV_DEPTH]; /* of each own oct */
    int64_t x0[3];
};

/* A tile at work: octs and cells per side, without and with halo; its own octs; its scratch. */
struct work {
    int t, e, n, w, nvar;
    int32_t first, count;
    double *q, *f, *old, *flux, *extra;
    unsigned char *split;
};

DEV_FN struct work work_of(const struct godunov_args *a, const struct dev_block *b, int32_t tile)
{
    struct work k;
    k.t = 1 << a->depth;
    k.e = k.t + 2;
    k.n = 2 * k.t;
    k.w = k.n + 4;
    k.nvar = a->nvar;
    k.first = a->first[tile];
    k.count = a->first[tile + 1] - k.first;
    k.q = a->scratch + (int64_t)b->index * GODUNOV_PLANES(a->nvar) * CELLS;
    k.f = k.q + (int64_t)a->nvar * CELLS;
    k.old = k.f + 3 * CELLS;
    k.flux = k.old + 3 * CELLS;
    k.extra = k.flux + (int64_t)(a->nvar + 2) * CELLS;
    k.split = (unsigned char *)(k.extra + CELLS);
    return k;
}

/* The patch's cell of cell c of the oct at a place. */
DEV_FN int cell_at(const struct work *k, int place, int c)
{
    int x = place % k->e, y = place / k->e % k->e, z = place / k->e / k->e;
    return 2 * x + (c & 1) + k->w * (2 * y + (c >> 1 & 1) + k->w * (2 * z + (c >> 2)));
}

/* ---- gather ---- */

DEV_FN void load_cell(const struct godunov_args *a, const struct work *k, int32_t i, int at, int c)
{
    const struct level *lv = &a->mesh->lev[a->l];
    if (i >= 0) {
        for (int v = 0; v < k->nvar; v++) k->q[v * CELLS + at] = lv->fld[FLD_U + v][i][c];
        for (int d = 0; a->gravity && d < 3; d++) k->f[d * CELLS + at] = lv->fld[FLD_FX + d][i][c];
        k->split[at] = lv->child[i][c] >= 0;
    } else if (i <= DEV_MISSING) {
        const double *row = a->row + (int64_t)(DEV_MISSING - i) * (k->nvar + 3) * 8 + c;
        for (int v = 0; v < k->nvar; v++) k->q[v * CELLS + at] = row[8 * v];
        for (int d = 0; a->gravity && d < 3; d++) k->f[d * CELLS + at] = row[8 * (k->nvar + d)];
        k->split[at] = 0;
    }
}

/* One cell beyond boundary f from the cell `from`. */
DEV_FN void bound_cell(const struct godunov_args *a, const struct work *k, int f, int to, int from)
{
    double u[NVAR_MAX];
    for (int v = 0; v < k->nvar; v++) u[v] = k->q[v * CELLS + from];
    hydro_boundary_state(a->par, f, u);
    for (int v = 0; v < k->nvar; v++) k->q[v * CELLS + to] = u[v];
    for (int d = 0; a->gravity && d < 3; d++) {
        double x = k->f[d * CELLS + from];
        k->f[d * CELLS + to] = a->par->bound[f] == BOUND_REFLECT && d == f >> 1 ? -x : x;
    }
    k->split[to] = 0;
}

DEV_FN void fill_bounds(const struct godunov_args *a, const struct work *k,
                        struct godunov_shared *s, struct dev_block *b)
{
    const int w = k->w;
    const int64_t n = (int64_t)1 << (a->l - 1);
    for (int f = 0; f < 6; f++) {
        int d = f >> 1, step[3] = {1, w, w * w};
        int x = step[(d + 1) % 3], y = step[(d + 2) % 3];
        if (!a->mesh->bounded[f] || (f & 1 ? s->x0[d] + k->t != n : s->x0[d] != 0)) continue;
        PHASE (i, 2 * w * w) {
            int h = i / (w * w), to = f & 1 ? k->n + 2 + h : 1 - h;
            int from = f & 1 ? k->n + 1 - h : 2 + h;
            int at = i % w * x + i / w % w * y;
            if (a->par->bound[f] != BOUND_REFLECT) from = f & 1 ? k->n + 1 : 2;
            bound_cell(a, k, f, to * step[d] + at, from * step[d] + at);
        }
    }
}

DEV_FN void gather(const struct godunov_args *a, const struct work *k, int32_t tile,
                   struct godunov_shared *s, struct dev_block *b, int bounded)
{
    const struct level *lv = &a->mesh->lev[a->l];
    const int e = k->e, mask = k->t - 1;
    PHASE (i, e * e * e) {
        s->slot[i] = a->slot[(int64_t)tile * DEV_SLOTS + i];
    }
    PHASE (i, k->count) {
        int64_t x[3];
        okey_coords(lv->key[k->first + i], x);
        s->place[i] = (int)(x[0] & mask) + 1 +
                      e * ((int)(x[1] & mask) + 1 + e * ((int)(x[2] & mask) + 1));
        if (i == 0)
            for (int d = 0; d < 3; d++) s->x0[d] = x[d] & ~(int64_t)mask;
    }
    PHASE (i, 8 * e * e * e) {
        load_cell(a, k, s->slot[i >> 3], cell_at(k, i >> 3, i & 7), i & 7);
    }
    if (bounded) fill_bounds(a, k, s, b);
}

/* ---- states and fluxes ---- */

/* Primitive variables in place of conserved ones, with the gravity predictor. */
DEV_FN void cell_prim(const struct godunov_args *a, const struct work *k, int i)
{
    double *q = k->q + i;
    struct hydro_state x = hydro_prim(q[0], q[CELLS], q[2 * CELLS], q[3 * CELLS], q[4 * CELLS],
                                      a->gas);
    double v[3] = {x.u, x.v, x.w};
    q[0] = x.r;
    q[4 * CELLS] = x.p;
    for (int d = 0; d < 3; d++) {
        if (a->pfix) k->old[d * CELLS + i] = v[d];
        if (a->gravity) v[d] += k->f[d * CELLS + i] * (0.5 * a->dt);
        q[(1 + d) * CELLS] = v[d];
    }
    for (int n = GAS_SCALARS; n < k->nvar; n++) q[n * CELLS] = q[n * CELLS] * (1.0 / x.r);
}

DEV_FN double along(struct hydro_slope3 d, int dir)
{
    return dir == 0 ? d.x : dir == 1 ? d.y : d.z;
}

DEV_FN double face_value(struct hydro_slope3 d, int dir, int upper, double h)
{
    return upper ? hydro_face_upper(d.c, along(d, dir), h)
                 : hydro_face_lower(d.c, along(d, dir), h);
}

/* Slopes of variable v of a cell. */
DEV_FN struct hydro_slope3 slopes_of(const struct godunov_args *a, const struct work *k, int at,
                                     int v)
{
    const double *x = k->q + v * CELLS + at;
    const int w = k->w, up = w * w;
    return hydro_slopes(a->par->slope_type, x - up, x, x + up, w, a->gas.theta);
}

/* The state of cell `at` traced to its lower or upper face of a direction. Not an array of slopes:
 * it would be indexed in a loop, and live in memory. */
DEV_FN struct hydro_state traced(const struct godunov_args *a, const struct work *k, int at,
                                 int dir, int upper, double h)
{
    struct hydro_slope3 r = slopes_of(a, k, at, 0), u = slopes_of(a, k, at, 1),
                        v = slopes_of(a, k, at, 2), w = slopes_of(a, k, at, 3),
                        p = slopes_of(a, k, at, 4);
    struct hydro_state rate = hydro_trace_rates(r, u, v, w, p, a->gas.gamma), o;
    double x = face_value(u, dir, upper, rate.u * h), y = face_value(v, dir, upper, rate.v * h),
           z = face_value(w, dir, upper, rate.w * h);
    o.r = hydro_floor_density(face_value(r, dir, upper, rate.r * h), r.c, a->gas.smallr);
    o.p = face_value(p, dir, upper, rate.p * h);
    o.u = dir == 0 ? x : dir == 1 ? y : z;
    o.v = dir == 0 ? y : x;
    o.w = dir == 2 ? y : z;
    return o;
}

DEV_FN double traced_scalar(const struct godunov_args *a, const struct work *k, int at, int v,
                            int dir, int upper, double h)
{
    const double *q = k->q + at;
    struct hydro_slope3 d = slopes_of(a, k, at, v);
    double rate = -q[CELLS] * d.x - q[2 * CELLS] * d.y - q[3 * CELLS] * d.z;
    return face_value(d, dir, upper, rate * h);
}

/* Fluxes through the lower face of a cell; zero where the finer level has its own. */
DEV_FN void face_flux(const struct godunov_args *a, const struct work *k, int at, int step, int dir)
{
    const double dtdx = a->dt / a->dx, h = 0.5 * dtdx;
    double *F = k->flux + at;
    if (k->split[at] | k->split[at - step]) {
        for (int v = 0; v < a->nflux; v++) F[v * CELLS] = 0.0;
        return;
    }
    struct hydro_state l = traced(a, k, at - step, dir, 1, h), r = traced(a, k, at, dir, 0, h);
    struct hydro_flux f = hydro_face_solve(a->par->riemann, l, r, a->gas);
    const double mass = f.r * dtdx, left = f.left * dtdx;
    F[0] = mass;
    F[(1 + dir) * CELLS] = f.u * dtdx;
    F[(dir == 0 ? 2 : 1) * CELLS] = f.v * dtdx;
    F[(dir == 2 ? 2 : 3) * CELLS] = f.w * dtdx;
    F[4 * CELLS] = f.e * dtdx;
    for (int v = GAS_SCALARS; v < k->nvar; v++) {
        double L = traced_scalar(a, k, at - step, v, dir, 1, h),
               R = traced_scalar(a, k, at, v, dir, 0, h);
        F[v * CELLS] = left * L + (mass - left) * R;
    }
    if (!a->pfix) return;
    F[k->nvar * CELLS] = 0.5 * (l.u + r.u) * dtdx;
    F[(k->nvar + 1) * CELLS] = f.eint * dtdx;
}

DEV_FN int is_own(const struct work *k, const struct godunov_shared *s, int x, int y, int z)
{
    if (x < 0 || x >= k->n || y < 0 || y >= k->n || z < 0 || z >= k->n) return 0;
    int32_t i = s->slot[(x >> 1) + 1 + k->e * ((y >> 1) + 1 + k->e * ((z >> 1) + 1))];
    return i >= k->first && i < k->first + k->count;
}

DEV_FN void fluxes(const struct godunov_args *a, const struct work *k, struct godunov_shared *s,
                   struct dev_block *b, int dir)
{
    const int nx = k->n + (dir == 0), ny = k->n + (dir == 1), nz = k->n + (dir == 2), w = k->w;
    const int step = dir == 0 ? 1 : dir == 1 ? w : w * w;
    PHASE (i, nx * ny * nz) {
        int x = i % nx, y = i / nx % ny, z = i / nx / ny;
        if (!is_own(k, s, x, y, z) && !is_own(k, s, x - (dir == 0), y - (dir == 1), z - (dir == 2)))
            continue;
        face_flux(a, k, x + 2 + w * (y + 2 + w * (z + 2)), step, dir);
    }
}

/* ---- sums of fluxes ---- */

DEV_FN void add_fluxes(const struct godunov_args *a, const struct work *k, struct godunov_shared *s,
                       struct dev_block *b, int dir)
{
    const struct level *lv = &a->mesh->lev[a->l];
    const int w = k->w, step = dir == 0 ? 1 : dir == 1 ? w : w * w;
    PHASE (i, 8 * k->count) {
        int c = i & 7, at = cell_at(k, s->place[i >> 3], c);
        int32_t oct = k->first + (i >> 3);
        for (int v = 0; v < a->nflux; v++) {
            double d = k->flux[v * CELLS + at] - k->flux[v * CELLS + at + step];
            if (v < k->nvar) {
                double *out = a->out + ((int64_t)v * lv->nown + oct) * 8 + c;
                *out = (dir == 0 ? lv->fld[FLD_U + v][oct][c] : *out) + d;
            } else {
                double *out = k->extra + (v - k->nvar) * EXTRA + i;
                *out = dir == 0 ? d : *out + d;
            }
        }
    }
}

/* The fluxes through the faces of own octs that have no neighbour there, into their registers. */
DEV_FN void add_registers(const struct godunov_args *a, const struct work *k,
                          struct godunov_shared *s, struct dev_block *b, int dir)
{
    const struct level *lv = &a->mesh->lev[a->l];
    const int w = k->w, step = dir == 0 ? 1 : dir == 1 ? w : w * w;
    const int x = dir == 0 ? w : 1, y = dir == 2 ? w : w * w; /* across the face */
    PHASE (i, 2 * k->count) {
        int32_t oct = k->first + (i >> 1);
        int f = 2 * dir + (i & 1);
        if (lv->nbr[oct][f] != NBR_NONE) continue;
        int at = cell_at(k, s->place[i >> 1], 0) + (i & 1) * 2 * step;
        double *row = lv->edge_flux + ((int64_t)lv->edge[oct] * 6 + f) * a->nflux;
        for (int v = 0; v < a->nflux; v++) {
            for (int j = 0; j < 4; j++) {
                double flux = k->flux[v * CELLS + at + (j & 1) * x + (j >> 1) * y] * 0.125;
                row[v] += f & 1 ? flux : -flux;
            }
        }
    }
}

/* ---- the rest of the step of a cell ---- */

/* A cell of an own oct: its number in the tile, its place in the patch, its new state. */
struct own_cell {
    int32_t oct;
    int c, at;
    double *u; /* of variable v: v × nown × 8 further */
    int64_t stride;
    double velocity, energy; /* the extra fluxes */
};

DEV_FN void cell_collect(const struct godunov_args *a, const struct work *k, struct own_cell *o)
{
    const struct level *lv = &a->mesh->lev[a->l];
    if (lv->child[o->oct][o->c] >= 0) return;
    for (int f = 0; f < 6; f++) {
        const double *row = hydro_register(lv, lv + 1, o->oct, o->c, f, a->nflux);
        if (!row) continue;
        for (int v = 0; v < k->nvar; v++) o->u[v * o->stride] += row[v];
        if (!a->pfix) continue;
        o->velocity += row[k->nvar];
        o->energy += row[k->nvar + 1];
    }
}

/* Velocity component of the cell across face f, and its distance: 1, or 1½ cells where it is
 * coarser. */
DEV_FN double velocity_across(const struct godunov_args *a, const struct work *k,
                              const struct own_cell *o, int f, double *distance)
{
    const struct level *lv = &a->mesh->lev[a->l];
    const int d = f >> 1, step = d == 0 ? 1 : d == 1 ? k->w : k->w * k->w;
    *distance = 1.0;
    if (((o->c >> d & 1) != 0) != (f & 1) || lv->nbr[o->oct][f] != NBR_NONE)
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
    const struct level *lv = &a->mesh->lev[a->l];
    const double dx = a->dx, dx2 = dx + dx, *v = k->old + o->at;
    const int y = k->w, z = k->w * k->w;
    int edge = 0;
    for (int f = 0; f < 6; f++) edge |= lv->nbr[o->oct][f] == NBR_NONE;
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

DEV_FN void cell_finish(const struct godunov_args *a, const struct work *k, struct own_cell *o)
{
    const struct level *lv = &a->mesh->lev[a->l];
    const double smallr = a->gas.smallr;
    double *u = o->u, eint = 0.0;
    const int64_t n = o->stride;
    double old[5];
    for (int v = 0; v < 5; v++) old[v] = lv->fld[FLD_U + v][o->oct][o->c];
    if (a->reflux & 2) cell_collect(a, k, o);
    if (a->gravity)
        hydro_pull_cell(u[0], &u[n], &u[2 * n], &u[3 * n], &u[4 * n], old[0],
                        lv->fld[FLD_FX][o->oct][o->c], lv->fld[FLD_FY][o->oct][o->c],
                        lv->fld[FLD_FZ][o->oct][o->c], smallr, a->dt);
    if (a->pfix)
        eint = hydro_pdv_cell(old[0], old[1], old[2], old[3], old[4], o->energy,
                              cell_expansion(a, k, o), smallr, a->par->gamma - 1.0, a->dt);
    double factor = k->nvar > GAS_SCALARS ? hydro_scalar_factor(old[0], u[0], smallr) : 0.0;
    for (int v = GAS_SCALARS; factor != 0.0 && v < k->nvar; v++)
        u[v * n] = lv->fld[FLD_U + v][o->oct][o->c] * factor;
    if (a->pfix)
        u[4 * n] = hydro_energy_choose(u[0], u[n], u[2 * n], u[3 * n], u[4 * n], eint, o->velocity,
                                       3.0 * a->hexp * a->dx, a->dx, a->dt, smallr,
                                       a->par->beta_fix);
}

DEV_FN void finish(const struct godunov_args *a, const struct work *k, struct godunov_shared *s,
                   struct dev_block *b)
{
    const int64_t nown = a->mesh->lev[a->l].nown;
    PHASE (i, 8 * k->count) {
        struct own_cell o;
        o.oct = k->first + (i >> 3);
        o.c = i & 7;
        o.at = cell_at(k, s->place[i >> 3], o.c);
        o.u = a->out + (int64_t)o.oct * 8 + o.c;
        o.stride = nown * 8;
        o.velocity = a->pfix ? k->extra[i] : 0.0;
        o.energy = a->pfix ? k->extra[EXTRA + i] : 0.0;
        cell_finish(a, k, &o);
    }
}

/* ---- the kernels ---- */

DEV_FN void tiles(const struct godunov_args *a, struct godunov_shared *s, struct dev_block *b,
                  int bounded)
{
    for (int32_t tile = b->index; tile < a->tiles; tile += b->count) {
        struct work k = work_of(a, b, tile);
        gather(a, &k, tile, s, b, bounded);
        PHASE (i, k.w * k.w * k.w) {
            cell_prim(a, &k, i);
        }
        for (int dir = 0; dir < 3; dir++) {
            fluxes(a, &k, s, b, dir);
            add_fluxes(a, &k, s, b, dir);
            if (a->reflux & 1) add_registers(a, &k, s, b, dir);
        }
        finish(a, &k, s, b);
    }
}

KERNEL(godunov, struct godunov_args, struct godunov_shared, DEV_THREADS)
{
    tiles(a, s, b, 0);
}

/* The same beside boundaries of the box: its own kernel, for it needs more registers. */
KERNEL(godunov_bounded, struct godunov_args, struct godunov_shared, DEV_THREADS)
{
    tiles(a, s, b, 1);
}
