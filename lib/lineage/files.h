/* lineage/files: RAMSES's files of progenitors in a checkpoint: progenitorcount.dat,
 * progenitor_data.dat and past_merged_progenitors.dat, from which the trees of the next output
 * continue. The layout is that of RAMSES with MPI, without record marks; its files without MPI are
 * read too. Local. */
#pragma once
#include "ckpt/ckpt.h"
#include "lineage/link.h"

enum { LINEAGE_FILES = 3 };

/* Reads the files of the checkpoint in `dir`, output_NNNNN. *found is false if it has none. peaks:
 * whether the run that wrote them probably has peak masses, which decides where both fit. */
MUST_USE enum err lineage_read(const char *dir, bool peaks, struct lineage_groups *g,
                               struct lineage_past *past, bool *found);
/* Makes the contents of the files (text: FREE). peaks: include peak masses. wide: ids of 8 bytes
 * even if 4 suffice. */
void lineage_files(const struct lineage_groups *g, const struct lineage_past *past, bool peaks,
                   bool wide, struct ckpt_file file[LINEAGE_FILES]);
