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

/* ---- which cells receive registers ---- */

/* Bits of the refined cells of an oct; cells that repeat others have none. */
static inline unsigned refined_cells(const struct level *lv, lidx i, int cells)
{
    typedef lidx links
        __attribute__((vector_size(4 * sizeof(lidx)), may_alias, aligned(sizeof(lidx))));
    static const links lower = {1, 2, 4, 8}, upper = {16, 32, 64, 128};
    const links *child = (const links *)lv->child[i];
    links bits = ((child[0] >= 0) & lower) | ((child[1] >= 0) & upper);
    bits |= __builtin_shufflevector(bits, bits, 2, 3, 0, 1);
    return (unsigned)(bits[0] | bits[1]) & ((1u << cells) - 1);
}

/* Bits of the cells across face f of which is a refined one; own: bits of the refined cells of the
 * oct, out: of its neighbour there. */
static inline unsigned refined_across(unsigned own, unsigned out, int f)
{
    static const unsigned lower_side[3] = {0x55, 0x33, 0x0f};
    const unsigned lower = lower_side[f >> 1];
    const int step = 1 << (f >> 1);
    return f & 1 ? (own >> step & lower) | (out << step & ~lower)
                 : (own << step & ~lower) | (out >> step & lower);
}
