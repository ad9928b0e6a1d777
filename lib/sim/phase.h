/* sim/phase: a row of the table of the step (sim/step.c), and the loop over the rows.
 *
 * With run_params/check_ghosts a phase that reads ghosts which are stale, or which differ from
 * their owners although they count as valid, ends the run with a message; and what a phase leaves
 * stale becomes NaN, so that nothing can read it undeclared.
 *
 * A phase may have a second function, which does the same on a device (sim/phases.c). The fields
 * that a phase reads or writes are brought to where it runs, if their newest copy is not there
 * (oct/mirror.h); what it writes is newest there. With check_ghosts the other copy becomes NaN. */
#pragma once
#include "oct/fields.h"
#include "sim/sim.h"

/* Sets of other levels than that of the step: the two coarser ones, the next finer one, all finer
 * ones. */
#define UP(set) ((field_set)(set) << 32)
#define NEXT(set) ((field_set)(set) << 64)
#define FINER(set) ((field_set)(set) << 96)

/* When a phase runs: all conditions must hold. */
enum phase_when {
    ALWAYS = 0,
    IF_GAS = 1 << 0,
    IF_GRAVITY = 1 << 1,
    IF_SELF_GRAVITY = 1 << 2, /* not an analytic force */
    IF_PARTS = 1 << 3,
    IF_MESH = 1 << 4,     /* cells of the level may be split: not levelmax, not static */
    IF_BASE = 1 << 5,     /* the level is levelmin: once a coarse step */
    IF_TURN = 1 << 6,     /* levelmin, or a second sub-step */
    IF_FINER = 1 << 7,    /* there is a finer level */
    IF_FIRST = 1 << 8,    /* first fine step of all */
    IF_LAST = 1 << 9,     /* the last step within one of the coarser level */
    IF_BALANCE = 1 << 10, /* the domains are to be balanced */
    IF_TERMS = 1 << 11,   /* there are source terms on levels */
    IF_COARSE_TERMS = 1 << 12,
    IF_COOLING = 1 << 13, /* there is a table of rates */
    IF_SINKS = 1 << 14,   /* there are sinks */
    IF_HOLES = 1 << 15,   /* sinks are the black holes of Horizon-AGN */
    IF_CREATES = 1 << 16, /* sinks form out of clumps */
    IF_ON_DISK = 1 << 17  /* a checkpoint that has no name yet is on the disk */
};

/* Where a phase runs, and on what. */
enum phase_where {
    HOST = 0, /* its fields are brought to the host */
    /* a phase with a function for the device, for runs in which that is on (sim_device.on) */
    GPU_HYDRO = 1 << 0,
    GPU_POISSON = 1 << 1,
    GPU_PARTS = 1 << 2,
    /* host code for all levels: their fields are brought home, and count as written there */
    AT_HOME = 1 << 3,
    /* its function looks after places itself, by sim_device_need, _wrote and _home */
    OWN_COPIES = 1 << 4,
    /* its function for the device does, of what it reads */
    OWN_READS = 1 << 5,
    PARTS_ANYWHERE = 1 << 6, /* particles are taken where they are: sim_parts_… */
    /* if the ghosts of all that it reads are valid, it works on ghosts as on own octs
     * (sim.amr.on_ghosts), and those of what it writes stay valid without an exchange */
    ON_GHOSTS = 1 << 7,
    WORK = 1 << 8 /* its time is that of this rank's own octs, and counts for the balance */
};

struct phase {
    const char *name;
    enum err (*call)(struct sim *s, int l, int icount);
    const char *timer; /* NULL: the timer of the phase before continues */
    unsigned when;     /* enum phase_when */
    unsigned where;    /* enum phase_where */
    field_set reads;   /* in own cells */
    field_set ghosts;  /* in own cells and ghosts */
    field_set writes;  /* in own cells; ghosts are stale then, unless the phase fills them */
    /* Queues the phase on the stream of the device, and sets *done; without that nothing has
     * changed, and the CPU does it. An error: nothing has changed and the device lacks memory, or
     * it failed. NULL: none. */
    enum err (*device)(struct sim *s, int l, int icount, bool *done);
};

/* One step of level l by the phases of a table. (collective) */
MUST_USE enum err phases_run(struct sim *s, const struct phase *p, int n, int l, int icount);

/* The phases of sim/step.c as functions (sim/phases.c). Each is of one step of level l, the
 * icount-th within a step of level l-1. */
typedef enum err step_phase(struct sim *s, int l, int icount);
step_phase step_refine, step_balance, step_enter, step_output, step_keep_phi, step_deposit,
    step_hand_down, step_unkick_gas, step_poisson, step_first_phi, step_force, step_energy,
    step_kick_parts, step_kick_gas, step_send_gas, step_time_step, step_receive_gas,
    step_receive_early, step_publish, step_finer, step_send_reflux, step_receive_reflux,
    step_send_flags, step_godunov, step_kick_again, step_restrict_gas, step_move_parts, step_flag,
    step_merge, step_add_steps, step_cooling_table, step_coarse_terms, step_level_terms,
    step_pull_sinks, step_look_around, step_accrete, step_create_sinks, step_renew_sinks,
    step_black_holes;
/* Phases that have a second function, for the device (sim/phases.c). */
typedef enum err device_phase(struct sim *s, int l, int icount, bool *done);
device_phase unkick_gas_dev, kick_gas_dev, kick_again_dev, time_step_dev, godunov_dev, keep_phi_dev,
    deposit_dev, poisson_dev, first_phi_dev, force_dev, energy_dev, restrict_gas_dev, enter_dev,
    hand_down_dev, kick_parts_dev, move_parts_dev, merge_dev;
