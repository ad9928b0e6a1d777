/* curamses/driver: how HDF5 writes a new file: plainly, and without ever seeing an error.
 *
 * HDF5 does not survive a disk that fills up while it closes a file: it leaves a half-closed file
 * behind, which crashes the program when it ends. So errors are kept here, for the caller to ask
 * for when the file is closed; HDF5 keeps writing, and its output is dropped. */
#pragma once
#include <stdint.h>

struct hdf5_sink {
    int failed; /* errno of the first error, 0: none */
};

/* Sets the driver of a file access property list (a hid_t) and returns the driver's id. The sink is
 * lent until the file is closed. HDF5 uses the driver once more after it gave up its own reference,
 * to close the file: end it after that. */
int64_t hdf5_driver_set(int64_t access, struct hdf5_sink *sink);
void hdf5_driver_end(int64_t *id); /* −1: nothing, and what it leaves */
