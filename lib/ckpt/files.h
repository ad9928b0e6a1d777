/* ckpt/files: which files a checkpoint consists of, by the rows of files.def. */
#pragma once
#include <limits.h>
#include <stdbool.h>

#include "base/err.h"

enum files_kind {
#define CKPT_FILE(id, ...) FILES_##id,
#include "ckpt/files.def"
    FILES_KINDS /* none of them */
};
enum files_role { FILES_MAIN = 1, FILES_LISTED = 2, FILES_PIECE = 4, FILES_BESIDE = 8 };
/* In another checkpoint that convert or repartition makes of it. */
enum files_fate { FILES_MADE, FILES_COPIED, FILES_LEFT };
enum { FILES_NAME = 48 };

/* Meaning of a file name. Numbers that are not in it are −1. */
struct files_name {
    enum files_kind kind;
    int number, rank; /* of the output · from 1 on */
};

/* The name; rank: from 1 on, for kinds of which each rank has a file. */
void files_name(enum files_kind k, int number, int rank, char name[FILES_NAME]);
/* dir/NAME. An error if that is too long. */
MUST_USE enum err files_path(const char *dir, enum files_kind k, int number, int rank,
                             char path[PATH_MAX]);
struct files_name files_of(const char *name);
bool files_has_role(enum files_kind k, enum files_role role);
enum files_fate files_fate(enum files_kind k);
const char *files_form(enum files_kind k);    /* "info_NNNNN.txt" */
const char *files_content(enum files_kind k); /* for messages: "clumps" */

/* The kind of file that has this name, or will have it: name may be a temporary one (io/temp). */
enum files_kind files_meant(const char *name);
/* May a directory that a killed process left be emptied of this? Files of checkpoints, whole or
 * under a temporary name. */
bool files_may_go(const char *name);

typedef enum err files_fn(void *ctx, const char *name, const struct files_name *f);
/* Calls fn with each name in a directory, also of kind FILES_KINDS, except . and .. */
MUST_USE enum err files_each(const char *dir, files_fn *fn, void *ctx);
/* Files of this kind and output (−1: any). *last: what one of them is; unchanged if there is none.
 */
MUST_USE enum err files_count(const char *dir, enum files_kind k, int number, int *n,
                              struct files_name *last);
