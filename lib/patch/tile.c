/* patch/tile: divides a level into tiles and finds the octs around them.
 *
 * The octs are sorted, so the octs of a cube are one run of the level. Stacked cubes are joined, so
 * that more octs share the two halo planes below and above a tile. */
#include "patch/tile.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "patch/across_kern.h"

static const double FILLED = 0.5; /* minimum filled fraction of a joint hull; 0.35 is as fast */

/* ---- tiles ---- */

/* Hull of the octs first … first+count-1 of a cube. */
static void tile_enclose(struct tile *t, const struct level *lv, lidx first, lidx count)
{
    enum { WITHIN = 2 * TILE_SIDE - 1 }; /* two cubes at most */
    unsigned met[3] = {0, 0, 0};         /* bits of the coordinates within the cube */
    okey_coords(lv->key[first], t->x0);
    for (lidx i = first; i < first + count; i++) {
        int64_t x[3];
        okey_coords(lv->key[i], x);
        for (int d = 0; d < 3; d++) met[d] |= 1u << (x[d] & WITHIN);
    }
    for (int d = 0; d < 3; d++) {
        const int lo = __builtin_ctz(met[d]), hi = 31 - __builtin_clz(met[d]);
        t->x0[d] = (t->x0[d] & ~(int64_t)WITHIN) + lo;
        t->t[d] = hi - lo + 1;
    }
}

static struct tile cube_tile(const struct mesh *m, int l, lidx first, lidx count, int depth,
                             const unsigned char *sent)
{
    const struct level *lv = &m->lev[l];
    struct tile t = {.nrun = 1, .first = {first}, .count = {count}, .t = {1, 1, 1}};
    if (count < (lidx)1 << m->ndim * depth) {
        tile_enclose(&t, lv, first, count);
    } else {
        okey_coords(lv->key[first], t.x0);
        for (int d = 0; d < m->ndim; d++) t.t[d] = 1 << depth;
    }
    for (lidx i = first; i < first + count && sent; i++) t.outer |= sent[i];
    return t;
}

/* Coordinate of an oct in one dimension. */
static int64_t line_at(const struct level *lv, lidx i)
{
    int64_t x[3];
    okey_coords(lv->key[i], x);
    return x[0];
}

/* Order of cubes by column, then by z. */
static int tile_order(const void *a, const void *b)
{
    const struct tile *s = a, *t = b;
    for (int d = 0; d < 3; d++) {
        int64_t x = s->x0[d] >> TILE_DEPTH, y = t->x0[d] >> TILE_DEPTH;
        if (x != y) return x < y ? -1 : 1;
    }
    return 0;
}

/* Order of inner tiles before outer ones, then by position. */
static int tile_order_late(const void *a, const void *b)
{
    const struct tile *s = a, *t = b;
    if (s->outer != t->outer) return s->outer ? 1 : -1;
    return tile_order(a, b);
}

/* Whether cube s is above tile t, which has room for it within height/8 cubes. */
static bool tile_fits(const struct tile *t, const struct tile *s, int height, bool apart)
{
    if (apart && s->outer != t->outer) return false;
    for (int d = 0; d < 2; d++)
        if (s->x0[d] >> TILE_DEPTH != t->x0[d] >> TILE_DEPTH) return false;
    int64_t low = t->x0[2] >> TILE_DEPTH, cube = s->x0[2] >> TILE_DEPTH;
    return cube == low + t->nrun && t->nrun < height / TILE_SIDE;
}

/* Hull of two tiles; x0 and t may point into a. */
static void tile_hull(const struct tile *a, const struct tile *b, int64_t x0[3], int t[3])
{
    for (int d = 0; d < 3; d++) {
        int64_t end = a->x0[d] + a->t[d], other = b->x0[d] + b->t[d];
        x0[d] = a->x0[d] < b->x0[d] ? a->x0[d] : b->x0[d];
        t[d] = (int)((end > other ? end : other) - x0[d]);
    }
}

/* Joins s to t; s becomes empty. */
static void tile_join(struct tile *t, struct tile *s)
{
    tile_hull(t, s, t->x0, t->t);
    memcpy(t->first + t->nrun, s->first, sizeof s->first[0] * (size_t)s->nrun);
    memcpy(t->count + t->nrun, s->count, sizeof s->count[0] * (size_t)s->nrun);
    t->nrun += s->nrun;
    t->outer |= s->outer;
    s->nrun = 0;
}

/* Joins cubes to tiles of at most `height` octs; apart: see tile_list_build. */
static void tiles_stack(struct tile_list *list, int height, bool apart)
{
    lidx n = 0;
    mem_sort(list->tile, (size_t)list->n, sizeof *list->tile, tile_order);
    for (lidx i = 0; i < list->n; i++) {
        struct tile s = list->tile[i], *t = n > 0 ? &list->tile[n - 1] : NULL;
        if (!t || !tile_fits(t, &s, height, apart)) {
            list->tile[n++] = s;
            continue;
        }
        tile_join(t, &s);
    }
    list->n = n;
}

static lidx tile_octs(const struct tile *t)
{
    lidx n = 0;
    for (int r = 0; r < t->nrun; r++) n += t->count[r];
    return n;
}

/* Joins adjacent tiles along an axis where a joint hull is filled by at least FILLED: less halo,
 * and longer rows for vectors. list: sorted by tile_order. */
static void tiles_pair(struct tile_list *list, int axis, bool apart)
{
    lidx n = 0;
    for (lidx i = 0; i < list->n; i++) {
        struct tile *t = &list->tile[i], next = *t;
        int64_t x0[3];
        int hull[3];
        next.x0[axis] += TILE_SIDE;
        if (t->nrun == 0 || (next.x0[axis] >> TILE_DEPTH) % 2 == 0) continue;
        struct tile *s = mem_find(&next, list->tile, (size_t)list->n, sizeof next, tile_order);
        if (!s || (apart && s->outer != t->outer)) continue;
        tile_hull(t, s, x0, hull);
        if ((double)(tile_octs(t) + tile_octs(s)) >= FILLED * hull[0] * hull[1] * hull[2])
            tile_join(t, s);
    }
    for (lidx i = 0; i < list->n; i++)
        if (list->tile[i].nrun > 0) list->tile[n++] = list->tile[i];
    list->n = n;
}

/* Cuts the octs of a line, ascending in x, into tiles that are LINE_OCTS long at most. */
static void lines_cut(const struct level *lv, const unsigned char *sent, struct tile_list *list)
{
    lidx cap = 0;
    for (lidx i = 0, j; i < lv->nown; i = j) {
        const int64_t first = line_at(lv, i);
        const lidx full = i + LINE_OCTS;
        struct tile t = {.nrun = 1, .first = {i}, .x0 = {first}, .t = {1, 1, 1}};
        j = i + 1;
        if (full <= lv->nown && line_at(lv, full - 1) - first < LINE_OCTS) j = full;
        while (j < lv->nown && line_at(lv, j) - first < LINE_OCTS) j++;
        t.count[0] = j - i;
        t.t[0] = (int)(line_at(lv, j - 1) - first) + 1;
        for (lidx k = i; k < j && sent; k++) t.outer |= sent[k];
        MEM_ROOM(list->tile, list->n, cap, 64, "hydro tiles");
        list->tile[list->n++] = t;
    }
}

/* Marks the octs that other ranks need; NULL: there are none. */
static unsigned char *sent_octs(const struct level *lv)
{
    const struct xplan *plan = &lv->plan;
    if (plan->npeer == 0 || plan->sfirst[plan->npeer] == 0) return NULL;
    unsigned char *sent = mem_zero((size_t)lv->nown + 1, "hydro tiles");
    for (lidx j = 0; j < plan->sfirst[plan->npeer]; j++) sent[plan->send[j]] = 1;
    return sent;
}

/* Cuts a level into cubes of 2^side octs. */
static void cubes_cut(const struct mesh *m, int l, int side, const unsigned char *sent,
                      struct tile_list *list)
{
    const struct level *lv = &m->lev[l];
    lidx cap = 0;
    for (lidx i = 0; i < lv->nown;) {
        okey cube = lv->key[i] >> 3 * side;
        lidx j = i + 1, full = i + ((lidx)1 << m->ndim * side);
        if (full <= lv->nown && lv->key[full - 1] >> 3 * side == cube) j = full;
        while (j < lv->nown && lv->key[j] >> 3 * side == cube) j++;
        MEM_ROOM(list->tile, list->n, cap, 64, "hydro tiles");
        list->tile[list->n++] = cube_tile(m, l, i, j - i, side, sent);
        i = j;
    }
}

void tile_list_build(const struct mesh *m, int l, int depth, int threads, bool apart,
                     struct tile_list *list)
{
    const struct level *lv = &m->lev[l];
    int side = depth < 0 || depth > TILE_DEPTH ? TILE_DEPTH : depth;
    unsigned char *sent = sent_octs(lv);
    if (side > l - 1) side = l - 1;
    *list = (struct tile_list){0};
    if (m->ndim < 2 && depth < 0)
        lines_cut(lv, sent, list);
    else
        cubes_cut(m, l, side, sent, list);
    mem_free(sent);
    /* few: minimum number of tiles for all threads */
    int height = TILE_HEIGHT, few = threads > 1 ? 4 * threads : 0;
    while (height > TILE_SIDE && list->n * TILE_SIDE / height < few) height /= 2;
    if (m->ndim > 1) tiles_stack(list, depth < 0 ? height : 0, apart);
    for (int axis = 0; axis < 4 - m->ndim && m->ndim > 1; axis++)
        if (depth < 0 && list->n / 2 >= few) tiles_pair(list, axis, apart);
    bool outer = false;
    for (lidx i = 0; i < list->n; i++) outer |= list->tile[i].outer;
    if (outer) mem_sort(list->tile, (size_t)list->n, sizeof *list->tile, tile_order_late);
    while (list->nouter < list->n && list->tile[list->n - 1 - list->nouter].outer) list->nouter++;
}

void tile_list_free(struct tile_list *list)
{
    FREE(list->tile);
    list->n = 0;
}

/* ---- octs in slots ---- */

static lidx *slot_at(struct slots *p, int x, int y, int z)
{
    return p->oct + slot_index(x, y, z);
}

/* Oct of level l in a cell of level l−1; if the cell is not refined, its code (slot_missing). */
static lidx slot_in(const struct level *up, lidx parent, int cell)
{
    lidx i = up->child[parent][cell];
    BUG_ON(parent > (INT32_MAX + SLOT_MISSING) / 8);
    return i >= 0 ? i : SLOT_MISSING - (8 * parent + cell);
}

/* Entry of slots.oct across face f of a known entry; SLOT_UNUSED: not known from links. */
static lidx slot_across(const struct mesh *m, int l, lidx from, int f)
{
    const struct level *lv = &m->lev[l];
    struct patch_cell x = {.level = -1}; /* invalid level */
    if (from >= 0) {
        lidx i = lv->nbr[from][f];
        if (i != NBR_NONE) return i;
        x = patch_across(m, l - 1, lv->parent[from], oct_slot(lv, from), f);
    } else if (from <= SLOT_MISSING) {
        lidx at = slot_missing(from);
        x = patch_across(m, l - 1, at / 8, at % 8, f);
    }
    if (x.level != l - 1) return SLOT_UNUSED;
    return x.oct >= 0 ? slot_in(lv - 1, x.oct, x.cell) : NBR_BOUNDARY;
}

/* Enters the oct across face f of the own oct in slot x, by its link; sets its bit in edge[f] if
 * there is no link. */
static inline __attribute__((always_inline)) void slot_beside(struct slots *p, const struct mesh *m,
                                                              int l, const int x[3], int f)
{
    static const int step[3] = {1, SLOT_WIDTH, SLOT_WIDTH * SLOT_SIDE};
    lidx *at = slot_at(p, x[0], x[1], x[2]), *to = at + (f & 1 ? step[f >> 1] : -step[f >> 1]);
    if (*to >= 0) return;
    lidx j = m->lev[l].nbr[*at][f];
    if (*to == SLOT_UNUSED) *to = j != NBR_NONE ? j : slot_across(m, l, *at, f);
    if (j != NBR_NONE) return;
    p->exposed[f][x[2] + 1][x[1] + 1] |= (uint32_t)1 << (x[0] + 1);
    p->exposed_any[x[2] + 1][x[1] + 1] |= (unsigned char)(1 << f);
}

/* Enters own octs of a full cube, in Morton order; x: slot of the first. */
static inline __attribute__((always_inline)) void slot_cube(struct slots *p, lidx first,
                                                            const int x[3], int ndim)
{
    static const int spread[3][TILE_SIDE] = {
        {0, 1, 2, 3, 4, 5, 6, 7}, {0, 1, 4, 5, 16, 17, 20, 21}, {0, 1, 8, 9, 64, 65, 72, 73}};
    const int *s = spread[ndim - 1], side = TILE_SIDE;
    for (int z = 0; z < (ndim > 2 ? side : 1); z++) {
        for (int y = 0; y < (ndim > 1 ? side : 1); y++) {
            lidx *row = slot_at(p, x[0], x[1] + y, x[2] + z);
            for (int k = 0; k < side; k++) row[k] = first + (s[z] << 2 | s[y] << 1 | s[k]);
            p->own[x[2] + z + 1][x[1] + y + 1] |= ((1u << side) - 1) << (x[0] + 1);
        }
    }
}

static void place_of(const struct slots *p, const struct level *lv, lidx i, int x[3])
{
    int64_t c[3];
    okey_coords(lv->key[i], c);
    for (int d = 0; d < 3; d++) x[d] = (int)(c[d] - p->tile->x0[d]);
}

/* Enters own octs first … first+count-1, which may be a full cube. */
static void slot_run(struct slots *p, const struct mesh *m, int l, lidx first, lidx count)
{
    const struct level *lv = &m->lev[l];
    int x[3];
    place_of(p, lv, first, x);
    if (m->ndim > 1 && count == 1 << m->ndim * TILE_DEPTH) {
        if (m->ndim > 2)
            slot_cube(p, first, x, 3);
        else
            slot_cube(p, first, x, 2);
        return;
    }
    if (m->ndim < 2 && count == p->tile->t[0]) {
        lidx *row = slot_at(p, 0, 0, 0);
        for (int k = 0; k < count; k++) row[k] = first + k;
        p->own[1][1] = ((1u << count) - 1) << 1;
        return;
    }
    for (lidx i = first; i < first + count; i++) {
        place_of(p, lv, i, x);
        *slot_at(p, x[0], x[1], x[2]) = i;
        p->own[x[2] + 1][x[1] + 1] |= (uint32_t)1 << (x[0] + 1);
    }
}

/* Enters the octs across the faces of own octs that are not own; ndim: a constant. */
static inline __attribute__((always_inline)) void slot_around(int ndim, struct slots *p,
                                                              const struct mesh *m, int l)
{
    const struct tile *t = p->tile;
    for (int z = 0; z < t->t[2]; z++) {
        for (int y = 0; y < t->t[1]; y++) {
            const uint32_t(*own)[SLOT_SIDE] = p->own + z + 1, b = own[0][y + 1];
            const uint32_t beside[6] = {b << 1,        b >> 1,         own[0][y],
                                        own[0][y + 2], own[-1][y + 1], own[1][y + 1]};
            for (int f = 0; f < 2 * ndim; f++)
                for (uint32_t octs = b & ~beside[f]; octs; octs &= octs - 1)
                    slot_beside(p, m, l, (int[3]){__builtin_ctz(octs) - 1, y, z}, f);
        }
    }
}

/* Marks the slots next to an own oct across a face or edge (or corner), but not along missing axes.
 */
static void mark_seen(struct slots *p, int ndim, bool corners)
{
    const int *t = p->tile->t, dy = ndim > 1, dz = ndim > 2;
    memset(p->seen, 0, sizeof p->seen[0] * (size_t)(t[2] + 2));
    for (int z = 1; z <= t[2]; z++) {
        for (int y = 1; y <= t[1]; y++) {
            const uint32_t b = p->own[z][y], around = b | b << 1 | b >> 1,
                           edge = corners ? around : b;
            uint32_t *lower = &p->seen[z - dz][y], *here = &p->seen[z][y],
                     *upper = &p->seen[z + dz][y];
            if (!b) continue;
            lower[0] |= around, here[0] |= around, upper[0] |= around;
            here[-dy] |= around, here[dy] |= around;
            if (ndim < 3) continue;
            lower[-1] |= edge, lower[1] |= edge, upper[-1] |= edge, upper[1] |= edge;
        }
    }
}

/* Finds the oct in a slot: from a known neighbour, otherwise by a search. */
static lidx slot_find(struct slots *p, const struct mesh *m, int l, const int at[3])
{
    const struct level *lv = &m->lev[l];
    const struct tile *t = p->tile;
    for (int f = 0; f < 2 * m->ndim;
         f++) { /* the neighbour on side f has this oct on its side f^1 */
        int q[3] = {at[0], at[1], at[2]}, d = f >> 1;
        q[d] += f & 1 ? 1 : -1;
        if (q[d] < -1 || q[d] > t->t[d]) continue;
        lidx i = slot_across(m, l, *slot_at(p, q[0], q[1], q[2]), f ^ 1);
        if (i != SLOT_UNUSED) return i;
    }
    okey k;
    int64_t c[3];
    for (int d = 0; d < 3; d++) c[d] = t->x0[d] + at[d];
    if (!mesh_key_at(m, l, c, &k)) return NBR_BOUNDARY;
    lidx i = mesh_find(lv, k), up = i >= 0 ? 0 : mesh_find(lv - 1, k >> 3);
    BUG_ON(up < 0);
    return i >= 0 ? i : slot_in(lv - 1, up, (int)(k & 7));
}

/* Empties the slots of a tile and its masks. In one dimension no memset is called, as a row is
 * short. */
static void slots_clear(struct slots *p, int ndim)
{
    const struct tile *t = p->tile;
    const int ny = t->t[1] + 2, nz = t->t[2] + 2, flat = ndim < 3, line = ndim < 2;
    const int width = line ? t->t[0] + 2 : SLOT_WIDTH;
    for (int z = flat; z < nz - flat; z++)
        for (int y = line; y < ny - line; y++)
            for (int x = 0; x < width; x++) slot_at(p, -1, y - 1, z - 1)[x] = SLOT_UNUSED;
    if (line) {
        for (int z = 0; z < 3; z++) p->own[z][0] = p->own[z][1] = p->own[z][2] = 0;
        p->exposed[0][1][1] = p->exposed[1][1][1] = 0, p->exposed_any[1][1] = 0;
        return;
    }
    memset(p->own, 0, sizeof p->own[0] * (size_t)nz);
    memset(p->exposed_any + flat, 0, sizeof p->exposed_any[0] * (size_t)(nz - 2 * flat));
    for (int f = 0; f < 2 * ndim; f++)
        memset(p->exposed[f] + flat, 0, sizeof p->exposed[f][0] * (size_t)(nz - 2 * flat));
}

void slots_find(struct slots *p, const struct mesh *m, int l, const struct tile *t, bool corners)
{
    int ny = t->t[1] + 2, nz = t->t[2] + 2, flat = m->ndim < 3, line = m->ndim < 2;
    p->tile = t;
    slots_clear(p, m->ndim);
    for (int r = 0; r < t->nrun; r++) slot_run(p, m, l, t->first[r], t->count[r]);
    if (m->ndim > 2)
        slot_around(3, p, m, l);
    else
        slot_around(m->ndim, p, m, l);
    mark_seen(p, m->ndim, corners);
    for (int z = flat - 1; z < nz - 1 - flat; z++) {
        for (int y = line - 1; y < ny - 1 - line; y++) {
            for (uint32_t b = p->seen[z + 1][y + 1]; b; b &= b - 1) {
                int at[3] = {__builtin_ctz(b) - 1, y, z};
                lidx *o = slot_at(p, at[0], y, z);
                if (*o == SLOT_UNUSED) *o = slot_find(p, m, l, at);
            }
        }
    }
}
