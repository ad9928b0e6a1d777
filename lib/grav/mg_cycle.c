/* grav/mg_cycle: the multigrid V-cycle (method: docs/method/grav.md; Guillet & Teyssier 2011).
 *
 * Each sweep relaxes the red cells, then the black ones. Ghosts are two cells thick: the red cells
 * of the ghosts next to own octs are relaxed here too (same inputs, same arithmetic, same bits), so
 * one exchange after the black half is enough and the result is that of a single rank. It carries
 * black cells alone, but for the last sweep of a level: nothing else reads red cells of ghosts that
 * were not relaxed here. The octs that other ranks need are relaxed first, after the red cells that
 * they touch, and are on their way while all others are. Restriction needs one exchange,
 * prolongation none: five for a level in a cycle. A half sweep reads u and rhs and writes u, 24
 * bytes per cell: at the top level it runs at memory speed. */
#include <string.h>

#include "dom/ghost.h"
#include "grav/grav_rows.h"
#include "grav/mg.h"

enum { PARALLEL_FROM = 256 };
static const int BLACK[4] = {4, 5, 6, 7}; /* places in a row by colour */

static void fill(const struct comm *c, const struct mg_level *g, void *arr, size_t stride)
{
    ghost_fill_rows(c, COMM_MULTIGRID, g->plan, 1, &arr, &stride);
}

void mg_by_colour(double (*a)[8], lidx n)
{
#pragma omp parallel for schedule(static) if (n >= PARALLEL_FROM)
    for (lidx i = 0; i < n; i++) row_by_colour(a[i]);
}

void mg_by_place(double (*a)[8], lidx n)
{
#pragma omp parallel for schedule(static) if (n >= PARALLEL_FROM)
    for (lidx i = 0; i < n; i++) row_by_place(a[i]);
}

static inline __attribute__((always_inline)) void relax_oct(struct mg_level *g, lidx i, bool red,
                                                            bool safe, double dx2)
{
    const double *n[6];
    lidx e = g->edge ? g->edge[i] : -1;
    if (e >= 0) {
        const struct mg_edge *edge = &g->edges[e];
        kern_rows_edge((const double(*)[8])g->u, g->nbr[i], n);
        row_relax_edge(red, n, g->rhs[i], safe ? edge->safe : edge->diag, dx2, g->u[i]);
        return;
    }
    kern_rows((const double(*)[8])g->u, g->nbr[i], n);
    row_relax(red, n, g->rhs[i], dx2, g->u[i]);
}

/* The own octs that come before this part of the rim. */
static inline __attribute__((always_inline)) void relax_inner(struct mg_level *g, bool red, int rim,
                                                              bool safe, double dx2)
{
#pragma omp for schedule(static)
    for (lidx i = 0; i < g->nown; i++)
        if (!g->rim || g->rim[i] < rim) relax_oct(g, i, red, safe, dx2);
}

/* The red cells beside those octs that others need. */
static inline void relax_near(struct mg_level *g, bool safe, double dx2)
{
#pragma omp for schedule(static)
    for (lidx k = 0; k < g->nnear; k++) relax_oct(g, g->near[k], true, safe, dx2);
}

/* What is left of the red cells that the black ones need that are sent; then these. */
static inline void relax_outer(struct mg_level *g, bool safe, double dx2)
{
#pragma omp for schedule(static) nowait
    for (lidx k = 0; k < g->nouter; k++) relax_oct(g, g->outer[k], true, safe, dx2);
#pragma omp for schedule(static)
    for (lidx k = 0; k < g->nhalo; k++) relax_oct(g, g->halo[k], true, safe, dx2);
#pragma omp for schedule(static)
    for (lidx k = 0; k < g->nouter; k++) relax_oct(g, g->outer[k], false, safe, dx2);
}

/* What a sweep has made of the ghosts' owners: all of it, or the black cells alone. */
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
#pragma omp parallel if (g->nown >= PARALLEL_FROM)
    relax_near(g, safe, dx2);
    for (int k = 0; k < n; k++) {
        struct ghost_rows rows;
        bool last = k + 1 == n;
#pragma omp parallel if (g->nown >= PARALLEL_FROM)
        relax_outer(g, safe, dx2);
        send_begin(&rows, c, g, all && last);
#pragma omp parallel if (g->nown >= PARALLEL_FROM)
        {
            relax_inner(g, true, MG_NEAR, safe, dx2);
            relax_inner(g, false, MG_OUTER, safe, dx2);
            if (!last) relax_near(g, safe, dx2);
        }
        send_end(&rows, g, all && last);
    }
}

/* Residuals of the red cells of an oct, and of the black ones. */
static inline void residual_oct(const struct mg_level *g, lidx i, double inv_dx2, row4 r[2])
{
    const double *n[6], *diag = NULL;
    const double(*u)[8] = (const double(*)[8])g->u;
    lidx e = g->edge ? g->edge[i] : -1;
    if (e < 0) {
        kern_rows(u, g->nbr[i], n);
    } else {
        kern_rows_edge(u, g->nbr[i], n);
        diag = g->edges[e].diag;
    }
    for (int k = 0; k < 2; k++) r[k] = row_residual(k == 0, n, g->rhs[i], diag, u[i], inv_dx2);
}

void mg_residual(struct mg_level *g, struct sum *norm)
{
    double inv_dx2 = (double)((int64_t)1 << g->level) * (double)((int64_t)1 << g->level);
#pragma omp parallel if (g->nown >= PARALLEL_FROM)
    {
        struct sum_batch part;
        if (norm) sum_batch_begin(&part);
#pragma omp for schedule(static)
        for (lidx i = 0; i < g->nown; i++) {
            row4 r[2];
            residual_oct(g, i, inv_dx2, r);
            g->mean[i] = 0.125 * row_sum8(r[0], r[1]);
            if (norm) sum_batch_add(&part, row_sum8(r[0] * r[0], r[1] * r[1]));
        }
        if (norm) sum_batch_end(&part);
        if (norm)
#pragma omp critical(mg_norm)
            sum_join(norm, &part.sum);
    }
}

/* Right-hand side of level g from the mean residuals of the level above; zero outside. u := 0.
 * Of the halo the cells next to own octs have their children here, as ghosts: so the right-hand
 * side needs no exchange of its own. Others may get zero: what follows from it is replaced by the
 * exchange of the next sweep before it is read. */
static void restrict_residual(const struct comm *c, struct mg_level *g, struct mg_level *fine)
{
    fill(c, fine, fine->mean, sizeof fine->mean[0]);
#pragma omp parallel for schedule(static) if (g->nown >= PARALLEL_FROM)
    for (lidx n = 0; n < g->nown + g->nhalo; n++) {
        lidx i = n < g->nown ? n : g->halo[n - g->nown], e = g->edge ? g->edge[i] : -1;
        for (int k = 0; k < 8; k++) {
            lidx j = g->child[i][k];
            bool inside = j >= 0 && (e < 0 || g->edges[e].diag[k] > 0);
            g->rhs[i][ROW_PLACE[k]] = inside ? fine->mean[j] : 0.0;
        }
    }
    memset(g->u, 0, sizeof g->u[0] * (size_t)g->noct);
}

/* Of the 4³ cells around an oct those in one layer of cells of three octs along x: rows of low y,
 * then of high y. */
static inline __attribute__((always_inline)) double *patch_rows(const double (*u)[8],
                                                                const lidx nb[3], bool high_z,
                                                                bool low, bool high, double *patch)
{
    row4 o[3];
    for (int k = 0; k < 3; k++) o[k] = row_layer(high_z, nb[k] >= 0 ? u[nb[k]] : KERN_ZERO);
    for (int y = !low; y <= high; y++, patch += 4) {
        row4 x = row_across(y, o[0], o[1], o[2]);
        memcpy(patch, &x, sizeof x);
    }
    return patch;
}

/* The 4³ cells around an oct: its own and one layer of its neighbours; zero where there is none. */
static inline void gather_patch(const double (*u)[8], const lidx nb[27], double *patch)
{
    static const int oct[4] = {0, 1, 1, 2};
    for (int z = 0; z < 4; z++) {
        const lidx *o = nb + 9 * oct[z];
        const bool high = z == 0 || z == 2;
        patch = patch_rows(u, o, high, false, true, patch);
        patch = patch_rows(u, o + 3, high, true, true, patch);
        patch = patch_rows(u, o + 6, high, true, false, patch);
    }
}

/* add: of 4³ cells the first of the child. */
static inline void correct_child(struct mg_level *fine, lidx j, const double *add)
{
    const row4 zero = {0, 0, 0, 0};
    lidx e = fine->edge ? fine->edge[j] : -1;
    double cells[8];
    for (int k = 0; k < 4; k++)
        memcpy(cells + 2 * k, add + 4 * (k & 1) + 16 * (k >> 1), 2 * sizeof *add);
    for (int k = 0; k < 2; k++) {
        double *u = fine->u[j] + 4 * k;
        row4 a = row_pick(k == 0, cells);
        if (e >= 0) a = row_choose(row_pick(k == 0, fine->edges[e].diag) > 0.0, a, zero);
        a += row_load(u);
        memcpy(u, &a, sizeof a);
    }
}

/* fine->u += interpolated g->u, on own octs and on the ghosts that the next sweep reads. This rank
 * has the surroundings of the parents of own octs, which is all that the cells of these ghosts
 * need. Other cells of ghosts are wrong until the exchange of the sweep. */
static void prolong(const struct mg_level *g, struct mg_level *fine)
{
#pragma omp parallel for schedule(static) if (g->ncube >= PARALLEL_FROM)
    for (lidx q = 0; q < g->ncube; q++) {
        double patch[64] __attribute__((aligned(64))), add[64] __attribute__((aligned(64)));
        gather_patch((const double(*)[8])g->u, g->cube[q].nb, patch);
        kern_prolong(patch, add);
        for (int k = 0; k < 8; k++) {
            lidx j = g->child[g->cube[q].oct][k];
            if (j >= 0)
                correct_child(fine, j, add + 2 * (k & 1) + 8 * (k >> 1 & 1) + 32 * (k >> 2));
        }
    }
}

/* Correction of level k from its mean residuals, by the levels below it. */
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
