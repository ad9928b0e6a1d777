/* cooldev: cooling of the leaf cells of a mesh on a device, bit for bit as on the CPU
 * (phys/cooling.c). Local to a rank. */
#pragma once
#include "cool/cool.h"
#include "cooldev/cell_kern.h"
#include "oct/mirror.h"

struct cooldev;

/* Creates the state of cooling on the device of x; x is lent. */
struct cooldev *cooldev_new(struct mirror *x);
void cooldev_free(struct cooldev **d); /* the stream must be empty */
/* Cools the leaf cells of level l by COOL_ORIGINAL or COOL_IMPLICIT, with the table entered at the
 * cell's own density and a straight floor. Without rates (c NULL) the energy is set to the floor.
 * ERR_LIMIT: the device has too little memory and nothing has changed, or the device failed. */
MUST_USE enum err cooldev_apply(struct cooldev *d, struct mesh *m, int l,
                                const struct cooling_law *law, struct cooling *c,
                                enum cool_method method);
