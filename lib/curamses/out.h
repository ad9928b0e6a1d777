/* curamses/out: layout and writing of windows, shared by the writers of HDF5 checkpoints from
 * memory and from temporary files. Windows hold octs and particles in global order (write.h).
 * Private to curamses. */
#pragma once
#include "hdf5/file.h"
#include "out/order.h"
#include "out/out.h"

/* HDF5_OCTS, HDF5_PARTS: rows per checksum, equal to the reader's batches; a window holds a
 * multiple. HDF5_OCT_WINDOW: octs of the longest window. */
enum { HDF5_OCTS = CKPT_BATCH, HDF5_PARTS = CKPT_PART_BATCH, HDF5_OCT_WINDOW = 2 * HDF5_OCTS };

struct hdf5_out {
    struct ckpt_out o; /* counts, names of directories, texts */
    struct hdf5_file f;
    struct boundary_layout lay;             /* layout of the coarse cells */
    int level_set[LEVEL_MAX + 2], part_set; /* index of the first dataset */
    int64_t octs, npart;                    /* global numbers; the caller sets npart */
    /* Bytes of the last bits of each variable of a level (ckpt/asis.h), set by the caller; stored
     * as further values after gravity; 0: none. */
    unsigned char last[LEVEL_MAX + 2][CKPT_FIELDS];
    char *scratch; /* buffer of a window */
};

/* Lays out the file from the counts in w->o and npart. The caller frees scratch and calls
 * hdf5_fini(&w->f), also after errors. */
void hdf5_out_plan(struct hdf5_out *w);
MUST_USE enum err hdf5_out_texts(const struct hdf5_out *w); /* rank 0 only */
MUST_USE enum err hdf5_out_create(struct hdf5_out *w);      /* (collective, agreed) */

struct hdf5_octs {
    int64_t first, n; /* first and n of hdf5_put */
    const order_key *key;
    const unsigned char (*mask)[2]; /* bit masks of refined cells, flagged cells */
};

/* Lends the rows of a window until the next call: value v of octs, conserved variables before
 * potential and acceleration, as double[n][8]; or column v (enum part_col) of particles, with
 * positions inside the box. */
typedef const void *hdf5_values(void *ctx, int v);

/* Writes a window to all datasets of level l, or of particles. Errors are kept in w->f. (collective
 * with deflate; n may be 0) */
void hdf5_out_octs(struct hdf5_out *w, int l, const struct hdf5_octs *o, hdf5_values *fn,
                   void *ctx);
void hdf5_out_parts(struct hdf5_out *w, int64_t first, int64_t n, hdf5_values *fn, void *ctx);
