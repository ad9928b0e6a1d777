/* inspect: --sinks, sinks and black holes over checkpoints. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cgs.h"
#include "base/mem.h"
#include "base/sum.h"
#include "base/text.h"
#include "ckpt/catalog.h"
#include "formats/formats.h"
#include "inspect.h"
#include "io/stream.h"
#include "plot/chart.h"
#include "plot/picture.h"
#include "tree/tree.h"
#include "view/births.h"
#include "view/unit.h"

/* Quantities printed for each sink, in this order. */
static const struct number {
    const char *name, *of, * or ; /* of, or: column in the checkpoint, or an alternative column */
    enum { CODE, MASS, RATE, ENERGY, REST, SPEED } unit;
} NUMBER[] = {{"mass", "mass", NULL, MASS},
              {"rate", "acc_rate", NULL, RATE},
              {"spin", "spinmag", NULL, CODE},
              {"saved", "Esave", NULL, ENERGY},
              {"accreted", "dMsmbh", "del_mass", MASS},
              {"x", "position_x", NULL, CODE},
              {"y", "position_y", NULL, CODE},
              {"z", "position_z", NULL, CODE},
              {"vx", "velocity_x", NULL, SPEED},
              {"vy", "velocity_y", NULL, SPEED},
              {"vz", "velocity_z", NULL, SPEED},
              {"radiated", "radiated", NULL, MASS},
              {"heat", "heat_c2", NULL, REST},
              {"jets", "jets_c2", NULL, REST},
              /* only of checkpoints with stellar objects; only if requested */
              {"objects", NULL, NULL, CODE},
              {"in_objects", NULL, NULL, MASS},
              {"stars", NULL, NULL, MASS}};
enum { NUMBERS = sizeof NUMBER / sizeof *NUMBER, STARS_AROUND = NUMBERS - 1 };
enum { OF_MASS = 0, OF_HEAT = NUMBERS - 5, OF_JETS, OBJECTS, IN_OBJECTS };
static const double APERTURE = 30; /* radius around a sink within which stars are summed, kpc */

struct row {
    double time, redshift, of[NUMBERS];
    int64_t id;
};

struct sinks_history {
    int64_t n, cap;
    struct row *row;
    enum sinks_drawing drawing;
    bool objects; /* the checkpoint has a table of stellar objects */
    int curves;
    struct curve *curve;
    double *x, *y;     /* points of the curves */
    char (*label)[32]; /* of the curves of sinks */
    char title[160];   /* of the plot: the last checkpoint */
};

static double value(const struct catalog *t, const struct number *k, int64_t i)
{
    const struct catalog_column *c = k->of ? catalog_find(t, k->of) : NULL;
    if (!c && k->or) c = catalog_find(t, k->or);
    return !c ? NAN : c->real ? c->real[i] : (double)c->whole[i];
}

static double unit(const struct ckpt_head *h, const struct births *b, int kind)
{
    double velocity = h->unit_l / h->unit_t, mass = h->unit_d * pow(h->unit_l, 3);
    switch (kind) {
    case MASS:
        return b->solar;
    case RATE:
        return b->solar / (h->unit_t / CGS_YEAR);
    case ENERGY:
        return mass * velocity * velocity;
    case REST:
        return mass * CGS_C * CGS_C;
    case SPEED:
        return velocity / CGS_KM;
    }
    return 1;
}

/* ---- stars near sinks ---- */

struct around {
    struct source *r;
    struct tree *tree;
    double radius, m;
    struct sum *sum; /* [sinks] mass of stars near each sink */
};

static void add_star(int32_t i, double far2, void *ctx)
{
    const struct around *a = ctx;
    sum_add(&a->sum[i], a->m);
}

static enum err fold_stars(const struct source_parts *p, void *ctx)
{
    struct around *a = ctx;
    double box = a->r->head.boxlen;
    for (int64_t i = 0; i < p->n; i++) {
        double x[3];
        if (p->family[i] != FAM_STAR) continue;
        for (int d = 0; d < 3; d++) x[d] = p->x[d][i] < box ? p->x[d][i] : 0;
        a->m = p->m[i];
        tree_ball(a->tree, x, a->radius, add_star, a);
    }
    return OK;
}

static enum err count_stars(struct around *a, struct row *row)
{
    const struct catalog *t = a->r->sinks;
    const struct ckpt_head *h = &a->r->head;
    static const char *const name[] = {"position_x", "position_y", "position_z"};
    struct tree_points p = {.n = t->n};
    a->radius = APERTURE * CGS_KPC / h->unit_l;
    if (h->cosmo) a->radius = fmin(a->radius, 0.49 * h->boxlen);
    for (int d = 0; d < 3; d++) {
        const struct catalog_column *c = catalog_find(t, name[d]);
        if (!c || !c->real) FAIL(ERR_FORMAT, "%s: its sinks have no positions", a->r->path);
        p.x[d] = c->real;
        p.period[d] = h->cosmo ? h->boxlen : 0;
    }
    TRY(tree_new(&p, TREE_AUTO, a->radius, &a->tree));
    a->sum = mem_new(sizeof *a->sum * (size_t)t->n, "sinks");
    for (int64_t i = 0; i < t->n; i++) sum_init(&a->sum[i]);
    for (int i = 0; i < a->r->npiece && h->particles; i++)
        TRY(source_parts(a->r, i, SOURCE_STATE, fold_stars, a));
    double solar = h->unit_d * pow(h->unit_l, 3) / CGS_MSUN;
    for (int64_t i = 0; i < t->n; i++) row[i].of[STARS_AROUND] = sum_get(&a->sum[i]) * solar;
    return OK;
}

/* Sums the mass of stars near each sink of a checkpoint. */
static enum err read_stars(struct source *r, struct row *row)
{
    struct around a = {.r = r};
    enum err err = err_about(count_stars(&a, row), r->path);
    tree_free(&a.tree);
    FREE(a.sum);
    return err;
}

/* ---- tables ---- */

/* Stellar objects of a sink: their number, and the mass in them. */
static void count_objects(const struct catalog *t, double solar, struct row *o)
{
    const struct catalog_column *id = catalog_find(t, "identity"), *m = catalog_find(t, "mass");
    o->of[OBJECTS] = o->of[IN_OBJECTS] = 0;
    for (int64_t i = 0; id && id->whole && m && m->real && i < t->n; i++) {
        if (id->whole[i] != o->id) continue;
        o->of[OBJECTS]++;
        o->of[IN_OBJECTS] += m->real[i] * solar;
    }
}

static enum err read_rows(struct sinks_history *s, struct source *r)
{
    struct births b = {0};
    const struct catalog *t = r->sinks;
    if (t->n == 0) return OK;
    /* at t = 0 a run without cosmology has no births */
    enum err err = r->head.t != 0 ? births_open(&b, r) : OK;
    if (r->head.t == 0) b.solar = r->head.unit_d * pow(r->head.unit_l, 3) / CGS_MSUN;
    const struct catalog_column *id = catalog_find(t, "identity");
    if (err == OK && s->n + t->n > s->cap) {
        s->cap = 2 * s->cap + t->n;
        s->row = mem_grow(s->row, sizeof *s->row * (size_t)s->cap, "sinks");
    }
    for (int64_t i = 0; i < t->n && err == OK; i++) {
        struct row *o = &s->row[s->n++];
        *o = (struct row){.time = b.now / (1e9 * CGS_YEAR),
                          .id = id && id->whole ? id->whole[i] : i + 1};
        o->redshift = b.cosmo ? births_redshift(&b, b.now) : NAN;
        for (int k = 0; k < NUMBERS; k++)
            o->of[k] = value(t, &NUMBER[k], i) * unit(&r->head, &b, NUMBER[k].unit);
        count_objects(r->stellar, b.solar, o);
    }
    births_close(&b);
    if (err == OK && s->drawing == DRAW_STARS) err = read_stars(r, s->row + s->n - t->n);
    return err;
}

/* Whether the tables have column k. */
static bool has_column(const struct sinks_history *s, int k)
{
    if (k == OBJECTS || k == IN_OBJECTS) return s->objects;
    return k != STARS_AROUND || s->drawing == DRAW_STARS;
}

static void print_text(const struct sinks_history *s, int64_t first, const char *path)
{
    const struct row *r = s->row + first;
    int64_t n = s->n - first;
    printf("# ptah sinks 1\n# source\t%s\n# sinks\t%ld\n", path, (long)n);
    printf(
        "# time in Gyr since the beginning; mass, and what has been accreted and not yet set "
        "free, in Msun; rate of accretion in Msun/yr; saved energy in erg; place in units of the "
        "code; velocity in km/s; since their birth: mass that they radiated in Msun, energy given "
        "to the gas as heat and by jets, in erg%s%s\n#time\tredshift\tid",
        s->objects ? "; stellar objects, and the mass in them in Msun" : "",
        s->drawing == DRAW_STARS ? "; mass of the stars within 30 kpc in Msun" : "");
    for (int k = 0; k < NUMBERS; k++)
        if (has_column(s, k)) printf("\t%s", NUMBER[k].name);
    printf("\n");
    for (int64_t i = 0; i < n; i++) {
        put_number(stdout, 9, r[i].time);
        printf("\t");
        put_number(stdout, 6, r[i].redshift);
        printf("\t%ld", (long)r[i].id);
        for (int k = 0; k < NUMBERS; k++) {
            if (!has_column(s, k)) continue;
            printf("\t");
            put_number(stdout, 9, r[i].of[k]);
        }
        printf("\n");
    }
}

static void print_json(const struct sinks_history *s, int64_t first, const char *path)
{
    const struct row *r = s->row + first;
    int64_t n = s->n - first;
    json_begin("sinks", path);
    printf(",\"sinks\":[");
    for (int64_t i = 0; i < n; i++) {
        printf("%s{\"id\":%ld", i ? "," : "", (long)r[i].id);
        json_number("time", r[i].time);
        json_number("redshift", r[i].redshift);
        for (int k = 0; k < NUMBERS; k++)
            if (has_column(s, k)) json_number(NUMBER[k].name, r[i].of[k]);
        printf("}");
    }
    printf("]");
    json_end();
}

enum err sinks_print(const char *path, const struct options *o, int *status)
{
    struct source *r = NULL;
    struct sinks_history *s = o->sinks;
    int64_t first = s->n;
    s->drawing = o->drawing;
    enum err err = plot_allowed(o);
    if (err == OK) err = source_open(path, &r);
    if (err == OK) s->objects = *r->stellar->from != 0;
    if (err == OK) err = read_rows(s, r);
    if (err == OK) unit_title(r, true, s->title, sizeof s->title);
    if (err == OK) (o->json ? print_json : print_text)(s, first, path);
    source_close(&r);
    return err;
}

/* ---- the plot ---- */

static int by_id(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->id != y->id) return x->id > y->id ? 1 : -1;
    return (x->time > y->time) - (x->time < y->time);
}

static int by_time(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return x->time != y->time ? (x->time > y->time) - (x->time < y->time) : by_id(a, b);
}

/* Observed relation (Kormendy & Ho 2013, ARA&A 51, 511, equation 10). */
static double relation(double stars)
{
    return 0.49e9 * pow(stars / 1e11, 1.17);
}

/* Names the curves of the sinks that are the most massive at their end. */
static void name_heaviest(struct sinks_history *s)
{
    enum { NAMED = 6 };
    for (int k = 0; k < NAMED && k < s->curves; k++) {
        struct curve *best = NULL;
        for (int i = 0; i < s->curves; i++) {
            struct curve *q = &s->curve[i];
            if (!q->label && (!best || q->y[q->n - 1] > best->y[best->n - 1])) best = q;
        }
        const int64_t id = s->row[best->x - s->x].id;
        snprintf(s->label[k], sizeof *s->label, "sink %ld", (long)id);
        best->label = s->label[k];
    }
}

/* Makes a curve for each sink: mass over time, or over the mass of nearby stars. */
static void trace_each(struct sinks_history *s)
{
    bool stars = s->drawing == DRAW_STARS;
    mem_sort(s->row, (size_t)s->n, sizeof *s->row, by_id);
    for (int64_t i = 0; i < s->n; i++) {
        const struct row *r = &s->row[i];
        s->x[i] = stars ? r->of[STARS_AROUND] : r->time;
        s->y[i] = r->of[OF_MASS];
        if (i == 0 || r->id != r[-1].id) {
            s->curve[s->curves] = (struct curve){
                .x = s->x + i, .y = s->y + i, .colour = s->curves, .dots = stars};
            s->curves++;
        }
        s->curve[s->curves - 1].n++;
    }
    name_heaviest(s);
    if (!stars) return;
    double *x = s->x + s->n, *y = s->y + s->n;
    x[0] = 1e9, x[1] = 1e12;
    for (int k = 0; k < 2; k++) y[k] = relation(x[k]);
    s->curve[s->curves++] = (struct curve){.label = "Kormendy & Ho 2013 (bulges)",
                                           .x = x,
                                           .y = y,
                                           .n = 2,
                                           .colour = -1,
                                           .dashed = true};
}

/* Sums energies over all sinks at the time of row i. Returns the first row of the next time. */
static int64_t add_up(const struct sinks_history *s, int64_t i, double energy[2])
{
    double time = s->row[i].time;
    energy[0] = energy[1] = 0;
    for (; i < s->n && s->row[i].time == time; i++)
        for (int k = 0; k < 2; k++) energy[k] += s->row[i].of[OF_HEAT + k];
    return i;
}

/* Makes step functions of the power between consecutive checkpoints, as heat and by jets. */
static void trace_power(struct sinks_history *s)
{
    double before[2], now[2];
    size_t max = (size_t)s->n;
    int n = 0;
    mem_sort(s->row, max, sizeof *s->row, by_time);
    for (int64_t i = add_up(s, 0, before), last = 0; i < s->n;) {
        double from = s->row[last].time, to = s->row[i].time, second = 1e9 * CGS_YEAR * (to - from);
        last = i;
        i = add_up(s, i, now);
        for (int side = 0; side < 2; side++, n++) {
            s->x[n] = side ? to : from;
            for (int k = 0; k < 2; k++)
                s->y[2 * max * (size_t)k + (size_t)n] = (now[k] - before[k]) / second;
        }
        memcpy(before, now, sizeof before);
    }
    for (int k = 0; k < 2; k++)
        s->curve[s->curves++] = (struct curve){.label = k ? "jets" : "heat",
                                               .x = s->x,
                                               .y = s->y + 2 * max * (size_t)k,
                                               .n = n,
                                               .colour = k};
}

static bool anything(const struct sinks_history *s)
{
    bool any = false;
    for (int i = 0; i < s->curves && s->curve[i].colour >= 0; i++)
        for (int k = 0; k < s->curve[i].n; k++) any |= s->curve[i].x[k] > 0 && s->curve[i].y[k] > 0;
    return any;
}

static void draw(struct canvas *c, const void *what)
{
    static const struct axis AXES[][2] = {
        {{.name = "time [Gyr]"}, {.log = true, .name = "mass of sinks [Msun]"}},
        {{.name = "time [Gyr]"}, {.log = true, .name = "power of black holes [erg/s]"}},
        {{.log = true, .name = "mass of stars within 30 kpc [Msun]"},
         {.log = true, .name = "mass of sinks [Msun]"}}};
    const struct sinks_history *s = what;
    struct chart f = {.x = AXES[s->drawing][0],
                      .y = AXES[s->drawing][1],
                      .in = frame_in(frame_whole(true), 0),
                      .title = s->title,
                      .n = s->curves,
                      .curve = s->curve};
    chart_draw(c, &f);
}

static enum err save(struct sinks_history *s, const struct options *o)
{
    struct picture plot = {.format = (enum picture_format)o->format, .draw = draw, .what = s};
    size_t n = (size_t)s->n;
    if (n == 0) FAIL(ERR_FORMAT, "%s is not drawn: no checkpoint has sinks", plot_file(o));
    s->x = mem_new(6 * sizeof *s->x * (n + 1), "sinks");
    s->y = s->x + 2 * (n + 1);
    s->curve = mem_zero(sizeof *s->curve * (n + 2), "sinks");
    s->label = mem_zero(sizeof *s->label * (n + 2), "sinks");
    (s->drawing == DRAW_POWER ? trace_power : trace_each)(s);
    if (s->drawing == DRAW_POWER && !anything(s))
        FAIL(ERR_FORMAT,
             "%s is not drawn: no black hole has given energy to the gas between two of these "
             "checkpoints, or the columns heat and jets are missing",
             plot_file(o));
    if (!anything(s))
        FAIL(ERR_FORMAT, "%s is not drawn: no sink has stars within 30 kpc", plot_file(o));
    return plot_save(o, o->paths[o->npath - 1], &plot);
}

struct sinks_history *sinks_begin(void)
{
    return mem_zero(sizeof(struct sinks_history), "sinks");
}

enum err sinks_end_plot(struct options *o)
{
    struct sinks_history *s = o->sinks;
    enum err err = plot_file(o) && o->c.rank == 0 ? save(s, o) : OK;
    FREE(s->curve);
    FREE(s->label);
    FREE(s->x);
    FREE(s->row);
    FREE(o->sinks);
    return err;
}
