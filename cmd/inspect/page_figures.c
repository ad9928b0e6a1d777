/* inspect: the figures of the page of a campaign. */
#include <math.h>
#include <string.h>

#include "atlas/atlas.h"
#include "base/mem.h"
#include "budget/budget.h"
#include "formats/formats.h"
#include "page.h"
#include "plot/chart.h"
#include "view/feed.h"
#include "view/history.h"
#include "view/spectra.h"

enum { WIDTH = 560, HEIGHT = 400, SHOWN = 4 };

static const struct box WHOLE = {0, 0, WIDTH, HEIGHT};

/* Chooses the checkpoints that are shown: first, last, and some between. Returns their number. */
static int choose(const struct page *p, int max, int index[])
{
    int readable = 0, n = 0;
    for (int i = 0; i < p->n; i++) readable += p->e[i].readable;
    max = readable < max ? readable : max;
    for (int i = 0, seen = 0; i < p->n && n < max; i++) {
        if (!p->e[i].readable) continue;
        if (seen == (max > 1 ? (int)lrint((double)n * (readable - 1) / (max - 1)) : readable - 1))
            index[n++] = i;
        seen++;
    }
    return n;
}

static void draw_chart(struct canvas *c, const void *chart)
{
    chart_draw(c, chart);
}

static enum err put_chart(struct page *p, struct chart *h, const char *caption)
{
    struct picture q = {.draw = draw_chart, .what = h, .width = WIDTH, .height = HEIGHT};
    h->in = frame_in(WHOLE, 0);
    return page_figure(p, &q, caption);
}

/* ---- curves over coarse steps ---- */

/* Values of a member of struct step, times a factor. Returns the number of steps that have it. */
static int column(const struct page *p, size_t member, double factor, double *y)
{
    int n = 0;
    for (int i = 0; i < p->r.nstep; i++) {
        y[i] = factor * *(const double *)((const char *)&p->r.step[i] + member);
        n += isfinite(y[i]);
    }
    return n;
}

/* Up to three curves over coarse steps; a note if no step has values. */
struct over {
    const char *name, *label[3], *caption, *missing;
    size_t member[3];
    double factor;
    bool log;
};

static enum err put_over(struct page *p, const struct over *v)
{
    size_t n = (size_t)p->r.nstep;
    double *x = mem_new(sizeof *x * (4 * n + 1), "page");
    struct curve curve[3];
    int found = 0;
    for (size_t i = 0; i < n; i++) x[i] = (double)i;
    for (int k = 0; k < 3 && v->label[k]; k++) {
        double *y = x + (size_t)(k + 1) * n;
        if (!column(p, v->member[k], v->factor, y)) continue;
        curve[found] = (struct curve){
            .label = v->label[1] ? v->label[k] : NULL, .n = (int)n, .x = x, .y = y, .colour = k};
        found++;
    }
    struct chart h = {.x = {.name = "coarse step", .whole = true},
                      .y = {.name = v->name, .log = v->log},
                      .n = found,
                      .curve = curve};
    enum err err = OK;
    if (found)
        err = put_chart(p, &h, v->caption);
    else
        page_note(p, "%s", v->missing);
    FREE(x);
    return err;
}

#define MEMBER(m) offsetof(struct step, m)

/* ---- progress ---- */

/* Changes hours to a unit in which numbers are short; returns its name. */
static const char *short_unit(double *x, int n)
{
    static const struct {
        double from, times;
        const char *name;
    } unit[] = {
        {72, 1.0 / 24, "days"}, {2, 1, "hours"}, {1.0 / 30, 60, "minutes"}, {0, 3600, "seconds"}};
    int k = 0;
    while (n > 0 && x[n - 1] < unit[k].from) k++;
    for (int i = 0; i < n; i++) x[i] *= unit[k].times;
    return unit[k].name;
}

/* Plots expansion factor or time over hours of work, from the records; over dates without
 * records. */
enum err page_progress(struct page *p)
{
    size_t n = (size_t)p->r.nstep, room = n > (size_t)p->n ? n : (size_t)p->n;
    double *x = mem_new(sizeof *x * (2 * room + 1), "page"), *y = x + room, wall = 0;
    struct curve q = {.x = x, .y = y};
    const char *caption = "Progress of the run against its time of work, from its log.";
    for (size_t i = 0; i < n; i++) {
        const struct step *s = &p->r.step[i];
        if (isfinite(s->elapsed)) wall += s->elapsed / 3600;
        if (!isfinite(s->a) || !p->e[0].cosmo) continue;
        x[q.n] = wall, y[q.n++] = s->a;
    }
    if (!q.n) {
        caption = "Checkpoints by the time of writing, pauses included.";
        for (int i = 0; i < p->n; i++) {
            if (!p->e[i].readable) continue;
            x[q.n] = difftime(p->e[i].written, p->e[0].written) / 3600;
            y[q.n++] = p->e[i].cosmo ? p->e[i].a : p->e[i].t;
        }
    }
    struct chart h = {.x = {.name = short_unit(x, q.n)},
                      .y = {.name = p->e[0].cosmo ? "expansion factor" : "time, code units"},
                      .n = 1,
                      .curve = &q};
    enum err err = put_chart(p, &h, caption);
    FREE(x);
    if (err != OK) return err;
    TRY(put_over(p, &(struct over){.name = "seconds",
                                   .label = {"seconds"},
                                   .member = {MEMBER(elapsed)},
                                   .factor = 1,
                                   .log = true,
                                   .caption = "Seconds of each coarse step.",
                                   .missing = "The records of the run contain no step times."}));
    return put_over(
        p, &(struct over){
               .name = "octs",
               .label = {"octs"},
               .member = {MEMBER(octs)},
               .factor = 1,
               .log = true,
               .caption = "Octs of all levels.",
               .missing = "The numbers of octs are missing: start simulate with -j DIR/costs."});
}

/* Masses of the checkpoints, relative to that of all baryons at the first one. */
struct masses {
    int n;
    double *x, *of[4]; /* [n] coarse step; change of gas, stars, sinks, and all of them */
    double share;      /* of the gas among the baryons of the first one */
    bool has[4];
};

static enum err add_masses(struct masses *m, const struct entry *e, struct budget *first)
{
    struct source *r = NULL;
    struct budget b = {.gas = 0};
    enum err err = source_open(e->path, &r);
    if (err == OK) err = budget_read(&b, r);
    source_close(&r);
    if (err != OK) return err;
    if (m->n == 0) *first = b;
    const double all = budget_baryons(first),
                 change[4] = {b.gas - first->gas, b.stars - first->stars, b.sinks - first->sinks,
                              budget_baryons(&b) - all};
    if (!(all > 0)) return OK;
    for (int k = 0; k < 4; k++) m->of[k][m->n] = change[k] / all;
    m->has[1] |= b.stars > 0, m->has[2] |= b.sinks > 0;
    m->share = first->gas / all;
    m->x[m->n++] = e->coarse;
    return OK;
}

/* Draws what becomes of the gas: the curve of the log has the gas of each step, the checkpoints
 * have the stars and the sinks that it became. */
static enum err put_masses(struct page *p, const struct masses *m)
{
    static const char *const label[4] = {"gas", "stars", "sinks", "all of these"};
    const size_t n = (size_t)p->r.nstep;
    double *x = mem_new(sizeof *x * (2 * n + 1), "page");
    struct curve curve[5];
    int found = 0;
    for (size_t i = 0; i < n; i++) x[i] = (double)i;
    if (column(p, offsetof(struct step, mcons), m->n > 0 ? m->share : 1, x + n))
        curve[found++] = (struct curve){
            .label = "gas, from the log", .n = (int)n, .x = x, .y = x + n, .colour = 0};
    const bool each = found > 0; /* the gas of the checkpoints is on this curve */
    for (int k = 0; k < 4 && m->n > 1; k++)
        if (k == 0 || k == 3 || m->has[k])
            curve[found++] = (struct curve){.label = label[k],
                                            .n = m->n,
                                            .x = m->x,
                                            .y = m->of[k],
                                            .dots = true,
                                            .point = k == 0 && each ? 5 : 0,
                                            .dashed = k == 3,
                                            .colour = k};
    struct chart h = {.x = {.name = "coarse step"},
                      .y = {.name = "change of mass / baryons at the start"},
                      .n = found,
                      .curve = curve};
    enum err err = OK;
    if (found)
        err = put_chart(
            p, &h,
            m->has[1] || m->has[2]
                ? "Gas that becomes stars or sinks is no longer gas: the sum of all is "
                  "conserved, except for what leaves the box and what black holes radiate."
                : "Relative change of the mass of the gas since the beginning; by step from "
                  "the log (mcons).");
    else
        page_note(p,
                  "The directory has neither a log of the run nor two checkpoints with gas to show "
                  "the masses of.");
    FREE(x);
    return err;
}

enum err page_conservation(struct page *p)
{
    enum { MOST = 40 };
    int index[MOST], n = choose(p, MOST, index);
    double space[5 * MOST];
    struct masses m = {.x = space};
    struct budget first;
    for (int k = 0; k < 4; k++) m.of[k] = space + (k + 1) * MOST;
    for (int i = 0; i < n; i++)
        if (p->e[index[i]].gas && add_masses(&m, &p->e[index[i]], &first) != OK)
            page_note(p, "%s", err_message());
    TRY(put_masses(p, &m));
    return put_over(
        p,
        &(struct over){.name = "relative error",
                       .label = {"energy"},
                       .member = {MEMBER(econs)},
                       .factor = 1,
                       .caption = "Error of the energy by the Layzer-Irvine equation (econs).",
                       .missing = "The directory contains no log of the run to show econs from."});
}

/* ---- costs ---- */

struct bars {
    int n;
    struct record_row row[RECORD_NAMES];
    const char *unit;
};

/* Rows in descending order of the maximum over ranks, at most 14. */
static struct bars sorted(const struct record_row *row, int n, double factor, const char *unit)
{
    struct bars b = {.n = n, .unit = unit};
    memcpy(b.row, row, sizeof *row * (size_t)n);
    for (int i = 0; i < n; i++) {
        b.row[i].low *= factor, b.row[i].mean *= factor, b.row[i].high *= factor;
        for (int k = i; k > 0 && b.row[k].high > b.row[k - 1].high; k--) {
            struct record_row t = b.row[k];
            b.row[k] = b.row[k - 1], b.row[k - 1] = t;
        }
    }
    if (b.n > 14) b.n = 14;
    return b;
}

/* Draws bars from 0 to the mean, with a line from min to max over ranks. */
static void draw_bars(struct canvas *c, const void *bars)
{
    const struct bars *b = bars;
    const struct pen black = {0, 1, false};
    double left = 170, right = WIDTH - 90, top = 20, high = (HEIGHT - 50.0) / (b->n ? b->n : 1);
    double max = 0;
    for (int i = 0; i < b->n; i++) max = fmax(max, fmax(b->row[i].mean, b->row[i].high));
    for (int i = 0; i < b->n; i++) {
        const struct record_row *r = &b->row[i];
        double y = top + i * high, scale = max > 0 ? (right - left) / max : 0;
        char value[48];
        canvas_fill(c, (struct box){left, y + 0.15 * high, r->mean * scale, 0.7 * high}, 0x7fb2d8);
        frame_line(c, left + r->low * scale, y + high / 2, left + r->high * scale, y + high / 2,
                   black);
        snprintf(value, sizeof value, "%.3g %s", r->mean, b->unit);
        canvas_write(c,
                     &(struct label){left - 8, y + high / 2 + 4, ANCHOR_END, false, r->label, 12});
        canvas_write(c, &(struct label){left + fmax(r->high, r->mean) * scale + 6, y + high / 2 + 4,
                                        ANCHOR_START, false, value, 12});
    }
}

static enum err put_bars(struct page *p, const struct bars *b, const char *caption)
{
    struct picture q = {.draw = draw_bars, .what = b, .width = WIDTH, .height = HEIGHT};
    return page_figure(p, &q, caption);
}

enum err page_costs(struct page *p)
{
    struct bars time = sorted(p->r.phase, p->r.nphase, 1, "s"), memory;
    struct record_row row[RECORD_NAMES];
    for (int i = 0; i < p->r.nmemory; i++) { /* columns: at the peak of the total, own peak, now */
        row[i] = p->r.memory[i];
        row[i].mean = row[i].low, row[i].high = row[i].low;
    }
    memory = sorted(row, p->r.nmemory, 1e-6, "MB");
    if (time.n) TRY(put_bars(p, &time, "Seconds by phase: mean, min and max over the ranks."));
    if (memory.n) TRY(put_bars(p, &memory, "Memory by name at its peak, summed over the ranks."));
    if (!time.n)
        page_note(p, "The times by phase are missing: start simulate with -j DIR/costs, which "
                     "writes them when it ends.");
    TRY(put_over(
        p, &(struct over){
               .name = "MB",
               .label = {"held by Ptah", "resident"},
               .member = {MEMBER(held), MEMBER(resident)},
               .factor = 1e-6,
               .log = true,
               .caption = "Memory of all ranks.",
               .missing = "The memory by step is missing: start simulate with -j DIR/costs."}));
    static const char one[] =
        "There are no figures by rank: the log contains them for runs on several ranks.";
    TRY(put_over(
        p, &(struct over){.name = "MB",
                          .label = {"min", "mean", "max"},
                          .member = {MEMBER(rank_mb[0]), MEMBER(rank_mb[1]), MEMBER(rank_mb[2])},
                          .factor = 1,
                          .caption = "Memory per rank.",
                          .missing = one}));
    return put_over(
        p, &(struct over){.name = "seconds",
                          .label = {"min", "mean", "max"},
                          .member = {MEMBER(rank_s[0]), MEMBER(rank_s[1]), MEMBER(rank_s[2])},
                          .factor = 1,
                          .caption = "Work per rank in a coarse step.",
                          .missing = one});
}

/* ---- checkpoints ---- */

/* Adds a drawing of what was read from a checkpoint, or the error of reading it. */
static enum err put_read(struct page *p, enum err err, struct picture *q, const char *caption)
{
    if (err == OK) return page_figure(p, q, caption);
    page_note(p, "%s", err_message());
    return OK;
}

static enum err put_map(struct page *p, const struct entry *e, struct source *r, const char *field)
{
    const struct map_options o = {.field = field,
                                  .axis = 2,
                                  .pixels = 256,
                                  .physical = true,
                                  .centre = {0.5, 0.5, 0.5},
                                  .width = 1,
                                  .depth = 1};
    struct map m = {0};
    struct picture q = {.draw = atlas_draw, .what = &m};
    char caption[200];
    enum err err = atlas_make(&m, r, &o);
    if (err == OK) err = map_check_range(&m);
    if (err == OK) q.width = atlas_size(&m).width, q.height = atlas_size(&m).height;
    snprintf(caption, sizeof caption, "%s along z, output %d.",
             strcmp(field, "dm") == 0 ? "Dark matter" : "Gas", e->number);
    err = put_read(p, err, &q, caption);
    map_free(&m);
    return err;
}

/* The gas of a one-dimensional checkpoint. */
static enum err put_line(struct page *p, const struct entry *e, struct source *r)
{
    const struct line_options o = {.physical = true, .centre = {0.5, 0.5, 0.5}};
    struct line l = {0};
    struct picture q = {.draw = line_plot, .what = &l, .width = LINE_WIDTH, .height = LINE_HEIGHT};
    char caption[200];
    snprintf(caption, sizeof caption, "Gas, output %d.", e->number);
    enum err err = put_read(p, line_make(&l, r, &o), &q, caption);
    line_free(&l);
    return err;
}

static enum err put_view(struct page *p, const struct entry *e, const char *field)
{
    struct source *r = NULL;
    enum err err = source_open(e->path, &r);
    if (err != OK)
        err = put_read(p, err, NULL, NULL);
    else if (r->head.ndim == 1)
        err = strcmp(field, "dm") == 0 ? OK : put_line(p, e, r);
    else
        err = put_map(p, e, r, field);
    source_close(&r);
    return err;
}

enum err page_maps(struct page *p)
{
    int index[SHOWN], n = choose(p, 3, index);
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < n; i++) {
            const struct entry *e = &p->e[index[i]];
            if (k ? e->parts : e->gas) TRY(put_view(p, e, k ? "dm" : "density"));
        }
    return OK;
}

/* Adds the power spectrum of all matter of a checkpoint. */
static enum err add_spectrum(struct page *p, const struct entry *e, struct spectra *all)
{
    static const char name[1][40] = {"all"};
    struct source *s = NULL;
    int level = e->levelmin < 5 ? 5 : e->levelmin > 7 ? 7 : e->levelmin;
    struct pk_par par = {.n = 1 << level, .order = PK_PCS, .interlace = true, .fold = 1};
    struct feed f = {.c = &p->o->c, .axis = -1, .max = INFINITY};
    double total = 2; /* upper limit of the total mass: above that of any cosmological box */
    TRY(source_open_state(e->path, 0, 0, &s));
    enum err err = source_in_space(s, "power spectra");
    if (err == OK && !s->head.cosmo) err = feed_source(&f, s), total = f.mass;
    if (err == OK && !(total > 0)) err = err_set(ERR_PARAM, "%s: has no matter", e->path);
    if (err == OK) {
        f.max = total;
        f.pk = pk_new(&p->o->c, &par, 1, total);
        err = feed_source(&f, s);
    }
    if (err == OK) {
        int nbin = par.n / 2;
        double *edge = mem_new(sizeof *edge * ((size_t)nbin + 1), "page");
        struct pk_bin *bin = mem_zero(sizeof *bin * (size_t)nbin, "page");
        pk_fundamental_bins(par.n, edge);
        pk_spectra(f.pk, 1, &(struct pk_pair){.a = 1, .b = 1}, nbin, edge, -1, bin);
        struct pk_table t = {.from = f.box,
                             .path = e->path,
                             .par = &par,
                             .axis = -1,
                             .npair = 1,
                             .nbin = nbin,
                             .name = name,
                             .bin = bin};
        spectra_add(all, &t);
        FREE(bin);
        FREE(edge);
    }
    pk_free(&f.pk);
    source_close(&s);
    return err;
}

enum err page_spectra(struct page *p)
{
    int index[SHOWN], n = choose(p, SHOWN, index);
    struct spectra all = {.n = 0};
    enum err err = OK;
    for (int i = 0; i < n; i++)
        if (add_spectrum(p, &p->e[index[i]], &all) != OK) page_note(p, "%s", err_message());
    struct picture q = {.draw = spectra_draw, .what = &all};
    if (all.n)
        err = page_figure(
            p, &q, "Power spectrum of all matter, as pk prints it; the shot noise is dashed.");
    spectra_free(&all);
    return err;
}

enum err page_stars(struct page *p)
{
    int last;
    struct source *r = NULL;
    struct history h = {.n = 50};
    if (!choose(p, 1, &last)) return OK;
    enum err err = source_open(p->e[last].path, &r);
    if (err == OK && r->head.t * r->head.unit_t == 0 && !r->head.cosmo) {
        page_note(p, "No star can have formed at time 0.");
        source_close(&r);
        return OK;
    }
    if (err == OK) err = history_read(&h, r);
    struct picture q = {.draw = history_plot, .what = &h};
    if (err != OK)
        page_note(p, "%s", err_message());
    else if (!(h.mass > 0))
        page_note(p, "There are no stars.");
    err = err == OK && h.mass > 0
              ? page_figure(p, &q, "Rate of star formation, from the stars of the last checkpoint.")
              : OK;
    history_free(&h);
    source_close(&r);
    return err;
}
