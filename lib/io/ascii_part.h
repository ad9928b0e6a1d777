/* io/ascii_part: particles from a text file, one line x y z vx vy vz m each, as Fortran's
 * list-directed read accepts it (io/table). Up to six further columns are ignored, as by RAMSES,
 * and told. RAMSES: filetype='ascii', file ic_part.
 *
 * A file is divided into parts at line ends; rank i of n reads part i. Not collective: each part
 * can be read by itself, and the parts together are the file in its order. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct ascii_share {
    int64_t begin, end; /* bytes: lines that begin in here */
    int64_t n;          /* particles */
    bool more;          /* once read: some have further columns */
    /* Set after ascii_part_count: places, from the centre of the box, must lie in it, or on a
     * periodic axis within a box around it. boxlen 0: anywhere. */
    double boxlen;
    bool periodic[3];
};

MUST_USE enum err ascii_part_count(const char *path, int share, int nshare, struct ascii_share *s);

/* The particles of a part, in the order of the file, into arrays of s->n. Errors name the line. */
MUST_USE enum err ascii_part_read(const char *path, struct ascii_share *s, double *const x[3],
                                  double *const v[3], double *m);
