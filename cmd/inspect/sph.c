/* inspect: smoothed particles, of a checkpoint or of a dump of Phantom (sphfile/either.h): choice
 * of the mode, digest, check, summary, comparison, point masses, distributions of values. Pictures
 * and tables of their gas, and modes that need a tree, see an octree (deposit/source.c). */
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
    compare_end(*same, err, o);
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

bool sph_inspects(const char *path, const struct options *o)
{
    if (o->mode == COMPARE) return sphfile_either_is(path) && sphfile_either_is(o->paths[1]);
    return (o->mode == SUMMARY || o->mode == DIGEST || o->mode == CHECK || o->mode == PARAMS ||
            o->mode == TREE || o->mode == SINKS) &&
           sphfile_either_is(path);
}

static const char *line_name(int i)
{
    return i < SPHFILE_COLUMNS ? smooth_row[sphfile_column(i)].name : "header";
}

/* ---- digest ---- */

static enum err digest(struct sphfile_either *e, const struct options *o)
{
    uint64_t line[SPHFILE_COLUMNS + 1][2], state[2];
    TRY(sphfile_either_digests(e, &o->c, line));
    sphfile_join(line, state);
    const char *name[SPHFILE_COLUMNS + 1];
    for (int i = 0; i <= SPHFILE_COLUMNS; i++) name[i] = line_name(i);
    const struct digest_lines lines = {"columns", SPHFILE_COLUMNS + 1, name, line};
    if (o->c.rank == 0) print_digests(e->path, state, &lines, o);
    return OK;
}

/* ---- check ---- */

struct found {
    const struct options *o;
    int damages;
};

static void look(struct found *f, enum err err)
{
    if (err == OK) return;
    if (f->o->json) {
        printf("%s{\"what\":", f->damages ? "," : "");
        json_string(err_message());
        printf("}");
    } else {
        printf("%s\n", err_message());
    }
    f->damages++;
}

static enum err read_rows(struct sphfile_either *e)
{
    const int64_t n = e->head->n, step = sphfile_either_step(e);
    struct smooth p = {0};
    enum err err = OK;
    for (int64_t at = 0; at < n && err == OK; at += step)
        err = sphfile_either_rows(e, at, step < n - at ? step : n - at, &p);
    smooth_free(&p);
    return err;
}

static void look_at(struct found *f, struct sphfile_either *e)
{
    struct smooth_par par;
    double lo[3], side[3];
    bool periodic;
    look(f, sphfile_get_par(e->head, e->path, &par, lo, side, &periodic));
    look(f, read_rows(e));
    if (!e->file) return;
    for (int k = 0; k < 2; k++) {
        char *text = NULL;
        size_t n;
        look(f, sphfile_text(e->file, k, &text, &n));
        mem_free(text);
    }
    look(f, sphfile_check_files(e->file));
}

/* The values of a dump are checked at any depth, those of a checkpoint with -cc. */
static void print_verdict(const struct found *f, const char *path, const struct sphfile_either *e)
{
    const bool sums = e && e->file;
    if (f->o->json) {
        printf("]");
        json_text("verdict", f->damages ? "damaged" : "sound");
        json_count("damages", f->damages);
        json_count("level", f->o->depth);
        json_bool("checksums", sums);
        if (e) json_count("particles", e->head->n);
        json_end();
    } else if (!f->o->quiet && f->damages) {
        printf("%s: damaged: %d finding%s\n", path, f->damages, f->damages > 1 ? "s" : "");
    } else if (!f->o->quiet) {
        printf("%s: sound: %ld particles, %d columns; %s%s\n", path, (long)e->head->n,
               SPHFILE_COLUMNS, sums ? "values match their checksums" : "records are complete",
               f->o->depth > 1 || !sums ? ", values are finite, smoothing lengths positive" : "");
    }
}

static enum err check(const char *path, const struct options *o, int *status)
{
    struct found f = {o, 0};
    struct sphfile_either *e = NULL;
    if (o->json) {
        json_begin("check", path);
        printf(",\"damage\":[");
    }
    look(&f, sphfile_either_open(path, o->depth < 2, &e));
    if (e) look_at(&f, e);
    print_verdict(&f, path, e);
    sphfile_either_close(&e);
    if (f.damages) *status = NO;
    return OK;
}

/* ---- point masses, in units of the code ---- */

/* Values of a point mass that are printed, with their columns in the file. */
static const struct {
    const char *name, *column;
} SINK[] = {{"mass", "m"},      {"x", "x"},         {"y", "y"},         {"z", "z"},
            {"vx", "vx"},       {"vy", "vy"},       {"vz", "vz"},       {"spinx", "spinx"},
            {"spiny", "spiny"}, {"spinz", "spinz"}, {"radius", "racc"}, {"accreted", "accreted"}};
enum { SINK_NUMBERS = sizeof SINK / sizeof *SINK };

/* Places of these columns; −1: the file has none. */
static void find_columns(const struct sphfile_head *h, int at[SINK_NUMBERS])
{
    for (int k = 0; k < SINK_NUMBERS; k++) {
        at[k] = -1;
        for (int c = 0; c < h->sink_width && h->nsink > 0; c++)
            if (strcmp(h->sink_column[c], SINK[k].column) == 0) at[k] = c;
    }
}

static double sink_value(const struct sphfile_head *h, int64_t i, int at)
{
    return at < 0 ? NAN : h->sink[i * h->sink_width + at];
}

static void print_sinks(const struct sphfile_either *e, const int at[SINK_NUMBERS])
{
    const struct sphfile_head *h = e->head;
    printf("# ptah sinks 1\n# source\t%s\n# sinks\t%ld\n", e->path, (long)h->nsink);
    printf(
        "# point masses by their number in the namelist or the file, in units of the code: mass, "
        "place, velocity, spin (angular momentum), radius of accretion, accreted mass\n"
        "#time\tid");
    for (int k = 0; k < SINK_NUMBERS; k++) printf("\t%s", SINK[k].name);
    printf("\n");
    for (int64_t i = 0; i < h->nsink; i++) {
        put_number(stdout, 9, h->t);
        printf("\t%ld", (long)i + 1);
        for (int k = 0; k < SINK_NUMBERS; k++) {
            printf("\t");
            put_number(stdout, 15, sink_value(h, i, at[k]));
        }
        printf("\n");
    }
}

static void json_sinks(const struct sphfile_either *e, const int at[SINK_NUMBERS])
{
    const struct sphfile_head *h = e->head;
    json_begin("sinks", e->path);
    printf(",\"sinks\":[");
    for (int64_t i = 0; i < h->nsink; i++) {
        printf("%s{\"id\":%ld", i ? "," : "", (long)i + 1);
        json_number("time", h->t);
        for (int k = 0; k < SINK_NUMBERS; k++) json_number(SINK[k].name, sink_value(h, i, at[k]));
        printf("}");
    }
    printf("]");
    json_end();
}

static enum err sinks(const struct sphfile_either *e, const struct options *o)
{
    int at[SINK_NUMBERS];
    if (o->out)
        FAIL(ERR_PARAM,
             "%s: --sinks -o draws sinks in solar masses, but these point masses have no units: "
             "leave out -o for a table of their numbers",
             e->path);
    find_columns(e->head, at);
    (o->json ? json_sinks : print_sinks)(e, at);
    return OK;
}

/* ---- choice ---- */

static enum err tell_no_tree(const struct sphfile_either *e)
{
    FAIL(ERR_PARAM,
         "%s: has no tree and no domains: its %ld particles are in the order of ids, and the file "
         "does not depend on ranks",
         e->path, (long)e->head->n);
}

enum err sph_inspect(const char *path, const struct options *o, int *status)
{
    struct sphfile_either *e = NULL;
    const bool root = o->c.rank == 0;
    if (o->mode == PARAMS) return root ? params_print(path, o, status) : OK;
    if (o->mode == CHECK) return root ? check(path, o, status) : OK;
    if (o->mode == COMPARE) return root ? sph_compare(path, o->paths[1], o, status) : OK;
    enum err err = err_agree(&o->c, sphfile_either_open(path, true, &e));
    if (err == OK && o->mode == DIGEST) err = digest(e, o);
    if (err == OK && o->mode == TREE) err = tell_no_tree(e);
    if (err == OK && o->mode == SINKS && root) err = sinks(e, o);
    if (err == OK && o->mode == SUMMARY && root) err = sph_summary(e, o);
    sphfile_either_close(&e);
    return err;
}
