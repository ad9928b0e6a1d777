/* inspect: checkpoints of uniform meshes (lib/grid): choice of the mode, digest, check, summary,
 * comparison, and distributions of values, also of any others. Sums are exact (base/sum), so that
 * they do not depend on the order of the cells. Modes for trees, particles and gas of AMR runs see
 * cubes of 2^n cells as octrees of one level (lib/grid/source.c). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "audit/digest.h"
#include "base/mem.h"
#include "base/sum.h"
#include "base/text.h"
#include "inspect.h"
#include "io/stream.h"
#include "io/temp.h"
#include "plot/chart.h"
#include "plot/picture.h"

/* Calls fn for slabs of planes of a value: n numbers. */
typedef void slab_fn(void *ctx, int64_t n, const double *x);
static enum err each_slab(struct grid *g, const struct grid_value *v, slab_fn *fn, void *ctx)
{
    const int64_t *mesh = g->head.n, step = grid_value_planes(g), plane = mesh[0] * mesh[1];
    double *x = mem_new(sizeof *x * (size_t)(step * plane), "summary");
    enum err err = OK;
    for (int64_t z = 0; z < mesh[2] && err == OK; z += step) {
        const int64_t n = step < mesh[2] - z ? step : mesh[2] - z;
        err = grid_value_read(g, v, z, n, x);
        if (err == OK) fn(ctx, n * plane, x);
    }
    FREE(x);
    return err;
}

/* ---- summary ---- */

struct extent {
    double min, max, mean, rms;
    int64_t n, bad;
    struct sum sum, square;
};

static void fold_extent(void *ctx, int64_t n, const double *x)
{
    struct extent *e = ctx;
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(x[i])) {
            e->bad++;
            continue;
        }
        e->min = fmin(e->min, x[i]), e->max = fmax(e->max, x[i]), e->n++;
        sum_add(&e->sum, x[i]);
        sum_add(&e->square, x[i] * x[i]);
    }
}

static enum err extent_of(struct grid *g, const struct grid_value *v, struct extent *e)
{
    *e = (struct extent){.min = INFINITY, .max = -INFINITY};
    sum_init(&e->sum);
    sum_init(&e->square);
    TRY(each_slab(g, v, fold_extent, e));
    e->mean = sum_get(&e->sum) / (double)e->n;
    e->rms = sqrt(sum_get(&e->square) / (double)e->n);
    return OK;
}

static void print_head(const struct grid *g, const char *path)
{
    const struct grid_head *h = &g->head;
    printf("%s\n", path);
    printf("  format          HDF5 of a uniform mesh (openPMD 1.1), solver stencil\n");
    printf("  number          %d\n", g->number);
    printf("  time            %.15g, last step %.9g\n", h->t, h->dt);
    printf("  steps           %ld\n", (long)h->it);
    printf("  cells           %ld x %ld x %ld\n", (long)h->n[0], (long)h->n[1], (long)h->n[2]);
    printf("  box             %.15g x %.15g x %.15g, periodic\n", h->length[0], h->length[1],
           h->length[2]);
    printf("  differences     order %d\n", h->order);
    if (h->keys.n) printf("  numbers        ");
    for (int i = 0; i < h->keys.n; i++) printf(" %s=%.15g", h->keys.name[i], h->keys.value[i]);
    if (h->keys.n) printf("\n");
    printf("\n  %-20s %22s %22s %22s %22s\n", "value", "min", "max", "mean", "rms");
}

static void json_head(const struct grid *g, const char *path)
{
    const struct grid_head *h = &g->head;
    json_begin("summary", path);
    json_text("format", "HDF5 of a uniform mesh");
    json_text("solver", "stencil");
    json_count("ndim", 3);
    json_count("number", g->number);
    json_number("time", h->t);
    json_number("dt", h->dt);
    json_count("nstep", h->it);
    json_count("order", h->order);
    printf(",\"cells\":[%ld,%ld,%ld],\"length\":[%.17g,%.17g,%.17g],\"numbers\":{", (long)h->n[0],
           (long)h->n[1], (long)h->n[2], h->length[0], h->length[1], h->length[2]);
    for (int i = 0; i < h->keys.n; i++) {
        printf("%s\"%s\":", i ? "," : "", h->keys.name[i]);
        json_value(h->keys.value[i]);
    }
    printf("},\"fields\":[");
}

static void print_extent(const struct grid_value *v, const struct extent *e, int i, bool json)
{
    if (!json) {
        printf("  %-20s %22.15g %22.15g %22.15g %22.15g\n", v->name, e->min, e->max,
               plain_number(e->mean), plain_number(e->rms));
        return;
    }
    printf("%s{\"name\":\"%s\"", i ? "," : "", v->name);
    json_number("min", e->min);
    json_number("max", e->max);
    json_number("mean", e->mean);
    json_number("rms", e->rms);
    printf("}");
}

/* The fields; with -v also the values that follow from them. */
enum err grid_summary(struct grid *g, const char *path, const struct options *o)
{
    struct grid_value list[GRID_VALUES];
    int n = o->verbose ? grid_values(g, list) : 0;
    int64_t bad = 0;
    for (; n < g->head.nfield; n++)
        list[n] = (struct grid_value){g->head.field[n], g->head.field[n], n, FD_DERIVED};
    g->any = true;
    (o->json ? json_head : print_head)(g, path);
    for (int i = 0; i < n; i++) {
        struct extent e;
        TRY(extent_of(g, &list[i], &e));
        print_extent(&list[i], &e, i, o->json);
        bad += list[i].field >= 0 ? e.bad : 0;
    }
    if (o->json) {
        printf("]");
        json_count("not_finite", bad);
        json_end();
        return OK;
    }
    if (bad) printf("\n  %ld values are not finite\n", (long)bad);
    if (o->many) printf("\n");
    return OK;
}

/* ---- comparison ---- */

struct difference {
    const char *name;
    int64_t n; /* differing values */
    double max, max_rel, l1, norm;
    int64_t at[3];
};

static enum err compare_field(struct grid *a, struct grid *b, int fa, int fb,
                              const struct options *o, struct difference *d)
{
    const int64_t *n = a->head.n, one[3] = {n[0], 1, 1}, stride[3] = {1, n[0], n[0]};
    double *x = mem_new(2 * sizeof *x * (size_t)n[0], "comparison"), *y = x + n[0];
    struct sum l1, norm;
    enum err err = OK;
    sum_init(&l1);
    sum_init(&norm);
    for (int64_t row = 0; row < n[1] * n[2] && err == OK; row++) {
        const int64_t first[3] = {0, row % n[1], row / n[1]};
        err = grid_read(a, fa, first, one, x, stride);
        if (err == OK) err = grid_read(b, fb, first, one, y, stride);
        for (int64_t i = 0; i < n[0] && err == OK; i++) {
            const double diff = fabs(x[i] - y[i]), size = fmax(fabs(x[i]), fabs(y[i]));
            sum_add(&l1, diff);
            sum_add(&norm, fabs(x[i]));
            if (memcmp(&x[i], &y[i], 8) == 0) continue;
            d->n += !(diff <= o->atol + o->rtol * size);
            d->max_rel = fmax(d->max_rel, diff / size);
            if (!(diff > d->max)) continue;
            d->max = diff;
            for (int k = 0; k < 3; k++) d->at[k] = first[k] + (k == 0 ? i : 0);
        }
    }
    d->l1 = sum_get(&l1), d->norm = sum_get(&norm);
    FREE(x);
    return err;
}

static bool same_heads(const struct grid *a, const struct grid *b)
{
    const struct grid_head *p = &a->head, *q = &b->head;
    bool same = p->t == q->t && p->dt == q->dt && p->it == q->it && p->order == q->order &&
                p->nstate == q->nstate;
    for (int d = 0; d < 3; d++) same &= p->length[d] == q->length[d];
    return same && onefile_same_keys(&p->keys, &q->keys) &&
           (!p->nstate || memcmp(p->state, q->state, 8 * (size_t)p->nstate) == 0);
}

static void print_difference(const struct difference *d, bool json, int i)
{
    if (json) {
        printf("%s{\"name\":\"%s\"", i ? "," : "", d->name);
        json_count("differing", d->n);
        json_number("max_abs", d->max);
        json_number("max_rel", d->max_rel);
        json_number("l1", d->l1);
        json_number("norm", d->norm);
        printf(",\"cell\":[%ld,%ld,%ld]}", (long)d->at[0], (long)d->at[1], (long)d->at[2]);
    } else if (d->n) {
        printf("  %-20s %12ld %12.4g %12.4g %12.4g  cell %ld %ld %ld\n", d->name, (long)d->n,
               plain_number(d->max), plain_number(d->max_rel),
               plain_number(d->norm > 0 ? d->l1 / d->norm : d->l1), (long)d->at[0], (long)d->at[1],
               (long)d->at[2]);
    }
}

static enum err compare_grids(struct grid *a, struct grid *b, const struct options *o, bool *same)
{
    const bool quiet = o->quiet && !o->json;
    int lines = 0;
    a->any = b->any = true;
    for (int i = 0; i < a->head.nfield; i++) {
        struct difference d = {.name = a->head.field[i]};
        const int j = grid_field(&b->head, d.name);
        *same &= j >= 0;
        if (j < 0 && !quiet && !o->json) printf("  %-20s only in A\n", d.name);
        if (j < 0) continue;
        TRY(compare_field(a, b, i, j, o, &d));
        *same &= d.n == 0;
        if (!quiet && !o->json && d.n && !lines++)
            printf("  %-20s %12s %12s %12s %12s  max at\n", "field", "differing", "max", "relative",
                   "L1");
        if (!quiet) print_difference(&d, o->json, i);
    }
    for (int j = 0; j < b->head.nfield; j++)
        if (grid_field(&a->head, b->head.field[j]) < 0) {
            *same = false;
            if (!quiet && !o->json) printf("  %-20s only in B\n", b->head.field[j]);
        }
    return OK;
}

void compare_end(bool same, enum err err, const struct options *o)
{
    if (o->json) {
        printf("]");
        json_bool("same", same && err == OK);
        json_number("rtol", o->rtol);
        json_number("atol", o->atol);
        json_end();
    } else if (!o->quiet && err == OK) {
        printf("%s\n", !same                        ? "they differ"
                       : o->rtol > 0 || o->atol > 0 ? "the same within the tolerance"
                                                    : "the same");
    }
}

static enum err compare_opened(struct grid *a, struct grid *b, const struct options *o, bool *same)
{
    const int64_t *m = a->head.n, *n = b->head.n;
    *same = same_heads(a, b);
    if (o->json) {
        json_begin("compare", a->path);
        json_text("path_b", b->path);
        json_bool("same_header", *same);
        printf(",\"fields\":[");
    } else if (!o->quiet) {
        printf("A: %s\nB: %s\n", a->path, b->path);
        if (!*same) printf("  the headers differ (inspect -s)\n");
    }
    enum err err = OK;
    if (m[0] != n[0] || m[1] != n[1] || m[2] != n[2]) {
        *same = false;
        if (!o->quiet && !o->json)
            printf("  %ld x %ld x %ld cells in A, %ld x %ld x %ld in B\n", (long)m[0], (long)m[1],
                   (long)m[2], (long)n[0], (long)n[1], (long)n[2]);
    } else {
        err = compare_grids(a, b, o, same);
    }
    compare_end(*same, err, o);
    return err;
}

enum err grid_compare(const char *pa, const char *pb, const struct options *o, int *status)
{
    struct grid *a = NULL, *b = NULL;
    bool same = true;
    enum err err = grid_open(pa, &a);
    if (err == OK) err = grid_open(pb, &b);
    if (err == OK) err = compare_opened(a, b, o, &same);
    if (err == OK && !same) *status = NO;
    grid_close(&a);
    grid_close(&b);
    return err;
}

/* ---- distribution of any values ---- */

struct pdf {
    const struct pdf_of *of;
    double min, max; /* of all values */
    double lo, hi;   /* of the bins: values, or their decimal logarithms */
    bool log;
    int n;
    int64_t *count, left_out, all;
    double *x, *y; /* [2n] ends of each bin, and its probability density at both */
    char title[200];
};

static void fold_span(void *ctx, int64_t n, const double *x)
{
    struct pdf *p = ctx;
    for (int64_t i = 0; i < n; i++) p->min = fmin(p->min, x[i]), p->max = fmax(p->max, x[i]);
}

static void fold_count(void *ctx, int64_t n, const double *x)
{
    struct pdf *p = ctx;
    for (int64_t i = 0; i < n; i++) {
        const double y = p->log ? log10(x[i]) : x[i], at = (y - p->lo) / (p->hi - p->lo) * p->n;
        p->all++;
        if (!(at >= 0 && at <= p->n))
            p->left_out++;
        else
            p->count[at < p->n ? (int)at : p->n - 1]++;
    }
}

static enum err find_span(struct pdf *p, const struct options *o)
{
    p->min = INFINITY, p->max = -INFINITY;
    TRY(p->of->each(p->of, fold_span, p));
    p->lo = o->map.scale.has_range ? o->map.scale.lo : p->min,
    p->hi = o->map.scale.has_range ? o->map.scale.hi : p->max;
    p->log = o->map.scale.kind == SCALE_LOG;
    if (p->log && !(p->lo > 0))
        FAIL(ERR_PARAM,
             "%s: values of %s begin at %g, which has no logarithm: give --range or "
             "leave out --log",
             p->of->path, p->of->name, p->lo);
    if (p->log) p->lo = log10(p->lo), p->hi = log10(p->hi);
    if (!(p->hi > p->lo)) p->lo -= 0.5, p->hi += 0.5; /* all values are equal */
    return OK;
}

static void draw_pdf(struct canvas *c, const void *what)
{
    const struct pdf *p = what;
    const struct curve curve = {.n = 2 * p->n, .x = p->x, .y = p->y, .colour = 0};
    const char *name = p->log ? "probability per unit of the logarithm" : "probability density";
    const struct chart chart = {.x = {.lo = p->lo, .hi = p->hi, .log = p->log, .name = p->of->name},
                                .y = {.log = true, .name = name},
                                .title = p->title,
                                .in = frame_in(frame_whole(true), 0),
                                .n = 1,
                                .curve = &curve};
    chart_draw(c, &chart);
}

static void print_pdf_head(const struct pdf *p, bool json)
{
    const struct pdf_of *q = p->of;
    if (json) {
        json_begin("pdf", q->path);
        json_text("field", q->name);
        json_bool("logarithmic", p->log);
        json_count("left_out", p->left_out);
        printf(",\"bins\":[");
    } else {
        printf("# ptah pdf 1\n# source\t%s\n# field\t%s\n# time\t%.9g\n# left out\t%ld of %ld\n"
               "# density: probability per unit of %s\n#lo\thi\t%s\tdensity",
               q->path, q->name, q->t, (long)p->left_out, (long)p->all,
               p->log ? "log10 of the value" : "the value", q->counts);
    }
}

static void print_pdf(const struct pdf *p, bool json)
{
    print_pdf_head(p, json);
    for (int i = 0; i < p->n; i++) {
        double lo = p->lo + (p->hi - p->lo) * i / p->n,
               hi = p->lo + (p->hi - p->lo) * (i + 1) / p->n;
        if (p->log) lo = pow(10, lo), hi = pow(10, hi);
        if (json) {
            printf("%s{\"lo\":%.17g,\"hi\":%.17g", i ? "," : "", lo, hi);
            json_count(p->of->counts, p->count[i]);
            json_number("density", p->y[2 * i]);
            printf("}");
        } else {
            printf("\n%.9g\t%.9g\t%ld\t%.9g", lo, hi, (long)p->count[i], p->y[2 * i]);
        }
    }
    printf(json ? "]" : "\n");
    if (json) json_end();
}

enum err pdf_make(const struct pdf_of *of, const struct options *o)
{
    struct pdf p = {.of = of, .n = o->pixels ? o->pixels : 100};
    struct picture plot = {.format = (enum picture_format)o->format, .draw = draw_pdf, .what = &p};
    TRY(find_span(&p, o));
    p.count = mem_zero(sizeof *p.count * (size_t)p.n, "distribution");
    p.x = mem_zero(4 * sizeof *p.x * (size_t)p.n, "distribution"), p.y = p.x + (ptrdiff_t)2 * p.n;
    snprintf(p.title, sizeof p.title, "%.100s, output %d, t = %.4g", of->name, of->number, of->t);
    enum err err = of->each(of, fold_count, &p);
    for (int i = 0; i < p.n; i++) {
        const double width = (p.hi - p.lo) / p.n;
        for (int k = 2 * i; k < 2 * i + 2; k++) {
            const double x = p.lo + (i + k % 2) * width;
            p.x[k] = p.log ? pow(10, x) : x;
            p.y[k] = (double)p.count[i] / (double)p.all / width;
        }
    }
    if (err == OK) err = plot_allowed(o);
    if (err == OK) err = plot_save(o, of->path, &plot);
    if (err == OK) print_pdf(&p, o->json);
    FREE(p.count);
    FREE(p.x);
    return err;
}

/* ---- distribution of those of a mesh ---- */

static enum err pdf_values(const struct pdf_of *q, pdf_fn *fn, void *ctx)
{
    const struct grid_value *v = q->what;
    return each_slab(q->from, v, fn, ctx);
}

enum err grid_pdf(struct grid *g, const char *path, const struct options *o)
{
    struct grid_value v;
    TRY(grid_value_find(g, o->map.field, &v));
    return pdf_make(&(struct pdf_of){.path = path,
                                     .name = v.name,
                                     .counts = "cells",
                                     .number = g->number,
                                     .t = g->head.t,
                                     .each = pdf_values,
                                     .from = g,
                                     .what = &v},
                    o);
}

/* ---- digests ---- */

static void hex_of(const uint64_t digest[2], char hex[33])
{
    digest_hex((hash128)digest[1] << 64 | digest[0], hex);
}

void print_digests(const char *path, const uint64_t state[2], const struct digest_lines *lines,
                   const struct options *o)
{
    char hex[33];
    hex_of(state, hex);
    if (o->json) {
        json_begin("digest", path);
        json_text("state", hex);
        printf(",\"%s\":{", lines->group);
    } else if (o->quiet) {
        printf("%s  %s\n", hex, path);
        return;
    } else {
        if (o->many) printf("%s:\n", path);
        printf("%s  state\n", hex);
    }
    for (int i = 0; i < lines->n; i++) {
        hex_of(lines->digest[i], hex);
        if (o->json)
            printf("%s\"%s\":\"%s\"", i ? "," : "", lines->name[i], hex);
        else
            printf("%s  %s\n", hex, lines->name[i]);
    }
    if (!o->json) return;
    printf("}");
    json_end();
}

bool grid_inspects(const char *path, const struct options *o)
{
    if (o->mode == COMPARE) return grid_is(path) && grid_is(o->paths[1]);
    return grid_is(path) && (o->mode == SUMMARY || o->mode == DIGEST || o->mode == CHECK ||
                             o->mode == TREE || o->mode == PDF);
}

/* ---- digest ---- */

static enum err digest(struct grid *g, const char *path, const struct options *o)
{
    uint64_t line[GRID_FIELDS + 1][2], state[2];
    TRY(grid_digests(g, &o->c, line));
    grid_digest_join(g, line, state);
    const char *name[GRID_FIELDS + 1];
    for (int i = 0; i < g->head.nfield; i++) name[i] = g->head.field[i];
    name[g->head.nfield] = "time";
    const struct digest_lines lines = {"fields", g->head.nfield + 1, name, line};
    if (o->c.rank == 0) print_digests(path, state, &lines, o);
    return OK;
}

/* ---- check ---- */

struct found {
    const char *path;
    const struct options *o;
    int damages;
};

static void report(struct found *f)
{
    if (f->o->json) {
        printf("%s{\"what\":", f->damages ? "," : "");
        json_string(err_message());
        printf("}");
    } else {
        printf("%s\n", err_message());
    }
    f->damages++;
}

static void look(struct found *f, enum err err)
{
    if (err != OK) report(f);
}

/* Reads a field; with -cc also its values must be finite. */
static enum err check_field(struct grid *g, int field)
{
    const int64_t *n = g->head.n, stride[3] = {1, n[0], n[0] * n[1]};
    double *line = mem_new(sizeof *line * (size_t)n[0], "check");
    enum err err = OK;
    for (int64_t row = 0; row < n[1] * n[2] && err == OK; row++)
        err = grid_read(g, field, (int64_t[3]){0, row % n[1], row / n[1]}, (int64_t[3]){n[0], 1, 1},
                        line, stride);
    FREE(line);
    return err;
}

static void check_all(struct found *f, struct grid *g)
{
    char *text = NULL;
    size_t n;
    g->any = f->o->depth < 2;
    for (int i = 0; i < g->head.nfield; i++) look(f, check_field(g, i));
    for (int k = 0; k < 2; k++) {
        look(f, grid_text(g, k, &text, &n));
        mem_free(text);
    }
    look(f, grid_check_files(g));
}

enum err grid_check(const char *path, const struct options *o, int *status)
{
    struct found f = {path, o, 0};
    struct grid *g = NULL;
    if (o->json) {
        json_begin("check", path);
        printf(",\"damage\":[");
    }
    look(&f, grid_open(path, &g));
    if (g) check_all(&f, g);
    if (o->json) {
        printf("]");
        json_text("verdict", f.damages ? "damaged" : "sound");
        json_count("damages", f.damages);
        json_count("level", o->depth);
        json_bool("checksums", true);
        if (g) json_count("cells", g->head.n[0] * g->head.n[1] * g->head.n[2]);
        json_end();
    } else if (!o->quiet && f.damages) {
        printf("%s: damaged: %d finding%s\n", path, f.damages, f.damages > 1 ? "s" : "");
    } else if (!o->quiet) {
        printf("%s: sound: %ld x %ld x %ld cells, %d fields; values match their checksums%s\n",
               path, (long)g->head.n[0], (long)g->head.n[1], (long)g->head.n[2], g->head.nfield,
               o->depth > 1 ? " and are finite" : "");
    }
    grid_close(&g);
    if (f.damages) *status = NO;
    return OK;
}

/* ---- choice ---- */

static enum err with_grid(struct grid *g, const char *path, const struct options *o)
{
    if (o->mode == DIGEST) return digest(g, path, o);
    if (o->c.rank > 0) return OK;
    if (o->mode == PDF) return grid_pdf(g, path, o);
    if (o->mode == TREE)
        FAIL(
            ERR_PARAM,
            "%s: has no tree and no domains: its mesh of %ld x %ld x %ld cells is uniform, and the "
            "file does not depend on ranks",
            path, (long)g->head.n[0], (long)g->head.n[1], (long)g->head.n[2]);
    return grid_summary(g, path, o);
}

enum err grid_inspect(const char *path, const struct options *o, int *status)
{
    struct grid *g = NULL;
    if (o->mode == CHECK) return o->c.rank == 0 ? grid_check(path, o, status) : OK;
    if (o->mode == COMPARE) return o->c.rank == 0 ? grid_compare(path, o->paths[1], o, status) : OK;
    enum err err = err_agree(&o->c, grid_open(path, &g));
    if (err == OK) err = with_grid(g, path, o);
    grid_close(&g);
    return err;
}
