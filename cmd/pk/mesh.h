/* pk/mesh: spectra of a uniform mesh (grid/grid.h): of the kinetic and the magnetic energy, of
 * their helicities, and of any value, in shells of the wave number whose sum is the mean over the
 * mesh. */
#pragma once
#include <stdbool.h>

#include "comm/comm.h"

struct mesh_options {
    const char *values; /* names, separated by commas; NULL: energies and helicities */
    const char *out;    /* directory; NULL: standard output */
    bool json, force;
};

/* Measures a checkpoint and prints its table. (collective, agreed) */
MUST_USE enum err mesh_spectra(const struct comm *c, const char *path,
                               const struct mesh_options *o);
