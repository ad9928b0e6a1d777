/* ramses/write: a checkpoint as RAMSES binary.
 *
 * Writing is collective. The directory appears under its name complete or not at all: files are
 * written to NAME.tmp, synced, and renamed. The mesh must be decomposed by Hilbert keys (one domain
 * per rank; see sim/output.c), and particles must be on the rank that owns their levelmin oct:
 * RAMSES accepts files where they are not, but then gives wrong results without a message. */
#pragma once
#include "out/writer.h"

extern const struct writer_kind ramses_writer;
MUST_USE enum err ramses_rewrite(struct rewrite *w);
