/* grav/phi_kernel: what comes before and after multigrid on a device: the first guess, values
 * beyond the faces of a refined level, the right-hand side, the force. (grav.c, force.c do it on
 * hosts.) A thread has one cell. */
#include "dev/kernel.h"
#include "grav/grav_kern.h"
#include "grav/kernels.h"

struct phi_near {
    lidx oct[GRAV_OCTS][8]; /* interpol_beside of each oct of the block */
};

struct phi_none {
    int unused;
};

KERNEL(phi_guess, struct phi_guess_args, struct phi_near, GRAV_THREADS)
{
    const struct level *lv = &a->mesh->lev[a->l];
    const int64_t first = (int64_t)b->index * GRAV_OCTS;
    PHASE (t, GRAV_THREADS) {
        int64_t i = first + (t >> 3);
        int x[3], dir[3];
        if (i >= lv->nown || a->far_only) continue;
        interpol_place(lv, (lidx)i, -1, x, dir);
        s->oct[t >> 3][t & 7] = interpol_beside(a->mesh, a->l - 1, lv->parent[i], dir, t & 7);
    }
    PHASE (t, GRAV_THREADS) {
        int64_t i = first + (t >> 3), q[3];
        int x[3], dir[3], c = t & 7;
        if (i >= lv->nown) continue;
        interpol_place(lv, (lidx)i, -1, x, dir);
        okey_coords(lv->key[i], q);
        lv->fld[FLD_PHI][i][c] = a->far_only ? far_cell(a->mesh, a->l, q, c, &a->far,
                                                        mesh_dx(a->mesh, a->l))
                                             : interpol_value(a->mesh, a->l - 1, s->oct[t >> 3], x,
                                                              c, a->tfrac, &a->far);
    }
}

KERNEL(phi_beyond, struct phi_beyond_args, struct phi_near, GRAV_THREADS)
{
    const struct level *lv = &a->mesh->lev[a->l];
    const int64_t first = (int64_t)b->index * GRAV_OCTS;
    PHASE (t, GRAV_THREADS) {
        int64_t k = first + (t >> 3);
        int x[3], dir[3];
        if (k >= a->n) continue;
        lidx i = a->missing[2 * k];
        int f = a->missing[2 * k + 1];
        if (lv->nbr[i][f] == NBR_BOUNDARY) continue;
        interpol_place(lv, i, f, x, dir);
        s->oct[t >> 3][t & 7] = interpol_beside(a->mesh, a->l - 1, lv->parent[i], dir, t & 7);
    }
    PHASE (t, GRAV_THREADS) {
        int64_t k = first + (t >> 3), q[3];
        int x[3], dir[3], c = t & 7;
        if (k >= a->n) continue;
        lidx i = a->missing[2 * k];
        int f = a->missing[2 * k + 1];
        interpol_place(lv, i, f, x, dir);
        okey_coords(lv->key[i], q);
        for (int d = 0; d < 3; d++) q[d] += f >> 1 == d ? (f & 1 ? 1 : -1) : 0;
        a->row[k][c] = lv->nbr[i][f] == NBR_BOUNDARY
                           ? far_cell(a->mesh, a->l, q, c, &a->far, 0)
                           : interpol_value(a->mesh, a->l - 1, s->oct[t >> 3], x, c, a->tfrac,
                                            &a->far);
    }
}

/* The values beyond face f of oct i, or of its neighbour there. */
PTAH_HD const double *row_beside(const lidx nbr[6], int f, const double (*fld)[8], int32_t first,
                                 const double (*row)[8])
{
    if (nbr[f] >= 0) return fld[nbr[f]];
    for (int k = 0; k < f; k++) first += nbr[k] < 0;
    return row[first];
}

KERNEL(phi_source, struct phi_source_args, struct phi_none, GRAV_THREADS)
{
    const struct level *lv = &a->mesh->lev[a->l];
    PHASE (t, GRAV_THREADS) {
        int64_t at = (int64_t)b->index * GRAV_THREADS + t, i = at >> 3;
        int c = (int)(at & 7);
        double n = (double)((int64_t)1 << a->l);
        if (i >= lv->nown) continue;
        double rhs = kern_source(lv->fld[FLD_RHO][i][c], a->rho_tot, a->fourpi);
        int32_t first = a->first ? a->first[i] : -1;
        for (int d = 0; d < 3 && first >= 0; d++) {
            int f = 2 * d + (c >> d & 1);
            if (lv->nbr[i][f] >= 0) continue;
            const double *beyond = row_beside(lv->nbr[i], f, NULL, first, a->row);
            rhs -= kern_frozen(beyond[c ^ 1 << d], lv->fld[FLD_PHI][i][c], n * n);
        }
        a->rhs[i][c] = rhs;
    }
}

KERNEL(phi_force, struct phi_force_args, struct phi_none, GRAV_THREADS)
{
    const struct level *lv = &a->mesh->lev[a->l];
    const double(*phi)[8] = (const double(*)[8])lv->fld[FLD_PHI];
    PHASE (t, GRAV_THREADS) {
        int64_t at = (int64_t)b->index * GRAV_THREADS + t, i = at >> 3;
        int c = (int)(at & 7);
        double dx = 1.0 / (double)((int64_t)1 << a->l);
        if (i >= lv->nown) continue;
        int32_t first = a->first ? a->first[i] : -1;
        for (int d = 0; d < 3; d++) {
            const double *lo = row_beside(lv->nbr[i], 2 * d, phi, first, a->row),
                         *hi = row_beside(lv->nbr[i], 2 * d + 1, phi, first, a->row);
            lv->fld[FLD_FX + d][i][c] = force_cell(phi[i], lo, hi, d, c, dx);
        }
    }
}
