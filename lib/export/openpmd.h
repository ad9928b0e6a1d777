/* export/openpmd: a checkpoint as a file of openPMD 1.1 (Huebl et al. 2015): meshes of a cube of
 * its fields, and its particles, a species a family. Values stay in code units; unitSI and
 * unitDimension make them physical. */
#pragma once
#include "export/cube_out.h"

/* q: NULL: no meshes. parts: whether the particles are written. */
MUST_USE enum err openpmd_write(struct source *s, struct cube *q, bool parts,
                                const struct cube_out *o);
