/* halo: friends of friends over all ranks, and the matter within spheres of given mean density
 * around the halo centres.
 *
 * Method: docs/method/halo.md. The caller's bodies may be on any rank in any order: the catalogue
 * is the same to the last bit for any number of ranks and threads. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "comm/comm.h"
#include "oct/okey.h"
#include "part/family.h"

/* Mean densities of spheres: 200 times the critical density, 200 times the mean density, virial
 * density (Bryan & Norman 1998, ApJ 495, 80), 500 times the critical density. */
enum halo_sphere { HALO_200C, HALO_200M, HALO_VIR, HALO_500C, HALO_SPHERES };

extern const char *const HALO_SPHERE_NAME[HALO_SPHERES]; /* "200c" … */

/* A body; position in units of the box, 0 <= x < 1 on periodic axes. */
struct halo_point {
    double x[3], v[3], m;
    int64_t id;   /* particle id; 0 for gas cells, which are identified by position */
    int64_t kind; /* enum part_species */
};

/* Bodies of a rank, an array for each quantity; initialised with zeros. */
struct halo_set {
    int64_t n, room;
    double *x[3], *m;
    double *v[3]; /* velocities; dark matter only, as id */
    int64_t *id;
    unsigned char *kind; /* enum part_species; other matter only */
    bool others;
};
/* Octs with leaf cells of gas. Each leaf cell counts as a body at its centre. */
struct halo_cells {
    int64_t n, room;
    int64_t leaves; /* number of leaf cells */
    okey *key;
    unsigned char *level, *leaf; /* level of the cells; bit mask of the leaf cells */
    double (*m)[8];              /* masses; 0: not a leaf */
};
struct halo_points {
    struct halo_set dark, others; /* others: stars, and all other matter without a cell */
    struct halo_cells cells;
    bool bad;
    struct halo_point wrong; /* first body with a position, velocity or mass that is not finite */
};
void halo_points_add(struct halo_points *b, const struct halo_point *body);
/* Adds the leaf cells of an oct: a bit mask, and masses, of which those of other cells are ignored.
 */
void halo_points_add_oct(struct halo_points *b, int level, okey key, unsigned leaf,
                         const double m[8]);
void halo_points_free(struct halo_points *b);

/* Centre of a halo: the member with the nearest 32nd neighbour among members, or the most bound
 * member. */
enum halo_centre { HALO_DENSEST, HALO_BOUND };

struct halo_par {
    bool periodic[3];
    double link; /* linking length, units of the box; 0: `part` of the mean separation */
    /* linking length in units of (m/ρ)^⅓; m: lowest mass, ρ: mean density of dark matter */
    double part;
    double lightest, dark;     /* lowest mass and total mass of dark matter; 0: from the bodies */
    int64_t min;               /* minimum number of members */
    double mean;               /* mass in a box of mean density; 0: total mass of the bodies */
    double over[HALO_SPHERES]; /* densities of spheres in units of the mean density; NAN: unknown */
    double gravity; /* G in units of bodies: (unit of v)² × box / mass; 0: unknown, no spin */
    bool members;   /* whether the ids of members are kept */
    int tracers;    /* number of the most bound members of each halo to list; 0: none */
    enum halo_centre centre;
    /* Maximum number of bodies of a sphere that is found from all radii; larger spheres use a
     * histogram that is refined where needed. Results do not depend on it. 0: 4096. */
    int64_t exact;
};

struct halo {
    int64_t id;     /* smallest id of the members */
    int64_t number; /* number of members */
    double mass;    /* mass of the members */
    double x[3];    /* position of the centre */
    double v[3];    /* mean velocity of the members */
    /* Mass and radius of spheres around x, all matter; NAN: no sphere of this density. */
    double m[HALO_SPHERES], r[HALO_SPHERES];
    /* The following are within r[HALO_VIR], or r[HALO_200M] if the former is unknown; NAN: no
     * sphere. */
    double sigma;    /* one-dimensional velocity dispersion of dark matter */
    double spin;     /* spin parameter of dark matter (Bullock et al. 2001, ApJ 555, 240) */
    double b_a, c_a; /* axis ratios of dark matter */
    double gas, stars, other; /* masses of gas, stars and other matter except dark matter */
    int64_t heavy;            /* number of dark matter particles above √8 times the lowest mass */
    double heavy_mass;        /* their fraction of the dark matter mass */
    /* rank that has measured the halo, and the index of the halo on that rank */
    int owner;
    int64_t index;
};

/* Ids of the members of a halo on this rank: n from `first` on. */
struct halo_ids {
    int owner;
    int64_t index, first, n;
    int64_t halo; /* position of the halo in the list */
};

/* One of the most bound members of a halo. */
struct halo_tracer {
    int64_t halo;  /* position of the halo in the list */
    double energy; /* kinetic and potential energy per mass */
    int64_t id;
};

/* All halos, on rank 0 only, by decreasing mass; halos of equal mass by decreasing number of
 * members, then by the smallest member id. */
struct halo_list {
    int64_t n;
    struct halo *at;
    double link; /* linking length, units of the box */
    enum halo_centre centre;
    double lightest;               /* lowest mass of dark matter; infinite: no dark matter */
    double mean;                   /* mass in a box of mean density, given or found */
    int64_t points[SPECIES_COUNT]; /* number of bodies of all ranks, by species */
    int64_t grouped;               /* number of members of all halos */
    int64_t *member;               /* ids of members on this rank; NULL unless requested */
    struct halo_ids *ids;          /* ranges of member by halo, sorted by owner and index */
    int64_t nids;
    /* Most bound members of the halos that this rank has measured, by halo in no order, then by
     * energy, then by id; NULL unless requested. */
    struct halo_tracer *tracer;
    int64_t ntracers;
};

/* Finds all halos, and frees the bodies. Uses at most 100 bytes per body that a rank has read or is
 * given; dark matter is distributed evenly, except for bodies at the same position, and of other
 * matter what is near halos moves with it. On error all ranks return it. (collective) */
MUST_USE enum err halo_find(const struct comm *c, const struct halo_par *p, struct halo_points *b,
                            struct halo_list *out);
void halo_list_free(struct halo_list *l);

/* Passes the ids of all members to fn on rank 0, halos in their order, ids ascending, at most about
 * `max` at a time: a large halo takes several calls. (collective) */
typedef enum err halo_member(int64_t halo, int64_t n, const int64_t *id, void *ctx);
MUST_USE enum err halo_each_member(const struct comm *c, const struct halo_list *l, int64_t max,
                                   halo_member *fn, void *ctx);

/* Densities of spheres in units of the mean density, from the density parameters at this redshift,
 * for a box whose mean density is the mean density of matter: its total mass is 1. */
void halo_densities(double omega_m, double omega_l, double omega_k, double aexp,
                    double over_mean[HALO_SPHERES]);
