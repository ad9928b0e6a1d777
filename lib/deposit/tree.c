/* deposit/tree: the octree: its cube, and its octs. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "deposit/deposit.h"
#include "deposit/priv.h"

/* ---- the cube ---- */

/* Places the box lo … lo + side in the middle of a cube as wide as its longest side. */
static struct deposit_cube cube_of_box(const double lo[3], const double side[3])
{
    struct deposit_cube c = {.side = fmax(fmax(side[0], side[1]), side[2])};
    for (int d = 0; d < 3; d++) {
        const double width = side[d] / c.side;
        c.corner[d] = lo[d] - 0.5 * (c.side - side[d]);
        c.period[d] = width;
        c.lo[d] = 0.5 * (1 - width), c.hi[d] = c.lo[d] + width;
        c.open |= width < 1;
    }
    return c;
}

static struct deposit_cube cube_of_points(const struct deposit_gas *g)
{
    const double support = deposit_kernel(g->kernel)->support;
    struct deposit_cube c = {.hi = {1, 1, 1}, .open = true};
    double lo[3], hi[3], half = 0;
    bool around_origin = true;
    for (int d = 0; d < 3; d++) {
        lo[d] = INFINITY, hi[d] = -INFINITY;
        for (int64_t i = 0; i < g->n; i++) {
            lo[d] = fmin(lo[d], g->x[d][i] - support * g->h[i]);
            hi[d] = fmax(hi[d], g->x[d][i] + support * g->h[i]);
        }
        around_origin &= lo[d] <= 0 && hi[d] >= 0;
    }
    for (int d = 0; d < 3; d++) {
        c.corner[d] = around_origin ? 0 : 0.5 * (lo[d] + hi[d]);
        half = fmax(half, fmax(c.corner[d] - lo[d], hi[d] - c.corner[d]));
    }
    c.side = 2 * half > 0 ? 2 * half : 1;
    for (int d = 0; d < 3; d++) c.corner[d] -= 0.5 * c.side;
    return c;
}

struct deposit_cube deposit_cube(const struct deposit_gas *g, const double lo[3],
                                 const double side[3])
{
    return side ? cube_of_box(lo, side) : cube_of_points(g);
}

double deposit_place(const struct deposit_cube *c, int axis, double x)
{
    double at = (x - c->corner[axis]) / c->side;
    const double period = c->period[axis];
    if (period > 0 && !(at >= c->lo[axis] && at < c->hi[axis]))
        at -= period * floor((at - c->lo[axis]) / period);
    return at;
}

/* ---- order of the particles ---- */

MEM_ORDER2(by_key, struct deposit_point, key, id)

/* The key of the cell of the finest possible level. */
static okey key_of(const double at[3])
{
    const double cells = ldexp(1, LEVEL_MAX);
    uint64_t k[3];
    for (int d = 0; d < 3; d++) k[d] = (uint64_t)fmin(fmax(at[d] * cells, 0), cells - 1);
    return okey_make(k[0], k[1], k[2]);
}

enum err deposit_sort(const struct deposit_gas *g, const struct deposit_cube *c,
                      struct deposit_point **out)
{
    const double LOOSE = 1e-9; /* rounding of positions at faces */
    struct deposit_point *p = mem_new(sizeof *p * (size_t)g->n + 1, "deposit");
    *out = p;
    for (int64_t i = 0; i < g->n; i++) {
        double at[3];
        for (int d = 0; d < 3; d++) {
            at[d] = deposit_place(c, d, g->x[d][i]);
            if (!(at[d] > -LOOSE && at[d] < 1 + LOOSE) || !(g->h[i] > 0))
                FAIL(ERR_FORMAT,
                     "particle %ld at %g %g %g with the smoothing length %g: is outside the box "
                     "or has no extent",
                     (long)g->id[i], g->x[0][i], g->x[1][i], g->x[2][i], g->h[i]);
        }
        p[i] = (struct deposit_point){key_of(at), g->id[i], i};
    }
    mem_sort(p, (size_t)g->n, sizeof *p, by_key);
    return OK;
}

/* ---- octs ---- */

struct list {
    okey *key;
    int64_t n, room;
};

static void push(struct list *l, okey key)
{
    MEM_ROOM(l->key, l->n, l->room, 1024, "deposit");
    l->key[l->n++] = key;
}

MEM_ORDER_OF(by_number, okey)

static void sort_unique(struct list *l)
{
    int64_t n = 0;
    mem_sort(l->key, (size_t)l->n, sizeof *l->key, by_number);
    for (int64_t i = 0; i < l->n; i++)
        if (n == 0 || l->key[n - 1] != l->key[i]) l->key[n++] = l->key[i];
    l->n = n;
}

static bool divides(const struct deposit_gas *g, const struct deposit_point *p, int64_t n, int most,
                    double width)
{
    if (n <= most) return false;
    for (int64_t i = 0; i < n; i++)
        if (g->h[p[i].at] < 2 * width) return true;
    return false;
}

/* Octs of a level are the cells of the level above that are divided: here those whose particles ask
 * for it. */
static void divide(const struct deposit_gas *g, const struct deposit_point *p, double side,
                   int most, int levelmax, struct list *oct)
{
    push(&oct[1], 0);
    for (int l = 1; l < levelmax; l++) {
        const int shift = 3 * (LEVEL_MAX - l);
        const double width = ldexp(side, -l);
        for (int64_t i = 0, end; i < g->n; i = end) {
            const okey cell = p[i].key >> shift;
            for (end = i; end < g->n && p[end].key >> shift == cell;) end++;
            if (divides(g, p + i, end - i, most, width)) push(&oct[l + 1], cell);
        }
    }
}

/* The cells around that of an oct, of its level's parents, must exist too. */
static void grade(struct list *oct, const struct deposit_cube *c)
{
    for (int l = LEVEL_MAX; l >= 2; l--) {
        for (int64_t i = 0; i < oct[l].n; i++)
            for (int k = 0; k < 27; k++) {
                bool outside;
                const okey near = okey_shift(oct[l].key[i], l, k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1,
                                             &outside);
                if (!(outside && c->open)) push(&oct[l - 1], near >> 3);
            }
        sort_unique(&oct[l - 1]);
    }
}

/* Octs in Morton order are the children of cells in the same order. */
static void link_children(struct deposit *d)
{
    for (int l = 1; l <= d->levelmax; l++) {
        struct deposit_level *a = &d->level[l], *b = &d->level[l + 1];
        a->child = mem_new(sizeof *a->child * 8 * (size_t)a->n, "deposit");
        int64_t next = 0;
        for (int64_t i = 0; i < 8 * a->n; i++) {
            const bool there = next < b->n && b->key[next] == a->key[i / 8] * 8 + (okey)(i % 8);
            a->child[i] = there ? next++ : -1;
        }
    }
}

enum err deposit_new(const struct deposit_gas *g, const struct deposit_cube *cube, int most,
                     int levelmax, struct deposit **out)
{
    struct list oct[LEVEL_MAX + 2] = {{0}};
    struct deposit_point *p = NULL;
    struct deposit *d = *out = mem_zero(sizeof *d, "deposit");
    d->cube = *cube;
    enum err err = deposit_sort(g, cube, &p);
    if (err == OK) {
        divide(g, p, cube->side, most ? most : DEPOSIT_MOST, levelmax, oct);
        grade(oct, cube);
    }
    for (int l = 1; l <= LEVEL_MAX; l++) {
        d->level[l].key = oct[l].key, d->level[l].n = oct[l].n;
        if (oct[l].n) d->levelmax = l;
        if (oct[l].n == (int64_t)1 << 3 * (l - 1) && d->levelmin == l - 1) d->levelmin = l;
    }
    link_children(d);
    FREE(p);
    if (err != OK) deposit_free(out);
    return err;
}

void deposit_free(struct deposit **out)
{
    struct deposit *d = *out;
    if (!d) return;
    for (int l = 0; l <= LEVEL_MAX; l++) {
        FREE(d->level[l].key);
        FREE(d->level[l].child);
        FREE(d->level[l].value);
    }
    FREE(*out);
}
