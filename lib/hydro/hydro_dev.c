/* hydro/hydro_dev: launches of the gas kernels. Inputs are copied to the device, outputs stay there
 * (oct/mirror.h). The tiles of a level and the octs around them stay until the mesh changes. The
 * host waits only where it needs a number from the device. */
#include "hydro/hydro_dev.h"

#include <string.h>

#include "base/mem.h"
#include "dev/digits.h"
#include "hydro/gas_law.h"
#include "hydro/kernels.h"
#include "oct/mirror.h"
#include "patch/patch_dev.h"

/* Numbers on their way in a stream; NULL: none. */
struct dev_totals {
    struct dev_stream *s;
    int64_t sums[GAS_TOTALS][DEV_SUM];
    struct dev_digits digits; /* these on their way */
};

struct hydro_dev {
    struct patch_dev patch;
    struct mirror *mirror; /* mirror of the mesh (lent), with its device and stream */
    struct dev *dev;
    struct dev_stream *stream;
    struct hydro_par *par, sent; /* parameters on the device, and the host copy that was sent */
    bool known;
    struct dev_room sums, steep, change; /* of sums, of flags, of changes by sources */
    struct dev_totals totals;
};

const char *hydro_dev_lacks(const struct hydro_par *p)
{
    if (p->riemann == RIEMANN_EXACT) return "riemann='exact'";
    if (p->difmag > 0.0) return "difmag";
    if (p->predictor != PREDICT_MUSCL) return "scheme='plmde'";
    if (hydro_slope_is_line(p->slope_type)) return "slope_type from 4 to 6";
    return NULL;
}

enum err hydro_dev_new(struct hydro_dev **h, struct mirror *m)
{
    struct hydro_dev *x = *h = mem_zero(sizeof *x, "device");
    x->mirror = m;
    x->dev = m->dev;
    x->stream = m->stream;
    patch_dev_init(&x->patch, m);
    enum err err = dev_new(x->dev, &x->par, sizeof *x->par, "hydro parameters");
    if (err != OK) hydro_dev_free(h);
    return err;
}

void hydro_dev_free(struct hydro_dev **h)
{
    struct hydro_dev *x = *h;
    if (!x) return;
    patch_dev_fini(&x->patch);
    dev_free(x->dev, x->sums.p);
    dev_digits_free(&x->totals.digits, x->dev);
    dev_free(x->dev, x->steep.p);
    dev_free(x->dev, x->change.p);
    dev_free(x->dev, x->par);
    FREE(*h);
}

/* ---- the Godunov step ---- */

static enum err need_gas(struct hydro_dev *h, struct mesh *m, int l)
{
    TRY(mirror_need(h->mirror, m, l, FLD_U, m->nvar, LOCATION_DEVICE));
    return m->gravity ? mirror_need(h->mirror, m, l, FLD_FX, 3, LOCATION_DEVICE) : OK;
}

/* Sends the parameters once. `sent` outlives the call because copies to the device are
 * asynchronous. */
static enum err need_par(struct hydro_dev *h, const struct hydro_par *p)
{
    if (h->known && memcmp(&h->sent, p, sizeof *p) == 0) return OK;
    TRY(dev_wait(h->stream));
    memcpy(&h->sent, p, sizeof *p);
    dev_put(h->stream, h->par, &h->sent, sizeof *p);
    h->known = true;
    return OK;
}

static const struct dev_kernel *godunov_for(enum slope type)
{
    switch (type) {
    case SLOPE_NONE:
    case SLOPE_SUPERBEE: /* see hydro_dev_lacks */
    case SLOPE_ULTRABEE:
    case SLOPE_CENTRAL:
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

/* Sends changes by sources: the octs that have a row, their rows, and from these the row of each
 * own oct. */
static enum err send_change(struct hydro_dev *h, lidx nown, const struct hydro_change *c,
                            struct godunov_args *a)
{
    const size_t values = sizeof *c->u * (size_t)c->nvar * (size_t)c->n,
                 octs = sizeof(int32_t) * (size_t)c->n, rows = sizeof(int32_t) * (size_t)nown;
    const size_t need = values + octs + rows;
    if (h->change.bytes < need)
        TRY(dev_room_need(h->stream, &h->change, need + need / 4, "hydro changes"));
    int32_t *oct = mem_new(octs, "hydro changes");
    double *u = mem_new(values, "hydro changes");
    for (lidx i = 0; i < nown; i++)
        if (c->row[i] >= 0) oct[c->row[i]] = i;
    memcpy(u, c->u, values);
    char *to = h->change.p;
    struct change_rows_args k = {c->n, (int32_t *)(void *)(to + values),
                                 (int32_t *)(void *)(to + values + octs)};
    dev_put(h->stream, to, u, values);
    dev_put(h->stream, to + values, oct, octs);
    dev_drop_host(h->stream, u);
    dev_drop_host(h->stream, oct);
    dev_fill(h->stream, k.row, 0xff, rows);
    dev_launch(h->stream, &change_rows, dev_blocks(k.n), &k);
    a->change = h->change.p;
    a->changed = k.row;
    return OK;
}

enum err hydro_dev_update(struct hydro_dev *h, struct mesh *m, int l, double dt, double hexp,
                          const struct hydro_par *p, const struct hydro_change *c)
{
    const struct gas_law g = gas_law_make(m, p);
    struct godunov_args a = {.par = h->par,
                             .gas = g.gas,
                             .riemann = p->riemann,
                             .hexp = hexp,
                             .gravity = m->gravity,
                             .pfix = p->pressure_fix,
                             .nener = p->energy.n};
    struct patch_kernels k = {.missing = &gas_missing,
                              .step = godunov_for(p->slope_type),
                              .par = h->par,
                              .args = &a.p,
                              .planes = GODUNOV_PLANES(p->nvar, p->pressure_fix, p->energy.n)};
    if (m->lev[l].nown == 0) return OK;
    TRY(need_par(h, p));
    if (c && c->n) TRY(send_change(h, m->lev[l].nown, c, &a));
    return patch_dev_update(&h->patch, m, l, dt, &g.law, &k);
}

enum err reflux_dev_begin(struct hydro_dev *h, struct mesh *m, int l, const struct hydro_par *p)
{
    const struct gas_law g = gas_law_make(m, p);
    return patch_dev_reflux_begin(&h->patch, m, l, &g.law);
}

/* ---- restriction, kick and time step ---- */

enum err hydro_dev_restrict(struct hydro_dev *h, struct mesh *m, int l, const struct hydro_par *p)
{
    if (m->lev[l].nown == 0) return OK;
    for (int k = l; k <= l + 1; k++)
        TRY(mirror_need(h->mirror, m, k, FLD_U, m->nvar, LOCATION_DEVICE));
    mirror_send(h->mirror, m);
    dev_launch(
        h->stream, &gas_restrict, dev_blocks(8 * (int64_t)m->lev[l].nown),
        &(struct gas_restrict_args){h->mirror->mesh_dev, l, p->nvar, p->interpol_var, p->smallr});
    mirror_wrote(h->mirror, l, FLD_U, p->nvar, LOCATION_DEVICE);
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
               &(struct gas_kick_args){h->mirror->mesh_dev, l, n, dt, p->smallr});
    mirror_wrote(h->mirror, l, FLD_U + GAS_MOMENTUM, GAS_ENERGY - GAS_MOMENTUM + 1,
                 LOCATION_DEVICE);
    return OK;
}

enum err hydro_dev_drive(struct hydro_dev *h, struct mesh *m, int l, double dt,
                         const struct turb_force *f, double smallr)
{
    const lidx n = m->lev[l].nown;
    struct gas_drive_args a = {NULL, l, n, dt, smallr, *f};
    if (n == 0) return OK;
    TRY(need_gas(h, m, l));
    mirror_send(h->mirror, m);
    a.mesh = h->mirror->mesh_dev;
    a.force.a = f->a_dev, a.force.b = f->b_dev;
    dev_launch(h->stream, &gas_drive, dev_blocks(8 * (int64_t)n), &a);
    mirror_wrote(h->mirror, l, FLD_U + GAS_MOMENTUM, GAS_ENERGY - GAS_MOMENTUM + 1,
                 LOCATION_DEVICE);
    return OK;
}

enum err hydro_dev_courant_begin(struct hydro_dev *h, struct mesh *m, int l,
                                 const struct hydro_par *p, struct dev_stream *s)
{
    const struct gas_law g = gas_law_make(m, p);
    struct gas_courant_args a = {.signal = gas_signal_dev(&g, mesh_dx(m, l)), .gravity = g.gravity};
    const struct patch_courant_kernel k = {&gas_courant, &a.p};
    return patch_dev_courant_begin(&h->patch, m, l, &g.law, &k, s);
}

enum err hydro_dev_courant(struct hydro_dev *h, struct mesh *m, int l, const struct hydro_par *p,
                           double *dt)
{
    const struct gas_law g = gas_law_make(m, p);
    if (!h->patch.signals.s) TRY(hydro_dev_courant_begin(h, m, l, p, h->stream));
    return patch_dev_courant(&h->patch, m, l, &g.law, dt);
}

enum err hydro_dev_steep(struct hydro_dev *h, struct mesh *m, int l, const struct hydro_par *p,
                         unsigned char *bits)
{
    const lidx nown = m->lev[l].nown;
    if (nown == 0) return OK;
    memset(bits, 0, (size_t)nown);
    if (!hydro_flags(p)) return OK;
    for (int k = l > 2 ? l - 2 : 1; k <= l; k++)
        TRY(mirror_need(h->mirror, m, k, FLD_U, m->nvar, LOCATION_DEVICE));
    mirror_send(h->mirror, m);
    TRY(need_par(h, p));
    TRY(dev_room_need(h->stream, &h->steep, (size_t)nown, "flag scratch"));
    dev_launch(h->stream, &gas_steep, dev_blocks(8 * (int64_t)nown),
               &(struct gas_steep_args){h->mirror->mesh_dev, h->par, l, nown, h->steep.p});
    dev_get(h->stream, bits, h->steep.p, (size_t)nown);
    return dev_wait(h->stream);
}

enum err hydro_dev_totals_begin(struct hydro_dev *h, struct mesh *m, int l,
                                const struct hydro_par *p, struct dev_stream *s)
{
    enum { BLOCKS = 256 };
    struct dev_totals *t = &h->totals;
    const double volume = mesh_share(m, l);
    int64_t blocks = (m->lev[l].nown + DEV_TOTALS_TERMS - 1) / DEV_TOTALS_TERMS;
    if (blocks > BLOCKS) blocks = BLOCKS;
    memset(t->sums, 0, sizeof t->sums);
    t->s = s;
    t->digits.s = NULL;
    if (blocks == 0) return OK;
    TRY(mirror_need(h->mirror, m, l, FLD_U, m->nvar, LOCATION_DEVICE));
    mirror_send(h->mirror, m);
    TRY(dev_room_need(h->stream, &h->sums, sizeof t->sums * (BLOCKS + 1), "hydro totals"));
    TRY(dev_digits_need(&t->digits, h->stream, GAS_TOTALS, DEV_SUM, "hydro totals"));
    int64_t *part = h->sums.p, *all = part + BLOCKS * GAS_TOTALS * DEV_SUM;
    dev_follow(s, h->stream);
    dev_launch(s, &gas_totals, blocks,
               &(struct gas_totals_args){h->mirror->mesh_dev, l, volume, p->smallr, part});
    dev_launch(s, &totals_join, 1,
               &(struct totals_join_args){part, (int32_t)blocks, GAS_TOTALS, all,
                                          (int64_t *)t->digits.there.p});
    dev_digits_get(&t->digits, s);
    return OK;
}

enum err hydro_dev_totals(struct hydro_dev *h, struct mesh *m, int l, const struct hydro_par *p,
                          struct sum *mass, struct sum *energy, struct sum *internal,
                          struct sum momentum[3])
{
    struct dev_totals *t = &h->totals;
    struct sum *to[GAS_TOTALS] = {mass, energy, internal, &momentum[0], &momentum[1], &momentum[2]};
    if (!t->s) TRY(hydro_dev_totals_begin(h, m, l, p, h->stream));
    enum err err = dev_digits_take(&t->digits, t->sums[0]);
    if (err == OK) err = dev_wait(t->s);
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

void hydro_dev_photons(const struct mirror *x, const struct hydro_par *par, int l, int32_t n,
                       const int32_t *slot, double *row, int width)
{
    const int nphoton = x->image->nphoton;
    if (nphoton == 0) return;
    dev_launch(x->stream, &photons_created, dev_blocks((int64_t)nphoton * n),
               &(struct photons_created_args){x->mesh_dev, par, l, n, slot,
                                              row - (ptrdiff_t)nphoton * 8, width});
}

void hydro_dev_prolong(void *ctx, const struct mirror *x, int l, int32_t n, const int32_t *slot,
                       double *row, int width)
{
    const struct hydro_dev_prolong *c = ctx;
    BUG_ON(need_par(c->h, c->par) != OK); /* the device failed */
    dev_launch(x->stream, &gas_created, dev_blocks(n),
               &(struct gas_created_args){x->mesh_dev, c->h->par, l, n, slot, row, width});
    hydro_dev_photons(x, c->h->par, l, n, slot, row, width); /* before the gas: oct/fields.def */
}
