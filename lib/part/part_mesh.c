/* part: between particles and mesh, cloud in cell (Hockney & Eastwood 1988, §5-2-3).
 *
 * The cloud of a particle at x is a cube of one cell size dx around it: it overlaps the 2³ cells
 * that start at floor(x/dx − ½), with weights w and 1−w a dimension, w the fraction of x/dx − ½. A
 * particle inside its host oct reaches the 4³ cells (patch) in and around the oct. Consecutive
 * particles mostly share the host: the patch is gathered from the 27 octs around it once, forces
 * are interpolated from it, and masses are summed into it before they go to the mesh.
 *
 * Force: from level l if all 8 cells of the cloud are there, else from the first coarser ancestor
 * of the host where they are, with that level's cell size; by 2:1 balance that is l-1. Deposit:
 * cells that do not exist get nothing. Deposits are integers, so their sum has no order. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "base/mem.h"
#include "part/part.h"

enum {
    BLOCK = 256, /* particles whose cells and weights are found together */
    EDGE = 4,
    PATCH = EDGE * EDGE * EDGE
};

typedef double vec4 __attribute__((vector_size(32))); /* three components and padding */

/* Which cells of the 27 octs a patch consists of: oct k gives its cells cell[j] as patch cells
 * to[j], first[k] <= j < first[k+1]; bits: those patch cells as a set. */
struct stencil {
    unsigned char first[28], cell[PATCH], to[PATCH];
    uint64_t bits[27];
};

/* Cells and weights of the clouds of a block of particles. */
struct clouds {
    int64_t cell[3][BLOCK];
    double w[3][BLOCK];
};

/* Where a patch is: `base` is the cell coordinate of its first cell; differences to it are taken
 * modulo wrap+1. */
struct place {
    lidx oct;
    int64_t base[3], wrap[3];
    lidx cube[27];
};

/* map[d][k]: the cell that stands for the k-th in direction d. */
static void stencil_make(struct stencil *s, const signed char map[3][EDGE])
{
    static const unsigned char octs[EDGE] = {0, 1, 1, 2}, bit[EDGE] = {1, 0, 1, 0};
    unsigned char oct[PATCH], cell[PATCH], n[28] = {0};
    memset(s->bits, 0, sizeof s->bits);
    for (int j = 0; j < PATCH; j++) {
        int x = map[0][j & 3], y = map[1][j >> 2 & 3], z = map[2][j >> 4];
        oct[j] = (unsigned char)(octs[x] + 3 * octs[y] + 9 * octs[z]);
        cell[j] = (unsigned char)(bit[x] | bit[y] << 1 | bit[z] << 2);
        s->bits[oct[j]] |= (uint64_t)1 << j;
        n[oct[j] + 1]++;
    }
    for (int k = 0; k < 27; k++) n[k + 1] = (unsigned char)(n[k + 1] + n[k]);
    memcpy(s->first, n, sizeof s->first);
    for (int j = 0; j < PATCH; j++) {
        int at = n[oct[j]]++;
        s->cell[at] = cell[j];
        s->to[at] = (unsigned char)j;
    }
}

static const signed char PLAIN[3][EDGE] = {{0, 1, 2, 3}, {0, 1, 2, 3}, {0, 1, 2, 3}};

static void clouds_find(struct clouds *c, const struct parts *p, const struct mesh *m, int l,
                        int64_t begin, int n)
{
    for (int d = 0; d < 3; d++) {
        const double *restrict x = p->x[d] + begin;
        int64_t *restrict cell = c->cell[d];
        double *restrict w = c->w[d];
#pragma omp simd
        for (int k = 0; k < n; k++) {
            double u = part_cells(m, l, x[k]) - 0.5, f = floor(u);
            cell[k] = (int64_t)f;
            w[k] = u - f;
        }
    }
}

/* Volumes of the 8 parts of a cloud, x fastest. */
static inline void cloud_volumes(const double w[3], double vol[8])
{
    double g[3] = {1.0 - w[0], 1.0 - w[1], 1.0 - w[2]};
    double gg = g[0] * g[1], wg = w[0] * g[1], gw = g[0] * w[1], ww = w[0] * w[1];
    vol[0] = gg * g[2], vol[1] = wg * g[2], vol[2] = gw * g[2], vol[3] = ww * g[2];
    vol[4] = gg * w[2], vol[5] = wg * w[2], vol[6] = gw * w[2], vol[7] = ww * w[2];
}

/* First patch cell of a cloud, or -1 if the patch does not hold all of it. */
static inline int place_cloud(const struct place *p, int64_t x, int64_t y, int64_t z)
{
    x = (x - p->base[0]) & p->wrap[0];
    y = (y - p->base[1]) & p->wrap[1];
    z = (z - p->base[2]) & p->wrap[2];
    return (uint64_t)x < 3 && (uint64_t)y < 3 && (uint64_t)z < 3
               ? (int)(x + EDGE * y + EDGE * EDGE * z)
               : -1;
}

/* Offsets of the 8 cells of a cloud in a patch. */
static const int CORNER[8] = {0, 1, 4, 5, 16, 17, 20, 21};
static const uint64_t CORNERS = 0x330033;

static void place_set(struct place *p, const struct mesh *m, int l, lidx oct)
{
    p->oct = oct;
    okey_coords(m->lev[l].key[oct], p->base);
    for (int d = 0; d < 3; d++) {
        p->base[d] = 2 * p->base[d] - 1;
        p->wrap[d] = m->bounded[2 * d] || m->bounded[2 * d + 1] ? -1 : ((int64_t)1 << l) - 1;
    }
    mesh_cube(m, l, oct, p->cube);
}

/* ---- force ---- */

struct patch {
    struct place at;
    int level;
    uint64_t there; /* bit j: cell j exists */
    vec4 f[PATCH];
};

enum { PATCHES = 3 }; /* of the level, of the next coarser, of any other */

struct gather {
    const struct parts *p;
    const struct mesh *m;
    struct stencil plain;
    struct patch patch[PATCHES];
};

static void gather_init(struct gather *g, const struct parts *p, const struct mesh *m)
{
    g->p = p;
    g->m = m;
    stencil_make(&g->plain, PLAIN);
    for (int k = 0; k < PATCHES; k++) g->patch[k].level = -1;
}

/* Beyond a boundary a cell has the force of the cell before it; the normal component of a mirror
 * changes sign. */
static void patch_mirror(struct patch *a, const struct gather *g, signed char map[3][EDGE])
{
    for (int d = 0; d < 3; d++)
        for (int k = 0; k < EDGE; k += EDGE - 1) {
            if (map[d][k] == k || !g->p->reflect[2 * d + (k > 0)]) continue;
            for (int j = 0; j < PATCH; j++)
                if ((j >> 2 * d & 3) == k) a->f[j][d] = -a->f[j][d];
        }
}

/* Boundaries next to the patch: the stencil with cells beyond them replaced. False: there are none.
 */
static bool boundary_map(const struct patch *a, const struct mesh *m, signed char map[3][EDGE])
{
    bool any = false;
    int64_t n = (int64_t)1 << a->level;
    memcpy(map, PLAIN, sizeof PLAIN);
    for (int d = 0; d < 3; d++) {
        if (m->bounded[2 * d] && a->at.base[d] < 0) map[d][0] = 1, any = true;
        if (m->bounded[2 * d + 1] && a->at.base[d] + EDGE > n)
            map[d][EDGE - 1] = EDGE - 2, any = true;
    }
    return any;
}

static void patch_load(struct patch *a, const struct gather *g, int l, lidx oct)
{
    a->level = l;
    place_set(&a->at, g->m, l, oct);
    struct stencil beyond;
    const struct stencil *s = &g->plain;
    signed char map[3][EDGE];
    bool bounded = boundary_map(a, g->m, map);
    if (bounded) {
        stencil_make(&beyond, map);
        s = &beyond;
    }
    const struct level *lv = &g->m->lev[l];
    const double(*fx)[8] = lv->fld[FLD_FX], (*fy)[8] = lv->fld[FLD_FY], (*fz)[8] = lv->fld[FLD_FZ];
    a->there = 0;
    for (int k = 0; k < 27; k++) {
        lidx o = a->at.cube[k];
        if (o < 0) continue;
        a->there |= s->bits[k];
        for (int j = s->first[k]; j < s->first[k + 1]; j++) {
            int c = s->cell[j];
            a->f[s->to[j]] = (vec4){fx[o][c], fy[o][c], fz[o][c], 0};
        }
    }
    if (bounded) patch_mirror(a, g, map);
}

/* Interpolated force; false if a cell of the cloud is missing. */
static inline bool patch_force(const struct patch *a, const int64_t cell[3], const double w[3],
                               vec4 *force)
{
    int at = place_cloud(&a->at, cell[0], cell[1], cell[2]);
    if (at < 0 || (a->there >> at & CORNERS) != CORNERS) return false;
    double vol[8];
    cloud_volumes(w, vol);
    vec4 sum = a->f[at] * vol[0];
    for (int c = 1; c < 8; c++) sum += a->f[at + CORNER[c]] * vol[c];
    *force = sum;
    return true;
}

/* From the finest ancestor of the host of level l that holds the whole cloud. */
static void coarse_force(struct gather *g, int l, int64_t i, vec4 *force)
{
    lidx oct = g->p->host[i];
    for (int k = l - 1;; k--) {
        BUG_ON(k < 1);
        oct = g->m->lev[k + 1].parent[oct];
        struct patch *a = &g->patch[k == l - 1 ? 1 : 2];
        if (a->level != k || a->at.oct != oct) patch_load(a, g, k, oct);
        int64_t cell[3];
        double w[3];
        for (int d = 0; d < 3; d++) {
            double u = part_cells(g->m, k, g->p->x[d][i]) - 0.5, f = floor(u);
            cell[d] = (int64_t)f;
            w[d] = u - f;
        }
        if (patch_force(a, cell, w, force)) return;
    }
}

static void gather_block(struct gather *g, int l, int64_t begin, int n, vec4 *force)
{
    struct clouds c;
    struct patch *a = &g->patch[0];
    const lidx *host = g->p->host + begin;
    if (!g->m->gravity) {
        memset(force, 0, sizeof *force * (size_t)n);
        return;
    }
    clouds_find(&c, g->p, g->m, l, begin, n);
    for (int k = 0; k < n; k++) {
        if (a->level != l || a->at.oct != host[k]) patch_load(a, g, l, host[k]);
        int64_t cell[3] = {c.cell[0][k], c.cell[1][k], c.cell[2][k]};
        double w[3] = {c.w[0][k], c.w[1][k], c.w[2][k]};
        if (!patch_force(a, cell, w, &force[k])) coarse_force(g, l, begin + k, &force[k]);
    }
}

static inline int block_size(int64_t begin, int64_t end)
{
    return end - begin < BLOCK ? (int)(end - begin) : BLOCK;
}

static void synchro_block(struct parts *p, int l, int64_t begin, int n, const vec4 *force,
                          const double *dtnew, const double *dtold)
{
    double dt[BLOCK];
    int32_t *levelp = p->levelp + begin;
    for (int k = 0; k < n; k++) {
        dt[k] = levelp[k] >= l ? dtnew[levelp[k]] : dtold[levelp[k]];
        levelp[k] = l;
    }
    for (int d = 0; d < 3; d++) {
        double *restrict v = p->v[d] + begin;
#pragma omp simd
        for (int k = 0; k < n; k++)
            v[k] = p->is_static ? force[k][d] : v[k] + force[k][d] * 0.5 * dt[k];
    }
}

static void move_block(struct parts *p, int64_t begin, int n, const vec4 *force, double dt)
{
    for (int d = 0; d < 3; d++) {
        double *restrict v = p->v[d] + begin, *restrict x = p->x[d] + begin;
        if (p->is_static) {
            for (int k = 0; k < n; k++) v[k] = force[k][d];
            continue;
        }
#pragma omp simd
        for (int k = 0; k < n; k++) {
            v[k] += force[k][d] * 0.5 * dt;
            x[k] += v[k] * dt;
        }
    }
}

void part_synchro(struct parts *p, const struct mesh *m, int l, const double *dtnew,
                  const double *dtold)
{
    int64_t end = p->first[l + 1];
#pragma omp parallel
    {
        struct gather g;
        vec4 force[BLOCK];
        gather_init(&g, p, m);
#pragma omp for schedule(static)
        for (int64_t b = p->first[l]; b < end; b += BLOCK) {
            gather_block(&g, l, b, block_size(b, end), force);
            synchro_block(p, l, b, block_size(b, end), force, dtnew, dtold);
        }
    }
}

void part_move(struct parts *p, const struct mesh *m, int l, double dt)
{
    int64_t end = p->first[l + 1];
#pragma omp parallel
    {
        struct gather g;
        vec4 force[BLOCK];
        gather_init(&g, p, m);
#pragma omp for schedule(static)
        for (int64_t b = p->first[l]; b < end; b += BLOCK) {
            gather_block(&g, l, b, block_size(b, end), force);
            move_block(p, b, block_size(b, end), force, dt);
        }
    }
}

/* ---- deposit ---- */

/* What is deposited, and where. */
struct deposit {
    const struct parts *p;
    const struct mesh *m;
    int l;
    double per_mass; /* quanta per unit of mass */
    double mass_cut; /* DM of at least this mass does not count; infinity: all counts */
    bool dm_mass, dm_number;
    int64_t (*mass)[8], (*number)[8];
    struct stencil plain;
};

/* A sum for an oct of another thread, to be added at the end. */
struct spill {
    lidx oct;
    int cell;
    int64_t mass, number;
};

/* One thread's state. It alone writes octs low..high-1 while all run. */
struct depositor {
    const struct deposit *g;
    lidx low, high;
    struct place at;
    int64_t mass[PATCH], number[PATCH];
    int64_t nspill, cap;
    struct spill *spill;
};

static void spill_add(struct depositor *t, lidx oct, int cell, int64_t mass, int64_t number)
{
    if (mass == 0 && number == 0) return;
    if (t->nspill == t->cap) {
        t->cap = 2 * t->cap + 1024;
        t->spill = mem_grow(t->spill, sizeof *t->spill * (size_t)t->cap, "particle deposit");
    }
    t->spill[t->nspill++] = (struct spill){oct, cell, mass, number};
}

static inline bool oct_is_mine(const struct depositor *t, lidx oct)
{
    return oct >= t->low && oct < t->high;
}

static void patch_flush(struct depositor *t)
{
    const struct stencil *s = &t->g->plain;
    int64_t(*number)[8] = t->g->number;
    if (t->at.oct < 0) return;
    for (int k = 0; k < 27; k++) {
        lidx o = t->at.cube[k];
        int begin = s->first[k], end = s->first[k + 1];
        if (o < 0) continue;
        if (!oct_is_mine(t, o)) {
            for (int j = begin; j < end; j++)
                spill_add(t, o, s->cell[j], t->mass[s->to[j]], t->number[s->to[j]]);
            continue;
        }
        for (int j = begin; j < end; j++) t->g->mass[o][s->cell[j]] += t->mass[s->to[j]];
        for (int j = begin; j < end && number; j++) number[o][s->cell[j]] += t->number[s->to[j]];
    }
    memset(t->mass, 0, sizeof t->mass);
    memset(t->number, 0, sizeof t->number);
}

/* A particle that left its host by less than an oct: its cells lie in the 27 octs, if not in the
 * patch. Further out there are no existing cells: a particle moves by less than one oct per step.
 */
static void deposit_far(struct depositor *t, const int64_t cell[3], const int64_t mass[8],
                        const int64_t number[8])
{
    for (int c = 0; c < 8; c++) {
        int cube = 0, slot = 0, stride = 1;
        bool in = true;
        for (int d = 0; d < 3; d++, stride *= 3) {
            /* from the first cell of the 27 octs: 0..5 */
            int64_t x = (cell[d] + (c >> d & 1) - t->at.base[d] + 1) & t->at.wrap[d];
            in &= (uint64_t)x < 6;
            cube += stride * (int)(x >> 1 & 3);
            slot |= (int)(x & 1) << d;
        }
        lidx o = in ? t->at.cube[cube] : NBR_NONE;
        if (o < 0) continue;
        if (!oct_is_mine(t, o)) {
            spill_add(t, o, slot, mass[c], number[c]);
            continue;
        }
        t->g->mass[o][slot] += mass[c];
        if (t->g->number) t->g->number[o][slot] += number[c];
    }
}

/* Weights of a block's particles in the two sums, in quanta. */
static void block_weights(const struct deposit *g, int64_t begin, int n, double *wm, double *wn)
{
    const struct parts *p = g->p;
    for (int k = 0; k < n; k++) {
        int8_t family = p->family[begin + k];
        double m = p->m[begin + k], one = 0x1p32;
        bool dm = family == FAM_DM, real = family > 0; /* not a tracer */
        bool counts = m > 0 || !p->is_static;          /* static: massless ones only feel forces */
        wm[k] = real && (!dm || g->dm_mass) ? m * g->per_mass : 0;
        if (!dm && p->mass_sph > 0) one *= m / p->mass_sph;
        wn[k] = real && counts && (!dm || (g->dm_number && m < g->mass_cut)) ? one : 0;
    }
}

static void deposit_block(struct depositor *t, int64_t begin, int n)
{
    const struct deposit *g = t->g;
    const lidx *host = g->p->host + begin;
    struct clouds cl;
    double wm[BLOCK], wn[BLOCK];
    clouds_find(&cl, g->p, g->m, g->l, begin, n);
    block_weights(g, begin, n, wm, wn);
    for (int k = 0; k < n; k++) {
        if (host[k] != t->at.oct) {
            patch_flush(t);
            place_set(&t->at, g->m, g->l, host[k]);
        }
        double w[3] = {cl.w[0][k], cl.w[1][k], cl.w[2][k]}, vol[8];
        int64_t cell[3] = {cl.cell[0][k], cl.cell[1][k], cl.cell[2][k]}, qm[8], qn[8] = {0};
        cloud_volumes(w, vol);
        for (int c = 0; c < 8; c++) qm[c] = llrint(wm[k] * vol[c]);
        if (g->number)
            for (int c = 0; c < 8; c++) qn[c] = llrint(wn[k] * vol[c]);
        int at = place_cloud(&t->at, cell[0], cell[1], cell[2]);
        if (at < 0) {
            deposit_far(t, cell, qm, qn);
            continue;
        }
        for (int c = 0; c < 8; c++) {
            t->mass[at + CORNER[c]] += qm[c];
            t->number[at + CORNER[c]] += qn[c];
        }
    }
}

static void spills_add(struct depositor *t)
{
    for (int64_t i = 0; i < t->nspill; i++) {
        const struct spill *s = &t->spill[i];
#pragma omp atomic
        t->g->mass[s->oct][s->cell] += s->mass;
        if (!t->g->number) continue;
#pragma omp atomic
        t->g->number[s->oct][s->cell] += s->number;
    }
    FREE(t->spill);
}

/* Particles begin..end-1, nearly sorted by host: each thread takes a piece and the octs its piece
 * begins with, up to those of the next. */
static void deposit_run(const struct deposit *g, int64_t begin, int64_t end)
{
    int64_t n = end - begin, wish = n / (16 * BLOCK) + 1;
    int most = omp_get_max_threads();
#pragma omp parallel num_threads(wish < most ? (int)wish : most)
    {
        int me = omp_get_thread_num(), nt = omp_get_num_threads();
        struct depositor t = {.g = g, .at.oct = -1, .high = g->m->lev[g->l].noct};
        lidx high = 0;
        for (int s = 1; s <= me + 1 && s < nt; s++) {
            lidx h = g->p->host[begin + n * s / nt];
            high = h > high ? h : high;
            if (s == me) t.low = high;
            if (s == me + 1) t.high = high;
        }
        int64_t stop = begin + n * (me + 1) / nt;
        for (int64_t b = begin + n * me / nt; b < stop; b += BLOCK)
            deposit_block(&t, b, block_size(b, stop));
        patch_flush(&t);
#pragma omp barrier
        spills_add(&t);
    }
}

void part_deposit(const struct parts *p, const struct mesh *m, int l, double quantum,
                  double mass_cut, int cic_levelmax, int64_t (*mass)[8], int64_t (*number)[8])
{
    struct deposit g = {.p = p,
                        .m = m,
                        .l = l,
                        .per_mass = 1 / quantum,
                        .mass_cut = mass_cut > 0 ? mass_cut : INFINITY,
                        .dm_mass = cic_levelmax <= 0 || l <= cic_levelmax,
                        .dm_number = cic_levelmax <= 0 || l < cic_levelmax,
                        .mass = mass,
                        .number = number};
    stencil_make(&g.plain, PLAIN);
    int64_t begin = p->first[l];
    for (int k = l + 1; begin < p->n; k++) { /* pieces of the last step, each nearly sorted */
        int64_t end = k > m->levelmax ? p->n : p->run[k];
        if (end > begin) deposit_run(&g, begin, end);
        begin = end > begin ? end : begin;
    }
}
