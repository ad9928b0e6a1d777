/* grav/mg: the multigrid hierarchy of one solve. Private to grav and gravdev.
 *
 * The top is level l of the mesh; level k below it holds the octs of level k that are ancestors of
 * octs of level l, in compact numbering: own first, then ghosts, both in Morton order. Where these
 * are all the octs of the level (always for the base level), the mesh's own tables are lent. */
#pragma once
#include "comm/comm.h"
#include "grav/grav.h"
#include "grav/mg_kern.h"
#include "oct/mesh.h"

enum { MG_NEAR = 1, MG_OUTER, MG_ALL };
/* memory that is kept between solves (grav/cached.h) */
#define MG_TABLES "multigrid tables"

/* Sweeps before and after the correction; of the coarsest level. */
enum { MG_SWEEPS = 2, MG_BOTTOM_SWEEPS = 4 };

struct mg_level {
    int level;
    lidx nown, noct;
    const lidx (*nbr)[6];   /* compact; once built, noct where there is none: a row of zeros */
    const lidx (*child)[8]; /* compact, on the level above; not for the top */
    const struct xplan *plan;
    lidx nhalo, *halo; /* ghosts that touch own octs */
    /* own octs that are ghosts elsewhere, and others with such a neighbour: lists, and for each own
     * oct in which of both it is (0, MG_NEAR, MG_OUTER); NULL: none. near NULL: all red cells are
     * relaxed before any black one */
    lidx nouter, *outer, nnear, *near;
    unsigned char *layer;
    /* [noct] row in edges, whose cells are by colour: 0 away from the boundary of the domain; NULL:
     * all octs that sweeps relax are away from it */
    const lidx *boundary;
    struct mg_boundary *boundaries;
    bool masked; /* some cells are outside */
    lidx ncube;
    struct mg_cube *cube; /* noct where there is no oct */
    double (*u)[8];       /* [noct + 1], the last all zeros */
    double (*rhs)[8];
    /* [noct] mean residual of an oct: the right-hand side below; of ghosts after restriction */
    double *mean;

    lidx *map;         /* [mesh noct] mesh → compact or -1; NULL: identity */
    double (*mask)[8]; /* while building; NULL: 1 everywhere */
    void *own_nbr, *own_child, *own_boundary;
    struct xplan own_plan;
};

struct mg {
    /* Set by the caller: levels with at most this many octs on all ranks are shared, as below; the
     * level to try first, which mg_build replaces by the one to try next time (0: not known); rhs
     * of the top, if it is there already (taken over); what a reduction of mg_build may take along,
     * or NULL. The rest is zero before mg_build. */
    int64_t shared_max;
    int try_shared;
    struct comm_minima *minima;
    bool there; /* all but the shared levels are on a device (lib/gravdev) */

    int top, bottom; /* levels */
    struct mg_level lev[LEVEL_MAX + 2];
    struct mg_share *share; /* how the lowest levels are solved; NULL: like the others */
    struct sum *norm;       /* to be added over the ranks by the next reduction; NULL: none */
};

/* Where link i of a level leads: nothing is the row of zeros. */
static inline lidx mg_link(const struct mg_level *g, lidx i)
{
    return i < 0 ? g->noct : i;
}

/* The coarsest level that the hierarchy of level l may have. */
static inline int mg_min(const struct mesh *m, int l)
{
    return l >= 2 && mesh_has_boundaries(m) ? 2 : 1;
}

/* Everything except u of the top level, which the caller lends, with its row of zeros. mask: of the
 * top level's octs (taken over), NULL: all cells are inside. (collective) */
void mg_build(struct mg *g, const struct mesh *m, const struct comm *c, int l, double (*mask)[8]);
void mg_free(struct mg *g);
/* Of n octs, with the row of zeros that links to nothing lead to; the rest is not set (owner:
 * caller). */
double (*mg_rows_new(int64_t n, const char *name))[8];
/* Frees u, right-hand sides and mean residuals between cycles, but not the top's u; makes them
 * again, the top's right-hand side unless it is there. Local. */
void mg_release(struct mg *g);
void mg_allocate(struct mg *g);

/* Small levels cost only latency. Where few octs are left on all ranks together, every rank
 * receives the right-hand side of that level and does the rest of the cycle alone, in the same
 * order of operations, instead of exchanging ghosts with neighbours. One level is made from the
 * keys of all its octs; those below it follow. In g that level holds the octs of all ranks, and
 * only what prolongation from it needs. */

/* The level to try first; 0: none. */
int mg_share_first(const struct mg *g, const struct mesh *m, const struct comm *c);
/* Shares level k of a complete hierarchy. Local. */
void mg_share_complete(struct mg *g, const struct mesh *m, int k);
/* Shares level k, or finds that the hierarchy ends above it (inside[]: whether a cell is inside
 * here, by level), and sets the bottom. False: it has too many octs. (collective) */
bool mg_share_partial(struct mg *g, const struct mesh *m, const struct comm *c, int k,
                      const int64_t *inside);
/* mg_share_partial in parts: places of the n own octs of level k that have children in the
 * hierarchy, of which there is room for most (taken over); above: octs of the level above here. */
struct mg_slot {
    okey key;
    double mask[8];
};
int64_t mg_share_max(const struct mg *g, const struct mesh *m, int k);
struct mg_slot *mg_share_own_slots(const struct mg *g, const struct mesh *m, int k);
bool mg_share_join(struct mg *g, const struct mesh *m, const struct comm *c, int k, int64_t n,
                   struct mg_slot *p, int64_t above, const int64_t *inside);
/* Once the halo of the level above is known. */
void mg_share_link(struct mg *g);
/* Where it is there instead: rows of the octs of a level of the mesh among the shared ones, or −1;
 * 8 × row + cell for each own oct of the level above (taken over). */
void mg_share_rows(const struct mg_share *s, const struct level *lv, lidx *row);
void mg_share_slots(struct mg_share *s, lidx *slot);
void mg_share_free(struct mg *g);
void mg_share_release(struct mg *g);
void mg_share_allocate(struct mg *g);
int mg_share_level(const struct mg_share *s);
/* u of that level from the mean residuals of the level above, of own octs; its cells are by place.
 * (collective) */
void mg_share_solve(struct mg *g, const struct comm *c, bool safe);

/* A mesh of one rank with these octs of level `top`, keys ascending, and all that they are in. */
void mg_whole_mesh(struct mesh *whole, const struct mesh *m, int top, int64_t n, const okey *key,
                   bool complete);
/* mask of the cells of oct i of a level below `fine`; whether it has children there. */
bool mg_oct_mask(const struct level *lv, const struct mg_level *fine, lidx i, double mask[8]);
/* [noct] octs that sweeps read: own ones, the halo, and what touches the halo (owner: caller). */
unsigned char *mg_octs_read(const struct mg_level *g);

/* ---- levels with few octs, which every rank solves, on hosts and devices (grav.c) ---- */

bool grav_by_all(const struct mesh *m, int ranks, int l, const struct grav_par *p);
struct whole_row {
    okey key;
    double phi[8], rhs[8];
};
/* Rows of the own octs of a level, with their keys, and room for those of all ranks. */
struct whole_row *whole_new(const struct mesh *m, int l);
/* One reduction, and no exchange at all: phi[noct], also of ghosts, from first guess and right-hand
 * side of own octs (taken over). (collective) */
struct grav_report whole_solve(const struct mesh *m, const struct comm *c, int l, double rho_tot,
                               struct whole_row *row, struct grav_par *p, double (*phi)[8]);

/* ---- the iteration, on hosts and devices (grav.c) ---- */

bool grav_by_fourier(const struct mesh *m, int l, const struct grav_par *p);
double mg_norm(int level, const struct sum *residual2);
/* now, first: mg_norm. */
double mg_error(double now, double first, double rho_tot);
/* After a cycle (rep->cycles), with its error and that before: whether the iteration ends, which
 * completes the report; else safe mode may begin. */
bool mg_ends(struct grav_par *p, int level, double err, double last, struct grav_report *rep);
/* The lines of a solve in the log. */
void grav_log_fourier(int l, const struct grav_par *p);
void grav_log(int l, const struct grav_report *rep, const struct grav_par *p, bool cg);

/* ---- the cycle ---- */

/* Throughout, u and rhs have the cells of an oct by colour (grav_rows.h). Here n rows are turned
 * from the order of all other fields, and back. */
void mg_by_colour(double (*a)[8], lidx n);
void mg_in_order(double (*a)[8], lidx n);

/* One cycle from level k down: improves its u for its rhs. (collective) */
void mg_cycle(struct mg *g, const struct comm *c, int k, bool safe);

/* n sweeps of a level: red, then black; ghosts valid before. After them all ghosts are valid, or,
 * unless `all`, the cells that the residual and further sweeps read. (collective) */
void mg_sweeps(const struct comm *c, struct mg_level *g, bool safe, int n, bool all);
/* Mean residual of each own oct into g->mean; if norm != NULL, Σ residual² over own cells is added
 * to it. Local. */
void mg_residual(struct mg_level *g, struct sum *norm);
/* Coarse-grid correction of the top level's u from its g->mean. norm, if not NULL, becomes the sum
 * over the ranks, without a reduction of its own where levels are shared. (collective) */
void mg_correct(struct mg *g, const struct comm *c, bool safe, struct sum *norm);
