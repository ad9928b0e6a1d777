/* sphfile/either: a checkpoint of smoothed particles, or a dump of Phantom or a snapshot of
 * Gadget-4 as the same: rows in the order of ids, for programs that read all of them. Functions
 * without a communicator are local. */
#pragma once
#include "sphfile/phantom.h"

struct sphfile_either {
    char path[PATH_MAX];
    char kind[80]; /* for people */
    int number;    /* of the output; of other files the digits that end their name */
    const struct sphfile_head *head;
    struct sphfile *file; /* NULL: another file, whose particles are in memory */
    struct sphfile_head own;
    struct smooth all;
};
bool sphfile_either_is(const char *path);
/* any: values of a checkpoint are returned whatever they are. */
MUST_USE enum err sphfile_either_open(const char *path, bool any, struct sphfile_either **out);
void sphfile_either_close(struct sphfile_either **e);
/* Rows first … first + n − 1 replace the particles of p. */
MUST_USE enum err sphfile_either_rows(struct sphfile_either *e, int64_t first, int64_t n,
                                      struct smooth *p);
/* The number of rows that are read at once with little memory. */
int64_t sphfile_either_step(const struct sphfile_either *e);
/* As sphfile_digests: those of a dump are those of the checkpoint that convert makes of it.
 * (collective, agreed) */
MUST_USE enum err sphfile_either_digests(struct sphfile_either *e, const struct comm *c,
                                         uint64_t digest[SPHFILE_COLUMNS + 1][2]);
