/* Surfaces of domains of a complete mesh of 2^bits cells along each side, without storing the
 * mesh. */
#pragma once
#include "dom/domain.h"

struct faces {
    double cells; /* mean number of cells of a rank */
    /* number of pairs of a cell and another rank that owns one of its face neighbours, per cell of
     * the mesh */
    double surface;
    double partners; /* mean number of ranks across a face */
    int max, min;
};

/* Measures the surfaces. A cell of the mesh is an oct of level bits + 1. */
void faces_measure(const struct domain *d, int bits, struct faces *f);
