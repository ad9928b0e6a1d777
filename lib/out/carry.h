/* out/carry: files of a checkpoint that Ptah does not read, when another checkpoint is made of it:
 * some are copied, others are omitted (fate in ckpt/files.def). */
#pragma once
#include "ckpt/source.h"
#include "out/out.h"

/* Copies files to o->tmp, with the number of the output being written; c: ranks that share the
 * copying. Copies nothing of a part of a checkpoint (ckpt/cut). Local. */
MUST_USE enum err carry_files(const struct source *s, const struct ckpt_out *o,
                              const struct comm *c);
/* Reports omitted files, on rank 0. copies: whether carry_files copies, as a checkpoint is made. */
MUST_USE enum err carry_log_losses(const struct source *s, bool copies);
