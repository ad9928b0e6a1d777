/* patch/patch_dev: tiles, registers and kernel launches of a step. */
#include "patch/patch_dev.h"

#include <string.h>

#include "patch/courant.h"
#include "patch/reflux.h"

static void tiles_drop(struct patch_dev *h, struct patch_tiles *t)
{
    void *all[] = {t->first, t->slot, t->parent};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) dev_drop(h->stream, all[i]);
    *t = (struct patch_tiles){0};
}

void patch_dev_init(struct patch_dev *h, struct mirror *m)
{
    *h = (struct patch_dev){.mirror = m, .dev = m->dev, .stream = m->stream};
}

void patch_dev_fini(struct patch_dev *h)
{
    for (int l = 0; l < LEVEL_MAX + 2; l++) tiles_drop(h, &h->tiles[l]);
    dev_free(h->dev, h->rows.p);
    dev_free(h->dev, h->tile.p);
    dev_free(h->dev, h->out.p);
    dev_free(h->dev, h->signals.out.p);
}

/* ---- tiles ---- */

/* Work arrays between launches; the first allocation that fails sets the error. */
struct scratch {
    struct patch_dev *h;
    enum err err;
    int n;
    void *p[4];
};

static void *scratch_take(struct scratch *s, size_t bytes, const char *name)
{
    void *p = NULL;
    if (s->err == OK) s->err = dev_new(s->h->dev, &p, bytes + 1, name);
    if (p) s->p[s->n++] = p;
    return p;
}

static void scratch_drop(struct scratch *s)
{
    while (s->n > 0) dev_drop(s->h->stream, s->p[--s->n]);
}

/* Gets one number from the device. */
static enum err fetch(struct patch_dev *h, int32_t *to, const int32_t *from)
{
    dev_get(h->stream, to, from, sizeof *to);
    return dev_wait(h->stream);
}

static enum err tiles_first(struct patch_dev *h, const struct mesh *m, int l, struct patch_tiles *t)
{
    const lidx nown = m->lev[l].nown;
    struct scratch s = {.h = h};
    int32_t *head = scratch_take(&s, sizeof *head * (size_t)nown, "hydro tiles"),
            *index = scratch_take(&s, sizeof *index * (size_t)(nown + 1), "hydro tiles");
    enum err err = s.err;
    if (err != OK) goto out;
    dev_launch(h->stream, &tile_heads, dev_blocks(nown),
               &(struct tile_heads_args){h->mirror->image->lev[l].key, nown, t->depth, head});
    dev_scan(h->stream, index, head, nown);
    TRY_OUT(fetch(h, &t->n, index + nown));
    TRY_OUT(dev_new(h->dev, &t->first, sizeof *t->first * (size_t)(t->n + 1), "hydro tiles"));
    dev_launch(h->stream, &tile_firsts, dev_blocks(nown + 1),
               &(struct tile_firsts_args){head, index, nown, t->first});
out:
    scratch_drop(&s);
    return err;
}

static enum err tiles_slots(struct patch_dev *h, int l, struct patch_tiles *t)
{
    struct scratch s = {.h = h};
    int32_t *missing = scratch_take(&s, sizeof *missing * (size_t)t->n, "hydro tiles"),
            *base = scratch_take(&s, sizeof *base * (size_t)(t->n + 1), "hydro tiles");
    const struct mesh *mesh = h->mirror->mesh_dev;
    enum err err = s.err;
    if (err != OK) goto out;
    TRY_OUT(dev_new(h->dev, &t->slot, sizeof *t->slot * DEV_SLOTS * (size_t)t->n, "hydro tiles"));
    dev_launch(
        h->stream, &tile_slots, t->n,
        &(struct tile_slots_args){mesh, l, t->depth, t->corners, t->first, t->slot, missing});
    dev_scan(h->stream, base, missing, t->n);
    TRY_OUT(fetch(h, &t->nmissing, base + t->n));
    TRY_OUT(
        dev_new(h->dev, &t->parent, sizeof *t->parent * (size_t)t->nmissing + 1, "hydro tiles"));
    if (t->nmissing > 0)
        dev_launch(h->stream, &tile_rows, t->n,
                   &(struct tile_rows_args){mesh, l, t->depth, t->first, base, t->slot, t->parent});
out:
    scratch_drop(&s);
    return err;
}

static enum err tiles_find(struct patch_dev *h, const struct mesh *m, int l, const struct law *law)
{
    struct patch_tiles *t = &h->tiles[l];
    int depth = l - 1 < DEV_DEPTH ? l - 1 : DEV_DEPTH, corners = law->corners;
    uint64_t octs[2] = {m->lev[l].octs, m->lev[l - 1].octs};
    if (t->known && t->octs[0] == octs[0] && t->octs[1] == octs[1] && t->depth == depth &&
        t->corners == corners)
        return OK;
    tiles_drop(h, t);
    t->depth = depth;
    t->corners = corners;
    memcpy(t->octs, octs, sizeof octs);
    TRY(tiles_first(h, m, l, t));
    TRY(tiles_slots(h, l, t));
    t->known = true;
    return OK;
}

/* ---- step ---- */

static enum err need_fields(struct patch_dev *h, struct mesh *m, int l, const struct law *law)
{
    for (int v = 0; v < law->nfield; v++)
        TRY(mirror_need(h->mirror, m, l, law->field[v], 1, LOCATION_DEVICE));
    return OK;
}

/* Sends all inputs of a step of level l to the device. */
static enum err need_all(struct patch_dev *h, struct mesh *m, int l, const struct law *law)
{
    struct mirror *x = h->mirror;
    for (int k = l > 2 ? l - 2 : 1; k <= l; k++) TRY(mirror_links(x, m, k));
    mirror_send(x, m);
    TRY(tiles_find(h, m, l, law));
    TRY(need_fields(h, m, l, law));
    for (int k = l - 1; k >= 1 && k >= l - 2 && h->tiles[l].nmissing > 0; k--)
        TRY(need_fields(h, m, k, law));
    for (int k = l; k <= l + 1 && k <= m->levelmax; k++)
        TRY(mirror_need(x, m, k, FLD_REFLUX + law->system, 1, LOCATION_DEVICE));
    mirror_send(x, m);
    return OK;
}

static int blocks_of(const struct patch_dev *h, int l)
{
    const int blocks = 2 * dev_processors(h->dev);
    return blocks < h->tiles[l].n ? blocks : h->tiles[l].n;
}

/* The memory of a step, whatever is in it. */
static enum err room_all(struct patch_dev *h, int l, lidx nown, const struct law *law,
                         const struct patch_kernels *k)
{
    const size_t row = sizeof(double) * 8 * (size_t)(law->nvar + LAW_BESIDE),
                 cells = sizeof(double) * 8 * (size_t)nown;
    TRY(dev_room_need(h->stream, &h->rows, row * (size_t)h->tiles[l].nmissing,
                      "hydro missing octs"));
    TRY(dev_room_need(h->stream, &h->tile,
                      sizeof(double) * DEV_CELLS * (size_t)blocks_of(h, l) * (size_t)k->planes,
                      "hydro tile scratch"));
    if (k->old) TRY(dev_room_need(h->stream, k->old, cells * (size_t)law->nvar, "old photons"));
    return dev_room_need(h->stream, &h->out, cells * (size_t)law->nvar, "mesh gas");
}

static enum err advance(struct patch_dev *h, int l, lidx nown, const struct law *law,
                        const struct patch_kernels *k)
{
    const struct patch_tiles *t = &h->tiles[l];
    struct patch_args *a = k->args;
    TRY(room_all(h, l, nown, law, k));
    if (t->nmissing > 0)
        dev_launch(h->stream, k->missing ? k->missing : &patch_missing, dev_blocks(t->nmissing),
                   &(struct patch_missing_args){h->mirror->mesh_dev, k->par, l, t->nmissing,
                                                t->parent, h->rows.p, *law});
    a->first = t->first;
    a->slot = t->slot;
    a->row = h->rows.p;
    a->scratch = h->tile.p;
    a->planes = k->planes;
    a->out = h->out.p;
    dev_launch(h->stream, k->step, blocks_of(h, l), a);
    struct patch_take_args take = {.mesh = h->mirror->mesh_dev,
                                   .l = l,
                                   .nvar = law->nvar,
                                   .cells = 8 * (int64_t)nown,
                                   .from = a->out,
                                   .old = k->old ? k->old->p : NULL};
    for (int v = 0; v < law->nvar; v++) take.field[v] = law->field[v];
    dev_launch(h->stream, &patch_take, dev_blocks(take.cells), &take);
    return OK;
}

enum err patch_dev_prepare(struct patch_dev *h, struct mesh *m, int l, const struct law *law,
                           const struct patch_kernels *k)
{
    if (m->lev[l].nown == 0) return OK;
    TRY(need_all(h, m, l, law));
    return room_all(h, l, m->lev[l].nown, law, k);
}

enum err patch_dev_update(struct patch_dev *h, struct mesh *m, int l, double dt,
                          const struct law *law, const struct patch_kernels *k)
{
    struct mirror *x = h->mirror;
    if (m->lev[l].nown == 0) return OK;
    TRY(need_all(h, m, l, law));
    bool own = mirror_has_reflux(x, m, l, law->system),
         below = l < m->levelmax && mirror_has_reflux(x, m, l + 1, law->system);
    *k->args = (struct patch_args){.mesh = x->mesh_dev,
                                   .level = x->image->lev[l],
                                   .l = l,
                                   .ndim = m->ndim,
                                   .depth = h->tiles[l].depth,
                                   .nvar = law->nvar,
                                   .nflux = law->nflux,
                                   .tiles = h->tiles[l].n,
                                   .dt = dt,
                                   .dx = mesh_dx(m, l),
                                   .reflux = (own ? 1 : 0) | (below ? 2 : 0)};
    TRY(advance(h, l, m->lev[l].nown, law, k));
    for (int v = 0; v < law->nvar; v++) mirror_wrote(x, l, law->field[v], 1, LOCATION_DEVICE);
    if (own) mirror_wrote(x, l, FLD_REFLUX + law->system, 1, LOCATION_DEVICE);
    return OK;
}

/* ---- the Courant condition ---- */

enum err patch_dev_courant_begin(struct patch_dev *h, struct mesh *m, int l, const struct law *law,
                                 const struct patch_courant_kernel *k, struct dev_stream *s)
{
    struct patch_signals *x = &h->signals;
    x->s = s;
    x->blocks = dev_blocks(8 * (int64_t)m->lev[l].nown);
    if (x->blocks > COURANT_BLOCKS) x->blocks = COURANT_BLOCKS;
    if (x->blocks == 0) return OK;
    TRY(need_fields(h, m, l, law));
    mirror_send(h->mirror, m);
    TRY(dev_room_need(h->stream, &x->out, sizeof x->max, "hydro time step"));
    dev_follow(s, h->stream);
    *k->args = (struct patch_courant_args){h->mirror->mesh_dev, l, x->out.p};
    dev_launch(s, k->kernel, x->blocks, k->args);
    dev_get(s, x->max, x->out.p, sizeof *x->max * (size_t)x->blocks);
    return OK;
}

enum err patch_dev_highest(struct patch_dev *h, double *max)
{
    struct patch_signals *x = &h->signals;
    enum err err = dev_wait(x->s);
    *max = -HUGE_VAL;
    x->s = NULL;
    for (int64_t i = 0; err == OK && i < x->blocks; i++) *max = patch_max(x->max[i], *max);
    return err;
}

enum err patch_dev_courant(struct patch_dev *h, const struct mesh *m, int l, const struct law *law,
                           double *dt)
{
    double max;
    enum err err = patch_dev_highest(h, &max);
    *dt = max > -HUGE_VAL ? law->step(law, mesh_dx(m, l), max) : HUGE_VAL;
    return err;
}

/* ---- registers ---- */

/* Finds the octs that have registers, once for each list of octs. */
static enum err reflux_find(struct patch_dev *h, const struct mesh *m, int l, const struct law *law)
{
    const lidx noct = m->lev[l].noct;
    struct mirror *x = h->mirror;
    struct level *im = &x->image->lev[l];
    struct scratch s = {.h = h};
    const bool edges = law->edges && m->ndim > 1;
    int32_t nreflux, *any = scratch_take(&s, sizeof *any * (size_t)noct, "hydro reflux"),
                     *index = scratch_take(&s, sizeof *index * (size_t)(noct + 1), "hydro reflux");
    enum err err = s.err;
    if (err != OK) goto out;
    dev_launch(h->stream, &reflux_any, dev_blocks(noct),
               &(struct reflux_any_args){(const lidx(*)[6])im->nbr, noct, edges, any});
    dev_scan(h->stream, index, any, noct);
    TRY_OUT(fetch(h, &nreflux, index + noct));
    TRY_OUT(mirror_reflux_new(
        x, m, l, law->system,
        &(struct reflux){.n = nreflux,
                         .nflux = law->nflux,
                         .nedge = edges ? REFLUX_EDGES : 0,
                         .nlower = reflux_nlower(m->ndim, law->nflux, edges ? REFLUX_EDGES : 0)}));
    dev_launch(h->stream, &reflux_rows, dev_blocks(noct),
               &(struct reflux_rows_args){any, index, noct, im->reflux[law->system].row});
out:
    scratch_drop(&s);
    return err;
}

enum err patch_dev_reflux_begin(struct patch_dev *h, struct mesh *m, int l, const struct law *law)
{
    struct mirror *x = h->mirror;
    struct reflux *r = &x->image->lev[l].reflux[law->system];
    if (m->lev[l].noct == 0) return OK;
    TRY(mirror_links(x, m, l));
    if (!r->row) TRY(reflux_find(h, m, l, law));
    dev_fill(h->stream, r->flux, 0, reflux_row_bytes(r->nflux, r->nedge) * (size_t)r->n);
    mirror_wrote(x, l, FLD_REFLUX + law->system, 1, LOCATION_DEVICE);
    return OK;
}
