/* stencil/device: the fields and the substeps on a device (run_params/gpu_device), with the bits of
 * the CPU. Fields come home for checkpoints, time series and slices, velocities for forces; else
 * only halos and signal speeds are copied. */
#pragma once
#include "sim/solver.h"
#include "stencil/stencil.h"

/* If stencil_params/gpu asks for it and all ranks have devices with room, the fields go there;
 * otherwise the log says why not. (collective, agreed) */
MUST_USE enum err stencil_dev_open(struct sim *s, struct stencil *t);
void stencil_dev_close(struct stencil *t);
/* Copies fields that are newer on the device to t->a.now. An error: the device has failed. */
MUST_USE enum err stencil_dev_home(struct stencil *t);
/* The largest signal speed of own cells; fills halos. (collective, agreed) */
MUST_USE enum err stencil_dev_speed(struct stencil *t, double *speed);
/* A step; filled: halos are valid. (collective, agreed) */
MUST_USE enum err stencil_dev_step(struct stencil *t, int64_t it, double dt, bool filled);
