/* param/table: the rows of params.def as data, finding one by name, and values as text. */
#include <float.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "param/nml.h"
#include "param/row.h"

/* Choices of solver. */
static const char SOLVERS[] =
#define SOLVER(name, groups) #name "|"
#include "param/solvers.def"
    ;

/* Choices of exchange_method: auto, and the transports. */
static const char EXCHANGE_METHODS[] = "auto"
#define TRANSPORT(name, tried) "|" #name
#include "comm/transports.def"
#undef TRANSPORT
    ;

static const struct param_row rows[PARAM_ROWS] = {
#define ROW(type, k, g, m, nm, dims, rows1, rows2, first, d, dt, lo, hi, un, ch, eff, st, no, w,   \
            he)                                                                                    \
    {.group = #g,                                                                                  \
     .name = nm,                                                                                   \
     .kind = PARAM_##k,                                                                            \
     .offset = offsetof(struct params, g.m),                                                       \
     .n1 = rows1,                                                                                  \
     .n2 = rows2,                                                                                  \
     .base = first,                                                                                \
     .def = d,                                                                                     \
     .def_text = dt,                                                                               \
     .min = lo,                                                                                    \
     .max = hi,                                                                                    \
     .unit = un,                                                                                   \
     .choices = ch,                                                                                \
     .effect = eff,                                                                                \
     .status = st,                                                                                 \
     .note = no,                                                                                   \
     .when = w,                                                                                    \
     .help = he,                                                                                   \
     .array = sizeof(((struct params *)0)->g.m) > sizeof(type)},
#define ALIAS(...)
#define GROUP(...)
#define ENDGROUP(...)
#include "param/params.def"
};

static const struct param_group groups[] = {
#define ROW(...)
#define ALIAS(...)
#define GROUP(g, nml, he) {.name = #g, .namelist = nml, .help = he},
#define ENDGROUP(...)
#include "param/params.def"
};

static const struct alias {
    const char *group, *name, *home;
} aliases[] = {
#define ROW(...)
#define ALIAS(g, m, h) {.group = #g, .name = #m, .home = #h},
#define GROUP(...)
#define ENDGROUP(...)
#include "param/params.def"
};

enum { GROUPS = sizeof groups / sizeof *groups, ALIASES = sizeof aliases / sizeof *aliases };

const struct param_row *param_row_at(int i)
{
    BUG_ON(i < 0 || i >= PARAM_ROWS);
    return &rows[i];
}

int param_row_index(const struct param_row *row)
{
    return (int)(row - rows);
}

int param_group_count(void)
{
    return GROUPS;
}

const struct param_group *param_group_at(int i)
{
    return &groups[i];
}

const struct param_group *param_group_find(const char *name, bool loose)
{
    for (int i = 0; i < GROUPS; i++)
        if (strcasecmp(groups[i].namelist, name) == 0 ||
            (loose && strcasecmp(groups[i].name, name) == 0))
            return &groups[i];
    return NULL;
}

const char *param_group_said(const struct params *p, int i)
{
    return p->alias[i] ? groups[p->alias[i] - 1].name : rows[i].group;
}

static const struct param_row *own_row(const char *group, const char *name)
{
    for (int i = 0; i < PARAM_ROWS; i++)
        if (strcmp(rows[i].group, group) == 0 && strcasecmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

const struct param_row *param_row_find(const struct param_group *g, const char *name)
{
    const struct param_row *row = own_row(g->name, name);
    for (int i = 0; !row && i < ALIASES; i++)
        if (strcmp(aliases[i].group, g->name) == 0 && strcasecmp(aliases[i].name, name) == 0) {
            row = own_row(aliases[i].home, name);
            BUG_ON(!row);
        }
    return row;
}

const struct param_row *param_row_find_any(const char *name, bool *several)
{
    const struct param_row *found = NULL;
    *several = false;
    for (int i = 0; i < PARAM_ROWS; i++) {
        if (strcasecmp(rows[i].name, name) != 0) continue;
        if (param_solver_own(rows[i].group) && found) continue; /* give the group */
        if (found) *several = true;
        found = &rows[i];
    }
    return found;
}

static bool is_group(const char *name)
{
    return param_group_find(name, false) != NULL;
}

/* Whether RAMSES reads the group without END=, so that an end of the file within it stops the run.
 */
static bool needs_end(const char *group)
{
    static const char *const needs[] = {"RUN_PARAMS",      "OUTPUT_PARAMS", "AMR_PARAMS",
                                        "REFINE_PARAMS",   "HYDRO_PARAMS",  "GRACKLE_PARAMS",
                                        "RADIATION_PARAMS"};
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (strcmp(group, needs[i]) == 0) return true;
    return false;
}

static bool is_parameter(const char *name)
{
    bool several;
    return param_row_find_any(name, &several) != NULL;
}

const struct nml_names param_names = {
    .is_group = is_group, .needs_end = needs_end, .is_parameter = is_parameter};

const char *param_group_refused(const char *name)
{
    static const struct {
        const char *name, *why;
    } refused[] = {
#define NO_GROUP(name, why) {name, why},
#include "param/reasons.def"
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (strcasecmp(refused[i].name, name) == 0) return refused[i].why;
    return NULL;
}

/* Distance of the names of two groups without the ending that all have. */
static int group_distance(const char *a, const char *b)
{
    static const char END[] = "_PARAMS";
    const size_t end = sizeof END - 1, n = strlen(a), m = strlen(b);
    char x[64], y[64];
    if (n <= end || m <= end || n - end > 60 || m - end > 60 || strcasecmp(a + n - end, END) != 0 ||
        strcasecmp(b + m - end, END) != 0)
        return near_distance(a, b);
    snprintf(x, sizeof x, "%.*s", (int)(n - end), a);
    snprintf(y, sizeof y, "%.*s", (int)(m - end), b);
    const int d = near_distance(x, y);
    return d <= near_max(x) ? d : d + near_max(a);
}

const char *param_hint_group(const char *name, char buf[160])
{
    int best = near_max(name) + 1;
    buf[0] = 0;
    for (int i = 0; i < GROUPS; i++) {
        int d = group_distance(name, groups[i].namelist);
        if (strcasecmp(name, groups[i].name) == 0) d = 0;
        if (d >= best) continue;
        best = d;
        snprintf(buf, 160, "; did you mean &%s?", groups[i].namelist);
    }
    return buf;
}

static void hint_if_nearer(const char *name, const char *member, const char *namelist, int *best,
                           char buf[160])
{
    int d = near_distance(name, member);
    if (d >= *best) return;
    *best = d;
    if (namelist)
        snprintf(buf, 160, d ? "; did you mean '%s' of &%s?" : "; '%s' belongs in &%s", member,
                 namelist);
    else
        snprintf(buf, 160, "; did you mean '%s'?", member);
}

const char *param_hint_name(const struct param_group *g, const char *name, char buf[160])
{
    int best = near_max(name) + 1;
    buf[0] = 0;
    bool several;
    const struct param_row *exact = param_row_find_any(name, &several);
    for (int i = 0; !exact && g && i < PARAM_ROWS; i++)
        if (strcmp(rows[i].group, g->name) == 0)
            hint_if_nearer(name, rows[i].name, NULL, &best, buf);
    for (int i = 0; !exact && g && i < ALIASES; i++)
        if (strcmp(aliases[i].group, g->name) == 0)
            hint_if_nearer(name, aliases[i].name, NULL, &best, buf);
    for (int i = 0; i < PARAM_ROWS; i++)
        hint_if_nearer(name, rows[i].name, param_group_find(rows[i].group, true)->namelist, &best,
                       buf);
    return buf;
}

size_t param_element_size(const struct param_row *row)
{
    static const size_t size[] = {[PARAM_BOOL] = sizeof(bool),
                                  [PARAM_INT] = sizeof(int),
                                  [PARAM_LONG] = sizeof(int64_t),
                                  [PARAM_REAL] = sizeof(double),
                                  [PARAM_TEXT] = sizeof(param_string)};
    return size[row->kind];
}

static size_t element_offset(const struct param_row *row, int i, int j)
{
    BUG_ON(i < 0 || i >= row->n1 || j < 0 || j >= row->n2);
    return row->offset + ((size_t)i * (size_t)row->n2 + (size_t)j) * param_element_size(row);
}

void *param_element(struct params *p, const struct param_row *row, int i, int j)
{
    return (char *)p + element_offset(row, i, j);
}

const void *param_element_const(const struct params *p, const struct param_row *row, int i, int j)
{
    return (const char *)p + element_offset(row, i, j);
}

const char *param_number_text(enum param_kind kind, double x, char buf[PARAM_VALUE])
{
    if (kind == PARAM_BOOL) return x != 0 ? ".true." : ".false.";
    if (kind != PARAM_REAL) {
        snprintf(buf, PARAM_VALUE, "%.0f", x);
        return buf;
    }
    /* shortest text that reads back as the same number */
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(buf, PARAM_VALUE, "%.*g", digits, x);
        if (strtod(buf, NULL) == x) break;
    }
    return buf;
}

static const char *quoted(const char *text, char buf[PARAM_VALUE])
{
    char *q = buf;
    *q++ = '\'';
    for (; *text; text++) {
        if (*text == '\'') *q++ = '\'';
        *q++ = *text;
    }
    *q++ = '\'';
    *q = 0;
    return buf;
}

const char *param_value_text(const struct param_row *row, const void *value, char buf[PARAM_VALUE])
{
    switch (row->kind) {
    case PARAM_BOOL:
        return *(const bool *)value ? ".true." : ".false.";
    case PARAM_INT:
        snprintf(buf, PARAM_VALUE, "%d", *(const int *)value);
        return buf;
    case PARAM_LONG:
        snprintf(buf, PARAM_VALUE, "%lld", (long long)*(const int64_t *)value);
        return buf;
    case PARAM_REAL:
        return param_number_text(PARAM_REAL, *(const double *)value, buf);
    case PARAM_TEXT:
        return quoted(value, buf);
    }
    return "";
}

/* Text 'a', 'b' or 'c' from "a|b|!x|c". */
static const char *choices_text(const char *choices, char buf[PARAM_VALUE])
{
    size_t at = 0;
    buf[0] = 0;
    for (const char *c = choices; *c; c += strcspn(c, "|"), c += *c == '|') {
        if (*c == '!') continue;
        at += (size_t)snprintf(buf + at, PARAM_VALUE - at, "%s'%.*s'", at ? ", " : "",
                               (int)strcspn(c, "|"), c);
    }
    return buf;
}

const char *param_range_text(const struct param_row *row, char buf[PARAM_VALUE])
{
    char lo[PARAM_VALUE], hi[PARAM_VALUE];
    buf[0] = 0;
    if (row->kind == PARAM_BOOL) return buf;
    if (row->kind == PARAM_TEXT) return row->choices ? choices_text(row->choices, buf) : buf;
    bool low = row->min > -DBL_MAX, high = row->max < (row->kind == PARAM_INT ? INT_MAX : DBL_MAX),
         open = row->min == DBL_MIN;
    const char *l = param_number_text(row->kind, open ? 0 : row->min, lo);
    const char *h = param_number_text(row->kind, row->max, hi);
    if (low && high)
        snprintf(buf, PARAM_VALUE, open ? "> %.40s, <= %.40s" : "%.40s .. %.40s", l, h);
    else if (low)
        snprintf(buf, PARAM_VALUE, open ? "> %.40s" : ">= %.40s", l);
    else if (high)
        snprintf(buf, PARAM_VALUE, "<= %.40s", h);
    return buf;
}
