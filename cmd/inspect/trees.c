/* inspect: --trees, merger trees of halos or clumps over a series of checkpoints
 * (lib/lineage). All ranks read each checkpoint; rank 0 has the trees, and prints them
 * after the last checkpoint. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/halos.h"
#include "base/cgs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "formats/formats.h"
#include "inspect.h"
#include "io/stream.h"
#include "lineage/merger_table.h"
#include "plot/chart.h"
#include "plot/picture.h"
#include "sim/sim.h"
#include "view/births.h"
#include "view/unit.h"

struct trees {
    struct mergers f;
    char title[160];
    bool failed; /* a checkpoint could not be read: nothing is printed */
};

/* ---- order of time ---- */

struct place {
    double time; /* expansion factor with cosmology */
    int64_t at;
};
MEM_ORDER2(by_time, struct place, time, at)

static double time_of(const struct ckpt_head *h)
{
    return h->cosmo ? h->aexp : h->t;
}

static enum err find_times(const struct options *o, struct place *p)
{
    for (int i = 0; i < o->npath; i++) {
        struct source *r = NULL;
        enum err err = source_open(o->paths[i], &r);
        if (err == OK) p[i] = (struct place){time_of(&r->head), i};
        source_close(&r);
        TRY(err_about(err, o->paths[i]));
    }
    return OK;
}

/* Sorts the paths by the time of the checkpoints. (collective) */
static enum err sort_paths(struct options *o)
{
    const size_t n = (size_t)o->npath;
    bool moved = false;
    struct place *p = mem_zero(sizeof *p * (n + 1), "trees: paths");
    char **sorted = mem_new(sizeof *sorted * (n + 1), "trees: paths");
    enum err err = err_agree(&o->c, o->c.rank == 0 ? find_times(o, p) : OK);
    if (err == OK) {
        mem_sort(p, n, sizeof *p, by_time);
        comm_bcast(&o->c, p, sizeof *p * n, 0);
        for (size_t i = 0; i < n; i++) {
            sorted[i] = o->paths[p[i].at];
            moved |= p[i].at != (int64_t)i;
        }
        memcpy(o->paths, sorted, sizeof *sorted * n);
    }
    if (moved) log_info("the checkpoints are not given in the order of their times: sorted");
    FREE(sorted);
    FREE(p);
    return err;
}

enum err trees_begin(struct options *o)
{
    bool piped = false;
    o->trees = mem_zero(sizeof *o->trees, "trees");
    o->trees->f.jump = o->tree.jump;
    for (int i = 0; i < o->npath; i++) piped |= strcmp(o->paths[i], "-") == 0;
    enum err err = OK;
    if (o->c.rank == 0) err = plot_allowed(o);
    if (o->c.rank == 0 && o->tree.consistent && err == OK)
        err = temp_may_write(o->tree.consistent, o->force);
    err = err_agree(&o->c, err);
    if (err == OK && !piped) err = sort_paths(o);
    o->trees->failed = err != OK;
    return err;
}

/* ---- one checkpoint ---- */

static bool differs(double a, double b)
{
    return fabs(a - b) > 1e-5 * fmax(fabs(a), fabs(b));
}

/* Refuses a checkpoint that cannot follow the last one in a run. */
static enum err check_follows(const struct merger_output *a, const struct merger_output *b)
{
    const struct halo_box *p = &a->box, *q = &b->box;
    if (p->cosmo != q->cosmo || differs(p->boxlen, q->boxlen) ||
        (p->cosmo && (differs(p->boxlen_ini, q->boxlen_ini) || differs(p->omega_m, q->omega_m) ||
                      differs(p->omega_l, q->omega_l) || differs(p->h0, q->h0))))
        FAIL(ERR_PARAM, "%s and %s are not of one run: their boxes or cosmologies differ", a->path,
             b->path);
    if (a->particle > 0 && b->particle > 0 && differs(a->particle, b->particle))
        FAIL(ERR_PARAM,
             "%s and %s are not of one run: their lightest particles of dark matter have %g and %g "
             "Msun",
             a->path, b->path, a->particle, b->particle);
    const double from = p->cosmo ? p->aexp : a->t, to = q->cosmo ? q->aexp : b->t;
    if (!(to > from))
        FAIL(ERR_PARAM, "%s does not follow %s, it is of %s time (%s=%.9g): give each time once%s",
             b->path, a->path, to < from ? "an earlier" : "the same", p->cosmo ? "a" : "t", to,
             to < from ? ", from standard input in order" : "");
    return OK;
}

/* Adds the groups of a checkpoint if it follows the last one. (collective) */
static enum err add(const struct options *o, struct merger_output *out, struct merger_groups *g)
{
    struct mergers *f = &o->trees->f;
    enum err err = OK;
    if (f->noutput && o->c.rank == 0) err = check_follows(&f->output[f->noutput - 1], out);
    err = err_agree(&o->c, err);
    if (err == OK) merger_add(f, &o->c, out, g);
    merger_groups_free(g);
    return err;
}

/* (collective) */
static enum err add_halos(struct source *r, const struct options *o, struct merger_output *out)
{
    struct halos_request q = {.link = o->halos.link,
                              .min = o->halos.min,
                              .bound = o->halos.bound,
                              .members = true,
                              .tracers = o->tree.tracers,
                              .memory = o->has_memory ? o->memory : 0};
    struct halos_found found;
    struct merger_groups g;
    TRY(source_halos(r, &o->c, &q, &found));
    out->particle = isfinite(found.list.lightest) ? found.list.lightest * halo_solar(&out->box) : 0;
    merger_of_halos(&found.list, &out->box, &o->c, &g);
    halo_list_free(&found.list);
    return add(o, out, &g);
}

/* Lowest mass of dark matter; 0: there is none. (collective) */
static double lightest(const struct sim *s)
{
    double min = INFINITY;
    for (int64_t i = 0; i < s->parts.n; i++)
        if (s->parts.family[i] == FAM_DM && s->parts.m[i] > 0) min = fmin(min, s->parts.m[i]);
    comm_min_f64(&s->comm, &min, 1);
    return isfinite(min) ? min : 0;
}

/* (collective) */
static enum err add_clumps(const char *path, const struct options *o, struct merger_output *out)
{
    struct params *p = mem_zero(sizeof *p, "parameters");
    struct sim *s = mem_zero(sizeof *s, "clumps");
    struct clumps k = {.at = NULL};
    struct merger_groups g;
    enum err err = clumps_load(path, o, p, s, &k);
    if (err == OK) {
        out->particle = lightest(s) * halo_solar(&out->box);
        merger_of_clumps(&k, &out->box, &o->c, o->tree.tracers, &g);
    }
    clumps_free(&k);
    sim_fini(s);
    mem_free(s);
    mem_free(p);
    return err == OK ? add(o, out, &g) : err;
}

static void describe(struct source *r, const struct options *o, struct merger_output *out)
{
    out->path = mem_new(strlen(r->path) + 1, "trees: paths");
    memcpy(out->path, r->path, strlen(r->path) + 1);
    out->number = r->number;
    out->t = r->head.t;
    out->box = source_box(r);
    out->gyr = o->c.rank == 0 ? births_age(r) / CGS_GYR : NAN;
    unit_title(r, true, o->trees->title, sizeof o->trees->title);
}

enum err trees_print(const char *path, const struct options *o, int *status)
{
    struct source *r = NULL;
    struct merger_output out = {.path = NULL};
    if (o->trees->failed) return OK;
    const bool halos = o->tree.by == BY_HALOS;
    enum err err = halos ? source_open_state(path, 0, 0, &r) : source_open(path, &r);
    err = err_agree(&o->c, err);
    if (err == OK) err = source_in_space(r, halos ? "halos" : "clumps");
    if (err == OK) describe(r, o, &out);
    if (err == OK && halos) err = add_halos(r, o, &out);
    source_close(&r);
    if (err == OK && !halos) err = add_clumps(path, o, &out);
    o->trees->failed = err != OK;
    mem_free(out.path);
    return err;
}

/* ---- the plot ---- */

struct growth {
    const struct trees *t;
    int n;
    struct curve *curve;
    char (*label)[64];
    double *x, *y;
};

/* Main progenitor of a node; −1: none. */
static int64_t main_of(const struct mergers *f, int64_t i)
{
    const int64_t next = f->node[i].depth + 1 < f->n ? f->by_depth[f->node[i].depth + 1] : -1;
    return next >= 0 && f->node[next].descendant == i && f->node[next].main ? next : -1;
}

/* Makes a curve of each main branch that reaches the last output, by descending mass. */
static void trace(struct growth *g, int most)
{
    const struct mergers *f = &g->t->f;
    double *x = g->x, *y = g->y;
    for (int64_t t = 0; t < f->ntree && g->n < most; t++) {
        const int64_t root = f->tree[t];
        if (f->node[root].output != f->noutput - 1) break;
        struct curve *c = &g->curve[g->n];
        snprintf(g->label[g->n], sizeof *g->label, "group %ld", (long)f->node[root].number);
        *c = (struct curve){.label = g->label[g->n], .x = x, .y = y, .colour = g->n, .point = 0};
        for (int64_t i = root; i >= 0; i = main_of(f, i), c->n++) {
            const struct merger_output *o = &f->output[f->node[i].output];
            *x++ = isfinite(o->gyr) ? o->gyr : o->t;
            *y++ = f->node[i].mass;
        }
        g->n++;
    }
}

static void draw(struct canvas *c, const void *what)
{
    const struct growth *g = what;
    const struct mergers *f = &g->t->f;
    const bool gyr = isfinite(f->output[f->noutput - 1].gyr);
    struct chart h = {.x = {.name = gyr ? "time [Gyr]" : "time [code units]"},
                      .y = {.log = true, .name = "mass of main progenitors [Msun]"},
                      .title = g->t->title,
                      .in = frame_in(frame_whole(true), 0),
                      .n = g->n,
                      .curve = g->curve};
    chart_draw(c, &h);
}

static enum err save_plot(const struct trees *t, const struct options *o)
{
    const size_t n = (size_t)t->f.n + 1, most = (size_t)o->tree.branches;
    struct growth g = {.t = t};
    struct picture p = {.format = (enum picture_format)o->format, .draw = draw, .what = &g};
    g.curve = mem_zero(sizeof *g.curve * most, "trees: plot");
    g.label = mem_new(sizeof *g.label * most, "trees: plot");
    g.x = mem_new(2 * sizeof *g.x * n, "trees: plot");
    g.y = g.x + n;
    trace(&g, o->tree.branches);
    enum err err = plot_save(o, t->f.output[t->f.noutput - 1].path, &p);
    FREE(g.curve);
    FREE(g.label);
    FREE(g.x);
    return err;
}

/* ---- tables ---- */

static enum err save_consistent(const struct mergers *f, const struct merger_found *how,
                                const char *path)
{
    struct stream out;
    if (!f->output[0].box.cosmo)
        FAIL(ERR_PARAM,
             "%s is not written: trees of Consistent-Trees are by expansion factor, and these "
             "checkpoints are not cosmological",
             path);
    TRY(stream_open(&out, path));
    merger_table_consistent(out.f, f, how);
    return stream_close(&out, 0);
}

static void json_outputs(const struct mergers *f)
{
    printf(",\"outputs\":[");
    for (int i = 0; i < f->noutput; i++) {
        const struct merger_output *o = &f->output[i];
        printf("%s{\"path\":", i ? "," : "");
        json_string(o->path);
        json_count("output", o->number);
        json_number("t", o->t);
        if (o->box.cosmo) json_number("redshift", 1 / o->box.aexp - 1);
        json_count("groups", o->n);
        printf("}");
    }
    printf("]");
}

static void print_json(const struct mergers *f, const struct merger_found *how)
{
    const char *unit;
    json_begin("trees", f->output[f->noutput - 1].path);
    json_text("groups", how->groups);
    json_outputs(f);
    printf(",\"units\":{");
    for (int c = 0, n = 0; c < merger_columns(); c++) {
        const char *name = merger_column(c, &unit);
        if (*unit) printf("%s\"%s\":\"%s\"", n++ ? "," : "", name, unit);
    }
    printf("},\"nodes\":[");
    for (int64_t d = 0; d < f->n; d++) {
        printf("%s{", d ? "," : "");
        for (int c = 0; c < merger_columns(); c++) {
            const double x = merger_value(f, f->by_depth[d], c);
            printf("%s\"%s\":", c ? "," : "", merger_column(c, &unit));
            if (merger_column_whole(c))
                printf("%ld", (long)x);
            else
                json_value(x);
        }
        printf("}");
    }
    printf("]");
    json_end();
}

static enum err print_all(struct trees *t, const struct options *o)
{
    struct mergers *f = &t->f;
    const bool halos = o->tree.by == BY_HALOS;
    const struct merger_found how = {.groups = halos ? "halos" : "clumps",
                                     .link = halos ? o->halos.link : 0,
                                     .min = o->halos.min,
                                     .tracers = o->tree.tracers};
    if (f->noutput == 0) FAIL(ERR_PARAM, "there is no checkpoint to make trees of");
    merger_grow(f);
    if (f->noutput == 1) log_info("%s: one checkpoint alone has no links", f->output[0].path);
    if (f->doubles)
        log_info("%ld members have the id of another one: links may be wrong, see inspect -cc",
                 (long)f->doubles);
    if (o->tree.consistent) TRY(save_consistent(f, &how, o->tree.consistent));
    if (plot_file(o)) TRY(save_plot(t, o));
    if (o->json)
        print_json(f, &how);
    else
        merger_table_tsv(stdout, f, &how);
    return OK;
}

enum err trees_end(struct options *o)
{
    enum err err = OK;
    if (o->c.rank == 0 && !o->trees->failed) err = print_all(o->trees, o);
    merger_free(&o->trees->f);
    FREE(o->trees);
    return err_agree(&o->c, err);
}
