/* inspect: --phase, the density–temperature diagram.
 *
 * The mass of the gas in bins of log n_H and log T/μ. The checkpoint is read twice: for the ranges
 * and the mass of all gas, then for the bins. Masses are counted in units of 2^-61 of all mass, as
 * integers: neither the order of the cells nor the number of ranks changes a bit of the result. */
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

struct phase {
    struct source *r;
    const struct phase_options *o;
    const struct comm *c;
    struct gas gas;
    struct diagram d;
    struct sum mass;   /* total mass in code units */
    double seen[2][2]; /* minimum and maximum of both logarithms */
    double unit;       /* code unit of mass, solar masses */
    bool fill;         /* second pass: fill the bins */
    char name[2][64];
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

/* Extends the ranges. x: both logarithms; NaN for a temperature ≤ 0, which truncation errors cause
 * where nearly all energy is kinetic. */
static void range_add(struct phase *p, const double x[2], double mass)
{
    sum_add(&p->mass, mass);
    if (isnan(x[PHASE_T2])) return;
    for (int a = 0; a < 2; a++) {
        p->seen[a][0] = fmin(p->seen[a][0], x[a]);
        p->seen[a][1] = fmax(p->seen[a][1], x[a]);
    }
}

static void bin_add(struct diagram *d, const double x[2], int64_t mass)
{
    int at[2];
    if (isnan(x[PHASE_T2])) {
        d->cold += mass;
        d->cold_cells++;
        return;
    }
    for (int a = 0; a < 2; a++) {
        double from = d->range[a][0], to = d->range[a][1];
        if (!(x[a] >= from && x[a] <= to)) {
            d->out += mass;
            d->out_cells++;
            return;
        }
        at[a] = (int)((x[a] - from) / (to - from) * d->n);
        if (at[a] >= d->n) at[a] = d->n - 1; /* the last bin includes its upper end */
    }
    d->mass[at[PHASE_T2] * d->n + at[PHASE_NH]] += mass;
    d->cells[at[PHASE_T2] * d->n + at[PHASE_NH]]++;
}

static enum err fold_octs(const struct source_octs *o, void *ctx)
{
    struct phase *p = ctx;
    double box = p->r->head.boxlen, volume = ldexp(box * box * box, -p->r->head.ndim * o->level);
    for (int i = 0; i < o->n; i++)
        for (int c = 0; c < source_cells(p->r); c++) {
            if (o->split[i] >> c & 1) continue;
            double nH = gas_hydrogen(&p->gas, o, c, i), T2 = gas_T2(&p->gas, o, c, i);
            double mass = o->val[8 * p->gas.density + c][i] * volume;
            if (!(nH > 0 && isfinite(nH))) return bad_cell(p, o, i, c, "density", nH);
            if (!isfinite(T2)) return bad_cell(p, o, i, c, "temperature", T2);
            const double x[2] = {log10(nH), T2 > 0 ? log10(T2) : NAN};
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

/* Sets the ranges of the diagram: as given, else the range of the gas. (collective) */
static enum err find_ranges(struct phase *p)
{
    struct diagram *d = &p->d;
    TRY(read_pieces(p));
    comm_sum(p->c, &p->mass);
    for (int a = 0; a < 2; a++) {
        comm_min_f64(p->c, &p->seen[a][0], 1);
        comm_max_f64(p->c, &p->seen[a][1], 1);
        bool given = p->o->has_axis[a];
        if (!given && p->seen[a][0] > p->seen[a][1])
            FAIL(ERR_FORMAT, "%s: no cell has a temperature above 0", p->r->path);
        for (int e = 0; e < 2; e++)
            d->range[a][e] = given ? log10(p->o->axis[a][e]) : p->seen[a][e];
        /* min width, so that gas of a single state fills one bin */
        if (!given && d->range[a][1] - d->range[a][0] < 0.1)
            d->range[a][0] -= 0.5, d->range[a][1] += 0.5;
    }
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
    if (d->cold_cells)
        log_line(0,
                 "inspect: %s: %lld cells, %.3g of the mass, have a temperature of 0 or below, "
                 "which a phase diagram cannot show",
                 p->r->path, (long long)d->cold_cells, (double)d->cold * d->quantum / d->total);
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
    for (int a = 0; a < 2; a++) p->seen[a][0] = INFINITY, p->seen[a][1] = -INFINITY;
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

static void print_json(const struct phase *p, const char *path, const char *const file[2])
{
    const struct diagram *d = &p->d;
    const char *axis[2] = {"nH", "temperature"};
    json_begin("phase", path);
    printf(",\"files\":[");
    for (int k = 0; k < 2 && file[k]; k++) {
        if (k) printf(",");
        json_string(file[k]);
    }
    printf("]");
    json_count("bins", d->n);
    for (int a = 0; a < 2; a++)
        printf(",\"%s\":[%.17g,%.17g]", axis[a], pow(10, d->range[a][0]), pow(10, d->range[a][1]));
    json_number("mass", d->total);
    json_number("mass_outside", (double)d->out * d->quantum);
    json_count("cells_outside", d->out_cells);
    json_number("mass_not_above_0_K", (double)d->cold * d->quantum);
    json_count("cells_not_above_0_K", d->cold_cells);
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
        snprintf(p->name[k], sizeof p->name[k], "phase_%05d.%s", p->r->number,
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
