/* ramses/write: a checkpoint as RAMSES binary.
 *
 * Writing is collective. The directory appears under its name whole or not at all: files are
 * written to NAME.tmp, synced, and renamed. The mesh must be decomposed by Hilbert keys (one domain
 * a rank; see sim/output.c), and particles must be with the rank that owns their levelmin oct:
 * RAMSES starts from files where they are not, but then goes wrong without a word. */
#pragma once
#include "ckpt/ckpt.h"

/* Writes <dir>/output_NNNNN, prints nothing; path (size n) receives the final path. Errors are
 * agreed: all ranks return the same, and then nothing is left of the attempt, while an older
 * output_NNNNN stands as it was. */
MUST_USE enum err ckpt_write_ramses(const char *dir, int number, const struct ckpt_head *h,
                                    const struct mesh *m, const struct parts *p,
                                    const struct domain *d, const struct comm *c, char *path,
                                    size_t n);
