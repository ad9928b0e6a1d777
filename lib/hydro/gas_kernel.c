/* hydro/gas_kernel: kernels on cells or octs of gas: kick, time step, restriction, gradients,
 * totals. The host versions are in flag.c, interp.c and numbers.c. */
#include "dev/kernel.h"
#include "hydro/cell_kern.h"
#include "hydro/interp_kern.h"
#include "hydro/kernels.h"
#include "hydro/steep_kern.h"
#include "patch/courant.h"

KERNEL(gas_kick, struct gas_kick_args, struct dev_nothing, DEV_THREADS)
{
    const struct level *lv = &a->mesh->lev[a->l];
    PHASE (t, DEV_THREADS) {
        int64_t at = (int64_t)b->index * DEV_THREADS + t, i = at >> 3;
        int c = (int)(at & 7);
        if (i >= a->n) continue;
        hydro_kick_cell(lv->fld[FLD_U][i][c], &lv->fld[FLD_U + 1][i][c], &lv->fld[FLD_U + 2][i][c],
                        &lv->fld[FLD_U + 3][i][c], &lv->fld[FLD_U + GAS_ENERGY][i][c],
                        lv->fld[FLD_FX][i][c], lv->fld[FLD_FY][i][c], lv->fld[FLD_FZ][i][c],
                        a->smallr, a->dt);
    }
}

KERNEL(gas_drive, struct gas_drive_args, struct dev_nothing, DEV_THREADS)
{
    const struct level *lv = &a->mesh->lev[a->l];
    PHASE (t, DEV_THREADS) {
        int64_t at = (int64_t)b->index * DEV_THREADS + t, i = at >> 3;
        int c = (int)(at & 7);
        double f[3];
        if (i >= a->n) continue;
        turb_acceleration(&a->force, lv->key[i], c, f);
        const double dt = lv->fld[FLD_U][i][c] < a->force.min_rho ? 0.0 : a->dt;
        for (int d = 0; d < 3; d++) f[d] *= dt;
        hydro_push_cell(lv->fld[FLD_U][i][c], &lv->fld[FLD_U + 1][i][c], &lv->fld[FLD_U + 2][i][c],
                        &lv->fld[FLD_U + 3][i][c], &lv->fld[FLD_U + GAS_ENERGY][i][c], f,
                        a->smallr);
    }
}

PTAH_HD double courant_signal(const struct gas_courant_args *a, const struct level *lv, lidx i,
                              int c)
{
    if (a->signal.drive.a) return gas_signal_driven(&a->signal, lv, i, c);
    if (lv->nener > 0)
        return a->gravity ? gas_signal_mixed_step(&a->signal, lv, i, c)
                          : gas_signal_mixed(&a->signal, lv, i, c);
    return a->gravity ? gas_signal_step(&a->signal, lv, i, c)
                      : gas_signal_speed(&a->signal, lv, i, c);
}

PATCH_COURANT(gas_courant, struct gas_courant_args, courant_signal)

KERNEL(gas_restrict, struct gas_restrict_args, struct dev_nothing, DEV_THREADS)
{
    const struct level *lv = &a->mesh->lev[a->l];
    PHASE (t, DEV_THREADS) {
        int64_t at = (int64_t)b->index * DEV_THREADS + t, i = at >> 3;
        if (i >= lv->nown || lv->child[i][at & 7] < 0) continue;
        hydro_restrict_cell(a->mesh, a->l, (lidx)i, (int)(at & 7), a->nvar, a->interpol_var,
                            a->smallr);
    }
}

/* ---- refinement by gradients ---- */

struct steep_shared {
    unsigned char steep[DEV_THREADS];
};

struct steep_cell {
    double r, p, c, u[GAS_SCALARS];
};

PTAH_HD void steep_derive(struct steep_cell *x, const struct hydro_par *p)
{
    x->r = hydro_max(x->u[0], p->smallr);
    x->p = steep_pressure(x->r, x->u[1], x->u[2], x->u[3], x->u[GAS_ENERGY], p->gamma);
    x->c = p->err_grad_u >= 0.0 ? steep_sound(x->r, x->p, p->gamma, p->floor_u * p->floor_u) : 0.0;
}

/* Whether quantity v jumps between a cell and its neighbours below and above. */
PTAH_HD int steep_jumps(int v, const struct steep_cell *a, const struct steep_cell *mid,
                        const struct steep_cell *b, double floor, double limit)
{
    int velocity = v > 0 && v < GAS_ENERGY;
    double x = steep_quantity(v, mid->r, mid->u[v], mid->p),
           xa = steep_quantity(v, a->r, a->u[v], a->p), xb = steep_quantity(v, b->r, b->u[v], b->p);
    return steep_exceeds(x - xa, xb - x, steep_scale(velocity, xa, a->c, x, mid->c, floor),
                         steep_scale(velocity, x, mid->c, xb, b->c, floor), limit);
}

/* Whether non-thermal energy k jumps along an axis. */
DEV_FN int steep_energy(const struct gas_steep_args *a, lidx i, int c, int axis, int k)
{
    const struct hydro_par *p = a->par;
    const int v = GAS_SCALARS + k;
    const double limit = p->err_grad_energy[k], floor = steep_energy_floor(p, k);
    if (limit < 0.0) return 0;
    const double lo = hydro_scalar_across(a->mesh, a->l, i, c, 2 * axis, p, v),
                 hi = hydro_scalar_across(a->mesh, a->l, i, c, 2 * axis + 1, p, v),
                 x = a->mesh->lev[a->l].fld[FLD_U + v][i][c];
    return steep_exceeds(x - lo, hi - x, steep_scale(0, lo, 0.0, x, 0.0, floor),
                         steep_scale(0, x, 0.0, hi, 0.0, floor), limit);
}

DEV_FN int steep_at(const struct gas_steep_args *a, lidx i, int c)
{
    const struct hydro_par *p = a->par;
    struct steep_cell mid, lo, hi;
    int steep = 0;
    for (int v = 0; v < GAS_SCALARS; v++) mid.u[v] = a->mesh->lev[a->l].fld[FLD_U + v][i][c];
    if (p->energy.n > 0) mid.u[GAS_ENERGY] -= gas_cell_energies(&a->mesh->lev[a->l], i, c);
    steep_derive(&mid, p);
    const int ndim = a->mesh->ndim;
    for (int d = 0; d < 3; d++) {
        if (d >= ndim) continue;
        hydro_gas_across(a->mesh, a->l, i, c, 2 * d, p, lo.u);
        hydro_gas_across(a->mesh, a->l, i, c, 2 * d + 1, p, hi.u);
        steep_derive(&lo, p);
        steep_derive(&hi, p);
        if (p->err_grad_d >= 0.0)
            steep |= steep_jumps(0, &lo, &mid, &hi, p->floor_d, p->err_grad_d);
        if (p->err_grad_p >= 0.0)
            steep |= steep_jumps(GAS_ENERGY, &lo, &mid, &hi, p->floor_p, p->err_grad_p);
        for (int k = 0; k < p->energy.n; k++) steep |= steep_energy(a, i, c, d, k);
        if (p->err_grad_u < 0.0) continue;
        steep |= steep_jumps(1, &lo, &mid, &hi, p->floor_u, p->err_grad_u);
        if (ndim > 1) steep |= steep_jumps(2, &lo, &mid, &hi, p->floor_u, p->err_grad_u);
        if (ndim > 2) steep |= steep_jumps(3, &lo, &mid, &hi, p->floor_u, p->err_grad_u);
    }
    return steep;
}

KERNEL(gas_steep, struct gas_steep_args, struct steep_shared, DEV_THREADS)
{
    const int64_t first = (int64_t)b->index * DEV_THREADS;
    PHASE (t, DEV_THREADS) {
        int64_t at = first + t;
        s->steep[t] = at < 8 * (int64_t)a->nown && steep_at(a, (lidx)(at >> 3), (int)(at & 7));
    }
    PHASE (t, DEV_THREADS / 8) {
        unsigned bits = 0;
        for (int c = 0; c < 8; c++) bits |= (unsigned)s->steep[8 * t + c] << c;
        if (first / 8 + t < a->nown) a->out[first / 8 + t] = (unsigned char)bits;
    }
}

/* ---- totals ---- */

DEV_FN int64_t totals_count(const struct gas_totals_args *a)
{
    return a->mesh->lev[a->l].nown;
}

DEV_FN void totals_of(const struct gas_totals_args *a, int64_t i, double x[GAS_TOTALS])
{
    hydro_oct_totals(&a->mesh->lev[a->l], (lidx)i, a->vol, a->smallr, x);
}

DEV_TOTALS(gas_totals, struct gas_totals_args, GAS_TOTALS, totals_count, totals_of)

KERNEL(change_rows, struct change_rows_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        const int64_t k = (int64_t)b->index * DEV_THREADS + t;
        if (k < a->n) a->row[a->oct[k]] = (int32_t)k;
    }
}
