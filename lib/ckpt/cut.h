/* ckpt/cut: a part of a checkpoint as a source: down to a level, or with full detail in one region
 * only.
 *
 * Levels up to levelmin stay complete. A finer oct is kept if it, or one of the 26 positions around
 * it on its level, intersects the region. Cells whose octs are dropped become leaves and keep their
 * value as refined cells, the mean of their children. This rule needs no memory and preserves the
 * grading: if an oct is kept, so is every oct of the next coarser level within one of its widths,
 * and no others are required. So the region keeps all its cells, and around the region the mesh
 * becomes coarser by one level per oct. Only particles in the region are kept.
 *
 * For batches of octs or particles outside the region only positions are read (ckpt_pick). */
#pragma once
#include "ckpt/source.h"

struct cut {
    int levelmin, levelmax; /* level range of the cut; 0: as in the checkpoint */
    enum cut_shape { CUT_NONE, CUT_BOX, CUT_SPHERE } shape;
    double centre[3], half[3]; /* centre and half-size, code units; periodic across the box */
    double radius;
};

/* Parses "box:X0,Y0,Z0,X1,Y1,Z1" or "sphere:X,Y,Z,R" into c. */
MUST_USE enum err cut_region(struct cut *c, const char *text);
/* Opens a cut of `inner` as a source; takes ownership of `inner`, even on error. An error if the
 * checkpoint lacks the levels of the cut or the region is not in the box. */
MUST_USE enum err source_cut(struct source *inner, const struct cut *c, struct source **out);
