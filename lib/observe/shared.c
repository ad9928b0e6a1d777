/* observe/shared: what observers have in common: names of tables, the clumps of a state. */
#include "base/mem.h"
#include "clump/clump.h"
#include "observe/observe.h"

enum err observe_path(const struct observation *o, enum files_kind table, enum files_kind step,
                      char path[PATH_MAX])
{
    if (o->when != OBSERVE_STEP) return files_path(o->dir, table, o->number, 0, path);
    return files_path(o->dir, step, (int)o->head->nstep_coarse, 0, path);
}

enum err observe_clumps(struct observation *o, const struct clumps **out)
{
    *out = o->found;
    if (o->found) return OK;
    struct clumps *k = mem_zero(sizeof *k, "clumps");
    enum err err = o->find_clumps(o->owner, k);
    if (err == OK)
        *out = o->found = k;
    else
        FREE(k);
    return err;
}
