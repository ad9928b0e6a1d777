/* curamses/source: HDF5 checkpoints as sources. They hold the conserved variables, which go through
 * as they are. */
#include <limits.h>
#include <string.h>

#include "base/mem.h"
#include "ckpt/source.h"
#include "curamses/read.h"

struct reading {
    source_octs_fn *octs;
    void *ctx;
};

static enum err open_hdf5(struct source *s)
{
    struct ramses *r;
    TRY(ramses_open(s->path, &r));
    s->impl = r;
    s->head = r->head;
    s->format = r->format;
    s->number = r->number;
    s->npiece = r->ncpu;
    s->nvalue = r->nhydro + r->ngrav;
    s->exact = true;
    s->state = hdf5_has_state(r);
    memcpy(s->ordering, r->ordering, sizeof s->ordering);
    if (r->nhydro > NVAR_MAX)
        FAIL(ERR_LIMIT, "%s: has %d gas variables; 5 to %d can be read", s->path, r->nhydro,
             NVAR_MAX);
    return source_set_rest(s, r);
}

static enum err give_octs(const struct ramses *r, const struct ramses_octs *in, void *ctx)
{
    struct reading *g = ctx;
    char file[PATH_MAX];
    ramses_file(r, "hydro", in->file, file);
    struct source_octs o = {.level = in->level,
                            .n = in->n,
                            .file = file,
                            .key = in->key,
                            .split = in->split,
                            .flag = in->flag,
                            .val = in->val};
    return g->octs(&o, g->ctx);
}

static enum err octs_hdf5(struct source *s, int piece, bool values, source_octs_fn *fn, void *ctx)
{
    struct reading g = {fn, ctx};
    ((struct ramses *)s->impl)->pick = s->pick;
    return hdf5_read_octs(s->impl, piece + 1, values, true, give_octs, &g);
}

const struct source_kind source_hdf5 = {.name = "HDF5",
                                        .is = hdf5_is,
                                        .open = open_hdf5,
                                        .close = source_files_close,
                                        .octs = octs_hdf5,
                                        .parts = source_files_parts,
                                        .text = source_files_text};
