/* hdf5/driver: the file driver with which HDF5 writes a new file. HDF5 never sees a write
 * error.
 *
 * If the disk fills up while HDF5 closes a file, it leaves the file half closed and crashes when
 * the program ends. Therefore this driver stores the first error, which the caller checks after
 * closing the file; HDF5 continues to write, and that output is discarded. */
#pragma once
#include <stdint.h>

struct hdf5_sink {
    int failed; /* errno of the first error; 0: none */
};

/* Sets the driver of a file access property list (a hid_t) and returns the id of the driver. The
 * sink is lent until the file is closed. HDF5 uses the driver once more, to close the file, after
 * releasing its own reference; call hdf5_driver_end only afterwards. */
int64_t hdf5_driver_set(int64_t access, struct hdf5_sink *sink);
void hdf5_driver_end(int64_t *id); /* sets *id to −1; no effect on −1 */
