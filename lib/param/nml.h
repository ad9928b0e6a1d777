/* param/nml: Fortran namelists as a list of assignments.
 *
 *   &GROUP  name = value, value   name(3) = 2*8.0, , 'text'  ! comment
 *           name(1:3,2) = ... /
 *
 * Read as compilers do: names in any case, text outside groups ignored, `!` starts a comment except
 * in strings, values over several lines, repeat counts n*value (never expanded here), null values
 * (`,,` or `3*`), strings in '…' or "…" with doubled quotes, or unquoted up to the next blank or
 * comma. Stricter than compilers in what is most likely a mistake: a group that appears twice, an
 * unquoted path (its `/` would end the group), a string that runs over its line. Any input, also a
 * hostile one, gives a list or an error of one sentence "file:line: …". */
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

/* One dimension of `name(lo:hi)`. An element `name(i)` has lo = hi = i and section false. */
struct nml_index {
    int64_t lo, hi;
    bool has_lo, has_hi, section;
};

struct nml_item {
    size_t group;     /* index into groups */
    const char *name; /* lower case */
    int line;
    int rank; /* number of indices given, 0..2 */
    struct nml_index index[2];
    size_t first, count; /* values */
};

struct nml_group {
    const char *name; /* upper case, without & */
    int line;
};

struct nml {
    const char *file; /* for messages, lent by the caller; NULL: the command line */
    struct nml_group *groups;
    struct nml_item *items;
    struct nml_value *values;
    size_t ngroup, nitem, nvalue;
    char *pool; /* all names and texts */
};

enum { NML_REPEAT_MAX = 1000000000, NML_BYTES_MAX = 1 << 24 };

/* Reads `bytes` bytes of text; on error nothing is left to free. */
MUST_USE enum err nml_parse(struct nml *n, const char *text, size_t bytes, const char *file);
void nml_free(struct nml *n);

/* "file:line" or "command line", into buf (returned). */
enum { NML_WHERE = 300 };
const char *nml_where(const struct nml *n, int line, char buf[NML_WHERE]);
