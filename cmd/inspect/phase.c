/* inspect: --phase, phase diagrams, as that of density and temperature.
 *
 * The mass of the gas in bins of two fields, log n_H and log T/μ unless others are given. The
 * checkpoint is read twice: for the ranges and the mass of all gas, then for the bins. Masses are
 * counted in units of 2^-61 of all mass, as integers: neither the order of the cells nor the number
 * of ranks changes a bit of the result. */
#include <math.h>
#include <string.h>

#include "base/cgs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/sum.h"
#include "formats/formats.h"
#include "inspect.h"
#include "io/stream.h"
#include "plot/picture.h"
#include "view/gas.h"
#include "view/phase.h"
#include "view/unit.h"

enum { CLASSES = 4 };

struct phase {
    struct source *r;
    const struct phase_options *o;
    const struct comm *c;
    struct gas gas;
    struct diagram d;
    struct sum mass; /* total mass in code units */
    int field[2];
    double worth[2]; /* a code unit of the fields in the unit of the axis */
    /* minimum and maximum of both values, and of their logarithms, over the cells of a class: bit a
     * is set where the value of axis a is above 0 */
    double least[CLASSES][2][2], most[CLASSES][2][2]; /* [class][axis][of the logarithm] */
    double unit;                                      /* code unit of mass, solar masses */
    bool fill;                                        /* second pass: fill the bins */
    char name[2][240];
    const char *file[2]; /* files to write; NULL: no second file */
    enum file_format format[2];
};

/* ---- cells ---- */

static enum err bad_cell(const struct phase *p, const struct source_octs *o, int i, int c,
                         const char *what, double value)
{
    int64_t x[3];
    char location[128];
    double half = ldexp(0.5, -o->level) * p->r->head.boxlen;
    int n = 0;
    okey_coords(o->key[i], x);
    for (int d = 0; d < p->r->head.ndim; d++)
        n += snprintf(location + n, sizeof location - (size_t)n, " %.9g",
                      (double)(2 * (2 * x[d] + (c >> d & 1)) + 1) * half);
    FAIL(ERR_FORMAT, "%s: level %d, cell at%s: its %s is %g, which a phase diagram cannot show",
         o->file, o->level, location, what, value);
}

/* Extends the ranges. */
static void range_add(struct phase *p, const double x[2], double mass)
{
    const int class = (x[0] > 0) | (x[1] > 0) << 1;
    sum_add(&p->mass, mass);
    for (int a = 0; a < 2; a++)
        for (int log = 0; log < 1 + (x[a] > 0); log++) {
            double *least = &p->least[class][a][log], *most = &p->most[class][a][log];
            const double y = log ? log10(x[a]) : x[a];
            *least = fmin(*least, y);
            *most = fmax(*most, y);
        }
}

/* A value ≤ 0 has no logarithm: that of a temperature is a truncation error, where nearly all
 * energy is kinetic. */
static void bin_add(struct diagram *d, const double x[2], int64_t mass)
{
    int at[2];
    for (int a = 0; a < 2; a++)
        if (d->axis[a].log && !(x[a] > 0)) {
            d->cold += mass;
            d->cold_cells++;
            return;
        }
    for (int a = 0; a < 2; a++) {
        double from = d->range[a][0], to = d->range[a][1], y = d->axis[a].log ? log10(x[a]) : x[a];
        if (!(y >= from && y <= to)) {
            d->out += mass;
            d->out_cells++;
            return;
        }
        at[a] = (int)((y - from) / (to - from) * d->n);
        if (at[a] >= d->n) at[a] = d->n - 1; /* the last bin includes its upper end */
    }
    d->mass[at[1] * d->n + at[0]] += mass;
    d->cells[at[1] * d->n + at[0]]++;
}

static enum err fold_octs(const struct source_octs *o, void *ctx)
{
    struct phase *p = ctx;
    double box = p->r->head.boxlen, volume = ldexp(box * box * box, -p->r->head.ndim * o->level);
    for (int i = 0; i < o->n; i++)
        for (int c = 0; c < source_cells(p->r); c++) {
            if (o->split[i] >> c & 1) continue;
            double nH = gas_hydrogen(&p->gas, o, c, i), x[2];
            double mass = o->val[8 * p->gas.density + c][i] * volume;
            if (!(nH > 0 && isfinite(nH))) return bad_cell(p, o, i, c, "density", nH);
            for (int a = 0; a < 2; a++) {
                x[a] = gas_value(&p->gas, p->field[a], o, c, i) * p->worth[a];
                if (!isfinite(x[a])) return bad_cell(p, o, i, c, p->d.axis[a].name, x[a]);
            }
            if (p->fill)
                bin_add(&p->d, x, (int64_t)llrint(mass * p->unit / p->d.quantum));
            else
                range_add(p, x, mass);
        }
    return OK;
}

/* ---- the two passes over the checkpoint ---- */

/* Reads all pieces. (collective) */
static enum err read_pieces(struct phase *p)
{
    struct source *r = p->r;
    enum err err = OK;
    memset(&r->counts, 0, sizeof r->counts);
    for (int piece = p->c->rank; err == OK && piece < r->npiece; piece += p->c->size) {
        if (r->npiece > 1) log_live("reading file %d of %d", piece + 1, r->npiece);
        err = source_octs(r, piece, SOURCE_STORED, fold_octs, p);
    }
    log_live(NULL);
    TRY(err_agree(p->c, err));
    comm_add_i64(p->c, r->counts.octs, LEVEL_MAX + 2);
    comm_add_i64(p->c, r->counts.split, LEVEL_MAX + 2);
    return source_check_tree(r);
}

/* The range of the cells that the diagram shows: those above 0 on logarithmic axes. */
static void shown_range(const struct phase *p, int a, bool log, double range[2])
{
    range[0] = INFINITY, range[1] = -INFINITY;
    for (int class = 0; class < CLASSES; class ++) {
        bool shown = true;
        for (int b = 0; b < 2; b++) shown &= !p->d.axis[b].log || class >> b & 1;
        if (!shown) continue;
        range[0] = fmin(range[0], p->least[class][a][log]);
        range[1] = fmax(range[1], p->most[class][a][log]);
    }
}

/* Decides which axes are logarithmic: n_H and T/μ always, levels never, others as the range that
 * is given, or if no value is negative. */
static void choose_logs(struct phase *p)
{
    bool log[2];
    for (int a = 0; a < 2; a++) {
        const int f = p->field[a];
        double range[2]; /* of all cells, as no axis is logarithmic yet */
        shown_range(p, a, false, range);
        log[a] = p->o->has_axis[a] ? p->o->axis[a][0] > 0 : range[0] >= 0 && range[1] > 0;
        if (f == GAS_HYDROGEN || f == GAS_TEMPERATURE || f == GAS_LEVEL) log[a] = f != GAS_LEVEL;
    }
    for (int a = 0; a < 2; a++) p->d.axis[a].log = log[a];
}

/* The fields of logarithmic axes that may be 0, for messages. */
static const char *above_zero(const struct phase *p, char text[180])
{
    text[0] = 0;
    for (int a = 0; a < 2; a++)
        if (p->d.axis[a].log && p->field[a] != GAS_HYDROGEN)
            snprintf(text + strlen(text), 180 - strlen(text), "%s%s", *text ? " or " : "",
                     p->d.axis[a].name);
    return text;
}

static enum err find_range(struct phase *p, int a)
{
    const bool log = p->d.axis[a].log;
    const double *given = p->o->axis[a];
    double *to = p->d.range[a];
    char text[180];
    if (p->o->has_axis[a]) {
        if (log && !(given[0] > 0))
            FAIL(ERR_PARAM, "the axis of %s is logarithmic: its range must be above 0",
                 p->d.axis[a].name);
        for (int e = 0; e < 2; e++) to[e] = log ? log10(given[e]) : given[e];
        return OK;
    }
    shown_range(p, a, log, to);
    if (to[0] > to[1])
        FAIL(ERR_FORMAT, "%s: no cell has a %s above 0", p->r->path, above_zero(p, text));
    /* min width, so that gas of a single state fills one bin */
    if (to[1] - to[0] < (log ? 0.1 : 1e-6 * fabs(to[0])) || to[0] == to[1]) {
        const double half = log || to[0] == 0 ? 0.5 : 0.5 * fabs(to[0]);
        to[0] -= half, to[1] += half;
    }
    return OK;
}

/* Sets the ranges of the diagram: as given, else the range of the gas. (collective) */
static enum err find_ranges(struct phase *p)
{
    struct diagram *d = &p->d;
    TRY(read_pieces(p));
    comm_sum(p->c, &p->mass);
    comm_min_f64(p->c, &p->least[0][0][0], CLASSES * 4);
    comm_max_f64(p->c, &p->most[0][0][0], CLASSES * 4);
    choose_logs(p);
    for (int a = 0; a < 2; a++) TRY(find_range(p, a));
    d->total = sum_get(&p->mass) * p->unit;
    d->quantum = ldexp(d->total, -61);
    if (!(isnormal(d->total) && isnormal(d->quantum)))
        FAIL(ERR_FORMAT,
             "%s: the mass of its gas is %g Msun, which is too small for a phase diagram: check "
             "its units",
             p->r->path, d->total);
    return OK;
}

/* Second pass: fills the bins. (collective) */
static enum err fill_bins(struct phase *p)
{
    struct diagram *d = &p->d;
    size_t n = (size_t)d->n * (size_t)d->n;
    d->mass = mem_zero(sizeof *d->mass * n, "phase diagram");
    d->cells = mem_zero(sizeof *d->cells * n, "phase diagram");
    p->fill = true;
    TRY(read_pieces(p));
    comm_add_i64(p->c, d->mass, (int)n);
    comm_add_i64(p->c, d->cells, (int)n);
    comm_add_i64(p->c, &d->out, 1);
    comm_add_i64(p->c, &d->out_cells, 1);
    comm_add_i64(p->c, &d->cold, 1);
    comm_add_i64(p->c, &d->cold_cells, 1);
    char text[180];
    if (d->cold_cells)
        log_line(
            0,
            "inspect: %s: %lld cells, %.3g of the mass, have a %s of 0 or below, which a phase "
            "diagram cannot show",
            p->r->path, (long long)d->cold_cells, (double)d->cold * d->quantum / d->total,
            above_zero(p, text));
    return OK;
}

/* The field of an axis, its unit and its names. */
static enum err axis_init(struct phase *p, int a)
{
    struct phase_axis *x = &p->d.axis[a];
    const char *name = p->o->field[a];
    const int f = p->field[a] = gas_field(p->r, &p->gas, name);
    if (f < 0) return gas_unknown(p->r, &p->gas, name, 0, NULL);
    if (gas_needs_curl(f))
        FAIL(ERR_PARAM, "%s: a phase diagram cannot have the %s, which maps alone compute",
             p->r->path, name);
    const struct unit u = unit_of(name, &p->gas.units, true);
    p->worth[a] = u.worth;
    x->name = name, x->brief = f == GAS_TEMPERATURE ? "T" : name, x->unit = u.name;
    if (f == GAS_HYDROGEN || f == GAS_TEMPERATURE)
        snprintf(x->label, sizeof x->label, "%s",
                 f == GAS_HYDROGEN ? "hydrogen nuclei [1/cm^3]" : "T/μ [K]");
    else
        snprintf(x->label, sizeof x->label, *u.name ? "%.60s [%s]" : "%.60s", name, u.name);
    return OK;
}

static enum err phase_init(struct phase *p, const struct options *o)
{
    const struct source *r = p->r;
    p->o = &o->phase;
    p->gas = gas_of(r);
    if (p->gas.density < 0 || p->gas.pressure < 0)
        FAIL(ERR_PARAM, "%s: has no gas with density and pressure: a phase diagram needs both",
             r->path);
    p->unit = p->gas.units.mass / CGS_MSUN;
    if (!(isnormal(p->gas.units.temperature) && isnormal(p->gas.units.hydrogen) &&
          isnormal(p->unit)))
        FAIL(ERR_FORMAT, "%s: its units (unit_l=%g, unit_d=%g, unit_t=%g) give no temperatures",
             r->path, r->head.unit_l, r->head.unit_d, r->head.unit_t);
    p->d.n = o->phase.bins;
    unit_title(r, true, p->d.title, sizeof p->d.title);
    p->d.colours = o->map.scale.colours;
    sum_init(&p->mass);
    for (int i = 0; i < CLASSES * 4; i++)
        (&p->least[0][0][0])[i] = INFINITY, (&p->most[0][0][0])[i] = -INFINITY;
    for (int a = 0; a < 2; a++) TRY(axis_init(p, a));
    p->d.usual = p->field[0] == GAS_HYDROGEN && p->field[1] == GAS_TEMPERATURE;
    return OK;
}

/* ---- output ---- */

/* Sets the range of colours: at most seven decades below the densest bin. */
static void find_colours(struct diagram *d, const struct map_options *o)
{
    double lo = INFINITY, hi = 0;
    for (int i = 0; i < d->n * d->n; i++) {
        if (d->mass[i] == 0) continue;
        lo = fmin(lo, phase_share(d, i));
        hi = fmax(hi, phase_share(d, i));
    }
    d->hi = hi > 0 ? hi : 1;
    d->lo = fmax(lo < d->hi ? lo : d->hi / 10, d->hi / 1e7);
    if (o->scale.has_range) d->lo = o->scale.lo, d->hi = o->scale.hi;
}

static enum err save(const struct phase *p, const char *path, const char *file,
                     enum file_format format)
{
    struct stream s;
    struct picture q = {.format = (enum picture_format)format, .draw = phase_plot, .what = &p->d};
    if (format != FORMAT_TSV) return picture_save(file, &q);
    if (strcmp(file, "-") == 0) {
        phase_table(stdout, &p->d, path);
        return OK;
    }
    TRY(stream_open(&s, file));
    phase_table(s.f, &p->d, path);
    return stream_close(&s, 0);
}

static void json_axes(const struct diagram *d)
{
    static const char *const NAME[2][3] = {{"x", "x_unit", "x_log"}, {"y", "y_unit", "y_log"}};
    for (int a = 0; a < 2; a++) {
        json_text(NAME[a][0], d->axis[a].name);
        json_text(NAME[a][1], d->axis[a].unit);
        json_bool(NAME[a][2], d->axis[a].log);
    }
}

static void print_json(const struct phase *p, const char *path, const char *const file[2])
{
    const struct diagram *d = &p->d;
    json_begin("phase", path);
    printf(",\"files\":[");
    for (int k = 0; k < 2 && file[k]; k++) {
        if (k) printf(",");
        json_string(file[k]);
    }
    printf("]");
    json_count("bins", d->n);
    if (!d->usual) json_axes(d);
    for (int a = 0; a < 2; a++) {
        const double *x = d->range[a];
        const bool log = d->axis[a].log;
        printf(",");
        json_string(d->axis[a].name);
        printf(":[%.17g,%.17g]", log ? pow(10, x[0]) : x[0], log ? pow(10, x[1]) : x[1]);
    }
    json_number("mass", d->total);
    json_number("mass_outside", (double)d->out * d->quantum);
    json_count("cells_outside", d->out_cells);
    json_number(d->usual ? "mass_not_above_0_K" : "mass_not_above_0", (double)d->cold * d->quantum);
    json_count(d->usual ? "cells_not_above_0_K" : "cells_not_above_0", d->cold_cells);
    json_end();
}

/* Names the output files: one file of the requested format, or a picture and a table. Existing
 * files are an error. */
static enum err name_files(struct phase *p, const struct options *o)
{
    bool both = !o->out && o->format == FORMAT_NONE;
    p->file[0] = o->out;
    p->format[0] = both ? FORMAT_PNG : o->format;
    p->format[1] = FORMAT_TSV;
    for (int k = 0; k < 1 + both && !o->out; k++) {
        char fields[170] = "";
        if (!p->d.usual)
            snprintf(fields, sizeof fields, "_%s_%s", p->d.axis[0].name, p->d.axis[1].name);
        snprintf(p->name[k], sizeof p->name[k], "phase%s_%05d.%s", fields, p->r->number,
                 format_name(p->format[k]));
        p->file[k] = p->name[k];
    }
    for (int k = 0; k < 2 && p->file[k]; k++) TRY(temp_may_write(p->file[k], o->force));
    return o->data ? temp_may_write(o->data, o->force) : OK;
}

static enum err save_all(struct phase *p, const char *path, const struct options *o)
{
    find_colours(&p->d, &o->map);
    const struct picture q = {.draw = phase_plot, .what = &p->d};
    for (int k = 0; k < 2 && p->file[k]; k++) TRY(save(p, path, p->file[k], p->format[k]));
    TRY(picture_save_numbers(o->data, path, &q));
    if (o->json)
        print_json(p, path, p->file);
    else
        for (int k = 0; k < 2 && p->file[k]; k++)
            if (strcmp(p->file[k], "-") != 0) printf("%s\n", p->file[k]);
    return OK;
}

enum err phase_draw(const char *path, const struct options *o, int *status)
{
    struct phase p = {.c = &o->c};
    enum err err = err_agree(&o->c, source_open(path, &p.r));
    if (err == OK) err = phase_init(&p, o);
    if (err == OK) err = err_agree(&o->c, o->c.rank == 0 ? name_files(&p, o) : OK);
    if (err == OK) err = find_ranges(&p);
    if (err == OK) err = fill_bins(&p);
    if (err == OK && o->c.rank == 0) err = save_all(&p, path, o);
    FREE(p.d.mass);
    FREE(p.d.cells);
    source_close(&p.r);
    return err;
}
