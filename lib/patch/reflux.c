/* patch/reflux: finds the octs that have registers, and assigns their rows. */
#include "patch/reflux.h"

#include <string.h>

#include "base/mem.h"

void reflux_begin(struct mesh *m, int l, int system, int nflux, int nedge)
{
    struct level *lv = &m->lev[l];
    struct reflux *r = &lv->reflux[system];
    reflux_end(m, l, system);
    if (lv->noct == 0) return;
    r->row = mem_new(sizeof *r->row * (size_t)lv->noct, "hydro reflux");
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < lv->noct; i++)
        r->row[i] = reflux_has((const lidx(*)[6])lv->nbr, i, nedge > 0);
    for (lidx i = 0; i < lv->noct; i++) r->row[i] = r->row[i] ? r->n++ : -1;
    r->nflux = nflux;
    r->nedge = nedge;
    r->nlower = reflux_nlower(m->ndim, nflux, nedge);
    r->flux = mem_zero(reflux_oct_bytes(m->ndim, nflux, nedge) * (size_t)r->n + 1, "hydro reflux");
}

/* Forces at the edges of row i. */
static double *edges_of(const struct reflux *r, lidx i)
{
    return r->flux + (size_t)i * (size_t)(6 * r->nflux + r->nedge) + (size_t)(6 * r->nflux);
}

void reflux_grow(struct mesh *m, int l, int system, double factor)
{
    const struct reflux *r = &m->lev[l].reflux[system];
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < r->n; i++)
        for (int e = 0; e < REFLUX_EDGES && e < r->nedge; e++) edges_of(r, i)[e] *= factor;
}

void reflux_keep(struct mesh *m, int l, int system)
{
    const struct reflux *r = &m->lev[l].reflux[system];
    if (r->nedge < 2 * REFLUX_EDGES) return;
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < r->n; i++)
        memcpy(edges_of(r, i) + REFLUX_EDGES, edges_of(r, i), REFLUX_EDGES * sizeof *r->flux);
}

void reflux_end(struct mesh *m, int l, int system)
{
    struct reflux *r = &m->lev[l].reflux[system];
    FREE(r->row);
    FREE(r->flux);
    r->n = 0;
}

size_t reflux_row_bytes(int nflux, int nedge)
{
    return sizeof(double) * (size_t)(6 * nflux + nedge);
}

size_t reflux_oct_bytes(int ndim, int nflux, int nedge)
{
    const int lower = reflux_nlower(ndim, nflux, nedge);
    return reflux_row_bytes(nflux, nedge) + sizeof(double) * (size_t)lower;
}

void reflux_export(const struct reflux *r, lidx oct, void *row)
{
    if (r->row[oct] >= 0)
        memcpy(row, reflux_row(r, oct), reflux_row_bytes(r->nflux, r->nedge));
    else
        memset(row, 0, reflux_row_bytes(r->nflux, r->nedge));
}

void reflux_import(struct reflux *r, lidx oct, const void *row)
{
    if (r->row[oct] >= 0) memcpy(reflux_row(r, oct), row, reflux_row_bytes(r->nflux, r->nedge));
}

void reflux_pack(const struct level *lv, int system, char *const *out)
{
    const struct reflux *r = &lv->reflux[system];
    const struct xplan *p = &lv->plan;
    const size_t row = reflux_row_bytes(r->nflux, r->nedge);
    for (int k = 0; k < p->npeer; k++) {
        char *at = out[k];
        for (lidx j = p->sfirst[k]; j < p->sfirst[k + 1]; j++, at += row)
            reflux_export(r, p->send[j], at);
    }
}

void reflux_unpack(struct level *lv, int system, const char *const *in)
{
    struct reflux *r = &lv->reflux[system];
    const struct xplan *p = &lv->plan;
    const size_t row = reflux_row_bytes(r->nflux, r->nedge);
    for (int k = 0; k < p->npeer; k++) {
        const char *at = in[k];
        for (lidx j = p->rfirst[k]; j < p->rfirst[k + 1]; j++, at += row)
            reflux_import(r, p->recv[j], at);
    }
}
