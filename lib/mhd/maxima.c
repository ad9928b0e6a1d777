/* mhd/maxima: how strong the field of a mesh is, and how far from free of divergence. */
#include <math.h>

#include "mhd/mhd.h"
#include "oct/okey.h"

static double field_at_walls(const struct mesh *m, const enum bound_type bound[6],
                             const struct level *lv, lidx i, int c)
{
    double max = 0;
    for (int f = 0; f < 2 * m->ndim; f++)
        if (bound[f] == BOUND_REFLECT && lv->nbr[i][f] == NBR_BOUNDARY &&
            (c >> (f >> 1) & 1) == (f & 1))
            max = fmax(max, fabs(level_magnetic(lv, f)[i][c]));
    return max;
}

static bool field_of_cell(const struct mesh *m, const struct level *lv, lidx i, int c,
                          struct mhd_maxima *max)
{
    double sum = 0, b2 = 0, all = 0;
    for (int d = 0; d < 3; d++) {
        const double low = level_magnetic(lv, 2 * d)[i][c],
                     high = level_magnetic(lv, 2 * d + 1)[i][c];
        if (d < m->ndim) sum += high - low;
        b2 += fmax(low * low, high * high);
        all += low * low + high * high; /* a maximum ignores NaN */
    }
    if (!isfinite(all)) {
        max->level = (int)(lv - m->lev);
        okey_cell_centre(lv->key[i], c, mesh_dx(m, max->level), max->x);
        return false;
    }
    max->divergence = fmax(max->divergence, fabs(sum));
    max->strength = fmax(max->strength, sqrt(b2));
    return true;
}

bool mhd_maxima(const struct mesh *m, const enum bound_type bound[6], struct mhd_maxima *max)
{
    *max = (struct mhd_maxima){0};
    for (int l = m->levelmin; m->magnetic && l <= m->levelmax; l++) {
        const struct level *lv = &m->lev[l];
        for (int64_t k = 0; k < (int64_t)m->cells * lv->nown; k++) {
            const lidx i = (lidx)(k / m->cells);
            const int c = (int)(k % m->cells);
            if (lv->child[i][c] >= 0) continue;
            if (!field_of_cell(m, lv, i, c, max)) return false;
            max->wall = fmax(max->wall, field_at_walls(m, bound, lv, i, c));
        }
    }
    return true;
}
