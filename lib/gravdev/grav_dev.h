/* gravdev/grav_dev: gravity on a device (lib/dev). Bits are those of the CPU. docs/gpu.md says what
 * runs there. On several ranks a solve, the force, the moments and the density are collective;
 * all else is local. */
#pragma once
#include "base/sum.h"
#include "dom/ghost_dev.h"
#include "grav/grav.h"
#include "oct/mirror.h"

struct grav_dev;

/* The mirror and what comes after it are lent; ghost: NULL on one rank. */
MUST_USE enum err grav_dev_new(struct grav_dev **g, struct mirror *x, struct ghost_dev *ghost,
                               const struct comm *c);
void grav_dev_free(struct grav_dev **g); /* the stream is empty */
/* The part of the solve of level l on that many ranks that has no kernel, as the end of a sentence;
 * NULL: there is none. */
const char *grav_dev_lacks(const struct mesh *m, int l, int ranks, const struct grav_par *p);
/* As grav_solve, grav_force; PHI_OLD := PHI. All read what they need where oct/mirror.h has it, and
 * leave what they write on the device, in the order of the stream. ERR_LIMIT: the device has too
 * little memory, and nothing has changed; or it failed. */
MUST_USE enum err grav_dev_solve(struct grav_dev *g, struct mesh *m, int l,
                                 const struct grav_source *from, struct grav_par *p,
                                 struct grav_report *rep, bool *done);
/* On several ranks all solve a level on their devices, or none (done = false): a rank without one
 * calls grav_dev_refuse instead, and then grav_solve. Not so if the messages are the same. */
bool grav_dev_together(const struct mesh *m, int l, int ranks, const struct grav_par *p);
void grav_dev_refuse(const struct comm *c);
MUST_USE enum err grav_dev_force(struct grav_dev *g, struct mesh *m, int l,
                                 const struct grav_source *from);
MUST_USE enum err grav_dev_copy_phi(struct grav_dev *g, struct mesh *m, int l);
/* As grav_moments: of levels l and finer, kept there. */
MUST_USE enum err grav_dev_moments(struct grav_dev *g, struct mesh *m, int l);
/* put: copies mass moments made elsewhere to the device. get: copies them from the device to arrays
 * of the host, which are made anew. Local. */
MUST_USE enum err grav_dev_moments_put(struct grav_dev *g, struct mesh *m, int l,
                                       double (*com[])[3]);
MUST_USE enum err grav_dev_moments_get(struct grav_dev *g, const struct mesh *m, int l,
                                       double (*com[])[3]);

/* The source of the Poisson equation (sim/density). Arrays are the device's, [noct][8], NULL: none;
 * they are the same on all ranks. */
struct grav_density {
    bool gas; /* is deposited, with the centres of mass of the level l+1 */
    double quantum, smallr;
    int64_t (*mass)[8], (*number)[8]; /* what else is on cells; number: of particles. Changed */
    bool dense;                       /* the quasi-Lagrangian criterion is wanted: grav_dev_dense */
    double m_refine, number_quantum, unit; /* unit: of the density of the gas */
};
MUST_USE enum err grav_dev_density(struct grav_dev *g, struct mesh *m, int l,
                                   const struct grav_density *how);
/* The criterion of level l, [nown][8], if it is still there since grav_dev_density. */
MUST_USE enum err grav_dev_dense(struct grav_dev *g, const struct mesh *m, int l,
                                 unsigned char (*dense)[8]);
/* The device has all that grav_dev_density needs, and (finer > 0) the moments of these levels:
 * before one rank or another sends something. Local. */
MUST_USE enum err grav_dev_density_need(struct grav_dev *g, struct mesh *m, int l, int finer,
                                        const struct grav_density *how);
/* Adds mass and first moments of the leaf cells of all levels. */
MUST_USE enum err grav_dev_gas_mass(struct grav_dev *g, struct mesh *m, double smallr,
                                    struct sum sum[4]);
/* max |RHO|; adds Σ factor FX² + … of the leaves to sum (NULL, false: not). In two halves: kernels
 * are put into the stream; what they found, before the next solve. */
MUST_USE enum err grav_dev_energy_begin(struct grav_dev *g, struct mesh *m, int l, double factor,
                                        bool sum);
MUST_USE enum err grav_dev_energy_end(struct grav_dev *g, const struct mesh *m, int l, double *top,
                                      struct sum *sum);
