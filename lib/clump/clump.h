/* clump: peaks of the density, the cells around them, and what merges with what, as RAMSES's clump
 * finder PHEW defines them (Bleuler & Teyssier 2014; Bleuler et al. 2015). Method, with all rules:
 * docs/method/clumps.md.
 *
 * A peak is known everywhere by its label: level, key and cell of its peak cell in one number. It
 * belongs to the rank that owns this cell. No rank holds more peaks than its cells touch, and no
 * result depends on ranks or threads: labels have no order of ranks in them, ties go to the denser,
 * then to the smaller label, and sums are integers (clump/fixed.h). */
#pragma once
#include "comm/comm.h"
#include "dom/domain.h"
#include "oct/mesh.h"
#include "part/part.h"

/* Unbinding of particles from clumps inside of others. */
struct clump_unbind {
    bool on;
    int nbin;         /* shells of the mass profile */
    bool logbins;     /* their radii are equidistant in the logarithm */
    bool saddle_pot;  /* bound: below the potential at the nearest border with another clump */
    bool iterate;     /* the velocity of a clump is that of its bound particles */
    double converged; /* of that velocity */
    int max;          /* iterations of a level, at most */
    double gravity;   /* constant of gravity, code units */
};

struct clump_par {
    double density;   /* cells above it belong to peaks; code units */
    double relevance; /* peaks whose ratio to their saddle is smaller are merged */
    double saddle;    /* clumps joined by a saddle above it are one halo; <= 0: no halos */
    double mass;      /* smallest mass that is listed, in units of min_mass */
    double min_mass;
    bool by_particles; /* masses and cuts of the list are those of particles */
    struct clump_unbind unbind;
};

/* Fields in which clumps are sought: levels levelmin..levelmax, [noct][8], density, code units. */
struct clump_field {
    double (*peak[LEVEL_MAX + 2])[8]; /* has the peaks; ghosts valid (lent) */
    double (*mass[LEVEL_MAX + 2])[8]; /* mass of the clumps (lent) */
    /* its maximum near the peak cell is the peak's place, ghosts valid (lent); all NULL: the centre
     * of the cell */
    double (*location[LEVEL_MAX + 2])[8];
};

struct clump {
    int64_t index;        /* place among all peaks by descending density, from 1 */
    int64_t parent;       /* index of the clump it was merged with in the hierarchy, or its own */
    int64_t halo;         /* index of the main clump of its halo; 0: no halos were asked for */
    int level;            /* round in which it was merged with its parent */
    bool listed, is_halo; /* goes into the list of clumps, of halos */
    int64_t ncell, ncell_halo; /* leaf cells of the clump, of its halo */
    double x[3];               /* place of the peak, code units */
    double min, max, volume;   /* density, code units */
    double mass, halo_mass, relevance;
    double saddle;       /* density of the highest saddle to another clump; 0: there is none */
    double com[3], v[3]; /* of the cells; v: of the gas, 0 without */
    double part_mass;    /* of the particles, sub-clumps included, as RAMSES lists it */
    double bound_mass;   /* of its own particles, after unbinding */
    int64_t nbound;      /* their number */
    double part_v[3];    /* mean velocity of the particles */
};

/* The clumps of all ranks by index, in pieces: this rank's follow those of the rank before. */
struct clumps {
    int64_t n;
    struct clump *at;
    int64_t cells, peaks, relevant, halos; /* of all ranks; relevant: after merging */
    int64_t unbound, candidates;           /* particles */
    double mass;                           /* of all cells above the threshold */
    bool has_halos, by_particles;
};

/* Finds clumps. m: gas for velocities if it has any; parts: on their leaf levels, as part_hand_down
 * leaves them (unbinding; may be NULL without). An error if a density is not finite. (collective)
 */
MUST_USE enum err clump_find(const struct clump_par *par, const struct clump_field *f,
                             const struct mesh *m, const struct parts *p, const struct domain *d,
                             const struct comm *c, struct clumps *out);
void clumps_free(struct clumps *k);

/* ---- where sinks may form (sink/create) ---- */

struct clump_core_par {
    double trim; /* > 0: cells farther from their peak leave their clump */
    double near; /* radius of the ball around a peak whose gas and stars are added up */
    double gamma, smallr;
    double (*stars[LEVEL_MAX + 2])[8]; /* their density (lent); NULL: not wanted */
    int64_t ntaken;                    /* places in the box, of this rank and those nearby, … */
    const double (*taken)[3];
    double apart; /* … that take clumps whose peak is nearer */
    bool halos;   /* and the clumps that they are in, and the halos of all these */
};

/* A relevant clump of gas, on the rank of its peak cell. Second moments are about its centre of
 * mass; pressure and gravity as in the virial theorem. */
struct clump_core {
    int64_t index; /* as in struct clump */
    int level;     /* the peak cell: */
    lidx oct;
    int cell;
    bool main; /* of its halo */
    bool taken;
    double x[3], max, mass;
    double near, stars;               /* in the ball */
    double kinetic, thermal, gravity; /* sums of m v^2, 3 P V, m a·r */
};
struct clump_cores {
    int64_t n, peaks, relevant; /* the others: of all ranks */
    struct clump_core *at;      /* this rank's; FREE */
};

/* Finds clumps as clump_find does, but for unbinding, and what decides on sinks; f->mass is the
 * density of the gas, whose force is that of the mesh. (collective) */
MUST_USE enum err clump_find_cores(const struct clump_par *par, const struct clump_field *f,
                                   const struct clump_core_par *core, const struct mesh *m,
                                   const struct domain *d, const struct comm *c,
                                   struct clump_cores *out);

/* This rank's piece of clump_NNNNN.txt or halo_NNNNN.txt in RAMSES's columns; *bytes: its length
 * (owner: caller, FREE). */
char *clump_text(const struct clumps *k, bool halos, size_t *bytes);
