/* grav/mg_share: the lowest levels of a hierarchy on every rank (see mg.h).
 *
 * The octs of these levels, their positions and masks, are gathered once per solve into a separate
 * hierarchy without ghosts, on which the ordinary cycle then works. The arithmetic of a cell is the
 * same, and so are the bits. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "dom/ghost.h"
#include "grav/mg.h"

struct mg_share {
    struct mg whole; /* top: the level whose right-hand side is gathered */
    okey *key[LEVEL_MAX + 2];
    int64_t *bytes; /* [rank] of the right-hand side */
    /* position in `whole` of the n-th gathered row; of each oct of the level here */
    lidx *order, *row;
    double (*rows)[8];
};

/* What is gathered per oct. */
struct place {
    okey key;
    int level;
    double mask[8];
};

int mg_share_level(const struct mg_share *s)
{
    return s->whole.top;
}

static int by_place(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->level != y->level) return x->level < y->level ? -1 : 1;
    return x->key < y->key ? -1 : x->key > y->key;
}

static lidx find(const struct mg_share *s, int level, okey k)
{
    const okey *key = s->key[level];
    lidx lo = 0, hi = s->whole.lev[level].noct;
    while (lo < hi) {
        lidx mid = lo + (hi - lo) / 2;
        if (key[mid] < k)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < s->whole.lev[level].noct && key[lo] == k ? lo : -1;
}

static lidx find_near(const struct mg_share *s, const struct mesh *m, int level, lidx i, int dx,
                      int dy, int dz)
{
    okey k;
    int64_t x[3];
    okey_coords(s->key[level][i], x);
    x[0] += dx, x[1] += dy, x[2] += dz;
    return mesh_key_at(m, level, x, &k) ? find(s, level, k) : -1;
}

/* The finest level below the top with at most this many octs on all ranks, or 0. */
static int choose_level(const struct mg *g, const struct comm *c, int64_t most)
{
    int64_t octs[LEVEL_MAX + 2] = {0};
    for (int k = g->bottom; k < g->top; k++) octs[k] = g->lev[k].nown;
    comm_add_i64(c, octs + g->bottom, g->top - g->bottom);
    int level = 0;
    for (int k = g->bottom; k < g->top && octs[k] <= most; k++) level = k;
    return level;
}

/* Own octs of levels bottom … level, in any order. */
static struct place *own_places(const struct mg *g, const struct mesh *m, int level, int64_t *n)
{
    struct place *p;
    *n = 0;
    for (int k = g->bottom; k <= level; k++) *n += g->lev[k].nown;
    p = mem_zero(sizeof *p * (size_t)*n + 1, "multigrid");
    *n = 0;
    for (int k = g->bottom; k <= level; k++) {
        const struct mg_level *lev = &g->lev[k];
        for (lidx i = 0; i < m->lev[k].nown; i++) {
            lidx j = lev->map ? lev->map[i] : i;
            if (j < 0) continue;
            p[*n].key = m->lev[k].key[i];
            p[*n].level = k;
            for (int q = 0; q < 8; q++) p[*n].mask[q] = lev->mask ? lev->mask[j][q] : 1.0;
            ++*n;
        }
    }
    return p;
}

/* The octs of all ranks, rank after rank; bytes[rank]. */
static struct place *all_places(const struct mg *g, const struct mesh *m, const struct comm *c,
                                int level, int64_t *bytes, size_t *n)
{
    int64_t own;
    struct place *mine = own_places(g, m, level, &own), *all;
    bytes[c->rank] = own * (int64_t)sizeof *mine;
    comm_add_i64(c, bytes, c->size);
    *n = 0;
    for (int r = 0; r < c->size; r++) *n += (size_t)bytes[r] / sizeof *mine;
    all = mem_new(sizeof *all * *n + 1, "multigrid");
    comm_allgather(c, mine, all, bytes);
    FREE(mine);
    return all;
}

static void link_level(struct mg_share *s, const struct mesh *m, int k)
{
    struct mg_level *lev = &s->whole.lev[k];
    lidx(*nbr)[6] = mem_new(sizeof *nbr * (size_t)lev->noct, "multigrid");
    for (lidx i = 0; i < lev->noct; i++)
        for (int f = 0; f < 6; f++) {
            int step[3] = {0, 0, 0};
            step[f >> 1] = f & 1 ? 1 : -1;
            nbr[i][f] = find_near(s, m, k, i, step[0], step[1], step[2]);
        }
    lev->own_nbr = nbr;
    lev->nbr = (const lidx(*)[6])nbr;
    if (k == s->whole.top) return;
    lidx(*child)[8] = mem_new(sizeof *child * (size_t)lev->noct, "multigrid");
    lev->cube = mem_new(sizeof *lev->cube * (size_t)lev->noct, "multigrid");
    lev->ncube = lev->noct;
    for (lidx i = 0; i < lev->noct; i++) {
        for (int q = 0; q < 8; q++) child[i][q] = find(s, k + 1, s->key[k][i] << 3 | (okey)q);
        lev->cube[i].oct = i;
        for (int q = 0; q < 27; q++)
            lev->cube[i].nb[q] = find_near(s, m, k, i, q % 3 - 1, q / 3 % 3 - 1, q / 9 - 1);
    }
    lev->own_child = child;
    lev->child = (const lidx(*)[8])child;
}

static void make_whole(struct mg_share *s, const struct mg *g, const struct mesh *m,
                       const struct place *gathered, size_t n)
{
    static const struct xplan nobody = {0};
    struct mg *w = &s->whole;
    struct place *sorted = mem_new(sizeof *sorted * n + 1, "multigrid"), *p = sorted;
    memcpy(sorted, gathered, sizeof *sorted * n);
    qsort(sorted, n, sizeof *sorted, by_place);
    for (size_t i = 0; i < n; i++) w->lev[p[i].level].noct++;
    for (int k = w->bottom; k <= w->top; k++) {
        struct mg_level *lev = &w->lev[k];
        lev->level = k;
        lev->nown = lev->noct;
        lev->plan = &nobody;
        s->key[k] = mem_new(sizeof *s->key[k] * (size_t)lev->noct, "multigrid");
        if (g->lev[k].mask) lev->mask = mem_new(sizeof *lev->mask * (size_t)lev->noct, "multigrid");
        for (lidx i = 0; i < lev->noct; i++, p++) {
            s->key[k][i] = p->key;
            if (lev->mask) memcpy(lev->mask[i], p->mask, sizeof p->mask);
        }
    }
    FREE(sorted);
    for (int k = w->bottom; k <= w->top; k++) {
        link_level(s, m, k);
        mg_level_edges(&w->lev[k]);
        mg_level_arrays(&w->lev[k], false);
        FREE(w->lev[k].mask);
    }
}

/* Where the rows of the top of `whole` come from; p: as gathered, bytes of it by rank. */
static void order_rows(struct mg_share *s, const struct place *p, const int64_t *bytes, int size)
{
    lidx *row = s->order = mem_new(sizeof *s->order * (size_t)s->whole.lev[s->whole.top].noct,
                                   "multigrid");
    s->bytes = mem_zero(sizeof *s->bytes * (size_t)size, "multigrid");
    for (int r = 0; r < size; r++)
        for (const struct place *end = p + bytes[r] / (int64_t)sizeof *p; p < end; p++) {
            if (p->level != s->whole.top) continue;
            *row++ = find(s, p->level, p->key);
            s->bytes[r] += (int64_t)sizeof *s->rows;
        }
}

/* Where they go. */
static void find_rows(struct mg_share *s, const struct mg *g, const struct mesh *m)
{
    int k = s->whole.top;
    const struct mg_level *lev = &g->lev[k];
    s->row = mem_new(sizeof *s->row * (size_t)lev->noct + 1, "multigrid");
    s->rows = mem_new(sizeof *s->rows * (size_t)s->whole.lev[k].noct, "multigrid");
    for (lidx i = 0; i < m->lev[k].noct; i++) {
        lidx j = lev->map ? lev->map[i] : i;
        if (j >= 0) s->row[j] = find(s, k, m->lev[k].key[i]);
    }
}

void mg_share_build(struct mg *g, const struct mesh *m, const struct comm *c, int64_t most)
{
    int level = c->size > 1 && g->bottom < g->top ? choose_level(g, c, most) : 0;
    if (level == 0) return;
    struct mg_share *s = g->share = mem_zero(sizeof *s, "multigrid");
    s->whole.top = level;
    s->whole.bottom = g->bottom;
    size_t n;
    int64_t *bytes = mem_zero(sizeof *bytes * (size_t)c->size, "multigrid");
    struct place *gathered = all_places(g, m, c, level, bytes, &n);
    make_whole(s, g, m, gathered, n);
    order_rows(s, gathered, bytes, c->size);
    find_rows(s, g, m);
    FREE(gathered);
    FREE(bytes);
}

void mg_share_free(struct mg_share *s)
{
    for (int k = s->whole.bottom; k <= s->whole.top; k++) {
        FREE(s->whole.lev[k].u);
        mg_level_free(&s->whole.lev[k]);
        FREE(s->key[k]);
    }
    FREE(s->bytes);
    FREE(s->order);
    FREE(s->row);
    FREE(s->rows);
    mem_free(s);
}

void mg_share_solve(struct mg *g, const struct comm *c, bool safe)
{
    static const struct comm alone = {.size = 1};
    struct mg_share *s = g->share;
    struct mg_level *here = &g->lev[s->whole.top], *lev = &s->whole.lev[s->whole.top];
    comm_allgather(c, here->rhs, s->rows, s->bytes);
    for (lidx i = 0; i < lev->noct; i++)
        memcpy(lev->rhs[s->order[i]], s->rows[i], sizeof s->rows[i]);
    memset(lev->u, 0, sizeof lev->u[0] * (size_t)lev->noct);
    mg_cycle(&s->whole, &alone, s->whole.top, safe);
    for (lidx i = 0; i < here->noct; i++) memcpy(here->u[i], lev->u[s->row[i]], sizeof here->u[i]);
}
