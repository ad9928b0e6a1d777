/* inspect: --ions, fractions of ions and photons over checkpoints, as means over the volume and
 * over the mass. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/cgs.h"
#include "base/mem.h"
#include "base/sum.h"
#include "base/text.h"
#include "formats/formats.h"
#include "inspect.h"
#include "io/temp.h"
#include "plot/chart.h"
#include "plot/picture.h"
#include "view/births.h"
#include "view/gas.h"

enum { FRACTIONS = 4, MEANS = 2 * FRACTIONS + PHOTON_GROUPS };
static const char *const NAME[FRACTIONS] = {"x_HI", "x_HII", "x_HeII", "x_HeIII"};
enum { X_HII = 1 };

/* Means of a checkpoint: of each fraction over the volume, then over the mass; densities of photons
 * over the volume. NaN: the checkpoint does not have it. */
struct row {
    double time, redshift, mean[MEANS];
};

struct ions_history {
    int64_t n, cap;
    struct row *row;
    double *x, *y; /* points of the curves */
    struct curve curve[2];
};

/* ---- sums ---- */

struct fold {
    const struct source *r;
    struct gas gas;
    int field[FRACTIONS], photons[PHOTON_GROUPS]; /* −1: there is none */
    struct sum volume, mass, sum[MEANS];
};

static void add_cell(struct fold *f, const struct source_octs *o, int c, int i)
{
    const double volume = ldexp(1, -f->r->head.ndim * o->level),
                 mass = o->val[8 * f->gas.density + c][i] * volume;
    sum_add(&f->volume, volume);
    sum_add(&f->mass, mass);
    for (int k = 0; k < FRACTIONS; k++) {
        if (f->field[k] < 0) continue;
        const double x = o->val[8 * f->field[k] + c][i];
        sum_add(&f->sum[k], x * volume);
        sum_add(&f->sum[FRACTIONS + k], x * mass);
    }
    for (int g = 0; g < PHOTON_GROUPS; g++)
        if (f->photons[g] >= 0)
            sum_add(&f->sum[2 * FRACTIONS + g],
                    gas_value(&f->gas, f->photons[g], o, c, i) * volume);
}

static enum err fold_octs(const struct source_octs *o, void *ctx)
{
    struct fold *f = ctx;
    for (int i = 0; i < o->n; i++)
        for (int c = 0; c < source_cells(f->r); c++)
            if (!(o->split[i] >> c & 1)) add_cell(f, o, c, i);
    return OK;
}

static enum err find_fields(struct fold *f)
{
    bool any = false;
    for (int k = 0; k < FRACTIONS; k++) {
        f->field[k] = gas_field(f->r, &f->gas, NAME[k]);
        any |= f->field[k] >= 0;
    }
    for (int g = 0; g < PHOTON_GROUPS; g++) {
        char name[8];
        snprintf(name, sizeof name, "N%d", g + 1);
        f->photons[g] = gas_field(f->r, &f->gas, name);
    }
    if (f->gas.density < 0 || !any)
        FAIL(ERR_FORMAT, "%s: has no fractions of ions (x_HI, x_HII, x_HeII, x_HeIII)", f->r->path);
    return OK;
}

static enum err take_means(struct source *r, struct row *to)
{
    struct fold *f = mem_zero(sizeof *f, "ions");
    f->r = r, f->gas = gas_of(r);
    sum_init(&f->volume);
    sum_init(&f->mass);
    for (int k = 0; k < MEANS; k++) sum_init(&f->sum[k]);
    enum err err = find_fields(f);
    for (int i = 0; i < r->npiece && err == OK; i++)
        err = source_octs(r, i, SOURCE_STORED, fold_octs, f);
    if (err == OK) err = source_check_tree(r);
    for (int k = 0; k < MEANS; k++) {
        const int ion = k % FRACTIONS;
        const bool has = k < 2 * FRACTIONS ? f->field[ion] >= 0
                                           : f->photons[k - 2 * FRACTIONS] >= 0,
                   by_mass = k >= FRACTIONS && k < 2 * FRACTIONS;
        to->mean[k] = has ? sum_get(&f->sum[k]) / sum_get(by_mass ? &f->mass : &f->volume) : NAN;
    }
    FREE(f);
    return err;
}

static enum err take_time(struct source *r, struct row *to)
{
    struct births b = {0};
    to->time = r->head.t * r->head.unit_t / (1e9 * CGS_YEAR), to->redshift = NAN;
    if (!r->head.cosmo) return OK;
    enum err err = births_open(&b, r);
    if (err == OK) to->time = b.now / (1e9 * CGS_YEAR), to->redshift = births_redshift(&b, b.now);
    births_close(&b);
    return err;
}

/* ---- tables ---- */

static const char *mean_name(int k, char name[16])
{
    if (k < 2 * FRACTIONS)
        snprintf(name, 16, "%s_%s", NAME[k % FRACTIONS], k < FRACTIONS ? "volume" : "mass");
    else
        snprintf(name, 16, "N%d", k - 2 * FRACTIONS + 1);
    return name;
}

static void print_text(const struct row *r, const char *path)
{
    char name[16];
    printf("# ptah ions 1\n# source\t%s\n", path);
    printf(
        "# time in Gyr since the beginning; means of fractions over the volume and over the mass; "
        "photons of each group per cm^3, mean over the volume\n#time\tredshift");
    for (int k = 0; k < MEANS; k++)
        if (!isnan(r->mean[k])) printf("\t%s", mean_name(k, name));
    printf("\n");
    put_number(stdout, 9, r->time);
    printf("\t");
    put_number(stdout, 9, r->redshift);
    for (int k = 0; k < MEANS; k++) {
        if (isnan(r->mean[k])) continue;
        printf("\t");
        put_number(stdout, 9, r->mean[k]);
    }
    printf("\n");
}

static void print_json(const struct row *r, const char *path)
{
    char name[16];
    json_begin("ions", path);
    json_number("time", r->time);
    json_number("redshift", r->redshift);
    for (int k = 0; k < MEANS; k++)
        if (!isnan(r->mean[k])) json_number(mean_name(k, name), r->mean[k]);
    json_end();
}

enum err ions_print(const char *path, const struct options *o, int *status)
{
    struct source *r = NULL;
    struct ions_history *h = o->ions;
    struct row row = {0};
    enum err err = plot_allowed(o);
    if (err == OK) err = source_open(path, &r);
    if (err == OK) err = take_means(r, &row);
    if (err == OK) err = take_time(r, &row);
    source_close(&r);
    TRY(err);
    if (h->n == h->cap) {
        h->cap = 2 * h->cap + 16;
        h->row = mem_grow(h->row, sizeof *h->row * (size_t)h->cap, "ions");
    }
    h->row[h->n++] = row;
    (o->json ? print_json : print_text)(&row, path);
    return OK;
}

/* ---- the plot ---- */

static int by_time(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return (x->time > y->time) - (x->time < y->time);
}

static void draw(struct canvas *c, const void *what)
{
    const struct ions_history *h = what;
    const bool cosmo = !isnan(h->row[0].redshift);
    const struct axis x = {.name = cosmo ? "redshift" : "time [Gyr]"},
                      y = {.hi = 1.02, .name = "ionised fraction of hydrogen"};
    struct chart f = {
        .x = x, .y = y, .in = frame_in(frame_whole(true), 0), .n = 2, .curve = h->curve};
    chart_draw(c, &f);
}

static enum err save(struct ions_history *h, const struct options *o)
{
    struct picture plot = {.format = (enum picture_format)o->format, .draw = draw, .what = h};
    const size_t n = (size_t)h->n;
    if (n < 2)
        FAIL(ERR_PARAM, "%s is not drawn: a curve needs two checkpoints or more", plot_file(o));
    mem_sort(h->row, n, sizeof *h->row, by_time);
    h->x = mem_new(3 * sizeof *h->x * n, "ions");
    h->y = h->x + n;
    for (size_t i = 0; i < n; i++) {
        const struct row *r = &h->row[i];
        h->x[i] = isnan(h->row[0].redshift) ? r->time : r->redshift;
        h->y[i] = r->mean[X_HII], h->y[n + i] = r->mean[FRACTIONS + X_HII];
    }
    for (int k = 0; k < 2; k++)
        h->curve[k] = (struct curve){.label = k ? "mean by mass" : "mean by volume",
                                     .x = h->x,
                                     .y = h->y + n * (size_t)k,
                                     .n = (int)n,
                                     .colour = k};
    return plot_save(o, o->paths[o->npath - 1], &plot);
}

struct ions_history *ions_begin(void)
{
    return mem_zero(sizeof(struct ions_history), "ions");
}

enum err ions_end(struct options *o)
{
    struct ions_history *h = o->ions;
    enum err err = plot_file(o) && o->c.rank == 0 && h->n > 0 ? save(h, o) : OK;
    FREE(h->x);
    FREE(h->row);
    FREE(o->ions);
    return err;
}
