/* audit/check_priv: what the files of the check share. Private to audit. */
#pragma once
#include <limits.h>

#include "audit/check.h"
#include "audit/tree_table.h"

enum check_kind { /* damage of a kind is reported CHECK_MAX times, then counted */
                  BAD_FILE,
                  BAD_COUNT,
                  BAD_PARENT,
                  BAD_CHILD,
                  BAD_TWICE,
                  BAD_LEVEL,
                  BAD_BALANCE,
                  BAD_FLAG,
                  BAD_FINITE,
                  BAD_DENSITY,
                  BAD_ENERGY,
                  BAD_RESTRICTION,
                  BAD_PART_FINITE,
                  BAD_LOCATION,
                  BAD_MASS,
                  BAD_ID,
                  BAD_RANK,
                  BAD_KINDS
};
enum { CHECK_MAX = 10 };

struct check {
    const struct check_how *how;
    struct check_found *found;
    const char *dir;
    struct source *r;
    int64_t count[BAD_KINDS];
    enum err trouble; /* of the machine, not of the checkpoint: its message is kept */
    bool unreadable;  /* some file could not be read to its end */
    bool ours;        /* a program of Ptah wrote it */
    bool bounded;     /* not periodic */
    double reach[3];  /* how far beyond the box a particle may be on each axis, code units */
    double gamma, smallr;
};

void check_report(struct check *k, enum check_kind kind, const char *file, const char *location,
                  const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* Says of each kind how often it was found beyond CHECK_MAX. */
void check_report_rest(struct check *k);
/* Is the last error damage? Otherwise the machine has failed: memory, descriptors, a disk that
 * cannot be read. */
bool check_tells_damage(const struct check *k, enum err err);
void check_report_message(struct check *k); /* of the last error */
/* Reports the message of an error as damage if it is one of the checkpoint; returns other errors.
 */
MUST_USE enum err check_judge(struct check *k, enum err err);
/* "level 7, oct at 0.5 0.5 0.5" in code units; cell < 0: none. */
enum { CHECK_LOCATION = 200 };
void check_place(const struct check *k, int level, okey key, int cell,
                 char location[CHECK_LOCATION]);

MUST_USE enum err check_tree(struct check *k, const struct tree_table *t);
MUST_USE enum err check_cells(struct check *k, const struct tree_table *t);
/* Checks particles: finite, inside the box, with mass. */
void check_part_values(struct check *k, const struct source_parts *p);
MUST_USE enum err check_parts(struct check *k, const struct tree_table *t);
