/* deposit/priv: shared by the files of the module. Private to deposit. */
#pragma once
#include "deposit/deposit.h"

struct deposit_point {
    okey key; /* of the cell of the finest possible level */
    int64_t id, at;
};
/* Particles by key and id. (owner: caller, after errors too) */
MUST_USE enum err deposit_sort(const struct deposit_gas *g, const struct deposit_cube *c,
                               struct deposit_point **out);
/* A coordinate in units of the cube, within the domain along periodic axes. */
double deposit_place(const struct deposit_cube *c, int axis, double x);
