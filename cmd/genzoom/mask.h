/* genzoom/mask: the values of the mask on all levels, computed plane by plane. */
#pragma once
#include "set.h"
#include "shape.h"

struct mask_par {
    const struct shape *shape; /* NULL: the maps ic_refmap */
    int pad;                   /* maps: cells of the base level by which they grow */
    bool ones;                 /* maps: only that of the base level, the others are 1 */
    const char *name;          /* file to write; NULL: only count */
    bool force;
};

struct mask_level {
    int64_t cells; /* cells of the mask that are 1 */
    /* the first and last of them, in cells of the level from the corner of the box */
    int64_t lo[3], hi[3];
    /* cells of the map whose children are not in the files of the next level: made 0 */
    int64_t cut;
    /* cells between the mask and the edge of the next level's files; -1: not known */
    int64_t margin;
};

/* Called when all levels are complete, before the first file gets its name; OK: continue. */
typedef enum err mask_judge(const struct zoom_set *s, const struct mask_level *made, void *ctx);
/* Writes the file of every level, all or none (except after a failure in the last renamings). */
MUST_USE enum err mask_make(const struct zoom_set *s, const struct mask_par *p,
                            struct mask_level *result, mask_judge *judge, void *ctx);
