/* sphfile/priv: names and limits shared by the reader and the writer. Private to sphfile. */
#pragma once
#include "sphfile/sphfile.h"

enum { SPHFILE_VERSION = 1, SPHFILE_BLOCK = 1 << 14, SPHFILE_SINKS = 1 << 20 };

static inline struct onefile_head sphfile_common(const struct sphfile_head *h)
{
    return (struct onefile_head){h->t, h->dt, h->it, &h->keys};
}
/* Rows of a block of n particles. */
static inline int64_t sphfile_block(int64_t n)
{
    return n < 1 ? 1 : n < SPHFILE_BLOCK ? n : SPHFILE_BLOCK;
}
MUST_USE enum err sphfile_check_head(const struct sphfile_head *h, const char *file);
