/* resume/tree: sends octs to their owners as keys; builds domains, levels and links, and checks
 * them. */
#include <math.h>
#include <stdlib.h>

#include "adapt/adapt.h"
#include "adapt/install.h"
#include "base/mem.h"
#include "base/timer.h"
#include "resume/resume.h"

/* Message that describes an oct to its owner. */
struct seed {
    okey key;
    unsigned char split, flag, level, unused[5];
};

struct forest {
    struct resume *r;
    int64_t n[LEVEL_MAX + 2], cap[LEVEL_MAX + 2];
    struct seed *seed[LEVEL_MAX + 2];
    /* items of work of a rank for load balance: octs, then particles */
    int64_t nitem, item_cap;
    int *level;
    okey *key;
    double *cost;
};

static enum err take_seeds(const struct source_octs *o, void *ctx)
{
    struct forest *f = ctx;
    int l = o->level;
    int levelmax = f->r->mesh->levelmax;
    if (l > levelmax) return OK; /* levelmax of the run is below that of the checkpoint */
    if (f->n[l] + o->n > f->cap[l]) {
        f->cap[l] = 2 * f->cap[l] + o->n;
        f->seed[l] = mem_grow(f->seed[l], sizeof *f->seed[l] * (size_t)f->cap[l], "restart");
    }
    struct seed *to = f->seed[l] + f->n[l];
    for (int i = 0; i < o->n; i++) {
        unsigned flag = 0;
        for (int c = 0; c < 8; c++) flag |= (unsigned)(o->flag[i][c] != 0) << c;
        to[i] = (struct seed){
            .key = o->key[i], .split = l < levelmax ? o->split[i] : 0, .flag = (unsigned char)flag};
    }
    f->n[l] += o->n;
    return OK;
}

static void add_item(struct forest *f, int level, okey key, double cost)
{
    if (f->nitem && f->level[f->nitem - 1] == level && f->key[f->nitem - 1] == key) {
        f->cost[f->nitem - 1] += cost;
        return;
    }
    if (f->nitem == f->item_cap) {
        f->item_cap = 2 * f->item_cap + 1024;
        f->level = mem_grow(f->level, sizeof *f->level * (size_t)f->item_cap, "restart");
        f->key = mem_grow(f->key, sizeof *f->key * (size_t)f->item_cap, "restart");
        f->cost = mem_grow(f->cost, sizeof *f->cost * (size_t)f->item_cap, "restart");
    }
    f->level[f->nitem] = level;
    f->key[f->nitem] = key;
    f->cost[f->nitem++] = cost;
}

/* Adds the cost of particles to their base oct: finer octs may still be on other ranks. */
static void weigh(struct forest *f)
{
    const struct resume *r = f->r;
    int base = r->mesh->levelmin;
    double side = (double)((int64_t)1 << (base - 1));
    for (int l = 1; l <= r->mesh->levelmax; l++)
        for (int64_t i = 0; i < f->n[l]; i++) add_item(f, l, f->seed[l][i].key, r->oct_cost[l]);
    for (int64_t i = 0; r->parts && i < r->parts->n; i++) {
        uint64_t q[3];
        for (int d = 0; d < 3; d++)
            q[d] = (uint64_t)fmin(fmax(r->parts->x[d][i] / r->mesh->boxlen * side, 0), side - 1);
        add_item(f, base, okey_make(q[0], q[1], q[2]), r->part_cost);
    }
}

static void make_domains(struct forest *f)
{
    struct resume *r = f->r;
    r->dom = domain_new_of(r->mesh, r->kind, r->comm->size);
    if (r->comm->size == 1) return;
    weigh(f);
    struct domain *d = domain_balance(
        r->dom, r->kind, r->comm,
        &(struct domain_load){.n = f->nitem, .level = f->level, .key = f->key, .cost = f->cost},
        NULL);
    domain_free(r->dom);
    r->dom = d;
    FREE(f->level);
    FREE(f->key);
    FREE(f->cost);
}

MEM_ORDER(seed_order, struct seed, key)

/* Exchanges the octs of level l: each goes from the rank that read it to its owner. */
static void exchange_seeds(struct forest *f, int l)
{
    const struct resume *r = f->r;
    int64_t n = f->n[l], *order = mem_new(sizeof *order * (size_t)n + 1, "restart");
    struct seed *out = mem_new(sizeof *out * (size_t)n + 1, "restart");
    int *rank = mem_new(sizeof *rank * (size_t)n + 1, "restart");
    for (int64_t i = 0; i < n; i++) rank[i] = domain_rank(r->dom, l, f->seed[l][i].key);
    struct comm_counts to = comm_counts_of(n, rank, order);
    for (int64_t i = 0; i < n; i++) out[i] = f->seed[l][order[i]];
    FREE(f->seed[l]);
    f->seed[l] = comm_exchange(r->comm, out, &to, sizeof *out, &f->n[l], NULL);
    comm_counts_free(&to);
    FREE(rank);
    FREE(out);
    FREE(order);
}

/* Sends octs of level l to their owners, in Morton order; a duplicate oct is an error. */
static enum err send_seeds(struct forest *f, int l)
{
    const struct resume *r = f->r;
    if (r->comm->size > 1) exchange_seeds(f, l);
    bool sorted = true;
    for (int64_t i = 1; i < f->n[l]; i++) sorted &= f->seed[l][i - 1].key < f->seed[l][i].key;
    if (!sorted) mem_sort(f->seed[l], (size_t)f->n[l], sizeof *f->seed[l], seed_order);
    if (f->n[l] > INT32_MAX)
        FAIL(ERR_LIMIT, "a rank would hold %ld octs of level %d: use more ranks", (long)f->n[l], l);
    for (int64_t i = 1; i < f->n[l]; i++)
        if (f->seed[l][i - 1].key == f->seed[l][i].key)
            FAIL(ERR_FORMAT, "%s: an oct of level %d occurs twice: the checkpoint is damaged",
                 r->from->path, l);
    return OK;
}

/* Checks that the parent of every oct of this rank is on this rank (before links are made). */
static enum err check_parents(const struct resume *r, int l)
{
    const struct level *lv = &r->mesh->lev[l], *up = &r->mesh->lev[l - 1];
    int64_t octs = lv->nown;
    comm_add_i64(r->comm, &octs, 1);
    if (l <= r->mesh->levelmin && octs != (int64_t)1 << r->mesh->ndim * (l - 1))
        FAIL(ERR_FORMAT,
             "%s: level %d has %ld octs and is not complete, as levels up to levelmin must be: the "
             "checkpoint is damaged",
             r->from->path, l, (long)octs);
    for (lidx i = 0; l > 1 && i < lv->noct; i++) {
        bool same = i > 0 && lv->key[i] >> 3 == lv->key[i - 1] >> 3; /* siblings */
        if (!same && mesh_find(up, lv->key[i] >> 3) < 0)
            FAIL(ERR_FORMAT, "%s: an oct of level %d has no parent: the checkpoint is damaged",
                 r->from->path, l);
    }
    return OK;
}

static enum err check_links(const struct forest *f, int l)
{
    const struct mesh *m = f->r->mesh;
    const struct level *lv = &m->lev[l];
    for (lidx i = 0; i < lv->nown; i++) {
        unsigned split = 0;
        for (int c = 0; c < m->cells; c++) split |= (unsigned)(lv->child[i][c] >= 0) << c;
        if (split != f->seed[l][i].split)
            FAIL(ERR_FORMAT,
                 "%s: the refined cells of level %d and the octs of level %d do not match: the "
                 "checkpoint is damaged",
                 f->r->from->path, l, l + 1);
        if (l > m->levelmin && !mesh_is_graded(m, l, i))
            FAIL(ERR_FORMAT,
                 "%s: an oct of level %d touches one that is more than a level coarser: the "
                 "checkpoint is damaged",
                 f->r->from->path, l);
    }
    return OK;
}

static void set_flags(const struct forest *f, int l)
{
    const struct mesh *m = f->r->mesh;
    const struct level *lv = &m->lev[l];
    for (lidx i = 0; i < lv->nown; i++)
        for (int c = 0; c < m->cells; c++)
            lv->flag[i][c] = l < m->levelmin || (l < m->levelmax && (f->seed[l][i].flag >> c & 1));
}

static enum err make_levels(struct forest *f)
{
    const struct resume *r = f->r;
    struct mesh *m = r->mesh;
    bool filled[FIELD_ALL];
    resume_filled(r, filled);
    for (int l = 1; l <= m->levelmax; l++) {
        TRY(err_agree(r->comm, send_seeds(f, l)));
        okey *key = mem_new(sizeof *key * (size_t)f->n[l] + 1, "restart");
        for (int64_t i = 0; i < f->n[l]; i++) key[i] = f->seed[l][i].key;
        adapt_install(m, r->comm, r->dom, l, &(struct adapt_octs){(lidx)f->n[l], key, filled});
        FREE(key);
        TRY(err_agree(r->comm, check_parents(r, l)));
    }
    return OK;
}

static enum err grow_tree(struct forest *f)
{
    const struct resume *r = f->r;
    struct mesh *m = r->mesh;
    int first, last;
    enum err err = OK;
    resume_pieces(r, &first, &last);
    for (int i = first; i < last && err == OK; i++)
        err = source_octs(r->from, i, SOURCE_TREE, take_seeds, f);
    TRY(err_agree(r->comm, err));
    make_domains(f);
    TRY(make_levels(f));
    adapt_link(m);
    for (int l = 1; l <= m->levelmax && err == OK; l++) {
        err = check_links(f, l);
        set_flags(f, l);
    }
    return err_agree(r->comm, err);
}

enum err resume_tree(struct resume *r)
{
    timer_start("io");
    struct forest f = {.r = r};
    enum err err = grow_tree(&f);
    for (int l = 0; l < LEVEL_MAX + 2; l++) FREE(f.seed[l]);
    FREE(f.level);
    FREE(f.key);
    FREE(f.cost);
    return err;
}
