/* mhd/mhd_dev: gas with a magnetic field on a device (lib/dev), with the same bits as on the CPU,
 * as hydro/hydro_dev, whose kicks it shares. docs/gpu.md lists the supported parts. Local to a
 * rank. */
#pragma once
#include "mhd/mhd.h"
#include "oct/mirror.h"

struct mhd_dev;

/* Creates the context; the mirror is lent. */
MUST_USE enum err mhd_dev_new(struct mhd_dev **h, struct mirror *m);
void mhd_dev_free(struct mhd_dev **h); /* the stream must be empty */
/* Text that names a choice of these parameters without a kernel, as the end of a sentence; NULL:
 * every choice has one. */
const char *mhd_dev_lacks(const struct mhd_par *p);
/* As mhd_update with valid ghosts, without changes by sources, where the universe does not expand.
 * All functions here copy missing inputs to the device (oct/mirror.h) and leave outputs there, in
 * the order of the stream. ERR_LIMIT: the device has too little memory, and nothing has changed; or
 * the device failed. */
MUST_USE enum err mhd_dev_update(struct mhd_dev *h, struct mesh *m, int l, double dt, double hexp,
                                 const struct mhd_par *p);
/* Creates registers on the device, as reflux_begin. */
MUST_USE enum err mhd_dev_reflux_begin(struct mhd_dev *h, struct mesh *m, int l,
                                       const struct mhd_par *p);
MUST_USE enum err mhd_dev_restrict(struct mhd_dev *h, struct mesh *m, int l,
                                   const struct mhd_par *p);
/* As mhd_courant in two halves. What the first starts runs in stream s, after the work queued so
 * far in the mirror's stream; sums: whether totals are wanted. The second waits for it, and must
 * follow before the gas changes; sums, which it sets: NULL: not wanted. */
MUST_USE enum err mhd_dev_courant_begin(struct mhd_dev *h, struct mesh *m, int l,
                                        const struct mhd_par *p, bool sums, struct dev_stream *s);
MUST_USE enum err mhd_dev_courant(struct mhd_dev *h, struct mesh *m, int l, const struct mhd_par *p,
                                  double *dt, const struct mhd_sums *sums);
/* Gradient criteria, as mhd_flag; bits[nown]: a bit for each cell. */
MUST_USE enum err mhd_dev_steep(struct mhd_dev *h, struct mesh *m, int l, const struct mhd_par *p,
                                unsigned char *bits);

/* Context of mhd_dev_prolong, which prolongs gas and field as mhd_prolong (oct/remap). */
struct mhd_dev_prolong {
    struct mhd_dev *h;
    const struct mhd_par *par;
};
void mhd_dev_prolong(void *ctx, const struct mirror *x, int l, int32_t n, const int32_t *slot,
                     double *row, int width);
