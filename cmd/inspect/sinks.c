/* inspect: --sinks, sinks and black holes over checkpoints. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ckpt/catalog.h"
#include "formats/formats.h"
#include "inspect.h"
#include "io/stream.h"
#include "plot/chart.h"
#include "plot/picture.h"
#include "view/births.h"
#include "view/unit.h"

/* What is told of a sink, in this order. */
static const struct number {
    const char *name, *of, * or ; /* of: its column in the checkpoint, or another */
    enum { CODE, MASS, RATE, ENERGY, SPEED } unit;
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
              {"vz", "velocity_z", NULL, SPEED}};
enum { NUMBERS = sizeof NUMBER / sizeof *NUMBER };

struct row {
    double time, redshift, of[NUMBERS];
    int64_t id;
};

struct sinks_history {
    int64_t n, cap;
    struct row *row;
};

static double value(const struct catalog *t, const struct number *k, int64_t i)
{
    const struct catalog_column *c = catalog_find(t, k->of);
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
        return b->solar / (h->unit_t / YEAR);
    case ENERGY:
        return mass * velocity * velocity;
    case SPEED:
        return velocity / 1e5;
    }
    return 1;
}

static enum err read_rows(struct sinks_history *s, struct source *r)
{
    struct births b = {0};
    const struct catalog *t = r->sinks;
    if (t->n == 0) return OK;
    /* at its beginning a run without cosmology has no births */
    enum err err = r->head.t != 0 ? births_open(&b, r) : OK;
    if (r->head.t == 0) b.solar = r->head.unit_d * pow(r->head.unit_l, 3) / SOLAR_MASS;
    const struct catalog_column *id = catalog_find(t, "identity");
    if (err == OK && s->n + t->n > s->cap) {
        s->cap = 2 * s->cap + t->n;
        s->row = mem_grow(s->row, sizeof *s->row * (size_t)s->cap, "sinks");
    }
    for (int64_t i = 0; i < t->n && err == OK; i++) {
        struct row *o = &s->row[s->n++];
        *o = (struct row){.time = b.now / (1e9 * YEAR),
                          .id = id && id->whole ? id->whole[i] : i + 1};
        o->redshift = b.cosmo ? births_redshift(&b, b.now) : NAN;
        for (int k = 0; k < NUMBERS; k++)
            o->of[k] = value(t, &NUMBER[k], i) * unit(&r->head, &b, NUMBER[k].unit);
    }
    births_close(&b);
    return err;
}

static void print_text(const struct row *r, int64_t n, const char *path)
{
    printf("# ptah sinks 1\n# source\t%s\n# sinks\t%ld\n", path, (long)n);
    printf("# time in Gyr since the beginning; mass, and what has been accreted and not yet set "
           "free, in solar masses; rate of accretion in solar masses per year; saved energy in "
           "erg; place in units of the code; velocity in km/s\n#time\tredshift\tid");
    for (int k = 0; k < NUMBERS; k++) printf("\t%s", NUMBER[k].name);
    printf("\n");
    for (int64_t i = 0; i < n; i++) {
        printf("%.9g\t%.6g\t%ld", r[i].time, r[i].redshift, (long)r[i].id);
        for (int k = 0; k < NUMBERS; k++) printf("\t%.9g", r[i].of[k]);
        printf("\n");
    }
}

static void print_json(const struct row *r, int64_t n, const char *path)
{
    json_begin("sinks", path);
    printf(",\"sinks\":[");
    for (int64_t i = 0; i < n; i++) {
        printf("%s{\"id\":%ld", i ? "," : "", (long)r[i].id);
        json_number("time", r[i].time);
        json_number("redshift", r[i].redshift);
        for (int k = 0; k < NUMBERS; k++) json_number(NUMBER[k].name, r[i].of[k]);
        printf("}");
    }
    printf("]");
    json_end();
}

enum err sinks_print(const char *path, const struct options *o)
{
    struct source *r = NULL;
    struct sinks_history *s = o->sinks;
    int64_t first = s->n;
    enum err err = o->out ? stream_may_write(o->out, o->force) : OK;
    if (err == OK) err = source_open(path, &r);
    if (err == OK) err = read_rows(s, r);
    if (err == OK) (o->json ? print_json : print_text)(s->row + first, s->n - first, path);
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

/* A curve for each sink: its mass by time. */
static void draw(struct canvas *c, const void *what)
{
    const struct sinks_history *s = what;
    size_t n = (size_t)s->n;
    double *x = mem_new(2 * sizeof *x * n + 1, "sinks"), *y = x + n;
    struct curve *curve = mem_zero(sizeof *curve * n + 1, "sinks");
    int curves = 0;
    for (int64_t i = 0; i < s->n; i++) {
        x[i] = s->row[i].time, y[i] = s->row[i].of[0];
        if (i == 0 || s->row[i].id != s->row[i - 1].id) {
            curve[curves] = (struct curve){.x = x + i, .y = y + i, .colour = curves};
            curves++;
        }
        curve[curves - 1].n++;
    }
    struct chart f = {.x = {0, 0, false, "time [Gyr]"},
                      .y = {0, 0, true, "mass of sinks [solar masses]"},
                      .in = frame_in(frame_whole(true), 0),
                      .n = curves,
                      .curve = curve};
    chart_draw(c, &f);
    FREE(curve);
    FREE(x);
}

struct sinks_history *sinks_begin(void)
{
    return mem_zero(sizeof(struct sinks_history), "sinks");
}

enum err sinks_end_plot(struct options *o)
{
    struct sinks_history *s = o->sinks;
    struct picture plot = {.format = (enum picture_format)o->format, .draw = draw, .what = s};
    enum err err = OK;
    if (o->out && o->c.rank == 0 && s->n == 0)
        err = err_set(ERR_FORMAT, "%s is not drawn: no checkpoint has sinks", o->out);
    else if (o->out && o->c.rank == 0) {
        qsort(s->row, (size_t)s->n, sizeof *s->row, by_id);
        err = picture_save(o->out, &plot);
    }
    FREE(s->row);
    FREE(o->sinks);
    return err;
}
