/* cooldev: cooling of the leaf cells of a mesh on a device, with the bits of the CPU
 * (phys/cooling.c). Local to a rank. */
#pragma once
#include "cool/cool.h"
#include "cooldev/cell_kern.h"
#include "oct/mirror.h"

struct cooldev;

/* The mirror is lent. */
struct cooldev *cooldev_new(struct mirror *x);
void cooldev_free(struct cooldev **d); /* the stream is empty */
/* The leaf cells of level l, of which the table is entered at their own density, by COOL_ORIGINAL
 * or COOL_IMPLICIT; the floor is straight. Without rates (c) the energy becomes that of the floor.
 * ERR_LIMIT: the device has too little memory, and nothing has changed; or it failed. */
MUST_USE enum err cooldev_apply(struct cooldev *d, struct mesh *m, int l,
                                const struct cooling_law *law, struct cooling *c,
                                enum cool_method method);
