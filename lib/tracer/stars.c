/* tracer/stars: Monte-Carlo tracers follow mass into stars and back (Cadiou, Dubois & Pichon 2019).
 *
 * A gas tracer of a cell whose gas has become a star becomes a star tracer with the probability of
 * the star's share of the gas. It gets the position, the velocity and the level of the star after
 * the star's first move; after that the same forces act on both, in the same cells, so that both
 * stay together to the last bit. When the star ejects mass, a star tracer becomes a gas tracer with
 * the probability of the share of the star, at the centre of the leaf cell at the star.
 *
 * A tracer may be on another rank than the new star: it has jumped, and gets to the rank of its
 * cell in the next step. So swaps are sent to all ranks whose octs touch the cell. */
#include "tracer/flux.h"

MEM_ORDER(order_by_cell, struct swap, key)
MEM_ORDER(order_by_star, struct swap, s.id)

struct star_ledger *tracers_ledger(struct tracer_flux *f)
{
    return &f->ledger;
}

enum err tracer_swaps_send(const struct tracer_run *r, const struct star_swaps *from,
                           mem_order *order, struct events *to)
{
    const size_t n = (size_t)from->n;
    struct event *e = mem_new(sizeof *e * n + 1, "tracers");
    struct swap *w = mem_new(sizeof *w * n + 1, "tracers");
    for (size_t k = 0; k < n; k++) {
        const struct star_swap *s = &from->row[k];
        w[k] = (struct swap){.s = *s, .key = tracer_cell_key(s->level, s->cell)};
        e[k] = (struct event){.id = s->id, .radius = 0.75 * mesh_dx(r->mesh, s->level)};
        for (int d = 0; d < r->mesh->ndim; d++) {
            e[k].x[d] = tracer_centre(r->mesh, s->level, s->cell[d]);
            if (s->at < 0) continue;
            w[k].x[d] = r->parts->x[d][s->at];
            w[k].v[d] = r->parts->v[d][s->at];
        }
    }
    enum err err = event_route(r->comm, r->dom, r->mesh, from->n, e, sizeof *w, w, to);
    if (err == OK) mem_sort(to->payload, (size_t)to->n, sizeof *w, order);
    FREE(e);
    FREE(w);
    return err;
}

/* Star tracer i becomes one of gas in the cell of the swap. */
static void release(const struct tracer_run *r, int64_t i, const struct swap *w)
{
    struct parts *p = r->parts;
    int number = 0;
    for (int d = 0; d < r->mesh->ndim; d++) {
        p->x[d][i] = tracer_centre(r->mesh, w->s.level, w->s.cell[d]);
        p->v[d][i] = 0;
        number |= (int)(w->s.cell[d] & 1) << d;
    }
    p->family[i] = FAM_GAS_TRACER;
    p->levelp[i] = w->s.level;
    p->partner[i] = number;
}

static void release_all(const struct tracer_run *r, int l, const struct events *e, int stream)
{
    const struct parts *p = r->parts;
#pragma omp parallel for schedule(static)
    for (int64_t i = p->first[l]; i < p->n; i++) {
        if (p->family[i] != FAM_STAR_TRACER) continue;
        const struct swap key = {.s.id = p->partner[i]},
                          *w = mem_find(&key, e->payload, (size_t)e->n, sizeof key, order_by_star);
        if (!w) continue;
        struct rng g = tracer_rng(r, (uint64_t)p->id[i], stream, TRACER_USE_EJECTA);
        if (rng_uniform(&g) < w->s.share) release(r, i, w);
    }
}

/* Gas tracer i, in the cell of a new star, joins it. */
static void join(struct parts *p, int64_t i, const struct swap *w)
{
    for (int d = 0; d < 3; d++) {
        p->x[d][i] = w->x[d];
        p->v[d][i] = w->v[d];
    }
    p->family[i] = FAM_STAR_TRACER;
    p->levelp[i] = w->s.level;
    p->partner[i] = (int32_t)w->s.id;
}

static void join_all(const struct tracer_run *r, int l, const struct events *e)
{
    const struct parts *p = r->parts;
#pragma omp parallel for schedule(static)
    for (int64_t i = p->first[l]; i < p->n; i++) {
        if (!tracer_on(p, i, l)) continue;
        int64_t cell[3] = {0, 0, 0};
        for (int d = 0; d < r->mesh->ndim; d++)
            cell[d] = (int64_t)mesh_cells(r->mesh, l, p->x[d][i]);
        const struct swap key = {.key = tracer_cell_key(l, cell)},
                          *w = mem_find(&key, e->payload, (size_t)e->n, sizeof key, order_by_cell);
        if (!w) continue;
        struct rng g = tracer_rng(r, (uint64_t)p->id[i], l, TRACER_USE_STARS);
        if (rng_uniform(&g) < w->s.share) join(r->parts, i, w);
    }
}

enum err tracers_swap(struct tracer_run *r, int l, bool coarse)
{
    struct star_ledger *k = &r->flux->ledger;
    struct events e = {0};
    int64_t n[2] = {k->born.n, k->ejected.n};
    comm_add_i64(r->comm, n, 2);
    if (n[1] > 0) {
        TRY(tracer_swaps_send(r, &k->ejected, order_by_star, &e));
        release_all(r, l, &e, coarse ? 0 : l);
        events_free(&e);
    }
    if (n[0] > 0) {
        TRY(tracer_swaps_send(r, &k->born, order_by_cell, &e));
        join_all(r, l, &e);
        events_free(&e);
    }
    k->born.n = k->ejected.n = 0;
    return OK;
}
