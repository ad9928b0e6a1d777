/* sim/phase: a row of the table of the step (sim/step.c), and the loop over the rows.
 *
 * With run_params/check_ghosts a phase that reads ghosts which are stale, or which differ from
 * their owners although they count as valid, ends the run with a message; ghosts that a phase
 * leaves stale become NaN, so that an undeclared read is noticed.
 *
 * A phase may have a second function, its equivalent on a device (sim/phases.c). The fields that a
 * phase reads or writes are copied to the side on which it runs, if their newest copy is on the
 * other one (oct/mirror.h); fields that it writes are newest there. With check_ghosts the other
 * copy becomes NaN. */
#pragma once
#include "oct/fields.h"
#include "sim/sim.h"

/* Field sets of other levels than that of the step: UP the two coarser levels, NEXT the next finer
 * level, FINER all finer levels. */
#define UP(set) ((field_set)(set) << 32)
#define NEXT(set) ((field_set)(set) << 64)
#define FINER(set) ((field_set)(set) << 96)

/* Conditions for a phase to run: all must hold. */
enum phase_when {
    ALWAYS = 0,
    IF_GAS = 1 << 0,
    IF_GRAVITY = 1 << 1,
    IF_SELF_GRAVITY = 1 << 2, /* gravity is not analytic */
    IF_PARTS = 1 << 3,
    IF_MESH = 1 << 4,     /* cells of the level may be split: not levelmax, not static */
    IF_BASE = 1 << 5,     /* the level is levelmin: once per coarse step */
    IF_TURN = 1 << 6,     /* levelmin, or a second sub-step */
    IF_FINER = 1 << 7,    /* a finer level exists */
    IF_FIRST = 1 << 8,    /* first fine step of the run */
    IF_LAST = 1 << 9,     /* last step of the level within a step of the coarser level */
    IF_BALANCE = 1 << 10, /* load balance is due */
    IF_TERMS = 1 << 11,   /* source terms act on levels */
    IF_COARSE_TERMS = 1 << 12,
    IF_COOLING = 1 << 13,   /* the gas cools by a table of rates */
    IF_SINKS = 1 << 14,     /* the run has sinks */
    IF_HOLES = 1 << 15,     /* sinks are black holes as in Horizon-AGN */
    IF_CREATES = 1 << 16,   /* sinks form out of clumps */
    IF_ON_DISK = 1 << 17,   /* a checkpoint is on disk but not yet published */
    IF_INDUCTION = 1 << 18, /* the gas has the velocities of a given flow */
    IF_DIFFUSES = 1 << 19,  /* the magnetic field diffuses */
    IF_DRIFTS = 1 << 20,    /* classical tracers follow the gas */
    IF_JUMPS = 1 << 21,     /* Monte-Carlo tracers follow the gas */
    IF_FRAME = 1 << 22,     /* a frame of a movie is due */
    IF_FIFTH = 1 << 23,     /* gravity has a scalar field */
    IF_STELLAR = 1 << 24,   /* sinks may have stellar objects */
    IF_FLOWS = 1 << 25,     /* the gas moves, not with static_gas */
    IF_DRIVEN = 1 << 26,    /* turbulence is driven */
    IF_CHEMISTRY = 1 << 27, /* the gas has a chemistry, with radiation or without */
    IF_HEATED = 1 << 28     /* the gas has a magnetic field, and source terms or a chemistry */
};

/* Where a phase runs, and on which octs. */
enum phase_where {
    HOST = 0, /* host only; fields are copied to the host */
    /* phases with a device function, used if the bit is set in sim_device.on */
    GPU_HYDRO = 1 << 0,
    GPU_POISSON = 1 << 1,
    GPU_PARTS = 1 << 2,
    /* host code for all levels: all fields are copied to the host, and count as written there */
    AT_HOME = 1 << 3,
    /* the phase handles locations itself, by sim_device_need, _wrote and _home */
    OWN_COPIES = 1 << 4,
    /* the device function handles the locations of what it reads */
    OWN_READS = 1 << 5,
    PARTS_ANYWHERE = 1 << 6, /* particles are used where they are, by sim_parts_… */
    /* if the ghosts of all its inputs are valid, the phase also works on ghosts
     * (sim.amr.on_ghosts), whose outputs stay valid without an exchange */
    ON_GHOSTS = 1 << 7,
    WORK = 1 << 8 /* the time of the phase is work on own octs, and counts for load balance */
};

struct phase {
    const char *name;
    enum err (*call)(struct sim *s, int l, int icount);
    const char *timer; /* label of the timer; NULL: the timer of the previous phase continues */
    unsigned when;     /* enum phase_when */
    unsigned where;    /* enum phase_where */
    field_set reads;   /* field sets read in own cells */
    field_set ghosts;  /* field sets read in own cells and ghosts */
    /* field sets written in own cells; ghosts become stale unless the phase fills them */
    field_set writes;
    /* Queues the phase on the stream of the device, and sets *done; if *done stays false, nothing
     * has changed and the CPU runs the phase. Error: nothing has changed, and the device lacks
     * memory or failed. NULL: no device function. */
    enum err (*device)(struct sim *s, int l, int icount, bool *done);
};

/* Runs one step of level l by the phases of a table. (collective) */
MUST_USE enum err phases_run(struct sim *s, const struct phase *p, int n, int l, int icount);

/* Phases of sim/step.c as functions (sim/phases.c), each for one step of level l, the icount-th
 * within a step of level l-1. */
typedef enum err step_phase(struct sim *s, int l, int icount);
step_phase step_refine, step_balance, step_enter, step_output, step_keep_phi, step_deposit,
    step_hand_down, step_unkick_gas, step_poisson, step_first_phi, step_force, step_energy,
    step_kick_parts, step_kick_gas, step_send_gas, step_time_step, step_receive_gas,
    step_receive_early, step_publish, step_finer, step_send_reflux, step_receive_reflux,
    step_send_flags, step_godunov, step_kick_again, step_restrict_field, step_restrict_gas,
    step_move_parts, step_flag, step_merge, step_add_steps, step_cooling_table, step_coarse_terms,
    step_level_terms, step_pull_sinks, step_look_around, step_accrete, step_create_sinks,
    step_renew_sinks, step_black_holes, step_stellar, step_impose, step_diffuse,
    step_settle_tracers, step_aim_tracers, step_drift_tracers, step_jump_tracers, step_swap_tracers,
    step_frames, step_fifth, step_fifth_force, step_drive_gas, step_light, step_radiation,
    step_late_terms;
/* Device functions of phases (sim/phases.c). */
typedef enum err device_phase(struct sim *s, int l, int icount, bool *done);
device_phase unkick_gas_dev, kick_gas_dev, kick_again_dev, time_step_dev, godunov_dev, keep_phi_dev,
    deposit_dev, poisson_dev, first_phi_dev, force_dev, energy_dev, restrict_field_dev,
    restrict_gas_dev, enter_dev, hand_down_dev, kick_parts_dev, move_parts_dev, merge_dev,
    drive_gas_dev;
