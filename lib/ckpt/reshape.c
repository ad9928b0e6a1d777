/* ckpt/reshape: see reshape.h. Here: the plan, the way of octs and particles into the temporary files, and out of them by list. */
#include "ckpt/reshape.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ckpt/reshape_priv.h"
#include "ckpt/turn.h"
#include "ckpt/weights.h"
#include "io/file.h"

enum { ROWS_LEAST = 1 << 18, ROWS_A_RANK = 64 }; /* of the table of weights */

static enum err check_input(const struct reshape *opt, const struct source *s);
static enum err check_output(const struct reshape *opt);
static enum err weigh(struct source *s, const struct comm *c, bool again, struct weights *w);
static void make_domains(const struct reshape *opt, const struct source *s, const struct comm *c,
                         const struct weights *w, struct reshape_plan *p);

enum err reshape_run(const struct reshape *opt, struct source *s, const struct comm *c)
{
    struct reshape_plan p;
    enum err err = reshape_plan(opt, s, c, &p);
    if (err == OK) err = reshape_write(opt, s, &p, c);
    reshape_plan_free(&p);
    return err;
}

/* ---- plan ---- */

enum err reshape_plan(const struct reshape *opt, struct source *s, const struct comm *c, struct reshape_plan *p)
{
    struct weights w = {0};
    *p = (struct reshape_plan){0};
    enum err err = check_input(opt, s);
    if (err == OK && opt->out) err = check_output(opt);
    TRY(err_agree(c, err));
    /* What simulate holds for an oct and for a particle (oct/mesh.h, part/part.h). */
    double fields = s->head.nvar + (s->head.gravity ? 6 : 0);
    p->weight[0] = opt->weight[0] > 0 ? opt->weight[0] : 110 + 8 * BASE * fields;
    p->weight[1] = opt->weight[1] > 0 ? opt->weight[1] : 75;
    p->weight[2] = opt->weight[2] > 0 ? opt->weight[2] : p->weight[1];
    int64_t rows = (int64_t)ROWS_A_RANK * opt->nrank;
    weights_begin(&w, rows > ROWS_LEAST ? rows : ROWS_LEAST);
    err = err_agree(c, weigh(s, c, opt->out != NULL, &w));
    if (err == OK) {
        weights_merge(&w, c);
        make_domains(opt, s, c, &w, p);
    }
    weights_end(&w);
    return err;
}

void reshape_plan_free(struct reshape_plan *p)
{
    domain_free(p->domain);
    FREE(p->rank);
    FREE(p->cut);
    *p = (struct reshape_plan){0};
}

static enum err check_input(const struct reshape *opt, const struct source *s)
{
    const struct ckpt_head *h = &s->head;
    if (h->levelmax > LEVEL_MAX)
        FAIL(ERR_LIMIT, "%s: has levelmax %d; this build handles %d", s->path, h->levelmax, LEVEL_MAX);
    if (h->levelmin < 1 || h->levelmin > h->levelmax)
        FAIL(ERR_FORMAT, "%s: has levelmin %d and levelmax %d", s->path, h->levelmin, h->levelmax);
    if (!(h->boxlen > 0) || !isfinite(h->boxlen)) FAIL(ERR_FORMAT, "%s: has boxlen %g", s->path, h->boxlen);
    if (s->nvalue != (h->hydro ? h->nvar : 0) + (h->gravity ? 4 : 0))
        FAIL(ERR_FORMAT, "%s: has %d values a cell, of which %d of gas", s->path, s->nvalue, h->nvar);
    if (opt->format == RESHAPE_RAMSES && (opt->nrank < 1 || opt->nrank > 99999))
        FAIL(ERR_PARAM, "%d ranks to write for: 1 to 99999 are possible", opt->nrank);
    for (int k = 0; k < 3; k++)
        if (!(opt->weight[k] >= 0 && opt->weight[k] <= 1e9))
            FAIL(ERR_PARAM, "a weight of %g: 0 to 1e9 bytes are possible", opt->weight[k]);
    return OK;
}

/* Only a checkpoint is ever replaced: whatever else stands there was not meant. */
static enum err check_output(const struct reshape *opt)
{
    if (!file_exists(opt->out)) return OK;
    if (!opt->overwrite) FAIL(ERR_FILE, "%s: exists already; it is not overwritten (--force)", opt->out);
    DIR *d = opendir(opt->out);
    bool is = false, empty = d != NULL;
    for (struct dirent *e; d && (e = readdir(d));) {
        int number;
        empty &= e->d_name[0] == '.' && strspn(e->d_name, ".") == strlen(e->d_name);
        is |= sscanf(e->d_name, "info_%5d.txt", &number) == 1 || sscanf(e->d_name, "data_%5d.h5", &number) == 1;
    }
    if (d) closedir(d);
    if (!is && !empty) FAIL(ERR_FILE, "%s: is no checkpoint; it is not replaced", opt->out);
    return OK;
}

/* The pieces of this rank are first..last-1, so that rank by rank they are in order. */
static void my_pieces(const struct source *s, const struct comm *c, int *first, int *last)
{
    *first = (int)((int64_t)s->npiece * c->rank / c->size);
    *last = (int)((int64_t)s->npiece * (c->rank + 1) / c->size);
}

/* ---- weights ---- */

struct weighing {
    const struct source *s;
    struct weights *w;
    enum err err; /* of weigh_places */
};

static enum err weigh_octs(const struct source_octs *o, void *ctx)
{
    struct weighing *g = ctx;
    if (o->level < 1 || o->level > g->s->head.levelmax)
        FAIL(ERR_FORMAT, "%s: has octs of level %d, its header says %d levels", g->s->path, o->level,
             g->s->head.levelmax);
    weights_add_octs(g->w, o->level, o->n, o->key);
    return OK;
}

/* The base oct that a particle is in, once its position is as the writers have it. */
static okey base_oct(const struct ckpt_head *h, const double *const x[3], int64_t i)
{
    double side = (double)((int64_t)1 << (h->levelmin - 1));
    uint64_t q[3];
    for (int d = 0; d < 3; d++) {
        double y = x[d][i];
        if (y < 0) y = y + h->boxlen;
        if (y >= h->boxlen) y = y - h->boxlen;
        q[d] = (uint64_t)fmin(fmax(y / h->boxlen * side, 0), side - 1);
    }
    return okey_make(q[0], q[1], q[2]);
}

static enum err weigh_parts(const struct source_parts *p, void *ctx)
{
    struct weighing *g = ctx;
    const struct ckpt_head *h = &g->s->head;
    for (int64_t i = 0; i < p->n; i++)
        weights_add_part(g->w, h->levelmin, base_oct(h, p->x, i), p->family[i] == FAM_CLOUD);
    return OK;
}

/* Places are enough: what else there is need not be read, nor the sums of files compared. */
static bool weigh_places(void *ctx, int level, int n, const okey *key)
{
    struct weighing *g = ctx;
    if (g->err == OK) g->err = weigh_octs(&(struct source_octs){.level = level, .n = n, .key = key}, g);
    return false;
}

static enum err weigh_piece(struct source *s, int piece, bool again, struct weighing *g)
{
    const struct ramses_pick *was = s->pick, places = {.octs = weigh_places, .ctx = g};
    if (again) s->pick = &places;
    enum err err = source_octs(s, piece, false, weigh_octs, g);
    s->pick = was;
    TRY(err);
    TRY(g->err);
    return s->head.particles ? source_parts(s, piece, weigh_parts, g) : OK;
}

/* again: all will be read once more, and checked then. */
static enum err weigh(struct source *s, const struct comm *c, bool again, struct weights *w)
{
    struct weighing g = {.s = s, .w = w};
    int first, last;
    my_pieces(s, c, &first, &last);
    for (int i = first; i < last; i++) TRY(weigh_piece(s, i, again, &g));
    return OK;
}

static double cost_of(const struct reshape_plan *p, const struct weight *r)
{
    return (double)r->octs * p->weight[0] + (double)r->parts * p->weight[1] + (double)r->clouds * p->weight[2];
}

static void add_loads(const struct reshape *opt, const struct comm *c, const struct weights *w, struct reshape_plan *p)
{
    int64_t n = p->domain ? opt->nrank : 0, *sum = mem_zero(sizeof *sum * 3 * (size_t)(n + 1), "weights");
    for (int64_t i = 0; i < w->n; i++) {
        const struct weight *r = &w->row[i];
        int64_t k = p->domain ? domain_rank(p->domain, weight_level(r->code), weight_key(r->code)) : 0;
        for (; k <= n; k = k < n ? n : n + 1) {
            sum[3 * k] += r->octs;
            sum[3 * k + 1] += r->parts + r->clouds;
            sum[3 * k + 2] += r->clouds;
        }
    }
    for (int64_t k = 0; k <= n; k++) comm_add_i64(c, sum + 3 * k, 3);
    if (n) p->rank = mem_new(sizeof *p->rank * (size_t)n, "weights");
    for (int64_t k = 0; k <= n; k++) {
        const int64_t *s = sum + 3 * k;
        *(k < n ? &p->rank[k] : &p->total) = (struct reshape_load){
            .octs = s[0],
            .parts = s[1],
            .bytes = cost_of(p, &(struct weight){.octs = s[0], .parts = s[1] - s[2], .clouds = s[2]})};
    }
    p->clouds = sum[3 * n + 2];
    FREE(sum);
}

/* Bytes of a target, HDF5: octs while they are sorted, particles with two arrays to sort them by. */
static int64_t bytes_of(const struct weight *r, int nextra)
{
    return r->octs * (int64_t)(sizeof(struct oct_item) + 8) + (r->parts + r->clouds) * (160 + BASE * nextra);
}

static int by_place(const void *a, const void *b)
{
    okey x = ((const struct weight *)a)->code, y = ((const struct weight *)b)->code;
    return (x > y) - (x < y);
}

/* Ranges of Morton order of which each fits into a quarter of a rank's memory. Rank 0 has all rows and cuts; codes become places. */
static void make_cuts(const struct reshape *opt, int nextra, const struct comm *c, const struct weights *w,
                      struct reshape_plan *p)
{
    int64_t *count = mem_zero(sizeof *count * (size_t)c->size, "weights"), n;
    count[0] = w->n;
    struct weight *row = comm_exchange(c, w->row, count, sizeof *row, &n, NULL);
    for (int64_t i = 0; i < n; i++) row[i].code = reshape_place(weight_level(row[i].code), weight_key(row[i].code));
    if (n) qsort(row, (size_t)n, sizeof *row, by_place);
    p->cut = mem_zero(sizeof *p->cut * (size_t)(n + 2), "weights");
    int64_t budget = reshape_share(opt, c) / 4, sum = 0, ncut = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t more = bytes_of(&row[i], nextra);
        if (ncut == 0 || (sum + more > budget && row[i].code != row[i - 1].code)) p->cut[ncut++] = row[i].code, sum = 0;
        sum += more;
    }
    comm_bcast(c, &ncut, sizeof ncut, 0);
    if (ncut == 0) ncut = 1;
    if (c->rank != 0) FREE(p->cut);
    if (c->rank != 0) p->cut = mem_zero(sizeof *p->cut * (size_t)(ncut + 1), "weights");
    comm_bcast(c, p->cut, sizeof *p->cut * (size_t)ncut, 0);
    p->cut[0] = 0;
    p->ncut = (int)ncut;
    FREE(row);
    FREE(count);
}

static void make_domains(const struct reshape *opt, const struct source *s, const struct comm *c,
                         const struct weights *w, struct reshape_plan *p)
{
    static const bool wall[6];
    size_t n = (size_t)w->n;
    p->level = w->level < s->head.levelmax ? w->level : s->head.levelmax;
    if (opt->format == RESHAPE_RAMSES) {
        int *level = mem_new(sizeof *level * n + 1, "weights");
        okey *key = mem_new(sizeof *key * n + 1, "weights");
        double *cost = mem_new(sizeof *cost * n + 1, "weights");
        for (size_t i = 0; i < n; i++) {
            level[i] = weight_level(w->row[i].code);
            key[i] = weight_key(w->row[i].code);
            cost[i] = cost_of(p, &w->row[i]);
        }
        struct domain *even = domain_new(opt->kind, opt->nrank, s->head.levelmax, wall);
        p->domain = domain_balance(even, opt->kind, c, (int64_t)n, level, key, cost);
        domain_free(even);
        FREE(level);
        FREE(key);
        FREE(cost);
    }
    if (opt->format == RESHAPE_HDF5) make_cuts(opt, s->nextra, c, w, p);
    add_loads(opt, c, w, p);
}

/* ---- writing ---- */

static enum err begin(struct reshaping *w);
static enum err scatter(struct reshaping *w);
static enum err share(struct reshaping *w);

enum err reshape_write(const struct reshape *opt, struct source *s, const struct reshape_plan *p, const struct comm *c)
{
    struct reshaping *w = mem_zero(sizeof *w, "reshape");
    *w = (struct reshaping){.opt = opt, .s = s, .plan = p, .c = c, .file = {0, opt->nrank}};

    sum_init(&w->stars);
    bool root = c->rank == 0;
    enum err err = err_agree(c, begin(w));
    bool begun = err == OK;
    if (err == OK) err = err_agree(c, scatter(w));
    if (err == OK) err = share(w);
    if (err == OK) err = (opt->format == RESHAPE_HDF5 ? reshape_hdf5 : reshape_ramses)(w);
    spill_end(&w->spill);
    if (err == OK) err = err_agree(c, manifest_write(&w->list, c, w->o.tmp, w->o.output));
    if (err == OK) err = err_agree(c, root ? ramses_out_finish(&w->o) : OK);
    if (err != OK && begun && root) ramses_out_drop(&w->o, err);
    FREE(w->own);
    FREE(w->near);
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
        FAIL(ERR_LIMIT, "%s: output number %d has no five digits", o->final, o->output);
    return OK;
}

static void set_head(struct reshaping *w)
{
    w->head = w->s->head;
    w->head.gamma = w->s->gamma, w->head.smallr = w->s->smallr;
    w->head.ngridmax = 0; /* it was asked for with another number of ranks */
    w->head.namelist = w->opt->namelist, w->head.provenance = w->opt->provenance;
    w->head.deflate = w->opt->deflate, w->head.overwrite = w->opt->overwrite;
    w->o.h = &w->head, w->o.d = w->plan->domain, w->o.c = &w->file, w->o.list = &w->list;
    w->o.nlevel = w->nlevel = w->head.levelmax;
    w->o.from = w->s;
    w->npart_column = COL_COUNT + w->s->nextra;
    w->o.stars = w->head.particles && w->head.stars;
    w->o.metal = w->o.stars && w->head.metal;
}

/* Buffers: of the reader and the writers, whatever the size of the checkpoint. */
static int64_t buffer_bytes(const struct reshaping *w)
{
    return ((int64_t)12 << 20) + w->s->nvalue * ((int64_t)5 << 19) + (int64_t)w->ntarget * w->nlevel * 32;
}

static enum err open_spill(struct reshaping *w)
{
    int64_t memory = reshape_share(w->opt, w->c);
    if (memory < RESHAPE_LEAST)
        FAIL(ERR_PARAM, "a memory of %ld MiB for %d rank%s: at least %ld MiB a rank are needed",
             (long)(memory * w->c->size >> 20), w->c->size, w->c->size > 1 ? "s" : "", (long)(RESHAPE_LEAST >> 20));
    w->room = memory - buffer_bytes(w);
    if (w->room < memory / 4)
        FAIL(ERR_LIMIT, "a memory of %ld MiB a rank: %ld MiB are needed for %d files and %d values a cell",
             (long)(memory >> 20), (long)(buffer_bytes(w) * 4 / 3 >> 20) + 1, w->ntarget, w->s->nvalue);
    struct spill_kind kind[SPILL_KINDS] = {{.nsection = 3}, {.nsection = w->npart_column}};
    size_t gas = w->head.hydro ? (size_t)w->head.nvar : 0;
    kind[ROW_OCT].width[OCT_TREE] = sizeof(struct oct_tree);
    kind[ROW_OCT].width[OCT_GAS] = 8 * BASE * gas;
    kind[ROW_OCT].width[OCT_GRAV] = 8 * BASE * ((size_t)w->s->nvalue - gas);
    for (int i = 0; i < w->npart_column; i++) kind[ROW_PART].width[i] = BASE;
    kind[ROW_PART].width[COL_LEVEL] = 4;
    kind[ROW_PART].width[COL_FAMILY] = kind[ROW_PART].width[COL_TAG] = 1;
    if (!w->o.stars) kind[ROW_PART].width[COL_BIRTH] = 0;
    if (!w->o.metal) kind[ROW_PART].width[COL_METAL] = 0;
    return spill_begin(&w->spill, w->c, w->o.tmp, w->ntarget * (w->nlevel + 1), kind,
                       (size_t)(w->room < memory / 2 ? w->room : memory / 2) / 2);
}

static enum err begin(struct reshaping *w)
{
    enum err err = set_names(w);
    w->ntarget = w->plan->domain ? w->opt->nrank : w->plan->ncut;
    set_head(w);
    TRY(err_agree(w->c, err));
    w->own = mem_zero(sizeof *w->own * (size_t)(w->ntarget * w->nlevel), "reshape");
    w->near = mem_new(sizeof *w->near * (size_t)w->ntarget, "reshape");
    TRY(err_agree(w->c, w->c->rank == 0 ? ramses_out_begin(&w->o) : OK));
    err = err_agree(w->c, open_spill(w));
    if (err != OK) spill_end(&w->spill);
    if (err != OK && w->c->rank == 0) ramses_out_drop(&w->o, err);
    return err;
}

int reshape_target(const struct reshape_plan *p, okey place)
{
    int lo = 0, hi = p->ncut - 1;
    while (lo < hi) {
        int mid = lo + (hi - lo + 1) / 2;
        if (p->cut[mid] <= place)
            lo = mid;
        else
            hi = mid - 1;
    }
    return lo;
}

/* Values first..last-1 of some octs, from [value][cell][oct] to [oct][value][cell]. */
static void turn(const struct source_octs *o, int at, int n, int first, int last, char *out)
{
    enum { SOME = 32 };
    size_t nv = (size_t)(last - first);
    double(*row)[8] = (double(*)[8])(void *)out;
    for (int i = 0; i < n; i += SOME)
        for (size_t v = 0; v < nv; v++)
            turn_columns(o->val + 8 * ((size_t)first + v), at + i, n - i < SOME ? n - i : SOME,
                         row + (size_t)i * nv + v, nv);
}

/* Octs at..at+n-1 into a list. */
static enum err put_octs(struct reshaping *w, const struct source_octs *o, int at, int n, int list, bool own)
{
    int nv = w->s->nvalue, gas = w->head.hydro ? w->head.nvar : 0;
    for (int some; n > 0; at += some, n -= some) {
        char *section[SPILL_SECTIONS];
        some = n;
        TRY(spill_room(&w->spill, list, ROW_OCT, &some, section));
        struct oct_tree *tree = (struct oct_tree *)(void *)section[OCT_TREE];
        memset(tree, 0, sizeof *tree * (size_t)some); /* gaps too go to disk */
        for (int i = 0; i < some; i++) {
            unsigned flag = 0;
            for (int c = 0; c < 8; c++) flag |= (unsigned)(o->flag[at + i][c] == 1) << c;
            tree[i].key = o->key[at + i], tree[i].split = o->split[at + i], tree[i].own = own;
            tree[i].flag = (unsigned char)flag;
        }
        turn(o, at, some, 0, gas, section[OCT_GAS]);
        turn(o, at, some, gas, nv, section[OCT_GRAV]);
        TRY(spill_add(&w->spill, list, some));
    }
    return OK;
}

/* How many octs from `at` on go to one target and no other; 0: this one does not, or might not. */
static int count_alone(struct reshaping *w, const struct source_octs *o, int at, int *target)
{
    const struct domain *d = w->plan->domain;
    int l = o->level, n = 0;
    *target = -1;
    while (at + n < o->n) {
        okey key = o->key[at + n], up = key >> 3;
        if (!d) {
            int t = reshape_target(w->plan, reshape_place(l, key));
            if (n && t != *target) break;
            *target = t;
            n++;
            continue;
        }
        /* If one rank has all around the parent, its children need no copies. */
        if (l == 1 || (w->mixed_level == l && w->mixed == up)) break;
        int owner = domain_rank(d, l - 1, up);
        if (n && owner != *target) break;
        if (domain_near(d, owner, l - 1, up, w->near) > 0) {
            w->mixed_level = l, w->mixed = up;
            break;
        }
        *target = owner;
        while (at + n < o->n && o->key[at + n] >> 3 == up) n++;
    }
    return n;
}

static enum err scatter_octs(const struct source_octs *o, void *ctx)
{
    struct reshaping *w = ctx;
    const struct domain *d = w->plan->domain;
    int l = o->level;
    if (l < 1 || l > w->nlevel) FAIL(ERR_FORMAT, "%s: has octs of level %d now", w->s->path, l);
    for (int i = 0, n; i < o->n; i += n) {
        int owner, copies = 0;
        n = count_alone(w, o, i, &owner);
        if (n == 0) {
            n = 1;
            owner = domain_rank(d, l, o->key[i]);
            copies = domain_near(d, owner, l, o->key[i], w->near);
        }
        TRY(put_octs(w, o, i, n, oct_list(w, owner, l), true));
        w->own[oct_list(w, owner, l)] += n;
        for (int k = 0; k < copies; k++) TRY(put_octs(w, o, i, n, oct_list(w, w->near[k], l), false));
    }
    return OK;
}

static enum err check_part(const struct reshaping *w, const struct source_parts *p, int64_t i)
{
    int64_t level = p->level ? p->level[i] : 1;
    bool finite = true;
    for (int d = 0; d < 3; d++) finite &= isfinite(p->x[d][i]) && isfinite(p->v[d][i]);
    if (!finite)
        FAIL(ERR_FORMAT, "%s: particle %ld has a position or velocity that is not a number", w->s->path,
             (long)p->id[i]);
    if (level < 1 || level > LEVEL_MAX)
        FAIL(ERR_FORMAT, "%s: particle %ld was last moved on level %ld", w->s->path, (long)p->id[i], (long)level);
    return OK;
}

static void count_part(struct reshaping *w, const struct source_parts *p, int64_t i)
{
    int k = p->family[i] + 5;
    w->family[k >= 0 && k < RAMSES_FAMILIES - 1 ? k : RAMSES_FAMILIES - 1]++;
    if (p->id[i] > w->span[0]) w->span[0] = p->id[i];
    if (-p->id[i] > w->span[1]) w->span[1] = -p->id[i];
    if (p->family[i] == FAM_STAR) sum_add(&w->stars, p->m[i]);
}

static enum err scatter_parts(const struct source_parts *p, void *ctx)
{
    struct reshaping *w = ctx;
    for (int64_t i = 0; i < p->n; i++) {
        TRY(check_part(w, p, i));
        count_part(w, p, i);
        int32_t level = p->level ? (int32_t)p->level[i] : w->head.levelmin;
        int8_t tag = p->tag ? (int8_t)p->tag[i] : 0;
        const double zero = 0;
        const void *section[PART_MOST] = {[COL_MASS] = p->m + i,
                                          [COL_ID] = p->id + i,
                                          [COL_LEVEL] = &level,
                                          [COL_FAMILY] = p->family + i,
                                          [COL_TAG] = &tag,
                                          [COL_BIRTH] = p->birth ? p->birth + i : &zero,
                                          [COL_METAL] = p->metal ? p->metal + i : &zero};
        for (int d = 0; d < 3; d++) section[COL_X + d] = p->x[d] + i, section[COL_VX + d] = p->v[d] + i;
        for (int k = 0; k < w->s->nextra; k++) section[COL_COUNT + k] = (const char *)p->extra[k] + (size_t)i * BASE;
        const struct domain *d = w->plan->domain;
        int owner = d ? domain_rank(d, w->head.levelmin, base_oct(&w->head, p->x, i))
                      : reshape_target(w->plan,
                                       reshape_part_place(&w->head, (double[3]){p->x[0][i], p->x[1][i], p->x[2][i]}));
        TRY(spill_put(&w->spill, part_list(w, owner), ROW_PART, section));
    }
    return OK;
}

static enum err scatter(struct reshaping *w)
{
    int first, last;
    enum err err = OK;
    my_pieces(w->s, w->c, &first, &last);
    w->s->late = true; /* after an error nothing is kept */
    for (int i = first; i < last && err == OK; i++) {
        err = source_octs(w->s, i, true, scatter_octs, w);
        if (err == OK && w->head.particles) err = source_parts(w->s, i, scatter_parts, w);
    }
    w->s->late = false;
    return err;
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
    comm_add_i64(w->c, w->family, RAMSES_FAMILIES);
    comm_max_i64(w->c, w->span, 2);
    comm_sum(w->c, &w->stars);
    memcpy(o->family, w->family, sizeof o->family);
    o->star_mass = sum_get(&w->stars);
    o->wide_ids = w->span[0] > INT32_MAX || w->span[1] > INT32_MAX;
    for (int l = 1; l <= w->head.levelmin; l++)
        if (o->total[l] != (int64_t)1 << 3 * (l - 1))
            FAIL(ERR_FORMAT, "%s: level %d has %ld octs and is not complete", w->s->path, l, (long)o->total[l]);
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

enum err reshape_load(const struct reshaping *w, int target, int level, struct oct_item **out, int64_t *n)
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

/* Octs that follow each other here mostly did so in the input: they are read in runs. */
enum err reshape_fetch(const struct reshaping *w, int section, const struct oct_ref *ref, int n, double (*row)[8])
{
    size_t nv = w->spill.kind[ROW_OCT].width[section] / sizeof *row;
    for (int i = 0, run; i < n; i += run) {
        for (run = 1; i + run < n; run++)
            if (ref[i + run].chunk != ref[i].chunk || ref[i + run].row != ref[i].row + (uint32_t)run) break;
        TRY(spill_get(&w->spill, ref[i].chunk, section, ref[i].row, run, row + (size_t)i * nv));
    }
    return OK;
}
