/* patch/patch_dev: a step of a level by a law on a device. Inputs are copied to the device, outputs
 * stay there (oct/mirror.h). The tiles of a level and the octs around them stay until the mesh
 * changes. The host waits only where it needs a number from the device. Local to a rank. */
#pragma once
#include "dev/kernel.h"
#include "oct/mirror.h"
#include "patch/kernels.h"

/* Tiles of a level on the device. */
struct patch_tiles {
    bool known;
    uint64_t octs[2]; /* change counters of the octs of the level, and of the coarser level */
    int depth, corners;
    int32_t n, nmissing;
    int32_t *first, *slot, *parent;
};

/* Highest signals on their way in a stream; NULL: none. */
enum { COURANT_BLOCKS = 1024 };
struct patch_signals {
    struct dev_stream *s;
    int64_t blocks;
    double max[COURANT_BLOCKS];
    struct dev_room out;
};

struct patch_dev {
    struct mirror *mirror; /* mirror of the mesh (lent), with its device and stream */
    struct dev *dev;
    struct dev_stream *stream;
    /* of missing octs, of tiles, new values of a level */
    struct dev_room rows, tile, out;
    struct patch_tiles tiles[LEVEL_MAX + 2];
    struct patch_signals signals;
};

void patch_dev_init(struct patch_dev *h, struct mirror *m);
void patch_dev_fini(struct patch_dev *h); /* the stream is empty */

/* Kernels of a law, and their needs of memory. */
struct patch_kernels {
    const struct dev_kernel *missing, *step; /* missing: NULL: by slopes of minmod */
    const void *par;                         /* for `missing` */
    struct patch_args *args; /* the first member of the arguments of `step`, whose rest is set */
    int planes;              /* of a block's scratch: fluxes, and values of the law */
    struct dev_room *old;    /* receives values before the step, [nvar][own octs][8]; NULL: none */
};
/* The kernel of a law's signal (PATCH_COURANT); the first member of its arguments, whose rest is
 * set. */
struct patch_courant_kernel {
    const struct dev_kernel *kernel;
    struct patch_courant_args *args;
};
/* As patch_update, ghosts there; functions of the law are not called. ERR_LIMIT: the device has too
 * little memory, and nothing has changed; or it failed. */
MUST_USE enum err patch_dev_update(struct patch_dev *h, struct mesh *m, int l, double dt,
                                   const struct law *law, const struct patch_kernels *k);
/* Allocates and sends all that a step needs: the next patch_dev_update of that level, with the same
 * octs and the fields where they are then, lacks no memory. ERR_LIMIT: as patch_dev_update. */
MUST_USE enum err patch_dev_prepare(struct patch_dev *h, struct mesh *m, int l,
                                    const struct law *law, const struct patch_kernels *k);
/* Creates registers on the device, as reflux_begin. */
MUST_USE enum err patch_dev_reflux_begin(struct patch_dev *h, struct mesh *m, int l,
                                         const struct law *law);

/* As patch_courant, in two halves. What the first asks for runs in stream s, after what is in the
 * mirror's now. The second, which waits for it, follows before the fields change. */
MUST_USE enum err patch_dev_courant_begin(struct patch_dev *h, struct mesh *m, int l,
                                          const struct law *law,
                                          const struct patch_courant_kernel *k,
                                          struct dev_stream *s);
MUST_USE enum err patch_dev_courant(struct patch_dev *h, const struct mesh *m, int l,
                                    const struct law *law, double *dt);
/* The second half, which gives the highest signal itself; -HUGE_VAL: there is none. */
MUST_USE enum err patch_dev_highest(struct patch_dev *h, double *max);
