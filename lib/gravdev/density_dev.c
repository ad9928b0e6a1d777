/* gravdev/density_dev: the gas deposit on a device, and sums over a level: device versions of
 * grav/deposit, sim/density and sim/report. */
#include <string.h>

#include "base/mem.h"
#include "gravdev/dev_priv.h"
#include "oct/bits.h"
#include "oct/fields.h"

static const size_t MOMENTS = sizeof(double[3]), SUMS = sizeof(int64_t[8]);

/* Provides gas densities and room for the moments of levels l and finer on the device. Arrays of
 * levels without octs are NULL. */
static enum err moments_need(struct grav_dev *g, struct mesh *m, int l)
{
    for (int k = m->levelmax; k >= l; k--) {
        TRY(mirror_need(g->mirror, m, k, FLD_U, 1, LOCATION_DEVICE));
        TRY(dev_room_need(g->stream, &g->com[k], MOMENTS * (size_t)m->lev[k].noct, "gas moments"));
    }
    return OK;
}

enum err grav_dev_moments(struct grav_dev *g, struct mesh *m, int l)
{
    TRY(moments_need(g, m, l));
    mirror_send(g->mirror, m);
    for (int k = m->levelmax; k >= l; k--) {
        bool alone = grav_moments_alone(m, l, k);
        const lidx n = alone ? m->lev[k].noct : m->lev[k].nown;
        dev_launch(g->stream, &gas_moments, grav_blocks(n, DEV_THREADS),
                   &(struct gas_moments_args){g->mirror->mesh_dev, k, n,
                                              k < m->levelmax ? g->com[k + 1].p : NULL,
                                              g->com[k].p});
        if (!alone)
            grav_exchange_level(
                g, m, k,
                (struct grav_payload){
                    .use = COMM_FINE_DP, .n = 1, .arr = {g->com[k].p}, .stride = {MOMENTS}});
    }
    return OK;
}

enum err grav_dev_moments_put(struct grav_dev *g, struct mesh *m, int l, double (*com[])[3])
{
    TRY(moments_need(g, m, l));
    for (int k = l; k <= m->levelmax; k++)
        dev_put(g->stream, g->com[k].p, com[k], MOMENTS * (size_t)m->lev[k].noct);
    return dev_wait(g->stream);
}

enum err grav_dev_moments_get(struct grav_dev *g, const struct mesh *m, int l, double (*com[])[3])
{
    for (int k = l; k <= m->levelmax; k++) {
        size_t bytes = MOMENTS * (size_t)m->lev[k].noct;
        FREE(com[k]);
        com[k] = mem_new(bytes + 1, "gas moments");
        if (g->com[k].bytes >= bytes) dev_get(g->stream, com[k], g->com[k].p, bytes);
    }
    return dev_wait(g->stream);
}

static void dense_begin(struct grav_dev *g, const struct mesh *m, int l)
{
    struct dev_dense *e = &g->dense_of[l];
    const size_t n = (size_t)m->lev[l].nown;
    dev_drop_host(g->stream, e->bits);
    *e = (struct dev_dense){dev_mark(g->stream), m->lev[l].octs, mem_new(n + 1, "deposit")};
    dev_get(g->stream, e->bits, g->dense.p, n);
}

enum err grav_dev_dense(struct grav_dev *g, const struct mesh *m, int l, unsigned char (*dense)[8])
{
    struct dev_dense *e = &g->dense_of[l];
    const lidx n = m->lev[l].nown;
    if (!e->bits) return OK;
    enum err err = dev_reach(g->stream, e->mark);
    if (err == OK && e->octs == m->lev[l].octs) {
#pragma omp parallel for schedule(static)
        for (lidx i = 0; i < n; i++) bits_to_bytes(e->bits[i], dense[i]);
    }
    FREE(e->bits);
    return err;
}

enum err grav_dev_density_need(struct grav_dev *g, struct mesh *m, int l, int finer,
                               const struct grav_density *how)
{
    const struct level *lv = &m->lev[l];
    if (how->gas && finer > 0) TRY(moments_need(g, m, finer));
    TRY(mirror_room(g->mirror, m, l, FLD_RHO, 1));
    if (how->gas) TRY(mirror_need(g->mirror, m, l, FLD_U, 1, LOCATION_DEVICE));
    if (how->gas) TRY(dev_room_need(g->stream, &g->gas, SUMS * (size_t)lv->noct, "deposit"));
    if (how->dense) TRY(dev_room_need(g->stream, &g->dense, (size_t)lv->nown, "deposit"));
    return OK;
}

/* Adds the gas to its own sums, or to the masses if its density is not needed separately. */
static void deposit(struct grav_dev *g, const struct mesh *m, int l, double vol,
                    const struct grav_density *how, int64_t (*sums)[8])
{
    const size_t bytes = SUMS * (size_t)m->lev[l].noct;
    if (sums != how->mass) dev_fill(g->stream, sums, 0, bytes);
    dev_launch(g->stream, &gas_deposit, grav_blocks(m->lev[l].nown, GRAV_OCTS),
               &(struct gas_deposit_args){g->mirror->mesh_dev, l, how->smallr, vol / how->quantum,
                                          l < m->levelmax ? g->com[l + 1].p : NULL, sums});
}

/* Adds deposits in ghosts to the cells of their owners. */
static void sums_exchange(struct grav_dev *g, const struct mesh *m, int l,
                          int64_t (*const sums[PAYLOAD_ARRAYS])[8])
{
    struct grav_payload k = {.what = PAYLOAD_SUMS};
    for (int i = 0; i < PAYLOAD_ARRAYS; i++) {
        if (!sums[i]) continue;
        k.arr[k.n] = sums[i];
        k.stride[k.n++] = SUMS;
    }
    grav_exchange_level(g, m, l, k);
}

enum err grav_dev_density(struct grav_dev *g, struct mesh *m, int l, const struct grav_density *how)
{
    const double vol = mesh_volume(m, l);
    const lidx n = m->lev[l].nown;
    TRY(grav_dev_density_need(g, m, l, 0, how));
    mirror_send(g->mirror, m);
    bool apart = how->gas && (how->dense || !how->mass);
    int64_t(*gas)[8] = apart ? g->gas.p : NULL;
    if (how->gas) deposit(g, m, l, vol, how, apart ? gas : how->mass);
    sums_exchange(g, m, l, (int64_t(*[])[8]){how->mass, how->number, gas});
    dev_launch(g->stream, &gas_density, grav_blocks(n, GRAV_OCTS),
               &(struct gas_density_args){.mesh = g->mirror->mesh_dev,
                                          .l = l,
                                          .gas = (const int64_t(*)[8])gas,
                                          .mass = (const int64_t(*)[8])how->mass,
                                          .number = (const int64_t(*)[8])how->number,
                                          .quantum = how->quantum,
                                          .vol = vol,
                                          .unit = how->unit,
                                          .number_quantum = how->number_quantum,
                                          .m_refine = how->m_refine,
                                          .dense = how->dense ? g->dense.p : NULL});
    mirror_wrote(g->mirror, l, FLD_RHO, 1, LOCATION_DEVICE);
    ghosts_set(m, l, SET_RHO, false);
    if (how->dense) dense_begin(g, m, l);
    return OK;
}

enum err grav_dev_gas_mass(struct grav_dev *g, struct mesh *m, double smallr, struct sum sum[4])
{
    struct mirror *x = g->mirror;
    struct sum here;
    int64_t octs = 0, max = 8 * (int64_t)dev_processors(g->dev);
    for (int l = m->levelmin; l <= m->levelmax; l++)
        TRY(mirror_need(x, m, l, FLD_U, 1, LOCATION_DEVICE));
    mirror_send(x, m);
    dev_fill(g->stream, g->norm, 0, 4 * sizeof g->norm_here[0]);
    for (int l = m->levelmin; l <= m->levelmax; l++) {
        int64_t blocks = grav_blocks(m->lev[l].nown, DEV_THREADS);
        dev_launch(g->stream, &gas_mass, blocks < max ? blocks : max,
                   &(struct gas_mass_args){x->mesh_dev, l, smallr, g->norm});
        octs += m->lev[l].nown;
    }
    TRY(grav_sums_get(g, 4, g->norm, g->norm_here[0]));
    for (int j = 0; j < 4; j++) {
        memcpy(&here, g->norm_here[j], sizeof here);
        here.count = octs;
        sum_join(&sum[j], &here);
    }
    return OK;
}

enum err grav_dev_energy_begin(struct grav_dev *g, struct mesh *m, int l, double factor, bool sum)
{
    struct mirror *x = g->mirror;
    struct dev_energy *e = &g->energy;
    e->blocks = grav_blocks(m->lev[l].nown, DEV_THREADS);
    if (e->blocks > ENERGY_BLOCKS) e->blocks = ENERGY_BLOCKS;
    memset(e->sum, 0, sizeof e->sum);
    e->digits.s = NULL;
    if (e->blocks == 0) return OK;
    TRY(mirror_need(x, m, l, FLD_RHO, 1, LOCATION_DEVICE));
    TRY(mirror_need(x, m, l, FLD_FX, 3, LOCATION_DEVICE));
    TRY(dev_room_need(g->stream, &g->top, sizeof e->top, "gravity"));
    if (sum) TRY(dev_digits_need(&e->digits, g->stream, 1, GRAV_NORM, "gravity"));
    mirror_send(x, m);
    dev_fill(g->stream, g->norm, 0, sizeof e->sum);
    dev_launch(g->stream, &phi_energy, e->blocks,
               &(struct phi_energy_args){x->mesh_dev, l, factor, g->top.p, sum ? g->norm : NULL});
    dev_get(g->stream, e->top, g->top.p, sizeof *e->top * (size_t)e->blocks);
    if (!sum) return OK;
    dev_digits_pack(&e->digits, g->stream, g->norm);
    dev_digits_get(&e->digits, g->stream);
    return OK;
}

enum err grav_dev_energy_end(struct grav_dev *g, const struct mesh *m, int l, double *top,
                             struct sum *sum)
{
    struct dev_energy *e = &g->energy;
    struct sum here;
    enum err err = dev_digits_take(&e->digits, e->sum);
    if (err == OK) err = dev_wait(g->stream);
    *top = 0;
    for (int64_t i = 0; i < e->blocks; i++) *top = e->top[i] > *top ? e->top[i] : *top;
    memcpy(&here, e->sum, sizeof here);
    here.count = m->lev[l].nown;
    if (sum && e->blocks > 0) sum_join(sum, &here);
    return err;
}
