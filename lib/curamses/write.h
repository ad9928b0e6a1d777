/* curamses/write: a checkpoint in the HDF5 layout of cuRAMSES: output_NNNNN/data_NNNNN.h5 and the
 * text files.
 *
 * The file does not depend on ranks or domains: octs of a level are in Morton order, particles in
 * that of their position (cells of level 21, then family and id), and it says that it was written
 * by one rank in one Hilbert domain, so that cuRAMSES distributes it anew. Values are the conserved
 * variables themselves: a restart has the same bits. Group /ptah, which cuRAMSES does not read, has
 * refinement flags, families and tags of particles, units, provenance, namelist, and a checksum for
 * every block of every dataset.
 *
 * With h->deflate the datasets are shuffled and deflated, which HDF5 undoes for any reader. */
#pragma once
#include "ckpt/ckpt.h"

/* As ckpt_write_ramses, of a mesh under any decomposition. Builds without HDF5 return an error that
 * says so. (collective) */
MUST_USE enum err ckpt_write_hdf5(const char *dir, int number, const struct ckpt_head *h,
                                  const struct mesh *m, const struct parts *p, const struct comm *c,
                                  char *path, size_t n);
