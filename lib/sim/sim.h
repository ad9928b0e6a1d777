/* sim: one run. The order of a step is in step.c: start there. */
#pragma once
#include <stdio.h>
#include <time.h>

#include "adapt/adapt.h"
#include "adapt/adapt_dev.h"
#include "base/rng.h"
#include "ckpt/source.h"
#include "clump/clump.h"
#include "comm/comm.h"
#include "comm/spread.h"
#include "cool/cool.h"
#include "cooldev/cooldev.h"
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
#include "out/publish.h"
#include "param/param.h"
#include "part/part.h"
#include "part/part_dev.h"
#include "phys/units.h"
#include "sink/create.h"
#include "sink/run.h"

_Static_assert((int)PARAM_LEVEL_LIMIT == (int)OKEY_LEVELS,
               "the parameter table's limit is that of the keys");
_Static_assert((int)PARAM_GAS == (int)GAS_SCALARS && PARAM_GAS + PARAM_SCALARS == NVAR_MAX,
               "the parameter table counts the variables of the gas as oct/gas.h does");

/* Sums over the state at the start of a coarse step (docs/method/step.md). */
struct totals {
    double mass, ekin, eint, epot;
    double momentum[3];
};

/* Where the run is in time, and the steps of its levels. */
struct sim_time {
    double t, aexp, hexp;
    double dtold[LEVEL_MAX + 2], dtnew[LEVEL_MAX + 2];
    int nstep, nstep_coarse; /* fine steps; coarse steps */
    int nsubcycle[LEVEL_MAX + 2];
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
    bool moments_there;                  /* that was on the device, and so are they */
    /* cic_levelmax: dark matter density handed down to finer levels */
    double (*rho_top[LEVEL_MAX + 2])[8];
};

/* Conserved quantities; sums of this rank until the time step of the finest level. */
struct sim_diag {
    bool counting; /* first way down of the coarse step: every level is met once */
    struct sum_totals {
        struct sum mass, ekin, eint, epot, momentum[3];
    } sum;
    double mass_tot_0, einit, epot_tot_old, epot_tot_int, aexp_old;
    int nstep_last; /* coarse step of the last report */
    int64_t particles;
    int64_t lost; /* particles that left a box with boundaries */
};

enum { SIM_SUMS = sizeof(struct sum_totals) / sizeof(struct sum) };

/* Results of a device for the gas of a level on this rank: its time step, and its sums. */
struct sim_gas_numbers {
    double dt;
    struct sum mass, energy, internal, momentum[3];
};

/* A time step of which this rank knows its own conditions: it, and the own octs of the level as
 * they are and negative. */
struct sim_least {
    int level; /* 0: none */
    double x[4];
    struct comm_minima minima;
    /* of the gas, where it is on a device; else NULL */
    const struct sim_gas_numbers *gas;
};

/* Cost of the run: wall-clock time, updates of cells, most cells. */
struct sim_cost {
    double wall_start, wall_step, updates_all, wall_all;
    double updates; /* of cells, all levels, by all ranks */
    /* most cells of all levels after a coarse step, and the leaves among them */
    int64_t cells_most, leaves_most;
    const char *profile_path; /* simulate -j, or NULL (lent) */
    FILE *profile;            /* on rank 0, while the run lasts */
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

struct sim_out {
    const char *dir;
    char start[4096], home[8192]; /* where the run began, and dir from there; empty: not known */
    /* Called for each finished checkpoint, on rank 0. */
    void (*announce)(const char *path);
    bool force; /* replace checkpoints that are there */
    const char *namelist_text, *provenance;
    char *before; /* history of the checkpoint that the run resumed from; NULL: none */
    int ifout, iout, noutput;
    double *tout, *aout, tout_next, aout_next;
    char last_good[4096]; /* checkpoint; empty: none yet */
    int last_step;        /* the coarse step of the last output, or of the restart; −1: none */
    /* before this coarse step, by any rank: 0 nothing, 1 write, −1 write and stop */
    int asked;
    bool backup; /* backup_minutes have passed */
    bool again;  /* the last checkpoint is lost */
    /* expansion factor of the table of cooling in restart.rest, on rank 0; 0: not of this run */
    double rates_aexp;
};

/* The newest checkpoint, which may be on its way to the disk (output.c). */
struct sim_late {
    bool there; /* it is to be published */
    bool done;  /* and all ranks' files are on disk */
    bool vital; /* the run ends if it fails */
    int number, step;
    double handed; /* seconds until the system had it */
    struct out_pending out;
};

/* When the run must stop, and what asks for it (stop.c). Seconds of timer_wall, on rank 0. */
enum { SIM_STEPS_KEPT = 8 };
struct sim_stop {
    double end;                  /* of the job, less minutes_dump; 0: none */
    double step[SIM_STEPS_KEPT]; /* what the last coarse steps took, and the last checkpoint */
    double write;
    double last_look, last_write;
    time_t begun;
    /* changes of the job control file that have been acted on, or could not be */
    struct timespec heeded, refused;
    bool told; /* of a signal */
};

struct sim_restart {
    const char *path;      /* checkpoint to resume from, or NULL: nrestart of the namelist says */
    struct source *from;   /* it, while it is read */
    bool change_model;     /* its model may be another than the namelist's */
    struct ckpt_rest rest; /* what it has that the run does not use */
    /* before its first output would be due: that is the checkpoint it comes from */
    bool resumed;
    int number; /* of that checkpoint, if it is one of s->out.dir; else −1 */
};

/* Switches for tests, and for users who want further checks. */
struct sim_check {
    bool ghosts;      /* run_params/check_ghosts */
    const char *skip; /* name of a phase that does nothing, for tests; NULL: none */
    /* seconds that this rank sleeps for each of its octs in phase godunov, for tests; 0: none */
    double nap;
};

/* The device, and the modules that run on it (device.c). */
enum { SIM_SIDES = 3 }; /* as many as there is work for */
struct sim_device {
    struct dev *dev; /* NULL: none */
    struct dev_stream *stream;
    struct mirror *mirror;   /* the mesh there: lent to all that works on the device */
    unsigned on;             /* GPU_… (sim/phase.h): the phases that run there */
    struct hydro_dev *gas;   /* with GPU_HYDRO */
    struct cooldev *cooling; /* with GPU_HYDRO, if source terms of levels run there */
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
    struct ghost_dev_rows edge_fill; /* and the registers of level `edged` */
    int edged;
    /* for the report: coarse steps, and those without a new level; in these, bytes of the fields of
     * own octs, and bytes copied but for outputs; copied so far, and for outputs; finest level */
    double steps, usual, mesh, moved;
    int64_t messages, messages_before; /* of `moved`, and of all so far */
    double bytes;                      /* of the gas of own octs, by level steps */
    double begun;                      /* timer_thread when the device was opened */
    int64_t copied, outputs;
    int finest;
};

struct sim_end {
    bool done;
    bool broken; /* the state holds infinities or NaNs */
    int status;  /* exit status: 0, 75 stopped early */
};

struct sim {
    const struct params *par; /* lent by the caller */
    struct comm comm;
    struct mesh mesh;
    int64_t noct[LEVEL_MAX + 2]; /* octs of each level over all ranks */
    /* least and most own octs of a rank, when the level last began a step */
    int64_t noct_least[LEVEL_MAX + 2], noct_most[LEVEL_MAX + 2];
    struct domain *dom;
    struct parts parts;
    struct hydro_par hydro;
    struct grav_par grav;
    struct cosmo_par cosmo_par;
    struct cosmo *cosmo;       /* NULL without cosmology */
    struct response *neutrino; /* NULL: none */
    struct cooling *cooling;   /* NULL: the gas does not cool */
    struct yields *yields;     /* NULL: none (phys/yields.h) */
    struct sink_state *sinks;  /* NULL: none */
    struct sim_time time;
    struct sim_refine refine;
    struct sim_matter matter;
    struct sim_diag diag;
    struct sim_least least;
    struct sim_cost cost;
    struct sim_balance balance;
    struct sim_out out;
    struct sim_late late;
    struct sim_stop stop;
    struct sim_restart restart;
    struct sim_check check;
    struct sim_device device;
    bool expect;    /* sim_start reads headers only: noct and diag.particles are what they say */
    bool on_ghosts; /* the phase works on ghosts, too (sim/phase.h) */
    struct sim_end end;
    struct ghost_fill gas_fill; /* on its way between two phases */
    struct ghost_rows edges;    /* registers of fluxes between two phases; plan NULL: none */
    struct sim_flags *flags;    /* flags that are being made between two phases, or NULL (flag.c) */
};

/* Builds the initial state from parameters and initial conditions. (collective) */
MUST_USE enum err sim_start(struct sim *s, const struct params *par, const struct comm *c);
/* forecast.c: after sim_start with s->expect: what the run will take on that many ranks, as
 * messages and, if s->cost.profile_path, a line of JSON. like: the file of a profile of a run
 * before, which says how long updates take; NULL: the checkpoint, or figures of
 * docs/performance.md. (collective) */
MUST_USE enum err sim_forecast(struct sim *s, int ranks, const char *like);
/* Runs to the end; finished checkpoints are announced. (collective) */
MUST_USE enum err sim_run(struct sim *s);
/* Says how many particles have left the box since the last time; lost: of all ranks, from the start
 * on. In a periodic box it is an error that any have. */
MUST_USE enum err sim_report_lost(struct sim *s, int64_t lost);
void sim_fini(struct sim *s);
/* SIGTERM, SIGINT, SIGUSR1, SIGUSR2: finish the step, write, stop with status 75 */
void sim_catch_signals(void);

/* ---- between the files of sim ---- */
enum { TIMING_MAX = 64 };
struct timing {
    char label[32];
    double low, mean, high; /* seconds, over ranks */
};
/* profile.c: the timers, how many (collective) */
int sim_timings(const struct sim *s, struct timing p[TIMING_MAX]);
MUST_USE enum err sim_profile_begin(struct sim *s);
void sim_profile_step(struct sim *s);
MUST_USE enum err sim_profile_end(struct sim *s);
MUST_USE enum err sim_profile_close(struct sim *s); /* (collective) */
MUST_USE enum err sim_setup(struct sim *s);         /* setup.c: parameters → modules */
/* device.c: the device that gpu_hydro, gpu_poisson or gpu_particles asks for, or a line in the log
 * why there is none (collective, agreed) */
MUST_USE enum err sim_device_open(struct sim *s);
void sim_device_close(struct sim *s);
/* phase.c, after sim_device_open: where phases run that could run on the device: there, or where
 * they have been faster (gpu_auto_tune). seed: for tests it is drawn, 0: it is not (collective) */
void sim_choice_open(struct sim *s, int seed);
/* Does a phase of this kind, or one of these (GPU_…), of level l run there? To be asked once. */
bool sim_runs_there(struct sim *s, unsigned gpu, int l);
/* device.c: fields of the set (SET_…, one level's) of level l are at this place on return, or in
 * the order of the stream; or have been written there (oct/mirror.h). Without a device: nothing. */
MUST_USE enum err sim_device_need(struct sim *s, int l, field_set set, int place);
void sim_device_wrote(struct sim *s, int l, field_set set, int place);
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
struct part_dev *sim_parts_there(const struct sim *s);
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
/* device.c: as hydro_edge_begin and _end, where the gas is */
MUST_USE enum err sim_edges_begin(struct sim *s, int l);
MUST_USE enum err sim_edges_end(struct sim *s, int l);
/* Registers of own octs to other ranks, if they are on a device; else nothing has begun. */
MUST_USE enum err sim_edges_send(struct sim *s, int l, bool *begun);
void sim_edges_receive(struct sim *s); /* of what has begun */
/* device.c: bytes copied so far; a coarse step has ended; what was copied (collective) */
int64_t sim_device_copied(const struct sim *s);
void sim_device_step(struct sim *s);
void sim_device_report(struct sim *s);
/* setup.c: initial values of the scalars that the run knows by name; others stay */
void sim_initial_scalars(const struct sim *s, double initial[NVAR_MAX]);
/* setup.c: s->cosmo from s->cosmo_par */
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
/* output.c: an output of this step is laid out by other domains than the run's, to which the run
 * returns */
bool sim_output_travels(const struct sim *s);
/* balance.c: after a coarse step, bytes held and nanoseconds of work of this rank, and then what
 * they are on all */
void sim_balance_own(struct sim *s, int64_t own[2]);
void sim_balance_measured(struct sim *s, const struct spread all[2]);
bool sim_balance_due(const struct sim *s); /* balance.c: alike on all ranks */
/* setup.c: what source terms need beside s->yields: s->cooling, if the gas cools; after the
 * cosmology (collective) */
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
/* density.c: FLD_RHO and dense */
MUST_USE enum err sim_density(struct sim *s, int l, int icount);
/* density.c: the same on the device, if it has kernels for all that is deposited: *done */
MUST_USE enum err sim_density_there(struct sim *s, int l, int icount, bool *done);
MUST_USE enum err sim_moments_home(struct sim *s);      /* from a device, if they are there */
MUST_USE enum err sim_dense_home(struct sim *s, int l); /* the same of lev[l].dense */
void sim_total_mass(struct sim *s);                     /* density.c */
double sim_fourpi(const struct sim *s);
struct units sim_units(const struct sim *s); /* setup.c: at the time of the run */
struct sink_run sim_sinks(struct sim *s);    /* setup.c: at the time of the run */
/* timestep.c: dtnew[l], in two halves: the first is local, the second is collective and may follow
 * a reduction that took s->least.minima along */
void sim_timestep_begin(struct sim *s, int l);
void sim_timestep_end(struct sim *s);
double sim_timestep(struct sim *s, int l);       /* both; returns dtnew[l] (collective) */
void sim_potential_energy(struct sim *s, int l); /* report.c: epot sum, rho_max */
/* report.c: what the square of the acceleration of a cell is times, in that sum */
double sim_energy_factor(const struct sim *s, int l);
void sim_report_begin(struct sim *s);  /* report.c: empty sums of a coarse step */
void sim_report(struct sim *s, int l); /* report.c: step lines */
void sim_report_mesh(struct sim *s, const char *title);
void sim_report_step_time(struct sim *s);
void sim_report_timers(struct sim *s);
MUST_USE enum err sim_output(struct sim *s); /* output.c: write if one is due */
/* output.c: at the start of a run that resumes: tables beside its checkpoint that a run that was
 * killed has not written (collective) */
MUST_USE enum err sim_measure_missing(struct sim *s);
/* output.c: waits until the checkpoint on its way, if any, is on disk, and gives it its name.
 * (collective, agreed) */
MUST_USE enum err sim_publish(struct sim *s);
/* output.c: the same at the end of the run, which has this error or none: that is what it returns,
 * before its own (collective, agreed) */
MUST_USE enum err sim_publish_last(struct sim *s, enum err why);
/* spectrum.c: pk_NNNNN.tsv of output ifout (collective, agreed) */
MUST_USE enum err sim_spectrum(struct sim *s);
/* halos.c: halos_NNNNN.tsv of output ifout (collective, agreed) */
MUST_USE enum err sim_halos(struct sim *s);
/* output.c: the run resumes from a checkpoint with this provenance */
void sim_history_resume(struct sim *s, const char *text);
/* clumps.c: clumps of the state, by &CLUMPFIND_PARAMS. Particles are on levelmin, ghosts of the gas
 * valid. *out: clumps_free. (collective) */
MUST_USE enum err sim_clumps(struct sim *s, struct clumps *out);
/* clumps.c: the clumps of the state that may become sinks; these: those that there are, as
 * sinks_before_births leaves them. *out: FREE at. (collective) */
MUST_USE enum err sim_cores(struct sim *s, const struct sink_copies *sinks,
                            struct clump_cores *out);
/* clumps.c: this rank's files of the next checkpoint, *n of them (text: FREE). (collective) */
MUST_USE enum err sim_clump_files(struct sim *s, struct ckpt_file file[2], int *n);
void sim_output_setup(struct sim *s);
/* output.c: what was written before the checkpoint s->restart.from */
void sim_output_resume(struct sim *s);
/* restart.c: s->restart.from, if the run resumes from a checkpoint */
MUST_USE enum err sim_restart_open(struct sim *s);
MUST_USE enum err sim_restart(struct sim *s); /* restart.c: the state of s->restart.from */
/* model.c: s->restart.from is of the model of s->par, or may be of another (collective) */
MUST_USE enum err sim_check_model(const struct sim *s);
enum { SIM_NUMBERS = 100000 }; /* output_00001 to output_99999 */
/* output.c: marks the checkpoints in the directory of outputs (collective) */
void sim_present(const struct sim *s, unsigned char there[SIM_NUMBERS]);
/* output.c: none is in the way of this run's, or they may be replaced (collective) */
MUST_USE enum err sim_check_room(const struct sim *s);
bool sim_at_end(const struct sim *s); /* output.c: time or step limit reached */
void sim_stop_setup(struct sim *s);   /* stop.c: once the run begins */
/* stop.c: a job control file that is there can be read */
MUST_USE enum err sim_check_orders(const struct sim *s);
bool sim_caught(const struct sim *s); /* stop.c: a rank was asked to stop (collective) */
/* stop.c: after a coarse step, what this rank was asked for: 0 nothing, 1 write, −1 and stop */
int sim_asked_for(struct sim *s);
bool sim_backup_due(const struct sim *s);           /* stop.c: rank 0 knows */
void sim_stop_wrote(struct sim *s, double seconds); /* stop.c: a checkpoint took so long */
/* stop.c: at any time: says that a signal has come */
void sim_heed(struct sim *s);
void sim_count_octs(struct sim *s); /* adapt.c: noct, noct_least, noct_most (collective) */
