/* cone/read_priv: the readers of single files. */
#pragma once
#include "cone/read.h"

enum cone_file { CONE_NONE, CONE_OUT, CONE_PART, CONE_HYDRO, CONE_SINK, CONE_GAL, CONE_H5 };

/* The number of events of the file path by the text file beside it. */
enum err cone_told(const char *path, enum cone_file kind, int64_t *n);
enum err cone_read_binary(const char *path, enum cone_file kind, cone_batch_fn *fn, void *ctx);
enum err cone_read_hdf5(const char *path, cone_batch_fn *fn, void *ctx);
/* Error if a position or redshift of a batch is impossible. */
enum err cone_check_batch(const char *path, const struct cone_batch *b);
