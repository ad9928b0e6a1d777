/* gravdev/grav_dev: gravity on a device (lib/dev), bit for bit as on the CPU; docs/gpu.md lists the
 * parts that run on a device. On several ranks a solve, the force, the moments and the density are
 * collective; all other functions are local. */
#pragma once
#include "base/sum.h"
#include "dom/ghost_dev.h"
#include "grav/grav.h"
#include "oct/mirror.h"

struct grav_dev;

/* Creates the state; all pointers are lent; ghost: NULL on one rank. */
MUST_USE enum err grav_dev_new(struct grav_dev **g, struct mirror *x, struct ghost_dev *ghost,
                               const struct comm *c);
void grav_dev_free(struct grav_dev **g); /* the stream must be empty */
/* The part of a solve of level l on that many ranks that has no device kernel, as the end of a
 * sentence; NULL if all parts have one. */
const char *grav_dev_lacks(const struct mesh *m, int l, int ranks, const struct grav_par *p);
/* Device versions of grav_solve, grav_force, and PHI_OLD := PHI. All read their inputs through
 * oct/mirror.h and leave results on the device, in stream order. ERR_LIMIT: the device has too
 * little memory, and nothing has changed, or the device failed. */
MUST_USE enum err grav_dev_solve(struct grav_dev *g, struct mesh *m, int l,
                                 const struct grav_source *from, struct grav_par *p,
                                 struct grav_report *rep, bool *done);
/* Whether a solve on several ranks must use all devices or none (done = false): a rank without a
 * device then calls grav_dev_refuse and grav_solve. False if messages do not depend on it. */
bool grav_dev_together(const struct mesh *m, int l, int ranks, const struct grav_par *p);
void grav_dev_refuse(const struct comm *c);
MUST_USE enum err grav_dev_force(struct grav_dev *g, struct mesh *m, int l,
                                 const struct grav_source *from);
MUST_USE enum err grav_dev_copy_phi(struct grav_dev *g, struct mesh *m, int l);
/* Device version of grav_moments for levels l and finer; results stay on the device. */
MUST_USE enum err grav_dev_moments(struct grav_dev *g, struct mesh *m, int l);
/* Copy host moments to the device, and device moments to new host arrays. Local. */
MUST_USE enum err grav_dev_moments_put(struct grav_dev *g, struct mesh *m, int l,
                                       double (*com[])[3]);
MUST_USE enum err grav_dev_moments_get(struct grav_dev *g, const struct mesh *m, int l,
                                       double (*com[])[3]);

/* Source of the Poisson equation (sim/density). Device arrays [noct][8], NULL: none; all ranks have
 * the same set of arrays. */
struct grav_density {
    bool gas; /* true to deposit gas, with the centres of mass of level l+1 */
    double quantum, smallr;
    int64_t (*mass)[8], (*number)[8]; /* other mass on cells, particle counts; both change */
    bool dense; /* true to compute the quasi-Lagrangian criterion, for grav_dev_dense */
    double m_refine, number_quantum, unit; /* unit: unit of the gas density */
};
MUST_USE enum err grav_dev_density(struct grav_dev *g, struct mesh *m, int l,
                                   const struct grav_density *how);
/* Copies the criterion of level l, [nown][8], if still on the device since grav_dev_density. */
MUST_USE enum err grav_dev_dense(struct grav_dev *g, const struct mesh *m, int l,
                                 unsigned char (*dense)[8]);
/* Provides all device data that grav_dev_density needs, and (finer > 0) the moments of finer
 * levels, before any rank sends a message. Local. */
MUST_USE enum err grav_dev_density_need(struct grav_dev *g, struct mesh *m, int l, int finer,
                                        const struct grav_density *how);
/* Adds mass and first moments of the leaf cells of all levels to sum[4]. */
MUST_USE enum err grav_dev_gas_mass(struct grav_dev *g, struct mesh *m, double smallr,
                                    struct sum sum[4]);
/* Maximum of |RHO|, and sum of factor (FX² + FY² + FZ²) over leaves added to sum (NULL, false:
 * omitted). begin issues the kernels; end returns the results and must precede the next solve. */
MUST_USE enum err grav_dev_energy_begin(struct grav_dev *g, struct mesh *m, int l, double factor,
                                        bool sum);
MUST_USE enum err grav_dev_energy_end(struct grav_dev *g, const struct mesh *m, int l, double *top,
                                      struct sum *sum);
