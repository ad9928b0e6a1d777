/* reshape/plan: the weights of the parts of the box, and from them the domains or the ranges of
 * Morton order that are written. */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ckpt/files.h"
#include "io/dir.h"
#include "io/file.h"
#include "reshape/priv.h"
#include "reshape/weights.h"

/* limits of the number of rows of the table of weights: lower bound, and per rank */
enum { ROWS_MIN = 1 << 18, ROWS_A_RANK = 64 };

static enum err check_input(const struct reshape *opt, const struct source *s);
static enum err check_output(const struct reshape *opt);
static enum err weigh(struct source *s, const struct comm *c, bool again, struct weights *w);
static void make_domains(const struct reshape *opt, const struct source *s, const struct comm *c,
                         const struct weights *w, struct reshape_plan *p);

enum err reshape_plan(const struct reshape *opt, struct source *s, const struct comm *c,
                      struct reshape_plan *p)
{
    struct weights w = {0};
    *p = (struct reshape_plan){0};
    enum err err = check_input(opt, s);
    if (err == OK && opt->out) err = check_output(opt);
    TRY(err_agree(c, err));
    /* Bytes that simulate needs for an oct and for a particle. */
    double oct = (double)mesh_oct_bytes(ckpt_kind(&s->head, s->head.hydro ? s->head.nvar : 0)),
           part = (double)part_bytes(&s->columns);
    p->weight[0] = opt->weight[0] > 0 ? opt->weight[0] : oct;
    p->weight[1] = opt->weight[1] > 0 ? opt->weight[1] : part;
    p->weight[2] = opt->weight[2] > 0 ? opt->weight[2] : p->weight[1];
    int64_t rows = (int64_t)ROWS_A_RANK * opt->nrank;
    weights_begin(&w, rows > ROWS_MIN ? rows : ROWS_MIN);
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
        FAIL(ERR_LIMIT, "%s: levelmax is %d, but this build supports %d (make MORTON128=1 for 42)",
             s->path, h->levelmax, LEVEL_MAX);
    if (h->levelmin < 1 || h->levelmin > h->levelmax)
        FAIL(ERR_FORMAT,
             "%s: levelmin is %d and levelmax %d, which is impossible: the checkpoint is damaged",
             s->path, h->levelmin, h->levelmax);
    if (!(h->boxlen > 0) || !isfinite(h->boxlen))
        FAIL(ERR_FORMAT,
             "%s: boxlen is %g, which must be finite and above 0: the checkpoint is damaged",
             s->path, h->boxlen);
    const int beside = fields_count(s->values, FILE_HYDRO, 3) +
                       fields_count(s->values, FILE_GRAVITY, 3) +
                       PHOTON_VALUES * h->radiation.groups;
    if (opt->mode == SOURCE_STATE && s->nvalue != (h->hydro ? h->nvar : 0) + beside)
        FAIL(ERR_FORMAT,
             "%s: has %d values per cell, %d of them of the gas, which is not supported", s->path,
             s->nvalue, h->nvar);
    if (opt->writer->by_rank && (opt->nrank < 1 || opt->nrank > 99999))
        FAIL(ERR_PARAM, "the number of ranks to write for must be between 1 and 99999, not %d",
             opt->nrank);
    for (int k = 0; k < 3; k++)
        if (!(opt->weight[k] >= 0 && opt->weight[k] <= 1e9))
            FAIL(ERR_PARAM, "a weight must be between 0 and 1e9 bytes, not %g", opt->weight[k]);
    return OK;
}

/* Only a checkpoint is ever replaced: anything else at the output path is an error. */
static enum err check_output(const struct reshape *opt)
{
    if (!file_exists(opt->out)) return OK;
    if (!opt->overwrite) FAIL(ERR_FILE, "%s: exists already; --force replaces it", opt->out);
    DIR *d = opendir(opt->out);
    bool is = false, empty = d != NULL;
    for (struct dirent *e; d && (e = readdir(d));) {
        empty &= strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0;
        is |= files_has_role(files_of(e->d_name).kind, FILES_MAIN) ||
              strncmp(e->d_name, "group_", 6) == 0;
    }
    if (d) closedir(d);
    if (!is && !empty) FAIL(ERR_FILE, "%s: is not a checkpoint; it is not replaced", opt->out);
    return dir_may_remove(opt->out);
}

/* ---- weights ---- */

struct weighing {
    const struct source *s;
    struct weights *w;
    enum err err; /* error of weigh_keys */
};

static enum err weigh_octs(const struct source_octs *o, void *ctx)
{
    struct weighing *g = ctx;
    if (o->level < 1 || o->level > g->s->head.levelmax)
        FAIL(ERR_FORMAT,
             "%s: has octs of level %d, but its header has %d levels: the checkpoint is damaged",
             g->s->path, o->level, g->s->head.levelmax);
    weights_add_octs(g->w, o->level, o->n, o->key);
    return OK;
}

/* family: NULL if no particle belongs to a sink's cloud. */
static void add_parts(struct weighing *g, int64_t n, const double *const x[3],
                      const int64_t *family)
{
    const struct ckpt_head *h = &g->s->head;
    okey *key = mem_new(sizeof *key * (size_t)n + 1, "reshape batch");
#pragma omp parallel for schedule(static) if (n > PART_TASK)
    for (int64_t i = 0; i < n; i++) key[i] = reshape_base_oct(h, x, i);
    for (int64_t i = 0; i < n; i++)
        weights_add_part(g->w, h->levelmin, key[i], family && family[i] == FAM_CLOUD);
    FREE(key);
}

static enum err weigh_parts(const struct source_parts *p, void *ctx)
{
    add_parts(ctx, p->n, p->x, p->family);
    return OK;
}

/* Positions are enough: other data need not be read, nor checksums of files compared. */
static bool weigh_keys(void *ctx, int level, int n, const okey *key)
{
    struct weighing *g = ctx;
    if (g->err == OK)
        g->err = weigh_octs(&(struct source_octs){.level = level, .n = n, .key = key}, g);
    return false;
}

static bool weigh_positions(void *ctx, int64_t n, const double *const x[3])
{
    add_parts(ctx, n, x, NULL);
    return false;
}

static enum err weigh_piece(struct source *s, int piece, bool again, struct weighing *g)
{
    const struct ckpt_pick *was = s->pick,
                           locations = {.octs = weigh_keys, .parts = weigh_positions, .ctx = g};
    if (again) s->pick = &locations;
    enum err err = source_octs(s, piece, SOURCE_TREE, weigh_octs, g);
    if (err == OK) err = g->err;
    if (s->sinks->n > 0) s->pick = was; /* clouds are recognised by other columns than positions */
    if (err == OK && s->head.particles) err = source_parts(s, piece, SOURCE_STATE, weigh_parts, g);
    s->pick = was;
    return err;
}

/* again: the files will be read a second time, and are checked then */
static enum err weigh(struct source *s, const struct comm *c, bool again, struct weights *w)
{
    struct weighing g = {.s = s, .w = w};
    int first, last;
    reshape_pieces(s, c, &first, &last);
    for (int i = first; i < last; i++) TRY(weigh_piece(s, i, again, &g));
    return OK;
}

static double cost_of(const struct reshape_plan *p, const struct weight *r)
{
    return (double)r->octs * p->weight[0] + (double)r->parts * p->weight[1] +
           (double)r->clouds * p->weight[2];
}

static void add_loads(const struct reshape *opt, const struct comm *c, const struct weights *w,
                      struct reshape_plan *p)
{
    int64_t n = p->domain ? opt->nrank : 0,
            *sum = mem_zero(sizeof *sum * 3 * (size_t)(n + 1), "weights");
    for (int64_t i = 0; i < w->n; i++) {
        const struct weight *r = &w->row[i];
        int64_t k = p->domain ? domain_rank(p->domain, weight_level(r->code), weight_key(r->code))
                              : 0;
        for (; k <= n; k = k < n ? n : n + 1) {
            sum[3 * k] += r->octs;
            sum[3 * k + 1] += r->parts + r->clouds;
            sum[3 * k + 2] += r->clouds;
        }
    }
    comm_add_i64(c, sum, (int)(3 * (n + 1)));
    if (n) p->rank = mem_new(sizeof *p->rank * (size_t)n, "weights");
    for (int64_t k = 0; k <= n; k++) {
        const int64_t *s = sum + 3 * k;
        *(k < n ? &p->rank[k] : &p->total) = (struct reshape_load){
            .octs = s[0],
            .parts = s[1],
            .bytes = cost_of(p,
                             &(struct weight){.octs = s[0], .parts = s[1] - s[2], .clouds = s[2]})};
    }
    p->clouds = sum[3 * n + 2];
    FREE(sum);
}

/* Bytes that an HDF5 target needs: octs while they are sorted, particles with two sorting
 * arrays. */
static int64_t bytes_of(const struct weight *r, int nfurther)
{
    return r->octs * (int64_t)(sizeof(struct oct_item) + 8) +
           (r->parts + r->clouds) * (160 + BASE * nfurther);
}

MEM_ORDER(by_location, struct weight, code)

/* Ranges of Morton order, each of which fits into a quarter of the memory of a rank. Rank 0 has all
 * rows and cuts; the codes of the rows are replaced by positions. */
static void make_cuts(const struct reshape *opt, int nfurther, const struct comm *c,
                      const struct weights *w, struct reshape_plan *p)
{
    int64_t *count = mem_zero(sizeof *count * (size_t)c->size, "weights"), n;
    count[0] = w->n;
    struct weight *row = comm_exchange_all(c, w->row, count, sizeof *row, &n, NULL);
    for (int64_t i = 0; i < n; i++)
        row[i].code = reshape_position(weight_level(row[i].code), weight_key(row[i].code));
    mem_sort(row, (size_t)n, sizeof *row, by_location);
    p->cut = mem_zero(sizeof *p->cut * (size_t)(n + 2), "weights");
    int64_t budget = reshape_share(opt, c) / 4, sum = 0, ncut = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t more = bytes_of(&row[i], nfurther);
        if (ncut == 0 || (sum + more > budget && row[i].code != row[i - 1].code))
            p->cut[ncut++] = row[i].code, sum = 0;
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
    bool bounded[6];
    size_t n = (size_t)w->n;
    boundary_faces(&s->head.boundary, bounded);
    p->level = w->level < s->head.levelmax ? w->level : s->head.levelmax;
    if (opt->writer->by_rank) {
        int *level = mem_new(sizeof *level * n + 1, "weights");
        okey *key = mem_new(sizeof *key * n + 1, "weights");
        double *cost = mem_new(sizeof *cost * n + 1, "weights");
        for (size_t i = 0; i < n; i++) {
            level[i] = weight_level(w->row[i].code);
            key[i] = weight_key(w->row[i].code);
            cost[i] = cost_of(p, &w->row[i]);
        }
        struct domain *even = domain_new_in(s->head.ndim, opt->kind, opt->nrank, s->head.levelmax,
                                            bounded);
        if (s->head.magnetic) domain_set_margin(even, DOMAIN_MARGIN);
        p->domain = domain_balance(
            even, opt->kind, c,
            &(struct domain_load){.n = (int64_t)n, .level = level, .key = key, .cost = cost}, NULL);
        domain_free(even);
        FREE(level);
        FREE(key);
        FREE(cost);
    }
    if (!opt->writer->by_rank) make_cuts(opt, s->columns.n - COL_COUNT, c, w, p);
    add_loads(opt, c, w, p);
}
