/* sink/ramses: the laws of RAMSES's sinks (&SINK_PARAMS): accretion and feedback. Method and
 * papers: docs/method/sinks.md. */
#pragma once
#include "hydro/hydro.h"
#include "phys/stars.h"
#include "sink/cloud.h"

enum sink_accretion { ACCRETE_NONE, ACCRETE_BONDI, ACCRETE_THRESHOLD };

/* Parameters in code units at the time of the step, unless stated otherwise. */
struct sink_law {
    struct sink_cloud cloud;
    /* gravitational constant; size of a cell of the sinks' level, at constant physical size */
    double G, dx;
    enum sink_accretion accretion;
    double c_acc, d_sink; /* threshold accretion: efficiency, threshold density */
    bool vrel;            /* Bondi: v² = c² + (relative velocity)² */
    double boost;         /* boost factor of accretion; < 0: max((ρ/boost_density)², 1) */
    double boost_density;
    bool limited; /* accretion is limited to `cap` times the Eddington rate */
    double cap;
    double eddington; /* Eddington rate per mass */
    double seed, seed_hole;
    bool holes;         /* sinks are clusters around a black hole (mass_smbh_seed > 0) */
    double cluster_max; /* maximum mass of a cluster that accretes */
    bool weigh_mass;    /* accretion is weighted by mass, else by volume */
    /* AGN feedback */
    bool agn, inject_mass; /* inject_mass: feedback is weighted by mass, else by volume */
    double temperature;    /* T/mu in K for a specific energy of 1 */
    double T2_min, T2_agn, T2_max;
    double heat, kick; /* fractions of thermal and kinetic feedback */
    /* Eddington ratio above which feedback is thermal, below kinetic; 0: unused */
    double switch_at;
    double load, v_jet, v_max; /* mass of a jet per accreted mass; velocities */
    double cone;               /* half opening angle, radians */
    double gamma, smallr, smallc;
    int nvar;
};

/* ρ/ρ∞ at r = x GM/c² in an isothermal Bondi flow (Krumholz, McKee & Klein 2004, appendix A). */
double sink_bondi_alpha(double x);
/* Computes rates, and the gas columns of the csv file, from the sums gas[levels] of the cloud. */
void sink_rates(const struct sink_law *law, int levelmin, int levelmax, struct sink *s);

/* Data that an accreting sink sends to its copies. */
struct sink_request {
    double shift[3];      /* displacement of the sink since the copies were made */
    double v[3], m, hole; /* velocity; sink and hole mass per unit of weight */
    /* accretion per volume and per density above d_sink; 0: no threshold accretion */
    double threshold;
    double d_sink, rho; /* threshold density; mean density of the cloud */
    double rho_level;   /* mean density of the part of the cloud on the level */
    bool by_mass, blast, by_mass_out;
    /* energy per unit of weight; max energy per unit of weight and density */
    double heat, heat_max;
    double push, push_max; /* momentum, normalised like heat */
    double axis[3], cone;  /* axis and tangent of the half angle of the jets; cone 0: no jets */
};
/* Request for level l. ended: only seeds of new sinks (end of a coarse step); otherwise accretion
 * over dt, and feedback from the whole mass stored before. */
struct sink_request sink_request(const struct sink_law *law, const struct sink *s, int l, double dt,
                                 bool ended);

/* Sums that a copy returns. */
enum {
    REQUEST_MASS,
    REQUEST_HOLE,
    REQUEST_X,
    REQUEST_P = REQUEST_X + 3,
    REQUEST_L = REQUEST_P + 3,
    REQUEST_SUMS = REQUEST_L + 3
};
/* What a sink takes from cells; all pointers are lent. */
struct sink_meal {
    struct hydro_change *change; /* accumulates the changes of the gas */
    struct star_swaps *captured; /* notes the mass by cell, for tracers; NULL: nothing does */
    int64_t id;                  /* of the sink */
};
/* Applies a request to the cells of a copy: accumulates the changes of their gas, and the sums for
 * the sink. */
void sink_take(const struct sink_law *law, const struct mesh *m, int l,
               const struct sink_request *e, const struct sink_cells *cells,
               const struct sink_meal *meal, struct sum sums[REQUEST_SUMS]);
/* Updates mass, position, velocity and angular momentum of a sink from the sums. blown: feedback
 * was given. */
void sink_digest(const struct sink_law *law, const struct sum sums[REQUEST_SUMS], bool blown,
                 struct sink *s);
