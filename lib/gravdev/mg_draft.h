/* gravdev/mg_draft: a multigrid hierarchy on a device while its tables are made (mg_tables_dev.c;
 * on several ranks mg_ranks_tables.c). Private to gravdev. */
#pragma once
#include "gravdev/dev_priv.h"
#include "gravdev/mg_tables.h"

/* Flags, and sums of them. */
struct totals {
    int32_t *is, *sum;
};

/* Of a level, until the tables are made. */
struct draft_level {
    lidx *map;         /* mesh → compact; NULL: identity */
    double (*mask)[8]; /* compact; NULL: 1 everywhere */
    /* on one rank, by octs of the mesh: itself or −1, and masks; NULL at the top */
    lidx *self;
    double (*whole)[8];
    struct totals octs; /* which are kept; then which are at the boundary of the domain */
    int32_t nboundary;
    /* on several ranks: ghosts that touch own octs, octs with a child that is read, entries of the
     * exchange; octs that are read; firsts of the exchange; places in the level below */
    struct totals halo, wants, entries;
    int32_t *read, *up;
    lidx *first;
};

struct draft {
    struct grav_dev *d;
    struct mg_dev *g;
    struct mirror *x;
    const struct mesh *m;
    int32_t *inside;   /* there; on one rank by level */
    double (*mask)[8]; /* on several ranks: of octs of the mesh, before they have compact numbers */
    struct mg_own_slot *slot;
    struct draft_level lev[LEVEL_MAX + 2];
};

void draft_drop(struct draft *t);
/* An array there of n elements; pointer: of any type. */
MUST_USE enum err draft_make(struct draft *t, void *pointer, lidx n, size_t size);
MUST_USE enum err draft_counts(struct draft *t, struct totals *e, lidx n); /* unless it is there */
/* n threads */
void draft_launch(struct draft *t, const struct dev_kernel *k, lidx n, const void *args);
/* Octs of level k at the boundary of the domain, and their rows: nreflux is on its way between. */
MUST_USE enum err draft_boundaries_find(struct draft *t, int k);
MUST_USE enum err draft_boundaries_make(struct draft *t, int k);
/* Compact links of level k to the one above, if either has compact numbers. */
MUST_USE enum err draft_children(struct draft *t, int k);
const lidx (*draft_nbr(const struct draft *t, int k))[6];
const lidx (*draft_child(const struct draft *t, int k))[8];
