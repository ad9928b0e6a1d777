/* patch/law: a system of conservation laws as the engine sees it.
 *
 * The engine (this module) finds tiles of octs and the octs around them, gathers a list of fields
 * into planes, calls the law for rows of cells and faces, masks faces of refined cells, sums fluxes
 * and keeps registers at coarse–fine boundaries. A law declares its fields and provides the
 * formulas: functions of whole rows, so that loops over cells are in one place with the formulas
 * that they call. docs/adding.md has the recipe, tests/toy/advect.c an example. */
#pragma once
#include "oct/mesh.h"

struct gathered;
struct target;
struct sweep;
struct run;
struct face_jobs;
struct oct_sums;
struct patch_rows;
struct law_row;

/* Field of variable 0 of the mesh (mesh.nvar); other laws have the variables after the gas. */
enum { LAW_VARIABLE = FLD_GAS };
/* Maximum number of values of a cell besides its conserved variables: read-only fields, sums
 * without an old value. */
enum { LAW_BESIDE = 3 };
/* Variables on faces: the field of a law with constrained transport; all variables; all fields. */
enum {
    LAW_FACES = 6,
    LAW_VARIABLES = NVAR_MAX + LAW_FACES,
    LAW_FIELDS = LAW_VARIABLES + LAW_BESIDE
};

/* A law with a vector field on faces, whose flux through faces changes by electromotive forces
 * along edges alone (constrained transport, Evans & Hawley 1988): functions of rows, instead of
 * trace and fluxes of struct law. The field is the last LAW_FACES variables: on the faces
 * −x,+x,−y,+y,−z,+z of a cell, along a missing axis the value of the cell, twice, which has fluxes
 * as other variables of cells. Planes of the law are in sweep.own; `at.at` is the first cell in
 * them, at.r is not set. */
struct law_edges {
    /* Called for the cells of plane k whose primitive variables are known, with the upper
     * neighbours that are needed next: first step of the electromotive forces at lower edges. */
    void (*start)(struct sweep *s, int k, struct run at);
    /* Half a step of the field on the lower faces of plane k: along z, or along x and y. */
    void (*half)(struct sweep *s, int k, bool z, struct run at);
    /* Half a step of the cells of plane k, and slopes. */
    void (*trace)(struct sweep *s, int k, struct run at);
    /* dt/dx × flux through the lower faces along axis d, to F[nflux][PLANE_STRIDE]. */
    void (*fluxes)(struct sweep *s, int d, int k, struct run at, double *F);
    /* dt/dx × electromotive force at the lower edges along axis d, to E. */
    void (*forces)(struct sweep *s, int d, int k, struct run at, double *E);
};

/* Functions that may be NULL: missing (the variables by slopes of minmod), beyond (only `odd`
 * changes signs), wall, primitive (what is limited and traced are the variables), plane, extra,
 * finish, look, after; signal and step (the law has no Courant condition). */
struct law {
    int nvar;   /* number of conserved variables, the first of the fields, which a step replaces */
    int nfield; /* number of fields gathered; fields after the variables are read-only */
    int field[LAW_FIELDS];
    const struct law_edges *edges; /* NULL: the law has no field on faces */
    int nflux;        /* numbers of a face, of the variables first; the others sum up from zero */
    int nsum;         /* numbers of a cell when all faces are summed: nflux, and those of extra */
    uint64_t zero;    /* bits of variables that are 0 everywhere: momenta along missing axes */
    int nscratch;     /* planes of a thread for the law itself (sweep.own) */
    int system;       /* of the registers: REFLUX_… */
    bool corners;     /* slopes read cells that touch in a corner only */
    bool near;        /* missing reads neighbours of the parent */
    bool mirrored[6]; /* beyond this boundary are mirrored cells; else: the last cell */
    unsigned char
        odd[LAW_FIELDS]; /* bits of the boundaries beyond which a field has another sign */
    /* The variables in the eight cells of an oct that does not exist, from cell c of oct i of the
     * coarser level: into the planes (patch/gather.h). The other fields have the value of c. */
    void (*missing)(const struct gathered *g, lidx i, int c, struct target t);
    /* Converts u[nfield], the state within boundary f, to the state beyond it. */
    void (*beyond)(const struct law *law, int f, double *u);
    /* Instead of beyond and odd: u[nfield] of the h-th cell (0, 1) beyond boundary f, from the
     * state `near` of the cell within and from u on entry, which is near or the h-th cell
     * within. */
    void (*wall)(const struct law *law, int f, int h, const double *near, double *u);
    /* Computes the primitive variables, which are limited and traced, of a run of plane k: sweep.q
     * from sweep.in. */
    void (*primitive)(struct sweep *s, int k, struct run at);
    /* Called once for each plane 0 … last + 1 when its primitive variables are complete. */
    void (*plane)(struct sweep *s, int k);
    /* Computes the states at all faces of the cells of a run, in rows 2y and 2y+1 of plane k. */
    void (*trace)(struct sweep *s, int y, int k, struct run at);
    /* Computes dt/dx × flux through faces from the states on both sides. */
    void (*fluxes)(struct sweep *s, const struct face_jobs *jobs);
    /* Computes sums nflux … nsum − 1 of the cells of a run. */
    void (*extra)(struct sweep *s, int k, struct run at);
    /* Turns the sums of an oct into its new values, for example by sources. */
    void (*finish)(struct oct_sums *o);
    /* Called for a row of own octs (y,z) when the sums are their new values, of a level without
     * refined cells: reads them while they are in the cache. */
    void (*look)(const struct sweep *s, int y, int z);
    /* Called for own octs of a row along x when they have their new values, which it changes. */
    void (*after)(const struct law *law, const struct law_row *row);
    /* The Courant condition (patch/courant.h): the highest signal of leaf cells of some octs, or
     * max if that is higher; the step that the highest signal of a level allows. */
    double (*signal)(const struct law *law, const struct patch_rows *r, double max);
    double (*step)(const struct law *law, double dx, double signal);
};

/* New values u[nvar][oct] of some octs, at least one, of a row along x: oct[k] for each bit k of
 * octs, at the distance k. u[v] NULL: variable v is 0 everywhere. */
struct law_row {
    double dt;
    double (*const *u)[8];
    const lidx *oct;
    int64_t at[3]; /* coordinates of oct[0] */
    uint32_t octs;
};

/* Number of the variables of cells; the sum of flux number v among the numbers of a cell: fluxes
 * are of the variables of cells (of a law with edges then of the field along missing axes), then of
 * other numbers. */
static inline int law_cells(const struct law *law)
{
    return law->edges ? law->nvar - LAW_FACES : law->nvar;
}

static inline int law_sum(const struct law *law, int ndim, int v)
{
    const int cells = law_cells(law), missing = law->edges ? 3 - ndim : 0;
    if (v < cells) return v;
    return v < cells + missing ? cells + 2 * (ndim + v - cells) : law->nvar + v - cells - missing;
}
