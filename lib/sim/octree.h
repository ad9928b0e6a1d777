/* sim/octree: levels of the mesh and the equations on them, on the host and on a device: the
 * declarations that the phases of a step share (sim/step.c). */
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
#include "fifth/fifth.h"
#include "grav/grav.h"
#include "gravdev/grav_dev.h"
#include "hydro/hydro.h"
#include "hydro/hydro_dev.h"
#include "mhd/mhd.h"
#include "mhd/mhd_dev.h"
#include "oct/fields.h"
#include "oct/mesh.h"
#include "param/param.h"
#include "part/motion.h"
#include "part/part.h"
#include "part/part_dev.h"
#include "phys/units.h"
#include "rt/rt.h"
#include "sink/create.h"
#include "sink/run.h"
#include "stellar/stellar.h"
#include "tracer/tracer.h"
#include "turb/turb.h"

struct ckpt_radiation;
struct sim;

_Static_assert((int)PARAM_LEVEL_LIMIT == (int)OKEY_LEVELS,
               "the parameter table's limit is that of the keys");
_Static_assert((int)PARAM_ENERGIES == (int)GAS_ENERGIES, "parameters of all energies");
_Static_assert((int)PARAM_GAS == (int)GAS_SCALARS && PARAM_GAS + PARAM_SCALARS == NVAR_MAX,
               "the parameter table counts the variables of the gas as oct/gas.h does");

/* Results of a device for the gas of a level on this rank: time step and sums. */
struct sim_gas_numbers {
    double dt;
    struct sum mass, energy, internal, momentum[3];
    struct sum magnetic; /* with a magnetic field, as the maximum of |div B| dx / |B| */
    double divergence;
};

/* Time step of a level while only this rank's limits are known (timestep.c). */
enum { SIM_LIMITS = 32 };
struct sim_minima {
    int level; /* level; 0: no reduction pending */
    int n;     /* number of limits: names in `name`, steps in x */
    const char *name[SIM_LIMITS];
    /* limits, then own octs of the level with either sign, 1 if the checkpoint is on disk, and
     * minus the divergence of the magnetic field */
    double x[SIM_LIMITS + 4];
    struct comm_minima minima;
    /* results for the gas if it is on a device; else NULL */
    const struct sim_gas_numbers *gas;
    const struct term_list *terms; /* source terms with time-step limits; NULL: the built-in list */
};

enum { SIM_CHANGES = LEVEL_MAX + 2 };

/* Data that refinement needs besides its parameters. */
struct sim_refine {
    int nexpand[LEVEL_MAX + 2];
    double mass_sph;
    bool starting; /* initial grid under construction (RAMSES `init`) */
    bool frozen;   /* static=.true., and the initial mesh is complete */
    bool counted;  /* the changes of the next refinement of all levels are known */
    /* changes on this rank, and on all ranks */
    struct adapt_changes here[SIM_CHANGES], all[SIM_CHANGES];
};

/* Matter as a source of gravity. */
struct sim_matter {
    double mass, com[3]; /* mass and centre of mass of the whole box, code units */
    /* Monopole of the last solve of each level, and the one that belongs to φ_old. */
    struct far_field far[LEVEL_MAX + 2], far_old[LEVEL_MAX + 2];
    double quantum; /* mass quantum of deposits */
    double alike;   /* mass of all particles of all ranks if they are alike (part_alike), or 0 */
    /* number of deposits of a level before its number of particles is told by their mass again */
    int unsure[LEVEL_MAX + 2];
    struct part_motion motion; /* of particles of the level that is kicked, until its time step */
    double rho_tot;            /* mean density, subtracted in the Poisson source */
    double rho_max[LEVEL_MAX + 2]; /* maximum density by level, on this rank */
    /* [noct] centres of mass of octs, from the last gas deposit */
    double (*moments[LEVEL_MAX + 2])[3];
    bool moments_dev; /* the moments are on the device */
    /* cic_levelmax: dark matter density handed down to finer levels */
    double (*rho_top[LEVEL_MAX + 2])[8];
};

/* Load of the ranks. Seconds include phases with WORK only (sim/phase.h). */
struct sim_balance {
    double work[LEVEL_MAX + 2];  /* work of this rank by level in this coarse step, seconds */
    double steps[LEVEL_MAX + 2]; /* steps of own octs by level in this coarse step */
    /* time per step of an oct by level, seconds, smoothed over coarse steps */
    double each[LEVEL_MAX + 2];
    /* memory (bytes) and work (nanoseconds) of the last coarse step, over ranks */
    struct spread memory, time;
    /* imbalance of memory and time in the step after the last balance */
    double left[2];
    double reached; /* max/min of the ranks' loads, as the last balance predicted it */
    bool fresh;     /* domains were balanced in this coarse step */
    /* coarse steps begun up to the last change of domains, or the first balance; 0: none yet */
    int changed;
    /* domains to use after the output of this step; NULL: the previous ones */
    struct domain *next;
};

/* The device, and the modules that run on it (device.c). */
enum { SIM_SIDES = 3 }; /* maximum number of side streams: no phase has more independent work */
enum { SIM_PHASES = 96 };
struct sim_device {
    struct dev *dev; /* NULL: none */
    struct dev_stream *stream;
    struct mirror *mirror; /* mesh on the device: lent to all modules that work on the device */
    unsigned on;           /* phases that run on the device, GPU_… (sim/phase.h) */
    struct hydro_dev *gas; /* gas solver, with GPU_HYDRO */
    struct mhd_dev *field; /* in its place for all but kicks, if the gas has a magnetic field */
    /* source terms, with GPU_HYDRO, if they run on the device (phys/term.h) */
    struct terms_dev *terms;
    struct rt_dev *rt;      /* radiation and chemistry, with GPU_HYDRO, if all have kernels */
    struct grav_dev *grav;  /* gravity solver, with GPU_POISSON */
    struct part_dev *parts; /* particles, with GPU_PARTS */
    struct ghost_dev *ghosts;
    /* trials of gpu_auto_tune; NULL: every phase that can runs on the device */
    struct trials *trials;
    bool by_chance; /* for tests: locations of phases are drawn at random */
    struct rng chance;
    struct dev_stream
        *side[SIM_SIDES]; /* side streams, in addition to the main one: n_cuda_streams */
    int sides;
    int energy; /* level whose energy has been requested; 0: none */
    bool asked; /* all ranks know whether this solve is on devices */
    /* ghosts of the gas of level `filled` in exchange between two phases */
    struct ghost_dev_rows gas_fill;
    int filled;
    struct ghost_dev_rows reflux_fill; /* reflux registers of level `reflux_level` in exchange */
    int reflux_level;
    /* statistics for the report: coarse steps, and those without a new level (usual); over usual
     * steps, bytes of fields of own octs (mesh), and bytes copied without outputs (moved) */
    double steps, usual, mesh, moved;
    int64_t messages, messages_before; /* bytes of messages in `moved`, and in total */
    int64_t table, table_before;       /* the same of the table of cooling */
    double bytes;                      /* bytes of the gas of own octs, summed over level steps */
    double begun;                      /* timer_thread when the device was opened, seconds */
    int64_t copied, outputs;
    int finest;
    /* bytes copied by phases, by name; total that has been charged to one */
    struct {
        const char *name; /* of the table of phases; NULL: end */
        int64_t bytes;
    } by_phase[SIM_PHASES];
    int64_t charged;
};

/* Levels of the mesh: sizes, refinement, load balance, and exchanges between two phases of a
 * step. */
struct sim_amr {
    int64_t noct[LEVEL_MAX + 2]; /* octs of each level over all ranks */
    /* minimum and maximum number of own octs of a rank when the level last began a step */
    int64_t noct_min[LEVEL_MAX + 2], noct_max[LEVEL_MAX + 2];
    struct sim_refine refine;
    struct sim_balance balance;
    bool on_ghosts; /* the current phase works on ghosts, too (sim/phase.h) */
    struct ghost_fill gas_fill;
    struct ghost_rows reflux; /* flux registers in exchange; plan NULL: no exchange */
    struct sim_flags *flags;  /* flags under construction, or NULL (flag.c) */
};

/* Equations, and the matter that they describe. */
struct sim_physics {
    struct hydro_par hydro;
    struct hydro_fresh fresh; /* to which hydro.fresh points */
    struct mhd_par mhd;       /* of a gas with a magnetic field; gas NULL: none */
    struct grav_par grav;
    struct cosmo_par cosmo_par;
    struct cosmo *cosmo;       /* NULL without cosmology */
    struct fifth *fifth;       /* gravity beyond Einstein; NULL: none */
    struct response *neutrino; /* neutrino response; NULL: no neutrinos */
    struct cooling *cooling;   /* NULL: the gas does not cool */
    struct rt *rt;             /* radiation and chemistry; NULL: none */
    struct yields *yields;     /* table of yields; NULL: no yields (phys/yields.h) */
    struct sink_state *sinks;  /* sink particles; NULL: no sinks */
    struct stellar *stellar;   /* stellar objects of sinks; NULL: none */
    enum tracer_way tracers;   /* how gas tracers move */
    struct tracer_flux *flux;  /* for Monte-Carlo tracers; else NULL */
    struct sim_matter matter;
    struct turb *turb;                      /* driven turbulence; NULL: none */
    struct turb_force force[LEVEL_MAX + 2]; /* its force in the present step of each level */
    struct turb_force driving;              /* that of the level that hydro.drive points to */
    bool driven;                            /* the Godunov step on the host has driven the gas */
    int turb_seed;                          /* of the run, if its namelist has none */
};
MUST_USE enum err sim_setup(struct sim *s); /* setup.c: parameters → modules (collective, agreed) */
/* device.c: opens the device that gpu_hydro, gpu_poisson or gpu_particles requests, or logs why
 * there is none (collective, agreed) */
/* device.c: the device of this rank that gpu_device, gpu_seed and, for tests, PTAH_DEVICES and
 * PTAH_DEVICE_KB of the environment describe */
MUST_USE enum err sim_device_how(const struct sim *s, struct dev_how *how);
MUST_USE enum err sim_device_open(struct sim *s);
void sim_device_close(struct sim *s);
/* phase.c, after sim_device_open: prepares the choice of where device phases run: always on the
 * device, or where they were faster (gpu_auto_tune). seed: if not 0, the choice is random, for
 * tests (collective) */
void sim_choice_open(struct sim *s, int seed);
/* Whether phases of these kinds (GPU_…) run on the device for level l. At most one call per
 * phase. */
bool sim_runs_dev(struct sim *s, unsigned gpu, int l);
/* device.c: sim_device_need makes the newest values of a field set (SET_…) of level l available at
 * a location, on return or in stream order; sim_device_wrote records a write there (oct/mirror.h).
 * No operation without a device. */
MUST_USE enum err sim_device_need(struct sim *s, int l, field_set set, int location);
void sim_device_wrote(struct sim *s, int l, field_set set, int location);
/* device.c: stream i for independent work, of n_cuda_streams; 0: the main stream. */
struct dev_stream *sim_device_stream(const struct sim *s, int i);
/* device.c: waits for the requested energy and maximum density of a level. */
void sim_device_energy_end(struct sim *s);
/* device.c: copies all fields to the host; alone: host copies become the only valid ones, which is
 * needed before host code changes fields or the mesh. */
MUST_USE enum err sim_device_home(struct sim *s, bool alone);
/* device.c: begin and end of a ghost exchange of the gas of level l; *begun: whether the newest
 * copy is on the device, and the exchange was started there (collective) */
MUST_USE enum err sim_device_fill_begin(struct sim *s, int l, bool *begun);
void sim_device_fill_end(struct sim *s);
/* device.c: sim_parts_dev: the particles if they are on the device, else NULL (also before the
 * first step); sim_parts_home: moves them to the host. */
struct part_dev *sim_parts_dev(const struct sim *s);
MUST_USE enum err sim_parts_home(struct sim *s);
/* device.c: counterparts of part_deposit, part_vmax, part_kinetic that work where the particles
 * are. sim_parts_mass: total mass and, with n == 4, first moments of particles on the device;
 * false: they are on the host. */
MUST_USE enum err sim_parts_deposit(struct sim *s, int l, double quantum, double mass_cut,
                                    int cic_levelmax, int64_t (*mass)[8], int64_t (*number)[8]);
double sim_parts_vmax(struct sim *s, int l);
void sim_parts_kinetic(struct sim *s, int l, struct sum *ekin);
bool sim_parts_mass(struct sim *s, int n, struct sum *sum);
/* device.c: switches the device off for lack of memory: all phases run on the CPU afterwards. Fails
 * if the device failed. */
MUST_USE enum err sim_device_off(struct sim *s);
/* device.c: reflux_begin and reflux_end where the gas is */
/* Numbers of a face, and of the edges of an oct, in the registers of the gas. */
int sim_reflux_nflux(const struct sim *s);
int sim_reflux_edges(const struct sim *s);
MUST_USE enum err sim_reflux_begin(struct sim *s, int l);
MUST_USE enum err sim_reflux_end(struct sim *s, int l);
/* Sends registers of own octs to other ranks if the registers are on a device; *begun: true if the
 * exchange has begun. */
MUST_USE enum err sim_reflux_send(struct sim *s, int l, bool *begun);
void sim_reflux_receive(struct sim *s); /* completes sim_reflux_send */
/* device.c: bytes copied so far; end of a coarse step; report of the traffic (collective) */
int64_t sim_device_copied(const struct sim *s);
void sim_device_step(struct sim *s);
void sim_device_report(struct sim *s);
/* setup.c: the seed of the turbulence of this run */
uint64_t sim_turb_seed(const struct sim *s);
/* timestep.c: from now on the force of driven turbulence on level l, and in the Courant condition,
 * is that of the present time, and it is on the device. Without turbulence it does nothing. */
MUST_USE enum err sim_turb_send(struct sim *s, int l);
/* timestep.c: a Godunov step of level l on the host drives its gas. */
void sim_drive_with(struct sim *s, int l);
/* setup.c: initial values of the scalars that the run knows by name; others stay */
void sim_initial_scalars(const struct sim *s, double initial[NVAR_MAX]);
/* setup.c: dark energy of the namelist */
struct cosmo_dark sim_dark(const struct params *p);
/* setup.c: s->phys.cosmo from s->phys.cosmo_par */
MUST_USE enum err sim_cosmology(struct sim *s);
/* Rounding errors of a magnetic field in files, and in regions. */
static const double SIM_SINGLE = 1e-6, SIM_DOUBLE = 1e-10;
/* setup.c: fails if the magnetic field of the state is not finite, or not free of divergence
 * (collective, agreed) */
MUST_USE enum err sim_check_field(const struct sim *s);
/* setup.c: hydro_restrict, or mhd_restrict if the gas has a magnetic field */
void sim_restrict_gas(struct sim *s, int l);
/* phases.c: completes a gas exchange in progress */
void sim_receive_gas(struct sim *s);
/* step.c: a step of level l with the sub-steps of finer levels (collective) */
MUST_USE enum err sim_step(struct sim *s, int l, int icount);
/* adapt.c: refine levels from..levelmax-1 (collective) */
MUST_USE enum err sim_refine(struct sim *s, int from);
/* adapt.c: number of octs that the next refinement of all levels will change: sim_refine_count on
 * this rank (collective), sim_refine_counted takes the sums over ranks, so that the refinement
 * itself needs no reduction; flags and mesh must not change before it */
const struct adapt_changes *sim_refine_count(struct sim *s); /* [SIM_CHANGES] */
void sim_refine_counted(struct sim *s, const struct adapt_changes all[SIM_CHANGES]);
/* setup.c: the columns of particles that tracers, light cones and star formation need, and the
 * weight of stars */
MUST_USE enum err sim_more_columns(struct sim *s);
/* balance.c: cost of an oct and of a particle in it by level: bytes, or work */
struct sim_weights {
    double oct[LEVEL_MAX + 2], part[LEVEL_MAX + 2];
};
struct sim_weights sim_weights(const struct sim *s);
/* balance.c: balances domains of this kind. If domains change, fields and particles move to the
 * host. timed: phases of the balance have timers of their own; else the time counts for the running
 * timer. wait: domains change after an output of this step (collective) */
void sim_domains_become(struct sim *s, enum domain_kind kind, bool timed, bool wait);
enum domain_kind sim_domain_kind(const struct sim *s); /* of run_params/ordering */
/* balance.c: sim_domains_leave switches to Hilbert domains temporarily, if possible to those that
 * agree with the present ones, without any load balance; returns the previous domains (owner:
 * caller), for sim_domains_return (collective) */
struct domain *sim_domains_leave(struct sim *s);
void sim_domains_return(struct sim *s, struct domain *was);
/* balance.c: after a coarse step, memory in bytes and work in nanoseconds of this rank; then, to
 * sim_balance_measured, the spread over ranks */
void sim_balance_own(struct sim *s, int64_t own[2]);
void sim_balance_measured(struct sim *s, const struct spread all[2]);
/* balance.c: whether load balance is due; equal on all ranks */
bool sim_balance_due(const struct sim *s);
/* setup.c: prepares source terms: s->phys.cooling, if the gas cools; after s->phys.yields and the
 * cosmology (collective) */
MUST_USE enum err sim_physics(struct sim *s);
/* sources.c: updates the cooling rates at the start of a coarse step (collective) */
void sim_cooling_table(struct sim *s);
/* flag.c: flags cells in two halves; ghosts of the gas are needed in the second half only
 * (collective) */
void sim_flag_begin(struct sim *s, int l);
void sim_flag_end(struct sim *s, int l, int icount);
/* flag.c: sim_flag_begin and sim_flag_end (collective) */
void sim_flag(struct sim *s, int l, int icount);
/* flag.c: between the halves. If the gas is on a device and no other criterion reads it (*all),
 * gradient flags are made there, and the second half needs no gas. Local. */
MUST_USE enum err sim_flag_steep(struct sim *s, int l, bool *all);
/* flag.c: a refinement criterion sets marks of own cells of level l in ok[nown][8], which is zero
 * on entry; the marks of all criteria are combined by or */
struct sim_criterion {
    const char *name;
    bool (*wanted)(const struct sim *s, int l);
    void (*mark)(const struct sim *s, int l, unsigned char (*ok)[8]);
};
/* Combines the marks of n criteria into bits[nown] by or. */
void sim_criteria_mark(const struct sim *s, int l, const struct sim_criterion *c, int n,
                       unsigned char *bits);
/* flag.c: whether level l may not be refined yet by any criterion */
bool sim_held_back(const struct sim *s, int l);
/* flag.c: m_refine of a level, which dr_proper raises. */
double sim_m_refine(const struct sim *s, int l);
/* density.c: source density and refinement map `dense` (collective) */
MUST_USE enum err sim_density(struct sim *s, int l, int icount);
/* density.c: sim_density on the device; *done: whether it has kernels for all deposits */
MUST_USE enum err sim_density_dev(struct sim *s, int l, int icount, bool *done);
/* copies moments of octs from the device to the host, if they are there */
MUST_USE enum err sim_moments_home(struct sim *s);
/* copies lev[l].dense from the device to the host */
MUST_USE enum err sim_dense_home(struct sim *s, int l);
void sim_total_mass(struct sim *s); /* density.c: sets the total mass (collective) */
/* density.c: the monopole of the whole box becomes the one of the last solve of all levels. */
void sim_keep_monopole(struct sim *s);
double sim_fourpi(const struct sim *s);
struct units sim_units(const struct sim *s); /* setup.c: units at the time of the run */
/* setup.c: arguments of the phases of sinks, at the time of the run */
struct sink_run sim_sinks(struct sim *s);
/* setup.c: arguments of the functions of tracers, at the time of the run */
struct tracer_run sim_tracers(struct sim *s);
/* setup.c: tracers_swap, in a run with stars and Monte-Carlo tracers */
MUST_USE enum err sim_tracers_swap(struct sim *s, int l, bool coarse);
/* At a coarse step: Monte-Carlo tracers follow gas into jets of black holes, and into sinks; at its
 * end (jets: false) tracers and stellar objects of sinks go with these. (collective) */
MUST_USE enum err sim_follow_sinks(struct sim *s, bool jets);
/* timestep.c: dtnew[l] in two halves: the first is local, the second is collective and may follow a
 * reduction that included s->time.min.minima */
void sim_timestep_begin(struct sim *s, int l);
/* timestep.c: copies the fields that limits of source terms read to the host */
MUST_USE enum err sim_limits_need(struct sim *s, int l);
/* sources.c: registers of photons of level l before its sub-steps */
MUST_USE enum err sim_rt_registers(struct sim *s, int l);
/* sources.c: photons and ions of the initial state of level l; the log of radiation (collective) */
void sim_rt_initial(struct sim *s, int l);
/* sources.c: after refinement of level l: equilibrium in cells that rt_merging has listed (taken;
 * NULL: none), and their ghosts (collective) */
void sim_rt_merged(struct sim *s, int l, unsigned char *cells);
void sim_rt_report(struct sim *s);
/* Radiation in the header of a checkpoint; properties of groups that change in a run, from it. */
void sim_rt_head(const struct sim *s, struct ckpt_radiation *h);
void sim_rt_resume(struct sim *s, const struct ckpt_radiation *h);
/* sources.c: restricts the gas of all levels, if it has changed, and fills ghosts (collective) */
void sim_send_all_gas(struct sim *s, bool changed);
/* sources.c: arguments of source terms of a stage (phys/term.h) */
struct term_run sim_term_run(struct sim *s, int stage, int l);
void sim_timestep_end(struct sim *s);
/* With exact_output_time: gives the end of a coarse step the time of an output, if it is that to
 * rounding. */
void sim_time_meet(struct sim *s);
void sim_potential_energy(struct sim *s, int l); /* report.c: epot sum, rho_max */
/* report.c: what the square of the acceleration of a cell is times, in that sum */
double sim_energy_factor(const struct sim *s, int l);
/* clumps.c: clumps of the state, as &CLUMPFIND_PARAMS defines them. Requires particles on levelmin
 * and valid ghosts of the gas. *out: clumps_free. (collective) */
MUST_USE enum err sim_clumps(struct sim *s, struct clumps *out);
void sim_use_threads(struct sim *s); /* balance.c: as many threads as the mesh can occupy */
void sim_count_octs(struct sim *s);  /* balance.c: noct, noct_min, noct_max (collective) */
