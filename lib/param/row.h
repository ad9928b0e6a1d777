/* param/row: the table of parameters. Private to param. */
#pragma once
#include "param/param.h"

enum param_kind { PARAM_BOOL, PARAM_INT, PARAM_LONG, PARAM_REAL, PARAM_TEXT };

/* Consequence of another value in a restart: another model (refused unless forced), another course
 * of the run, the same results computed differently (reported in the log), or another path (never
 * compared). */
enum param_effect { PARAM_MODEL, PARAM_RUN, PARAM_SAME, PARAM_LOCATION };

enum param_status {
    PARAM_HONOURED, /* honoured as in RAMSES */
    PARAM_LIMIT,    /* honoured within the range or choices given; the note gives the limit */
    PARAM_HARMLESS, /* accepted, cannot change results; the note gives the reason */
    PARAM_REFUSED,  /* any value but the default is an error; the note gives advice */
    PARAM_BUILD /* any mention is an error: RAMSES has it with other compile options (the note) */
};

/* Conditions under which a parameter has an effect (conditions.def). */
enum param_condition {
    PARAM_ALWAYS,
#define CONDITION(name, text, holds) PARAM_IF_##name,
#include "param/conditions.def"
    PARAM_CONDITIONS
};

struct param_row {
    const char *group, *name; /* names in lower case */
    enum param_kind kind;
    size_t offset; /* offset in struct params */
    int n1, n2;    /* n1 = n2 = 1: scalar; n2 > 1: [n1][n2], namelist name(i,j) at [i-1][j-1] */
    int base;      /* first index in the namelist, 1 except for a few */
    double def;
    const char *def_text; /* default of texts */
    double min, max;
    const char *unit;
    const char *choices; /* choices of texts: "a|b|!c", c known but not supported; NULL: any */
    enum param_effect effect;
    enum param_status status;
    const char *note;
    enum param_condition when;
    const char *help;
    bool array;
};

struct param_group {
    const char *name;     /* name in struct params */
    const char *namelist; /* name in namelists, upper case */
    const char *help;
};

const struct param_row *param_row_at(int i); /* row i, 0 .. PARAM_ROWS-1 */
int param_row_index(const struct param_row *row);
int param_group_count(void);
const struct param_group *param_group_at(int i);
/* Finds a group by its namelist name or, if loose, also by its short one, case-insensitive; NULL:
 * no such group. */
const struct param_group *param_group_find(const char *name, bool loose);
/* Short name of the group in which the user last set row i, or else of its own group. */
const char *param_group_said(const struct params *p, int i);
/* Finds a name (lower case) in a group, following aliases (omega_b of &PHYSICS_PARAMS is omega_b of
 * &INIT_PARAMS). */
const struct param_row *param_row_find(const struct param_group *g, const char *name);
/* Finds a row by name alone; NULL: no such name. *several: whether more than one parameter has it.
 */
const struct param_row *param_row_find_any(const char *name, bool *several);
/* Suggestion as the end of a sentence ("; did you mean 'x'?"), or "". */
/* Why a group of this name is refused, though RAMSES or LagRamses has it; NULL: it has none. */
const char *param_group_refused(const char *name);
const char *param_hint_group(const char *name, char buf[160]);
const char *param_hint_name(const struct param_group *g, const char *name, char buf[160]);

size_t param_element_size(const struct param_row *row);
/* Element (i,j), counted from 0. */
void *param_element(struct params *p, const struct param_row *row, int i, int j);
const void *param_element_const(const struct params *p, const struct param_row *row, int i, int j);
void param_reset(struct params *p, const struct param_row *row); /* resets a row to its defaults */
/* Whether the group is read at all (RAMSES reads &HYDRO_PARAMS only with hydro). If not, *why is
 * the condition. */
bool param_group_read(const struct params *p, const char *group, const char **why);
/* Whether a parameter belongs to magnetic fields alone: RAMSES compiled without does not have it,
 * and runs without refuse it (param_check_mhd). */
bool param_of_mhd(const struct param_row *row);
/* Refuses parameters that the run's solver does not have (param/solvers.def). */
MUST_USE enum err param_check_solver(const struct params *p);
/* The solver's own group, whose names need no group on the command line; NULL: it has none. */
const struct param_group *param_solver_group(const struct params *p);
/* Whether a group is the own one of some solver. */
bool param_solver_own(const char *group);
/* Checks of &STENCIL_PARAMS and of &SPH_PARAMS, in runs of these solvers. box_given: xmin or xmax
 * is set. */
MUST_USE enum err param_check_stencil(const struct params *p);
MUST_USE enum err param_check_sph(const struct param_sph *p, bool box_given);
/* Whether the condition holds in a run on `ranks` ranks. Must follow param_complete. */
bool param_holds(const struct params *p, enum param_condition c, int ranks);
/* Text of the condition, which completes "has no effect unless"; NULL: PARAM_ALWAYS. */
const char *param_condition_text(enum param_condition c);
/* Resets groups that are not read to their defaults, as RAMSES does, and sets values that follow
 * from other parameters. */
void param_complete(struct params *p);
/* Writes a value in namelist syntax to buf. */
enum { PARAM_VALUE = 2 * sizeof(param_string) + 8 };
const char *param_value_text(const struct param_row *row, const void *value, char buf[PARAM_VALUE]);
const char *param_number_text(enum param_kind kind, double x, char buf[PARAM_VALUE]);
/* Text of the range: "1 .. 21", "> 0", "one of 'a', 'b'", or "" for any value. */
const char *param_range_text(const struct param_row *row, char buf[PARAM_VALUE]);
