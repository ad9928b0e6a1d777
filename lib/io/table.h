/* io/table: the reader of text files: lines, words and numbers of tables that users write. No part
 * of a file is silently ignored: a zero byte, a word that is no number, a number too many and an
 * endless line are errors, which name file and line.
 *
 * Numbers follow Fortran's list-directed read: digits with or without a point, an exponent after e,
 * d or q or a sign alone (1.5-100). They are separated by blanks or a comma. All functions are
 * local: each rank can read a file, or a part of it. The file is not loaded into memory, which is
 * proportional to the longest line. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum {
    TABLE_NOTES = 1, /* text after # in a line is a comment */
    TABLE_PIPE = 2,  /* pipes and devices are allowed, and - is standard input */
    TABLE_LOG = 4    /* output of other programs: zero bytes are accepted */
};

struct table {
    const char *path; /* path for messages (lent) */
    char *at;         /* rest of the line, without its end; the caller may change words in place */
    int64_t size;     /* bytes of a regular file; otherwise the maximum */
    /* The following are private. */
    unsigned how;
    int fd;
    int64_t line, begin;        /* number of lines read, offset of the first */
    int64_t end, max, location; /* lines must begin before `end`; maximum bytes; bytes read */
    size_t room, head, fill;    /* size of buf; unread bytes are head..fill-1 */
    char *buf;
};

/* Opens a regular file of at most `max` bytes, or with TABLE_PIPE a pipe that delivers at most as
 * many. After an error no close is needed. */
MUST_USE enum err table_open(struct table *t, const char *path, unsigned how, int64_t max);
void table_close(struct table *t);
/* Divides the lines of a regular file into n parts of about equal size: part i has the lines that
 * begin in *begin..*end-1. */
MUST_USE enum err table_share(struct table *t, int i, int n, int64_t *begin, int64_t *end);
/* Sets the range of lines to read: the first begins at offset `begin`, the last before `end`. */
MUST_USE enum err table_seek(struct table *t, int64_t begin, int64_t end);

/* Reads the next line that is not blank. *got: false at the end. */
MUST_USE enum err table_next(struct table *t, bool *got);
/* Number of the current line in the file, from 1. */
int64_t table_line(const struct table *t);
/* Next word of the line; NULL after the last. A word ends at a blank or a comma; between two commas
 * it is "". */
char *table_word(struct table *t);
/* Error if the file is too short for n numbers, before memory is allocated for them. */
MUST_USE enum err table_holds(const struct table *t, double n);
/* The next number of the file, in this line or one below. what: its name in messages, with an
 * article. */
MUST_USE enum err table_flow(struct table *t, const char *what, double *x);
/* Reads the next n numbers of the line. what: the names of the columns. */
MUST_USE enum err table_numbers(struct table *t, int n, const char *what, double *x);
/* Reads the next n numbers of the line; the line must end after them. */
MUST_USE enum err table_row(struct table *t, int n, const char *what, double *x);
/* Error if text is left on the line. what: name of the item that should end here. */
MUST_USE enum err table_end(struct table *t, const char *what);
/* Ignores the rest of the line, at most `max` columns. *more is set to true if there are any; the
 * caller reports them. */
MUST_USE enum err table_rest(struct table *t, int max, bool *more);
/* Error if lines are left in the file. */
MUST_USE enum err table_over(struct table *t, const char *what);
