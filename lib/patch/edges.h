/* patch/edges: electromotive forces at edges of the coarse–fine boundary.
 *
 * On the coarse level the force at an edge that touches a refined cell is zero. The fine octs in
 * the refined cells sum their own forces along the edge over their sub-steps, as means over the
 * edge; these sums have the same bits in all of them, and the unrefined cells around the edge take
 * the first. So both copies of a face change alike, and div B does not change at all (Teyssier,
 * Fromang & Dormy 2006). */
#pragma once
#include "patch/patch.h"
#include "patch/sweep.h"

/* Adds the forces in plane k along the edges of own octs with registers to these. */
void edges_register(const struct sweep *s, const struct reflux *r, int k);
/* Adds the registers of refined cells to the field on the faces of the unrefined cells of an
 * oct. */
void edges_collect(struct oct_sums *o);
/* Adds to face what edges_collect does, or with kept, what reflux_keep kept. */
void edges_add(const struct oct_sums *o, bool kept, double (*face)[8]);
