/* movie/finish: the sums of all threads and ranks, as maps. Sums are exact until they become
 * doubles; from there on they are added in the order of levels, columns and pixels. */
#include <math.h>

#include "base/mem.h"
#include "movie/priv.h"

/* ---- the same places everywhere ---- */

/* The highest places of all threads and ranks, then the digits of this rank moved there and added
 * up. */
static void join_painters(struct paint *p)
{
    enum { N = MOVIE_CAMERAS * PAINT_VALUES, ALL = N + MOVIE_VARIABLES };
    int64_t top[ALL];
    struct painter *a = p->painter;
    for (int i = 0; i < ALL; i++) {
        top[i] = DIGIT_TOP_MIN;
        for (int t = 0; t < p->npainter; t++) {
            const struct scale *s = i < N ? &a[t].scale[i / PAINT_VALUES][i % PAINT_VALUES]
                                          : &a[t].light[i - N];
            if (s->limit > 0 && s->top > top[i]) top[i] = s->top;
        }
    }
    comm_max_i64(p->comm, top, ALL);
    for (int t = 0; t < p->npainter; t++) {
        for (int i = 0; i < N; i++)
            if (i / PAINT_VALUES < p->ngroup && i % PAINT_VALUES < p->group[i / PAINT_VALUES].n)
                painter_raise(p, &a[t], i / PAINT_VALUES, i % PAINT_VALUES, (int)top[i]);
        for (int v = 0; v < p->ndots; v++) painter_raise_dots(p, &a[t], v, (int)top[N + v]);
        for (int c = 0; c < p->ncamera; c++) points_uncount(p, &a[t], c);
        if (t > 0) a->bad += a[t].bad;
    }
    comm_add_i64(p->comm, &a->bad, 1);
}

static void join_sheet(struct paint *p, size_t offset, int owner)
{
    struct sheet *first = (struct sheet *)((char *)&p->painter[0] + offset);
    for (int t = 1; t < p->npainter; t++)
        sheet_join(first, (struct sheet *)((char *)&p->painter[t] + offset));
    if (first->tile) sheet_reduce(first, p->comm, owner);
}

/* ---- pixels ---- */

/* Values of all pixels of a camera: n doubles each, where something was drawn. */
struct image {
    const struct movie_view *view;
    bool extreme;
    int n;
    double *sum;
    double part[PAINT_VALUES];
};

static void lay(void *ctx, int j, int from, int to)
{
    struct image *m = ctx;
    double *at = m->sum + ((size_t)j * (size_t)m->view->nw + (size_t)from) * (size_t)m->n;
    for (int i = from; i <= to; i++, at += m->n)
        for (int k = 0; k < m->n; k++)
            at[k] = !m->extreme ? at[k] + m->part[k] : m->part[k] > at[k] ? m->part[k] : at[k];
}

/* Sums or maxima of a site into m->part; step: distance of digits. Returns whether any exist. */
static bool read_site(struct image *m, const struct scale *scale, const int64_t *site, int step)
{
    bool any = false;
    for (int k = 0; k < m->n; k++) {
        const int64_t *d = site + k * step * (m->extreme ? 1 : DIGITS);
        if (m->extreme)
            m->part[k] = *d == INT64_MIN ? -INFINITY : digits_unkey(*d);
        else
            m->part[k] = d[0] | d[step] | d[2 * step] ? digits_sum(&scale[k], d, step) : 0;
        any |= m->extreme ? m->part[k] > -INFINITY : m->part[k] != 0;
    }
    return any;
}

typedef long long four_digits __attribute__((vector_size(32), may_alias, aligned(8)));

/* Sums of the four columns of an oct, by value. Returns the set of columns that have any. */
static int read_four(const struct image *m, const struct scale *scale, const int64_t *site,
                     double (*sum)[4])
{
    vec4_mask any = {0};
    for (int k = 0; k < m->n; k++, site += 4 * DIGITS) {
        vec4 x = {0};
        for (int d = DIGITS - 1; d >= 0; d--)
            x += __builtin_convertvector(*(const four_digits *)(site + 4 * d), vec4) *
                 scale[k].unit[d];
        any |= x != (vec4){0};
        *(vec4_any *)sum[k] = x;
    }
    return (any[0] & 1) | (any[1] & 2) | (any[2] & 4) | (any[3] & 8);
}

/* Sums or maxima of one of the columns of an oct into m->part. */
static bool take_part(struct image *m, const struct scale *scale, const int64_t *site, int part,
                      int any, double (*sum)[4])
{
    if (m->extreme) return read_site(m, scale, site + part, 4);
    for (int k = 0; k < m->n; k++) m->part[k] = sum[k][part];
    return any >> part & 1;
}

/* Pixels that the squares of the cells of a column of octs cover along a side: [2 n], two cells of
 * each oct. */
struct reach {
    int at[2];
};
static struct reach *reaches(const struct paint *p, const struct plan *k, int level, int side)
{
    const struct columns *c = &k->column[level];
    const double dx = p->head->boxlen / ldexp(1, level);
    const int n = 2 * c->slots[side];
    struct reach *r = mem_new(sizeof *r * (size_t)n + 1, "movie frame");
    for (int i = 0; i < n; i++) {
        const double x = (2 * c->oct[side][i / 2] + (i & 1) + 0.5) * dx;
        if (!raster_reach(&k->view, side, x, k->foot[level].h, r[i].at))
            r[i].at[1] = r[i].at[0] - 1;
    }
    return r;
}

/* NULL: nothing was added there. */
static const int64_t *site_of(struct sheet *s, int i, int j)
{
    return s->tile[j / PAINT_TILE * s->across + i / PAINT_TILE] ? sheet_at(s, i, j) : NULL;
}

static void lay_squares(const struct paint *p, const struct plan *k, int level, struct image *m,
                        struct sheet *s)
{
    struct reach *across = reaches(p, k, level, 0), *up = reaches(p, k, level, 1);
    const struct columns *c = &k->column[level];
    const struct scale *scale = p->painter->scale[k->group];
    double sum[PAINT_VALUES][4];
    for (int j = 0; j < c->slots[1]; j++)
        for (int i = 0; i < c->slots[0]; i++) {
            const int64_t *site = site_of(s, c->lead[0][i], c->lead[1][j]);
            if (!site) continue;
            const int any = m->extreme ? 0 : read_four(m, scale, site, sum);
            for (int part = 0; part < 4; part++) {
                const int *x = across[2 * i + (part & 1)].at, *y = up[2 * j + (part >> 1)].at;
                if (x[0] > x[1] || !take_part(m, scale, site, part, any, sum)) continue;
                for (int row = y[0]; row <= y[1]; row++) lay(m, row, x[0], x[1]);
            }
        }
    FREE(across);
    FREE(up);
}

static void lay_round(const struct paint *p, const struct plan *k, int level, struct image *m,
                      struct sheet *s)
{
    const struct columns *c = &k->column[level];
    const struct movie_view *v = &k->view;
    const double dx = p->head->boxlen / ldexp(1, level);
    for (int j = 0; j < c->slots[1]; j++)
        for (int i = 0; i < c->slots[0]; i++) {
            const int64_t *site = site_of(s, c->lead[0][i], c->lead[1][j]);
            if (!site) continue;
            for (int part = 0; part < 4; part++) {
                const double x[3] = {(2 * c->oct[0][i] + (part & 1) + 0.5) * dx - v->centre[v->u],
                                     (2 * c->oct[1][j] + (part >> 1) + 0.5) * dx - v->centre[v->v]};
                if (read_site(m, p->painter->scale[k->group], site + part, 4))
                    raster_cell(v, &k->foot[level], x, lay, m);
            }
        }
}

static void lay_pixels(const struct paint *p, const struct plan *k, struct image *m,
                       struct sheet *s)
{
    for (int j = 0; s->tile && j < s->nv; j++)
        for (int i = 0; i < s->nu; i++) {
            if (!s->tile[j / PAINT_TILE * s->across + i / PAINT_TILE]) continue;
            if (read_site(m, p->painter->scale[k->group], sheet_at(s, i, j), 1)) lay(m, j, i, i);
        }
}

/* ---- maps ---- */

static void fill_gas(const struct paint *p, const struct plan *k, const struct image *m, int v)
{
    const enum movie_method method = k->view.law.method;
    const size_t n = (size_t)k->view.nw * (size_t)k->view.nh;
    const bool mean = method <= MEAN_VOLUME;
    float *map = k->map[p->gas[v]];
    for (size_t i = 0; i < n; i++) {
        const double *at = m->sum + i * (size_t)m->n, x = at[v + mean];
        map[i] = (float)(mean                   ? at[0] > 0 ? x / at[0] : 0
                         : method == METHOD_SUM ? x
                         : !(x > -INFINITY)     ? 0
                         : method == METHOD_MIN ? -x
                                                : x);
    }
}

static void fill_dots(const struct paint *p, const struct plan *k, struct sheet *s, int v)
{
    float *map = k->map[p->dot[v]];
    for (int j = 0; j < s->nv; j++)
        for (int i = 0; i < s->nu; i++) {
            const bool has = s->tile[j / PAINT_TILE * s->across + i / PAINT_TILE] != NULL;
            const int64_t *d = has ? sheet_at(s, i, j) + DIGITS * v : NULL;
            map[(size_t)j * (size_t)s->nu + (size_t)i] =
                d ? (float)digits_sum(&p->painter->light[v], d, 1) : 0;
        }
}

/* sum: room for the values of a group at all pixels. */
static void make_gas(struct paint *p, int c, double *sum)
{
    const struct plan *k = &p->plan[c];
    struct painter *a = p->painter;
    const size_t pixels = (size_t)k->view.nw * (size_t)k->view.nh;
    struct image m = {.view = &k->view,
                      .extreme = k->view.law.method >= METHOD_MIN,
                      .n = p->group[k->group].n,
                      .sum = sum};
    for (size_t i = 0; i < pixels * (size_t)m.n; i++) m.sum[i] = m.extreme ? -INFINITY : 0;
    for (int l = 1; l <= p->finest; l++)
        if (k->column[l].used)
            (k->view.law.shader == SHADER_SQUARE ? lay_squares : lay_round)(
                p, k, l, &m, &a->column[k->leader][l]);
    lay_pixels(p, k, &m, &a->pixels[c]);
    for (int v = 0; v < p->ngas; v++) fill_gas(p, k, &m, v);
}

static void make_maps(struct paint *p, int c, double *sum)
{
    struct plan *k = &p->plan[c];
    const size_t pixels = (size_t)k->view.nw * (size_t)k->view.nh;
    for (int v = 0; v < p->movie.nvariable; v++)
        k->map[v] = mem_new(sizeof *k->map[v] * pixels, "movie frame");
    if (p->ngas > 0) make_gas(p, c, sum);
    for (int v = 0; v < p->ndots; v++) fill_dots(p, k, &p->painter->dots[c], v);
}

void paint_finish(struct paint *p)
{
    join_painters(p);
    for (int c = 0; c < p->ncamera; c++) {
        const int owner = p->plan[c].owner;
        join_sheet(p, offsetof(struct painter, pixels[c]), owner);
        join_sheet(p, offsetof(struct painter, dots[c]), owner);
        for (int l = 1; l <= p->finest; l++)
            join_sheet(p, offsetof(struct painter, column[c][l]), owner);
    }
    const size_t sites = (size_t)p->movie.nw * (size_t)p->movie.nh;
    double *sum = mem_new(sizeof *sum * sites * (size_t)(p->ngas + 1), "movie frame");
    for (int c = 0; c < p->ncamera; c++)
        if (p->plan[c].owner == p->comm->rank) make_maps(p, c, sum);
    FREE(sum);
}

int paint_owner(const struct paint *p, int c)
{
    return p->plan[c].owner;
}

const float *paint_map(const struct paint *p, int c, int v)
{
    return p->plan[c].map[v];
}

const struct movie_view *paint_view(const struct paint *p, int c)
{
    return &p->plan[c].view;
}

int64_t paint_left_out(const struct paint *p)
{
    return p->painter->bad;
}
