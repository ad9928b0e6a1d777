/* ckpt/source_hdf5: HDF5 checkpoints as sources. They hold the conserved variables, which go through as they are. */
#include <string.h>

#include "base/mem.h"
#include "ckpt/hdf5_read.h"
#include "ckpt/source.h"

struct reading {
    const struct source *s;
    source_octs_fn *octs;
    source_parts_fn *parts;
    void *ctx;
    int8_t *family;
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
        FAIL(ERR_LIMIT, "%s: has %d gas variables; 5 to %d can be read", s->path, r->nhydro, NVAR_MAX);
    return source_set_rest(s, r);
}

static void close_hdf5(struct source *s)
{
    struct ramses *r = s->impl;
    ramses_close(&r);
    s->impl = NULL;
}

static enum err give_octs(const struct ramses *r, const struct ramses_octs *in, void *ctx)
{
    struct reading *g = ctx;
    struct source_octs o = {
        .level = in->level, .n = in->n, .key = in->key, .split = in->split, .flag = in->flag, .val = in->val};
    return g->octs(&o, g->ctx);
}

static enum err octs_hdf5(struct source *s, int piece, bool values, source_octs_fn *fn, void *ctx)
{
    struct reading g = {.s = s, .octs = fn, .ctx = ctx};
    ((struct ramses *)s->impl)->pick = s->pick;
    return hdf5_read_octs(s->impl, piece + 1, values, true, give_octs, &g);
}

static enum err give_parts(const struct ramses *r, const struct ramses_parts *p, void *ctx)
{
    struct reading *g = ctx;
    struct source_parts o = {.n = p->n,
                             .m = ramses_f64(r, p, COL_MASS),
                             .birth = ramses_f64(r, p, COL_BIRTH),
                             .metal = ramses_f64(r, p, COL_METAL),
                             .id = ramses_i64(r, p, COL_ID),
                             .level = ramses_i64(r, p, COL_LEVEL),
                             .tag = ramses_i64(r, p, COL_TAG),
                             .family = g->family};
    for (int d = 0; d < 3; d++) {
        o.x[d] = ramses_f64(r, p, COL_X + d);
        o.v[d] = ramses_f64(r, p, COL_VX + d);
    }
    source_give_extra(g->s, p, &o);
    for (int64_t i = 0; i < p->n; i++) g->family[i] = (int8_t)ramses_family(r, p, i);
    return g->parts(&o, g->ctx);
}

static enum err parts_hdf5(struct source *s, int piece, source_parts_fn *fn, void *ctx)
{
    struct reading g = {.s = s, .parts = fn, .ctx = ctx, .family = mem_new(RAMSES_PART_BATCH, "snapshot batch")};
    ((struct ramses *)s->impl)->pick = s->pick;
    enum err err = hdf5_read_parts(s->impl, piece + 1, give_parts, &g);
    FREE(g.family);
    return err;
}

static enum err text_hdf5(struct source *s, const char *name, char **text, size_t *bytes)
{
    return ramses_read_text(s->impl, name, text, bytes);
}

const struct source_kind source_hdf5 = {.name = "HDF5",
                                        .is = hdf5_is,
                                        .open = open_hdf5,
                                        .close = close_hdf5,
                                        .octs = octs_hdf5,
                                        .parts = parts_hdf5,
                                        .text = text_hdf5};
