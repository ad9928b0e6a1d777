/* swarm: particles without a mesh over all ranks; see swarm.h. The frame of an open swarm is made
 * in frame.c, the domains in balance.c, migration is in send.c, ghosts in ghosts.c, shell.c and
 * fill.c. */
#include <string.h>

#include "base/mem.h"
#include "swarm/priv.h"

static const bool WALLS[6] = {true, true, true, true, true, true}, NO_WALLS[6] = {false};

void swarm_init(struct swarm *s, const struct comm *c, enum domain_kind kind, const double lo[3],
                const double side[3], bool periodic)
{
    memset(s, 0, sizeof *s);
    s->comm = c;
    s->open = !periodic;
    s->plan = mem_zero(sizeof *s->plan, "swarm");
    s->dom = domain_new(kind, c->size, SWARM_LEVEL, periodic ? NO_WALLS : WALLS);
    for (int a = 0; a < 3; a++) {
        s->frame.lo[a] = periodic ? lo[a] : 0;
        s->frame.side[a] = periodic ? side[a] : 1;
        s->frame.period[a] = periodic ? side[a] : 0;
    }
}

void swarm_fini(struct swarm *s)
{
    if (!s->plan) return;
    swarm_plan_clear(s->plan);
    FREE(s->plan);
    domain_free(s->dom);
    s->dom = NULL;
}

void swarm_add(struct swarm *s, void **data, size_t bytes, bool moves)
{
    BUG_ON(s->ncolumn == SWARM_COLUMNS);
    s->column[s->ncolumn++] = (struct swarm_column){data, bytes, moves};
}

/* ---- positions ---- */

/* Number of the first row whose position is not a number or too large; −1: none. */
static int64_t bad_row(const struct swarm *s)
{
    int64_t bad = INT64_MAX;
    double *const *x = s->x;
#pragma omp parallel for schedule(static) reduction(min : bad) if (s->n > SWARM_FEW)
    for (int64_t i = 0; i < s->n; i++) {
        const double at[3] = {x[0][i], x[1][i], x[2][i]};
        if (!near_has_place(at) && i < bad) bad = i;
    }
    return bad == INT64_MAX ? -1 : bad;
}

static enum err check_positions(const struct swarm *s)
{
    int64_t i = bad_row(s);
    if (i >= 0)
        FAIL(ERR_LIMIT,
             "particle in row %lld of rank %d is at %g %g %g: a position must be finite and below "
             "%g; a shorter step may help",
             (long long)i, s->comm->rank, s->x[0][i], s->x[1][i], s->x[2][i], NEAR_FAR);
    return OK;
}

static void wrap(struct swarm *s)
{
    for (int a = 0; a < 3; a++) {
        double *x = s->x[a], lo = s->frame.lo[a], side = s->frame.side[a];
#pragma omp parallel for schedule(static) if (s->n > SWARM_FEW)
        for (int64_t i = 0; i < s->n; i++) x[i] = near_wrapped(x[i], lo, side);
    }
}

/* Drops ghosts, and makes positions and frame those of this step. (collective, agreed) */
static enum err settle(struct swarm *s)
{
    s->ghosts = 0;
    swarm_plan_clear(s->plan);
    TRY(err_agree(s->comm, check_positions(s)));
    if (s->open)
        s->frame = swarm_frame(s);
    else
        wrap(s);
    if (!s->plan->settled) s->plan->home = s->frame;
    s->plan->settled = true;
    return OK;
}

enum err swarm_move(struct swarm *s)
{
    TRY(settle(s));
    swarm_send(s);
    return OK;
}

/* ---- domains ---- */

/* Samples of the cost: so many of each rank's share at least. A plane that cuts k samples of
 * such a share is wrong by about √k/2 of a sample's cost, here 0.1 % of the share. */
enum { SAMPLES = 1 << 14 };

struct samples {
    int *level;
    okey *key;
    double *cost;
    int64_t n;
};

/* Each sample is a run of successive particles in the order of keys, at the place of the one in its
 * middle: unlike the centres of cells, such places are on no lattice, whose planes would be all
 * that a domain can end at. */
static struct samples samples_new(const struct swarm *s, const double *cost, const int64_t *order,
                                  int64_t total)
{
    int64_t run = total / ((int64_t)SAMPLES * s->comm->size) + 1, n = (s->n + run - 1) / run;
    struct samples p = {.n = n};
    p.level = mem_new(sizeof *p.level * (size_t)n + 1, "swarm samples");
    p.key = mem_new(sizeof *p.key * (size_t)n + 1, "swarm samples");
    p.cost = mem_new(sizeof *p.cost * (size_t)n + 1, "swarm samples");
#pragma omp parallel for schedule(static) if (n > SWARM_FEW)
    for (int64_t k = 0; k < n; k++) {
        int64_t begin = k * run, end = begin + run < s->n ? begin + run : s->n,
                i = order[begin + (end - begin) / 2];
        p.level[k] = SWARM_LEVEL;
        p.key[k] = swarm_home(&s->frame, (double[3]){s->x[0][i], s->x[1][i], s->x[2][i]});
        p.cost[k] = 0;
        for (int64_t j = begin; j < end; j++) p.cost[k] += cost ? cost[order[j]] : 1;
    }
    return p;
}

static void samples_free(struct samples *p)
{
    FREE(p->level);
    FREE(p->key);
    FREE(p->cost);
}

/* Makes domains of equal cost in the present frame. (collective) */
static void domains_new(struct swarm *s, const double *cost, int64_t total)
{
    int64_t *order = swarm_order(s);
    struct samples p = samples_new(s, cost, order, total);
    struct domain_load load = {.n = p.n, .level = p.level, .key = p.key, .cost = p.cost};
    struct domain *d = domain_balance(s->dom, domain_kind(s->dom), s->comm, &load, NULL);
    domain_free(s->dom);
    s->dom = d;
    s->plan->home = s->frame;
    samples_free(&p);
    FREE(order);
}

enum err swarm_balance(struct swarm *s, const double *cost)
{
    int64_t total = s->n;
    double most = 0;
    for (int64_t i = 0; cost && i < s->n; i++)
        if (cost[i] > most) most = cost[i];
    TRY(settle(s));
    comm_add_i64(s->comm, &total, 1);
    comm_max_f64(s->comm, &most, 1);
    if (total > 0 && s->comm->size > 1) domains_new(s, most > 0 ? cost : NULL, total);
    swarm_send(s);
    int64_t *order = swarm_order(s);
    swarm_arrange(s, order);
    FREE(order);
    return OK;
}

double swarm_imbalance(const struct swarm *s, const double *cost)
{
    double sum = cost ? 0 : (double)s->n, most;
    for (int64_t i = 0; cost && i < s->n; i++) sum += cost[i];
    most = sum;
    comm_max_f64(s->comm, &most, 1);
    comm_add_f64(s->comm, &sum, 1);
    return sum > 0 ? most * s->comm->size / sum : 1;
}

size_t swarm_bytes(const struct swarm *s)
{
    const struct swarm_plan *p = s->plan;
    size_t rows = p->row ? (size_t)p->out[p->npeer] : 0;
    return sizeof *p + sizeof *p->row * rows +
           (size_t)p->npeer * (sizeof *p->peer + 2 * sizeof *p->out + 2 * sizeof *p->sbytes);
}
