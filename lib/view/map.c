/* view/map: maps.
 *
 * A map is a square of pixels that projects a region along an axis: `width` wide, `depth` long,
 * around a centre. The box is repeated where the region extends across its faces, unless it has
 * boundaries. A leaf cell contributes to each pixel that it covers in proportion to the overlap in
 * area and depth, so that the sum of a map times the area of a pixel is exactly the mass in the
 * region. Along the missing axis of a two-dimensional checkpoint, cells are as long as the box.
 *
 * Fields are in code units; temperature (T/μ), nH and metallicity are in physical ones (gas.h).
 *
 * column: integral of a field along the line of sight. mass, volume: weighted mean. max: max value
 * of the cells that overlap a pixel. dm, star: column density of particles, each spread over a cell
 * of its level (CIC). sfr: column density of stars born within the time `recent`, with their masses
 * at birth, divided by this time. */
#include "view/map.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/cgs.h"
#include "base/log.h"
#include "base/mem.h"
#include "ckpt/sane.h"
#include "formats/formats.h"

static enum err map_init(struct map *m, struct source *r, const struct map_options *o);
static enum err map_read(struct map *m, struct source *r);
static enum err read_outlines(struct map *m, struct source *r);
static enum err read_lines(struct map *m, struct source *r);
static void divide(struct map *m);
static void find_range(struct map *m);

enum err map_make(struct map *m, struct source *r, const struct map_options *o)
{
    return map_make_by(m, r, o, NULL);
}

enum err map_make_by(struct map *m, struct source *r, const struct map_options *o,
                     const struct map_taker *taker)
{
    TRY(map_init(m, r, o));
    m->taker = taker;
    TRY(map_read(m, r));
    if (taker) taker->end(taker->ctx, m);
    m->taker = NULL;
    if (o->mesh) TRY(read_outlines(m, r));
    if (o->lines) TRY(read_lines(m, r));
    map_end(m);
    return OK;
}

void map_end(struct map *m)
{
    divide(m);
    find_range(m);
}

static size_t pixels_of(const struct map *m)
{
    return (size_t)m->rows * (size_t)m->n;
}

/* ---- selection of the field ---- */

static enum err unknown_field(const struct map *m)
{
    static const char *const PARTICLES[] = {"dm", "star", "other", "sfr", "tracers"};
    const int more = m->r->head.particles ? (int)(sizeof PARTICLES / sizeof *PARTICLES) : 0;
    return gas_unknown(m->r, &m->gas, m->o->field, more, PARTICLES);
}

/* Species of particles with this name; SPECIES_GAS for fields of cells. */
static enum part_species species_drawn(const char *name)
{
    for (int k = 0; k < SPECIES_COUNT; k++)
        if (k != SPECIES_GAS && strcmp(name, SPECIES_NAME[k]) == 0) return (enum part_species)k;
    return SPECIES_NONE;
}

static bool by_particles(const struct map *m)
{
    return m->species != SPECIES_NONE || m->tracers;
}

static bool is_drawn(const struct map *m, int64_t family)
{
    return m->tracers ? !family_has_mass(family) : family_species(family) == m->species;
}

static enum err find_field(struct map *m)
{
    const struct source *r = m->r;
    const char *name = m->o->field;
    m->gas = gas_of(r);
    m->field = gas_field(r, &m->gas, name), m->species = SPECIES_NONE;
    m->rate = r->head.particles && strcmp(name, "sfr") == 0;
    m->tracers = r->head.particles && strcmp(name, "tracers") == 0;
    if (r->head.particles) m->species = species_drawn(m->rate ? "star" : name);
    if (m->field < 0 && !by_particles(m)) return unknown_field(m);
    return OK;
}

static enum err find_weight(struct map *m)
{
    m->weight = m->o->weight;
    if (by_particles(m)) {
        if (m->weight > COLUMN)
            FAIL(ERR_PARAM,
                 "%s is drawn as a column density: leave out --weight, which is for cells",
                 m->o->field);
        m->weight = COLUMN;
    }
    if (m->weight == BY_DEFAULT)
        m->weight = m->field == GAS_LEVEL        ? GREATEST
                    : m->field == m->gas.density ? COLUMN
                                                 : BY_MASS;
    if (m->weight == BY_MASS && m->gas.density < 0) {
        if (m->o->weight == BY_MASS)
            FAIL(ERR_PARAM, "%s: has no gas to weight by mass: use --weight volume", m->r->path);
        m->weight = BY_VOLUME;
    }
    return OK;
}

static int right_axis(int sight)
{
    return sight == 0 ? 1 : 0;
}

static int up_axis(int sight)
{
    return sight == 2 ? 1 : 2;
}

void map_begin(struct map *m)
{
    const struct map_options *o = m->o;
    const int axis[3] = {m->u = right_axis(o->axis), m->v = up_axis(o->axis), m->w = o->axis};
    m->pixel = o->width / m->n, m->row = o->width / m->rows;
    for (int d = 0; d < 3; d++) {
        double size = d < 2 ? o->width : o->depth;
        m->lo[d] = o->centre[axis[d]] - 0.5 * size;
        m->hi[d] = o->centre[axis[d]] + 0.5 * size;
        /* the whole box, without a shift */
        if (size == 1 && m->periodic) m->lo[d] = 0, m->hi[d] = 1;
        /* particles extend beyond the faces of the region */
        bool spread = by_particles(m);
        m->from[d] = m->periodic && (spread || m->lo[d] < 0) ? -1 : 0;
        m->to[d] = m->periodic && (spread || m->hi[d] > 1) ? 1 : 0;
    }
    m->sum = mem_zero(sizeof *m->sum * pixels_of(m), "map");
    m->norm = mem_zero(sizeof *m->norm * pixels_of(m), "map");
    for (size_t i = 0; m->weight == GREATEST && i < pixels_of(m); i++) m->sum[i] = -INFINITY;
}

static enum err map_init(struct map *m, struct source *r, const struct map_options *o)
{
    if (r->coarse[0] * r->coarse[1] * r->coarse[2] != 1)
        FAIL(ERR_LIMIT,
             "%s: has %ld x %ld x %ld coarse cells; maps are drawn only of checkpoints with one",
             r->path, (long)r->coarse[0], (long)r->coarse[1], (long)r->coarse[2]);
    if (r->head.ndim == 1)
        FAIL(ERR_LIMIT, "%s: has one dimension: use --line, since a map needs two", r->path);
    *m = (struct map){.r = r, .o = o, .n = o->pixels, .rows = o->pixels, .side = {1, 1, 1}};
    m->periodic = r->nboundary == 0;
    TRY(find_field(m));
    TRY(find_weight(m));
    if (m->rate) TRY(births_open(&m->births, r));
    map_begin(m);
    return OK;
}

void map_free(struct map *m)
{
    FREE(m->sum);
    FREE(m->norm);
    FREE(m->outline);
    streamlines_free(&m->lines);
    curl_free(&m->curl);
    births_close(&m->births);
}

/* ---- cells ---- */

static double clip(double lo, double hi, double a, double b)
{
    double x = (hi < b ? hi : b) - (lo > a ? lo : a);
    return x > 0 ? x : 0;
}

/* Adds the integrals of q and w over a cell, per area of a pixel, to the sums and norms of
 * pixels. */
static void lay_cell(struct map *m, const double lo[3], const double size[3], double q, double w)
{
    double dz = clip(lo[2], lo[2] + size[2], m->lo[2], m->hi[2]), area = 1 / (m->pixel * m->row);
    if (dz <= 0) return;
    double u0 = (lo[0] - m->lo[0]) / m->pixel, v0 = (lo[1] - m->lo[1]) / m->row,
           su = size[0] / m->pixel, sv = size[1] / m->row;
    int first_u = u0 > 0 ? (int)fmin(u0, m->n) : 0, first_v = v0 > 0 ? (int)fmin(v0, m->rows) : 0;
    for (int j = first_v; j < m->rows && j < v0 + sv; j++) {
        double dv = clip(v0, v0 + sv, j, j + 1) * m->row;
        for (int i = first_u; dv > 0 && i < m->n && i < u0 + su; i++) {
            double du = clip(u0, u0 + su, i, i + 1) * m->pixel;
            size_t at = (size_t)j * (size_t)m->n + (size_t)i;
            if (du <= 0) continue;
            if (m->weight == GREATEST) {
                if (q > m->sum[at]) m->sum[at] = q;
            } else {
                m->sum[at] += q * (du * dv * dz * area);
                m->norm[at] += w * (du * dv * dz * area);
            }
        }
    }
}

void map_lay(struct map *m, const double corner[3], const double size[3], double q, double w)
{
    for (int a = m->from[0]; a <= m->to[0]; a++)
        for (int b = m->from[1]; b <= m->to[1]; b++)
            for (int c = m->from[2]; c <= m->to[2]; c++) {
                double lo[3] = {corner[0] + a, corner[1] + b, corner[2] + c};
                bool meets = true;
                for (int d = 0; d < 3; d++) meets &= lo[d] < m->hi[d] && lo[d] + size[d] > m->lo[d];
                if (meets) lay_cell(m, lo, size, q, w);
            }
}

/* Draws a cell and its images in the repeated box. corner: lower corner of the cell. */
static void lay_images(struct map *m, const double corner[3], double side, double q, double w)
{
    const int axis[3] = {m->u, m->v, m->w};
    double at[3], size[3];
    for (int d = 0; d < 3; d++) {
        bool exists = axis[d] < m->r->head.ndim;
        at[d] = exists ? corner[d] : 0, size[d] = exists ? side : 1;
    }
    map_lay(m, at, size, q, w);
}

/* Reports a cell with a NaN or infinite value: of the field, or else of the density, its weight.
 * at: lower corner of the cell. */
static enum err bad_cell(const struct map *m, const struct source_octs *o, const double at[3],
                         bool field)
{
    char file[PATH_MAX];
    double x[3], half = ldexp(0.5, -o->level), box = m->r->head.boxlen;
    x[m->u] = (at[0] + half) * box, x[m->v] = (at[1] + half) * box, x[m->w] = (at[2] + half) * box;
    source_file(m->r, field ? source_file_of(m->r, m->field) : FILES_HYDRO, o->piece, file);
    FAIL(ERR_FORMAT,
         "%s: level %d, cell at %.9g %.9g %.9g: %s is NaN or infinite and cannot be drawn", file,
         o->level, x[0], x[1], x[2], field ? m->o->field : "density");
}

static enum err fold_octs(const struct source_octs *o, void *ctx)
{
    struct map *m = ctx;
    double size = ldexp(1, -o->level);
    for (int i = 0; i < o->n; i++) {
        int64_t x[3];
        okey_coords(o->key[i], x);
        for (int c = 0; c < source_cells(m->r); c++) {
            if (o->split[i] >> c & 1) continue;
            double q = gas_value(&m->gas, m->field, o, c, i),
                   w = m->weight == BY_MASS ? o->val[8 * m->gas.density + c][i] : 1;
            const double at[3] = {(double)(2 * x[m->u] + (c >> m->u & 1)) * size,
                                  (double)(2 * x[m->v] + (c >> m->v & 1)) * size,
                                  (double)(2 * x[m->w] + (c >> m->w & 1)) * size};
            if (!isfinite(q) || !isfinite(w)) return bad_cell(m, o, at, isfinite(w));
            lay_images(m, at, size, m->weight == BY_MASS ? q * w : q, w);
        }
    }
    return OK;
}

/* Checks particles without their velocities, which are not needed. */
static enum err check_parts(const struct source_parts *p)
{
    struct source_parts q = *p;
    for (int d = 0; d < 3; d++) q.v[d] = NULL;
    return sane_parts(p->file, p->source->head.boxlen, &q);
}

/* Time over which star formation is averaged, s. */
static double recent(const struct map *m)
{
    return fmin(m->o->recent * 1e6 * CGS_YEAR, m->births.now);
}

/* Mass of star i; for sfr the mass at birth, or 0 if it is too old. */
static enum err mass_of(struct map *m, const struct source_parts *p, int64_t i, double *mass)
{
    double time;
    *mass = p->m[i];
    if (!m->rate) return OK;
    TRY(births_star(&m->births, p, i, &time, mass));
    if (m->births.now - time > recent(m)) *mass = 0;
    return OK;
}

void map_lay_grain(struct map *m, const struct map_grain *g)
{
    double at[3];
    for (int d = 0; d < 3; d++) at[d] = g->x[d] - 0.5 * g->size;
    lay_images(m, at, g->size, g->q, 1);
}

/* Draws particles as cubes of uniform density, as large as a cell of their level, unless the taker
 * draws them. */
static enum err fold_parts(const struct source_parts *p, void *ctx)
{
    struct map *m = ctx;
    const int axis[3] = {m->u, m->v, m->w};
    const struct source *r = p->source;
    const int64_t *level = p->levelp;
    TRY(check_parts(p));
    double box = r->head.boxlen;
    for (int64_t i = 0; i < p->n; i++) {
        int l = level && level[i] > 0 && level[i] <= LEVEL_MAX ? (int)level[i] : r->head.levelmin;
        double size = ldexp(1, -l), volume = ldexp(box * box * box, -r->head.ndim * l), at[3];
        double mass;
        if (!is_drawn(m, p->family[i])) continue;
        if (!(p->m[i] >= 0))
            FAIL(ERR_FORMAT,
                 "%s: particle %ld has the mass %g, which must be at least 0: see inspect -cc",
                 p->file, (long)p->id[i], p->m[i]);
        TRY(mass_of(m, p, i, &mass));
        if (mass == 0) continue;
        for (int d = 0; d < 3; d++) at[d] = p->x[axis[d]][i] / box;
        const struct map_grain g = {p->id[i], {at[0], at[1], at[2]}, size, mass / volume};
        if (!m->taker || !m->taker->take(m->taker->ctx, m, &g)) map_lay_grain(m, &g);
    }
    return OK;
}

/* Reads the current of the region. */
static enum err read_curl(struct map *m, struct source *r)
{
    const int axis[3] = {m->u, m->v, m->w};
    double lo[3], hi[3];
    for (int d = 0; d < 3; d++) lo[axis[d]] = m->lo[d], hi[axis[d]] = m->hi[d];
    TRY(curl_read(r, lo, hi, &m->curl));
    m->gas.curl = m->curl;
    return OK;
}

static enum err map_read(struct map *m, struct source *r)
{
    if (gas_needs_curl(m->field)) TRY(read_curl(m, r));
    bool values = m->field != GAS_LEVEL || m->weight == BY_MASS;
    enum source_mode mode = values ? SOURCE_STORED : SOURCE_TREE;
    r->counts = (struct ckpt_counts){0}; /* of an earlier reading */
    for (int piece = 0; piece < r->npiece; piece++) {
        if (r->npiece > 1) log_live("reading file %d of %d", piece + 1, r->npiece);
        if (!by_particles(m)) TRY(source_octs(r, piece, mode, fold_octs, m));
        if (by_particles(m)) TRY(source_parts(r, piece, SOURCE_STORED, fold_parts, m));
    }
    log_live(NULL);
    if (m->rate) return births_end(&m->births);
    return !by_particles(m) ? source_check_tree(r) : OK;
}

/* ---- outlines of octs, in ascending order, so that files do not matter ---- */

/* Octs with fewer points on a side are left out: their lines would hide the map. */
enum { MIN_POINTS = 2 };

/* Adds a rectangle: u and v of the lower corner, width, height. */
static void add_outline(struct map *m, const double box[4])
{
    if (m->outlines == m->room) {
        m->room = 2 * m->room + 256;
        m->outline = mem_grow(m->outline, sizeof *m->outline * (size_t)m->room, "outlines");
    }
    for (int k = 0; k < 4; k++) m->outline[m->outlines][k] = box[k];
    m->outlines++;
}

static enum err fold_outlines(const struct source_octs *o, void *ctx)
{
    struct map *m = ctx;
    const int axis[3] = {m->u, m->v, m->w}, ndim = m->r->head.ndim;
    const double side = ldexp(2, -o->level), plane = fmin(m->o->centre[m->w], 1 - 0.5 * side);
    if (side / m->o->width * map_side(m) < MIN_POINTS) return OK;
    for (int i = 0; i < o->n; i++) {
        int64_t x[3];
        double lo[3], size[3];
        okey_coords(o->key[i], x);
        for (int d = 0; d < 3; d++) {
            bool exists = axis[d] < ndim;
            lo[d] = exists ? (double)x[axis[d]] * side : 0, size[d] = exists ? side : 1;
        }
        if (plane < lo[2] || plane >= lo[2] + size[2]) continue;
        for (int a = m->from[0]; a <= m->to[0]; a++)
            for (int b = m->from[1]; b <= m->to[1]; b++) {
                const double box[4] = {lo[0] + a, lo[1] + b, size[0], size[1]};
                if (box[0] < m->hi[0] && box[0] + box[2] > m->lo[0] && box[1] < m->hi[1] &&
                    box[1] + box[3] > m->lo[1])
                    add_outline(m, box);
            }
    }
    return OK;
}

static int outline_order(const void *a, const void *b)
{
    const double *x = a, *y = b;
    for (int k = 0; k < 3; k++)
        if (x[k] != y[k]) return x[k] < y[k] ? -1 : 1;
    return 0;
}

static enum err read_outlines(struct map *m, struct source *r)
{
    for (int piece = 0; piece < r->npiece; piece++)
        TRY(source_octs(r, piece, SOURCE_TREE, fold_outlines, m));
    mem_sort(m->outline, (size_t)m->outlines, sizeof *m->outline, outline_order);
    return OK;
}

/* ---- lines of a vector in the plane of the map ---- */

/* Pixels of the maps of its components. */
enum { LINES_PIXELS = 256 };

/* Map of the component of the vector along an axis: its mean along the line of sight, by volume, of
 * the velocity by mass. */
static enum err read_component(const struct map *m, struct source *r, int axis, struct map *out)
{
    struct map_options o = *m->o;
    char name[16];
    const bool field = o.lines == LINES_MAGNETIC;
    snprintf(name, sizeof name, "%s_%c", field ? "B" : "velocity", 'x' + axis);
    o.field = name, o.pixels = LINES_PIXELS, o.mesh = false, o.lines = LINES_NONE;
    o.weight = field ? BY_VOLUME : BY_MASS;
    if (gas_field(r, &m->gas, name) < 0)
        FAIL(ERR_PARAM, "%s: has no %s%c, along which lines could be drawn", r->path,
             field ? "magnetic field on faces, and no B_" : "velocity_", 'x' + axis);
    const enum err err = map_make(out, r, &o);
    out->o = NULL; /* which ends with this function */
    return err;
}

static enum err read_lines(struct map *m, struct source *r)
{
    struct map u = {0}, v = {0};
    enum err err = read_component(m, r, m->u, &u);
    if (err == OK) err = read_component(m, r, m->v, &v);
    if (err == OK)
        streamlines_make(&(struct streamlines_field){LINES_PIXELS, u.sum, v.sum},
                         1.0 / (m->o->lines_across ? m->o->lines_across : MAP_LINES), &m->lines);
    map_free(&u);
    map_free(&v);
    return err;
}

/* ---- values ---- */

/* Code unit of length, kpc. */
static double kiloparsecs(const struct map *m)
{
    return m->gas.units.length / CGS_KPC;
}

/* Factor that converts values to the unit m->unit. Column densities use lengths in cm in physical
 * units and for nH, else code lengths; sfr is per year and kpc². */
static double find_unit(struct map *m)
{
    double length = m->r->head.boxlen;
    if (m->plain) {
        snprintf(m->unit, sizeof m->unit, "code");
        return m->weight == COLUMN ? length * m->side[2] : 1;
    }
    struct unit u = unit_of(by_particles(m) ? "density" : m->o->field, &m->gas.units,
                            m->o->physical);
    bool column = m->weight == COLUMN, cm = m->o->physical || m->field == GAS_HYDROGEN;
    if (m->rate) {
        snprintf(m->unit, sizeof m->unit, "Msun/yr/kpc^2");
        return length * m->births.solar / (recent(m) / CGS_YEAR) / pow(kiloparsecs(m), 2);
    }
    if (column && cm && strcmp(u.name, "g/cm^3") == 0)
        snprintf(m->unit, sizeof m->unit, "g/cm^2");
    else if (column && cm && strcmp(u.name, "1/cm^3") == 0)
        snprintf(m->unit, sizeof m->unit, "1/cm^2");
    else if (column && strcmp(u.name, "code") != 0)
        snprintf(m->unit, sizeof m->unit, "%s%s%s", u.name, *u.name ? " " : "",
                 cm ? "cm" : "code length");
    else
        snprintf(m->unit, sizeof m->unit, "%s", u.name);
    return u.worth * (column ? length * (cm ? m->gas.units.length : 1) : 1);
}

/* Divides sums by norms, and converts to units; pixels without cells become NaN. */
static void divide(struct map *m)
{
    double worth = find_unit(m);
    for (size_t i = 0; i < pixels_of(m); i++) {
        if (m->weight == GREATEST && !(m->sum[i] > -INFINITY)) m->sum[i] = NAN;
        if (m->weight != COLUMN && m->weight != GREATEST)
            m->sum[i] = m->norm[i] != 0 ? m->sum[i] / m->norm[i] : NAN;
        m->sum[i] *= worth;
    }
}

/* ---- colours ---- */

/* Colours of particles begin at this share of the mean, since lower values are fringes of single
 * particles. */
static const double PARTICLES_FROM = 0.01;

struct scale_ask map_scale_ask(const struct map *m)
{
    struct scale_ask ask = m->o->scale;
    const bool level = m->field == GAS_LEVEL;
    if (level && ask.kind == SCALE_AUTO) ask.kind = SCALE_LINEAR;
    ask.full |= level;
    ask.from = by_particles(m) ? PARTICLES_FROM : 0;
    return ask;
}

static void find_range(struct map *m)
{
    const struct map_options *o = m->o;
    struct scale_values v = {0};
    const struct scale_ask ask = map_scale_ask(m);
    double side[2] = {m->pixel * m->side[0] * m->r->head.boxlen,
                      m->row * m->side[1] * m->r->head.boxlen};
    for (int d = 0; d < 2; d++) {
        if (o->physical && !m->rate) side[d] *= m->gas.units.length;
        if (m->rate) side[d] *= kiloparsecs(m);
    }
    scale_add(&v, m->sum, pixels_of(m));
    scale_choose(&v, &ask, &m->range);
    m->total = v.total * (side[0] * side[1]);
    scale_free(&v);
}

enum err map_check_range(const struct map *m)
{
    const struct colour_scale *r = &m->range;
    if (r->logarithmic && !(r->lo > 0))
        FAIL(ERR_PARAM,
             "%s: the map of %s begins at %g, which has no logarithm: give a range or --linear",
             m->r->path, m->o->field, r->lo);
    return OK;
}

unsigned char *map_paint(const struct map *m)
{
    return scale_paint(&m->range, m->n, m->rows, m->sum);
}

const char *map_weight_name(const struct map *m)
{
    static const char *const name[] = {"", "column", "mass", "volume", "max"};
    return name[m->weight];
}

/* ---- size in a plot ---- */

enum { MIN_SIDE = 400, MAX_SIDE = 1024 };

double map_side(const struct map *m)
{
    int n = m->n > m->rows ? m->n : m->rows, times = (2 * MIN_SIDE + n - 1) / n;
    return fmin(0.5 * n * times, MAX_SIDE);
}
