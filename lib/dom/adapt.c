/* dom/adapt: changes of the mesh across ranks.
 *
 * An oct's owner is the owner of its centre; who needs it as a ghost is a pure function of its
 * position (domain_near). So a level is rebuilt from its own octs alone: each owner informs the
 * ranks that need an oct (ghosts_announced); no rank sends requests. After refinement nobody need
 * be informed: the parents of all ghosts are here, and their flags say which octs there are
 * (ghosts_refined). Octs made by refinement are computed by the owner of the parent cell and sent,
 * with their values, to the owner of the new oct. */
#include "dom/adapt.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "dom/adapt_dev.h"
#include "dom/created.h"
#include "dom/ghost.h"
#include "oct/bits.h"
#include "oct/fields.h"
#include "oct/keys.h"

/* ---- ghosts and plans ---- */

/* Which own octs other ranks have as ghosts: a rank and an own oct each, by ascending oct, and
 * rank. Octs are looked at from the coarsest down: if no other rank is near an oct, none is near
 * those within it. So the work is that of the surface of a domain. */
struct sends {
    int64_t n, cap;
    int *rank;
    lidx *oct;
};

struct search {
    const struct domain *d;
    int me, level;
    const okey *own;
    int *near; /* room for ranks */
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

/* Own octs begin..end-1, which are all that lie in oct (level, key). */
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

/* Peers are the ranks with which either count is not zero. */
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

/* The plan of a level from its copies, and its ghosts, ascending. Those of a rank are in the same
 * order on both sides. */
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

/* The ghosts of a level as their owners announce them, ascending (owner: caller), and their number.
 */
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

/* Most octs have none. */
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
    int *near; /* room for ranks */
};

static void ghosts_add(struct ghosts *g, okey key)
{
    if (g->n == g->cap) {
        g->cap = 2 * g->cap + 256;
        g->key = mem_grow(g->key, sizeof *g->key * (size_t)g->cap, "mesh scratch");
    }
    g->key[g->n++] = key;
}

/* Those that will be children of oct i of level l. */
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

/* The ghosts of level l+1 that the flags of level l leave and make, ascending (owner: caller), and
 * their number. Local: the parent of every ghost is here, with valid flags. Own octs that no other
 * rank is near have own children. */
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
    *nghost = 0; /* an oct that several ranks are near has been looked at for each */
    for (int64_t i = 0; i < g.n; i++)
        if (i == 0 || g.key[i] != g.key[i - 1]) g.key[(*nghost)++] = g.key[i];
    mem_free(g.near);
    return g.key;
}

/* New octs, and where values of those that are created come from. */
struct created;
static struct mesh_moves *created_room(const struct created *b, struct mesh *m, int l, lidx nown,
                                       lidx nghost);

/* Level l := these own octs, `total` on all ranks, and the ghosts that refinement makes, or those
 * that other ranks announce (b NULL). Links are left to the caller. */
static void level_install(struct mesh *m, const struct comm *c, const struct domain *d, int l,
                          int64_t total, lidx nown, const okey *own, const struct created *b)
{
    struct level *lv = &m->lev[l];
    xplan_free(&lv->plan);
    lv->total = total;
    lv->plan.shared = c->size > 1 && total > 0;
    if (!lv->plan.shared) {
        mesh_replace(m, l, nown, own, 0, NULL, created_room(b, m, l, nown, 0));
        return;
    }
    int64_t ng;
    struct sends s = sends_find(c, d, l, nown, own);
    okey *ghost = b ? ghosts_refined(m, c, d, l - 1, &ng) : ghosts_announced(c, &s, own, &ng);
    plan_make(&lv->plan, d, l, &s, nown, ng, ghost);
    mesh_replace(m, l, nown, own, (lidx)ng, ghost, created_room(b, m, l, nown, (lidx)ng));
    FREE(ghost);
    FREE(s.oct);
    FREE(s.rank);
}

static int field_list(const struct mesh *m, int *fld)
{
    int n = 0;
    for (int f = 0; f < FLD_MAX; f++)
        if (mesh_has_field(m, f)) fld[n++] = f;
    return n;
}

static void fill_all(const struct comm *c, struct mesh *m, int l, struct adapt_dev *dev)
{
    struct level *lv = &m->lev[l];
    int fld[FLD_MAX], n = field_list(m, fld);
    ghosts_set(m, l, SET_GHOSTED, true);
    if (dev) {
        adapt_dev_fill(dev, c, m, l, n, fld);
        return;
    }
    void *arr[FLD_MAX + 1];
    size_t stride[FLD_MAX + 1];
    for (int i = 0; i < n; i++) {
        arr[i] = lv->fld[fld[i]];
        stride[i] = sizeof(double[8]);
    }
    arr[n] = lv->flag;
    stride[n] = sizeof lv->flag[0];
    ghost_fill_rows(c, COMM_BULK_DP, &lv->plan, n + 1, arr, stride);
}

/* ---- first build ---- */

/* Keys of one rank on one level, ascending. */
struct keys {
    const struct domain *dom;
    int rank, level;
    int64_t n, cap;
    okey *key;
};

static void keys_add(struct keys *k, okey first, int64_t count)
{
    if (k->n + count > k->cap) {
        k->cap = k->cap + k->cap / 2 + count + 1024;
        k->key = mem_grow(k->key, sizeof *k->key * (size_t)k->cap, "mesh scratch");
    }
    for (int64_t i = 0; i < count; i++) k->key[k->n++] = first + (okey)i;
}

/* Those within oct (level, key): octs of other ranks alone are not looked into. */
static void keys_find(struct keys *k, int level, okey key)
{
    int depth = 3 * (k->level - level), owner = domain_whole(k->dom, level, key);
    if (owner < 0 && depth == 0) owner = domain_rank(k->dom, level, key);
    if (owner == k->rank) keys_add(k, key << depth, (int64_t)1 << depth);
    if (owner >= 0) return;
    for (okey c = 0; c < 8; c++) keys_find(k, level + 1, key << 3 | c);
}

void adapt_build(struct mesh *m, const struct comm *c, const struct domain *d)
{
    for (int l = 1; l <= m->levelmin; l++) {
        struct keys k = {.dom = d, .rank = c->rank, .level = l};
        keys_find(&k, 1, 0);
        level_install(m, c, d, l, (int64_t)1 << 3 * (l - 1), (lidx)k.n, k.key, NULL);
        FREE(k.key);
        mesh_link(m, l);
        if (l < m->levelmin)
            memset(m->lev[l].flag, 1, sizeof m->lev[l].flag[0] * (size_t)m->lev[l].noct);
    }
    for (int l = m->levelmin + 1; l <= m->levelmax; l++)
        level_install(m, c, d, l, 0, 0, (okey[1]){0}, NULL);
    /* zero everywhere, and flags alike */
    for (int l = 1; l <= m->levelmax; l++) ghosts_set(m, l, SET_GHOSTED, true);
}

/* ---- refinement ---- */

/* New octs, by key; those of other ranks are sent as records of a key and nfld*8 doubles. */
struct created {
    const struct adapt_values *values;
    struct mesh_moves *moves; /* those of values->dev, if there is one */
    int nfld, fld[FLD_MAX];
    int64_t n, nnew;             /* made by this rank; own ones after the change */
    struct created_place *place; /* [n] */
    size_t row;                  /* bytes */
    struct comm_counts to;       /* records for each rank */
    char *data;
};

static bool here(const struct created *b, int f)
{
    return adapt_dev_here(b->values->dev, b->fld[f]);
}

/* Values of the new oct, of fields in the order of b->fld: from levels l and coarser alone. Fields
 * that are on a device stay. */
static void created_values(const struct created *b, const struct mesh *m, int l,
                           const struct created_place *p, double (*out)[8])
{
    const struct adapt_values *v = b->values;
    if (v->f && !v->dev) {
        v->f(m, l, p->parent, p->cell, out, v->ctx);
        return;
    }
    if (v->f && here(b, b->nfld - 1)) { /* the last one is of the gas */
        double all[FLD_MAX][8];
        v->f(m, l, p->parent, p->cell, all, v->ctx);
        for (int f = 0; f < b->nfld; f++)
            if (here(b, f)) memcpy(out[f], all[f], sizeof all[f]);
        return;
    }
    for (int f = 0; f < b->nfld; f++)
        for (int k = 0; k < 8 && here(b, f); k++)
            out[f][k] = m->lev[l].fld[b->fld[f]][p->parent][p->cell];
}

static okey created_key(const struct level *lv, const struct created_place *p)
{
    return lv->key[p->parent] << 3 | (okey)p->cell;
}

static void places_find(struct created *b, const struct level *lv, const struct comm *c,
                        const struct domain *d)
{
    b->place = mem_new(sizeof *b->place * (size_t)b->n + 1, "mesh created");
    created_find(lv, b->n, b->place);
    for (int64_t j = 0; j < b->n && c->size > 1; j++)
        b->place[j].rank = domain_rank(d, lv->level + 1, created_key(lv, &b->place[j]));
}

/* Values that a device has of n records, whose keys and other values are there. */
static void created_fetch(struct created *b, struct mesh *m, int l, int64_t n, const int64_t *order)
{
    struct adapt_dev *dev = b->values->dev;
    if (!dev || dev->f.n == 0 || n == 0) return;
    int32_t *place = mem_new(sizeof *place * (size_t)n, "mesh created");
    double(*rows)[8] = mem_new(sizeof *rows * (size_t)n * (size_t)dev->f.n, "mesh created");
    for (int64_t j = 0; j < n; j++)
        place[j] = 8 * b->place[order[j]].parent + b->place[order[j]].cell;
    adapt_dev_rows(dev, m, l, (int32_t)n, place, rows);
    for (int64_t j = 0; j < n; j++)
        for (int f = 0, k = 0; f < b->nfld && k < dev->f.n; f++) {
            if (b->fld[f] != dev->f.fld[k]) continue;
            memcpy(b->data + b->row * (size_t)j + 64 + sizeof *rows * (size_t)f,
                   rows[j * dev->f.n + k], sizeof *rows);
            k++;
        }
    mem_free(rows);
    mem_free(place);
}

/* Records of the octs created on other ranks, in rank order. */
static void created_pack(struct created *b, struct mesh *m, const struct comm *c, int l)
{
    int *rank = mem_new(sizeof *rank * (size_t)b->n + 1, "mesh scratch");
    int64_t *order = mem_new(sizeof *order * (size_t)b->n + 1, "mesh scratch");
    for (int64_t j = 0; j < b->n; j++)
        rank[j] = b->place[j].rank == c->rank ? -1 : b->place[j].rank;
    b->to = comm_counts_of(b->n, rank, order);
    int64_t n = comm_counts_total(&b->to);
    b->data = mem_new(b->row * (size_t)n + 1, "mesh created");
    created_fetch(b, m, l, n, order); /* or the host has all values then */
    for (int64_t j = 0; j < n; j++) {
        const struct created_place *p = &b->place[order[j]];
        char *row = b->data + b->row * (size_t)j;
        okey k = created_key(&m->lev[l], p);
        memcpy(row, &k, sizeof k);
        created_values(b, m, l, p, (void *)(row + 64));
    }
    FREE(order);
    FREE(rank);
}

/* Keys of the created octs of this rank: computed here (ascending), and received. */
static struct keyref *created_sort(const struct created *b, const struct level *lv, int rank,
                                   int64_t ncome, const char *come, int64_t *n)
{
    okey *key = mem_new(sizeof *key * (size_t)(b->n + ncome) + 1, "mesh scratch");
    *n = 0;
    for (int64_t j = 0; j < b->n; j++)
        if (b->place[j].rank == rank) key[(*n)++] = created_key(lv, &b->place[j]);
    for (int64_t j = 0; j < ncome; j++)
        memcpy(&key[(*n)++], come + b->row * (size_t)j, sizeof *key);
    struct keyref *ref = keyrefs_sort(key, *n);
    FREE(key);
    return ref;
}

/* Kept and created octs, merged in Morton order, become the own octs of level l. */
static void created_install(struct mesh *m, const struct comm *c, const struct domain *d, int l,
                            int64_t total, const struct created *b, struct keyref *ref)
{
    const struct level *lv = &m->lev[l];
    const size_t most = (size_t)(lv->nown + b->nnew);
    okey *own = mem_new(sizeof *own * most + 1, "mesh scratch");
    b->moves->from = mem_new(sizeof *b->moves->from * most + 1, "mesh scratch");
    lidx n = created_merge(lv, lv - 1, b->nnew, ref, own, b->moves->from);
    level_install(m, c, d, l, total, n, own, b);
    FREE(own);
}

static struct mesh_moves *created_room(const struct created *b, struct mesh *m, int l, lidx nown,
                                       lidx nghost)
{
    struct adapt_dev *dev = b ? b->values->dev : NULL;
    if (dev) adapt_dev_room(dev, m, l, nown + nghost, (lidx)b->nnew + nghost, (lidx)b->nnew);
    return b ? b->moves : NULL;
}

/* Places of those that this rank has made and has, by index in created_sort; their number. */
static int64_t created_here(const struct created *b, int rank)
{
    int64_t n = 0;
    for (int64_t j = 0; j < b->n; j++)
        if (b->place[j].rank == rank) b->place[n++] = b->place[j];
    return n;
}

/* Values of the created octs of level l: those of this rank are computed in place, so that no copy
 * of them is ever held. */
static void created_fill(const struct created *b, struct mesh *m, int l, int64_t nhere,
                         const struct keyref *ref, const char *come)
{
    struct level *lv = &m->lev[l];
#pragma omp parallel for schedule(static)
    for (int64_t j = 0; j < b->nnew; j++) {
        double got[FLD_MAX][8];
        const lidx at = ref[j].oct;
        if (ref[j].at < nhere)
            created_values(b, m, l - 1, &b->place[ref[j].at], got);
        else
            memcpy(got, come + b->row * (size_t)(ref[j].at - nhere) + 64,
                   sizeof got[0] * (size_t)b->nfld);
        for (int f = 0; f < b->nfld; f++)
            if (here(b, f)) memcpy(lv->fld[b->fld[f]][at], got[f], sizeof got[f]);
    }
}

/* ---- on a device ---- */

/* What a device is told: which octs are new, in order those whose values are made there, those that
 * came with values, and ghosts. */
struct told {
    struct remap_change c;
    lidx *source;
    int32_t *place;
    double (*come)[8];
};

/* Oct i is new, with this number. */
static void tell(struct told *t, const struct level *lv, lidx i, lidx number)
{
    t->place[number] = 8 * lv->parent[i] + oct_slot(lv, i);
    t->source[i] = -1 - number;
}

static void tell_values(const struct told *t, const struct created *b, int64_t number,
                        const char *row)
{
    const struct remap_fields *want = &b->values->dev->f;
    double(*to)[8] = t->come + (size_t)number * (size_t)want->n;
    for (int f = 0, k = 0; f < b->nfld && k < want->n; f++)
        if (b->fld[f] == want->fld[k])
            memcpy(to[k++], row + 64 + sizeof *to * (size_t)f, sizeof *to);
}

/* The change of level l, after its links are made here. */
static void created_tell(const struct created *b, struct mesh *m, int l, int64_t nhere,
                         const struct keyref *ref, const char *come)
{
    struct adapt_dev *dev = b->values->dev;
    struct level *lv = &m->lev[l];
    if (!dev || !dev->remap.x) return;
    size_t n = (size_t)(b->nnew + lv->noct - lv->nown);
    struct told t = {
        .source = dev->moves.from,
        .place = mem_new(sizeof *t.place * n + 1, "mesh created"),
        .come = mem_new(sizeof *t.come * (size_t)(b->nnew - nhere) * (size_t)dev->f.n + 1,
                        "mesh created")};
    t.c.here = (lidx)nhere;
    t.c.rows = t.c.created = (lidx)b->nnew;
#pragma omp parallel for schedule(static)
    for (int64_t j = 0; j < b->nnew; j++) {
        int64_t k = ref[j].at - nhere;
        tell(&t, lv, ref[j].oct, ref[j].at);
        if (k >= 0) tell_values(&t, b, k, come + b->row * (size_t)k);
    }
    for (lidx i = lv->nown; i < lv->noct; i++)
        if (t.source[i] < 0) tell(&t, lv, i, t.c.created++);
    t.c.source = t.source;
    t.c.place = t.place;
    t.c.come = (const double(*)[8])t.come;
    adapt_dev_end(dev, m, l, &t.c);
    mem_free(t.come);
    mem_free(t.place);
}

struct adapt_changes adapt_count(const struct mesh *m, int l)
{
    const struct level *lv = &m->lev[l];
    return (struct adapt_changes){created_count(lv), created_removed(lv + 1, lv)};
}

int64_t adapt_refine(struct mesh *m, const struct comm *c, const struct domain *d, int l,
                     adapt_prolong *f, void *ctx)
{
    ghost_fill_flags(c, m, l);
    struct adapt_changes here = adapt_count(m, l), all = here;
    comm_add_i64(c, &all.created, 2);
    adapt_change(m, c, d, l, here, all, &(struct adapt_values){.f = f, .ctx = ctx});
    return all.created + all.removed;
}

void adapt_change(struct mesh *m, const struct comm *c, const struct domain *d, int l,
                  struct adapt_changes here, struct adapt_changes all, const struct adapt_values *v)
{
    struct level *lv = &m->lev[l];
    struct mesh_moves moves = {.from = NULL};
    struct created b = {.values = v, .moves = v->dev ? &v->dev->moves : &moves, .n = here.created};
    if (all.created + all.removed == 0) return;

    int64_t ncome = 0;
    char *come = NULL;
    b.nfld = field_list(m, b.fld);
    b.row = 64 + sizeof(double[8]) * (size_t)b.nfld;
    if (v->dev) adapt_dev_begin(v->dev, m, l + 1, c->size == 1);
    places_find(&b, lv, c, d);
    if (c->size > 1) {
        created_pack(&b, m, c, l);
        come = comm_exchange(c, b.data, &b.to, b.row, &ncome, NULL);
        comm_counts_free(&b.to);
        FREE(b.data);
    }
    struct keyref *ref = created_sort(&b, lv, c->rank, ncome, come, &b.nnew);
    created_install(m, c, d, l + 1, m->lev[l + 1].total + all.created - all.removed, &b, ref);
    int64_t nhere = created_here(&b, c->rank);
    created_fill(&b, m, l + 1, nhere, ref, come);
    created_tell(&b, m, l + 1, nhere, ref, come);
    FREE(b.moves->from);
    FREE(ref);
    FREE(come);
    FREE(b.place);
    fill_all(c, m, l + 1, v->dev);
}

/* ---- redistribution ---- */

/* Bytes that a rank sends in one exchange. */
static const size_t BATCH = (size_t)1 << 24;

/* Where an oct stands: its key tells, in the arrays of its level. */
struct place {
    okey key;
    int64_t level;
};

/* Octs that go to other ranks, by level and key, and then travel as rows: place, flags, fields. */
struct movers {
    int64_t n, first[LEVEL_MAX + 2]; /* those of level l: first[l]..first[l+1]-1 */
    struct place *place;
    int *rank;
    int nfld, fld[FLD_MAX];
    size_t row;
    int end; /* the first level that stays as it is */
};

static struct movers movers_find(const struct mesh *m, const struct comm *c, const struct domain *d,
                                 int end)
{
    struct movers v = {.end = end};
    int64_t all = 0;
    for (int l = 1; l < end; l++) all += m->lev[l].nown;
    v.place = mem_new(sizeof *v.place * (size_t)all + 1, "mesh scratch");
    v.rank = mem_new(sizeof *v.rank * (size_t)all + 1, "mesh scratch");
    for (int l = 1; l < end; l++) {
        const struct level *lv = &m->lev[l];
        v.first[l] = v.n;
        for (lidx i = 0; i < lv->nown; i++) {
            int r = domain_rank(d, l, lv->key[i]);
            if (r == c->rank) continue;
            v.place[v.n] = (struct place){lv->key[i], l};
            v.rank[v.n++] = r;
        }
    }
    v.first[end] = v.n;
    v.nfld = field_list(m, v.fld);
    v.row = sizeof(struct place) + sizeof(unsigned char[8]) + sizeof(double[8]) * (size_t)v.nfld;
    return v;
}

/* Items of movers begin..end-1, made by `pack`, at their new owners; *n of them. */
typedef void mover_pack(const struct mesh *m, const struct movers *v, int64_t i, char *to);

static char *movers_send(const struct mesh *m, const struct comm *c, const struct movers *v,
                         int64_t begin, int64_t end, size_t bytes, mover_pack *pack, int64_t *n)
{
    size_t count = (size_t)(end - begin);
    int64_t *order = mem_new(sizeof *order * count + 1, "mesh scratch");
    struct comm_counts to = comm_counts_of(end - begin, v->rank + begin, order);
    char *out = mem_new(bytes * count + 1, "moving octs");
#pragma omp parallel for schedule(static)
    for (int64_t j = 0; j < end - begin; j++) pack(m, v, begin + order[j], out + bytes * (size_t)j);
    char *in = comm_exchange(c, out, &to, bytes, n, NULL);
    mem_free(out);
    mem_free(order);
    comm_counts_free(&to);
    return in;
}

static void pack_place(const struct mesh *m, const struct movers *v, int64_t i, char *to)
{
    memcpy(to, &v->place[i], sizeof v->place[i]);
}

static void pack_row(const struct mesh *m, const struct movers *v, int64_t i, char *to)
{
    const struct level *lv = &m->lev[v->place[i].level];
    lidx at = mesh_find(lv, v->place[i].key);
    pack_place(m, v, i, to);
    to += sizeof(struct place);
    memcpy(to, lv->flag[at], sizeof lv->flag[at]);
    to += sizeof lv->flag[at];
    for (int f = 0; f < v->nfld; f++, to += sizeof(double[8]))
        memcpy(to, lv->fld[v->fld[f]][at], sizeof(double[8]));
}

static void unpack_row(struct mesh *m, const struct movers *v, const char *from)
{
    struct place place;
    memcpy(&place, from, sizeof place);
    struct level *lv = &m->lev[place.level];
    lidx at = mesh_find(lv, place.key);
    BUG_ON(at < 0 || at >= lv->nown);
    from += sizeof place;
    memcpy(lv->flag[at], from, sizeof lv->flag[at]);
    from += sizeof lv->flag[at];
    for (int f = 0; f < v->nfld; f++, from += sizeof(double[8]))
        memcpy(lv->fld[v->fld[f]][at], from, sizeof(double[8]));
}

/* The keys of the octs of a level that stay, merged with those that come (ascending); returns their
 * number. */
static lidx keys_after(const struct level *lv, const struct movers *v, int64_t ncome,
                       const okey *come, okey *own)
{
    int64_t go = v->first[lv->level], end = v->first[lv->level + 1], j = 0;
    lidx n = 0;
    for (lidx i = 0; i < lv->nown; i++) {
        if (go < end && v->place[go].key == lv->key[i]) {
            go++;
            continue;
        }
        while (j < ncome && come[j] < lv->key[i]) own[n++] = come[j++];
        own[n++] = lv->key[i];
    }
    while (j < ncome) own[n++] = come[j++];
    return n;
}

static int place_order(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->level != y->level) return x->level > y->level ? 1 : -1;
    return (x->key > y->key) - (x->key < y->key);
}

/* Makes room for the octs that come (places in order of level and key). Those that go stand as
 * ghosts until their rows are sent. */
static void movers_room(struct mesh *m, const struct movers *v, int64_t n, const struct place *come)
{
    okey *key = mem_new(sizeof *key * (size_t)n + 1, "mesh scratch"),
         *gone = mem_new(sizeof *gone * (size_t)v->n + 1, "mesh scratch");
    for (int64_t i = 0; i < n; i++) key[i] = come[i].key;
    for (int64_t i = 0; i < v->n; i++) gone[i] = v->place[i].key;
    for (int l = 1, begin = 0, end = 0; l < v->end; l++, begin = end) {
        int64_t go = v->first[l + 1] - v->first[l];
        while (end < n && come[end].level == l) end++;
        okey *own = mem_new(sizeof *own * (size_t)(m->lev[l].nown + end - begin) + 1,
                            "mesh scratch");
        lidx nown = keys_after(&m->lev[l], v, end - begin, key + begin, own);
        mesh_replace(m, l, nown, own, (lidx)go, gone + v->first[l], NULL);
        mem_free(own);
    }
    mem_free(gone);
    mem_free(key);
}

/* First the places, so that there is room; then every oct once, whole, in batches. */
static void movers_go(struct mesh *m, const struct comm *c, const struct movers *v)
{
    int64_t n, per = (int64_t)(BATCH / v->row), turns = (v->n + per - 1) / per;
    comm_max_i64(c, &turns, 1);
    struct place *come = (struct place *)(void *)movers_send(m, c, v, 0, v->n, sizeof *come,
                                                             pack_place, &n);
    if (n > 1) qsort(come, (size_t)n, sizeof *come, place_order);
    movers_room(m, v, n, come);
    mem_free(come);
    for (int64_t k = 0; k < turns; k++) {
        int64_t begin = k * per < v->n ? k * per : v->n,
                end = begin + per < v->n ? begin + per : v->n;
        char *in = movers_send(m, c, v, begin, end, v->row, pack_row, &n);
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < n; i++) unpack_row(m, v, in + v->row * (size_t)i);
        mem_free(in);
    }
}

/* Links of levels 1..last, with the parents of the last. */
static void link_levels(struct mesh *m, int last)
{
    for (int l = 1; l <= last; l++) {
        if (l == m->levelmax)
            memset(m->lev[l].child, 0xff, sizeof m->lev[l].child[0] * (size_t)m->lev[l].noct);
        mesh_link_down(m, l);
    }
}

void adapt_redistribute(struct mesh *m, const struct comm *c, const struct domain *was,
                        const struct domain *d)
{
    if (c->size == 1) return;
    int end = was ? domain_alike(was, d) : m->levelmax + 1;
    struct movers v = movers_find(m, c, d, end);
    movers_go(m, c, &v);
    FREE(v.place);
    FREE(v.rank);
    for (int l = 1; l < end; l++) {
        struct level *lv = &m->lev[l];
        okey *own = mem_new(sizeof *own * (size_t)lv->nown + 1, "mesh scratch");
        memcpy(own, lv->key, sizeof *own * (size_t)lv->nown);
        level_install(m, c, d, l, lv->total, lv->nown, own, NULL);
        FREE(own);
    }
    link_levels(m, end > m->levelmax ? m->levelmax : end);
    for (int l = 1; l < end; l++) fill_all(c, m, l, NULL);
}

/* ---- a mesh that is read ---- */

void adapt_install(struct mesh *m, const struct comm *c, const struct domain *d, int l, lidx nown,
                   const okey *own)
{
    int64_t total = nown;
    comm_add_i64(c, &total, 1);
    level_install(m, c, d, l, total, nown, own, NULL);
}

void adapt_link(struct mesh *m)
{
    link_levels(m, m->levelmax);
}

void adapt_fill(struct mesh *m, const struct comm *c)
{
    for (int l = 1; l <= m->levelmax; l++) fill_all(c, m, l, NULL);
}
