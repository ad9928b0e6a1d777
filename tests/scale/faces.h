/* The surfaces of domains of a complete mesh of 2^bits cells a side: no mesh is held. */
#pragma once
#include "dom/domain.h"

struct faces {
    double cells;    /* of a rank: mean */
    double surface;  /* pairs of a cell and another rank that owns one of its face neighbours,
                         for each cell of the mesh */
    double partners; /* ranks across a face: mean */
    int max, min;
};

/* A cell of the mesh is an oct of level bits + 1. */
void faces_measure(const struct domain *d, int bits, struct faces *f);
