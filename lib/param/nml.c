/* param/nml: a hand-written scanner, one pass, no recursion, one character of memory plus one
 * look-ahead: whether a word is the next name (followed by `=` or by `(…) =`) or one more value.
 * Texts are copied into one pool; a text of k characters consumes at least k + 1 characters of
 * input, and texts of notes are copied twice, so the pool is at most twice the input. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "param/scan.h"

/* Separator between two values, or before the first one. */
struct gap {
    int64_t commas, comments;
    int line; /* line of the ambiguity, or the last line */
    /* reason why compilers assign a following value to different elements; NULL: no ambiguity */
    const char *doubt;
};

static enum err scan_file(struct scan *s);
static enum err scan_group(struct scan *s);
static enum err scan_body(struct scan *s, const struct nml_group *g);
static enum err scan_item(struct scan *s);
static enum err scan_index(struct scan *s, struct nml_item *it);
static enum err scan_values(struct scan *s, struct nml_item *it);
static enum err scan_value(struct scan *s, struct nml_value *v);

enum err nml_parse(struct nml *n, const char *text, size_t bytes, const char *file,
                   const struct nml_names *names)
{
    *n = (struct nml){.file = file};
    struct scan s = {
        .n = n, .names = names, .p = text, .end = text + bytes, .line_begin = text, .line = 1};
    if (bytes > NML_BYTES_MAX)
        FAIL(ERR_FORMAT, "%s is %zu bytes long: a namelist has at most %d", file, bytes,
             NML_BYTES_MAX);
    const char *zero = memchr(text, 0, bytes);
    if (zero)
        FAIL(ERR_FORMAT, "%s has a zero byte at offset %zu: a namelist is a text file",
             file ? file : "command line", (size_t)(zero - text));
    n->pool = s.pool = mem_new(2 * bytes + 8, "namelist");
    enum err err = scan_file(&s);
    if (err != OK) nml_free(n);
    return err;
}

void nml_free(struct nml *n)
{
    FREE(n->groups);
    FREE(n->items);
    FREE(n->values);
    FREE(n->notes);
    FREE(n->pool);
    n->ngroup = n->nitem = n->nvalue = n->nnote = 0;
}

const char *nml_where(const struct nml *n, int line, char buf[NML_WHERE])
{
    if (n->file)
        snprintf(buf, NML_WHERE, "%.270s:%d", n->file, line);
    else
        snprintf(buf, NML_WHERE, "command line");
    return buf;
}

void *scan_room(void *rows, size_t n, size_t *cap, size_t size)
{
    if (n < *cap) return rows;
    *cap = *cap ? 2 * *cap : 64;
    return mem_grow(rows, *cap * size, "namelist");
}

const char *scan_show(int c, char buf[16])
{
    if (c < 0)
        snprintf(buf, 16, "the end");
    else if (c >= 32 && c < 127)
        snprintf(buf, 16, "'%c'", c);
    else if (c == '\n')
        snprintf(buf, 16, "a line end");
    else
        snprintf(buf, 16, "byte 0x%02x", (unsigned)c);
    return buf;
}

/* Whether a blank begins here; a carriage return counts only before a line end, a form feed is no
 * blank in Fortran. */
static bool is_blank_here(const struct scan *s)
{
    int c = peek(s);
    return c == ' ' || c == '\t' || (c == '\r' && (s->p + 1 == s->end || s->p[1] == '\n'));
}

static void skip_line(struct scan *s)
{
    const char *nl = s->p < s->end ? memchr(s->p, '\n', (size_t)(s->end - s->p)) : NULL;
    s->p = nl ? nl : s->end;
}

static void skip_blank(struct scan *s)
{
    while (is_blank_here(s)) s->p++;
}

/* Skips blanks, line ends and comments. */
static void skip_space(struct scan *s)
{
    for (;;) {
        skip_blank(s);
        int c = peek(s);
        if (c == '!')
            skip_line(s);
        else if (c == '\n')
            scan_newline(s);
        else
            return;
    }
}

static const char *pool_name(struct scan *s, int (*change_case)(int))
{
    const char *name = s->pool;
    while (is_name_char(peek(s))) *s->pool++ = (char)change_case((unsigned char)*s->p++);
    *s->pool++ = 0;
    return name;
}

static enum err scan_file(struct scan *s)
{
    if (s->end - s->p >= 3 && memcmp(s->p, "\xef\xbb\xbf", 3) == 0) s->line_begin = s->p += 3;
    for (;;) {
        bool found;
        TRY(outside_next(s, &found));
        if (!found) return OK;
        TRY(scan_group(s));
    }
}

static enum err group_begin(struct scan *s)
{
    struct nml *n = s->n;
    if (n->ngroup == NML_GROUPS_MAX) SCAN_FAIL(s, "there are more than %d groups", NML_GROUPS_MAX);
    s->p++; /* the & */
    n->groups = scan_room(n->groups, n->ngroup, &s->cap_group, sizeof *n->groups);
    struct nml_group *g = &n->groups[n->ngroup];
    *g = (struct nml_group){.line = s->line, .name = pool_name(s, toupper)};
    n->ngroup++;
    return OK;
}

/* Refuses a quotient of numbers, whose '/' would end the group; s->p is behind the '/'. */
static enum err check_quotient(struct scan *s)
{
    static const char DIGITS[] = "0123456789.";
    const char *slash = s->p - 1, *from = slash, *to = s->p;
    char above[32], below[32];
    while (from > s->line_begin && memchr(DIGITS, from[-1], sizeof DIGITS - 1)) from--;
    while (to < s->end && memchr(DIGITS, *to, sizeof DIGITS - 1)) to++;
    if (from == slash || to == s->p || slash - from > 30 || to - s->p > 30) return OK;
    snprintf(above, sizeof above, "%.*s", (int)(slash - from), from);
    snprintf(below, sizeof below, "%.*s", (int)(to - s->p), s->p);
    SCAN_FAIL(s, "%s/%s is no number, since '/' ends the group: write %.8g", above, below,
              strtod(above, NULL) / strtod(below, NULL));
}

/* Ends a group at '/'. Text attached to it is most likely the rest of an unquoted path. */
static enum err group_end(struct scan *s)
{
    s->p++;
    int c = peek(s);
    TRY(check_quotient(s));
    if (c >= 0 && c != '\n' && !is_blank_here(s) && c != '!' && c != '&' && c != '$')
        SCAN_FAIL(
            s, "text follows the '/' that ends &%.60s: put paths and values with '/' into quotes",
            s->n->groups[s->n->ngroup - 1].name);
    return OK;
}

/* Scans a group. If it begins within a remark, only Fortran may take it for a group. */
static enum err scan_group(struct scan *s)
{
    TRY(group_begin(s));
    const struct nml_group g = s->n->groups[s->n->ngroup - 1];
    enum err err = scan_body(s, &g);
    if (err == OK || !s->within) return err;
    char message[1024];
    snprintf(message, sizeof message, "%s", err_message());
    return err_set(err, "%.800s (Fortran reads the group from line %d, whatever precedes &%.60s)",
                   message, g.line, g.name);
}

static bool is_end(const struct scan *s)
{
    return s->end - s->p >= 4 && strncasecmp(s->p + 1, "end", 3) == 0 &&
           (s->end - s->p == 4 || !is_name_char((unsigned char)s->p[4]));
}

/* Ends the last group at the end of the file: Fortran reads its values and then reports the end of
 * file, which RAMSES ignores in most groups. */
static enum err group_endless(struct scan *s, const struct nml_group *g)
{
    if (s->names->needs_end(g->name))
        SCAN_FAIL(s, "the file ends within group &%.60s (line %d): its closing '/' is missing",
                  g->name, g->line);
    struct nml_note note = {.doubt = NML_ENDLESS, .line = g->line};
    outside_note(s, note, g->name, g->name + strlen(g->name));
    return OK;
}

static enum err scan_body(struct scan *s, const struct nml_group *g)
{
    for (;;) {
        skip_space(s);
        int c = peek(s);
        char buf[16];
        if (c < 0) return group_endless(s, g);
        if (c == '/') return group_end(s);
        if ((c == '&' || c == '$') && is_end(s)) return s->p += 4, OK;
        if (c == '&' || c == '$')
            SCAN_FAIL(s, "a new group begins, but &%.60s (line %d) has no closing '/'", g->name,
                      g->line);
        if (c == ',' || c == ';') {
            s->p++;
            continue;
        }
        if (!is_name_start(c))
            SCAN_FAIL(s, "expected a parameter name or '/' in group &%.60s, not %s", g->name,
                      scan_show(c, buf));
        TRY(scan_item(s));
    }
}

static enum err scan_item(struct scan *s)
{
    struct nml *n = s->n;
    char buf[16];
    struct nml_item it = {.group = n->ngroup - 1, .line = s->line, .first = n->nvalue};
    it.name = pool_name(s, tolower);
    skip_blank(s);
    if (peek(s) == '(') TRY(scan_index(s, &it));
    skip_space(s);
    if (peek(s) != '=')
        SCAN_FAIL(s, "expected '=' after '%.60s', not %s", it.name, scan_show(peek(s), buf));
    s->p++;
    TRY(scan_values(s, &it));
    it.count = n->nvalue - it.first;
    n->items = scan_room(n->items, n->nitem, &s->cap_item, sizeof *n->items);
    n->items[n->nitem++] = it;
    return OK;
}

/* Scans a signed integer of at most nine digits. */
static enum err scan_integer(struct scan *s, const char *name, int64_t *out)
{
    int sign = 1, digits = 0;
    char buf[16];
    *out = 0;
    if (peek(s) == '-' || peek(s) == '+') sign = *s->p++ == '-' ? -1 : 1;
    while (peek(s) >= '0' && peek(s) <= '9' && digits < 10)
        *out = 10 * *out + (*s->p++ - '0'), digits++;
    if (digits == 0)
        SCAN_FAIL(s, "expected an index of '%.60s', not %s", name, scan_show(peek(s), buf));
    if (digits > 9) SCAN_FAIL(s, "the index of '%.60s' is too large", name);
    *out *= sign;
    return OK;
}

/* Skips blanks behind a number of an index; gfortran misreads text that follows them. */
static enum err scan_index_blank(struct scan *s, const char *name)
{
    const char *from = s->p;
    skip_blank(s);
    if (s->p > from && (peek(s) == ':' || peek(s) == ','))
        SCAN_FAIL(s, "a blank stands before '%c' in the index of '%.60s': leave it out", peek(s),
                  name);
    return OK;
}

/* Scans a subscript: lo, lo:, :hi, : or lo:hi:step. */
static enum err scan_subscript(struct scan *s, const char *name, struct nml_index *ix)
{
    *ix = (struct nml_index){.step = 1};
    skip_blank(s);
    if (peek(s) != ':') {
        TRY(scan_integer(s, name, &ix->lo));
        TRY(scan_index_blank(s, name));
        ix->has_lo = true;
    }
    if (peek(s) != ':') {
        ix->hi = ix->lo;
        ix->has_hi = true;
        return OK;
    }
    ix->section = true;
    s->p++;
    TRY(scan_index_blank(s, name));
    if (peek(s) == ',' || peek(s) == ')') return OK;
    if (peek(s) != ':') {
        TRY(scan_integer(s, name, &ix->hi));
        TRY(scan_index_blank(s, name));
        ix->has_hi = true;
        if (peek(s) != ':') return OK;
    }
    s->p++;
    skip_blank(s);
    TRY(scan_integer(s, name, &ix->step));
    TRY(scan_index_blank(s, name));
    if (ix->step == 0 || !ix->has_lo || !ix->has_hi)
        SCAN_FAIL(s, "a stride in the index of '%.60s' needs the form (first:last:step)", name);
    return OK;
}

static enum err scan_index(struct scan *s, struct nml_item *it)
{
    char buf[16];
    do {
        s->p++; /* the parenthesis or comma */
        if (it->rank == 2) SCAN_FAIL(s, "'%.60s' has more than two indices", it->name);
        TRY(scan_subscript(s, it->name, &it->index[it->rank++]));
    } while (peek(s) == ',');
    if (peek(s) != ')')
        SCAN_FAIL(s, "expected ')' after the index of '%.60s', not %s", it->name,
                  scan_show(peek(s), buf));
    s->p++;
    return OK;
}

/* Whether a `name =` or `name(…) =` begins here. */
static bool name_ahead(const struct scan *now)
{
    struct scan s = *now;
    if (!is_name_start(peek(&s))) return false;
    while (is_name_char(peek(&s))) s.p++;
    skip_blank(&s);
    if (peek(&s) == '(') {
        for (int i = 0; i < 80 && peek(&s) >= 0 && peek(&s) != ')' && peek(&s) != '\n'; i++) s.p++;
        if (peek(&s) != ')') return false;
        s.p++;
    }
    skip_space(&s);
    return peek(&s) == '=';
}

static void push(struct scan *s, struct nml_value v)
{
    struct nml *n = s->n;
    n->values = scan_room(n->values, n->nvalue, &s->cap_value, sizeof *n->values);
    n->values[n->nvalue++] = v;
}

/* Scans a separator: blanks, line ends, comments and at most one comma. By the standard, blanks,
 * line ends and comments next to a comma have no meaning. gfortran takes a comment on the line of a
 * comma, or of `=`, for one more null value, and likewise a line end before a comma. */
static struct gap scan_gap(struct scan *s, bool first)
{
    struct gap g = {.commas = 0};
    bool fresh = false; /* whether a line without value, comma or `=` precedes */
    for (;;) {
        skip_blank(s);
        int c = peek(s);
        const char *doubt = NULL;
        if (c == '!' && !fresh && g.commas > 0)
            doubt = "a comment behind a comma: leave out this comma";
        else if (c == '!' && !fresh && first)
            doubt = "a comment before the first value: put it behind the value";
        else if ((c == ',' || c == ';') && fresh && g.commas == 0)
            doubt = "a comma that begins a line: put it at the end of the line before";
        if (!g.doubt) g.doubt = doubt, g.line = s->line;
        if (c == '!')
            skip_line(s), g.comments++;
        else if (c == '\n')
            scan_newline(s), fresh = true;
        else if (c == ',' || c == ';')
            s->p++, g.commas++, fresh = false;
        else
            return g;
    }
}

/* Scans values up to the next name or the end of the group. */
static enum err scan_values(struct scan *s, struct nml_item *it)
{
    struct gap g = scan_gap(s, true);
    int64_t nulls = g.commas;
    for (;;) {
        int c = peek(s);
        char buf[16];
        if (c < 0 || strchr("/&$", c) || name_ahead(s)) return it->doubt = g.doubt, OK;
        if (g.doubt)
            SCAN_FAIL_AT(s, g.line, "in '%.60s', compilers differ on %s", it->name, g.doubt);
        for (; nulls > 0; nulls--)
            push(s, (struct nml_value){.kind = NML_NULL, .repeat = 1, .line = s->line});
        struct nml_value v = {.repeat = 1, .line = s->line};
        TRY(scan_value(s, &v));
        push(s, v);
        c = peek(s);
        if (v.kind == NML_NULL && (c == ';' || c == '!'))
            SCAN_FAIL(s, "in '%.60s', compilers differ on '%c' behind '*': write ','", it->name, c);
        if (c >= 0 && !is_blank_here(s) && !strchr(",;/\n!", c))
            SCAN_FAIL(s, "expected a comma or blank after a value of '%.60s', not %s", it->name,
                      scan_show(c, buf));
        g = scan_gap(s, false);
        nulls = g.commas - 1;
        bool undotted = v.kind == NML_WORD && is_name_start(v.text[0]) && v.text[1];
        if (undotted && c < 0)
            SCAN_FAIL(s, "in '%.60s', gfortran skips '%.60s' at the end of the file: add a '/'",
                      it->name, v.text);
        if (undotted && g.comments > 0)
            g.doubt = "a comment behind a logical without dots: write .true. or .false.";
    }
}

/* Scans the repeat count n* before a value. */
static enum err scan_repeat(struct scan *s, struct nml_value *v)
{
    const char *q = s->p;
    int64_t n = 0;
    while (q < s->end && *q >= '0' && *q <= '9') {
        n = 10 * n + (*q++ - '0');
        if (n > NML_REPEAT_MAX) n = NML_REPEAT_MAX + 1;
    }
    if (q == s->p || q == s->end || *q != '*') return OK;
    if (n < 1 || n > NML_REPEAT_MAX)
        SCAN_FAIL(s, "a repeat count must be between 1 and %d", NML_REPEAT_MAX);
    v->repeat = n;
    s->p = q + 1;
    return OK;
}

static enum err scan_string(struct scan *s, struct nml_value *v)
{
    int quote = *s->p++;
    const char *begin = s->p;
    v->kind = NML_STRING;
    v->text = s->pool;
    for (;; s->p++) {
        int c = peek(s);
        if (c < 0 || c == '\n')
            SCAN_FAIL(s, "the string that begins with %c is not closed in its line", quote);
        if (c == quote && (s->p + 1 == s->end || s->p[1] != quote)) break;
        if (c == quote) s->p++;
        if (c < 32 && c != '\t')
            SCAN_FAIL(s, "a string contains byte 0x%02x: a namelist must be a text file",
                      (unsigned)c);
        *s->pool++ = (char)c;
    }
    TRY(outside_in_text(s, begin, s->p));
    s->p++;
    *s->pool++ = 0;
    return OK;
}

static enum err scan_value(struct scan *s, struct nml_value *v)
{
    TRY(scan_repeat(s, v));
    int c = peek(s);
    if (c == '\'' || c == '"') return scan_string(s, v);
    v->text = s->pool;
    for (; (c = peek(s)) >= 0 && !is_blank_here(s) && !strchr(",;/\n!", c); s->p++) {
        char buf[16];
        if (c < 32 || strchr("'\"=()*&$", c))
            SCAN_FAIL(s, "%s is not allowed in a value", scan_show(c, buf));
        *s->pool++ = (char)c;
    }
    v->kind = s->pool == v->text ? NML_NULL : NML_WORD;
    *s->pool++ = 0;
    return OK;
}
