/* param/scan: the scanner of namelists. Private to param. */
#pragma once
#include <ctype.h>
#include <string.h>

#include "param/nml.h"

struct scan {
    struct nml *n;
    const struct nml_names *names;
    const char *p, *end;
    const char *line_begin; /* beginning of the line that contains p */
    int line;
    bool within; /* whether text precedes the group in its line */
    int asked;   /* number of words outside of groups that were looked up as parameters */
    char *pool;
    size_t cap_group, cap_item, cap_value, cap_note;
};

#define SCAN_FAIL_AT(s, location, fmt, ...)                                                        \
    do {                                                                                           \
        char where_[NML_WHERE];                                                                    \
        FAIL(ERR_FORMAT, "%s: " fmt,                                                               \
             nml_where((s)->n, location, where_) __VA_OPT__(, ) __VA_ARGS__);                      \
    } while (0)
#define SCAN_FAIL(s, fmt, ...) SCAN_FAIL_AT(s, (s)->line, fmt __VA_OPT__(, ) __VA_ARGS__)

static inline int peek(const struct scan *s)
{
    return s->p < s->end ? (unsigned char)*s->p : -1;
}

static inline bool is_name_char(int c)
{
    return c >= 0 && c < 128 && (isalnum(c) || c == '_');
}

static inline bool is_name_start(int c)
{
    return c >= 0 && c < 128 && (isalpha(c) || c == '_');
}

/* Moves past a line end. */
static inline void scan_newline(struct scan *s)
{
    s->p++;
    s->line++;
    s->line_begin = s->p;
}

/* Makes room for one more row; doubles *cap if needed. */
void *scan_room(void *rows, size_t n, size_t *cap, size_t size);
/* Text of a character for messages. */
const char *scan_show(int c, char buf[16]);

/* Moves to the & of the next group, or to the end of the text (param/outside). */
MUST_USE enum err outside_next(struct scan *s, bool *found);
/* Refuses a text within a group in which Fortran would find another group. */
MUST_USE enum err outside_in_text(const struct scan *s, const char *from, const char *to);
/* Notes the text, truncated to 60 characters. */
void outside_note(struct scan *s, struct nml_note note, const char *from, const char *to);
