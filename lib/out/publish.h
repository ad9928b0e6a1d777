/* out/publish: a checkpoint that the system has whole and the disk not yet. Its directory has a
 * temporary name, and its files are synced on a thread beside (io/sync_async) while the run
 * continues. When all ranks' files are on disk it is published: it gets its name. */
#pragma once
#include "io/sync_async.h"
#include "out/out.h"

struct out_pending {
    bool there;                  /* else there is nothing to publish */
    char tmp[4000], final[4000]; /* of the directory, without and with its name */
    int lock;                    /* on tmp, rank 0; else −1 */
    struct sync_async sync;      /* the files of this rank */
    double seconds;              /* seconds of the syncs, once it is published */
};

/* Ends the writing of o, whose files were given to p->later: adds the list of checksums, and the
 * disk begins. err: agreed, of the writing so far; after an error nothing remains. (collective,
 * agreed) */
MUST_USE enum err out_hand_over(struct ckpt_out *o, struct out_pending *p, enum err err);
/* Have all files of this rank been synced, or has one failed? Does not wait. */
bool out_is_done(struct out_pending *p);
/* Waits for the disk, then tmp becomes final. After an error nothing of the checkpoint
 * remains, and an older one of this name is unchanged. Nothing there: OK. (collective, agreed) */
MUST_USE enum err out_publish(struct out_pending *p, const struct comm *c);
