/* sphview: a column is Σ m A/ρ times the integral of the kernel along the line of sight, divided
 * for means by that of the weight. In a slab only this part of a kernel counts. */
#include "sphview/sphview.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "view/gas.h"

/* ---- values of a particle ---- */

struct drawing {
    struct map *m;
    const struct deposit_particles *s;
    const struct value *value;
    struct deposit_line line;
    struct deposit_raster raster; /* in code units of length, from the corner of the box */
    double side[3];               /* of the region's axes: the box, or the cube */
};

struct value {
    const char *name;
    int field; /* as in view/gas.h, for the unit */
    double (*of)(const struct drawing *k, int64_t i);
};

static double density(const struct drawing *k, int64_t i)
{
    return smooth_rho(&k->s->par, k->s->p.h[i]);
}

static double pressure(const struct drawing *k, int64_t i)
{
    double p, speed;
    smooth_pressure(&k->s->par, &k->s->p, i, &p, &speed);
    return p;
}

static double temperature(const struct drawing *k, int64_t i)
{
    return pressure(k, i) / density(k, i) * k->m->gas.units.temperature;
}

static double hydrogen(const struct drawing *k, int64_t i)
{
    return density(k, i) * k->m->gas.units.hydrogen;
}

static double velocity_x(const struct drawing *k, int64_t i)
{
    return k->s->p.v[0][i];
}

static double velocity_y(const struct drawing *k, int64_t i)
{
    return k->s->p.v[1][i];
}

static double velocity_z(const struct drawing *k, int64_t i)
{
    return k->s->p.v[2][i];
}

static double energy(const struct drawing *k, int64_t i)
{
    return k->s->p.u[i];
}

static double smoothing_length(const struct drawing *k, int64_t i)
{
    return k->s->p.h[i];
}

static double viscosity(const struct drawing *k, int64_t i)
{
    return k->s->p.alpha[i];
}

static double divergence(const struct drawing *k, int64_t i)
{
    return k->s->p.divv[i];
}

static const struct value VALUES[] = {
    {"density", 0, density},        {"velocity_x", 1, velocity_x},
    {"velocity_y", 2, velocity_y},  {"velocity_z", 3, velocity_z},
    {"pressure", 4, pressure},      {"temperature", GAS_TEMPERATURE, temperature},
    {"nH", GAS_HYDROGEN, hydrogen}, {"u", 5, energy},
    {"h", 5, smoothing_length},     {"alpha", 5, viscosity},
    {"divv", 5, divergence},
};

static const struct value *find_value(const char *name)
{
    for (size_t i = 0; i < sizeof VALUES / sizeof *VALUES; i++)
        if (strcmp(VALUES[i].name, name) == 0) return &VALUES[i];
    return NULL;
}

bool sphview_draws(const char *path, const struct map_options *o)
{
    return o->weight != GREATEST && !o->mesh && !o->lines && find_value(o->field) &&
           sphfile_either_is(path);
}

/* ---- the map ---- */

/* A source that only has what titles and labels show, and the units. */
static void fill_source(struct source *r, const struct deposit_particles *s)
{
    snprintf(r->path, sizeof r->path, "%.3999s", s->in->path);
    r->number = s->in->number;
    deposit_head(s, &r->head);
    r->nboundary = s->periodic ? 0 : r->head.boundary.n;
}

/* Axes of a periodic box have the length of its sides each; pixels are then nearly square, and the
 * longer side of the map has as many as asked for. */
static void find_shape(struct drawing *k)
{
    struct map *m = k->m;
    const int w = m->o->axis, axis[3] = {w == 0 ? 1 : 0, w == 2 ? 1 : 2, w};
    for (int d = 0; d < 3; d++) {
        k->side[d] = k->s->periodic ? k->s->side[axis[d]] : k->s->cube.side;
        m->side[d] = k->side[d] / m->r->head.boxlen;
    }
    const double longer = fmax(m->side[0], m->side[1]);
    m->n = (int)fmax(1, rint(m->o->pixels * m->side[0] / longer));
    m->rows = (int)fmax(1, rint(m->o->pixels * m->side[1] / longer));
}

static void find_weight(struct map *m, const struct value *v)
{
    m->weight = m->o->weight != BY_DEFAULT ? m->o->weight : v->of == density ? COLUMN : BY_MASS;
}

static void prepare_raster(struct drawing *k)
{
    struct map *m = k->m;
    struct deposit_raster *r = &k->raster;
    *r = (struct deposit_raster){.n = {m->n, m->rows}, .sum = m->sum, .norm = m->norm};
    for (int d = 0; d < 3; d++) r->lo[d] = m->lo[d] * k->side[d], r->hi[d] = m->hi[d] * k->side[d];
    r->whole = m->o->depth >= 1 && (m->periodic || (m->lo[2] <= 0 && m->hi[2] >= 1));
    deposit_line_init(&k->line, k->s->par.kernel);
}

/* Draws a particle and its images in the repeated box. */
static void draw_images(const struct drawing *k, const double x[3], double h, double a, double b)
{
    enum { FAR = 2 }; /* the region extends by half a box at most, and kernels further */
    const struct deposit_raster *r = &k->raster;
    const int far = k->m->periodic ? FAR : 0, deep = r->whole ? 0 : far;
    const double reach = k->line.kernel->support * h;
    for (int c = -deep; c <= deep; c++)
        for (int j = -far; j <= far; j++)
            for (int i = -far; i <= far; i++) {
                const double at[3] = {x[0] + i * k->side[0], x[1] + j * k->side[1],
                                      x[2] + c * k->side[2]};
                bool meets = true;
                for (int d = 0; d < (r->whole ? 2 : 3); d++)
                    meets &= at[d] + reach >= r->lo[d] && at[d] - reach <= r->hi[d];
                if (meets) deposit_draw(&k->line, r, at, h, a, b);
            }
}

static enum err check_finite(const struct drawing *k, int64_t i, double q)
{
    if (isfinite(q)) return OK;
    FAIL(ERR_FORMAT, "%s: particle %ld: %s is %g, which cannot be drawn", k->s->in->path,
         (long)k->s->p.id[i], k->value->name, q);
}

static enum err draw_particle(const struct drawing *k, int64_t i)
{
    const struct deposit_particles *s = k->s;
    const struct map *m = k->m;
    const int axis[3] = {m->u, m->v, m->w};
    const double q = k->value->of(k, i), mass = s->par.mass, volume = mass / density(k, i);
    double x[3];
    TRY(check_finite(k, i, q));
    for (int d = 0; d < 3; d++) {
        const double corner = s->periodic ? s->lo[axis[d]] : s->cube.corner[axis[d]];
        x[d] = s->p.x[axis[d]][i] - corner;
        if (s->periodic) x[d] -= k->side[d] * floor(x[d] / k->side[d]);
    }
    if (m->weight == COLUMN) /* as map_end has lengths in units of boxlen */
        draw_images(k, x, s->p.h[i], q * volume / m->r->head.boxlen, 0);
    else if (m->weight == BY_MASS)
        draw_images(k, x, s->p.h[i], q * mass, mass);
    else
        draw_images(k, x, s->p.h[i], q * volume, volume);
    return OK;
}

enum err sphview_map(struct map *m, struct source *r, const struct deposit_particles *s,
                     const struct map_options *o)
{
    struct drawing k = {.m = m, .s = s, .value = find_value(o->field)};
    double length;
    if (o->physical && !sphfile_get(s->head, "udist", &length))
        FAIL(ERR_PARAM, "%s: has no physical units: leave out -u", s->in->path);
    fill_source(r, s);
    *m = (struct map){.r = r, .o = o, .species = SPECIES_NONE, .field = k.value->field};
    m->gas.units = units_of(r->head.unit_l, r->head.unit_d, r->head.unit_t);
    m->periodic = s->periodic;
    find_shape(&k);
    find_weight(m, k.value);
    map_begin(m);
    prepare_raster(&k);
    for (int64_t i = 0; i < s->p.n; i++) TRY(draw_particle(&k, i));
    map_end(m);
    return OK;
}

/* ---- values ---- */

static enum err unknown(const struct deposit_particles *s, const char *name)
{
    char list[300] = "";
    size_t at = 0;
    for (size_t i = 0; i < sizeof VALUES / sizeof *VALUES; i++)
        at += (size_t)snprintf(list + at, sizeof list - at, " %s", VALUES[i].name);
    FAIL(ERR_PARAM, "%s: has no value %s; there are:%s", s->in->path, name, list);
}

enum err sphview_values(const struct deposit_particles *s, const char *name, double *q)
{
    struct ckpt_head h;
    struct map m = {0};
    const struct drawing k = {.m = &m, .s = s, .value = find_value(name)};
    if (!k.value) return unknown(s, name);
    deposit_head(s, &h);
    m.gas.units = units_of(h.unit_l, h.unit_d, h.unit_t);
    for (int64_t i = 0; i < s->p.n; i++) {
        q[i] = k.value->of(&k, i);
        TRY(check_finite(&k, i, q[i]));
    }
    return OK;
}
