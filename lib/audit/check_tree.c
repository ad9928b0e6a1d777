/* audit/check_tree: the invariants of the tree.
 *
 * Every oct lies in a split cell, every split cell has its oct, no oct occurs twice; levels up to
 * levelmin are complete; the 3^ndim - 1 cells around the parent cell of an oct exist (this is the
 * 2:1 rule of RAMSES, corners included). */
#include <stdio.h>

#include "audit/check_priv.h"

static void at_oct(struct check *k, enum check_kind kind, const struct tree_row *row, int level,
                   int cell, const char *what)
{
    char path[PATH_MAX], location[CHECK_LOCATION];
    if (k->count[kind] >= CHECK_MAX) { /* no text is needed for uncounted reports */
        k->count[kind]++, k->found->damages++;
        return;
    }
    source_file(k->r, FILES_AMR, row->piece, path);
    check_place(k, level, row->key, cell, location);
    check_report(k, kind, path, location, "%s", what);
}

/* Checks that octs and split cells match. Both levels are in Morton order, so one walk over octs
 * and parent cells suffices; cells whose oct was found are marked. */
static void check_parents(struct check *k, const struct tree_table *t, int l)
{
    int64_t j = 0;
    for (int64_t i = 0; i < t->n[l]; i++) {
        const struct tree_row *row = t->row[l] + i;
        okey parent = row->key >> 3;
        if (i > 0 && row->key == row[-1].key) {
            at_oct(k, BAD_TWICE, row, l, -1, "occurs twice");
            continue;
        }
        if (l == 1) continue;
        while (j < t->n[l - 1] && t->row[l - 1][j].key < parent) j++;
        struct tree_row *f = j < t->n[l - 1] && t->row[l - 1][j].key == parent ? t->row[l - 1] + j
                                                                               : NULL;
        if (!f) {
            at_oct(k, BAD_PARENT, row, l, -1, "has no parent: the oct around it is missing");
        } else {
            f->mark |= (unsigned char)(1 << (row->key & 7));
            if (!(f->split >> (row->key & 7) & 1))
                at_oct(k, BAD_PARENT, row, l, -1, "lies in a cell that is not split");
        }
    }
}

static void check_sons(struct check *k, const struct tree_table *t, int l)
{
    for (int64_t i = 0; i < t->n[l]; i++) {
        struct tree_row *row = t->row[l] + i;
        unsigned missing = i > 0 && row->key == row[-1].key ? 0 : row->split & ~row->mark;
        for (int c = 0; missing >> c; c++)
            if (missing >> c & 1)
                at_oct(k, BAD_CHILD, row, l, c, "is split, but the oct in it is missing");
        row->mark = 0;
    }
}

static void check_complete(struct check *k, const struct tree_table *t, int l)
{
    const int bits = k->r->head.ndim * (l - 1);
    int64_t n = 0, full = bits < 63 ? (int64_t)1 << bits : INT64_MAX;
    for (int64_t i = 0; i < t->n[l]; i++) n += i == 0 || t->row[l][i].key != t->row[l][i - 1].key;
    if (l <= k->r->head.levelmin && n != full) {
        char location[32];
        snprintf(location, sizeof location, "level %d", l);
        check_report(k, BAD_LEVEL, k->r->path, location,
                     "has %ld octs; up to levelmin = %d levels are complete: %ld", (long)n,
                     k->r->head.levelmin, (long)full);
    }
}

/* Checks that the octs of level l-1 that contain one of the cells around parent cell c exist.
 * Per axis these are the parent oct and its neighbour on the side of the cell. */
static bool has_neighbours(const struct check *k, const struct tree_table *t, int l, okey key)
{
    int step[3];
    for (int d = 0; d < 3; d++) step[d] = key >> d & 1 ? 1 : -1;
    for (int m = 1; m < source_cells(k->r); m++) {
        bool outside;
        okey near = okey_shift(key >> 3, l - 1, m & 1 ? step[0] : 0, m & 2 ? step[1] : 0,
                               m & 4 ? step[2] : 0, &outside);
        if (outside && k->bounded) continue;
        if (!tree_table_find(t, l - 1, near)) return false;
    }
    return true;
}

static void check_balance(struct check *k, const struct tree_table *t, int l)
{
    static const int AROUND[] = {0, 2, 8, 26};
    char what[160];
    snprintf(
        what, sizeof what,
        "one of the %d cells around its parent cell is missing (levels may differ by one only)",
        AROUND[k->r->head.ndim]);
    for (int64_t i = 0; i < t->n[l]; i++)
        if (!has_neighbours(k, t, l, t->row[l][i].key))
            at_oct(k, BAD_BALANCE, t->row[l] + i, l, -1, what);
}

enum err check_tree(struct check *k, const struct tree_table *t)
{
    for (int l = 1; l <= LEVEL_MAX; l++) {
        check_complete(k, t, l);
        check_parents(k, t, l);
        if (l > 1) check_sons(k, t, l - 1);
        if (l > 2) check_balance(k, t, l);
    }
    check_sons(k, t, LEVEL_MAX);
    return OK;
}
