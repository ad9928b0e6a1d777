/* param/build: parameters from variables of RAMSES's Makefile. RAMSES has its dimensions, its
 * solver and its number of variables from there, not from the namelist. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "param/row.h"

enum variable {
#define COUNT(v, ...) MAKE_##v,
#define ABSENT(v, ...) MAKE_##v,
#define WORD(v) MAKE_##v,
#define PLAIN(v) MAKE_##v,
#include "param/make.def"
    VARIABLES
};

static const struct {
    const char *name, *absent; /* absent: beginning of the sentence that refuses a value above 0 */
    long min, max;             /* of a count */
    bool count, plain;
} table[VARIABLES] = {
#define COUNT(v, lo, hi) {.name = #v, .min = lo, .max = hi, .count = true},
#define ABSENT(v, text) {.name = #v, .absent = text, .max = 1000, .count = true},
#define WORD(v) {.name = #v},
#define PLAIN(v) {.name = #v, .plain = true},
#include "param/make.def"
};

enum { VALUE = 128 };

struct build {
    bool given[VARIABLES];
    char value[VARIABLES][VALUE];
    long count[VARIABLES];
};

/* ---- text ---- */

static enum err fail_unknown(const char *name)
{
    char list[600] = "";
    int best = near_max(name) + 1, nearest = -1;
    for (int i = 0; i < VARIABLES; i++) {
        size_t n = strlen(list);
        snprintf(list + n, sizeof list - n, "%s%s", i ? ", " : "", table[i].name);
        int d = near_distance(name, table[i].name);
        if (d < best) best = d, nearest = i;
    }
    if (nearest >= 0)
        FAIL(ERR_PARAM, "--build: RAMSES's Makefile has no variable %s; did you mean %s?", name,
             table[nearest].name);
    FAIL(ERR_PARAM, "--build: RAMSES's Makefile has no variable %s; it has %s", name, list);
}

/* Reads the value at text, which may be in quotes; returns what follows it, NULL if it is too long
 * or its quotes do not end. */
static const char *value_read(const char *text, char value[VALUE])
{
    const char *end = text;
    char quote = *text == '\'' || *text == '"' ? *text : 0;
    if (quote) end = strchr(++text, quote);
    if (!end) return NULL;
    while (!quote && *end && !isspace((unsigned char)*end)) end++;
    size_t n = (size_t)(end - text);
    if (n >= VALUE) return NULL;
    memcpy(value, text, n);
    value[n] = 0;
    return end + (quote != 0);
}

static enum err word_read(struct build *b, const char **text)
{
    char name[64], value[VALUE];
    size_t n = strcspn(*text, "= \t\r\n\v\f");
    snprintf(name, sizeof name, "%.*s", (int)(n < 63 ? n : 63), *text);
    plain_line(name);
    if ((*text)[n] != '=' || n == 0)
        FAIL(ERR_PARAM,
             "--build: '%s' is not VARIABLE=value: write variables of RAMSES's Makefile without "
             "blanks around '=', as in 'NDIM=2 SOLVER=hydro'",
             n ? name : "=");
    int i = 0;
    while (i < VARIABLES && strcmp(table[i].name, name) != 0) i++;
    if (i == VARIABLES) return fail_unknown(name);
    const char *end = value_read(*text + n + 1, value);
    if (!end)
        FAIL(ERR_PARAM, "--build: the value of %s is too long, or its quotes do not end", name);
    plain_line(value);
    if (b->given[i] && strcmp(b->value[i], value) != 0)
        FAIL(ERR_PARAM, "--build: %s is given twice, as '%s' and as '%s'", name, b->value[i],
             value);
    b->given[i] = true;
    memcpy(b->value[i], value, VALUE);
    *text = end;
    return OK;
}

static enum err text_parse(struct build *b, const char *text)
{
    static const char LABEL[] = "FLAGS:"; /* begins the line in configurations of RAMSES's tests */
    while (true) {
        text += strspn(text, " \t\r\n\v\f");
        if (!*text) return OK;
        if (strncmp(text, LABEL, sizeof LABEL - 1) == 0)
            text += sizeof LABEL - 1;
        else
            TRY(word_read(b, &text));
    }
}

/* ---- values ---- */

/* Checks numbers. As for make, an empty value is none, which RAMSES's Makefile takes as 0. */
static enum err counts_read(struct build *b)
{
    for (int i = 0; i < VARIABLES; i++) {
        long n = 0;
        const char *value = b->value[i];
        if (!*value) b->given[i] = false;
        if (!b->given[i] || !table[i].count) continue;
        bool number = value[strspn(value, "0123456789")] == 0 && strlen(value) < 10;
        if (number) n = strtol(value, NULL, 10);
        if (!number || n < table[i].min || n > table[i].max)
            FAIL(ERR_PARAM, "--build: %s=%s is out of range: %ld .. %ld allowed", table[i].name,
                 value, table[i].min, table[i].max);
        if (table[i].absent && n > 0)
            FAIL(ERR_PARAM,
                 "--build: %s=%s: %s not part of this code yet, and without %s this would be "
                 "another problem",
                 table[i].name, value, table[i].absent,
                 strstr(table[i].absent, " are") ? "them" : "it");
        b->count[i] = n;
    }
    return OK;
}

static bool is_magnetic(const struct build *b)
{
    return strcmp(b->value[MAKE_SOLVER], "mhd") == 0;
}

static enum err solver_check(const struct build *b)
{
    const char *solver = b->value[MAKE_SOLVER];
    if (!b->given[MAKE_SOLVER] || strcmp(solver, "hydro") == 0 || is_magnetic(b)) return OK;
    if (strcmp(solver, "rhd") == 0)
        FAIL(ERR_PARAM, "--build: SOLVER=rhd: relativistic gas is not part of this code yet; "
                        "SOLVER=hydro and SOLVER=mhd are");
    FAIL(ERR_PARAM, "--build: SOLVER=%s is unknown: RAMSES has hydro, mhd and rhd", solver);
}

static enum err precision_check(const struct build *b)
{
    const char *pre = b->value[MAKE_NPRE];
    if (b->given[MAKE_NPRE] && strcmp(pre, "8") != 0 && strcmp(pre, "4") != 0)
        FAIL(ERR_PARAM, "--build: NPRE=%s: reals of RAMSES have 4 or 8 bytes", pre);
    return OK;
}

/* Number of passive scalars, metals included; -1: the variables do not say. */
static enum err scalars_count(const struct build *b, int *scalars)
{
    *scalars = -1;
    const long ions = b->count[MAKE_RT] ? b->count[MAKE_NIONS] : 0;
    bool parts = b->given[MAKE_NPSCAL] || b->given[MAKE_NMETALS] || ions > 0;
    long sum = b->count[MAKE_NPSCAL] + b->count[MAKE_NMETALS] + ions, nvar = b->count[MAKE_NVAR];
    if (parts) *scalars = (int)sum;
    if (b->given[MAKE_NVAR] && !b->given[MAKE_NDIM])
        FAIL(ERR_PARAM, "--build: NVAR=%ld counts the velocities, too: give NDIM with it", nvar);
    long base = (is_magnetic(b) ? 8 : b->count[MAKE_NDIM] + 2) + b->count[MAKE_NENER];
    if (b->given[MAKE_NVAR] && (nvar < base || (parts && nvar != base + sum)))
        FAIL(ERR_PARAM,
             "--build: NVAR=%ld contradicts NDIM=%ld, NENER=%ld, NPSCAL=%ld, NMETALS=%ld%s: "
             "density, "
             "%s, pressure, non-thermal energies and scalars make %ld",
             nvar, b->count[MAKE_NDIM], b->count[MAKE_NENER], b->count[MAKE_NPSCAL],
             b->count[MAKE_NMETALS], ions > 0 ? " and NIONS" : "",
             is_magnetic(b) ? "three velocities and field components" : "NDIM velocities",
             base + sum);
    if (b->given[MAKE_NVAR]) *scalars = (int)(nvar - base);
    if (*scalars > PARAM_SCALARS)
        FAIL(ERR_PARAM, "--build: %d passive scalars are more than the %d that a run can have",
             *scalars, PARAM_SCALARS);
    return OK;
}

/* ---- parameters ---- */

static enum err set_number(struct params *p, const char *group, const char *name, int value,
                           int *is)
{
    char text[100];
    if (param_given(p, group, name) && *is != value)
        FAIL(ERR_PARAM,
             "--build: %s would be %d, but the namelist sets %s=%d: leave out one of them", name,
             value, name, *is);
    snprintf(text, sizeof text, "%s/%s=%d", group, name, value);
    return param_set(p, text);
}

static enum err set_magnetic(struct params *p, const struct build *b)
{
    const bool is = is_magnetic(b);
    if (param_given(p, "run", "mhd") && p->run.mhd != is)
        FAIL(ERR_PARAM, "--build: SOLVER=%s, but the namelist sets mhd=%s: leave out one of them",
             b->value[MAKE_SOLVER], is ? ".false." : ".true.");
    return param_set(p, is ? "run/mhd=.true." : "run/mhd=.false.");
}

/* mini-ramses has the physics of a run from its Makefile. */
static enum err set_part(struct params *p, const struct build *b, enum variable v, const char *name,
                         bool *is)
{
    const bool value = b->count[v] > 0;
    char text[64];
    if (!b->given[v]) return OK;
    if (param_given(p, "run", name) && *is != value)
        FAIL(ERR_PARAM, "--build: %s=%d, but the namelist sets %s=%s: leave out one of them",
             table[v].name, value, name, *is ? ".true." : ".false.");
    snprintf(text, sizeof text, "run/%s=%s", name, value ? ".true." : ".false.");
    return param_set(p, text);
}

/* RAMSES compiles its radiation, with numbers of groups and ions; the namelist switches it on. */
static enum err set_radiation(struct params *p, const struct build *b)
{
    const char *without = b->count[MAKE_NGROUPS] > 0 ? "NGROUPS"
                          : b->count[MAKE_NIONS] > 0 ? "NIONS"
                                                     : NULL;
    if (!b->given[MAKE_RT] && p->run.rt && without)
        FAIL(ERR_PARAM,
             "--build: RAMSES ignores %s without RT=1, but the namelist sets rt=.true.: give RT=1 "
             "with it",
             without);
    if (!b->given[MAKE_RT]) return OK;
    if (b->count[MAKE_RT] == 0 && p->run.rt)
        FAIL(ERR_PARAM,
             "--build: RT=0 leaves out radiation, but the namelist sets rt=.true.: leave "
             "out one of them");
    if (b->count[MAKE_RT] == 0) return OK;
    if (p->run.rt && b->given[MAKE_NGROUPS] && b->count[MAKE_NGROUPS] == 0)
        FAIL(ERR_PARAM, "--build: NGROUPS=0 leaves rt=.true. of the namelist no photons: give "
                        "NGROUPS=1 or more, or neq_chem=.true. in place of rt");
    if (b->count[MAKE_NGROUPS] > 0)
        TRY(set_number(p, "run", "ngroups", (int)b->count[MAKE_NGROUPS], &p->run.ngroups));
    if (b->count[MAKE_NIONS] > 0)
        TRY(set_number(p, "run", "nions", (int)b->count[MAKE_NIONS], &p->run.nions));
    return OK;
}

static void tell(const struct build *b, FILE *out)
{
    int n = 0;
    if (b->given[MAKE_NPRE] && b->value[MAKE_NPRE][0] == '4')
        fprintf(out, " --build: NPRE=4 is not followed: reals have 8 bytes here\n");
    for (int i = 0; i < VARIABLES; i++)
        if (b->given[i] && table[i].plain)
            fprintf(out, "%s%s", n++ ? ", " : " --build: ", table[i].name);
    if (n)
        fprintf(out, " ha%s no effect: RAMSES's results do not depend on %s\n", n > 1 ? "ve" : "s",
                n > 1 ? "them" : "it");
}

enum err param_build(struct params *p, const char *text, FILE *out)
{
    struct build b = {.given = {false}};
    int scalars;
    TRY(text_parse(&b, text));
    TRY(counts_read(&b));
    TRY(solver_check(&b));
    TRY(precision_check(&b));
    TRY(scalars_count(&b, &scalars));
    TRY(set_part(p, &b, MAKE_HYDRO, "hydro", &p->run.hydro));
    TRY(set_part(p, &b, MAKE_GRAV, "poisson", &p->run.poisson));
    if (b.given[MAKE_NDIM])
        TRY(set_number(p, "run", "ndim", (int)b.count[MAKE_NDIM], &p->run.ndim));
    if (b.given[MAKE_SOLVER] && p->run.hydro) TRY(set_magnetic(p, &b));
    if (b.given[MAKE_NENER] && p->run.hydro)
        TRY(set_number(p, "run", "nener", (int)b.count[MAKE_NENER], &p->run.nener));
    TRY(set_radiation(p, &b));
    if (scalars >= 0 && p->run.hydro)
        TRY(set_number(p, "hydro", "npassive", scalars, &p->hydro.npassive));
    if (out) tell(&b, out);
    return OK;
}

/* ---- patches ---- */

/* Folders of RAMSES with nothing but an initial state that is a kind here. */
static const struct {
    const char *folder, *kind;
} patches[] = {{"tests/mhd/orszag-tang", "orzag_tang"},
               {"tests/poisson/ana-disk-potential", "ana_disk_potential"},
               {"patch/hydro/merger", "merger"},
               {"patch/mhd/merger", "merger"},
               {"patch/init/dice", "dice"},
               {"patch/mhd/abcflow", "abc"},
               {"patch/mhd/aw", "aw"},
               {"patch/mhd/loop", "loop"},
               {"patch/mhd/ot", "orzag_tang"},
               {"patch/mhd/ponomarenko", "ponomarenko"},
               {"patch/mhd/rotor", "rotor"},
               {"patch/mhd/sheet", "sheet"}};

/* The kind of a folder, which may end with a slash; NULL: none. */
static const char *patch_kind(const char *path)
{
    size_t n = strlen(path);
    while (n > 0 && path[n - 1] == '/') n--;
    for (size_t i = 0; i < sizeof patches / sizeof *patches; i++) {
        const size_t m = strlen(patches[i].folder);
        if (n < m || strncmp(path + n - m, patches[i].folder, m) != 0) continue;
        if (n == m || path[n - m - 1] == '/') return patches[i].kind;
    }
    return NULL;
}

/* What makes the initial state in place of a patch, as text for the log; NULL: nothing. */
static const char *state_named(const struct params *p, char text[VALUE])
{
    const char *dice = strcmp(p->init.filetype, "dice") == 0 ? p->init.filetype : NULL;
    const char *kind = p->init.condinit_kind;
    if (dice || *kind)
        snprintf(text, VALUE, "%s='%.64s'", dice ? "filetype" : "condinit_kind",
                 dice ? dice : kind);
    else if (param_given(p, "init", "init_expr"))
        snprintf(text, VALUE, "init_expr");
    else
        return NULL;
    return text;
}

/* A patch replaces source files of RAMSES, mostly that of the initial state, which the namelist or
 * a checkpoint may give, too. */
enum err param_patch(struct params *p, const char *text, bool restart, FILE *out)
{
    struct build b = {.given = {false}};
    char set[VALUE], named[VALUE];
    TRY(text_parse(&b, text));
    const char *patch = b.value[MAKE_PATCH], *kind = patch_kind(patch);
    if (!*patch) return OK;
    if (!restart && !state_named(p, named) && kind) {
        snprintf(set, sizeof set, "init/condinit_kind=%s", kind);
        TRY(param_set(p, set));
    }
    if (!restart && !state_named(p, named))
        FAIL(ERR_PARAM,
             "--build: PATCH=%s replaces source files of RAMSES, which this program cannot read: "
             "if the patch only makes the initial state, give it by condinit_kind or init_expr in "
             "&INIT_PARAMS, or let RAMSES write it and resume from it (-r output_00001)",
             patch);
    if (out)
        fprintf(out, " --build: PATCH=%s is not read: the initial state is that of %s\n", patch,
                restart ? "the checkpoint" : named);
    return OK;
}
