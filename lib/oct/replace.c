/* oct/replace: a level whose list of octs changes, on the host.
 *
 * Octs that stay keep their rows, fields and links. Each array is moved in one pass of all threads,
 * in pieces of as many octs for any number of threads. */
#include <omp.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/pages.h"
#include "oct/find_kern.h"
#include "oct/mesh.h"
#include "oct/pieces.h"

enum { PARALLEL_FROM = PIECES_FROM * PIECE /* octs */ };

/* ---- hash ---- */

/* Takes the slot, if it is free. */
static inline bool slot_take(lidx *slot, lidx i, bool alone)
{
    lidx free = -1;
    if (!alone)
        return __atomic_compare_exchange_n(slot, &free, i, false, __ATOMIC_RELAXED,
                                           __ATOMIC_RELAXED);
    if (*slot >= 0) return false;
    *slot = i;
    return true;
}

/* The place of a key depends on who is first; what a search finds does not. */
static inline void hash_put(struct okhash *h, okey key, lidx i, bool alone)
{
    uint64_t s = okhash_slot(h, key);
    while (!slot_take(&h->slot[s], i, alone)) s = okhash_next(h, s);
}

static void hash_build(struct level *lv)
{
    struct okhash *h = &lv->hash;
    const uint64_t was = h->mask;
    okhash_size(h, lv->noct);
    const uint64_t n = h->mask + 1;
    if (!h->slot || h->mask != was) {
        FREE(h->slot);
        h->slot = mem_new(sizeof *h->slot * n, "mesh hash");
    }
#pragma omp parallel if (lv->noct >= PARALLEL_FROM)
    {
        const bool alone = omp_get_num_threads() == 1;
#pragma omp for schedule(static)
        for (uint64_t s = 0; s < n; s++) h->slot[s] = -1;
#pragma omp for schedule(static)
        for (lidx i = 0; i < lv->noct; i++)
            if (okhash_names(lv->key, i)) hash_put(h, lv->key[i], i, alone);
    }
}

/* ---- rows ---- */

/* The first of the ascending keys begin..end-1 that is not less. */
static lidx key_from(const okey *key, lidx begin, lidx end, okey k)
{
    while (begin < end) {
        lidx mid = begin + (end - begin) / 2;
        if (key[mid] < k)
            begin = mid + 1;
        else
            end = mid;
    }
    return begin;
}

/* Index of each of n > 0 new keys in the old level: one pass over each of the sorted lists. */
static void join_piece(const struct level *old, lidx n, const okey *key, lidx *from)
{
    lidx a = key_from(old->key, 0, old->nown, key[0]),
         b = key_from(old->key, old->nown, old->noct, key[0]);
    for (lidx i = 0; i < n; i++) {
        while (a < old->nown && old->key[a] < key[i]) a++;
        while (b < old->noct && old->key[b] < key[i]) b++;
        from[i] = a < old->nown && old->key[a] == key[i]   ? a
                  : b < old->noct && old->key[b] == key[i] ? b
                                                           : -1;
    }
}

/* And a copy of the keys. */
static void join_lists(const struct level *old, lidx n, const okey *key, okey *copy, lidx *from)
{
#pragma omp parallel for schedule(static) if (n >= PARALLEL_FROM)
    for (lidx p = 0; p < pieces_of(n); p++) {
        lidx begin = p * PIECE, count = piece_end(n, p) - begin;
        memcpy(copy + begin, key + begin, sizeof *key * (size_t)count);
        join_piece(old, count, key + begin, from + begin);
    }
}

static inline void rows_copy(char *to, const char *old, const size_t row, lidx begin, lidx end,
                             const lidx *from, int fill)
{
    for (lidx i = begin; i < end; i++)
        if (from[i] >= 0)
            memcpy(to + row * (size_t)i, old + row * (size_t)from[i], row);
        else
            memset(to + row * (size_t)i, fill, row);
}

/* Octs begin..end-1, by loops that know the size of a row. */
static void rows_move(char *to, const char *old, size_t row, lidx begin, lidx end, const lidx *from,
                      int fill)
{
    if (row == sizeof(double[8]))
        rows_copy(to, old, sizeof(double[8]), begin, end, from, fill);
    else if (row == sizeof(lidx[8]))
        rows_copy(to, old, sizeof(lidx[8]), begin, end, from, fill);
    else if (row == sizeof(char[8]))
        rows_copy(to, old, sizeof(char[8]), begin, end, from, fill);
    else
        rows_copy(to, old, row, begin, end, from, fill);
}

static void *move_rows(void *old, size_t row, lidx n, const lidx *from, int fill, const char *name)
{
    char *to = mem_new(row * (size_t)n + 1, name);
#pragma omp parallel for schedule(static) if (n >= PARALLEL_FROM)
    for (lidx p = 0; p < pieces_of(n); p++) {
        lidx begin = p * PIECE, end = piece_end(n, p);
        if (!old) pages_touch(to + row * (size_t)begin, row * (size_t)(end - begin));
        rows_move(to, old, row, begin, end, from, fill);
    }
    mem_free(old);
    return to;
}

static void fields_move(struct mesh *m, struct level *lv, lidx n, const lidx *from,
                        const struct mesh_moves *moves)
{
    for (int f = 0; f < FLD_MAX; f++) {
        const char *name = f < FLD_U ? "mesh gravity" : "mesh gas";
        size_t row = sizeof lv->fld[f][0];
        if (!mesh_has_field(m, f)) continue;
        if (moves && moves->skip[f]) {
            FREE(lv->fld[f]);
            lv->fld[f] = mem_new(row * (size_t)n + 1, name);
        } else
            lv->fld[f] = move_rows(lv->fld[f], row, n, from, 0, name);
    }
}

/* No oct of the level before is the child of a cell. */
static void forget_children(const struct level *lv, struct level *up)
{
#pragma omp parallel for schedule(static) if (lv->noct >= PARALLEL_FROM)
    for (lidx i = 0; i < lv->noct; i++) up->child[lv->parent[i]][oct_slot(lv, i)] = -1;
}

void mesh_replace(struct mesh *m, int l, lidx nown, const okey *own, lidx nghost, const okey *ghost,
                  struct mesh_moves *moves)
{
    struct level *lv = &m->lev[l];
    lidx n = nown + nghost;
    okey *key = mem_new(sizeof *key * (size_t)n + 1, "mesh links");
    lidx *from = mem_new(sizeof *from * (size_t)n + 1, "mesh scratch");
    join_lists(lv, nown, own, key, from);
    join_lists(lv, nghost, ghost, key + nown, from + nown);
    if (moves) forget_children(lv, &m->lev[l - 1]);

    fields_move(m, lv, n, from, moves);
    lv->flag = move_rows(lv->flag, sizeof lv->flag[0], n, from, 0, "mesh links");
    lv->child = move_rows(lv->child, sizeof lv->child[0], n, from, 0xff, "mesh links");
    lv->parent = move_rows(lv->parent, sizeof lv->parent[0], n, from, 0xff, "mesh links");
    if (m->gravity) lv->dense = move_rows(lv->dense, sizeof lv->dense[0], n, from, 0, "mesh links");
    FREE(lv->key);
    FREE(lv->nbr);
    lv->key = key;
    lv->nbr = mem_new(sizeof *lv->nbr * (size_t)n + 1, "mesh links");
    lv->nown = nown;
    lv->noct = lv->cap = n;
    lv->octs++;
    lv->links++;
    memset(lv->valid, 0, sizeof lv->valid);
    hash_build(lv);
    if (moves)
        moves->from = from;
    else
        mem_free(from);
}

/* ---- links ---- */

/* Of the octs of level l to their parents, which those created have not got yet, and of their
 * children to them; returns the number of these. */
static int64_t relink(struct mesh *m, int l)
{
    struct level *lv = &m->lev[l], *up = &m->lev[l - 1], *fine = &m->lev[l + 1];
    int64_t n = 0;
#pragma omp parallel for schedule(static) reduction(+ : n) if (lv->noct >= PARALLEL_FROM)
    for (lidx i = 0; i < lv->noct; i++) {
        if (lv->parent[i] < 0) lv->parent[i] = level_find(up, lv->key[i] >> 3);
        BUG_ON(lv->parent[i] < 0);
        up->child[lv->parent[i]][oct_slot(lv, i)] = i;
        for (int k = 0; k < 8; k++) {
            if (lv->child[i][k] < 0) continue;
            fine->parent[lv->child[i][k]] = i;
            n++;
        }
    }
    return n;
}

void mesh_relink(struct mesh *m, int l)
{
    m->lev[l - 1].links++;
    m->lev[l].links++;
    m->lev[l + 1].links++;
    BUG_ON(relink(m, l) != m->lev[l + 1].noct); /* a removed oct had a child */
    mesh_link_neighbours(m, l);
}
