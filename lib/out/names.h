/* out/names: the names of the files of a checkpoint. */
#pragma once
#include <stdbool.h>

/* A file that our writers make, finished or not. */
bool ckpt_name_is_ours(const char *name);
/* The one by which a directory is a checkpoint: info_NNNNN.txt or data_NNNNN.h5. */
bool ckpt_name_is_main(const char *name);
