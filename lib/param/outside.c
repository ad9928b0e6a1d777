/* param/outside: text outside of groups, and the beginning of groups.
 *
 * To read a group, Fortran searches the file from its start for & or $ with the group's name and a
 * separator behind it, anywhere in a line, skipping only text after an exclamation mark. This
 * search knows neither strings nor the groups that it passes. Ptah searches in the same way, but
 * for all groups in one pass, and refuses text that the search for a single group would see
 * differently. */
#include <stdio.h>
#include <strings.h>

#include "param/scan.h"

enum { EXCERPT = 60, INDEX_MAX = 80, WORDS_MAX = 10000, SHORTEST = 3 };

/* Rest of a line, without leading blanks. */
struct line {
    const char *from, *to; /* range of the text before a comment */
    const char *hidden;    /* start of text that a search for a group skips */
};

/* A possible beginning of a group: & or $ at `at`, its name, and the end of the name. */
struct mark {
    const char *at, *end; /* end: behind the name */
    char name[64];        /* name, possibly truncated */
    bool known;           /* whether parameters have such a group */
    int seen;             /* line of an earlier group of this name; 0: none */
};

static enum err line_search(struct scan *s, bool *found);
static enum err mark_check(struct scan *s, const struct mark *m, const struct line *l, bool *found);
static enum err lone_mark(struct scan *s, const struct mark *m);
static void note_remark(struct scan *s, const char *from, const char *to);

static bool is_blank(int c)
{
    return c == ' ' || (c >= '\t' && c <= '\r' && c != '\n');
}

static bool is_mark(int c)
{
    return c == '&' || c == '$';
}

/* Whether a character may follow the name of a group. */
static bool is_separator(int c)
{
    return c < 0 || strchr(" \t\r\n,;/!", c);
}

static const char *after_blanks(const char *p, const char *to)
{
    while (p < to && is_blank((unsigned char)*p)) p++;
    return p;
}

static const char *after_name(const char *p, const char *to)
{
    while (p < to && is_name_char((unsigned char)*p)) p++;
    return p;
}

enum err outside_next(struct scan *s, bool *found)
{
    *found = false;
    while (s->p < s->end) {
        TRY(line_search(s, found));
        if (*found) return OK;
        if (s->p < s->end) scan_newline(s);
    }
    return OK;
}

static struct mark mark_at(const struct scan *s, const char *at)
{
    struct mark m = {.at = at, .end = after_name(at + 1, s->end)};
    snprintf(m.name, sizeof m.name, "%.*s", (int)(m.end - at - 1 < 63 ? m.end - at - 1 : 63),
             at + 1);
    for (char *c = m.name; *c; c++) *c = (char)toupper((unsigned char)*c);
    m.known = s->names->is_group(m.name);
    for (size_t i = 0; i < s->n->ngroup && !m.seen; i++)
        if (strcmp(s->n->groups[i].name, m.name) == 0) m.seen = s->n->groups[i].line;
    return m;
}

static int next_char(const struct scan *s, const struct mark *m)
{
    return m->end < s->end ? (unsigned char)*m->end : -1;
}

/* Whether & or $ stands before p, with at most letters between. A search for a group whose name
 * begins with these letters skips *p with them. */
static bool is_swallowed(const char *from, const char *p)
{
    while (p > from && is_name_char((unsigned char)p[-1])) p--;
    return p > from && is_mark((unsigned char)p[-1]);
}

static const char *comment_of(const char *from, const char *to)
{
    for (const char *p = from; p < to; p++)
        if (*p == '!' && !is_swallowed(from, p)) return p;
    return to;
}

/* Searches the rest of the line for a group. If there is none, s->p is the end of the line. */
static enum err line_search(struct scan *s, bool *found)
{
    const char *newline = memchr(s->p, '\n', (size_t)(s->end - s->p));
    const char *end = newline ? newline : s->end, *from = after_blanks(s->p, end);
    struct line l = {.from = from, .to = comment_of(from, end)};
    l.hidden = memchr(s->line_begin, '!', (size_t)(l.to - s->line_begin));
    if (!s->n->file && s->n->ngroup && from < end)
        SCAN_FAIL(s, "this is not one assignment: text follows the '/' that ends it");
    for (const char *p = from; p < l.to; p++) {
        if (!is_mark((unsigned char)*p)) continue;
        struct mark m = mark_at(s, p);
        TRY(mark_check(s, &m, &l, found));
        if (*found) {
            s->p = p;
            return OK;
        }
        p = m.end - 1;
    }
    s->p = end;
    note_remark(s, from, l.to);
    return OK;
}

/* Checks a mark that Fortran recognises, or would recognise if it were written slightly
 * differently. */
static enum err mark_check(struct scan *s, const struct mark *m, const struct line *l, bool *found)
{
    char buf[16];
    bool first = m->at == l->from, hidden = l->hidden && l->hidden < m->at;
    struct nml_note note = {.line = s->line};
    if (!*m->name) return first ? lone_mark(s, m) : OK;
    if ((!m->known && !first) || strcmp(m->name, "END") == 0) return OK;
    if (!is_separator(next_char(s, m))) {
        if (!m->known) return OK;
        SCAN_FAIL(s, "a blank must follow &%s, not %s", m->name, scan_show(next_char(s, m), buf));
    }
    if (m->seen && first)
        SCAN_FAIL(s, "group &%.60s appears a second time (first in line %d): join the two", m->name,
                  m->seen);
    if (m->seen) {
        note.doubt = NML_MENTION;
        outside_note(s, note, m->at, m->end);
        return OK;
    }
    if (hidden && !m->known) return OK;
    if (hidden)
        SCAN_FAIL(s, "the '!' before it in the line hides &%s from Fortran: begin a line with &%s",
                  m->name, m->name);
    if (is_swallowed(s->line_begin, m->at))
        SCAN_FAIL(s, "Fortran does not find &%s right after another '&': begin a line with &%s",
                  m->name, m->name);
    *found = true;
    s->within = !first;
    note.doubt = NML_BEFORE;
    if (!first) outside_note(s, note, l->from, m->at);
    return OK;
}

/* Checks an & without a name: a remark, unless a group is meant. */
static enum err lone_mark(struct scan *s, const struct mark *m)
{
    const char *p = after_blanks(m->end, s->end);
    if (p == m->end) return OK;
    struct mark meant = mark_at(s, p - 1);
    if (!meant.known || meant.seen) return OK;
    SCAN_FAIL(s, "a group name must follow '&' at once: write &%s", meant.name);
}

enum err outside_in_text(const struct scan *s, const char *from, const char *to)
{
    for (const char *p = from; p < to; p++) {
        if (!is_mark((unsigned char)*p)) continue;
        struct mark m = mark_at(s, p);
        if (m.known && !m.seen && m.end < to && is_separator((unsigned char)*m.end))
            SCAN_FAIL(s, "Fortran takes &%s in this string for the group: write something else",
                      m.name);
    }
    return OK;
}

/* ---- notes ---- */

void outside_note(struct scan *s, struct nml_note note, const char *from, const char *to)
{
    struct nml *n = s->n;
    if (n->nnote >= NML_NOTES_MAX) {
        n->nnote++;
        return;
    }
    while (to > from && is_blank((unsigned char)to[-1])) to--;
    note.text = s->pool;
    for (int i = 0; i < EXCERPT && from < to; i++, from++)
        *s->pool++ = (unsigned char)*from < 32 || *from == 127 ? '?' : *from;
    *s->pool++ = 0;
    n->notes = scan_room(n->notes, n->nnote, &s->cap_note, sizeof *n->notes);
    n->notes[n->nnote++] = note;
}

/* Whether `name =` or `name(…) =` begins here. */
static bool is_assignment(const char *p, const char *to)
{
    if (p == to || !is_name_start((unsigned char)*p)) return false;
    p = after_blanks(after_name(p, to), to);
    if (p < to && *p == '(') {
        const char *close = memchr(p, ')', to - p < INDEX_MAX ? (size_t)(to - p) : INDEX_MAX);
        p = close ? after_blanks(close + 1, to) : to;
    }
    return p < to && *p == '=' && (p + 1 == to || p[1] != '=');
}

/* Whether a word is the name of a parameter; names of one letter do not count, as remarks have
 * formulas. */
static bool is_parameter(struct scan *s, const char *p, const char *to)
{
    char name[64];
    const char *end = after_name(p, to);
    if (end - p < SHORTEST || end - p >= (int)sizeof name || s->asked++ > WORDS_MAX) return false;
    snprintf(name, sizeof name, "%.*s", (int)(end - p), p);
    return s->names->is_parameter(name);
}

/* First assignment in a remark: its first word, or a parameter. NULL: none. */
static const char *find_assignment(struct scan *s, const char *from, const char *to)
{
    for (const char *p = from; p < to; p = after_name(p, to)) {
        while (p < to && !is_name_char((unsigned char)*p)) p++;
        if (is_assignment(p, to) && (p == from || is_parameter(s, p, to))) return p;
    }
    return NULL;
}

/* Whether the text is only an end of a group. */
static bool is_end(const char *from, const char *to)
{
    if (from == to) return false;
    const char *p = from + 1;
    if (is_mark((unsigned char)*from) && to - from >= 4 && strncasecmp(p, "end", 3) == 0)
        p += 3;
    else if (*from != '/')
        return false;
    return p == to || is_blank((unsigned char)*p);
}

/* Whether the name of a group is the first word, or follows a sign other than &. */
static bool is_named(const struct scan *s, const char *from, const char *to)
{
    while (from < to && !is_name_char((unsigned char)*from)) from++;
    if (from == to) return false;
    struct mark m = mark_at(s, from - 1);
    return m.known && !m.seen;
}

static void note_remark(struct scan *s, const char *from, const char *to)
{
    const char *assignment = find_assignment(s, from, to);
    struct nml_note note = {.line = s->line};
    if (assignment) {
        note.doubt = NML_ASSIGNMENT;
        outside_note(s, note, assignment, to);
    } else if (is_end(from, to)) {
        note.doubt = NML_END;
        outside_note(s, note, from, to);
    } else if (is_named(s, from, to)) {
        note.doubt = NML_NAME;
        outside_note(s, note, from, to);
    }
}
