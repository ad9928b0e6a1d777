/* grav/dev: gravity on a device (lib/dev). Bits are those of the CPU. docs/gpu.md says what runs
 * there. Local to a rank. */
#pragma once
#include "grav/grav.h"
#include "oct/mirror.h"

struct grav_dev;

/* The mirror is lent. */
MUST_USE enum err grav_dev_new(struct grav_dev **g, struct mirror *x);
void grav_dev_free(struct grav_dev **g); /* the stream is empty */
/* What of the solve of level l on that many ranks has no kernel, as the end of a sentence; NULL:
 * nothing. */
const char *grav_dev_lacks(const struct mesh *m, int l, int ranks, const struct grav_par *p);
/* As grav_solve, grav_force; PHI_OLD := PHI. All read what they need where oct/mirror.h has it, and
 * leave what they write on the device, in the order of the stream. ERR_LIMIT: the device has too
 * little memory, and nothing has changed; or it failed. */
MUST_USE enum err grav_dev_solve(struct grav_dev *g, struct mesh *m, int l, double fourpi,
                                 double rho_tot, double tfrac, double mass, const double com[3],
                                 struct grav_par *p, struct grav_report *rep);
MUST_USE enum err grav_dev_force(struct grav_dev *g, struct mesh *m, int l, double tfrac,
                                 double mass, const double com[3]);
MUST_USE enum err grav_dev_keep_phi(struct grav_dev *g, struct mesh *m, int l);
