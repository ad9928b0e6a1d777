/* curamses/sinks: sink particles in the HDF5 layout of cuRAMSES. */
#pragma once
#include "ckpt/catalog.h"
#include "h5/parse.h"

/* Every dataset of /sinks becomes a column; t->from stays empty if there is no such group. */
MUST_USE enum err hdf5_read_sinks(struct h5_file *f, struct catalog *t);
