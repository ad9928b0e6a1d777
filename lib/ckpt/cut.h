/* ckpt/cut: less of a checkpoint, as a checkpoint: down to a level, or with all detail in one
 * region only.
 *
 * Levels up to levelmin stay whole. A deeper oct is kept if it, or one of the 26 places around it
 * on its level, meets the region; cells whose octs are dropped become leaves, with the value they
 * have as refined cells, the mean of what was in them. This rule needs no memory and keeps the
 * grading: if an oct is kept, so is every oct of the level above within one of its widths, which
 * are those that must be there. So the region has all its cells, and around it the mesh grows
 * coarser by a level an oct. Particles are those in the region.
 *
 * Batches of octs or particles that cannot matter are not read beyond their places (ckpt_pick).
 */
#pragma once
#include "ckpt/source.h"

struct cut {
    int levelmin, levelmax; /* 0: as in the checkpoint */
    enum cut_shape { CUT_NONE, CUT_BOX, CUT_SPHERE } shape;
    double centre[3], half[3]; /* code units; across the box's faces periodically */
    double radius;
};

/* "box:X0,Y0,Z0,X1,Y1,Z1" or "sphere:X,Y,Z,R" into c. */
MUST_USE enum err cut_region(struct cut *c, const char *text);
/* Takes `inner` over, on errors too. An error if the cut asks for what the checkpoint has not. */
MUST_USE enum err source_cut(struct source *inner, const struct cut *c, struct source **out);
