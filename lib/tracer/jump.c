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

enum { BATCH = 512 };

/* Mass, as density of the coarse cell, that entered the finer level from cell c of oct i: in its
 * present step (now) and before. */
static float entered(const struct tracer_run *r, int l, lidx i, int c, bool now)
{
    const struct mesh *m = r->mesh;
    const struct tracer_entries *e = &r->flux->entry[l + 1];
    float sum = 0;
    for (int f = 0; f < 2 * m->ndim; f++) {
        const lidx fine = tracer_finer_across(&m->lev[l], i, c, f);
        if (fine < 0 || e->row[fine] < 0) continue;
        const struct tracer_entry *x = &e->at[e->row[fine]];
        const float *in = now ? x->now[f ^ 1] : x->before[f ^ 1];
        for (int k = 0; k < m->cells / 2; k++) sum += in[k];
    }
    return sum / (float)m->cells;
}

/* Whether oct i ends at face f at a wall, through which rounding errors may pass. */
static bool is_wall(const struct tracer_run *r, int l, lidx i, int f)
{
    return r->mesh->lev[l].nbr[i][f] == NBR_BOUNDARY && r->hydro->bound[f] == BOUND_REFLECT;
}

static inline float quotient(float out, float mass)
{
    return mass > 0 ? out / mass : out > 0;
}

/* Finds the probabilities to leave the cells of a row of octs, in place of their masses. */
static void row_finish(const struct tracer_run *r, int l, lidx row)
{
    const struct tracer_flux *f = r->flux;
    const struct mesh *m = r->mesh;
    const lidx i = f->oct[row];
    struct tracer_gone *g = &f->gone[row];
    const unsigned char *near = f->entry[l + 1].near;
    float out[8] = {0}, before[8] = {0};
    for (int k = 0; k < 2 * m->ndim; k++) {
        if (is_wall(r, l, i, k)) memset(g->out[k], 0, sizeof g->out[k]);
        for (int c = 0; c < 8; c++) out[c] += g->out[k][c];
    }
    for (int c = 0; c < m->cells && near && near[i]; c++)
        if (m->lev[l].child[i][c] < 0) before[c] = entered(r, l, i, c, false);
    for (int c = 0; c < 8; c++) g->mass[c] = quotient(out[c], g->mass[c] - before[c]);
}

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

/* The face that tracer i takes out of its cell c. */
static int face_choose(const struct tracer_run *r, int l, int64_t i, int c)
{
    const struct tracer_gone *g = &r->flux->gone[r->flux->row[r->parts->host[i]]];
    struct rng rng = tracer_rng(r, (uint64_t)r->parts->id[i], l, TRACER_USE_JUMP);
    rng_uniform(&rng); /* it has said that the tracer leaves */
    double all = 0, u = rng_uniform(&rng);
    int face = 0;
    for (int f = 0; f < 2 * r->mesh->ndim; f++) all += (double)g->out[f][c];
    u *= all;
    for (int f = 0; f < 2 * r->mesh->ndim && u >= 0; f++) {
        if (!(g->out[f][c] > 0)) continue;
        face = f;
        u -= (double)g->out[f][c];
    }
    return face;
}

/* Tracer i leaves its cell c. */
static void leave(const struct tracer_run *r, int l, int64_t i, int c)
{
    const lidx oct = r->parts->host[i];
    const int f = face_choose(r, l, i, c), axis = f >> 1, side = f & 1;
    const bool outer = (c >> axis & 1) == side,
               coarser = outer && r->mesh->lev[l].nbr[oct][f] == NBR_NONE;
    int64_t to[3];
    cell_at(r, l, oct, c, to);
    to[axis] += side ? 1 : -1;
    for (int d = 0; d < 3 && coarser; d++) to[d] >>= 1;
    tracer_put(r, i, l - coarser, to, r->dt[l]);
}

static void jump_some(const struct tracer_run *r, int l, uint64_t seed, int64_t begin, int n)
{
    const struct parts *p = r->parts;
    const lidx *row = r->flux->row;
    const struct tracer_gone *gone = r->flux->gone;
    double u[BATCH];
    int any = 0;
    for (int k = 0; k < n; k++) any |= tracer_jumps(p, begin + k);
    if (!any) return;
    rng_first(seed, (uint32_t)r->nstep, n, p->id + begin, u);
    for (int k = 0; k < n; k++) {
        const int64_t i = begin + k;
        if (!tracer_on(p, i, l)) continue;
        const int c = tracer_cell(p, i);
        if (u[k] < (double)gone[row[p->host[i]]].mass[c])
            leave(r, l, i, c);
        else
            tracer_stay(r->parts, i);
    }
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
    u *= (double)entered(r, l, o, c, true) * m->cells;
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
    const float now = entered(r, l, o, c, true);
    if (!(now > 0)) return;
    const double mass = level_gas(&r->mesh->lev[l], GAS_DENSITY)[o][c] -
                        (double)entered(r, l, o, c, false);
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
        if (near[p->host[i]] && tracer_on(p, i, l)) descend_maybe(r, l, i);
    part_promote(r->parts, l);
}

void tracers_jump(struct tracer_run *r, int l)
{
    const struct parts *p = r->parts;
    const bool boundary = r->flux->entry[l].row;
    const uint64_t seed = tracer_seed(r, l, TRACER_USE_JUMP);
    if (boundary) tracer_entries_exchange(r, l);
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < r->flux->n; i++) row_finish(r, l, i);
#pragma omp parallel for schedule(static)
    for (int64_t b = p->first[l]; b < p->first[l + 1]; b += BATCH) {
        const int64_t left = p->first[l + 1] - b;
        jump_some(r, l, seed, b, left < BATCH ? (int)left : BATCH);
    }
    if (boundary) jump_down(r, l - 1);
    tracer_flux_end(r, l);
}
