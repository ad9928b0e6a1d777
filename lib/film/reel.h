/* film/reel: formats of films. Private to film. */
#pragma once
#include <stdio.h>
#include <sys/types.h>

#include "film/film.h"
#include "io/stream.h"

struct reel {
    const struct reel_kind *kind;
    struct reel_how how;
    char path[PATH_MAX];
    struct stream s;         /* unless it is standard output */
    FILE *out;               /* the file */
    int columns, rows, done; /* done: pictures written */
    size_t bytes;            /* of a picture */

    unsigned char *before; /* apng: the picture before */
    unsigned sequence;     /* apng: of the next chunk that has a number */

    FILE *to;   /* ffmpeg: its standard input */
    pid_t pid;  /* ffmpeg: the process; 0: none */
    int errors; /* ffmpeg: file of its messages; −1: none */
};

/* Functions return errors; begin and end may be NULL. */
struct reel_kind {
    enum err (*begin)(struct reel *r);
    enum err (*add)(struct reel *r, const void *picture);
    enum err (*end)(struct reel *r);
    void (*drop)(struct reel *r); /* after an error, in place of end */
};
extern const struct reel_kind reel_apng, reel_raw, reel_array, reel_piped;

/* Error of a write to r->out. */
MUST_USE enum err reel_failed(const struct reel *r);
