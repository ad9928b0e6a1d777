/* genzoom/room: what a run refines around a mask, and whether the files contain it.
 *
 * On each level a run refines the masked cells, those that contain refined cells of the next level
 * and their neighbours, and all within nexpand cells of these. Each refined cell needs values for
 * its children. */
#pragma once
#include "mask.h"

/* nexpand[l], l = levelmin.., of the levels whose children have files: 1, RAMSES's default, or 0
 * where there is no room for it. ERR_PARAM if there is too little room even so. */
MUST_USE enum err room_for_run(const struct zoom_set *s, const struct mask_level *mask,
                               int nexpand[LEVEL_MAX + 2]);
