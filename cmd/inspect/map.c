/* inspect: maps.
 *
 * density: surface density, the sum of rho dz over leaf cells. Other fields: mean along the line of sight, weighted by
 * mass where there is gas, else by volume. dm, star: projected mass of particles, each spread over the four nearest cells of its
 * level (CIC).
 * Cells coarser than a pixel are summed on a grid of their own level first, so that each cell costs one addition; all
 * grids are then laid over the picture by the area they share with its pixels. Positive maps are drawn logarithmically. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "inspect.h"
#include "picture.h"

/* 17 knots of "inferno" (S. van der Walt, N. Smith; CC0). */
static const unsigned char INFERNO[17][3] = {
    {0, 0, 4},      {11, 7, 36},    {33, 12, 74},   {60, 9, 101},    {87, 16, 109},  {112, 25, 110},
    {137, 34, 106}, {163, 43, 97},  {187, 55, 85},  {209, 70, 68},   {227, 89, 50},  {241, 113, 30},
    {249, 141, 10}, {252, 171, 15}, {249, 202, 50}, {242, 232, 101}, {252, 255, 164}};

struct map {
    int n, u, v, w;             /* pixels a side; axes right, up, along the line of sight */
    int field, density, family; /* -1: none */
    double *sum, *weight;       /* [n*n] of cells not coarser than a pixel */
    double *layer_sum[LEVEL_MAX + 1], *layer_weight[LEVEL_MAX + 1]; /* [2^l * 2^l] of coarser ones */
};

static enum err map_init(struct map *m, const struct ramses *r, const struct options *o);
static enum err map_read(struct map *m, struct ramses *r);
static void map_free(struct map *m);
static void lay_over(struct map *m);
static enum err draw(const struct map *m, const struct ramses *r, const char *path, const struct options *o);

enum err map_draw(struct ramses *r, const char *path, const struct options *o)
{
    struct map m;
    TRY(map_init(&m, r, o));
    enum err err = map_read(&m, r);
    if (err == OK) {
        lay_over(&m);
        err = draw(&m, r, path, o);
    }
    map_free(&m);
    return err;
}

static enum err unknown_field(const struct ramses *r, const char *name)
{
    char list[1024] = "";
    for (int i = 0; i < r->nhydro + r->ngrav; i++) {
        strncat(list, " ", sizeof list - strlen(list) - 1);
        strncat(list, r->field[i].name, sizeof list - strlen(list) - 1);
    }
    FAIL(ERR_PARAM, "%s: has no field %s; there are:%s%s", r->dir, name, list, r->head.particles ? " dm star" : "");
}

static enum err map_init(struct map *m, const struct ramses *r, const struct options *o)
{
    *m = (struct map){.n = o->pixels, .w = o->axis, .field = -1, .density = -1, .family = -1};
    m->u = o->axis == 0 ? 1 : 0;
    m->v = o->axis == 2 ? 1 : 2;
    for (int i = 0; i < r->nhydro + r->ngrav; i++) {
        if (strcmp(r->field[i].name, o->field) == 0) m->field = i;
        if (strcmp(r->field[i].name, "density") == 0) m->density = i;
    }
    if (strcmp(o->field, "dm") == 0) m->family = FAM_DM;
    if (strcmp(o->field, "star") == 0) m->family = FAM_STAR;
    if (m->field < 0 && (m->family < 0 || !r->head.particles)) return unknown_field(r, o->field);
    size_t bytes = sizeof(double) * (size_t)m->n * (size_t)m->n;
    m->sum = mem_zero(bytes, "map");
    m->weight = mem_zero(bytes, "map");
    for (int l = 1; l <= LEVEL_MAX && (int64_t)1 << l < m->n; l++) {
        m->layer_sum[l] = mem_zero(sizeof(double) << 2 * l, "map");
        m->layer_weight[l] = mem_zero(sizeof(double) << 2 * l, "map");
    }
    return OK;
}

static void map_free(struct map *m)
{
    FREE(m->sum);
    FREE(m->weight);
    for (int l = 0; l <= LEVEL_MAX; l++) {
        FREE(m->layer_sum[l]);
        FREE(m->layer_weight[l]);
    }
}

/* Interval i of `fine` equal ones: the interval of `coarse` ones it begins in, and its shares there and in the next. */
static int64_t overlap(int64_t i, int64_t fine, int64_t coarse, double share[2])
{
    int64_t first = i * coarse / fine,
            over = (i + 1) * coarse - (first + 1) * fine; /* in units of 1 / (fine * coarse) */
    share[1] = over > 0 ? (double)over / (double)coarse : 0;
    share[0] = 1 - share[1];
    return first;
}

static void splat(struct map *m, int64_t cells, const int64_t at[2], double sum, double weight)
{
    double su[2], sv[2];
    int64_t u = overlap(at[0], cells, m->n, su), v = overlap(at[1], cells, m->n, sv);
    for (int k = 0; k < 4; k++) {
        double s = su[k & 1] * sv[k >> 1];
        if (s == 0) continue;
        size_t pixel = (size_t)((v + (k >> 1)) * m->n + u + (k & 1));
        m->sum[pixel] += s * sum;
        m->weight[pixel] += s * weight;
    }
}

static enum err fold_octs(const struct ramses *r, const struct ramses_octs *o, void *ctx)
{
    struct map *m = ctx;
    int64_t cells = (int64_t)1 << o->level;
    double dz = ldexp(r->head.boxlen, -o->level), area = (double)m->n / (double)cells;
    double *sum = m->layer_sum[o->level], *weight = m->layer_weight[o->level];
    for (int i = 0; i < o->n; i++) {
        int64_t x[3];
        okey_coords(o->key[i], x);
        for (int c = 0; c < 8; c++) {
            if (o->split[i] >> c & 1) continue;
            int64_t at[2] = {2 * x[m->u] + (c >> m->u & 1), 2 * x[m->v] + (c >> m->v & 1)};
            double w = m->density >= 0 ? o->val[8 * m->density + c][i] * dz : dz;
            double q = m->field == m->density ? w : w * o->val[8 * m->field + c][i];
            if (!isfinite(w) || !isfinite(q)) continue;
            if (sum) {
                sum[at[1] * cells + at[0]] += q;
                weight[at[1] * cells + at[0]] += w;
            } else {
                splat(m, cells, at, q * area * area, w * area * area);
            }
        }
    }
    return OK;
}

/* Onto the n*n cells of a grid, wrapped periodically. */
static void deposit(double *grid, int64_t n, double u, double v, double value)
{
    double a = u * (double)n - 0.5, b = v * (double)n - 0.5;
    int64_t ia = (int64_t)floor(a), ib = (int64_t)floor(b);
    double fa = a - (double)ia, fb = b - (double)ib;
    for (int k = 0; k < 4; k++) {
        int64_t pa = ((ia + (k & 1)) % n + n) % n, pb = ((ib + (k >> 1)) % n + n) % n;
        grid[pb * n + pa] += (k & 1 ? fa : 1 - fa) * (k >> 1 ? fb : 1 - fb) * value;
    }
}

static enum err fold_parts(const struct ramses *r, const struct ramses_parts *p, void *ctx)
{
    struct map *m = ctx;
    const double *x = ramses_f64(r, p, COL_X + (enum ramses_column)m->u), *mass = ramses_f64(r, p, COL_MASS);
    const double *y = ramses_f64(r, p, COL_X + (enum ramses_column)m->v);
    const int64_t *level = ramses_i64(r, p, COL_LEVEL);
    for (int64_t i = 0; i < p->n; i++) {
        double u = x[i] / r->head.boxlen, v = y[i] / r->head.boxlen;
        if (ramses_family(r, p, i) != m->family) continue;
        if (!(fabs(u) < 1e6 && fabs(v) < 1e6 && isfinite(mass[i]))) continue;
        int l = level && level[i] > 0 && level[i] <= LEVEL_MAX ? (int)level[i] : LEVEL_MAX;
        int64_t n = m->layer_sum[l] ? (int64_t)1 << l : m->n;
        double cell = r->head.boxlen / (double)n;
        deposit(m->layer_sum[l] ? m->layer_sum[l] : m->sum, n, u, v, mass[i] / (cell * cell));
    }
    return OK;
}

static enum err map_read(struct map *m, struct ramses *r)
{
    for (int file = 1; file <= r->ncpu; file++) {
        if (r->ncpu > 1) log_live("reading file %d of %d", file, r->ncpu);
        if (m->field >= 0) TRY(ramses_read_octs(r, file, true, fold_octs, m));
        if (m->family >= 0) TRY(ramses_read_parts(r, file, fold_parts, m));
    }
    log_live(NULL);
    return m->field >= 0 ? ramses_check_tree(r) : OK;
}

static void lay_level(struct map *m, int l)
{
    int64_t side = (int64_t)1 << l;
    for (int64_t v = 0; v < m->n; v++)
        for (int64_t u = 0; u < m->n; u++) {
            double su[2], sv[2];
            int64_t lu = overlap(u, m->n, side, su), lv = overlap(v, m->n, side, sv);
            for (int k = 0; k < 4; k++) {
                double s = su[k & 1] * sv[k >> 1];
                if (s == 0) continue;
                int64_t cell = (lv + (k >> 1)) * side + lu + (k & 1);
                m->sum[v * m->n + u] += s * m->layer_sum[l][cell];
                m->weight[v * m->n + u] += s * m->layer_weight[l][cell];
            }
        }
}

static void lay_over(struct map *m)
{
    for (int l = 1; l <= LEVEL_MAX; l++)
        if (m->layer_sum[l]) lay_level(m, l);
    bool mean = m->field >= 0 && m->field != m->density;
    for (int64_t i = 0; mean && i < (int64_t)m->n * m->n; i++)
        m->sum[i] = m->weight[i] != 0 ? m->sum[i] / m->weight[i] : 0;
}

/* ---- the picture ---- */

/* Least and greatest value. Maps of particles begin at a hundredth of their mean: below are the fringes of single clouds. */
static bool find_range(const struct map *m, double *lo, double *hi)
{
    double mean = 0;
    *lo = INFINITY, *hi = -INFINITY;
    for (int64_t i = 0; i < (int64_t)m->n * m->n; i++) {
        double x = m->sum[i];
        *lo = x < *lo ? x : *lo;
        *hi = x > *hi ? x : *hi;
        mean += x;
    }
    mean /= (double)m->n * m->n;
    if (m->family >= 0 && *lo < 0.01 * mean) *lo = 0.01 * mean;
    return *lo > 0;
}

static void colour(double t, unsigned char rgb[3])
{
    t = t > 0 ? t < 1 ? t : 1 : 0;
    int i = (int)(t * 16);
    if (i > 15) i = 15;
    for (int k = 0; k < 3; k++)
        rgb[k] = (unsigned char)lrint(INFERNO[i][k] + (t * 16 - i) * (INFERNO[i + 1][k] - INFERNO[i][k]));
}

static unsigned char *paint(const struct map *m, double lo, double hi, bool logarithmic)
{
    int64_t n = m->n;
    unsigned char *rgb = mem_new((size_t)(3 * n * n), "map");
    double a = logarithmic ? log(lo) : lo, b = logarithmic ? log(hi) : hi;
    for (int64_t v = 0; v < n; v++)
        for (int64_t u = 0; u < n; u++) {
            double x = m->sum[(n - 1 - v) * n + u]; /* rows go down, the axis goes up */
            double y = !logarithmic ? x : x > lo ? log(x) : a;
            colour(b > a ? (y - a) / (b - a) : 0, rgb + 3 * (v * n + u));
        }
    return rgb;
}

static enum err draw(const struct map *m, const struct ramses *r, const char *path, const struct options *o)
{
    double lo, hi;
    char name[128], range[96], time[64], axis[2] = {(char)('x' + o->axis), 0};
    bool logarithmic = find_range(m, &lo, &hi);
    snprintf(name, sizeof name, "%s_%05d.png", o->field, r->number);
    snprintf(range, sizeof range, "%.9g to %.9g, %s", lo, hi, logarithmic ? "logarithmic" : "linear");
    snprintf(time, sizeof time, "%.15g", r->head.t);
    const char *text[] = {"Source", path, "Field", o->field, "Line of sight", axis, "Range", range, "Time", time, NULL};
    unsigned char *rgb = paint(m, lo, hi, logarithmic);
    const char *file = o->out ? o->out : name;
    enum err err = picture_save(file, m->n, m->n, rgb, text);
    FREE(rgb);
    if (err != OK || strcmp(file, "-") == 0) return err;
    printf("%s\n", file);
    if (!o->quiet) log_info("%s of %s along %s: %s", o->field, path, axis, range);
    return OK;
}
