/* out/keep: removes old backups. A checkpoint is removed only if its list of files allows it
 * (ckpt_head.backup), and only after a newer one has been read back. */
#pragma once
#include "base/err.h"

/* Removes all but the last `keep` of the backups dir/output_NNNNN up to number `newest`. Called by
 * one rank. */
MUST_USE enum err ckpt_keep_last(const char *dir, int newest, int keep);
