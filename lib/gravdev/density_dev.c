/* gravdev/density_dev: the deposit of the gas on a device, and sums over a level: what
 * grav/deposit, and for all that gravitates sim/density and sim/report, do on hosts. */
#include <string.h>

#include "base/mem.h"
#include "gravdev/dev_priv.h"
#include "oct/fields.h"

enum err grav_dev_moments(struct grav_dev *g, struct mesh *m, int l)
{
    struct mirror *x = g->mirror;
    for (int k = m->levelmax; k >= l; k--) {
        size_t bytes = sizeof(double[3]) * (size_t)m->lev[k].noct;
        TRY(mirror_need(x, m, k, FLD_U, 1, PLACE_DEVICE));
        TRY(grav_rows_need(g, &g->com[k], bytes, "gas moments"));
    }
    mirror_send(x, m);
    for (int k = m->levelmax; k >= l; k--)
        dev_launch(g->stream, &gas_moments, grav_blocks(m->lev[k].nown, DEV_THREADS),
                   &(struct gas_moments_args){x->there, k, k < m->levelmax ? g->com[k + 1].p : NULL,
                                              g->com[k].p});
    return OK;
}

/* The criterion comes as bits. */
static enum err dense_get(struct grav_dev *g, lidx n, unsigned char (*dense)[8])
{
    unsigned char *bits = mem_new((size_t)n, "deposit");
    dev_get(g->stream, bits, g->dense.p, (size_t)n);
    enum err err = dev_wait(g->stream);
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < n; i++)
        for (int k = 0; k < 8; k++) dense[i][k] = bits[i] >> k & 1;
    mem_free(bits);
    return err;
}

enum err grav_dev_density(struct grav_dev *g, struct mesh *m, int l, const struct grav_density *how)
{
    struct mirror *x = g->mirror;
    const struct level *lv = &m->lev[l];
    const size_t of_mass = sizeof(int64_t[8]) * (size_t)lv->noct;
    const int64_t blocks = grav_blocks(lv->nown, GRAV_OCTS);
    const double dx = mesh_dx(m, l), vol = dx * dx * dx;
    if (lv->nown == 0) return OK;
    TRY(mirror_room(x, m, l, FLD_RHO, 1));
    if (how->gas) TRY(mirror_need(x, m, l, FLD_U, 1, PLACE_DEVICE));
    if (how->gas) TRY(grav_rows_need(g, &g->gas, of_mass, "deposit"));
    if (how->dense) TRY(grav_rows_need(g, &g->dense, (size_t)lv->nown, "deposit"));
    mirror_send(x, m);
    if (how->gas) {
        dev_fill(g->stream, g->gas.p, 0, of_mass);
        dev_launch(g->stream, &gas_deposit, blocks,
                   &(struct gas_deposit_args){x->there, l, how->smallr, vol / how->quantum,
                                              l < m->levelmax ? g->com[l + 1].p : NULL, g->gas.p});
    }
    dev_launch(g->stream, &gas_density, blocks,
               &(struct gas_density_args){.mesh = x->there,
                                          .l = l,
                                          .gas = how->gas ? g->gas.p : NULL,
                                          .mass = how->mass,
                                          .number = how->number,
                                          .quantum = how->quantum,
                                          .vol = vol,
                                          .unit = how->unit,
                                          .number_quantum = how->number_quantum,
                                          .m_refine = how->m_refine,
                                          .dense = how->dense ? g->dense.p : NULL});
    mirror_wrote(x, l, FLD_RHO, 1, PLACE_DEVICE);
    ghosts_set(m, l, SET_RHO, false);
    return how->dense ? dense_get(g, lv->nown, how->dense) : OK;
}

enum err grav_dev_gas_mass(struct grav_dev *g, struct mesh *m, double smallr, struct sum sum[4])
{
    struct mirror *x = g->mirror;
    struct sum here;
    int64_t octs = 0, most = 8 * (int64_t)dev_processors(g->dev);
    for (int l = m->levelmin; l <= m->levelmax; l++)
        TRY(mirror_need(x, m, l, FLD_U, 1, PLACE_DEVICE));
    mirror_send(x, m);
    dev_fill(g->stream, g->norm, 0, sizeof g->norm_here);
    for (int l = m->levelmin; l <= m->levelmax; l++) {
        int64_t blocks = grav_blocks(m->lev[l].nown, DEV_THREADS);
        dev_launch(g->stream, &gas_mass, blocks < most ? blocks : most,
                   &(struct gas_mass_args){x->there, l, smallr, g->norm});
        octs += m->lev[l].nown;
    }
    dev_get(g->stream, g->norm_here, g->norm, sizeof g->norm_here);
    TRY(dev_wait(g->stream));
    for (int j = 0; j < 4; j++) {
        memcpy(&here, g->norm_here[j], sizeof here);
        here.count = octs;
        sum_join(&sum[j], &here);
    }
    return OK;
}

enum err grav_dev_energy(struct grav_dev *g, struct mesh *m, int l, double factor, double *top,
                         struct sum *sum)
{
    enum { BLOCKS = 1024 };
    struct mirror *x = g->mirror;
    struct sum here;
    double most[BLOCKS];
    int64_t blocks = grav_blocks(m->lev[l].nown, DEV_THREADS);
    if (blocks > BLOCKS) blocks = BLOCKS;
    *top = 0;
    if (blocks == 0) return OK;
    TRY(mirror_need(x, m, l, FLD_RHO, 1, PLACE_DEVICE));
    TRY(mirror_need(x, m, l, FLD_FX, 3, PLACE_DEVICE));
    TRY(grav_rows_need(g, &g->top, sizeof most, "gravity"));
    mirror_send(x, m);
    dev_fill(g->stream, g->norm, 0, sizeof here);
    dev_launch(g->stream, &phi_energy, blocks,
               &(struct phi_energy_args){x->there, l, factor, g->top.p, sum ? g->norm : NULL});
    dev_get(g->stream, most, g->top.p, sizeof *most * (size_t)blocks);
    dev_get(g->stream, &here, g->norm, sizeof here);
    TRY(dev_wait(g->stream));
    for (int64_t i = 0; i < blocks; i++) *top = most[i] > *top ? most[i] : *top;
    here.count = m->lev[l].nown;
    if (sum) sum_join(sum, &here);
    return OK;
}
