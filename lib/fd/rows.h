/* fd/rows: substeps of boxes of cells, for each order of the differences and each set of parts of
 * the equations (fd/order.h). */
#pragma once
#include "fd/fd.h"

/* Next values of the first and the last cells of a row. Vectors of up to 8 cells that begin within
 * the halo's width of the first cell, or end as near the last one, fit. */
enum { FD_END = 16 };
struct fd_ends {
    double first[FD_FIELDS][FD_END], last[FD_FIELDS][FD_END];
};

struct fd_rows {
    const struct fd_law *law;
    /* As in struct fd_arrays, but fields that the equations lack have some other one's array. */
    const double *now[FD_FIELDS];
    double *next[FD_FIELDS], *change[FD_FIELDS];
    int64_t start, stride[3];
    int own[3], halo;
    int wraps[3]; /* 1: next values are also stored in the halo beyond this axis */
    int past;     /* 1: next values are stored past the caches, but for rows of the surface */
    int far;      /* 1: next values of the row after this one will be */
    int keeps;    /* 1: the ends of a row are kept for the halos beyond x in `ends` */
    struct fd_ends *ends;
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
