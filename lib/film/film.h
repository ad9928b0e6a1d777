/* film: pictures, one after the other, as a film: an animated PNG, raw pixels, an array, or by
 * ffmpeg.
 *
 * All pictures of a film have one range of colours: that given, else that of all values of all
 * pictures, for which each is drawn, or read, before the first is written. A film appears as a
 * whole or not at all. Local. */
#pragma once
#include <limits.h>

#include "film/shot.h"

/* ---- pixels to a file ---- */

enum film_format { FILM_PNG, FILM_MP4, FILM_GIF, FILM_RGB, FILM_NPY, FILM_FORMATS };

struct reel; /* a film that is being written */

struct reel_how {
    enum film_format format;
    const char *path;        /* "-": standard output */
    int frames;              /* number of pictures that will be added */
    double rate;             /* pictures per second */
    const char *const *text; /* as of struct picture; for PNG */
};
enum { REEL_SIDE = 1 << 16 }; /* maximum pixels along a side */

/* Path of ffmpeg; false: it is not installed. */
bool reel_ffmpeg(char path[PATH_MAX]);
/* Opens a file for pictures of this size. */
MUST_USE enum err reel_open(struct reel **r, const struct reel_how *how, int columns, int rows);
/* Whether a format has values, not pictures. */
static inline bool reel_has_values(enum film_format f)
{
    return f == FILM_NPY;
}
/* Adds a picture, 3 bytes a pixel, top row first, or values, doubles, lowest row first. */
MUST_USE enum err reel_add(struct reel *r, const void *picture);
/* Completes the file; with an error, which is returned, or without all pictures, drops it. */
MUST_USE enum err reel_close(struct reel **r, enum err err);

/* ---- a film ---- */

/* Makes shot i of a film, drawn. */
typedef enum err film_take(void *ctx, int i, struct shot **s);

struct film {
    int n;
    film_take *take;
    void *ctx;
    bool bare;
    size_t memory; /* for maps that are kept until their range is known; others are made twice */
    struct reel_how how;
};
/* Summary of a film that was written. */
struct film_made {
    int columns, rows; /* of pictures */
    char unit[48];
    struct colour_scale scale;
    bool drawn;      /* in the colours of the scale */
    bool has_values; /* whether min and max are known */
};
MUST_USE enum err film_make(const struct film *f, struct film_made *made);
