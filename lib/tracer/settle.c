/* tracer/settle: Monte-Carlo tracers after the mesh has changed. */
#include <math.h>

#include "tracer/flux.h"

/* Whether levels from l on have changed since tracers were settled; equal on all ranks, as lists of
 * octs change on all of them together. Remembers their lists. */
static bool has_changed(const struct tracer_run *r, int l)
{
    bool any = false;
    for (int k = l; k <= r->mesh->levelmax; k++) {
        any |= r->flux->settled[k] != r->mesh->lev[k].octs + 1;
        r->flux->settled[k] = r->mesh->lev[k].octs + 1;
    }
    return any;
}

/* A child of the cell by its share of the mass; u in [0, 1). */
static int child_choose(const struct mesh *m, int l, lidx child, double u)
{
    const double *mass = level_gas(&m->lev[l + 1], GAS_DENSITY)[child];
    double all = 0;
    int c = 0;
    for (int k = 0; k < m->cells; k++) all += mass[k];
    for (u = u * all - mass[0]; u >= 0 && c < m->cells - 1;) u -= mass[++c];
    return c;
}

/* Puts tracer i to the centre of a cell of level l. It does not move by this. */
static void put(const struct tracer_run *r, int64_t i, int l, const int64_t cell[3])
{
    struct parts *p = r->parts;
    int number = 0;
    bool moves = false; /* it did in the last step */
    for (int d = 0; d < r->mesh->ndim; d++) {
        const double x = tracer_centre(r->mesh, l, cell[d]);
        if (p->x[d][i] != x) p->x[d][i] = x;
        moves |= p->v[d][i] != 0;
        number |= (int)(cell[d] & 1) << d;
    }
    p->levelp[i] = l;
    p->partner[i] = number | (moves ? PART_JUMPED : 0);
}

static void settle(const struct tracer_run *r, int l, int64_t i)
{
    const struct mesh *m = r->mesh;
    const struct parts *p = r->parts;
    const struct level *lv = &m->lev[l];
    int64_t oct[3], cell[3] = {0, 0, 0};
    int c = 0;
    bool in = true, central = true; /* closer to the centre of the cell than to those of all finer
                                     * levels, the closest of which are at twice `close` */
    const double close = ldexp(0.25, l - m->levelmax);
    okey_coords(lv->key[p->host[i]], oct);
    for (int d = 0; d < m->ndim; d++) {
        const double u = mesh_cells(m, l, p->x[d][i]);
        cell[d] = (int64_t)u;
        in &= cell[d] >> 1 == oct[d];
        central &= fabs(u - (double)cell[d] - 0.5) < close;
        c |= (int)(cell[d] & 1) << d;
    }
    const lidx child = lv->child[p->host[i]][c];
    if (!in || (child >= 0 && !central)) return;
    if (child < 0) {
        put(r, i, l, cell);
        return;
    }
    struct rng g = tracer_rng(r, (uint64_t)p->id[i], l, TRACER_USE_SETTLE);
    const int k = child_choose(m, l, child, rng_uniform(&g));
    for (int d = 0; d < m->ndim; d++) cell[d] = 2 * cell[d] + (k >> d & 1);
    put(r, i, l + 1, cell);
}

void tracers_settle(struct tracer_run *r, int l)
{
    struct parts *p = r->parts;
    int k = l;
    if (!has_changed(r, l)) return;
    for (;; k++) {
#pragma omp parallel for schedule(static)
        for (int64_t i = p->first[k]; i < p->n; i++)
            if (tracer_jumps(p, i)) settle(r, k, i);
        if (k == r->mesh->levelmax || r->mesh->lev[k + 1].total == 0) break;
        part_hand_down(p, r->mesh, r->comm, r->dom, k);
    }
    while (--k >= l) part_merge(p, r->mesh, k);
    part_enter(p, r->mesh, r->comm, r->dom, l);
}
