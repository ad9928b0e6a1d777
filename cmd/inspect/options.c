/* inspect: the command line. */
#include "inspect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/opt.h"
#include "plot/colours.h"

enum { PIXELS_MAX = 16384, BINS_MAX = 2048 };
enum {
    RTOL = 256,
    ATOL,
    MEMORY,
    CENTRE,
    WIDTH,
    DEPTH,
    WEIGHT,
    RECENT,
    LOG,
    LINEAR,
    RANGE,
    COLOURS,
    HEAVY,
    SPHERE,
    DIAGRAM,
    DENSITY,
    TEMPERATURE,
    HISTORY,
    SINK_TABLE,
    DRAW,
    HALO_CATALOGUE,
    LINK,
    LEAST,
    MEMBERS,
    BOUND,
    PLOT,
    SIGMA8,
    SLOPE,
    PEAKS,
    JOURNAL,
    SET,
    FORCE,
    BARE,
    RADIAL,
    HTML
};

static const struct opt ROWS[] = {
    {'s', "summary", NULL,
     "header, octs, min and max of fields, particles (default for one path, or three and more)"},
    {'d', "digest", NULL,
     "digest of the physical state, equal for any ranks and order (with -q: one line)"},
    {'t', "tree", NULL, "domains, octs per level and rank, memory per rank, balance"},
    {'p', "params", NULL, NULL}, /* an older name */
    {'p', "parameters", NULL, "the origin of the checkpoint, and the parameters of its run"},
    {'c', "check", NULL,
     "is it complete and consistent? twice (-cc): every invariant of tree, cells and particles"},
    {'m', "map", "FIELD",
     "map of a field, projected along the line of sight; also level, temperature, nH, dm, star, "
     "sfr"},
    {DIAGRAM, "phase", NULL,
     "phase diagram: mass of the gas by density and temperature, as a picture and a table"},
    {HISTORY, "stars", NULL,
     "history of star formation: mass of the stars by the time of their birth, as a table"},
    {SINK_TABLE, "sinks", NULL,
     "sinks and black holes: mass, accretion, spin, energy, as a table for each checkpoint"},
    {DRAW, "draw", "WHAT",
     "with --sinks: what is drawn: mass of each by time (default), power of all by time, or stars: "
     "mass by that of the stars within 30 kpc"},
    {RADIAL, "profile", "X,Y,Z,R",
     "radial profiles around X,Y,Z up to R (units of the box): gas, dark matter, stars, as a "
     "table"},
    {HALO_CATALOGUE, "halos", NULL,
     "catalogue of halos: friends of friends, and spheres of 200c, 200m, vir, 500c around them"},
    {LINK, "link", "B", "with --halos: link in mean separations of particles (default 0.2)"},
    {LEAST, "min", "N", "with --halos: the least number of members (default 20)"},
    {MEMBERS, "members", "FILE", "with --halos: writes the ids of the members"},
    {BOUND, "bound", NULL,
     "with --halos: centres are the members that are bound most, not the densest"},
    {PLOT, "plot", "FILE",
     "with --halos: mass function beside Tinker et al. 2008: FILE.png, .svg, .pdf, or .tsv"},
    {SIGMA8, "sigma8", "X", "of the fit beside the mass function (default 0.81)"},
    {SLOPE, "ns", "X", "spectral index of that fit (default 0.96)"},
    {PEAKS, "clumps", NULL,
     "clumps and halos by peaks and saddles of the density, as with clumpfind=.true., as a table"},
    {SET, "set", "NAME=VALUE",
     "with --clumps: a parameter of the clump finder; others are as in the checkpoint's namelist"},
    {JOURNAL, "campaign", NULL,
     "for a directory of checkpoints, a line each: place in time, steps, when, by which job, "
     "whole?"},
    {HTML, "html", "FILE",
     "with --campaign: also a page: progress, conservation, time and memory, maps, spectra, stars"},
    {HEAVY, "contamination", NULL,
     "heavy dark matter in the mask of a zoom, or in a sphere, and the nearest heavy particle"},
    {SPHERE, "sphere", "X,Y,Z,R",
     "the sphere (units of the box) of --contamination, or densest,R: around the densest place; "
     "that of --halos"},
    {RTOL, "rtol", "X",
     "for two checkpoints: relative difference that counts as equal (default 0)"},
    {ATOL, "atol", "X",
     "for two checkpoints: absolute difference that counts as equal (default 0)"},
    {MEMORY, "memory", "SIZE",
     "memory for the tables of -cc, of comparisons and of masks, such as 2G (default 512M); of "
     "--halos, per rank (default: no limit)"},
    {DENSITY, "density", "LO,HI",
     "with --phase: hydrogen nuclei per cm³ (default: min and max of the gas)"},
    {TEMPERATURE, "temperature", "LO,HI", "with --phase: T/μ in K (default: min and max)"},
    {'a', "axis", "AXIS", "line of sight of the map: x, y or z (default z)"},
    {CENTRE, "center", "X,Y,Z", "centre of the map in units of the box (default 0.5,0.5,0.5)"},
    {CENTRE, "centre", "X,Y,Z", NULL},
    {WIDTH, "width", "W", "side of the map in units of the box (default 1)"},
    {DEPTH, "depth", "D", "length along the line of sight in units of the box (default 1)"},
    {WEIGHT, "weight", "HOW",
     "mass, volume, max or column (default: column for density, max for level, mass for others)"},
    {OPT_OLD('n'), "pixels", "N",
     "pixels per side of the map (default 512), bins of the diagram (200), of the history "
     "(50), of the profile (30)"},
    {RECENT, "recent", "MYR",
     "with -m sfr: the rate of star formation is the mean over this time (default 100)"},
    {LOG, "log", NULL,
     "logarithmic colours (default if no value is negative); bins of a profile (default)"},
    {LINEAR, "linear", NULL, "linear colours; bins of a profile"},
    {RANGE, "range", "LO,HI",
     "values of the first and last colour, or full: min and max (default: without values far from "
     "all others); of a diagram: mass per dex²"},
    {COLOURS, "colours", "NAME",
     "inferno, viridis, grey or coolwarm (default: coolwarm around 0 where a map has both signs, "
     "else inferno)"},
    {COLOURS, "colors", "NAME", NULL},
    {'o', "output", "FILE",
     "file, - for standard output (default FIELD_NNNNN.png; phase_NNNNN.png and .tsv); with "
     "--stars, --sinks (of all checkpoints) and --profile: a plot, FILE.png, .svg or .pdf"},
    {'f', "format", "FORMAT",
     "map: png, svg, pdf, or npy, an array of doubles; diagram: also tsv (default: by FILE's "
     "ending)"},
    {BARE, "bare", NULL, "a map without axes: a pixel of the PNG for each of the map"},
    {'u', "units", NULL,
     "physical units instead of those of the code: g/cm³, km/s, K, kpc; maps, profiles, summaries "
     "(masses in Msun/h with cosmology), clumps (Msun)"},
    {FORCE, "force", NULL, "replace pictures and tables that exist"},
    {'j', "json", NULL, "JSON, one line per checkpoint"},
    {'q', "quiet", NULL, "print less"},
    {'v', "verbose", NULL, "print more"},
    {'V', "version", NULL, "print the version"},
    {'h', "help", NULL, "print a short help"},
    {0, NULL, NULL, NULL}};

/* Rank 0 speaks. */
static struct program program_of(const struct options *o)
{
    return (struct program){
        .name = "inspect",
        .synopsis = "inspect [options] DIR…   (DIR - : paths from standard input, one per line)\n"
                    "       inspect [options] A B      differences of two checkpoints",
        .purpose = "Prints what is in checkpoints: summary, digest, tree, parameters, "
                   "damage, differences, maps, profiles, phase diagrams, star formation, "
                   "halos, clumps, contamination.",
        .rows = ROWS,
        .silent = o->c.rank > 0};
}

/* Options that not all modes take: bit m: mode m does. */
enum {
    A_MAP = 1 << MAP,
    A_PHASE = 1 << PHASE,
    A_HISTORY = 1 << STARS,
    A_PROFILE = 1 << PROFILE,
    A_TABLE = 1 << SINKS
};
static const struct belongs {
    int letter, modes;
} BELONGS[] = {
    {'a', A_MAP},
    {CENTRE, A_MAP},
    {WIDTH, A_MAP},
    {DEPTH, A_MAP},
    {WEIGHT, A_MAP},
    {RECENT, A_MAP},
    {LOG, A_MAP | A_PROFILE},
    {LINEAR, A_MAP | A_PROFILE},
    {RANGE, A_MAP | A_PHASE},
    {COLOURS, A_MAP | A_PHASE},
    {'f', A_MAP | A_PHASE},
    {'n', A_MAP | A_PHASE | A_HISTORY | A_PROFILE},
    {DRAW, A_TABLE},
    {'o', A_MAP | A_PHASE | A_HISTORY | A_PROFILE | A_TABLE},
    {DENSITY, A_PHASE},
    {TEMPERATURE, A_PHASE},
    {RTOL, 1 << COMPARE},
    {ATOL, 1 << COMPARE},
    {SPHERE, 1 << CONTAMINATION | 1 << HALOS},
    {LINK, 1 << HALOS},
    {LEAST, 1 << HALOS},
    {MEMBERS, 1 << HALOS},
    {BOUND, 1 << HALOS},
    {PLOT, 1 << HALOS},
    {SIGMA8, 1 << HALOS},
    {SLOPE, 1 << HALOS},
    {SET, 1 << CLUMPS},
    {BARE, A_MAP},
    {HTML, 1 << CAMPAIGN},
    {'u', A_MAP | A_PROFILE | 1 << SUMMARY | 1 << CLUMPS},
    {FORCE, A_MAP | A_PHASE | A_HISTORY | A_PROFILE | A_TABLE | 1 << HALOS | 1 << CAMPAIGN},
    {0, 0}};

/* Names of the modes in BELONGS, for messages. */
static const struct mode_name {
    enum mode mode;
    const char *name;
} TAKERS[] = {{SUMMARY, "a summary"},
              {MAP, "a map (-m)"},
              {PHASE, "a phase diagram (--phase)"},
              {STARS, "a history of stars (--stars)"},
              {SINKS, "a table of sinks (--sinks)"},
              {PROFILE, "a profile (--profile)"},
              {COMPARE, "the comparison of two checkpoints"},
              {CONTAMINATION, "--contamination"},
              {HALOS, "--halos"},
              {CLUMPS, "--clumps"},
              {CAMPAIGN, "--campaign"},
              {0, NULL}};

/* The command line while it is read. */
struct parsing {
    struct options *o;
    int modes, again;                       /* given, more than once: bit m */
    bool given[sizeof ROWS / sizeof *ROWS]; /* by row */
    enum file_format format;                /* by -f */
    int pixels;                             /* 0: not given */
};

static int usage(const struct options *o, const char *what, const char *value)
{
    struct program p = program_of(o);
    return program_refuse(&p, what, value);
}

/* The index of a word in a list, -1: it is not there. */
static int find_word(const char *value, const char *const *list)
{
    for (int i = 0; list[i]; i++)
        if (strcmp(value, list[i]) == 0) return i;
    return -1;
}

static const char *const FORMATS[] = {"png", "svg", "pdf", "npy", "tsv", NULL};

const char *format_name(enum file_format f)
{
    return FORMATS[f - FORMAT_PNG];
}

static int set_memory(struct options *o, const char *value)
{
    int64_t x;
    if (!opt_bytes(value, &x) || x < 1 << 20)
        return usage(o, "the memory must be at least 1M, such as 512M or 2G, not", value);
    o->memory = (size_t)x;
    o->has_memory = true;
    return GO_ON;
}

static int set_tolerance(struct options *o, const char *value, double *x)
{
    if (opt_reals(value, 1, x) != 1 || *x < 0)
        return usage(o, "a tolerance must be a number from 0, not", value);
    return GO_ON;
}

static int set_pixels(struct parsing *p, const char *value)
{
    if (!opt_int(value, 1, PIXELS_MAX, &p->pixels))
        return usage(p->o, "the pixels must be 1 to 16384, not", value);
    return GO_ON;
}

/* Below the least length, the places of pixels would be those of round-off. */
static int set_length(struct options *o, const char *value, const char *what, double *x)
{
    if (opt_reals(value, 1, x) != 1 || !(*x >= 1e-12 && *x <= 1)) return usage(o, what, value);
    return GO_ON;
}

static int set_centre(struct options *o, const char *value)
{
    struct map_options *m = &o->map;
    bool good = opt_reals(value, 3, m->centre) == 3;
    for (int d = 0; d < 3; d++) good &= m->centre[d] >= 0 && m->centre[d] <= 1;
    return good ? GO_ON : usage(o, "the centre must be three numbers from 0 to 1, not", value);
}

static int set_sphere(struct options *o, const char *value)
{
    static const char word[] = "densest,";
    double *x = o->sphere;
    o->has_sphere = true;
    o->densest = strncmp(value, word, strlen(word)) == 0;
    bool good = o->densest ? opt_reals(value + strlen(word), 1, x + 3) == 1
                           : opt_reals(value, 4, x) == 4;
    for (int d = 0; d < 3 && good; d++) good = x[d] >= 0 && x[d] <= 1;
    good = good && x[3] > 0 && x[3] <= 0.5;
    return good
               ? GO_ON
               : usage(
                     o,
                     "a sphere must be X,Y,Z,R in units of the box, R up to 0.5, or densest,R, not",
                     value);
}

static int set_profile(struct options *o, const char *value)
{
    double x[4];
    bool good = opt_reals(value, 4, x) == 4;
    for (int d = 0; d < 3 && good; d++) good = x[d] >= 0 && x[d] <= 1;
    if (!(good && x[3] > 0 && x[3] <= 0.5))
        return usage(o, "a profile is around X,Y,Z,R in units of the box, R up to 0.5, not", value);
    memcpy(o->profile.centre, x, sizeof o->profile.centre);
    o->profile.radius = x[3];
    return GO_ON;
}

static int set_halos_option(struct parsing *p, int letter, const char *value)
{
    struct options *o = p->o;
    struct halos_options *h = &o->halos;
    double *x = letter == LINK ? &h->link : letter == SIGMA8 ? &h->sigma8 : &h->ns;
    int members;
    switch (letter) {
    case LEAST:
        if (!opt_int(value, 1, 1 << 30, &members))
            return usage(o, "the least number of members must be 1 to 1073741824, not", value);
        h->least = members;
        return GO_ON;
    case MEMBERS:
        h->members = value;
        return GO_ON;
    case BOUND:
        h->bound = true;
        return GO_ON;
    case PLOT:
        h->plot = value;
        return GO_ON;
    default:
        if (opt_reals(value, 1, x) != 1 || !(*x > 0 && *x < 1e6))
            return usage(o, "this must be a number above 0 and below a million:", value);
        return GO_ON;
    }
}

static int set_range(struct options *o, const char *value)
{
    double x[2];
    o->map.full = strcmp(value, "full") == 0;
    if (o->map.full) {
        o->map.has_range = false;
        return GO_ON;
    }
    if (opt_reals(value, 2, x) != 2 || !(x[0] < x[1]))
        return usage(o, "the range must be two ascending numbers, or full, not", value);
    o->map.lo = x[0], o->map.hi = x[1], o->map.has_range = true;
    return GO_ON;
}

/* An axis of the diagram. */
static int set_axis(struct parsing *p, int axis, const char *value)
{
    double *x = p->o->phase.axis[axis];
    p->o->phase.has_axis[axis] = true;
    if (opt_reals(value, 2, x) != 2 || !(x[0] > 0 && x[1] > x[0]))
        return usage(p->o, "the range of an axis must be two ascending positive numbers, not",
                     value);
    return GO_ON;
}

static int set_word(struct parsing *p, int letter, const char *value)
{
    static const char *const drawing[] = {"mass", "power", "stars", NULL};
    static const char *const axis[] = {"x", "y", "z", NULL};
    static const char *const weight[] = {"column", "mass", "volume", "max", NULL};
    struct options *o = p->o;
    int k;
    switch (letter) {
    case 'a':
        if ((k = find_word(value, axis)) < 0)
            return usage(o, "the axis must be x, y or z, not", value);
        o->map.axis = k;
        break;
    case 'f':
        if ((k = find_word(value, FORMATS)) < 0)
            return usage(o, "the format must be png, svg, pdf, npy or tsv, not", value);
        p->format = (enum file_format)(k + 1);
        break;
    case DRAW:
        if ((k = find_word(value, drawing)) < 0)
            return usage(o, "--draw takes mass, power or stars, not", value);
        o->drawing = (enum sinks_drawing)k;
        break;
    case WEIGHT:
        if ((k = find_word(value, weight)) < 0)
            return usage(o, "the weight must be mass, volume, max or column, not", value);
        o->map.weight = (enum map_weight)(COLUMN + k);
        break;
    default:
        if ((k = colours_find(value)) < 0)
            return usage(o, "the colours must be inferno, viridis, grey or coolwarm, not", value);
        o->map.colours = k, o->map.has_colours = true;
    }
    return GO_ON;
}

static int set_map_option(struct parsing *p, int letter, const char *value)
{
    struct options *o = p->o;
    switch (letter) {
    case 'o':
        o->out = value;
        return GO_ON;
    case 'n':
        return set_pixels(p, value);
    case CENTRE:
        return set_centre(o, value);
    case WIDTH:
        return set_length(o, value, "the width must be 1e-12 to 1 (the box), not", &o->map.width);
    case DEPTH:
        return set_length(o, value, "the depth must be 1e-12 to 1 (the box), not", &o->map.depth);
    case RECENT:
        if (opt_reals(value, 1, &o->map.recent) != 1 || !(o->map.recent > 0))
            return usage(o, "the time must be above 0, in Myr, not", value);
        return GO_ON;
    case RANGE:
        return set_range(o, value);
    case LOG:
    case LINEAR:
        o->map.scale = letter == LOG ? SCALE_LOG : SCALE_LINEAR;
        return GO_ON;
    default:
        return set_word(p, letter, value);
    }
}

/* Options, and the mode that each selects. */
static const struct asking {
    int letter;
    enum mode mode;
} ASKS[] = {{'s', SUMMARY},         {'d', DIGEST},       {'t', TREE},
            {'p', PARAMS},          {'c', CHECK},        {'m', MAP},
            {HEAVY, CONTAMINATION}, {DIAGRAM, PHASE},    {HISTORY, STARS},
            {SINK_TABLE, SINKS},    {RADIAL, PROFILE},   {HALO_CATALOGUE, HALOS},
            {PEAKS, CLUMPS},        {JOURNAL, CAMPAIGN}, {0, SUMMARY}};

/* Does the option ask for a mode? */
static bool set_mode(struct parsing *p, int letter, const char *value)
{
    const struct asking *a = ASKS;
    while (a->letter && a->letter != letter) a++;
    if (!a->letter) return false;
    p->again |= p->modes & 1 << a->mode;
    p->modes |= 1 << a->mode;
    p->o->mode = a->mode;
    if (a->mode == CHECK && p->o->depth < 2) p->o->depth++;
    if (a->mode == MAP) p->o->map.field = value;
    return true;
}

/* Returns the exit status, or GO_ON. */
static int set_option(int letter, const char *value, void *ctx)
{
    struct parsing *p = ctx;
    struct options *o = p->o;
    for (int i = 0; ROWS[i].letter; i++) p->given[i] |= OPT_LETTER(&ROWS[i]) == letter;
    if (set_mode(p, letter, value)) return letter == RADIAL ? set_profile(o, value) : GO_ON;
    switch (letter) {
    case RTOL:
    case ATOL:
        return set_tolerance(o, value, letter == RTOL ? &o->rtol : &o->atol);
    case MEMORY:
        return set_memory(o, value);
    case FORCE:
        o->force = true;
        return GO_ON;
    case HTML:
        o->html = value;
        return GO_ON;
    case BARE:
        o->bare = true;
        return GO_ON;
    case 'u':
        o->map.physical = o->profile.physical = o->physical = true;
        return GO_ON;
    case LINK:
    case LEAST:
    case MEMBERS:
    case BOUND:
    case PLOT:
    case SIGMA8:
    case SLOPE:
        return set_halos_option(p, letter, value);
    case SET:
        if (o->nset == SETS) return usage(o, "there are more than 32 options --set", NULL);
        o->set[o->nset++] = value;
        return GO_ON;
    case DENSITY:
    case TEMPERATURE:
        return set_axis(p, letter == TEMPERATURE, value);
    case SPHERE:
        return set_sphere(o, value);
    case 'j':
        o->json = true;
        return GO_ON;
    case 'q':
        o->quiet = true;
        return GO_ON;
    case 'v':
        o->verbose++;
        return GO_ON;
    default:
        return set_map_option(p, letter, value);
    }
}

/* Tells which formats there are. */
static int refuse_format(struct parsing *p, int known, const char * not )
{
    char what[100] = "the file can be";
    size_t n = strlen(what);
    int left = __builtin_popcount((unsigned)known);
    for (int k = 0; FORMATS[k]; k++)
        if (known >> (k + FORMAT_PNG) & 1)
            n += (size_t)snprintf(what + n, sizeof what - n, " %s%s", FORMATS[k],
                                  --left > 1  ? ","
                                  : left == 1 ? " or"
                                              : ", by its ending or -f, not");
    return usage(p->o, what, not );
}

/* Of a file by -f, else by the ending of its name, else `usual`; `known`: bit f for each that there
 * is. */
static int find_format(struct parsing *p, const char *file, int known, enum file_format usual,
                       enum file_format *format)
{
    const char *end = file ? strrchr(file, '.') : NULL;
    if (end && strchr(end, '/')) end = NULL;
    int k = end ? find_word(end + 1, FORMATS) + 1 : 0;
    if (end && !p->format && !(k && known >> k & 1)) return refuse_format(p, known, file);
    *format = p->format ? p->format : k ? (enum file_format)k : usual;
    if (*format == FORMAT_NONE || known >> *format & 1) return GO_ON;
    return refuse_format(p, known, format_name(*format));
}

enum {
    DRAWINGS = 1 << FORMAT_PNG | 1 << FORMAT_SVG | 1 << FORMAT_PDF,
    MAPS = DRAWINGS | 1 << FORMAT_NPY,
    BARE_MAPS = 1 << FORMAT_PNG | 1 << FORMAT_NPY,
    TABLES = 1 << FORMAT_TSV
};

static int check_map(struct parsing *p)
{
    struct options *o = p->o;
    if (p->pixels) o->map.pixels = p->pixels;
    return find_format(p, o->out, o->bare ? BARE_MAPS : MAPS, FORMAT_PNG, &o->format);
}

static int check_phase(struct parsing *p)
{
    struct options *o = p->o;
    if (o->map.full) return usage(o, "--range full is for maps", NULL);
    if (o->map.has_range && !(o->map.lo > 0))
        return usage(o, "the range of a phase diagram must be above 0: its colours are logarithmic",
                     NULL);
    if (p->pixels > BINS_MAX) return usage(o, "a phase diagram has at most 2048 bins a side", NULL);
    if (p->pixels) o->phase.bins = p->pixels;
    return find_format(p, o->out, DRAWINGS | TABLES, o->out ? FORMAT_PNG : FORMAT_NONE, &o->format);
}

/* -o of a mode that prints a table. */
static int check_plot(struct parsing *p)
{
    struct options *o = p->o;
    int verdict = find_format(p, o->out, DRAWINGS, FORMAT_NONE, &o->format);
    if (verdict != GO_ON) return verdict;
    if (o->out && !o->format)
        return usage(o, "a plot must be FILE.png, FILE.svg or FILE.pdf, not", o->out);
    return GO_ON;
}

static int check_stars(struct parsing *p)
{
    struct options *o = p->o;
    if (p->pixels > BINS_MAX) return usage(o, "a history has at most 2048 bins", NULL);
    if (p->pixels) o->stars.bins = p->pixels;
    return check_plot(p);
}

static int check_profile(struct parsing *p)
{
    struct options *o = p->o;
    o->profile.linear = o->map.scale == SCALE_LINEAR;
    if (p->pixels > BINS_MAX || p->pixels == 1)
        return usage(o, "a profile has 2 to 2048 bins", NULL);
    if (p->pixels) o->profile.bins = p->pixels;
    return check_plot(p);
}

static int check_halos(struct parsing *p)
{
    struct options *o = p->o;
    (void)find_format(p, o->halos.plot, DRAWINGS | TABLES, FORMAT_NONE, &o->halos.plot_format);
    if (o->halos.plot && !o->halos.plot_format)
        return usage(o, "a plot must be FILE.png, FILE.svg, FILE.pdf or FILE.tsv, not",
                     o->halos.plot);
    if (o->many && (o->halos.plot || o->halos.members))
        return usage(o, "--plot and --members are for one checkpoint only", NULL);
    if (o->densest) return usage(o, "--halos takes the sphere X,Y,Z,R, not densest,R", NULL);
    return GO_ON;
}

/* An option that the mode does not take. */
static int check_taken(const struct parsing *p)
{
    for (int i = 0; ROWS[i].letter; i++) {
        const struct belongs *b = BELONGS;
        while (b->letter && b->letter != OPT_LETTER(&ROWS[i])) b++;
        if (!p->given[i] || !b->letter || b->modes >> p->o->mode & 1) continue;
        char what[200];
        int n = snprintf(what, sizeof what, "only ");
        for (int k = 0, found = 0; TAKERS[k].name; k++)
            if (b->modes >> TAKERS[k].mode & 1)
                n += snprintf(what + n, sizeof what - (size_t)n, "%s%s", found++ ? " or " : "",
                              TAKERS[k].name);
        snprintf(what + n, sizeof what - (size_t)n, " takes this option: --%s", ROWS[i].name);
        return usage(p->o, what, NULL);
    }
    return GO_ON;
}

static int check_options(struct parsing *p)
{
    struct options *o = p->o;
    bool piped = false;
    int status;
    for (int i = 0; i < o->npath; i++) piped |= strcmp(o->paths[i], "-") == 0;
    if (o->npath == 0) return usage(o, "no checkpoint is given", NULL);
    if (p->modes & (p->modes - 1))
        return usage(
            o,
            "-s, -d, -t, -p, -c, -m, --phase, --stars, --sinks, --profile, --halos, --clumps, "
            "--campaign and --contamination exclude each other",
            NULL);
    if (p->again & (A_MAP | A_PROFILE))
        return usage(o, "a map or a profile at a time: -m or --profile is given twice", NULL);
    if (!p->modes && o->npath == 2 && !piped) o->mode = COMPARE;
    if ((status = check_taken(p)) != GO_ON) return status;
    o->many = o->mode != COMPARE && (o->npath > 1 || piped);
    if (o->html && o->many) return usage(o, "--html is for one directory only", NULL);
    if (o->out && o->many && o->mode != SINKS)
        return usage(o, "-o is for one checkpoint only", NULL);
    if (o->json && o->out && strcmp(o->out, "-") == 0)
        return usage(o, "-j and -o - cannot both use standard output", NULL);
    if (o->mode == CLUMPS && o->has_memory)
        return usage(o,
                     "--clumps loads the whole checkpoint, divided among the ranks: use more ranks "
                     "(mpirun) instead of --memory",
                     NULL);
    if (o->mode == STARS) return check_stars(p);
    if (o->mode == SINKS) return check_plot(p);
    if (o->mode == HALOS) return check_halos(p);
    if (o->mode == PROFILE) return check_profile(p);
    return o->mode == PHASE ? check_phase(p) : check_map(p);
}

int options_parse(int argc, char **argv, struct options *o)
{
    struct parsing p = {.o = o};
    const struct program self = program_of(o);
    int first, status;
    o->memory = (size_t)512 << 20;
    o->map = (struct map_options){
        .axis = 2, .pixels = 512, .centre = {0.5, 0.5, 0.5}, .width = 1, .depth = 1, .recent = 100};
    o->phase.bins = 200;
    o->stars.bins = 50;
    o->profile.bins = 30;
    o->halos = (struct halos_options){.link = 0.2, .least = 20, .sigma8 = 0.81, .ns = 0.96};
    if ((status = program_read(&self, argc, argv, set_option, &p, &first)) != GO_ON) return status;
    o->paths = argv + first;
    o->npath = argc - first;
    return check_options(&p);
}
