/* fd/rows: substeps of boxes of cells, for each order of the differences and each set of parts of
 * the equations (fd/order.h). */
#pragma once
#include "fd/fd.h"

struct fd_rows {
    const struct fd_law *law;
    /* As in struct fd_arrays, but fields that the equations lack have some other one's array. */
    const double *now[FD_FIELDS];
    double *next[FD_FIELDS], *change[FD_FIELDS];
    int64_t start, stride[3];
    int own;  /* cells of a row */
    int past; /* 1: next values are stored past the caches */
    struct fd_stage stage;
};

struct fd_law fd_law(const struct fd_par *p);
struct fd_stage fd_stage(int i, double dt);
/* Aborts if a vector of cells of a short row may lie beyond the arrays of a brick. */
void fd_check_room(const struct fd_par *p, const struct brick *b);

typedef void fd_advance(const struct fd_rows *r, const int lo[3], const int hi[3]);
/* NULL for sets of parts without a right-hand side. */
extern fd_advance *const fd_advance_2[FD_PARTS],
    *const fd_advance_4[FD_PARTS], *const fd_advance_6[FD_PARTS], *const fd_advance_8[FD_PARTS];
