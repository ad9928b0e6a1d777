/* smooth/dev_priv: the memory of smooth_dev.c and columns_dev.c on a device. Private to smooth. */
#pragma once
#include "smooth/kernels.h"
#include "smooth/smooth_dev.h"
#include "tree/near_dev.h"

/* Rows that density and forces keep in the order of the tree; density has v and a in the
 * first ones. */
enum {
#define ROW(name) SORTED_##name,
    SMOOTH_PAIR(ROW)
#undef ROW
        SORTED_reach2,
    SORTED
};

struct smooth_dev {
    struct dev *dev;           /* lent */
    struct dev_stream *stream; /* lent */
    struct near_dev *tree;
    struct near_dev_lists lists;
    int64_t rows; /* particles that there is room for */
    /* By number: the columns, where neighbours are sought, which have no h. */
    struct dev_room column[SMOOTH_COLUMNS], reach, fault;
    smooth_set on_host, on_device; /* columns whose newest values are there */
    struct dev_room sorted[SORTED], begin, counter;
};
