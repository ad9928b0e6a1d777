/* reshape/reshape: see reshape.h. Here: the course of it, and the way of octs out of the temporary
 * files, by list. */
#include "reshape/reshape.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "reshape/priv.h"

enum err reshape_run(const struct reshape *opt, struct source *s, const struct comm *c)
{
    struct reshape_plan p;
    enum err err = reshape_plan(opt, s, c, &p);
    if (err == OK) err = reshape_write(opt, s, &p, c);
    reshape_plan_free(&p);
    return err;
}

/* ---- writing ---- */

static enum err begin(struct reshaping *w);
static enum err share(struct reshaping *w);

static void say_losses(const struct source *s)
{
    if (*s->unread) log_info(" %s: has %s, which is not read and gets lost", s->path, s->unread);
    if (s->nboundary != s->head.boundary.n)
        log_info(" %s: has %d boundary regions, of which %d are known as faces of the box; the "
                 "others get lost",
                 s->path, s->nboundary, s->head.boundary.n);
    if (s->boundary_untold)
        log_info(" %s: has no namelist that tells the types of its boundaries; cells beyond them "
                 "are written as for outflow (RAMSES recomputes them)",
                 s->path);
}

enum err reshape_write(const struct reshape *opt, struct source *s, const struct reshape_plan *p,
                       const struct comm *c)
{
    struct reshaping *w = mem_zero(sizeof *w, "reshape");
    *w = (struct reshaping){
        .opt = opt, .s = s, .plan = p, .c = c, .file = {0, opt->nrank}, .o.lock = -1};

    sum_init(&w->stars);
    bool root = c->rank == 0;
    enum err err = err_agree(c, begin(w));
    if (err == OK) say_losses(s);
    if (err == OK) err = err_agree(c, reshape_scatter(w));
    if (err == OK) err = share(w);
    if (err == OK) err = (opt->format == RESHAPE_HDF5 ? reshape_hdf5 : reshape_ramses)(w);
    spill_end(&w->spill);
    if (err == OK) err = err_agree(c, manifest_write(&w->list, c, w->o.tmp, w->o.output));
    if (err == OK) err = err_agree(c, root ? ramses_out_finish(&w->o) : OK);
    if (err != OK && root) ramses_out_drop(&w->o, err);
    rest_free(&w->rest);
    FREE(w->own);
    FREE(w->near);
    mesh_fini(&w->box);
    manifest_fini(&w->list);
    FREE(w);
    return err;
}

static enum err set_names(struct reshaping *w)
{
    struct ramses_out *o = &w->o;
    size_t n = strlen(w->opt->out);
    while (n > 1 && w->opt->out[n - 1] == '/') n--;
    if (n + 5 > sizeof o->final) FAIL(ERR_FILE, "%.80s…: path too long", w->opt->out);
    memcpy(o->final, w->opt->out, n);
    snprintf(o->tmp, sizeof o->tmp, "%.3990s.tmp", o->final);
    o->output = w->opt->number ? w->opt->number : w->s->number;
    if (o->output < 0 || o->output > 99999)
        FAIL(ERR_LIMIT, "%s: output number %d has more than five digits", o->final, o->output);
    return OK;
}

static void set_head(struct reshaping *w)
{
    w->head = w->s->head;
    w->head.gamma = w->s->gamma, w->head.smallr = w->s->smallr;
    w->head.ngridmax = 0; /* it was asked for with another number of ranks */
    w->head.namelist = w->opt->namelist, w->head.provenance = w->opt->provenance;
    w->head.deflate = w->opt->deflate, w->head.overwrite = w->opt->overwrite;
    /* wide numbers stay wide: RAMSES compiled with LONGINT wants them */
    if (w->opt->mode == SOURCE_STORED)
        w->o.stored = w->s->field, w->o.nhydro = w->s->nhydro, w->o.ngrav = w->s->ngrav;
    if (w->o.stored && w->opt->format == RESHAPE_HDF5)
        asis_of_fields(&w->asis, w->s->field, w->s->nhydro, w->head.gamma, w->head.smallr);
    w->o.h = &w->head, w->o.d = w->plan->domain, w->o.c = &w->file, w->o.list = &w->list;
    w->o.nlevel = w->nlevel = w->head.levelmax;
    w->head.rest = &w->rest;
    w->o.columns = w->head.particles ? &w->s->columns : NULL;
}

static enum err open_spill(struct reshaping *w)
{
    int64_t memory = reshape_share(w->opt, w->c);
    if (memory < RESHAPE_LEAST)
        FAIL(ERR_PARAM, "a memory of %ld MiB for %d rank%s: at least %ld MiB a rank are needed",
             (long)(memory * w->c->size >> 20), w->c->size, w->c->size > 1 ? "s" : "",
             (long)(RESHAPE_LEAST >> 20));
    w->room = memory - reshape_buffers(w);
    if (w->room < memory / 4)
        FAIL(ERR_LIMIT,
             "a memory of %ld MiB a rank: %ld MiB are needed for %d files and %d values a cell",
             (long)(memory >> 20), (long)(reshape_buffers(w) * 4 / 3 >> 20) + 1, w->ntarget,
             w->s->nvalue);
    const struct part_columns *col = &w->s->columns;
    struct spill_kind kind[SPILL_KINDS] = {{.nsection = 3}, {.nsection = col->n}};
    size_t gas = w->head.hydro ? (size_t)w->head.nvar : 0;
    kind[ROW_OCT].width[OCT_TREE] = sizeof(struct oct_tree);
    kind[ROW_OCT].width[OCT_GAS] = 8 * BASE * gas;
    kind[ROW_OCT].width[OCT_GRAV] = 8 * BASE * ((size_t)w->s->nvalue - gas);
    for (int c = 0; c < col->n; c++)
        if (col->has[c])
            kind[ROW_PART].width[c] = (size_t)part_type_size(part_column(col, c)->type);
    return spill_begin(&w->spill, w->c, w->o.tmp, w->ntarget * (w->nlevel + 1), w->ntarget, kind,
                       (size_t)(w->room < memory / 2 ? w->room : memory / 2) / 2);
}

static enum err begin(struct reshaping *w)
{
    bool wall[6];
    enum err err = set_names(w);
    if (err == OK) err = rest_copy(&w->rest, w->s);
    w->ntarget = w->plan->domain ? w->opt->nrank : w->plan->ncut;
    set_head(w);
    boundary_walls(&w->head.boundary, wall);
    mesh_init(&w->box, w->head.levelmin, w->nlevel, 0, false, false, w->head.boxlen, wall);
    TRY(err_agree(w->c, err));
    w->own = mem_zero(sizeof *w->own * (size_t)(w->ntarget * w->nlevel), "reshape");
    w->near = mem_new(sizeof *w->near * (size_t)w->ntarget, "reshape");
    TRY(err_agree(w->c, w->c->rank == 0 ? ramses_out_begin(&w->o) : OK));
    return open_spill(w);
}

/* Bits become bytes as they are stored: 0, 1, 4 or 8. */
static void share_last(struct reshaping *w, int l)
{
    int64_t bytes[CKPT_FIELDS];
    for (int v = 0; v < w->asis.nvar; v++) {
        uint64_t x = w->last[l][v];
        bytes[v] = x == 0 ? 0 : x <= 0xff ? 1 : x <= 0xffffffffu ? 4 : 8;
    }
    comm_max_i64(w->c, bytes, w->asis.nvar);
    for (int v = 0; v < w->asis.nvar; v++) w->last[l][v] = (uint64_t)bytes[v];
}

/* All ranks know what there is in all. */
static enum err share(struct reshaping *w)
{
    struct ramses_out *o = &w->o;
    TRY(spill_share(&w->spill));
    for (int t = 0; t < w->ntarget; t++) {
        int64_t *own = w->own + (int64_t)t * w->nlevel, octs = 0;
        comm_add_i64(w->c, own, w->nlevel);
        for (int l = 1; l <= w->nlevel; l++) {
            o->total[l] += own[l - 1];
            if (t == 0 || own[l - 1] < o->least[l]) o->least[l] = own[l - 1];
            if (own[l - 1] > o->most[l]) o->most[l] = own[l - 1];
            octs += spill_count(&w->spill, oct_list(w, t, l));
        }
        if (octs > o->ngridmax) o->ngridmax = octs;
    }
    if (o->ngridmax < 1) o->ngridmax = 1;
    for (int l = 1; l <= w->nlevel && w->asis.nvar; l++) share_last(w, l);
    comm_add_i64(w->c, w->family, RAMSES_FAMILIES);
    comm_max_i64(w->c, w->span, 2);
    comm_sum(w->c, &w->stars);
    memcpy(o->family, w->family, sizeof o->family);
    o->star_mass = sum_get(&w->stars);
    o->wide_ids = w->head.longint || ramses_out_is_wide(w->span);
    for (int l = 1; l <= w->head.levelmin; l++)
        if (o->total[l] != (int64_t)1 << w->head.ndim * (l - 1))
            FAIL(ERR_FORMAT, "%s: level %d has %ld octs and is not complete", w->s->path, l,
                 (long)o->total[l]);
    return OK;
}

/* ---- out of the temporary files ---- */

/* Radix exchange, in place: bit by bit from the top. Few octs by insertion. */
static void sort_items(struct oct_item *x, int64_t n, int bit)
{
    enum { FEW = 16 };
    if (n > FEW && bit >= 0) {
        int64_t i = 0, j = n;
        while (i < j) {
            if (!(x[i].key >> bit & 1)) {
                i++;
                continue;
            }
            struct oct_item swap = x[--j];
            x[j] = x[i], x[i] = swap;
        }
        sort_items(x, i, bit - 1);
        sort_items(x + i, n - i, bit - 1);
        return;
    }
    for (int64_t i = 1; i < n; i++) {
        struct oct_item y = x[i];
        int64_t j = i;
        for (; j > 0 && y.key < x[j - 1].key; j--) x[j] = x[j - 1];
        x[j] = y;
    }
}

static bool is_sorted(const struct oct_item *x, int64_t n)
{
    bool sorted = true;
    for (int64_t i = 1; i < n; i++) sorted &= x[i - 1].key < x[i].key;
    return sorted;
}

static enum err in_order(const struct reshaping *w, int level, struct oct_item *x, int64_t n)
{
    if (!is_sorted(x, n)) sort_items(x, n, 3 * (level - 1));
    if (!is_sorted(x, n)) FAIL(ERR_FORMAT, "%s: has an oct of level %d twice", w->s->path, level);
    return OK;
}

enum err reshape_load(const struct reshaping *w, int target, int level, struct oct_item **out,
                      int64_t *n)
{
    enum { SOME = 4096 };
    const struct spill *s = &w->spill;
    int list = oct_list(w, target, level);
    int64_t nown = w->own[list], at[2] = {nown, 0}; /* copies go behind */
    *n = spill_count(s, list);
    struct oct_item *x = *out = mem_new(sizeof *x * (size_t)*n + 1, "reshape tree");
    struct oct_tree *some = mem_new(sizeof *some * SOME, "reshape tree");
    enum err err = OK;
    for (int64_t c = s->first[list]; c < s->first[list + 1] && err == OK; c++)
        for (int64_t row = 0, k; row < s->chunk[c].n && err == OK; row += k) {
            k = s->chunk[c].n - row < SOME ? s->chunk[c].n - row : SOME;
            err = spill_get(s, c, OCT_TREE, row, k, some);
            for (int64_t i = 0; i < k && err == OK; i++)
                x[at[some[i].own]++] = (struct oct_item){.key = some[i].key,
                                                         .ref = {(uint32_t)c, (uint32_t)(row + i)},
                                                         .split = some[i].split,
                                                         .flag = some[i].flag,
                                                         .own = some[i].own};
        }
    FREE(some);
    TRY(err);
    TRY(in_order(w, level, x, nown));
    return in_order(w, level, x + nown, *n - nown);
}

/* How many of the octs at ref can be read at once: rows of one chunk that follow each other, or
 * that are in order and not far apart, if with what is between them they fit into `room` bytes,
 * `width` each. */
static int run_of(const struct oct_ref *ref, int n, size_t width, size_t room)
{
    enum { GAP = 4096 }; /* bytes that cost less than another call */
    int k = 1;
    while (k < n && ref[k].chunk == ref->chunk && ref[k].row == ref->row + (uint32_t)k) k++;
    if (k * width > room) return k;
    while (k < n && ref[k].chunk == ref->chunk && ref[k].row > ref[k - 1].row &&
           (ref[k].row - ref[k - 1].row - 1) * width <= GAP &&
           (ref[k].row - ref->row + 1) * width <= room)
        k++;
    return k;
}

/* Octs that follow each other here mostly did so in the input, with those between them that are
 * another's. */
enum err reshape_fetch(const struct reshaping *w, int section, const struct oct_ref *ref, int n,
                       double (*row)[8])
{
    enum { ROOM = 128 << 10 };
    size_t width = w->spill.kind[ROW_OCT].width[section], nv = width / sizeof *row;
    char span[ROOM];
    for (int i = 0, k; i < n; i += k) {
        k = run_of(ref + i, n - i, width, ROOM);
        int64_t rows = ref[i + k - 1].row - ref[i].row + 1;
        bool dense = rows == k;
        TRY(spill_get(&w->spill, ref[i].chunk, section, ref[i].row, rows,
                      dense ? (char *)(row + (size_t)i * nv) : span));
        for (int j = i; j < i + k && !dense; j++)
            memcpy(row + (size_t)j * nv, span + (ref[j].row - ref[i].row) * width, width);
    }
    return OK;
}
