/* part/kick: force on particles, cloud in cell (Hockney & Eastwood 1988, §5-2-3), kick and drift.
 *
 * The force is taken on level l if all 8 cells of the cloud exist on it, otherwise on the level of
 * the first coarser ancestor of the host where they exist, with that level's cell size; by 2:1
 * balance this is l-1. The cells in and around a block of octs (block.h) are gathered once for all
 * its particles; likewise the cells of the coarser level, when first needed. A particle that left
 * its host or is far out of order gets a block of one oct. Particles that are too few for a block
 * read the cells of their clouds. */
#include <math.h>
#include <string.h>

#include "part/block.h"
#include "part/motion.h"
#include "part/priv.h"
#include "part/sort.h"
#include "vec/vec4.h"

/* Force in the cells of a block and around: three components; the fourth is 0, or NaN in a cell
 * that does not exist, which makes any sum over it NaN. */
struct patch {
    struct block b;
    vec4 f[BLOCK_CELLS];
};

struct gather {
    const struct parts *p;
    const struct mesh *m;
    /* patches of level l, of level l-1 around it, and of any oct */
    struct patch level, coarser, single;
};

static void gather_init(struct gather *g, const struct parts *p, const struct mesh *m)
{
    g->p = p;
    g->m = m;
    g->level.b.level = g->coarser.b.level = g->single.b.level = -1;
}

/* Sets the force beyond a boundary to the force in the cell before it; the normal component changes
 * sign at a mirror. */
static void patch_mirror(struct patch *a, const struct gather *g, int d, int beyond, int before)
{
    static const int stride[3] = {1, BLOCK_SIDE, BLOCK_SIDE * BLOCK_SIDE};
    int along = stride[(d + 1) % 3], across = stride[(d + 2) % 3];
    bool mirror = g->p->reflect[2 * d + (beyond > before)];
    for (int j = 0; j < a->b.width; j++)
        for (int i = 0; i < a->b.width; i++) {
            vec4 *f = a->f + along * i + across * j;
            f[stride[d] * beyond] = f[stride[d] * before];
            if (mirror) f[stride[d] * beyond][d] = -f[stride[d] * before][d];
        }
}

static void patch_boundaries(struct patch *a, const struct gather *g)
{
    int64_t n = (int64_t)1 << a->b.level;
    for (int d = 0; d < 3; d++) {
        if (g->m->bounded[2 * d] && a->b.base[d] < 0) patch_mirror(a, g, d, 0, 1);
        if (g->m->bounded[2 * d + 1] && a->b.base[d] + a->b.width > n)
            patch_mirror(a, g, d, a->b.width - 1, a->b.width - 2);
    }
}

/* Copies the force in the eight cells of an oct to f, with the strides of a patch. */
static inline void oct_force(const struct level *lv, lidx o, vec4 *f)
{
    enum { Y = BLOCK_SIDE, Z = BLOCK_SIDE * BLOCK_SIDE };
    static const vec4 zero;
    for (int c = 0; c < 8; c += 4, f += Z) {
        vec4 x, y, z, out[4];
        memcpy(&x, level_force(lv, 0)[o] + c, sizeof x);
        memcpy(&y, level_force(lv, 1)[o] + c, sizeof y);
        memcpy(&z, level_force(lv, 2)[o] + c, sizeof z);
        vec4_transpose((vec4[4]){x, y, z, zero}, out);
        f[0] = out[0];
        f[1] = out[1];
        f[Y] = out[2];
        f[Y + 1] = out[3];
    }
}

static inline vec4 cell_force(const struct level *lv, lidx o, int c)
{
    if (o < 0) return (vec4){0, 0, 0, NAN};
    return (vec4){level_force(lv, 0)[o][c], level_force(lv, 1)[o][c], level_force(lv, 2)[o][c], 0};
}

/* Loads the row of cells along x at (y, z) of the patch; `row`: its octs. The first and the last
 * oct have one cell in the patch; octs between are skipped if they were loaded whole. */
static void row_load(struct patch *a, const struct level *lv, int y, int z, bool all)
{
    int last = a->b.width / 2, c = ((y + 1) & 1) << 1 | ((z + 1) & 1) << 2;
    const lidx *row = a->b.oct + (last + 1) * ((y + 1) / 2 + (last + 1) * ((z + 1) / 2));
    vec4 *f = a->f + BLOCK_SIDE * (y + BLOCK_SIDE * z);
    f[0] = cell_force(lv, row[0], c + 1);
    for (int x = 1; x < last; x++)
        if (all || row[x] < 0) {
            f[2 * x - 1] = cell_force(lv, row[x], c);
            f[2 * x] = cell_force(lv, row[x], c + 1);
        }
    f[2 * last - 1] = cell_force(lv, row[last], c);
}

static void patch_load(struct patch *a, const struct gather *g, int l, lidx oct, int depth)
{
    const struct level *lv = &g->m->lev[l];
    block_set(&a->b, g->m, l, oct, depth);
    int width = a->b.width, side = width / 2 + 1;
    for (int k = 0; k < side * side * side; k++) /* prefetches overlap the latencies */
        for (int d = 0; d < 3 && a->b.oct[k] >= 0; d++)
            __builtin_prefetch(level_force(lv, d)[a->b.oct[k]]);
    for (int z = 1; z < side - 1; z++)
        for (int y = 1; y < side - 1; y++)
            for (int x = 1; x < side - 1; x++) {
                lidx o = a->b.oct[x + side * (y + side * z)];
                if (o < 0) continue;
                oct_force(lv, o,
                          a->f + 2 * x - 1 + BLOCK_SIDE * (2 * y - 1 + BLOCK_SIDE * (2 * z - 1)));
            }
    for (int z = 0; z < width; z++)
        for (int y = 0; y < width; y++)
            row_load(a, lv, y, z, y == 0 || z == 0 || y == width - 1 || z == width - 1);
    patch_boundaries(a, g);
}

/* Interpolated force of a cloud whose first cell is f[0]. */
static inline vec4 cloud_force(const vec4 *f, const double vol[8])
{
    enum { Y = BLOCK_SIDE, Z = BLOCK_SIDE * BLOCK_SIDE };
    return CLOUD_SUM(f[0], f[1], f[Y], f[Y + 1], f[Z], f[Z + 1], f[Z + Y], f[Z + Y + 1], vol);
}

static inline bool force_exists(vec4 f)
{
    return f[3] == 0;
}

/* Force on one particle from a patch around its host or the host's ancestor; NaN: part of its cloud
 * is missing. */
static vec4 patch_force(const struct patch *a, const struct gather *g, lidx host, int64_t i)
{
    int64_t cell[3];
    double w[3], vol[8];
    cloud_find(g->p, g->m, a->b.level, i, cell, w);
    cloud_volumes(w, vol);
    int at = block_put_one(&a->b, g->m->lev[a->b.level].key[host], cell);
    return at < 0 ? (vec4){0, 0, 0, NAN} : cloud_force(a->f + at, vol);
}

/* Force on one particle from the finest oct among its host and the host's ancestors around which
 * its whole cloud exists. */
static vec4 single_force(struct gather *g, int l, int64_t i)
{
    struct patch *a = &g->single;
    lidx oct = g->p->host[i];
    for (int k = l;; k--) {
        BUG_ON(k < 1);
        if (a->b.level != k || a->b.low != oct) patch_load(a, g, k, oct, 0);
        vec4 f = patch_force(a, g, oct, i);
        if (force_exists(f)) return f;
        oct = g->m->lev[k].parent[oct];
    }
}

/* Force on a particle whose cloud crosses the boundary of level l. */
static vec4 coarser_force(struct gather *g, int l, int64_t i)
{
    struct patch *a = &g->coarser;
    lidx oct = g->m->lev[l].parent[g->p->host[i]];
    if (l > 1 && (a->b.level != l - 1 || !block_has(&a->b, oct)))
        patch_load(a, g, l - 1, oct, g->level.b.depth > 0 ? g->level.b.depth - 1 : 0);
    vec4 f = l > 1 ? patch_force(a, g, oct, i) : (vec4){0, 0, 0, NAN};
    return force_exists(f) ? f : single_force(g, l, i);
}

/* Force on particle begin + k without a block: from the cells of its cloud on the finest level
 * where all of them exist. */
static vec4 force_alone(struct gather *g, int l, const struct clouds *c, int64_t begin, int k)
{
    const int64_t i = begin + k;
    lidx oct = g->p->host[i];
    int64_t cell[3];
    double w[3], vol[8];
    for (int d = 0; d < 3; d++) cell[d] = (int64_t)c->cell[d][k], w[d] = c->w[d][k];
    for (int level = l;; cloud_find(g->p, g->m, --level, i, cell, w)) {
        const struct level *lv = &g->m->lev[level];
        struct cells cells;
        vec4 f[8];
        if (!cells_find(&cells, g->m, level, oct, cell)) return single_force(g, l, i);
        cloud_volumes(w, vol);
        for (int j = 0; j < 8; j++) f[j] = cell_force(lv, cells.oct[j], cells.at[j]);
        f[0] = CLOUD_SUM(f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], vol);
        if (force_exists(f[0])) return f[0];
        oct = lv->parent[oct];
    }
}

/* Volumes of the parts of the clouds from … to-1. */
static void volumes_find(const struct clouds *c, int from, int to, double vol[8][CLOUDS])
{
#pragma omp simd
    for (int k = from; k < to; k++) {
        double x = c->w[0][k], y = c->w[1][k], z = c->w[2][k];
        double gg = (1.0 - x) * (1.0 - y), wg = x * (1.0 - y), gw = (1.0 - x) * y, ww = x * y;
        vol[0][k] = gg * (1.0 - z), vol[1][k] = wg * (1.0 - z);
        vol[2][k] = gw * (1.0 - z), vol[3][k] = ww * (1.0 - z);
        vol[4][k] = gg * z, vol[5][k] = wg * z, vol[6][k] = gw * z, vol[7][k] = ww * z;
    }
}

/* Forces on the particles from … to-1 that the patch serves; NaN for others. */
static void block_force(const struct patch *a, const struct clouds *c, int from, int to,
                        vec4 *force)
{
    double vol[8][CLOUDS];
    volumes_find(c, from, to, vol);
    for (int k = from; k < to; k++) {
        double v[8];
        for (int j = 0; j < 8; j++) v[j] = vol[j][k];
        force[k] = c->at[k] < 0 ? (vec4){0, 0, 0, NAN} : cloud_force(a->f + c->at[k], v);
    }
}

/* Transposes the forces on n particles to one row per component. */
static void forces_transpose(int n, const vec4 *force, double *const row[3])
{
    int k = 0;
    for (; k + 4 <= n; k += 4) {
        vec4 turned[4];
        vec4_transpose(force + k, turned);
        memcpy(row[0] + k, &turned[0], sizeof turned[0]);
        memcpy(row[1] + k, &turned[1], sizeof turned[1]);
        memcpy(row[2] + k, &turned[2], sizeof turned[2]);
    }
    for (; k < n; k++)
        for (int d = 0; d < 3; d++) row[d][k] = force[k][d];
}

/* No force acts from axis `first` on, so positions along these axes do not change. */
static void forces_missing(int first, int n, double *const row[3])
{
    for (int d = first; d < 3; d++) memset(row[d], 0, sizeof *row[d] * (size_t)n);
}

static void forces_find(struct gather *g, int l, int64_t begin, int n, double *const row[3])
{
    struct clouds c;
    vec4 force[CLOUDS];
    struct patch *a = &g->level;
    const lidx *host = g->p->host + begin;
    int64_t left = g->p->first[l + 1] - begin;
    if (!g->m->gravity) {
        forces_missing(0, n, row);
        return;
    }
    clouds_find(&c, g->p, g->m, l, begin, n);
    for (int from = 0, to; from < n; from = to) {
        if (a->b.level != l ||
            (!block_has(&a->b, host[from]) && !block_stray(&a->b, left - from, host + from))) {
            int depth = block_depth(g->m, l, left - from, host + from, g->p->block_depth);
            if (depth == 0) {
                force[from] = force_alone(g, l, &c, begin, from);
                to = from + 1;
                continue;
            }
            patch_load(a, g, l, host[from], depth);
        }
        to = block_end(&a->b, left, host, from, n);
        clouds_put(&c, &a->b, g->m->lev[l].key, host, from, to);
        block_force(a, &c, from, to, force);
        for (int k = from; k < to; k++)
            if (!force_exists(force[k]))
                force[k] = c.at[k] < 0 ? single_force(g, l, begin + k)
                                       : coarser_force(g, l, begin + k);
    }
    forces_transpose(n, force, row);
    forces_missing(g->m->ndim, n, row);
}

/* ---- kick and drift ---- */

static inline int clouds_count(int64_t begin, int64_t end)
{
    return end - begin < CLOUDS ? (int)(end - begin) : CLOUDS;
}

/* Rows in which part_synchro caches the force on the particles from `begin` on for part_move. */
static void cached_rows(const struct parts *p, int64_t begin, double *row[3])
{
    for (int d = 0; d < 3; d++) row[d] = (double *)p->scratch[d] + begin;
}

/* Sets dt := 0 for tracers that no force moves, whose velocity and position then stay. */
static void tracers_rest(const struct parts *p, int64_t begin, int n, double *dt)
{
    const int8_t *family = p->family + begin;
    for (int k = 0; k < n; k++) dt[k] = family_goes(family[k], p->frozen) ? dt[k] : 0;
}

/* RAMSES's static: velocities := force. */
static void static_some(struct parts *p, int64_t begin, int n, double *const force[3])
{
    for (int d = 0; d < 3; d++)
        for (int k = 0; k < n; k++)
            if (!p->tracers || family_goes(p->family[begin + k], p->frozen))
                p->v[d][begin + k] = force[d][k];
}

/* The level of the kick; of a tracer that jumps levelp is that of its cell. */
static void levels_set(struct parts *p, int l, int64_t begin, int n)
{
    int32_t *levelp = p->levelp + begin;
    for (int k = 0; k < n; k++)
        if (!part_jumps(p, begin + k)) levelp[k] = l;
}

static void synchro_some(struct parts *p, int l, int64_t begin, int n, double *const force[3],
                         const double *dtnew, const double *dtold)
{
    double dt[CLOUDS];
    const int32_t *levelp = p->levelp + begin;
    for (int k = 0; k < n; k++) dt[k] = part_kick_dt(levelp[k], l, dtnew, dtold);
    levels_set(p, l, begin, n);
    if (p->is_static) {
        static_some(p, begin, n, force);
        return;
    }
    if (p->tracers) tracers_rest(p, begin, n, dt);
    for (int d = 0; d < 3; d++) {
        double *restrict v = p->v[d] + begin;
        const double *restrict f = force[d];
#pragma omp simd
        for (int k = 0; k < n; k++) v[k] = part_kicked(v[k], f[k], dt[k]);
    }
}

/* move_some with a time step for each particle. Particles that rest have no force: in the rows that
 * part_synchro keeps, theirs may be anything after part_promote. */
static void move_each(struct parts *p, int64_t begin, int n, double *const force[3],
                      const double *dt)
{
    for (int d = 0; d < 3; d++) {
        double *restrict v = p->v[d] + begin, *restrict x = p->x[d] + begin;
        const double *restrict f = force[d];
#pragma omp simd
        for (int k = 0; k < n; k++) {
            const double kicked = part_kicked(v[k], f[k], dt[k]);
            const double moved = x[k] + kicked * dt[k];
            v[k] = dt[k] != 0 ? kicked : v[k];
            x[k] = dt[k] != 0 ? moved : x[k];
        }
    }
}

static void move_some(struct parts *p, int64_t begin, int n, double *const force[3], double dt)
{
    if (p->is_static) {
        static_some(p, begin, n, force);
        return;
    }
    if (p->tracers) {
        double each[CLOUDS];
        for (int k = 0; k < n; k++) each[k] = dt;
        tracers_rest(p, begin, n, each);
        move_each(p, begin, n, force, each);
        return;
    }
    for (int d = 0; d < 3; d++) {
        double *restrict v = p->v[d] + begin, *restrict x = p->x[d] + begin;
        const double *restrict f = force[d];
#pragma omp simd
        for (int k = 0; k < n; k++) {
            v[k] = part_kicked(v[k], f[k], dt);
            x[k] += v[k] * dt;
        }
    }
}

/* Motion of the particles of one thread; energies of the last n of them are still to be added. */
struct measure {
    double fastest;
    int n;
    double e[16 * CLOUDS];
    struct sum energy;
};

static void measure_flush(struct measure *q)
{
    sum_add_many(&q->energy, q->n, q->e);
    q->n = 0;
}

static void measure_some(struct measure *q, const struct parts *p, int64_t begin, int n,
                         bool energy)
{
    const double *restrict x = p->v[0] + begin, *restrict y = p->v[1] + begin,
                           *restrict z = p->v[2] + begin, *restrict m = p->m + begin;
    double top = q->fastest;
#pragma omp simd reduction(max : top)
    for (int k = 0; k < n; k++) {
        const double a = part_fastest(x[k], y[k], z[k]);
        top = top > a ? top : a;
    }
    q->fastest = top;
    if (!energy) return;
    if (q->n + n > 16 * CLOUDS) measure_flush(q);
    double *restrict e = q->e + q->n;
#pragma omp simd
    for (int k = 0; k < n; k++) e[k] = part_energy(m[k], x[k], y[k], z[k]);
    q->n += n;
}

/* Adds what a thread has measured. */
static void measure_end(struct measure *q, struct part_motion *motion)
{
    measure_flush(q);
#pragma omp critical(part_motion)
    {
        motion->fastest = motion->fastest > q->fastest ? motion->fastest : q->fastest;
        sum_join(&motion->energy, &q->energy);
    }
}

static void synchro(struct parts *p, const struct mesh *m, int l, const double *dtnew,
                    const double *dtold, struct part_motion *motion)
{
    int64_t end = p->first[l + 1];
    part_scratch_reserve(p, p->n);
#pragma omp parallel
    {
        struct gather g;
        struct measure mine;
        double *force[3];
        gather_init(&g, p, m);
        mine.n = 0, mine.fastest = 0;
        sum_init(&mine.energy);
#pragma omp for schedule(static)
        for (int64_t b = p->first[l]; b < end; b += CLOUDS) {
            int n = clouds_count(b, end);
            if (!part_any_moves(p, b, n)) {
                levels_set(p, l, b, n);
                continue;
            }
            cached_rows(p, b, force);
            forces_find(&g, l, b, n, force);
            synchro_some(p, l, b, n, force, dtnew, dtold);
            if (motion) measure_some(&mine, p, b, n, motion->counted);
        }
        if (motion) measure_end(&mine, motion);
    }
    p->retained[l] = end;
}

void part_synchro(struct parts *p, const struct mesh *m, int l, const double *dtnew,
                  const double *dtold)
{
    synchro(p, m, l, dtnew, dtold, NULL);
}

void part_kick(struct parts *p, const struct mesh *m, int l, const double *dtnew,
               const double *dtold, struct part_motion *motion)
{
    motion->level = p->tracers ? 0 : l;
    motion->fastest = 0;
    sum_init(&motion->energy);
    synchro(p, m, l, dtnew, dtold, p->tracers ? NULL : motion);
}

void part_move(struct parts *p, const struct mesh *m, int l, double dt)
{
    int64_t end = p->first[l + 1];
#pragma omp parallel
    {
        struct gather g;
        double room[3][CLOUDS], *force[3];
        gather_init(&g, p, m);
#pragma omp for schedule(static)
        for (int64_t b = p->first[l]; b < end; b += CLOUDS) {
            int n = clouds_count(b, end);
            if (!part_any_moves(p, b, n)) continue;
            if (b + n <= p->retained[l]) {
                cached_rows(p, b, force);
            } else {
                for (int d = 0; d < 3; d++) force[d] = room[d];
                forces_find(&g, l, b, n, force);
            }
            move_some(p, b, n, force, dt);
        }
    }
    p->retained[l] = 0;
}
