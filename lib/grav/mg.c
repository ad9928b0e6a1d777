/* grav/mg: building the multigrid hierarchy.
 *
 * The domain of a solve is the set of cells of level l. On coarser levels a cell's mask is 2 f − 1,
 * f the fraction of its volume inside the domain; cells with mask ≤ 0 are outside, hold zero and
 * are never changed. Across the boundary of the domain the potential is taken as linear in the
 * mask, zero where the mask is zero: a neighbour that is outside has the value u mask_nb / mask
 * (mask_nb = −1 if it does not exist), which only changes the diagonal of the operator (Guillet &
 * Teyssier 2011, J. Comput. Phys. 230, 4756, §3). Coarsening ends before the level where no cell is
 * inside. */
#include "grav/mg.h"

#include <string.h>

#include "base/mem.h"
#include "dom/ghost.h"
#include "grav/grav_rows.h"

/* ---- octs of a level ---- */

static void level_lend(struct mg_level *g, const struct level *lv)
{
    g->nown = lv->nown;
    g->noct = lv->noct;
    g->nbr = (const lidx(*)[6])lv->nbr;
    g->plan = &lv->plan;
}

static lidx compact_of(const struct mg_level *g, lidx i)
{
    return i >= 0 && g->map ? g->map[i] : i;
}

static void level_children(struct mg_level *g, const struct level *lv, const struct mg_level *fine)
{
    if (!g->map && !fine->map) {
        g->child = (const lidx(*)[8])lv->child;
        return;
    }
    lidx(*child)[8] = mem_new(sizeof *child * (size_t)g->noct + 1, MG_TABLES);
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < lv->noct; i++) {
        lidx j = compact_of(g, i);
        for (int k = 0; k < 8 && j >= 0; k++) child[j][k] = compact_of(fine, lv->child[i][k]);
    }
    g->own_child = child;
    g->child = (const lidx(*)[8])child;
}

/* ---- mask ---- */

bool mg_oct_mask(const struct level *lv, const struct mg_level *fine, lidx i, double mask[8])
{
    return mg_mask_cells(lv->child[i], fine->map, (const double(*)[8])fine->mask, fine->ndim, mask);
}

void mg_parents(const struct level *lv, const struct level *above, const struct mg_level *fine,
                unsigned char *keep)
{
    memset(keep, 0, (size_t)lv->noct);
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < above->noct; i++) {
        if (compact_of(fine, i) < 0) continue;
#pragma omp atomic write
        keep[above->parent[i]] = 1;
    }
}

/* Sets keep[i] = 1 for the octs of lv that have a child in `fine`, and their masks, also for
 * ghosts. Returns whether a cell of an own oct is inside. */
static bool find_masks(const struct comm *c, const struct level *lv, const struct level *above,
                       const struct mg_level *fine, unsigned char *keep, double (*mask)[8])
{
    const struct xplan *p = &lv->plan;
    bool inside = false;
    mg_parents(lv, above, fine, keep);
#pragma omp parallel for schedule(static) reduction(|| : inside)
    for (lidx i = 0; i < lv->nown; i++) {
        if (!keep[i]) continue;
        keep[i] = mg_oct_mask(lv, fine, i, mask[i]);
        for (int k = 0; k < 8; k++) inside = inside || mask[i][k] > 0;
    }
    for (lidx j = 0; p->npeer > 0 && j < p->sfirst[p->npeer]; j++)
        if (!keep[p->send[j]]) memset(mask[p->send[j]], 0, sizeof *mask);
    ghost_fill_rows(c, COMM_MULTIGRID, p, 2, (void *[]){keep, mask}, (size_t[]){1, sizeof *mask});
    return inside;
}

/* Makes level g from the octs of lv that have a child in `fine`. Returns whether an own cell is
 * inside. */
static bool level_subset(struct mg_level *g, const struct comm *c, const struct level *lv,
                         const struct level *above, const struct mg_level *fine)
{
    unsigned char *keep = mem_new((size_t)lv->noct + 1, "multigrid");
    double(*mask)[8] = mem_new(sizeof *mask * (size_t)lv->noct + 1, "multigrid");
    bool inside = find_masks(c, lv, above, fine, keep, mask);
    lidx n = 0;
    g->mask = mask;
#pragma omp parallel for schedule(static) reduction(+ : n)
    for (lidx i = 0; i < lv->noct; i++) n += keep[i];
    if (n == lv->noct) {
        level_lend(g, lv);
        FREE(keep);
        return inside;
    }
    g->map = mem_new(sizeof *g->map * (size_t)lv->noct + 1, MG_TABLES);
    g->noct = g->nown = 0;
    for (lidx i = 0; i < lv->noct; i++) {
        if (keep[i]) memmove(mask[g->noct], mask[i], sizeof mask[i]);
        g->map[i] = keep[i] ? g->noct++ : -1;
        if (i < lv->nown) g->nown = g->noct;
    }
    lidx(*nbr)[6] = mem_new(sizeof *nbr * (size_t)n + 1, MG_TABLES);
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < lv->noct; i++)
        if (keep[i])
            for (int f = 0; f < 6; f++) nbr[g->map[i]][f] = compact_of(g, lv->nbr[i][f]);
    g->own_nbr = nbr;
    g->nbr = (const lidx(*)[6])nbr;
    xplan_subset(&lv->plan, keep, g->map, &g->own_plan);
    g->plan = &g->own_plan;
    FREE(keep);
    return inside;
}

/* ---- octs at the boundary of the domain ---- */

/* Lists the own octs of a boundary layer of the domain decomposition, ascending. */
static lidx *layer_list(const struct mg_level *g, unsigned char part, lidx *n)
{
    lidx count = 0;
    for (lidx i = 0; i < g->nown; i++) count += g->layer[i] == part;
    lidx *list = mem_new(sizeof *list * (size_t)count + 1, MG_TABLES);
    *n = 0;
    for (lidx i = 0; i < g->nown; i++)
        if (g->layer[i] == part) list[(*n)++] = i;
    return list;
}

static void level_layers(struct mg_level *g)
{
    /* A list of octs takes up to twice as long as octs in order. If these layers hold more than a
     * sixth of all octs, relaxing red cells in order saves more than overlap does. */
    enum { SHARE = 6 };
    const struct xplan *p = g->plan;
    if (!p->shared) return;
    g->layer = mem_zero((size_t)g->nown + 1, MG_TABLES);
    for (lidx j = 0; p->npeer > 0 && j < p->sfirst[p->npeer]; j++) g->layer[p->send[j]] = MG_OUTER;
    for (lidx i = 0; i < g->nown; i++)
        for (int f = 0; f < 6 && g->layer[i] == MG_OUTER; f++) {
            lidx j = g->nbr[i][f];
            if (j >= 0 && j < g->nown && !g->layer[j]) g->layer[j] = MG_NEAR;
        }
    g->outer = layer_list(g, MG_OUTER, &g->nouter);
    g->near = layer_list(g, MG_NEAR, &g->nnear);
    if (SHARE * ((int64_t)g->nouter + g->nnear) > g->nown) FREE(g->near);
}

/* If all cells are inside, the missing faces determine the boundary cells: one row per set of
 * faces, few enough for the first-level cache. */
static void level_faces(struct mg_level *g)
{
    enum { FACES = 6, SETS = 1 << FACES };
    lidx *row = mem_new(sizeof *row * (size_t)g->noct + 1, MG_TABLES);
    bool any = false;
#pragma omp parallel for schedule(static) reduction(|| : any)
    for (lidx i = 0; i < g->noct; i++) {
        int set = 0;
        for (int f = 0; f < FACES; f++) set |= (g->nbr[i][f] < 0) << f;
        row[i] = set;
        any = any || (set && i < g->nown);
    }
    for (lidx k = 0; k < g->nhalo; k++) any = any || row[g->halo[k]];
    if (!any) {
        FREE(row);
        return;
    }
    g->boundary = g->own_boundary = row;
    g->masked = g->ndim < 3;
    g->boundaries = mem_new(sizeof *g->boundaries * SETS, MG_TABLES);
    for (int set = 0; set < SETS; set++) {
        lidx nbr[1][FACES];
        for (int f = 0; f < FACES; f++) nbr[0][f] = set >> f & 1 ? NBR_NONE : 0;
        mg_boundary_cells((const lidx(*)[6])nbr, NULL, 0, g->ndim, &g->boundaries[set]);
        row_by_colour(g->boundaries[set].diag);
        row_by_colour(g->boundaries[set].safe);
    }
}

/* Masks of the cells of one colour of an oct, and in at[] of their neighbours. */
static inline row4 masks_around(const struct mg_level *g, lidx i, bool red, row4 at[6])
{
    static const double OUTSIDE[8] = {-1, -1, -1, -1, -1, -1, -1, -1};
    row4 beyond[6];
    for (int f = 0; f < 6; f++) {
        lidx j = g->nbr[i][f];
        beyond[f] = row_pick(!red, j < 0 ? OUTSIDE : g->mask[j]);
    }
    row_around(red, row_pick(!red, g->mask[i]), beyond, at);
    return row_pick(red, g->mask[i]);
}

/* mg_at_boundary with vectors. */
static bool at_boundary(const struct mg_level *g, lidx i)
{
    mask4 boundary = {0};
    for (int colour = 0; colour < 2; colour++) {
        row4 at[6], own = masks_around(g, i, colour == 0, at);
        boundary |= own < 1.0;
        for (int k = 0; k < 6; k++) boundary |= at[k] <= 0.0;
    }
    return boundary[0] | boundary[1] | boundary[2] | boundary[3];
}

/* mg_boundary_cells with vectors, in colour order. */
static void boundary_cells(const struct mg_level *g, lidx i, struct mg_boundary *e)
{
    const row4 zero = {0};
    for (int colour = 0; colour < 2; colour++) {
        row4 at[6], own = masks_around(g, i, colour == 0, at), weight = zero;
        for (int k = 0; k < 6; k++)
            if (k % 3 < g->ndim) weight += row_choose(at[k] <= 0.0, at[k] / own, zero);
        row4 diag = row_mask_inside(own, 2.0 * g->ndim - weight);
        row4 safe = row_choose(own < 1.0, zero, diag);
        memcpy(e->diag + 4 * colour, &diag, sizeof diag);
        memcpy(e->safe + 4 * colour, &safe, sizeof safe);
    }
}

static void level_masked(struct mg_level *g)
{
    lidx n = 0, *row = mem_new(sizeof *row * (size_t)g->noct + 1, MG_TABLES);
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < g->noct; i++) row[i] = at_boundary(g, i);
    for (lidx i = 0; i < g->noct; i++)
        if (row[i]) row[i] = ++n;
    if (n == 0) {
        FREE(row);
        return;
    }
    g->boundary = g->own_boundary = row;
    g->masked = true;
    g->boundaries = mem_new(sizeof *g->boundaries * (size_t)(n + 1), MG_TABLES);
    mg_boundary_cells(&(const lidx[6]){0}, NULL, 0, 3,
                      &g->boundaries[0]); /* symmetric: cell order and colour order agree */
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < g->noct; i++)
        if (row[i]) boundary_cells(g, i, &g->boundaries[row[i]]);
}

/* Ghosts beyond the halo may lack neighbours here, so their diagonals are invalid. */
static void level_boundaries(struct mg_level *g)
{
    if (g->mask)
        level_masked(g);
    else
        level_faces(g);
}

/* Replaces missing links of own octs and halo by the row of zeros, so that sweeps need no test. */
static void level_close(struct mg_level *g)
{
    if (!g->boundary) return;
    size_t bytes = sizeof *g->nbr * (size_t)g->noct;
    if (!g->own_nbr) g->own_nbr = memcpy(mem_new(bytes + 1, MG_TABLES), g->nbr, bytes);
    lidx(*nbr)[6] = g->own_nbr;
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < g->noct; i++)
        for (int f = 0; f < 6; f++) nbr[i][f] = mg_link(g, nbr[i][f]);
    g->nbr = (const lidx(*)[6])nbr;
}

/* ---- links for prolongation ---- */

unsigned char *mg_octs_read(const struct mg_level *g)
{
    unsigned char *is = mem_zero((size_t)g->noct + 1, "multigrid");
    memset(is, 1, (size_t)g->nown);
    for (lidx k = 0; k < g->nhalo; k++) {
        lidx i = g->halo[k];
        is[i] = 1;
        for (int f = 0; f < 6; f++)
            if (g->nbr[i][f] >= 0) is[g->nbr[i][f]] = 1;
    }
    return is;
}

static void level_cubes(struct mg_level *g, const struct mesh *m, const struct mg_level *fine)
{
    const struct level *lv = &m->lev[g->level];
    unsigned char *read = mg_octs_read(fine), *any = mem_new((size_t)lv->noct + 1, "multigrid");
    g->cube = mem_new(sizeof *g->cube * (size_t)g->noct + 1, MG_TABLES);
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < lv->noct; i++) {
        lidx j = compact_of(g, i);
        any[i] = false;
        for (int k = 0; k < 8 && j >= 0; k++) any[i] |= g->child[j][k] >= 0 && read[g->child[j][k]];
    }
    for (lidx i = 0; i < lv->noct; i++) {
        if (!any[i]) continue;
        g->cube[g->ncube].oct = compact_of(g, i);
        g->cube[g->ncube++].nb[13] = i;
    }
    FREE(any);
    FREE(read);
#pragma omp parallel for schedule(static)
    for (lidx k = 0; k < g->ncube; k++) {
        struct mg_cube *q = &g->cube[k];
        mesh_cube(m, g->level, q->nb[13], q->nb);
        for (int j = 0; j < 27; j++) q->nb[j] = mg_link(g, compact_of(g, q->nb[j]));
    }
}

/* ---- arrays ---- */

double (*mg_rows_new(int64_t n, const char *name))[8]
{
    double(*rows)[8] = mem_new(sizeof *rows * (size_t)(n + 1), name);
    memset(rows[n], 0, sizeof *rows);
    return rows;
}

static void level_arrays(struct mg_level *g, bool top)
{
    size_t rows = (size_t)g->noct;
    if (!g->rhs) g->rhs = mem_new(sizeof *g->rhs * rows + 1, "multigrid");
    g->mean = mem_new(sizeof *g->mean * rows + 1, "multigrid");
    if (!top) g->u = mg_rows_new(g->noct, "multigrid");
}

/* The coarsest level that is not shared. */
static int lowest(const struct mg *g)
{
    return g->share ? g->bottom + 1 : g->bottom;
}

void mg_allocate(struct mg *g)
{
    if (g->share) mg_share_allocate(g);
    for (int k = lowest(g); k <= g->top; k++) level_arrays(&g->lev[k], k == g->top);
}

void mg_release(struct mg *g)
{
    if (g->share) mg_share_release(g);
    for (int k = 1; k <= g->top; k++) {
        FREE(g->lev[k].rhs);
        FREE(g->lev[k].mean);
        if (k < g->top) FREE(g->lev[k].u);
    }
}

/* ---- the hierarchy ---- */

/* Levels coarser than a complete one are complete. */
static void build_complete(struct mg *g, const struct mesh *m, const struct comm *c, int min)
{
    int share = mg_share_first(g, m, c), low = share >= min ? share + 1 : 1;
    for (int k = g->top - 1; k >= low; k--) {
        level_lend(&g->lev[k], &m->lev[k]);
        level_children(&g->lev[k], &m->lev[k], &g->lev[k + 1]);
    }
    g->bottom = min;
    if (share >= min) mg_share_complete(g, m, share);
}

/* The bottom is the coarsest level with a cell inside on any rank. */
static void build_subsets(struct mg *g, const struct mesh *m, const struct comm *c, int min)
{
    int64_t inside[LEVEL_MAX + 2] = {0};
    int share = mg_share_first(g, m, c);
    for (int k = g->top - 1; k >= min; k--) {
        if (k == share && mg_share_partial(g, m, c, k, inside)) return;
        if (k == share) share--;
        inside[k] = level_subset(&g->lev[k], c, &m->lev[k], &m->lev[k + 1], &g->lev[k + 1]);
        level_children(&g->lev[k], &m->lev[k], &g->lev[k + 1]);
    }
    comm_max_i64(c, inside, g->top);
    g->bottom = g->top;
    while (g->bottom > min && inside[g->bottom - 1]) g->bottom--;
}

void mg_build(struct mg *g, const struct mesh *m, const struct comm *c, int l, double (*mask)[8])
{
    const int min = mg_min(m, l);
    g->top = l;
    level_lend(&g->lev[l], &m->lev[l]);
    g->lev[l].mask = mask;
    for (int k = l; k >= 1; k--) g->lev[k].level = k, g->lev[k].ndim = m->ndim;
    if (l <= m->levelmin)
        build_complete(g, m, c, min);
    else
        build_subsets(g, m, c, min);
    for (int k = lowest(g); k <= l; k++) {
        struct mg_level *lev = &g->lev[k];
        lev->halo = mesh_halo(lev->nown, lev->noct, lev->nbr, &lev->nhalo);
        level_layers(lev);
        level_boundaries(lev);
    }
    for (int k = lowest(g); k < l; k++) level_cubes(&g->lev[k], m, &g->lev[k + 1]);
    if (g->share) mg_share_link(g);
    for (int k = lowest(g); k <= l; k++) level_close(&g->lev[k]);
    for (int k = 1; k <= l; k++) FREE(g->lev[k].mask);
    mg_allocate(g);
}

static void level_free(struct mg_level *g)
{
    FREE(g->cube);
    FREE(g->halo);
    FREE(g->outer);
    FREE(g->near);
    FREE(g->layer);
    FREE(g->boundaries);
    FREE(g->own_boundary);
    FREE(g->own_nbr);
    FREE(g->own_child);
    FREE(g->map);
    FREE(g->mask);
    xplan_free(&g->own_plan);
}

void mg_free(struct mg *g)
{
    mg_release(g);
    mg_share_free(g);
    for (int k = 1; k <= g->top; k++) level_free(&g->lev[k]);
}
