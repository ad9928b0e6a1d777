/* kinds/priv: what the files of kinds share. Private to kinds. */
#pragma once
#include "kinds/kinds.h"

/* The magnetic field on the faces of own oct i of level l, from the vector potential. */
MUST_USE enum err kinds_field(const struct kinds *k, struct mesh *m, int l, lidx i);
static inline bool kind_has_field(const struct kind *k)
{
    return k->potential || k->face;
}
