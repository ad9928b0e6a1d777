/* film/shot: a picture of a film: the map of a checkpoint of any solver, or a frame of a movie. */
#pragma once
#include "view/map.h"

struct grid;
struct deposit_particles;

/* The cube around smoothed particles in open space, which grows with them: a film shows the region
 * that its first map shows. Zero at first. */
struct shot_cube {
    bool known;
    double corner[3], side;
};

struct shot {
    struct map m;
    struct map_options o; /* of m */
    struct source r;      /* what titles and labels show */
    char title[160], label[3][96];
    unsigned char *rgb; /* a picture that exists: m.rows rows of m.n pixels; NULL: none */
    /* the open checkpoint, until it has been drawn */
    struct source *tree;
    struct grid *grid;
    struct deposit_particles *gas;
};

/* Opens a checkpoint; its path and number are those of (*s)->r then. shot_free must be called after
 * errors too. */
/* Whether a path is a checkpoint. */
bool shot_is(const char *path);
MUST_USE enum err shot_open(struct shot **s, const char *path, const struct map_options *o);
/* Draws the map and closes the checkpoint. cube: of the film, or NULL. */
MUST_USE enum err shot_draw(struct shot *s, struct shot_cube *cube);
void shot_free(struct shot **s);
/* The bytes that it holds. */
size_t shot_bytes(const struct shot *s);
/* Draws a shot: pixels of 3 bytes, top row first, in the colours of s->m.range (owner: caller).
 * bare: a pixel for each of the map, without axes. */
MUST_USE enum err shot_paint(const struct shot *s, bool bare, int *columns, int *rows,
                             unsigned char **rgb);
