/* movie/columns: sums of the cells along the line of sight of cameras that are not turned.
 *
 * Two cells of an oct, one behind the other, are added as doubles first: their sum is the same
 * whatever else is drawn. The digits of four such columns of an oct are added at once. */
#include <math.h>

#include "base/mem.h"
#include "movie/priv.h"

/* ---- which columns ---- */

/* Octs of a level whose cells cover pixels along one side of the frame. */
static void find_slots(const struct paint *p, const struct plan *k, int level, int side)
{
    struct columns *c = (struct columns *)&k->column[level];
    const struct movie_view *v = &k->view;
    const int axis = side == 0 ? v->u : v->v;
    const double dx = p->head->boxlen / ldexp(1, level), reach = k->foot[level].ext[side];
    const double last = ldexp(1, level - 1) - 1;
    const double lo = floor((v->lo[axis] - reach) / (2 * dx)) - 1,
                 hi = floor((v->hi[axis] + reach) / (2 * dx)) + 1;
    const int from = (int)fmin(fmax(lo, 0), last), to = (int)fmax(fmin(hi, last), -1);
    c->from[side] = from;
    c->n[side] = to >= from ? to - from + 1 : 0;
    c->slot[side] = mem_new(sizeof(int) * (size_t)c->n[side] + 1, "movie frame");
    c->oct[side] = mem_new(sizeof(int) * (size_t)c->n[side] + 1, "movie frame");
    c->slots[side] = 0;
    for (int i = 0; i < c->n[side]; i++) {
        int at[2];
        const bool any = raster_reach(v, side, (2 * (from + i) + 0.5) * dx, reach, at) ||
                         raster_reach(v, side, (2 * (from + i) + 1.5) * dx, reach, at);
        c->slot[side][i] = any ? c->slots[side] : -1;
        if (any) c->oct[side][c->slots[side]++] = from + i;
    }
}

/* Cells of the frame along the line of sight. */
static void find_depth(const struct paint *p, const struct plan *k, int level)
{
    struct columns *c = (struct columns *)&k->column[level];
    const struct movie_view *v = &k->view;
    const double dx = p->head->boxlen / ldexp(1, level), h = k->foot[level].ext[2];
    const double end = ldexp(1, level), centre = v->centre[v->w];
    const double about = fmin(fmax(floor((v->lo[v->w] - h) / dx) - 2, 0), end);
    const double beyond = fmin(fmax(floor((v->hi[v->w] + h) / dx) + 2, 0), end);
    int64_t i = (int64_t)about, n = (int64_t)beyond;
#define AT(i) (((double)(i) + 0.5) * dx)
    while (i < n && AT(i) + h < v->lo[v->w]) i++;
    while (n > i && (AT(n - 1) - h >= v->hi[v->w] || AT(n - 1) - centre > v->dist)) n--;
    if (p->ndim == 2) i = 0, n = 2;
    c->depth[0] = i, c->depth[1] = n;
}

void columns_plan(const struct paint *p, struct plan *k, int level)
{
    struct columns *c = &k->column[level];
    const struct movie_view *v = &k->view;
    *c = (struct columns){0};
    if (v->turned || v->law.perspective) return;
    for (int side = 0; side < 2; side++) find_slots(p, k, level, side);
    find_depth(p, k, level);
    /* large footprints of small cells: pixels are fewer than columns */
    c->used = c->slots[0] <= 2 * v->nw + 2 && c->slots[1] <= 2 * v->nh + 2;
    if (!c->used) columns_fini(c);
}

/* ---- columns that cameras share ---- */

/* Place of an oct among the slots of a side; −1: it has none. */
static int slot_of(const struct columns *c, int side, int oct)
{
    const int x = oct - c->from[side];
    return (unsigned)x < (unsigned)c->n[side] ? c->slot[side][x] : -1;
}

/* Whether columns have all octs and cells of others. */
static bool contain(const struct columns *all, const struct columns *c)
{
    if (!all->used || !c->used) return false;
    if (all->depth[0] != c->depth[0] || all->depth[1] != c->depth[1]) return false;
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < c->slots[side]; i++)
            if (slot_of(all, side, c->oct[side][i]) < 0) return false;
    return true;
}

static bool leads(const struct paint *p, const struct plan *all, const struct plan *k)
{
    bool is = all->group == k->group && all->view.w == k->view.w;
    for (int l = p->head->levelmin; is && l <= p->finest; l++)
        is = contain(&all->column[l], &k->column[l]);
    return is;
}

void columns_share(struct paint *p, int camera)
{
    struct plan *k = &p->plan[camera];
    k->leader = camera;
    for (int o = 0; o < camera && k->leader == camera; o++)
        if (p->plan[o].leader == o && leads(p, &p->plan[o], k)) k->leader = o;
    k->owner = p->plan[k->leader].owner;
    for (int l = p->head->levelmin; l <= p->finest; l++) {
        struct columns *c = &k->column[l];
        for (int side = 0; c->used && side < 2; side++) {
            c->lead[side] = mem_new(sizeof(int) * (size_t)c->slots[side] + 1, "movie frame");
            for (int i = 0; i < c->slots[side]; i++)
                c->lead[side][i] = slot_of(&p->plan[k->leader].column[l], side, c->oct[side][i]);
        }
    }
}

void columns_fini(struct columns *c)
{
    for (int side = 0; side < 2; side++) {
        FREE(c->lead[side]);
        FREE(c->slot[side]);
        FREE(c->oct[side]);
    }
}

/* ---- adding ---- */

/* Values of an oct, split between the nearer and the farther cells along axis w. Order: u, then
 * v. */
VEC4_INLINE void fold(const double *x, int w, vec4 part[2])
{
    const vec4 a = vec4_load(x), b = vec4_load(x + 4);
    if (w == 2) {
        part[0] = a, part[1] = b;
    } else if (w == 1) {
        part[0] = __builtin_shufflevector(a, b, 0, 1, 4, 5);
        part[1] = __builtin_shufflevector(a, b, 2, 3, 6, 7);
    } else {
        part[0] = __builtin_shufflevector(a, b, 0, 2, 4, 6);
        part[1] = __builtin_shufflevector(a, b, 1, 3, 5, 7);
    }
}

/* Adds the oct's cells of the sides that `which` has, bits. */
VEC4_INLINE void add_oct(const struct scale *scale, const double *x, int n, int w, int which,
                         int64_t *at)
{
    for (int v = 0; v < n; v++, x += PAINT_CELLS, at += 4 * DIGITS) {
        vec4 part[2];
        fold(x, w, part);
        digits_add4(&scale[v], which == 3 ? part[0] + part[1] : part[which - 1], at);
    }
}

static void raise_oct(const double *x, int n, int w, int which, int64_t *at)
{
    for (int v = 0; v < n; v++, x += PAINT_CELLS, at += 4) {
        vec4 part[2];
        fold(x, w, part);
        for (int side = 0; side < 2; side++)
            for (int k = 0; (which >> side & 1) && k < 4; k++) {
                const int64_t key = digits_key(part[side][k]);
                at[k] = key > at[k] ? key : at[k];
            }
    }
}

/* Octs of a cube that are one behind the other along axis w, from the first to the next. */
#define BEHIND(j, w) (((j)&1) << (w) | ((j) >> 1) << (3 + (w)))

typedef unsigned long long bits4 __attribute__((vector_size(32), may_alias, aligned(8)));

/* Adds the octs of a cube along axis w. first: places of the values of the first octs; at: their
 * columns, NULL where there is none. The bits of magic numbers are subtracted once for four octs.
 */
VEC4_INLINE void add_cube(const struct scale *s, const double *x, int w, const int first[16],
                          int64_t *const at[16])
{
    const vec4 magic[DIGITS] = {s->magic[0] + (vec4){0}, s->magic[1] + (vec4){0},
                                s->magic[2] + (vec4){0}};
    bits4 extra[DIGITS];
    for (int k = 0; k < DIGITS; k++) extra[k] = 4 * (unsigned long long)s->bits[k] + (bits4){0};
    for (int i = 0; i < 16; i++) {
        const double *oct = x + first[i];
        bits4 sum[DIGITS];
        if (!at[i]) continue;
        for (int k = 0; k < DIGITS; k++) sum[k] = *(const bits4 *)(at[i] + 4 * k) - extra[k];
#pragma GCC unroll 4
        for (int j = 0; j < 4; j++) {
            vec4 part[2];
            fold(oct + 8 * BEHIND(j, w), w, part);
            vec4 left = part[0] + part[1];
#pragma GCC unroll 3
            for (int k = 0; k < DIGITS; k++) {
                const vec4 moved = left + magic[k];
                sum[k] += (bits4)moved;
                left -= moved - magic[k];
            }
        }
        for (int k = 0; k < DIGITS; k++) *(bits4 *)(at[i] + 4 * k) = sum[k];
    }
}

/* The column of an oct, NULL: not in the frame; *which: its cells that are. */
static int64_t *column_of(const struct columns *c, struct sheet *s, const int axis[3],
                          const struct cells *k, int i, int *which)
{
    const int x = k->x[axis[0]][i] - c->from[0], y = k->x[axis[1]][i] - c->from[1];
    const int64_t z = 2 * (int64_t)k->x[axis[2]][i];
    if ((unsigned)x >= (unsigned)c->n[0] || (unsigned)y >= (unsigned)c->n[1]) return NULL;
    *which = (z >= c->depth[0] && z < c->depth[1]) | (z + 1 >= c->depth[0] && z + 1 < c->depth[1])
                                                         << 1;
    if (c->slot[0][x] < 0 || c->slot[1][y] < 0 || *which == 0) return NULL;
    return sheet_at(s, c->slot[0][x], c->slot[1][y]);
}

/* The columns of the octs of a cube, four along u by four along v; NULL: not in the frame. first:
 * places of the values of the octs that are the first ones along axis w. */
static void columns_of_cube(const struct columns *c, struct sheet *s, const int axis[3],
                            const struct cells *k, int first[16], int64_t *at[16])
{
    int slot[2][4];
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < 4; i++) {
            const int x = k->x[axis[side]][0] - c->from[side] + i;
            slot[side][i] = (unsigned)x < (unsigned)c->n[side] ? c->slot[side][x] : -1;
        }
    for (int i = 0; i < 16; i++) {
        const int u = slot[0][i & 3], v = slot[1][i >> 2];
        at[i] = (u | v) < 0 ? NULL : sheet_at(s, u, v);
        first[i] = 8 * (BEHIND(i & 3, axis[0]) | BEHIND(i >> 2, axis[1]));
    }
}

/* Adds a cube of octs; returns false if not all of its depth is in the frame. */
static bool add_whole(const struct plan *p, const struct scale *scale, int n, const double *sum,
                      struct sheet *s, const struct cells *c)
{
    const struct columns *of = &p->column[c->level];
    const int axis[3] = {p->view.u, p->view.v, p->view.w}, w = axis[2];
    const int64_t z = 2 * (int64_t)c->x[w][0];
    int64_t *at[16];
    int first[16];
    if (z < of->depth[0] || z + 8 > of->depth[1]) return false;
    columns_of_cube(of, s, axis, c, first, at);
    for (int v = 0; v < n; v++, sum += PAINT_CELLS) {
        if (w == 2)
            add_cube(&scale[v], sum, 2, first, at);
        else if (w == 1)
            add_cube(&scale[v], sum, 1, first, at);
        else
            add_cube(&scale[v], sum, 0, first, at);
        for (int i = 0; i < 16; i++) at[i] = at[i] ? at[i] + 4 * DIGITS : NULL;
    }
    return true;
}

void columns_add(struct paint *p, struct painter *a, int camera, const struct cells *c)
{
    const struct plan *k = &p->plan[camera];
    const struct movie_view *v = &k->view;
    const struct columns *of = &k->column[c->level];
    const struct scale *scale = a->scale[k->group];
    const int axis[3] = {v->u, v->v, v->w}, n = p->group[k->group].n;
    const double *sum = c->sum[k->group];
    if (c->cube && v->law.method < METHOD_MIN &&
        add_whole(k, scale, n, sum, &a->column[camera][c->level], c))
        return;
    for (int i = 0; i < c->n; i++) {
        int which;
        int64_t *at = column_of(of, &a->column[camera][c->level], axis, c, i, &which);
        if (!at) continue;
        if (v->law.method >= METHOD_MIN)
            raise_oct(sum + 8 * i, n, v->w, which, at);
        else if (v->w == 2 && which == 3)
            add_oct(scale, sum + 8 * i, n, 2, 3, at);
        else if (v->w == 1 && which == 3)
            add_oct(scale, sum + 8 * i, n, 1, 3, at);
        else if (v->w == 0 && which == 3)
            add_oct(scale, sum + 8 * i, n, 0, 3, at);
        else
            add_oct(scale, sum + 8 * i, n, v->w, which, at);
    }
}
