/* curamses/read: checkpoints in the HDF5 layout of cuRAMSES, its own and ours, given as RAMSES
 * snapshots are (ramses/read.h): own octs and particles in batches, by pieces that ranks may share
 * out. ramses_open opens them too; a piece is then what a file is there, and r->ncpu their number.
 * Piece k of n has the k-th part of each level's octs and of the particles.
 *
 * The file is not trusted: types, ranks and extents of all datasets are checked against each other
 * and the file's size, batches are bounded, filters other than HDF5's own are refused; every block
 * that has a checksum is compared with it. Nothing here is collective. */
#pragma once
#include "ramses/read.h"

bool hdf5_is(const char *dir);                 /* holds one file data_NNNNN.h5 */
MUST_USE enum err hdf5_open(struct ramses *r); /* r->dir; fills r, r->hdf5 */
void hdf5_close_in(struct hdf5_in **h);
/* Piece 1..r->ncpu. The file has conserved variables; with `conserved` they are given as they are,
 * else as primitive ones. */
MUST_USE enum err hdf5_read_octs(struct ramses *r, int piece, bool values, bool conserved,
                                 ramses_octs_fn *fn, void *ctx);
MUST_USE enum err hdf5_read_parts(struct ramses *r, int piece, ramses_parts_fn *fn, void *ctx);
/* What is stored beyond cuRAMSES's: tout_next, aout_next, safe in r->head. */
bool hdf5_has_state(const struct ramses *r);
/* A small dataset, at most `most` elements, widened to double (real) or int64: *p is a new block
 * (owner: caller, FREE), *n its length; *p is NULL and *n 0 if there is no such dataset. */
MUST_USE enum err hdf5_read_small(const struct ramses *r, const char *path, bool real, int64_t most,
                                  int64_t *n, void **p);
bool hdf5_has(const struct ramses *r, const char *path); /* a group or dataset */
