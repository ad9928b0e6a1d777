/* genzoom/room: checks that the files cover all cells that a run will refine around a mask.
 *
 * On each level a run refines the masked cells, the cells that contain refined cells of the next
 * level with their neighbours, and all cells within nexpand cells of these. Each refined cell needs
 * values for its children. */
#pragma once
#include "mask.h"

/* Chooses nexpand[l], l = levelmin.., of the levels whose children have files: 1, the default of
 * RAMSES, or 0 where the files are too small. ERR_PARAM if they are too small even for 0. */
MUST_USE enum err room_for_run(const struct zoom_set *s, const struct mask_level *mask,
                               int nexpand[LEVEL_MAX + 2]);
