/* galaxy/dice_spread: particles of gas become the gas of cells.
 *
 * The cloud of a particle has the size of the leaf cell that has the particle. A part of a cloud in
 * a coarser cell becomes a part of that cell, a part in a split cell is distributed evenly over its
 * finer cells: leaf cells receive all of each particle. (RAMSES puts every particle on each of its
 * levels, and drops parts outside of a level, so that mass is lost or added where levels meet.) A
 * part beyond a boundary of the box goes to the cell at the boundary. Contributions are integers,
 * so their sum does not depend on ranks, threads or the order of particles. */
#include <math.h>

#include "base/mem.h"
#include "base/sum.h"
#include "dom/ghost.h"
#include "galaxy/dice.h"
#include "oct/field_sets.h"

/* Sums of the cells of a level, in quanta; NULL: none yet. */
struct sums {
    int64_t (*cell[DICE_SUMS])[8];
};

struct spread {
    struct dice *d;
    struct mesh *m;
    double quantum[DICE_SUMS];
    struct sums here, coarser; /* of the present level and of the one below it */
};

/* Sets out to the mass, momentum, energy and other sums that particle i adds to its cells. */
static void gifts(const struct dice *d, int64_t i, double out[DICE_SUMS])
{
    const struct parts *p = &d->gas;
    const double m = p->m[i] * ((const double *)p->col[d->is_gas])[i];
    out[DICE_MASS] = m;
    for (int k = 0; k < 3; k++) out[DICE_MOMENTUM + k] = m * p->v[k][i];
    out[DICE_ENERGY] = m * ((const double *)p->col[d->u])[i];
    out[DICE_METAL] = m * ((const double *)p->col[d->z])[i];
    out[DICE_MARK] = p->m[i] * ((const double *)p->col[d->is_mark])[i];
}

/* Quanta of which the sum of all magnitudes has 2^61. (collective) */
static void find_quanta(struct spread *s, const struct comm *c)
{
    struct sum sum[DICE_SUMS];
    for (int k = 0; k < DICE_SUMS; k++) sum_init(&sum[k]);
    for (int64_t i = 0; i < s->d->gas.n; i++) {
        double g[DICE_SUMS];
        gifts(s->d, i, g);
        for (int k = 0; k < DICE_SUMS; k++) sum_add(&sum[k], fabs(g[k]));
    }
    for (int k = 0; k < DICE_SUMS; k++) {
        comm_sum(c, &sum[k]);
        const double all = sum_get(&sum[k]);
        s->quantum[k] = all > 0 ? ldexp(all, -61) : 1;
    }
}

static void sums_new(struct sums *a, const struct level *lv)
{
    for (int k = 0; k < DICE_SUMS && !a->cell[k]; k++)
        a->cell[k] = mem_zero(sizeof *a->cell[k] * (size_t)lv->noct + 1, "gas of particles");
}

static void sums_free(struct sums *a)
{
    for (int k = 0; k < DICE_SUMS; k++) FREE(a->cell[k]);
}

/* ---- particles to cells ---- */

/* Adds a part of a particle to the cell of level l at x, or to the one of level l−1 around it. */
static void give(const struct spread *s, int l, const int64_t x[3], double part,
                 const double g[DICE_SUMS])
{
    const struct level *lv = &s->m->lev[l];
    const struct sums *to = &s->here;
    int64_t at[3] = {x[0], x[1], x[2]};
    lidx o = mesh_find(lv,
                       okey_make((uint64_t)at[0] >> 1, (uint64_t)at[1] >> 1, (uint64_t)at[2] >> 1));
    if (o < 0) {
        to = &s->coarser;
        for (int d = 0; d < 3; d++) at[d] >>= 1;
        o = mesh_find(&s->m->lev[l - 1],
                      okey_make((uint64_t)at[0] >> 1, (uint64_t)at[1] >> 1, (uint64_t)at[2] >> 1));
        BUG_ON(o < 0);
    }
    const int cell = (int)((at[0] & 1) | (at[1] & 1) << 1 | (at[2] & 1) << 2);
    for (int k = 0; k < DICE_SUMS; k++) {
        const int64_t quanta = llrint(part * (g[k] / s->quantum[k]));
        int64_t *sum = &to->cell[k][o][cell];
#pragma omp atomic
        *sum += quanta;
    }
}

/* Lower cell of a cloud along an axis, and the part of the cloud in the next one. */
static int64_t cloud_begin(const struct spread *s, int l, double x, double *next)
{
    const double at = mesh_cells(s->m, l, x);
    *next = 0;
    if (s->d->par->dice.amr_struct) return (int64_t)floor(at);
    const double low = floor(at - 0.5);
    *next = at - 0.5 - low;
    return (int64_t)low;
}

/* A cell along an axis: periodic, or the last one before a boundary. */
static int64_t cell_in(const struct mesh *m, int l, int d, int64_t x)
{
    const int64_t n = (int64_t)1 << l;
    if (x < 0) return m->bounded[2 * d] ? 0 : x + n;
    if (x >= n) return m->bounded[2 * d + 1] ? n - 1 : x - n;
    return x;
}

static void spread_particle(const struct spread *s, int l, int64_t i)
{
    int64_t low[3];
    double next[3], g[DICE_SUMS];
    gifts(s->d, i, g);
    for (int d = 0; d < 3; d++) low[d] = cloud_begin(s, l, s->d->gas.x[d][i], &next[d]);
    for (int c = 0; c < 8; c++) {
        int64_t x[3];
        double part = 1;
        for (int d = 0; d < 3; d++) {
            const int up = c >> d & 1;
            x[d] = cell_in(s->m, l, d, low[d] + up);
            part *= up ? next[d] : 1 - next[d];
        }
        if (part > 0) give(s, l, x, part, g);
    }
}

/* ---- cells ---- */

/* Variable of a sum; −1: none. */
static int variable_of(const struct dice_cells *q, int k)
{
    return k == DICE_MASS     ? GAS_DENSITY
           : k == DICE_ENERGY ? GAS_ENERGY
           : k == DICE_METAL  ? q->metal
           : k == DICE_MARK   ? q->mark
                              : 1 + k - DICE_MOMENTUM;
}

/* Sums of own octs become values per volume. */
static void store(const struct spread *s, int l, const struct dice_cells *q)
{
    const struct level *lv = &s->m->lev[l];
    const double volume = mesh_volume(s->m, l);
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < lv->nown; i++) {
        for (int v = 0; v < q->nvar; v++)
            for (int c = 0; c < 8; c++) level_gas(lv, v)[i][c] = 0;
        for (int k = 0; k < DICE_SUMS; k++) {
            const int v = variable_of(q, k);
            for (int c = 0; c < 8 && v >= 0; c++)
                level_gas(lv, v)[i][c] = (double)s->here.cell[k][i][c] * s->quantum[k] / volume;
        }
    }
}

/* Hands the sums of split cells down to their finer cells, with the same value per volume. */
static void push_down(struct mesh *m, const struct comm *c, int l, int nvar)
{
    const struct level *lv = &m->lev[l + 1], *coarse = &m->lev[l];
    ghost_fill_set(c, m, l, GAS);
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < lv->nown; i++)
        for (int v = 0; v < nvar; v++) {
            const double more = level_gas(coarse, v)[lv->parent[i]][oct_slot(lv, i)];
            for (int k = 0; k < 8; k++) level_gas(lv, v)[i][k] += more;
        }
}

static int top_level(const struct mesh *m)
{
    int top = m->levelmin;
    while (top < m->levelmax && m->lev[top + 1].total > 0) top++;
    return top;
}

/* Levels from the finest: the parts of clouds in coarser cells go before the particles there. */
static void spread_levels(struct spread *s, const struct comm *c, int top,
                          const struct dice_cells *q)
{
    struct mesh *m = s->m;
    const struct parts *p = &s->d->gas;
    for (int l = top; l >= m->levelmin; l--) {
        const struct level *lv = &m->lev[l];
        const int64_t end = l == top ? p->n : p->first[l + 1];
        sums_new(&s->here, lv);
        if (l > m->levelmin) sums_new(&s->coarser, &m->lev[l - 1]);
#pragma omp parallel for schedule(static)
        for (int64_t i = p->first[l]; i < end; i++) spread_particle(s, l, i);
        ghost_add_i64(c, &lv->plan, DICE_SUMS, s->here.cell);
        store(s, l, q);
        sums_free(&s->here);
        s->here = s->coarser;
        s->coarser = (struct sums){0};
    }
    sums_free(&s->here);
}

enum err dice_spread(struct dice *d, struct mesh *m, const struct comm *c, const struct domain *dom,
                     const struct dice_cells *q)
{
    struct spread s = {.d = d, .m = m};
    const int top = top_level(m);
    TRY(part_distribute(&d->gas, m, c, dom));
    for (int l = m->levelmin; l < top; l++) part_hand_down(&d->gas, m, c, dom, l);
    find_quanta(&s, c);
    spread_levels(&s, c, top, q);
    for (int l = m->levelmin; l < top; l++) push_down(m, c, l, q->nvar);
    return OK;
}
