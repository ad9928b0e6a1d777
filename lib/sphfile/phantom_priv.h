/* sphfile/phantom_priv: numbers that the reader and the writer of dumps share. Private to
 * sphfile. */
#pragma once
#include "sphfile/phantom.h"

/* The numbers of the first record, and the version of the format. */
enum {
    PHANTOM_MARK_1 = 60769,
    PHANTOM_MARK_2 = 60878,
    PHANTOM_MARK_3 = 690706,
    PHANTOM_VERSION = 1
};

static inline bool phantom_is_real(enum phantom_kind kind)
{
    return kind >= PHANTOM_REAL;
}
