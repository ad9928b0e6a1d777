/* hydro/drive: the gas takes the acceleration of driven turbulence over a step, at constant
 * internal energy. The operations are those of hydro_push_cell, on half an oct. */
#include "hydro/cell_kern.h"
#include "hydro/hydro.h"
#include "hydro/vec4_load.h"

/* Changes of velocities g by one step of half an oct. */
static inline void push(const struct level *lv, lidx i, int h, const vec4 g[3], double smallr)
{
    const vec4 zero = {0}, r = load_half(lv, FLD_U, i, h), d = vec4_max(r, zero + smallr);
    vec4 work[3];
    for (int k = 0; k < 3; k++) {
        vec4_any *m = (vec4_any *)(lv->fld[FLD_U + 1 + k][i] + 4 * h);
        const vec4 more = d * g[k];
        work[k] = g[k] * (*m + 0.5 * more);
        *m += more;
    }
    *(vec4_any *)(lv->fld[FLD_U + GAS_ENERGY][i] + 4 * h) += work[0] + work[1] + work[2];
}

void hydro_drive(struct mesh *m, int l, double dt, const struct turb_force *force, double smallr)
{
    const struct level *lv = &m->lev[l];
    const struct turb_force f = *force;
    const bool centred = f.ndim > 2 && f.shift == -1;
    enum { AHEAD = 12 };
#pragma omp parallel
    {
        struct turb_near near = {.known = false};
#pragma omp for schedule(static)
        for (lidx i = 0; i < lv->nown; i++) {
            vec4 a[3][2];
            if (centred) turb_prefetch(&f, lv->key[i + AHEAD < lv->nown ? i + AHEAD : i]);
            turb_cells(&f, lv->key[i], &near, a);
            for (int h = 0; h < 2; h++) {
                /* density below which a cell is not driven */
                const vec4_mask thin = load_half(lv, FLD_U, i, h) < (vec4){0} + f.min_rho;
                const vec4 step = vec4_pick(thin, (vec4){0}, (vec4){0} + dt);
                push(lv, i, h, (const vec4[3]){a[0][h] * step, a[1][h] * step, a[2][h] * step},
                     smallr);
            }
        }
    }
}
