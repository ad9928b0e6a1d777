/* inspect: --profile, radial profiles around a centre; --stars, the history of star formation;
 * --line, the cells along a line. */
#include <stdio.h>

#include "base/mem.h"
#include "base/text.h"
#include "formats/formats.h"
#include "hdf5/table_h5.h"
#include "inspect.h"
#include "io/stream.h"
#include "plot/picture.h"
#include "view/history.h"
#include "view/line.h"
#include "view/profile.h"

static bool is_count(int c)
{
    return c == PROFILE_DM_COUNT || c == PROFILE_STAR_COUNT || c == PROFILE_OTHER_COUNT;
}

static void print_text(const struct profile *p, const char *path, const struct options *o)
{
    const struct profile_options *q = &o->profile;
    printf("# ptah profile 1\n# source\t%s\n# center\t%.9g\t%.9g\t%.9g\tbox\n", path, q->centre[0],
           q->centre[1], q->centre[2]);
    printf("# bulk velocity\t%.9g\t%.9g\t%.9g\t%s\n", p->bulk[0], p->bulk[1], p->bulk[2],
           p->unit_velocity);
    for (int i = 0; i < p->columns; i++)
        printf(*p->unit[p->list[i]] ? "%s%s [%s]" : "%s%s", i ? "\t" : "#",
               profile_name(p->list[i]), p->unit[p->list[i]]);
    for (int k = 0; k < p->n; k++)
        for (int i = 0; i < p->columns; i++) {
            const enum profile_column c = p->list[i];
            printf("%s", i ? "\t" : "\n");
            if (is_count(c))
                printf("%.0f", p->row[k][c]);
            else
                put_number(stdout, 9, p->row[k][c]);
        }
    printf("\n");
}

static void print_json(const struct profile *p, const char *path, const struct options *o)
{
    const struct profile_options *q = &o->profile;
    json_begin("profile", path);
    printf(",\"center\":[%.17g,%.17g,%.17g]", q->centre[0], q->centre[1], q->centre[2]);
    json_number("radius", q->radius);
    printf(",\"bulk\":[%.17g,%.17g,%.17g],\"units\":{", p->bulk[0], p->bulk[1], p->bulk[2]);
    for (int i = 0, n = 0; i < p->columns; i++)
        if (*p->unit[p->list[i]])
            printf("%s\"%s\":\"%s\"", n++ ? "," : "", profile_name(p->list[i]),
                   p->unit[p->list[i]]);
    printf("},\"bins\":[");
    for (int k = 0; k < p->n; k++) {
        for (int i = 0; i < p->columns; i++) {
            printf("%s\"%s\":", i ? "," : k ? ",{" : "{", profile_name(p->list[i]));
            json_value(p->row[k][p->list[i]]);
        }
        printf("}");
    }
    printf("]");
    json_end();
}

static enum err save_h5(const struct profile *p, const char *path, const struct options *o)
{
    struct table_h5_column column[PROFILE_COLUMNS];
    const struct table_h5_note note[] = {{"source", path, 0, NULL, NULL},
                                         {"center", NULL, 3, o->profile.centre, NULL},
                                         {"radius", NULL, 1, &o->profile.radius, NULL},
                                         {"bulk_velocity", NULL, 3, p->bulk, NULL},
                                         {"bulk_velocity_unit", p->unit_velocity, 0, NULL, NULL}};
    const struct table_h5 t = {.kind = "profile",
                               .n = p->n,
                               .columns = p->columns,
                               .column = column,
                               .notes = sizeof note / sizeof *note,
                               .note = note};
    for (int i = 0; i < p->columns; i++)
        column[i] = (struct table_h5_column){.name = profile_name(p->list[i]),
                                             .unit = p->unit[p->list[i]],
                                             .real = &p->row[0][p->list[i]],
                                             .step = PROFILE_COLUMNS};
    return table_h5_write(o->out, &t, o->force);
}

enum err profile_print(const char *path, const struct options *o, int *status)
{
    struct source *r = NULL;
    struct profile p = {0};
    struct picture plot = {.format = (enum picture_format)o->format,
                           .draw = profile_plot,
                           .what = &p,
                           .width = PROFILE_WIDTH};
    enum err err = plot_allowed(o);
    if (err == OK) err = source_open(path, &r);
    if (err == OK) err = profile_make(&p, r, &o->profile);
    if (err == OK) plot.height = profile_height(&p);
    if (err == OK && o->format == FORMAT_H5) err = save_h5(&p, path, o);
    if (err == OK) err = plot_save(o, path, &plot);
    if (err == OK) (o->json ? print_json : print_text)(&p, path, o);
    profile_free(&p);
    source_close(&r);
    return err;
}

/* ---- the history of star formation ---- */

static void stars_text(const struct history *h, const char *path)
{
    int64_t stars = 0;
    double total = 0, step = h->end / h->n;
    for (int b = 0; b < h->n; b++) stars += h->stars[b];
    printf("# ptah stars 1\n# source\t%s\n# stars\t%ld\n# mass\t%.9g\n", path, (long)stars,
           h->mass);
    printf("# since the %s: from, to in Gyr; redshift of the middle; stars; mass formed in "
           "Msun; rate in Msun/yr; mass formed until then in Msun\n"
           "#from\tto\tredshift\tstars\tformed\trate\ttotal\n",
           h->cosmo ? "Big Bang" : "beginning");
    for (int b = 0; b < h->n; b++) {
        total += h->formed[b];
        printf("%.9g\t%.9g\t", b * step, (b + 1) * step);
        put_number(stdout, 6, h->redshift[b]);
        printf("\t%ld", (long)h->stars[b]);
        const double x[] = {h->formed[b], h->rate[b], total};
        for (size_t k = 0; k < sizeof x / sizeof *x; k++) {
            printf("\t");
            put_number(stdout, 9, x[k]);
        }
        printf("\n");
    }
}

static void stars_json(const struct history *h, const char *path)
{
    json_begin("stars", path);
    json_number("mass", h->mass);
    json_number("end", h->end);
    printf(",\"history\":[");
    for (int b = 0; b < h->n; b++) {
        printf("%s{\"from\":%.17g", b ? "," : "", b * h->end / h->n);
        json_number("to", (b + 1) * h->end / h->n);
        json_number("redshift", h->redshift[b]);
        json_count("stars", h->stars[b]);
        json_number("formed", h->formed[b]);
        json_number("rate", h->rate[b]);
        printf("}");
    }
    printf("]");
    json_end();
}

static enum err stars_h5(const struct history *h, const char *path, const struct options *o)
{
    enum { COLUMNS = 4 };
    double *row = mem_new(sizeof *row * COLUMNS * (size_t)h->n, "table"), total = 0;
    for (int b = 0; b < h->n; b++) {
        double *x = row + COLUMNS * b;
        x[0] = b * h->end / h->n, x[1] = (b + 1) * h->end / h->n;
        x[2] = h->redshift[b], x[3] = total += h->formed[b];
    }
    const struct table_h5_column column[] = {
        {"from", "Gyr", "begin of the bin, since the Big Bang or t = 0", row, NULL, COLUMNS},
        {"to", "Gyr", "its end", row + 1, NULL, COLUMNS},
        {"redshift", "", "of its middle", row + 2, NULL, COLUMNS},
        {"stars", "", "star particles born in it", NULL, h->stars, 1},
        {"formed", "Msun", "their mass at birth", h->formed, NULL, 1},
        {"rate", "Msun/yr", "rate of star formation", h->rate, NULL, 1},
        {"total", "Msun", "mass formed until its end", row + 3, NULL, COLUMNS}};
    const struct table_h5_note note[] = {{"source", path, 0, NULL, NULL},
                                         {"mass", NULL, 1, &h->mass, NULL}};
    const struct table_h5 t = {.kind = "stars",
                               .n = h->n,
                               .columns = sizeof column / sizeof *column,
                               .column = column,
                               .notes = 2,
                               .note = note};
    const enum err err = table_h5_write(o->out, &t, o->force);
    FREE(row);
    return err;
}

enum err stars_print(const char *path, const struct options *o, int *status)
{
    struct source *r = NULL;
    struct history h = {.n = o->stars.bins};
    struct picture plot = {
        .format = (enum picture_format)o->format, .draw = history_plot, .what = &h};
    enum err err = plot_allowed(o);
    if (err == OK) err = source_open(path, &r);
    if (err == OK) err = history_read(&h, r);
    if (err == OK && o->format == FORMAT_H5) err = stars_h5(&h, path, o);
    if (err == OK) err = plot_save(o, path, &plot);
    if (err == OK) (o->json ? stars_json : stars_text)(&h, path);
    history_free(&h);
    source_close(&r);
    return err;
}

/* ---- the cells along a line, and the exact solution of a Riemann problem ---- */

enum { LINE_DIGITS = 12 };

static void print_numbers(const char *name, int n, const double *x)
{
    printf("\t%s", name);
    for (int i = 0; i < n; i++) {
        putchar('\t');
        put_number(stdout, LINE_DIGITS, x[i]);
    }
}

/* The problem, the solution between its waves, and the differences of the cells from it. */
static void print_riemann(const struct line *l)
{
    const struct riemann_problem *e = &l->exact;
    for (int k = 0; k < 2; k++) {
        const struct riemann_state *a = &e->side[k];
        printf("# %s", k ? "right" : "left");
        print_numbers("density", 1, &a->density);
        print_numbers(l->column[l->at[1]].name, 1, &a->velocity);
        print_numbers("pressure", 1, &a->pressure);
        printf("\tcode\n");
    }
    printf("# between the waves");
    print_numbers("pressure", 1, &e->pressure);
    print_numbers(l->column[l->at[1]].name, e->pressure > 0 ? 1 : 2, e->velocity);
    printf("\tcode\n# L1 error");
    for (int k = 0; k < LINE_EXACT; k++) print_numbers(l->column[l->at[k]].name, 1, &l->error[k]);
    printf("\n");
}

static void line_text(const struct line *l, const char *path)
{
    printf("# ptah line 1\n# source\t%s\n#", path);
    print_numbers("center", l->r->head.ndim, l->o->centre);
    printf("\tbox\n#");
    print_numbers("time", 1, &l->r->head.t);
    printf("\tcode\n");
    if (l->o->riemann) print_riemann(l);
    for (int c = 0; c < l->columns; c++)
        printf(*l->column[c].unit ? "%s%s [%s]" : "%s%s", c ? "\t" : "#", l->column[c].name,
               l->column[c].unit);
    for (int i = 0; i < l->n; i++)
        for (int c = 0; c < l->columns; c++) {
            putchar(c ? '\t' : '\n');
            put_number(stdout, LINE_DIGITS, l->row[(size_t)i * (size_t)l->columns + (size_t)c]);
        }
    printf("\n");
}

static void json_riemann(const struct line *l)
{
    const struct riemann_problem *e = &l->exact;
    printf(",\"riemann\":{\"gamma\":%.17g", e->gamma);
    for (int k = 0; k < 2; k++) {
        const struct riemann_state *a = &e->side[k];
        printf(",\"%s\":[%.17g,%.17g,%.17g]", k ? "right" : "left", a->density, a->velocity,
               a->pressure);
    }
    json_number("pressure", e->pressure);
    printf(",\"velocity\":[");
    json_value(e->velocity[0]);
    printf(",");
    json_value(e->velocity[1]);
    printf("],\"l1\":{");
    for (int k = 0; k < LINE_EXACT; k++) {
        printf("%s\"%s\":", k ? "," : "", l->column[l->at[k]].name);
        json_value(l->error[k]);
    }
    printf("}}");
}

static void line_json(const struct line *l, const char *path)
{
    const double *x = l->o->centre;
    json_begin("line", path);
    json_text("axis", l->column[0].name);
    printf(",\"center\":[%.17g,%.17g,%.17g]", x[0], x[1], x[2]);
    json_number("time", l->r->head.t);
    if (l->o->riemann) json_riemann(l);
    printf(",\"units\":{");
    for (int c = 0, n = 0; c < l->columns; c++)
        if (*l->column[c].unit)
            printf("%s\"%s\":\"%s\"", n++ ? "," : "", l->column[c].name, l->column[c].unit);
    printf("},\"cells\":[");
    for (int i = 0; i < l->n; i++) {
        for (int c = 0; c < l->columns; c++) {
            printf("%s\"%s\":", c ? "," : i ? ",{" : "{", l->column[c].name);
            json_value(l->row[(size_t)i * (size_t)l->columns + (size_t)c]);
        }
        printf("}");
    }
    printf("]");
    json_end();
}

static enum err line_h5(const struct line *l, const char *path, const struct options *o)
{
    struct table_h5_column *column = mem_new(sizeof *column * (size_t)l->columns + 1, "table");
    const struct table_h5_note note[] = {{"source", path, 0, NULL, NULL},
                                         {"center", NULL, 3, l->o->centre, NULL},
                                         {"time", NULL, 1, &l->r->head.t, NULL}};
    const struct table_h5 t = {.kind = "line",
                               .n = l->n,
                               .columns = l->columns,
                               .column = column,
                               .notes = 3,
                               .note = note};
    for (int c = 0; c < l->columns; c++)
        column[c] = (struct table_h5_column){.name = l->column[c].name,
                                             .unit = l->column[c].unit,
                                             .real = l->row + c,
                                             .step = (size_t)l->columns};
    const enum err err = table_h5_write(o->out, &t, o->force);
    FREE(column);
    return err;
}

enum err line_print(const char *path, const struct options *o, int *status)
{
    struct source *r = NULL;
    struct line l = {0};
    struct picture plot = {.format = (enum picture_format)o->format,
                           .draw = line_plot,
                           .what = &l,
                           .width = LINE_WIDTH,
                           .height = LINE_HEIGHT};
    enum err err = plot_allowed(o);
    if (err == OK) err = source_open(path, &r);
    if (err == OK) err = line_make(&l, r, &o->line);
    if (err == OK && o->format == FORMAT_H5) err = line_h5(&l, path, o);
    if (err == OK) err = plot_save(o, path, &plot);
    if (err == OK) (o->json ? line_json : line_text)(&l, path);
    line_free(&l);
    source_close(&r);
    return err;
}
