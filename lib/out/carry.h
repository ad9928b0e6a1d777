/* out/carry: the files of a checkpoint that no reader of ours reads, where another checkpoint is
 * made of it: some are copied, others are left out (fate in ckpt/files.def). */
#pragma once
#include "ckpt/source.h"
#include "out/out.h"

/* Copies under o->tmp what is to be copied, with the number of the output that is being written;
 * c: the ranks that share in it. Nothing of a part of a checkpoint (ckpt/cut). Local. */
MUST_USE enum err carry_files(const struct source *s, const struct ckpt_out *o,
                              const struct comm *c);
/* Reports what is left out. copies: a checkpoint is made, so that carry_files does copy. Rank 0. */
MUST_USE enum err carry_log_losses(const struct source *s, bool copies);
