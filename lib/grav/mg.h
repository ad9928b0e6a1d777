/* grav/mg: the multigrid hierarchy of one solve. Private to grav, gravdev and fifth.
 *
 * The top is level l of the mesh; coarser level k holds the octs of level k that are ancestors of
 * octs of level l, in compact numbering: own first, then ghosts, both in Morton order. Where these
 * are all the octs of the level (always for the base level), the mesh's own tables are lent. */
#pragma once
#include "comm/comm.h"
#include "grav/grav.h"
#include "grav/mg_kern.h"
#include "oct/mesh.h"

enum { MG_NEAR = 1, MG_OUTER, MG_ALL };
/* name of memory kept between solves (grav/cached.h) */
#define MG_TABLES "multigrid tables"

/* Sweeps before and after the correction; sweeps of the coarsest level. */
enum { MG_SWEEPS = 2, MG_BOTTOM_SWEEPS = 4 };

/* In ndim < 3 dimensions the cells from 2^ndim on are outside: all levels are masked, and the
 * diagonal counts 2 ndim neighbours. */
struct mg_level {
    int level, ndim;
    lidx nown, noct;
    const lidx (*nbr)[6];   /* compact; after building, noct for a missing neighbour */
    const lidx (*child)[8]; /* [noct] compact index on the finer level; unset for the top */
    const struct xplan *plan;
    lidx nhalo, *halo; /* ghosts that touch own octs */
    /* Own octs that are ghosts elsewhere (outer), and own octs with such a neighbour (near), as
     * lists, and by own oct (layer: 0, MG_NEAR, MG_OUTER); NULL: none. near NULL: all red cells are
     * relaxed before any black one. */
    lidx nouter, *outer, nnear, *near;
    unsigned char *layer;
    /* [noct] row in `boundaries`, which are in colour order; 0 away from the boundary of the
     * domain; NULL: no relaxed oct is at the boundary. */
    const lidx *boundary;
    struct mg_boundary *boundaries;
    bool masked; /* true if some cells are outside of the domain */
    lidx ncube;
    struct mg_cube *cube; /* [ncube] neighbourhoods; index noct for a missing oct */
    double (*u)[8];       /* [noct + 1] potential, the last row zero */
    double (*rhs)[8];
    /* [noct] mean residual of an oct, the right-hand side of the coarser level; in ghosts valid
     * after restriction. */
    double *mean;

    lidx *map;         /* [mesh noct] map from mesh to compact index, -1: none; NULL: identity */
    double (*mask)[8]; /* masks during construction; NULL: 1 everywhere */
    void *own_nbr, *own_child, *own_boundary;
    struct xplan own_plan;
};

struct mg {
    /* Set by the caller: shared_max, the maximum octs over all ranks of a shared level (see below);
     * try_shared, the level to try first, which mg_build replaces by the one to try next time (0:
     * not known); the right-hand side of the top, if allocated already (taken over); minima that a
     * reduction of mg_build may include, or NULL. All other members start as zero. */
    int64_t shared_max;
    int try_shared;
    struct comm_minima *minima;
    bool on_device; /* true if all but the shared levels are on a device (lib/gravdev) */

    int top, bottom; /* finest and coarsest level */
    struct mg_level lev[LEVEL_MAX + 2];
    struct mg_share *share; /* solver of the coarsest levels on every rank; NULL: not shared */
    struct sum *norm; /* norm to be included in the next reduction over the ranks; NULL: none */
};

/* Target of link i of a level: a missing link leads to the row of zeros. */
static inline lidx mg_link(const struct mg_level *g, lidx i)
{
    return i < 0 ? g->noct : i;
}

/* The coarsest possible level of the hierarchy of level l. */
static inline int mg_min(const struct mesh *m, int l)
{
    return l >= 2 && mesh_has_boundaries(m) ? 2 : 1;
}

/* Builds everything except u of the top level, which the caller lends, including its row of zeros.
 * mask: masks of the top level's octs (taken over), NULL: all cells are inside. (collective) */
void mg_build(struct mg *g, const struct mesh *m, const struct comm *c, int l, double (*mask)[8]);
void mg_free(struct mg *g);
/* Allocates n uninitialised rows and the row of zeros for missing links (owner: caller). */
double (*mg_rows_new(int64_t n, const char *name))[8];
/* mg_release frees u (except the top's), right-hand sides and mean residuals between cycles;
 * mg_allocate allocates them again, including the top's right-hand side unless allocated. Local. */
void mg_release(struct mg *g);
void mg_allocate(struct mg *g);

/* Shared levels. Small levels cost only latency. When few octs remain over all ranks, every rank
 * receives the right-hand side of that level and does the rest of the cycle alone, with the
 * operations in an unchanged order, instead of exchanging ghosts with neighbours. The level is made
 * from the keys of all its octs, and coarser levels follow from it. In g the level holds the octs
 * of all ranks, and only the tables needed for prolongation from it. */

/* The level to try first for sharing; 0: none. */
int mg_share_first(const struct mg *g, const struct mesh *m, const struct comm *c);
/* Shares level k of a complete hierarchy. Local. */
void mg_share_complete(struct mg *g, const struct mesh *m, int k);
/* Shares level k, or finds that the hierarchy ends on a finer level (inside[l]: whether a cell of
 * level l is inside on this rank), and sets the bottom. Returns false if the level has too many
 * octs. (collective) */
bool mg_share_partial(struct mg *g, const struct mesh *m, const struct comm *c, int k,
                      const int64_t *inside);
/* mg_share_partial in parts: slots of the n own octs of level k that have children in the
 * hierarchy, in an array with room for mg_share_max slots (taken over); above: number of octs of
 * the next finer level on this rank. */
struct mg_slot {
    okey key;
    double mask[8];
};
int64_t mg_share_max(const struct mg *g, const struct mesh *m, int k);
struct mg_slot *mg_share_own_slots(const struct mg *g, const struct mesh *m, int k);
bool mg_share_join(struct mg *g, const struct mesh *m, const struct comm *c, int k, int64_t n,
                   struct mg_slot *p, int64_t above, const int64_t *inside);
/* Call once the halo of the next finer level is known. */
void mg_share_link(struct mg *g);
/* Replacement of mg_share_link on a device: mg_share_rows gives the row among the shared octs, or
 * −1, of each oct of a level of the mesh; mg_share_slots takes 8 × row + cell for each own oct of
 * the next finer level (taken over). */
void mg_share_rows(const struct mg_share *s, const struct level *lv, lidx *row);
void mg_share_slots(struct mg_share *s, lidx *slot);
void mg_share_free(struct mg *g);
void mg_share_release(struct mg *g);
void mg_share_allocate(struct mg *g);
int mg_share_level(const struct mg_share *s);
/* Computes u of the shared level from the mean residuals of own octs of the next finer level; its
 * cells are in cell order. (collective) */
void mg_share_solve(struct mg *g, const struct comm *c, bool safe);

/* Makes a mesh of one rank with these octs of level top, keys ascending, and their ancestors. */
void mg_whole_mesh(struct mesh *whole, const struct mesh *m, int top, int64_t n, const okey *key,
                   bool complete);
/* Computes the masks of the cells of oct i of the next coarser level than `fine`; returns whether
 * it has children there. */
bool mg_oct_mask(const struct level *lv, const struct mg_level *fine, lidx i, double mask[8]);
/* Sets keep[noct] of lv to 1 for octs that have a child in `fine`, else 0, without a look at the
 * others: most octs are far from the fine level. above: the next finer level of the mesh. */
void mg_parents(const struct level *lv, const struct level *above, const struct mg_level *fine,
                unsigned char *keep);
/* [noct] marks of octs that sweeps read: own, halo, and octs touching it (owner: caller). */
unsigned char *mg_octs_read(const struct mg_level *g);

/* ---- levels with few octs, which every rank solves, on hosts and devices (grav.c) ---- */

bool grav_by_all(const struct mesh *m, int ranks, int l, const struct grav_par *p);
struct whole_row {
    okey key;
    double phi[8], rhs[8];
};
/* Allocates rows of the own octs of a level, with keys, and room for the octs of all ranks. */
struct whole_row *whole_new(const struct mesh *m, int l);
/* Solves with one reduction and no exchange: phi[noct], ghosts included, from first guess and
 * right-hand side of own octs (taken over). (collective) */
struct grav_report whole_solve(const struct mesh *m, const struct comm *c, int l, double rho_tot,
                               struct whole_row *row, struct grav_par *p, double (*phi)[8]);

/* ---- the iteration, on hosts and devices (grav.c) ---- */

bool grav_by_fourier(const struct mesh *m, int l, const struct grav_par *p);
double mg_norm(int ndim, int level, const struct sum *residual2);
/* Relative error; now, first: values of mg_norm. */
double mg_error(double now, double first, double rho_tot);
/* Call after each cycle (rep->cycles) with its error and the previous one: returns whether the
 * iteration ends, which completes the report; otherwise safe mode may begin. */
bool mg_ends(struct grav_par *p, int level, double err, double last, struct grav_report *rep);
/* Log the lines of a solve. */
void grav_log_fourier(int l, const struct grav_par *p);
void grav_log(int l, const struct grav_report *rep, const struct grav_par *p, bool cg);

/* ---- the cycle ---- */

/* Converts n rows to colour order (grav_rows.h), in which u and rhs are stored throughout a solve,
 * and back to cell order. */
void mg_by_colour(double (*a)[8], lidx n);
void mg_in_order(double (*a)[8], lidx n);

/* Runs a cycle from level k to the bottom: improves u of level k for its rhs. (collective) */
void mg_cycle(struct mg *g, const struct comm *c, int k, bool safe);

/* Runs n sweeps of a level, red, then black; ghosts must be valid. On return all ghosts are valid,
 * or, unless `all`, the cells that the residual and further sweeps read. (collective) */
void mg_sweeps(const struct comm *c, struct mg_level *g, bool safe, int n, bool all);
/* Computes the mean residual of each own oct in g->mean; adds the sum of residual² over own cells
 * to norm, unless NULL. Local. */
void mg_residual(struct mg_level *g, struct sum *norm);
/* Coarse-grid correction of the top level's u from its g->mean. norm, unless NULL, becomes the sum
 * over the ranks, without a separate reduction if levels are shared. (collective) */
void mg_correct(struct mg *g, const struct comm *c, bool safe, struct sum *norm);
