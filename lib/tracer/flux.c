/* tracer/flux: see flux.h. */
#include "tracer/flux.h"

#include <string.h>

#include "base/mem.h"
#include "dom/ghost.h"
#include "patch/sweep.h"

enum { MANY = 4 };

static void flux_rows(const struct sweep *s, void *ctx, const struct patch_rows_flow *at);

struct tracer_flux *tracer_flux_new(void)
{
    struct tracer_flux *f = mem_zero(sizeof *f, "tracers");
    f->flow = (struct patch_flow){flux_rows, f};
    return f;
}

static void entries_free(struct tracer_entries *e)
{
    FREE(e->row);
    FREE(e->at);
    FREE(e->near);
}

void tracer_flux_free(struct tracer_flux **f)
{
    if (!*f) return;
    FREE((*f)->place);
    FREE((*f)->block);
    FREE((*f)->share);
    FREE((*f)->ledger.born.row);
    FREE((*f)->ledger.ejected.row);
    FREE((*f)->ledger.captured.row);
    FREE((*f)->ledger.launched.row);
    for (int l = 0; l < LEVEL_MAX + 2; l++) entries_free(&(*f)->entry[l]);
    FREE(*f);
}

/* ---- fluxes of a step ---- */

static inline float above_zero(double x)
{
    return (float)(x > 0 ? x : 0);
}

/* Adds the mass that enters them through the outer faces of the oct that have no oct beyond. */
static void oct_enters(const struct patch_rows_flow *at, int x, int rows, const lidx nbr[6],
                       struct tracer_entry *to)
{
    for (int j = 0; j < rows; j++)
        for (int i = 0; i < 2; i++) {
            const int c = (at->k & 1) << 2 | j << 1 | i, side = c >> at->axis & 1;
            const int f = 2 * at->axis + side;
            const double in = side ? -at->hi[j][x + i] : at->lo[j][x + i];
            if (nbr[f] == NBR_NONE) to->now[f][tracer_at_face(at->axis, c)] = above_zero(in);
        }
}

/* Finds the blocks of a row of octs: of those with tracers that follow each other. */
static void blocks_find(struct tracer_flux *f, uint32_t octs, const lidx *oct)
{
    for (int slot = 0; octs >> slot; slot++) {
        uint8_t n = 0;
        uint32_t block;
        while (octs >> (slot + n) & 1 && f->place[oct[slot + n]].octs) n++;
        if (n == 0) continue;
#pragma omp atomic capture
        {
            block = f->blocks;
            f->blocks += n;
        }
        for (uint8_t j = 0; j < n; j++)
            f->place[oct[slot + j]] = (struct tracer_place){block, n, j};
        slot += n;
    }
}

/* Rounding errors may pass a wall. */
static void walls_close(const struct tracer_flux *f, const lidx *oct, struct tracer_place p,
                        const struct patch_rows_flow *at, const struct level *lv)
{
    const int axis = at->axis, k = at->k & 1;
    for (int i = 0; i < p.octs; i++)
        for (int side = 0; side < 2; side++) {
            const int face = 2 * axis + side;
            if (!(f->walls >> face & 1) || lv->nbr[oct[i]][face] != NBR_BOUNDARY) continue;
            if (axis == 2 && k != side) continue;
            for (int j = 0; j < 2; j++) {
                float *to = tracer_strip(f, p, axis, axis == 2 ? k + side : k,
                                         axis == 1 ? 2 * side : j);
                if (axis == 0)
                    to[2 * i + 2 * side] = 0;
                else
                    to[2 * i] = to[2 * i + 1] = 0;
            }
        }
}

static inline void strip_copy(float *restrict to, const double *restrict from, int n)
{
#pragma omp simd
    for (int i = 0; i < n; i++) to[i] = (float)from[i];
}

/* Keeps what passes the faces of a block, whose first cell is x. */
static void block_keep(const struct tracer_flux *f, struct tracer_place p, int x, int rows,
                       const struct patch_rows_flow *at)
{
    const int k = at->k & 1, w = 2 * p.octs;
    if (at->axis == 0) {
        for (int j = 0; j < rows; j++)
            strip_copy(tracer_strip(f, p, 0, k, j), at->lo[j] + x, w + 1);
    } else if (at->axis == 1) {
        for (int j = 0; j < 3; j++)
            strip_copy(tracer_strip(f, p, 1, k, j), j < 2 ? at->lo[j] + x : at->hi[1] + x, w);
    } else {
        for (int j = 0; j < 2; j++) {
            if (k == 0) strip_copy(tracer_strip(f, p, 2, 0, j), at->lo[j] + x, w);
            strip_copy(tracer_strip(f, p, 2, k + 1, j), at->hi[j] + x, w);
        }
    }
}

static inline float quotient(float out, float mass)
{
    return mass > 0 ? out / mass : out > 0;
}

static inline float plus(float x)
{
    return x > 0 ? x : 0;
}

/* out := what left the cells of a row of a block. */
static void row_leaves(const struct tracer_flux *f, struct tracer_place p, int ndim, int k, int j,
                       float *restrict out)
{
    const int w = 2 * p.octs;
    const float *restrict x = tracer_strip(f, p, 0, k, j),
                          *restrict y = tracer_strip(f, p, 1, k, j),
                          *restrict z = tracer_strip(f, p, 2, k, j);
#pragma omp simd
    for (int i = 0; i < w; i++) out[i] = plus(-x[i]) + plus(x[i + 1]);
    if (ndim < 2) return;
#pragma omp simd
    for (int i = 0; i < w; i++) out[i] = out[i] + plus(-y[i]) + plus(y[w + i]);
    if (ndim < 3) return;
#pragma omp simd
    for (int i = 0; i < w; i++) out[i] = out[i] + plus(-z[i]) + plus(z[2 * w + i]);
}

/* Probabilities for those of the cells c and c + 1 of oct o that touch the finer level. */
static void near_finish(const struct tracer_flux *f, const struct mesh *m, lidx o, int c,
                        const float *out, const double *old)
{
    const unsigned near = f->entry[f->level + 1].near[o];
    for (int i = 0; i < 2; i++) {
        if (!(near >> (c + i) & 1)) continue;
        const float before = tracer_entered(f, m, f->level, o, c + i, false);
        f->share[o][c + i] = quotient(out[i], (float)old[i] - before);
    }
}

/* Finds the probabilities to leave the cells of a plane of a block, when all its fluxes are known:
 * the shares of the mass before, less what has entered the finer level. */
static void block_finish(const struct tracer_flux *f, const lidx *oct, struct tracer_place p, int x,
                         const struct patch_rows_flow *at, const struct mesh *m)
{
    const unsigned char *near = f->entry[f->level + 1].near;
    const int w = 2 * p.octs, k = at->k & 1, rows = m->ndim > 1 ? 2 : 1;
    float out[64], share[64];
    for (int j = 0; j < rows; j++) {
        const double *restrict old = at->old[j] + x;
        const int first = 4 * k + 2 * j;
        row_leaves(f, p, m->ndim, k, j, out);
#pragma omp simd
        for (int i = 0; i < w; i++) share[i] = quotient(out[i], (float)old[i]);
        for (int i = 0; i < p.octs; i++) {
            const lidx o = oct[i];
            memcpy(&f->share[o][first], share + 2 * i, 8);
            if (near && (near[o] >> first & 3))
                near_finish(f, m, o, first, out + 2 * i, old + 2 * i);
        }
    }
}

static void flux_rows(const struct sweep *s, void *ctx, const struct patch_rows_flow *at)
{
    struct tracer_flux *f = ctx;
    const struct tracer_entries *e = &f->entry[f->level];
    const struct mesh *m = s->in.m;
    const lidx *oct = s->slots.oct[(at->k >> 1) + 1][at->y + 1];
    const int rows = s->ndim > 1 ? 2 : 1;
    if (at->axis == 0 && !(at->k & 1)) blocks_find(f, at->octs, oct);
    for (uint32_t octs = at->octs; octs;) {
        const int slot = __builtin_ctz(octs), x = 2 * (slot - 1);
        const struct tracer_place p = f->place[oct[slot]];
        octs &= octs - 1;
        if (p.octs == 0) continue;
        block_keep(f, p, x, rows, at);
        if (f->walls) walls_close(f, oct + slot, p, at, &m->lev[f->level]);
        if (at->axis == s->ndim - 1) block_finish(f, oct + slot, p, x, at, m);
        octs &= ~(uint32_t)(((uint64_t)1 << (slot + p.octs)) - 1);
    }
    for (uint32_t octs = at->octs; octs && e->row; octs &= octs - 1) {
        const int slot = __builtin_ctz(octs);
        const lidx i = oct[slot];
        if (e->row[i] >= 0)
            oct_enters(at, 2 * (slot - 1), rows, m->lev[f->level].nbr[i], &e->at[e->row[i]]);
    }
}

/* Marks the octs that tracers of level l alone are in, or all if many have tracers: long rows are
 * copied faster than their parts. Returns their number. */
static size_t places_find(const struct tracer_run *r, int l)
{
    const struct parts *p = r->parts;
    struct tracer_place *place = r->flux->place;
    const lidx nown = r->mesh->lev[l].nown;
    size_t n = 0;
#pragma omp parallel for schedule(static)
    for (int64_t i = p->first[l]; i < p->first[l + 1]; i++)
        if (tracer_on(p, i, l))
#pragma omp atomic write
            place[p->host[i]].octs = 1;
    for (lidx i = 0; i < nown; i++) n += place[i].octs;
    if (n <= (size_t)nown / MANY) return n;
    for (lidx i = 0; i < nown; i++) place[i].octs = 1;
    return (size_t)nown;
}

const struct patch_flow *tracers_watch(struct tracer_run *r, int l)
{
    struct tracer_flux *f = r->flux;
    const size_t nown = (size_t)r->mesh->lev[l].nown;
    f->level = l;
    f->blocks = 0;
    f->walls = 0;
    for (int k = 0; k < 2 * r->mesh->ndim; k++)
        f->walls |= (uint8_t)((r->hydro->bound[k] == BOUND_REFLECT && r->mesh->bounded[k]) << k);
    f->place = mem_zero(sizeof *f->place * nown + 1, "tracers");
    f->block = mem_new(sizeof *f->block * TRACER_BLOCK * places_find(r, l) + 1, "tracers");
    f->share = mem_new(sizeof *f->share * nown + 1, "tracers");
    return &f->flow;
}

/* ---- the boundary of a level ---- */

/* Cells of an oct that have an oct of the finer level, bits. */
static inline unsigned split_cells(const struct level *lv, lidx i)
{
    unsigned split = 0;
    for (int c = 0; c < 8; c++) split |= (unsigned)(lv->child[i][c] >= 0) << c;
    return split;
}

/* The bits of an oct's cells at the places of the cells across the faces along an axis. */
static inline unsigned across(unsigned cells, int axis)
{
    static const unsigned LOW[3] = {0x55, 0x33, 0x0f};
    const int by = 1 << axis;
    return (cells & LOW[axis]) << by | (cells >> by & LOW[axis]);
}

/* Leaf cells of oct i that have an oct of the finer level across a face, bits. split: of all octs
 * of the level. */
static unsigned touch_finer(const struct mesh *m, const struct level *lv,
                            const unsigned char *split, lidx i)
{
    static const unsigned UPPER[3] = {0xaa, 0xcc, 0xf0};
    const unsigned all = (1u << m->cells) - 1;
    unsigned any = 0;
    for (int d = 0; d < m->ndim; d++) {
        const lidx lo = lv->nbr[i][2 * d], hi = lv->nbr[i][2 * d + 1];
        any |= across(split[i], d);
        if (lo >= 0) any |= across(split[lo], d) & ~UPPER[d];
        if (hi >= 0) any |= across(split[hi], d) & UPPER[d];
    }
    return any & ~(unsigned)split[i] & all;
}

/* Finds the cells of the coarser level that touch level l. */
static unsigned char *near_find(const struct mesh *m, int l)
{
    const struct level *up = &m->lev[l - 1];
    unsigned char *near = mem_new((size_t)up->nown + 1, "tracers"),
                  *split = mem_new((size_t)up->noct + 1, "tracers");
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (lidx i = 0; i < up->noct; i++) split[i] = (unsigned char)split_cells(up, i);
#pragma omp for schedule(static)
        for (lidx i = 0; i < up->nown; i++) near[i] = (unsigned char)touch_finer(m, up, split, i);
    }
    FREE(split);
    return near;
}

float tracer_entered(const struct tracer_flux *flux, const struct mesh *m, int l, lidx i, int c,
                     bool now)
{
    const struct tracer_entries *e = &flux->entry[l + 1];
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

void tracers_watch_entry(struct tracer_run *r, int l)
{
    const struct mesh *m = r->mesh;
    const struct level *lv = &m->lev[l];
    struct tracer_entries *e = &r->flux->entry[l];
    lidx n = 0;
    entries_free(e);
    e->row = mem_new(sizeof *e->row * (size_t)lv->noct + 1, "tracers");
    for (lidx i = 0; i < lv->noct; i++) {
        bool ends = false;
        for (int f = 0; f < 2 * m->ndim; f++) ends |= lv->nbr[i][f] == NBR_NONE;
        e->row[i] = ends ? n++ : -1;
    }
    e->at = mem_zero(sizeof *e->at * (size_t)n + 1, "tracers");
    e->near = near_find(m, l);
}

void tracer_entries_exchange(const struct tracer_run *r, int l)
{
    const struct xplan *p = &r->mesh->lev[l].plan;
    const struct tracer_entries *e = &r->flux->entry[l];
    const size_t row = sizeof e->at->now;
    struct ghost_rows g = {0};
    if (!p->shared) return;
    ghost_rows_room(&g, r->comm, COMM_BULK_FLUX, p, false, row);
    for (int k = 0; k < p->npeer; k++) {
        char *to = g.pack.out[k];
        for (lidx j = p->sfirst[k]; j < p->sfirst[k + 1]; j++, to += row) {
            const lidx at = e->row[p->send[j]];
            if (at >= 0)
                memcpy(to, e->at[at].now, row);
            else
                memset(to, 0, row);
        }
    }
    comm_pack_send(&g.pack);
    comm_pack_receive(&g.pack);
    for (int k = 0; k < p->npeer; k++) {
        const char *from = g.pack.in[k];
        for (lidx j = p->rfirst[k]; j < p->rfirst[k + 1]; j++, from += row) {
            const lidx at = e->row[p->recv[j]];
            if (at >= 0) memcpy(e->at[at].now, from, row);
        }
    }
    comm_pack_free(&g.pack);
}

static void entries_add(const struct mesh *m, int l, struct tracer_entries *e)
{
    for (lidx i = 0; i < m->lev[l].noct; i++) {
        if (e->row[i] < 0) continue;
        struct tracer_entry *at = &e->at[e->row[i]];
        for (int f = 0; f < 6; f++)
            for (int k = 0; k < 4; k++) at->before[f][k] += at->now[f][k];
    }
}

void tracer_flux_end(const struct tracer_run *r, int l)
{
    struct tracer_flux *f = r->flux;
    FREE(f->place);
    FREE(f->block);
    FREE(f->share);
    if (f->entry[l].row) entries_add(r->mesh, l, &f->entry[l]);
    entries_free(&f->entry[l + 1]);
}
