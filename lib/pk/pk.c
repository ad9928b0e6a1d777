/* pk: see pk.h. This file has the meshes and the assignment of mass to them; spectra are in
 * spectrum.c. */
#include "pk/pk_priv.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "base/mem.h"
#include "pk/window.h"

enum { BATCH = 65536 }; /* items that a rank sends per round */
enum { PAD = 8 };       /* a cache line */

struct pk *pk_new(const struct comm *c, const struct pk_par *par, int nmesh, double total)
{
    BUG_ON(nmesh < 1 || nmesh > PK_MESHES || par->order < 1 || par->order > 4 || par->fold < 1 ||
           !(total > 0 && isfinite(total)));
    struct pk *p = mem_zero(sizeof *p, "pk");
    p->c = c;
    p->par = *par;
    p->nmesh = nmesh;
    p->fft = fft_new(c, par->n);
    p->pitch = (size_t)par->n + PAD;
    p->plane = (size_t)p->fft->count[1] * p->pitch + WINDOW_REACH * PAD + PAD;
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

/* Position in cells of the mesh, 0 ≤ t < n; h: shifted by half a cell. */
static double in_cells(const struct pk *p, double x, int h)
{
    double n = p->par.n, t = x * p->par.fold;
    t = (t - floor(t)) * n;
    if (t >= n) t = 0;
    return t + 0.5 * h;
}

/* Rows along x are divided among the threads in bands of y: items in order, such as a plane of a
 * lattice, then keep all threads busy. */
struct crew {
    int size, me;
};

static bool owns(const struct crew *c, int y)
{
    return c->size == 1 || (y >> 3) % c->size == c->me;
}

typedef double real4 __attribute__((vector_size(32)));
typedef int64_t long4 __attribute__((vector_size(32), aligned(8), may_alias));

/* row[i] += m w[i], i < 4, rounded as llrint does: adding 1.5·2^52 rounds to the nearest integer,
 * to even. |m| < 2^51. */
static inline void add_four(int64_t *row, double m, const double w[4])
{
    real4 shift = {0x1.8p52, 0x1.8p52, 0x1.8p52, 0x1.8p52}, x;
    memcpy(&x, w, sizeof x);
    x = m * x + shift;
    *(long4 *)row += (long4)x - (long4)shift;
}

/* Of cells first .. first+n−1 along y or z (d = 1, 2) those in the block and this thread's: their
 * number, places and weights. */
static inline __attribute__((always_inline)) int in_block(const struct pk *p,
                                                          const struct crew *crew, int d, int first,
                                                          const int n, int at[], double w[])
{
    int found = 0;
    for (int i = 0; i < n; i++) {
        int c = first + i;
        c = (c < 0 ? c + p->par.n : c >= p->par.n ? c - p->par.n : c) - p->fft->first[d];
        if (c < 0 || c >= p->fft->count[d] || (d == 1 && !owns(crew, c))) continue;
        w[found] = w[i];
        at[found++] = c;
    }
    return found;
}

/* A point within a block; order is a constant where this is inlined. Weights span less than the
 * mesh: wrapping once is enough. */
static inline __attribute__((always_inline)) void assign_point(const struct pk *p,
                                                               const struct pk_item *it, int h,
                                                               const struct crew *crew,
                                                               const int order)
{
    int n = p->par.n, count[3], at[3][WINDOW_REACH], first = 0;
    double w[3][WINDOW_REACH], unit = it->m / p->quantum;
    for (int d = 2; d >= 0; d--) {
        first = window_point(order, in_cells(p, it->x[d], h), w[d]);
        if (d > 0 && (count[d] = in_block(p, crew, d, first, order, at[d], w[d])) == 0) return;
    }
    bool whole = first >= 0 && first + order <= n, small = fabs(unit) < 0x1p50;
    int64_t *mass = p->mass[it->mesh][h];
    for (int k = 0; k < count[2]; k++)
        for (int j = 0; j < count[1]; j++) {
            double m = unit * w[2][k] * w[1][j];
            int64_t *row = mass + (size_t)at[2][k] * p->plane + (size_t)at[1][j] * p->pitch;
            if (order == 4 && whole && small)
                add_four(row + first, m, w[0]);
            else
                for (int i = 0; i < order; i++) row[wrap(first + i, n)] += llrint(m * w[0][i]);
        }
}

/* A cube of any size. */
static void assign_cube(const struct pk *p, const struct pk_item *it, int h,
                        const struct crew *crew, double *room)
{
    int n = p->par.n;
    const struct fft *f = p->fft;
    int64_t *mass = p->mass[it->mesh][h];
    struct reach r[3];
    for (int d = 0; d < 3; d++)
        reach_of(p->par.order, in_cells(p, it->x[d], h), it->size * p->par.fold * n,
                 room + (size_t)d * p->room, &r[d]);
    double unit = it->m / p->quantum;
    for (int k = 0; k < r[2].n; k++) {
        int z = wrap(r[2].first + k, n) - f->first[2];
        if (z < 0 || z >= f->count[2]) continue;
        for (int j = 0; j < r[1].n; j++) {
            int y = wrap(r[1].first + j, n) - f->first[1];
            if (y < 0 || y >= f->count[1] || !owns(crew, y)) continue;
            double m = unit * r[2].w[k] * r[1].w[j];
            int64_t *row = mass + (size_t)z * p->plane + (size_t)y * p->pitch;
            int x = wrap(r[0].first, n);
            for (int i = 0; i < r[0].n; i++) {
                row[x] += llrint(m * r[0].w[i]);
                if (++x == n) x = 0;
            }
        }
    }
}

static void assign(const struct pk *p, const struct pk_item *it, int h, const struct crew *crew,
                   double *room)
{
    if (it->size > 0) {
        assign_cube(p, it, h, crew, room);
        return;
    }
    switch (it->size == PK_SAMPLE ? PK_NGP : p->par.order) {
    case PK_NGP:
        assign_point(p, it, h, crew, 1);
        break;
    case PK_CIC:
        assign_point(p, it, h, crew, 2);
        break;
    case PK_TSC:
        assign_point(p, it, h, crew, 3);
        break;
    case PK_PCS:
        assign_point(p, it, h, crew, 4);
        break;
    }
}

/* Species that a checkpoint does not have need no memory. */
static void need_mesh(struct pk *p, int mesh, bool sample)
{
    size_t bytes = sizeof(int64_t) * (size_t)p->fft->count[2] * p->plane + 1;
    for (int h = 0; h < 1 + (p->par.interlace && !sample); h++)
        if (!p->mass[mesh][h]) p->mass[mesh][h] = mem_zero(bytes, "pk mesh");
}

/* Items that overlap this rank's block. */
static void assign_all(struct pk *p, int64_t n, const struct pk_item *item)
{
    double widest = 0;
    for (int64_t i = 0; i < n; i++) {
        widest = fmax(widest, item[i].size);
        need_mesh(p, item[i].mesh, item[i].size == PK_SAMPLE);
        p->taken += fabs(item[i].m);
    }
    if (!(p->taken <= 2 * p->most)) return; /* cells could overflow: 2^62 units */
    p->room = (size_t)(widest * p->par.fold * p->par.n) + WINDOW_REACH + 3;
#pragma omp parallel
    {
        struct crew crew = {omp_get_num_threads(), omp_get_thread_num()};
        double *room = mem_new(sizeof *room * 3 * p->room, "pk");
        for (int h = 0; h < 1 + p->par.interlace; h++)
            for (int64_t i = 0; i < n; i++)
                if (h == 0 || item[i].size != PK_SAMPLE) assign(p, &item[i], h, &crew, room);
        FREE(room);
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
        int first = (int)floor(in_cells(p, it->x[d], 0) - reach - 0.5),
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

void pk_add(struct pk *p, int64_t n, const struct pk_item *item)
{
    for (int64_t i = 0; i < n; i++) {
        const double *x = item[i].x;
        BUG_ON(item[i].mesh < 0 || item[i].mesh >= p->nmesh ||
               !(isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]) && isfinite(item[i].m)));
        sum_add(&p->m[item[i].mesh], item[i].m);
        if (item[i].size == PK_SAMPLE) p->sampled |= 1u << item[i].mesh;
        if (item[i].size == 0) sum_add(&p->m2[item[i].mesh], item[i].m * item[i].m);
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
