/* grav/mg_share: the coarsest levels of a hierarchy on every rank (see mg.h).
 *
 * Each rank makes a mesh of its own, without ghosts, from the keys of all octs of one level;
 * coarser levels follow from them. The ordinary hierarchy is built on this mesh, and the ordinary
 * cycle runs on it, with equal arithmetic for each cell and so with equal bits. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "dom/ghost.h"
#include "grav/mg.h"

static const struct comm ALONE = {.size = 1};

struct mg_share {
    struct mesh mesh;
    struct mg whole; /* hierarchy whose top is the finest shared level */
    double (*u)[8];  /* potential of the finest shared level */
    /* [own octs of the finer level] index of an oct's mean residual in the right-hand side. */
    lidx *slot;
    /* Right-hand side as bits: one rank sets a number, the others add 0; then a norm. */
    int64_t *message;
};

static const size_t NORM = sizeof(struct sum) / sizeof(int64_t);

int mg_share_level(const struct mg_share *s)
{
    return s->whole.top;
}

int mg_share_first(const struct mg *g, const struct mesh *m, const struct comm *c)
{
    /* Expected octs of a refined level per oct of the next coarser level; at most 8. A first guess
     * one level too fine costs a reduction, one too coarse costs exchanges in each cycle. */
    enum { CHILDREN = 5 };
    bool complete = g->top <= m->levelmin;
    int64_t n = m->lev[g->top].total;
    int level = g->top - 1;
    if (c->size == 1 || g->shared_max == 0) return 0;
    if (!complete && g->try_shared > 0) return g->try_shared < g->top ? g->try_shared : g->top - 1;
    for (; level > 0; level--) {
        n = complete ? n >> m->ndim : n / CHILDREN;
        if (n > m->lev[level].total) n = m->lev[level].total;
        if (n <= g->shared_max) break;
    }
    return level;
}

void mg_whole_mesh(struct mesh *whole, const struct mesh *m, int top, int64_t n, const okey *key,
                   bool complete)
{
    okey *k[LEVEL_MAX + 2];
    int64_t count[LEVEL_MAX + 2];
    mesh_init(whole, complete ? top : 0, top, 0, false, false, m->boxlen, m->bounded);
    mesh_set_ndim(whole, m->ndim);
    for (int l = top; l >= 1; l--) {
        k[l] = mem_new(sizeof *key * (size_t)n + 1, "multigrid");
        count[l] = 0;
        for (int64_t i = 0; i < n; i++) {
            okey next = key[i] >> 3 * (top - l);
            if (count[l] == 0 || k[l][count[l] - 1] != next) k[l][count[l]++] = next;
        }
    }
    for (int l = 1; l <= top; l++) {
        mesh_replace(whole, l, (lidx)count[l], k[l], 0, NULL, NULL);
        mesh_link_down(whole, l);
        FREE(k[l]);
    }
}

/* ---- building ---- */

MEM_ORDER(by_key, struct mg_slot, key)

/* Builds the rows of level k that the finer level reads: parents of its octs, and octs around. */
static void link_above(struct mg *g, const struct mesh *m, int k)
{
    struct mg_share *s = g->share;
    struct mg_level *lev = &g->lev[k], *fine = &g->lev[k + 1];
    const struct level *whole = &s->mesh.lev[k], *lv = &m->lev[k + 1];
    *lev = (struct mg_level){
        .level = k, .ndim = lev->ndim, .nown = whole->nown, .noct = whole->noct};
    lidx(*child)[8] = mem_new(sizeof *child * (size_t)whole->noct + 1, MG_TABLES);
    memset(child, 0xff, sizeof *child * (size_t)whole->noct);
    s->slot = mem_new(sizeof *s->slot * (size_t)fine->nown + 1, MG_TABLES);
    for (lidx i = 0; i < lv->noct; i++) {
        lidx j = fine->map ? fine->map[i] : i;
        if (j < 0) continue;
        lidx row = mesh_find(whole, lv->key[i] >> 3);
        BUG_ON(row < 0);
        child[row][oct_slot(lv, i)] = j;
        if (j < fine->nown) s->slot[j] = 8 * row + oct_slot(lv, i);
    }
    lev->own_child = child;
    lev->child = (const lidx(*)[8])child;
}

static void share_arrays(struct mg *g)
{
    struct mg_share *s = g->share;
    const int k = s->whole.top;
    size_t n = (size_t)s->whole.lev[k].noct;
    s->u = mg_rows_new((int64_t)n, "multigrid");
    s->message = mem_new(sizeof *s->message * (8 * n + NORM), "multigrid");
    s->whole.lev[k].u = g->lev[k].u = s->u;
}

/* Makes the shared level. key: keys of all octs of level k; mask: their masks (taken over), NULL:
 * all cells are inside. */
static void share_make(struct mg *g, const struct mesh *m, int k, int64_t n, const okey *key,
                       double (*mask)[8])
{
    struct mg_share *s = g->share = mem_zero(sizeof *s, MG_TABLES);
    mg_whole_mesh(&s->mesh, m, k, n, key, mask == NULL);
    mg_build(&s->whole, &s->mesh, &ALONE, k, mask);
    g->bottom = k;
    if (!g->on_device) link_above(g, m, k);
    share_arrays(g);
}

void mg_share_allocate(struct mg *g)
{
    if (g->share->u) return;
    mg_allocate(&g->share->whole);
    share_arrays(g);
}

void mg_share_release(struct mg *g)
{
    struct mg_share *s = g->share;
    g->lev[s->whole.top].u = NULL;
    mg_release(&s->whole);
    FREE(s->u);
    FREE(s->message);
}

/* Key of the i-th oct of a complete level: its digits have ndim bits in i, and three in the key. */
static okey complete_key(int ndim, int64_t i)
{
    okey key = 0;
    for (int digit = 0; i >> ndim * digit; digit++)
        key |= (okey)(i >> ndim * digit & ((1 << ndim) - 1)) << 3 * digit;
    return key;
}

void mg_share_complete(struct mg *g, const struct mesh *m, int k)
{
    int64_t n = (int64_t)1 << m->ndim * (k - 1);
    okey *key = mem_new(sizeof *key * (size_t)n, "multigrid");
    for (int64_t i = 0; i < n; i++) key[i] = complete_key(m->ndim, i);
    share_make(g, m, k, n, key, NULL);
    FREE(key);
}

int64_t mg_share_max(const struct mg *g, const struct mesh *m, int k)
{
    int64_t max = g->shared_max; /* minimum of the limit and of the octs of both levels */
    if (max > m->lev[k].total) max = m->lev[k].total;
    if (max > m->lev[g->top].total) max = m->lev[g->top].total;
    return max;
}

struct mg_slot *mg_share_own_slots(const struct mg *g, const struct mesh *m, int k)
{
    return mem_zero(sizeof(struct mg_slot) * (size_t)mg_share_max(g, m, k) + 1, "multigrid");
}

/* Lists the own octs of level k that have children in the hierarchy, and their masks. */
static struct mg_slot *own_places(const struct mg *g, const struct mesh *m, int k, int64_t *n,
                                  int64_t *inside)
{
    const struct level *lv = &m->lev[k];
    struct mg_slot *p = mg_share_own_slots(g, m, k), one;
    int64_t room = mg_share_max(g, m, k);
    unsigned char *keep = mem_new((size_t)lv->noct + 1, "multigrid");
    mg_parents(lv, &m->lev[k + 1], &g->lev[k + 1], keep);
    *n = 0;
    for (lidx i = 0; i < lv->nown; i++) {
        if (!keep[i]) continue;
        mg_oct_mask(lv, &g->lev[k + 1], i, one.mask);
        one.key = lv->key[i];
        for (int q = 0; q < 8; q++) *inside |= one.mask[q] > 0;
        if (*n < room) p[*n] = one;
        ++*n;
    }
    FREE(keep);
    return p;
}

static void make_partial(struct mg *g, const struct mesh *m, int k, int64_t n, struct mg_slot *p)
{
    okey *key = mem_new(sizeof *key * (size_t)n, "multigrid");
    double(*mask)[8] = mem_new(sizeof *mask * (size_t)n, "multigrid");
    mem_sort(p, (size_t)n, sizeof *p, by_key);
    for (int64_t i = 0; i < n; i++) {
        key[i] = p[i].key;
        memcpy(mask[i], p[i].mask, sizeof mask[i]);
    }
    share_make(g, m, k, n, key, mask);
    FREE(key);
}

bool mg_share_join(struct mg *g, const struct mesh *m, const struct comm *c, int k, int64_t n,
                   struct mg_slot *p, int64_t above_here, const int64_t *inside_here)
{
    /* Sums over the ranks: ranks with a cell inside, by level; octs of the finer level. */
    int64_t sum[LEVEL_MAX + 3] = {0}, *inside = sum, *above = &sum[LEVEL_MAX + 2];
    const int64_t max = mg_share_max(g, m, k);
    memcpy(inside, inside_here, sizeof *inside * (size_t)g->top);
    *above = above_here;
    n = comm_union_min(c, n, max, sizeof *p, p, LEVEL_MAX + 3, sum, g->minima);
    g->try_shared = k;
    if (n <= max) {
        if (*above <= g->shared_max && k + 1 < g->top) g->try_shared = k + 1;
        g->bottom = g->top;
        while (g->bottom > k && inside[g->bottom - 1]) g->bottom--;
        if (g->bottom == k) make_partial(g, m, k, n, p);
    }
    FREE(p);
    return n <= max;
}

bool mg_share_partial(struct mg *g, const struct mesh *m, const struct comm *c, int k,
                      const int64_t *inside_here)
{
    int64_t inside[LEVEL_MAX + 2], n;
    memcpy(inside, inside_here, sizeof inside);
    struct mg_slot *p = own_places(g, m, k, &n, &inside[k]);
    return mg_share_join(g, m, c, k, n, p, g->lev[k + 1].nown, inside);
}

void mg_share_rows(const struct mg_share *s, const struct level *lv, lidx *row)
{
    for (lidx i = 0; i < lv->noct; i++) row[i] = mesh_find(&s->mesh.lev[lv->level], lv->key[i]);
}

void mg_share_slots(struct mg_share *s, lidx *slot)
{
    FREE(s->slot);
    s->slot = slot;
}

void mg_share_link(struct mg *g)
{
    struct mg_share *s = g->share;
    struct mg_level *lev = &g->lev[s->whole.top];
    unsigned char *read = mg_octs_read(&g->lev[lev->level + 1]);
    lev->cube = mem_new(sizeof *lev->cube * (size_t)lev->noct + 1, MG_TABLES);
    for (lidx i = 0; i < lev->noct; i++) {
        bool any = false;
        for (int q = 0; q < 8; q++) any |= lev->child[i][q] >= 0 && read[lev->child[i][q]];
        if (!any) continue;
        lev->cube[lev->ncube].oct = i;
        lidx *nb = lev->cube[lev->ncube++].nb;
        mesh_cube(&s->mesh, lev->level, i, nb);
        for (int q = 0; q < 27; q++) nb[q] = mg_link(lev, nb[q]);
    }
    FREE(read);
}

void mg_share_free(struct mg *g)
{
    struct mg_share *s = g->share;
    if (!s) return;
    mg_share_release(g);
    mg_free(&s->whole);
    mesh_fini(&s->mesh);
    FREE(s->slot);
    FREE(g->share);
}

/* ---- use ---- */

/* Sums the right-hand side, and the norm if there is one, in one reduction. */
static void collect(struct mg *g, const struct comm *c)
{
    struct mg_share *s = g->share;
    struct mg_level *lev = &s->whole.lev[s->whole.top], *fine = &g->lev[s->whole.top + 1];
    size_t n = 8 * (size_t)lev->noct;
    memset(s->message, 0, sizeof *s->message * n);
    for (lidx j = 0; j < fine->nown; j++)
        memcpy(&s->message[s->slot[j]], &fine->mean[j], sizeof *fine->mean);
    if (g->norm) sum_carry(g->norm);
    if (g->norm) memcpy(s->message + n, g->norm, sizeof *g->norm);
    comm_add_i64(c, s->message, (int)(n + (g->norm ? NORM : 0)));
    if (g->norm) memcpy(g->norm, s->message + n, sizeof *g->norm);
    if (g->norm) g->norm->count = c->size;
    memcpy(lev->rhs, s->message, sizeof *s->message * n);
    mg_by_colour(lev->rhs, lev->noct);
    for (lidx i = 0; i < lev->noct && lev->masked; i++)
        for (int k = 0; k < 8; k++)
            if (lev->boundaries[lev->boundary[i]].diag[k] <= 0) lev->rhs[i][k] = 0.0;
}

void mg_share_solve(struct mg *g, const struct comm *c, bool safe)
{
    struct mg_share *s = g->share;
    struct mg_level *lev = &s->whole.lev[s->whole.top];
    collect(g, c);
    memset(lev->u, 0, sizeof lev->u[0] * (size_t)lev->noct);
    mg_cycle(&s->whole, &ALONE, s->whole.top, safe);
    mg_in_order(lev->u, lev->noct);
}
