/* clump/heaps: clumps as sets of particles, for unbinding. */
#pragma once
#include "clump/priv.h"

/* A clump with particles or cells on this rank, or an ancestor of such a clump. Rows are equal on
 * all ranks that have the clump. */
struct clump_heap {
    int32_t parent; /* row of the parent; a main clump is its own and has all particles */
    int level;      /* round of the merger with the parent */
    bool main;      /* true for a main clump, without a parent */
    bool gone;      /* true once dissolved as too small */
    bool moving;    /* true until the velocity has converged */
    bool some;      /* true if some particle is bound */
    double x[3], v[3], mass;
    double radius; /* distance of the outermost particle from the peak */
    double border; /* squared distance to the nearest border with another clump */
    double v2_old;
};

struct heaps {
    struct share s;
    struct clump_heap *at;  /* [s.n] clumps */
    double *r, *mass, *phi; /* [s.n][nbin + 1] profile: radii, enclosed mass, potential */
    int64_t n;              /* number of particles */
    int32_t *first, *now;   /* [n] initial row, present row of a particle; -1: none */
    bool *counts; /* [n] true if a particle counts for the velocity of the clump under test */
    struct fixed_scale mass_scale, momentum_scale;
};

/* Row of the clump that contains clump k; −1 if k is a main clump. */
static inline int32_t heap_above(const struct heaps *b, int32_t k)
{
    return b->at[k].main ? -1 : b->at[k].parent;
}
/* Builds the clumps and their particles. (collective) */
void heaps_make(struct heaps *b, const struct finder *f);
void heaps_free(struct heaps *b);
/* Squared distance of a particle's nearest periodic image from the peak of a clump. */
double heap_distance2(const struct finder *f, const struct clump_heap *b, int64_t particle);
/* Replaces one number per clump by its maximum (largest) or minimum over all ranks that have the
 * clump. (collective) */
void heaps_join_rows(struct heaps *b, const struct finder *f, double *x, bool largest);
/* Potential of clump k at distance r from its peak, linear between shells. */
double heap_potential(const struct heaps *b, const struct finder *f, int32_t k, double r);
/* Kinetic and potential energy per mass of particle i in clump k. */
double heap_energy(const struct heaps *b, const struct finder *f, int32_t k, int64_t i);
/* members.c: lists the particles that are in clumps in the end. (collective) */
void heaps_list(const struct heaps *b, struct finder *f);
/* Index of the first shell that reaches this distance, 1..nbin. */
int heap_shell(const double *r, int nbin, double distance);
