/* clump: density peaks, the cells around them, and the hierarchy of mergers, as defined by RAMSES's
 * clump finder PHEW (Bleuler & Teyssier 2014; Bleuler et al. 2015). Method, with all rules:
 * docs/method/clumps.md.
 *
 * A peak is identified on all ranks by its label: level, key and cell of its peak cell in one
 * number. The rank that owns this cell owns the peak. No rank holds more peaks than its cells
 * touch, and no result depends on ranks or threads: labels are independent of ranks, ties go to the
 * denser peak, then to the smaller label, and sums are integers (clump/fixed.h). */
#pragma once
#include "comm/comm.h"
#include "dom/domain.h"
#include "oct/mesh.h"
#include "part/part.h"

/* Minimum density ratio of a neighbour that a cell points to, on its way to a peak. */
static const double CLUMP_FLAT = 1.0001;

/* Unbinding of particles from sub-clumps. */
struct clump_unbind {
    bool on;
    int nbin;        /* number of shells of the mass profile */
    bool logbins;    /* true for logarithmic spacing of the shell radii */
    bool saddle_pot; /* true to bind below the potential at the nearest border with another clump */
    bool iterate;    /* true to iterate the clump velocity as the mean over bound particles */
    double converged; /* relative tolerance of the clump velocity */
    int max;          /* maximum iterations per level */
    double gravity;   /* gravitational constant, code units */
    bool members;     /* true to list the members of all clumps */
    /* true for merger trees, as in RAMSES: sub-clumps with too few bound particles are dissolved
     * into their parents; the rows include all relevant clumps */
    bool trees;
};

struct clump_par {
    double density;   /* density threshold of peaks and their cells, code units */
    double relevance; /* minimum ratio of a peak to its saddle; peaks below are merged */
    double saddle;    /* saddle threshold above which clumps form one halo; <= 0: no halos */
    double mass;      /* minimum mass of a listed clump, in units of min_mass */
    double min_mass;
    bool by_particles; /* true if masses and cuts of the list refer to particles */
    struct clump_unbind unbind;
};

/* Density fields for the search: levels levelmin..levelmax, [noct][8], code units. */
struct clump_field {
    double (*peak[LEVEL_MAX + 2])[8]; /* density in which peaks are sought; ghosts valid (lent) */
    double (*mass[LEVEL_MAX + 2])[8]; /* density that gives clump masses (lent) */
    /* density whose maximum near the peak cell gives the peak position, ghosts valid (lent); all
     * NULL: cell centre */
    double (*location[LEVEL_MAX + 2])[8];
    bool still; /* momenta of clumps are not wanted: they are 0 */
};

struct clump {
    int64_t index;  /* number of the peak by descending density, from 1 */
    int64_t parent; /* index of the parent clump in the hierarchy; a main clump is its own parent */
    int64_t halo;   /* index of the main clump of the halo; 0: halos not requested */
    int level;      /* round of the merger with the parent */
    bool listed, is_halo;      /* membership in the lists of clumps and of halos */
    int64_t ncell, ncell_halo; /* leaf cells of the clump, of the halo */
    double x[3];               /* peak position, code units */
    double min, max, volume;   /* density range and volume, code units */
    double mass, halo_mass, relevance;
    double saddle;       /* density of the highest saddle to another clump; 0: isolated */
    double com[3], v[3]; /* centre of mass of the cells; gas velocity, 0 without gas */
    double part_mass;    /* particle mass including sub-clumps, as listed by RAMSES */
    double bound_mass;   /* mass of the clump's own particles after unbinding */
    int64_t nbound;      /* number of the clump's own particles after unbinding */
    double part_v[3];    /* mean particle velocity */
};

/* A particle that is in a clump after unbinding. */
struct clump_member {
    int64_t id, clump; /* id of the particle, index of the clump */
    double energy;     /* kinetic and potential energy in the clump per mass, code units */
    double x[3];
};

/* Clumps sorted by index and distributed over the ranks in rank order. */
struct clumps {
    int64_t n;
    struct clump *at;
    /* Members of clumps among the particles of this rank, in any order, if par->unbind.members. */
    int64_t nmember;
    struct clump_member *member;
    int64_t cells, peaks, relevant, halos; /* totals over all ranks; relevant: after merging */
    int64_t unbound, candidates;           /* particles unbound · particles tested */
    double mass;                           /* total mass of the cells above the threshold */
    double min_mass;                       /* that of clump_par */
    bool has_halos, by_particles;
};

/* Finds clumps. m: gas for velocities, if present. p: particles sorted by part_hand_down onto their
 * leaf levels, for unbinding, or NULL. An error if a density is not finite. (collective) */
MUST_USE enum err clump_find(const struct clump_par *par, const struct clump_field *f,
                             const struct mesh *m, const struct parts *p, const struct domain *d,
                             const struct comm *c, struct clumps *out);
void clumps_free(struct clumps *k);

/* ---- sites of sink formation (sink/create) ---- */

struct clump_core_par {
    double trim; /* maximum distance of a cell from the peak if > 0, code units */
    double near; /* radius of the ball around a peak in which gas and stars are summed */
    double gamma, smallr;
    double (*stars[LEVEL_MAX + 2])[8]; /* stellar density (lent); NULL: not needed */
    int64_t ntaken; /* number of positions in `taken`, from this rank and nearby ranks */
    const double (*taken)[3];
    double apart; /* maximum distance from a peak at which a position takes the clump */
    /* whether kinetic, thermal and potential energies are wanted; otherwise momentum and energy of
     * the gas and the force are not read, and the sums are 0 */
    bool energies;
    bool halos; /* true to take also the clumps around positions, and halos of taken clumps */
};

/* A relevant gas clump on the rank of its peak cell. Second moments are about the centre of mass of
 * the clump; pressure and gravity terms as in the virial theorem. */
struct clump_core {
    int64_t index; /* number of the peak by descending density, from 1 */
    int level;     /* level of the peak cell */
    lidx oct;
    int cell;
    bool main; /* true for the main clump of a halo */
    bool taken;
    double x[3], max, mass;
    double near, stars;               /* gas and stellar mass in the ball around the peak */
    double kinetic, thermal, gravity; /* sums of m v^2, 3 P V, m a·r */
};
struct clump_cores {
    int64_t n, peaks, relevant; /* clumps of this rank; totals over all ranks */
    struct clump_core *at;      /* [n] clumps of this rank (owner: caller, FREE) */
};

/* Finds clumps without unbinding, and computes the quantities that decide on sink formation.
 * f->mass is the gas density; the gravitational force is taken from the mesh. (collective) */
MUST_USE enum err clump_find_cores(const struct clump_par *par, const struct clump_field *f,
                                   const struct clump_core_par *core, const struct mesh *m,
                                   const struct domain *d, const struct comm *c,
                                   struct clump_cores *out);

/* The part of clump_NNNNN.txt or halo_NNNNN.txt from this rank, in RAMSES's columns; *bytes is its
 * length (owner: caller, FREE). */
char *clump_text(const struct clumps *k, bool halos, size_t *bytes);
