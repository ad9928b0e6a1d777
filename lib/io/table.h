/* io/table: the one reader of text files: lines, words and numbers of tables that users write. No
 * part of a file is left out unseen: a zero byte, a word that is no number, a number too many and a
 * line that never ends are errors, which name file and line.
 *
 * Numbers are those of Fortran's list-directed read: digits with a point or without, an exponent
 * after e, d or q or a sign alone (1.5-100). Between them are blanks, or a comma. Not collective:
 * each rank can read a file, or a share of it. The file is not loaded: memory follows the longest
 * line. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum {
    TABLE_NOTES = 1, /* text after # in a line is a comment */
    TABLE_PIPE = 2,  /* pipes and devices are allowed, and - is standard input */
    TABLE_LOG = 4    /* lines that others print: zero bytes are let through */
};

struct table {
    const char *path; /* lent: what messages call it */
    char *at;         /* the rest of the line, without its end; words may be changed in place */
    int64_t size;     /* bytes of a regular file; else the most that it may have */
    /* private */
    unsigned how;
    int fd;
    int64_t line, begin;        /* lines read, from this offset on */
    int64_t end, max, location; /* lines begin before end · bytes at most · bytes read */
    size_t room, head, fill;    /* of buf; what is between head and fill is to be read */
    char *buf;
};

/* Opens a regular file of at most `most` bytes, or, with TABLE_PIPE, what has no more. After an
 * error there is nothing to close. */
MUST_USE enum err table_open(struct table *t, const char *path, unsigned how, int64_t max);
void table_close(struct table *t);
/* The lines of a regular file in n shares of about equal size: share i has those that begin in
 * *begin up to *end. */
MUST_USE enum err table_share(struct table *t, int i, int n, int64_t *begin, int64_t *end);
/* The next line is the first that begins at `begin`; the last begins before `end`. */
MUST_USE enum err table_seek(struct table *t, int64_t begin, int64_t end);

/* The next line that is not blank. *got: false at the end. */
MUST_USE enum err table_next(struct table *t, bool *got);
/* The number of the present line in the file, from 1. */
int64_t table_line(const struct table *t);
/* The next word of the line, NULL after the last. It ends at a blank or a comma; "" stands between
 * two commas. */
char *table_word(struct table *t);
/* An error if the file is too short for n numbers: before memory is taken for them. */
MUST_USE enum err table_holds(const struct table *t, double n);
/* The next number of the file, in this line or one below. what: its name in messages, with an
 * article. */
MUST_USE enum err table_flow(struct table *t, const char *what, double *x);
/* The next n numbers of the line. what: the names of its columns. */
MUST_USE enum err table_numbers(struct table *t, int n, const char *what, double *x);
/* The next n numbers of the line, where nothing is left of the line after them. */
MUST_USE enum err table_row(struct table *t, int n, const char *what, double *x);
/* Nothing is left of the line. what: that which should end here. */
MUST_USE enum err table_end(struct table *t, const char *what);
/* Ignores the rest of the line, at most `most` columns. *more becomes true if there are any: the
 * caller reports them. */
MUST_USE enum err table_rest(struct table *t, int max, bool *more);
/* Nothing is left of the file. */
MUST_USE enum err table_over(struct table *t, const char *what);
