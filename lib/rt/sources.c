/* rt/sources: photons of the namelist: regions of the initial state, and sources that emit in every
 * sub-step. What a cell receives follows from its position alone. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "phys/units.h"
#include "rt/dev_priv.h"
#include "rt/law.h"
#include "rt/m1_kern.h"
#include "rt/rt.h"

/* Cells of a level as places see them. */
struct cells {
    const struct mesh *m;
    int l;
    double dx, c, c_cgs; /* c: reduced speed of light, code units */
    double per_n;        /* densities in cm^-3 to code units */
    double cm;           /* of a code unit of length */
};

static struct cells cells_of(const struct rt_run *r, int l)
{
    const double a = r->aexp;
    return (struct cells){r->mesh,      l,         mesh_dx(r->mesh, l), r->rt->c,
                          r->rt->c_cgs, a * a * a, r->units.length};
}

/* Volume of a cell, cm^ndim. */
static double volume_cgs(const struct cells *a)
{
    const double dx = a->dx * a->cm;
    return a->m->ndim == 3 ? dx * dx * dx : a->m->ndim == 2 ? dx * dx : dx;
}

/* Norm of the distance from the centre in units of half the lengths: less than 1 within. */
static double norm_of(const struct cells *a, const struct rt_place *p, const double x[3])
{
    double sum = 0, max = 0;
    for (int d = 0; d < a->m->ndim; d++) {
        const double y = 2.0 * fabs(x[d] - p->center[d]) / p->length[d];
        if (p->exponent < 10) sum += pow(y, p->exponent);
        max = m1_max(max, y);
    }
    return p->exponent < 10 ? pow(sum, 1.0 / p->exponent) : max;
}

/* Part of a point that belongs to the cell: cloud in cell. */
static double weight_of(const struct cells *a, const struct rt_place *p, const double x[3])
{
    double w = 1;
    for (int d = 0; d < a->m->ndim; d++) w *= m1_max(1.0 - fabs(x[d] - p->center[d]) / a->dx, 0.0);
    return w;
}

static bool in_shell(const struct cells *a, const struct rt_place *p, const double x[3])
{
    double r2 = 0;
    for (int d = 0; d < a->m->ndim; d++) r2 += (x[d] - p->center[d]) * (x[d] - p->center[d]);
    const double r = sqrt(r2);
    return r > p->length[0] && r < p->length[1];
}

/* Sets the state of a cell: density N, and flux f times the direction. */
static void state_set(const struct cells *a, const struct rt_place *p, double N, double f,
                      double u[RT_COMPONENTS])
{
    u[0] = N;
    for (int d = 0; d < a->m->ndim; d++) u[1 + d] = f * p->direction[d];
}

/* The state u of group p->group in a cell at x with a region of the initial state. Densities of a
 * box are not converted with cosmology. Returns whether the region reaches the cell. */
static bool region_cell(const struct cells *a, const struct rt_place *p, const double x[3],
                        double dt, double u[RT_COMPONENTS])
{
    const double n = m1_max(p->n, RT_SMALL), w = weight_of(a, p, x);
    if (p->shape == RT_SQUARE && norm_of(a, p, x) < 1.0) {
        state_set(a, p, n, a->c, u);
        return true;
    }
    if (p->shape != RT_POINT || !(w > 0)) return false;
    const double per = a->per_n * w / volume_cgs(a);
    state_set(a, p, n * per, a->c * per, u);
    return true;
}

/* Whether a source reaches a cell at x: its part of a point, else 1; 0: it does not. */
static double source_part(const struct cells *a, const struct rt_place *p, const double x[3])
{
    if (p->shape == RT_POINT) return weight_of(a, p, x);
    return p->shape == RT_SQUARE ? norm_of(a, p, x) < 1.0 : in_shell(a, p, x);
}

/* dt: s. */
static struct rt_shine shine_of(const struct cells *a, const struct rt_place *p, double dt)
{
    struct rt_shine s = {.shape = p->shape,
                         .ndim = a->m->ndim,
                         .n = p->n,
                         .per_n = a->per_n,
                         .volume = volume_cgs(a),
                         .c = a->c,
                         .c_cgs = a->c_cgs,
                         .dt = dt};
    memcpy(s.direction, p->direction, sizeof s.direction);
    return s;
}

/* Likewise for a source; dt: s. */
static bool source_cell(const struct cells *a, const struct rt_place *p, const double x[3],
                        double dt, double u[RT_COMPONENTS])
{
    const double part = source_part(a, p, x);
    if (!(part > 0)) return false;
    const struct rt_shine s = shine_of(a, p, dt);
    rt_shine(&s, part, u);
    return true;
}

/* ---- all places ---- */

typedef bool place_rule(const struct cells *a, const struct rt_place *p, const double x[3],
                        double dt, double u[RT_COMPONENTS]);

/* A box around a place: octs without a cell centre in it are passed over. */
struct reach {
    double lo[3], hi[3];
};

static struct reach reach_of(const struct cells *a, const struct rt_place *p)
{
    struct reach r = {{-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}, {HUGE_VAL, HUGE_VAL, HUGE_VAL}};
    for (int d = 0; d < a->m->ndim; d++) {
        const double by = p->shape == RT_POINT    ? a->dx
                          : p->shape == RT_SQUARE ? 0.5 * p->length[d]
                                                  : p->length[1];
        const double far = fabs(by) * 1.0001 + a->dx;
        r.lo[d] = p->center[d] - far, r.hi[d] = p->center[d] + far;
    }
    return r;
}

/* Whether the place may reach an oct whose first cell has its centre at x. */
static bool may_reach(const struct cells *a, const struct reach *r, const double x[3])
{
    for (int d = 0; d < a->m->ndim; d++)
        if (x[d] + a->dx < r->lo[d] || x[d] > r->hi[d]) return false;
    return true;
}

/* Applies a place to the leaf cells of oct i. Adds by how much densities change. */
static void place_oct(const struct cells *a, const struct rt_place *p, place_rule *rule, double dt,
                      lidx i, struct sum *added)
{
    const struct level *lv = &a->m->lev[a->l];
    const double volume = mesh_volume(a->m, a->l);
    double *row[RT_COMPONENTS];
    for (int v = 0; v < RT_COMPONENTS; v++)
        row[v] = level_photons(lv, RT_COMPONENTS * p->group + v)[i];
    for (int c = 0; c < a->m->cells; c++) {
        double x[3], u[RT_COMPONENTS], before = row[0][c];
        if (lv->child[i][c] >= 0) continue;
        okey_cell_centre(lv->key[i], c, a->dx, x);
        for (int v = 0; v < RT_COMPONENTS; v++) u[v] = row[v][c];
        if (!rule(a, p, x, dt, u)) continue;
        for (int v = 0; v < RT_COMPONENTS; v++) row[v][c] = u[v];
        sum_add(&added[p->group], u[0] * volume);
        sum_add(&added[p->group], -before * volume);
    }
    for (int v = 0; v < RT_COMPONENTS; v++) oct_repeat(a->m->cells, row[v]);
}

/* Applies places in their order to own octs. added: NULL: nobody wants to know. */
static void places_apply(const struct cells *a, const struct rt_place *place, int n,
                         place_rule *rule, double dt, struct sum *added)
{
    const struct level *lv = &a->m->lev[a->l];
    const int groups = a->m->nphoton / RT_COMPONENTS;
    struct reach reach[PARAM_REGIONS];
    for (int k = 0; k < n; k++) reach[k] = reach_of(a, &place[k]);
#pragma omp parallel if (lv->nown > 1024)
    {
        struct sum mine[RT_GROUPS];
        for (int g = 0; g < groups; g++) sum_init(&mine[g]);
#pragma omp for schedule(static)
        for (lidx i = 0; i < lv->nown; i++) {
            double x[3];
            okey_cell_centre(lv->key[i], 0, a->dx, x);
            for (int k = 0; k < n; k++)
                if (place[k].group >= 0 && place[k].group < groups && may_reach(a, &reach[k], x))
                    place_oct(a, &place[k], rule, dt, i, mine);
        }
#pragma omp critical(rt_ledger)
        for (int g = 0; g < groups && added; g++) sum_join(&added[g], &mine[g]);
    }
}

void rt_host_sources(const struct rt_run *r, int l, double dt)
{
    const struct cells a = cells_of(r, l);
    struct rt *rt = r->rt;
    if (rt->nsource > 0)
        places_apply(&a, rt->source, rt->nsource, source_cell, dt * r->units.time,
                     rt->ledger.emitted);
}

int64_t rt_sources_reach(const struct rt_run *r, int l, int k, struct rt_reached **cell)
{
    const struct cells a = cells_of(r, l);
    const struct level *lv = &r->mesh->lev[l];
    const struct rt_place *p = &r->rt->source[k];
    const struct reach reach = reach_of(&a, p);
    int64_t n = 0, room = 0;
    *cell = NULL;
    for (lidx i = 0; i < lv->nown; i++) {
        double x[3], part;
        okey_cell_centre(lv->key[i], 0, a.dx, x);
        if (!may_reach(&a, &reach, x)) continue;
        for (int c = 0; c < r->mesh->cells; c++) {
            okey_cell_centre(lv->key[i], c, a.dx, x);
            if (lv->child[i][c] >= 0 || !((part = source_part(&a, p, x)) > 0)) continue;
            MEM_ROOM(*cell, n, room, 64, "radiation");
            (*cell)[n++] = (struct rt_reached){.oct = i, .cell = c, .part = part};
        }
    }
    return n;
}

struct rt_shine rt_source_shine(const struct rt_run *r, int l, int k, double dt)
{
    const struct cells a = cells_of(r, l);
    return shine_of(&a, &r->rt->source[k], dt);
}

void rt_regions(const struct rt_run *r, int l)
{
    const struct cells a = cells_of(r, l);
    struct level *lv = &r->mesh->lev[l];
    for (int v = 0; v < r->mesh->nphoton; v++)
        for (lidx i = 0; i < 8 * lv->nown; i++)
            level_photons(lv, v)[i / 8][i % 8] = v % RT_COMPONENTS ? 0.0 : RT_SMALL;
    places_apply(&a, r->rt->region, r->rt->nregion, region_cell, 0, NULL);
}
