#include "reshape/weights.h"

#include "base/mem.h"

static okey code_of(int level, okey key)
{
    return (okey)1 << 3 * (level - 1) | key;
}

int weight_level(okey code)
{
    int l = 0;
    while (code) code >>= 3, l++;
    return l;
}

okey weight_key(okey code)
{
    return code ^ (okey)1 << 3 * (weight_level(code) - 1);
}

void weights_begin(struct weights *w, int64_t limit)
{
    *w = (struct weights){.limit = limit, .cap = 1024, .level = LEVEL_MAX};
    w->row = mem_zero(sizeof *w->row * (size_t)w->cap, "weights");
}

void weights_end(struct weights *w)
{
    FREE(w->row);
}

static int64_t slot_of(const struct weights *w, okey code)
{
    uint64_t x = (uint64_t)(code ^ code >> 21 >> 21) * 0x9e3779b97f4a7c15u;
    int64_t mask = w->cap - 1, s = (int64_t)(x >> 20) & mask;
    while (w->row[s].code && w->row[s].code != code) s = (s + 1) & mask;
    return s;
}

static void rehash(struct weights *w, int64_t cap, int level)
{
    struct weight *old = w->row;
    int64_t n = w->cap;
    w->row = mem_zero(sizeof *w->row * (size_t)cap, "weights");
    w->cap = cap, w->n = 0, w->last = NULL, w->level = level;
    for (int64_t i = 0; i < n; i++) {
        okey code = old[i].code;
        if (!code) continue;
        while (code >> 3 * level) code >>= 3;
        struct weight *to = &w->row[slot_of(w, code)];
        w->n += !to->code;
        to->code = code;
        to->octs += old[i].octs, to->parts += old[i].parts, to->clouds += old[i].clouds;
    }
    FREE(old);
}

static struct weight *find_row(struct weights *w, int level, okey key)
{
    if (level > w->level) key >>= 3 * (level - w->level), level = w->level;
    okey code = code_of(level, key);
    if (w->last && w->last->code == code) return w->last;
    if (2 * w->n >= w->cap) rehash(w, 2 * w->cap, w->level);
    w->last = &w->row[slot_of(w, code)];
    w->n += !w->last->code;
    w->last->code = code;
    return w->last;
}

/* Deepest level down to which the number of octs is at most `limit`. */
static int level_within(const struct weights *w)
{
    int64_t n = 0;
    int l = 1;
    for (n = w->octs[1]; l < w->level && n + w->octs[l + 1] <= w->limit; l++) n += w->octs[l + 1];
    return l;
}

static void coarsen(struct weights *w)
{
    int level = level_within(w);
    if (level < w->level) rehash(w, w->cap, level);
}

void weights_add_octs(struct weights *w, int level, int n, const okey *key)
{
    w->octs[level] += n;
    if (level <= w->level) coarsen(w);
    for (int i = 0; i < n; i++) find_row(w, level, key[i])->octs++;
}

void weights_add_part(struct weights *w, int level, okey key, bool cloud)
{
    struct weight *r = find_row(w, level, key);
    r->parts += !cloud;
    r->clouds += cloud;
}

void weights_merge(struct weights *w, const struct comm *c)
{
    comm_add_i64(c, w->octs, LEVEL_MAX + 2);
    coarsen(w);
    int *rank = mem_new(sizeof *rank * (size_t)w->cap, "weights");
    int64_t n = 0, *order = mem_new(sizeof *order * (size_t)w->n + 1, "weights");
    for (int64_t i = 0; i < w->cap; i++)
        rank[i] = w->row[i].code ? (int)(w->row[i].code % (okey)c->size) : -1;
    struct comm_counts to = comm_counts_of(w->cap, rank, order);
    struct weight *out = mem_new(sizeof *out * (size_t)w->n + 1, "weights");
    for (int64_t i = 0; i < w->n; i++) out[i] = w->row[order[i]];
    FREE(w->row);
    FREE(order);
    FREE(rank);
    w->row = comm_exchange(c, out, &to, sizeof *out, &n, NULL);
    w->cap = n, w->n = 0;
    comm_counts_free(&to);
    FREE(out);
    int64_t cap = 1024;
    while (cap < 2 * n) cap *= 2;
    rehash(w, cap, w->level);
    for (int64_t i = 0, k = 0; i < w->cap; i++)
        if (w->row[i].code) w->row[k++] = w->row[i];
    w->cap = w->n, w->last = NULL;
}
