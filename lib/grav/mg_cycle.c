/* grav/mg_cycle: the multigrid V-cycle (method: docs/method/grav.md; Guillet & Teyssier 2011).
 *
 * Each sweep relaxes the red cells, then the black ones. Ghosts are two cells thick: the red cells
 * of the ghosts next to own octs are relaxed here too (equal inputs and arithmetic, so equal bits),
 * so one exchange after the black half is enough and the result equals a single rank's. It carries
 * black cells only, except in the last sweep of a level: nothing else reads red cells of ghosts
 * that were not relaxed here. The octs that other ranks need are relaxed first, after the red cells
 * that they touch or, if these are many, after all red cells; they are sent while the others are
 * relaxed. Restriction needs one exchange, prolongation none: at most five for a level in a cycle.
 * A half sweep reads u and rhs and writes u, 24 bytes per cell: the top level is memory-bound. */
#include <string.h>

#include "dom/ghost.h"
#include "grav/grav_rows.h"
#include "grav/mg.h"

enum { PARALLEL_FROM = 256 };
static const int BLACK[4] = {4, 5, 6, 7}; /* indices of the black cells in colour order */

static void fill(const struct comm *c, const struct mg_level *g, void *arr, size_t stride)
{
    ghost_fill_rows(c, COMM_MULTIGRID, g->plan, 1, &arr, &stride);
}

void mg_by_colour(double (*a)[8], lidx n)
{
#pragma omp parallel for schedule(static) if (n >= PARALLEL_FROM)
    for (lidx i = 0; i < n; i++) row_by_colour(a[i]);
}

void mg_in_order(double (*a)[8], lidx n)
{
#pragma omp parallel for schedule(static) if (n >= PARALLEL_FROM)
    for (lidx i = 0; i < n; i++) row_in_order(a[i]);
}

/* Cases of octs in a sweep, with a loop for each case, so that loops contain no tests. */
enum octs {
    OCTS_WHOLE,  /* all neighbours exist */
    OCTS_FACES,  /* all cells are inside; some faces are missing */
    OCTS_MASKED, /* some cells are outside and stay zero */
    OCTS_SAFE    /* additionally, safe mode leaves some cells unsmoothed */
};

static enum octs octs_of(const struct mg_level *g, bool safe)
{
    if (!g->boundary) return OCTS_WHOLE;
    if (!g->masked) return OCTS_FACES;
    return safe ? OCTS_SAFE : OCTS_MASKED;
}

/* Diagonal of the operator for the cells of one colour. */
INLINE row4 diagonal(const struct mg_level *g, lidx i, bool red, enum octs kind)
{
    const row4 whole = {6, 6, 6, 6};
    if (kind == OCTS_WHOLE) return whole;
    const struct mg_boundary *e = &g->boundaries[g->boundary[i]];
    return row_load(row_half(red, kind == OCTS_SAFE ? e->safe : e->diag));
}

INLINE void relax_oct(const struct mg_level *g, lidx i, bool red, enum octs kind, double dx2)
{
    const double *n[6];
    double *u = g->u[i];
    row4 diag = diagonal(g, i, red, kind);
    kern_rows((const double(*)[8])g->u, g->nbr[i], n);
    row4 v = row_relax(red, n, g->rhs[i], diag, dx2, u);
    if (kind == OCTS_MASKED) v = row_mask_inside(diag, v);
    if (kind == OCTS_SAFE) v = row_choose(diag > 0.0, v, row_load(row_half(red, u)));
    memcpy(u + (red ? 0 : 4), &v, sizeof v);
}

/* Octs of a sweep: a list, or, if NULL, own octs whose layer is below `layer`. */
struct part {
    const lidx *list;
    lidx n;
    int layer;
};

INLINE void relax_kind(const struct mg_level *lev, struct part p, bool red, enum octs kind,
                       double dx2)
{
    const struct mg_level g = *lev; /* local copy: stores to rows cannot alias its members */
#pragma omp for schedule(static)
    for (lidx k = 0; k < p.n; k++)
        if (p.list)
            relax_oct(&g, p.list[k], red, kind, dx2);
        else if (!g.layer || g.layer[k] < p.layer)
            relax_oct(&g, k, red, kind, dx2);
}

INLINE void relax(const struct mg_level *g, struct part p, bool red, bool safe, double dx2)
{
    switch (octs_of(g, safe)) {
    case OCTS_WHOLE:
        relax_kind(g, p, red, OCTS_WHOLE, dx2);
        break;
    case OCTS_FACES:
        relax_kind(g, p, red, OCTS_FACES, dx2);
        break;
    case OCTS_MASKED:
        relax_kind(g, p, red, OCTS_MASKED, dx2);
        break;
    case OCTS_SAFE:
        relax_kind(g, p, red, OCTS_SAFE, dx2);
        break;
    }
}

/* Own octs whose layer is below this one. */
static struct part before(const struct mg_level *g, int layer)
{
    return (struct part){NULL, g->nown, layer};
}

/* Relaxes the red cells adjacent to octs that other ranks need. */
static void relax_near(const struct mg_level *g, bool safe, double dx2)
{
    if (g->near) relax(g, (struct part){g->near, g->nnear, 0}, true, safe, dx2);
}

/* Relaxes the remaining red cells needed by the black cells to be sent, then these black cells. */
static void relax_outer(const struct mg_level *g, bool safe, double dx2)
{
    const struct part outer = {g->outer, g->nouter, 0}, halo = {g->halo, g->nhalo, 0};
    relax(g, g->near ? outer : before(g, MG_ALL), true, safe, dx2);
    relax(g, halo, true, safe, dx2);
    relax(g, outer, false, safe, dx2);
}

/* Relaxes all other cells of own octs. */
static void relax_inner(const struct mg_level *g, bool safe, double dx2)
{
    if (g->near) relax(g, before(g, MG_NEAR), true, safe, dx2);
    relax(g, before(g, MG_OUTER), false, safe, dx2);
}

/* Starts sending a sweep's values to ghosts on other ranks: all cells, or black cells only. */
static void send_begin(struct ghost_rows *rows, const struct comm *c, const struct mg_level *g,
                       bool all)
{
    size_t stride = sizeof g->u[0];
    if (all)
        ghost_rows_begin(rows, c, COMM_MULTIGRID, g->plan, 1, (void *[]){g->u}, &stride);
    else
        ghost_cells_begin(rows, c, COMM_MULTIGRID, g->plan, BLACK, (const double(*)[8])g->u);
}

static void send_end(struct ghost_rows *rows, struct mg_level *g, bool all)
{
    size_t stride = sizeof g->u[0];
    if (all)
        ghost_rows_end(rows, 1, (void *[]){g->u}, &stride);
    else
        ghost_cells_end(rows, BLACK, g->u);
}

void mg_sweeps(const struct comm *c, struct mg_level *g, bool safe, int n, bool all)
{
    double dx = 1.0 / (double)((int64_t)1 << g->level), dx2 = dx * dx;
#pragma omp parallel if (g->near && g->nown >= PARALLEL_FROM)
    relax_near(g, safe, dx2);
    for (int k = 0; k < n; k++) {
        struct ghost_rows rows;
        bool last = k + 1 == n;
#pragma omp parallel if (g->nown >= PARALLEL_FROM)
        relax_outer(g, safe, dx2);
        send_begin(&rows, c, g, all && last);
#pragma omp parallel if (g->nown >= PARALLEL_FROM)
        {
            relax_inner(g, safe, dx2);
            if (!last) relax_near(g, safe, dx2);
        }
        send_end(&rows, g, all && last);
    }
}

/* Computes mean residuals of own octs, and adds residual² to the batch if there is one. */
INLINE void residual_kind(const struct mg_level *lev, struct sum_batch *part, enum octs kind)
{
    const struct mg_level g = *lev;
    double inv_dx2 = (double)((int64_t)1 << g.level) * (double)((int64_t)1 << g.level),
           part_of = 1.0 / (1 << g.ndim);
#pragma omp for schedule(static)
    for (lidx i = 0; i < g.nown; i++) {
        const double *n[6];
        row4 r[2];
        kern_rows((const double(*)[8])g.u, g.nbr[i], n);
        for (int k = 0; k < 2; k++) {
            row4 diag = diagonal(&g, i, k == 0, kind);
            r[k] = row_residual(k == 0, n, g.rhs[i], diag, g.u[i], inv_dx2);
            if (kind == OCTS_MASKED) r[k] = row_mask_inside(diag, r[k]);
        }
        g.mean[i] = part_of * row_sum8(r[0], r[1]);
        if (part) sum_batch_add(part, row_sum8(r[0] * r[0], r[1] * r[1]));
    }
}

INLINE void residuals(struct mg_level *g, struct sum_batch *part)
{
    switch (octs_of(g, false)) {
    case OCTS_WHOLE:
        residual_kind(g, part, OCTS_WHOLE);
        break;
    case OCTS_FACES:
        residual_kind(g, part, OCTS_FACES);
        break;
    case OCTS_MASKED:
    case OCTS_SAFE:
        residual_kind(g, part, OCTS_MASKED);
        break;
    }
}

static void residual_norm(struct mg_level *g, struct sum *norm)
{
    struct sum_batch part;
    sum_batch_begin(&part);
    residuals(g, &part);
    sum_batch_end(&part);
#pragma omp critical(mg_norm)
    sum_join(norm, &part.sum);
}

void mg_residual(struct mg_level *g, struct sum *norm)
{
#pragma omp parallel if (g->nown >= PARALLEL_FROM)
    {
        if (norm)
            residual_norm(g, norm);
        else
            residuals(g, NULL);
    }
}

/* Right-hand side of level g from the mean residuals of the finer level, zero outside; sets u := 0.
 * Halo cells next to own octs have their children here as ghosts, so the right-hand side needs no
 * exchange of its own. Other halo cells may receive zero: values derived from them are replaced by
 * the exchange of the next sweep before they are read. */
static void restrict_residual(const struct comm *c, struct mg_level *g, struct mg_level *fine)
{
    fill(c, fine, fine->mean, sizeof fine->mean[0]);
#pragma omp parallel for schedule(static) if (g->nown >= PARALLEL_FROM)
    for (lidx n = 0; n < g->nown + g->nhalo; n++) {
        lidx i = n < g->nown ? n : g->halo[n - g->nown];
        const double *diag = g->masked ? g->boundaries[g->boundary[i]].diag : NULL;
        for (int k = 0; k < 8; k++) {
            lidx j = g->child[i][k];
            bool inside = j >= 0 && (!diag || diag[ROW_ORDER[k]] > 0);
            g->rhs[i][ROW_ORDER[k]] = inside ? fine->mean[j] : 0.0;
        }
    }
    memset(g->u, 0, sizeof g->u[0] * (size_t)g->noct);
}

/* Along missing axes the low cells of the oct take the place of all, so that they are copied. */
static void flatten_patch(int ndim, double patch[64])
{
    for (int k = 0; k < 64; k++) {
        const int y = ndim < 2 ? 1 : k >> 2 & 3;
        patch[k] = patch[16 + 4 * y + (k & 3)];
    }
}

/* Adds a 4³ array from `add` on to u of two octs i[2] adjacent along x. */
INLINE void correct_pair(const struct mg_level *fine, const lidx i[2], const double *add)
{
    row4 at[2][2], rows[4];
    for (int k = 0; k < 4; k++) rows[k] = row_load(add + 4 * (k & 1) + 16 * (k >> 1));
    row_pair_by_colour(rows, at);
    for (int k = 0; k < 2; k++) {
        if (i[k] < 0) continue;
        const double *diag = fine->masked ? fine->boundaries[fine->boundary[i[k]]].diag : NULL;
        double *u = fine->u[i[k]];
        for (int c = 0; c < 2; c++) {
            row4 a = diag ? row_mask_inside(row_load(diag + 4 * c), at[k][c]) : at[k][c];
            a += row_load(u + 4 * c);
            memcpy(u + 4 * c, &a, sizeof a);
        }
    }
}

/* Adds the interpolated g->u to fine->u, on own octs and on the ghosts that the next sweep reads.
 * The neighbourhoods of the parents of own octs are present, which suffices for the relevant cells
 * of these ghosts. Other cells of ghosts are wrong until the exchange of the sweep. */
static void prolong(const struct mg_level *g, const struct mg_level *finer)
{
#pragma omp parallel for schedule(static) if (g->ncube >= PARALLEL_FROM)
    for (lidx q = 0; q < g->ncube; q++) {
        const struct mg_level fine = *finer;
        double patch[64] __attribute__((aligned(64))), add[64] __attribute__((aligned(64)));
        row_patch((const double(*)[8])g->u, g->cube[q].nb, patch);
        if (fine.ndim < 3) flatten_patch(fine.ndim, patch);
        kern_prolong(patch, add);
        for (int k = 0; k < 1 << (fine.ndim - 1); k++)
            correct_pair(&fine, g->child[g->cube[q].oct] + 2 * k,
                         add + 8 * (k & 1) + 32 * (k >> 1));
    }
}

/* Corrects level k from its mean residuals by the coarser levels. */
static void correct_level(struct mg *g, const struct comm *c, int k, bool safe)
{
    if (g->share && k - 1 == mg_share_level(g->share)) {
        mg_share_solve(g, c, safe);
        mg_by_colour(g->lev[k - 1].u, g->lev[k - 1].noct);
    } else {
        restrict_residual(c, &g->lev[k - 1], &g->lev[k]);
        mg_cycle(g, c, k - 1, safe);
    }
    prolong(&g->lev[k - 1], &g->lev[k]);
}

void mg_cycle(struct mg *g, const struct comm *c, int k, bool safe)
{
    struct mg_level *lev = &g->lev[k];
    if (k == g->bottom) {
        mg_sweeps(c, lev, safe, MG_BOTTOM_SWEEPS, true);
        return;
    }
    mg_sweeps(c, lev, safe, MG_SWEEPS, false);
    mg_residual(lev, NULL);
    correct_level(g, c, k, safe);
    mg_sweeps(c, lev, safe, MG_SWEEPS, true);
}

void mg_correct(struct mg *g, const struct comm *c, bool safe, struct sum *norm)
{
    if (norm && !g->share) comm_sum(c, norm);
    if (g->bottom == g->top) return;
    g->norm = norm;
    correct_level(g, c, g->top, safe);
    g->norm = NULL;
}
