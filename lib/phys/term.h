/* phys/term: source terms, the place for cooling, star formation, feedback of stars. (Sinks and
 * black holes act on tables of their own in several places of a step: they are phases, sim/step.c.)
 *
 * A term is a row of phys/terms.def and a struct term in a file of its own; phys/nothing.c is the
 * template. It runs on a level, between the last kick of the gas and the restriction, or at the
 * start of a coarse step, on all levels. It says what it reads and writes, in sets (oct/fields.h),
 * and may write:
 *
 *  - own cells: of the level, or, at a coarse step, of all levels; never ghosts;
 *  - own particles, and new ones (part_append);
 *  - other ranks' cells only by events (dom/event), which their owners apply, or by sums of
 *    integers on ghosts (ghost_add_i64), which have no order.
 *
 * What it reads in ghosts is filled before it; the gas that it leaves is restricted and sent after
 * it. With run_params/check_ghosts each term is held to what it says. */
#pragma once
#include "comm/comm.h"
#include "cosmo/cosmo.h"
#include "dom/domain.h"
#include "hydro/hydro.h"
#include "oct/fields.h"
#include "oct/gas_kern.h"
#include "oct/mirror.h"
#include "part/part.h"
#include "phys/units.h"

enum { TERM_LEVEL = 1, TERM_COARSE = 2 };

/* The arguments of a term. */
struct term_run {
    const struct params *par;
    const struct hydro_par *hydro;
    const struct comm *comm;
    const struct domain *dom;
    struct mesh *mesh;
    struct parts *parts;
    int stage;    /* TERM_LEVEL or TERM_COARSE */
    int level;    /* at a coarse step: levelmin */
    double t, dt; /* code units; dt of the level's step; at a coarse step: of the last one */
    double aexp, hexp;
    const struct cosmo_par *cosmo; /* NULL without cosmology */
    struct cooling *cooling;       /* NULL: the gas does not cool (cool/cool.h) */
    const struct cosmo *history;   /* NULL without cosmology */
    const struct yields *yields;   /* NULL: none (phys/yields.h) */
    double coarse_dt;              /* of the coarse step under way */
    double mass_sph;               /* unit of m_star */
    struct units units;            /* at aexp */
    int nstep;  /* fine steps so far: with a key, the counter of random numbers */
    bool check; /* check what terms declare */
};

/* How a term of levels runs where the gas is on a device. It reads and writes own cells alone, and
 * its `apply` is local: other ranks may run either. */
struct term_device {
    /* The part of these parameters without a kernel, as the subject of a sentence; NULL: none. */
    const char *(*lacks)(const struct params *p);
    void *(*open)(struct mirror *x); /* the context of its kernels; the mirror is lent */
    void (*close)(void *context);    /* the stream is empty */
    /* The fields that it writes stay there (mirror_wrote). An error: nothing has changed, and the
     * device lacks memory, or it failed. Local. */
    enum err (*apply)(const struct term_run *r, void *context);
};

struct term {
    const char *name; /* also in the log's tables of timers and of limits of the time step */
    int stages;
    bool (*wanted)(const struct params *p);
    field_set reads, ghosts, writes;
    /* *changed is false on entry; true if this rank changed anything. Collective: called by all
     * ranks. */
    enum err (*apply)(const struct term_run *r, bool *changed);
    const struct term_device *device; /* NULL: it runs on the CPU */
    /* The longest next step of level r->level that this rank's own cells and particles of it allow
     * (HUGE_VAL: any); r->dt is that of the last one. At the host, where the fields of `reads` are.
     * Local. NULL: no limit. */
    double (*limit)(const struct term_run *r);
};

/* Terms in the order in which they run. */
struct term_list {
    const struct term *const *at;
    int n;
};
extern const struct term_list TERMS; /* phys/terms.def */

/* Does the run have a term of this stage? */
bool terms_wanted(const struct params *p, int stage);
/* The fields that the terms of a stage read or write. */
field_set terms_fields(const struct params *p, int stage);
/* Runs the terms of the stage, of the list from number `first` on; *wrote: the fields that any rank
 * changed. (collective) wrote NULL: they are not known, and no message is sent for them. */
MUST_USE enum err terms_run(const struct term_list *t, int first, const struct term_run *r,
                            field_set *wrote);

/* Does a term limit the step of levels? */
bool term_limits(const struct params *p, const struct term *t);

/* The terms of levels of a run on a device, each with its context. */
struct terms_dev;
/* The list and the mirror are lent. NULL: *lacks cannot run there, and none does. */
struct terms_dev *terms_dev_new(const struct term_list *t, const struct params *p, struct mirror *x,
                                const char **lacks);
void terms_dev_free(struct terms_dev **d); /* the stream is empty */
/* Runs them all. An error: term number *next of the list, and those after it, have changed nothing.
 * Local. */
MUST_USE enum err terms_dev_run(struct terms_dev *d, const struct term_run *r, int *next);
