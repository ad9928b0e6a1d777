/* tracer/flux: see flux.h. */
#include "tracer/flux.h"

#include <string.h>

#include "base/mem.h"
#include "dom/ghost.h"
#include "patch/sweep.h"

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
    FREE((*f)->oct);
    FREE((*f)->gone);
    FREE((*f)->ledger.born.row);
    FREE((*f)->ledger.ejected.row);
    for (int l = 0; l < LEVEL_MAX + 2; l++) entries_free(&(*f)->entry[l]);
    FREE(*f);
}

/* ---- fluxes of a step ---- */

/* Two neighbouring cells. */
typedef double two_cells __attribute__((vector_size(16), may_alias, aligned(8)));
typedef int64_t two_bits __attribute__((vector_size(16)));
typedef float two_floats __attribute__((vector_size(8), may_alias, aligned(4)));

static inline void put_above_zero(float *to, two_cells x)
{
    const two_bits above = (two_bits)(x > 0) & (two_bits)x;
    *(two_floats *)to = __builtin_convertvector((two_cells)above, two_floats);
}

/* The two cells of an oct in each of the rows; x: its first cell. */
static inline void oct_leaves(const struct patch_rows_flow *at, int x, int rows,
                              struct tracer_gone *to)
{
    const int f = 2 * at->axis, plane = (at->k & 1) << 2;
    for (int j = 0; j < rows; j++) {
        const int c = plane | j << 1;
        put_above_zero(&to->out[f][c], -*(const two_cells *)(at->lo[j] + x));
        put_above_zero(&to->out[f + 1][c], *(const two_cells *)(at->hi[j] + x));
        if (at->axis == 0)
            *(two_floats *)&to->mass[c] = __builtin_convertvector(
                *(const two_cells *)(at->old[j] + x), two_floats);
    }
}

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

static void flux_rows(const struct sweep *s, void *ctx, const struct patch_rows_flow *at)
{
    const struct tracer_flux *f = ctx;
    const struct tracer_entries *e = &f->entry[f->level];
    const lidx *oct = s->slots.oct[(at->k >> 1) + 1][at->y + 1];
    const int rows = s->ndim > 1 ? 2 : 1;
    for (uint32_t octs = at->octs; octs; octs &= octs - 1) {
        const int slot = __builtin_ctz(octs), x = 2 * (slot - 1);
        const lidx i = oct[slot];
        if (f->row[i] >= 0) oct_leaves(at, x, rows, &f->gone[f->row[i]]);
        if (e->row && e->row[i] >= 0)
            oct_enters(at, x, rows, s->in.m->lev[f->level].nbr[i], &e->at[e->row[i]]);
    }
}

/* Gives rows to the octs that tracers of level l alone are in. */
static lidx rows_find(const struct tracer_run *r, int l)
{
    const struct parts *p = r->parts;
    struct tracer_flux *f = r->flux;
    const lidx nown = r->mesh->lev[l].nown;
    lidx n = 0;
    f->row = mem_new(sizeof *f->row * (size_t)nown + 1, "tracers");
    memset(f->row, 0, sizeof *f->row * (size_t)nown);
#pragma omp parallel for schedule(static)
    for (int64_t i = p->first[l]; i < p->first[l + 1]; i++)
        if (tracer_on(p, i, l))
#pragma omp atomic write
            f->row[p->host[i]] = 1;
    for (lidx i = 0; i < nown; i++) n += f->row[i];
    f->oct = mem_new(sizeof *f->oct * (size_t)n + sizeof *f->oct, "tracers");
    n = 0;
    for (lidx i = 0; i < nown; i++) {
        f->oct[n] = i;
        const bool any = f->row[i];
        f->row[i] = any ? n : -1;
        n += any;
    }
    return n;
}

const struct patch_flow *tracers_watch(struct tracer_run *r, int l)
{
    struct tracer_flux *f = r->flux;
    f->level = l;
    f->n = rows_find(r, l);
    f->gone = mem_new(sizeof *f->gone * (size_t)f->n + 1, "tracers");
    if (r->mesh->ndim < 3) memset(f->gone, 0, sizeof *f->gone * (size_t)f->n);
    return &f->flow;
}

/* ---- the boundary of a level ---- */

/* Whether a leaf cell of oct i has an oct of the finer level across a face. */
static bool touches_finer(const struct mesh *m, const struct level *lv, lidx i)
{
    bool any = false;
    for (int c = 0; c < m->cells; c++)
        for (int f = 0; f < 2 * m->ndim && lv->child[i][c] < 0; f++)
            any |= tracer_finer_across(lv, i, c, f) >= 0;
    return any;
}

void tracers_watch_entry(struct tracer_run *r, int l)
{
    const struct mesh *m = r->mesh;
    const struct level *lv = &m->lev[l], *up = lv - 1;
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
    e->near = mem_new((size_t)up->nown + 1, "tracers");
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < up->nown; i++) e->near[i] = touches_finer(m, up, i);
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
    FREE(f->oct);
    FREE(f->gone);
    if (f->entry[l].row) entries_add(r->mesh, l, &f->entry[l]);
    entries_free(&f->entry[l + 1]);
}
