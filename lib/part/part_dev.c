/* part/part_dev: copies of particles to and from a device, and launches of kernels. */
#include <string.h>

#include "base/mem.h"
#include "part/dev_priv.h"
#include "part/sort.h"

enum {
    NEAR = 6,       /* log2 of the octs in a row, as in sort.c */
    DISORDER = 32,  /* inverse of the disorder at which particles are sorted, as in sort.c */
    SWAPPERS = 1024 /* number of blocks that share the swaps */
};

static int64_t min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

enum err part_dev_make(struct part_dev *x, void *pointer, size_t bytes, const char *name)
{
    return dev_new(x->dev, pointer, bytes + 1, name);
}

void part_dev_drop(struct part_dev *x, void *pointer)
{
    void **p = pointer;
    dev_free(x->dev, *p);
    *p = NULL;
}

enum err part_dev_new(struct part_dev **x, struct mirror *mirror)
{
    struct part_dev *y = *x = mem_zero(sizeof *y, "device");
    y->dev = mirror->dev;
    y->stream = mirror->stream;
    y->mirror = mirror;
    y->location = LOCATION_HOST;
    enum err err = part_dev_make(y, &y->count, sizeof *y->count * COUNT_SIZE, "particle counts");
    if (err == OK)
        err = part_dev_make(y, &y->digit, sizeof *y->digit * 4 * DEV_SUM, "particle sums");
    if (err == OK) err = part_dev_make(y, &y->top, sizeof *y->top * PART_SUMMERS, "particle sums");
    if (err != OK) part_dev_free(x);
    return err;
}

static void columns_drop(struct part_dev *x)
{
    for (int c = 0; c < COL_MAX; c++) part_dev_drop(x, &x->col[c]);
    part_dev_drop(x, &x->host);
    part_dev_drop(x, &x->key);
    part_dev_drop(x, &x->tmp);
    part_dev_drop(x, &x->order);
    x->cap = 0;
}

static void rows_drop(struct part_dev *x)
{
    part_dev_drop(x, &x->mass);
    part_dev_drop(x, &x->number);
    x->rows = 0;
}

void part_dev_free(struct part_dev **x)
{
    struct part_dev *y = *x;
    if (!y) return;
    columns_drop(y);
    rows_drop(y);
    part_dev_drop(y, &y->packets);
    part_dev_drop(y, &y->few.p);
    part_dev_drop(y, &y->count);
    part_dev_drop(y, &y->digit);
    dev_digits_free(&y->sums.digits, y->dev);
    part_dev_drop(y, &y->top);
    FREE(*x);
}

/* ---- location ---- */

static size_t size_of(const struct parts *p, int c)
{
    return (size_t)part_type_size(part_column(&p->columns, c)->type);
}

static enum err columns_make(struct part_dev *x, const struct parts *p)
{
    int64_t cap = p->n + p->n / 32 + 1;
    bool same = x->cap >= p->n && x->cap > 0;
    for (int c = 0; c < p->columns.n; c++) same &= !p->columns.has[c] || x->col[c];
    if (same) return OK;
    if (p->n >= INT32_MAX)
        FAIL(ERR_LIMIT, "%lld particles on a device: the limit is 2^31", (long long)p->n);
    TRY(dev_wait(x->stream));
    columns_drop(x);
    for (int c = 0; c < p->columns.n; c++)
        if (p->columns.has[c])
            TRY(part_dev_make(x, &x->col[c], size_of(p, c) * (size_t)cap, "particles"));
    TRY(part_dev_make(x, &x->host, sizeof *x->host * (size_t)cap, "particles"));
    TRY(part_dev_make(x, &x->key, sizeof *x->key * (size_t)(cap + 1), "particle sort"));
    TRY(part_dev_make(x, &x->tmp, sizeof *x->tmp * (size_t)(cap + 1), "particle sort"));
    TRY(part_dev_make(x, &x->order, sizeof *x->order * (size_t)(cap + 1), "particle sort"));
    x->cap = cap;
    return OK;
}

enum err part_dev_need(struct part_dev *x, struct parts *p, int location)
{
    if (x->location & location) return OK;
    if (location == LOCATION_DEVICE) TRY(columns_make(x, p));
    /* the device may have received more particles */
    if (location == LOCATION_HOST) part_reserve(p, p->n);
    size_t n = (size_t)p->n;
    for (int c = 0; c < p->columns.n; c++) {
        if (!p->columns.has[c]) continue;
        if (location == LOCATION_DEVICE)
            dev_put(x->stream, x->col[c], p->col[c], size_of(p, c) * n);
        else
            dev_get(x->stream, p->col[c], x->col[c], size_of(p, c) * n);
    }
    if (location == LOCATION_DEVICE)
        dev_put(x->stream, x->host, p->host, sizeof *p->host * n);
    else
        dev_get(x->stream, p->host, x->host, sizeof *p->host * n);
    TRY(dev_wait(x->stream));
    x->location |= location;
    /* the device has its own scratch memory */
    if (location == LOCATION_DEVICE) part_scratch_free(p);
    return OK;
}

void part_dev_wrote(struct part_dev *x)
{
    x->location = LOCATION_HOST;
}

bool part_dev_has(const struct part_dev *x, int location)
{
    return x->location & location;
}

struct part_view part_dev_view(const struct part_dev *x)
{
    return (struct part_view){.x = {x->col[COL_X], x->col[COL_Y], x->col[COL_Z]},
                              .v = {x->col[COL_VX], x->col[COL_VY], x->col[COL_VZ]},
                              .m = x->col[COL_MASS],
                              .levelp = x->col[COL_LEVEL],
                              .host = x->host,
                              .family = x->col[COL_FAMILY]};
}

/* Brings particles and the links of levels first … last to the device. */
static enum err begin(struct part_dev *x, struct parts *p, const struct mesh *m, int first,
                      int last)
{
    for (int l = first < 1 ? 1 : first; l <= last; l++) TRY(mirror_links(x->mirror, m, l));
    mirror_send(x->mirror, m);
    return part_dev_need(x, p, LOCATION_DEVICE);
}

/* ---- between octs, levels, ranks ---- */

struct part_table part_dev_table(const struct part_dev *x, const struct parts *p)
{
    struct part_table t = {0};
    for (int c = 0; c < p->columns.n; c++) {
        if (!p->columns.has[c]) continue;
        t.col[t.n] = x->col[c];
        t.size[t.n++] = (int8_t)size_of(p, c);
    }
    t.col[t.n] = x->host;
    t.size[t.n++] = sizeof *x->host;
    return t;
}

/* Permutes all columns of particles first … first+n-1 by x->order, as many columns at a time as fit
 * into x->tmp. */
static void permute(struct part_dev *x, const struct parts *p, int64_t first, int64_t n)
{
    const struct part_table all = part_dev_table(x, p);
    for (int c = 0; c < all.n;) {
        struct parts_gather_args a = {
            .first = first, .n = n, .order = x->order, .tmp = (char *)x->tmp};
        for (int64_t room = x->cap + 1; c < all.n; c++) {
            room -= part_words(all.size[c], n);
            if (room < 0) break;
            a.table.col[a.table.n] = all.col[c];
            a.table.size[a.table.n++] = all.size[c];
        }
        dev_launch(x->stream, &parts_gather, dev_blocks(n), &a);
        dev_launch(x->stream, &parts_return, dev_blocks(n), &a);
    }
}

/* Gets the count of particles with hosts on other ranks, and whether the piece first … first+n-1 is
 * out of order. */
static enum err totals(struct part_dev *x, int64_t first, int64_t n, lidx octs, int32_t *away,
                       bool *disorder)
{
    int32_t count[COUNT_SIZE];
    dev_launch(x->stream, &parts_disorder, dev_blocks(n - 1),
               &(struct parts_disorder_args){x->host + first, n, NEAR, x->count});
    dev_get(x->stream, count, x->count, sizeof count);
    TRY(dev_wait(x->stream));
    int64_t returns = count[COUNT_CHANGES] - (octs >> NEAR), descents = count[COUNT_DESCENTS];
    *away = count[COUNT_AWAY];
    *disorder = (descents > returns ? descents : returns) * DISORDER > n;
    return OK;
}

/* Finds the hosts of the particles of level l. */
static enum err rehost(struct part_dev *x, struct parts *p, const struct mesh *m, int l,
                       int32_t *away, bool *disorder)
{
    const int64_t first = p->first[l], n = p->n - first, piece = p->run[l + 1] - first;
    *away = 0;
    *disorder = false;
    if (n == 0) return OK;
    x->location = LOCATION_DEVICE;
    dev_fill(x->stream, x->count, 0, sizeof *x->count * COUNT_SIZE);
    dev_launch(x->stream, &parts_rehost, dev_blocks(n),
               &(struct parts_rehost_args){x->mirror->mesh_dev, part_dev_view(x), l, first, p->n,
                                           x->count});
    return totals(x, first, piece > 0 ? piece : 1, m->lev[l].noct, away, disorder);
}

static void sort(struct part_dev *x, const struct parts *p, int64_t first, int64_t n)
{
    dev_launch(x->stream, &parts_keys, dev_blocks(n),
               &(struct parts_keys_args){x->host + first, n, x->key, x->order});
    dev_sort(x->stream, x->key, x->order, n);
    permute(x, p, first, n);
}

enum err part_dev_enter(struct part_dev *x, struct parts *p, const struct mesh *m,
                        const struct comm *c, const struct domain *d, int l)
{
    int32_t away;
    bool disorder;
    TRY(begin(x, p, m, l, l));
    part_forget(p, l);
    part_runs_tidy(p, m, l);
    TRY(rehost(x, p, m, l, &away, &disorder));
    part_dev_migrate(x, p, m, c, d, l, p->first[l], away);
    part_runs_tidy(p, m, l);
    if (!(x->location & LOCATION_DEVICE))
        part_sort(p, p->first[l], p->run[l + 1]);
    else if (disorder)
        sort(x, p, p->first[l], p->run[l + 1] - p->first[l]);
    return OK;
}

enum err part_dev_count(struct part_dev *x, struct parts *p, const struct mesh *m,
                        int32_t *const count[LEVEL_MAX + 2])
{
    struct parts_count_args a = {.mesh = x->mirror->mesh_dev, .n = p->n};
    int64_t octs = 0;
    TRY(begin(x, p, m, m->levelmin, m->levelmax));
    for (int l = m->levelmin; l <= m->levelmax; octs += m->lev[l++].noct) a.first[l] = octs;
    TRY(part_dev_make(x, &a.count, sizeof *a.count * (size_t)octs, "particle counts"));
    a.p = part_dev_view(x);
    dev_fill(x->stream, a.count, 0, sizeof *a.count * (size_t)octs);
    dev_launch(x->stream, &parts_count, dev_blocks(a.n), &a);
    for (int l = m->levelmin; l <= m->levelmax; l++)
        dev_get(x->stream, count[l], a.count + a.first[l],
                sizeof *a.count * (size_t)m->lev[l].noct);
    enum err err = dev_wait(x->stream);
    part_dev_drop(x, &a.count);
    return err;
}

/* Marks particles in refined cells, and moves them behind the others if necessary. */
static enum err sink_down(struct part_dev *x, struct parts *p, int l, int32_t *down, int32_t *away)
{
    const int64_t first = p->first[l], n = p->n - first;
    int32_t *mark = (int32_t *)(void *)x->key, *up = (int32_t *)(void *)x->tmp, *index = x->order;
    x->location = LOCATION_DEVICE;
    dev_fill(x->stream, x->count, 0, sizeof *x->count * COUNT_SIZE);
    dev_launch(x->stream, &parts_mark, dev_blocks(n),
               &(struct parts_mark_args){x->mirror->mesh_dev, part_dev_view(x), l, first, n, mark,
                                         x->count});
    dev_scan(x->stream, index, mark, n);
    dev_get(x->stream, down, index + n, sizeof *down);
    dev_get(x->stream, away, x->count + COUNT_AWAY, sizeof *away);
    TRY(dev_wait(x->stream));
    if (*down == 0) return OK;
    const int64_t middle = n - *down;
    dev_launch(x->stream, &parts_misplaced, dev_blocks(n),
               &(struct parts_misplaced_args){mark, index, n, middle, up, up + n});
    dev_launch(x->stream, &parts_swap, min(dev_blocks(min(middle, *down)), SWAPPERS),
               &(struct parts_swap_args){part_dev_table(x, p), up, up + n, index + middle, first});
    dev_launch(x->stream, &parts_turn, dev_blocks(*down),
               &(struct parts_turn_args){x->host, first + middle, p->n});
    return OK;
}

enum err part_dev_hand_down(struct part_dev *x, struct parts *p, const struct mesh *m,
                            const struct comm *c, const struct domain *d, int l)
{
    int32_t down = 0, away = 0;
    const bool finer = l < m->levelmax && m->lev[l + 1].noct > 0;
    TRY(begin(x, p, m, l, l + finer));
    part_forget(p, l);
    if (finer && p->n > p->first[l]) TRY(sink_down(x, p, l, &down, &away));
    const int64_t middle = p->n - down;
    p->run[l + 1] = middle;
    if (l < m->levelmax) part_dev_migrate(x, p, m, c, d, l + 1, middle, away);
    p->first[l + 1] = middle;
    part_runs_tidy(p, m, l + 1);
    return OK;
}

enum err part_dev_merge(struct part_dev *x, struct parts *p, const struct mesh *m, int l)
{
    int64_t first = p->first[l + 1];
    part_forget(p, l + 1);
    if (p->n > first) {
        TRY(begin(x, p, m, l + 1, l + 1));
        x->location = LOCATION_DEVICE;
        dev_launch(x->stream, &parts_parent, dev_blocks(p->n - first),
                   &(struct parts_parent_args){x->mirror->mesh_dev, l + 1, x->host, first, p->n});
    }
    for (int k = l + 1; k < LEVEL_MAX + 3; k++) p->first[k] = p->n;
    return OK;
}

/* ---- deposit ---- */

static enum err rows_make(struct part_dev *x, lidx n)
{
    size_t rows = (size_t)n + (size_t)n / 8;
    if (x->number && n <= x->rows) return OK;
    dev_drop(x->stream, x->mass);
    dev_drop(x->stream, x->number);
    x->mass = x->number = NULL;
    x->rows = 0;
    TRY(part_dev_make(x, &x->mass, sizeof(int64_t[8]) * rows, "deposit"));
    TRY(part_dev_make(x, &x->number, sizeof(int64_t[8]) * rows, "deposit"));
    x->rows = (int64_t)rows;
    return OK;
}

enum err part_dev_deposit_need(struct part_dev *x, struct parts *p, const struct mesh *m, int l)
{
    TRY(begin(x, p, m, l, l));
    return rows_make(x, m->lev[l].noct);
}

/* Deposits into x->mass, x->number. */
static enum err deposit_dev(struct part_dev *x, struct parts *p, const struct mesh *m, int l,
                            const struct deposit_rule *rule, bool number)
{
    const size_t bytes = sizeof(int64_t[8]) * (size_t)m->lev[l].noct;
    const int64_t n = p->n - p->first[l];
    TRY(part_dev_deposit_need(x, p, m, l));
    dev_fill(x->stream, x->mass, 0, bytes);
    if (number) dev_fill(x->stream, x->number, 0, bytes);
    dev_launch(x->stream, &parts_deposit, (n + PART_PER_BLOCK - 1) / PART_PER_BLOCK,
               &(struct parts_deposit_args){.mesh = x->mirror->mesh_dev,
                                            .p = part_dev_view(x),
                                            .rule = *rule,
                                            .l = l,
                                            .depth = l - 1 < PART_DEPTH ? l - 1 : PART_DEPTH,
                                            .begin = p->first[l],
                                            .end = p->n,
                                            .mass = x->mass,
                                            .number = number ? x->number : NULL});
    return OK;
}

static enum err add_rows(struct part_dev *x, lidx n, const int64_t *from, int64_t (*to)[8])
{
    const size_t bytes = sizeof *to * (size_t)n;
    int64_t(*sum)[8] = mem_new(bytes + 1, "deposit");
    dev_get(x->stream, sum, from, bytes);
    enum err err = dev_wait(x->stream);
    for (lidx i = 0; i < n && err == OK; i++)
        for (int c = 0; c < 8; c++) to[i][c] += sum[i][c];
    FREE(sum);
    return err;
}

enum err part_dev_deposit(struct part_dev *x, struct parts *p, const struct mesh *m, int l,
                          double quantum, double mass_cut, int cic_levelmax, int64_t (*mass)[8],
                          int64_t (*number)[8])
{
    const struct deposit_rule rule = part_deposit_rule(p, l, quantum, mass_cut, cic_levelmax);
    TRY(deposit_dev(x, p, m, l, &rule, number));
    if (number) TRY(add_rows(x, m->lev[l].noct, x->number, number));
    return add_rows(x, m->lev[l].noct, x->mass, mass);
}

enum err part_dev_deposit_density(struct part_dev *x, struct parts *p, const struct mesh *m, int l,
                                  double quantum, double mass_cut, int cic_levelmax,
                                  int64_t (**mass)[8], int64_t (**number)[8])
{
    const struct deposit_rule rule = part_deposit_rule(p, l, quantum, mass_cut, cic_levelmax);
    TRY(deposit_dev(x, p, m, l, &rule, number));
    *mass = (int64_t(*)[8])(void *)x->mass;
    if (number) *number = (int64_t(*)[8])(void *)x->number;
    return OK;
}

/* ---- kick and drift ---- */

static int reflect_of(const struct parts *p)
{
    int bits = 0;
    for (int f = 0; f < 6; f++) bits |= p->reflect[f] << f;
    return bits;
}

enum err part_dev_synchro(struct part_dev *x, struct parts *p, const struct mesh *m, int l,
                          const double *dtnew, const double *dtold)
{
    struct parts_kick_args a = {.l = l,
                                .begin = p->first[l],
                                .end = p->first[l + 1],
                                .gravity = m->gravity,
                                .is_static = p->is_static,
                                .tracers = p->tracers,
                                .frozen = p->frozen,
                                .reflect = reflect_of(p)};
    TRY(begin(x, p, m, 1, l));
    if (a.end > a.begin) x->location = LOCATION_DEVICE;
    p->retained[l] = 0;
    a.mesh = x->mirror->mesh_dev;
    a.p = part_dev_view(x);
    memcpy(a.dtnew, dtnew, sizeof a.dtnew);
    memcpy(a.dtold, dtold, sizeof a.dtold);
    dev_launch(x->stream, &parts_kick, dev_blocks(a.end - a.begin), &a);
    return OK;
}

enum err part_dev_move(struct part_dev *x, struct parts *p, const struct mesh *m, int l, double dt)
{
    struct parts_move_args a = {.l = l,
                                .begin = p->first[l],
                                .end = p->first[l + 1],
                                .gravity = m->gravity,
                                .is_static = p->is_static,
                                .tracers = p->tracers,
                                .frozen = p->frozen,
                                .reflect = reflect_of(p),
                                .dt = dt};
    TRY(begin(x, p, m, 1, l));
    if (a.end > a.begin) x->location = LOCATION_DEVICE;
    p->retained[l] = 0;
    a.mesh = x->mirror->mesh_dev;
    a.p = part_dev_view(x);
    dev_launch(x->stream, &parts_move, dev_blocks(a.end - a.begin), &a);
    return OK;
}

/* ---- sums ---- */

enum err part_dev_vmax_begin(struct part_dev *x, struct parts *p, int l, struct dev_stream *s)
{
    int64_t first = p->first[l], end = p->first[l + 1];
    struct part_fastest *f = &x->fastest;
    f->s = s;
    f->n = min(dev_blocks(end - first), PART_SUMMERS);
    if (f->n == 0) return OK;
    TRY(part_dev_need(x, p, LOCATION_DEVICE));
    dev_follow(s, x->stream);
    dev_launch(s, &parts_fastest, f->n,
               &(struct parts_fastest_args){part_dev_view(x), first, end, p->tracers, x->top});
    dev_get(s, f->top, x->top, sizeof *f->top * (size_t)f->n);
    return OK;
}

enum err part_dev_vmax(struct part_dev *x, struct parts *p, int l, double *vmax)
{
    struct part_fastest *f = &x->fastest;
    *vmax = 0;
    if (!f->s) TRY(part_dev_vmax_begin(x, p, l, x->stream));
    enum err err = dev_wait(f->s);
    f->s = NULL;
    for (int64_t i = 0; i < f->n; i++) *vmax = *vmax > f->top[i] ? *vmax : f->top[i];
    return err;
}

static enum err sums_begin(struct part_dev *x, struct parts *p, int64_t first, int64_t end,
                           bool moments, struct dev_stream *s)
{
    struct part_sums *q = &x->sums;
    memset(q->digit, 0, sizeof q->digit);
    q->s = s;
    q->digits.s = NULL;
    if (end == first) return OK;
    TRY(part_dev_need(x, p, LOCATION_DEVICE));
    TRY(dev_digits_need(&q->digits, x->stream, moments ? 4 : 1, DEV_SUM, "particle sums"));
    dev_follow(s, x->stream);
    dev_fill(s, x->digit, 0, sizeof q->digit);
    dev_launch(s, &parts_sums, min(dev_blocks(end - first), PART_SUMMERS),
               &(struct parts_sums_args){part_dev_view(x), first, end, moments, x->digit});
    dev_digits_pack(&q->digits, s, x->digit);
    dev_digits_get(&q->digits, s);
    return OK;
}

static enum err sums_end(struct part_dev *x, int n, struct sum *sum)
{
    struct part_sums *q = &x->sums;
    enum err err = dev_digits_take(&q->digits, q->digit[0]);
    if (err == OK) err = dev_wait(q->s);
    q->s = NULL;
    for (int j = 0; j < n; j++) {
        struct sum part = {.bad = q->digit[j][SUM_DIGITS]};
        memcpy(part.digit, q->digit[j], sizeof part.digit);
        sum_join(&sum[j], &part);
    }
    return err;
}

enum err part_dev_kinetic_begin(struct part_dev *x, struct parts *p, int l, struct dev_stream *s)
{
    return sums_begin(x, p, p->first[l], p->first[l + 1], false, s);
}

enum err part_dev_kinetic(struct part_dev *x, struct parts *p, int l, struct sum *ekin)
{
    if (!x->sums.s) TRY(part_dev_kinetic_begin(x, p, l, x->stream));
    return sums_end(x, 1, ekin);
}

enum err part_dev_mass(struct part_dev *x, struct parts *p, int n, struct sum *sum)
{
    TRY(sums_begin(x, p, 0, p->n, true, x->stream));
    return sums_end(x, n, sum);
}
