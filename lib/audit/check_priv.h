/* audit/check_priv: declarations shared by the files of the check. Private to audit. */
#pragma once
#include <limits.h>

#include "audit/check.h"
#include "audit/tree_table.h"

enum check_kind { /* kind of damage; after CHECK_MAX reports only counted */
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
                  BAD_COPY,
                  BAD_MEAN,
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
    enum err trouble; /* failure of the machine rather than damage, with its message */
    bool unreadable;  /* true once some file could not be read to its end */
    bool ours;        /* true for a checkpoint written by Ptah */
    bool bounded;     /* true for a box that is not periodic */
    double reach[3];  /* distance beyond the box allowed to a particle per axis, code units */
    double gamma, smallr;
};

void check_report(struct check *k, enum check_kind kind, const char *file, const char *location,
                  const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* Reports for each kind the number of cases beyond CHECK_MAX. */
void check_report_rest(struct check *k);
/* Whether the last error is damage. Otherwise the machine has failed: out of memory or descriptors,
 * or a disk that cannot be read. */
bool check_tells_damage(const struct check *k, enum err err);
void check_report_message(struct check *k); /* Reports the message of the last error as damage. */
/* Reports the message of an error as damage if the checkpoint is at fault; returns other errors. */
MUST_USE enum err check_judge(struct check *k, enum err err);
/* Location text "level 7, oct at 0.5 0.5 0.5" in code units; cell < 0 omits the cell. */
enum { CHECK_LOCATION = 200 };
void check_place(const struct check *k, int level, okey key, int cell,
                 char location[CHECK_LOCATION]);

MUST_USE enum err check_tree(struct check *k, const struct tree_table *t);
MUST_USE enum err check_cells(struct check *k, const struct tree_table *t);
/* Checks magnetic fields on faces, if there are any. */
MUST_USE enum err check_magnetic(struct check *k, const struct tree_table *t);
/* Checks that particles are finite, inside the box and have positive mass. */
void check_part_values(struct check *k, const struct source_parts *p);
MUST_USE enum err check_parts(struct check *k, const struct tree_table *t);
