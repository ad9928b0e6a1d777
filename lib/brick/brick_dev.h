/* brick/brick_dev: fills of halos (brick.h) of fields in device memory.
 *
 * A kernel packs all segments of all fields in one buffer, and one copy for each peer brings them
 * to its message; received messages go to the device, and a kernel unpacks them. Copies have a
 * stream of their own. */
#pragma once
#include "brick/brick.h"
#include "dev/dev.h"

enum { BRICK_DEV_FIELDS = 16 };

struct brick_dev;
/* Buffers for fills of at most nfield fields; b and d are lent. ERR_LIMIT: a device has too little
 * memory for them. (collective, agreed) */
MUST_USE enum err brick_dev_new(struct brick_dev **x, struct brick *b, struct dev *d, int nfield);
void brick_dev_free(struct brick_dev **x); /* no work that uses the fields is under way */

/* brick_fill_begin and brick_fill_end for fields of the device that are written in stream s. Begin
 * issues the packing and does not wait; work on the inner box (brick_boxes) that is issued to s
 * after it runs while end sends and receives. Own cells must not change before end has returned.
 * Work issued to s after end finds the halos filled. (collective) */
void brick_dev_fill_begin(struct brick_dev *x, struct dev_stream *s, int nfield,
                          double *const *field);
void brick_dev_fill_end(struct brick_dev *x, struct dev_stream *s);
