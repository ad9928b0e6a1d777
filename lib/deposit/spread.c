/* deposit/spread: the gas of the octree. Threads compute the shares of some particles, in any
 * order; one thread then adds them up in the order of the particles. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "deposit/deposit.h"
#include "deposit/priv.h"

enum { GROUP = 2048 };             /* particles whose shares are in memory at once */
static const double LEAST = 1e-12; /* smaller shares are left out */
/* Sample points: their distance at most, in smoothing lengths, and their number in a cell. */
static const double SPACING = 2. / 3;
enum { POINTS = 10 * 10 * 10 };

struct share {
    int level;
    int64_t cell;
    double weight;
};

struct shares {
    struct share *share;
    int64_t n, room;
};

/* A particle, or an image of it, in units of the cube: a box of its kernel, within the domain. */
struct image {
    const struct deposit *d;
    const struct deposit_kernel *kernel;
    double x[3], h, reach2, lo[3], hi[3];
    bool all; /* the box has all of the kernel */
    struct shares *to;
};

/* The integral of the kernel over a box, but for a constant factor. */
static double integral(const struct image *m, const double lo[3], const double hi[3])
{
    int n[3], points = 0;
    double step[3], q[POINTS], sum = 0;
    for (int d = 0; d < 3; d++) {
        n[d] = (int)ceil((hi[d] - lo[d]) / (SPACING * m->h));
        if (n[d] < 1) n[d] = 1;
        step[d] = (hi[d] - lo[d]) / n[d];
    }
    for (int k = 0; k < n[2]; k++)
        for (int j = 0; j < n[1]; j++) {
            const double z = lo[2] + (k + 0.5) * step[2] - m->x[2],
                         y = lo[1] + (j + 0.5) * step[1] - m->x[1], far = z * z + y * y;
            for (int i = 0; i < n[0]; i++) {
                const double x = lo[0] + (i + 0.5) * step[0] - m->x[0];
                q[points++] = far + x * x;
            }
        }
    for (int i = 0; i < points; i++) q[i] = sqrt(q[i]) / m->h;
    m->kernel->f(points, q);
    for (int i = 0; i < points; i++) sum += q[i];
    return sum * (step[0] * step[1] * step[2]) / (m->h * m->h * m->h);
}

static void add_leaf(const struct image *m, int level, int64_t cell, const double lo[3],
                     const double hi[3])
{
    struct shares *s = m->to;
    bool all = m->all;
    for (int d = 0; d < 3; d++) all &= lo[d] == m->lo[d] && hi[d] == m->hi[d];
    const double weight = all ? 1 : integral(m, lo, hi);
    if (!(weight > 0)) return;
    MEM_ROOM(s->share, s->n, s->room, 64, "deposit");
    s->share[s->n++] = (struct share){level, cell, weight};
}

/* A half of an oct along an axis: what of it the kernel's box has, and the square of its distance
 * from the particle. */
struct half {
    double lo, hi, far;
};

static struct half half_of(const struct image *m, int axis, double at, double width)
{
    struct half a = {.lo = at > m->lo[axis] ? at : m->lo[axis],
                     .hi = at + width < m->hi[axis] ? at + width : m->hi[axis]};
    const double x = m->x[axis], dx = x < a.lo ? a.lo - x : x > a.hi ? x - a.hi : 0;
    a.far = a.hi > a.lo ? dx * dx : INFINITY;
    return a;
}

/* Visits the cells of an oct with this lower corner. */
static void walk(const struct image *m, int level, int64_t oct, const double corner[3],
                 double width)
{
    const struct deposit_level *l = &m->d->level[level];
    struct half half[3][2];
    for (int d = 0; d < 3; d++)
        for (int k = 0; k < 2; k++) half[d][k] = half_of(m, d, corner[d] + k * width, width);
    for (int c = 0; c < 8; c++) {
        const int at[3] = {c & 1, c >> 1 & 1, c >> 2};
        const struct half *x = &half[0][at[0]], *y = &half[1][at[1]], *z = &half[2][at[2]];
        if (!(x->far + y->far + z->far < m->reach2)) continue;
        const int64_t cell = 8 * oct + c, child = l->child[cell];
        if (child < 0) {
            add_leaf(m, level, cell, (double[3]){x->lo, y->lo, z->lo},
                     (double[3]){x->hi, y->hi, z->hi});
            continue;
        }
        double next[3];
        for (int d = 0; d < 3; d++) next[d] = corner[d] + at[d] * width;
        walk(m, level + 1, child, next, 0.5 * width);
    }
}

/* Divides weights by their sum, without the tiny ones. */
static void normalise(struct shares *s)
{
    double all = 0, sum = 0;
    int64_t n = 0;
    for (int64_t i = 0; i < s->n; i++) all += s->share[i].weight;
    for (int64_t i = 0; i < s->n; i++)
        if (s->share[i].weight > LEAST * all) s->share[n++] = s->share[i];
    s->n = n;
    for (int64_t i = 0; i < n; i++) sum += s->share[i].weight;
    for (int64_t i = 0; i < n; i++) s->share[i].weight /= sum;
}

/* One image: whether its kernel meets the domain. */
static bool place_image(struct image *m, const double x[3], const double shift[3])
{
    const struct deposit_cube *c = &m->d->cube;
    const double reach = m->kernel->support * m->h;
    bool meets = true;
    m->all = true;
    for (int d = 0; d < 3; d++) {
        m->x[d] = x[d] + shift[d];
        m->lo[d] = m->x[d] - reach, m->hi[d] = m->x[d] + reach;
        m->all &= m->lo[d] >= c->lo[d] && m->hi[d] <= c->hi[d];
        m->lo[d] = fmax(m->lo[d], c->lo[d]), m->hi[d] = fmin(m->hi[d], c->hi[d]);
        meets &= m->hi[d] > m->lo[d];
    }
    return meets;
}

/* A kernel as wide as the period, or as the cube, is as good as any wider one. */
static void share_out(const struct deposit *d, const struct deposit_gas *g, int64_t i,
                      struct shares *to)
{
    struct image m = {.d = d, .kernel = deposit_kernel(g->kernel), .to = to};
    const double *period = d->cube.period;
    double x[3];
    to->n = 0;
    m.h = g->h[i] / d->cube.side;
    for (int k = 0; k < 3; k++) {
        x[k] = deposit_place(&d->cube, k, g->x[k][i]);
        m.h = fmin(m.h, (period[k] > 0 ? period[k] : 1) / m.kernel->support);
    }
    m.reach2 = m.kernel->support * m.kernel->support * m.h * m.h;
    for (int k = 0; k < 27; k++) {
        const int at[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
        double shift[3];
        bool there = true;
        for (int a = 0; a < 3; a++) shift[a] = at[a] * period[a], there &= !at[a] || period[a] > 0;
        if (there && place_image(&m, x, shift)) walk(&m, 1, 0, (double[3]){0, 0, 0}, 0.5);
    }
    normalise(to);
}

static void add_up(struct deposit *d, const struct deposit_gas *g, int64_t i,
                   const struct shares *s)
{
    const double m = g->mass, v[3] = {g->v[0][i], g->v[1][i], g->v[2][i]};
    const double e = m * (g->e[i] + 0.5 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
    for (int64_t k = 0; k < s->n; k++) {
        const double w = s->share[k].weight;
        double *q = d->level[s->share[k].level].value[s->share[k].cell];
        q[0] += w * m;
        for (int a = 0; a < 3; a++) q[1 + a] += w * (m * v[a]);
        q[4] += w * e;
    }
}

/* ---- from sums of cells to densities ---- */

static void fill_empty(struct deposit *d, double mass, double energy)
{
    const double side = d->cube.side, volume = side * side * side;
    d->floor = mass > 0 ? DEPOSIT_FLOOR * mass / volume : DEPOSIT_FLOOR;
    for (int l = 1; l <= d->levelmax; l++)
        for (int64_t i = 0; i < 8 * d->level[l].n; i++) {
            double *q = d->level[l].value[i];
            if (d->level[l].child[i] >= 0 || q[0] > 0) continue;
            q[0] = d->floor * ldexp(volume, -3 * l);
            q[4] = mass > 0 ? q[0] * (energy / mass) : q[0];
        }
}

/* Sums of coarser cells, finest level first; then all become densities. */
static void finish(struct deposit *d)
{
    const double side = d->cube.side;
    for (int l = d->levelmax; l >= 1; l--) {
        struct deposit_level *a = &d->level[l];
        for (int64_t i = 0; i < 8 * a->n; i++) {
            const int64_t child = a->child[i];
            for (int c = 0; child >= 0 && c < 8; c++)
                for (int k = 0; k < DEPOSIT_VALUES; k++)
                    a->value[i][k] += d->level[l + 1].value[8 * child + c][k];
        }
    }
    for (int l = 1; l <= d->levelmax; l++) {
        const double volume = ldexp(side * side * side, -3 * l);
        for (int64_t i = 0; i < 8 * d->level[l].n; i++)
            for (int k = 0; k < DEPOSIT_VALUES; k++) d->level[l].value[i][k] /= volume;
    }
}

void deposit_fill(struct deposit *d, const struct deposit_gas *g)
{
    struct deposit_point *p = NULL;
    struct shares *s = mem_zero(sizeof *s * GROUP, "deposit");
    double energy = 0;
    BUG_ON(deposit_sort(g, &d->cube, &p) != OK); /* as deposit_new has found */
    for (int l = 1; l <= d->levelmax; l++) {
        struct deposit_level *a = &d->level[l];
        a->value = mem_zero(sizeof *a->value * 8 * (size_t)a->n, "deposit");
    }
    for (int64_t first = 0; first < g->n; first += GROUP) {
        const int64_t n = g->n - first < GROUP ? g->n - first : GROUP;
#pragma omp parallel for schedule(dynamic, 16)
        for (int64_t i = 0; i < n; i++) share_out(d, g, p[first + i].at, &s[i]);
        for (int64_t i = 0; i < n; i++) add_up(d, g, p[first + i].at, &s[i]);
    }
    for (int64_t i = 0; i < g->n; i++) energy += g->mass * g->e[p[i].at];
    fill_empty(d, (double)g->n * g->mass, energy);
    finish(d);
    for (int i = 0; i < GROUP; i++) FREE(s[i].share);
    FREE(s);
    FREE(p);
}
