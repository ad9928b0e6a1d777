/* hydro/dev: copies and launches of the gas on a device. The tiles of a level and the octs around
 * them stay there until the mesh changes. */
#include "hydro/hydro_dev.h"

#include <string.h>

#include "base/mem.h"
#include "hydro/flux.h"
#include "hydro/kernels.h"
#include "oct/mirror.h"

/* Tiles of a level there. */
struct dev_tiles {
    bool known;
    uint64_t links[2]; /* of the level, and of the coarser one */
    int depth, corners;
    int32_t n, nmissing;
    int32_t *first, *slot, *parent;
};

struct hydro_dev {
    struct dev *dev;
    struct dev_stream *stream;
    struct mirror mirror;
    struct hydro_par *par; /* there */
    struct dev_tiles tiles[LEVEL_MAX + 2];
};

const char *hydro_dev_lacks(const struct hydro_par *p)
{
    if (p->riemann == RIEMANN_EXACT) return "riemann='exact'";
    if (p->difmag > 0.0) return "difmag";
    return NULL;
}

enum err hydro_dev_new(struct hydro_dev **h, struct dev *d)
{
    void *par;
    struct hydro_dev *x = *h = mem_zero(sizeof *x, "device");
    x->dev = d;
    x->stream = dev_stream_new(d);
    enum err err = mirror_init(&x->mirror, d, x->stream);
    if (err == OK) err = dev_new(d, &par, sizeof *x->par, "hydro parameters");
    if (err == OK) x->par = par;
    if (err != OK) hydro_dev_free(h);
    return err;
}

static void tiles_drop(struct hydro_dev *h, struct dev_tiles *t)
{
    dev_free(h->dev, t->first);
    dev_free(h->dev, t->slot);
    dev_free(h->dev, t->parent);
    *t = (struct dev_tiles){0};
}

void hydro_dev_free(struct hydro_dev **h)
{
    struct hydro_dev *x = *h;
    if (!x) return;
    dev_stream_free(&x->stream);
    for (int l = 0; l < LEVEL_MAX + 2; l++) tiles_drop(x, &x->tiles[l]);
    mirror_fini(&x->mirror);
    dev_free(x->dev, x->par);
    FREE(*h);
}

static int64_t blocks_of(int64_t n)
{
    return (n + DEV_THREADS - 1) / DEV_THREADS;
}

/* ---- tiles ---- */

/* Arrays for work between launches; the first that does not fit is the error. */
struct scratch {
    struct dev *dev;
    enum err err;
    int n;
    void *p[4];
};

static void *scratch_take(struct scratch *s, size_t bytes, const char *name)
{
    void *p = NULL;
    if (s->err == OK) s->err = dev_new(s->dev, &p, bytes + 1, name);
    if (p) s->p[s->n++] = p;
    return p;
}

static void scratch_drop(struct scratch *s)
{
    while (s->n > 0) dev_free(s->dev, s->p[--s->n]);
}

/* One number that the device has counted. */
static enum err fetch(struct hydro_dev *h, int32_t *to, const int32_t *from)
{
    dev_get(h->stream, to, from, sizeof *to);
    return dev_wait(h->stream);
}

static enum err tiles_first(struct hydro_dev *h, const struct mesh *m, int l, struct dev_tiles *t)
{
    const lidx nown = m->lev[l].nown;
    void *first;
    struct scratch s = {.dev = h->dev};
    int32_t *head = scratch_take(&s, sizeof *head * (size_t)nown, "hydro tiles"),
            *index = scratch_take(&s, sizeof *index * (size_t)(nown + 1), "hydro tiles");
    enum err err = s.err;
    if (err != OK) goto out;
    dev_launch(h->stream, &tile_heads, blocks_of(nown),
               &(struct tile_heads_args){h->mirror.image->lev[l].key, nown, t->depth, head});
    dev_scan(h->stream, index, head, nown);
    TRY_OUT(fetch(h, &t->n, index + nown));
    TRY_OUT(dev_new(h->dev, &first, sizeof *t->first * (size_t)(t->n + 1), "hydro tiles"));
    t->first = first;
    dev_launch(h->stream, &tile_firsts, blocks_of(nown + 1),
               &(struct tile_firsts_args){head, index, nown, t->first});
    err = dev_wait(h->stream);
out:
    scratch_drop(&s);
    return err;
}

static enum err tiles_slots(struct hydro_dev *h, int l, struct dev_tiles *t)
{
    void *slot, *parent;
    struct scratch s = {.dev = h->dev};
    int32_t *missing = scratch_take(&s, sizeof *missing * (size_t)t->n, "hydro tiles"),
            *base = scratch_take(&s, sizeof *base * (size_t)(t->n + 1), "hydro tiles");
    const struct mesh *mesh = h->mirror.there;
    enum err err = s.err;
    if (err != OK) goto out;
    TRY_OUT(dev_new(h->dev, &slot, sizeof *t->slot * DEV_SLOTS * (size_t)t->n, "hydro tiles"));
    t->slot = slot;
    dev_launch(
        h->stream, &tile_slots, t->n,
        &(struct tile_slots_args){mesh, l, t->depth, t->corners, t->first, t->slot, missing});
    dev_scan(h->stream, base, missing, t->n);
    TRY_OUT(fetch(h, &t->nmissing, base + t->n));
    TRY_OUT(dev_new(h->dev, &parent, sizeof *t->parent * (size_t)t->nmissing + 1, "hydro tiles"));
    t->parent = parent;
    if (t->nmissing > 0)
        dev_launch(h->stream, &tile_rows, t->n,
                   &(struct tile_rows_args){mesh, l, t->depth, t->first, base, t->slot, t->parent});
    err = dev_wait(h->stream);
out:
    scratch_drop(&s);
    return err;
}

static enum err tiles_find(struct hydro_dev *h, const struct mesh *m, int l,
                           const struct hydro_par *p)
{
    struct dev_tiles *t = &h->tiles[l];
    int depth = l - 1 < DEV_DEPTH ? l - 1 : DEV_DEPTH, corners = p->slope_type == SLOPE_POSITIVE;
    uint64_t links[2] = {m->lev[l].links, m->lev[l - 1].links};
    if (t->known && t->links[0] == links[0] && t->links[1] == links[1] && t->depth == depth &&
        t->corners == corners)
        return OK;
    tiles_drop(h, t);
    t->depth = depth;
    t->corners = corners;
    memcpy(t->links, links, sizeof links);
    TRY(tiles_first(h, m, l, t));
    TRY(tiles_slots(h, l, t));
    t->known = true;
    return OK;
}

/* ---- the Godunov step ---- */

static int flux_count(const struct hydro_par *p)
{
    return p->nvar + (p->pressure_fix ? 2 : 0);
}

static enum err put_gas(struct hydro_dev *h, const struct mesh *m, int l)
{
    TRY(mirror_put(&h->mirror, m, l, FLD_U, m->nvar));
    return m->gravity ? mirror_put(&h->mirror, m, l, FLD_FX, 3) : OK;
}

/* All that the step of level l reads. */
static enum err put_all(struct hydro_dev *h, const struct mesh *m, int l, const struct hydro_par *p)
{
    size_t row = hydro_edge_row_bytes(p);
    for (int k = l > 2 ? l - 2 : 1; k <= l; k++) TRY(mirror_links(&h->mirror, m, k));
    mirror_send(&h->mirror, m);
    TRY(tiles_find(h, m, l, p));
    TRY(put_gas(h, m, l));
    for (int k = l - 1; k >= 1 && k >= l - 2 && h->tiles[l].nmissing > 0; k--)
        TRY(put_gas(h, m, k));
    TRY(mirror_put_edges(&h->mirror, m, l, row * (size_t)m->lev[l].nedge));
    if (l < m->levelmax)
        TRY(mirror_put_edges(&h->mirror, m, l + 1, row * (size_t)m->lev[l + 1].nedge));
    mirror_send(&h->mirror, m);
    dev_put(h->stream, h->par, p, sizeof *p);
    return OK;
}

static enum err advance(struct hydro_dev *h, struct mesh *m, int l, const struct hydro_par *p,
                        struct godunov_args *a)
{
    struct dev_tiles *t = &h->tiles[l];
    const struct level *lv = &m->lev[l];
    bool bounded = false;
    struct scratch s = {.dev = h->dev};
    size_t row = sizeof(double) * 8 * (size_t)(p->nvar + 3),
           of_gas = sizeof *lv->fld[0] * (size_t)lv->nown;
    int blocks = 2 * dev_processors(h->dev);
    if (blocks > t->n) blocks = t->n;
    double *rows = scratch_take(&s, row * (size_t)t->nmissing, "hydro missing octs");
    a->scratch = scratch_take(
        &s, sizeof(double) * DEV_CELLS * (size_t)blocks * GODUNOV_PLANES((size_t)p->nvar),
        "hydro tile scratch");
    a->out = scratch_take(&s, of_gas * (size_t)p->nvar, "mesh gas");
    if (s.err != OK) goto out;
    if (t->nmissing > 0)
        dev_launch(
            h->stream, &gas_missing, blocks_of(t->nmissing),
            &(struct gas_missing_args){h->mirror.there, h->par, l, t->nmissing, t->parent, rows});
    for (int f = 0; f < 6; f++) bounded |= m->bounded[f];
    a->tiles = t->n;
    a->first = t->first;
    a->slot = t->slot;
    a->row = rows;
    dev_launch(h->stream, bounded ? &godunov_bounded : &godunov, blocks, a);
    for (int v = 0; v < p->nvar; v++)
        dev_get(h->stream, lv->fld[FLD_U + v], a->out + (size_t)v * 8 * (size_t)lv->nown, of_gas);
    if (a->reflux & 1)
        mirror_get_edges(&h->mirror, m, l, hydro_edge_row_bytes(p) * (size_t)lv->nedge);
    s.err = dev_wait(h->stream);
    BUG_ON(s.err != OK); /* the state is lost */
out:
    scratch_drop(&s);
    return s.err;
}

enum err hydro_dev_update(struct hydro_dev *h, struct mesh *m, int l, double dt, double hexp,
                          const struct hydro_par *p)
{
    bool below = l < m->levelmax && m->lev[l + 1].edge;
    if (m->lev[l].nown == 0) return OK;
    enum err err = put_all(h, m, l, p);
    struct godunov_args a = {.mesh = h->mirror.there,
                             .par = h->par,
                             .gas = hydro_gas_of(p),
                             .l = l,
                             .depth = h->tiles[l].depth,
                             .nvar = p->nvar,
                             .nflux = flux_count(p),
                             .dt = dt,
                             .hexp = hexp,
                             .dx = mesh_dx(m, l),
                             .gravity = m->gravity,
                             .pfix = p->pressure_fix,
                             .reflux = (m->lev[l].edge ? 1 : 0) | (below ? 2 : 0)};
    if (err == OK) err = advance(h, m, l, p, &a);
    if (err != OK && dev_wait(h->stream) != OK) return err; /* copies were under way */
    return err;
}

/* ---- kick and time step ---- */

enum err hydro_dev_kick(struct hydro_dev *h, struct mesh *m, int l, bool ghosts, double dt,
                        const struct hydro_par *p)
{
    const struct level *lv = &m->lev[l];
    const lidx n = ghosts ? lv->noct : lv->nown;
    if (!m->gravity || n == 0) return OK;
    TRY(mirror_links(&h->mirror, m, l));
    TRY(put_gas(h, m, l));
    mirror_send(&h->mirror, m);
    dev_launch(h->stream, &gas_kick, blocks_of(8 * (int64_t)n),
               &(struct gas_kick_args){h->mirror.there, l, n, dt, p->smallr});
    for (int v = 1; v <= GAS_ENERGY; v++)
        dev_get(h->stream, lv->fld[FLD_U + v], h->mirror.image->lev[l].fld[FLD_U + v],
                sizeof *lv->fld[0] * (size_t)n);
    return dev_wait(h->stream);
}

enum err hydro_dev_courant(struct hydro_dev *h, const struct mesh *m, int l,
                           const struct hydro_par *p, double *dt)
{
    enum { BLOCKS = 1024 };
    const double dx = mesh_dx(m, l), cap = p->courant_factor * dx / p->smallc;
    double most[BLOCKS], all = -HUGE_VAL;
    struct scratch s = {.dev = h->dev};
    int64_t blocks = blocks_of(8 * (int64_t)m->lev[l].nown);
    if (blocks > BLOCKS) blocks = BLOCKS;
    *dt = HUGE_VAL;
    if (blocks == 0) return OK;
    TRY(mirror_links(&h->mirror, m, l));
    TRY(put_gas(h, m, l));
    mirror_send(&h->mirror, m);
    double *out = scratch_take(&s, sizeof most, "hydro time step");
    TRY(s.err);
    dev_launch(h->stream, &gas_courant, blocks,
               &(struct gas_courant_args){h->mirror.there, hydro_gas_of(p), l, m->gravity, dx,
                                          p->courant_factor, out});
    dev_get(h->stream, most, out, sizeof *most * (size_t)blocks);
    s.err = dev_wait(h->stream);
    scratch_drop(&s);
    for (int64_t i = 0; i < blocks; i++) all = hydro_max(all, most[i]);
    if (all > -HUGE_VAL)
        *dt = hydro_min(m->gravity ? -all : hydro_speed_dt(all, 0.0, dx, p->courant_factor), cap);
    return s.err;
}
