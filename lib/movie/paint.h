/* movie/paint: a frame in progress: the maps of all variables seen by all cameras.
 *
 * Octs and particles are added in any order, on any rank and thread: sums are those of exact
 * digits, so that the maps depend on the state alone. A run adds its mesh and particles, a program
 * those of a checkpoint; both give the same bits. Memory follows the pixels that the rank's own
 * octs cover. */
#pragma once
#include "ckpt/source.h"
#include "movie/camera.h"

struct paint; /* opaque */

struct paint_par {
    const struct comm *comm;
    const struct movie *movie;    /* lent */
    const struct ckpt_head *head; /* of the state: box, times, units, gamma (lent) */
    int finest;                   /* finest level of any rank; 0: not known */
    bool proper_time;             /* births of stars are proper times (use_proper_time) */
};

/* Begins a frame. (collective) */
MUST_USE enum err paint_begin(const struct paint_par *par, struct paint **out);
void paint_free(struct paint **p);
/* Adds this rank's octs and particles of a running mesh, by all threads. Local. */
void paint_mesh(struct paint *p, const struct mesh *m);
void paint_parts(struct paint *p, const struct mesh *m, const struct parts *q);
/* Adds a batch of SOURCE_STATE of octs or particles; ctx: a struct paint. Local. */
enum err paint_source_octs(const struct source_octs *o, void *ctx);
enum err paint_source_parts(const struct source_parts *q, void *ctx);
/* Adds a source after source_state; a rank reads every size-th piece. (collective, agreed) */
MUST_USE enum err paint_source(struct paint *p, struct source *s);
/* Adds up all ranks. (collective) */
void paint_finish(struct paint *p);
/* After paint_finish: the rank that has the maps of camera c; there map v, [nh][nw], the lowest row
 * first, elsewhere NULL. Maps are freed with the frame. */
int paint_owner(const struct paint *p, int c);
const float *paint_map(const struct paint *p, int c, int v);
const struct movie_view *paint_view(const struct paint *p, int c);
/* Cells and particles of all ranks that were left out, as their values are not finite. */
int64_t paint_left_out(const struct paint *p);
