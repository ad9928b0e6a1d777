/* smooth/smooth_dev: density and forces of smooth.h on a device, with the bits of the CPU.
 *
 * Columns stay on the device: those that an evaluation reads are copied there only if the host has
 * changed them, and those that it writes come home only when the host asks for them. */
#pragma once
#include "dev/dev.h"
#include "smooth/smooth.h"

struct smooth_dev;

/* The device and the stream are lent until smooth_dev_free. All columns are on the host. */
struct smooth_dev *smooth_dev_new(struct dev *d, struct dev_stream *s);
void smooth_dev_free(struct smooth_dev **d);
/* Memory for columns of so many particles, ghosts among them; it grows as they do, and then all
 * columns are on the host. ERR_LIMIT here and below: the device has too little memory, or failed.
 */
MUST_USE enum err smooth_dev_reserve(struct smooth_dev *d, struct smooth *s, int64_t rows);

/* Copies the columns of which the host has newer values to the device, in its stream. */
void smooth_dev_need(struct smooth_dev *d, struct smooth *s, smooth_set which);
/* Copies own rows of columns of which the device has newer values to the host, and waits. */
MUST_USE enum err smooth_dev_home(struct smooth_dev *d, struct smooth *s, smooth_set which);
/* Tells that columns have changed on the device, or else on the host, where the other values are
 * now old. */
void smooth_dev_changed(struct smooth_dev *d, smooth_set which, bool on_device);
void *smooth_dev_at(struct smooth_dev *d, enum smooth_column c); /* device address; lent */

/* The tree of own and ghost particles, from their positions and ids. */
MUST_USE enum err smooth_dev_tree(struct smooth_dev *d, struct smooth *s,
                                  const struct near_frame *frame);
/* smooth_density, whose reach is factor × h, and smooth_forces, with that tree. */
MUST_USE enum err smooth_dev_density(struct smooth_dev *d, const struct smooth_par *p,
                                     struct smooth *s, double factor, int64_t *beyond);
MUST_USE enum err smooth_dev_forces(struct smooth_dev *d, const struct smooth_par *p,
                                    struct smooth *s);
