/* oct/replace: replaces the list of octs of a level, on the host.
 *
 * Octs that stay keep their rows, fields and links. Each array is moved in one pass of all threads,
 * in pieces whose size does not depend on the number of threads. */
#include <omp.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/pages.h"
#include "oct/bits.h"
#include "oct/find_kern.h"
#include "oct/keys.h"
#include "oct/mesh.h"
#include "oct/pieces.h"

enum { PARALLEL_FROM = PIECES_FROM * PIECE /* octs */ };

/* ---- hash ---- */

/* Takes a slot if it is free. */
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

/* Inserts a key. Slots depend on the order of insertion; results of searches do not. */
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
    const bool new = !h->slot || h->mask != was;
    if (new) {
        FREE(h->slot);
        h->slot = mem_filled(sizeof *h->slot * n, 0xff, "mesh hash");
    }
#pragma omp parallel if (lv->noct >= PARALLEL_FROM)
    {
        const bool alone = omp_get_num_threads() == 1;
#pragma omp for schedule(static)
        for (uint64_t s = 0; s < (new ? 0 : n); s++) h->slot[s] = -1;
#pragma omp for schedule(static)
        for (lidx i = 0; i < lv->noct; i++)
            if (okhash_names(lv->key, i)) hash_put(h, lv->key[i], i, alone);
    }
}

/* ---- rows ---- */

/* Index in the old level of each of n > 0 new keys: one pass over both sorted lists. */
static void join_piece(const struct level *old, lidx n, const okey *key, lidx *from)
{
    lidx a = okeys_from(old->key, 0, old->nown, key[0]),
         b = okeys_from(old->key, old->nown, old->noct, key[0]);
    for (lidx i = 0; i < n; i++) {
        while (a < old->nown && old->key[a] < key[i]) a++;
        while (b < old->noct && old->key[b] < key[i]) b++;
        from[i] = a < old->nown && old->key[a] == key[i]   ? a
                  : b < old->noct && old->key[b] == key[i] ? b
                                                           : -1;
    }
}

/* Finds the old indices of all keys, and copies the keys. */
static void join_lists(const struct level *old, lidx n, const okey *key, bool known, okey *copy,
                       lidx *from)
{
#pragma omp parallel for schedule(static) if (n >= PARALLEL_FROM)
    for (lidx p = 0; p < pieces_of(n); p++) {
        lidx begin = p * PIECE, count = piece_end(n, p) - begin;
        memcpy(copy + begin, key + begin, sizeof *key * (size_t)count);
        if (!known) join_piece(old, count, key + begin, from + begin);
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

/* Moves rows of octs begin..end-1, by loops of constant row size. */
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
    if (!old) return mem_filled(row * (size_t)n + 1, fill, name);
    char *to = mem_new(row * (size_t)n + 1, name);
#pragma omp parallel for schedule(static) if (n >= PARALLEL_FROM)
    for (lidx p = 0; p < pieces_of(n); p++)
        rows_move(to, old, row, p * PIECE, piece_end(n, p), from, fill);
    mem_free(old);
    return to;
}

/* skip: fields that are not moved, but get memory; NULL: none. */
static void fields_move(struct mesh *m, struct level *lv, lidx n, const lidx *from,
                        const bool *skip)
{
    for (int f = 0; f < FLD_MAX; f++) {
        const char *name = field_memory(f);
        size_t row = sizeof lv->fld[f][0];
        if (!mesh_has_field(m, f)) continue;
        if (skip && skip[f]) {
            FREE(lv->fld[f]);
            lv->fld[f] = mem_new(row * (size_t)n + 1, name);
        } else
            lv->fld[f] = move_rows(lv->fld[f], row, n, from, 0, name);
    }
}

/* ---- links ---- */

/* Links of a level before and after its replacement. */
struct turnover {
    const lidx *from;
    const okey *old_key; /* keys and links of the old octs */
    const lidx *old_parent;
    const lidx (*old_child)[8];
    struct level *lv, *up, *fine;
    int cells; /* of an oct */
};

/* Marks the cells of removed octs begin..end-1 as leaves. */
static inline void forget(const struct turnover *t, lidx begin, lidx end)
{
    for (lidx i = begin; i < end; i++)
        oct_link_child(t->up->child[t->old_parent[i]], (int)(t->old_key[i] & 7), t->cells, -1);
}

/* Moves the links of an oct that stays from index `old` to i; returns the number of its children.
 */
static inline int keep(const struct turnover *t, lidx i, lidx old)
{
    const lidx *child = t->old_child[old];
    const unsigned split = ~bits_of_leaves(child) & ((1u << t->cells) - 1);
    memcpy(t->lv->child[i], child, sizeof *t->old_child);
    t->lv->parent[i] = t->old_parent[old];
    for (unsigned cells = split; cells; cells &= cells - 1)
        t->fine->parent[child[__builtin_ctz(cells)]] = i;
    return __builtin_popcount(split);
}

/* Updates the links of octs begin..end-1; old: first old oct not yet treated. Both lists are in
 * order: old octs between two that stay were removed. Returns the number of children. */
static int64_t turn_piece(const struct turnover *t, lidx begin, lidx end, lidx old)
{
    struct level *lv = t->lv;
    int64_t n = 0;
    for (lidx i = begin; i < end; i++) {
        const okey k = lv->key[i];
        if (t->from[i] >= 0) {
            forget(t, old, t->from[i]);
            n += keep(t, i, t->from[i]);
            old = t->from[i] + 1;
        } else {
            memset(lv->child[i], 0xff, sizeof lv->child[i]);
            lv->parent[i] = i > begin && lv->key[i - 1] >> 3 == k >> 3 ? lv->parent[i - 1]
                                                                       : level_find(t->up, k >> 3);
        }
        BUG_ON(lv->parent[i] < 0);
        oct_link_child(t->up->child[lv->parent[i]], (int)(k & 7), t->cells, i);
    }
    return n;
}

/* One more than the old index of the last oct in begin..end-1 that stays, or −1. */
static lidx old_after(const lidx *from, lidx begin, lidx end)
{
    while (end > begin && from[end - 1] < 0) end--;
    return end > begin ? from[end - 1] + 1 : -1;
}

/* Updates the links of a list of own octs or ghosts: begin..end-1, formerly old_begin..old_end-1.
 * Returns the number of their children. */
static int64_t turn(const struct turnover *t, lidx begin, lidx end, lidx old_begin, lidx old_end)
{
    const lidx n = end - begin, pieces = pieces_of(n);
    lidx *old = mem_new(sizeof *old * ((size_t)pieces + 1), "mesh scratch");
    int64_t children = 0;
    old[0] = old_begin;
    for (lidx p = 0; p < pieces; p++) {
        lidx after = old_after(t->from, begin + p * PIECE, begin + piece_end(n, p));
        old[p + 1] = after >= 0 ? after : old[p];
    }
#pragma omp parallel for schedule(static) reduction(+ : children) if (pieces >= PIECES_FROM)
    for (lidx p = 0; p < pieces; p++)
        children += turn_piece(t, begin + p * PIECE, begin + piece_end(n, p), old[p]);
    forget(t, old[pieces], old_end);
    mem_free(old);
    return children;
}

static void links_turn(struct mesh *m, int l, const struct level *old, const lidx *from)
{
    struct level *lv = &m->lev[l];
    const struct turnover t = {.from = from,
                               .old_key = old->key,
                               .old_parent = old->parent,
                               .old_child = (const lidx(*)[8])old->child,
                               .lv = lv,
                               .up = lv - 1,
                               .fine = lv + 1,
                               .cells = m->cells};
    int64_t n = turn(&t, 0, lv->nown, 0, old->nown);
    n += turn(&t, lv->nown, lv->noct, old->nown, old->noct);
    BUG_ON(n != lv[1].noct); /* an oct with children was removed */
    lv[-1].links++;
    lv[1].links++;
    mesh_link_neighbours(m, l);
}

static void links_make(struct mesh *m, int l, const struct level *old, const lidx *from)
{
    struct level *lv = &m->lev[l];
    const size_t n = (size_t)lv->noct;
    const size_t child = sizeof *lv->child * n + 1, parent = sizeof *lv->parent * n + 1;
    FREE(lv->nbr);
    lv->child = from ? mem_new(child, "mesh links") : mem_filled(child, 0xff, "mesh links");
    lv->parent = from ? mem_new(parent, "mesh links") : mem_filled(parent, 0xff, "mesh links");
    lv->nbr = mem_new(sizeof *lv->nbr * n + 1, "mesh links");
    mem_touch(lv->nbr);
    lv->links++;
    if (from) links_turn(m, l, old, from);
    mem_free(old->child);
    mem_free(old->parent);
    mem_free(old->key);
}

static void replace(struct mesh *m, int l, const struct mesh_octs *o, const bool *skip,
                    struct mesh_moves *moves)
{
    struct level *lv = &m->lev[l];
    const struct level old = *lv;
    const bool known = moves && moves->from;
    const lidx n = o->nown + o->nghost;
    lidx *from = mem_grow(known ? moves->from : NULL, sizeof *from * (size_t)n + 1, "mesh scratch");
    lv->key = mem_new(sizeof *lv->key * (size_t)n + 1, "mesh links");
    join_lists(&old, o->nown, o->own, known, lv->key, from);
    join_lists(&old, o->nghost, o->ghost, false, lv->key + o->nown, from + o->nown);

    fields_move(m, lv, n, from, skip);
    lv->flag = move_rows(lv->flag, sizeof lv->flag[0], n, from, 0, "mesh links");
    if (m->gravity) lv->dense = move_rows(lv->dense, sizeof lv->dense[0], n, from, 0, "mesh links");
    lv->nown = o->nown;
    lv->noct = lv->cap = n;
    lv->octs++;
    memset(lv->valid, 0, sizeof lv->valid);
    links_make(m, l, &old, moves ? from : NULL);
    hash_build(lv);
    if (moves)
        moves->from = from;
    else
        mem_free(from);
}

void mesh_replace(struct mesh *m, int l, lidx nown, const okey *own, lidx nghost, const okey *ghost,
                  struct mesh_moves *moves)
{
    const struct mesh_octs o = {nown, nghost, own, ghost};
    replace(m, l, &o, moves ? moves->skip : NULL, moves);
}

void mesh_install(struct mesh *m, int l, const struct mesh_octs *o, const bool *unset)
{
    replace(m, l, o, unset, NULL);
}
