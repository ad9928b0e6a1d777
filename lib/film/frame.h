/* film/frame: frames of movies. RAMSES's files VAR_NNNNN.map are unformatted Fortran of either byte
 * order: time or expansion factor and extents along x, y, z, four real*8; pixels to the right and
 * up, two integer*4; values, real*4, the lowest row first. The info_NNNNN.txt beside tells time and
 * expansion factor apart. */
#pragma once
#include <limits.h>
#include <stdbool.h>

#include "base/err.h"
#include "film/shot.h"
#include "plot/scale.h"

enum { FRAME_NAME = 64, FRAME_PIXELS = 1 << 15 };

struct film_frame {
    int nw, nh;
    const float *x;   /* [nh][nw], lowest row first; missing: NaN */
    const char *name; /* of the variable */
    const char *kind; /* "frame" or "output", which has the number */
    int number;
    const char *when;    /* such as "t = 1.2"; "": not known */
    double size[2];      /* width and height, code units; 0: not known */
    const char *axis[2]; /* what increases to the right and up; NULL: not known */
};

/* Writes "a = 0.2, z = 4" or "t = 1.2". */
void film_when(bool cosmo, double t, double aexp, char *text, size_t n);
/* A frame as a shot, with the values as doubles. */
struct shot *film_shot(const struct film_frame *f, const char *path, const struct map_options *o);
/* A frame as a PNG, n bytes (owner: caller, mem_free), with axes, a bar of colours in a range of
 * its own, and a title. path: for messages. */
MUST_USE enum err film_png(const char *path, const struct film_frame *f, char **png, size_t *n);

/* A frame file. */
struct film_map {
    int nw, nh;
    double when, size[3];
    float *x; /* owner: caller, FREE */
};
MUST_USE enum err film_map_read(const char *path, struct film_map *m);

/* Frame files, by ascending number. */
struct film_entry {
    int number, rank; /* rank: place of the operand */
    bool picture;     /* a PNG */
    char *path;
};
struct film_list {
    int n, room;
    char name[FRAME_NAME]; /* of the variable */
    struct film_entry *at; /* [n] */
};
/* Whether an operand names frames: a file NAME_NNNNN.map or .png, or a directory of such files. */
bool film_has_frames(const char *path);
/* Finds all frames of a variable in directories and files; name: NULL: the only one. Of frames with
 * the same number the last operand's counts. Pictures count only if there is no .map. */
MUST_USE enum err film_list(int n, char *const *paths, const char *name, struct film_list *list);
void film_list_free(struct film_list *list);
/* Draws a frame file, or reads its picture. axis: line of sight; −1: not known. */
MUST_USE enum err film_read(const struct film_list *list, int i, const struct map_options *o,
                            int axis, struct shot **s);
