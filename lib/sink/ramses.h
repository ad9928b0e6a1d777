/* sink/ramses: the laws of RAMSES's sinks (&SINK_PARAMS): accretion and feedback. Method and
 * papers: docs/method/sinks.md. */
#pragma once
#include "hydro/hydro.h"
#include "sink/cloud.h"

enum sink_accretion { ACCRETE_NONE, ACCRETE_BONDI, ACCRETE_THRESHOLD };

/* Code units at the time of the step, but where something else is said. */
struct sink_law {
    struct sink_cloud cloud;
    double G, dx; /* of gravity; of a cell of the sinks' level, at constant physical size */
    enum sink_accretion accretion;
    double c_acc, d_sink; /* threshold */
    bool vrel;            /* Bondi: v² = c² + (relative velocity)² */
    double boost;         /* of accretion; < 0: max((ρ/boost_density)², 1) */
    double boost_density;
    bool limited;     /* to Eddington's rate … */
    double eddington; /* … per mass */
    double seed, seed_hole;
    bool holes;         /* sinks are clusters around a black hole (mass_smbh_seed > 0) */
    double cluster_max; /* such a cluster accretes below this mass */
    bool weigh_mass;    /* takes gas by mass, else by volume */
    /* feedback */
    bool agn, inject_mass; /* gives by mass, else by volume */
    double temperature;    /* T/mu in K of a specific energy of 1 */
    double T2_min, T2_agn, T2_max;
    double heat, kick;         /* shares of thermal and of kinetic feedback */
    double switch_at;          /* > 0: thermal above this Eddington ratio, kinetic below */
    double load, v_jet, v_max; /* mass of a jet per accreted mass, velocities */
    double cone;               /* half the opening angle, radians */
    double gamma, smallr, smallc;
    int nvar;
};

/* ρ/ρ∞ at r = x GM/c² in Bondi's flow, isothermal (Krumholz, McKee & Klein 2004, appendix A). */
double sink_bondi_alpha(double x);
/* From the sums gas[levels] of the cloud: rates, and what the csv file has of the gas. */
void sink_rates(const struct sink_law *law, int levelmin, int levelmax, struct sink *s);

/* Data that an accreting sink sends to its copies. */
struct sink_request {
    double shift[3];      /* displacement since the copies were made */
    double v[3], m, hole; /* m, hole: mass for a unit of weight */
    double threshold;     /* per unit of volume and of density above d_sink */
    double d_sink, rho;   /* mean density of the cloud */
    double rho_level;     /* of its part on the level */
    bool by_mass, blast, by_mass_out;
    double heat, heat_max; /* energy for a unit of weight; at most for that and a unit of mass */
    double push, push_max; /* momentum */
    double axis[3], cone;  /* of the jets; 0: none */
};
/* On level l. ended: seeds of new sinks alone (the end of a coarse step), else accretion over dt,
 * and what was accreted before is turned into feedback, all of it. */
struct sink_request sink_request(const struct sink_law *law, const struct sink *s, int l, double dt,
                                 bool ended);

/* The sums that a copy answers. */
enum {
    REQUEST_MASS,
    REQUEST_HOLE,
    REQUEST_X,
    REQUEST_P = REQUEST_X + 3,
    REQUEST_L = REQUEST_P + 3,
    REQUEST_SUMS = REQUEST_L + 3
};
/* A copy takes its meal from the cells: their gas is to change by `change`. */
void sink_take(const struct sink_law *law, const struct mesh *m, int l,
               const struct sink_request *e, const struct sink_cells *cells,
               struct hydro_change *change, struct sum sums[REQUEST_SUMS]);
/* The sink has eaten: mass, place, velocity, angular momentum. blown: with feedback. */
void sink_digest(const struct sink_law *law, const struct sum sums[REQUEST_SUMS], bool blown,
                 struct sink *s);
