/* movie/cells: the gas of a block of octs: values of its cells, weights, and who sees them. */
#include <math.h>

#include "movie/priv.h"
#include "oct/gas_kern.h"

/* Values of the cells of a block, [PAINT_CELLS] each. */
enum { RHO, INVERSE, VX, VY, VZ, ENERGY, PRESSURE, SCRATCH };
enum { FIRST = SCRATCH + 1 };
_Static_assert(FIRST + MOVIE_VARIABLES <= PAINT_ROWS, "rows of a painter");

/* ---- which octs ---- */

/* Whether a camera may see the cube of all octs from the first to the last of the block. */
static bool sees(const struct paint *p, const struct plan *k, const struct block *b)
{
    int up = 0;
    okey first = b->key[0], last = b->key[b->n - 1];
    while (first != last) first >>= 3, last >>= 3, up++;
    const double dx = p->head->boxlen / ldexp(1, b->level - 1 - up);
    const double *ext = k->foot[b->level].ext;
    double x[3], side[3], at[3];
    okey_cell_centre(first >> 3, (int)(first & 7), dx, x);
    if (k->view.law.perspective) return true;
    for (int d = 0; d < 3; d++) x[d] -= k->view.centre[d];
    view_turn(&k->view, x, at);
    for (int d = 0; d < 3; d++) side[d] = (k->view.turned ? sqrt(3) : 1) * dx / 2 + ext[d];
    return !raster_misses(&k->view, at, side);
}

/* Whether the octs of a block are those of a cube of 4³ octs, none of which has children. */
static bool is_cube(const struct paint *p, const struct block *b)
{
    uint64_t split[PAINT_OCTS / 8], any = 0;
    if (p->ndim != 3 || b->n != PAINT_OCTS || b->key[0] % PAINT_OCTS != 0) return false;
    if (b->key[PAINT_OCTS - 1] - b->key[0] != PAINT_OCTS - 1) return false;
    memcpy(split, b->split, sizeof split);
    for (int i = 0; i < PAINT_OCTS / 8; i++) any |= split[i];
    return any == 0;
}

/* In a cube, bits d and 3 + d of an oct's number are those of its place along axis d. */
static void list_cube(const struct block *b, struct cells *c)
{
    int64_t x[3];
    okey_coords(b->key[0], x);
    c->n = PAINT_OCTS;
    memset(c->drawn, 255, sizeof c->drawn);
    for (int i = 0; i < PAINT_OCTS; i++) c->at[i] = i;
    for (int d = 0; d < 3; d++)
        for (int i = 0; i < PAINT_OCTS; i++)
            c->x[d][i] = (int32_t)x[d] + (i >> d & 1) + 2 * (i >> (3 + d) & 1);
}

/* Lists the octs that have cells to be drawn. */
static void choose(const struct paint *p, const struct block *b, struct cells *c)
{
    const unsigned all = (1u << (1 << p->ndim)) - 1;
    c->level = b->level, c->n = 0, c->seen = 0;
    for (int k = 0; k < p->ncamera; k++)
        if (sees(p, &p->plan[k], b)) c->seen |= 1u << k;
    c->cube = c->seen && is_cube(p, b);
    if (c->cube) list_cube(b, c);
    for (int i = 0; !c->cube && c->seen && i < b->n; i++) {
        const unsigned drawn = b->level < p->movie.levelmax ? ~(unsigned)b->split[i] & all : all;
        int64_t x[3];
        if (!drawn) continue;
        okey_coords(b->key[i], x);
        for (int d = 0; d < 3; d++) c->x[d][c->n] = (int32_t)x[d];
        c->drawn[c->n] = (unsigned char)drawn;
        c->at[c->n++] = i;
    }
}

/* ---- values ---- */

/* The gas of a block: rows of the mesh itself if all octs of the block are drawn, or of the
 * painter. */
struct fluid {
    const double *rho, *inverse, *v[3], *pressure;
};

static double *row(const struct painter *a, int v)
{
    return a->value + (size_t)v * PAINT_CELLS;
}

/* The rows of the octs that are drawn; `to`: room for them. */
static const double *gather(double *to, const double (*from)[8], const struct block *b,
                            const struct cells *c)
{
    if (c->n == b->n) return from[0];
    for (int i = 0; i < c->n; i++) memcpy(to + 8 * i, from[c->at[i]], sizeof from[0]);
    return to;
}

static void add_square(double *restrict to, const double (*l)[8], const double (*r)[8],
                       const struct cells *c)
{
    for (int i = 0; i < c->n; i++)
        for (int k = 0; k < 8; k++) {
            const double b = 0.5 * (l[c->at[i]][k] + r[c->at[i]][k]);
            to[8 * i + k] += 0.5 * (b * b);
        }
}

static void magnetic_pressure(double *restrict to, const struct block *b, const struct cells *c)
{
    for (int i = 0; i < 8 * c->n; i++) to[i] = 0;
    for (int d = 0; d < 3; d++) add_square(to, b->b[2 * d], b->b[2 * d + 1], c);
}

static void multiply(double *restrict to, const double *x, const double *y, int n)
{
    for (int i = 0; i < n; i++) to[i] = x[i] * y[i];
}

static void thermal(const struct fluid *f, const double *e, double gamma, int n,
                    double *restrict to)
{
    const double *rho = f->rho, *vx = f->v[0], *vy = f->v[1], *vz = f->v[2];
    for (int i = 0; i < n; i++)
        to[i] = gas_pressure(gas_internal_v(e[i], rho[i], vx[i], vy[i], vz[i]), gamma);
}

/* Energy of the gas without that of fields and of other kinds. */
static const double *energy(const struct paint *p, const struct painter *a, const struct block *b,
                            const struct cells *c)
{
    double *to = row(a, ENERGY), *other = row(a, SCRATCH);
    const double *e = gather(to, b->u[GAS_ENERGY], b, c);
    if (b->b[0]) {
        magnetic_pressure(other, b, c);
        for (int i = 0; i < 8 * c->n; i++) to[i] = e[i] - other[i];
        e = to;
    }
    for (int k = 0; k < p->head->energy.n; k++) {
        const double *x = gather(other, b->u[GAS_SCALARS + k], b, c);
        for (int i = 0; i < 8 * c->n; i++) to[i] = e[i] - x[i];
        e = to;
    }
    return e;
}

/* Density, its inverse, velocities, and the pressure if a variable needs it. */
static void fluid_of(const struct paint *p, const struct painter *a, const struct block *b,
                     const struct cells *c, struct fluid *f)
{
    double *restrict inverse = row(a, INVERSE);
    const double smallr = p->head->smallr;
    const double *rho = f->rho = gather(row(a, RHO), b->u[GAS_DENSITY], b, c);
    if (p->needs == NEEDS_NOTHING) return;
    for (int i = 0; i < 8 * c->n; i++) inverse[i] = 1 / (rho[i] > smallr ? rho[i] : smallr);
    f->inverse = inverse;
    if (p->needs == NEEDS_INVERSE) return;
    for (int d = 0; d < 3; d++) {
        double *v = row(a, VX + d);
        multiply(v, gather(row(a, SCRATCH), b->u[GAS_MOMENTUM + d], b, c), inverse, 8 * c->n);
        f->v[d] = v;
    }
    if (p->needs == NEEDS_VELOCITY) return;
    thermal(f, energy(p, a, b, c), p->head->gamma, 8 * c->n, row(a, PRESSURE));
    f->pressure = row(a, PRESSURE);
}

/* Whether a variable is a non-thermal energy, which is drawn as its pressure. */
static bool is_energy(const struct paint *p, int v)
{
    return v >= GAS_SCALARS && v < GAS_SCALARS + p->head->energy.n;
}

static double energy_pressure(const struct paint *p, int v, double energy)
{
    return gas_pressure(energy, p->head->energy.gamma[v - GAS_SCALARS]);
}

static void speed(const struct fluid *f, int n, double *restrict to)
{
    const double *vx = f->v[0], *vy = f->v[1], *vz = f->v[2];
    for (int i = 0; i < n; i++) to[i] = sqrt(vx[i] * vx[i] + vy[i] * vy[i] + vz[i] * vz[i]);
}

static void temperature(const struct fluid *f, double unit, int n, double *restrict to)
{
    const double *x = f->pressure, *inverse = f->inverse;
    for (int i = 0; i < n; i++) to[i] = x[i] * inverse[i] * unit;
}

static void scalar(const struct paint *p, const struct fluid *f, int v, const double *x, int n,
                   double *restrict to)
{
    if (is_energy(p, v))
        for (int i = 0; i < n; i++) to[i] = energy_pressure(p, v, x[i]);
    else
        multiply(to, x, f->inverse, n);
}

/* The values of a variable: of its own row, or of one that there is. */
static const double *variable(const struct paint *p, const struct painter *a, const struct block *b,
                              const struct cells *c, const struct fluid *f, int v)
{
    const struct movie_variable *k = &p->movie.variable[p->gas[v]];
    double *to = row(a, FIRST + v);
    const int n = 8 * c->n;
    switch ((int)k->quantity) {
    case MOVIE_DENSITY:
        return f->rho;
    case MOVIE_VX:
    case MOVIE_VY:
    case MOVIE_VZ:
        return f->v[(int)(k->quantity - MOVIE_VX)];
    case MOVIE_PRESSURE:
        return f->pressure;
    case MOVIE_TEMPERATURE:
        temperature(f, p->units.temperature, n, to);
        return to;
    case MOVIE_SPEED:
        speed(f, n, to);
        return to;
    case MOVIE_FIELD:
        magnetic_pressure(to, b, c);
        return to;
    default:
        scalar(p, f, k->scalar, gather(row(a, SCRATCH), b->u[k->scalar], b, c), n, to);
        return to;
    }
}

/* A bound of the absolute values of a row, by the upper halves of their bits: not finite if one of
 * the numbers is not. */
static double highest(const double *x, int n)
{
    typedef uint64_t __attribute__((may_alias)) bits_of;
    const bits_of *b = (const bits_of *)x;
    int32_t high = 0;
    for (int i = 0; i < n; i++) {
        const int32_t top = (int32_t)(b[i] >> 32) & INT32_MAX;
        high = top > high ? top : high;
    }
    const uint64_t next = ((uint64_t)high + 1) << 32;
    double bound;
    memcpy(&bound, &next, sizeof bound);
    return bound;
}

/* Leaves out the cells of a row with values that are not finite. */
static void leave_out(struct painter *a, struct cells *c, const double *x)
{
    for (int i = 0; i < 8 * c->n; i++) {
        const unsigned bit = 1u << i % 8;
        if (isfinite(x[i] * PAINT_HUGE) || !(c->drawn[i / 8] & bit)) continue;
        c->drawn[i / 8] &= (unsigned char)~bit;
        a->bad++;
    }
}

/* high: bounds of the density and of values, NaN or too large for cells that are left out. */
static void leave_out_bad(const struct paint *p, struct painter *a, struct cells *c,
                          const double *rho, const double *const *value, double *high)
{
    for (int v = -1; v < p->ngas; v++, high++) {
        const double *x = v < 0 ? rho : value[v];
        *high = v >= 0 && x == rho ? high[-1 - v] : highest(x, 8 * c->n);
        if (!isfinite(*high * PAINT_HUGE)) leave_out(a, c, x);
    }
}

/* ---- weights and selections ---- */

/* The variable that selects cells, in the units of its limits. */
static double selected_value(const struct paint *p, const struct block *b, int at, int i, int k)
{
    const double rho = b->u[GAS_DENSITY][i][k];
    const double safe = rho > p->head->smallr ? rho : p->head->smallr;
    if (at == GAS_DENSITY) return rho * p->units.hydrogen;
    if (at < GAS_ENERGY) return b->u[at][i][k] / safe * (p->units.velocity / 1e5);
    if (is_energy(p, at)) return energy_pressure(p, at, b->u[at][i][k]);
    if (at > GAS_ENERGY) return b->u[at][i][k] / safe;
    double e = b->u[at][i][k];
    for (int n = 0; n < p->head->energy.n; n++) e -= b->u[GAS_SCALARS + n][i][k];
    for (int d = 0; d < 3; d++) e -= gas_kinetic_part(safe, b->u[GAS_MOMENTUM + d][i][k]);
    for (int d = 0; b->b[0] && d < 3; d++) {
        const double m = 0.5 * (b->b[2 * d][i][k] + b->b[2 * d + 1][i][k]);
        e -= 0.5 * m * m;
    }
    return gas_pressure(e, p->head->gamma) / safe * p->units.temperature;
}

static unsigned keep_cells(const struct paint *p, const struct group *g, const struct block *b,
                           int i, unsigned drawn)
{
    for (int k = 0; k < 8; k++) {
        bool keep = true;
        if (g->zoom && p->movie.zoom_ivar >= 0) {
            const double rho = b->u[GAS_DENSITY][i][k];
            keep = b->u[p->movie.zoom_ivar][i][k] / rho > p->movie.zoom_cut;
        }
        if (g->ivar >= 0) {
            const double x = selected_value(p, b, g->ivar, i, k);
            keep &= x >= g->min && x <= g->max;
        }
        if (!keep) drawn &= ~(1u << k);
    }
    return drawn;
}

/* Weights of the cells of a level, but for factors that all cells of a camera share. They are those
 * of RAMSES: a cell is divided among the pixels that it covers, in proportion to 1/dx². Returns the
 * largest for a density up to `high`. */
static double weights(const struct paint *p, const struct group *g, int level, const double *rho,
                      double high, int n, double *restrict w)
{
    const double dx = p->head->boxlen / ldexp(1, level), flat = p->ndim == 2 ? 1 : dx;
    const double factor = g->method == MEAN_DENSITY ? 1 / (dx * dx) : flat;
    if (g->method == MEAN_VOLUME)
        for (int i = 0; i < n; i++) w[i] = factor;
    else
        for (int i = 0; i < n; i++) w[i] = rho[i] * factor;
    return g->method == MEAN_VOLUME ? factor : high * factor;
}

/* Whether all cells of all octs are drawn. */
static bool all_drawn(const unsigned char *drawn, int n)
{
    unsigned char all = 255;
    for (int i = 0; i < n; i++) all &= drawn[i];
    return all == 255;
}

/* Values of cells that are not drawn. */
static void clear(double *x, int n, const unsigned char *drawn, double none)
{
    if (all_drawn(drawn, n)) return;
    for (int i = 0; i < n; i++)
        for (int k = 0; drawn[i] != 255 && k < 8; k++)
            if (!(drawn[i] >> k & 1)) x[8 * i + k] = none;
}

/* Makes room for the highest term of value v. None is above `bound`, unless that is NaN. */
static void raise(const struct paint *p, struct painter *a, int g, int v, int n, double bound)
{
    const double *x = a->sum[g] + (size_t)v * PAINT_CELLS;
    double high = 0;
    if (bound < a->scale[g][v].limit) return;
#pragma omp simd reduction(max : high)
    for (int i = 0; i < n; i++) high = fabs(x[i]) > high ? fabs(x[i]) : high;
    if (!(high < a->scale[g][v].limit)) painter_raise(p, a, g, v, scale_for(&a->scale[g][v], high));
}

/* Terms of means: weights, and their products with values. Rounding is monotonic: a product is at
 * most that of the largest factors. */
static void mean_terms(const struct paint *p, struct painter *a, int g, const unsigned char *drawn,
                       const struct cells *c, const double *rho, const double *const *value,
                       const double *high)
{
    const int n = 8 * c->n;
    double *w = a->sum[g];
    const double heaviest = weights(p, &p->group[g], c->level, rho, high[0], n, w);
    clear(w, c->n, drawn, 0);
    raise(p, a, g, 0, n, heaviest);
    for (int v = 0; v < p->ngas; v++) {
        double *to = w + (size_t)(v + 1) * PAINT_CELLS;
        multiply(to, w, value[v], n);
        /* 0 times a value that is not finite is NaN */
        clear(to, c->n, drawn, 0);
        raise(p, a, g, v + 1, n, heaviest * high[v + 1]);
    }
}

/* Terms of sums, and values whose extremes are sought. */
static void plain_terms(const struct paint *p, struct painter *a, int g, const unsigned char *drawn,
                        const struct cells *c, const double *const *value, const double *high)
{
    const enum movie_method method = p->group[g].method;
    const double sign = method == METHOD_MIN ? -1 : 1;
    const int n = 8 * c->n;
    for (int v = 0; v < p->ngas; v++) {
        double *restrict to = a->sum[g] + (size_t)v * PAINT_CELLS;
        const double *x = value[v];
        for (int i = 0; i < n; i++) to[i] = sign * x[i];
        clear(to, c->n, drawn, method >= METHOD_MIN ? -INFINITY : 0);
        if (method < METHOD_MIN) raise(p, a, g, v, n, high[v + 1]);
    }
}

static void draw(struct paint *p, struct painter *a, const struct block *b, struct cells *c)
{
    const double *value[MOVIE_VARIABLES];
    double high[PAINT_VALUES];
    unsigned char drawn[PAINT_OCTS];
    struct fluid f = {0};
    fluid_of(p, a, b, c, &f);
    for (int v = 0; v < p->ngas; v++) value[v] = variable(p, a, b, c, &f, v);
    leave_out_bad(p, a, c, f.rho, value, high);
    for (int g = 0; g < p->ngroup; g++) {
        const struct group *k = &p->group[g];
        const bool cut = k->ivar >= 0 || (k->zoom && p->movie.zoom_ivar >= 0);
        memcpy(drawn, c->drawn, sizeof drawn);
        for (int i = 0; cut && i < c->n; i++)
            drawn[i] = (unsigned char)keep_cells(p, k, b, c->at[i], c->drawn[i]);
        if (k->method <= MEAN_VOLUME)
            mean_terms(p, a, g, drawn, c, f.rho, value, high);
        else
            plain_terms(p, a, g, drawn, c, value, high);
        c->sum[g] = a->sum[g];
    }
}

void paint_block(struct paint *p, struct painter *a, const struct block *b)
{
    struct cells c;
    choose(p, b, &c);
    if (c.n == 0) return;
    draw(p, a, b, &c);
    for (int k = 0; k < p->ncamera; k++) {
        if (!(c.seen >> k & 1) || p->plan[k].leader != k) continue;
        (p->plan[k].column[b->level].used ? columns_add : raster_add)(p, a, k, &c);
    }
}
