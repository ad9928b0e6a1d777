/* adapt/build: the first mesh, either complete levels or octs read from a checkpoint. */
#include <string.h>

#include "adapt/adapt.h"
#include "adapt/install.h"
#include "adapt/level.h"
#include "base/mem.h"
#include "oct/field_sets.h"

/* ---- complete levels ---- */

/* Ascending keys of the own octs of one level. */
struct keys {
    const struct domain *dom;
    int rank, level, cells; /* cells: of an oct */
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

/* Adds the keys of own octs within oct (level, key); subtrees without own octs are skipped. */
static void keys_find(struct keys *k, int level, okey key)
{
    int depth = 3 * (k->level - level), owner = domain_whole(k->dom, level, key);
    if (owner < 0 && depth == 0) owner = domain_rank(k->dom, level, key);
    bool last = depth == 0 || k->cells == 8; /* keys of all octs within are consecutive */
    if (owner == k->rank && last) keys_add(k, key << depth, (int64_t)1 << depth);
    if (owner >= 0 && (last || owner != k->rank)) return;
    for (okey c = 0; c < (okey)k->cells; c++) keys_find(k, level + 1, key << 3 | c);
}

void adapt_build(struct mesh *m, const struct comm *c, const struct domain *d)
{
    for (int l = 1; l <= m->levelmin; l++) {
        struct keys k = {.dom = d, .rank = c->rank, .level = l, .cells = m->cells};
        keys_find(&k, 1, 0);
        level_install(m, c, d, l, (int64_t)1 << m->ndim * (l - 1), (lidx)k.n, k.key, NULL);
        FREE(k.key);
        mesh_link(m, l);
        if (l < m->levelmin) mesh_flag_all(m, l);
    }
    for (int l = m->levelmin + 1; l <= m->levelmax; l++)
        level_install(m, c, d, l, 0, 0, (okey[1]){0}, NULL);
    /* zero everywhere, and flags alike */
    for (int l = 1; l <= m->levelmax; l++) ghosts_set(m, l, ALL, true);
}

/* ---- a mesh that is read ---- */

void adapt_install(struct mesh *m, const struct comm *c, const struct domain *d, int l,
                   const struct adapt_octs *octs)
{
    const struct level_change read = {.unset = octs->unset};
    int64_t total = octs->n;
    comm_add_i64(c, &total, 1);
    level_install(m, c, d, l, total, octs->n, octs->key, &read);
}

void adapt_link(struct mesh *m)
{
    level_links(m, m->levelmax);
}

void adapt_fill(struct mesh *m, const struct comm *c)
{
    for (int l = 1; l <= m->levelmax; l++) level_fill(c, m, l, NULL);
}
