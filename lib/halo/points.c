/* halo/points: the bodies of a rank, an array for each quantity, so that a tree can sort the
 * positions in place: 64 bytes for a particle of dark matter, 33 for a star. Cells of gas are kept
 * by octs, 74 bytes for up to eight cells: only those near halos become bodies (halo/nearby). */
#include <string.h>

#include "halo/halo_priv.h"

static void *resize(void *p, int64_t n, size_t bytes, const char *name)
{
    return mem_grow(p, bytes * (size_t)(n + TREE_PAD), name);
}

void halo_set_room(struct halo_set *s, int64_t n)
{
    s->room = n;
    for (int k = 0; k < 3; k++) s->x[k] = resize(s->x[k], n, sizeof *s->x[k], "halos: places");
    s->m = resize(s->m, n, sizeof *s->m, "halos: masses");
    if (s->others) {
        s->kind = resize(s->kind, n, sizeof *s->kind, "halos: kinds");
        return;
    }
    for (int k = 0; k < 3; k++) s->v[k] = resize(s->v[k], n, sizeof *s->v[k], "halos: velocities");
    s->id = resize(s->id, n, sizeof *s->id, "halos: ids");
}

void halo_set_free(struct halo_set *s)
{
    for (int k = 0; k < 3; k++) {
        FREE(s->x[k]);
        FREE(s->v[k]);
    }
    FREE(s->m);
    FREE(s->id);
    FREE(s->kind);
    s->n = s->room = 0;
}

void halo_points_free(struct halo_points *b)
{
    halo_set_free(&b->dark);
    halo_set_free(&b->others);
    FREE(b->cells.key);
    FREE(b->cells.level);
    FREE(b->cells.leaf);
    FREE(b->cells.m);
    b->cells = (struct halo_cells){0};
}

static bool is_finite(const struct halo_point *b)
{
    bool good = b->m >= 0 && isfinite(b->m);
    for (int k = 0; k < 3; k++) good &= isfinite(b->x[k]) && isfinite(b->v[k]);
    return good;
}

void halo_points_add(struct halo_points *b, const struct halo_point *body)
{
    struct halo_set *s = body->kind == SPECIES_DM ? &b->dark : &b->others;
    s->others = body->kind != SPECIES_DM;
    if (!b->bad && !is_finite(body)) {
        b->bad = true;
        b->wrong = *body;
    }
    if (s->n == s->room) halo_set_room(s, s->n + s->n / 8 + 4096);
    const int64_t i = s->n++;
    for (int k = 0; k < 3; k++) s->x[k][i] = body->x[k];
    s->m[i] = body->m;
    if (s->others) {
        s->kind[i] = (unsigned char)body->kind;
        return;
    }
    for (int k = 0; k < 3; k++) s->v[k][i] = body->v[k];
    s->id[i] = body->id;
}

static void cells_room(struct halo_cells *q)
{
    const int64_t n = q->room = q->n + q->n / 2 + 4096;
    q->key = mem_grow(q->key, sizeof *q->key * (size_t)n, "halos: cells");
    q->level = mem_grow(q->level, (size_t)n, "halos: cells");
    q->leaf = mem_grow(q->leaf, (size_t)n, "halos: cells");
    q->m = mem_grow(q->m, sizeof *q->m * (size_t)n, "halos: cells");
}

/* Keeps the first leaf cell whose mass is not finite or negative. */
static void keep_wrong(struct halo_points *b, int level, okey key, const double m[8])
{
    for (int c = 0; c < 8 && !b->bad; c++) {
        b->wrong = halo_cell_body(level, key, c, m[c]);
        b->bad = !is_finite(&b->wrong);
    }
}

void halo_points_add_oct(struct halo_points *b, int level, okey key, unsigned leaf,
                         const double m[8])
{
    struct halo_cells *q = &b->cells;
    if (!leaf) return;
    if (q->n == q->room) cells_room(q);
    const int64_t i = q->n++;
    bool good = true;
    q->key[i] = key;
    q->level[i] = (unsigned char)level;
    q->leaf[i] = (unsigned char)leaf;
    q->leaves += __builtin_popcount(leaf);
    for (int c = 0; c < 8; c++) {
        const double own = leaf >> c & 1 ? m[c] : 0;
        q->m[i][c] = own;
        good &= own >= 0 && own < INFINITY;
    }
    if (!good) keep_wrong(b, level, key, q->m[i]);
}

/* ---- sorting ---- */

static void sort_doubles(int64_t n, const int32_t *order, double *x, double *old)
{
    memcpy(old, x, sizeof *x * (size_t)n);
    tree_gather(n, order, old, x);
}

static void sort_ids(int64_t n, const int32_t *order, int64_t *id, int64_t *old)
{
    memcpy(old, id, sizeof *id * (size_t)n);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) id[i] = old[order[i]];
}

static void sort_kinds(int64_t n, const int32_t *order, unsigned char *kind, unsigned char *old)
{
    memcpy(old, kind, (size_t)n);
    for (int64_t i = 0; i < n; i++) kind[i] = old[order[i]];
}

/* Sorts all arrays but the positions, which the tree has sorted. */
static void sort_rest(struct halo_set *s, const int32_t *order)
{
    void *old = mem_new(sizeof(double) * (size_t)s->n + 1, "halos: sort");
    sort_doubles(s->n, order, s->m, old);
    for (int k = 0; k < 3 && !s->others; k++) sort_doubles(s->n, order, s->v[k], old);
    if (s->others)
        sort_kinds(s->n, order, s->kind, old);
    else
        sort_ids(s->n, order, s->id, old);
    FREE(old);
}

enum err halo_set_plant(const struct halo_space *s, struct halo_set *set, int32_t **order,
                        struct tree **t)
{
    struct tree_points p = {.n = set->n};
    halo_set_room(set, set->n);
    for (int k = 0; k < 3; k++) {
        p.x[k] = set->x[k];
        p.period[k] = s->periodic[k] ? 1 : 0;
    }
    TRY(tree_take(&p, set->x, order, t));
    if (set->n) sort_rest(set, *order);
    return OK;
}
