/* inspect: the command line. */
#include "inspect.h"

#include <ctype.h>
#include <float.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/opt.h"
#include "film/shot.h"
#include "plot/colours.h"

/* An option. `set` stores its value at `at`, and returns NULL or an error message. */
struct row {
    struct opt opt; /* letter 0: none; help NULL: synonym of the previous row */
    unsigned modes; /* bit m: option of mode m */
    const char *(*set)(struct options *o, const struct row *r, const char *value);
    size_t at;     /* offset in struct options */
    double lo, hi; /* limits of a number; lo: value of the first word */
    const char *const *words;
    const char *wrong;
};
/* A mode, as in modes.def. */
struct mode_row {
    struct row row;
    const char *phrase, *usual, *example;
    int (*check)(struct options *o);
};

/* State of the parser. */
struct parsing {
    struct options *o;
    unsigned modes, again;    /* modes given, modes given more than once: bit m */
    bool given[OPT_MAX];      /* options given, by row of OPTIONS */
    struct opt rows[OPT_MAX]; /* options for scanning and -h: all, or those of one mode */
    int command;              /* the mode that is given as a sub-command; -1: none */
    char synopsis[500], purpose[500];
    struct program *self;
};

int options_refuse(const struct options *o, const char *what, const char *value)
{
    struct program p = {.name = "inspect", .silent = o->c.rank > 0, .mode = o->asked_mode};
    return program_refuse(&p, what, value);
}

int options_word(const char *value, const char *const *list)
{
    for (int i = 0; list[i]; i++)
        if (strcmp(value, list[i]) == 0) return i;
    return -1;
}

/* ---- values ---- */

static const char *set_flag(struct options *o, const struct row *r, const char *value)
{
    *(bool *)((char *)o + r->at) = true;
    return NULL;
}

static const char *set_text(struct options *o, const struct row *r, const char *value)
{
    *(const char **)((char *)o + r->at) = value;
    return NULL;
}

static const char *set_real(struct options *o, const struct row *r, const char *value)
{
    double *x = (double *)((char *)o + r->at);
    return opt_reals(value, 1, x) == 1 && *x >= r->lo && *x <= r->hi ? NULL : r->wrong;
}

static const char *set_int(struct options *o, const struct row *r, const char *value)
{
    int *x = (int *)((char *)o + r->at);
    return opt_int(value, (long)r->lo, (long)r->hi, x) ? NULL : r->wrong;
}

/* Sets an enum by a word. */
static const char *set_word(struct options *o, const struct row *r, const char *value)
{
    int k = options_word(value, r->words);
    *(int *)((char *)o + r->at) = (int)r->lo + k;
    return k < 0 ? r->wrong : NULL;
}

/* Sets an enum to the value `lo` of the option. */
static const char *set_lo(struct options *o, const struct row *r, const char *value)
{
    *(int *)((char *)o + r->at) = (int)r->lo;
    return NULL;
}

static const char *count_up(struct options *o, const struct row *r, const char *value)
{
    ++*(int *)((char *)o + r->at);
    return NULL;
}

static const char *set_memory(struct options *o, const struct row *r, const char *value)
{
    int64_t x;
    if (!opt_bytes(value, &x) || x < 1 << 20)
        return "the memory must be at least 1M, such as 512M or 2G, not";
    o->memory = (size_t)x;
    o->has_memory = true;
    return NULL;
}

/* Parses a position in the box, followed by a radius if n is 4; false: invalid. */
static bool is_place(const char *value, int n, double x[/*n*/])
{
    bool good = opt_reals(value, n, x) == n;
    for (int d = 0; d < 3 && good; d++) good = x[d] >= 0 && x[d] <= 1;
    return good && (n == 3 || (x[3] > 0 && x[3] <= 0.5));
}

static const char *set_centre(struct options *o, const struct row *r, const char *value)
{
    bool good = is_place(value, 3, o->map.centre);
    return good ? NULL : "the centre must be three numbers from 0 to 1, not";
}

static const char *set_sphere(struct options *o, const struct row *r, const char *value)
{
    static const char word[] = "densest,";
    double *x = o->sphere;
    o->has_sphere = true;
    o->densest = strncmp(value, word, strlen(word)) == 0;
    bool good = o->densest
                    ? opt_reals(value + strlen(word), 1, x + 3) == 1 && x[3] > 0 && x[3] <= 0.5
                    : is_place(value, 4, x);
    return good ? NULL
                : "a sphere must be X,Y,Z,R in units of the box, R up to 0.5, or densest,R, not";
}

static const char *set_profile(struct options *o, const struct row *r, const char *value)
{
    double x[4];
    if (!is_place(value, 4, x))
        return "a profile is around X,Y,Z,R in units of the box, R up to 0.5, not";
    memcpy(o->profile.centre, x, sizeof o->profile.centre);
    o->profile.radius = x[3];
    return NULL;
}

static const char *set_field(struct options *o, const struct row *r, const char *value)
{
    o->map.field = value;
    return NULL;
}

static const char *set_deep(struct options *o, const struct row *r, const char *value)
{
    o->depth = 2;
    return NULL;
}

static const char *set_depth(struct options *o, const struct row *r, const char *value)
{
    if (o->depth < 2) o->depth++;
    return NULL;
}

int riemann_read(const char *value, struct riemann_state *to, int room)
{
    double x[6];
    const int n = opt_reals(value, 3 * room, x);
    if (n <= 0 || n % 3 != 0) return 0;
    for (int k = 0; 3 * k < n; k++) {
        const double rho = x[3 * k], p = x[3 * k + 2];
        if (rho < 0 || p < 0 || (rho == 0 && p != 0)) return 0;
        to[k] = (struct riemann_state){rho, x[3 * k + 1], p};
    }
    return n / 3;
}

static const char *set_riemann(struct options *o, const struct row *r, const char *value)
{
    o->line.riemann = true;
    o->riemann_states = riemann_read(value, o->line.state, 2);
    return o->riemann_states
               ? NULL
               : "the states must be RHO,U,P of the left, then of the right, with RHO and P at "
                 "least 0 (RHO = P = 0: vacuum), not";
}

static const char *set_range(struct options *o, const struct row *r, const char *value)
{
    double x[2];
    o->map.scale.full = strcmp(value, "full") == 0;
    o->map.scale.has_range = !o->map.scale.full;
    if (o->map.scale.full) return NULL;
    if (opt_reals(value, 2, x) != 2 || !(x[0] < x[1]))
        return "the range must be two ascending numbers, or full, not";
    o->map.scale.lo = x[0], o->map.scale.hi = x[1];
    return NULL;
}

/* Sets the fields of the phase diagram; no value: the default. */
static const char *set_fields(struct options *o, const struct row *r, const char *value)
{
    static const size_t ROOM = sizeof o->phase.field[0];
    const size_t n = value ? strcspn(value, ",") : 0;
    if (!value) return NULL;
    const bool good = n > 0 && n < ROOM && value[n] && value[n + 1] &&
                      strlen(value + n + 1) < ROOM && !strchr(value + n + 1, ',');
    if (!good) return "the axes of a phase diagram are two fields, as in nH,temperature, not";
    snprintf(o->phase.field[0], ROOM, "%.*s", (int)n, value);
    snprintf(o->phase.field[1], ROOM, "%s", value + n + 1);
    return strcmp(o->phase.field[0], o->phase.field[1]) == 0
               ? "the axes of a phase diagram must be two different fields, not"
               : NULL;
}

/* Sets the range of the field PHASE_FIELDS[lo] of the phase diagram. */
static const char *set_named(struct options *o, const struct row *r, const char *value)
{
    double *x = o->phase.named[(int)r->lo];
    o->phase.has_named[(int)r->lo] = true;
    bool good = opt_reals(value, 2, x) == 2 && x[0] > 0 && x[1] > x[0];
    return good ? NULL : "the range of an axis must be two ascending positive numbers, not";
}

/* Sets the range of axis `lo` of the phase diagram. */
static const char *set_axis(struct options *o, const struct row *r, const char *value)
{
    double *x = o->phase.axis[(int)r->lo];
    o->phase.has_axis[(int)r->lo] = true;
    bool good = opt_reals(value, 2, x) == 2 && x[1] > x[0];
    return good ? NULL : "the range of an axis must be two ascending numbers, not";
}

static const char *set_colours(struct options *o, const struct row *r, const char *value)
{
    o->map.scale.colours = colours_find(value), o->map.scale.has_colours = true;
    bool good = o->map.scale.colours >= 0;
    return good ? NULL
                : "the colours must be inferno, viridis, cividis, thermal, haline, grey, coolwarm "
                  "or "
                  "balance, not";
}

/* Stores one --set; check_clumps refuses more than SETS. */
static const char *append_set(struct options *o, const struct row *r, const char *value)
{
    if (o->nset < SETS) o->set[o->nset] = value;
    o->nset++;
    return NULL;
}

/* Reads "B" or "velocity", and the number of lines. */
static const char *set_lines(struct options *o, const struct row *r, const char *value)
{
    static const char *const WHAT[] = {"", "B", "velocity"};
    const size_t n = strcspn(value, ",");
    o->map.lines = LINES_NONE;
    for (enum map_lines k = LINES_MAGNETIC; k <= LINES_VELOCITY; k++)
        if (strlen(WHAT[k]) == n && strncmp(value, WHAT[k], n) == 0) o->map.lines = k;
    const bool good = !value[n] ||
                      opt_int(value + n + 1, MAP_LINES_MIN, MAP_LINES_MAX, &o->map.lines_across);
    return good && o->map.lines ? NULL
                                : "the lines must be those of B or of velocity, and their number "
                                  "across the map, if any, 2 to 200, as in B,30, not";
}

static const char *set_contours(struct options *o, const struct row *r, const char *value)
{
    struct map_options *m = &o->map;
    m->contours = m->levels = 0;
    if (opt_int(value, 1, MAP_CONTOURS_MAX, &m->contours)) return NULL;
    const int n = opt_reals(value, MAP_LEVELS, m->level);
    m->levels = n > 0 ? n : 0;
    return n > 0 ? NULL
                 : "the contours must be a number of lines, 1 to 50, or up to 16 values, not";
}

/* 0 stands for no smoothing. */
static const char *set_smooth(struct options *o, const struct row *r, const char *value)
{
    if (!opt_int(value, 0, MAP_SMOOTH_MAX, &o->map.smooth))
        return "the number of neighbours must be 0 (none) to 4000, not";
    if (o->map.smooth == 0) o->map.smooth = MAP_UNSMOOTHED;
    return NULL;
}

/* ---- tables ---- */

static const struct mode_row MODES[] = {
#define MODE(symbol, letter, name, arg, setter, run, ranks, checker, words, help, brief, usually,  \
             command)                                                                              \
    [symbol] = {.row = {{letter, name, arg, help}, 1u << (symbol), .set = setter},                 \
                .phrase = words,                                                                   \
                .check = checker,                                                                  \
                .usual = usually,                                                                  \
                .example = command},
#include "modes.def"
};
enum { NMODE = sizeof MODES / sizeof *MODES };

static const char *const AXES[] = {"x", "y", "z", NULL};
static const char *const WEIGHTS[] = {"column", "mass", "volume", "max", NULL};
static const char *const GROUPS[] = {"halos", "clumps", NULL};
static const char *const DRAWN[] = {"mass", "power", "stars", NULL};

#define A(mode) (1u << (mode))
#define TO(function, member) .set = (function), .at = offsetof(struct options, member)
#define FLAG(member) TO(set_flag, member)
#define TEXT(member) TO(set_text, member)
#define REAL(member, a, b, text) TO(set_real, member), .lo = a, .hi = b, .wrong = text
#define INT(member, a, b, text) TO(set_int, member), .lo = a, .hi = b, .wrong = text
#define WORD(member, a, list, text) TO(set_word, member), .lo = a, .words = list, .wrong = text
#define RARE OPT_MORE(0)
static const char NOT_TOLERANCE[] = "a tolerance must be 0 or above, not";
static const char NOT_POSITIVE[] = "the value must be above 0 and below a million, not";

/* Options of single modes, in the order of modes; then options of several modes; then of all
 * modes. */
static const struct row OPTIONS[] = {
#include "options.def"
};
enum { NOPTION = sizeof OPTIONS / sizeof *OPTIONS };

/* ---- parsing ---- */

enum { ANY_BIT = OPT_OLD_BIT | OPT_MORE_BIT };

static int mode_letter(int m)
{
    return MODES[m].row.opt.letter ? MODES[m].row.opt.letter : 256 + NOPTION + m;
}

static int option_letter(int i)
{
    const struct opt *o = &OPTIONS[i].opt;
    const int rare = o->letter & OPT_MORE_BIT, letter = o->letter & ~OPT_MORE_BIT;
    return rare | (letter ? letter : 256 + (o->help ? i : i - 1));
}

static const char *takers(unsigned modes)
{
    for (int m = 0; m < NMODE; m++)
        if (modes == A(m)) return MODES[m].phrase;
    if (modes == (A(MAP) | A(FILM))) return "a map (-m) or a film (--film)";
    return modes == ~0u ? "all modes" : "several modes";
}

/* Fills the rows of -h: all, or those of one mode. */
static void fill_rows(struct parsing *p, int only)
{
    const char *group = NULL;
    struct opt *r = p->rows;
    if (only < 0) *r++ = (struct opt){OPT_HEADING, NULL, NULL, "Modes, one at a time"};
    for (int m = 0; m < NMODE; m++) {
        if (!MODES[m].row.opt.help) continue;
        *r = MODES[m].row.opt, r->letter = mode_letter(m);
        if (only >= 0 && !(only == FILM && m == MAP)) r->help = NULL;
        r++;
    }
    for (int i = 0; i < NOPTION; i++) {
        const char *of = takers(OPTIONS[i].modes);
        BUG_ON(r + 3 > p->rows + OPT_MAX); /* a heading, a row, and the end of the table */
        if (only < 0 && OPTIONS[i].opt.help && of != group)
            *r++ = (struct opt){OPT_HEADING, NULL, group = of, "Options of"};
        *r = OPTIONS[i].opt, r->letter = option_letter(i);
        if (only >= 0 && !(OPTIONS[i].modes >> only & 1)) r->help = NULL;
        r++;
    }
    *r = (struct opt){0};
}

/* The option of a mode, as the user may give it. */
static const char *name_of(const struct opt *o, char name[40])
{
    if (o->letter)
        snprintf(name, 40, "-%c", o->letter);
    else
        snprintf(name, 40, "%s%s", o->help ? "--" : "", o->help ? o->name : "");
    return name;
}

/* Prepares the help of one mode. */
static void tell_mode(struct parsing *p, int m)
{
    const struct mode_row *r = &MODES[m];
    const struct opt *o = &r->row.opt;
    const char *arg = o->arg ? o->arg : "", *to = o->help ? "DIR…" : "A B",
               *gap = o->arg ? " " : "";
    const bool optional = *arg == '['; /* also of the option */
    const char *open = r->usual && !optional ? "[" : "", *close = *open ? "]" : "";
    char name[40];
    snprintf(p->synopsis, sizeof p->synopsis,
             "inspect %s%s%s%s%s [options] %s\n       inspect %s%s%s%s[options] %s", o->name, gap,
             open, arg, close, to, name_of(o, name),
             optional  ? "[="
             : o->help ? " "
                       : "",
             optional ? arg + 1 : arg, gap, to);
    snprintf(p->purpose, sizeof p->purpose, "%s\nExample: %s", o->help ? o->help : r->phrase,
             r->example);
    p->purpose[0] = (char)toupper((unsigned char)p->purpose[0]);
    p->o->asked_mode = p->self->mode = o->name;
    fill_rows(p, m);
}

/* Mode of this name; -1: none. */
static int mode_named(const char *name)
{
    for (int m = 0; m < NMODE; m++)
        if (strcmp(name, MODES[m].row.opt.name) == 0) return m;
    return -1;
}

/* Mode of `inspect OPTION -h`, where OPTION of the mode would take the -h as its argument; -1:
 * another command line. */
static int mode_asked(int argc, char **argv)
{
    if (argc != 3 || (strcmp(argv[2], "-h") != 0 && strcmp(argv[2], "--help") != 0)) return -1;
    const char *word = argv[1] + strspn(argv[1], "-");
    for (int m = 0; m < NMODE && word == argv[1] + 1; m++)
        if (word[0] == MODES[m].row.opt.letter && !word[1]) return m;
    return word == argv[1] + 2 ? mode_named(word) : -1;
}

/* Whether an operand is a checkpoint, as opposed to the argument of a sub-command. */
static bool is_path(const struct options *o, const char *word)
{
    return strcmp(word, "-") == 0 || strchr(word, '/') || shot_is(word) ||
           (o->npath == 1 && access(word, F_OK) == 0);
}

/* Ends the parsing of `inspect NAME ARGUMENT DIR…`: the argument of a mode is its first operand,
 * unless its option was given as well, as in `inspect map -m density DIR`. */
static int command_end(struct parsing *p)
{
    struct options *o = p->o;
    const int m = p->command;
    if (m < 0) return GO_ON;
    const struct mode_row *r = &MODES[m];
    const bool twice = p->modes & A(m);
    const char *value = NULL;
    p->modes |= A(m);
    o->mode = (enum mode)m;
    if (twice || !r->row.set) return GO_ON;
    if (r->row.opt.arg) {
        if (o->npath == 0) return options_refuse(o, "no checkpoint is given", NULL);
        const bool two = *r->row.opt.arg == '['; /* the argument is a pair */
        const bool left_out = is_path(o, o->paths[0]) || (two && !strchr(o->paths[0], ','));
        value = left_out ? r->usual : o->paths[0];
        if (!value) return options_refuse(o, "the argument is missing, as in", r->example);
        if (!left_out) o->paths++, o->npath--;
        if (o->npath == 0)
            return options_refuse(
                o, "the argument is there, but no checkpoint is given after it, only", value);
    }
    const char *wrong = r->row.set(o, &r->row, value);
    return wrong ? options_refuse(o, wrong, value) : GO_ON;
}

/* Refuses a first operand that is no path, but nearly the name of a mode. */
static int refuse_typo(const struct options *o)
{
    const char *word = o->npath ? o->paths[0] : "";
    const char *meant = o->mode == SUMMARY || o->mode == COMPARE ? mode_meant(word) : NULL;
    if (!meant || strcmp(meant, word) == 0 || strchr(word, '/') || access(word, F_OK) == 0)
        return GO_ON;
    char what[200];
    snprintf(what, sizeof what,
             "there is no checkpoint and no mode of the name %.60s; did you mean inspect %s?", word,
             meant);
    return options_refuse(o, what, NULL);
}

/* Refuses an operand that is the name of a field, as in `inspect map DIR density`: it would be
 * reported as a checkpoint that is not there. */
static int refuse_field(const struct options *o)
{
    char what[300];
    bool one = o->map.field && access(o->map.field, F_OK) == 0; /* took the place of the field */
    if (o->mode != MAP && o->mode != FILM) return GO_ON;
    for (int i = 0; i < o->npath; i++) one |= access(o->paths[i], F_OK) == 0;
    for (int i = 0; i < o->npath && one; i++) {
        const char *word = o->paths[i];
        if (strcmp(word, "-") == 0 || strpbrk(word, "/.") || access(word, F_OK) == 0) continue;
        snprintf(what, sizeof what,
                 "there is no checkpoint %.60s; if it is a field, give it as -m %.60s%s", word,
                 word,
                 o->mode == MAP ? ", or before the checkpoints, as inspect map FIELD DIR" : "");
        return options_refuse(o, what, NULL);
    }
    return GO_ON;
}

/* Sets one option. Returns the exit status, or GO_ON. */
static int set_option(int letter, const char *value, void *ctx)
{
    struct parsing *p = ctx;
    const struct row *r = NULL;
    for (int m = 0; m < NMODE && !r; m++) {
        if (letter != mode_letter(m)) continue;
        r = &MODES[m].row;
        p->again |= p->modes & A(m);
        p->modes |= A(m);
        p->o->mode = (enum mode)m;
        tell_mode(p, m);
    }
    for (int i = 0; i < NOPTION && !r; i++)
        if ((letter & ~ANY_BIT) == (option_letter(i) & ~ANY_BIT))
            r = &OPTIONS[i], p->given[i] = true;
    const char *wrong = r && r->set ? r->set(p->o, r, value) : NULL;
    return wrong ? options_refuse(p->o, wrong, value) : GO_ON;
}

/* Checks that the mode takes all given options. */
static int check_taken(const struct parsing *p)
{
    for (int i = 0; i < NOPTION; i++) {
        unsigned modes = OPTIONS[i].modes;
        if (!p->given[i] || modes >> p->o->mode & 1) continue;
        char what[400];
        int n = snprintf(what, sizeof what, "only ");
        for (int m = 0, found = 0; m < NMODE; m++)
            if (modes >> m & 1)
                n += snprintf(what + n, sizeof what - (size_t)n, "%s%s", found++ ? " or " : "",
                              MODES[m].phrase);
        snprintf(what + n, sizeof what - (size_t)n, " takes this option: --%s",
                 OPTIONS[i].opt.name);
        return options_refuse(p->o, what, NULL);
    }
    return GO_ON;
}

static int refuse_modes(const struct options *o)
{
    char what[400], name[40];
    int n = 0;
    for (int m = 0; m < NMODE; m++)
        if (MODES[m].row.opt.help)
            n += snprintf(what + n, sizeof what - (size_t)n, "%s%s",
                          m == 0           ? ""
                          : m == NMODE - 1 ? " and "
                                           : ", ",
                          name_of(&MODES[m].row.opt, name));
    snprintf(what + n, sizeof what - (size_t)n, " exclude each other");
    return options_refuse(o, what, NULL);
}

static int check_options(struct parsing *p)
{
    struct options *o = p->o;
    bool piped = false;
    int status;
    if (p->modes == (A(FILM) | A(MAP))) p->modes = A(FILM), o->mode = FILM;
    for (int i = 0; i < o->npath; i++) piped |= strcmp(o->paths[i], "-") == 0;
    if (o->npath == 0) return options_refuse(o, "no checkpoint is given", NULL);
    if (p->modes == 0 && (status = refuse_typo(o)) != GO_ON) return status;
    if (p->modes & (p->modes - 1)) return refuse_modes(o);
    if ((status = refuse_field(o)) != GO_ON) return status;
    if (p->again & (A(MAP) | A(PROFILE)))
        return options_refuse(
            o, "-m or --profile is given twice: inspect makes one map or profile per call", NULL);
    if (!p->modes && o->npath == 2 && !piped) o->mode = COMPARE;
    if (o->mode == COMPARE && o->npath != 2)
        return options_refuse(o, "a comparison needs two checkpoints", NULL);
    if ((status = check_taken(p)) != GO_ON) return status;
    o->many = o->mode != COMPARE && o->mode != FILM && (o->npath > 1 || piped);
    if (o->panels && piped)
        return options_refuse(o, "--panels needs the paths of its checkpoints, not standard input",
                              NULL);
    if ((status = check_data(o)) != GO_ON) return status;
    if (o->out && o->many && !draws_all(o))
        return options_refuse(o, "-o is for one checkpoint only", NULL);
    if (o->json && o->out && strcmp(o->out, "-") == 0)
        return options_refuse(o, "-j and -o - cannot both use standard output", NULL);
    o->map.physical = o->profile.physical = o->physical;
    return MODES[o->mode].check ? MODES[o->mode].check(o) : GO_ON;
}

int options_parse(int argc, char **argv, struct options *o)
{
    struct parsing p = {
        .o = o,
        .synopsis =
            "inspect [options] DIR…   (DIR - : paths from standard input, one per line)\n"
            "       inspect [options] A B      differences of two checkpoints\n"
            "       inspect MODE [options] DIR…   MODE: a long name below, as map or halos\n"
            "       inspect MODE -h            the common options of a mode (--help: all)",
        .purpose = "Prints what is in checkpoints: summary, digest, tree, parameters, "
                   "damage, differences, maps, lines, profiles, phase diagrams, star formation, "
                   "halos, clumps, contamination."};
    struct program self = {.name = "inspect",
                           .synopsis = p.synopsis,
                           .purpose = p.purpose,
                           .rows = p.rows,
                           .silent = o->c.rank > 0,
                           .overview = modes_print};
    int first, status, help = mode_asked(argc, argv);
    o->memory = (size_t)512 << 20;
    o->map = (struct map_options){.axis = -1,
                                  .pixels = 512,
                                  .centre = {0.5, 0.5, 0.5},
                                  .width = 1,
                                  .depth = 1,
                                  .recent = 100};
    o->rate = 12;
    o->phase.bins = 200;
    for (int a = 0; a < 2; a++)
        snprintf(o->phase.field[a], sizeof o->phase.field[a], "%s", PHASE_FIELDS[a]);
    o->stars.bins = 50;
    o->cone.bins = 20;
    o->profile.bins = 30;
    o->halos = (struct halos_options){.link = 0.2, .min = 20, .sigma8 = 0.81, .ns = 0.96};
    o->tree = (struct tree_options){.tracers = 200, .jump = 1, .branches = 10};
    p.self = &self;
    p.command = argc > 1 ? mode_named(argv[1]) : -1;
    fill_rows(&p, -1);
    if (p.command >= 0) help = p.command;
    if (help >= 0) {
        tell_mode(&p, help);
        argv[1] = argv[0];
        argc--, argv++;
    }
    if ((status = program_read(&self, argc, argv, set_option, &p, &first)) != GO_ON) return status;
    o->paths = argv + first;
    o->npath = argc - first;
    if ((status = command_end(&p)) != GO_ON) return status;
    if ((status = riemann_rest(o)) != GO_ON) return status;
    return check_options(&p);
}
