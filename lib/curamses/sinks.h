/* curamses/sinks: sink particles in the HDF5 layout of cuRAMSES. */
#pragma once
#include "ckpt/catalog.h"
#include "h5/parse.h"

/* Reads every dataset of /sinks as a column; t->from stays empty if the group does not exist. */
MUST_USE enum err hdf5_read_sinks(struct h5_file *f, struct catalog *t);
