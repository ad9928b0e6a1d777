/* inspect: --cone, the contents of light cones: a table by redshift, and a picture of the sky or of
 * a wedge. The files are read twice: for the ranges, then for the counts. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cone/read.h"
#include "inspect.h"
#include "io/temp.h"
#include "plot/colours.h"
#include "plot/frame.h"
#include "plot/numbers.h"
#include "plot/picture.h"

enum { PIXELS = 300 };
static const double DEGREE = 3.14159265358979323846 / 180;

/* Names of the objects of a cone, in the order of enum cone_object. */
static const char *const OBJECT[CONE_OBJECTS] = {"particles", "cells", "sinks", "galaxies"};

struct bin {
    int64_t n[CONE_OBJECTS];
};

struct cone {
    const struct options *o;
    const char *path;
    int64_t files, n[CONE_OBJECTS]; /* n: events */
    double z[2], far[2];            /* ranges of redshift and of distance, boxes */
    double box_mpc;                 /* 0: not known, or not of all files */
    bool mixed;
    struct bin *bin; /* [o->cone.bins]; NULL in the first pass */
    /* the picture: range of both axes, counts, colours */
    double at[2][2];
    int64_t *count; /* [PIXELS²], first row at the bottom */
    int colours;
};

/* Position of an event in the picture: angles on the sky, in degrees, or distances. */
static void project(const struct cone *k, const double r[3], double at[2])
{
    if (k->o->cone.wedge) {
        at[0] = r[0], at[1] = r[1];
        return;
    }
    at[0] = atan2(r[1], r[0]) / DEGREE;
    at[1] = atan2(r[2], hypot(r[0], r[1])) / DEGREE;
}

static int64_t events(const struct cone *k)
{
    int64_t sum = 0;
    for (int i = 0; i < CONE_OBJECTS; i++) sum += k->n[i];
    return sum;
}

static void stretch(double range[2], double x)
{
    range[0] = fmin(range[0], x), range[1] = fmax(range[1], x);
}

static int index_of(const double range[2], double x, int n)
{
    int i = range[1] > range[0] ? (int)((x - range[0]) / (range[1] - range[0]) * n) : 0;
    return i < 0 ? 0 : i < n ? i : n - 1;
}

static enum err measure(void *ctx, const struct cone_batch *b)
{
    struct cone *k = ctx;
    if (events(k) > 0 && b->box_mpc != k->box_mpc) k->mixed = true;
    k->box_mpc = b->box_mpc;
    k->n[b->what] += b->n;
    for (int64_t i = 0; i < b->n; i++) {
        double r[3] = {b->r[0][i], b->r[1][i], b->r[2][i]}, at[2];
        project(k, r, at);
        stretch(k->z, b->z[i]);
        stretch(k->far, sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]));
        for (int a = 0; a < 2; a++) stretch(k->at[a], at[a]);
    }
    return OK;
}

static enum err count(void *ctx, const struct cone_batch *b)
{
    struct cone *k = ctx;
    for (int64_t i = 0; i < b->n; i++) {
        double r[3] = {b->r[0][i], b->r[1][i], b->r[2][i]}, at[2];
        struct bin *bin = &k->bin[index_of(k->z, b->z[i], k->o->cone.bins)];
        bin->n[b->what]++;
        project(k, r, at);
        k->count[index_of(k->at[1], at[1], PIXELS) * PIXELS + index_of(k->at[0], at[0], PIXELS)]++;
    }
    return OK;
}

static enum err read_all(struct cone *k)
{
    int64_t again = 0;
    for (int i = 0; i < 2; i++) {
        k->z[i] = k->far[i] = i ? -INFINITY : INFINITY;
        k->at[0][i] = k->at[1][i] = i ? -INFINITY : INFINITY;
    }
    TRY(cone_read(k->path, measure, k, &k->files));
    if (k->mixed) k->box_mpc = 0;
    k->bin = mem_zero(sizeof *k->bin * (size_t)k->o->cone.bins, "light cone");
    k->count = mem_zero(sizeof *k->count * PIXELS * PIXELS, "light cone");
    return cone_read(k->path, count, k, &again);
}

/* ---- the table ---- */

static double bin_edge(const struct cone *k, int b)
{
    return k->z[0] + (k->z[1] - k->z[0]) * b / k->o->cone.bins;
}

static void print_text(const struct cone *k)
{
    printf("# ptah cone 1\n# source\t%s\n# files\t%ld\n", k->path, (long)k->files);
    for (int i = 0; i < CONE_OBJECTS; i++) printf("# %s\t%ld\n", OBJECT[i], (long)k->n[i]);
    if (events(k) == 0) return;
    printf("# distance\t%.9g\t%.9g\n", k->far[0], k->far[1]);
    if (k->box_mpc > 0) printf("# box\t%.9g\n", k->box_mpc);
    printf(
        "# redshift from, to; particles; cells; sinks; galaxies; distances above are in boxes%s\n"
        "#from\tto\tparticles\tcells\tsinks\tgalaxies\n",
        k->box_mpc > 0 ? ", the box in Mpc" : "");
    for (int b = 0; b < k->o->cone.bins; b++) {
        put_number(stdout, 9, bin_edge(k, b));
        printf("\t");
        put_number(stdout, 9, bin_edge(k, b + 1));
        for (int i = 0; i < CONE_OBJECTS; i++) printf("\t%ld", (long)k->bin[b].n[i]);
        printf("\n");
    }
}

static void print_json(const struct cone *k)
{
    bool any = events(k) > 0;
    json_begin("cone", k->path);
    json_count("files", k->files);
    for (int i = 0; i < CONE_OBJECTS; i++) json_count(OBJECT[i], k->n[i]);
    json_number("from", any ? k->far[0] : NAN);
    json_number("to", any ? k->far[1] : NAN);
    json_number("box_mpc", k->box_mpc > 0 ? k->box_mpc : NAN);
    printf(",\"redshift\":[");
    for (int b = 0; any && b < k->o->cone.bins; b++) {
        printf("%s{\"from\":%.17g", b ? "," : "", bin_edge(k, b));
        json_number("to", bin_edge(k, b + 1));
        for (int i = 0; i < CONE_OBJECTS; i++) json_count(OBJECT[i], k->bin[b].n[i]);
        printf("}");
    }
    printf("]");
    json_end();
}

/* ---- the picture ---- */

static int64_t most(const struct cone *k)
{
    int64_t n = 1;
    for (int i = 0; i < PIXELS * PIXELS; i++) n = k->count[i] > n ? k->count[i] : n;
    return n;
}

/* Colours by the logarithm of the counts, white where there is nothing; top row first. */
static unsigned char *paint(const struct cone *k, double top)
{
    unsigned char *rgb = mem_new(3 * PIXELS * PIXELS, "light cone"), *to = rgb;
    for (int row = PIXELS - 1; row >= 0; row--)
        for (int i = row * PIXELS; i < (row + 1) * PIXELS; i++, to += 3)
            if (k->count[i] == 0)
                to[0] = to[1] = to[2] = 255;
            else
                colours_at(k->colours, log10((double)k->count[i]) / top, to);
    return rgb;
}

static void put_counts(struct canvas *c, const struct frame *f, const struct cone *k,
                       const char *of)
{
    if (!canvas_numbers(c)) return;
    double *x = mem_new(sizeof *x * PIXELS * PIXELS, "light cone");
    for (int i = 0; i < PIXELS * PIXELS; i++) x[i] = (double)k->count[i];
    numbers_of_image(c, f, of, PIXELS, PIXELS, x);
    FREE(x);
}

static void draw(struct canvas *c, const void *what)
{
    const struct cone *k = what;
    const bool wedge = k->o->cone.wedge;
    const double unit = wedge && k->box_mpc > 0 ? k->box_mpc : 1,
                 top = fmax(log10((double)most(k)), 0.3);
    char name[2][64];
    snprintf(name[0], sizeof name[0], "distance along the line of sight [%s]",
             k->box_mpc > 0 ? "Mpc" : "boxes");
    snprintf(name[1], sizeof name[1], "across [%s]", k->box_mpc > 0 ? "Mpc" : "boxes");
    const char *x = wedge ? name[0] : "longitude [degrees]",
               *y = wedge ? name[1] : "latitude [degrees]";
    char of[64] = "";
    for (int i = 0; i < CONE_OBJECTS; i++)
        if (k->n[i])
            snprintf(of + strlen(of), sizeof of - strlen(of), "%s%s", *of ? ", " : "", OBJECT[i]);
    snprintf(of + strlen(of), sizeof of - strlen(of), " per pixel");
    struct frame f = {.x = {.lo = k->at[0][0] * unit, .hi = k->at[0][1] * unit, .name = x},
                      .y = {.lo = k->at[1][0] * unit, .hi = k->at[1][1] * unit, .name = y},
                      .in = frame_in(frame_whole(true), FRAME_BAR),
                      .title = k->path,
                      .outside = true};
    const struct axis bar = {.hi = top, .log = true, .name = of};
    put_counts(c, &f, k, of);
    unsigned char *rgb = paint(k, top);
    canvas_pixels(c, f.in, PIXELS, PIXELS, rgb);
    mem_free(rgb);
    frame_draw(&f, c);
    frame_bar(&f, c, k->colours, &bar);
}

static enum err save(struct cone *k)
{
    const struct picture plot = {
        .format = (enum picture_format)k->o->format, .draw = draw, .what = k};
    if (events(k) == 0)
        FAIL(ERR_FORMAT, "%s is not drawn: the light cone has no events", plot_file(k->o));
    k->colours = colours_find("inferno");
    for (int a = 0; a < 2; a++)
        if (!(k->at[a][1] > k->at[a][0])) k->at[a][0] -= 0.5, k->at[a][1] += 0.5;
    return plot_save(k->o, k->path, &plot);
}

enum err cone_print(const char *path, const struct options *o, int *status)
{
    struct cone k = {.o = o, .path = path};
    enum err err = plot_allowed(o);
    if (err == OK) err = read_all(&k);
    if (err == OK && plot_file(o)) err = save(&k);
    if (err == OK) (o->json ? print_json : print_text)(&k);
    FREE(k.bin);
    FREE(k.count);
    return err;
}
