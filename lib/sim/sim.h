/* sim: one run. The order of a step is in step.c: start there. */
#pragma once
#include "sim/octree.h"
#include "sim/run.h"

/* Sums over the state at the start of a coarse step (docs/method/step.md). */
struct totals {
    double mass, ekin, eint, epot, emag;
    double momentum[3];
};

/* Time of the run, and time steps of its levels. */
struct sim_time {
    double t, aexp, hexp;
    double dtold[LEVEL_MAX + 2], dtnew[LEVEL_MAX + 2];
    /* growth of a magnetic field by the expansion in the step of a level so far, and in the first
     * step of the finer level within it */
    double growth[LEVEL_MAX + 2], growth_first[LEVEL_MAX + 2];
    int nstep, nstep_coarse; /* number of fine steps; number of coarse steps */
    int nsubcycle[LEVEL_MAX + 2];
    struct sim_minima min;
};

/* Conserved quantities, summed on this rank until the time step of the finest level. */
struct sim_diag {
    bool counting; /* first descent of the coarse step, in which every level is visited once */
    struct sum_totals {
        struct sum mass, ekin, eint, epot, emag, momentum[3];
    } sum;
    double divb; /* maximum of |div B| dx / |B|, of this rank, then of all */
    double mass_tot_0, einit, epot_tot_old, epot_tot_int, aexp_old;
    int nstep_last; /* coarse step of the last report */
    int64_t particles;
    int64_t lost; /* particles that left a box with boundaries */
};

enum { SIM_SUMS = sizeof(struct sum_totals) / sizeof(struct sum) };

/* Switches for tests, and for additional checks. */
struct sim_check {
    bool ghosts;      /* value of run_params/check_ghosts */
    const char *skip; /* name of a phase to skip, for tests; NULL: none */
    /* delay of this rank per own oct in phase godunov, seconds, for tests; 0: none */
    double delay;
};

struct sim {
    const struct params *par; /* lent by the caller */
    struct comm comm;
    struct mesh mesh;
    struct domain *dom;
    struct parts parts;
    struct sim_time time;
    struct sim_run run;
    struct sim_amr amr;
    struct sim_physics phys;
    struct sim_diag diag;
    struct sim_device device;
    struct sim_check check;
};

/* Builds the initial state from parameters and initial conditions. (collective) */
MUST_USE enum err sim_start(struct sim *s, struct params *par, const struct comm *c);
/* forecast.c: after sim_start with s->run.expect: memory and time of the run on `ranks` ranks, as
 * messages and, with s->run.cost.profile_path, a line of JSON. like: profile of an earlier run, for
 * the time per update; NULL: time from the checkpoint, or from docs/performance.md. (collective) */
MUST_USE enum err sim_forecast(struct sim *s, int ranks, const char *like);
/* Runs to the end; finished checkpoints are announced. (collective) */
MUST_USE enum err sim_run(struct sim *s);
void sim_fini(struct sim *s);
/* Installs handlers of SIGTERM, SIGINT, SIGUSR1, SIGUSR2: finish the step, write, stop with status
 * 75. */
void sim_catch_signals(void);
