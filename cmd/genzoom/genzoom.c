/* genzoom: writes the mask of a zoom for GRAFIC2 initial conditions, and prints the namelist for
 * it. See man/genzoom.1. */
#include <math.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/opt.h"
#include "out/program.h"
#include "points.h"
#include "report.h"
#include "room.h"

enum {
    BOX = 256,
    SPHERE,
    ELLIPSOID,
    POINTS,
    TRACE,
    FROM,
    CENTER,
    RADIUS,
    HALO,
    SHAPE,
    ONES,
    OMEGA_B,
    FORCE,
    DEEP
};

static const struct opt ROWS[] = {
    {OPT_MORE('i'), "number", "N",
     "write the mask as ic_pvar_N, N of five digits (default 6: variable 11 of RAMSES); 0: as "
     "ic_refmap, for runs without gas"},
    {BOX, "box", "X,Y,Z,LX,LY,LZ",
     "mask a cuboid: centre and sides, in units of the box like all lengths"},
    {SPHERE, "sphere", "X,Y,Z,R", "mask a sphere"},
    {ELLIPSOID, "ellipsoid", "X,Y,Z,…",
     "mask an ellipsoid: centre, then three semi-axes or the nine elements of MUSIC's matrix"},
    {OPT_MORE(POINTS), "points", "FILE",
     "mask the region around points, one line x y z each; - is standard input"},
    {TRACE, "trace", "CHECKPOINT",
     "mask the region that the dark matter in a sphere of this later checkpoint comes from"},
    {CENTER, "center", "X,Y,Z",
     "centre of the sphere of --trace; densest: where the dark matter is densest"},
    {OPT_MORE(RADIUS), "radius", "R", "radius of the sphere of --trace"},
    {HALO, "halo", "N",
     "instead of --center: halo N of inspect --halos; --radius is then twice its r200m by default"},
    {OPT_MORE(FROM), "from", "CHECKPOINT",
     "find traced particles in this early checkpoint, not by the ids of the initial conditions"},
    {OPT_MORE(SHAPE), "shape", "NAME",
     "shape of the region around points: hull (default) or ellipsoid of minimum volume"},
    {OPT_MORE('o'), "output", "FILE", "write the traced points to a file for --points"},
    {OPT_OLD('p'), "padding", "N", "grow the region by N cells of the base level (default 0)"},
    {OPT_MORE(ONES), "ones", NULL, "set sub-levels to 1 even where they have an ic_refmap"},
    {'l', "levelmax", "L",
     "levelmax of the run (default: three levels beyond the initial conditions)"},
    {OPT_OLD('r'), "ranks", "N", "ranks of the run, for the estimate of memory (default 1)"},
    {OPT_MORE(OMEGA_B), "omega-b", "X",
     "density of baryons (default: from the headers or the checkpoint of --trace, else 0.045; 0 "
     "without gas)"},
    {OPT_MORE(DEEP), "deep", NULL,
     "read all values of all files, to find damage before a run does"},
    {'n', "check", NULL, "check everything, but write no files"},
    {FORCE, "force", NULL, "replace files that exist"},
    {'j', "json", NULL, "print JSON instead of the namelist"},
    {'q', "quiet", NULL, "print errors only"},
    {OPT_MORE('v'), "verbose", NULL, "print more messages"},
    {'V', "version", NULL, "print the version"},
    {'h', "help", NULL, "print a short help (--help: all)"},
    {0, NULL, NULL, NULL}};

static const struct program PROGRAM = {
    .name = "genzoom",
    .synopsis = "genzoom [options] ICDIR…",
    .purpose = "Writes the refinement mask of a zoom into GRAFIC2 initial conditions and prints "
               "its namelist.",
    .rows = ROWS};

struct options {
    int number, padding, levelmax, ranks, verbose;
    int kind, value_count; /* kind: BOX …, 0: maps of the set; number of values */
    double value[12];
    const char *path, *output; /* path of points or of a checkpoint; list of points to write */
    struct trace trace;
    bool have_center, ellipsoid, ones, check, force, json, deep;
    double omega_b; /* baryon density parameter; NAN: not given */
    int ndir;
    char **dirs;
};

static int parse(int argc, char **argv, struct options *o);
static enum err zoom(const struct options *o);

int main(int argc, char **argv)
{
    struct options o = {.number = 6, .ranks = 1, .omega_b = NAN};
    program_begin();
    int status = parse(argc, argv, &o);
    if (status == GO_ON) {
        log_init(true, o.verbose);
        enum err err = zoom(&o);
        if (err != OK) fprintf(stderr, "genzoom: %s\n", err_message());
        status = err == OK ? DONE : TROUBLE;
    }
    return log_stdout_end("genzoom") ? status : TROUBLE;
}

/* ---- options ---- */

static int usage(const char *what, const char *value)
{
    return program_refuse(&PROGRAM, what, value);
}

static int set_number(const char *value, long min, long max, const char *what, int *out)
{
    return opt_int(value, min, max, out) ? GO_ON : usage(what, value);
}

static bool positive(const double *v, int n, double max)
{
    for (int i = 0; i < n; i++)
        if (!(v[i] > 0 && v[i] <= max)) return false;
    return true;
}

static bool in_box(const double *v)
{
    return v[0] >= 0 && v[0] <= 1 && v[1] >= 0 && v[1] <= 1 && v[2] >= 0 && v[2] <= 1;
}

static int set_region(int kind, const char *value, struct options *o)
{
    if (o->kind)
        return usage(
            "only one of --box, --sphere, --ellipsoid, --points, --trace can be given, not also",
            value);
    o->kind = kind;
    o->path = value;
    if (kind == POINTS || kind == TRACE) return GO_ON;
    int n = o->value_count = opt_reals(value, 12, o->value);
    if (n < 0 || (kind == BOX && n != 6) || (kind == SPHERE && n != 4) ||
        (kind == ELLIPSOID && n != 6 && n != 12))
        return usage(kind == BOX      ? "a box must be six numbers, X,Y,Z,LX,LY,LZ, not"
                     : kind == SPHERE ? "a sphere must be four numbers, X,Y,Z,R, not"
                                      : "an ellipsoid must be six or twelve numbers, the centre "
                                        "and semi-axes or a matrix, not",
                     value);
    if (!in_box(o->value))
        return usage("the centre must be between 0 and 1 (units of the box), not", value);
    if (n < 12 && !positive(o->value + 3, n - 3, kind == BOX ? 1 : 0.5))
        return usage("sizes must be above 0 and at most the box, not", value);
    return GO_ON;
}

static int set_center(const char *value, struct options *o)
{
    o->trace.densest = strcmp(value, "densest") == 0;
    o->have_center = true;
    if (o->trace.densest) return GO_ON;
    if (opt_reals(value, 3, o->trace.center) != 3 || !in_box(o->trace.center))
        return usage("the centre must be three numbers from 0 to 1, or densest, not", value);
    return GO_ON;
}

static int set_shape(const char *value, struct options *o)
{
    o->ellipsoid = strcmp(value, "ellipsoid") == 0;
    return o->ellipsoid || strcmp(value, "hull") == 0
               ? GO_ON
               : usage("the shape must be hull or ellipsoid, not", value);
}

static int set_real(const char *value, double min, double max, const char *what, double *out)
{
    return opt_reals(value, 1, out) == 1 && *out >= min && *out <= max ? GO_ON : usage(what, value);
}

static int set_flag(int letter, struct options *o)
{
    switch (letter) {
    case ONES:
        o->ones = true;
        return GO_ON;
    case DEEP:
        o->deep = true;
        return GO_ON;
    case FORCE:
        o->force = true;
        return GO_ON;
    case 'n':
        o->check = true;
        return GO_ON;
    case 'j':
        o->json = true;
        return GO_ON;
    case 'q':
        o->verbose = -1;
        return GO_ON;
    case 'v':
        o->verbose++;
        return GO_ON;
    default:
        BUG_ON(true);
        return TROUBLE;
    }
}

/* Sets one option. Returns the exit status, or GO_ON. */
static int set_option(int letter, const char *value, void *ctx)
{
    struct options *o = ctx;
    switch (letter) {
    case 'i':
        return set_number(value, 0, NVAR_MAX - 5,
                          "the number of the scalar must be 1 to 59, or 0 for ic_refmap, not",
                          &o->number);
    case 'p':
        return set_number(value, 0, 1024, "the padding must be from 0 to 1024 cells, not",
                          &o->padding);
    case 'l':
        return set_number(value, 1, LEVEL_MAX,
                          "levelmax must be a level that this build supports, not", &o->levelmax);
    case 'r':
        return set_number(value, 1, 1 << 24, "the number of ranks must be 1 to 16777216, not",
                          &o->ranks);
    case 'o':
        o->output = value;
        return GO_ON;
    case FROM:
        o->trace.from = value;
        return GO_ON;
    case CENTER:
        return set_center(value, o);
    case RADIUS:
        return set_real(value, 1e-12, 0.5, "the radius must be above 0 and at most 0.5, not",
                        &o->trace.radius);
    case HALO:
        return set_number(value, 1, 1 << 30, "the number of the halo must be 1 to 1073741824, not",
                          &o->trace.halo);
    case SHAPE:
        return set_shape(value, o);
    case OMEGA_B:
        return set_real(value, 0, 1, "omega_b must be between 0 and 1, not", &o->omega_b);
    default:
        return letter >= BOX && letter <= TRACE ? set_region(letter, value, o)
                                                : set_flag(letter, o);
    }
}

static int parse(int argc, char **argv, struct options *o)
{
    int first, status;
    if ((status = program_read(&PROGRAM, argc, argv, set_option, o, &first)) != GO_ON)
        return status;
    o->dirs = argv + first;
    o->ndir = argc - first;
    bool trace = o->kind == TRACE, points = trace || o->kind == POINTS;
    if (o->ndir == 0) return usage("no initial conditions are given", NULL);
    if (trace && !o->trace.halo && (!o->have_center || !(o->trace.radius > 0)))
        return usage("--trace needs --center and --radius, or --halo", NULL);
    if (o->have_center && o->trace.halo)
        return usage("--halo sets the centre: give either --halo or --center", NULL);
    if (!trace &&
        (o->have_center || o->trace.radius > 0 || o->trace.halo || o->trace.from || o->output))
        return usage("--center, --radius, --halo, --from and --output go with --trace", NULL);
    if (!points && o->ellipsoid) return usage("--shape goes with --points or --trace", NULL);
    if (o->kind && o->ones)
        return usage("--ones is for the maps of the initial conditions, not for a region", NULL);
    o->trace.path = o->path;
    return GO_ON;
}

/* ---- work ---- */

static enum err gather_points(const struct options *o, const struct zoom_set *s, struct trace *t,
                              struct points *p)
{
    if (o->kind == POINTS) return points_read(p, o->path);
    TRY(points_trace(p, t, s));
    log_line(1, "%lld particles within %g of %.6f, %.6f, %.6f", (long long)t->ids, t->radius,
             t->center[0], t->center[1], t->center[2]);
    return o->output && !o->check ? points_write(p, o->output, o->force) : OK;
}

/* Shape around points, padded by at least half a cell of the finest level, so that the cells that
 * contain points are masked. */
static enum err shape_of_points(const struct options *o, const struct zoom_set *s, struct trace *t,
                                double pad, struct shape *shape)
{
    struct points p = {0};
    enum err err = gather_points(o, s, t, &p);
    if (err == OK) {
        points_unwrap(&p);
        const double(*x)[3] = (const double(*)[3])p.x;
        pad += ldexp(0.5, -s->g.levelmax);
        err = o->ellipsoid ? shape_smallest_ellipsoid(shape, p.n, x, pad)
                           : shape_hull(shape, p.n, x, pad);
        log_line(1, "%lld points, %d corners of the hull", (long long)p.n, shape->nvertex);
    }
    points_free(&p);
    return err;
}

static enum err make_shape(const struct options *o, const struct zoom_set *s, struct trace *t,
                           struct shape *shape)
{
    double pad = ldexp(o->padding, -s->g.levelmin), r[3], matrix[3][3];
    for (int d = 0; d < 3; d++) r[d] = o->value[o->kind == SPHERE ? 3 : 3 + d];
    switch (o->kind) {
    case BOX:
        shape_box(shape, o->value, r, pad);
        return OK;
    case ELLIPSOID:
        if (o->value_count == 12) {
            memcpy(matrix, o->value + 3, sizeof matrix);
            return shape_matrix(shape, o->value, matrix, pad);
        }
        /* fall through */
    case SPHERE:
        shape_ellipsoid(shape, o->value, r, pad);
        return OK;
    default:
        return o->kind ? shape_of_points(o, s, t, pad, shape) : OK;
    }
}

static enum err check_shape(const struct shape *s)
{
    for (int d = 0; d < 3 && s->kind; d++)
        if (s->lo[d] < -1 || s->hi[d] > 2)
            FAIL(ERR_PARAM,
                 "the region extends from %g to %g along %c, which is more than the box: take a "
                 "smaller region",
                 s->lo[d], s->hi[d], 'x' + d);
    return OK;
}

static void warn(const struct zoom_set *s, const struct mask_level *m)
{
    for (int l = s->g.levelmin; l < s->g.levelmax; l++) {
        if (m[l].cut)
            log_info("genzoom: %s: %lld cells of its map lie outside the files of level %d and are "
                     "left out",
                     s->g.lev[l].dir, (long long)m[l].cut, l + 1);
    }
}

static const char *region_words(const struct options *o)
{
    return o->kind == BOX         ? "a box"
           : o->kind == SPHERE    ? "a sphere"
           : o->kind == ELLIPSOID ? "an ellipsoid"
           : o->kind == POINTS
               ? o->ellipsoid ? "the minimum ellipsoid around points" : "the hull of points"
           : o->kind == TRACE ? o->ellipsoid ? "the minimum ellipsoid around traced particles"
                                             : "the hull of traced particles"
                              : "ic_refmap";
}

static enum err check_room(const struct zoom_set *s, const struct mask_level *made, void *ctx)
{
    return room_for_run(s, made, ctx);
}

/* Baryon density as simulate will have it with the printed namelist; if the headers lack it, that
 * of the traced run. A run without gas has none. */
static double baryons(const struct options *o, const struct zoom_set *s, const struct trace *t)
{
    static const double usual = 0.045; /* default of the parameter */
    if (!isnan(o->omega_b)) return o->omega_b;
    if (!s->gas) return 0;
    return !isnan(s->g.omega_b) ? s->g.omega_b : t->omega_b > 0 ? t->omega_b : usual;
}

static enum err mask_set(const struct options *o, const struct zoom_set *s, struct shape *shape)
{
    struct mask_level *m = mem_zero(sizeof *m * (LEVEL_MAX + 2), "mask");
    struct trace t = o->trace;
    int nexpand[LEVEL_MAX + 2];
    char name[32];
    snprintf(name, sizeof name, o->number ? "ic_pvar_%05d" : "ic_refmap", o->number);
    struct mask_par p = {
        .pad = o->padding, .ones = o->ones, .name = o->check ? NULL : name, .force = o->force};
    enum err err = OK;
    if (o->levelmax && o->levelmax < s->g.levelmax)
        TRY_OUT(
            err_set(ERR_PARAM,
                    "levelmax = %d is below level %d of the initial conditions: raise --levelmax",
                    o->levelmax, s->g.levelmax));
    TRY_OUT(make_shape(o, s, &t, shape));
    double omega_b = baryons(o, s, &t);
    if (omega_b >= s->g.par.omega_m)
        TRY_OUT(err_set(ERR_PARAM, "omega_b = %g must be below omega_m = %g of %s: lower --omega-b",
                        omega_b, s->g.par.omega_m, s->g.lev[s->g.levelmin].dir));
    TRY_OUT(check_shape(shape));
    if (o->kind) p.shape = shape;
    TRY_OUT(mask_make(s, &p, m, check_room, nexpand));
    warn(s, m);
    int beyond = s->g.levelmax + 3 < LEVEL_MAX ? s->g.levelmax + 3 : LEVEL_MAX;
    const struct report r = {.s = s,
                             .mask = m,
                             .number = o->number,
                             .levelmax = o->levelmax ? o->levelmax : beyond,
                             .ranks = o->ranks,
                             .omega_b = omega_b,
                             .name = name,
                             .region = region_words(o),
                             .written = !o->check,
                             .nexpand = nexpand,
                             .trace = &t};
    (o->json ? report_json : report_namelist)(stdout, &r);
out:
    mem_free(m);
    return err;
}

static enum err zoom(const struct options *o)
{
    struct zoom_set *s = mem_zero(sizeof *s, "set");
    struct shape shape = {.kind = SHAPE_NONE};
    enum err err = zoom_set_open(s, o->ndir, o->dirs, o->deep);
    if (err == OK) {
        err = mask_set(o, s, &shape);
        zoom_set_close(s);
    }
    shape_free(&shape);
    mem_free(s);
    return err;
}
