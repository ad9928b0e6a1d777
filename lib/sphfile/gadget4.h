/* sphfile/gadget4: gas in the HDF5 layout of Gadget-4, Arepo and Swift (Springel et al. 2021), as
 * other programs read it and as initial particles come: /Header, and Coordinates, Velocities,
 * Masses, SmoothingLength, Density, InternalEnergy and ParticleIDs of /PartType0. There
 * SmoothingLength is the radius beyond which the kernel is 0, and positions are counted from the
 * corner of the box. Functions are local. */
#pragma once
#include "sphfile/sphfile.h"

/* Whether a file is HDF5 with gas of this kind, and without dark matter: other snapshots are read
 * as particles (gadget/source). */
bool gadget4_is(const char *path);
/* Reads the gas of a snapshot of one file; other particles are left out. All masses must be equal.
 * Without SmoothingLength h follows from Density, without both from the mean density of the box.
 * Kernel, hfact and gamma are those of attributes of the header that gadget4_write makes, else M4,
 * its usual hfact, and 5/3. p gets the particles after those that it has; h: number `fresh`, 1, as
 * from phantom_particles. */
MUST_USE enum err gadget4_read(const char *path, struct sphfile_head *h, struct smooth_par *par,
                               struct smooth *p);
/* Writes a file under a temporary name, and renames it. */
MUST_USE enum err gadget4_write(const char *path, const struct sphfile_head *h,
                                const struct smooth_par *par, const struct smooth *p);
