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

/* Field of variable 0 of the mesh (mesh.nvar); other laws have the variables after the gas. */
enum { LAW_VARIABLE = FLD_GAS };
/* Maximum number of values of a cell besides its conserved variables: read-only fields, sums
 * without an old value. */
enum { LAW_BESIDE = 3, LAW_FIELDS = NVAR_MAX + LAW_BESIDE };

/* Functions that may be NULL: missing (the variables by slopes of minmod), beyond (only `odd`
 * changes signs), primitive (what is limited and traced are the variables), plane, extra, finish;
 * signal and step (the law has no Courant condition). */
struct law {
    int nvar;   /* number of conserved variables, the first of the fields, which a step replaces */
    int nfield; /* number of fields gathered; fields after the variables are read-only */
    int field[LAW_FIELDS];
    int nflux;        /* numbers of a face, of the variables first; the others sum up from zero */
    int nsum;         /* numbers of a cell when all faces are summed: nflux, and those of extra */
    unsigned zero;    /* bits of variables that are 0 everywhere: momenta along missing axes */
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
    /* The Courant condition (patch/courant.h): the highest signal of leaf cells of some octs, or
     * max if that is higher; the step that the highest signal of a level allows. */
    double (*signal)(const struct law *law, const struct patch_rows *r, double max);
    double (*step)(const struct law *law, double dx, double signal);
};
