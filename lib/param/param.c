/* param/param: converts assignments (param/nml) to members of struct params. value_parse converts a
 * value, checks it against its row and stores it; the other functions find the row and the
 * elements. */
#include "param/param.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "param/nml.h"
#include "param/row.h"

/* Elements of an assignment: a box of n[0] × n[1] from lo, counted from 0, in steps, the first
 * index running fastest. */
struct target {
    int64_t lo[2], n[2], step[2];
};

/* A value of any kind. */
union value {
    bool b;
    int i;
    int64_t l;
    double r;
    param_string s;
};

static enum err apply_all(struct params *p, const struct nml *n);
static enum err apply(struct params *p, const struct nml *n, const struct nml_item *it,
                      const struct param_row *row, bool loose);
static enum err target_find(const struct nml *n, const struct nml_item *it,
                            const struct param_row *row, struct target *t);
static enum err value_parse(const struct nml *n, const struct nml_item *it,
                            const struct nml_value *v, const struct param_row *row, bool loose,
                            union value *out);

static void default_of(const struct param_row *row, union value *v)
{
    memset(v, 0, sizeof *v);
    switch (row->kind) {
    case PARAM_BOOL:
        v->b = row->def != 0;
        break;
    case PARAM_INT:
        v->i = (int)row->def;
        break;
    case PARAM_LONG:
        v->l = (int64_t)row->def;
        break;
    case PARAM_REAL:
        v->r = row->def;
        break;
    case PARAM_TEXT:
        snprintf(v->s, sizeof v->s, "%s", row->def_text);
        break;
    }
}

void param_reset(struct params *p, const struct param_row *row)
{
    union value v;
    default_of(row, &v);
    for (int i = 0; i < row->n1; i++)
        for (int j = 0; j < row->n2; j++)
            memcpy(param_element(p, row, i, j), &v, param_element_size(row));
}

void param_init(struct params *p)
{
    memset(p, 0, sizeof *p);
    for (int i = 0; i < PARAM_ROWS; i++) param_reset(p, param_row_at(i));
}

enum err param_read_text(struct params *p, const char *text, size_t bytes, const char *file)
{
    param_init(p);
    struct nml n;
    TRY(nml_parse(&n, text, bytes, file, &param_names));
    enum err err = apply_all(p, &n);
    nml_free(&n);
    return err;
}

int param_remarks(const char *text, size_t bytes, const char *file, FILE *out)
{
    static const char *const said[] = {
        [NML_ASSIGNMENT] = "is outside of all groups, and is not read",
        [NML_NAME] = "begins no group, without '&' before the name",
        [NML_MENTION] = "is in a remark, and is not read: the group stands before it",
        [NML_BEFORE] = "is outside of all groups; the group behind it in its line is read",
        [NML_END] = "ends no group",
        [NML_ENDLESS] = "has no closing '/': it ends with the file",
    };
    struct nml n;
    if (nml_parse(&n, text, bytes, file, &param_names) != OK) return 0;
    int count = (int)n.nnote, retained = count < NML_NOTES_MAX ? count : NML_NOTES_MAX;
    for (int i = 0; i < retained; i++) {
        const struct nml_note *note = &n.notes[i];
        const char *quote = note->doubt == NML_ENDLESS ? "" : "'";
        fprintf(out, " line %d of the namelist: %s%s%s %s\n", note->line, *quote ? quote : "&",
                note->text, quote, said[note->doubt]);
    }
    if (count > retained)
        fprintf(out, " and %d more such lines of the namelist\n", count - retained);
    nml_free(&n);
    return count;
}

enum err param_read_loose(struct params *p, const char *text, size_t bytes, const char *file,
                          int *left_out)
{
    param_init(p);
    *left_out = 0;
    struct nml n;
    TRY(nml_parse(&n, text, bytes, file, &param_names));
    for (size_t i = 0; i < n.nitem; i++) {
        const struct param_group *g = param_group_find(n.groups[n.items[i].group].name, false);
        const struct param_row *row = g ? param_row_find(g, n.items[i].name) : NULL;
        if (!row || apply(p, &n, &n.items[i], row, true) != OK) (*left_out)++;
    }
    nml_free(&n);
    param_complete(p);
    return OK;
}

static void note_group(struct params *p, const struct param_row *row, const struct param_group *g)
{
    bool alias = strcmp(g->name, row->group) != 0;
    p->alias[param_row_index(row)] = alias ? (unsigned char)(1 + (g - param_group_at(0))) : 0;
}

static enum err apply_all(struct params *p, const struct nml *n)
{
    char where[NML_WHERE], hint[160];
    if (n->ngroup == 0)
        FAIL(ERR_PARAM,
             "%s has no namelist group: a RAMSES namelist with &RUN_PARAMS … / is expected",
             n->file);
    for (size_t i = 0; i < n->ngroup; i++)
        if (param_group_refused(n->groups[i].name))
            FAIL(ERR_PARAM, "%s: &%.60s: %s: leave out the group",
                 nml_where(n, n->groups[i].line, where), n->groups[i].name,
                 param_group_refused(n->groups[i].name));
        else if (!param_group_find(n->groups[i].name, false))
            FAIL(ERR_PARAM, "%s: there is no parameter group &%.60s%s",
                 nml_where(n, n->groups[i].line, where), n->groups[i].name,
                 param_hint_group(n->groups[i].name, hint));
    for (size_t i = 0; i < n->nitem; i++) {
        const struct nml_item *it = &n->items[i];
        const struct param_group *g = param_group_find(n->groups[it->group].name, false);
        const struct param_row *row = param_row_find(g, it->name);
        if (!row)
            FAIL(ERR_PARAM, "%s: &%s has no parameter '%.60s'%s", nml_where(n, it->line, where),
                 g->namelist, it->name, param_hint_name(g, it->name, hint));
        TRY(apply(p, n, it, row, false));
        note_group(p, row, g);
        if (it->rank > 0) continue;
        p->twice[param_row_index(row)] = p->line[param_row_index(row)];
        p->line[param_row_index(row)] = it->line;
    }
    return OK;
}

static void store(struct params *p, const struct param_row *row, const struct target *t, int64_t at,
                  const union value *v)
{
    int i = (int)(t->lo[0] + at % t->n[0] * t->step[0]);
    int j = (int)(t->lo[1] + at / t->n[0] * t->step[1]);
    memcpy(param_element(p, row, i, j), v, param_element_size(row));
    int row_i = param_row_index(row), count = row->n2 > 1 ? j + 1 : i + 1;
    p->given[row_i] = 1;
    if (count > p->count[row_i]) p->count[row_i] = count;
}

/* Applies an assignment; null values leave an element unchanged. */
static enum err apply(struct params *p, const struct nml *n, const struct nml_item *it,
                      const struct param_row *row, bool loose)
{
    struct target t;
    char where[NML_WHERE];
    if (row->status == PARAM_BUILD && !loose)
        FAIL(ERR_PARAM, "%s: %s is %s", nml_where(n, it->line, where), it->name, row->note);
    TRY(target_find(n, it, row, &t));
    /* gfortran then mistakes a name that begins with T or F for a value */
    if (row->kind == PARAM_BOOL && row->array && it->doubt && !loose)
        FAIL(ERR_PARAM, "%s: in '%.60s', compilers differ on %s", nml_where(n, it->line, where),
             it->name, it->doubt);
    int64_t at = 0, total = t.n[0] * t.n[1];
    for (size_t k = it->first; k < it->first + it->count; k++) {
        const struct nml_value *v = &n->values[k];
        if (at + v->repeat > total)
            FAIL(ERR_PARAM, "%s: '%.60s' has room for %lld value%s here, but more are given",
                 nml_where(n, v->line, where), it->name, (long long)total, total == 1 ? "" : "s");
        if (v->kind == NML_NULL) {
            at += v->repeat;
            continue;
        }
        union value x;
        TRY(value_parse(n, it, v, row, loose, &x));
        for (int64_t r = 0; r < v->repeat; r++) store(p, row, &t, at++, &x);
    }
    return OK;
}

static enum err target_dimension(const struct nml *n, const struct nml_item *it,
                                 const struct param_row *row, int d, bool expand, struct target *t)
{
    char where[NML_WHERE];
    const struct nml_index *ix = &it->index[d];
    int64_t first = d == 0 ? row->base : 1, last = first + (d == 0 ? row->n1 : row->n2) - 1;
    int64_t lo = ix->has_lo ? ix->lo : first, hi = ix->has_hi ? ix->hi : last;
    bool inside = lo >= first && lo <= last && hi >= first && hi <= last;
    if (inside && (hi - lo) * ix->step < 0)
        FAIL(ERR_PARAM, "%s: the section %lld:%lld of '%.60s' is empty",
             nml_where(n, it->line, where), (long long)lo, (long long)hi, it->name);
    if (!inside)
        FAIL(ERR_PARAM, "%s: index %lld of '%.60s' is outside %lld..%lld",
             nml_where(n, it->line, where), (long long)(lo < first || lo > last ? lo : hi),
             it->name, (long long)first, (long long)last);
    t->lo[d] = lo - first;
    t->step[d] = ix->step;
    t->n[d] = ((expand ? last : hi) - lo) / ix->step + 1;
    return OK;
}

/* Finds the elements of an assignment. As in compilers, several values after a single element,
 * name(3) = 1, 2, fill the elements from there on. */
static enum err target_find(const struct nml *n, const struct nml_item *it,
                            const struct param_row *row, struct target *t)
{
    char where[NML_WHERE];
    int rank = row->n2 > 1 ? 2 : row->array ? 1 : 0;
    *t = (struct target){.lo = {0, 0}, .n = {row->n1, row->n2}, .step = {1, 1}};
    if (it->rank == 0) return OK;
    if (rank == 0)
        FAIL(ERR_PARAM, "%s: '%.60s' is a single value and takes no index",
             nml_where(n, it->line, where), it->name);
    if (it->rank != rank)
        FAIL(ERR_PARAM, "%s: '%.60s' needs %d %s, not %d", nml_where(n, it->line, where), it->name,
             rank, rank == 1 ? "index" : "indices", it->rank);
    bool expand = !it->index[0].section && !(rank == 2 && it->index[1].section);
    for (int d = 0; d < rank; d++) TRY(target_dimension(n, it, row, d, expand, t));
    return OK;
}

/* Parses .true., T, .t. and so on; returns whether the text is a logical. */
static bool parse_bool(const char *text, bool *out)
{
    static const char *const yes[] = {"t", "true"}, *const no[] = {"f", "false"};
    char word[8];
    size_t n = strlen(text), from = n && text[0] == '.',
           to = n > from && text[n - 1] == '.' ? n - 1 : n;
    if (to - from >= sizeof word) return false;
    memcpy(word, text + from, to - from);
    word[to - from] = 0;
    for (int i = 0; i < 2; i++) {
        if (strcasecmp(word, yes[i]) == 0) return *out = true, true;
        if (strcasecmp(word, no[i]) == 0) return *out = false, true;
    }
    return false;
}

static bool parse_integer(const char *text, int64_t *out)
{
    const char *t = text + (*text == '-' || *text == '+');
    if (!*t || t[strspn(t, "0123456789")]) return false;
    errno = 0;
    *out = strtoll(text, NULL, 10);
    return errno == 0;
}

/* Whether digits exceed the range of the type. */
static bool is_too_large(const char *text, const struct param_row *row)
{
    text += *text == '-' || *text == '+';
    return (row->kind == PARAM_INT || row->kind == PARAM_LONG) && *text &&
           !text[strspn(text, "0123456789")];
}

/* Parses Fortran's reals: 1, 1., .5, 1e5, 1d-5, 1.D0, 16.-1 (16.E-1); infinite values are rejected.
 */
static bool parse_real(const char *text, double *out)
{
    char c[400];
    const char *t = text + (*text == '-' || *text == '+');
    size_t whole = strspn(t, "0123456789"), part = 0;
    t += whole;
    if (*t == '.') part = strspn(++t, "0123456789"), t += part;
    if (whole + part == 0 || strlen(text) + 2 > sizeof c) return false;
    const char *expo = t;
    if (*t && strchr("eEdDqQ", *t)) t++;
    const char *power = t;
    t += *t == '-' || *t == '+';
    size_t digits = strspn(t, "0123456789");
    if (t[digits] || (t > expo && !digits) || (t == expo && digits)) return false;
    snprintf(c, sizeof c, "%.*se%s", (int)(expo - text), text, digits ? power : "0");
    *out = strtod(c, NULL);
    return isfinite(*out);
}

/* Text of a value for messages. */
static const char *called(const struct nml_item *it, const struct nml_value *v, char buf[200])
{
    const char *q = v->kind == NML_STRING ? "'" : "";
    snprintf(buf, 200, "%.60s=%s%.60s%s", it->name, q, v->text, q);
    return buf;
}

/* Copies the choice that the string names; *known is false for `!` choices. Returns whether the
 * choice exists. */
static bool choice_find(const char *choices, const char *text, param_string out, bool *known)
{
    for (const char *c = choices; *c; c += strcspn(c, "|"), c += *c == '|') {
        *known = *c != '!';
        const char *name = c + (*c == '!');
        size_t len = strcspn(name, "|");
        if (strlen(text) == len && strncasecmp(text, name, len) == 0) {
            snprintf(out, sizeof(param_string), "%.*s", (int)len, name);
            return true;
        }
    }
    return false;
}

static enum err text_parse(const struct nml *n, const struct nml_item *it,
                           const struct nml_value *v, const struct param_row *row, bool loose,
                           param_string out)
{
    char where[NML_WHERE], name[200], range[PARAM_VALUE];
    size_t len = strlen(v->text);
    while (len && v->text[len - 1] == ' ') len--; /* Fortran pads texts with blanks */
    nml_where(n, v->line, where);
    if (v->kind == NML_WORD && !loose)
        FAIL(ERR_PARAM, "%s: the text of '%.60s' needs quotes: write '%.60s'", where, it->name,
             v->text);
    if (len >= sizeof(param_string))
        FAIL(ERR_PARAM, "%s: the text of '%.60s' is longer than %zu bytes", where, it->name,
             sizeof(param_string) - 1);
    snprintf(out, sizeof(param_string), "%.*s", (int)len, v->text);
    if (!row->choices) return OK;
    bool known = true;
    param_string word;
    snprintf(word, sizeof word, "%s", out);
    bool found = choice_find(row->choices, word, out, &known);
    if (loose) return OK;
    if (!found)
        FAIL(ERR_PARAM, "%s: %s is unknown; possible values are %s", where, called(it, v, name),
             param_range_text(row, range));
    if (!known)
        FAIL(ERR_PARAM, "%s: %s is not supported: %s", where, called(it, v, name), row->note);
    return OK;
}

/* Parses a number or logical; the number is returned as a double for the range check. */
static enum err number_parse(const struct nml *n, const struct nml_item *it,
                             const struct nml_value *v, const struct param_row *row,
                             union value *out, double *number)
{
    static const char *const wants[] = {"a logical (.true. or .false.)", "an integer", "an integer",
                                        "a number", "a text"};
    char where[NML_WHERE], name[200];
    bool good = false, word = v->kind == NML_WORD;
    int64_t l = 0;
    if (row->kind == PARAM_BOOL) {
        good = word && parse_bool(v->text, &out->b);
        *number = good && out->b;
    } else if (row->kind == PARAM_REAL) {
        good = word && parse_real(v->text, &out->r);
        *number = good ? out->r : 0;
    } else {
        good = word && parse_integer(v->text, &l) &&
               (row->kind == PARAM_LONG || (l >= INT_MIN && l <= INT_MAX));
        *number = (double)l;
        if (row->kind == PARAM_LONG)
            out->l = l;
        else
            out->i = (int)l;
    }
    if (!good && word && is_too_large(v->text, row))
        FAIL(ERR_PARAM, "%s: %s is too large for an integer of %d bytes",
             nml_where(n, v->line, where), called(it, v, name), row->kind == PARAM_INT ? 4 : 8);
    if (!good)
        FAIL(ERR_PARAM, "%s: %s, but '%.60s' is %s", nml_where(n, v->line, where),
             called(it, v, name), it->name, wants[row->kind]);
    return OK;
}

/* Parses a value and checks it against its row; loose: any value of the right type is accepted. */
static enum err value_parse(const struct nml *n, const struct nml_item *it,
                            const struct nml_value *v, const struct param_row *row, bool loose,
                            union value *out)
{
    char where[NML_WHERE], name[200], range[PARAM_VALUE];
    double number = 0;
    memset(out, 0, sizeof *out);
    if (row->kind == PARAM_TEXT)
        TRY(text_parse(n, it, v, row, loose, out->s));
    else
        TRY(number_parse(n, it, v, row, out, &number));
    union value def;
    default_of(row, &def);
    bool is_default = memcmp(out, &def, param_element_size(row)) == 0;
    if (row->kind == PARAM_REAL) is_default = out->r == def.r; /* -0 equals 0 */
    if (is_default || loose) return OK;
    nml_where(n, v->line, where);
    called(it, v, name);
    if (row->status == PARAM_REFUSED)
        FAIL(ERR_PARAM, "%s: %s is not supported: %s", where, name, row->note);
    if (row->kind != PARAM_TEXT && !(number >= row->min && number <= row->max))
        FAIL(ERR_PARAM, "%s: %s is out of range: %s allowed%s%s", where, name,
             param_range_text(row, range), row->status == PARAM_LIMIT ? ": " : "",
             row->status == PARAM_LIMIT ? row->note : "");
    return OK;
}

/* Splits "group/name(index)=value" (blanks allowed around the parts) and finds the row. */
static enum err assignment_find(const struct params *p, const char *text, char name[64],
                                const char **index, const struct param_group **in,
                                const struct param_row **row)
{
    char group[64] = "", hint[160];
    const char *equal = strchr(text, '='),
               *slash = memchr(text, '/', equal ? (size_t)(equal - text) : 0);
    /* RAMSES takes the number of an output for a restart */
    if (!equal && *text && !text[strspn(text, "0123456789")])
        FAIL(ERR_PARAM,
             "'%.100s' is not an assignment: write group/name=value; to resume from output_%05ld, "
             "run_params/nrestart=%.100s or -r with its path",
             text, strtol(text, NULL, 10), text);
    if (!equal) FAIL(ERR_PARAM, "'%.100s' is not an assignment: write group/name=value", text);
    if (slash)
        snprintf(group, sizeof group, "%.*s", (int)(slash - text < 63 ? slash - text : 63), text);
    const char *from = slash ? slash + 1 : text;
    from += strspn(from, " \t");
    size_t len = strcspn(from, " \t(=");
    snprintf(name, 64, "%.*s", (int)(len < 63 ? len : 63), from);
    for (char *c = name; *c; c++) *c = (char)tolower((unsigned char)*c);
    *index = from + len;
    const struct param_group *g = slash ? param_group_find(group, true) : NULL;
    if (slash && !g)
        FAIL(ERR_PARAM, "command line: there is no parameter group '%s'%s", group,
             param_hint_group(group, hint));
    bool several = false;
    if (!g) g = param_solver_group(p);
    *row = g ? param_row_find(g, name) : NULL;
    if (!*row && !slash) *row = param_row_find_any(name, &several);
    if (several)
        FAIL(ERR_PARAM, "command line: '%s' is in several groups: write group/%s=value", name,
             name);
    if (!*row)
        FAIL(ERR_PARAM, "command line: there is no parameter '%.*s'%s",
             (int)(strcspn(text, "(=") > 90 ? 90 : strcspn(text, "(=")), text,
             param_hint_name(g, name, hint));
    *in = slash ? g : param_group_find((*row)->group, true);
    return OK;
}

/* Length of the repeat count, as in 5*, before a value of an array of texts. */
static size_t repeat_length(const struct param_row *row, const char *value)
{
    const size_t n = strspn(value, "0123456789");
    return row->kind == PARAM_TEXT && row->array && n && value[n] == '*' ? n + 1 : 0;
}

/* Namelist of one assignment; a text without quotes is put into quotes. (owner: caller, mem_free)
 */
static char *assignment_namelist(const char *name, const char *index, const struct param_row *row)
{
    const char *value = strchr(index, '=') + 1;
    value += strspn(value, " \t");
    size_t room = 2 * strlen(index) + strlen(name) + 128;
    char *text = mem_new(room, "namelist"), *t = text;
    t += snprintf(t, room, "&x %s%.*s=", name, (int)(value - index), index);
    while (t[-1] == '=' || t[-1] == ' ' || t[-1] == '\t') t--;
    t += snprintf(t, 8, " = ");
    const size_t count = repeat_length(row, value);
    t += snprintf(t, room, "%.*s", (int)count, value);
    value += count;
    bool quote = row->kind == PARAM_TEXT && *value && *value != '\'' && *value != '"';
    if (quote) *t++ = '\'';
    for (; *value; value++) {
        if (quote && *value == '\'') *t++ = '\'';
        *t++ = *value;
    }
    snprintf(t, 8, quote ? "'\n/" : "\n/");
    return text;
}

enum err param_set(struct params *p, const char *assignment)
{
    char name[64];
    const char *index = NULL;
    const struct param_group *g = NULL;
    const struct param_row *row = NULL;
    enum err err;
    struct nml n = {.file = NULL};
    TRY(assignment_find(p, assignment, name, &index, &g, &row));
    char *text = assignment_namelist(name, index, row);
    TRY_OUT(nml_parse(&n, text, strlen(text), NULL, &param_names));
    if (n.ngroup != 1 || n.nitem != 1 || n.items[0].count == 0) {
        err = err_set(ERR_PARAM, "command line: '%.100s' is not one assignment with a value",
                      assignment);
        goto out;
    }
    TRY_OUT(apply(p, &n, &n.items[0], row, false));
    note_group(p, row, g);
out:
    nml_free(&n);
    mem_free(text);
    return err;
}

bool param_group_read(const struct params *p, const char *group, const char **why)
{
    *why = NULL;
    if (strcmp(group, "hydro") == 0 && !p->run.hydro) *why = "hydro=.true.";
    if (strcmp(group, "refine") == 0 && p->amr.levelmax == p->amr.levelmin)
        *why = "levelmax > levelmin";
    if (strcmp(group, "clumpfind") == 0 && !p->run.clumpfind && !param_creates_sinks(p))
        *why = "clumpfind=.true., or create_sinks=.true.";
    if (strcmp(group, "unbinding") == 0 && !p->run.unbind) *why = "unbind=.true.";
    if (strcmp(group, "sink") == 0 && !p->run.sink) *why = "sink=.true.";
    if (strcmp(group, "cosmo") == 0 && !p->run.cosmo) *why = "cosmo=.true.";
    return !*why;
}

static const struct param_row *row_named(const char *group, const char *name)
{
    const struct param_group *g = param_group_find(group, true);
    const struct param_row *row = g ? param_row_find(g, name) : NULL;
    BUG_ON(!row);
    return row;
}

bool param_given(const struct params *p, const char *group, const char *name)
{
    const struct param_row *row = row_named(group, name);
    const char *why;
    return p->given[param_row_index(row)] && param_group_read(p, row->group, &why);
}

int param_given_count(const struct params *p, const char *group, const char *name)
{
    return param_given(p, group, name) ? p->count[param_row_index(row_named(group, name))] : 0;
}
