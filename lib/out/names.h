/* out/names: the names of the files of a checkpoint. */
#pragma once
#include <stdbool.h>

/* Is this a file that writers of Ptah create, finished or not? */
bool ckpt_name_is_ours(const char *name);
/* The file by which a directory is recognised as a checkpoint: info_NNNNN.txt or data_NNNNN.h5. */
bool ckpt_name_is_main(const char *name);
