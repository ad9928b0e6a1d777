/* smooth/smooth_dev: density and forces of smooth.h on a device, with the bits of the CPU. Columns
 * are copied to the device before each evaluation, and its results back. */
#pragma once
#include "dev/dev.h"
#include "smooth/smooth.h"

struct smooth_dev;

/* The device and the stream are lent until smooth_dev_free. */
struct smooth_dev *smooth_dev_new(struct dev *d, struct dev_stream *s);
void smooth_dev_free(struct smooth_dev **d);
/* Memory for columns of so many particles, ghosts among them; it grows as they do. */
MUST_USE enum err smooth_dev_reserve(struct smooth_dev *d, int64_t rows);

/* The tree of own and ghost particles, from their positions and ids. ERR_LIMIT here and below: the
 * device has too little memory, or failed. */
MUST_USE enum err smooth_dev_tree(struct smooth_dev *d, struct smooth *s,
                                  const struct near_frame *frame);
/* smooth_density and smooth_forces, with that tree. */
MUST_USE enum err smooth_dev_density(struct smooth_dev *d, const struct smooth_par *p,
                                     struct smooth *s, const double *reach, int64_t *beyond);
MUST_USE enum err smooth_dev_forces(struct smooth_dev *d, const struct smooth_par *p,
                                    struct smooth *s);
