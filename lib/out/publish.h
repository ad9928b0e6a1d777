/* out/publish: publishes a checkpoint in the background. Its directory has a temporary name, and
 * its files are synced on a second thread (io/sync_async) while the run continues. When all ranks'
 * files are on disk the directory gets its final name. */
#pragma once
#include "io/sync_async.h"
#include "out/out.h"

struct out_pending {
    bool pending;                /* whether a checkpoint waits for publication */
    char tmp[4000], final[4000]; /* paths of the directory: temporary, final */
    int lock;               /* descriptor that holds the lock on tmp, on rank 0; otherwise −1 */
    struct sync_async sync; /* list of the files of this rank */
    double seconds;         /* duration of the syncs in seconds, set at publication */
};

/* Ends the writing of o, whose files were added to p->sync: writes the list of checksums, and
 * starts the syncs. err: agreed result of the writing so far; after an error nothing remains.
 * (collective, agreed) */
MUST_USE enum err out_hand_over(struct ckpt_out *o, struct out_pending *p, enum err err);
/* Whether all files of this rank have been synced, or one has failed. Does not wait. */
bool out_is_done(struct out_pending *p);
/* Waits for the syncs, then renames tmp to final. After an error nothing of the checkpoint remains,
 * and an older one of this name is unchanged. OK if nothing is pending. (collective, agreed) */
MUST_USE enum err out_publish(struct out_pending *p, const struct comm *c);
