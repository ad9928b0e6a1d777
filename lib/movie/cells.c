/* movie/cells: the gas of a block of octs: values of its cells, weights, and who sees them. */
#include <math.h>

#include "movie/priv.h"
#include "oct/gas_kern.h"

/* Values of the cells of a block, [PAINT_CELLS] each. */
enum { RHO, INVERSE, VX, VY, VZ, PRESSURE, SCRATCH };
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

/* Lists the octs that have cells to be drawn. */
static void choose(const struct paint *p, const struct block *b, struct cells *c)
{
    const unsigned all = (1u << (1 << p->ndim)) - 1;
    c->level = b->level, c->n = 0, c->seen = 0;
    for (int k = 0; k < p->ncamera; k++)
        if (sees(p, &p->plan[k], b)) c->seen |= 1u << k;
    for (int i = 0; c->seen && i < b->n; i++) {
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

static double *row(const struct painter *a, int v)
{
    return a->value + (size_t)v * PAINT_CELLS;
}

static void gather(double *to, const double (*from)[8], const struct cells *c)
{
    for (int i = 0; i < c->n; i++) {
        __builtin_prefetch(from[c->at[i]] + 8 * PAINT_OCTS); /* the next block, in most cases */
        memcpy(to + 8 * i, from[c->at[i]], sizeof from[0]);
    }
}

static void add_square(double *to, const double (*l)[8], const double (*r)[8],
                       const struct cells *c)
{
    for (int i = 0; i < c->n; i++)
        for (int k = 0; k < 8; k++) {
            const double b = 0.5 * (l[c->at[i]][k] + r[c->at[i]][k]);
            to[8 * i + k] += 0.5 * (b * b);
        }
}

static void magnetic_pressure(double *to, const struct block *b, const struct cells *c)
{
    for (int i = 0; i < 8 * c->n; i++) to[i] = 0;
    for (int d = 0; d < 3; d++) add_square(to, b->b[2 * d], b->b[2 * d + 1], c);
}

/* Density, its inverse, velocities, and the pressure if a variable needs it. */
static void fluid(const struct paint *p, const struct painter *a, const struct block *b,
                  const struct cells *c)
{
    double *rho = row(a, RHO), *inverse = row(a, INVERSE), *e = row(a, PRESSURE);
    const double smallr = p->head->smallr, gamma = p->head->gamma;
    gather(rho, b->u[GAS_DENSITY], c);
    if (p->needs == NEEDS_NOTHING) return;
    for (int i = 0; i < 8 * c->n; i++) inverse[i] = 1 / (rho[i] > smallr ? rho[i] : smallr);
    if (p->needs == NEEDS_INVERSE) return;
    for (int d = 0; d < 3; d++) {
        double *v = row(a, VX + d);
        gather(v, b->u[GAS_MOMENTUM + d], c);
        for (int i = 0; i < 8 * c->n; i++) v[i] *= inverse[i];
    }
    if (p->needs == NEEDS_VELOCITY) return;
    gather(e, b->u[GAS_ENERGY], c);
    if (b->b[0]) {
        double *magnetic = row(a, SCRATCH);
        magnetic_pressure(magnetic, b, c);
        for (int i = 0; i < 8 * c->n; i++) e[i] -= magnetic[i];
    }
    for (int k = 0; k < p->head->energy.n; k++) {
        gather(row(a, SCRATCH), b->u[GAS_SCALARS + k], c);
        for (int i = 0; i < 8 * c->n; i++) e[i] -= row(a, SCRATCH)[i];
    }
    const double *vx = row(a, VX), *vy = row(a, VY), *vz = row(a, VZ);
    for (int i = 0; i < 8 * c->n; i++)
        e[i] = gas_pressure(gas_internal_v(e[i], rho[i], vx[i], vy[i], vz[i]), gamma);
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

/* The values of a variable: of its own row, or of one that there is. */
static const double *variable(const struct paint *p, const struct painter *a, const struct block *b,
                              const struct cells *c, int v)
{
    const struct movie_variable *k = &p->movie.variable[p->gas[v]];
    double *to = row(a, FIRST + v);
    const double *inverse = row(a, INVERSE), *vx = row(a, VX), *vy = row(a, VY), *vz = row(a, VZ);
    const int n = 8 * c->n;
    switch ((int)k->quantity) {
    case MOVIE_DENSITY:
        return row(a, RHO);
    case MOVIE_VX:
    case MOVIE_VY:
    case MOVIE_VZ:
        return row(a, VX + (int)(k->quantity - MOVIE_VX));
    case MOVIE_PRESSURE:
        return row(a, PRESSURE);
    case MOVIE_TEMPERATURE:
        for (int i = 0; i < n; i++) to[i] = row(a, PRESSURE)[i] * inverse[i] * p->units.temperature;
        return to;
    case MOVIE_SPEED:
        for (int i = 0; i < n; i++) to[i] = sqrt(vx[i] * vx[i] + vy[i] * vy[i] + vz[i] * vz[i]);
        return to;
    case MOVIE_FIELD:
        magnetic_pressure(to, b, c);
        return to;
    default:
        gather(to, b->u[k->scalar], c);
        for (int i = 0; i < n; i++)
            to[i] = is_energy(p, k->scalar) ? energy_pressure(p, k->scalar, to[i])
                                            : to[i] * inverse[i];
        return to;
    }
}

/* Leaves out cells with values that are not finite. */
static void leave_out_bad(const struct paint *p, struct painter *a, struct cells *c,
                          const double *const *value)
{
    double sum = 0;
    for (int v = -1; v < p->ngas; v++) {
        const double *x = v < 0 ? row(a, RHO) : value[v];
#pragma omp simd reduction(+ : sum)
        for (int i = 0; i < 8 * c->n; i++) sum += 0 * (x[i] * PAINT_HUGE);
    }
    if (sum == 0) return;
    for (int v = -1; v < p->ngas; v++) {
        const double *x = v < 0 ? row(a, RHO) : value[v];
        for (int i = 0; i < 8 * c->n; i++) {
            const unsigned bit = 1u << i % 8;
            if (isfinite(x[i] * PAINT_HUGE) || !(c->drawn[i / 8] & bit)) continue;
            c->drawn[i / 8] &= (unsigned char)~bit;
            a->bad++;
        }
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
 * of RAMSES: a cell is divided among the pixels that it covers, in proportion to 1/dx². */
static void weights(const struct paint *p, const struct group *g, int level, const double *rho,
                    int n, double *w)
{
    const double dx = p->head->boxlen / ldexp(1, level), flat = p->ndim == 2 ? 1 : dx;
    const double factor = g->method == MEAN_DENSITY ? 1 / (dx * dx) : flat;
    if (g->method == MEAN_VOLUME)
        for (int i = 0; i < n; i++) w[i] = factor;
    else
        for (int i = 0; i < n; i++) w[i] = rho[i] * factor;
}

/* Values of cells that are not drawn. */
static void clear(double *x, int n, const unsigned char *drawn, double none)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; drawn[i] != 255 && k < 8; k++)
            if (!(drawn[i] >> k & 1)) x[8 * i + k] = none;
}

static void group_sums(const struct paint *p, const struct painter *a, int g,
                       const unsigned char *drawn, const struct cells *c,
                       const double *const *value)
{
    const struct group *k = &p->group[g];
    double *to = a->sum[g], *w = to;
    const int n = 8 * c->n;
    const bool mean = k->method <= MEAN_VOLUME, extreme = k->method >= METHOD_MIN;
    if (mean) {
        weights(p, k, c->level, row(a, RHO), n, w);
        clear(w, c->n, drawn, 0);
        to += PAINT_CELLS;
    }
    for (int v = 0; v < p->ngas; v++, to += PAINT_CELLS) {
        const double *x = value[v];
        if (mean)
            for (int i = 0; i < n; i++) to[i] = w[i] * x[i];
        else
            for (int i = 0; i < n; i++) to[i] = k->method == METHOD_MIN ? -x[i] : x[i];
        /* 0 times a value that is not finite is NaN */
        clear(to, c->n, drawn, extreme ? -INFINITY : 0);
    }
}

/* Makes room for the highest term of the block. */
static void raise(const struct paint *p, struct painter *a, int g, const struct cells *c)
{
    const struct group *k = &p->group[g];
    for (int v = 0; v < k->n && k->method < METHOD_MIN; v++) {
        const double *x = a->sum[g] + (size_t)v * PAINT_CELLS;
        double high = 0;
#pragma omp simd reduction(max : high)
        for (int i = 0; i < 8 * c->n; i++) high = fabs(x[i]) > high ? fabs(x[i]) : high;
        if (!(high < a->scale[g][v].limit))
            painter_raise(p, a, g, v, scale_for(&a->scale[g][v], high));
    }
}

static void draw(struct paint *p, struct painter *a, const struct block *b, struct cells *c)
{
    const double *value[MOVIE_VARIABLES];
    unsigned char drawn[PAINT_OCTS];
    fluid(p, a, b, c);
    for (int v = 0; v < p->ngas; v++) value[v] = variable(p, a, b, c, v);
    leave_out_bad(p, a, c, value);
    for (int g = 0; g < p->ngroup; g++) {
        const struct group *k = &p->group[g];
        const bool cut = k->ivar >= 0 || (k->zoom && p->movie.zoom_ivar >= 0);
        for (int i = 0; i < c->n; i++)
            drawn[i] = (unsigned char)(cut ? keep_cells(p, k, b, c->at[i], c->drawn[i])
                                           : c->drawn[i]);
        group_sums(p, a, g, drawn, c, value);
        raise(p, a, g, c);
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
        if (!(c.seen >> k & 1)) continue;
        (p->plan[k].column[b->level].used ? columns_add : raster_add)(p, a, k, &c);
    }
}
