/* phys/term: source terms, the place for cooling, star formation, feedback, black holes.
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
#include "part/part.h"
#include "phys/units.h"

struct cooldev;

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
    struct cooldev *cooldev;       /* NULL: none (cooldev/cooldev.h) */
    const struct cosmo *history;   /* NULL without cosmology */
    const struct yields *yields;   /* NULL: none (phys/yields.h) */
    double coarse_dt;              /* of the coarse step under way */
    double mass_sph;               /* unit of m_star */
    struct units units;            /* at aexp */
    int nstep;  /* fine steps so far: with a key, the counter of random numbers */
    bool check; /* check what terms declare */
};

struct term {
    const char *name; /* also in the log's table of timers */
    int stages;
    bool (*wanted)(const struct params *p);
    field_set reads, ghosts, writes;
    /* *changed is false on entry; true if this rank changed anything. Collective: called by all
     * ranks. */
    enum err (*apply)(const struct term_run *r, bool *changed);
    /* `apply` where the gas is on a device; fields that it writes stay there. An error: nothing has
     * changed, and the device lacks memory, or it failed. Local. NULL: none. */
    enum err (*there)(const struct term_run *r);
    /* With `there`: what of these parameters has no kernel, as the subject of a sentence, or NULL.
     */
    const char *(*lacks)(const struct params *p);
};

/* Does the run have a term of this stage? */
bool terms_wanted(const struct params *p, int stage);
/* As term.lacks: what of the stage cannot run on a device; and the stage there. */
const char *terms_lack(const struct params *p, int stage);
MUST_USE enum err terms_run_there(const struct term_run *r);
/* Runs those of the stage in the order of the table; *wrote: what any rank changed. (collective)
 * wrote NULL: without messages, where terms_lack says that other ranks may run them on devices. */
MUST_USE enum err terms_run(const struct term_run *r, field_set *wrote);
/* terms_run with a table of the caller's, for tests. */
MUST_USE enum err terms_run_list(const struct term_run *r, const struct term *const *list, int n,
                                 field_set *wrote);
