/* hydro/vec4_load: loads four cells, half an oct, as a vector. Private to hydro. */
#pragma once
#include "oct/mesh.h"
#include "vec/vec4.h"

static inline vec4 load_half(const struct level *lv, int field, lidx i, int h)
{
    return vec4_load(lv->fld[field][i] + 4 * h);
}
