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
#define UP(set) ((field_set)(set) << 12)
#define NEXT(set) ((field_set)(set) << 24)
#define FINER(set) ((field_set)(set) << 36)

/* Conditions of a phase: all must hold. */
enum {
    IF_GAS = 1 << 0,
    IF_GRAVITY = 1 << 1,
    IF_SELF_GRAVITY = 1 << 2, /* not an analytic force */
    IF_PARTS = 1 << 3,
    IF_MESH = 1 << 4,    /* cells of the level may be split: not levelmax, not static */
    IF_BASE = 1 << 5,    /* the level is levelmin: once a coarse step */
    IF_TURN = 1 << 6,    /* levelmin, or a second sub-step */
    IF_FINER = 1 << 7,   /* there is a finer level */
    IF_FIRST = 1 << 8,   /* first fine step of all */
    IF_BALANCE = 1 << 9, /* the domains are to be balanced */
    IF_TERMS = 1 << 10,  /* there are source terms on levels */
    IF_COARSE_TERMS = 1 << 11,
    /* no condition: its time is that of this rank's own octs, and counts for the balance */
    WORK = 1 << 12,
    IF_COOLING = 1 << 13, /* there is a table of rates */
    IF_SINKS = 1 << 16,   /* there are sinks */
    IF_HOLES = 1 << 17,   /* sinks are the black holes of Horizon-AGN */
    IF_CREATES = 1 << 18, /* sinks form out of clumps */
    IF_ON_DISK = 1 << 26, /* a checkpoint that has no name yet is on the disk */
    /* no condition: if the ghosts of all that it reads are valid, it works on ghosts as on own octs
     * (sim.on_ghosts), and those of what it writes stay valid without an exchange */
    ON_GHOSTS = 1 << 14,
    IF_LAST = 1 << 15, /* the last step within one of the coarser level */
    /* no conditions: where the fields are, with a device. GPU_…: it has a function for the device,
     * for runs in which that is on (sim_device.on) */
    GPU_HYDRO = 1 << 19,
    GPU_POISSON = 1 << 20,
    GPU_PARTS = 1 << 21,
    /* it is host code for all levels: their fields are brought home, and count as written there */
    AT_HOME = 1 << 22,
    /* its function looks after that itself, by sim_device_need, _wrote and _home */
    OWN_PLACES = 1 << 23,
    /* that for the device does, of what it reads */
    OWN_THERE = 1 << 24,
    PARTS_ANYWHERE = 1 << 25 /* it takes particles where they are: sim_parts_… */
};

struct phase {
    const char *name;
    enum err (*call)(struct sim *s, int l, int icount);
    const char *timer; /* NULL: the timer of the phase before continues */
    unsigned when;     /* IF_… */
    field_set reads;   /* in own cells */
    field_set ghosts;  /* in own cells and ghosts */
    field_set writes;  /* in own cells; ghosts are stale then, unless the phase fills them */
    /* Queues the phase on the stream of the device, and sets *done; without that nothing has
     * changed, and the CPU does it. An error: nothing has changed and the device lacks memory, or
     * it failed. NULL: none. */
    enum err (*there)(struct sim *s, int l, int icount, bool *done);
};

/* One step of level l by the phases of a table. (collective) */
MUST_USE enum err phases_run(struct sim *s, const struct phase *p, int n, int l, int icount);
