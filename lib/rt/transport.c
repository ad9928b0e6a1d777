/* rt/transport: photons of a level after a sub-step, limits of their state, and the account of what
 * leaves the box.
 *
 * The longest sub-step is rt_courant_factor dx / (3 c): a wave then crosses no more than a third of
 * a cell along each of three axes (Rosdahl et al. 2013, equation 25). */
#include <omp.h>
#include <string.h>

#include "base/mem.h"
#include "chem/chem.h"
#include "patch/across_kern.h"
#include "patch/reflux.h"
#include "rt/law.h"
#include "rt/m1_kern.h"
#include "rt/rt.h"

double rt_longest(const struct rt *rt, const struct mesh *m, int l)
{
    return rt->courant * mesh_dx(m, m->levelmin) / 3.0 / rt->c /
           (double)((int64_t)1 << (l - m->levelmin));
}

static const double MARGIN = 0.99999; /* of the longest step, so that rounding adds no sub-step */

double rt_limit(const struct rt *rt, const struct mesh *m, int l)
{
    return rt->advect ? MARGIN * rt_longest(rt, m, l) * rt->nsubcycle : HUGE_VAL;
}

double rt_margin(const struct rt *rt)
{
    return rt && rt->advect && rt->chem->rule == CHEM_RAMSES ? MARGIN : 1;
}

/* ---- what leaves the box ---- */

static bool at_edge(const struct mesh *m, const struct rt_law *law, int l, lidx i, int f)
{
    return rt_at_edge(&m->lev[l], l, law->vacuum, i, f);
}

static void group_state(const struct level *lv, int g, lidx i, int c, double u[RT_COMPONENTS])
{
    for (int v = 0; v < RT_COMPONENTS; v++) u[v] = level_photons(lv, RT_COMPONENTS * g + v)[i][c];
}

/* Photons of group g that leave through face f of cell c of oct i per dt/dx and volume. */
static double leaving(const struct mesh *m, const struct rt_law *law, int l, int g, lidx i, int c,
                      int f)
{
    const struct rt *rt = law->rt;
    double in[RT_COMPONENTS], out[RT_COMPONENTS] = {0}, flux;
    group_state(&m->lev[l], g, i, c, in);
    if (!law->vacuum) {
        memcpy(out, in, sizeof out);
        rt_law_beyond(rt, g, f, out);
    }
    rt_law_flux(rt, f >> 1, f & 1 ? (const double *[]){in, out} : (const double *[]){out, in}, 1,
                &flux);
    return f & 1 ? flux : -flux;
}

/* Adds what leaves through face f of own oct i; nothing passes a reflecting one. */
static void count_face(const struct mesh *m, const struct rt_law *law, int l, double dt, lidx i,
                       int f, struct sum *left)
{
    const double dtdx = dt / mesh_dx(m, l), volume = mesh_volume(m, l);
    const int bit = 1 << (f >> 1);
    if (!law->vacuum && law->rt->bound[f] == BOUND_REFLECT) return;
    for (int g = 0; g < law->groups; g++) {
        double all = 0;
        for (int c = 0; c < m->cells; c++)
            if (((c & bit) != 0) == (f & 1) && m->lev[l].child[i][c] < 0)
                all += dtdx * leaving(m, law, l, g, i, c, f);
        if (all != 0) sum_add(&left[g], all * volume);
    }
}

/* Adds what leaves the box in a step of level l to the ledger, by the states before it. */
static void count_left(struct rt *rt, const struct mesh *m, const struct rt_law *law, int l,
                       double dt)
{
    const struct level *lv = &m->lev[l];
    if (!law->vacuum && !mesh_has_boundaries(m)) return;
#pragma omp parallel
    {
        struct sum left[RT_GROUPS];
        for (int g = 0; g < law->groups; g++) sum_init(&left[g]);
#pragma omp for schedule(static)
        for (lidx i = 0; i < lv->nown; i++)
            for (int f = 0; f < 2 * m->ndim; f++)
                if (at_edge(m, law, l, i, f)) count_face(m, law, l, dt, i, f, left);
#pragma omp critical(rt_ledger)
        for (int g = 0; g < law->groups; g++) sum_join(&rt->ledger.left[g], &left[g]);
    }
}

/* Photons that fine octs sent into nothing, across the face of a periodic box, have left it. */
static void drop_registers(const struct mesh *m, const struct rt_law *law, int l)
{
    const struct reflux *r = &m->lev[l].reflux[REFLUX_RT];
    for (lidx i = 0; i < m->lev[l].nown && law->vacuum && r->row; i++)
        for (int f = 0; f < 2 * m->ndim && r->row[i] >= 0; f++)
            if (at_edge(m, law, l, i, f))
                memset(reflux_row(r, i) + f * r->nflux, 0, sizeof(double) * (size_t)r->nflux);
}

/* ---- a sub-step ---- */

static void old_free(struct rt *rt)
{
    for (int v = 0; v < RT_VALUES; v++) FREE(rt->old[v]);
}

void rt_transport_free(struct rt *rt)
{
    old_free(rt);
    patch_scratch_free(&rt->scratch);
    FREE(rt->waves);
}

void rt_registers_clear(struct mesh *m, int l)
{
    struct reflux *r = &m->lev[l].reflux[REFLUX_RT];
    if (r->row) memset(r->flux, 0, (size_t)r->n * reflux_row_bytes(r->nflux, r->nedge));
}

void rt_registers(const struct rt *rt, struct mesh *m, int l)
{
    reflux_begin(m, l, REFLUX_RT, m->nphoton, 0);
}

void rt_host_transport(struct rt *rt, struct mesh *m, int l, double dt, bool first)
{
    const bool by_table = rt->by_table && rt->scheme == RT_HLL;
    if (by_table && !rt->waves) rt->waves = rt_waves_new();
    const struct rt_law law = rt_law_make(rt, m);
    struct patch_how how = {.depth = -1};
    old_free(rt);
    if (!rt->scratch) rt->scratch = patch_scratch_new();
    how.scratch = rt->scratch;
    how.old = rt->smooth ? rt->old : NULL;
    rt->old_level = l;
    if (!first && l < m->levelmax) rt_registers_clear(m, l + 1);
    count_left(rt, m, &law, l, dt);
    patch_update(m, l, dt, &law.law, &how);
    drop_registers(m, &law, l);
    for (int v = 0; v < m->nphoton; v++) m->lev[l].valid[FLD_PHOTONS + v] = false;
}

/* ---- limits ---- */

/* Limits the state of group g in the cells of own oct i. Returns by how much the densities rose. */
static double confine_oct(const struct level *lv, int g, lidx i, int cells, double c)
{
    double *N = level_photons(lv, RT_COMPONENTS * g)[i], rise = 0;
    double *x = level_photons(lv, RT_COMPONENTS * g + 1)[i],
           *y = level_photons(lv, RT_COMPONENTS * g + 2)[i],
           *z = level_photons(lv, RT_COMPONENTS * g + 3)[i];
    bool any = false;
    for (int k = 0; k < 8; k++) {
        const double most = c * N[k];
        any |= !(N[k] >= RT_SMALL) | (m1_flux2(x[k], y[k], z[k]) > most * most);
    }
    for (int k = 0; k < 8 && any; k++) {
        const double more = rt_confine_cell(&N[k], &x[k], &y[k], &z[k], c, RT_SMALL);
        if (k < cells && lv->child[i][k] < 0) rise += more;
    }
    return rise;
}

void rt_host_confine(struct rt *rt, struct mesh *m, int l)
{
    const struct level *lv = &m->lev[l];
    const double volume = mesh_volume(m, l), c = rt->c;
    const int groups = m->nphoton / RT_COMPONENTS;
#pragma omp parallel
    {
        struct sum raised[RT_GROUPS];
        for (int g = 0; g < groups; g++) sum_init(&raised[g]);
#pragma omp for schedule(static)
        for (lidx i = 0; i < lv->nown; i++)
            for (int g = 0; g < groups; g++) {
                const double rise = confine_oct(lv, g, i, m->cells, c);
                if (rise != 0) sum_add(&raised[g], rise * volume);
            }
#pragma omp critical(rt_ledger)
        for (int g = 0; g < groups; g++) sum_join(&rt->ledger.raised[g], &raised[g]);
    }
}
