/* sph/device: the tree, densities and forces of the gas, on a device (run_params/gpu_device) where
 * sph_params/gpu asks for it, with the bits of the CPU. Private header of the module. */
#pragma once
#include "sim/solver.h"
#include "sph/sph.h"

/* If sph_params/gpu asks for it and all ranks have devices with room for their particles, densities
 * and forces are evaluated there; otherwise the log says why not. (collective, agreed) */
MUST_USE enum err sph_dev_open(const struct sim *s, struct sph *t);
void sph_dev_close(struct sph *t);

/* The tree of own and ghost particles; smooth_density and smooth_forces with it. An error of a
 * device: it has too little memory for what the run has become, or failed. */
MUST_USE enum err sph_tree(struct sph *s);
MUST_USE enum err sph_density(struct sph *s, int64_t *beyond);
MUST_USE enum err sph_forces(struct sph *s);
