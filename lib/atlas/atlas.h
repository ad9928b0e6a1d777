/* atlas: maps on paper: a map with its axes, title and bar of colours, contours, the outlines of
 * octs, lines, and a scale bar over it; several maps beside each other; and particles that are
 * smoothed over their neighbours. */
#pragma once
#include "plot/canvas.h"
#include "view/map.h"

/* map_make; particles are smoothed if the options ask for it, or by default dark matter with few
 * particles a pixel, to ATLAS_NEIGHBOURS of them (in two dimensions ATLAS_NEIGHBOURS_2D). Local;
 * uses the threads of OpenMP; the same bits for any files and threads. */
enum { ATLAS_NEIGHBOURS = 32, ATLAS_NEIGHBOURS_2D = 12, ATLAS_FEW = 16 };
MUST_USE enum err atlas_make(struct map *m, struct source *r, const struct map_options *o);

/* Draws a map with axes; a canvas_draw function. */
void atlas_draw(struct canvas *c, const void *map);
struct box atlas_size(const struct map *m); /* of this drawing */

/* Several maps in rows, all as large as the first. shared: they have one range of colours, and a
 * bar at the end of each row. */
struct atlas_sheet {
    int n, columns;
    const struct map *const *map; /* [n] */
    bool shared;
};
void atlas_draw_sheet(struct canvas *c, const void *sheet); /* a canvas_draw function */
struct box atlas_sheet_size(const struct atlas_sheet *s);

/* Name of what a map shows, such as "gas density", and the label of its colours, such as "gas
 * column density [g/cm^2]". */
void atlas_name(const struct map *m, char *text, size_t n);
void atlas_label(const struct map *m, char *text, size_t n);
