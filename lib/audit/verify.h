/* audit/verify: read-back of a checkpoint that was just written. */
#pragma once
#include "comm/comm.h"

/* Reads a whole checkpoint of Ptah, bypassing the system's cache where possible, and compares all
 * checksums. (collective, agreed) */
MUST_USE enum err ckpt_verify(const char *path, int number, const struct comm *c);
