/* tracer/sinks: Monte-Carlo tracers follow mass into sinks and jets (Cadiou, Dubois & Pichon 2019,
 * section 2.3).
 *
 * A gas tracer of a cell whose gas a sink has taken becomes a tracer of the sink (family -3,
 * partner: the id of the sink) with the probability of the share of the gas. As the sink takes gas
 * within the Godunov step, tracers jump first; those that are in the cell then stand for its gas
 * and for what the sink took. At the end of a coarse step tracers get the position and the
 * velocity of their sink.
 *
 * Gas that a black hole loads into its jets carries its tracers, with the probability of the share
 * of the gas of the cell, to random places in the jets by the weight of these. */
#include <math.h>
#include <string.h>

#include "tracer/flux.h"

MEM_ORDER2(order_of_meals, struct swap, key, s.id)
MEM_ORDER(order_by_key, struct swap, key)
MEM_ORDER(order_of_loads, struct jet_load, from.id)

/* ---- into sinks ---- */

static lidx oct_of(const struct mesh *m, const struct star_swap *s)
{
    return mesh_find(&m->lev[s->level],
                     okey_make((uint64_t)s->cell[0], (uint64_t)s->cell[1], (uint64_t)s->cell[2]) >>
                         3);
}

static int cell_of(const struct star_swap *s)
{
    return (int)((s->cell[0] & 1) | (s->cell[1] & 1) << 1 | (s->cell[2] & 1) << 2);
}

static okey key_of(const struct star_swap *s)
{
    return tracer_cell_key(s->level, s->cell);
}

/* Densities that sinks took become shares of the gas before: of what is left and what all took. */
static void meals_share(const struct tracer_run *r, struct star_swaps *k)
{
    const size_t n = (size_t)k->n;
    struct swap *w = mem_new(sizeof *w * n + 1, "tracers");
    for (size_t i = 0; i < n; i++) w[i] = (struct swap){.s = k->row[i], .key = key_of(&k->row[i])};
    mem_sort(w, n, sizeof *w, order_of_meals);
    for (size_t i = 0, end; i < n; i = end) {
        const lidx oct = oct_of(r->mesh, &w[i].s);
        double all = level_gas(&r->mesh->lev[w[i].s.level], GAS_DENSITY)[oct][cell_of(&w[i].s)];
        for (end = i; end < n && w[end].key == w[i].key; end++) all += w[end].s.share;
        for (size_t j = i; j < end; j++) w[j].s.share /= all;
    }
    k->n = 0;
    for (size_t i = 0; i < n; i++) { /* a cell may have met several images of a sink */
        if (i > 0 && order_of_meals(&w[i], &w[i - 1]) == 0)
            k->row[k->n - 1].share += w[i].s.share;
        else
            k->row[k->n++] = w[i].s;
    }
    FREE(w);
}

/* Events come once for each image of their place near this rank's octs. */
static int64_t meals_unique(struct swap *w, int64_t n)
{
    int64_t m = 0;
    for (int64_t i = 0; i < n; i++)
        if (i == 0 || order_of_meals(&w[i], &w[m - 1]) != 0) w[m++] = w[i];
    return m;
}

/* Bounds of the cells of meals, at the finest level. */
struct bounds {
    int64_t low[3], high[3];
};

static struct bounds bounds_of(const struct swap *w, int64_t n, int top)
{
    struct bounds b = {{INT64_MAX, INT64_MAX, INT64_MAX}, {-1, -1, -1}};
    for (int64_t i = 0; i < n; i++)
        for (int d = 0; d < 3; d++) {
            const int64_t wide = (int64_t)1 << (top - w[i].s.level), low = w[i].s.cell[d] * wide;
            b.low[d] = b.low[d] < low ? b.low[d] : low;
            b.high[d] = b.high[d] > low + wide - 1 ? b.high[d] : low + wide - 1;
        }
    return b;
}

/* Gas tracer i joins a sink if the gas that it stands for does. */
static void join_maybe(const struct tracer_run *r, int stream, int64_t i, const struct swap *meals,
                       int64_t n)
{
    struct parts *p = r->parts;
    int64_t cell[3] = {0, 0, 0};
    const int l = p->levelp[i];
    for (int d = 0; d < r->mesh->ndim; d++) cell[d] = (int64_t)mesh_cells(r->mesh, l, p->x[d][i]);
    const struct swap key = {.key = tracer_cell_key(l, cell)},
                      *w = mem_find(&key, meals, (size_t)n, sizeof key, order_by_key);
    if (!w) return;
    while (w > meals && w[-1].key == key.key) w--;
    struct rng g = tracer_rng(r, (uint64_t)p->id[i], stream, TRACER_USE_SINKS);
    double u = rng_uniform(&g);
    for (; w < meals + n && w->key == key.key; w++) {
        u -= w->s.share;
        if (u >= 0) continue;
        p->family[i] = FAM_CLOUD_TRACER;
        p->partner[i] = (int32_t)w->s.id;
        for (int d = 0; d < 3; d++) p->v[d][i] = 0;
        return;
    }
}

static bool within(const struct tracer_run *r, const struct bounds *b, int64_t i)
{
    const int top = r->mesh->levelmax;
    bool in = true;
    for (int d = 0; d < r->mesh->ndim; d++) {
        const int64_t at = (int64_t)mesh_cells(r->mesh, top, r->parts->x[d][i]);
        in &= at >= b->low[d] && at <= b->high[d];
    }
    return in;
}

enum err tracers_join_sinks(struct tracer_run *r, int l)
{
    struct star_swaps *k = &r->flux->ledger.captured;
    const struct parts *p = r->parts;
    struct events e = {0};
    int64_t any = k->n;
    comm_add_i64(r->comm, &any, 1);
    if (any == 0) return OK;
    meals_share(r, k);
    TRY(tracer_swaps_send(r, k, order_of_meals, &e));
    struct swap *meals = (struct swap *)e.payload;
    const int64_t n = meals_unique(meals, e.n);
    const struct bounds b = bounds_of(meals, n, r->mesh->levelmax);
#pragma omp parallel for schedule(static)
    for (int64_t i = p->first[l > 0 ? l : r->mesh->levelmin]; i < p->n; i++)
        if (tracer_jumps(p, i) && (l == 0 || p->levelp[i] == l) && within(r, &b, i))
            join_maybe(r, l, i, meals, n);
    events_free(&e);
    k->n = 0;
    return OK;
}

/* ---- with sinks ---- */

void tracers_follow_sinks(struct tracer_run *r, const struct sink_places *at)
{
    struct parts *p = r->parts;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < p->n; i++) {
        if (p->family[i] != FAM_CLOUD_TRACER) continue;
        const struct sink_place *w = sink_place_of(at, p->partner[i]);
        if (!w) continue;
        p->partner[i] = (int32_t)w->id;
        for (int d = 0; d < 3; d++) {
            p->x[d][i] = w->x[d];
            p->v[d][i] = w->v[d];
        }
    }
}

/* ---- into jets ---- */

/* A random place in the jets: along their axis uniform, off it by exp(-r^2/2 radius^2) up to the
 * radius. */
static void place_draw(const struct jet_load *j, struct rng *g, double x[3])
{
    const double radius = j->radius, along = radius * (2 * rng_uniform(g) - 1);
    const double off = radius * sqrt(-2 * log1p(rng_uniform(g) * expm1(-0.5)));
    const double angle = 2 * M_PI * rng_uniform(g);
    const int d = fabs(j->axis[0]) < 0.6 ? 0 : 1; /* an axis of the box that is off theirs */
    double a[3], b[3], length = 0;
    for (int k = 0; k < 3; k++) a[k] = (k == d) - j->axis[d] * j->axis[k];
    for (int k = 0; k < 3; k++) length += a[k] * a[k];
    for (int k = 0; k < 3; k++) a[k] /= sqrt(length);
    for (int k = 0; k < 3; k++)
        b[k] = j->axis[(k + 1) % 3] * a[(k + 2) % 3] - j->axis[(k + 2) % 3] * a[(k + 1) % 3];
    for (int k = 0; k < 3; k++)
        x[k] = j->x[k] + along * j->axis[k] + off * (cos(angle) * a[k] + sin(angle) * b[k]);
}

/* Gas tracer i goes into the jets of a hole if the gas that it stands for does, and if there is a
 * place in the box. */
static void launch_maybe(const struct tracer_run *r, int64_t i, const struct jet_load *at,
                         int64_t n)
{
    struct parts *p = r->parts;
    for (int64_t k = 0; k < n; k++) {
        const struct star_swap *s = &at[k].from;
        double x[3];
        bool in = p->levelp[i] == s->level;
        for (int d = 0; d < 3 && in; d++)
            in &= (int64_t)mesh_cells(r->mesh, s->level, p->x[d][i]) == s->cell[d];
        if (!in) continue;
        struct rng g = tracer_rng(r, (uint64_t)p->id[i] ^ rng_mix((uint64_t)s->id), 0,
                                  TRACER_USE_JETS);
        if (rng_uniform(&g) >= s->share) continue;
        place_draw(&at[k], &g, x);
        if (!part_wrap(r->mesh, x)) return;
        for (int d = 0; d < 3; d++) {
            p->x[d][i] = x[d];
            p->v[d][i] = 0;
        }
        p->partner[i] = PART_JUMPED; /* so that part_enter finds its oct */
        return;
    }
}

void tracers_launch(struct tracer_run *r)
{
    struct star_ledger *k = &r->flux->ledger;
    const struct parts *p = r->parts;
    const int64_t own = k->launched.n;
    const int l = r->mesh->levelmin;
    int64_t all = own;
    comm_add_i64(r->comm, &all, 1);
    if (all == 0) return;
    struct jet_load *at = mem_new(sizeof *at * (size_t)(all + own), "tracers");
    if (own) memcpy(at, k->launched.row, sizeof *at * (size_t)own);
    comm_union(r->comm, own, all, sizeof *at, at, 0, NULL);
    mem_sort(at, (size_t)all, sizeof *at, order_of_loads);
#pragma omp parallel for schedule(static)
    for (int64_t i = p->first[l]; i < p->n; i++)
        if (tracer_jumps(p, i)) launch_maybe(r, i, at, all);
    FREE(at);
    k->launched.n = 0;
    part_enter(r->parts, r->mesh, r->comm, r->dom, l);
    r->flux->settled[l] = 0;
    tracers_settle(r, l);
}
