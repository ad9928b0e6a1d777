/* observe/clumps: tables of clumps and of the halos that consist of them, in each checkpoint
 * (clumpfind), in RAMSES's format. */
#include "clump/clump.h"

#include "observe/observe.h"
#include "oct/field_sets.h"

static bool wanted(const struct params *p)
{
    return p->run.clumpfind;
}

static enum err run(struct observation *o)
{
    static const enum files_kind kind[2] = {FILES_CLUMPS, FILES_CLUMP_HALOS};
    struct clumps k;
    TRY(o->find_clumps(o->owner, &k));
    for (int i = 0; i < (k.has_halos ? 2 : 1); i++) {
        struct ckpt_file *f = &o->file[o->nfile++];
        f->kind = kind[i];
        f->text = clump_text(&k, i == 1, &f->bytes);
    }
    clumps_free(&k);
    return OK;
}

const struct observer observer_clumps = {.name = "clumps",
                                         .wanted = wanted,
                                         .when = OBSERVE_WITHIN,
                                         .reads = GAS | PARTS,
                                         .table = FILES_KINDS,
                                         .run = run};
