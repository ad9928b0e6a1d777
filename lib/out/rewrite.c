#include "out/rewrite.h"

#include <string.h>

#include "base/mem.h"

/* Sorts items in place by radix exchange, bit by bit from the top. Few items are sorted by
 * insertion. */
static void sort_items(struct oct_item *x, int64_t n, int bit)
{
    enum { FEW = 16 };
    if (n > FEW && bit >= 0) {
        int64_t i = 0, j = n;
        while (i < j) {
            if (!(x[i].key >> bit & 1)) {
                i++;
                continue;
            }
            struct oct_item swap = x[--j];
            x[j] = x[i], x[i] = swap;
        }
        sort_items(x, i, bit - 1);
        sort_items(x + i, n - i, bit - 1);
        return;
    }
    for (int64_t i = 1; i < n; i++) {
        struct oct_item y = x[i];
        int64_t j = i;
        for (; j > 0 && y.key < x[j - 1].key; j--) x[j] = x[j - 1];
        x[j] = y;
    }
}

static bool is_sorted(const struct oct_item *x, int64_t n)
{
    bool sorted = true;
    for (int64_t i = 1; i < n; i++) sorted &= x[i - 1].key < x[i].key;
    return sorted;
}

static enum err in_order(const struct rewrite *w, int level, struct oct_item *x, int64_t n)
{
    if (!is_sorted(x, n)) sort_items(x, n, 3 * (level - 1));
    if (!is_sorted(x, n))
        FAIL(ERR_FORMAT, "%s: an oct of level %d occurs twice: the checkpoint is damaged",
             w->s->path, level);
    return OK;
}

enum err rewrite_load(const struct rewrite *w, int target, int level, struct oct_item **out,
                      int64_t *n)
{
    enum { SOME = 4096 };
    const struct spill *s = &w->spill;
    int list = oct_list(w, target, level);
    int64_t nown = w->own[list], at[2] = {nown, 0}; /* own octs first, then copies */
    *n = spill_count(s, list);
    struct oct_item *x = *out = mem_new(sizeof *x * (size_t)*n + 1, "reshape tree");
    struct oct_tree *some = mem_new(sizeof *some * SOME, "reshape tree");
    enum err err = OK;
    for (int64_t c = s->first[list]; c < s->first[list + 1] && err == OK; c++)
        for (int64_t row = 0, k; row < s->chunk[c].n && err == OK; row += k) {
            k = s->chunk[c].n - row < SOME ? s->chunk[c].n - row : SOME;
            err = spill_get(s, c, OCT_TREE, row, k, some);
            for (int64_t i = 0; i < k && err == OK; i++)
                x[at[some[i].own]++] = (struct oct_item){.key = some[i].key,
                                                         .ref = {(uint32_t)c, (uint32_t)(row + i)},
                                                         .split = some[i].split,
                                                         .flag = some[i].flag,
                                                         .own = some[i].own};
        }
    FREE(some);
    TRY(err);
    TRY(in_order(w, level, x, nown));
    return in_order(w, level, x + nown, *n - nown);
}

/* Number of octs at ref that can be read at once: rows of one chunk that are consecutive, or
 * ascending and close together, if they fit into `room` bytes with the rows between them; width:
 * bytes of a row. */
static int run_of(const struct oct_ref *ref, int n, size_t width, size_t room)
{
    enum { GAP = 4096 }; /* bytes whose reading costs less than another call */
    int k = 1;
    while (k < n && ref[k].chunk == ref->chunk && ref[k].row == ref->row + (uint32_t)k) k++;
    if (k * width > room) return k;
    while (k < n && ref[k].chunk == ref->chunk && ref[k].row > ref[k - 1].row &&
           (ref[k].row - ref[k - 1].row - 1) * width <= GAP &&
           (ref[k].row - ref->row + 1) * width <= room)
        k++;
    return k;
}

/* Fetches rows in runs: consecutive octs were mostly close together in the input as well. */
enum err rewrite_fetch(const struct rewrite *w, int section, const struct oct_ref *ref, int n,
                       double (*row)[8])
{
    enum { ROOM = 128 << 10 };
    size_t width = w->spill.kind[ROW_OCT].width[section], nv = width / sizeof *row;
    char span[ROOM];
    for (int i = 0, k; i < n; i += k) {
        k = run_of(ref + i, n - i, width, ROOM);
        int64_t rows = ref[i + k - 1].row - ref[i].row + 1;
        bool dense = rows == k;
        TRY(spill_get(&w->spill, ref[i].chunk, section, ref[i].row, rows,
                      dense ? (char *)(row + (size_t)i * nv) : span));
        for (int j = i; j < i + k && !dense; j++)
            memcpy(row + (size_t)j * nv, span + (ref[j].row - ref[i].row) * width, width);
    }
    return OK;
}
