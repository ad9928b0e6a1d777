/* pk/cubes: adds cubes, such as cells of gas, to the meshes.
 *
 * The weight of a mesh cell is a product of three integrals of the spline over the extent of the
 * cube. Those of cubes that are no larger than a mesh cell are kept by position along each axis:
 * cells of an octree come in Morton order, and most share their three coordinates with recent
 * ones. Their rows of at most five cells are added four cells at a time, with the bits of one at a
 * time. Rows along x are divided among the threads in narrow bands of y: consecutive cubes, such as
 * a plane of a lattice, then keep all threads busy. */
#include <math.h>
#include <omp.h>

#include "base/mem.h"
#include "pk/pk_priv.h"

enum {
    SLOTS = 64, /* positions along an axis whose weights are kept */
    ROW = 5,    /* cells of a row that can be added without wrapping each */
    MARGIN = 4  /* rows before the first and after the last that a small cube can reach */
};

/* Weights of a cube along one axis: cells first .. first + n - 1, not yet wrapped. */
struct reach {
    int first, n;
    double *w;
};

/* The same for a cube that is no larger than a cell. */
struct kept {
    double x, size; /* size 0: empty */
    int first, n;
    double w[ROW + 3];
};

struct crew {
    int size, me;
    struct kept (*kept)[SLOTS]; /* [3] */
    double *room;               /* memory for the weights of a large cube */
    int64_t *y, *z; /* offsets of rows −MARGIN .. n+MARGIN−1; −1: of another thread or rank */
};

/* ---- weights ---- */

/* Computes the weights of a cube at x (in cells): integrals of the spline over the extent of the
 * cube. */
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

static const struct kept *kept_of(struct kept slot[SLOTS], int order, double x, double size)
{
    uint64_t bits;
    struct reach r;
    memcpy(&bits, &x, sizeof bits);
    struct kept *k = &slot[bits * 0x9e3779b97f4a7c15u >> 58];
    static_assert(SLOTS == 1 << (64 - 58), "the hash has as many bits");
    if (k->x == x && k->size == size) return k;
    memset(k, 0, sizeof *k);
    reach_of(order, x, size, k->w, &r);
    k->x = x, k->size = size, k->first = r.first, k->n = r.n;
    return k;
}

/* ---- adding ---- */

static bool owns(const struct crew *c, int y)
{
    return c->size == 1 || (y >> 3) % c->size == c->me;
}

/* Assigns a cube of any size. */
static void add_large(const struct pk *p, const struct crew *crew, window4 at, double size,
                      int64_t *mass)
{
    int n = p->par.n;
    const struct fft *f = p->fft;
    struct reach r[3];
    for (int d = 0; d < 3; d++)
        reach_of(p->par.order, at[d], size, crew->room + (size_t)d * p->room, &r[d]);
    for (int k = 0; k < r[2].n; k++) {
        int z = pk_wrap(r[2].first + k, n) - f->first[2];
        if (z < 0 || z >= f->count[2]) continue;
        for (int j = 0; j < r[1].n; j++) {
            int y = pk_wrap(r[1].first + j, n) - f->first[1];
            if (y < 0 || y >= f->count[1] || !owns(crew, y)) continue;
            double m = at[3] * r[2].w[k] * r[1].w[j];
            int64_t *row = mass + pk_row(p, y, z);
            int x = pk_wrap(r[0].first, n);
            for (int i = 0; i < r[0].n; i++) {
                row[x] += llrint(m * r[0].w[i]);
                if (++x == n) x = 0;
            }
        }
    }
}

/* Adds a cube no larger than a cell; returns false if it has longer rows or a large mass. Cells
 * behind the last of a row are added to their periodic images later. */
static bool add_small(const struct pk *p, const struct crew *crew, window4 at, double size,
                      int64_t *mass)
{
    const struct kept *r[3];
    for (int d = 0; d < 3; d++) r[d] = kept_of(crew->kept[d], p->par.order, at[d], size);
    if (r[0]->n > ROW || !(fabs(at[3]) < 0x1p50)) return false;
    const int64_t *y = crew->y + MARGIN + r[1]->first, *z = crew->z + MARGIN + r[2]->first;
    const int n = r[0]->n;
    const double *w = r[0]->w;
    const window4 x = {w[0], w[1], w[2], w[3]};
    mass += pk_wrap(r[0]->first, p->par.n);
    for (int k = 0; k < r[2]->n; k++) {
        const double plane = at[3] * r[2]->w[k];
        for (int j = 0; j < r[1]->n && z[k] >= 0; j++) {
            if (y[j] < 0) continue;
            const double m = plane * r[1]->w[j];
            int64_t *row = mass + z[k] + y[j];
            pk_add_four((char *)row, (window4){m, m, m, m}, x);
            if (n == ROW) row[ROW - 1] += llrint(m * w[ROW - 1]);
        }
    }
    return true;
}

static void add_cube(const struct pk *p, const struct crew *crew, const struct pk_cells *to,
                     const struct pk_item *it)
{
    const double size = it->size * p->par.fold * p->par.n;
    window4 at;
    pk_cells(to, it, &at);
    for (int h = 0; h < 1 + p->par.interlace; h++) {
        const window4 shifted = at + (window4){0.5 * h, 0.5 * h, 0.5 * h, 0};
        int64_t *mass = p->mass[it->mesh][h];
        if (size > 1 || !add_small(p, crew, shifted, size, mass))
            add_large(p, crew, shifted, size, mass);
    }
}

/* ---- threads ---- */

/* Rows of this thread: pk_row(p, y, z) is y's offset plus z's. */
static void find_rows(const struct pk *p, struct crew *c)
{
    const struct fft *f = p->fft;
    const int n = p->par.n;
    for (int i = -MARGIN; i < n + MARGIN; i++) {
        const int y = pk_wrap(i, n) - f->first[1], z = pk_wrap(i, n) - f->first[2];
        const bool mine = y >= 0 && y < f->count[1] && owns(c, y);
        c->y[i + MARGIN] = mine ? (int64_t)pk_row(p, y, 0) : -1;
        c->z[i + MARGIN] = z >= 0 && z < f->count[2] ? z * (int64_t)p->plane : -1;
    }
}

void pk_cubes(struct pk *p, int64_t n, const struct pk_item *it)
{
    const struct pk_cells to = pk_cells_of(p);
    const size_t rows = (size_t)p->par.n + 2 * MARGIN;
    double widest = 0;
    for (int64_t i = 0; i < n; i++)
        if (it[i].size > widest) widest = it[i].size;
    p->room = (size_t)(widest * p->par.fold * p->par.n) + WINDOW_REACH + 3;
#pragma omp parallel
    {
        struct crew c = {.size = omp_get_num_threads(),
                         .me = omp_get_thread_num(),
                         .kept = mem_zero(sizeof *c.kept * 3, "pk"),
                         .room = mem_new(sizeof *c.room * 3 * p->room, "pk"),
                         .y = mem_new(sizeof *c.y * rows, "pk"),
                         .z = mem_new(sizeof *c.z * rows, "pk")};
        find_rows(p, &c);
        for (int64_t i = 0; i < n; i++) add_cube(p, &c, &to, &it[i]);
        FREE(c.kept);
        FREE(c.room);
        FREE(c.y);
        FREE(c.z);
    }
}
