/* tracer/jump: Monte-Carlo tracers jump between cells (Cadiou, Dubois & Pichon 2019).
 *
 * A tracer leaves its cell with the probability out/m, where `out` is the mass that left the cell
 * through all faces in the step and m is the mass before, and takes a face by its share of `out`.
 * So the expected number of tracers that pass a face is proportional to the mass that does, and if
 * tracers sample the mass of each cell before the step, they do so after it.
 *
 * At the boundary of a level the mass that passes is that of the steps of the finer level. In each
 * of these, tracers of fine cells jump to the coarse cell, and tracers of the coarse cell jump into
 * level l by the mass that enters through each fine face. The coarse cell has its mass of the start
 * of its step, less what left since; tracers that arrive wait for the next step of the coarse
 * level. Hence at each time each fine cell has the expected number, and the coarse cell has it when
 * its step ends. (The rule of Cadiou et al., to move by the coarse estimate of the flux once in a
 * coarse step, gives fine cells their tracers too late: a standing excess of half a Courant number
 * behind each boundary.) */
#include <string.h>

#include "tracer/flux.h"

enum { BATCH = 512, AHEAD = 8 };

/* Cell c of oct i of level l as numbers of cells along each axis. */
static void cell_at(const struct tracer_run *r, int l, lidx i, int c, int64_t cell[3])
{
    okey_coords(r->mesh->lev[l].key[i], cell);
    for (int d = 0; d < 3; d++) cell[d] = 2 * cell[d] + (c >> d & 1);
}

/* Moves tracer i to the centre of a cell of level l, which may lie across a periodic boundary. Its
 * velocity is that of the jump. */
static void tracer_put(const struct tracer_run *r, int64_t i, int l, const int64_t cell[3],
                       double dt)
{
    const struct mesh *m = r->mesh;
    struct parts *p = r->parts;
    int number = 0;
    for (int d = 0; d < m->ndim; d++) {
        const bool bounded = m->bounded[2 * d] || m->bounded[2 * d + 1];
        const int64_t wrapped = bounded ? cell[d] : cell[d] & (((int64_t)1 << l) - 1);
        p->v[d][i] = (tracer_centre(m, l, cell[d]) - p->x[d][i]) / dt;
        p->x[d][i] = tracer_centre(m, l, wrapped);
        number |= (int)(wrapped & 1) << d;
    }
    p->levelp[i] = l;
    p->partner[i] = number | PART_JUMPED;
}

static void tracer_stay(struct parts *p, int64_t i)
{
    if (!(p->partner[i] & PART_JUMPED)) return;
    p->partner[i] &= ~PART_JUMPED;
    for (int d = 0; d < 3; d++) p->v[d][i] = 0;
}

/* The face that a tracer takes out of cell c of oct i; u, in [0, 1): its number among those that
 * leave. Without branches, as no processor foresees them. */
static inline int face_choose(const struct tracer_run *r, lidx i, int c, double u)
{
    float out[6];
    double sum[6], all = 0;
    int face = 0;
    tracer_left(r->flux, r->mesh->ndim, i, c, out);
    for (int f = 0; f < 6; f++) sum[f] = all += (double)out[f];
    u *= all;
    for (int f = 0; f < 6; f++) face += sum[f] <= u;
    if (face < 6) return face;
    while (face > 0 && !(out[--face] > 0)) {
    } /* u has been rounded up */
    return face;
}

/* Moves tracer i by one cell across face f, in its level. */
static inline void step_aside(const struct tracer_run *r, int l, int64_t i, int f)
{
    const struct mesh *m = r->mesh;
    struct parts *p = r->parts;
    const int d = f >> 1;
    const bool bounded = m->bounded[2 * d] | m->bounded[2 * d + 1];
    const int64_t to = (int64_t)mesh_cells(m, l, p->x[d][i]) + 2 * (f & 1) - 1;
    const int64_t wrapped = bounded ? to : to & (((int64_t)1 << l) - 1);
    const double v = (tracer_centre(m, l, to) - p->x[d][i]) / r->dt[l];
    for (int k = 0; k < 3; k++) p->v[k][i] = k == d ? v : 0;
    p->x[d][i] = tracer_centre(m, l, wrapped);
    p->partner[i] = ((p->partner[i] ^ 1 << d) & 7) | PART_JUMPED;
}

/* Tracer i leaves its cell. */
static inline void leave(const struct tracer_run *r, int l, int64_t i, double u)
{
    const lidx oct = r->parts->host[i];
    const int c = tracer_cell(r->parts, i), f = face_choose(r, oct, c, u), axis = f >> 1,
              side = f & 1;
    const bool outer = (c >> axis & 1) == side;
    if (!(outer & (r->mesh->lev[l].nbr[oct][f] == NBR_NONE))) {
        step_aside(r, l, i, f);
        return;
    }
    int64_t to[3];
    cell_at(r, l, oct, c, to);
    to[axis] += side ? 1 : -1;
    for (int d = 0; d < 3; d++) to[d] >>= 1;
    tracer_put(r, i, l - 1, to, r->dt[l]);
}

/* Tracers of a batch, by their numbers from its first on. */
struct jumpers {
    int leave[BATCH], leaves; /* they leave, by the first 24 of their random bits at least */
    int stay[BATCH], stays;   /* they stay, but left a cell in the last step */
};

static void jumpers_find(const struct tracer_run *r, int l, int64_t begin, int n,
                         const uint32_t *bits, struct jumpers *to)
{
    const struct parts *p = r->parts;
    const int8_t *restrict family = p->family + begin;
    const int32_t *restrict levelp = p->levelp + begin, *restrict partner = p->partner + begin;
    const lidx *restrict host = p->host + begin;
    const float *restrict share = r->flux->share[0];
    int32_t leaves[BATCH], stays[BATCH];
#pragma omp simd
    for (int k = 0; k < n; k++) {
        const float u = (float)(int32_t)(bits[k] >> 8) * 0x1p-24f;
        const int32_t on = (family[k] == FAM_GAS_TRACER) & (levelp[k] == l);
        const int32_t out = on & (u < share[8 * (int64_t)host[k] + (partner[k] & 7)]);
        leaves[k] = out;
        stays[k] = on & ~out & (partner[k] / PART_JUMPED);
    }
    to->leaves = to->stays = 0;
    for (int k = 0; k < n; k++) {
        to->leave[to->leaves] = to->stay[to->stays] = k;
        to->leaves += leaves[k];
        to->stays += stays[k];
    }
}

/* The fluxes of an oct will be needed soon. */
static inline void fluxes_fetch(const struct tracer_flux *f, lidx i)
{
    const float *at = tracer_strip(f, f->place[i], 0, 0, 0);
    for (int line = 0; line < 3; line++) __builtin_prefetch(at + 16 * line);
}

/* One number u in [0, 1) says whether a tracer leaves, u < out/m, and then through which face. */
static void jump_some(const struct tracer_run *r, int l, uint64_t seed, int64_t begin, int n)
{
    const struct parts *p = r->parts;
    uint32_t high[BATCH], low[BATCH];
    struct jumpers some;
    int any = 0;
    for (int k = 0; k < n; k++) any |= tracer_jumps(p, begin + k);
    if (!any) return;
    rng_pairs(seed, n, p->id + begin, high, low);
    jumpers_find(r, l, begin, n, high, &some);
    for (int k = 0; k < some.leaves; k++) {
        const int64_t i = begin + some.leave[k];
        if (k + AHEAD < some.leaves) fluxes_fetch(r->flux, p->host[begin + some.leave[k + AHEAD]]);
        const double u = rng_pair_uniform(high[some.leave[k]], low[some.leave[k]]);
        const double leaves = (double)r->flux->share[p->host[i]][tracer_cell(p, i)];
        if (u < leaves)
            leave(r, l, i, u / leaves);
        else
            tracer_stay(r->parts, i);
    }
    for (int k = 0; k < some.stays; k++) tracer_stay(r->parts, begin + some.stay[k]);
}

/* ---- from a coarser cell into the level ---- */

/* Tracer i of cell c of level l goes to a fine cell by its share of the mass that enters level l+1
 * from the cell; u in [0, 1). */
static void descend(const struct tracer_run *r, int l, int64_t i, int c, double u)
{
    const struct mesh *m = r->mesh;
    const struct tracer_entries *e = &r->flux->entry[l + 1];
    const lidx o = r->parts->host[i];
    int64_t cell[3], to[3] = {0, 0, 0};
    lidx host = -1;
    cell_at(r, l, o, c, cell);
    u *= (double)tracer_entered(r->flux, r->mesh, l, o, c, true) * m->cells;
    for (int f = 0; f < 2 * m->ndim; f++) {
        const lidx fine = tracer_finer_across(&m->lev[l], o, c, f);
        if (fine < 0 || e->row[fine] < 0) continue;
        const float *in = e->at[e->row[fine]].now[f ^ 1];
        for (int k = 0; k < m->cells / 2 && (host < 0 || u >= 0); k++) {
            if (!(in[k] > 0)) continue;
            const int number = tracer_face_cell(f >> 1, (f & 1) ^ 1, k);
            for (int d = 0; d < m->ndim; d++) to[d] = 2 * cell[d] + (number >> d & 1);
            to[f >> 1] += f & 1 ? 2 : -2;
            host = fine;
            u -= (double)in[k];
        }
    }
    tracer_put(r, i, l + 1, to, r->dt[l + 1]);
    r->parts->host[i] = ~host;
}

/* Tracer i, in a cell of level l, enters level l+1 if the mass of its cell does. */
static void descend_maybe(const struct tracer_run *r, int l, int64_t i)
{
    const lidx o = r->parts->host[i];
    const int c = tracer_cell(r->parts, i);
    const float now = tracer_entered(r->flux, r->mesh, l, o, c, true);
    if (!(now > 0)) return;
    const double mass = level_gas(&r->mesh->lev[l], GAS_DENSITY)[o][c] -
                        (double)tracer_entered(r->flux, r->mesh, l, o, c, false);
    struct rng g = tracer_rng(r, (uint64_t)r->parts->id[i], l, TRACER_USE_DESCEND);
    if (rng_uniform(&g) * mass < (double)now) descend(r, l, i, c, rng_uniform(&g));
}

/* Tracers of level l alone enter level l+1. */
static void jump_down(const struct tracer_run *r, int l)
{
    const struct parts *p = r->parts;
    const unsigned char *near = r->flux->entry[l + 1].near;
#pragma omp parallel for schedule(static)
    for (int64_t i = p->first[l]; i < p->first[l + 1]; i++)
        if (near[p->host[i]] && tracer_on(p, i, l) && (near[p->host[i]] >> tracer_cell(p, i) & 1))
            descend_maybe(r, l, i);
    part_promote(r->parts, l);
}

void tracers_jump(struct tracer_run *r, int l)
{
    const struct parts *p = r->parts;
    const bool boundary = r->flux->entry[l].row;
    const uint64_t seed = rng_mix(tracer_seed(r, l, TRACER_USE_JUMP) + (uint64_t)r->nstep);
    if (boundary) tracer_entries_exchange(r, l);
#pragma omp parallel for schedule(static)
    for (int64_t b = p->first[l]; b < p->first[l + 1]; b += BATCH) {
        const int64_t left = p->first[l + 1] - b;
        jump_some(r, l, seed, b, left < BATCH ? (int)left : BATCH);
    }
    if (boundary) jump_down(r, l - 1);
    tracer_flux_end(r, l);
}
