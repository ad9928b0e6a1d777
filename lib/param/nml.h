/* param/nml: Fortran namelists as a list of assignments.
 *
 *   &GROUP  name = value, value   name(3) = 2*8.0, , 'text'  ! comment
 *           name(1:5:2,2) = ... /
 *
 * Text is read as by gfortran: names in any case, `$GROUP … $END`, a group anywhere in a line, `!`
 * starts a comment except in strings, values over several lines, `;` as a comma, repeat counts
 * n*value (not expanded), null values (`,,` or `3*`), strings in '…' or "…" with doubled quotes.
 * Ambiguous text is refused: a second group of the same name, of which Fortran reads the first;
 * text that compilers read into different elements (a comment behind a comma, a comma that begins a
 * line); the name of a group within a string, which Fortran takes for the group; an unquoted path
 * (its `/` would end the group); a string that continues on the next line.
 *
 * Other text outside of groups is a remark. Remarks that look like assignments or groups are noted.
 * Any input, also a hostile one, gives a list or an error of one sentence "file:line: …". */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum nml_kind { NML_NULL, NML_WORD, NML_STRING };

struct nml_value {
    enum nml_kind kind;
    const char *text; /* text of words and strings (lent by struct nml) */
    int64_t repeat;   /* repeat count, 1 .. NML_REPEAT_MAX */
    int line;
};

/* One dimension of `name(lo:hi:step)`. An element `name(i)` has lo = hi = i and section false. */
struct nml_index {
    int64_t lo, hi, step;
    bool has_lo, has_hi, section;
};

struct nml_item {
    size_t group;     /* index of the group in groups */
    const char *name; /* name in lower case */
    int line;
    int rank; /* number of indices given, 0..2 */
    struct nml_index index[2];
    size_t first, count; /* first value and number of values */
    const char *doubt;   /* reason why compilers differ if more values follow; NULL: no ambiguity */
};

struct nml_group {
    const char *name; /* name in upper case, without & */
    int line;
};

/* Kinds of doubtful text: text that is read, or not read, possibly against the user's intention. */
enum nml_doubt {
    NML_ASSIGNMENT, /* assignment outside of groups */
    NML_NAME,       /* name of a group without & */
    NML_MENTION,    /* name of a group in a remark */
    NML_BEFORE,     /* text before a group in its line */
    NML_END,        /* end without a group */
    NML_ENDLESS     /* group that ends at the end of the file */
};

struct nml_note {
    enum nml_doubt doubt;
    int line;
    const char *text; /* printable text */
};

/* Callbacks that identify names for the scanner. */
struct nml_names {
    bool (*is_group)(const char *name);
    bool (*needs_end)(const char *group);   /* whether a missing '/' is an error in RAMSES */
    bool (*is_parameter)(const char *name); /* whether any group has a parameter of this name */
};

struct nml {
    const char *file; /* file name for messages (lent); NULL: the command line */
    struct nml_group *groups;
    struct nml_item *items;
    struct nml_value *values;
    struct nml_note *notes;
    size_t ngroup, nitem, nvalue;
    size_t nnote; /* total number of notes; the first NML_NOTES_MAX are stored */
    char *pool;   /* memory of all names and texts */
};

enum {
    NML_REPEAT_MAX = 1000000000,
    NML_BYTES_MAX = 1 << 24,
    NML_GROUPS_MAX = 200,
    NML_NOTES_MAX = 20
};

/* Reads `bytes` bytes of text. After an error no nml_free is needed. names: param_names. */
MUST_USE enum err nml_parse(struct nml *n, const char *text, size_t bytes, const char *file,
                            const struct nml_names *names);
void nml_free(struct nml *n);

/* Writes "file:line" or "command line" to buf, and returns buf. */
enum { NML_WHERE = 300 };
const char *nml_where(const struct nml *n, int line, char buf[NML_WHERE]);
