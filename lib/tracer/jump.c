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

#include "oct/bits.h"
#include "tracer/flux.h"

enum { BATCH = 512 };

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
    const struct tracer_left *left = &r->flux->left[r->flux->row[i]];
    double sum[6], all = 0;
    int face = 0;
    for (int f = 0; f < 6; f++) sum[f] = all += (double)left->out[f][c];
    u *= all;
    for (int f = 0; f < 6; f++) face += sum[f] <= u;
    if (face < 6) return face;
    while (face > 0 && !(left->out[--face][c] > 0)) {
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

/* Of a batch: tracers that may leave their cells or left one in the last step, by their numbers
 * from the first of the batch on, and random numbers of all particles. */
struct jumpers {
    int64_t begin;
    int may[BATCH], n;
    uint32_t high[BATCH], low[BATCH];
};

static inline const struct tracer_left *left_of(const struct tracer_run *r, int64_t i)
{
    return &r->flux->left[r->flux->row[r->parts->host[i]]];
}

/* Few particles pass the first test, by one byte a cell and the first eight random bits. */
static void jumpers_find(const struct tracer_run *r, int l, int n, struct jumpers *to)
{
    const struct parts *p = r->parts;
    const int32_t *restrict partner = p->partner + to->begin;
    const lidx *restrict host = p->host + to->begin;
    unsigned char may[BATCH], most[BATCH];
    int all;
    for (int k = 0; k < n; k++) most[k] = r->flux->most[host[k]][partner[k] & 7];
#pragma omp simd
    for (int k = 0; k < n; k++)
        may[k] = (to->high[k] >> 24 <= most[k]) | !!(partner[k] & PART_JUMPED);
    all = bits_list(may, n, to->may);
    to->n = 0;
    for (int j = 0; j < all; j++) {
        const int64_t i = to->begin + to->may[j];
        if (!tracer_on(p, i, l)) continue;
        to->may[to->n++] = to->may[j];
        __builtin_prefetch(left_of(r, i)->share);
    }
}

/* Tracer i will be written to soon, and its fluxes read. */
static inline void tracer_fetch(const struct tracer_run *r, int64_t i)
{
    const struct parts *p = r->parts;
    const struct tracer_left *left = left_of(r, i);
    for (int d = 0; d < 3; d++) {
        __builtin_prefetch(&p->x[d][i], 1);
        __builtin_prefetch(&p->v[d][i], 1);
        __builtin_prefetch(left->out[2 * d]);
    }
}

/* One number u in [0, 1) says whether a tracer leaves, u < out/m, and then through which face. */
static void jump_some(const struct tracer_run *r, int l, uint64_t seed, int64_t begin, int n)
{
    const struct parts *p = r->parts;
    struct jumpers some;
    double u[BATCH];
    unsigned char any = 0;
    int leaves = 0;
    some.begin = begin;
#pragma omp simd reduction(| : any)
    for (int k = 0; k < n; k++) any |= p->family[begin + k] == FAM_GAS_TRACER;
    if (!any) return;
    rng_pairs(seed, n, p->id + begin, some.high, some.low);
    jumpers_find(r, l, n, &some);
    for (int j = 0; j < some.n; j++) {
        const int k = some.may[j];
        const double mine = rng_pair_uniform(some.high[k], some.low[k]),
                     share = (double)left_of(r, begin + k)->share[tracer_cell(p, begin + k)];
        if (mine < share) {
            tracer_fetch(r, begin + k);
            some.may[leaves] = k;
            u[leaves++] = mine / share;
        } else
            tracer_stay(r->parts, begin + k);
    }
    for (int j = 0; j < leaves; j++) leave(r, l, begin + some.may[j], u[j]);
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
