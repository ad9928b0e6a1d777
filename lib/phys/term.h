/* phys/term: source terms: cooling, star formation, feedback of stars. (Sinks and black holes act
 * on tables of their own at several points of a step: they are phases, sim/step.c.)
 *
 * A term is a row of phys/terms.def and a struct term in a file of its own; phys/nothing.c is the
 * template. It runs on a level, between the last kick of the gas and the restriction, or at the
 * start of a coarse step, on all levels. It declares the sets that it reads and writes
 * (oct/fields.h), and may write:
 *
 *  - own cells: of the level, or, at a coarse step, of all levels; never ghosts;
 *  - own particles, and new ones (part_append);
 *  - other ranks' cells only by events (dom/event), which their owners apply, or by integer sums
 *    on ghosts (ghost_add_i64), whose result does not depend on their order.
 *
 * Ghosts that a term reads are filled before it runs; gas that it writes is restricted and sent
 * afterwards. With run_params/check_ghosts the declarations of each term are checked. */
#pragma once
#include "comm/comm.h"
#include "cosmo/cosmo.h"
#include "dom/domain.h"
#include "hydro/hydro.h"
#include "oct/fields.h"
#include "oct/gas_kern.h"
#include "oct/mirror.h"
#include "part/part_dev.h"
#include "phys/units.h"

enum { TERM_LEVEL = 1, TERM_COARSE = 2 };

/* Arguments of a term. */
struct term_run {
    const struct params *par;
    const struct hydro_par *hydro;
    const struct comm *comm;
    const struct domain *dom;
    struct mesh *mesh;
    struct parts *parts;
    int stage;    /* TERM_LEVEL or TERM_COARSE */
    int level;    /* level; at a coarse step: levelmin */
    double t, dt; /* code units; dt: step of the level, at a coarse step the last coarse step */
    double aexp, hexp;
    const struct cosmo_par *cosmo; /* parameters; NULL without cosmology */
    struct cooling *cooling;       /* cool/cool.h; NULL: the gas does not cool */
    const struct cosmo *history;   /* expansion history; NULL without cosmology */
    const struct yields *yields;   /* phys/yields.h; NULL: no table */
    struct star_ledger *ledger;    /* phys/stars.h; NULL: not kept */
    double coarse_dt;              /* current coarse step */
    double mass_sph;               /* unit of mass of m_star */
    struct units units;            /* units at aexp */
    int nstep;  /* number of fine steps so far; with a key, the counter of random numbers */
    bool check; /* whether declarations of terms are checked */
    /* for sparse terms: where fields and particles may be on a device; NULL: on the host */
    struct mirror *mirror;
    struct part_dev *few;
};

/* Device version of a term of levels. It reads and writes own cells alone, and its `apply` is
 * local: other ranks may run either version. */
struct term_device {
    /* Part without a kernel for these parameters, as the subject of a sentence; NULL: none. */
    const char *(*lacks)(const struct params *p);
    void *(*open)(struct mirror *x); /* opens the context of its kernels; the mirror is lent */
    void (*close)(void *context);    /* the stream must be empty */
    /* Runs the kernels; fields that are written stay on the device (mirror_wrote). After an error
     * nothing has changed: the device lacks memory, or it failed. Local. */
    enum err (*apply)(const struct term_run *r, void *context);
};

struct term {
    const char *name; /* name, also in the log's tables of timers and of limits of the time step */
    int stages;
    bool (*wanted)(const struct params *p);
    field_set reads, ghosts, writes;
    /* Runs the term. *changed is false on entry, and set to true if this rank changed anything.
     * (collective: all ranks call it) */
    enum err (*apply)(const struct term_run *r, bool *changed);
    const struct term_device *device; /* device version; NULL: host only */
    /* `apply` works where fields and particles are, by sparse/rows.h and part/part_dev.h, if the
     * run gives a mirror: it brings the rows that it needs and sends what it changes. Such a term
     * has no `ghosts`, which would be filled from the host's rows. */
    bool sparse;
    /* Maximum next step of level r->level for this rank's own cells and particles of that level
     * (HUGE_VAL: any); r->dt is the last step. Runs on the host, where the fields of `reads` are.
     * Local. NULL: no limit. */
    double (*limit)(const struct term_run *r);
};

/* Terms in the order in which they run. */
struct term_list {
    const struct term *const *at;
    int n;
};
extern const struct term_list TERMS; /* terms of phys/terms.def */
int terms_early(void);               /* number of those that come before radiation, the first */

/* Whether the run has a term of this stage. */
bool terms_wanted(const struct params *p, int stage);
/* Runs the terms of the stage from number `first` of the list on; *wrote: fields that any rank
 * changed. (collective) wrote NULL: these fields are not needed, which saves a message. */
MUST_USE enum err terms_run(const struct term_list *t, int first, const struct term_run *r,
                            field_set *wrote);

/* Whether a term limits the step of levels. */
bool term_limits(const struct params *p, const struct term *t);

/* Terms of levels of a run on a device, each with its context. */
struct terms_dev;
/* Opens all terms that have kernels; the list and the mirror are lent. *lacks: a term that has none
 * and is not sparse, which copies whole fields; NULL: none is. */
struct terms_dev *terms_dev_new(const struct term_list *t, const struct params *p, struct mirror *x,
                                const char **lacks);
void terms_dev_free(struct terms_dev **d); /* the stream must be empty */
/* Whether the run has term number i at the stage of r. */
bool term_runs(const struct term_list *t, int i, const struct term_run *r);
/* Runs term number i, if it has kernels: *done. On error nothing has changed. Local. */
MUST_USE enum err terms_dev_run(struct terms_dev *d, const struct term_run *r, int i, bool *done);
