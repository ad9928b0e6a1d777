/* grav/mg: the multigrid hierarchy of one solve (private to lib/grav).
 *
 * The top is level l of the mesh; level k below it holds the octs of level k that are ancestors of
 * octs of level l, in compact numbering: own first, then ghosts, both in Morton order. Where these
 * are all the octs of the level (always for the base level), the mesh's own tables are lent. */
#pragma once
#include "comm/comm.h"
#include "oct/mesh.h"

/* Cells of an oct at the boundary of the domain of the solve: diagonal of the operator, 0 for
 * masked cells; `safe` is also 0 for cells that safe mode does not smooth. */
struct mg_edge {
    double diag[8], safe[8];
};

/* An oct with children that sweeps of the level above read, and the 27 octs around it (compact, or
 * < 0). */
struct mg_cube {
    lidx oct, nb[27];
};

struct mg_level {
    int level;
    lidx nown, noct;
    const lidx (*nbr)[6];   /* compact */
    const lidx (*child)[8]; /* compact, on the level above; not for the top */
    const struct xplan *plan;
    lidx nhalo, *halo; /* ghosts that touch own octs */
    const lidx *edge;  /* [noct] index in edges or -1; NULL: none */
    struct mg_edge *edges;
    lidx ncube;
    struct mg_cube *cube;
    double (*u)[8], (*rhs)[8];
    /* [noct] mean residual of an oct: the right-hand side below; of ghosts after restriction */
    double *mean;

    lidx *map;         /* [mesh noct] mesh → compact or -1; NULL: identity */
    double (*mask)[8]; /* while building; NULL: 1 everywhere */
    void *own_nbr, *own_child, *own_edge;
    struct xplan own_plan;
};

struct mg {
    int top, bottom; /* levels */
    struct mg_level lev[LEVEL_MAX + 2];
    struct mg_share *share; /* how the lowest levels are solved; NULL: like the others */
};

/* Everything except u of the top level, which the caller lends. Levels below the top with at most
 * `shared` octs on all ranks are solved by every rank (mg_share_build). (collective) */
void mg_build(struct mg *g, const struct mesh *m, const struct comm *c, int l, int64_t shared);
void mg_free(struct mg *g);

/* Small levels cost only latency. Where few octs are left on all ranks together, every rank
 * receives the right-hand side of that level and does the rest of the cycle alone, in the same
 * order of operations, instead of exchanging ghosts with neighbours. The masks must still exist.
 * (collective) */
void mg_share_build(struct mg *g, const struct mesh *m, const struct comm *c, int64_t most);
void mg_share_free(struct mg_share *s);
int mg_share_level(const struct mg_share *s);
/* u of own octs and ghosts of that level from rhs of own octs. (collective) */
void mg_share_solve(struct mg *g, const struct comm *c, bool safe);

/* What mg_share makes of a level, as mg_build does: entries of the octs at the boundary of the
 * domain (from nbr and mask), work arrays. */
void mg_level_edges(struct mg_level *g);
void mg_level_arrays(struct mg_level *g, bool top);
void mg_level_free(struct mg_level *g);
/* One cycle from level k down: improves its u for its rhs. (collective) */
void mg_cycle(struct mg *g, const struct comm *c, int k, bool safe);

/* One sweep of level k: red, then black; ghosts valid before and after. (collective) */
void mg_sweep(const struct comm *c, struct mg_level *g, bool safe);
/* Mean residual of each own oct into g->mean; if norm != NULL, Σ residual² over own cells is added
 * to it. Local. */
void mg_residual(struct mg_level *g, struct sum *norm);
/* Coarse-grid correction of the top level's u from its g->mean. (collective) */
void mg_correct(struct mg *g, const struct comm *c, bool safe);
