/* adapt/install: the levels of a mesh from octs that were read. */
#pragma once
#include "comm/comm.h"
#include "dom/domain.h"
#include "oct/mesh.h"

/* Own octs of a level, in ascending order, each owned by this rank. */
struct adapt_octs {
    lidx n;
    const okey *key;
    /* By field: those that the caller will set for every own oct; others are zero. */
    const bool *unset;
};

/* Makes level l of a mesh from its own octs and from the ghosts that follow from the octs. Call for
 * l = 1..levelmax, then call adapt_link once, which needs the parents of all octs. */
void adapt_install(struct mesh *m, const struct comm *c, const struct domain *d, int l,
                   const struct adapt_octs *octs);
