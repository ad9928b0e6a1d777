/* grav/deposit_kernel: the gas deposit of deposit.c on a device, the density and the
 * quasi-Lagrangian criterion that follow from it, and the energy of the force. Sums of integers
 * have no order. */
#include "dev/kernel.h"
#include "grav/deposit_kern.h"
#include "grav/kernels.h"
#include "grav/norm_kern.h"

struct deposit_none {
    int unused;
};

KERNEL(gas_moments, struct gas_moments_args, struct deposit_none, GRAV_THREADS)
{
    PHASE (t, GRAV_THREADS) {
        int64_t i = (int64_t)b->index * GRAV_THREADS + t;
        if (i < a->mesh->lev[a->l].nown) deposit_com(a->mesh, a->l, (lidx)i, a->fine, a->com[i]);
    }
}

/* The octs of level l that the cloud of cell k of oct i meets are its neighbours on the side of the
 * cell, or it itself. */
DEV_FN void spread(const struct gas_deposit_args *a, lidx i, const double com[3], double mass)
{
    const struct level *lv = &a->mesh->lev[a->l];
    int64_t pos0[3];
    int low[3], dir[3];
    double frac[3], x0[3], dx = mesh_dx(a->mesh, a->l);
    okey_coords(lv->key[i], pos0);
    for (int d = 0; d < 3; d++) pos0[d] *= 2;
    cell_centre(a->mesh, a->l, pos0, x0);
    for (int d = 0; d < 3; d++) {
        frac[d] = deposit_cloud(com[d], x0[d], dx, &low[d]);
        dir[d] = low[d] < 0 ? -1 : 1;
    }
    for (int v = 0; v < 8; v++) {
        int other = 0, cell = 0;
        for (int d = 0; d < 3; d++) {
            int pos = low[d] + (v >> d & 1) + 2; /* 0..5 over three octs */
            other |= (pos >> 1 != 1) << d;
            cell |= (pos & 1) << d;
        }
        lidx j = interpol_beside(a->mesh, a->l, i, dir, other);
        if (j >= 0) dev_add_i64(&a->mass[j][cell], llrint(mass * deposit_share(frac, v)));
    }
}

KERNEL(gas_deposit, struct gas_deposit_args, struct deposit_none, GRAV_THREADS)
{
    const struct level *lv = &a->mesh->lev[a->l];
    PHASE (t, GRAV_THREADS) {
        int64_t at = (int64_t)b->index * GRAV_THREADS + t, i = at >> 3;
        int k = (int)(at & 7);
        if (i >= lv->nown) continue;
        double mass = deposit_quanta(lv->fld[FLD_U][i][k], a->smallr, a->unit);
        lidx child = a->com ? lv->child[i][k] : -1;
        if (child < 0)
            dev_add_i64(&a->mass[i][k], llrint(mass));
        else
            spread(a, (lidx)i, a->com[child], mass);
    }
}

KERNEL(gas_density, struct gas_density_args, struct deposit_none, GRAV_THREADS)
{
    const struct level *lv = &a->mesh->lev[a->l];
    PHASE (t, GRAV_THREADS) {
        int64_t at = (int64_t)b->index * GRAV_THREADS + t, i = at >> 3;
        int k = (int)(at & 7);
        if (i >= lv->nown) continue;
        int64_t gas = a->gas ? a->gas[i][k] : 0, rest = a->mass ? a->mass[i][k] : 0;
        lv->fld[FLD_RHO][i][k] = deposit_density(rest + gas, a->quantum, a->vol);
        if (a->dense)
            a->dense[i][k] = deposit_dense(
                a->gas ? deposit_density(gas, a->quantum, a->vol) / a->unit : 0,
                a->number ? a->number[i][k] : 0, a->number_quantum, a->m_refine);
    }
}

struct energy_shared {
    union norm_row row[GRAV_THREADS];
    double top[GRAV_THREADS];
    int64_t norm[GRAV_NORM];
};

KERNEL(phi_energy, struct phi_energy_args, struct energy_shared, GRAV_THREADS)
{
    const struct level *lv = &a->mesh->lev[a->l];
    norm_clear(s->norm, b);
    PHASE (t, GRAV_THREADS) {
        s->top[t] = 0;
    }
    for (int64_t first = (int64_t)b->index * GRAV_THREADS; first < lv->nown;
         first += (int64_t)b->count * GRAV_THREADS) {
        int n = lv->nown - first < GRAV_THREADS ? (int)(lv->nown - first) : GRAV_THREADS;
        PHASE (t, n) {
            lidx i = (lidx)(first + t);
            for (int k = 0; k < 8; k++) {
                double rho = fabs(lv->fld[FLD_RHO][i][k]);
                s->top[t] = rho > s->top[t] ? rho : s->top[t];
            }
            if (a->sum) norm_term(&s->row[t], force_energy(lv, i, a->factor));
        }
        if (a->sum) norm_add(s->norm, s->row, n, b);
    }
    for (int half = GRAV_THREADS / 2; half > 0; half /= 2)
        PHASE (t, half) {
            s->top[t] = s->top[t + half] > s->top[t] ? s->top[t + half] : s->top[t];
        }
    PHASE (t, 1) {
        a->top[b->index] = s->top[0];
    }
    if (a->sum) norm_flush(a->sum, s->norm, b);
}
