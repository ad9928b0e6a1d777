/* part/part_dev: particles on a device (lib/dev), with the same bits as on the CPU. docs/gpu.md
 * lists the supported parts.
 *
 * All columns of the particles have one location: host, device, or both. Each function
 * part_dev_NAME corresponds to part_NAME in part.h, with the same arguments: it copies the
 * particles to the device if necessary, and leaves them there. Fields that it reads must be on the
 * device (links of the mesh are sent). Bookkeeping (n, first, run) stays in struct parts. Only
 * particles that change ranks cross the bus; other ranks may have theirs on the host.
 * part_dev_enter and part_dev_hand_down are collective.
 *
 * ERR_LIMIT: the device has too little memory, or failed; the particles are unchanged. */
#pragma once
#include "base/sum.h"
#include "oct/mirror.h"
#include "part/part.h"

struct part_dev;

MUST_USE enum err part_dev_new(struct part_dev **x, struct mirror *mirror); /* mirror is lent */
void part_dev_free(struct part_dev **x); /* the particles must be on the host */

/* Brings all columns to `location` (LOCATION_…) by the return. */
MUST_USE enum err part_dev_need(struct part_dev *x, struct parts *p, int location);
/* Declares that the host has changed particles or their number; only the host's copy is valid. */
void part_dev_wrote(struct part_dev *x);
bool part_dev_has(const struct part_dev *x, int location);

MUST_USE enum err part_dev_enter(struct part_dev *x, struct parts *p, const struct mesh *m,
                                 const struct comm *c, const struct domain *d, int l);
MUST_USE enum err part_dev_hand_down(struct part_dev *x, struct parts *p, const struct mesh *m,
                                     const struct comm *c, const struct domain *d, int l);
MUST_USE enum err part_dev_merge(struct part_dev *x, struct parts *p, const struct mesh *m, int l);
/* Deposits into mass and number in host memory. */
MUST_USE enum err part_dev_deposit(struct part_dev *x, struct parts *p, const struct mesh *m, int l,
                                   double quantum, double mass_cut, int cic_levelmax,
                                   int64_t (*mass)[8], int64_t (*number)[8]);
MUST_USE enum err part_dev_synchro(struct part_dev *x, struct parts *p, const struct mesh *m, int l,
                                   const double *dtnew, const double *dtold);
MUST_USE enum err part_dev_move(struct part_dev *x, struct parts *p, const struct mesh *m, int l,
                                double dt);
/* First halves of part_dev_vmax and part_dev_kinetic: the kernels run in stream s, after the work
 * queued so far in the mirror's stream. The second half, which waits for the result, must follow
 * before the particles change. */
MUST_USE enum err part_dev_vmax_begin(struct part_dev *x, struct parts *p, int l,
                                      struct dev_stream *s);
MUST_USE enum err part_dev_kinetic_begin(struct part_dev *x, struct parts *p, int l,
                                         struct dev_stream *s);
MUST_USE enum err part_dev_vmax(struct part_dev *x, struct parts *p, int l, double *vmax);
MUST_USE enum err part_dev_kinetic(struct part_dev *x, struct parts *p, int l, struct sum *ekin);
/* Counts particles by the finest oct that contains them, [noct] of each level from levelmin on,
 * where all are hosted; particles hosted by ghosts are not counted. */
MUST_USE enum err part_dev_count(struct part_dev *x, struct parts *p, const struct mesh *m,
                                 int32_t *const count[LEVEL_MAX + 2]);
/* Adds the mass and, with n == 4, first moments of all particles but tracers. */
MUST_USE enum err part_dev_mass(struct part_dev *x, struct parts *p, int n, struct sum *sum);

/* Deposits into device arrays, which are lent until the next deposit. number NULL: not wanted. */
MUST_USE enum err part_dev_deposit_density(struct part_dev *x, struct parts *p,
                                           const struct mesh *m, int l, double quantum,
                                           double mass_cut, int cic_levelmax, int64_t (**mass)[8],
                                           int64_t (**number)[8]);
/* Brings all inputs of a deposit to the device. */
MUST_USE enum err part_dev_deposit_need(struct part_dev *x, struct parts *p, const struct mesh *m,
                                        int l);

/* ---- few particles (migrate_dev.c) ---- */
/* Work of the host on few particles, whose columns come to the host's arrays and return; where all
 * particles are does not change. Errors: the device failed. x NULL, or particles that the host has:
 * nothing is copied. */

/* Indices, in ascending order, of own particles of level l of this family, with another tag than
 * `other`, with first < birth time ≤ last. Particles are on the device. FREE(*at). */
MUST_USE enum err part_dev_born(struct part_dev *x, const struct parts *p, int l, int family,
                                int other, const double birth[2], int64_t *n, int64_t **at);
MUST_USE enum err part_dev_few_home(struct part_dev *x, struct parts *p, int64_t n,
                                    const int64_t *at);
MUST_USE enum err part_dev_few_send(struct part_dev *x, const struct parts *p, int64_t n,
                                    const int64_t *at);
/* Moves particles on the device as part_insert(p, l, n), which follows, does on the host; then the
 * caller fills the new ones and sends them. Without device memory all particles come to the host.
 */
MUST_USE enum err part_dev_insert(struct part_dev *x, struct parts *p, int l, int64_t n);
/* Largest id, at least 0. */
MUST_USE enum err part_dev_max_id(struct part_dev *x, const struct parts *p, int64_t *max);
