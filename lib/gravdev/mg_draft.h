/* gravdev/mg_draft: a multigrid hierarchy on a device during construction (mg_tables_dev.c; on
 * several ranks mg_ranks_tables.c). Private to gravdev. */
#pragma once
#include "gravdev/dev_priv.h"
#include "gravdev/mg_tables.h"

/* Flags and their prefix sums. */
struct totals {
    int32_t *is, *sum;
};

/* State of a level during construction. */
struct draft_level {
    lidx *map;         /* map from mesh to compact index; NULL: identity */
    double (*mask)[8]; /* masks by compact index; NULL: 1 everywhere */
    /* On one rank, by octs of the mesh: the oct itself or −1, and masks; NULL at the top. */
    lidx *self;
    double (*whole)[8];
    struct totals octs; /* kept octs; later octs at the boundary of the domain */
    int32_t nboundary;
    /* On several ranks: ghosts that touch own octs, octs with a child that is read, entries of the
     * exchange; octs that are read; first entries per peer; slots in the coarser level. */
    struct totals halo, wants, entries;
    int32_t *read, *up;
    lidx *first;
};

struct draft {
    struct grav_dev *d;
    struct mg_dev *g;
    struct mirror *x;
    const struct mesh *m;
    int32_t *inside;   /* device flags; on one rank by level */
    double (*mask)[8]; /* on several ranks: masks by octs of the mesh, before compact numbering */
    struct mg_own_slot *slot;
    struct draft_level lev[LEVEL_MAX + 2];
};

void draft_drop(struct draft *t);
/* Allocates a device array of n elements; pointer: address of a pointer to any type. */
MUST_USE enum err draft_make(struct draft *t, void *pointer, lidx n, size_t size);
/* no effect if allocated */
MUST_USE enum err draft_counts(struct draft *t, struct totals *e, lidx n);
/* Launches a kernel with n threads. */
void draft_launch(struct draft *t, const struct dev_kernel *k, lidx n, const void *args);
/* Finds the octs of level k at the boundary of the domain, then makes their rows; nboundary is in
 * transit from the device in between. */
MUST_USE enum err draft_boundaries_find(struct draft *t, int k);
MUST_USE enum err draft_boundaries_make(struct draft *t, int k);
/* Makes compact links of level k to the finer level, if either has compact numbers. */
MUST_USE enum err draft_children(struct draft *t, int k);
const lidx (*draft_nbr(const struct draft *t, int k))[6];
const lidx (*draft_child(const struct draft *t, int k))[8];
