/* A cost field: the octs of a box, what each holds, what each costs. From a checkpoint, or made by
 * a formula. */
#pragma once
#include "base/err.h"
#include "oct/mesh.h"

struct box {
    int levelmin, levelmax;
    double oct_bytes, part_bytes; /* what simulate holds for one */
    int nvar;                     /* of an exchange */
    bool bounded[6];
    int64_t n, cap, parts;
    int *level; /* [n] ascending */
    okey *key;  /* [n] ascending in a level */
    double *cost;
    double steps[LEVEL_MAX + 2]; /* of a level in a coarse step */
    float *part;                 /* [n] particles whose finest oct it is; NULL: none */
};

/* `what`: a checkpoint's directory, or clusters:N: 20 Gaussian clusters on a mesh of N^3, where a
 * cell of the mesh is an oct; or uniform:N, without them. */
MUST_USE enum err box_open(const char *what, struct box *f);
/* Steps of the levels from the base on: nsubcycle of each, the last one for all beyond. */
void box_subcycle(struct box *f, int n, const int *nsubcycle);
/* 8^tile copies of the box side by side, `tile` levels deeper. */
void box_tile(struct box *f, int tile);
void box_close(struct box *f);

/* Cluster i = 1..20: centre x[3], amplitude, sigma, in units of the box. */
struct cluster {
    double x[3], amplitude, sigma;
};
struct cluster cluster_get(int i);
