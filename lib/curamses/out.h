/* curamses/out: shared by the writers of HDF5 checkpoints from memory and from temporary files: the
 * layout, and windows of octs and particles in their global order (write.h). Private to
 * curamses. */
#pragma once
#include "curamses/file.h"
#include "out/order.h"
#include "out/out.h"

/* Octs and particles of a checksum: the reader's batches. Windows are multiples of them; octs of
 * the longest window. */
enum { HDF5_OCTS = CKPT_BATCH, HDF5_PARTS = CKPT_PART_BATCH, HDF5_OCT_WINDOW = 2 * HDF5_OCTS };

struct hdf5_out {
    struct ckpt_out o; /* counts, names of directories, texts */
    struct hdf5_file f;
    struct boundary_layout lay;             /* coarse cells */
    int level_set[LEVEL_MAX + 2], part_set; /* first dataset */
    int64_t octs, npart;                    /* the caller sets npart */
    /* Set by the caller too: bytes of the last bits of each variable of a level (ckpt/asis.h),
     * which come as further values after those of gravity; 0: there are none. */
    unsigned char last[LEVEL_MAX + 2][CKPT_FIELDS];
    char *scratch; /* of a window */
};

/* Lays out the file from the counts in w->o and npart. Free scratch and call hdf5_fini(&w->f),
 * after errors too. */
void hdf5_out_plan(struct hdf5_out *w);
MUST_USE enum err hdf5_out_texts(const struct hdf5_out *w); /* rank 0 only */
MUST_USE enum err hdf5_out_create(struct hdf5_out *w);      /* (collective, agreed) */

struct hdf5_octs {
    int64_t first, n; /* as for hdf5_put */
    const order_key *key;
    const unsigned char (*mask)[2]; /* refined cells, flagged cells */
};

/* Lends the rows of a window until the next call: value v of octs, conserved variables before
 * potential and acceleration, as double[n][8]; or column v (enum part_col) of particles, positions
 * inside the box. */
typedef const void *hdf5_values(void *ctx, int v);

/* Writes a window to all datasets of level l, or of particles. Errors are kept in w->f. (collective
 * with deflate; n may be 0) */
void hdf5_out_octs(struct hdf5_out *w, int l, const struct hdf5_octs *o, hdf5_values *fn,
                   void *ctx);
void hdf5_out_parts(struct hdf5_out *w, int64_t first, int64_t n, hdf5_values *fn, void *ctx);
