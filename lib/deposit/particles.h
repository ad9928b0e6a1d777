/* deposit/particles: the gas of a checkpoint of smoothed particles, or of a dump of Phantom, in
 * memory. */
#pragma once
#include "ckpt/ckpt.h"
#include "deposit/deposit.h"
#include "sphfile/either.h"

struct deposit_particles {
    struct sphfile_either *in;
    const struct sphfile_head *head; /* lent by it */
    struct smooth p;
    struct smooth_par par;
    bool periodic;
    double lo[3], side[3]; /* the box */
    double gamma;          /* of an ideal gas with the same pressures: of the run, or 5/3 */
    double *e;             /* [p.n] internal energy per mass of this ideal gas */
    struct deposit_gas gas;
    struct deposit_cube cube;
};
/* Reads all particles. Local. */
MUST_USE enum err deposit_open(const char *path, struct deposit_particles **out);
void deposit_close(struct deposit_particles **p);
/* The header of an octree with this gas, without its levels. */
void deposit_head(const struct deposit_particles *s, struct ckpt_head *h);
