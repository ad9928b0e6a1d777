/* pk/points: adds points and samples to the meshes tile by tile.
 *
 * A batch is sorted by tiles of 8³ cells (larger for few points per tile), so that the cells of a
 * tile enter the first-level cache once per batch, for any order of points. Weights of four points
 * are computed at once. Then each point is added to four cells of a row at a time. Columns of tiles
 * along x are divided among the threads: columns of one colour have no cell in common. */
#include <math.h>
#include <omp.h>
#include <stdbool.h>

#include "base/mem.h"
#include "pk/pk_priv.h"
#include "pk/window.h"
#include "vec/vec4.h"

typedef int int4 __attribute__((vector_size(16)));

enum {
    BEFORE = PK_BEFORE,
    AFTER = 3,
    TILE_BITS = 3,    /* log2 of the cells of a tile along each axis */
    TILE_POINTS = 32, /* minimum mean number of points per tile of a batch */
    COLOURS = 3,
    FAR = 4 << 20, /* bytes of a mesh that exceed the caches of a core */
    SOME = 256,    /* points whose positions are computed together */
    AHEAD = 16,    /* distance of prefetches in items */
    DENSE = 2, /* cells per point of a tile below which most points find their cells in caches */
    FETCH = 16 /* minimum number of points of a tile for prefetching it */
};

/* Byte offsets in a mesh of the rows of cells −BEFORE … n+AFTER−1 along y and z; < 0: row outside
 * of this rank's block. */
struct rows {
    int n;
    int64_t *y, *z;
};

/* Variants of adding points of a tile: to two meshes; with all rows present and no large mass; with
 * cells outside of the caches. */
struct kind {
    enum pk_window order;
    int meshes;
    bool whole, far;
};

/* A batch sorted by mesh and tile. */
struct sorted {
    /* log2 of the cells of a tile; tiles along an axis, of which the last may be larger */
    int bits, count;
    bool large;     /* whether any point has a large part of the total mass */
    int64_t *first; /* [tiles + 1] start of each tile */
    int32_t *item;  /* [n] items in order (lent by struct pk) */
};

static void rows_init(struct rows *r, const struct pk *p)
{
    const struct fft *f = p->fft;
    int n = p->par.n;
    size_t cells = (size_t)(n + BEFORE + AFTER);
    *r = (struct rows){
        .n = n, .y = mem_new(sizeof *r->y * cells, "pk"), .z = mem_new(sizeof *r->z * cells, "pk")};
    for (int i = -BEFORE; i < n + AFTER; i++) {
        int y = pk_wrap(i, n) - f->first[1], z = pk_wrap(i, n) - f->first[2];
        r->y[i + BEFORE] = y >= 0 && y < f->count[1] ? 8 * (int64_t)pk_row(p, y, 0) : -1;
        r->z[i + BEFORE] = z >= 0 && z < f->count[2] ? 8 * z * (int64_t)p->plane : -1;
    }
}

static void rows_fini(struct rows *r)
{
    FREE(r->y);
    FREE(r->z);
}

/* ---- sorting ---- */

/* Turns count[thread][tile] into the start of the thread's points in the tile. */
static void begin_tiles(struct sorted *s, int threads, int64_t tiles, int64_t *count)
{
    int64_t at = 0;
    for (int64_t k = 0; k < tiles; k++) {
        s->first[k] = at;
        for (int t = 0; t < threads; t++) {
            int64_t n = count[t * tiles + k];
            count[t * tiles + k] = at;
            at += n;
        }
    }
    s->first[tiles] = at;
}

/* Mesh properties for find_tiles, and the largest masses found. */
struct finder {
    struct pk_cells to;
    int bits, count;
    window4 largest; /* largest mass in quanta */
};

/* Finds the tiles of n ≤ 4 items. */
static inline __attribute__((always_inline)) int4 find_four(struct finder *f, int n,
                                                            const struct pk_item *it, window4 *cell)
{
    window4 in[4] = {0}, x[4];
    for (int k = 0; k < n; k++) {
        pk_cells(&f->to, &it[k], &in[k]);
        cell[k] = in[k];
    }
    vec4_transpose(in, x);
    window4 size = (window4)((window4_bits)x[3] & INT64_MAX);
    window4_bits more = size > f->largest;
    f->largest = (window4)(((window4_bits)size & more) | ((window4_bits)f->largest & ~more));
    int c = f->count;
    int4 last = {c - 1, c - 1, c - 1, c - 1}, at[3], mesh = {0};
    for (int k = 0; k < n; k++) mesh[k] = it[k].mesh;
    for (int d = 0; d < 3; d++) {
        at[d] = __builtin_convertvector(x[d], int4) >> f->bits;
        at[d] = (at[d] & (at[d] < last)) | (last & (at[d] >= last));
    }
    return at[0] + c * (at[1] + c * (at[2] + c * mesh));
}

/* Finds the cells and the tile of each item, and counts the items of each tile. Returns whether any
 * mass is large. */
static bool find_tiles(const struct pk *p, const struct sorted *s, int64_t n,
                       const struct pk_item *it, window4 *cell, int32_t *tile, int64_t *count)
{
    struct finder f = {.to = pk_cells_of(p), .bits = s->bits, .count = s->count};
    for (int64_t i = 0; i < n; i += 4) {
        int some = n - i < 4 ? (int)(n - i) : 4;
        int4 at = some == 4 ? find_four(&f, 4, it + i, cell + i)
                            : find_four(&f, some, it + i, cell + i);
        for (int k = 0; k < some; k++) {
            tile[i + k] = at[k];
            count[at[k]]++;
        }
    }
    window4 max = f.largest;
    return fmax(fmax(max[0], max[1]), fmax(max[2], max[3])) >= 0x1p50;
}

static void choose_tiles(struct sorted *s, int cells, int64_t n)
{
    for (s->bits = TILE_BITS;; s->bits++) {
        int64_t c = s->count = cells >> s->bits ? cells >> s->bits : 1;
        if (c * c * c <= 64 || c * c * c * TILE_POINTS <= n) return;
    }
}

static void sort(struct sorted *s, struct pk *p, int64_t n, const struct pk_item *it)
{
    choose_tiles(s, p->par.n, n);
    int64_t tiles = (int64_t)s->count * s->count * s->count * p->nmesh;
    int64_t *count = mem_zero(sizeof *count * (size_t)(tiles * omp_get_max_threads()), "pk");
    bool large = false;
    s->first = mem_new(sizeof *s->first * (size_t)(tiles + 1), "pk");
    if (n > p->items) {
        FREE(p->cell); /* reallocated for alignment, which the compiler may assume */
        p->cell = mem_new(sizeof *p->cell * (size_t)n, "pk batch");
        p->item = mem_grow(p->item, sizeof *p->item * (size_t)n, "pk batch");
        p->tile = mem_grow(p->tile, sizeof *p->tile * (size_t)n, "pk batch");
        p->items = n;
    }
    int32_t *tile = p->tile;
    s->item = p->item;
#pragma omp parallel reduction(|| : large)
    {
        int me = omp_get_thread_num(), threads = omp_get_num_threads();
        int64_t first = n * me / threads, last = n * (me + 1) / threads, *next = count + me * tiles;
        large = find_tiles(p, s, last - first, it + first, p->cell + first, tile + first, next);
#pragma omp barrier
#pragma omp single
        begin_tiles(s, threads, tiles, count);
        for (int64_t i = first; i < last; i++) s->item[next[tile[i]]++] = (int32_t)i;
    }
    s->large = large;
    FREE(count);
}

/* ---- adding ---- */

/* Spread of four points: weights along x, contiguous for each point; mass times the weights along y
 * and z, and first cells, contiguous for each quantity. */
struct spread {
    window4 x[4];
    window4 m[WINDOW_REACH][WINDOW_REACH]; /* [z][y] mass times weights */
    int4 first[3];
};

/* Intermediate results between the steps of a spread: positions and masses, and weights, of four
 * items as vectors. */
struct begun {
    window4 t[4], w[3][WINDOW_REACH];
};

/* One of the four steps that compute a spread. order and step are compile-time constants after
 * inlining. */
static inline __attribute__((always_inline)) void spread_step(const int step, const window4 *point,
                                                              window4 shift, const int order,
                                                              struct begun *b, struct spread *s)
{
    window4 first;
    if (step == 0) {
        window4 in[4] = {point[0] + shift, point[1] + shift, point[2] + shift, point[3] + shift};
        vec4_transpose(in, b->t);
    }
    if (step < 3) {
        window_point(order, &b->t[step], b->w[step], &first);
        s->first[step] = __builtin_convertvector(first, int4);
    }
    if (step == 0) vec4_transpose(b->w[0], s->x);
    for (int j = 0; j < order && step == 3; j++) {
        window4 m = b->t[3] * b->w[2][j];
        for (int i = 0; i < order; i++) s->m[j][i] = m * b->w[1][i];
    }
}

/* Adds one of the four points. The compiler must not move this code: an unaligned store takes two
 * cycles (Zen 3), and the stores of a point are queued while a step of the next four points is
 * computed. */
static inline __attribute__((always_inline)) void add_point(const struct rows *r,
                                                            const struct spread *s, int p,
                                                            const int order, int64_t *mass)
{
    const int64_t *y = r->y + BEFORE + s->first[1][p], *z = r->z + BEFORE + s->first[2][p];
    char *begin = (char *)(mass + s->first[0][p]);
    int64_t row[WINDOW_REACH]; /* copy, which stores to the mesh cannot alias */
    window4 x = s->x[p];
    __asm__ volatile("" : : : "memory");
    for (int i = 0; i < order; i++) row[i] = y[i];
    for (int j = 0; j < order; j++) {
        char *plane = begin + z[j];
        /* prevents gcc 12 from recomputing the whole address for each row */
        __asm__("" : "+r"(plane));
        for (int i = 0; i < order; i++) {
            double m = s->m[j][i][p];
            pk_add_four(plane + row[i], (window4){m, m, m, m}, x);
        }
    }
    __asm__ volatile("" : : : "memory");
}

/* Prefetches the cells of points in a mesh that exceeds the caches. */
static inline __attribute__((always_inline)) void fetch_spread(const struct rows *r,
                                                               const struct spread *s,
                                                               const int order, int64_t *mass)
{
    for (int p = 0; p < 4; p++) {
        const int64_t *y = r->y + BEFORE + s->first[1][p], *z = r->z + BEFORE + s->first[2][p];
        const char *middle = (char *)(mass + s->first[0][p] + order / 2);
        for (int j = 0; j < order; j++)
            for (int i = 0; i < order; i++) __builtin_prefetch(middle + z[j] + y[i], 1);
    }
}

/* Adds n > 0 points, a multiple of four. The weights of four points are computed in steps, between
 * additions of the previous four. far: their cells are also prefetched. */
static inline __attribute__((always_inline)) void add_points(const struct rows *r, int n,
                                                             const window4 *point, window4 shift,
                                                             bool far, const int order,
                                                             int64_t *mass)
{
    struct spread s[2];
    struct begun b;
    spread_step(0, point, shift, order, &b, &s[0]);
    spread_step(1, point, shift, order, &b, &s[0]);
    spread_step(2, point, shift, order, &b, &s[0]);
    spread_step(3, point, shift, order, &b, &s[0]);
    for (int k = 1; k <= n / 4; k++) {
        struct spread *next = &s[k & 1], *now = &s[~k & 1];
        const window4 *then = point + (4 * k < n ? 4 * k : 0);
        spread_step(0, then, shift, order, &b, next);
        add_point(r, now, 0, order, mass);
        spread_step(1, then, shift, order, &b, next);
        add_point(r, now, 1, order, mass);
        spread_step(2, then, shift, order, &b, next);
        if (far) fetch_spread(r, next, order, mass);
        add_point(r, now, 2, order, mass);
        spread_step(3, then, shift, order, &b, next);
        add_point(r, now, 3, order, mass);
    }
}

/* Function that adds points of a tile whose rows are all present. */
typedef void points_adder(const struct rows *r, int n, const window4 *point, window4 shift,
                          int64_t *mass);

#define ADDER(name, order)                                                                         \
    static void name(const struct rows *r, int n, const window4 *point, window4 shift,             \
                     int64_t *mass)                                                                \
    {                                                                                              \
        add_points(r, n, point, shift, false, order, mass);                                        \
    }                                                                                              \
    static void name##_far(const struct rows *r, int n, const window4 *point, window4 shift,       \
                           int64_t *mass)                                                          \
    {                                                                                              \
        add_points(r, n, point, shift, true, order, mass);                                         \
    }
ADDER(add_ngp, 1)
ADDER(add_cic, 2)
ADDER(add_tsc, 3)
ADDER(add_pcs, 4)
#define BOTH(name)                                                                                 \
    {                                                                                              \
        name, name##_far                                                                           \
    }
static points_adder *const adder[][2] = {[PK_NGP] = BOTH(add_ngp),
                                         [PK_CIC] = BOTH(add_cic),
                                         [PK_TSC] = BOTH(add_tsc),
                                         [PK_PCS] = BOTH(add_pcs)};

/* Adds a point of which some rows are on other ranks, or whose mass is a large part of the total.
 */
static void add_slowly(const struct rows *r, window4 point, int order, int64_t *mass)
{
    window4 w[WINDOW_REACH], first;
    window_point(order, &point, w, &first);
    const int64_t *y = r->y + BEFORE + (int)first[1], *z = r->z + BEFORE + (int)first[2];
    for (int j = 0; j < order; j++)
        for (int i = 0; i < order; i++) {
            double m = point[3] * w[j][2] * w[i][1];
            if (z[j] < 0 || y[i] < 0) continue;
            int64_t *row = mass + (z[j] + y[i]) / 8;
            for (int c = 0; c < order; c++)
                row[pk_wrap((int)first[0] + c, r->n)] += llrint(m * w[c][0]);
        }
}

/* Adds the points of one tile and one mesh. */
static void add_tile(const struct pk *p, const struct rows *r, int64_t n, const int32_t *item,
                     int64_t *const mass[2], struct kind kind)
{
    for (int64_t i = 0; i < n; i += SOME) {
        window4 point[SOME + 3];
        int some = n - i < SOME ? (int)(n - i) : SOME;
        for (int k = 0; k < some; k++) {
            __builtin_prefetch(&p->cell[item[i + k + AHEAD < n ? i + k + AHEAD : 0]]);
            point[k] = p->cell[item[i + k]];
        }
        int fours = (some + 3) / 4 * 4; /* padded with points without mass */
        for (int k = some; k < fours; k++) point[k] = point[0] * (window4){1, 1, 1, 0};
        for (int h = 0; h < kind.meshes; h++) {
            const window4 shift = {0.5 * h, 0.5 * h, 0.5 * h, 0};
            if (kind.whole) adder[kind.order][kind.far](r, fours, point, shift, mass[h]);
            for (int k = 0; k < some && !kind.whole; k++)
                add_slowly(r, point[k] + shift, kind.order, mass[h]);
        }
    }
}

/* Prefetches the cells of a tile that will be added to soon. */
static void fetch_tile(const struct rows *r, int bits, const int tile[3], const int64_t *mass)
{
    int edge = 1 << bits, x = tile[0] << bits, y = tile[1] << bits, z = tile[2] << bits;
    for (int k = z - 1; k < z + edge + 2; k++)
        for (int j = y - 1; j < y + edge + 2; j++) {
            const char *row = (const char *)(mass + x) + r->y[j + BEFORE] + r->z[k + BEFORE];
            for (int i = 0; i < edge; i += 8) __builtin_prefetch(row + 8 * i, 1, 2);
        }
}

/* Whether this rank's block has all rows of the points of a tile. */
static bool is_present(const struct sorted *s, const struct rows *r, const int64_t *row, int tile)
{
    int first = tile << s->bits, last = tile == s->count - 1 ? r->n : (tile + 1) << s->bits;
    for (int i = first - BEFORE; i < last + AFTER; i++)
        if (row[i + BEFORE] < 0) return false;
    return true;
}

/* Colour of a tile. Tiles at a distance of two have no cell in common; the box is periodic. */
static int colour(int tile, int count)
{
    return count % 2 && tile == count - 1 ? 2 : tile % 2;
}

/* Adds a column of tiles along x, of one mesh, whose items begin at first[x]. */
static void add_column(const struct pk *p, const struct rows *r, const struct sorted *s,
                       bool sample, int column)
{
    int y = column % s->count, z = column / s->count % s->count;
    const int64_t *first = s->first + (int64_t)column * s->count;
    int64_t *const *mass = p->mass[column / s->count / s->count];
    struct kind kind = {.order = sample ? PK_NGP : p->par.order,
                        .meshes = 1 + (p->par.interlace && !sample),
                        .whole = !s->large && is_present(s, r, r->y, y) &&
                                 is_present(s, r, r->z, z)};
    bool large = 8 * p->plane * (size_t)p->fft->count[2] > FAR;
    for (int x = 0; x < s->count; x++) {
        kind.far = large && (first[x + 1] - first[x]) * DENSE < (int64_t)1 << 3 * s->bits;
        bool fetch = kind.whole && x < s->count - 1 && first[x + 2] - first[x + 1] >= FETCH;
        for (int h = 0; h < kind.meshes && fetch; h++)
            fetch_tile(r, s->bits, (int[3]){x + 1, y, z}, mass[h]);
        add_tile(p, r, first[x + 1] - first[x], s->item + first[x], mass, kind);
    }
}

void pk_points(struct pk *p, int64_t n, const struct pk_item *it)
{
    struct rows r;
    struct sorted s;
    rows_init(&r, p);
    sort(&s, p, n, it);
    int columns = s.count * s.count, colours = s.count % 2 ? COLOURS : COLOURS - 1;
#pragma omp parallel
    for (int c = 0; c < colours * colours; c++) {
#pragma omp for schedule(dynamic, 1)
        for (int k = 0; k < columns * p->nmesh; k++)
            if (colour(k % s.count, s.count) == c % colours &&
                colour(k / s.count % s.count, s.count) == c / colours)
                add_column(p, &r, &s, it->size == PK_SAMPLE, k);
    }
    FREE(s.first);
    rows_fini(&r);
}
