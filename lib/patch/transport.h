/* patch/transport: the sweep of a law with a field on faces (law.edges), plane by plane.
 *
 * Electromotive forces at edges change the field on the faces around them, so that its divergence
 * in every cell stays as it was (Evans & Hawley 1988). States at faces and at edges are made from
 * the cells of a plane and their slopes where they are needed, so that planes hold cells alone. */
#pragma once
#include "patch/sweep.h"

/* Allocates the scratch memory of such a law. */
void transport_new(struct sweep *s);
/* sweep_run for such a law; slots and the first planes are gathered. */
void transport_run(struct sweep *s, const struct sweep_user *user);
