/* rt/rt_dev: the state of radiation on a device: memory, numbers of the run, sums of the ledger. */
#include "rt/rt_dev.h"

#include <string.h>

#include "base/mem.h"
#include "oct/field_sets.h"
#include "phys/floor.h"
#include "rt/dev_priv.h"
#include "rt/law.h"

const char *rt_dev_lacks(const struct rt *rt, const struct mesh *m)
{
    if (rt->ngroups > 0 && rt->par->rt.rt_isirtrap) return "rt_isIRtrap";
    if (rt->by_table && rt->scheme == RT_HLL) return "rt_flux_scheme='hll' of rt_rule='ramses'";
    if (m->magnetic) return "radiation with a magnetic field";
    return NULL;
}

/* ---- state ---- */

/* Memory that does not depend on the mesh. */
static enum err numbers_new(struct rt_dev *d)
{
    const size_t bytes = sizeof *d->ledger * RT_KINDS;
    TRY(dev_new(d->dev, &d->num, sizeof *d->num, "radiation parameters"));
    TRY(dev_new(d->dev, &d->nrest, sizeof *d->nrest, "chemistry cells"));
    TRY(dev_new(d->dev, &d->stats, sizeof *d->stats, "radiation sums"));
    TRY(dev_new(d->dev, &d->ledger, bytes, "radiation sums"));
    dev_fill(d->stream, d->stats, 0, sizeof *d->stats);
    dev_fill(d->stream, d->ledger, 0, bytes);
    return OK;
}

enum err rt_dev_new(struct rt_dev **d, struct rt *rt, struct mirror *x, struct ghost_dev *g)
{
    struct rt_dev *to = *d = mem_zero(sizeof *to, "device");
    to->mirror = x;
    to->dev = x->dev;
    to->stream = x->stream;
    to->ghosts = g;
    to->rt = rt;
    patch_dev_init(&to->patch, x);
    enum err err = numbers_new(to);
    if (err != OK) rt_dev_free(d);
    return err;
}

static void reach_drop(struct rt_dev *d, struct rt_reach *x)
{
    for (int k = 0; k < PARAM_REGIONS; k++) dev_drop(d->stream, x->cell[k]);
    *x = (struct rt_reach){.known = false};
}

void rt_dev_free(struct rt_dev **d)
{
    struct rt_dev *x = *d;
    if (!x) return;
    if (x->ledger) rt_dev_ledger(x);
    for (int l = 0; l < LEVEL_MAX + 2; l++) reach_drop(x, &x->reach[l]);
    patch_dev_fini(&x->patch);
    dev_free(x->dev, x->num);
    dev_free(x->dev, x->ledger);
    dev_free(x->dev, x->old.p);
    dev_free(x->dev, x->terms.p);
    dev_free(x->dev, x->rest.p);
    dev_free(x->dev, x->absorbed.p);
    dev_free(x->dev, x->emitted.p);
    dev_free(x->dev, x->tables);
    dev_free(x->dev, x->nrest);
    dev_free(x->dev, x->stats);
    FREE(*d);
}

/* ---- sums ---- */

/* Exact sums from the device. */
static enum err sums_get(struct rt_dev *d, enum rt_kind first, int kinds,
                         int64_t (*to)[RT_GROUPS][DEV_SUM])
{
    const size_t bytes = sizeof *to * (size_t)kinds;
    dev_get(d->stream, to, d->ledger[first], bytes);
    dev_fill(d->stream, d->ledger[first], 0, bytes);
    return dev_wait(d->stream);
}

static void sums_join(struct sum to[RT_GROUPS], int64_t (*from)[DEV_SUM])
{
    for (int g = 0; g < RT_GROUPS; g++) {
        struct sum s;
        sum_init(&s);
        memcpy(s.digit, from[g], sizeof s.digit);
        s.bad = from[g][SUM_DIGITS];
        sum_carry(&s);
        sum_join(&to[g], &s);
    }
}

void rt_dev_ledger(struct rt_dev *d)
{
    int64_t sums[RT_INSIDE][RT_GROUPS][DEV_SUM];
    struct rt_ledger *x = &d->rt->ledger;
    struct sum *const to[RT_INSIDE] = {x->emitted, x->absorbed, x->left, x->raised};
    BUG_ON(sums_get(d, 0, RT_INSIDE, sums) != OK); /* the state is lost */
    for (int k = 0; k < RT_INSIDE; k++) sums_join(to[k], sums[k]);
    d->counted = 0;
}

static void count(struct rt_dev *d, const double *x, int l, int64_t n, enum rt_kind kind, int first,
                  int groups)
{
    enum { BLOCKS = 128, MOST = 1 << 29 }; /* a digit overflows after 2^31 terms */
    const int64_t blocks = dev_blocks(n) < BLOCKS ? dev_blocks(n) : BLOCKS;
    if (d->counted > MOST) rt_dev_ledger(d);
    d->counted += n;
    dev_launch(
        d->stream, &photons_sum, blocks * groups,
        &(struct rt_count_args){x, d->mirror->mesh_dev, l, groups, n, d->ledger[kind] + first});
}

void rt_dev_count(struct rt_dev *d, const double *x, int64_t n, enum rt_kind kind, int first,
                  int groups)
{
    count(d, x, 0, n, kind, first, groups);
}

bool rt_dev_inside(struct rt_dev *d, struct mesh *m, int l, struct sum all[RT_GROUPS])
{
    int64_t sums[1][RT_GROUPS][DEV_SUM];
    const int64_t n = 8 * (int64_t)m->lev[l].nown;
    if (n == 0 || mirror_is_at(d->mirror, l, FLD_PHOTONS, LOCATION_HOST)) return false;
    mirror_send(d->mirror, m);
    count(d, NULL, l, n, RT_INSIDE, 0, m->nphoton / RT_COMPONENTS);
    BUG_ON(sums_get(d, RT_INSIDE, 1, sums) != OK);
    sums_join(all, sums[0]);
    return true;
}

/* ---- before the sub-steps of a level ---- */

/* Sends the numbers of the run if they have changed. */
static enum err numbers_send(struct rt_dev *d, const struct rt *rt)
{
    struct rt_numbers now = {.c = rt->c, .interpol = rt->interpol, .confines = rt->confines};
    memcpy(now.bound, rt->bound, sizeof now.bound);
    memcpy(now.state, rt->bound_state, sizeof now.state);
    if (d->known && memcmp(&d->sent, &now, sizeof now) == 0) return OK;
    TRY(dev_wait(d->stream));
    memcpy(&d->sent, &now, sizeof now);
    dev_put(d->stream, d->num, &d->sent, sizeof d->sent);
    d->known = true;
    return OK;
}

/* The cells that sources reach, if the leaf cells of the level have changed. */
static enum err reach_send(struct rt_dev *d, const struct rt_run *r, int l)
{
    const struct mesh *m = r->mesh;
    struct rt_reach *x = &d->reach[l];
    const uint64_t octs[2] = {m->lev[l].octs, m->lev[l + 1].octs};
    if (x->known && memcmp(x->octs, octs, sizeof octs) == 0) return OK;
    reach_drop(d, x);
    for (int k = 0; k < d->rt->nsource; k++) {
        struct rt_reached *cell = NULL;
        const int group = d->rt->source[k].group;
        if (group < 0 || group >= m->nphoton / RT_COMPONENTS) continue;
        x->n[k] = rt_sources_reach(r, l, k, &cell);
        const size_t bytes = sizeof *cell * (size_t)x->n[k];
        enum err err = bytes > 0 ? dev_new(d->dev, &x->cell[k], bytes, "radiation sources") : OK;
        if (err == OK && bytes > 0) dev_put(d->stream, x->cell[k], cell, bytes);
        dev_drop_host(d->stream, cell);
        TRY(err);
    }
    memcpy(x->octs, octs, sizeof octs);
    x->known = true;
    return OK;
}

struct patch_kernels rt_dev_kernels(struct rt_dev *d, const struct rt_law *law,
                                    struct rt_tile_args *a)
{
    const bool hll = d->rt->scheme == RT_HLL;
    a->num = d->num;
    a->groups = law->groups;
    a->vacuum = law->vacuum;
    a->c = d->rt->c;
    return (struct patch_kernels){.missing = &photons_missing,
                                  .step = hll ? &photons_hll : &photons_glf,
                                  .par = d->num,
                                  .args = &a->p,
                                  .planes = hll ? RT_HLL_PLANES : RT_GLF_PLANES,
                                  .old = d->rt->smooth ? &d->old : NULL};
}

/* The largest number of terms of a sum. */
static int64_t terms_most(const struct rt_dev *d, const struct mesh *m, int l)
{
    int64_t most = 0;
    for (int k = l > m->levelmin ? l - 1 : l; k <= l; k++) {
        const int64_t n = 6 * (int64_t)m->lev[k].nown * (m->nphoton / RT_COMPONENTS);
        most = n > most ? n : most;
    }
    for (int k = 0; k < d->rt->nsource; k++)
        if (2 * d->reach[l].n[k] > most) most = 2 * d->reach[l].n[k];
    return most;
}

static enum err transport_begin(struct rt_dev *d, const struct rt_run *r, int l)
{
    struct mesh *m = r->mesh;
    const struct rt_law law = rt_law_make(d->rt, m);
    struct rt_tile_args a = {.num = d->num};
    const struct patch_kernels k = rt_dev_kernels(d, &law, &a);
    const int last = l < m->levelmax ? l + 1 : l;
    TRY(reach_send(d, r, l));
    for (int at = l > m->levelmin ? l - 1 : l; at <= last; at++)
        TRY(mirror_need(d->mirror, m, at, FLD_PHOTONS, m->nphoton, LOCATION_DEVICE));
    TRY(patch_dev_prepare(&d->patch, m, l, &law.law, &k));
    return dev_room_need(d->stream, &d->terms, sizeof(double) * (size_t)terms_most(d, m, l),
                         "radiation sums");
}

enum err rt_dev_begin(struct rt_dev *d, const struct rt_run *r, int l)
{
    TRY(numbers_send(d, r->rt));
    if (r->rt->advect) TRY(transport_begin(d, r, l));
    if (r->rt->chem) TRY(rt_dev_cells_begin(d, r, l));
    mirror_send(d->mirror, r->mesh);
    return OK;
}

enum err rt_dev_forget(struct rt_dev *d, int l)
{
    return mirror_forget_reflux(d->mirror, l, REFLUX_RT);
}

/* ---- host code ---- */

void rt_dev_host_registers(struct mirror *x, int l)
{
    mirror_wrote(x, l, FLD_REFLUX + REFLUX_RT, 1, LOCATION_HOST);
}

enum err rt_dev_home(struct mirror *x, struct mesh *m, int l)
{
    const int last = l < m->levelmax ? l + 1 : l, first = l - 2 > m->levelmin ? l - 2 : m->levelmin;
    for (int k = first; k <= last; k++) {
        TRY(mirror_need(x, m, k, FLD_PHOTONS, m->nphoton, LOCATION_HOST));
        TRY(mirror_need(x, m, k, FLD_REFLUX + REFLUX_RT, 1, LOCATION_HOST));
        mirror_wrote(x, k, FLD_PHOTONS, m->nphoton, LOCATION_HOST);
        rt_dev_host_registers(x, k);
    }
    return OK;
}

static field_set lent_of(const struct mesh *m)
{
    return PHOTONS | (m->hydro ? GAS : 0);
}

void rt_dev_lend(struct rt_dev *d, struct mesh *m, int l)
{
    BUG_ON(mirror_need_set(d->mirror, m, l, lent_of(m), LOCATION_HOST) != OK);
}

void rt_dev_take(struct rt_dev *d, struct mesh *m, int l)
{
    mirror_wrote_set(d->mirror, m, l, lent_of(m), LOCATION_HOST);
    BUG_ON(mirror_need_set(d->mirror, m, l, lent_of(m), LOCATION_DEVICE) != OK);
    mirror_send(d->mirror, m);
}
