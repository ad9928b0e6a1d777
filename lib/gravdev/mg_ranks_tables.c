/* gravdev/mg_ranks_tables: the hierarchy of a level on devices of several ranks, equal to that of
 * grav/mg including ghosts. Owners send the masks of their octs, level by level, in exchanges
 * packed on the device; then each device makes its tables alone. Hosts receive counts, and the octs
 * of the finest shared level, which they solve (grav/mg_share). All memory for the exchanges is
 * allocated before the first of them; otherwise no rank begins. */
#include <string.h>

#include "base/mem.h"
#include "gravdev/mg_draft.h"

/* A device failure here is unrecoverable, since other ranks have begun the exchange. */
static void settle(const struct draft *t)
{
    BUG_ON(dev_wait(t->x->stream) != OK);
}

static bool is_shared(const struct draft *t, int k)
{
    return t->g->host->share && k == t->g->bottom;
}

/* ---- octs of a level ---- */

/* Allocates an array whose traffic is counted under another name. */
static enum err named(struct draft *t, void *pointer, lidx n, size_t size, const char *name)
{
    return dev_new(t->x->dev, pointer, size * (size_t)n + 1, name);
}

static enum err draft_room(struct draft *t, int l, int min)
{
    const int64_t shared = t->g->host->shared_max, all = t->m->lev[l].total;
    lidx n = 0;
    TRY(draft_make(t, &t->inside, 1, sizeof *t->inside));
    TRY(named(t, &t->slot, (lidx)(shared < all ? shared : all), sizeof *t->slot, MG_SHARED));
    for (int k = min; k < l; k++) {
        const lidx noct = t->m->lev[k].noct;
        TRY(draft_counts(t, &t->lev[k].octs, noct));
        TRY(draft_make(t, &t->lev[k].map, noct, sizeof(lidx)));
        TRY(draft_make(t, &t->lev[k].mask, noct, sizeof(double[8])));
        n = noct > n ? noct : n;
    }
    return draft_make(t, &t->mask, n, sizeof *t->mask);
}

/* Marks the own octs of level k of the mesh that have a child in the hierarchy. */
static void keep_own(struct draft *t, int k)
{
    struct draft_level *e = &t->lev[k], *fine = &t->lev[k + 1];
    const lidx n = t->m->lev[k].nown;
    dev_fill(t->x->stream, t->inside, 0, sizeof *t->inside);
    draft_launch(t, &mg_keep, n,
                 &(struct mg_keep_args){n, t->m->ndim, (const lidx(*)[8])t->x->image->lev[k].child,
                                        fine->map, (const double(*)[8])fine->mask, e->octs.is,
                                        t->mask, t->inside, NULL});
}

/* Assigns compact numbers to the octs marked in octs.is, optionally with masks. */
static void number(struct draft *t, int k, bool masks)
{
    struct draft_level *e = &t->lev[k];
    struct mg_dev_own *o = &t->g->lev[k];
    const lidx n = t->m->lev[k].noct;
    dev_scan(t->x->stream, e->octs.sum, e->octs.is, n);
    dev_get(t->x->stream, &o->n, e->octs.sum + t->m->lev[k].nown, sizeof o->n);
    dev_get(t->x->stream, &o->noct, e->octs.sum + n, sizeof o->noct);
    settle(t);
    if (o->noct < n)
        draft_launch(t, &mg_compact, n,
                     &(struct mg_compact_args){.n = n,
                                               .keep = e->octs.is,
                                               .first = e->octs.sum,
                                               .mesh_mask = (const double(*)[8])t->mask,
                                               .map = e->map,
                                               .mask = masks ? e->mask : NULL});
    else {
        dev_drop(t->x->stream, e->map);
        e->map = NULL;
        if (masks) dev_copy(t->x->stream, e->mask, t->mask, sizeof *t->mask * (size_t)n);
    }
}

/* Numbers the kept octs, including ghosts; returns whether a cell of an own oct is inside. */
static bool keep_all(struct draft *t, int k)
{
    const struct level *lv = &t->m->lev[k];
    int32_t inside;
    grav_exchange_level(t->d, t->m, k,
                        (struct grav_payload){.what = PAYLOAD_ROWS,
                                              .use = COMM_MULTIGRID,
                                              .n = 1,
                                              .arr = {t->mask},
                                              .stride = {sizeof *t->mask}});
    draft_launch(t, &mg_retained, lv->noct - lv->nown,
                 &(struct mg_retained_args){lv->nown, lv->noct, (const double(*)[8])t->mask,
                                            t->lev[k].octs.is});
    dev_get(t->x->stream, &inside, t->inside, sizeof inside);
    number(t, k, true);
    return inside;
}

/* ---- the finest shared level ---- */

/* Copies the own octs of the shared level to the host, as far as they fit; returns the number. */
static int64_t slots_get(struct draft *t, int k, struct mg_slot *to, int64_t *inside)
{
    const struct level *lv = &t->m->lev[k];
    struct draft_level *e = &t->lev[k];
    const int64_t room = mg_share_max(t->g->host, t->m, k);
    int32_t n;
    dev_scan(t->x->stream, e->octs.sum, e->octs.is, lv->nown);
    draft_launch(t, &mg_slots, lv->nown,
                 &(struct mg_slots_args){lv->nown, room, e->octs.is, e->octs.sum,
                                         (const double(*)[8])t->mask, t->slot});
    dev_get(t->x->stream, &n, e->octs.sum + lv->nown, sizeof n);
    settle(t);
    const int64_t got = n < room ? n : room;
    struct mg_own_slot *p = mem_new(sizeof *p * (size_t)got + 1, "multigrid");
    dev_get(t->x->stream, p, t->slot, sizeof *p * (size_t)got);
    settle(t);
    for (int64_t i = 0; i < got; i++) {
        to[i].key = lv->key[p[i].oct];
        memcpy(to[i].mask, p[i].mask, sizeof to[i].mask);
        for (int q = 0; q < 8; q++) *inside |= p[i].mask[q] > 0;
    }
    mem_free(p);
    return n;
}

/* Assigns numbers to the shared octs of level k of the mesh; the host keeps their rows. */
static void number_shared(struct draft *t, int k)
{
    const struct level *lv = &t->m->lev[k];
    struct mg_dev_own *o = &t->g->lev[k];
    const lidx nghost = lv->noct - lv->nown;
    lidx *row = t->g->row = mem_new(sizeof *row * (size_t)lv->noct + 1, "multigrid"), n = 0;
    mg_share_rows(t->g->host->share, lv, row);
    if (t->g->top <= t->m->levelmin) { /* complete level, in which all octs are shared */
        o->n = lv->nown;
        o->noct = lv->noct;
        return;
    }
    int32_t *is = mem_new(sizeof *is * (size_t)nghost + 1, "multigrid");
    for (lidx i = 0; i < nghost; i++) is[i] = row[lv->nown + i] >= 0;
    dev_put(t->x->stream, t->lev[k].octs.is + lv->nown, is, sizeof *is * (size_t)nghost);
    number(t, k, false);
    mem_free(is);
    for (lidx i = 0; i < lv->noct; i++)
        if (row[i] >= 0) row[n++] = row[i];
    BUG_ON(n != o->noct);
}

static bool share(struct draft *t, int k, const int64_t *inside_here)
{
    struct mg *host = t->g->host;
    int64_t inside[LEVEL_MAX + 2];
    memcpy(inside, inside_here, sizeof inside);
    struct mg_slot *p = mg_share_own_slots(host, t->m, k);
    int64_t n = slots_get(t, k, p, &inside[k]);
    return mg_share_join(host, t->m, t->d->comm, k, n, p, t->g->lev[k + 1].n, inside);
}

/* ---- levels ---- */

static void complete(struct draft *t, int min)
{
    struct mg_dev *g = t->g;
    const int k = mg_share_first(g->host, t->m, t->d->comm);
    g->bottom = k >= min ? k : min;
    if (k >= min) mg_share_complete(g->host, t->m, k);
    for (int q = g->bottom; q < g->top; q++) {
        g->lev[q].n = t->m->lev[q].nown;
        g->lev[q].noct = t->m->lev[q].noct;
    }
}

/* Builds levels down to the coarsest one with a cell inside on any rank, or to the shared level. */
static void subsets(struct draft *t, int min)
{
    struct mg_dev *g = t->g;
    int64_t inside[LEVEL_MAX + 2] = {0};
    int shared = mg_share_first(g->host, t->m, t->d->comm);
    for (int k = g->top - 1; k >= min; k--) {
        keep_own(t, k);
        if (k == shared && share(t, k, inside)) {
            g->bottom = g->host->bottom;
            return;
        }
        if (k == shared) shared--;
        inside[k] = keep_all(t, k);
    }
    comm_max_i64(t->d->comm, inside, g->top);
    g->bottom = g->top;
    while (g->bottom > min && inside[g->bottom - 1]) g->bottom--;
}

/* ---- tables of a level ---- */

/* Finds the exchange of octs with compact numbers; its counts are in transit afterwards. */
static enum err exchange_find(struct draft *t, int k)
{
    struct draft_level *e = &t->lev[k];
    struct mg_dev_own *o = &t->g->lev[k];
    const struct xplan *p = &t->m->lev[k].plan;
    const int32_t peers = p->npeer;
    struct ghost_dev_plan *all;
    o->plan.plan = e->map ? &o->own_plan : p;
    if (!e->map) return OK;
    o->own_plan = (struct xplan){.shared = p->shared, .npeer = peers};
    if (peers == 0) return OK;
    const size_t firsts = sizeof(lidx) * (size_t)(peers + 1);
    const lidx nsend = p->sfirst[peers], n = nsend + p->rfirst[peers];
    o->own_plan.peer = mem_new(sizeof *p->peer * (size_t)peers, "exchange plans");
    o->own_plan.sfirst = mem_new(firsts, "exchange plans");
    o->own_plan.rfirst = mem_new(firsts, "exchange plans");
    memcpy(o->own_plan.peer, p->peer, sizeof *p->peer * (size_t)peers);
    TRY(ghost_dev_level(t->d->ghost, t->m, k, &all));
    TRY(ghost_dev_plan_need(t->d->ghost, all));
    TRY(draft_counts(t, &e->entries, n));
    TRY(draft_make(t, &e->first, 2 * (peers + 1), sizeof(lidx)));
    draft_launch(t, &mg_entries, n, &(struct mg_entries_args){n, all->list, e->map, e->entries.is});
    dev_scan(t->x->stream, e->entries.sum, e->entries.is, n);
    draft_launch(
        t, &mg_entries_first, 1,
        &(struct mg_entries_first_args){peers, nsend, all->list + n, e->entries.sum, e->first});
    dev_get(t->x->stream, o->own_plan.sfirst, e->first, firsts);
    dev_get(t->x->stream, o->own_plan.rfirst, e->first + peers + 1, firsts);
    return OK;
}

static enum err exchange_make(struct draft *t, int k)
{
    struct draft_level *e = &t->lev[k];
    struct mg_dev_own *o = &t->g->lev[k];
    const struct xplan *p = &t->m->lev[k].plan;
    const int32_t peers = p->npeer;
    struct ghost_dev_plan *all;
    if (!e->map || peers == 0) return OK;
    const lidx n = p->sfirst[peers] + p->rfirst[peers],
               cached = o->own_plan.sfirst[peers] + o->own_plan.rfirst[peers];
    TRY(ghost_dev_level(t->d->ghost, t->m, k, &all));
    TRY(draft_make(t, &o->plan.list, cached + 2 * (peers + 1), sizeof(lidx)));
    draft_launch(t, &mg_entries_list, n,
                 &(struct mg_entries_list_args){n, all->list, e->map, e->entries.is, e->entries.sum,
                                                o->plan.list});
    dev_copy(t->x->stream, o->plan.list + cached, e->first, sizeof(lidx) * 2 * (size_t)(peers + 1));
    return OK;
}

/* Makes the links of a level with sweeps; counts are in transit afterwards. */
static enum err swept_find(struct draft *t, int k)
{
    struct draft_level *e = &t->lev[k];
    struct mg_dev_own *o = &t->g->lev[k];
    const struct level *im = &t->x->image->lev[k];
    const lidx n = t->m->lev[k].noct, nghost = o->noct - o->n;
    if (e->map) {
        TRY(draft_make(t, &o->nbr, o->noct, sizeof(lidx[6])));
        draft_launch(t, &mg_compact, n,
                     &(struct mg_compact_args){.n = n,
                                               .keep = e->octs.is,
                                               .first = e->octs.sum,
                                               .mesh_nbr = (const lidx(*)[6])im->nbr,
                                               .map = e->map,
                                               .nbr = o->nbr});
    }
    TRY(draft_counts(t, &e->halo, nghost));
    TRY(draft_make(t, &e->read, o->noct, sizeof *e->read));
    draft_launch(t, &mg_halo, nghost,
                 &(struct mg_halo_args){o->n, o->noct, draft_nbr(t, k), e->halo.is});
    dev_scan(t->x->stream, e->halo.sum, e->halo.is, nghost);
    dev_get(t->x->stream, &o->nhalo, e->halo.sum + nghost, sizeof o->nhalo);
    dev_fill(t->x->stream, e->read, 0, sizeof *e->read * (size_t)o->noct);
    draft_launch(t, &mg_read, o->noct,
                 &(struct mg_read_args){o->n, o->noct, draft_nbr(t, k), e->halo.is, e->read});
    TRY(exchange_find(t, k));
    return draft_boundaries_find(t, k);
}

/* Makes the links between level k and level k+1, whose octs that sweeps read are known; counts are
 * in transit afterwards. */
static enum err between_find(struct draft *t, int k)
{
    struct draft_level *e = &t->lev[k];
    struct mg_dev_own *o = &t->g->lev[k];
    TRY(draft_children(t, k));
    TRY(draft_counts(t, &e->wants, o->noct));
    draft_launch(
        t, &mg_wants, o->noct,
        &(struct mg_wants_args){o->noct, draft_child(t, k), t->lev[k + 1].read, e->wants.is});
    dev_scan(t->x->stream, e->wants.sum, e->wants.is, o->noct);
    dev_get(t->x->stream, &o->ncube, e->wants.sum + o->noct, sizeof o->ncube);
    return OK;
}

static enum err swept_make(struct draft *t, int k)
{
    struct draft_level *e = &t->lev[k];
    struct mg_dev_own *o = &t->g->lev[k];
    const lidx nghost = o->noct - o->n;
    const bool over = k > t->g->bottom && is_shared(t, k - 1);
    TRY(draft_make(t, &o->halo, o->nhalo, sizeof(lidx)));
    draft_launch(t, &mg_list, nghost,
                 &(struct mg_list_args){nghost, o->n, e->halo.is, e->halo.sum, o->halo});
    TRY(exchange_make(t, k));
    TRY(draft_boundaries_make(t, k));
    if (k < t->g->top) TRY(draft_make(t, &o->rhs, o->noct, sizeof(double[8])));
    return named(t, &o->mean, o->noct, sizeof(double), over ? MG_SHARED : "multigrid");
}

static enum err between_make(struct draft *t, int k)
{
    struct draft_level *e = &t->lev[k];
    struct mg_dev_own *o = &t->g->lev[k];
    TRY(draft_make(t, &o->cube, o->ncube, sizeof(struct mg_cube)));
    draft_launch(
        t, &mg_cubes, t->m->lev[k].noct,
        &(struct mg_cubes_args){t->x->mesh_dev, k, e->map, e->wants.is, e->wants.sum, o->cube});
    return named(t, &o->u, o->noct, sizeof(double[8]), is_shared(t, k) ? MG_SHARED : "multigrid");
}

/* Finds the slots of the mean residuals of the level above the shared one, for the host. */
static enum err share_link(struct draft *t)
{
    struct mg_dev *g = t->g;
    const int k = g->bottom;
    struct draft_level *e = &t->lev[k];
    struct mg_dev_own *o = &g->lev[k];
    const lidx n = g->lev[k + 1].n;
    struct mg_level *fine = &g->host->lev[k + 1];
    TRY(draft_make(t, &e->up, g->lev[k + 1].noct, sizeof *e->up));
    draft_launch(t, &mg_ups, o->noct,
                 &(struct mg_ups_args){o->noct, t->m->cells, draft_child(t, k), NULL, NULL, e->up});
    lidx *slot = mem_new(sizeof *slot * (size_t)n + 1, "multigrid");
    dev_get(t->x->stream, slot, e->up, sizeof *slot * (size_t)n);
    enum err err = dev_wait(t->x->stream);
    for (lidx j = 0; j < n && err == OK; j++) slot[j] = 8 * g->row[slot[j] / 8] + slot[j] % 8;
    mg_share_slots(g->host->share, slot);
    fine->nown = n;
    fine->mean = mem_new(sizeof *fine->mean * (size_t)n + 1, "multigrid");
    g->come = mem_new(sizeof *g->come * (size_t)o->noct + 1, "multigrid");
    return err;
}

static enum err tables(struct draft *t)
{
    const struct mg_dev *g = t->g;
    for (int k = g->top; k >= g->bottom; k--) {
        if (!is_shared(t, k)) TRY(swept_find(t, k));
        if (k < g->top) TRY(between_find(t, k));
    }
    TRY(dev_wait(t->x->stream));
    for (int k = g->bottom; k <= g->top; k++) {
        if (!is_shared(t, k)) TRY(swept_make(t, k));
        if (k < g->top) TRY(between_make(t, k));
    }
    return g->host->share ? share_link(t) : OK;
}

/* ---- the hierarchy ---- */

static enum err build(struct draft *t, int l, int min)
{
    struct mg_dev *g = t->g;
    const bool refined = l > t->m->levelmin;
    enum err err = refined ? draft_room(t, l, min) : OK;
    int64_t lacks = err != OK;
    comm_max_i64(t->d->comm, &lacks, 1);
    if (lacks) return err;
    mirror_send(t->x, t->m);
    g->lev[l].n = t->m->lev[l].nown;
    g->lev[l].noct = t->m->lev[l].noct;
    if (refined)
        subsets(t, min);
    else
        complete(t, min);
    if (g->host->share) number_shared(t, g->bottom);
    TRY(tables(t));
    g->known = true;
    return OK;
}

enum err mg_ranks_need(struct grav_dev *d, const struct mesh *m, int l, struct grav_par *p)
{
    struct mg_dev *g = &d->mg[l];
    struct draft t = {.d = d, .g = g, .x = d->mirror, .m = m};
    settle(&t);
    mg_dev_drop(d, g);
    g->top = g->bottom = l;
    g->host = mem_zero(sizeof *g->host, "multigrid");
    g->host->on_device = true;
    g->host->top = l;
    g->host->shared_max = 2 * (int64_t)p->mg_shared_octs;
    g->host->try_shared = p->shared_level[l];
    enum err err = build(&t, l, mg_min(m, l));
    p->shared_level[l] = g->host->try_shared;
    if (err != OK) {
        settle(&t); /* waits for counts in transit */
        mg_dev_drop(d, g);
    }
    draft_drop(&t);
    for (int k = 1; k <= l; k++) g->octs[k] = m->lev[k].octs;
    return err;
}
