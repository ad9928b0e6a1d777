/* out/keep: fewer checkpoints than were written. One is removed only if its list of files says
 * that it may be (ckpt_head.backup), and only after a newer one was read back. */
#pragma once
#include "base/err.h"

/* Of the backups dir/output_NNNNN up to number `newest` the last `keep` stay. One rank's. */
MUST_USE enum err ckpt_keep_last(const char *dir, int newest, int keep);
