/* inspect: combinations of options, and formats of files, that a mode accepts. */
#include <stdio.h>
#include <string.h>

#include "base/opt.h"
#include "inspect.h"
#include "io/temp.h"

const char *const FORMATS[] = {"png", "svg", "pdf", "npy", "tsv", "mp4", "gif", "rgb", "h5", NULL};

const char *format_name(enum file_format f)
{
    return FORMATS[f - FORMAT_PNG];
}

int riemann_rest(struct options *o)
{
    if (!o->line.riemann || o->riemann_states == 2) return GO_ON;
    for (int i = 0; i < o->npath; i++) {
        if (!riemann_read(o->paths[i], o->line.state + 1, 1)) continue;
        memmove(o->paths + i, o->paths + i + 1, sizeof *o->paths * (size_t)(o->npath - i - 1));
        o->npath--;
        return GO_ON;
    }
    return options_refuse(o, "--riemann needs two states, RHO,U,P of the left and of the right",
                          NULL);
}

/* Refuses a format, and lists the possible ones. */
static int refuse_format(const struct options *o, int known, const char * not )
{
    char what[100] = "the format must be";
    size_t n = strlen(what);
    int left = __builtin_popcount((unsigned)known);
    for (int k = 0; FORMATS[k]; k++)
        if (known >> (k + FORMAT_PNG) & 1)
            n += (size_t)snprintf(what + n, sizeof what - n, " %s%s", FORMATS[k],
                                  --left > 1  ? ","
                                  : left == 1 ? " or"
                                              : ", by the ending of the file or -f, not");
    return options_refuse(o, what, not );
}

/* Format of a file: as given by -f, else by the extension of its name, else `usual`; known: bit f
 * for each possible format. */
static int find_format(const struct options *o, const char *file, int known, enum file_format usual,
                       enum file_format *format)
{
    const char *end = file ? strrchr(file, '.') : NULL;
    if (end && strchr(end, '/')) end = NULL;
    int k = end ? options_word(end + 1, FORMATS) + 1 : 0;
    if (end && !o->asked && !(k && known >> k & 1)) return refuse_format(o, known, file);
    *format = o->asked ? o->asked : k ? (enum file_format)k : usual;
    if (*format == FORMAT_NONE || known >> *format & 1) return GO_ON;
    return refuse_format(o, known, format_name(*format));
}

enum {
    DRAWINGS = 1 << FORMAT_PNG | 1 << FORMAT_SVG | 1 << FORMAT_PDF,
    MAPS = DRAWINGS | 1 << FORMAT_NPY,
    BARE_MAPS = 1 << FORMAT_PNG | 1 << FORMAT_NPY,
    TABLES = 1 << FORMAT_TSV,
    FILMS = 1 << FORMAT_PNG | 1 << FORMAT_MP4 | 1 << FORMAT_GIF | 1 << FORMAT_RGB | 1 << FORMAT_NPY
};

static const char NOT_BARE[] = "--mesh, --lines, --contours and --scale-bar draw over a map with "
                               "axes, not with --bare";

static bool draws_over(const struct map_options *m)
{
    return m->mesh || m->lines || m->contours || m->levels || m->ruler;
}

bool draws_all(const struct options *o)
{
    return o->mode == SINKS || o->mode == IONS || o->mode == TREES || (o->mode == MAP && o->panels);
}

/* Checks --data. */
int check_data(const struct options *o)
{
    const char *end = o->data ? strrchr(o->data, '.') : NULL;
    const bool array = end && strcmp(end, ".npy") == 0;
    if (!o->data) return GO_ON;
    if (array && o->mode != MAP)
        return options_refuse(o, "arrays are of maps: the numbers of this plot are FILE.tsv, not",
                              o->data);
    if (!array && !(end && strcmp(end, ".tsv") == 0))
        return options_refuse(o, "the numbers of a plot are FILE.tsv, or of a map FILE.npy, not",
                              o->data);
    if (o->many && !draws_all(o))
        return options_refuse(o, "--data is for one checkpoint only", NULL);
    if (!temp_has_folder(o->data))
        return options_refuse(o, "the file of --data needs a directory that exists, unlike",
                              o->data);
    return GO_ON;
}

int check_map(struct options *o)
{
    if (o->pixels) o->map.pixels = o->pixels;
    if (o->map.axis < 0) o->map.axis = 2;
    const bool over = draws_over(&o->map);
    if (over && o->bare) return options_refuse(o, NOT_BARE, NULL);
    if (o->bare && (o->panels || strchr(o->map.field, ',')))
        return options_refuse(o, "panels have axes: leave out --bare", NULL);
    return find_format(o, o->out,
                       o->bare ? BARE_MAPS
                       : over  ? DRAWINGS
                               : MAPS,
                       FORMAT_PNG, &o->format);
}

int check_film(struct options *o)
{
    const bool over = draws_over(&o->map), piped = o->out && strcmp(o->out, "-") == 0;
    if (o->pixels) o->map.pixels = o->pixels;
    if (over && o->bare) return options_refuse(o, NOT_BARE, NULL);
    if (piped && !o->asked)
        return options_refuse(o, "a film on standard output needs -f: png, mp4, gif, rgb or npy",
                              NULL);
    return find_format(o, o->out, FILMS, FORMAT_NONE, &o->format);
}

const char *const PHASE_FIELDS[2] = {"nH", "temperature"};

/* Hands a range that names its field, as --density, to the axis of this field. */
static int name_axis(struct options *o, int k)
{
    static const char *const OPTION[2] = {"--density", "--temperature"};
    struct phase_options *p = &o->phase;
    char what[200];
    int a = 0;
    if (!p->has_named[k]) return GO_ON;
    while (a < 2 && strcmp(p->field[a], PHASE_FIELDS[k]) != 0) a++;
    if (a == 2) {
        snprintf(what, sizeof what,
                 "%s is the range of %s, which is no axis of this diagram: use --x-range or "
                 "--y-range",
                 OPTION[k], PHASE_FIELDS[k]);
        return options_refuse(o, what, NULL);
    }
    if (p->has_axis[a]) {
        snprintf(what, sizeof what, "%s and --%c-range are ranges of one axis: leave one out",
                 OPTION[k], 'x' + a);
        return options_refuse(o, what, NULL);
    }
    p->has_axis[a] = true;
    memcpy(p->axis[a], p->named[k], sizeof p->axis[a]);
    return GO_ON;
}

int check_phase(struct options *o)
{
    for (int k = 0; k < 2; k++) {
        const int status = name_axis(o, k);
        if (status != GO_ON) return status;
    }
    if (o->map.scale.full) return options_refuse(o, "--range full is for maps only", NULL);
    if (o->map.scale.has_range && !(o->map.scale.lo > 0))
        return options_refuse(
            o, "the range of a phase diagram must be above 0: its colours are logarithmic", NULL);
    if (o->pixels > BINS_MAX)
        return options_refuse(o, "a phase diagram has at most 2048 bins per side", NULL);
    if (o->pixels) o->phase.bins = o->pixels;
    return find_format(o, o->out, DRAWINGS | TABLES, o->out ? FORMAT_PNG : FORMAT_NONE, &o->format);
}

/* Checks -o of a mode that prints a table. */
int check_plot(struct options *o)
{
    int verdict = find_format(o, o->out, DRAWINGS, FORMAT_NONE, &o->format);
    if (verdict != GO_ON) return verdict;
    if (o->out && !o->format)
        return options_refuse(o, "a plot must be FILE.png, FILE.svg or FILE.pdf, not", o->out);
    return GO_ON;
}

/* Checks -o of a mode that also writes its table as HDF5. */
static int check_plot_or_h5(struct options *o)
{
    int verdict = find_format(o, o->out, DRAWINGS | 1 << FORMAT_H5, FORMAT_NONE, &o->format);
    if (verdict != GO_ON) return verdict;
    if (o->out && !o->format)
        return options_refuse(o, "-o takes a plot, FILE.png, FILE.svg or FILE.pdf, or FILE.h5, not",
                              o->out);
    return GO_ON;
}

int check_stars(struct options *o)
{
    if (o->pixels > BINS_MAX) return options_refuse(o, "a history has at most 2048 bins", NULL);
    if (o->pixels) o->stars.bins = o->pixels;
    return check_plot_or_h5(o);
}

int check_cone(struct options *o)
{
    if (o->pixels > BINS_MAX) return options_refuse(o, "a light cone has at most 2048 bins", NULL);
    if (o->pixels) o->cone.bins = o->pixels;
    if (o->cone.wedge && !o->out)
        return options_refuse(o, "--wedge is for the picture of a light cone: give -o FILE", NULL);
    return check_plot(o);
}

int check_pdf(struct options *o)
{
    if (o->map.scale.full) return options_refuse(o, "--range full is for maps only", NULL);
    return check_plot(o);
}

int check_profile(struct options *o)
{
    o->profile.linear = o->map.scale.kind == SCALE_LINEAR;
    if (o->pixels > BINS_MAX || o->pixels == 1)
        return options_refuse(o, "a profile has 2 to 2048 bins", NULL);
    if (o->pixels) o->profile.bins = o->pixels;
    return check_plot_or_h5(o);
}

int check_line(struct options *o)
{
    o->line.axis = o->map.axis < 0 ? 0 : o->map.axis;
    memcpy(o->line.centre, o->map.centre, sizeof o->line.centre);
    o->line.physical = o->physical;
    o->line.log = o->map.scale.kind == SCALE_LOG;
    return check_plot_or_h5(o);
}

int check_halos(struct options *o)
{
    (void)find_format(o, o->halos.plot, DRAWINGS | TABLES, FORMAT_NONE, &o->halos.plot_format);
    if (o->halos.plot && !o->halos.plot_format)
        return options_refuse(o, "a plot must be FILE.png, FILE.svg, FILE.pdf or FILE.tsv, not",
                              o->halos.plot);
    if (o->out && find_format(o, o->out, 1 << FORMAT_H5, FORMAT_NONE, &o->format) != GO_ON)
        return TROUBLE;
    if (o->out && !o->format)
        return options_refuse(o, "the table of halos must be FILE.h5, or without -o text, not",
                              o->out);
    if (o->many && (o->halos.plot || o->halos.members || o->out))
        return options_refuse(o, "-o, --plot and --members are for one checkpoint only", NULL);
    if (o->densest)
        return options_refuse(o, "--halos takes the sphere X,Y,Z,R, not densest,R", NULL);
    return GO_ON;
}

int check_trees(struct options *o)
{
    const bool clumps = o->tree.by == BY_CLUMPS;
    if (o->nset > SETS) return options_refuse(o, "--set is given more than 32 times", NULL);
    if (o->nset && !clumps) return options_refuse(o, "--set is for --trees --by clumps only", NULL);
    if (clumps && o->has_memory)
        return options_refuse(o, "--memory is for --trees of halos: use more ranks (mpirun)", NULL);
    const char *file = o->tree.consistent, *end = file ? strrchr(file, '.') : NULL;
    if (file && !(end && strcmp(end, ".dat") == 0))
        return options_refuse(
            o, "readers of Consistent-Trees want a FILE.dat, such as tree_0_0_0.dat, not", file);
    return check_plot(o);
}

int check_clumps(struct options *o)
{
    if (o->nset > SETS) return options_refuse(o, "--set is given more than 32 times", NULL);
    if (o->has_memory)
        return options_refuse(
            o,
            "--clumps loads the whole checkpoint, divided among the ranks: use more ranks "
            "(mpirun) instead of --memory",
            NULL);
    return GO_ON;
}

int check_campaign(struct options *o)
{
    for (int i = 0; i < o->npath && o->follow; i++)
        if (strcmp(o->paths[i], "-") == 0)
            return options_refuse(o, "--follow needs directories, not standard input", NULL);
    return o->html && o->many ? options_refuse(o, "--html is for one directory only", NULL) : GO_ON;
}
