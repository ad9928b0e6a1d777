/* reshape/reshape: see reshape.h. The sequence of steps, and the reading of octs from the temporary
 * files list by list. */
#include "reshape/reshape.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "io/dir.h"
#include "out/carry.h"
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

static void log_losses(const struct source *s)
{
    if (s->nboundary != s->head.boundary.n)
        log_info(" %s: has %d boundary regions, of which %d are faces of the box; the result will "
                 "not contain the others",
                 s->path, s->nboundary, s->head.boundary.n);
    if (s->boundary_untold)
        log_info(" %s: has no namelist with the types of its boundaries; cells beyond them "
                 "are written as for outflow (RAMSES recomputes them)",
                 s->path);
}

enum err reshape_write(const struct reshape *opt, struct source *s, const struct reshape_plan *p,
                       const struct comm *c)
{
    struct reshaping *w = mem_zero(sizeof *w, "reshape");
    *w = (struct reshaping){
        .r = {.s = s, .c = c, .o.lock = -1}, .opt = opt, .plan = p, .file = {.size = opt->nrank}};

    sum_init(&w->stars);
    bool root = c->rank == 0;
    enum err err = err_agree(c, begin(w));
    if (err == OK) err = err_agree(c, root ? carry_log_losses(s, true) : OK);
    if (err == OK) log_losses(s);
    if (err == OK) err = err_agree(c, reshape_scatter(w));
    if (err == OK) err = share(w);
    if (err == OK) err = opt->writer->rewrite(&w->r);
    if (err == OK) err = err_agree(c, carry_files(s, &w->r.o, c));
    spill_end(&w->r.spill);
    if (err == OK) err = err_agree(c, manifest_write(&w->list, c, w->r.o.tmp, w->r.o.output, NULL));
    if (err == OK) err = err_agree(c, root ? out_finish(&w->r.o) : OK);
    if (err != OK && root) out_drop(w->r.o.tmp, &w->r.o.lock, err);
    rest_free(&w->rest);
    FREE(w->r.own);
    FREE(w->near);
    mesh_fini(&w->r.box);
    manifest_fini(&w->list);
    FREE(w);
    return err;
}

static enum err set_names(struct reshaping *w)
{
    struct ckpt_out *o = &w->r.o;
    size_t n = strlen(w->opt->out);
    while (n > 1 && w->opt->out[n - 1] == '/') n--;
    if (n + 30 > sizeof o->final) FAIL(ERR_FILE, "%.80s…: the path is too long", w->opt->out);
    memcpy(o->final, w->opt->out, n);
    out_name_tmp(o);
    o->output = w->opt->number ? w->opt->number : w->r.s->number;
    if (o->output < 0 || o->output > 99999)
        FAIL(ERR_LIMIT, "%s: output number %d has more than five digits", o->final, o->output);
    return dir_outside(o->final, w->r.s->path);
}

static void set_head(struct reshaping *w)
{
    w->r.head = w->r.s->head;
    w->r.head.gamma = w->r.s->gamma, w->r.head.smallr = w->r.s->smallr;
    w->r.head.ngridmax = 0; /* the value requested by the run holds for its own number of ranks */
    w->r.head.namelist = w->opt->namelist, w->r.head.provenance = w->opt->provenance;
    w->r.head.deflate = w->opt->deflate, w->r.head.overwrite = w->opt->overwrite;
    /* 64-bit integers are kept: RAMSES compiled with LONGINT needs them */
    if (w->opt->mode == SOURCE_STORED)
        w->r.o.stored = w->r.s->field, w->r.o.nhydro = w->r.s->nhydro, w->r.o.ngrav = w->r.s->ngrav,
        w->r.o.nphoton = w->r.s->nphoton;
    w->r.o.fields = w->opt->mode == SOURCE_STORED ? w->r.s->fields : w->r.s->values;
    if (w->r.o.stored && !w->opt->writer->by_rank)
        asis_of_fields(&w->r.asis, w->r.s->field, w->r.s->nhydro, &w->r.head);
    w->r.o.h = &w->r.head, w->r.o.d = w->plan->domain, w->r.o.c = &w->file, w->r.o.list = &w->list;
    w->r.o.nlevel = w->r.nlevel = w->r.head.levelmax;
    w->r.head.rest = &w->rest;
    w->r.o.columns = w->r.head.particles ? &w->r.s->columns : NULL;
}

static enum err open_spill(struct reshaping *w)
{
    int64_t memory = w->r.memory = reshape_share(w->opt, w->r.c);
    if (memory < RESHAPE_MIN)
        FAIL(
            ERR_PARAM,
            "a memory of %ld MiB for %d rank%s is too little: at least %ld MiB per rank are needed",
            (long)(memory * w->r.c->size >> 20), w->r.c->size, w->r.c->size > 1 ? "s" : "",
            (long)(RESHAPE_MIN >> 20));
    w->r.room = memory - rewrite_buffers(&w->r);
    if (w->r.room < memory / 4)
        FAIL(ERR_LIMIT,
             "a memory of %ld MiB per rank is too little: %ld MiB are needed for %d files and %d "
             "values per cell",
             (long)(memory >> 20), (long)(rewrite_buffers(&w->r) * 4 / 3 >> 20) + 1, w->r.ntarget,
             w->r.s->nvalue);
    const struct part_columns *col = &w->r.s->columns;
    struct spill_kind kind[SPILL_KINDS] = {{.nsection = 3}, {.nsection = col->n}};
    const size_t gas = (size_t)out_hydro(&w->r.o);
    kind[ROW_OCT].width[OCT_TREE] = sizeof(struct oct_tree);
    kind[ROW_OCT].width[OCT_GAS] = 8 * BASE * gas;
    kind[ROW_OCT].width[OCT_GRAV] = 8 * BASE * ((size_t)w->r.s->nvalue - gas);
    for (int c = 0; c < col->n; c++)
        if (col->has[c])
            kind[ROW_PART].width[c] = (size_t)part_type_size(part_column(col, c)->type);
    return spill_begin(&w->r.spill, w->r.c, w->r.o.tmp, w->r.ntarget * (w->r.nlevel + 1),
                       w->r.ntarget, kind,
                       (size_t)(w->r.room < memory / 2 ? w->r.room : memory / 2) / 2);
}

static enum err begin(struct reshaping *w)
{
    bool bounded[6];
    enum err err = set_names(w);
    if (err == OK) err = rest_copy(&w->rest, w->r.s);
    w->r.ntarget = w->plan->domain ? w->opt->nrank : w->plan->ncut;
    set_head(w);
    boundary_faces(&w->r.head.boundary, bounded);
    mesh_init(&w->r.box, w->r.head.levelmin, w->r.nlevel, 0, false, false, w->r.head.boxlen,
              bounded);
    mesh_set_ndim(&w->r.box, w->r.head.ndim);
    TRY(err_agree(w->r.c, err));
    w->r.own = mem_zero(sizeof *w->r.own * (size_t)(w->r.ntarget * w->r.nlevel), "reshape");
    w->near = mem_new(sizeof *w->near * (size_t)w->r.ntarget, "reshape");
    TRY(err_agree(w->r.c, w->r.c->rank == 0 ? out_begin(&w->r.o) : OK));
    return open_spill(w);
}

/* Replaces numbers of bits by numbers of bytes as stored: 0, 1, 4 or 8. */
static void share_last(struct reshaping *w, int l)
{
    int64_t bytes[CKPT_FIELDS];
    for (int v = 0; v < w->r.asis.nvar; v++) {
        uint64_t x = w->r.last[l][v];
        bytes[v] = x == 0 ? 0 : x <= 0xff ? 1 : x <= 0xffffffffu ? 4 : 8;
    }
    comm_max_i64(w->r.c, bytes, w->r.asis.nvar);
    for (int v = 0; v < w->r.asis.nvar; v++) w->r.last[l][v] = (uint64_t)bytes[v];
}

/* Sums the counts over all ranks. */
static enum err share(struct reshaping *w)
{
    struct ckpt_out *o = &w->r.o;
    TRY(spill_share(&w->r.spill));
    for (int t = 0; t < w->r.ntarget; t++) {
        int64_t *own = w->r.own + (int64_t)t * w->r.nlevel, octs = 0;
        comm_add_i64(w->r.c, own, w->r.nlevel);
        for (int l = 1; l <= w->r.nlevel; l++) {
            o->total[l] += own[l - 1];
            if (t == 0 || own[l - 1] < o->min[l]) o->min[l] = own[l - 1];
            if (own[l - 1] > o->max[l]) o->max[l] = own[l - 1];
            octs += spill_count(&w->r.spill, oct_list(&w->r, t, l));
        }
        if (octs > o->ngridmax) o->ngridmax = octs;
    }
    if (o->ngridmax < 1) o->ngridmax = 1;
    for (int l = 1; l <= w->r.nlevel && w->r.asis.nvar; l++) share_last(w, l);
    comm_add_i64(w->r.c, w->family, FAMILIES);
    comm_max_i64(w->r.c, w->span, 2);
    comm_sum(w->r.c, &w->stars);
    memcpy(o->family, w->family, sizeof o->family);
    o->star_mass = sum_get(&w->stars);
    o->wide_ids = w->r.head.longint || out_is_wide(w->span);
    for (int l = 1; l <= w->r.head.levelmin; l++)
        if (o->total[l] != (int64_t)1 << w->r.head.ndim * (l - 1))
            FAIL(ERR_FORMAT,
                 "%s: level %d has %ld octs and is not complete, as levels up to levelmin must be: "
                 "the checkpoint is damaged",
                 w->r.s->path, l, (long)o->total[l]);
    return OK;
}
