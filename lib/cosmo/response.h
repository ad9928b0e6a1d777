/* cosmo/response: the linear response R(k, a) of a component that the mesh does not hold (massive
 * neutrinos) to the matter that it does: δ_ν = R δ_cb, from a Boltzmann code's table. Text, numbers
 * parted by blanks, `#` begins a comment:
 *
 *     nk na    k[nk] (h/Mpc, ascending)    a[na] (ascending)    R[nk][na]
 *
 * Bilinear in ln k and ln a; beyond the table's ends the values at the ends. Local. */
#pragma once
#include "base/err.h"

struct response;

MUST_USE enum err response_read(const char *path, struct response **out);
void response_free(struct response **r);
double response_at(const struct response *r, double k, double a);
