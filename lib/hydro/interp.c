/* hydro/interp: prolongation and restriction between levels. A new oct is interpolated
 * (interp_kern.h); restriction takes the mean. */
#include "hydro/interp_kern.h"
#include "oct/fields.h"

int hydro_prolong_before(int end, const struct mesh *m, int l, lidx parent, int cell,
                         const struct hydro_par *p, double (*out)[8])
{
    int n = 0;
    for (int f = 0; f < end; f++) {
        if (!mesh_has_field(m, f)) continue;
        if (f >= FLD_PHOTONS && f <= FLD_PHOTONS_END)
            hydro_interp_photons(m, l, parent, cell, p, f - FLD_PHOTONS, out[n++]);
        else
            field_prolong(&m->lev[l], f, parent, cell, out[n++]);
    }
    return n;
}

void hydro_prolong(const struct mesh *m, int l, lidx parent, int cell, double (*out)[8], void *ctx)
{
    const struct hydro_par *p = ctx;
    const int n = hydro_prolong_before(FLD_U, m, l, parent, cell, p, out);
    hydro_interp_oct(m, l, parent, cell, p, out + n);
}

void hydro_restrict(struct mesh *m, int l, const struct hydro_par *p)
{
    const struct level *lv = &m->lev[l];
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < lv->nown; i++)
        for (int c = 0; c < m->cells; c++) {
            if (lv->child[i][c] < 0) continue;
            hydro_restrict_cell(m, l, i, c, p->nvar, p->interpol_var, p->smallr);
            for (int k = c + m->cells; k < 8; k += m->cells)
                for (int v = 0; v < p->nvar; v++)
                    lv->fld[FLD_U + v][i][k] = lv->fld[FLD_U + v][i][c];
        }
}
