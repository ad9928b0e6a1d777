/* pk/cubes: adds cubes, such as cells of gas, to the meshes.
 *
 * The weight of a mesh cell is a product of three integrals of the spline over the extent of the
 * cube. Cubes that are no larger than a mesh cell need at most five cells along an axis. Cells of
 * an octree come in Morton order. So the weights of small cubes are kept by position along each
 * axis, since most cubes share their coordinates with recent ones. Their masses are collected in a
 * block of the mesh, which is added to the mesh when the next cube is beyond it: the cells of an
 * oct and most of their neighbours share one. Cubes of at most half a mesh cell reach four cells
 * along each axis, the same for all cubes in that half: such a run of cubes is added in registers
 * where these hold a row (pk.rows).
 * The bits are those of one cube and one cell at a time.
 *
 * Threads divide the cubes. A lock for each narrow band of rows along y protects the meshes; blocks
 * have the sums of several cubes, so threads seldom wait. Masses are integers, whose sums do not
 * depend on the order. */
#include <math.h>
#include <omp.h>

#include "base/mem.h"
#include "pk/pk_priv.h"

typedef double window8 __attribute__((vector_size(64)));
typedef uint64_t long8 __attribute__((vector_size(64), may_alias));

enum {
    SLOTS = 32, /* positions along an axis whose weights are kept */
    ROW = 5,    /* maximum cells of a small cube along an axis */
    BLOCK = 8,  /* cells of a block along an axis */
    MARGIN = 4  /* rows before the first and after the last that a small cube can reach */
};

/* Weights of a cube along one axis: cells first .. first + n - 1, not yet wrapped. */
struct reach {
    int first, n;
    double *w;
};

/* Weights of a cube no larger than a cell, and of the cube half a cell further. */
struct small {
    double before[8], w[8]; /* 0; [n], then 0 */
    int first, n;
};
struct kept {
    struct small at[2];
    double x, size; /* size 0: empty */
};

/* Sums that are to be added to the cells first .. end - 1 of a mesh. */
struct block {
    int64_t *mass; /* NULL: empty */
    int first[3], end[3];
    long8 row[BLOCK][BLOCK]; /* [z][y]; 0 but for cells between first and end */
    long8 spare;             /* behind the last row */
};

enum { BAND_BITS = 3 }; /* log2 of the rows of a band */

/* Locks of the bands of this rank's rows along y; NULL: a thread alone needs none. */
struct bands {
    int n;
    omp_lock_t *lock;
};

struct run;
struct crew {
    const struct bands *bands;
    struct block *block;        /* [2] of the mesh and of the shifted one */
    struct kept (*kept)[SLOTS]; /* [3] */
    struct run *run;            /* [2] of the mesh and of the shifted one */
    double *room;               /* memory for the weights of a large cube */
    int *y, *z; /* rows −MARGIN .. n+MARGIN−1 in this rank's block; −1: of another rank */
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

/* ---- adding ---- */

static void band_lock(const struct bands *b, int y)
{
    if (b->lock) omp_set_lock(&b->lock[y >> BAND_BITS]);
}

static void band_unlock(const struct bands *b, int y)
{
    if (b->lock) omp_unset_lock(&b->lock[y >> BAND_BITS]);
}

static void bands_init(struct bands *b, int rows, int threads)
{
    *b = (struct bands){.n = (rows >> BAND_BITS) + 1};
    if (threads == 1) return;
    b->lock = mem_new(sizeof *b->lock * (size_t)b->n, "pk");
    for (int i = 0; i < b->n; i++) omp_init_lock(&b->lock[i]);
}

static void bands_fini(struct bands *b)
{
    for (int i = 0; b->lock && i < b->n; i++) omp_destroy_lock(&b->lock[i]);
    FREE(b->lock);
}

static void add_row(int n, double m, const struct reach *r, int64_t *row)
{
    int x = pk_wrap(r->first, n);
    for (int i = 0; i < r->n; i++) {
        row[x] += llrint(m * r->w[i]);
        if (++x == n) x = 0;
    }
}

/* Adds a cube of any size. */
static void add_large(const struct pk *p, const struct crew *crew, window4 at, double size,
                      int64_t *mass)
{
    int n = p->par.n;
    const struct fft *f = p->fft;
    struct reach r[3];
    for (int d = 0; d < 3; d++)
        reach_of(p->par.order, at[d], size, crew->room + (size_t)d * p->room, &r[d]);
    for (int j = 0; j < r[1].n; j++) {
        int y = pk_wrap(r[1].first + j, n) - f->first[1];
        if (y < 0 || y >= f->count[1]) continue;
        band_lock(crew->bands, y);
        for (int k = 0; k < r[2].n; k++) {
            int z = pk_wrap(r[2].first + k, n) - f->first[2];
            if (z < 0 || z >= f->count[2]) continue;
            add_row(n, at[3] * r[2].w[k] * r[1].w[j], &r[0], mass + pk_row(p, y, z));
        }
        band_unlock(crew->bands, y);
    }
}

/* ---- blocks ---- */

/* Adds a row of a block, `count` cells, to a row of the mesh from cell x on. Cells behind the last
 * one of a row of the mesh are added to their periodic images later. */
static inline void flush_row(int n, int x, int count, const long8 *from, int64_t *row)
{
    long8 sum;
    if (x + BLOCK <= n + PK_AFTER) { /* cells from `count` on are 0 */
        memcpy(&sum, row + x, sizeof sum);
        sum += *from;
        memcpy(row + x, &sum, sizeof sum);
        return;
    }
    for (int i = 0; i < count; i++)
        row[x + i < n + PK_AFTER ? x + i : x + i - n] += (int64_t)(*from)[i];
}

static void flush(const struct pk *p, const struct crew *c, struct block *b)
{
    const int n = p->par.n;
    if (!b->mass) return;
    const int *y = c->y + MARGIN + b->first[1], *z = c->z + MARGIN + b->first[2];
    const int x = pk_wrap(b->first[0], n), count = b->end[0] - b->first[0];
    for (int j = 0; j < b->end[1] - b->first[1]; j++) {
        if (y[j] >= 0) band_lock(c->bands, y[j]);
        for (int k = 0; k < b->end[2] - b->first[2]; k++) {
            if (y[j] >= 0 && z[k] >= 0)
                flush_row(n, x, count, &b->row[k][j], b->mass + pk_row(p, y[j], z[k]));
            b->row[k][j] = (long8){0}; /* also rows of other ranks */
        }
        if (y[j] >= 0) band_unlock(c->bands, y[j]);
    }
    b->mass = NULL;
}

/* Makes room for a cube in the block, which is emptied if the cube is beyond it. */
static void enter(const struct pk *p, const struct crew *c, struct block *b, int64_t *mass,
                  const struct small *const r[3])
{
    bool inside = b->mass == mass;
    for (int d = 0; d < 3 && inside; d++)
        inside = r[d]->first >= b->first[d] && r[d]->first + r[d]->n <= b->first[d] + BLOCK;
    if (!inside) flush(p, c, b);
    b->mass = mass;
    for (int d = 0; d < 3; d++) {
        const int end = r[d]->first + r[d]->n;
        if (!inside) b->first[d] = r[d]->first;
        if (!inside || end > b->end[d]) b->end[d] = end;
    }
}

/* Weights along x as they are placed in the rows of a block. */
static inline window8 in_rows(const struct block *b, const struct small *x)
{
    window8 w;
    memcpy(&w, x->w - (x->first - b->first[0]), sizeof w);
    return w;
}

/* Adds m[i] w[i], i < 8, rounded as by pk_add_four, to a whole row: a load of part of a row would
 * wait for the store of another part. */
static const window8 SHIFT = {0x1.8p52, 0x1.8p52, 0x1.8p52, 0x1.8p52,
                              0x1.8p52, 0x1.8p52, 0x1.8p52, 0x1.8p52};

/* Adds n[2] planes of n[1] rows of n[0] <= ROW cells, whole rows if wide_rows. */
static inline __attribute__((always_inline)) void add_box(const int n[3], bool wide_rows,
                                                          double mass,
                                                          const struct small *const r[3],
                                                          struct block *b)
{
    const double *w = r[0]->w;
    const window8 wide = in_rows(b, r[0]);
    const window4 x = {w[0], w[1], w[2], w[3]};
    const int at = r[0]->first - b->first[0];
    long8(*plane)[BLOCK] = &b->row[r[2]->first - b->first[2]];
    for (int k = 0; k < n[2]; k++) {
        const double part = mass * r[2]->w[k];
        long8 *row = plane[k] + r[1]->first - b->first[1];
        for (int j = 0; j < n[1]; j++) {
            const double m = part * r[1]->w[j];
            int64_t *cell = (int64_t *)&row[j] + at;
            if (wide_rows) {
                row[j] += (long8)(m * wide + SHIFT) - (long8)SHIFT;
                continue;
            }
            pk_add_four((char *)cell, (window4){m, m, m, m}, x);
            if (n[0] == ROW) cell[ROW - 1] += llrint(m * w[ROW - 1]);
        }
    }
}

static void add_rows(bool wide, double mass, const struct small *const r[3], struct block *b)
{
    const int four[3] = {4, 4, 4}, n[3] = {r[0]->n, r[1]->n, r[2]->n};
    const bool fours = n[0] == 4 && n[1] == 4 && n[2] == 4;
    if (wide && fours)
        add_box(four, true, mass, r, b);
    else if (wide)
        add_box(n, true, mass, r, b);
    else if (fours)
        add_box(four, false, mass, r, b);
    else
        add_box(n, false, mass, r, b);
}

/* ---- runs of cubes that reach the same cells, four along each axis ---- */

enum { RUN = 64 };

struct run {
    int n, first[3];
    int64_t *mass;
    struct {
        double mass;
        const struct small *r[3];
    } at[RUN];
};

/* Adds a plane of the cubes of a run. */
static inline void add_plane(const struct run *u, int k, struct block *b)
{
    const struct small *const *first = u->at[0].r;
    long8 sum[4] = {0};
    long8 *row = b->row[first[2]->first - b->first[2] + k] + first[1]->first - b->first[1];
    for (int i = 0; i < u->n; i++) {
        const struct small *const *r = u->at[i].r;
        const window8 x = in_rows(b, r[0]);
        const double part = u->at[i].mass * r[2]->w[k];
        for (int j = 0; j < 4; j++) sum[j] += (long8)(part * r[1]->w[j] * x + SHIFT);
    }
    for (int j = 0; j < 4; j++) row[j] += sum[j] - (uint64_t)u->n * (long8)SHIFT;
}

/* Adds the cubes of a run to the block. */
static void end_run(const struct pk *p, const struct crew *crew, int h)
{
    struct run *u = &crew->run[h];
    struct block *b = &crew->block[h];
    if (!u->n) return;
    enter(p, crew, b, u->mass, u->at[0].r);
    if (u->n == 1)
        add_rows(true, u->at[0].mass, u->at[0].r, b);
    else
        for (int k = 0; k < 4; k++) add_plane(u, k, b);
    u->n = 0;
}

/* Adds a cube to a run, which ends before it if they reach different cells. */
static void join_run(const struct pk *p, const struct crew *crew, const struct small *const r[3],
                     double mass, int h, int64_t *mesh)
{
    struct run *u = &crew->run[h];
    bool same = u->mass == mesh && u->n < RUN;
    for (int d = 0; d < 3; d++) same &= u->first[d] == r[d]->first;
    if (!same) end_run(p, crew, h);
    u->mass = mesh;
    u->at[u->n].mass = mass;
    for (int d = 0; d < 3; d++) {
        u->first[d] = r[d]->first;
        u->at[u->n].r[d] = r[d];
    }
    u->n++;
}

/* Adds a cube no larger than a cell, of the mass `mass` in quanta, to one of two meshes; returns
 * false if it has longer rows or a large mass. */
static bool add_small(const struct pk *p, const struct crew *crew, const struct kept *const k[3],
                      double mass, int h, int64_t *mesh)
{
    const struct small *const r[3] = {&k[0]->at[h], &k[1]->at[h], &k[2]->at[h]};
    const int n[3] = {r[0]->n, r[1]->n, r[2]->n};
    if (n[0] > ROW || n[1] > ROW || n[2] > ROW || !(fabs(mass) < 0x1p50)) return false;
    if (p->rows && n[0] == 4 && n[1] == 4 && n[2] == 4) {
        join_run(p, crew, r, mass, h, mesh);
        return true;
    }
    enter(p, crew, &crew->block[h], mesh, r);
    add_rows(p->rows, mass, r, &crew->block[h]);
    return true;
}

/* Weights along axis d of a cube no larger than a cell. */
static const struct kept *kept_of(const struct pk *p, const struct crew *crew, int d, double x,
                                  double size)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    struct kept *k = &crew->kept[d][bits * 0x9e3779b97f4a7c15u >> 59];
    static_assert(SLOTS == 1 << (64 - 59), "the hash has as many bits");
    if (k->x == x && k->size == size) return k;
    for (int h = 0; h < 2; h++) end_run(p, crew, h); /* runs may use the weights replaced */
    memset(k, 0, sizeof *k);
    for (int h = 0; h < 2; h++) {
        struct reach r;
        reach_of(p->par.order, x + 0.5 * h, size, k->at[h].w, &r);
        k->at[h].first = r.first, k->at[h].n = r.n;
    }
    k->x = x, k->size = size;
    return k;
}

static void add_cube(const struct pk *p, const struct crew *crew, const struct pk_cells *to,
                     const struct pk_item *it)
{
    const double size = it->size * p->par.fold * p->par.n;
    const struct kept *k[3] = {NULL};
    window4 at;
    pk_cells(to, it, &at);
    for (int d = 0; d < 3 && size <= 1; d++) k[d] = kept_of(p, crew, d, at[d], size);
    for (int h = 0; h < 1 + p->par.interlace; h++) {
        int64_t *mesh = p->mass[it->mesh][h];
        if (size <= 1 && add_small(p, crew, k, at[3], h, mesh)) continue;
        add_large(p, crew, at + (window4){0.5 * h, 0.5 * h, 0.5 * h, 0}, size, mesh);
    }
}

/* ---- threads ---- */

static void find_rows(const struct pk *p, struct crew *c)
{
    const struct fft *f = p->fft;
    const int n = p->par.n;
    for (int i = -MARGIN; i < n + MARGIN; i++) {
        const int y = pk_wrap(i, n) - f->first[1], z = pk_wrap(i, n) - f->first[2];
        c->y[i + MARGIN] = y >= 0 && y < f->count[1] ? y : -1;
        c->z[i + MARGIN] = z >= 0 && z < f->count[2] ? z : -1;
    }
}

/* Adds the cubes of one thread. */
static void add_cubes(const struct pk *p, const struct bands *bands, int64_t n,
                      const struct pk_item *it)
{
    const struct pk_cells to = pk_cells_of(p);
    const size_t rows = (size_t)p->par.n + 2 * MARGIN;
    struct crew c = {.bands = bands,
                     .block = mem_zero(sizeof *c.block * 2, "pk"),
                     .kept = mem_zero(sizeof *c.kept * 3, "pk"),
                     .run = mem_zero(sizeof *c.run * 2, "pk"),
                     .room = mem_new(sizeof *c.room * 3 * p->room, "pk"),
                     .y = mem_new(sizeof *c.y * rows, "pk"),
                     .z = mem_new(sizeof *c.z * rows, "pk")};
    find_rows(p, &c);
    for (int64_t i = 0; i < n; i++) add_cube(p, &c, &to, &it[i]);
    for (int h = 0; h < 2; h++) {
        end_run(p, &c, h);
        flush(p, &c, &c.block[h]);
    }
    FREE(c.block);
    FREE(c.kept);
    FREE(c.run);
    FREE(c.room);
    FREE(c.y);
    FREE(c.z);
}

void pk_cubes(struct pk *p, int64_t n, const struct pk_item *it)
{
    double widest = 0;
    struct bands bands;
    for (int64_t i = 0; i < n; i++)
        if (it[i].size > widest) widest = it[i].size;
    p->room = (size_t)(widest * p->par.fold * p->par.n) + WINDOW_REACH + 3;
    bands_init(&bands, p->fft->count[1], omp_get_max_threads());
#pragma omp parallel
    {
        const int64_t me = omp_get_thread_num(), threads = omp_get_num_threads(),
                      first = n * me / threads, last = n * (me + 1) / threads;
        add_cubes(p, &bands, last - first, it + first);
    }
    bands_fini(&bands);
}
