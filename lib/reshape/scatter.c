/* reshape/scatter: moves octs and particles from the source into the temporary files, list by list.
 *
 * One thread reads and transposes values from columns to rows; a second thread, if any, meanwhile
 * finds the ranks that need the octs of the previous batch, and spills these octs. Batches and
 * particles are spilled in the order of the source, whatever the threads. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "oct/transpose.h"
#include "reshape/priv.h"

void reshape_pieces(const struct source *s, const struct comm *c, int *first, int *last)
{
    *first = (int)((int64_t)s->npiece * c->rank / c->size);
    *last = (int)((int64_t)s->npiece * (c->rank + 1) / c->size);
}

okey reshape_base_oct(const struct ckpt_head *h, const double *const x[3], int64_t i)
{
    double side = (double)((int64_t)1 << (h->levelmin - 1));
    uint64_t q[3] = {0};
    for (int d = 0; d < h->ndim; d++) {
        double y = x[d][i];
        if (y < 0) y = y + h->boxlen;
        if (y >= h->boxlen) y = y - h->boxlen;
        q[d] = (uint64_t)fmin(fmax(y / h->boxlen * side, 0), side - 1);
    }
    return okey_make(q[0], q[1], q[2]);
}

/* HDF5: number of the target whose range contains this Morton position. */
static int find_cut(const struct reshape_plan *p, okey location)
{
    int lo = 0, hi = p->ncut - 1;
    while (lo < hi) {
        int mid = lo + (hi - lo + 1) / 2;
        if (p->cut[mid] <= location)
            lo = mid;
        else
            hi = mid - 1;
    }
    return lo;
}

/* Adds octs at..at+n-1 to a list. */
static enum err put_octs(struct reshaping *w, const struct oct_batch *b, int at, int n, int list,
                         bool own)
{
    for (int some; n > 0; at += some, n -= some) {
        char *section[SPILL_SECTIONS];
        some = n;
        TRY(spill_room(&w->r.spill, list, ROW_OCT, &some, section));
        struct oct_tree *tree = (struct oct_tree *)(void *)section[OCT_TREE];
        memset(tree, 0, sizeof *tree * (size_t)some); /* padding bytes are written to disk too */
        for (int i = 0; i < some; i++)
            tree[i].key = b->key[at + i], tree[i].split = b->split[at + i],
            tree[i].flag = b->flag[at + i], tree[i].own = own;
        for (int k = 0; k < 2; k++) {
            size_t bytes = w->r.spill.kind[ROW_OCT].width[OCT_GAS + k];
            memcpy(section[OCT_GAS + k], (char *)b->row[k] + bytes * (size_t)at,
                   bytes * (size_t)some);
        }
        TRY(spill_add(&w->r.spill, list, some));
    }
    return OK;
}

/* Finds the lowest ancestor, from the grandparent upwards, around which one rank owns everything,
 * so that its descendants need no copies. Returns how many levels up; 0: none. */
static int find_alone(struct reshaping *w, int level, okey key, int *owner)
{
    const struct domain *d = w->plan->domain;
    for (int up = MIXED; up > 0; up--) {
        okey above = key >> 3 * up;
        if (level <= up || (w->mixed_level[up - 1] == level && w->mixed[up - 1] == above)) continue;
        *owner = domain_rank(d, level - up, above);
        if (domain_near(d, *owner, level - up, above, w->near) == 0) return up;
        w->mixed_level[up - 1] = level, w->mixed[up - 1] = above;
    }
    return 0;
}

/* Number of octs from `at` on that belong to one target and need no copies; 0: the first one needs
 * copies or might need them. */
static int count_alone(struct reshaping *w, const struct oct_batch *b, int at, int *target)
{
    int l = b->level, n = 0;
    *target = -1;
    while (at + n < b->n) {
        okey key = b->key[at + n];
        int up = 0, owner = 0;
        if (w->plan->domain && (up = find_alone(w, l, key, &owner)) == 0) break;
        if (!w->plan->domain) owner = find_cut(w->plan, reshape_position(l, key));
        if (n && owner != *target) break;
        *target = owner;
        do n++;
        while (at + n < b->n && b->key[at + n] >> 3 * up == key >> 3 * up);
    }
    return n;
}

static enum err put_batch(struct reshaping *w, const struct oct_batch *b)
{
    const struct domain *d = w->plan->domain;
    int l = b->level;
    for (int i = 0, n; i < b->n; i += n) {
        int owner, copies = 0;
        n = count_alone(w, b, i, &owner);
        if (n == 0) {
            n = 1;
            owner = domain_rank(d, l, b->key[i]);
            copies = domain_near(d, owner, l, b->key[i], w->near);
        }
        TRY(put_octs(w, b, i, n, oct_list(&w->r, owner, l), true));
        w->r.own[oct_list(&w->r, owner, l)] += n;
        for (int k = 0; k < copies; k++)
            TRY(put_octs(w, b, i, n, oct_list(&w->r, w->near[k], l), false));
    }
    return OK;
}

static void batch_room(const struct reshaping *w, struct oct_batch *b, int n)
{
    const size_t *width = w->r.spill.kind[ROW_OCT].width;
    if (n <= b->room) return;
    b->room = n;
    b->key = mem_grow(b->key, sizeof *b->key * (size_t)n, "reshape batch");
    b->split = mem_grow(b->split, (size_t)n, "reshape batch");
    b->flag = mem_grow(b->flag, (size_t)n, "reshape batch");
    for (int k = 0; k < 2; k++)
        b->row[k] = mem_grow(b->row[k], width[OCT_GAS + k] * (size_t)n + 1, "reshape batch");
}

static void batch_free(struct oct_batch *b)
{
    FREE(b->key);
    FREE(b->split);
    FREE(b->flag);
    for (int k = 0; k < 2; k++) FREE(b->row[k]);
}

/* Values first..last-1 of all octs, from [value][cell][oct] to [oct][value][cell]; 0 in cells that
 * do not exist. */
static void turn(const struct source_octs *o, int cells, int first, int last, double (*row)[8])
{
    enum { SOME = 32 };
    static const double none[CKPT_BATCH];
    size_t nv = (size_t)(last - first);
    for (int i = 0; i < o->n; i += SOME)
        for (size_t v = 0; v < nv; v++) {
            const double *cell[8];
            for (int c = 0; c < 8; c++)
                cell[c] = c < cells ? o->val[8 * ((size_t)first + v) + (size_t)c] : none;
            transpose_columns(cell, i, o->n - i < SOME ? o->n - i : SOME, row + (size_t)i * nv + v,
                              nv);
        }
}

/* Updates the maximum difference in bits between stored and computed values. */
static void note_last(struct reshaping *w, const struct oct_batch *b)
{
    int nvar = w->r.asis.nvar;
    double u[CKPT_FIELDS][8];
    uint64_t word[CKPT_FIELDS][8];
    for (int i = 0; i < b->n && nvar; i++) {
        asis_oct(&w->r.asis, (const double(*)[8])b->row[0] + (size_t)i * (size_t)nvar, u, word);
        for (int v = 0; v < nvar; v++)
            for (int c = 0; c < 8; c++) w->r.last[b->level][v] |= word[v][c];
    }
}

/* On return the batch before the previous one has been spilled. */
static enum err scatter_octs(const struct source_octs *o, void *ctx)
{
    struct reshaping *w = ctx;
    struct oct_batch *b = &w->batch[w->turn];
    int gas = out_hydro(&w->r.o), cells = 1 << w->r.head.ndim;
    if (o->level < 1 || o->level > w->r.nlevel)
        FAIL(ERR_FORMAT, "%s: changed while it was read: it now has octs of level %d", w->r.s->path,
             o->level);
    batch_room(w, b, o->n);
    b->level = o->level, b->n = o->n;
    memcpy(b->key, o->key, sizeof *b->key * (size_t)o->n);
    memcpy(b->split, o->split, (size_t)o->n);
    for (int i = 0; i < o->n; i++) {
        unsigned flag = 0;
        for (int c = 0; c < cells; c++) flag |= (unsigned)(o->flag[i][c] == 1) << c;
        b->flag[i] = (unsigned char)flag;
    }
    turn(o, cells, 0, gas, b->row[0]);
    turn(o, cells, gas, w->r.s->nvalue, b->row[1]);
    note_last(w, b);
    w->turn ^= 1;
#pragma omp taskwait
    TRY(err_restore(&w->trouble));
#pragma omp task
    err_save(&w->trouble, put_batch(w, b), 0);
    return OK;
}

static enum err check_part(const struct reshaping *w, const struct source_parts *p, int64_t i)
{
    int64_t level = p->levelp[i];
    bool finite = true;
    for (int d = 0; d < w->r.head.ndim; d++) finite &= isfinite(p->x[d][i]) && isfinite(p->v[d][i]);
    if (!finite)
        FAIL(ERR_FORMAT,
             "%s: particle %ld has a position or velocity that is not finite: see inspect -cc",
             w->r.s->path, (long)p->id[i]);
    if (level < 1 || level > LEVEL_MAX)
        FAIL(ERR_FORMAT, "%s: particle %ld has level %ld, which is impossible: see inspect -cc",
             w->r.s->path, (long)p->id[i], (long)level);
    return OK;
}

static void count_part(struct reshaping *w, const struct source_parts *p, int64_t i)
{
    w->family[family_row(p->family[i])]++;
    out_span(w->span, p->id[i]);
    if (p->family[i] == FAM_STAR) sum_add(&w->stars, p->m[i]);
}

static void find_targets(const struct reshaping *w, const struct source_parts *p, int *target)
{
    const struct domain *d = w->plan->domain;
    const uint64_t n = (uint64_t)p->n;
#pragma omp taskloop grainsize(PART_TASK) if (n > PART_TASK)
    for (uint64_t i = 0; i < n; i++)
        target[i] = d ? domain_rank(d, w->r.head.levelmin, reshape_base_oct(&w->r.head, p->x, i))
                      : find_cut(w->plan, order_cell(&w->r.box, p->x, i));
}

/* Adds particles at..at+n-1 to a list. */
static enum err put_parts(struct reshaping *w, const void *const *column, int64_t at, int64_t n,
                          int list)
{
    const size_t *width = w->r.spill.kind[ROW_PART].width;
    for (int some; n > 0; at += some, n -= some) {
        char *section[SPILL_SECTIONS];
        some = (int)n;
        TRY(spill_room(&w->r.spill, list, ROW_PART, &some, section));
        for (int c = 0; c < w->r.spill.kind[ROW_PART].nsection; c++)
            if (width[c])
                memcpy(section[c], (const char *)column[c] + width[c] * (size_t)at,
                       width[c] * (size_t)some);
        TRY(spill_add(&w->r.spill, list, some));
    }
    return OK;
}

_Static_assert((int)COL_MAX <= (int)SPILL_SECTIONS, "a row has room for all columns");

/* Converts columns to the types that they have in memory. */
static enum err narrow_columns(struct reshaping *w, const struct source_parts *p,
                               const void *column[COL_MAX])
{
    const struct part_columns *s = &w->r.s->columns;
    for (int c = 0; c < s->n; c++) {
        const struct part_column *col = part_column(s, c);
        column[c] = w->part.narrow[c] ? w->part.narrow[c] : p->col[c];
        if (w->part.narrow[c] && !part_column_narrow(col->type, p->n, p->col[c], w->part.narrow[c]))
            FAIL(ERR_LIMIT,
                 "%s: column %s of the particles has a number that does not fit into %d byte%s",
                 w->r.s->path, col->name, part_type_size(col->type),
                 part_type_size(col->type) > 1 ? "s" : "");
    }
    return OK;
}

/* Groups consecutive particles with equal target: most neighbours in a file have one. */
static enum err scatter_parts(const struct source_parts *p, void *ctx)
{
    struct reshaping *w = ctx;
    struct part_batch *b = &w->part;
    const void *column[COL_MAX];
    BUG_ON(p->n > CKPT_PART_BATCH);
    for (int64_t i = 0; i < p->n; i++) {
        TRY(check_part(w, p, i));
        count_part(w, p, i);
    }
    TRY(narrow_columns(w, p, column));
    find_targets(w, p, b->target);
    for (int64_t i = 0, n; i < p->n; i += n) {
        for (n = 1; i + n < p->n && b->target[i + n] == b->target[i]; n++) continue;
        TRY(put_parts(w, column, i, n, part_list(&w->r, b->target[i])));
    }
    return OK;
}

static void scatter_begin(struct reshaping *w)
{
    struct part_batch *b = &w->part;
    if (!w->r.head.particles) return;
    b->target = mem_new(sizeof *b->target * CKPT_PART_BATCH, "reshape batch");
    for (int c = 0; c < w->r.s->columns.n; c++) {
        size_t size = (size_t)part_type_size(part_column(&w->r.s->columns, c)->type);
        if (w->r.s->columns.has[c] && size < BASE)
            b->narrow[c] = mem_new(size * CKPT_PART_BATCH, "reshape batch");
    }
}

static void scatter_end(struct reshaping *w)
{
    for (int k = 0; k < 2; k++) batch_free(&w->batch[k]);
    FREE(w->part.target);
    for (int c = 0; c < COL_MAX; c++) FREE(w->part.narrow[c]);
}

enum err reshape_scatter(struct reshaping *w)
{
    int first, last;
    enum err err = OK;
    reshape_pieces(w->r.s, w->r.c, &first, &last);
    scatter_begin(w);
    w->r.s->late = true; /* an error discards the output, so files may be checked late */
#pragma omp parallel
#pragma omp single
    {
        for (int i = first; i < last && err == OK; i++) {
            err = source_octs(w->r.s, i, w->opt->mode, scatter_octs, w);
#pragma omp taskwait
            if (err == OK) err = err_restore(&w->trouble);
            if (err == OK && w->r.head.particles)
                err = source_parts(w->r.s, i, SOURCE_STATE, scatter_parts, w);
        }
        err_save(&w->trouble, err, 0);
    }
    w->r.s->late = false;
    scatter_end(w);
    return err_restore(&w->trouble);
}
