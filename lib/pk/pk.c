/* pk: see pk.h. This file has the meshes and the assignment of mass to them; spectra are in
 * spectrum.c. */
#include "pk/pk_priv.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "base/mem.h"
#include "pk/window.h"

enum { BATCH = 65536 }; /* items that a rank sends per round */

struct pk *pk_new(const struct comm *c, const struct pk_par *par, int nmesh, double total)
{
    BUG_ON(nmesh < 1 || nmesh > PK_MESHES || par->order < 1 || par->order > 4 || par->fold < 1 ||
           !(total > 0 && isfinite(total)));
    struct pk *p = mem_zero(sizeof *p, "pk");
    p->c = c;
    p->par = *par;
    p->nmesh = nmesh;
    p->fft = fft_new(c, par->n);
    p->pitch = (size_t)par->n + PK_PAD;
    p->plane = (size_t)p->fft->count[1] * p->pitch + WINDOW_REACH * PK_PAD + PK_PAD;
    p->quantum = ldexp(1, (int)ceil(log2(total)) - 61);
    p->most = total;
    for (int i = 0; i < nmesh; i++) {
        sum_init(&p->m[i]);
        sum_init(&p->m2[i]);
    }
    return p;
}

void pk_free(struct pk **pp)
{
    struct pk *p = *pp;
    if (!p) return;
    fft_free(&p->fft);
    for (int i = 0; i < PK_MESHES; i++)
        for (int h = 0; h < 2; h++) FREE(p->mass[i][h]);
    FREE(*pp);
}

/* ---- assignment ---- */

/* Weights of a cube along one dimension: cells first .. first + n - 1, not yet wrapped. */
struct reach {
    int first, n;
    double *w;
};

/* x: in cells. The weight is the integral of the spline over the cube's extent. */
static void reach_of(int order, double x, double size, double *room, struct reach *r)
{
    double lo = x - 0.5 * size, hi = x + 0.5 * size, half = 0.5 * order;
    r->first = (int)floor(lo - half + 0.5);
    int last = (int)ceil(hi + half - 0.5) - 1;
    r->n = last - r->first + 1;
    r->w = room;
    for (int i = 0; i < r->n; i++) {
        double centre = r->first + i + 0.5;
        r->w[i] = (window_step(order, hi - centre) - window_step(order, lo - centre)) / size;
    }
}

static int wrap(int i, int n)
{
    i %= n;
    return i < 0 ? i + n : i;
}

/* Position in cells of a mesh of n, 0 ≤ t < n. */
static inline double in_cells(double n, double fold, double x)
{
    double t = x * fold;
    t = (t - floor(t)) * n;
    return t >= n ? 0 : t;
}

/* Rows along x are divided among the threads in bands of y: items in order, such as a plane of a
 * lattice, then keep all threads busy. */
struct crew {
    int size, me;
    /* Where the rows of cells −BEFORE … n+AFTER−1 along y and z begin in a mesh: offsets to add;
     * < 0: not in this rank's block or another thread's. */
    int64_t *y, *z;
    double *room; /* for the weights of a cube */
};

enum {
    BEFORE = PK_BEFORE,
    AFTER = 3,
    POINTS = 64, /* whose weights are computed together */
    /* Successive points are often neighbours, and a load that overlaps a recent store waits for it:
     * they are added in another order. */
    STRIDE = 8,
    FAR = 4 << 20 /* bytes of a mesh whose rows are fetched ahead: caches of a core hold less */
};

static size_t mesh_bytes(const struct pk *p)
{
    return sizeof(int64_t) * (pk_row(p, 0, p->fft->count[2]) + PK_PAD);
}

static bool owns(const struct crew *c, int y)
{
    return c->size == 1 || (y >> 3) % c->size == c->me;
}

static void crew_init(struct crew *c, const struct pk *p)
{
    const struct fft *f = p->fft;
    int n = p->par.n;
    size_t cells = (size_t)(n + BEFORE + AFTER);
    *c = (struct crew){.size = omp_get_num_threads(),
                       .me = omp_get_thread_num(),
                       .y = mem_new(sizeof *c->y * cells, "pk"),
                       .z = mem_new(sizeof *c->z * cells, "pk"),
                       .room = mem_new(sizeof *c->room * 3 * p->room, "pk")};
    for (int i = -BEFORE; i < n + AFTER; i++) {
        int y = wrap(i, n) - f->first[1], z = wrap(i, n) - f->first[2];
        bool in = y >= 0 && y < f->count[1] && owns(c, y);
        c->y[i + BEFORE] = in ? (int64_t)pk_row(p, y, 0) : -1;
        c->z[i + BEFORE] = z >= 0 && z < f->count[2] ? z * (int64_t)p->plane : -1;
    }
}

static void crew_fini(struct crew *c)
{
    FREE(c->y);
    FREE(c->z);
    FREE(c->room);
}

typedef double real4 __attribute__((vector_size(32)));
typedef int64_t long4 __attribute__((vector_size(32), aligned(8), may_alias));

/* Cells and weights of points; those beyond the order of the window are 0. */
struct points {
    int32_t first[3][POINTS];
    double w[3][WINDOW_REACH][POINTS];
};

/* order is a constant where this is inlined. */
static inline __attribute__((always_inline)) void points_find(const struct pk *p, int n,
                                                              const struct pk_item *it, int h,
                                                              const int order, struct points *q)
{
    double cells = p->par.n, fold = p->par.fold, shift = 0.5 * h;
    for (int d = 0; d < 3; d++)
        for (int k = 0; k < n; k++) {
            double w[WINDOW_REACH] = {0};
            q->first[d][k] = window_point(order, in_cells(cells, fold, it[k].x[d]) + shift, w);
            q->w[d][0][k] = w[0];
            q->w[d][1][k] = w[1];
            q->w[d][2][k] = w[2];
            q->w[d][3][k] = w[3];
        }
}

/* row[i] += m w[i], i < 4, rounded as llrint does: adding 1.5·2^52 rounds to the nearest integer,
 * to even. |m| < 2^51. */
static inline void add_four(int64_t *row, double m, const real4 w)
{
    const real4 shift = {0x1.8p52, 0x1.8p52, 0x1.8p52, 0x1.8p52};
    *(long4 *)row += (long4)(m * w + shift) - (long4)shift;
}

/* Point k, some of whose rows are of other threads or ranks. */
static inline void point_add_some(const struct pk *p, const struct points *q, int k, double unit,
                                  int order, const int64_t *y, const int64_t *z, int64_t *mass)
{
    int n = p->par.n, first = q->first[0][k];
    const real4 w = {q->w[0][0][k], q->w[0][1][k], q->w[0][2][k], q->w[0][3][k]};
    bool fast = fabs(unit) < 0x1p50;
    for (int j = 0; j < order; j++)
        for (int i = 0; i < order; i++) {
            double m = unit * q->w[2][j][k] * q->w[1][i][k];
            int64_t *row = mass + z[j] + y[i];
            if (z[j] < 0 || y[i] < 0) continue;
            if (fast) add_four(row + first, m, w);
            for (int c = 0; c < order && !fast; c++) row[wrap(first + c, n)] += llrint(m * w[c]);
        }
}

/* Point k of mass unit quanta; four cells of a row at a time. */
static inline __attribute__((always_inline)) void point_add(const struct pk *p,
                                                            const struct crew *crew,
                                                            const struct points *q, int k,
                                                            double unit, const int order,
                                                            int64_t *mass)
{
    int first = q->first[0][k];
    const int64_t *y = crew->y + BEFORE + q->first[1][k], *z = crew->z + BEFORE + q->first[2][k];
    const real4 w = {q->w[0][0][k], q->w[0][1][k], q->w[0][2][k], q->w[0][3][k]};
    int64_t absent = 0;
    for (int i = 0; i < order; i++) absent |= y[i] | z[i];
    if (absent < 0 || !(fabs(unit) < 0x1p50)) {
        point_add_some(p, q, k, unit, order, y, z, mass);
        return;
    }
    for (int j = 0; j < order; j++) {
        double m = unit * q->w[2][j][k];
#pragma GCC unroll 4
        for (int i = 0; i < order; i++) add_four(mass + first + z[j] + y[i], m * q->w[1][i][k], w);
    }
}

/* Its rows, for a mesh that does not fit into the caches. */
static inline __attribute__((always_inline)) void point_fetch(const struct crew *crew,
                                                              const struct points *q, int k,
                                                              const int order, const int64_t *mass)
{
    const int64_t *y = crew->y + BEFORE + q->first[1][k], *z = crew->z + BEFORE + q->first[2][k];
    const int64_t *middle = mass + q->first[0][k] + order / 2;
    for (int j = 0; j < order; j++)
#pragma GCC unroll 4
        for (int i = 0; i < order; i++) __builtin_prefetch(middle + z[j] + y[i], 1);
}

/* far: a point's rows are fetched while the one before is added. */
static inline __attribute__((always_inline)) void points_add(const struct pk *p,
                                                             const struct crew *crew, int n,
                                                             const struct pk_item *it,
                                                             const int order, const bool far)
{
    struct points q;
    double unit[POINTS];
    for (int k = 0; k < n; k++) unit[k] = it[k].m / p->quantum;
    for (int h = 0; h < 1 + (p->par.interlace && it->size != PK_SAMPLE); h++) {
        points_find(p, n, it, h, order, &q);
        for (int s = 0; s < STRIDE; s++)
            for (int k = s; k < n; k += STRIDE) {
                int next = k + STRIDE < n ? k + STRIDE : s + 1;
                if (far && next < n) point_fetch(crew, &q, next, order, p->mass[it[next].mesh][h]);
                point_add(p, crew, &q, k, unit[k], order, p->mass[it[k].mesh][h]);
            }
    }
}

/* A cube of any size. */
static void assign_cube(const struct pk *p, const struct crew *crew, const struct pk_item *it,
                        int h)
{
    int n = p->par.n;
    const struct fft *f = p->fft;
    int64_t *mass = p->mass[it->mesh][h];
    struct reach r[3];
    for (int d = 0; d < 3; d++)
        reach_of(p->par.order, in_cells(n, p->par.fold, it->x[d]) + 0.5 * h,
                 it->size * p->par.fold * n, crew->room + (size_t)d * p->room, &r[d]);
    double unit = it->m / p->quantum;
    for (int k = 0; k < r[2].n; k++) {
        int z = wrap(r[2].first + k, n) - f->first[2];
        if (z < 0 || z >= f->count[2]) continue;
        for (int j = 0; j < r[1].n; j++) {
            int y = wrap(r[1].first + j, n) - f->first[1];
            if (y < 0 || y >= f->count[1] || !owns(crew, y)) continue;
            double m = unit * r[2].w[k] * r[1].w[j];
            int64_t *row = mass + pk_row(p, y, z);
            int x = wrap(r[0].first, n);
            for (int i = 0; i < r[0].n; i++) {
                row[x] += llrint(m * r[0].w[i]);
                if (++x == n) x = 0;
            }
        }
    }
}

/* Items of one kind: cubes, points or samples; at most POINTS of them. */
static void assign(const struct pk *p, const struct crew *crew, int n, const struct pk_item *it)
{
    if (it->size > 0) {
        for (int h = 0; h < 1 + p->par.interlace; h++)
            for (int k = 0; k < n; k++) assign_cube(p, crew, &it[k], h);
        return;
    }
    bool far = mesh_bytes(p) > FAR;
    switch (it->size == PK_SAMPLE ? PK_NGP : p->par.order) {
    case PK_NGP:
        far ? points_add(p, crew, n, it, 1, true) : points_add(p, crew, n, it, 1, false);
        break;
    case PK_CIC:
        far ? points_add(p, crew, n, it, 2, true) : points_add(p, crew, n, it, 2, false);
        break;
    case PK_TSC:
        far ? points_add(p, crew, n, it, 3, true) : points_add(p, crew, n, it, 3, false);
        break;
    case PK_PCS:
        far ? points_add(p, crew, n, it, 4, true) : points_add(p, crew, n, it, 4, false);
        break;
    }
}

static bool same_kind(const struct pk_item *a, const struct pk_item *b)
{
    return (a->size > 0) == (b->size > 0) && (a->size == PK_SAMPLE) == (b->size == PK_SAMPLE);
}

/* Species that a checkpoint does not have need no memory. */
static void need_mesh(struct pk *p, int mesh, bool sample)
{
    for (int h = 0; h < 1 + (p->par.interlace && !sample); h++)
        if (!p->mass[mesh][h]) p->mass[mesh][h] = mem_zero(mesh_bytes(p), "pk mesh");
}

/* Items that overlap this rank's block. */
static void assign_all(struct pk *p, int64_t n, const struct pk_item *item)
{
    double widest = 0;
    for (int64_t i = 0; i < n; i++) {
        widest = item[i].size > widest ? item[i].size : widest;
        if (i == 0 || item[i].mesh != item[i - 1].mesh || !same_kind(&item[i - 1], &item[i]))
            need_mesh(p, item[i].mesh, item[i].size == PK_SAMPLE);
        p->taken += fabs(item[i].m);
    }
    if (!(p->taken <= 2 * p->most)) return; /* cells could overflow: 2^62 units */
    p->room = (size_t)(widest * p->par.fold * p->par.n) + WINDOW_REACH + 3;
#pragma omp parallel
    {
        struct crew crew;
        crew_init(&crew, p);
        for (int64_t i = 0, end; i < n; i = end) {
            for (end = i + 1; end < n && end < i + POINTS && same_kind(&item[i], &item[end]);)
                end++;
            assign(p, &crew, (int)(end - i), &item[i]);
        }
        crew_fini(&crew);
    }
}

/* ---- items to the ranks whose rows they touch ---- */

/* Parts of the mesh along one axis that cells first .. first+n-1 overlap: 1 in hit[part]. */
static void meet(int first, int n, int cells, const int *part_of, unsigned char *hit)
{
    if (n > cells) n = cells;
    for (int i = 0; i < n; i++) hit[part_of[wrap(first + i, cells)]] = 1;
}

/* Ranks (ascending) that need the item. */
static int ranks_of(const struct pk *p, const struct pk_item *it, unsigned char *hit, int *rank)
{
    int n = p->par.n, ny = p->grid[0], nz = p->grid[1], found = 0;
    memset(hit, 0, (size_t)(ny + nz));
    for (int d = 1; d < 3; d++) {
        double size = fmax(it->size, 0) * p->par.fold * n, reach = 0.5 * (size + p->par.order);
        int first = (int)floor(in_cells(n, p->par.fold, it->x[d]) - reach - 0.5),
            cells = (int)ceil(2 * reach) + 3;
        meet(first, cells, n, p->part[d - 1], hit + (d == 1 ? 0 : ny));
    }
    for (int z = 0; z < nz; z++)
        for (int y = 0; y < ny; y++)
            if (hit[y] && hit[ny + z]) rank[found++] = y + ny * z;
    return found;
}

/* The grid of ranks, from the owners of the rows of the mesh. */
static void learn_grid(struct pk *p)
{
    int n = p->par.n;
    for (int d = 0; d < 2; d++) p->part[d] = mem_new(sizeof(int) * (size_t)n, "pk");
    p->grid[0] = fft_rank(p->fft, n - 1, 0) + 1;
    p->grid[1] = p->c->size / p->grid[0];
    for (int i = 0; i < n; i++) {
        p->part[0][i] = fft_rank(p->fft, i, 0);
        p->part[1][i] = fft_rank(p->fft, 0, i) / p->grid[0];
    }
}

static void forget_grid(struct pk *p)
{
    FREE(p->part[0]);
    FREE(p->part[1]);
}

/* One round: at most BATCH items of this rank. */
static void send_batch(struct pk *p, int64_t n, const struct pk_item *item)
{
    int size = p->c->size;
    unsigned char *hit = mem_new((size_t)(p->grid[0] + p->grid[1]), "pk");
    int *rank = mem_new(sizeof *rank * (size_t)size, "pk");
    int64_t *count = mem_zero(sizeof *count * (size_t)size, "pk"),
            *next = mem_zero(sizeof *next * (size_t)size, "pk");
    int64_t total = 0, got;
    for (int64_t i = 0; i < n; i++)
        for (int k = ranks_of(p, &item[i], hit, rank); k > 0; k--) count[rank[k - 1]]++;
    for (int r = 0; r < size; total += count[r], r++) next[r] = total;
    struct pk_item *out = mem_new(sizeof *out * (size_t)total + 1, "pk");
    for (int64_t i = 0; i < n; i++)
        for (int k = ranks_of(p, &item[i], hit, rank); k > 0; k--)
            out[next[rank[k - 1]]++] = item[i];
    struct pk_item *in = comm_exchange_all(p->c, out, count, sizeof *out, &got, NULL);
    assign_all(p, got, in);
    FREE(in);
    FREE(out);
    FREE(next);
    FREE(count);
    FREE(rank);
    FREE(hit);
}

/* Sums of masses, of items of one kind on one mesh. */
static void count_masses(struct pk *p, int n, const struct pk_item *item)
{
    double m[SUM_BATCH], m2[SUM_BATCH], zero = 0;
    for (int i = 0; i < n; i++) {
        const double *x = item[i].x;
        zero += 0 * x[0] + 0 * x[1] + 0 * x[2] + 0 * item[i].m;
        m[i] = item[i].m;
        m2[i] = item[i].size == 0 ? m[i] * m[i] : 0; /* a lattice has no shot noise */
    }
    BUG_ON(item->mesh < 0 || item->mesh >= p->nmesh || zero != 0); /* NaN: not finite */
    sum_add_many(&p->m[item->mesh], n, m);
    if (item->size == PK_SAMPLE) p->sampled |= 1u << item->mesh;
    if (item->size <= 0) sum_add_many(&p->m2[item->mesh], n, m2);
}

void pk_add(struct pk *p, int64_t n, const struct pk_item *item)
{
    for (int64_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && end < i + SUM_BATCH && same_kind(&item[i], &item[end]) &&
                          item[end].mesh == item[i].mesh;)
            end++;
        count_masses(p, (int)(end - i), &item[i]);
    }
    if (p->c->size == 1) {
        assign_all(p, n, item);
        return;
    }
    int64_t rounds = (n + BATCH - 1) / BATCH;
    comm_max_i64(p->c, &rounds, 1);
    learn_grid(p);
    for (int64_t r = 0; r < rounds; r++) {
        int64_t first = r * BATCH < n ? r * BATCH : n, last = first + BATCH < n ? first + BATCH : n;
        send_batch(p, last - first, item + first);
    }
    forget_grid(p);
}
