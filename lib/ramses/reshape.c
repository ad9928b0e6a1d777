/* ramses/reshape: writes the files of one target rank after another from the temporary files.
 *
 * The tree of a rank, own octs and copies, becomes a mesh without fields. The writers of RAMSES
 * files do the rest, and fetch the spilled values of each oct. Consecutive octs were mostly close
 * together in the input: they are fetched in runs. */
#include <omp.h>

#include "base/mem.h"
#include "ramses/out.h"
#include "ramses/write.h"

/* Buffers lent to the writer of a file. */
struct lent {
    double (*row)[8]; /* [CKPT_BATCH][values] */
    lidx *line;
    struct oct_ref *some;
};

struct target {
    struct rewrite *w;
    int number, threads;
    struct mesh m;
    struct oct_ref *ref[LEVEL_MAX + 2];  /* [noct] locations of spilled values */
    unsigned char *split[LEVEL_MAX + 2]; /* [nown] masks of split cells */
    struct lent lent[LINES_KINDS];       /* several files may be written at the same time */
    double *column;                      /* [CKPT_BATCH] column of particles */
};

static enum err write_target(struct rewrite *w, int number, int threads);
static enum err check_room(const struct rewrite *w, int first, int last, int *targets, int *files);

enum err ramses_rewrite(struct rewrite *w)
{
    int first = (int)((int64_t)w->ntarget * w->c->rank / w->c->size),
        last = (int)((int64_t)w->ntarget * (w->c->rank + 1) / w->c->size), targets, files;
    enum err err = w->c->rank == 0 ? out_texts(&w->o) : OK;
    struct err_first trouble = {.err = OK};
    if (err == OK) err = check_room(w, first, last, &targets, &files);
    if (err != OK) return err_agree(w->c, err);
#pragma omp parallel for schedule(dynamic, 1) num_threads(targets) if (targets > 1)
    for (int t = first; t < last; t++)
        if (err_restore(&trouble) == OK) err_save(&trouble, write_target(w, t, files), t);
    return err_agree(w->c, err_restore(&trouble));
}

/* ---- the tree ---- */

/* Bytes per oct: a mesh without fields (oct/mesh.h), order and number, location in the files; more
 * during the construction of a level. */
enum { TREE_BYTES = 8 * sizeof(okey) + 64 };

static int64_t tree_bytes(const struct rewrite *w, int number)
{
    int64_t octs = 0;
    for (int l = 1; l <= w->nlevel; l++) octs += spill_count(&w->spill, oct_list(w, number, l));
    return octs * TREE_BYTES;
}

/* Checks that memory suffices for one target; *targets: number of targets at a time, *files: number
 * of files of a single target at a time. */
static enum err check_room(const struct rewrite *w, int first, int last, int *targets, int *files)
{
    *targets = *files = 1;
    int64_t need = 0, threads = omp_get_max_threads();
    int big = first;
    for (int t = first; t < last; t++) {
        int64_t n = tree_bytes(w, t);
        if (n > need) need = n, big = t;
    }
    if (need > w->room)
        FAIL(ERR_LIMIT,
             "%s: rank %d of %d will hold %ld octs, whose tree needs %ld MiB: write for more "
             "ranks, or with --memory "
             "%ldM",
             w->o.final, big + 1, w->ntarget, (long)(need / TREE_BYTES), (long)(need >> 20) + 1,
             (long)((need - w->room + w->memory) * w->c->size >> 20) + 1);
    int64_t left = w->room - need, more = left / (need + rewrite_buffers(w));
    *targets = (int)(more + 1 < threads ? more + 1 : threads);
    if (*targets > last - first) *targets = last > first ? last - first : 1;
    more = *targets > 1 ? 0 : left / RAMSES_FILE_BYTES;
    *files = (int)(more + 1 < threads ? more + 1 : threads);
    return OK;
}

/* Makes level l from sorted octs. */
static void set_level(struct target *t, int l, const struct oct_item *x, int64_t n, okey *key)
{
    int64_t nown = 0;
    t->ref[l] = mem_new(sizeof *t->ref[l] * (size_t)n + 1, "reshape tree");
    for (int64_t i = 0; i < n; i++) {
        key[i] = x[i].key;
        t->ref[l][i] = x[i].ref;
        nown += x[i].own;
    }
    t->split[l] = mem_new((size_t)nown + 1, "reshape tree");
    for (int64_t i = 0; i < nown; i++) t->split[l][i] = x[i].split;
}

static enum err check_parents(const struct target *t, int l)
{
    const struct level *lv = &t->m.lev[l];
    okey last = 0;
    for (lidx i = 0; l > 1 && i < lv->noct; i++) {
        okey k = lv->key[i] >> 3;
        if ((i == 0 || k != last) && mesh_find(&t->m.lev[l - 1], k) < 0)
            FAIL(ERR_FORMAT, "%s: an oct of level %d has no parent: the checkpoint is damaged",
                 t->w->s->path, l);
        last = k;
    }
    return OK;
}

static enum err check_children(const struct target *t, int l)
{
    const struct level *lv = &t->m.lev[l];
    for (lidx i = 0; i < lv->nown; i++) {
        unsigned split = 0;
        for (int c = 0; c < t->m.cells; c++) split |= (unsigned)(lv->child[i][c] >= 0) << c;
        if (split != t->split[l][i])
            FAIL(ERR_FORMAT,
                 "%s: the refined cells of level %d and the octs of level %d do not match: the "
                 "checkpoint is damaged",
                 t->w->s->path, l, l + 1);
    }
    return OK;
}

static enum err grow_level(struct target *t, int l)
{
    struct oct_item *x = NULL;
    int64_t n = 0, nown = 0;
    enum err err = rewrite_load(t->w, t->number, l, &x, &n);
    if (err != OK) {
        FREE(x);
        return err;
    }
    okey *key = mem_new(sizeof *key * (size_t)n + 1, "reshape tree");
    unsigned char *flag = mem_new((size_t)n + 1, "reshape tree");
    set_level(t, l, x, n, key);
    for (int64_t i = 0; i < n; i++) flag[i] = x[i].flag, nown += x[i].own;
    FREE(x);
    struct level *lv = &t->m.lev[l];
    mesh_replace(&t->m, l, (lidx)nown, key, (lidx)(n - nown), key + nown, NULL);
    for (int64_t i = 0; i < n; i++)
        for (int c = 0; c < t->m.cells; c++) lv->flag[i][c] = flag[i] >> c & 1;
    FREE(flag);
    FREE(key);
    TRY(check_parents(t, l));
    mesh_link_down(&t->m, l);
    if (l > 1) TRY(check_children(t, l - 1));
    return l == t->w->nlevel ? check_children(t, l) : OK;
}

/* ---- values ---- */

static int values_of(const struct rewrite *w, int section)
{
    return (int)(w->spill.kind[ROW_OCT].width[section] / (BASE * sizeof(double)));
}

static void make_lent(struct lent *k, int nv)
{
    k->row = mem_new(sizeof *k->row * CKPT_BATCH * (size_t)nv + 1, "reshape batch");
    k->line = mem_new(sizeof *k->line * CKPT_BATCH, "reshape batch");
    k->some = mem_new(sizeof *k->some * CKPT_BATCH, "reshape batch");
}

static void free_lent(struct lent *k)
{
    FREE(k->row);
    FREE(k->line);
    FREE(k->some);
}

static enum err fetch_octs(void *ctx, const struct ramses_block *b, enum ramses_lines_of of,
                           int64_t first, int n, struct ramses_lines *out)
{
    struct target *t = ctx;
    const struct rewrite *w = t->w;
    struct lent *k = &t->lent[of];
    int section = of == LINES_GAS ? OCT_GAS : OCT_GRAV, nv = values_of(w, section);
    const struct oct_ref *ref = t->ref[b->level];
    for (int i = 0; i < n; i++) k->some[i] = ref[b->oct[first + i]];
    TRY(rewrite_fetch(w, section, k->some, n, k->row));
    for (int v = 0; v < nv; v++) out->fld[v] = k->row + v;
    for (int i = 0; i < n; i++) k->line[i] = i * nv;
    out->line = k->line;
    return OK;
}

/* Fetches as many particles as the chunk of the first one has. */
static enum err fetch_parts(void *ctx, int column, int64_t first, int64_t *n, const void **out)
{
    struct target *t = ctx;
    const struct spill *s = &t->w->spill;
    int64_t c = s->first[part_list(t->w, t->number)];
    while (first >= s->chunk[c].n) first -= s->chunk[c++].n;
    if (*n > s->chunk[c].n - first) *n = s->chunk[c].n - first;
    if (*n > CKPT_BATCH) *n = CKPT_BATCH;
    *out = t->column;
    return spill_get(s, c, column, first, *n, t->column);
}

/* ---- files ---- */

static enum err write_files(struct target *t)
{
    struct rewrite *w = t->w;
    struct comm file = {.rank = t->number, .size = w->ntarget};
    struct ramses_values values = {t, fetch_octs, fetch_parts};
    struct ramses_out *o = mem_zero(sizeof *o, "checkpoint");
    o->o = w->o;
    o->o.c = &file, o->o.m = &t->m, o->values = &values;
    o->o.npart = spill_count(&w->spill, part_list(w, t->number));
    enum err err = ramses_out_number(o);
    /* plus the octs beyond the boundary */
    o->o.ngridmax = o->ngrid > w->o.ngridmax ? o->ngrid : w->o.ngridmax;
    if (err == OK) err = ramses_write_files(o, t->threads);
    ramses_out_forget(o);
    FREE(o);
    return err;
}

static enum err write_target(struct rewrite *w, int number, int threads)
{
    bool bounded[6];
    struct target *t = mem_zero(sizeof *t, "reshape tree");
    t->w = w, t->number = number, t->threads = threads;
    boundary_faces(&w->head.boundary, bounded);
    mesh_init(&t->m, w->head.levelmin, w->nlevel, 0, false, false, w->head.boxlen, bounded);
    mesh_set_ndim(&t->m, w->head.ndim);
    enum err err = OK;
    for (int l = 1; l <= w->nlevel && err == OK; l++) err = grow_level(t, l);
    for (int k = 0; k < LINES_KINDS; k++)
        make_lent(&t->lent[k], values_of(w, k == LINES_GAS ? OCT_GAS : OCT_GRAV));
    t->column = mem_new(sizeof *t->column * CKPT_BATCH, "reshape batch");
    if (err == OK) err = write_files(t);
    for (int k = 0; k < LINES_KINDS; k++) free_lent(&t->lent[k]);
    FREE(t->column);
    for (int l = 1; l <= w->nlevel; l++) {
        FREE(t->ref[l]);
        FREE(t->split[l]);
    }
    mesh_fini(&t->m);
    FREE(t);
    return err;
}
