/* cosmo/response: the linear response R(k, a) of a component that is not on the mesh (massive
 * neutrinos) to the matter that is: δ_ν = R δ_cb, from the table of a Boltzmann code. The file is
 * text with numbers separated by blanks; `#` begins a comment:
 *
 *     nk na    k[nk] (h/Mpc, ascending)    a[na] (ascending)    R[nk][na]
 *
 * The table is interpolated bilinearly in ln k and ln a; beyond the ends the values at the ends are
 * used. Local. */
#pragma once
#include "base/err.h"

struct response;

MUST_USE enum err response_read(const char *path, struct response **out);
void response_free(struct response **r);
double response_at(const struct response *r, double k, double a);
