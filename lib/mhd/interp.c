/* mhd/interp: prolongation and restriction between levels, and octs that do not exist
 * (interp_kern.h). */
#include "mhd/interp_vec.h"
#include "mhd/mhd_law.h"
#include "oct/bits.h"
#include "oct/fields.h"
#include "patch/gather.h"

static void interp_oct(const struct mesh *m, int l, lidx i, int c, const struct mhd_par *p,
                       double (*gas)[8], double (*face)[8])
{
    if (!mhd_interp_by_vectors(m, l, i, c, p, gas, face)) mhd_interp_oct(m, l, i, c, p, gas, face);
}

void mhd_prolong(const struct mesh *m, int l, lidx parent, int cell, double (*out)[8], void *ctx)
{
    const struct mhd_par *p = ctx;
    const int n = hydro_prolong_before(FLD_MAGNETIC, m, l, parent, cell, p->gas, out);
    interp_oct(m, l, parent, cell, p, out + n + LAW_FACES, out + n);
}

/* Puts an oct that does not exist into the planes: the gas, then the field on the six faces. */
void mhd_missing_oct(const struct gathered *g, lidx parent, int cell, struct target t)
{
    const struct mhd_par *p = ((const struct mhd_law *)g->law)->par;
    double gas[NVAR_MAX][8], face[LAW_FACES][8];
    interp_oct(g->m, g->l - 1, parent, cell, p, gas, face);
    for (int v = 0; v < p->gas->nvar; v++) put8(g->u, v, t, gas[v]);
    for (int f = 0; f < LAW_FACES; f++) put8(g->u, p->gas->nvar + f, t, face[f]);
}

/* Whether cells of an oct or of its face neighbours are split. */
static bool split_near(const struct level *lv, lidx i)
{
    bool split = bits_of_leaves(lv->child[i]) != 0xff;
    for (int f = 0; f < 6 && !split; f++) {
        const lidx j = lv->nbr[i][f];
        split = j >= 0 && bits_of_leaves(lv->child[j]) != 0xff;
    }
    return split;
}

void mhd_restrict(struct mesh *m, int l, const struct mhd_par *p)
{
    const struct level *lv = &m->lev[l];
    if (lv[1].noct == 0) return;
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < lv->nown; i++) {
        if (!split_near(lv, i)) continue;
        for (int c = 0; c < m->cells; c++) {
            if (lv->child[i][c] >= 0)
                mhd_restrict_split(m, l, i, c, p);
            else
                mhd_restrict_leaf(m, l, i, c, p);
        }
        for (int f = 0; f < LAW_FACES; f++) oct_repeat(m->cells, level_magnetic(lv, f)[i]);
        for (int v = 0; v < p->gas->nvar; v++) oct_repeat(m->cells, level_gas(lv, v)[i]);
    }
}
