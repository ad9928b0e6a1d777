/* movie/frame: the frames of a run, and their files in RAMSES's format. */
#pragma once
#include "movie/paint.h"

/* The movie of a run. */
struct movie_run {
    struct movie movie;
    int next;         /* first frame that is not drawn yet */
    unsigned formats; /* set of rows of observe/frames.def */
    bool ready;       /* directories exist, without leftovers of killed runs */
};

/* Whether the next frame is due; false without a movie. */
bool movie_run_due(const struct movie_run *m, double t, double aexp);
/* Goes on from a checkpoint. Frames are drawn before outputs of their time: a checkpoint comes
 * after all frames that were due. */
void movie_resume(struct movie_run *m, double t, double aexp);

/* A finished frame. */
struct movie_frame {
    const char *dir; /* of the movie: movie<c> are in it */
    int number;
    const struct movie *movie;
    const struct ckpt_head *head;
    const struct paint *paint;
};

/* dir/movieC/NAME_NNNNN.SUFFIX of camera c, from 0. */
MUST_USE enum err movie_path(const struct movie_frame *f, int c, const char *name,
                             const char *suffix, char path[PATH_MAX]);
/* Creates the directory of camera c, and removes leftovers of killed runs from it. */
MUST_USE enum err movie_directory(const struct movie_frame *f, int c);
/* Writes a file of a frame under a temporary name, which then gets its own. Frames are not synced
 * to the disk: a machine that fails loses the last ones. */
MUST_USE enum err movie_write(const char *path, const void *p, size_t n);
/* Writes map v of camera c as RAMSES does, on the rank that has it. */
MUST_USE enum err movie_write_ramses(const struct movie_frame *f, int c, int v);
