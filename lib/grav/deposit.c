/* grav/deposit: deposit of the gas mass on the cells of a level.
 *
 * Each cell is a pseudo-particle: a leaf at its centre, so that its mass stays in the cell; a split
 * cell at the centre of mass of its descendants, spread by CIC with the cell size of the level.
 * Masses are integers, so their sums do not depend on order, threads or ranks. */
#include <math.h>
#include <omp.h>

#include "base/mem.h"
#include "dom/ghost.h"
#include "grav/deposit_kern.h"
#include "grav/grav.h"
#include "grav/interpol.h"
#include "oct/deferred.h"
#include "oct/fields.h"

/* Moments are read of the children of own octs. On the finest two levels all descendants of these
 * are present even if they are ghosts, so an exchange is needed on coarser levels only. */
bool grav_moments_alone(const struct mesh *m, int l, int k)
{
    int finest = m->levelmax;
    while (finest > l && m->lev[finest].total == 0) finest--;
    return k >= finest - 1 && ghosts_valid(m, k, SET_GAS);
}

void grav_moments(struct mesh *m, const struct comm *c, int l, double (*com[])[3])
{
    for (int k = m->levelmax; k >= l; k--) {
        bool here = grav_moments_alone(m, l, k);
        struct level *lv = &m->lev[k];
        com[k] = mem_new(sizeof(double[3]) * (size_t)lv->noct + 1, "gas moments");
        const double(*fine)[3] = k < m->levelmax ? (const double(*)[3])com[k + 1] : NULL;
#pragma omp parallel for schedule(static)
        for (lidx i = 0; i < (here ? lv->noct : lv->nown); i++)
            deposit_com(m, k, i, fine, com[k][i]);
        if (here) continue;
        void *arr = com[k];
        size_t stride = sizeof(double[3]);
        ghost_fill_rows(c, COMM_FINE_DP, &lv->plan, 1, &arr, &stride);
    }
}

struct deposit {
    const struct mesh *m;
    const struct level *lv;
    double dx, smallr;
    double unit; /* number of quanta per unit of density */
    int64_t (*mass)[8];
};

static double quanta(const struct deposit *s, lidx i, int k)
{
    return deposit_quanta(level_gas(s->lv, GAS_DENSITY)[i][k], s->smallr, s->unit);
}

/* Adds the mass of leaves, or, without finer levels, of all cells, to the cells themselves. */
static inline void keep_leaves(const struct deposit *s, lidx i, bool finer)
{
    const double *restrict rho = level_gas(s->lv, GAS_DENSITY)[i];
    int64_t *restrict mass = s->mass[i];
    for (int k = 0; k < 8; k++) {
        int64_t q = llrint(deposit_quanta(rho[k], s->smallr, s->unit));
        mass[k] += finer && s->lv->child[i][k] >= 0 ? 0 : q;
    }
}

/* Adds `mass` quanta by CIC: the lower cell of the cloud is at `low` (relative to oct i, −1..2),
 * frac is the share of the upper cell. */
static void spread(const struct deposit *s, struct deferred *mine, const lidx cube[27],
                   const int low[3], const double frac[3], double mass)
{
    for (int v = 0; v < s->m->cells; v++) {
        int o = 0, cell = 0;
        for (int d = 0, stride = 1; d < 3; d++, stride *= 3) {
            /* position 0..5 in the three octs along an axis */
            int up = v >> d & 1, pos = low[d] + up + 2;
            o += stride * (pos >> 1);
            cell |= (pos & 1) << d;
        }
        lidx j = cube[o];
        if (j < 0) continue;
        deferred_put(mine, j, &s->mass[j][cell], llrint(mass * deposit_share(frac, v)));
    }
}

static void spread_split(const struct deposit *s, struct deferred *mine, lidx i,
                         const double (*com)[3])
{
    lidx cube[27];
    double x0[3];
    cube[13] = -1;
    for (int k = 0; k < s->m->cells; k++) {
        lidx child = s->lv->child[i][k];
        if (child < 0) continue;
        if (cube[13] < 0) {
            mesh_cube(s->m, s->lv->level, i, cube);
            grav_cell_centre(s->m, s->lv->level, i, 0, x0);
        }
        int low[3] = {0};
        double frac[3] = {0};
        for (int d = 0; d < s->m->ndim; d++)
            frac[d] = deposit_cloud(com[child][d], x0[d], s->dx, &low[d]);
        spread(s, mine, cube, low, frac, quanta(s, i, k));
    }
}

void grav_deposit_gas(const struct mesh *m, int l, double quantum, const double (*com)[3],
                      double smallr, int64_t (*mass)[8])
{
    const struct level *lv = &m->lev[l];
    double dx = mesh_dx(m, l);
    struct deposit s = {.m = m, .lv = lv, .dx = dx, .smallr = smallr, .mass = mass};
    s.unit = mesh_volume(m, l) / quantum;
    if (!level_gas(lv, GAS_DENSITY)) return;
#pragma omp parallel
    {
        int64_t me = omp_get_thread_num(), threads = omp_get_num_threads();
        lidx end = (lidx)(lv->nown * (me + 1) / threads);
        struct deferred mine = {.low = (lidx)(lv->nown * me / threads),
                                .high = me + 1 < threads ? end : lv->noct};
        for (lidx i = mine.low; i < end; i++) keep_leaves(&s, i, com != NULL);
        for (lidx i = mine.low; com && i < end; i++) spread_split(&s, &mine, i, com);
#pragma omp barrier
        deferred_end(&mine);
    }
}
