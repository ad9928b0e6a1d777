/* tracer/settle: Monte-Carlo tracers after the mesh has changed. */
#include <math.h>

#include "oct/bits.h"
#include "tracer/flux.h"

enum { BATCH = 1024 };

/* Whether levels from l on have changed since tracers were settled; equal on all ranks, as lists of
 * octs change on all of them together. Remembers their lists. *anew: whether tracers of one of them
 * were never settled, or have been placed since. */
static bool has_changed(const struct tracer_run *r, int l, bool *anew)
{
    bool any = false;
    *anew = false;
    for (int k = l; k <= r->mesh->levelmax; k++) {
        any |= r->flux->settled[k] != r->mesh->lev[k].octs + 1;
        *anew |= r->flux->settled[k] == 0;
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

static void settle(const struct tracer_run *r, int l, int64_t i, double close)
{
    const struct mesh *m = r->mesh;
    const struct parts *p = r->parts;
    const struct level *lv = &m->lev[l];
    int64_t oct[3], cell[3] = {0, 0, 0};
    int c = 0;
    bool in = true, central = true; /* closer to the centre of the cell than to those of all finer
                                     * levels, the closest of which are at twice `close` */
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

/* Lists the particles, of n, that must move in level l. If all were settled before, these are
 * tracers of level l whose cell was split, and tracers of finer levels whose cell is a leaf now.
 * Tracers of coarser levels wait. */
static int unsettled(const struct tracer_run *r, int l, int64_t begin, int n, int *some)
{
    const struct parts *p = r->parts;
    const lidx(*child)[8] = (const lidx(*)[8])r->mesh->lev[l].child;
    const lidx *restrict host = p->host + begin;
    const int8_t *restrict family = p->family + begin;
    const int32_t *restrict levelp = p->levelp + begin;
    const bool anew = !p->settled;
    unsigned char may[BATCH];
    int cell[BATCH], last = 0, finer = 0;
#pragma omp simd
    for (int k = 0; k < n; k++) may[k] = (family[k] == FAM_GAS_TRACER) & ((levelp[k] >= l) | anew);
    const int found = bits_list(may, n, some);
#pragma omp simd reduction(| : finer)
    for (int k = 0; k < n; k++) finer |= levelp[k] > l;
    if (anew) return found;
    if (finer) part_cells(p, r->mesh, l, begin, n, cell);
    for (int j = 0; j < found; j++) {
        const int k = some[j];
        const bool below = levelp[k] > l;
        const int c = below ? cell[k] : tracer_cell(p, begin + k);
        some[last] = k;
        last += (child[host[k]][c] < 0) == below;
    }
    return last;
}

/* All particles are handed down to level l. */
static void settle_level(const struct tracer_run *r, int l)
{
    const struct parts *p = r->parts;
    const double close = ldexp(0.25, l - r->mesh->levelmax);
#pragma omp parallel for schedule(static)
    for (int64_t b = p->first[l]; b < p->n; b += BATCH) {
        int some[BATCH];
        const int n = unsettled(r, l, b, b + BATCH < p->n ? BATCH : (int)(p->n - b), some);
        for (int k = 0; k < n; k++) settle(r, l, b + some[k], close);
    }
}

void tracers_settle(struct tracer_run *r, int l)
{
    struct parts *p = r->parts;
    bool anew;
    int k = l;
    if (!has_changed(r, l, &anew)) return;
    p->settled &= !anew;
    for (;; k++) {
        settle_level(r, k);
        if (k == r->mesh->levelmax || r->mesh->lev[k + 1].total == 0) break;
        part_hand_down(p, r->mesh, r->comm, r->dom, k);
    }
    while (--k >= l) part_merge(p, r->mesh, k);
    part_enter(p, r->mesh, r->comm, r->dom, l);
    p->settled = true;
}
