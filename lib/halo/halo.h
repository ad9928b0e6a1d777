/* halo: friends of friends over all ranks, and what is within spheres of given density around them.
 *
 * Method: docs/method/halo.md. The caller's bodies may be on any rank in any order: the catalogue
 * is the same to the last bit, for any number of ranks and threads. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "comm/comm.h"
#include "part/family.h"

/* Mean densities of spheres: 200 times the critical one, 200 times the mean one, that of
 * virialised spheres (Bryan & Norman 1998, ApJ 495, 80), 500 times the critical one. */
enum halo_sphere { HALO_200C, HALO_200M, HALO_VIR, HALO_500C, HALO_SPHERES };

extern const char *const HALO_SPHERE_NAME[HALO_SPHERES]; /* "200c" … */

/* Positions in units of the box, 0 <= x < 1 on periodic axes. */
struct halo_point {
    double x[3], v[3], m;
    int64_t id;   /* of particles; 0 for gas, whose cells are told apart by place */
    int64_t kind; /* enum part_species */
};

/* The bodies of a rank, an array for each quantity. Begins as zeros. */
struct halo_set {
    int64_t n, room;
    double *x[3], *m;
    double *v[3]; /* of dark matter only, as are ids */
    int64_t *id;
    unsigned char *kind; /* of others only */
    bool others;
};
struct halo_points {
    struct halo_set dark, others; /* stars, gas and other matter */
    bool bad;
    struct halo_point wrong; /* the first that has no finite place, velocity and mass */
};
void halo_points_add(struct halo_points *b, const struct halo_point *body);
void halo_points_free(struct halo_points *b);

/* The centre of a halo: the member that has the nearest 32nd neighbour among members; or the one
 * that is bound most. */
enum halo_centre { HALO_DENSEST, HALO_BOUND };

struct halo_par {
    bool periodic[3];
    double link; /* units of the box; 0: `part` of the mean separation */
    double part; /* of (m/ρ)^⅓ of the lightest dark matter, ρ the mean density of dark matter */
    double lightest, dark; /* that mass, and the mass of all dark matter; 0: those of the bodies */
    int64_t min;           /* members */
    double mean;           /* mass in a box of mean density; 0: that of all bodies */
    double over[HALO_SPHERES]; /* densities of spheres over the mean density; NAN: unknown */
    double gravity; /* G in units of bodies: (unit of v)² × box / mass; 0: unknown, no spin */
    bool members;   /* keeps the ids of members */
    enum halo_centre centre;
    /* Spheres of up to so many bodies are found by the radii of all of them, others by a histogram
     * that becomes finer where it matters. No result depends on it; 0: 4096 */
    int64_t exact;
};

struct halo {
    int64_t id;     /* the least id of a member */
    int64_t number; /* of members */
    double mass;    /* of members */
    double x[3];    /* of the centre */
    double v[3];    /* mean of the members */
    /* Spheres around x of all matter; NAN: none has this density. */
    double m[HALO_SPHERES], r[HALO_SPHERES];
    /* Within r[HALO_VIR], or r[HALO_200M] where the other is unknown; NAN without sphere. */
    double sigma;             /* dispersion of velocities of dark matter along an axis */
    double spin;              /* of dark matter (Bullock et al. 2001, ApJ 555, 240) */
    double b_a, c_a;          /* axis ratios of dark matter */
    double gas, stars, other; /* mass: of cells, of stars, of all but these and dark matter */
    int64_t heavy;            /* particles of dark matter above √8 of the least mass */
    double heavy_mass;        /* share of these in the mass of dark matter */
    /* the rank that has measured it, and which of its halos this is */
    int owner;
    int64_t index;
};

/* The ids of those members of a halo that a rank has: n from `first` on. */
struct halo_ids {
    int owner;
    int64_t index, first, n;
};

/* All halos, on rank 0 only, the most massive first (of equal mass: that of the least id). */
struct halo_list {
    int64_t n;
    struct halo *at;
    double link; /* units of the box */
    enum halo_centre centre;
    double lightest;               /* mass of dark matter; infinite: there is none */
    double mean;                   /* as in the parameters, or what has been found */
    int64_t points[SPECIES_COUNT]; /* of all ranks */
    int64_t grouped;               /* members of all halos */
    int64_t *member;               /* ids that this rank has; NULL unless asked for */
    struct halo_ids *ids;          /* by owner and place */
    int64_t nids;
};

/* Takes the bodies. At most 100 bytes for each that a rank has read or is given; all are divided
 * evenly, but for those in one place. On error all ranks return it. (collective) */
MUST_USE enum err halo_find(const struct comm *c, const struct halo_par *p, struct halo_points *b,
                            struct halo_list *out);
void halo_list_free(struct halo_list *l);

/* Passes all members to fn on rank 0, halos in their order, ids ascending, about `most` at a time:
 * a large halo in several calls. (collective) */
typedef enum err halo_member(int64_t halo, int64_t n, const int64_t *id, void *ctx);
MUST_USE enum err halo_each_member(const struct comm *c, const struct halo_list *l, int64_t max,
                                   halo_member *fn, void *ctx);

/* Densities of spheres over the mean density, of matter and Λ at this redshift, for a box whose
 * mean density is that of matter: 1 where total mass is 1. */
void halo_densities(double omega_m, double omega_l, double omega_k, double aexp,
                    double over_mean[HALO_SPHERES]);
