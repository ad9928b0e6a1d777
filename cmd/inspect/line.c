/* inspect: --line: the cells along a line, and the exact solution of a Riemann problem. */
#include "view/line.h"

#include <stdio.h>

#include "base/text.h"
#include "formats/formats.h"
#include "inspect.h"
#include "io/stream.h"
#include "plot/picture.h"

enum { DIGITS = 12 };

static void print_numbers(const char *name, int n, const double *x)
{
    printf("\t%s", name);
    for (int i = 0; i < n; i++) {
        putchar('\t');
        put_number(stdout, DIGITS, x[i]);
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

static void print_text(const struct line *l, const char *path)
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
            put_number(stdout, DIGITS, l->row[(size_t)i * (size_t)l->columns + (size_t)c]);
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

static void print_json(const struct line *l, const char *path)
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

enum err line_print(const char *path, const struct options *o, int *status)
{
    struct source *r = NULL;
    struct line l = {0};
    struct picture plot = {.format = (enum picture_format)o->format,
                           .draw = line_plot,
                           .what = &l,
                           .width = LINE_WIDTH,
                           .height = LINE_HEIGHT};
    enum err err = o->out ? temp_may_write(o->out, o->force) : OK;
    if (err == OK) err = source_open(path, &r);
    if (err == OK) err = line_make(&l, r, &o->line);
    if (err == OK && o->out) err = picture_save(o->out, &plot);
    if (err == OK) (o->json ? print_json : print_text)(&l, path);
    line_free(&l);
    source_close(&r);
    return err;
}
