/* genzoom/mask: the values of the mask on all levels, computed plane by plane. */
#pragma once
#include "set.h"
#include "shape.h"

struct mask_par {
    const struct shape *shape; /* shape; NULL: maps ic_refmap */
    int pad;                   /* padding of maps, in cells of the base level */
    bool ones;                 /* use only the map of the base level; finer levels are 1 */
    const char *name;          /* name of the file to write; NULL: count cells only */
    bool force;
};

struct mask_level {
    int64_t cells; /* number of cells of the mask that are 1 */
    /* range of cells that are 1, in cells of the level from the corner of the box */
    int64_t lo[3], hi[3];
    /* number of cells of the map set to 0, since the next level's files lack their children */
    int64_t cut;
    /* cells between the mask and the boundary of the next level's files; -1: not known */
    int64_t margin;
};

/* Called when all levels are complete, before files are renamed to their final names; OK:
 * continue. */
typedef enum err mask_judge(const struct zoom_set *s, const struct mask_level *made, void *ctx);
/* Writes the file of every level; all or none, except if a final rename fails. */
MUST_USE enum err mask_make(const struct zoom_set *s, const struct mask_par *p,
                            struct mask_level *result, mask_judge *judge, void *ctx);
