/* sim/octree: levels of the mesh and the equations on them, on the host and on a device: what the
 * phases of a step share (sim/step.c). */
#pragma once
#include "adapt/adapt.h"
#include "adapt/adapt_dev.h"
#include "base/rng.h"
#include "clump/clump.h"
#include "comm/comm.h"
#include "comm/spread.h"
#include "cool/cool.h"
#include "cosmo/cosmo.h"
#include "cosmo/response.h"
#include "dom/domain.h"
#include "dom/ghost.h"
#include "dom/ghost_dev.h"
#include "grav/grav.h"
#include "gravdev/grav_dev.h"
#include "hydro/hydro.h"
#include "hydro/hydro_dev.h"
#include "oct/fields.h"
#include "oct/mesh.h"
#include "param/param.h"
#include "part/part.h"
#include "part/part_dev.h"
#include "phys/units.h"
#include "sink/create.h"
#include "sink/run.h"

struct sim;

_Static_assert((int)PARAM_LEVEL_LIMIT == (int)OKEY_LEVELS,
               "the parameter table's limit is that of the keys");
_Static_assert((int)PARAM_GAS == (int)GAS_SCALARS && PARAM_GAS + PARAM_SCALARS == NVAR_MAX,
               "the parameter table counts the variables of the gas as oct/gas.h does");

/* Results of a device for the gas of a level on this rank: its time step, and its sums. */
struct sim_gas_numbers {
    double dt;
    struct sum mass, energy, internal, momentum[3];
};

/* A time step of which this rank knows its own conditions (timestep.c). */
enum { SIM_LIMITS = 32 };
struct sim_minima {
    int level; /* 0: none */
    int n;     /* conditions: their names, and in x the steps that they allow */
    const char *name[SIM_LIMITS];
    /* then the own octs of the level as they are and negative; 1: the checkpoint is on disk */
    double x[SIM_LIMITS + 3];
    struct comm_minima minima;
    /* of the gas, where it is on a device; else NULL */
    const struct sim_gas_numbers *gas;
    const struct term_list *terms; /* with limits of their own; NULL: those of the program */
};

enum { SIM_CHANGES = LEVEL_MAX + 2 };

/* Data that refinement needs besides its parameters. */
struct sim_refine {
    int nexpand[LEVEL_MAX + 2];
    double mass_sph;
    bool starting; /* initial grid under construction (RAMSES `init`) */
    bool frozen;   /* static=.true., and the initial mesh is complete */
    bool counted;  /* what the next refinement of all levels will change is known: */
    struct adapt_changes here[SIM_CHANGES], all[SIM_CHANGES]; /* on this rank, and in all */
};

/* Matter as a source of gravity. */
struct sim_matter {
    double mass, com[3];                 /* everything in the box, code units */
    double quantum;                      /* of mass deposits */
    double rho_tot;                      /* mean density that the Poisson source is measured from */
    double rho_max[LEVEL_MAX + 2];       /* of this rank */
    double (*moments[LEVEL_MAX + 2])[3]; /* centres of mass of octs, of the last gas deposit */
    bool moments_dev;                    /* that was on the device, and so are they */
    /* cic_levelmax: dark matter density handed down to finer levels */
    double (*rho_top[LEVEL_MAX + 2])[8];
};

/* How evenly the ranks are loaded. Seconds are those of phases that are WORK (sim/phase.h). */
struct sim_balance {
    double work[LEVEL_MAX + 2];  /* seconds of this rank on a level, in this coarse step */
    double steps[LEVEL_MAX + 2]; /* of its own octs, in this coarse step */
    double each[LEVEL_MAX + 2];  /* seconds of an oct's step, smoothed over coarse steps */
    struct spread memory, time;  /* bytes held, nanoseconds of work, of the last coarse step */
    double left[2];              /* imbalance of both in the step after the last balance */
    double reached;              /* max/min of what ranks hold, as the last balance predicted it */
    bool fresh;                  /* there was a balance in this coarse step */
    struct domain *next;         /* to which the output of this step returns; NULL: where it was */
};

/* The device, and the modules that run on it (device.c). */
enum { SIM_SIDES = 3 }; /* as many as there is work for */
struct sim_device {
    struct dev *dev; /* NULL: none */
    struct dev_stream *stream;
    struct mirror *mirror;   /* the mesh there: lent to all that works on the device */
    unsigned on;             /* GPU_… (sim/phase.h): the phases that run there */
    struct hydro_dev *gas;   /* with GPU_HYDRO */
    struct terms_dev *terms; /* with GPU_HYDRO, if source terms of levels run there (phys/term.h) */
    struct grav_dev *grav;   /* with GPU_POISSON */
    struct part_dev *parts;  /* with GPU_PARTS */
    struct ghost_dev *ghosts;
    struct trials *trials; /* NULL: what can runs there (gpu_auto_tune) */
    bool by_chance;        /* for tests: where phases run is drawn */
    struct rng chance;
    struct dev_stream *side[SIM_SIDES]; /* beside the other: n_cuda_streams */
    int sides;
    int energy;                     /* of which level it is on its way; 0: none */
    bool asked;                     /* all ranks know whether this solve is on devices */
    struct ghost_dev_rows gas_fill; /* the gas of level `filled`, on its way between two phases */
    int filled;
    struct ghost_dev_rows reflux_fill; /* and the registers of level `reflux_level` */
    int reflux_level;
    /* for the report: coarse steps, and those without a new level; in these, bytes of the fields of
     * own octs, and bytes copied but for outputs; copied so far, and for outputs; finest level */
    double steps, usual, mesh, moved;
    int64_t messages, messages_before; /* of `moved`, and of all so far */
    double bytes;                      /* of the gas of own octs, by level steps */
    double begun;                      /* timer_thread when the device was opened */
    int64_t copied, outputs;
    int finest;
};

/* The levels of the mesh: their sizes, what refines and balances them, and what is on its way
 * between two phases of a step. */
struct sim_amr {
    int64_t noct[LEVEL_MAX + 2]; /* octs of each level over all ranks */
    /* least and most own octs of a rank, when the level last began a step */
    int64_t noct_min[LEVEL_MAX + 2], noct_max[LEVEL_MAX + 2];
    struct sim_refine refine;
    struct sim_balance balance;
    bool on_ghosts; /* the phase works on ghosts, too (sim/phase.h) */
    struct ghost_fill gas_fill;
    struct ghost_rows reflux; /* registers of fluxes; plan NULL: none */
    struct sim_flags *flags;  /* flags that are being made, or NULL (flag.c) */
};

/* The equations, and the matter that they describe. */
struct sim_physics {
    struct hydro_par hydro;
    struct grav_par grav;
    struct cosmo_par cosmo_par;
    struct cosmo *cosmo;       /* NULL without cosmology */
    struct response *neutrino; /* NULL: none */
    struct cooling *cooling;   /* NULL: the gas does not cool */
    struct yields *yields;     /* NULL: none (phys/yields.h) */
    struct sink_state *sinks;  /* NULL: none */
    struct sim_matter matter;
};
MUST_USE enum err sim_setup(struct sim *s); /* setup.c: parameters → modules */
/* device.c: the device that gpu_hydro, gpu_poisson or gpu_particles asks for, or a line in the log
 * why there is none (collective, agreed) */
MUST_USE enum err sim_device_open(struct sim *s);
void sim_device_close(struct sim *s);
/* phase.c, after sim_device_open: where phases run that could run on the device: there, or where
 * they have been faster (gpu_auto_tune). seed: for tests it is drawn, 0: it is not (collective) */
void sim_choice_open(struct sim *s, int seed);
/* Does a phase of this kind, or one of these (GPU_…), of level l run there? To be asked once. */
bool sim_runs_dev(struct sim *s, unsigned gpu, int l);
/* device.c: fields of the set (SET_…, one level's) of level l are at this place on return, or in
 * the order of the stream; or have been written there (oct/mirror.h). Without a device: nothing. */
MUST_USE enum err sim_device_need(struct sim *s, int l, field_set set, int location);
void sim_device_wrote(struct sim *s, int l, field_set set, int location);
/* device.c: stream i for independent work, of n_cuda_streams; 0: that in which all else is. */
struct dev_stream *sim_device_stream(const struct sim *s, int i);
/* device.c: energy and highest density that a device was asked for. */
void sim_device_energy_end(struct sim *s);
/* device.c: all fields at the host; alone: before host code changes any of them, or the mesh. */
MUST_USE enum err sim_device_home(struct sim *s, bool alone);
/* device.c: ghosts of the gas of level l, if its newest copy is on the device: *begun; and their
 * arrival, if any are on their way (collective) */
MUST_USE enum err sim_device_fill_begin(struct sim *s, int l, bool *begun);
void sim_device_fill_end(struct sim *s);
/* device.c: particles if they are on the device, else NULL (so before the first step); particles at
 * the host alone. */
struct part_dev *sim_parts_dev(const struct sim *s);
MUST_USE enum err sim_parts_home(struct sim *s);
/* device.c: as part_deposit, part_vmax, part_kinetic, where the particles are; mass: their sum and,
 * with n == 4, first moments, on the device; false: they are not there. */
MUST_USE enum err sim_parts_deposit(struct sim *s, int l, double quantum, double mass_cut,
                                    int cic_levelmax, int64_t (*mass)[8], int64_t (*number)[8]);
double sim_parts_vmax(struct sim *s, int l);
void sim_parts_kinetic(struct sim *s, int l, struct sum *ekin);
bool sim_parts_mass(struct sim *s, int n, struct sum *sum);
/* device.c: the device lacks memory: from now on all runs on the CPU. An error: it failed. */
MUST_USE enum err sim_device_off(struct sim *s);
/* device.c: as reflux_begin and _end, where the gas is */
MUST_USE enum err sim_reflux_begin(struct sim *s, int l);
MUST_USE enum err sim_reflux_end(struct sim *s, int l);
/* Registers of own octs to other ranks, if they are on a device; else nothing has begun. */
MUST_USE enum err sim_reflux_send(struct sim *s, int l, bool *begun);
void sim_reflux_receive(struct sim *s); /* of what has begun */
/* device.c: bytes copied so far; a coarse step has ended; what was copied (collective) */
int64_t sim_device_copied(const struct sim *s);
void sim_device_step(struct sim *s);
void sim_device_report(struct sim *s);
/* setup.c: initial values of the scalars that the run knows by name; others stay */
void sim_initial_scalars(const struct sim *s, double initial[NVAR_MAX]);
/* setup.c: s->phys.cosmo from s->phys.cosmo_par */
MUST_USE enum err sim_cosmology(struct sim *s);
void sim_receive_gas(struct sim *s);                          /* phases.c: what is on its way */
MUST_USE enum err sim_step(struct sim *s, int l, int icount); /* step.c */
/* adapt.c: refine levels from..levelmax-1 (collective) */
MUST_USE enum err sim_refine(struct sim *s, int from);
/* adapt.c: so that the next refinement, of all levels, neither counts nor reduces: what it is to
 * change on this rank (collective), and the sums over the ranks; flags and mesh stay until then */
const struct adapt_changes *sim_refine_count(struct sim *s); /* [SIM_CHANGES] */
void sim_refine_counted(struct sim *s, const struct adapt_changes all[SIM_CHANGES]);
/* setup.c: the columns of particles that star formation needs, and the weight of stars */
MUST_USE enum err sim_star_columns(struct sim *s);
/* balance.c: bytes of an oct and of a particle in it, by level; or their work */
struct sim_weights {
    double oct[LEVEL_MAX + 2], part[LEVEL_MAX + 2];
};
struct sim_weights sim_weights(const struct sim *s);
/* balance.c: balanced domains of this kind. If they change, fields and particles come home. timed:
 * its phases have timers; else the time is that of the timer that runs. wait: they change when an
 * output of this step returns (collective) */
void sim_domains_become(struct sim *s, enum domain_kind kind, bool timed, bool wait);
/* balance.c: Hilbert domains for a while, those that are alike if there are such; returns those of
 * before (owner: caller), to which the run returns, or not. The balance knows nothing of it.
 * (collective) */
struct domain *sim_domains_leave(struct sim *s);
void sim_domains_return(struct sim *s, struct domain *was);
/* balance.c: after a coarse step, bytes held and nanoseconds of work of this rank, and then what
 * they are on all */
void sim_balance_own(struct sim *s, int64_t own[2]);
void sim_balance_measured(struct sim *s, const struct spread all[2]);
bool sim_balance_due(const struct sim *s); /* balance.c: alike on all ranks */
/* setup.c: what source terms need beside s->phys.yields: s->phys.cooling, if the gas cools; after
 * the cosmology (collective) */
MUST_USE enum err sim_physics(struct sim *s);
/* setup.c: the rates of a coarse step, at its start (collective) */
void sim_cooling_table(struct sim *s);
/* flag.c: in two halves, the ghosts of the gas need be here in the second only (collective) */
void sim_flag_begin(struct sim *s, int l);
void sim_flag_end(struct sim *s, int l, int icount);
void sim_flag(struct sim *s, int l, int icount); /* flag.c: both (collective) */
/* flag.c: between them. If the gas is on a device and no other criterion reads it (*all), gradients
 * are found there, and the second half needs no gas. Local. */
MUST_USE enum err sim_flag_steep(struct sim *s, int l, bool *all);
/* flag.c: a criterion of refinement marks own cells of level l in ok[nown][8], which comes zeroed;
 * it cannot take back what others mark: results are joined by or */
struct sim_criterion {
    const char *name;
    bool (*wanted)(const struct sim *s, int l);
    void (*mark)(const struct sim *s, int l, unsigned char (*ok)[8]);
};
/* bits[nown] |= what n criteria mark */
void sim_criteria_mark(const struct sim *s, int l, const struct sim_criterion *c, int n,
                       unsigned char *bits);
/* flag.c: no criterion may refine level l yet */
bool sim_held_back(const struct sim *s, int l);
/* density.c: the source density and dense */
MUST_USE enum err sim_density(struct sim *s, int l, int icount);
/* density.c: the same on the device, if it has kernels for all that is deposited: *done */
MUST_USE enum err sim_density_dev(struct sim *s, int l, int icount, bool *done);
MUST_USE enum err sim_moments_home(struct sim *s);      /* from a device, if they are there */
MUST_USE enum err sim_dense_home(struct sim *s, int l); /* lev[l].dense, from a device */
void sim_total_mass(struct sim *s);                     /* density.c */
double sim_fourpi(const struct sim *s);
struct units sim_units(const struct sim *s); /* setup.c: at the time of the run */
struct sink_run sim_sinks(struct sim *s);    /* setup.c: at the time of the run */
/* timestep.c: dtnew[l], in two halves: the first is local, the second is collective and may follow
 * a reduction that took s->time.least.minima along */
void sim_timestep_begin(struct sim *s, int l);
/* timestep.c: what limits of source terms read is at the host */
MUST_USE enum err sim_limits_need(struct sim *s, int l);
/* phases.c: the arguments of source terms of a stage (phys/term.h) */
struct term_run sim_term_run(struct sim *s, int stage, int l);
void sim_timestep_end(struct sim *s);
void sim_potential_energy(struct sim *s, int l); /* report.c: epot sum, rho_max */
/* report.c: what the square of the acceleration of a cell is times, in that sum */
double sim_energy_factor(const struct sim *s, int l);
/* clumps.c: clumps of the state, by &CLUMPFIND_PARAMS. Particles are on levelmin, ghosts of the gas
 * valid. *out: clumps_free. (collective) */
MUST_USE enum err sim_clumps(struct sim *s, struct clumps *out);
/* clumps.c: the clumps of the state that may become sinks; these: those that there are, as
 * sinks_before_births leaves them. *out: FREE at. (collective) */
MUST_USE enum err sim_cores(struct sim *s, const struct sink_copies *sinks,
                            struct clump_cores *out);
void sim_count_octs(struct sim *s); /* balance.c: noct, noct_min, noct_max (collective) */
