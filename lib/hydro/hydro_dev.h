/* hydro/dev: the gas on a device (lib/dev). Bits are those of the CPU. docs/gpu.md says what runs
 * there. Local to a rank. */
#pragma once
#include "dev/dev.h"
#include "hydro/hydro.h"

struct hydro_dev;

/* What of these parameters has no kernel, as the end of a sentence; NULL: nothing. */
const char *hydro_dev_lacks(const struct hydro_par *p);
/* d is lent. */
MUST_USE enum err hydro_dev_new(struct hydro_dev **h, struct dev *d);
void hydro_dev_free(struct hydro_dev **h);
/* As hydro_update, ghosts there. ERR_LIMIT: the device has too little memory, and nothing has
 * changed. What the step reads is copied there and what it writes back. */
MUST_USE enum err hydro_dev_update(struct hydro_dev *h, struct mesh *m, int l, double dt,
                                   double hexp, const struct hydro_par *p);
/* As hydro_kick and hydro_courant. */
MUST_USE enum err hydro_dev_kick(struct hydro_dev *h, struct mesh *m, int l, bool ghosts, double dt,
                                 const struct hydro_par *p);
MUST_USE enum err hydro_dev_courant(struct hydro_dev *h, const struct mesh *m, int l,
                                    const struct hydro_par *p, double *dt);
