/* hydro/missing: gas of octs that do not exist, interpolated (interp_kern.h), vectorised for minmod
 * slopes. */
#include "hydro/gas_law.h"
#include "hydro/interp_kern.h"
#include "oct/gas_vec.h"
#include "patch/children.h"

/* Kinetic energy from density and momenta. */
static inline vec4 half_kinetic(vec4 r, vec4 x, vec4 y, vec4 z, double smallr)
{
    const vec4 floored = vec4_max(r, (vec4){0} + smallr);
    return gas_kinetic4(floored, x, y, z);
}

/* Interpolates with minmod slopes of the conserved variables, and of internal instead of total
 * energy if interpol_var > 0. Returns false where a neighbour is not on the coarser level. zero:
 * as in struct law, a constant in three dimensions. */
INLINE bool load_by_minmod(int ndim, uint64_t zero, const struct gathered *g, lidx parent, int cell,
                           struct target t)
{
    enum { E = GAS_ENERGY };
    const struct hydro_par *p = ((const struct gas_law *)g->law)->par;
    const double smallr = p->smallr;
    const bool internal = p->interpol_var > 0;
    struct crossing at;
    struct crossed x[GAS_SCALARS];
    struct children out[GAS_SCALARS];
    if (!crossing_find(&at, ndim, &g->m->lev[g->l - 1], parent, cell)) return false;
    for (int v = 0; v < GAS_SCALARS; v++)
        x[v] = zero >> v & 1 ? (struct crossed){0} : crossed_of(g->up[v], &at);
    if (internal) {
        x[E].own -= half_kinetic(x[0].own, x[1].own, x[2].own, x[3].own, smallr);
        x[E].below -= half_kinetic(x[0].below, x[1].below, x[2].below, x[3].below, smallr);
        x[E].above -= half_kinetic(x[0].above, x[1].above, x[2].above, x[3].above, smallr);
    }
    for (int v = 0; v < GAS_SCALARS; v++)
        out[v] = zero >> v & 1 ? (struct children){0} : children_of(x[v]);
    if (internal) {
        out[E].lower += half_kinetic(out[0].lower, out[1].lower, out[2].lower, out[3].lower,
                                     smallr);
        out[E].upper += half_kinetic(out[0].upper, out[1].upper, out[2].upper, out[3].upper,
                                     smallr);
    }
    for (int v = 0; v < GAS_SCALARS; v++)
        if (!(zero >> v & 1)) put_layers8(ndim, g->u, v, t, (const double *)&out[v]);
    for (int v = GAS_SCALARS; v < p->nvar; v++) {
        const struct children scalar = children_of(crossed_of(g->up[v], &at));
        put_layers8(ndim, g->u, v, t, (const double *)&scalar);
    }
    return true;
}

/* Interpolates the gas of an oct that does not exist from a cell of the coarser level. */
void gas_missing_oct(const struct gathered *g, lidx parent, int cell, struct target t)
{
    const struct hydro_par *p = ((const struct gas_law *)g->law)->par;
    double out[NVAR_MAX][8], flat[NVAR_MAX];
    const bool by_minmod = p->interpol_type == 1 && p->interpol_var < 2 &&
                           !(p->interpol_var > 0 && p->energy.n > 0);
    const int ndim = g->m->ndim;
    if (by_minmod && ndim > 2 && load_by_minmod(3, 0, g, parent, cell, t)) return;
    if (by_minmod && ndim < 3 && load_by_minmod(ndim, g->law->zero, g, parent, cell, t)) return;
    if (!hydro_interp_same(p)) {
        hydro_interp_oct(g->m, g->l - 1, parent, cell, p, out);
        for (int v = 0; v < p->nvar; v++) put8(g->u, v, t, out[v]);
        return;
    }
    hydro_interp_flat(g->m, g->l - 1, parent, cell, p, flat);
    for (int v = 0; v < p->nvar; v++) {
        put_flat(g->u, v, t, flat[v] + 0.0);
        g->u[t.a][v * PLANE_STRIDE + t.at] = flat[v];
    }
}
