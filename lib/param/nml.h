/* param/nml: Fortran namelists as a list of assignments.
 *
 *   &GROUP  name = value, value   name(3) = 2*8.0, , 'text'  ! comment
 *           name(1:5:2,2) = ... /
 *
 * Read as gfortran reads, or refused: names in any case, `$GROUP … $END`, a group anywhere in a
 * line, `!` starts a comment except in strings, values over several lines, `;` as a comma, repeat
 * counts n*value (never expanded here), null values (`,,` or `3*`), strings in '…' or "…" with
 * doubled quotes. Of a group that stands twice Fortran reads the first: refused. So is what
 * compilers read into different elements (a comment behind a comma, a comma that begins a line),
 * what Fortran takes for a group though it stands in a string, an unquoted path (its `/` would end
 * the group), a string that runs over its line.
 *
 * Other text outside of groups is a remark. What looks as if it were meant is noted. Any input,
 * also a hostile one, gives a list or an error of one sentence "file:line: …". */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum nml_kind { NML_NULL, NML_WORD, NML_STRING };

struct nml_value {
    enum nml_kind kind;
    const char *text; /* of words and strings; lent by struct nml */
    int64_t repeat;   /* 1 .. NML_REPEAT_MAX */
    int line;
};

/* One dimension of `name(lo:hi:step)`. An element `name(i)` has lo = hi = i and section false. */
struct nml_index {
    int64_t lo, hi, step;
    bool has_lo, has_hi, section;
};

struct nml_item {
    size_t group;     /* index into groups */
    const char *name; /* lower case */
    int line;
    int rank; /* number of indices given, 0..2 */
    struct nml_index index[2];
    size_t first, count; /* values */
    const char *doubt;   /* compilers differ on it, if more values follow; NULL: on nothing */
};

struct nml_group {
    const char *name; /* upper case, without & */
    int line;
};

/* Doubtful text in a namelist: it is read, or not read, though its writer may not think so. */
enum nml_doubt {
    NML_ASSIGNMENT, /* outside of groups */
    NML_NAME,       /* of a group, without & */
    NML_MENTION,    /* of a group, in a remark */
    NML_BEFORE,     /* text before a group in its line */
    NML_END,        /* that ends nothing */
    NML_ENDLESS     /* a group that the end of the file ends */
};

struct nml_note {
    enum nml_doubt doubt;
    int line;
    const char *text; /* printable */
};

/* Names that the scanner asks for. */
struct nml_names {
    bool (*is_group)(const char *name);
    bool (*needs_end)(const char *group);   /* to RAMSES its missing '/' is an error */
    bool (*is_parameter)(const char *name); /* of any group */
};

struct nml {
    const char *file; /* for messages, lent by the caller; NULL: the command line */
    struct nml_group *groups;
    struct nml_item *items;
    struct nml_value *values;
    struct nml_note *notes;
    size_t ngroup, nitem, nvalue;
    size_t nnote; /* in all; the first NML_NOTES_MAX are kept */
    char *pool;   /* all names and texts */
};

enum {
    NML_REPEAT_MAX = 1000000000,
    NML_BYTES_MAX = 1 << 24,
    NML_GROUPS_MAX = 200,
    NML_NOTES_MAX = 20
};

/* Reads `bytes` bytes of text; on error nothing is left to free. names: param_names. */
MUST_USE enum err nml_parse(struct nml *n, const char *text, size_t bytes, const char *file,
                            const struct nml_names *names);
void nml_free(struct nml *n);

/* "file:line" or "command line", into buf (returned). */
enum { NML_WHERE = 300 };
const char *nml_where(const struct nml *n, int line, char buf[NML_WHERE]);
