/* sph/device: the gas on a device (run_params/gpu_device) where sph_params/gpu asks for it, with
 * the bits of the CPU: the tree, densities, forces, and the steps of the leapfrog (leap.h). Columns
 * stay there; what runs on the host brings home what it reads, and tells what it changed. Private
 * header of the module. */
#pragma once
#include "sim/solver.h"
#include "smooth/smooth_dev.h"
#include "sph/sph.h"

struct sph_dev {
    struct dev *dev;
    struct dev_stream *stream;
    struct smooth_dev *smooth;
    struct dev_room found; /* what kernels of leap_dev.c found */
};

/* If sph_params/gpu asks for it and all ranks have devices with room for their particles, the gas
 * is there; otherwise the log says why not. (collective, agreed) */
MUST_USE enum err sph_dev_open(const struct sim *s, struct sph *t);
void sph_dev_close(struct sph *t);
/* Logs how much has moved between host and device. (collective) */
void sph_dev_report(const struct sph *t);

/* Brings columns of own particles to the host, where a device has newer values; tells that the host
 * has changed columns, of ghosts too. Without a device neither has an effect. (collective, agreed)
 */
MUST_USE enum err sph_home(struct sph *s, smooth_set which);
void sph_changed(struct sph *s, smooth_set which);

/* The tree of own and ghost particles; smooth_density, within factor × h, and smooth_forces with
 * it. An error of a device: it has too little memory for what the run has become, or failed. */
MUST_USE enum err sph_tree(struct sph *s);
MUST_USE enum err sph_density(struct sph *s, double factor, int64_t *beyond);
MUST_USE enum err sph_forces(struct sph *s);
