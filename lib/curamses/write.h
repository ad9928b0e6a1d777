/* curamses/write: a checkpoint in the HDF5 layout of cuRAMSES: output_NNNNN/data_NNNNN.h5 and the
 * text files.
 *
 * The file does not depend on ranks or domains: octs of a level are in Morton order, particles in
 * Morton order of their position (cells of level 21, then family and id). The header declares one
 * rank with one Hilbert domain, so that cuRAMSES redistributes the data. Values are the conserved
 * variables themselves, so a restart is bit for bit exact. Group /ptah, which cuRAMSES does not
 * read, has refinement flags, families and tags of particles, units, provenance, namelist, and a
 * checksum for every block of every dataset.
 *
 * With h->deflate the datasets are shuffled and deflated; HDF5 decompresses them for any reader.
 * Builds without HDF5 return an error. */
#pragma once
#include "out/writer.h"

extern const struct writer_kind hdf5_writer;
MUST_USE enum err hdf5_rewrite(struct rewrite *w);
