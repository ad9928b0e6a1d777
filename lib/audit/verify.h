/* audit/verify: has a checkpoint that was just written reached the disk? */
#pragma once
#include "comm/comm.h"

/* Reads a whole checkpoint of ours, past the system's memory of it where that can be, and compares
 * all sums. (collective, agreed) */
MUST_USE enum err ckpt_verify(const char *path, int number, const struct comm *c);
