/* halo/state: the bodies of a run: particles with mass, and leaf cells of gas. */
#pragma once
#include "halo/halo.h"
#include "oct/mesh.h"
#include "part/part.h"

/* Those of this rank, *n of them; owner: caller, FREE. Local. */
struct halo_body *halo_state(const struct mesh *m, const struct parts *p, const bool periodic[3],
                             int64_t *n);
