/* observe: observers measure the state of a run and write what they find: halos, clumps, spectra.
 *
 * An observer is a row of observe/observers.def and a struct observer in a file of its own. It
 * changes nothing. It reads the mesh and the particles, or, as the programs do a checkpoint, the
 * source that observe/live makes of them. */
#pragma once
#include "ckpt/source.h"
#include "comm/comm.h"
#include "oct/fields.h"
#include "param/param.h"
#include "part/part.h"

/* When an observer runs: before an output, to add files to the checkpoint; after an output, of the
 * same state; at the start of every coarse step, after the output if there is one. */
enum { OBSERVE_WITHIN = 1, OBSERVE_OUTPUT = 2, OBSERVE_STEP = 4 };
enum { OBSERVE_FILES = 8 };

struct clumps;

/* The state of a run; all of it lent. */
struct observation {
    const struct params *par;
    const struct comm *comm;
    const struct mesh *mesh;
    const struct parts *parts;
    const struct ckpt_head *head; /* times, cosmology, units: the header that an output has */
    const char *dir;              /* of outputs */
    int number;                   /* of the output; at a coarse step: of the next one */
    /* Finds clumps by &CLUMPFIND_PARAMS in the run `owner`. *out: clumps_free. (collective) */
    enum err (*find_clumps)(void *owner, struct clumps *out);
    void *owner;
    /* With OBSERVE_WITHIN: this rank's files of the checkpoint so far (text: mem_free). */
    struct ckpt_file file[OBSERVE_FILES];
    int nfile;
};

struct observer {
    const char *name; /* also in the log's table of timers */
    bool (*wanted)(const struct params *p);
    int when;
    /* Has its own time come? The coarse step that has ended began at head->t − dtold[levelmin].
     * Alike on all ranks; NULL: it always has. */
    bool (*due)(const struct observation *o);
    field_set reads; /* sets of fields that must be at the host; their ghosts may be stale */
    /* The table that it writes beside an output: if it is missing when a run resumes from that
     * output, it is made up for. FILES_KINDS: none. */
    enum files_kind table;
    enum err (*run)(struct observation *o); /* (collective, agreed) */
};

typedef uint64_t observer_set; /* bit i: row i of observers.def */

/* Observers that the run wants at this occasion, OBSERVE_…, and those that are due, too. */
observer_set observers_wanted(const struct params *p, int when);
observer_set observers_due(const struct observation *o, int when);
/* Observers of outputs whose tables beside output o->number are missing. (collective) */
observer_set observers_missing(const struct observation *o);
field_set observers_read(observer_set set);
MUST_USE enum err observers_run(struct observation *o, observer_set set); /* (collective, agreed) */
/* The state as a checkpoint of it would be read: each rank can read its own piece (observe/live).
 * The caller closes it. (collective, agreed) */
MUST_USE enum err observe_source(const struct observation *o, struct source **out);
/* Path of a table of output o->number. */
MUST_USE enum err observe_path(const struct observation *o, enum files_kind k, char path[PATH_MAX]);
