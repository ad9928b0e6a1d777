#include "out/publish.h"

#include <string.h>
#include <unistd.h>

#include "io/dir.h"

static enum err begin(struct ckpt_out *o, struct out_pending *p)
{
    TRY(manifest_write(o->list, o->c, o->tmp, o->output, &p->sync));
    if (o->c->rank == 0) TRY(sync_dir(&p->sync, o->tmp));
    return sync_begin(&p->sync);
}

enum err out_hand_over(struct ckpt_out *o, struct out_pending *p, enum err err)
{
    if (err == OK) err = err_agree(o->c, begin(o, p));
    if (err != OK) {
        sync_fini(&p->sync);
        if (o->c->rank == 0) out_drop(o->tmp, &o->lock, err);
        return err;
    }
    p->pending = true;
    memcpy(p->tmp, o->tmp, sizeof p->tmp);
    memcpy(p->final, o->final, sizeof p->final);
    p->lock = o->lock;
    return OK;
}

bool out_is_done(struct out_pending *p)
{
    return !p->pending || sync_is_done(&p->sync);
}

enum err out_publish(struct out_pending *p, const struct comm *c)
{
    bool root = c->rank == 0;
    if (!p->pending) return OK;
    p->pending = false;
    enum err err = err_agree(c, sync_wait(&p->sync));
    p->seconds = sync_seconds(&p->sync);
    sync_fini(&p->sync);
    if (err == OK) err = err_agree(c, root ? dir_replace(p->tmp, p->final) : OK);
    if (err != OK && root) out_drop(p->tmp, &p->lock, err);
    if (p->lock >= 0) close(p->lock);
    p->lock = -1;
    return err;
}
