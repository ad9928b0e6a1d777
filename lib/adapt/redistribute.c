/* adapt/redistribute: octs move to their owners under a new decomposition. */
#include <stdlib.h>
#include <string.h>

#include "adapt/adapt.h"
#include "adapt/level.h"
#include "base/mem.h"
#include "oct/field_sets.h"

/* Maximum bytes that a rank sends in one exchange. */
static const size_t BATCH = (size_t)1 << 24;

/* The position of an oct in the tree. */
struct location {
    okey key;
    int64_t level;
};

/* Octs that move to other ranks, by level and key; a row has location, flags and fields. */
struct movers {
    int64_t n, first[LEVEL_MAX + 2]; /* octs of level l: first[l]..first[l+1]-1 */
    struct location *location;
    int *rank;
    int nfld, fld[FIELD_ALL];
    size_t row;
    int end; /* first level that is not redistributed */
};

static struct movers movers_find(const struct mesh *m, const struct comm *c, const struct domain *d,
                                 int end)
{
    struct movers v = {.end = end};
    int64_t all = 0;
    for (int l = 1; l < end; l++) all += m->lev[l].nown;
    v.location = mem_new(sizeof *v.location * (size_t)all + 1, "mesh scratch");
    v.rank = mem_new(sizeof *v.rank * (size_t)all + 1, "mesh scratch");
    for (int l = 1; l < end; l++) {
        const struct level *lv = &m->lev[l];
        v.first[l] = v.n;
        for (lidx i = 0; i < lv->nown; i++) {
            int r = domain_rank(d, l, lv->key[i]);
            if (r == c->rank) continue;
            v.location[v.n] = (struct location){lv->key[i], l};
            v.rank[v.n++] = r;
        }
    }
    v.first[end] = v.n;
    v.nfld = mesh_fields(m, ALL, v.fld);
    v.row = sizeof(struct location) + sizeof(unsigned char[8]) + sizeof(double[8]) * (size_t)v.nfld;
    return v;
}

/* Writes item i of the movers to `to`, in the form that is sent. */
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
    memcpy(to, &v->location[i], sizeof v->location[i]);
}

static void pack_row(const struct mesh *m, const struct movers *v, int64_t i, char *to)
{
    const struct level *lv = &m->lev[v->location[i].level];
    lidx at = mesh_find(lv, v->location[i].key);
    pack_place(m, v, i, to);
    to += sizeof(struct location);
    memcpy(to, lv->flag[at], sizeof lv->flag[at]);
    to += sizeof lv->flag[at];
    for (int f = 0; f < v->nfld; f++, to += sizeof(double[8]))
        memcpy(to, lv->fld[v->fld[f]][at], sizeof(double[8]));
}

static void unpack_row(struct mesh *m, const struct movers *v, const char *from)
{
    struct location location;
    memcpy(&location, from, sizeof location);
    struct level *lv = &m->lev[location.level];
    lidx at = mesh_find(lv, location.key);
    BUG_ON(at < 0 || at >= lv->nown);
    from += sizeof location;
    memcpy(lv->flag[at], from, sizeof lv->flag[at]);
    from += sizeof lv->flag[at];
    for (int f = 0; f < v->nfld; f++, from += sizeof(double[8]))
        memcpy(lv->fld[v->fld[f]][at], from, sizeof(double[8]));
}

/* Merges the keys of the retained octs of a level with the received ones (ascending); returns the
 * total. */
static lidx keys_after(const struct level *lv, const struct movers *v, int64_t ncome,
                       const okey *come, okey *own)
{
    int64_t go = v->first[lv->level], end = v->first[lv->level + 1], j = 0;
    lidx n = 0;
    for (lidx i = 0; i < lv->nown; i++) {
        if (go < end && v->location[go].key == lv->key[i]) {
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
    const struct location *x = a, *y = b;
    if (x->level != y->level) return x->level > y->level ? 1 : -1;
    return (x->key > y->key) - (x->key < y->key);
}

/* Inserts the received octs (locations ordered by level and key). Departing octs remain as ghosts
 * until their rows are sent. */
static void movers_room(struct mesh *m, const struct movers *v, int64_t n,
                        const struct location *come)
{
    okey *key = mem_new(sizeof *key * (size_t)n + 1, "mesh scratch"),
         *gone = mem_new(sizeof *gone * (size_t)v->n + 1, "mesh scratch");
    for (int64_t i = 0; i < n; i++) key[i] = come[i].key;
    for (int64_t i = 0; i < v->n; i++) gone[i] = v->location[i].key;
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

/* Sends the locations first, to reserve memory, then every oct with flags and fields, in
 * batches. */
static void movers_go(struct mesh *m, const struct comm *c, const struct movers *v)
{
    int64_t n, per = (int64_t)(BATCH / v->row), turns = (v->n + per - 1) / per;
    comm_max_i64(c, &turns, 1);
    struct location *come = (struct location *)(void *)movers_send(m, c, v, 0, v->n, sizeof *come,
                                                                   pack_place, &n);
    mem_sort(come, (size_t)n, sizeof *come, place_order);
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

void adapt_redistribute(struct mesh *m, const struct comm *c, const struct domain *was,
                        const struct domain *d)
{
    if (c->size == 1) return;
    int end = was ? domain_agreement(was, d) : m->levelmax + 1;
    struct movers v = movers_find(m, c, d, end);
    movers_go(m, c, &v);
    FREE(v.location);
    FREE(v.rank);
    for (int l = 1; l < end; l++) {
        struct level *lv = &m->lev[l];
        okey *own = mem_new(sizeof *own * (size_t)lv->nown + 1, "mesh scratch");
        memcpy(own, lv->key, sizeof *own * (size_t)lv->nown);
        level_install(m, c, d, l, lv->total, lv->nown, own, NULL);
        FREE(own);
    }
    level_links(m, end > m->levelmax ? m->levelmax : end);
    for (int l = 1; l < end; l++) level_fill(c, m, l, NULL);
}
