/* clump/heaps: clumps as heaps of particles, for unbinding. */
#pragma once
#include "clump/priv.h"

/* A clump that particles or cells of this rank belong to, or one that contains such a clump. Rows
 * are equal on all ranks that have the clump. */
struct clump_heap {
    int32_t parent; /* row; its own for the main clump of a halo, which has all of its particles */
    int level;      /* round in which it was merged with the parent */
    bool main;      /* has no parent */
    bool gone;      /* was too small */
    bool moving;    /* velocity is not yet that of its bound particles */
    bool some;      /* has bound particles */
    double x[3], v[3], mass;
    double radius; /* of the outermost particle */
    double border; /* squared distance of the nearest border with another clump */
    double v2_old;
};

struct heaps {
    struct share s;
    struct clump_heap *at;  /* [s.n] */
    double *r, *mass, *phi; /* [s.n][nbin + 1] profile: radii, mass inside, potential */
    int64_t n;              /* particles */
    int32_t *first, *now; /* [n] row of the clump of its cell, of the one it belongs to; -1: none */
    bool *counts;         /* [n] counts for the velocity of the clump that is looked at */
    struct fixed_scale mass_scale, momentum_scale;
};

/* Row of the body that contains body k; −1: k is a main clump. */
static inline int32_t heap_above(const struct heaps *b, int32_t k)
{
    return b->at[k].main ? -1 : b->at[k].parent;
}
/* (collective) */
void heaps_make(struct heaps *b, const struct finder *f);
void heaps_free(struct heaps *b);
/* Squared distance of a particle from the peak of a body: the nearest image. */
double heap_distance2(const struct finder *f, const struct clump_heap *b, int64_t particle);
/* Rows of a number: the largest, or least, of the copies on all ranks. (collective) */
void heaps_join_rows(struct heaps *b, const struct finder *f, double *x, bool largest);
/* First shell that reaches this distance, 1..nbin. */
int heap_shell(const double *r, int nbin, double distance);
