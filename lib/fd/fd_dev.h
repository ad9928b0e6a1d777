/* fd/fd_dev: a substep on a device, with the bits of fd_substep. */
#pragma once
#include "dev/dev.h"
#include "fd/fd.h"

/* fd_substep with arrays in device memory, after the work that is in s. Asynchronous. */
void fd_dev_substep(struct dev_stream *s, const struct fd_par *p, const struct brick *b,
                    const int lo[3], const int hi[3], const struct fd_arrays *a, int i, double dt);
/* Numbers that fd_dev_speed writes, one a block of cells. */
int64_t fd_dev_speeds(const struct brick *b);
/* The signal speed (fd_signal_speed) of each block of own cells: max[fd_dev_speeds] in device
 * memory. NaN where a cell is not finite. Halos must be valid. Asynchronous. */
void fd_dev_speed(struct dev_stream *s, const struct fd_par *p, const struct brick *b,
                  const struct fd_arrays *a, double *max);
