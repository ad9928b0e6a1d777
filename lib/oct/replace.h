/* oct/replace: a level that had no octs, of which the caller will set some fields. */
#pragma once
#include "oct/mesh.h"

struct mesh_octs {
    lidx nown, nghost;
    const okey *own, *ghost; /* ascending (lent) */
};

/* Gives level l these octs, as mesh_replace without moves does. The fields of `unset` ([FLD_MAX])
 * have memory, but no values and, if it is new, no pages yet; others are zero. */
void mesh_install(struct mesh *m, int l, const struct mesh_octs *o, const bool *unset);
