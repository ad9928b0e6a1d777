/* film/camera: frames of checkpoints as a run paints them (lib/movie). */
#pragma once
#include "film/shot.h"
#include "movie/frame.h"

struct film_camera;

struct film_camera_ask {
    const char *camera;   /* "x", "y" or "z": the line of sight, of the region of `map`; or a
                             namelist with &MOVIE_PARAMS, FILE or FILE,N for its camera N */
    const char *variable; /* NULL: the only one of the namelist */
    const struct map_options *map; /* lent */
    bool placed;                   /* whether the region, or its pixels, was given */
};

/* film_camera_close must be called after errors too. */
MUST_USE enum err film_camera_open(const struct film_camera_ask *ask, struct film_camera **out);
void film_camera_close(struct film_camera **k);
/* Name of the variable. */
const char *film_camera_variable(const struct film_camera *k);
/* Paints a checkpoint. Local. */
MUST_USE enum err film_camera_take(struct film_camera *k, const char *path, struct shot **s);
/* Writes map v of camera c of a run as a PNG; a row of observe/frames.def. */
MUST_USE enum err film_write_png(const struct movie_frame *m, int c, int v);
