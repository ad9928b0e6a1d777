/* io/ascii_part: particles from a text file, one line x y z vx vy vz m each, as Fortran's
 * list-directed read accepts it (io/table). Up to six further columns are ignored, as by RAMSES,
 * and reported. RAMSES: filetype='ascii', file ic_part.
 *
 * A file is divided into parts at line ends; rank i of n reads part i. Functions are local: each
 * part can be read by itself, and the parts together are the file in its order. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct ascii_share {
    int64_t begin, end; /* byte range in which the lines of the part begin */
    int64_t n;          /* number of particles */
    bool more;          /* whether the lines read have further columns */
    /* Set after ascii_part_count: positions, relative to the centre of the box, must lie in the
     * box, or on a periodic axis at most one box length outside, along the first ndim axes.
     * boxlen 0: no limit. */
    int ndim;
    double boxlen;
    bool periodic[3];
};

MUST_USE enum err ascii_part_count(const char *path, int share, int nshare, struct ascii_share *s);

/* Reads the particles of a part, in the order of the file, into arrays of s->n. Errors name the
 * line. */
MUST_USE enum err ascii_part_read(const char *path, struct ascii_share *s, double *const x[3],
                                  double *const v[3], double *m);
