/* kinds/level: the state of a level from its kind, cell by cell. */
#include <string.h>

#include "kinds/kinds.h"
#include "kinds/priv.h"
#include "oct/gas_kern.h"

/* Magnetic energy is added to the energy of the gas. */
static void add_magnetic(const struct level *lv, lidx i)
{
    for (int c = 0; c < 8; c++) gas_add_energy(lv, i, c, gas_cell_magnetic(lv, i, c));
}

static enum err oct_cells(const struct kinds *k, struct mesh *m, int l, lidx i)
{
    const struct ics_gas *g = k->setup.gas;
    const struct level *lv = &m->lev[l];
    const double dx = mesh_dx(m, l);
    for (int c = 0; c < m->cells; c++) {
        double x[3], q[NVAR_MAX] = {0}, u[NVAR_MAX];
        okey_cell_centre(lv->key[i], c, dx, x);
        for (int d = m->ndim; d < 3; d++) x[d] = 0;
        ics_region_cell(m, l, k->region, k->nregion, g, x, q);
        if (k->kind->cell) TRY(k->kind->cell(kinds_state(k), x, dx, q));
        if (kind_expr_cell(k->expr)) TRY(kind_expr_gas(k->expr, x, q));
        ics_conserved(g, q, u);
        for (int v = 0; v < g->nvar; v++)
            for (int r = c; r < 8; r += m->cells) level_gas(lv, v)[i][r] = u[v];
    }
    return OK;
}

static bool kinds_has_field(const struct kinds *k)
{
    return k->kind->potential || k->kind->face || kind_expr_potential(k->expr) ||
           kind_expr_face(k->expr);
}

static enum err oct_state(const struct kinds *k, struct mesh *m, int l, lidx i)
{
    if (!k->kind->flow) TRY(oct_cells(k, m, l, i));
    if (!m->magnetic) return OK;
    if (kinds_has_field(k)) TRY(kinds_field(k, m, l, i));
    add_magnetic(&m->lev[l], i);
    return OK;
}

enum err kinds_level(const struct kinds *k, struct mesh *m, int l)
{
    const struct level *lv = &m->lev[l];
    struct err_first first = {.err = OK};
    if (!k->kind->flow) ics_regions(m, l, k->region, k->nregion, k->setup.gas);
    if (!k->kind->cell && !k->kind->flow && !k->expr) return OK;
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < lv->nown; i++) err_save(&first, oct_state(k, m, l, i), (int)i);
    return err_restore(&first);
}
