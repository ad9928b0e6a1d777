/* param/nml: a hand-written scanner, one pass, no recursion, one character of memory plus one
 * look-ahead: whether a word is the next name (followed by `=` or by `(…) =`) or one more value.
 * Texts are copied into one pool; a text of k characters has used up at least k + 1 characters of
 * input, so the pool is never larger than the input. */
#include "param/nml.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

struct scan {
    struct nml *n;
    const char *p, *end;
    int line;
    char *pool;
    size_t cap_group, cap_item, cap_value;
};

static enum err scan_file(struct scan *s);
static enum err scan_group(struct scan *s);
static enum err scan_item(struct scan *s);
static enum err scan_index(struct scan *s, struct nml_item *it);
static enum err scan_values(struct scan *s, struct nml_item *it);
static enum err scan_value(struct scan *s, struct nml_value *v);

enum err nml_parse(struct nml *n, const char *text, size_t bytes, const char *file)
{
    *n = (struct nml){.file = file};
    struct scan s = {.n = n, .p = text, .end = text + bytes, .line = 1};
    if (bytes > NML_BYTES_MAX)
        FAIL(ERR_FORMAT, "%s is %zu bytes long: a namelist has at most %d", file, bytes,
             NML_BYTES_MAX);
    const char *zero = memchr(text, 0, bytes);
    if (zero)
        FAIL(ERR_FORMAT, "%s has a zero byte at offset %zu: a namelist is a text file",
             file ? file : "command line", (size_t)(zero - text));
    n->pool = s.pool = mem_new(bytes + 8, "namelist");
    enum err err = scan_file(&s);
    if (err != OK) nml_free(n);
    return err;
}

void nml_free(struct nml *n)
{
    FREE(n->groups);
    FREE(n->items);
    FREE(n->values);
    FREE(n->pool);
    n->ngroup = n->nitem = n->nvalue = 0;
}

const char *nml_where(const struct nml *n, int line, char buf[NML_WHERE])
{
    if (n->file)
        snprintf(buf, NML_WHERE, "%.270s:%d", n->file, line);
    else
        snprintf(buf, NML_WHERE, "command line");
    return buf;
}

/* Makes room for one more row; cap is doubled. */
static void *room(void *rows, size_t n, size_t *cap, size_t size)
{
    if (n < *cap) return rows;
    *cap = *cap ? 2 * *cap : 64;
    return mem_grow(rows, *cap * size, "namelist");
}

static const char *here(const struct scan *s, char buf[NML_WHERE])
{
    return nml_where(s->n, s->line, buf);
}

#define SCAN_FAIL(s, fmt, ...)                                                                     \
    do {                                                                                           \
        char where_[NML_WHERE];                                                                    \
        FAIL(ERR_FORMAT, "%s: " fmt, here(s, where_) __VA_OPT__(, ) __VA_ARGS__);                  \
    } while (0)

static int peek(const struct scan *s)
{
    return s->p < s->end ? (unsigned char)*s->p : -1;
}

static bool is_blank(int c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static bool is_name_char(int c)
{
    return c >= 0 && c < 128 && (isalnum(c) || c == '_');
}

static bool is_name_start(int c)
{
    return c >= 0 && c < 128 && (isalpha(c) || c == '_');
}

/* A character as text for a message. */
static const char *show(int c, char buf[16])
{
    if (c < 0)
        snprintf(buf, 16, "the end");
    else if (c >= 32 && c < 127)
        snprintf(buf, 16, "'%c'", c);
    else
        snprintf(buf, 16, "byte 0x%02x", (unsigned)c);
    return buf;
}

static void skip_line(struct scan *s)
{
    const char *nl = s->p < s->end ? memchr(s->p, '\n', (size_t)(s->end - s->p)) : NULL;
    s->p = nl ? nl : s->end;
}

static void skip_blank(struct scan *s)
{
    while (is_blank(peek(s))) s->p++;
}

/* Blanks, line ends and comments. */
static void skip_space(struct scan *s)
{
    for (;;) {
        skip_blank(s);
        int c = peek(s);
        if (c == '!')
            skip_line(s);
        else if (c == '\n')
            s->p++, s->line++;
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

/* Everything outside groups is a remark: a group begins with & as the first character of a line (or
 * after a group). */
static enum err scan_file(struct scan *s)
{
    if (s->end - s->p >= 3 && memcmp(s->p, "\xef\xbb\xbf", 3) == 0) s->p += 3;
    while (s->p < s->end) {
        skip_blank(s);
        if (peek(s) == '&') {
            TRY(scan_group(s));
            skip_blank(s);
            if (peek(s) == '&') continue;
        }
        skip_line(s);
        if (s->p < s->end) s->p++, s->line++;
    }
    return OK;
}

static enum err group_begin(struct scan *s)
{
    struct nml *n = s->n;
    s->p++;
    if (!is_name_start(peek(s))) {
        char buf[16];
        SCAN_FAIL(s, "a group name must follow '&', not %s", show(peek(s), buf));
    }
    n->groups = room(n->groups, n->ngroup, &s->cap_group, sizeof *n->groups);
    struct nml_group *g = &n->groups[n->ngroup];
    *g = (struct nml_group){.line = s->line, .name = pool_name(s, toupper)};
    for (size_t i = 0; i < n->ngroup; i++)
        if (strcmp(n->groups[i].name, g->name) == 0)
            SCAN_FAIL(s, "group &%.60s appears a second time (first in line %d): join the two",
                      g->name, n->groups[i].line);
    n->ngroup++;
    return OK;
}

/* The '/' that ends a group. Text stuck to it is most likely the rest of an unquoted path. */
static enum err group_end(struct scan *s)
{
    s->p++;
    int c = peek(s);
    if (c >= 0 && c != '\n' && !is_blank(c) && c != '!' && c != '&')
        SCAN_FAIL(
            s, "text follows the '/' that ends &%.60s: put paths and values with '/' into quotes",
            s->n->groups[s->n->ngroup - 1].name);
    return OK;
}

static enum err scan_group(struct scan *s)
{
    TRY(group_begin(s));
    const struct nml_group g = s->n->groups[s->n->ngroup - 1];
    for (;;) {
        skip_space(s);
        int c = peek(s);
        char buf[16];
        if (c < 0)
            SCAN_FAIL(s, "the file ends within group &%.60s (line %d): its closing '/' is missing",
                      g.name, g.line);
        if (c == '/') return group_end(s);
        if (c == '&' && s->end - s->p >= 4 && strncasecmp(s->p, "&end", 4) == 0 &&
            (s->end - s->p == 4 || !is_name_char((unsigned char)s->p[4]))) {
            s->p += 4;
            return OK;
        }
        if (c == '&')
            SCAN_FAIL(s, "a new group begins, but &%.60s (line %d) has no closing '/'", g.name,
                      g.line);
        if (!is_name_start(c))
            SCAN_FAIL(s, "expected a parameter name or '/' in group &%.60s, not %s", g.name,
                      show(c, buf));
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
        SCAN_FAIL(s, "expected '=' after '%.60s', not %s", it.name, show(peek(s), buf));
    s->p++;
    TRY(scan_values(s, &it));
    it.count = n->nvalue - it.first;
    n->items = room(n->items, n->nitem, &s->cap_item, sizeof *n->items);
    n->items[n->nitem++] = it;
    return OK;
}

/* A signed integer of at most nine digits. */
static enum err scan_integer(struct scan *s, const char *name, int64_t *out)
{
    int sign = 1, digits = 0;
    char buf[16];
    *out = 0;
    if (peek(s) == '-' || peek(s) == '+') sign = *s->p++ == '-' ? -1 : 1;
    while (peek(s) >= '0' && peek(s) <= '9' && digits < 10)
        *out = 10 * *out + (*s->p++ - '0'), digits++;
    if (digits == 0) SCAN_FAIL(s, "expected an index of '%.60s', not %s", name, show(peek(s), buf));
    if (digits > 9) SCAN_FAIL(s, "the index of '%.60s' is too large", name);
    *out *= sign;
    return OK;
}

static enum err scan_subscript(struct scan *s, const char *name, struct nml_index *ix)
{
    *ix = (struct nml_index){.lo = 0};
    skip_blank(s);
    if (peek(s) != ':') {
        TRY(scan_integer(s, name, &ix->lo));
        ix->has_lo = true;
        skip_blank(s);
    }
    if (peek(s) == ':') {
        ix->section = true;
        s->p++;
        skip_blank(s);
        if (peek(s) == ',' || peek(s) == ')') return OK;
    } else {
        ix->hi = ix->lo;
        ix->has_hi = true;
        return OK;
    }
    TRY(scan_integer(s, name, &ix->hi));
    ix->has_hi = true;
    skip_blank(s);
    if (peek(s) == ':') SCAN_FAIL(s, "a stride in the index of '%.60s' is not supported", name);
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
                  show(peek(s), buf));
    s->p++;
    return OK;
}

/* Does a `name =` or `name(…) =` begin here? */
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
    n->values = room(n->values, n->nvalue, &s->cap_value, sizeof *n->values);
    n->values[n->nvalue++] = v;
}

/* Values up to the next name or the end of the group. A comma right after '=' or another comma is a
 * null value. */
static enum err scan_values(struct scan *s, struct nml_item *it)
{
    bool after_comma = true;
    for (;;) {
        skip_space(s);
        int c = peek(s);
        if (c < 0 || c == '/' || c == '&' || name_ahead(s)) return OK;
        if (c == ',') {
            if (after_comma)
                push(s, (struct nml_value){.kind = NML_NULL, .repeat = 1, .line = s->line});
            after_comma = true;
            s->p++;
            continue;
        }
        struct nml_value v = {.repeat = 1, .line = s->line};
        TRY(scan_value(s, &v));
        push(s, v);
        after_comma = false;
        c = peek(s);
        if (c >= 0 && !is_blank(c) && !strchr(",/\n!&", c)) {
            char buf[16];
            SCAN_FAIL(s, "expected a comma or blank after a value of '%.60s', not %s", it->name,
                      show(c, buf));
        }
    }
}

/* n* before a value. */
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
    v->kind = NML_STRING;
    v->text = s->pool;
    for (;; s->p++) {
        int c = peek(s);
        if (c < 0 || c == '\n')
            SCAN_FAIL(s, "the string that begins with %c is not closed in its line", quote);
        if (c == quote && (s->p + 1 == s->end || s->p[1] != quote)) break;
        if (c == quote) s->p++;
        if (c < 32 && c != '\t')
            SCAN_FAIL(s, "byte 0x%02x in a string: is this a text file?", (unsigned)c);
        *s->pool++ = (char)c;
    }
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
    for (; (c = peek(s)) >= 0 && !is_blank(c) && !strchr(",/\n!&", c); s->p++) {
        char buf[16];
        if (c < 32 || strchr("'\"=()*", c))
            SCAN_FAIL(s, "%s has no place in a value", show(c, buf));
        *s->pool++ = (char)c;
    }
    v->kind = s->pool == v->text ? NML_NULL : NML_WORD;
    *s->pool++ = 0;
    return OK;
}
