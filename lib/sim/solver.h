/* sim/solver: a solver is the laws that the time loop of run.c advances. Outputs, observers,
 * requests to stop, restarts, the clock and the log are those of the loop.
 *
 * A solver is a row of param/solvers.def, by which run_params/solver selects it, and a struct
 * solver NAME_solver in a module of its own, lib/NAME, which includes this header. Nothing of
 * lib/sim includes the module.
 *
 * Checkpoints contain the mesh and the particles of the run. A solver that works on these, as one
 * of particles alone does on s->parts, needs no more than dt, totals and step: outputs and restarts
 * follow. One with arrays of its own takes them from the mesh in setup, hands them out in source,
 * and frees them in fini; the mesh has no octs while it steps. One whose state no octree can hold
 * sets start and the functions after it: its run has no octs and no particles, and checkpoints of a
 * format of its own. */
#pragma once
#include "ckpt/source.h"
#include "sim/sim.h"

struct solver {
    const char *name; /* also in the log's table of timers */
    /* what to lower if the state is no longer finite, for messages; NULL: courant_factor */
    const char *advice;
    /* s->mesh and s->parts hold the state, that of the initial conditions (&INIT_PARAMS) or of the
     * checkpoint from which the run resumes (s->run.restart.resumed). The solver checks that it can
     * advance it, changes what it begins with, or takes what it keeps elsewhere, to s->run.own.
     * NULL: the state stays as it is. (collective, agreed) */
    enum err (*setup)(struct sim *s);
    /* A coarse step with its outputs, report and clock, of levels that have clocks of their own.
     * NULL: it is made of the functions below. (collective) */
    enum err (*coarse)(struct sim *s);
    double (*dt)(const struct sim *s); /* the longest step that this rank allows */
    void (*totals)(struct sim *s);     /* adds this rank's share to s->diag.sum */
    /* From s->time.t to s->time.t + dt. (collective, agreed) */
    enum err (*step)(struct sim *s, double dt);
    /* The octs of the state as a source of SOURCE_TREE and SOURCE_STATE, a piece a rank, on any
     * rank, each once. Before an output and before observers the loop makes the mesh of it, as a
     * restart does of a checkpoint; means of split cells above levelmin are made, too. Particles
     * stay those of s->parts. h: the header that an output has, lent until source_close. NULL: the
     * state is in the mesh. (collective, agreed) */
    enum err (*source)(struct sim *s, const struct ckpt_head *h, struct source **out);
    /* ---- solvers whose state no octree can hold; start is NULL for others ---- */
    /* The initial state, or that of the checkpoint s->run.restart.path, in s->run.own. It calls
     * sim_output_setup, then sim_output_resume and sim_history_resume in a run that resumes. With
     * s->run.expect it checks parameters and headers, and reports the memory that the run needs.
     * (collective, agreed) */
    enum err (*start)(struct sim *s);
    bool (*finite)(const struct sim *s); /* whether the state is finite (collective) */
    /* Hands a checkpoint to the system, as writer_kind.write does, to s->run.late.out. h has the
     * texts, and when outputs are due. (collective, agreed) */
    enum err (*write)(struct sim *s, const struct ckpt_head *h);
    /* Reads a checkpoint of this run back and compares all checksums. (collective, agreed) */
    enum err (*verify)(const char *path, int number, const struct comm *c);
    bool (*told)(const struct sim *s);      /* whether the log has lines of this coarse step */
    double (*updates)(const struct sim *s); /* cell updates of a coarse step, for the log */

    void (*fini)(struct sim *s); /* frees s->run.own, which may be NULL. NULL: nothing to free */
};
extern const struct solver octree_solver; /* step.c */
