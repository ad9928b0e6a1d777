/* hydro/hydro_dev: the gas on a device (lib/dev), with the same bits as on the CPU. docs/gpu.md
 * lists the supported parts. Local to a rank. */
#pragma once
#include "hydro/hydro.h"
#include "oct/mirror.h"

struct hydro_dev;

/* Text that names a choice of these parameters without a kernel, as the end of a sentence; NULL:
 * every choice has one. */
const char *hydro_dev_lacks(const struct hydro_par *p);
/* Creates the context; the mirror is lent. */
MUST_USE enum err hydro_dev_new(struct hydro_dev **h, struct mirror *m);
void hydro_dev_free(struct hydro_dev **h); /* the stream must be empty */
/* Godunov step, as hydro_update with valid ghosts. All functions here copy missing inputs to the
 * device (oct/mirror.h) and leave outputs there, in the order of the stream. ERR_LIMIT: the device
 * has too little memory, and nothing has changed; or the device failed. */
MUST_USE enum err hydro_dev_update(struct hydro_dev *h, struct mesh *m, int l, double dt,
                                   double hexp, const struct hydro_par *p,
                                   const struct hydro_change *c);
/* Creates registers on the device, as reflux_begin. */
MUST_USE enum err reflux_dev_begin(struct hydro_dev *h, struct mesh *m, int l,
                                   const struct hydro_par *p);
/* Device versions of hydro_restrict, hydro_kick and hydro_courant; sums are zeroed first. */
MUST_USE enum err hydro_dev_restrict(struct hydro_dev *h, struct mesh *m, int l,
                                     const struct hydro_par *p);
MUST_USE enum err hydro_dev_kick(struct hydro_dev *h, struct mesh *m, int l, bool ghosts, double dt,
                                 const struct hydro_par *p);
/* The lattices of f must be on the device (turb/turb.h). */
MUST_USE enum err hydro_dev_drive(struct hydro_dev *h, struct mesh *m, int l, double dt,
                                  const struct turb_force *f, double smallr);
MUST_USE enum err hydro_dev_courant(struct hydro_dev *h, struct mesh *m, int l,
                                    const struct hydro_par *p, double *dt);
/* First halves of courant and totals: the kernels run in stream s, after the work queued so far in
 * the mirror's stream. The second half, which waits for the results, must follow before the gas
 * changes. */
MUST_USE enum err hydro_dev_courant_begin(struct hydro_dev *h, struct mesh *m, int l,
                                          const struct hydro_par *p, struct dev_stream *s);
MUST_USE enum err hydro_dev_totals_begin(struct hydro_dev *h, struct mesh *m, int l,
                                         const struct hydro_par *p, struct dev_stream *s);
MUST_USE enum err hydro_dev_totals(struct hydro_dev *h, struct mesh *m, int l,
                                   const struct hydro_par *p, struct sum *mass, struct sum *energy,
                                   struct sum *internal, struct sum momentum[3]);
/* Gradient criteria, as hydro_flag; bits[nown]: a bit for each cell. */
MUST_USE enum err hydro_dev_steep(struct hydro_dev *h, struct mesh *m, int l,
                                  const struct hydro_par *p, unsigned char *bits);

/* Context of hydro_dev_prolong, which prolongs the gas as hydro_prolong (oct/remap). */
struct hydro_dev_prolong {
    struct hydro_dev *h;
    const struct hydro_par *par;
};
/* Photons alone, which are before `row`; par: parameters on the device. */
void hydro_dev_photons(const struct mirror *x, const struct hydro_par *par, int l, int32_t n,
                       const int32_t *slot, double *row, int width);
void hydro_dev_prolong(void *ctx, const struct mirror *x, int l, int32_t n, const int32_t *slot,
                       double *row, int width);
