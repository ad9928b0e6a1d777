/* rt/rt: radiation by the M1 method, with non-equilibrium chemistry of the gas (Rosdahl et al.
 * 2013, Rosdahl & Teyssier 2015, Nickerson, Teyssier & Rosdahl 2018).
 *
 * Photons of a group have a density N and a flux F, the field PHOTONS (oct/fields.def): N, Fx, Fy,
 * Fz of each group, where components along missing axes are 0. Units: N in cm^-3 (comoving with
 * cosmology), F in that times the unit of velocity. Fractions of ions are scalars of the gas.
 *
 * A step of a level (rt_step) consists of sub-steps, each no longer than rt_longest: sources emit,
 * photons are transported with the reduced speed of light (rt_transport), and the chemistry of leaf
 * cells absorbs them, heats the gas and ionises it (rt_chemistry). While nothing emits
 * (rt->advect), a step is one of chemistry alone. With `neq_chem` and without `rt` there are no
 * groups. */
#pragma once
#include "base/sum.h"
#include "comm/comm.h"
#include "cosmo/cosmo.h"
#include "hydro/hydro.h"
#include "oct/mesh.h"
#include "param/param.h"
#include "phys/units.h"
#include "rt/point_kern.h"

enum {
    RT_GROUPS = 8,                         /* groups of photons */
    RT_COMPONENTS = 4,                     /* values of a group: N, Fx, Fy, Fz */
    RT_VALUES = RT_COMPONENTS * RT_GROUPS, /* mesh.nphoton is at most this */
    RT_REASONS = 8                         /* why the chemistry shortens a sub-step */
};

enum rt_scheme { RT_GLF, RT_HLL };

/* A region of the initial state, or a source. */
struct rt_place {
    enum rt_shape shape;
    int group;           /* from 0 */
    double center[3];    /* code units */
    double length[3];    /* of a shell: inner and outer radius */
    double exponent;     /* of the norm; 10 and more: a box */
    double n;            /* rt_n_…: of a source photons per second, or per second and cm^2 */
    double direction[3]; /* rt_u_…, rt_v_…, rt_w_… */
};

/* Photons of each group on this rank, in units of unit_np · unit_l^ndim, from the start of the
 * coarse step on: what entered the mesh and what left it. */
struct rt_ledger {
    struct sum emitted[RT_GROUPS];  /* by sources (net where they set N), stars, recombination */
    struct sum absorbed[RT_GROUPS]; /* by gas and dust */
    struct sum left[RT_GROUPS];     /* net, through boundaries of the box */
    struct sum raised[RT_GROUPS];   /* by the limit of N */
    int64_t cells, substeps, most;  /* chemistry: leaf cells, their sub-steps, most of a cell */
    int64_t refused[RT_REASONS];
};

struct chem_par;
struct rt_dev;
struct chem_group;
struct rt_lights;
struct term_run;
struct sink_run;
struct stellar;

/* Radiation of a run. Rates, groups and luminosities belong to it. */
struct rt {
    const struct params *par; /* lent */
    int ngroups;              /* groups of photons; 0: chemistry alone */
    int nions;                /* fractions that are scalars */
    bool h2, he;              /* whether H2 and helium are among them */
    enum rt_scheme scheme;
    int nsubcycle;            /* rt_nsubcycle: sub-steps of a step at most */
    bool smooth;              /* rt_smooth: chemistry receives transport as rates */
    bool outflow;             /* rt_is_outflow_bound */
    bool advect;              /* whether photons are transported */
    int interpol;             /* interpol_type of cells of octs that do not exist */
    double courant;           /* rt_courant_factor */
    double fraction;          /* rt_c_fraction */
    double c;                 /* reduced speed of light, code units, in this coarse step */
    double c_cgs;             /* the same in cm/s */
    enum bound_type bound[6]; /* of the gas */
    double bound_given[2 * 3][RT_COMPONENTS]; /* N, and F over c N, of group 1 at boundaries */
    double bound_state[2 * 3][RT_VALUES];     /* of imposed boundaries */
    struct rt_place source[PARAM_REGIONS], region[PARAM_REGIONS];
    int nsource, nregion;
    struct chem_par *chem;    /* rates and properties of groups (lib/chem) */
    struct rt_lights *lights; /* stars, sinks and the ultraviolet background (rt/lights.h) */
    struct rt_ledger ledger;
    bool by_table;                 /* speeds of the waves of HLL as in RAMSES-RT (rt/waves.c) */
    bool confines;                 /* |F| <= cN also in interpolated cells; not in RAMSES-RT */
    struct patch_scratch *scratch; /* of transport, as waves; freed by rt_transport_free */
    struct rt_waves *waves;        /* with by_table, once it is needed */
    struct rt_dev *dev;            /* photons and gas are there now (rt/rt_dev.h); lent, or NULL */
    /* With `smooth`: values of own octs of level `old_level` before the last transport. */
    double (*old[RT_VALUES])[8];
    int old_level;
};

/* The parts of a run that a step of radiation needs. */
struct rt_run {
    struct rt *rt;
    struct mesh *mesh;
    const struct comm *comm;
    const struct hydro_par *hydro;
    struct units units; /* at the time of the run */
    double aexp;
    const struct cosmo_par *cosmo; /* NULL without cosmology */
    double t, dt;                  /* of the level: begin of the step and its length, code units */
    int nstep;                     /* number of fine steps */
    int nstep_coarse;
    /* for rt/lights.h; lent, NULL: a run without particles, sinks, stellar objects */
    const struct term_run *term;
    const struct sink_run *sinks;
    const struct stellar *stellar;
};

/* Makes radiation of a run with these parameters and groups of photons; NULL: it has none, and no
 * chemistry. *out: rt_free. */
MUST_USE enum err rt_new(const struct params *p, const struct hydro_par *h, int groups,
                         struct rt **out);
void rt_free(struct rt **rt);
/* Reduced speed of light in code units, if it limits fluxes in interpolated cells; else 0. */
double rt_confining_speed(const struct rt *rt, const struct units *u);
/* At the start of a coarse step: speed of light, and rates of the background. */
MUST_USE enum err rt_coarse(const struct rt_run *r);
/* The longest sub-step of level l, code units. */
double rt_longest(const struct rt *rt, const struct mesh *m, int l);
/* The longest step of level l (HUGE_VAL: any). */
double rt_limit(const struct rt *rt, const struct mesh *m, int l);
/* With rt_rule='ramses' and photons that travel, the limits by the box, sinks, free fall and
 * expansion are multiplied by this number; otherwise, or with rt NULL, it is 1. */
double rt_margin(const struct rt *rt);
/* Creates the registers of the photons of level l before its sub-steps (REFLUX_RT). */
void rt_registers(const struct rt *rt, struct mesh *m, int l);
/* Advances photons and gas of level l by r->dt. Registers of level l+1 are in place, ghosts of
 * the photons are valid, also of level l−1; afterwards those of level l and of the gas are stale.
 * (collective) */
MUST_USE enum err rt_step(const struct rt_run *r, int l);
/* Photons and fractions of the initial state of own octs of level l. Local. */
void rt_initial(const struct rt_run *r, int l);
/* flag.c: whether radiation or ions refine at this expansion factor (1 without cosmology); and then
 * sets ok[i][c] |= 1 for cells of own octs of level l. Local; ghosts of photons and gas of levels l
 * and l−1 are valid. */
bool rt_flags(const struct rt *rt, double aexp);
void rt_flag(const struct rt *rt, const struct gas_vars *vars, const struct mesh *m, int l,
             unsigned char (*ok)[8]);
/* Logs the ledger of the coarse step, and empties it. (collective) */
void rt_report(const struct rt_run *r);

/* ---- parts of a sub-step, each in a file of its own; on rt->dev if that is set ---- */

/* transport.c: photons of own octs of level l after dt, with the registers of level l+1 and, in
 * those of level l, the fluxes for level l−1. rt->old gets the values before, if rt->smooth. first:
 * the first sub-step of a step. (local) */
void rt_transport(struct rt *rt, struct mesh *m, int l, double dt, bool first);
void rt_transport_free(struct rt *rt); /* scratch memory and old values */
/* settle.c: after the last sub-step of level l within level l−1: registers of ghost octs, for the
 * update of level l−1; with rt->nsubcycle > 1 they are empty. (collective) */
void rt_send(const struct rt_run *r, int l);
/* settle.c: with rt->nsubcycle > 1, after each sub-step of level l: the cells of level l−1 that
 * level l touches receive the fluxes of the sub-step. Ghosts of level l−1 become valid.
 * (collective) */
void rt_settle(const struct rt_run *r, int l);
/* rt.c: ghosts of the photons of level l (collective); split own cells of level l get the means of
 * their children (local) */
void rt_fill(const struct rt_run *r, int l);
void rt_restrict(const struct rt_run *r, int l);
/* transport.c: N >= RT_SMALL and |F| <= cN in own cells of level l, after all sources. (local) */
void rt_confine(struct rt *rt, struct mesh *m, int l);
/* sources.c: sources of the namelist on own octs of level l for dt (local) */
void rt_sources(const struct rt_run *r, int l, double dt);
/* sources.c: photons of own octs of level l in the initial state, by regions of the namelist
 * (local) */
void rt_regions(const struct rt_run *r, int l);
/* cells.c: chemistry of the leaf cells of level l for dt (local) */
MUST_USE enum err rt_chemistry(const struct rt_run *r, int l, double dt);
/* cells.c: fractions of ions of own octs of level l in equilibrium without radiation (local) */
void rt_ionise(const struct rt_run *r, int l);
/* cells.c: for upload_equilibrium_x: the cells of own octs of level l whose octs refinement will
 * remove, a bit for each cell of an oct (owner: FREE); and, after that, their fractions become
 * those of equilibrium with the photons of the cell (local) */
unsigned char *rt_merging(const struct mesh *m, int l);
void rt_merged(const struct rt_run *r, int l, const unsigned char *cells);
