/* smooth/priv: what evaluations on the CPU and on devices share: errors. Private to smooth. */
#pragma once
#include "smooth/point_kern.h"
#include "smooth/smooth.h"

/* A reach within which all particles are, and at which 6 of them fill the kernel. side: of the
 * frame. */
double smooth_everywhere(const struct smooth_par *p, const double side[3]);
/* The error of a particle whose h, the last one tried, is not the solution. */
MUST_USE enum err smooth_has_no_h(enum smooth_fault fault, int64_t id, double h);
/* An error names the particle of the smallest id whose h or Ω is not positive, in whatever row. */
MUST_USE enum err smooth_check_positive(const struct smooth *s);
