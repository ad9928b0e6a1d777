#include "dom/injection.h"

#include <string.h>

#include "base/mem.h"

/* The leaf cell at a position; false: it is not this rank's own. */
static bool leaf_cell_find(const struct mesh *m, const double x[3], struct leaf_cell *c)
{
    for (int d = 0; d < 3; d++)
        if (!(x[d] >= 0 && x[d] < m->boxlen)) return false;
    for (c->level = m->levelmin;; c->level++) {
        const struct level *lv = &m->lev[c->level];
        uint64_t q[3];
        for (int d = 0; d < 3; d++) q[d] = (uint64_t)mesh_cells(m, c->level, x[d]);
        c->oct = mesh_find(lv, okey_make(q[0] >> 1, q[1] >> 1, q[2] >> 1));
        if (c->oct < 0) return false;
        c->cell = (int)((q[0] & 1) | (q[1] & 1) << 1 | (q[2] & 1) << 2);
        if (lv->child[c->oct][c->cell] < 0) return c->oct < lv->nown;
    }
}

double leaf_cell_volume(const struct mesh *m, int level)
{
    double dx = mesh_dx(m, level);
    return dx * dx * dx;
}

bool injection_any(const struct comm *c, int64_t n)
{
    comm_add_i64(c, &n, 1);
    return n > 0;
}

void *injection_row(const struct injection *j, int64_t i)
{
    return j->home.payload + j->home.bytes * (size_t)i;
}

void *injection_load(const struct injection *j, int64_t i)
{
    return j->load + j->bytes * (size_t)i;
}

const void *injection_here(const struct injection *j, int64_t i)
{
    return j->here.payload + j->bytes * (size_t)i;
}

enum err injection_gather(struct injection *j, int64_t n, size_t bytes, const void *rows)
{
    struct events *e = &j->home;
    TRY(event_route_home(j->comm, j->dom, j->mesh, n, bytes, rows, e));
    int64_t sent = e->n;
    j->centre = mem_new(sizeof *j->centre * (size_t)sent + 1, j->name);
    e->n = 0;
    for (int64_t i = 0; i < sent; i++) {
        if (!leaf_cell_find(j->mesh, e->at[i].x, &j->centre[e->n])) continue;
        char *row = injection_row(j, e->n);
        memmove(row, injection_row(j, i), bytes);
        memcpy(&e->at[e->n++], row, sizeof *e->at);
    }
    j->load = mem_zero(j->bytes * (size_t)e->n + 1, j->name);
    return OK;
}

enum err injection_send(struct injection *j)
{
    char *row = mem_new(j->bytes * (size_t)j->home.n + 1, j->name);
    struct event *at = mem_new(sizeof *at * (size_t)j->home.n + 1, j->name);
    int64_t n = 0;
    for (int64_t i = 0; i < j->home.n; i++) {
        struct event_home *load = injection_load(j, i);
        *load = (struct event_home){j->comm->rank, i};
        if (j->home.at[i].radius < 0) continue;
        at[n] = j->home.at[i];
        memcpy(row + j->bytes * (size_t)n++, load, j->bytes);
    }
    enum err err = event_route(j->comm, j->dom, j->mesh, n, at, j->bytes, row, &j->here);
    FREE(at);
    FREE(row);
    if (err != OK) return err;
    j->from = mem_new(sizeof *j->from * (size_t)j->here.n + 1, j->name);
    for (int64_t i = 0; i < j->here.n; i++)
        memcpy(&j->from[i], injection_here(j, i), sizeof *j->from);
    j->bins = bins_new(j->mesh, j->here.n, j->here.at);
    return OK;
}

void injection_free(struct injection *j)
{
    if (j->bins) bins_free(j->bins);
    FREE(j->from);
    FREE(j->load);
    FREE(j->centre);
    events_free(&j->here);
    events_free(&j->home);
}

void injection_take(const struct injection *j, const struct leaf_cell *c, double share, double rho,
                    double v[3], double *scalar)
{
    const struct level *lv = &j->mesh->lev[c->level];
    const struct gas_cell g = gas_cell_read(lv, c->oct, c->cell);
    double volume = leaf_cell_volume(j->mesh, c->level);
    for (int d = 0; d < 3; d++) {
        v[d] = g.m[d] / g.rho;
        level_gas(lv, GAS_MOMENTUM + d)[c->oct][c->cell] -= g.m[d] * share;
    }
    gas_add_energy(lv, c->oct, c->cell, -gas_kinetic_mv(g.m, v) * share);
    for (int i = 0; i < j->nscalar; i++) {
        double *u = &level_gas(lv, GAS_SCALARS + i)[c->oct][c->cell];
        scalar[i] = 0;
        if (i < lv->nener) continue; /* a non-thermal energy stays, as the internal energy does */
        scalar[i] = *u * share * volume;
        *u -= *u * share;
    }
    level_gas(lv, GAS_DENSITY)[c->oct][c->cell] -= rho;
}

/* ---- sums ---- */

struct visitor {
    const struct injection *j;
    int words;
    event_whole *sum; /* [thread][event][words] partial sums */
    injection_visit *visit;
    void *ctx;
};

static void visit_cell(const struct bins_hit *h, void *ctx)
{
    const struct visitor *v = ctx;
    v->visit(h, v->sum + (h->thread * v->j->here.n + h->event) * v->words, v->ctx);
}

void injection_each(const struct injection *j, struct injection_sums *t, injection_visit *visit,
                    void *ctx)
{
    int64_t n = j->here.n * t->words, all = n * bins_threads();
    struct visitor v = {j, t->words, mem_zero(sizeof *v.sum * (size_t)all + 1, j->name), visit,
                        ctx};
    bins_each(j->bins, j->mesh, visit_cell, &v);
    if (!t->here) t->here = mem_zero(sizeof *t->here * (size_t)n + 1, j->name);
    for (int64_t i = 0; i < all; i++) t->here[i % n] += v.sum[i];
    FREE(v.sum);
}

void injection_total(const struct injection *j, struct injection_sums *t, bool back)
{
    t->home = mem_zero(sizeof *t->home * (size_t)(j->home.n * t->words) + 1, j->name);
    event_sums(j->comm, j->here.n, j->from, t->words, t->here, t->home, back);
}

void injection_sums_free(struct injection_sums *t)
{
    FREE(t->here);
    FREE(t->home);
}
