/* patch/reflux: finds the octs that have registers, and assigns their rows. */
#include "patch/reflux.h"

#include <string.h>

#include "base/mem.h"

void reflux_begin(struct mesh *m, int l, int system, int nflux)
{
    struct level *lv = &m->lev[l];
    struct reflux *r = &lv->reflux[system];
    reflux_end(m, l, system);
    if (lv->noct == 0) return;
    r->row = mem_new(sizeof *r->row * (size_t)lv->noct, "hydro reflux");
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < lv->noct; i++) {
        bool any = false;
        for (int f = 0; f < 6; f++) any |= lv->nbr[i][f] == NBR_NONE;
        r->row[i] = any;
    }
    for (lidx i = 0; i < lv->noct; i++) r->row[i] = r->row[i] ? r->n++ : -1;
    r->nflux = nflux;
    r->flux = mem_zero(reflux_row_bytes(nflux) * (size_t)r->n + 1, "hydro reflux");
}

void reflux_end(struct mesh *m, int l, int system)
{
    struct reflux *r = &m->lev[l].reflux[system];
    FREE(r->row);
    FREE(r->flux);
    r->n = 0;
}

size_t reflux_row_bytes(int nflux)
{
    return sizeof(double) * 6 * (size_t)nflux;
}

void reflux_export(const struct reflux *r, lidx oct, void *row)
{
    if (r->row[oct] >= 0)
        memcpy(row, reflux_row(r, oct), reflux_row_bytes(r->nflux));
    else
        memset(row, 0, reflux_row_bytes(r->nflux));
}

void reflux_import(struct reflux *r, lidx oct, const void *row)
{
    if (r->row[oct] >= 0) memcpy(reflux_row(r, oct), row, reflux_row_bytes(r->nflux));
}
