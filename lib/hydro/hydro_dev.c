/* hydro/hydro_dev: launches of the gas on a device. What they read is brought there, what they
 * write stays there (oct/mirror.h). The tiles of a level and the octs around them stay until the
 * mesh changes. Nothing waits but what needs a number from there. */
#include "hydro/hydro_dev.h"

#include <string.h>

#include "base/mem.h"
#include "hydro/flux.h"
#include "hydro/kernels.h"
#include "oct/mirror.h"

/* Tiles of a level there. */
struct dev_tiles {
    bool known;
    uint64_t octs[2]; /* of the level, and of the coarser one */
    int depth, corners;
    int32_t n, nmissing;
    int32_t *first, *slot, *parent;
};

/* Memory that stays from launch to launch. */
struct dev_scratch {
    size_t bytes;
    void *p;
};

/* Numbers on their way in a stream; NULL: none. */
enum { COURANT_BLOCKS = 1024 };
struct dev_courant {
    struct dev_stream *s;
    int64_t blocks;
    double most[COURANT_BLOCKS];
};
struct dev_totals {
    struct dev_stream *s;
    int64_t sums[GAS_TOTALS][DEV_SUM];
};

struct hydro_dev {
    struct mirror *mirror; /* lent, with its device and stream */
    struct dev *dev;
    struct dev_stream *stream;
    struct hydro_par *par, sent; /* there, and what was copied */
    bool known;
    /* of missing octs, of tiles, new values of a level's gas, of the time step,
     * of sums, of flags */
    struct dev_scratch rows, tile, out, most, sums, steep;
    struct dev_tiles tiles[LEVEL_MAX + 2];
    struct dev_courant courant;
    struct dev_totals totals;
};

const char *hydro_dev_lacks(const struct hydro_par *p)
{
    if (p->riemann == RIEMANN_EXACT) return "riemann='exact'";
    if (p->difmag > 0.0) return "difmag";
    return NULL;
}

enum err hydro_dev_new(struct hydro_dev **h, struct mirror *m)
{
    void *par;
    struct hydro_dev *x = *h = mem_zero(sizeof *x, "device");
    x->mirror = m;
    x->dev = m->dev;
    x->stream = m->stream;
    enum err err = dev_new(x->dev, &par, sizeof *x->par, "hydro parameters");
    if (err == OK) x->par = par;
    if (err != OK) hydro_dev_free(h);
    return err;
}

static void tiles_drop(struct hydro_dev *h, struct dev_tiles *t)
{
    void *all[] = {t->first, t->slot, t->parent};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) dev_drop(h->stream, all[i]);
    *t = (struct dev_tiles){0};
}

void hydro_dev_free(struct hydro_dev **h)
{
    struct hydro_dev *x = *h;
    if (!x) return;
    for (int l = 0; l < LEVEL_MAX + 2; l++) tiles_drop(x, &x->tiles[l]);
    dev_free(x->dev, x->rows.p);
    dev_free(x->dev, x->tile.p);
    dev_free(x->dev, x->out.p);
    dev_free(x->dev, x->most.p);
    dev_free(x->dev, x->sums.p);
    dev_free(x->dev, x->steep.p);
    dev_free(x->dev, x->par);
    FREE(*h);
}

/* ---- tiles ---- */

/* Arrays for work between launches; the first that does not fit is the error. */
struct scratch {
    struct hydro_dev *h;
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
    struct scratch s = {.h = h};
    int32_t *head = scratch_take(&s, sizeof *head * (size_t)nown, "hydro tiles"),
            *index = scratch_take(&s, sizeof *index * (size_t)(nown + 1), "hydro tiles");
    enum err err = s.err;
    if (err != OK) goto out;
    dev_launch(h->stream, &tile_heads, dev_blocks(nown),
               &(struct tile_heads_args){h->mirror->image->lev[l].key, nown, t->depth, head});
    dev_scan(h->stream, index, head, nown);
    TRY_OUT(fetch(h, &t->n, index + nown));
    TRY_OUT(dev_new(h->dev, &first, sizeof *t->first * (size_t)(t->n + 1), "hydro tiles"));
    t->first = first;
    dev_launch(h->stream, &tile_firsts, dev_blocks(nown + 1),
               &(struct tile_firsts_args){head, index, nown, t->first});
out:
    scratch_drop(&s);
    return err;
}

static enum err tiles_slots(struct hydro_dev *h, int l, struct dev_tiles *t)
{
    void *slot, *parent;
    struct scratch s = {.h = h};
    int32_t *missing = scratch_take(&s, sizeof *missing * (size_t)t->n, "hydro tiles"),
            *base = scratch_take(&s, sizeof *base * (size_t)(t->n + 1), "hydro tiles");
    const struct mesh *mesh = h->mirror->there;
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
out:
    scratch_drop(&s);
    return err;
}

static enum err tiles_find(struct hydro_dev *h, const struct mesh *m, int l,
                           const struct hydro_par *p)
{
    struct dev_tiles *t = &h->tiles[l];
    int depth = l - 1 < DEV_DEPTH ? l - 1 : DEV_DEPTH, corners = p->slope_type == SLOPE_POSITIVE;
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

/* ---- the Godunov step ---- */

static int flux_count(const struct hydro_par *p)
{
    return p->nvar + (p->pressure_fix ? 2 : 0);
}

static enum err need_gas(struct hydro_dev *h, struct mesh *m, int l)
{
    TRY(mirror_need(h->mirror, m, l, FLD_U, m->nvar, PLACE_DEVICE));
    return m->gravity ? mirror_need(h->mirror, m, l, FLD_FX, 3, PLACE_DEVICE) : OK;
}

/* The parameters, once; their copy stays, for copies to devices run late. */
static enum err need_par(struct hydro_dev *h, const struct hydro_par *p)
{
    if (h->known && memcmp(&h->sent, p, sizeof *p) == 0) return OK;
    TRY(dev_wait(h->stream));
    memcpy(&h->sent, p, sizeof *p);
    dev_put(h->stream, h->par, &h->sent, sizeof *p);
    h->known = true;
    return OK;
}

/* All that the step of level l reads. */
static enum err need_all(struct hydro_dev *h, struct mesh *m, int l, const struct hydro_par *p)
{
    struct mirror *x = h->mirror;
    for (int k = l > 2 ? l - 2 : 1; k <= l; k++) TRY(mirror_links(x, m, k));
    mirror_send(x, m);
    TRY(tiles_find(h, m, l, p));
    TRY(need_gas(h, m, l));
    for (int k = l - 1; k >= 1 && k >= l - 2 && h->tiles[l].nmissing > 0; k--)
        TRY(need_gas(h, m, k));
    x->edge_row = hydro_edge_row_bytes(p);
    for (int k = l; k <= l + 1 && k <= m->levelmax; k++)
        TRY(mirror_need(x, m, k, FLD_EDGE, 1, PLACE_DEVICE));
    mirror_send(x, m);
    return need_par(h, p);
}

/* At least that many bytes, of any value. */
static enum err scratch_need(struct hydro_dev *h, struct dev_scratch *s, size_t bytes,
                             const char *name)
{
    if (s->p && s->bytes >= bytes) return OK;
    dev_drop(h->stream, s->p);
    *s = (struct dev_scratch){0};
    TRY(dev_new(h->dev, &s->p, bytes + 1, name));
    s->bytes = bytes;
    return OK;
}

static const struct dev_kernel *godunov_for(enum slope type)
{
    switch (type) {
    case SLOPE_NONE:
        break;
    case SLOPE_MINMOD:
        return &godunov_minmod;
    case SLOPE_MONCEN:
        return &godunov_moncen;
    case SLOPE_POSITIVE:
        return &godunov_positive;
    case SLOPE_VANLEER:
        return &godunov_vanleer;
    case SLOPE_THETA:
        return &godunov_theta;
    }
    return &godunov_none;
}

static enum err advance(struct hydro_dev *h, struct mesh *m, int l, const struct hydro_par *p,
                        struct godunov_args *a)
{
    struct dev_tiles *t = &h->tiles[l];
    const lidx nown = m->lev[l].nown;
    size_t row = sizeof(double) * 8 * (size_t)(p->nvar + 3),
           of_gas = sizeof *m->lev[l].fld[0] * (size_t)nown;
    int blocks = 2 * dev_processors(h->dev);
    if (blocks > t->n) blocks = t->n;
    TRY(scratch_need(h, &h->rows, row * (size_t)t->nmissing, "hydro missing octs"));
    size_t planes = (size_t)GODUNOV_PLANES(p->nvar, p->pressure_fix);
    TRY(scratch_need(h, &h->tile, sizeof(double) * DEV_CELLS * (size_t)blocks * planes,
                     "hydro tile scratch"));
    TRY(scratch_need(h, &h->out, of_gas * (size_t)p->nvar, "mesh gas"));
    if (t->nmissing > 0)
        dev_launch(h->stream, &gas_missing, dev_blocks(t->nmissing),
                   &(struct gas_missing_args){h->mirror->there, h->par, l, t->nmissing, t->parent,
                                              h->rows.p});
    a->tiles = t->n;
    a->first = t->first;
    a->slot = t->slot;
    a->row = h->rows.p;
    a->scratch = h->tile.p;
    a->out = h->out.p;
    dev_launch(h->stream, godunov_for(p->slope_type), blocks, a);
    dev_launch(h->stream, &gas_take, dev_blocks(8 * (int64_t)nown),
               &(struct gas_take_args){h->mirror->there, l, p->nvar, 8 * (int64_t)nown, a->out});
    return OK;
}

enum err hydro_dev_update(struct hydro_dev *h, struct mesh *m, int l, double dt, double hexp,
                          const struct hydro_par *p)
{
    struct mirror *x = h->mirror;
    if (m->lev[l].nown == 0) return OK;
    TRY(need_all(h, m, l, p));
    bool own = mirror_has_edges(x, m, l), below = l < m->levelmax && mirror_has_edges(x, m, l + 1);
    struct godunov_args a = {.mesh = x->there,
                             .par = h->par,
                             .level = x->image->lev[l],
                             .gas = hydro_gas_of(p),
                             .riemann = p->riemann,
                             .l = l,
                             .depth = h->tiles[l].depth,
                             .nvar = p->nvar,
                             .nflux = flux_count(p),
                             .dt = dt,
                             .hexp = hexp,
                             .dx = mesh_dx(m, l),
                             .gravity = m->gravity,
                             .pfix = p->pressure_fix,
                             .reflux = (own ? 1 : 0) | (below ? 2 : 0)};
    TRY(advance(h, m, l, p, &a));
    mirror_wrote(x, l, FLD_U, p->nvar, PLACE_DEVICE);
    if (own) mirror_wrote(x, l, FLD_EDGE, 1, PLACE_DEVICE);
    return OK;
}

/* ---- registers ---- */

/* Which octs have them, once for a list of octs. */
static enum err edges_find(struct hydro_dev *h, const struct mesh *m, int l)
{
    const lidx noct = m->lev[l].noct;
    struct mirror *x = h->mirror;
    struct level *im = &x->image->lev[l];
    struct scratch s = {.h = h};
    int32_t nedge, *any = scratch_take(&s, sizeof *any * (size_t)noct, "hydro reflux"),
                   *index = scratch_take(&s, sizeof *index * (size_t)(noct + 1), "hydro reflux");
    enum err err = s.err;
    if (err != OK) goto out;
    dev_launch(h->stream, &edge_any, dev_blocks(noct),
               &(struct edge_any_args){(const lidx(*)[6])im->nbr, noct, any});
    dev_scan(h->stream, index, any, noct);
    TRY_OUT(fetch(h, &nedge, index + noct));
    TRY_OUT(mirror_edges_new(x, m, l, nedge));
    dev_launch(h->stream, &edge_rows, dev_blocks(noct),
               &(struct edge_rows_args){any, index, noct, im->edge});
out:
    scratch_drop(&s);
    return err;
}

enum err hydro_dev_edge_begin(struct hydro_dev *h, struct mesh *m, int l, const struct hydro_par *p)
{
    struct mirror *x = h->mirror;
    struct level *im = &x->image->lev[l];
    x->edge_row = hydro_edge_row_bytes(p);
    if (m->lev[l].noct == 0) return OK;
    TRY(mirror_links(x, m, l));
    if (!im->edge) TRY(edges_find(h, m, l));
    dev_fill(h->stream, im->edge_flux, 0, x->edge_row * (size_t)im->nedge);
    mirror_wrote(x, l, FLD_EDGE, 1, PLACE_DEVICE);
    return OK;
}

/* ---- restriction, kick and time step ---- */

enum err hydro_dev_restrict(struct hydro_dev *h, struct mesh *m, int l, const struct hydro_par *p)
{
    if (m->lev[l].nown == 0) return OK;
    for (int k = l; k <= l + 1; k++)
        TRY(mirror_need(h->mirror, m, k, FLD_U, m->nvar, PLACE_DEVICE));
    mirror_send(h->mirror, m);
    dev_launch(
        h->stream, &gas_restrict, dev_blocks(8 * (int64_t)m->lev[l].nown),
        &(struct gas_restrict_args){h->mirror->there, l, p->nvar, p->interpol_var, p->smallr});
    mirror_wrote(h->mirror, l, FLD_U, p->nvar, PLACE_DEVICE);
    return OK;
}

enum err hydro_dev_kick(struct hydro_dev *h, struct mesh *m, int l, bool ghosts, double dt,
                        const struct hydro_par *p)
{
    const struct level *lv = &m->lev[l];
    const lidx n = ghosts ? lv->noct : lv->nown;
    if (!m->gravity || n == 0) return OK;
    TRY(need_gas(h, m, l));
    mirror_send(h->mirror, m);
    dev_launch(h->stream, &gas_kick, dev_blocks(8 * (int64_t)n),
               &(struct gas_kick_args){h->mirror->there, l, n, dt, p->smallr});
    mirror_wrote(h->mirror, l, FLD_U + GAS_MOMENTUM, GAS_ENERGY - GAS_MOMENTUM + 1, PLACE_DEVICE);
    return OK;
}

enum err hydro_dev_courant_begin(struct hydro_dev *h, struct mesh *m, int l,
                                 const struct hydro_par *p, struct dev_stream *s)
{
    struct dev_courant *c = &h->courant;
    c->s = s;
    c->blocks = dev_blocks(8 * (int64_t)m->lev[l].nown);
    if (c->blocks > COURANT_BLOCKS) c->blocks = COURANT_BLOCKS;
    if (c->blocks == 0) return OK;
    TRY(need_gas(h, m, l));
    mirror_send(h->mirror, m);
    TRY(scratch_need(h, &h->most, sizeof c->most, "hydro time step"));
    dev_follow(s, h->stream);
    dev_launch(s, &gas_courant, c->blocks,
               &(struct gas_courant_args){h->mirror->there, hydro_gas_of(p), l, m->gravity,
                                          mesh_dx(m, l), p->courant_factor, h->most.p});
    dev_get(s, c->most, h->most.p, sizeof *c->most * (size_t)c->blocks);
    return OK;
}

enum err hydro_dev_courant(struct hydro_dev *h, struct mesh *m, int l, const struct hydro_par *p,
                           double *dt)
{
    struct dev_courant *c = &h->courant;
    const double dx = mesh_dx(m, l), cap = p->courant_factor * dx / p->smallc;
    double all = -HUGE_VAL;
    *dt = HUGE_VAL;
    if (!c->s) TRY(hydro_dev_courant_begin(h, m, l, p, h->stream));
    enum err err = dev_wait(c->s);
    c->s = NULL;
    if (err != OK || c->blocks == 0) return err;
    for (int64_t i = 0; i < c->blocks; i++) all = hydro_max(all, c->most[i]);
    if (all > -HUGE_VAL)
        *dt = hydro_min(m->gravity ? -all : hydro_speed_dt(all, 0.0, dx, p->courant_factor), cap);
    return OK;
}

enum err hydro_dev_steep(struct hydro_dev *h, struct mesh *m, int l, const struct hydro_par *p,
                         unsigned char *bits)
{
    const lidx nown = m->lev[l].nown;
    if (nown == 0) return OK;
    memset(bits, 0, (size_t)nown);
    if (p->err_grad_d < 0.0 && p->err_grad_p < 0.0 && p->err_grad_u < 0.0) return OK;
    for (int k = l > 2 ? l - 2 : 1; k <= l; k++)
        TRY(mirror_need(h->mirror, m, k, FLD_U, m->nvar, PLACE_DEVICE));
    mirror_send(h->mirror, m);
    TRY(need_par(h, p));
    TRY(scratch_need(h, &h->steep, (size_t)nown, "flag scratch"));
    dev_launch(h->stream, &gas_steep, dev_blocks(8 * (int64_t)nown),
               &(struct gas_steep_args){h->mirror->there, h->par, l, nown, h->steep.p});
    dev_get(h->stream, bits, h->steep.p, (size_t)nown);
    return dev_wait(h->stream);
}

enum err hydro_dev_totals_begin(struct hydro_dev *h, struct mesh *m, int l,
                                const struct hydro_par *p, struct dev_stream *s)
{
    enum { BLOCKS = 256 };
    struct dev_totals *t = &h->totals;
    const double dx = mesh_dx(m, l);
    int64_t blocks = (m->lev[l].nown + GAS_TOTALS_OCTS - 1) / GAS_TOTALS_OCTS;
    if (blocks > BLOCKS) blocks = BLOCKS;
    memset(t->sums, 0, sizeof t->sums);
    t->s = s;
    if (blocks == 0) return OK;
    TRY(mirror_need(h->mirror, m, l, FLD_U, m->nvar, PLACE_DEVICE));
    mirror_send(h->mirror, m);
    TRY(scratch_need(h, &h->sums, sizeof t->sums * (BLOCKS + 1), "hydro totals"));
    int64_t *part = h->sums.p, *all = part + BLOCKS * GAS_TOTALS * DEV_SUM;
    dev_follow(s, h->stream);
    dev_launch(s, &gas_totals, blocks,
               &(struct gas_totals_args){h->mirror->there, l, dx * dx * dx, p->smallr, part});
    dev_launch(s, &gas_totals_join, 1, &(struct gas_totals_join_args){part, (int32_t)blocks, all});
    dev_get(s, t->sums, all, sizeof t->sums);
    return OK;
}

enum err hydro_dev_totals(struct hydro_dev *h, struct mesh *m, int l, const struct hydro_par *p,
                          struct sum *mass, struct sum *energy, struct sum *internal,
                          struct sum momentum[3])
{
    struct dev_totals *t = &h->totals;
    struct sum *to[GAS_TOTALS] = {mass, energy, internal, &momentum[0], &momentum[1], &momentum[2]};
    if (!t->s) TRY(hydro_dev_totals_begin(h, m, l, p, h->stream));
    enum err err = dev_wait(t->s);
    t->s = NULL;
    for (int k = 0; k < GAS_TOTALS; k++) {
        sum_init(to[k]);
        memcpy(to[k]->digit, t->sums[k], sizeof to[k]->digit);
        to[k]->bad = t->sums[k][SUM_DIGITS];
        sum_carry(to[k]);
    }
    return err;
}

/* ---- refinement ---- */

void hydro_dev_prolong(void *ctx, const struct mirror *x, int l, int32_t n, const int32_t *place,
                       double *row, int width)
{
    const struct hydro_dev_prolong *c = ctx;
    BUG_ON(need_par(c->h, c->par) != OK); /* the device failed */
    dev_launch(x->stream, &gas_created, dev_blocks(n),
               &(struct gas_created_args){x->there, c->h->par, l, n, place, row, width});
}
