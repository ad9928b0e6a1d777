/* hydro/interp: prolongation and restriction between levels. A new oct is interpolated
 * (interp_kern.h); restriction is the mean. */
#include "hydro/interp_kern.h"

void hydro_prolong(const struct mesh *m, int l, lidx parent, int cell, double (*out)[8], void *ctx)
{
    const struct hydro_par *p = ctx;
    int n = 0;
    for (int f = 0; f < FLD_U; f++) {
        if (!mesh_has_field(m, f)) continue;
        for (int k = 0; k < 8; k++) out[n][k] = m->lev[l].fld[f][parent][cell];
        n++;
    }
    hydro_interp_oct(m, l, parent, cell, p, out + n);
}

/* Mean of the children of one cell; with interpol_var > 0 internal energy is averaged instead of
 * total energy. */
static void restrict_cell(const struct mesh *m, int l, lidx i, int c, const struct hydro_par *p)
{
    const struct level *lv = &m->lev[l], *fine = &m->lev[l + 1];
    lidx o = lv->child[i][c];
    double mean[NVAR_MAX], r[8];
    for (int k = 0; k < 8; k++) r[k] = hydro_max(fine->fld[FLD_U][o][k], p->smallr);
    for (int v = 0; v < p->nvar; v++) {
        const double *u = v == 0 ? r : fine->fld[FLD_U + v][o];
        double s = 0.0;
        for (int k = 0; k < 8; k++) s += u[k];
        mean[v] = s / 8.0;
    }
    if (p->interpol_var > 0) {
        double s = 0.0, ekin = 0.0;
        for (int k = 0; k < 8; k++) {
            double e = 0.0;
            for (int d = 1; d <= 3; d++)
                e += 0.5 * fine->fld[FLD_U + d][o][k] * fine->fld[FLD_U + d][o][k] / r[k];
            s += fine->fld[FLD_U + GAS_ENERGY][o][k] - e;
        }
        for (int d = 1; d <= 3; d++)
            ekin += 0.5 * mean[d] * mean[d] / hydro_max(mean[0], p->smallr);
        mean[GAS_ENERGY] = s / 8.0 + ekin;
    }
    for (int v = 0; v < p->nvar; v++) lv->fld[FLD_U + v][i][c] = mean[v];
}

void hydro_restrict(struct mesh *m, int l, const struct hydro_par *p)
{
    const struct level *lv = &m->lev[l];
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < lv->nown; i++)
        for (int c = 0; c < 8; c++)
            if (lv->child[i][c] >= 0) restrict_cell(m, l, i, c, p);
}
