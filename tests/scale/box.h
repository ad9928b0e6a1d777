/* Cost field: octs of a box with particles and costs, from a checkpoint or a formula. */
#pragma once
#include "base/err.h"
#include "oct/mesh.h"

struct box {
    int levelmin, levelmax;
    double oct_bytes, part_bytes; /* bytes that simulate needs for an oct, for a particle */
    int nvar;                     /* number of variables in an exchange */
    bool bounded[6];
    int64_t n, cap, parts;
    int *level; /* [n] levels, ascending */
    okey *key;  /* [n] keys, ascending within a level */
    double *cost;
    double steps[LEVEL_MAX + 2]; /* steps of each level in a coarse step */
    float *part;                 /* [n] particles whose finest oct this is; NULL: none */
};

/* Opens `what`: directory of a checkpoint; or clusters:N, 20 Gaussian clusters on a mesh of N^3
 * cells, each an oct; or uniform:N, without clusters. */
MUST_USE enum err box_open(const char *what, struct box *f);
/* Sets the steps of the levels from the base on: nsubcycle of each, with the last one for all
 * further levels. */
void box_subcycle(struct box *f, int n, const int *nsubcycle);
/* Replaces the box by 8^tile copies side by side, `tile` levels deeper. */
void box_tile(struct box *f, int tile);
void box_close(struct box *f);

/* Cluster i = 1..20: centre x[3], amplitude, sigma, in units of the box. */
struct cluster {
    double x[3], amplitude, sigma;
};
struct cluster cluster_get(int i);
