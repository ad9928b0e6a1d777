/* mhd: ideal magnetohydrodynamics on the octree with constrained transport. Method and equations:
 * docs/method/mhd.md.
 *
 * The conserved variables of the gas are those of hydro, with the magnetic energy in the total
 * energy and three velocities in any number of dimensions. The field, divided by √(4π), is on the
 * faces of the cells (FLD_MAGNETIC: −x,+x,−y,+y,−z,+z): a face has a copy in each of its cells,
 * with the same bits. Along a missing axis the field is a variable of the cell: both numbers are
 * the value at its centre.
 *
 * All functions are local to a rank. Ghosts of level l, and for interpolation of levels l−1 and
 * l−2, must be valid on entry; only own octs are written. Bits do not depend on threads, tiles or
 * ranks. (Londrillo & Del Zanna 2000; Fromang, Hennebelle & Teyssier 2006; Teyssier, Fromang &
 * Dormy 2006) */
#pragma once
#include "hydro/hydro.h"
#include "patch/reflux.h"

enum mhd_solver {
#define FACE(name, text) MHD_##name,
#define EDGE(name, text)
#include "mhd/solvers.def"
    MHD_SOLVERS
};

enum mhd_edge_solver {
#define FACE(name, text)
#define EDGE(name, text) MHD_EDGE_##name,
#include "mhd/solvers.def"
    MHD_EDGE_SOLVERS
};

/* Velocities of scheme='induction': none (the gas moves), ABC flow, Ponomarenko's flow. */
enum mhd_flow { FLOW_NONE, FLOW_ABC, FLOW_PONOMARENKO };

struct mhd_par {
    const struct hydro_par *gas; /* γ, floors, Courant factor, slope_type, interpolation, … */
    enum mhd_solver riemann;
    enum mhd_edge_solver riemann2d;
    /* LLF replaces hll, hlld at a face, hlld at an edge, where |B|²/P or the ratio of the
     * densities is above, or a density below, a threshold */
    bool switches, switches_edge;
    double switch_b, switch_ratio, switch_density;
    enum slope slope_mag; /* slopes of the field on faces, along the faces */
    int interpol_mag;     /* as hydro_par.interpol_type, of the field on faces */
    enum mhd_flow flow;   /* other than FLOW_NONE: the induction equation alone */
    double eta;           /* magnetic diffusivity; 0: none */
    double bound_b[6][3]; /* field of imposed boundaries */
    /* refinement thresholds and floors of |B|² and of the components; -1: off */
    double err_grad_b2, err_grad_b[3], floor_b2, floor_b[3];
};

enum mhd_solver mhd_solver_named(const char *name);           /* MHD_SOLVERS: there is none */
enum mhd_edge_solver mhd_edge_solver_named(const char *name); /* MHD_EDGE_SOLVERS: none */

/* Numbers of a face, and of the edges of an oct (not in one dimension; in an expanding universe
 * twice as many), in the registers (patch/reflux.h) of REFLUX_GAS. */
int mhd_nflux(const struct mesh *m, const struct mhd_par *p);

/* Sums over the own leaf cells of a level, as hydro_sums, and the magnetic energy; `divergence`
 * becomes the maximum of |div B| dx / |B| if it is higher. */
struct mhd_sums {
    struct hydro_sums gas;
    struct sum *magnetic;
    double *divergence;
};

/* Longest step of level l that own leaf cells allow, as hydro_courant; s: NULL: no sums. */
double mhd_courant(const struct mesh *m, int l, const struct mhd_par *p, const struct mhd_sums *s);

/* The expansion of the universe during a step (docs/method/mhd.md). */
struct mhd_expansion {
    double hexp; /* as of hydro_update */
    /* The field grows by this factor, √(a/a_old), in the step, and in the first step of the finer
     * level within it, or the only one; 1: no expansion. */
    double growth, first;
};

/* Advances gas and field of level l by dt. Between reflux_begin and reflux_end of
 * level l+1 its registers hold fluxes and electromotive forces of the finer level. */
void mhd_update(struct mesh *m, int l, double dt, struct mhd_expansion x, const struct mhd_par *p,
                const struct patch_arrival *a, const struct hydro_change *c);

/* Velocity of a flow at x (units of the code; the box is [0, boxlen] along each axis). */
void mhd_velocity(enum mhd_flow flow, const double x[3], double boxlen, double v[3]);
/* Gives the own octs of level l, or all its octs, the flow of scheme='induction': density 1, and
 * the internal energy 1. */
void mhd_impose(struct mesh *m, int l, bool ghosts, const struct mhd_par *p);

/* Magnetic diffusion of level l over dt (ohm.c), which changes the field alone. Registers are as in
 * mhd_update, with mhd_diffuse_nflux numbers of a face. All levels, the finest first, take `cycles`
 * steps of equal length within dt; above MHD_CYCLES: too many. */
enum { MHD_CYCLES = 1000000 };
void mhd_diffuse(struct mesh *m, int l, double dt, const struct mhd_par *p);
int mhd_diffuse_nflux(const struct mesh *m);
int mhd_diffuse_cycles(const struct mesh *m, int finest, double dt, const struct mhd_par *p);

/* Between two updates of levels up to l: the field grows by this factor, and with it, in three
 * dimensions, the electromotive forces that are in the registers of these levels. */
void mhd_grow(struct mesh *m, int l, double factor);
/* Between two steps of level l within one of level l−1. */
void mhd_between(struct mesh *m, int l);

/* Interpolation of a new oct for adapt_refine (ctx: struct mhd_par *): gas as hydro_prolong; the
 * field on the outer faces with limited slopes, or that of a refined neighbour, inside without
 * changing the divergence of the parent cell (Tóth & Roe 2002). */
void mhd_prolong(const struct mesh *m, int l, lidx parent, int cell, double (*out)[8], void *ctx);

/* Restriction from level l+1, whose ghosts must be valid: split cells get the means of their
 * children, faces the means of the finer faces, also those of leaf cells next to a split cell. */
void mhd_restrict(struct mesh *m, int l, const struct mhd_par *p);

/* Gradient criteria of hydro_flag, and those of the field: sets ok[i][c] |= 1 for own octs. */
void mhd_flag(const struct mesh *m, int l, const struct mhd_par *p, unsigned char (*ok)[8]);
bool mhd_flags(const struct mhd_par *p); /* whether any of these criteria is on */

/* Maxima over this rank's leaf cells: the field through all faces of a cell, added up; its
 * strength; that through a reflecting wall. False: the field of the cell at x of this level is not
 * finite. */
struct mhd_maxima {
    double divergence, strength, wall;
    int level;
    double x[3];
};
bool mhd_maxima(const struct mesh *m, const enum bound_type bound[6], struct mhd_maxima *max);
