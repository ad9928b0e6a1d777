/* tracer/flux: see flux.h. */
#include "tracer/flux.h"

#include <string.h>

#include "base/mem.h"
#include "dom/ghost.h"
#include "oct/bits.h"
#include "patch/sweep.h"
#include "vec/vec4.h"

enum { MANY = 4, SAMPLE = 16 };

typedef float float4 __attribute__((vector_size(16)));
typedef int int4 __attribute__((vector_size(16)));

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
    FREE((*f)->row);
    FREE((*f)->left);
    FREE((*f)->most);
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

/* The numbers of the four cells of an oct in a plane, from those of two rows. */
static inline float4 plane_of(const double *a, const double *b)
{
    return __builtin_convertvector(((vec4){a[0], a[1], b[0], b[1]}), float4);
}

static inline float4 plus(float4 x)
{
    return (float4)((int4)x & (x > 0));
}

static inline float4 plane_load(const float *x)
{
    float4 v;
    memcpy(&v, x, sizeof v);
    return v;
}

/* Keeps what leaves the cells of a row of octs along an axis. */
static void left_keep(const struct tracer_flux *f, const struct patch_rows_flow *at,
                      const lidx *restrict oct)
{
    const double *lo[2] = {at->lo[0] - 2, at->lo[1] - 2}, *hi[2] = {at->hi[0] - 2, at->hi[1] - 2};
    const int face = 2 * at->axis, first = 4 * (at->k & 1);
    const lidx *restrict row = f->row;
    struct tracer_left *restrict left = f->left;
    for (uint32_t octs = at->octs; octs; octs &= octs - 1) {
        const int slot = __builtin_ctz(octs), x = 2 * slot;
        const lidx i = row[oct[slot]];
        if (i < 0) continue;
        const float4 down = plus(-plane_of(lo[0] + x, lo[1] + x)),
                     up = plus(plane_of(hi[0] + x, hi[1] + x));
        memcpy(left[i].out[face] + first, &down, sizeof down);
        memcpy(left[i].out[face + 1] + first, &up, sizeof up);
    }
}

/* Rounding errors may pass a wall. */
static void walls_close(const struct tracer_flux *f, const lidx nbr[6], int axis,
                        struct tracer_left *left)
{
    for (int face = 2 * axis; face < 2 * axis + 2; face++)
        for (int at = 0; at < 4 && f->walls >> face & 1 && nbr[face] == NBR_BOUNDARY; at++)
            left->out[face][tracer_face_cell(axis, face & 1, at)] = 0;
}

static inline float quotient(float out, float mass)
{
    return mass > 0 ? out / mass : out > 0;
}

/* Probabilities for those cells of plane k of oct o that touch the finer level. */
static void near_finish(const struct tracer_flux *f, const struct mesh *m, lidx o, int k,
                        const float old[4], const float sum[4])
{
    for (unsigned near = f->entry[f->level + 1].near[o] >> 4 * k & 15; near; near &= near - 1) {
        const int c = __builtin_ctz(near);
        const float before = tracer_entered(f, m, f->level, o, 4 * k + c, false);
        f->left[f->row[o]].share[4 * k + c] = quotient(sum[c], old[c] - before);
    }
}

static inline float4 pick(int4 mask, float4 x, float4 y)
{
    return (float4)(((int4)x & mask) | ((int4)y & ~mask));
}

/* The whole parts, at most 255, as bytes. */
static inline void bytes_of(float4 x, uint8_t *byte)
{
    const float4 most = {255, 255, 255, 255};
    int4 n = __builtin_convertvector(pick(x < most, x, most), int4);
    n <<= (int4){0, 8, 16, 24};
    n |= __builtin_shuffle(n, (int4){2, 3, 0, 1});
    n |= __builtin_shuffle(n, (int4){1, 0, 3, 2});
    memcpy(byte, &n, 4);
}

/* Finds the probabilities to leave the cells of a plane of oct o, when all its fluxes are known:
 * the shares of the mass before, less what has entered the finer level. */
static inline void left_finish(const struct tracer_flux *f, const struct mesh *m, lidx o, int x,
                               const struct patch_rows_flow *at)
{
    const unsigned char *near = f->entry[f->level + 1].near;
    const int k = at->k & 1;
    struct tracer_left *to = &f->left[f->row[o]];
    const float4 old = plane_of(at->old[0] + x, at->old[1] + x);
    const float4 whole = {1, 1, 1, 1};
    float4 sum = plane_load(to->out[0] + 4 * k);
    for (int face = 1; face < 6; face++) sum += plane_load(to->out[face] + 4 * k);
    float4 share = pick(old > 0, sum / old, pick(sum > 0, whole, whole - whole));
    memcpy(to->share + 4 * k, &share, sizeof share);
    if (near && near[o] >> 4 * k & 15) {
        near_finish(f, m, o, k, (const float *)&old, (const float *)&sum);
        share = plane_load(to->share + 4 * k);
    }
    bytes_of(256 * share, &f->most[o][4 * k]);
}

static void flux_rows(const struct sweep *s, void *ctx, const struct patch_rows_flow *at)
{
    struct tracer_flux *f = ctx;
    const struct tracer_entries *e = &f->entry[f->level];
    const struct mesh *m = s->in.m;
    const lidx *oct = slot_row(&s->slots, at->y, at->k >> 1);
    const int rows = s->ndim > 1 ? 2 : 1;
    left_keep(f, at, oct);
    for (uint32_t octs = at->octs; octs && f->walls; octs &= octs - 1) {
        const lidx o = oct[__builtin_ctz(octs)];
        if (f->row[o] >= 0) walls_close(f, m->lev[f->level].nbr[o], at->axis, &f->left[f->row[o]]);
    }
    for (uint32_t octs = at->octs; octs && at->axis == s->ndim - 1; octs &= octs - 1) {
        const int slot = __builtin_ctz(octs);
        if (f->row[oct[slot]] >= 0) left_finish(f, m, oct[slot], 2 * (slot - 1), at);
    }
    for (uint32_t octs = at->octs; octs && e->row; octs &= octs - 1) {
        const int slot = __builtin_ctz(octs);
        const lidx i = oct[slot];
        if (e->row[i] >= 0)
            oct_enters(at, 2 * (slot - 1), rows, m->lev[f->level].nbr[i], &e->at[e->row[i]]);
    }
}

/* Looks at every `step`-th particle, and marks the octs with tracers of level l. Returns whether
 * more than 1/MANY of the level's octs are marked. */
static bool rows_mark(const struct tracer_run *r, int l, int step, unsigned char *has)
{
    const struct parts *p = r->parts;
    const lidx nown = r->mesh->lev[l].nown;
    lidx n = 0;
#pragma omp parallel for schedule(static)
    for (int64_t i = p->first[l]; i < p->first[l + 1]; i += step)
        if (tracer_on(p, i, l))
#pragma omp atomic write
            has[p->host[i]] = 1;
    for (lidx i = 0; i < nown; i++) n += has[i];
    return n > nown / MANY;
}

/* Gives rows to the octs of level l that tracers are in, or to all if many have tracers, which a
 * sample may tell. Returns their number. */
static size_t rows_find(const struct tracer_run *r, int l)
{
    const lidx nown = r->mesh->lev[l].nown;
    unsigned char *has = mem_zero((size_t)nown + 1, "tracers");
    const bool all = rows_mark(r, l, SAMPLE, has) || rows_mark(r, l, 1, has);
    lidx n = 0;
    for (lidx i = 0; i < nown; i++) r->flux->row[i] = all || has[i] ? n++ : -1;
    FREE(has);
    return (size_t)n;
}

const struct patch_flow *tracers_watch(struct tracer_run *r, int l)
{
    struct tracer_flux *f = r->flux;
    const size_t nown = (size_t)r->mesh->lev[l].nown;
    f->level = l;
    f->walls = 0;
    for (int k = 0; k < 2 * r->mesh->ndim; k++)
        f->walls |= (uint8_t)((r->hydro->bound[k] == BOUND_REFLECT && r->mesh->bounded[k]) << k);
    f->row = mem_new(sizeof *f->row * nown + 1, "tracers");
    const size_t bytes = sizeof *f->left * rows_find(r, l) + 1;
    /* nothing leaves along missing axes */
    f->left = r->mesh->ndim < 3 ? mem_zero(bytes, "tracers") : mem_new(bytes, "tracers");
    f->most = mem_new(sizeof *f->most * nown + 1, "tracers");
    return &f->flow;
}

/* ---- the boundary of a level ---- */

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
        for (lidx i = 0; i < up->noct; i++) split[i] = (unsigned char)~bits_of_leaves(up->child[i]);
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
    FREE(f->row);
    FREE(f->left);
    FREE(f->most);
    if (f->entry[l].row) entries_add(r->mesh, l, &f->entry[l]);
    entries_free(&f->entry[l + 1]);
}
