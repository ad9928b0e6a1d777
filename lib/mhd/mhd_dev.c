/* mhd/mhd_dev: launches of the kernels of gas with a magnetic field, as hydro/hydro_dev. */
#include "mhd/mhd_dev.h"

#include <string.h>

#include "base/mem.h"
#include "dev/digits.h"
#include "hydro/hydro_dev.h"
#include "mhd/kernels.h"
#include "mhd/mhd_law.h"
#include "patch/patch_dev.h"

/* Parameters on the device: those of the field refer to those of the gas. */
struct dev_par {
    struct mhd_par field;
    struct hydro_par gas;
};

struct mhd_dev {
    struct patch_dev patch, divergence; /* the second one for its signals alone */
    struct mirror *mirror;              /* mirror of the mesh (lent), with its device and stream */
    struct dev *dev;
    struct dev_stream *stream;
    struct dev_par *par, sent; /* parameters on the device, and the host copy that was sent */
    bool known;
    struct dev_room sums, steep; /* of sums, of flags */
    struct dev_stream *s;        /* of the totals on their way; NULL: none */
    struct dev_digits digits;    /* these on their way */
    int64_t total[MHD_TOTALS][DEV_SUM];
};

const char *mhd_dev_lacks(const struct mhd_par *p)
{
    if (p->flow != FLOW_NONE) return "scheme='induction'";
    if (p->eta > 0) return "eta_mag";
    if (p->gas->energy.n > 0) return "nener with mhd=.true.";
    return NULL;
}

enum err mhd_dev_new(struct mhd_dev **h, struct mirror *m)
{
    struct mhd_dev *x = *h = mem_zero(sizeof *x, "device");
    x->mirror = m;
    x->dev = m->dev;
    x->stream = m->stream;
    patch_dev_init(&x->patch, m);
    patch_dev_init(&x->divergence, m);
    enum err err = dev_new(x->dev, &x->par, sizeof *x->par, "hydro parameters");
    if (err != OK) mhd_dev_free(h);
    return err;
}

void mhd_dev_free(struct mhd_dev **h)
{
    struct mhd_dev *x = *h;
    if (!x) return;
    patch_dev_fini(&x->patch);
    patch_dev_fini(&x->divergence);
    dev_free(x->dev, x->sums.p);
    dev_digits_free(&x->digits, x->dev);
    dev_free(x->dev, x->steep.p);
    dev_free(x->dev, x->par);
    FREE(*h);
}

static const struct mhd_par *par_dev(const struct mhd_dev *h)
{
    return &h->par->field;
}

/* Sends the parameters once. `sent` outlives the call because copies to the device are
 * asynchronous. */
static enum err need_par(struct mhd_dev *h, const struct mhd_par *p)
{
    struct dev_par now;
    memset(&now, 0, sizeof now);
    memcpy(&now.field, p, sizeof *p);
    memcpy(&now.gas, p->gas, sizeof *p->gas);
    now.field.gas = &h->par->gas;
    if (h->known && memcmp(&h->sent, &now, sizeof now) == 0) return OK;
    TRY(dev_wait(h->stream));
    memcpy(&h->sent, &now, sizeof now);
    dev_put(h->stream, h->par, &h->sent, sizeof h->sent);
    h->known = true;
    return OK;
}

/* Brings gas and field of a level. */
static enum err need_all(struct mhd_dev *h, struct mesh *m, int l)
{
    TRY(mirror_need(h->mirror, m, l, FLD_U, m->nvar, LOCATION_DEVICE));
    return mirror_need(h->mirror, m, l, FLD_MAGNETIC, LAW_FACES, LOCATION_DEVICE);
}

/* ---- the step ---- */

enum err mhd_dev_update(struct mhd_dev *h, struct mesh *m, int l, double dt, double hexp,
                        const struct mhd_par *p)
{
    const struct mhd_law x = mhd_law_make(m, p);
    const struct law *law = &x.gas.law;
    const bool roe = p->riemann == MHD_ROE || p->riemann2d == MHD_EDGE_ROE;
    struct mhd_step_args a = {.par = par_dev(h),
                              .g = x.g,
                              .riemann = p->riemann,
                              .riemann2d = p->riemann2d,
                              .slope = p->gas->slope_type,
                              .slope_mag = p->slope_mag,
                              .theta = p->gas->slope_theta,
                              .hexp = hexp,
                              .cells = law_cells(law),
                              .nfield = law->nfield,
                              .gravity = m->gravity,
                              .pfix = p->gas->pressure_fix};
    struct patch_kernels k = {.missing = &mhd_missing,
                              .step = roe ? &mhd_step_roe : &mhd_step,
                              .par = par_dev(h),
                              .args = &a.p,
                              .planes = law->nflux + MHD_PLANES(a.cells, a.nfield, a.pfix)};
    if (m->lev[l].nown == 0) return OK;
    TRY(need_par(h, p));
    return patch_dev_update(&h->patch, m, l, dt, law, &k);
}

enum err mhd_dev_reflux_begin(struct mhd_dev *h, struct mesh *m, int l, const struct mhd_par *p)
{
    const struct mhd_law x = mhd_law_make(m, p);
    return patch_dev_reflux_begin(&h->patch, m, l, &x.gas.law);
}

enum err mhd_dev_restrict(struct mhd_dev *h, struct mesh *m, int l, const struct mhd_par *p)
{
    if (m->lev[l].nown == 0) return OK;
    for (int k = l; k <= l + 1; k++) TRY(need_all(h, m, k));
    TRY(need_par(h, p));
    mirror_send(h->mirror, m);
    dev_launch(h->stream, &mhd_restricted, dev_blocks(8 * (int64_t)m->lev[l].nown),
               &(struct mhd_restrict_args){h->mirror->mesh_dev, par_dev(h), l});
    mirror_wrote(h->mirror, l, FLD_U, p->gas->nvar, LOCATION_DEVICE);
    mirror_wrote(h->mirror, l, FLD_MAGNETIC, LAW_FACES, LOCATION_DEVICE);
    return OK;
}

/* ---- time step and totals ---- */

static enum err totals_begin(struct mhd_dev *h, struct mesh *m, int l, const struct mhd_par *p,
                             struct dev_stream *s)
{
    enum { BLOCKS = 256 };
    const struct mhd_law x = mhd_law_make(m, p);
    int64_t blocks = (m->lev[l].nown + DEV_TOTALS_TERMS - 1) / DEV_TOTALS_TERMS;
    struct mhd_divergence_args a;
    if (blocks > BLOCKS) blocks = BLOCKS;
    memset(h->total, 0, sizeof h->total);
    h->s = s;
    h->digits.s = NULL;
    TRY(patch_dev_courant_begin(&h->divergence, m, l, &x.gas.law,
                                &(struct patch_courant_kernel){&mhd_divergence, &a.p}, s));
    if (blocks == 0) return OK;
    TRY(dev_room_need(h->stream, &h->sums, sizeof h->total * (BLOCKS + 1), "hydro totals"));
    TRY(dev_digits_need(&h->digits, h->stream, MHD_TOTALS, DEV_SUM, "hydro totals"));
    int64_t *part = h->sums.p, *all = part + BLOCKS * MHD_TOTALS * DEV_SUM;
    dev_follow(s, h->stream);
    dev_launch(
        s, &mhd_totals, blocks,
        &(struct mhd_totals_args){h->mirror->mesh_dev, l, mesh_share(m, l), p->gas->smallr, part});
    dev_launch(s, &totals_join, 1,
               &(struct totals_join_args){part, (int32_t)blocks, MHD_TOTALS, all,
                                          (int64_t *)h->digits.there.p});
    dev_digits_get(&h->digits, s);
    return OK;
}

enum err mhd_dev_courant_begin(struct mhd_dev *h, struct mesh *m, int l, const struct mhd_par *p,
                               bool sums, struct dev_stream *s)
{
    const struct mhd_law x = mhd_law_make(m, p);
    struct mhd_courant_args a = {.signal = mhd_signal_of(&x, mesh_dx(m, l)),
                                 .gravity = x.gas.gravity};
    a.signal.drive.a = a.signal.drive.a_dev, a.signal.drive.b = a.signal.drive.b_dev;
    const struct patch_courant_kernel k = {&mhd_speeds, &a.p};
    TRY(patch_dev_courant_begin(&h->patch, m, l, &x.gas.law, &k, s));
    return sums ? totals_begin(h, m, l, p, s) : OK;
}

static enum err totals_end(struct mhd_dev *h, const struct mhd_sums *sums)
{
    struct sum *const to[MHD_TOTALS] = {
        sums->gas.mass,     sums->gas.energy,       sums->gas.internal,    sums->magnetic,
        sums->gas.momentum, sums->gas.momentum + 1, sums->gas.momentum + 2};
    double divergence;
    TRY(patch_dev_highest(&h->divergence, &divergence));
    *sums->divergence = hydro_max(divergence, 0.0);
    enum err err = dev_digits_take(&h->digits, h->total[0]);
    if (err == OK) err = dev_wait(h->s);
    h->s = NULL;
    for (int k = 0; k < MHD_TOTALS; k++) {
        sum_init(to[k]);
        memcpy(to[k]->digit, h->total[k], sizeof to[k]->digit);
        to[k]->bad = h->total[k][SUM_DIGITS];
        sum_carry(to[k]);
    }
    return err;
}

enum err mhd_dev_courant(struct mhd_dev *h, struct mesh *m, int l, const struct mhd_par *p,
                         double *dt, const struct mhd_sums *sums)
{
    const struct mhd_law x = mhd_law_make(m, p);
    TRY(patch_dev_courant(&h->patch, m, l, &x.gas.law, dt));
    return sums ? totals_end(h, sums) : OK;
}

/* ---- refinement ---- */

enum err mhd_dev_steep(struct mhd_dev *h, struct mesh *m, int l, const struct mhd_par *p,
                       unsigned char *bits)
{
    const lidx nown = m->lev[l].nown;
    if (nown == 0) return OK;
    memset(bits, 0, (size_t)nown);
    if (!mhd_flags(p)) return OK;
    for (int k = l > 2 ? l - 2 : 1; k <= l; k++) TRY(need_all(h, m, k));
    mirror_send(h->mirror, m);
    TRY(need_par(h, p));
    TRY(dev_room_need(h->stream, &h->steep, (size_t)nown, "flag scratch"));
    dev_launch(h->stream, &mhd_steep, dev_blocks(8 * (int64_t)nown),
               &(struct mhd_steep_args){h->mirror->mesh_dev, par_dev(h), l, nown, h->steep.p});
    dev_get(h->stream, bits, h->steep.p, (size_t)nown);
    return dev_wait(h->stream);
}

void mhd_dev_prolong(void *ctx, const struct mirror *x, int l, int32_t n, const int32_t *slot,
                     double *row, int width)
{
    const struct mhd_dev_prolong *c = ctx;
    BUG_ON(need_par(c->h, c->par) != OK); /* the device failed */
    /* `row` is where the gas begins; the field is before it (oct/fields.def) */
    dev_launch(x->stream, &mhd_created, dev_blocks(n),
               &(struct mhd_created_args){x->mesh_dev, par_dev(c->h), l, n, slot,
                                          row - LAW_FACES * 8, width});
    hydro_dev_photons(x, &c->h->par->gas, l, n, slot, row - LAW_FACES * 8, width);
}
