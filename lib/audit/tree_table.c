#include "audit/tree_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct filling {
    struct tree_table *t;
    int64_t room[LEVEL_MAX + 2];
};

static enum err take_octs(const struct source_octs *o, void *ctx)
{
    struct filling *f = ctx;
    struct tree_table *t = f->t;
    int l = o->level;
    /* the table grows with the data read, not with a count in a header */
    if (t->n[l] + o->n > f->room[l]) {
        f->room[l] = t->n[l] + o->n + t->n[l] / 4;
        t->row[l] = mem_grow(t->row[l], sizeof **t->row * (size_t)f->room[l], "tree table");
    }
    struct tree_row *row = t->row[l] + t->n[l];
    for (int i = 0; i < o->n; i++)
        row[i] = (struct tree_row){
            .key = o->key[i], .piece = (int32_t)o->piece, .split = o->split[i]};
    t->n[l] += o->n;
    return OK;
}

MEM_ORDER(by_key, struct tree_row, key)

static bool in_order(const struct tree_row *row, int64_t n)
{
    for (int64_t i = 1; i < n; i++)
        if (row[i].key < row[i - 1].key) return false;
    return true;
}

enum err tree_table_read(struct source *s, struct tree_table *t)
{
    struct filling f = {.t = t};
    enum err err = OK;
    *t = (struct tree_table){0};
    memset(&s->counts, 0, sizeof s->counts);
    for (int piece = 0; err == OK && piece < s->npiece; piece++)
        err = source_octs(s, piece, SOURCE_TREE, take_octs, &f);
    for (int l = 1; err == OK && l <= LEVEL_MAX; l++) {
        if (!in_order(t->row[l], t->n[l]))
            mem_sort(t->row[l], (size_t)t->n[l], sizeof **t->row, by_key);
        t->base[l + 1] = t->base[l] + t->n[l];
    }
    if (err != OK) tree_table_free(t);
    return err;
}

void tree_table_free(struct tree_table *t)
{
    for (int l = 0; l <= LEVEL_MAX; l++) FREE(t->row[l]);
    *t = (struct tree_table){0};
}

struct tree_row *tree_table_find(const struct tree_table *t, int level, okey key)
{
    if (level < 1 || level > LEVEL_MAX || t->n[level] == 0) return NULL;
    struct tree_row *row = t->row[level];
    int64_t n = t->n[level], lo = 0;
    if (n == (int64_t)1 << 3 * (level - 1) && row[n - 1].key == (okey)n - 1 && (int64_t)key < n &&
        row[(int64_t)key].key == key)
        return row + (int64_t)key; /* in a complete level the key is the row */
    while (n > 1) {
        int64_t half = n / 2;
        if (row[lo + half - 1].key < key) lo += half;
        n -= half;
    }
    return row[lo].key == key ? row + lo : NULL;
}
