/* inspect: summary, comparison and distribution of values of smoothed particles. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/sum.h"
#include "base/text.h"
#include "inspect.h"
#include "sphview/sphview.h"

/* Value i of a column. */
static double value_at(struct smooth *p, enum smooth_column c, int64_t i)
{
    const void *column = *smooth_at(p, c);
    const char type = smooth_row[c].type;
    if (type == 'd') return ((const double *)column)[i];
    return type == 'q' ? (double)((const int64_t *)column)[i] : ((const int8_t *)column)[i];
}

/* ---- summary ---- */

struct extent {
    double min, max;
    int64_t n, bad;
    struct sum sum, square;
};

struct summary {
    struct extent extent[SPHFILE_COLUMNS], rho;
    int64_t gas, boundary;
    struct sum kinetic, thermal, momentum[3]; /* per mass of a particle */
    struct smooth_par par;
    double lo[3], side[3];
    bool periodic;
};

static void extent_init(struct extent *e)
{
    *e = (struct extent){.min = INFINITY, .max = -INFINITY};
    sum_init(&e->sum);
    sum_init(&e->square);
}

static void extent_add(struct extent *e, double x)
{
    if (!isfinite(x)) {
        e->bad++;
        return;
    }
    e->min = fmin(e->min, x), e->max = fmax(e->max, x), e->n++;
    sum_add(&e->sum, x);
    sum_add(&e->square, x * x);
}

static void fold(struct summary *s, struct smooth *p)
{
    for (int64_t i = 0; i < p->n; i++) {
        double v2 = 0;
        for (int c = 0; c < SPHFILE_COLUMNS; c++)
            extent_add(&s->extent[c], value_at(p, sphfile_column(c), i));
        extent_add(&s->rho, smooth_rho(&s->par, p->h[i]));
        (p->type[i] == SMOOTH_BOUNDARY ? &s->boundary : &s->gas)[0]++;
        for (int d = 0; d < 3; d++) {
            v2 += p->v[d][i] * p->v[d][i];
            sum_add(&s->momentum[d], p->v[d][i]);
        }
        sum_add(&s->kinetic, 0.5 * v2);
        sum_add(&s->thermal, p->u[i]);
    }
}

static enum err fill(struct sphfile_either *e, struct summary *s)
{
    const int64_t n = e->head->n, step = sphfile_either_step(e);
    struct smooth p = {0};
    enum err err = sphfile_get_par(e->head, e->path, &s->par, s->lo, s->side, &s->periodic);
    for (int c = 0; c < SPHFILE_COLUMNS; c++) extent_init(&s->extent[c]);
    extent_init(&s->rho);
    sum_init(&s->kinetic);
    sum_init(&s->thermal);
    for (int d = 0; d < 3; d++) sum_init(&s->momentum[d]);
    for (int64_t at = 0; at < n && err == OK; at += step) {
        err = sphfile_either_rows(e, at, step < n - at ? step : n - at, &p);
        if (err == OK) fold(s, &p);
    }
    smooth_free(&p);
    return err;
}

static void print_numbers(const struct sphfile_head *h)
{
    printf("  numbers        ");
    for (int i = 0; i < h->keys.n; i++) printf(" %s=%.15g", h->keys.name[i], h->keys.value[i]);
    printf("\n");
}

static void print_head(const struct sphfile_either *e, const struct summary *s)
{
    const struct sphfile_head *h = e->head;
    const double m = s->par.mass;
    printf("%s\n", e->path);
    printf("  format          %s\n", e->kind);
    printf("  number          %d\n", e->number);
    printf("  time            %.15g, last step %.9g\n", h->t, h->dt);
    printf("  steps           %ld\n", (long)h->it);
    printf("  particles       %ld gas, %ld boundary, %ld point masses\n", (long)s->gas,
           (long)s->boundary, (long)h->nsink);
    printf("  mass            %.15g, of a particle %.15g\n", m * (double)h->n, m);
    printf("  energy          kinetic %.15g, thermal %.15g\n", m * sum_get(&s->kinetic),
           m * sum_get(&s->thermal));
    printf("  momentum        %.15g %.15g %.15g\n", m * sum_get(&s->momentum[0]),
           m * sum_get(&s->momentum[1]), m * sum_get(&s->momentum[2]));
    if (s->periodic)
        printf("  box             %.15g x %.15g x %.15g at %.15g %.15g %.15g, periodic\n",
               s->side[0], s->side[1], s->side[2], s->lo[0], s->lo[1], s->lo[2]);
    else
        printf("  box             none\n");
    printf("  kernel          %s, hfact %.15g\n", smooth_kernel_name(s->par.kernel), s->par.eta);
    printf("  gas             %s, gamma %.15g\n", smooth_eos_name(s->par.eos), s->par.gamma);
    printf("  viscosity       %s, alpha %.15g to %.15g\n", smooth_switch_name(s->par.alpha_switch),
           s->par.alpha_min, s->par.alpha_max);
    print_numbers(h);
    printf("\n  %-20s %22s %22s %22s %22s\n", "value", "min", "max", "mean", "rms");
}

static void json_head(const struct sphfile_either *e, const struct summary *s)
{
    const struct sphfile_head *h = e->head;
    const double m = s->par.mass;
    json_begin("summary", e->path);
    json_text("format", e->kind);
    json_text("solver", "sph");
    json_count("ndim", 3);
    json_count("number", e->number);
    json_number("time", h->t);
    json_number("dt", h->dt);
    json_count("nstep", h->it);
    json_count("gas", s->gas);
    json_count("boundary", s->boundary);
    json_count("sinks", h->nsink);
    json_number("mass", m * (double)h->n);
    json_number("kinetic", m * sum_get(&s->kinetic));
    json_number("thermal", m * sum_get(&s->thermal));
    printf(",\"momentum\":[%.17g,%.17g,%.17g]", m * sum_get(&s->momentum[0]),
           m * sum_get(&s->momentum[1]), m * sum_get(&s->momentum[2]));
    json_bool("periodic", s->periodic);
    printf(",\"lo\":[%.17g,%.17g,%.17g],\"length\":[%.17g,%.17g,%.17g]", s->lo[0], s->lo[1],
           s->lo[2], s->side[0], s->side[1], s->side[2]);
    json_text("kernel", smooth_kernel_name(s->par.kernel));
    json_text("eos", smooth_eos_name(s->par.eos));
    json_text("alpha_switch", smooth_switch_name(s->par.alpha_switch));
    printf(",\"numbers\":{");
    for (int i = 0; i < h->keys.n; i++) {
        printf("%s\"%s\":", i ? "," : "", h->keys.name[i]);
        json_value(h->keys.value[i]);
    }
    printf("},\"columns\":[");
}

static void print_extent(const char *name, const struct extent *e, bool first, bool json)
{
    const double mean = sum_get(&e->sum) / (double)e->n,
                 rms = sqrt(sum_get(&e->square) / (double)e->n);
    if (!json) {
        printf("  %-20s %22.15g %22.15g %22.15g %22.15g\n", name, e->min, e->max,
               plain_number(mean), plain_number(rms));
        return;
    }
    printf("%s{\"name\":\"%s\"", first ? "" : ",", name);
    json_number("min", e->min);
    json_number("max", e->max);
    json_number("mean", mean);
    json_number("rms", rms);
    printf("}");
}

enum err sph_summary(struct sphfile_either *e, const struct options *o)
{
    struct summary *s = mem_zero(sizeof *s, "summary");
    int64_t bad = 0;
    enum err err = fill(e, s);
    if (err == OK) (o->json ? json_head : print_head)(e, s);
    for (int i = 0; i < SPHFILE_COLUMNS && err == OK && e->head->n; i++) {
        print_extent(smooth_row[sphfile_column(i)].name, &s->extent[i], i == 0, o->json);
        bad += s->extent[i].bad;
    }
    if (err == OK && e->head->n) print_extent("density", &s->rho, false, o->json);
    if (err == OK && o->json) {
        printf("]");
        json_count("not_finite", bad);
        json_end();
    } else if (err == OK) {
        if (bad) printf("\n  %ld values are not finite\n", (long)bad);
        if (o->many) printf("\n");
    }
    FREE(s);
    return err;
}

/* ---- comparison ---- */

struct difference {
    int64_t n, id; /* differing values; id of the particle with the largest difference */
    double max, max_rel;
    struct sum l1, norm;
};

static void compare_value(struct difference *d, double x, double y, int64_t id,
                          const struct options *o)
{
    const double diff = fabs(x - y), size = fmax(fabs(x), fabs(y));
    sum_add(&d->l1, diff);
    sum_add(&d->norm, fabs(x));
    if (memcmp(&x, &y, 8) == 0) return;
    d->n += !(diff <= o->atol + o->rtol * size);
    d->max_rel = fmax(d->max_rel, diff / size);
    if (diff > d->max) d->max = diff, d->id = id;
}

static enum err compare_rows(struct sphfile_either *a, struct sphfile_either *b,
                             const struct options *o, struct difference *d)
{
    const int64_t n = a->head->n, step = sphfile_either_step(a);
    struct smooth p = {0}, q = {0};
    enum err err = OK;
    for (int64_t at = 0; at < n && err == OK; at += step) {
        const int64_t m = step < n - at ? step : n - at;
        err = sphfile_either_rows(a, at, m, &p);
        if (err == OK) err = sphfile_either_rows(b, at, m, &q);
        for (int c = 0; c < SPHFILE_COLUMNS && err == OK; c++)
            for (int64_t i = 0; i < m; i++)
                compare_value(&d[c], value_at(&p, sphfile_column(c), i),
                              value_at(&q, sphfile_column(c), i), p.id[i], o);
    }
    smooth_free(&p);
    smooth_free(&q);
    return err;
}

/* Numbers of outputs to come may differ, as in digests. */
static bool same_heads(const struct sphfile_head *p, const struct sphfile_head *q)
{
    bool same = p->t == q->t && p->dt == q->dt && p->it == q->it && p->nsink == q->nsink &&
                (!p->nsink || p->sink_width == q->sink_width);
    const size_t bytes = sizeof(double) * (size_t)(p->nsink * p->sink_width);
    return same && onefile_same_keys(&p->keys, &q->keys) &&
           (!p->nsink || memcmp(p->sink, q->sink, bytes) == 0);
}

static void print_difference(const struct difference *d, int i, const struct options *o, int *lines)
{
    const char *name = smooth_row[sphfile_column(i)].name;
    const double l1 = sum_get(&d->l1), norm = sum_get(&d->norm);
    if (o->json) {
        printf("%s{\"name\":\"%s\"", i ? "," : "", name);
        json_count("differing", d->n);
        json_number("max_abs", d->max);
        json_number("max_rel", d->max_rel);
        json_number("l1", l1);
        json_number("norm", norm);
        json_count("id", d->id);
        printf("}");
    } else if (d->n) {
        if (!(*lines)++)
            printf("  %-20s %12s %12s %12s %12s  max at\n", "column", "differing", "max",
                   "relative", "L1");
        printf("  %-20s %12ld %12.4g %12.4g %12.4g  particle %ld\n", name, (long)d->n,
               plain_number(d->max), plain_number(d->max_rel),
               plain_number(norm > 0 ? l1 / norm : l1), (long)d->id);
    }
}

static enum err compare_columns(struct sphfile_either *a, struct sphfile_either *b,
                                const struct options *o, bool *same)
{
    struct difference *d = mem_zero(SPHFILE_COLUMNS * sizeof *d, "comparison");
    int lines = 0;
    for (int c = 0; c < SPHFILE_COLUMNS; c++) {
        sum_init(&d[c].l1);
        sum_init(&d[c].norm);
    }
    enum err err = compare_rows(a, b, o, d);
    for (int c = 0; c < SPHFILE_COLUMNS && err == OK; c++) {
        *same &= d[c].n == 0;
        if (!o->quiet || o->json) print_difference(&d[c], c, o, &lines);
    }
    FREE(d);
    return err;
}

static enum err compare_opened(struct sphfile_either *a, struct sphfile_either *b,
                               const struct options *o, bool *same)
{
    const bool words = !o->quiet && !o->json;
    const int64_t m = a->head->n, n = b->head->n;
    enum err err = OK;
    *same = same_heads(a->head, b->head);
    if (o->json) {
        json_begin("compare", a->path);
        json_text("path_b", b->path);
        json_bool("same_header", *same);
        printf(",\"columns\":[");
    }
    if (words) printf("A: %s\nB: %s\n", a->path, b->path);
    if (words && !*same) printf("  the headers differ (inspect -s)\n");
    if (words && m != n) printf("  %ld particles in A, %ld in B\n", (long)m, (long)n);
    *same &= m == n;
    if (m == n) err = compare_columns(a, b, o, same);
    if (o->json) {
        printf("]");
        json_bool("same", *same && err == OK);
        json_number("rtol", o->rtol);
        json_number("atol", o->atol);
        json_end();
    } else if (words && err == OK) {
        printf("%s\n", !*same                       ? "they differ"
                       : o->rtol > 0 || o->atol > 0 ? "the same within the tolerance"
                                                    : "the same");
    }
    return err;
}

enum err sph_compare(const char *pa, const char *pb, const struct options *o, int *status)
{
    struct sphfile_either *a = NULL, *b = NULL;
    bool same = true;
    enum err err = sphfile_either_open(pa, true, &a);
    if (err == OK) err = sphfile_either_open(pb, true, &b);
    if (err == OK) err = compare_opened(a, b, o, &same);
    if (err == OK && !same) *status = NO;
    sphfile_either_close(&a);
    sphfile_either_close(&b);
    return err;
}

/* ---- distribution, of equal masses: it is weighted by mass ---- */

static enum err each_particle(const struct pdf_of *q, pdf_fn *fn, void *ctx)
{
    const struct deposit_particles *s = q->from;
    fn(ctx, s->p.n, q->what);
    return OK;
}

enum err pdf_print(const char *path, const struct options *o, int *status)
{
    struct deposit_particles *s = NULL;
    if (!sphfile_either_is(path))
        FAIL(ERR_PARAM,
             "%s: --pdf is for checkpoints of uniform meshes (solver='stencil') and of smoothed "
             "particles (solver='sph'); --phase shows the gas of others",
             path);
    TRY(deposit_open(path, &s));
    double *q = mem_new(sizeof *q * (size_t)s->p.n, "distribution");
    enum err err = sphview_values(s, o->map.field, q);
    if (err == OK)
        err = pdf_make(&(struct pdf_of){.path = path,
                                        .name = o->map.field,
                                        .counts = "particles",
                                        .number = s->in->number,
                                        .t = s->head->t,
                                        .each = each_particle,
                                        .from = s,
                                        .what = q},
                       o);
    FREE(q);
    deposit_close(&s);
    return err;
}
