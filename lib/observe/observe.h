/* observe: observers measure the state of a run and write the results: halos, clumps, spectra.
 *
 * An observer is a row of observe/observers.def and a struct observer in a file of its own.
 * Observers do not change the state. They read the mesh and the particles, or the source of
 * observe/live, in the same way as programs read a checkpoint. */
#pragma once
#include "ckpt/source.h"
#include "comm/comm.h"
#include "oct/fields.h"
#include "param/param.h"
#include "part/part.h"

/* Times at which observers run: before an output, to add files to the checkpoint; after an output,
 * with the same state; at the start of every coarse step, after an output if there is one; at the
 * start of the coarse step at which a run resumes, which the run before has begun, too; at the
 * start of every step of any level, before an output. */
enum {
    OBSERVE_WITHIN = 1,
    OBSERVE_OUTPUT = 2,
    OBSERVE_STEP = 4,
    OBSERVE_ENTRY = 8,
    OBSERVE_RESUME = 16
};
enum { OBSERVE_FILES = 16 };

struct clumps;
struct movie_run;

/* The cost of an observer to a run: calls, and seconds of this rank. */
struct observer_cost {
    int64_t calls;
    double seconds;
};
enum { OBSERVERS_MAX = 64 };

/* State of a run; all pointers are lent. */
struct observation {
    const struct params *par;
    const struct comm *comm;
    const struct mesh *mesh;
    const struct parts *parts;
    /* The particles, for observers with columns of their own: they may set those. */
    struct parts *own;
    const struct ckpt_head *head; /* header as in an output: times, cosmology, units */
    const char *dir;              /* directory of outputs */
    int number; /* number of the output; at a coarse step: number of the next output */
    int when;   /* OBSERVE_…; set by the run */
    /* Finds clumps by &CLUMPFIND_PARAMS in the run `owner`. *out: clumps_free. (collective) */
    enum err (*find_clumps)(void *owner, struct clumps *out);
    void *owner;
    struct clumps
        *found; /* clumps of this state, once an observer has found them (observe_clumps) */
    /* Directory of the last complete output, or of the checkpoint that the run resumed from; "":
     * none. */
    const char *last;
    struct movie_run *movie; /* NULL: the run draws none (movie/frame.h) */
    /* This rank's files of the checkpoint so far, with OBSERVE_WITHIN (text: mem_free). */
    struct ckpt_file file[OBSERVE_FILES];
    int nfile;
    struct ckpt_tags tags;      /* the same: clumps of its particles (id, clump: mem_free) */
    struct observer_cost *cost; /* [OBSERVERS_MAX] by row; NULL: not measured */
};

struct observer {
    const char *name; /* name, also in the log's table of timers */
    bool (*wanted)(const struct params *p);
    int when;
    /* Whether the observer is due after the coarse step that began at head->t − dtold[levelmin].
     * Equal on all ranks; NULL: always due. */
    bool (*due)(const struct observation *o);
    /* Coarse steps between tables of steps, besides those of outputs; 0, or NULL: none. */
    int (*every)(const struct params *p);
    field_set reads; /* sets of fields required on the host; ghosts may be stale */
    /* Table that the observer writes next to an output: it is written again if it is missing when a
     * run resumes from that output. FILES_KINDS: no table. */
    enum files_kind table;
    enum files_kind step_table; /* with `every`: name of the table of a step */
    /* Checks what the observer will read from the checkpoint o->last that the run resumes from, on
     * rank 0; NULL: nothing. */
    enum err (*check)(const struct observation *o);
    enum err (*run)(struct observation *o); /* (collective, agreed) */
};

typedef uint64_t observer_set; /* set of observers, bit i: row i of observers.def */

/* Observers that the run wants at this occasion, OBSERVE_…, and those that are due, too. */
observer_set observers_wanted(const struct params *p, int when);
observer_set observers_due(const struct observation *o, int when);
/* Observers of outputs whose tables of output o->number are missing. (collective) */
observer_set observers_missing(const struct observation *o);
/* Lets the observers that the run wants check the checkpoint from which it resumes. (collective,
 * agreed) */
MUST_USE enum err observers_check(const struct observation *o);
field_set observers_read(observer_set set);
MUST_USE enum err observers_run(struct observation *o, observer_set set); /* (collective, agreed) */
/* The state as a checkpoint of it would be read: each rank can read its own piece (observe/live).
 * The caller closes it. (collective, agreed) */
MUST_USE enum err observe_source(const struct observation *o, struct source **out);
/* Path of a table of output o->number, or of one of a coarse step. */
MUST_USE enum err observe_path(const struct observation *o, enum files_kind table,
                               enum files_kind step, char path[PATH_MAX]);
/* Logs the cost of each observer that has run; seconds: of the whole run. */
void observers_report(const struct observer_cost cost[OBSERVERS_MAX], double seconds);
/* The clumps of this state, found once for all observers; lent until observers_run returns.
 * (collective, agreed) */
MUST_USE enum err observe_clumps(struct observation *o, const struct clumps **out);
/* The movie of a run that has what `has` says; *out stays NULL if the run draws none. The caller
 * frees it (FREE). */
struct movie_kinds;
MUST_USE enum err observe_movie(const struct params *p, const struct movie_kinds *has,
                                struct movie_run **out);
