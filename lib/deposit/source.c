/* deposit/source: smoothed particles as an octree with gas (deposit.h), so that all programs for
 * octrees read them, and a run on an octree can start from them.
 *
 * Positions are counted from the corner of the cube. Open space ends with outflow. Octs are found
 * when the checkpoint is opened, their values when they are first asked for. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "ckpt/gas.h"
#include "ckpt/source.h"
#include "deposit/particles.h"

enum { CELL_ROWS = 8 * DEPOSIT_VALUES };

struct tree {
    struct deposit_particles *s;
    struct deposit *d;
    double *batch, *tile; /* [CELL_ROWS][CKPT_PITCH], [CELL_ROWS][GAS_TILE] */
    const double *val[CELL_ROWS];
    unsigned char split[CKPT_BATCH], flag[CKPT_BATCH][8];
};

/* ---- opening ---- */

static enum err open_tree(struct source *s)
{
    struct tree *t = s->impl = mem_zero(sizeof *t, "snapshot");
    struct ckpt_head h;
    TRY(deposit_open(s->path, &t->s));
    TRY(err_about(deposit_new(&t->s->gas, &t->s->cube, 0, LEVEL_MAX - 1, &t->d), s->path));
    deposit_head(t->s, &h);
    h.levelmin = t->d->levelmin, h.levelmax = t->d->levelmax;
    t->batch = mem_new(sizeof(double) * CELL_ROWS * CKPT_PITCH, "snapshot batch");
    t->tile = mem_new(sizeof(double) * CELL_ROWS * GAS_TILE, "snapshot batch");
    for (int k = 0; k < CELL_ROWS; k++) t->val[k] = t->batch + (size_t)k * CKPT_PITCH;
    TRY(source_running(s, &h, 1));
    s->by_rank = false;
    s->number = t->s->in->number;
    snprintf(s->format, sizeof s->format, "%s, as an octree", t->s->in->kind);
    snprintf(s->ordering, sizeof s->ordering, "hilbert");
    if (t->s->head->nsink) snprintf(s->left_out, sizeof s->left_out, "point masses");
    for (int l = 1; l <= t->d->levelmax; l++) s->numbtot[l] = t->d->level[l].n;
    return OK;
}

static void close_tree(struct source *s)
{
    struct tree *t = s->impl;
    if (!t) return;
    deposit_free(&t->d);
    deposit_close(&t->s);
    FREE(t->batch);
    FREE(t->tile);
    FREE(s->impl);
}

/* ---- octs ---- */

/* Converts the batch to primitive variables, as in files. */
static void make_primitive(struct source *s, int n)
{
    struct tree *t = s->impl;
    const struct gas_equation g = {DEPOSIT_VALUES, s->head.gamma, s->head.smallr, NULL};
    for (int at = 0; at < n; at += GAS_TILE) {
        const int k = n - at < GAS_TILE ? n - at : GAS_TILE;
        for (int c = 0; c < 8; c++) {
            const double *u[DEPOSIT_VALUES];
            double *prim[DEPOSIT_VALUES];
            for (int v = 0; v < DEPOSIT_VALUES; v++) {
                prim[v] = t->batch + (size_t)(8 * v + c) * CKPT_PITCH + at;
                u[v] = memcpy(t->tile + (8 * v + c) * GAS_TILE, prim[v],
                              sizeof *prim[v] * (size_t)k);
            }
            gas_primitive(&g, k, u, prim);
        }
    }
}

static void fill_values(struct tree *t, const struct deposit_level *l, int64_t first, int n)
{
    for (int v = 0; v < DEPOSIT_VALUES; v++)
        for (int c = 0; c < 8; c++) {
            double *out = t->batch + (size_t)(8 * v + c) * CKPT_PITCH;
            for (int i = 0; i < n; i++) out[i] = l->value[8 * (first + i) + c][v];
        }
}

static void fill_tree(struct tree *t, const struct deposit_level *l, int64_t first, int n)
{
    for (int i = 0; i < n; i++) {
        unsigned split = 0;
        for (int c = 0; c < 8; c++) split |= (unsigned)(l->child[8 * (first + i) + c] >= 0) << c;
        t->split[i] = (unsigned char)split;
        for (int c = 0; c < 8; c++) t->flag[i][c] = split >> c & 1;
    }
}

static enum err hand(struct source *s, enum source_mode mode, int level, int64_t first, int n,
                     source_octs_fn *fn, void *ctx)
{
    struct tree *t = s->impl;
    const struct deposit_level *l = &t->d->level[level];
    const okey *key = l->key + first;
    if (s->pick && !s->pick->octs(s->pick->ctx, level, n, key)) return OK;
    fill_tree(t, l, first, n);
    if (mode != SOURCE_TREE) fill_values(t, l, first, n);
    if (mode == SOURCE_STORED) make_primitive(s, n);
    const struct source_octs o = {.level = level,
                                  .n = n,
                                  .key = key,
                                  .split = t->split,
                                  .flag = (const unsigned char(*)[8])t->flag,
                                  .val = mode == SOURCE_TREE ? NULL : t->val};
    return fn(&o, ctx);
}

static enum err read_octs(struct source *s, int piece, enum source_mode mode, source_octs_fn *fn,
                          void *ctx)
{
    struct tree *t = s->impl;
    if (mode != SOURCE_TREE && !t->d->level[1].value) deposit_fill(t->d, &t->s->gas);
    for (int l = 1; l <= t->d->levelmax; l++)
        for (int64_t i = 0; i < t->d->level[l].n; i += CKPT_BATCH) {
            const int64_t rest = t->d->level[l].n - i;
            TRY(hand(s, mode, l, i, rest < CKPT_BATCH ? (int)rest : CKPT_BATCH, fn, ctx));
        }
    return OK;
}

static enum err read_parts(struct source *s, int piece, source_parts_fn *fn, void *ctx)
{
    return OK;
}

/* ---- the rest ---- */

static enum err tree_state(struct source *s)
{
    s->values = s->fields;
    source_count_state(s);
    return OK;
}

/* The history alone: the parameters are those of another solver. */
static enum err read_text(struct source *s, enum files_kind k, char **text, size_t *bytes)
{
    const struct tree *t = s->impl;
    *text = NULL, *bytes = 0;
    struct sphfile *f = t->s->in->file;
    return k == FILES_HISTORY && f ? sphfile_text(f, true, text, bytes) : OK;
}

const struct source_kind sph_kind = {.name = "smoothed particles",
                                     .is = sphfile_either_is,
                                     .open = open_tree,
                                     .close = close_tree,
                                     .octs = read_octs,
                                     .parts = read_parts,
                                     .state = tree_state,
                                     .text = read_text};
