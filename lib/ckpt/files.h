/* ckpt/files: the files of a checkpoint, by the rows of files.def. */
#pragma once
#include <limits.h>
#include <stdbool.h>

#include "base/err.h"

enum files_kind {
#define CKPT_FILE(id, ...) FILES_##id,
#include "ckpt/files.def"
    FILES_KINDS /* not a known file */
};
enum files_role {
    FILES_MAIN = 1,
    FILES_LISTED = 2,
    FILES_PIECE = 4,
    FILES_BESIDE = 8,
    FILES_PLAIN = 16
};
/* Treatment of a file when convert or repartition writes a new checkpoint. */
enum files_fate { FILES_MADE, FILES_COPIED, FILES_LEFT };
enum { FILES_NAME = 48 };

/* Parsed file name; numbers that do not occur are −1. */
struct files_name {
    enum files_kind kind;
    int number, rank; /* output number; rank from 1 */
};

/* Formats a file name; rank, from 1, for kinds with a file per rank. */
void files_name(enum files_kind k, int number, int rank, char name[FILES_NAME]);
/* Formats dir/NAME. An error if the path is too long. */
MUST_USE enum err files_path(const char *dir, enum files_kind k, int number, int rank,
                             char path[PATH_MAX]);
struct files_name files_of(const char *name);
bool files_has_role(enum files_kind k, enum files_role role);
enum files_fate files_fate(enum files_kind k);
const char *files_form(enum files_kind k);    /* form of the name, e.g. "info_NNNNN.txt" */
const char *files_content(enum files_kind k); /* content for messages, e.g. "clumps" */

/* The kind of file with this name; a temporary name (io/temp) gives the kind of its final name. */
enum files_kind files_meant(const char *name);
/* Whether a file may be deleted from a directory left behind by a killed process: checkpoint files
 * under their final or temporary names. */
bool files_may_go(const char *name);

typedef enum err files_fn(void *ctx, const char *name, const struct files_name *f);
/* Calls fn for each name in a directory except . and .., including unknown files (FILES_KINDS). */
MUST_USE enum err files_each(const char *dir, files_fn *fn, void *ctx);
/* Counts the files of this kind and output (−1: any). *last receives one of them, if any. */
MUST_USE enum err files_count(const char *dir, enum files_kind k, int number, int *n,
                              struct files_name *last);
