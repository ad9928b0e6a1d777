/* mhd/field_kernel: kernels on cells or octs of gas with a magnetic field: octs that refinement
 * creates, missing octs next to a tile, restriction, time step, totals. The host versions are in
 * interp.c and numbers.c. */
#include "dev/kernel.h"
#include "mhd/interp_kern.h"
#include "mhd/kernels.h"
#include "mhd/steep_kern.h"
#include "patch/courant.h"

KERNEL(mhd_created, struct mhd_created_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        int64_t k = (int64_t)b->index * DEV_THREADS + t;
        if (k >= a->n) continue;
        double(*face)[8] = (double(*)[8])(a->row + k * a->width * 8);
        mhd_interp_oct(a->mesh, a->l, a->slot[k] >> 3, a->slot[k] & 7, a->par, face + LAW_FACES,
                       face);
    }
}

/* Rows: the gas, the field, the acceleration. */
KERNEL(mhd_missing, struct patch_missing_args, struct dev_nothing, DEV_THREADS)
{
    const struct mesh *m = a->mesh;
    PHASE (t, DEV_THREADS) {
        int64_t k = (int64_t)b->index * DEV_THREADS + t;
        if (k >= a->n) continue;
        int32_t i = a->parent[k] >> 3;
        int cell = a->parent[k] & 7;
        double(*to)[8] = (double(*)[8])(a->row + k * (m->nvar + LAW_FACES + LAW_BESIDE) * 8);
        mhd_interp_oct(m, a->l - 1, i, cell, (const struct mhd_par *)a->par, to, to + m->nvar);
        if (!m->gravity) continue;
        to += m->nvar + LAW_FACES;
        for (int d = 0; d < 3; d++)
            for (int c = 0; c < 8; c++) to[d][c] = m->lev[a->l - 1].fld[FLD_FX + d][i][cell];
    }
}

KERNEL(mhd_restricted, struct mhd_restrict_args, struct dev_nothing, DEV_THREADS)
{
    const struct level *lv = &a->mesh->lev[a->l];
    const int cells = a->mesh->cells, nvar = a->par->gas->nvar;
    PHASE (t, DEV_THREADS) {
        int64_t at = (int64_t)b->index * DEV_THREADS + t;
        const lidx i = (lidx)(at >> 3);
        const int c = (int)(at & 7);
        if (at >> 3 >= lv->nown || c >= cells) continue;
        if (lv->child[i][c] >= 0)
            mhd_restrict_split(a->mesh, a->l, i, c, a->par);
        else
            mhd_restrict_leaf(a->mesh, a->l, i, c, a->par);
        for (int k = c + cells; k < 8; k += cells) {
            for (int f = 0; f < LAW_FACES; f++)
                level_magnetic(lv, f)[i][k] = level_magnetic(lv, f)[i][c];
            for (int v = 0; v < nvar; v++) level_gas(lv, v)[i][k] = level_gas(lv, v)[i][c];
        }
    }
}

/* ---- refinement by gradients ---- */

struct steep_shared {
    unsigned char steep[DEV_THREADS];
};

DEV_FN struct value value_across(const struct mhd_steep_args *a, struct patch_cell own, int f,
                                 const struct jump *q)
{
    const struct patch_cell x = patch_across(a->mesh, own.level, own.oct, own.cell, f);
    return x.oct < 0 ? jump_value_beyond(a->mesh, own, f, q, a->par)
                     : jump_value_in(a->mesh, x, q, a->par);
}

DEV_FN bool steep_at(const struct mhd_steep_args *a, struct patch_cell own)
{
    bool steep = false;
    for (int n = 0; n < JUMPS && !steep; n++) {
        const struct jump q = jump_of(a->par, n);
        if (q.limit < 0.0) continue;
        const struct value mid = jump_value_in(a->mesh, own, &q, a->par);
        for (int d = 0; d < a->mesh->ndim; d++)
            steep |= jump_is_steep(&q, value_across(a, own, 2 * d, &q), mid,
                                   value_across(a, own, 2 * d + 1, &q));
    }
    return steep;
}

KERNEL(mhd_steep, struct mhd_steep_args, struct steep_shared, DEV_THREADS)
{
    const int64_t first = (int64_t)b->index * DEV_THREADS;
    PHASE (t, DEV_THREADS) {
        int64_t at = first + t;
        const struct patch_cell own = {a->l, (lidx)(at >> 3), (int)(at & 7)};
        s->steep[t] = at < 8 * (int64_t)a->nown && steep_at(a, own);
    }
    PHASE (t, DEV_THREADS / 8) {
        unsigned bits = 0;
        for (int c = 0; c < 8; c++) bits |= (unsigned)s->steep[8 * t + c] << c;
        if (first / 8 + t < a->nown) a->out[first / 8 + t] = (unsigned char)bits;
    }
}

/* ---- time step and totals ---- */

PTAH_HD double courant_signal(const struct mhd_courant_args *a, const struct level *lv, lidx i,
                              int c)
{
    if (a->signal.drive.a) return mhd_signal_driven(&a->signal, lv, i, c);
    return a->gravity ? mhd_signal_step(&a->signal, lv, i, c)
                      : mhd_signal_speed(&a->signal, lv, i, c);
}

PATCH_COURANT(mhd_speeds, struct mhd_courant_args, courant_signal)

PTAH_HD double divergence_of(const struct mhd_divergence_args *a, const struct level *lv, lidx i,
                             int c)
{
    return mhd_cell_divergence(lv, i, c, a->p.mesh->ndim);
}

PATCH_COURANT(mhd_divergence, struct mhd_divergence_args, divergence_of)

DEV_FN int64_t totals_octs(const struct mhd_totals_args *a)
{
    return a->mesh->lev[a->l].nown;
}

DEV_FN void totals_of(const struct mhd_totals_args *a, int64_t i, double x[MHD_TOTALS])
{
    mhd_oct_totals(&a->mesh->lev[a->l], (lidx)i, a->vol, a->smallr, x);
}

DEV_TOTALS(mhd_totals, struct mhd_totals_args, MHD_TOTALS, totals_octs, totals_of)
