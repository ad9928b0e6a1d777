/* curamses/read: checkpoints in the HDF5 layout of cuRAMSES, written by cuRAMSES or Ptah, as
 * sources (ckpt/source.h). Piece k of n has the k-th part of each level's octs and of the
 * particles.
 *
 * The file is not trusted: types, ranks and extents of all datasets are checked against each other
 * and the file's size, batches are bounded, filters other than HDF5's own are refused; every block
 * that has a checksum is compared with it. The file has conserved variables; SOURCE_STORED converts
 * them to primitive variables as RAMSES would have written them. */
#pragma once
#include "ckpt/source.h"

extern const struct source_kind hdf5_kind;

/* Numbers of the attribute `safe`: bit l / HDF5_SAFE of number l % HDF5_SAFE belongs to level l. */
enum { HDF5_SAFE = 23 };

/* ---- functions shared by the files of this reader ---- */
bool hdf5_is(const char *dir); /* whether dir holds one file data_NNNNN.h5 */
MUST_USE enum err hdf5_open(struct source *s);
void hdf5_close_in(struct source *s);
MUST_USE enum err hdf5_file_path(const struct source *s, enum files_kind k, int piece,
                                 char path[PATH_MAX]);
MUST_USE enum err hdf5_read_octs(struct source *s, int piece, enum source_mode mode,
                                 source_octs_fn *fn, void *ctx);
MUST_USE enum err hdf5_read_parts(struct source *s, int piece, source_parts_fn *fn, void *ctx);
MUST_USE enum err hdf5_read_text(struct source *s, enum files_kind k, char **text, size_t *bytes);
/* Reads a small dataset of at most `max` elements, widened to double (real) or int64: *p is a new
 * block (owner: caller, FREE), *n its length; *p is NULL and *n 0 if the dataset does not exist. */
MUST_USE enum err hdf5_read_small(const struct source *s, const char *path, bool real, int64_t max,
                                  int64_t *n, void **p);
