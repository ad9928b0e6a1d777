/* part/part_dev: particles on a device (lib/dev). Bits are those of the CPU. docs/gpu.md says what
 * runs there.
 *
 * The columns of all particles have one place: here, there, or both. What is a function of part.h
 * there has the name part_dev_… here, with the same arguments: it brings the particles to the
 * device, if they are not there, and leaves them there. Fields that it reads must be there (links
 * of the mesh are sent). Bookkeeping (n, first, run) stays in struct parts. Only particles that
 * change ranks cross the bus; peers may have theirs on the host. enter and hand_down are collective
 * as those of part.h are.
 *
 * ERR_LIMIT: the device has too little memory, or failed; the particles are where they were, as
 * they were. */
#pragma once
#include "base/sum.h"
#include "oct/mirror.h"
#include "part/part.h"

struct part_dev;

MUST_USE enum err part_dev_new(struct part_dev **x, struct mirror *mirror); /* lent */
void part_dev_free(struct part_dev **x); /* particles are not needed from it any more */

/* All columns are at `place` (PLACE_…) on return. */
MUST_USE enum err part_dev_need(struct part_dev *x, struct parts *p, int location);
/* The host has changed particles, their number or their columns. They are there alone. */
void part_dev_wrote(struct part_dev *x);
bool part_dev_has(const struct part_dev *x, int location);

MUST_USE enum err part_dev_enter(struct part_dev *x, struct parts *p, const struct mesh *m,
                                 const struct comm *c, const struct domain *d, int l);
MUST_USE enum err part_dev_hand_down(struct part_dev *x, struct parts *p, const struct mesh *m,
                                     const struct comm *c, const struct domain *d, int l);
MUST_USE enum err part_dev_merge(struct part_dev *x, struct parts *p, const struct mesh *m, int l);
/* mass, number: the host's. */
MUST_USE enum err part_dev_deposit(struct part_dev *x, struct parts *p, const struct mesh *m, int l,
                                   double quantum, double mass_cut, int cic_levelmax,
                                   int64_t (*mass)[8], int64_t (*number)[8]);
MUST_USE enum err part_dev_synchro(struct part_dev *x, struct parts *p, const struct mesh *m, int l,
                                   const double *dtnew, const double *dtold);
MUST_USE enum err part_dev_move(struct part_dev *x, struct parts *p, const struct mesh *m, int l,
                                double dt);
/* The first half of the next two: what it asks for runs in stream s, after what is in the mirror's
 * now. The second half, which waits for it, follows before those particles change. */
MUST_USE enum err part_dev_vmax_begin(struct part_dev *x, struct parts *p, int l,
                                      struct dev_stream *s);
MUST_USE enum err part_dev_kinetic_begin(struct part_dev *x, struct parts *p, int l,
                                         struct dev_stream *s);
MUST_USE enum err part_dev_vmax(struct part_dev *x, struct parts *p, int l, double *vmax);
MUST_USE enum err part_dev_kinetic(struct part_dev *x, struct parts *p, int l, struct sum *ekin);
/* Particles by the finest oct that they are in, [noct] of each level from levelmin on, on which all
 * are hosted; those that own octs do not host are left out. */
MUST_USE enum err part_dev_count(struct part_dev *x, struct parts *p, const struct mesh *m,
                                 int32_t *const count[LEVEL_MAX + 2]);
/* Adds the mass and, with n == 4, first moments of all particles but tracers. */
MUST_USE enum err part_dev_mass(struct part_dev *x, struct parts *p, int n, struct sum *sum);

/* part_dev_deposit with sums on the device: lent until the next deposit. number NULL: not asked. */
MUST_USE enum err part_dev_deposit_density(struct part_dev *x, struct parts *p,
                                           const struct mesh *m, int l, double quantum,
                                           double mass_cut, int cic_levelmax, int64_t (**mass)[8],
                                           int64_t (**number)[8]);
/* The device has all that this needs. */
MUST_USE enum err part_dev_deposit_need(struct part_dev *x, struct parts *p, const struct mesh *m,
                                        int l);
