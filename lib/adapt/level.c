#include "adapt/level.h"

#include <string.h>

#include "adapt/created.h"
#include "base/mem.h"
#include "dom/ghost.h"
#include "oct/bits.h"
#include "oct/field_sets.h"
#include "oct/keys.h"

/* ---- copies for other ranks ---- */

/* Pairs of a rank and an own oct that this rank has as a ghost, ordered by oct, then rank. The
 * search descends from the coarsest octs: if no other rank is near an oct, none is near its
 * descendants, so the work scales with the surface of the domain. */
struct sends {
    int64_t n, cap;
    int *rank;
    lidx *oct;
};

struct search {
    const struct domain *d;
    int me, level;
    const okey *own;
    int *near; /* workspace for ranks */
    struct sends found;
};

static void sends_add(struct sends *s, lidx oct, int n, const int *rank)
{
    if (s->n + n > s->cap) {
        s->cap = 2 * s->cap + n + 256;
        s->rank = mem_grow(s->rank, sizeof *s->rank * (size_t)s->cap, "mesh scratch");
        s->oct = mem_grow(s->oct, sizeof *s->oct * (size_t)s->cap, "mesh scratch");
    }
    for (int j = 0; j < n; j++, s->n++) {
        s->rank[s->n] = rank[j];
        s->oct[s->n] = oct;
    }
}

/* Searches the own octs begin..end-1, which are all own octs within oct (level, key). */
static void look_within(struct search *s, int level, okey key, lidx begin, lidx end)
{
    if (begin == end) return;
    const int owner = domain_rank(s->d, level, key), depth = 3 * (s->level - level),
              n = domain_near(s->d, owner, level, key, s->near);
    if (owner == s->me && n == 0) return;
    if (depth == 0) {
        BUG_ON(owner != s->me);
        sends_add(&s->found, begin, n, s->near);
        return;
    }
    for (okey c = key << 3; c < (key + 1) << 3; c++) {
        const lidx next = okeys_from(s->own, begin, end, (c + 1) << (depth - 3));
        look_within(s, level + 1, c, begin, next);
        begin = next;
    }
}

static struct sends sends_find(const struct comm *c, const struct domain *d, int l, lidx nown,
                               const okey *own)
{
    struct search s = {.d = d, .me = c->rank, .level = l, .own = own};
    s.near = mem_new(sizeof *s.near * (size_t)c->size, "mesh scratch");
    look_within(&s, 1, 0, 0, nown);
    FREE(s.near);
    return s.found;
}

/* Lists as peers the ranks with a nonzero send or receive count. */
static void plan_peers(struct xplan *p, const struct comm_counts *out, const struct comm_counts *in)
{
    struct comm_counts to, from;
    comm_counts_join(out, in, &to, &from);
    size_t n = (size_t)to.n;
    p->npeer = to.n;
    p->peer = mem_new(sizeof *p->peer * n + 1, "exchange plans");
    p->sfirst = mem_new(sizeof *p->sfirst * (n + 1), "exchange plans");
    p->rfirst = mem_new(sizeof *p->rfirst * (n + 1), "exchange plans");
    p->sfirst[0] = p->rfirst[0] = 0;
    for (int i = 0; i < p->npeer; i++) {
        p->peer[i] = to.rank[i];
        p->sfirst[i + 1] = p->sfirst[i] + (lidx)to.count[i];
        p->rfirst[i + 1] = p->rfirst[i] + (lidx)from.count[i];
    }
    comm_counts_free(&from);
    comm_counts_free(&to);
}

/* Builds the exchange plan of a level from its send list and its ascending ghosts. The octs of a
 * rank have one order on both sides. */
static void plan_make(struct xplan *p, const struct domain *d, int l, const struct sends *s,
                      lidx nown, int64_t nghost, const okey *ghost)
{
    size_t room = (size_t)(s->n > nghost ? s->n : nghost);
    int64_t *order = mem_new(sizeof *order * room + 1, "mesh scratch");
    int *rank = mem_new(sizeof *rank * (size_t)nghost + 1, "mesh scratch");
    p->send = mem_new(sizeof(lidx) * (size_t)s->n + 1, "exchange plans");
    p->recv = mem_new(sizeof(lidx) * (size_t)nghost + 1, "exchange plans");
    struct comm_counts out = comm_counts_of(s->n, s->rank, order);
    for (int64_t i = 0; i < s->n; i++) p->send[i] = s->oct[order[i]];
    for (int64_t i = 0; i < nghost; i++) rank[i] = domain_rank(d, l, ghost[i]);
    struct comm_counts in = comm_counts_of(nghost, rank, order);
    for (int64_t i = 0; i < nghost; i++) p->recv[i] = nown + (lidx)order[i];
    plan_peers(p, &out, &in);
    FREE(rank);
    FREE(order);
    comm_counts_free(&in);
    comm_counts_free(&out);
}

static void keys_sort(okey *key, int64_t n)
{
    struct keyref *ref = keyrefs_sort(key, n);
    for (int64_t i = 0; i < n; i++) key[i] = ref[i].key;
    FREE(ref);
}

/* Returns the ghosts of a level as announced by their owners, ascending (owner: caller). */
static okey *ghosts_announced(const struct comm *c, const struct sends *s, const okey *own,
                              int64_t *nghost)
{
    int64_t *order = mem_new(sizeof *order * (size_t)s->n + 1, "mesh scratch");
    struct comm_counts out = comm_counts_of(s->n, s->rank, order);
    okey *key = mem_new(sizeof *key * (size_t)s->n + 1, "mesh scratch");
    for (int64_t i = 0; i < s->n; i++) key[i] = own[s->oct[order[i]]];
    okey *got = comm_exchange(c, key, &out, sizeof *key, nghost, NULL);
    keys_sort(got, *nghost);
    FREE(key);
    FREE(order);
    comm_counts_free(&out);
    return got;
}

/* Whether any cell of oct i is flagged; most octs have no flag. */
static bool any_flag(const struct level *lv, lidx i)
{
    return bits_of_bytes(lv->flag[i]) != 0;
}

static bool is_ghost(const struct domain *d, int me, int l, okey key, int *near)
{
    int owner = domain_rank(d, l, key);
    int n = owner == me ? 0 : domain_near(d, owner, l, key, near);
    while (n > 0 && near[n - 1] != me) n--;
    return n > 0;
}

struct ghosts {
    int64_t n, cap;
    okey *key;
    int *near; /* workspace for ranks */
};

static void ghosts_add(struct ghosts *g, okey key)
{
    MEM_ROOM(g->key, g->n, g->cap, 256, "mesh scratch");
    g->key[g->n++] = key;
}

/* Adds the keys of ghosts that will be children of oct i of level l. */
static void ghosts_below(struct ghosts *g, const struct mesh *m, int me, const struct domain *d,
                         int l, lidx i)
{
    const struct level *lv = &m->lev[l];
    const lidx nown = m->lev[l + 1].nown;
    for (int k = 0; k < 8 && any_flag(lv, i); k++) {
        lidx child = lv->child[i][k];
        if (!lv->flag[i][k] || (child >= 0 && child < nown)) continue;
        okey key = lv->key[i] << 3 | (okey)k;
        if (child >= 0 || is_ghost(d, me, l + 1, key, g->near)) ghosts_add(g, key);
    }
}

/* The ghosts of level l+1 that the flags of level l retain or create, ascending (owner: caller),
 * and their number. Local, since the parent of every ghost is present with valid flags. Own octs
 * with no other rank nearby have own children only. */
static okey *ghosts_refined(const struct mesh *m, const struct comm *c, const struct domain *d,
                            int l, int64_t *nghost)
{
    const struct level *lv = &m->lev[l];
    const struct xplan *p = &lv->plan;
    struct ghosts g = {.near = mem_new(sizeof *g.near * (size_t)c->size, "mesh scratch")};
    for (lidx j = 0; p->shared && j < p->sfirst[p->npeer]; j++)
        ghosts_below(&g, m, c->rank, d, l, p->send[j]);
    for (lidx i = lv->nown; i < lv->noct; i++) ghosts_below(&g, m, c->rank, d, l, i);
    keys_sort(g.key, g.n);
    *nghost = 0; /* an oct near several ranks appears several times in the list */
    for (int64_t i = 0; i < g.n; i++)
        if (i == 0 || g.key[i] != g.key[i - 1]) g.key[(*nghost)++] = g.key[i];
    mem_free(g.near);
    return g.key;
}

/* ---- levels ---- */

static bool was_read(const struct level_change *v)
{
    return v && v->unset;
}

static struct mesh_moves *change_room(const struct level_change *v, struct mesh *m, int l,
                                      lidx nown, lidx nghost)
{
    if (v && v->dev) adapt_dev_room(v->dev, m, l, nown + nghost, v->created + nghost, v->created);
    if (v) v->before(v->ctx);
    return v ? v->moves : NULL;
}

static void change(struct mesh *m, int l, const struct mesh_octs *o, const struct level_change *v)
{
    if (was_read(v))
        mesh_install(m, l, o, v->unset);
    else
        mesh_replace(m, l, o->nown, o->own, o->nghost, o->ghost,
                     change_room(v, m, l, o->nown, o->nghost));
}

void level_install(struct mesh *m, const struct comm *c, const struct domain *d, int l,
                   int64_t total, lidx nown, const okey *own, const struct level_change *v)
{
    struct level *lv = &m->lev[l];
    xplan_free(&lv->plan);
    lv->total = total;
    lv->plan.shared = c->size > 1 && total > 0;
    if (!lv->plan.shared) {
        change(m, l, &(struct mesh_octs){nown, 0, own, NULL}, v);
        return;
    }
    int64_t ng;
    struct sends s = sends_find(c, d, l, nown, own);
    okey *ghost = v && !was_read(v) ? ghosts_refined(m, c, d, l - 1, &ng)
                                    : ghosts_announced(c, &s, own, &ng);
    plan_make(&lv->plan, d, l, &s, nown, ng, ghost);
    change(m, l, &(struct mesh_octs){nown, (lidx)ng, own, ghost}, v);
    FREE(ghost);
    FREE(s.oct);
    FREE(s.rank);
}

void level_links(struct mesh *m, int last)
{
    for (int l = 1; l <= last; l++) {
        if (l == m->levelmax)
            memset(m->lev[l].child, 0xff, sizeof m->lev[l].child[0] * (size_t)m->lev[l].noct);
        mesh_link_down(m, l);
    }
}

void level_fill(const struct comm *c, struct mesh *m, int l, struct adapt_dev *dev)
{
    struct level *lv = &m->lev[l];
    int fld[FIELD_ALL], n = mesh_fields(m, ALL, fld);
    ghosts_set(m, l, ALL, true);
    if (dev) {
        adapt_dev_fill(dev, c, m, l, n, fld);
        return;
    }
    void *arr[FIELD_ALL];
    size_t stride[FIELD_ALL];
    for (int i = 0; i < n; i++) {
        arr[i] = lv->fld[fld[i]];
        stride[i] = sizeof(double[8]);
    }
    arr[n] = lv->flag;
    stride[n] = sizeof lv->flag[0];
    ghost_fill_rows(c, COMM_BULK_DP, &lv->plan, n + 1, arr, stride);
}
