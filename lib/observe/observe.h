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
 * with the same state; at the start of every coarse step, after an output if there is one. */
enum { OBSERVE_WITHIN = 1, OBSERVE_OUTPUT = 2, OBSERVE_STEP = 4 };
enum { OBSERVE_FILES = 8 };

struct clumps;

/* State of a run; all pointers are lent. */
struct observation {
    const struct params *par;
    const struct comm *comm;
    const struct mesh *mesh;
    const struct parts *parts;
    const struct ckpt_head *head; /* header as in an output: times, cosmology, units */
    const char *dir;              /* directory of outputs */
    int number; /* number of the output; at a coarse step: number of the next output */
    /* Finds clumps by &CLUMPFIND_PARAMS in the run `owner`. *out: clumps_free. (collective) */
    enum err (*find_clumps)(void *owner, struct clumps *out);
    void *owner;
    /* This rank's files of the checkpoint so far, with OBSERVE_WITHIN (text: mem_free). */
    struct ckpt_file file[OBSERVE_FILES];
    int nfile;
};

struct observer {
    const char *name; /* name, also in the log's table of timers */
    bool (*wanted)(const struct params *p);
    int when;
    /* Whether the observer is due after the coarse step that began at head->t − dtold[levelmin].
     * Equal on all ranks; NULL: always due. */
    bool (*due)(const struct observation *o);
    field_set reads; /* sets of fields required on the host; ghosts may be stale */
    /* Table that the observer writes next to an output: it is written again if it is missing when a
     * run resumes from that output. FILES_KINDS: no table. */
    enum files_kind table;
    enum err (*run)(struct observation *o); /* (collective, agreed) */
};

typedef uint64_t observer_set; /* set of observers, bit i: row i of observers.def */

/* Observers that the run wants at this occasion, OBSERVE_…, and those that are due, too. */
observer_set observers_wanted(const struct params *p, int when);
observer_set observers_due(const struct observation *o, int when);
/* Observers of outputs whose tables of output o->number are missing. (collective) */
observer_set observers_missing(const struct observation *o);
field_set observers_read(observer_set set);
MUST_USE enum err observers_run(struct observation *o, observer_set set); /* (collective, agreed) */
/* The state as a checkpoint of it would be read: each rank can read its own piece (observe/live).
 * The caller closes it. (collective, agreed) */
MUST_USE enum err observe_source(const struct observation *o, struct source **out);
/* Path of a table of output o->number. */
MUST_USE enum err observe_path(const struct observation *o, enum files_kind k, char path[PATH_MAX]);
