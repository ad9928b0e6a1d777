/* adapt/created: see created.h. Two passes over the pieces of a level: one counts, one writes. */
#include "adapt/created.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "oct/bits.h"
#include "oct/pieces.h"

MEM_ORDER(keyref_order, struct keyref, key)

struct keyref *keyrefs_sort(const okey *key, int64_t n)
{
    struct keyref *r = mem_new(sizeof *r * (size_t)n + 1, "mesh scratch");
    bool sorted = true;
    for (int64_t i = 0; i < n; i++) {
        r[i] = (struct keyref){key[i], (lidx)i, -1};
        if (i && key[i] < key[i - 1]) sorted = false;
    }
    if (!sorted) mem_sort(r, (size_t)n, sizeof *r, keyref_order);
    return r;
}

/* Counts the cells of a piece whose octs are created and, unless location is NULL, lists them. */
static int64_t piece_created(const struct level *lv, lidx piece, struct created_cell *location)
{
    const lidx end = piece_end(lv->nown, piece);
    int64_t n = 0;
    for (lidx i = piece * PIECE; i < end; i++) {
        unsigned cells = cells_created(lv, i);
        if (!location) n += __builtin_popcount(cells);
        for (; location && cells; cells &= cells - 1)
            location[n++] = (struct created_cell){i, __builtin_ctz(cells), 0};
    }
    return n;
}

int64_t created_count(const struct level *lv)
{
    const lidx pieces = pieces_of(lv->nown);
    int64_t n = 0;
#pragma omp parallel for schedule(static) reduction(+ : n) if (pieces >= PIECES_FROM)
    for (lidx p = 0; p < pieces; p++) n += piece_created(lv, p, NULL);
    return n;
}

void created_find(const struct level *lv, int64_t n, struct created_cell *location)
{
    const lidx pieces = pieces_of(lv->nown);
    if (n == 0) return;
    int64_t *first = mem_new(sizeof *first * (size_t)pieces + 1, "mesh scratch");
#pragma omp parallel for schedule(static) if (pieces >= PIECES_FROM)
    for (lidx p = 0; p < pieces; p++) first[p] = piece_created(lv, p, NULL);
    BUG_ON(pieces_sum(pieces, first) != n); /* fails if the flags changed since the count */
#pragma omp parallel for schedule(static) if (pieces >= PIECES_FROM)
    for (lidx p = 0; p < pieces; p++) piece_created(lv, p, location + first[p]);
    mem_free(first);
}

/* ---- octs that stay ---- */

static bool stays(const struct level *lv, const struct level *up, lidx i)
{
    return up->flag[lv->parent[i]][oct_slot(lv, i)] != 0;
}

static int64_t piece_kept(const struct level *lv, const struct level *up, lidx piece)
{
    const lidx end = piece_end(lv->nown, piece);
    int64_t n = 0;
    for (lidx i = piece * PIECE; i < end; i++) n += stays(lv, up, i);
    return n;
}

int64_t created_removed(const struct level *lv, const struct level *up)
{
    const lidx pieces = pieces_of(lv->nown);
    int64_t n = 0;
#pragma omp parallel for schedule(static) reduction(+ : n) if (pieces >= PIECES_FROM)
    for (lidx p = 0; p < pieces; p++) n += piece_kept(lv, up, p);
    return lv->nown - n;
}

/* The index of the first created oct that belongs to this piece or a later one. */
static int64_t ref_from(const struct level *lv, lidx piece, int64_t n, const struct keyref *ref)
{
    int64_t begin = 0, end = n;
    if (piece == 0) return 0;
    if (piece == pieces_of(lv->nown)) return n;
    while (begin < end) {
        int64_t mid = (begin + end) / 2;
        if (ref[mid].key < lv->key[piece * PIECE])
            begin = mid + 1;
        else
            end = mid;
    }
    return begin;
}

/* The merged list under construction; `next` is the index of the next oct. */
struct merged {
    okey *own;
    lidx *from, next;
};

static inline void take(struct merged *t, okey key, lidx from)
{
    t->own[t->next] = key;
    t->from[t->next++] = from;
}

static inline void take_created(struct merged *t, struct keyref *ref)
{
    ref->oct = t->next;
    take(t, ref->key, -1);
}

/* Merges the created octs from `ref` to `end` with the retained octs of a piece. */
static void piece_merge(const struct level *lv, const struct level *up, lidx piece,
                        struct keyref *ref, const struct keyref *end, struct merged t)
{
    const lidx last = piece_end(lv->nown, piece);
    for (lidx i = piece * PIECE; i < last; i++) {
        if (!stays(lv, up, i)) continue;
        while (ref < end && ref->key < lv->key[i]) take_created(&t, ref++);
        take(&t, lv->key[i], i);
    }
    while (ref < end) take_created(&t, ref++);
}

lidx created_merge(const struct level *lv, const struct level *up, int64_t n, struct keyref *ref,
                   okey *own, lidx *from)
{
    const lidx pieces = pieces_of(lv->nown);
    int64_t *first = mem_new(sizeof *first * (size_t)pieces + 1, "mesh scratch");
#pragma omp parallel for schedule(static) if (pieces >= PIECES_FROM)
    for (lidx p = 0; p < pieces; p++) first[p] = piece_kept(lv, up, p);
    const int64_t retained = pieces_sum(pieces, first);
    struct merged all = {own, from, 0};
    if (pieces == 0) /* every oct is created */
        for (int64_t j = 0; j < n; j++) take_created(&all, &ref[j]);
#pragma omp parallel for schedule(static) if (pieces >= PIECES_FROM)
    for (lidx p = 0; p < pieces; p++) {
        int64_t begin = ref_from(lv, p, n, ref), end = ref_from(lv, p + 1, n, ref);
        struct merged t = {own, from, (lidx)(first[p] + begin)};
        piece_merge(lv, up, p, ref + begin, ref + end, t);
    }
    mem_free(first);
    return (lidx)(retained + n);
}
