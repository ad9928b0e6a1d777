/* kinds: initial states by name, condinit_kind of &INIT_PARAMS (docs/method/kinds.md).
 *
 * A kind is a row of kinds.def and a struct kind in a file of its own. The gas of a cell is a
 * function of the position of its centre and the size of the cell, the magnetic field of a face
 * follows from a vector potential; so neither depends on ranks, threads or the order of refinement.
 * The regions of &INIT_PARAMS come first, and a kind changes what they set. */
#pragma once
#include "comm/comm.h"
#include "dom/domain.h"
#include "ics/ics.h"
#include "oct/mesh.h"
#include "param/param.h"
#include "part/part.h"
#include "phys/units.h"

/* Properties of the run that a kind may read; lent for as long as the kind is open. */
struct kind_setup {
    const struct params *par;
    const struct comm *comm;
    const struct mesh *mesh;     /* dimensions, boxlen, levels; it has no octs yet */
    const struct ics_gas *gas;   /* number of variables, gamma, floors, initial scalars */
    const struct gas_vars *vars; /* names of the scalars, and their indices */
    struct units units;          /* of the start */
};

/* Parts of a run without which a kind makes no sense. */
enum kind_need { KIND_GAS = 1, KIND_FIELD = 2, KIND_PARTICLES = 4, KIND_GRAVITY = 8 };

struct kind {
    const char *name; /* as in kinds.def */
    unsigned dims;    /* bits 1 << ndim of the dimensions in which it exists */
    unsigned needs;   /* of enum kind_need */
    /* Before anything of the run is set up: sets parameters that follow from the kind, such as
     * units that the namelist does not give; NULL: none. Also at a restart. */
    enum err (*params)(struct params *par);
    /* Checks parameters and reads files; *state is then given to all other functions. NULL: the
     * state is the setup, const struct kind_setup *. (collective) */
    enum err (*open)(const struct kind_setup *setup, void **state);
    /* Gas of a cell. x: its centre, code units, 0 .. boxlen (0 along missing axes); dx: its width.
     * q on entry: the state of the regions; on return: density, three velocities, pressure (code
     * units), passive scalars per mass, up to gas->nvar. Called by several threads. NULL: the
     * regions remain. (local) */
    enum err (*cell)(const void *state, const double x[3], double dx, double *q);
    /* Gas of own octs of all levels at once, without magnetic energy, in place of `cell`; NULL:
     * cell by cell. (collective) */
    enum err (*flow)(void *state, struct mesh *m, const struct domain *dom);
    /* Magnetic field, divided by sqrt(4 pi): the curl of a vector potential, and a field that is
     * given at the centres of faces. A: the potential at a point; faces take its line integrals
     * along their edges, so that div B = 0 to rounding, also where levels meet. b: the component
     * along axis d of the other part, at the centre of a face; its divergence must vanish, as that
     * of a uniform field does. Positions on the upper end of a periodic axis are passed as 0. Both
     * NULL: the field is that of the regions. (local) */
    enum err (*potential)(const void *state, const double x[3], double A[3]);
    enum err (*face)(const void *state, const double x[3], int d, double *b);
    /* Appends particles to p, on any ranks; part_distribute follows. NULL: those of
     * initfile. (collective) */
    enum err (*particles)(void *state, const struct mesh *m, const struct comm *c, struct parts *p);
    /* Number of these particles on all ranks, for forecasts; NULL: none. (local) */
    int64_t (*particle_count)(const void *state);
    void (*close)(void *state); /* of what open has made; NULL: nothing to free */
};

/* Length of the box, for kinds whose state is the setup. */
static inline double kind_box(const void *state)
{
    return ((const struct kind_setup *)state)->mesh->boxlen;
}

#define KIND(symbol, ...) extern const struct kind kind_##symbol;
#include "kinds/kinds.def"

struct kind_expr;

/* A kind that is open. */
struct kinds {
    const struct kind *kind; /* NULL: not open */
    struct kind_setup setup;
    void *state;
    struct kind_expr *expr;          /* init_expr; NULL: none */
    const struct ics_region *region; /* lent */
    int nregion;
};

/* Finds the kind of a name or alias; '' is 'region'. Error: the list of kinds. */
MUST_USE enum err kinds_find(const char *name, const struct kind **kind);
/* Sets the parameters that follow from the kind. Must precede all other use of par. */
MUST_USE enum err kinds_params(struct params *par);
/* Opens the kind of setup->par. On failure kinds_close is still allowed. (collective) */
MUST_USE enum err kinds_open(struct kinds *k, const struct kind_setup *setup,
                             const struct ics_region *region, int nregion);
/* Before kinds_level of all levels: sets what the kind sets on all of them at once. (collective) */
MUST_USE enum err kinds_flow(struct kinds *k, struct mesh *m, const struct domain *dom);
/* Sets gas and magnetic field of the own octs of level l, in split cells too. The octs of all
 * levels and their links must be final. Local; the error of the first oct. */
MUST_USE enum err kinds_level(const struct kinds *k, struct mesh *m, int l);
/* Whether the kind has particles of its own. */
bool kinds_has_particles(const struct kinds *k);
MUST_USE enum err kinds_particles(struct kinds *k, const struct mesh *m, struct parts *p);
int64_t kinds_particle_count(const struct kinds *k);
void kinds_close(struct kinds *k);
