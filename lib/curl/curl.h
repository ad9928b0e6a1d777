/* curl: the electric current of a checkpoint, the curl of its magnetic field, at the centres of
 * cells.
 *
 * The derivative of a component is the difference of its values at the centres of both neighbours
 * along the axis, each the mean of two faces, over two widths of the cell. That is the mean of the
 * currents at the four edges of the cell that are parallel to the component of the current, each
 * from the four faces that meet at an edge. A finer neighbour counts by the field of the split cell
 * that it is part of. Beside coarser cells and at boundaries of the box the difference is
 * one-sided, from the cell itself to its other neighbour, which is in the same oct. Along a missing
 * axis nothing varies. */
#pragma once
#include "ckpt/source.h"

struct curl;

/* Reads the field in a region lo to hi, in units of the box, and around it: about 200 bytes an oct.
 * A periodic box is repeated where the region leaves it. Fails if there is a value that is not
 * finite. *out is NULL after an error; curl_free frees it. */
MUST_USE enum err curl_read(struct source *r, const double lo[3], const double hi[3],
                            struct curl **out);
void curl_free(struct curl **q);
/* Current j in a cell, in code units; false: the oct is far from the region. */
bool curl_at(const struct curl *q, int level, okey key, int cell, double j[3]);
