/* hydro/expansion_dev: the divergence of the old velocities in a cell at a coarse-fine boundary,
 * for pressure_fix on a device. For the files of kernels, after patch/godunov.h. Private to hydro
 * and mhd. */
#pragma once
#ifdef LAW_CORE

/* Velocity component of the cell across face f, and its distance in cells: 1, or 1½ if it is
 * coarser. old: [3][CELLS] old velocities of the patch. */
DEV_FN double velocity_across(const LAW_ARGS *a, const double *old, const struct own_cell *o, int f,
                              double smallr, double *distance)
{
    const int d = f >> 1, step = d == 0 ? 1 : d == 1 ? W : P;
    *distance = 1.0;
    if (((o->c >> d & 1) != 0) != (f & 1) || a->p.level.nbr[o->oct][f] != NBR_NONE)
        return old[d * CELLS + o->at + (f & 1 ? step : -step)];
    struct patch_cell x = patch_across(a->p.mesh, a->p.l, o->oct, o->c, f);
    const struct level *up = &a->p.mesh->lev[x.level];
    *distance = 1.5;
    return up->fld[FLD_U + 1 + d][x.oct][x.cell] *
           (1.0 / hydro_max(up->fld[FLD_U][x.oct][x.cell], smallr));
}

/* Whether an oct has registers, so that its cells need expansion_beside. */
DEV_FN int expansion_is_beside(const LAW_ARGS *a, const struct own_cell *o)
{
    int any = 0;
    for (int f = 0; f < 6; f++) any |= a->p.level.nbr[o->oct][f] == NBR_NONE;
    return any;
}

DEV_FN double expansion_beside(const LAW_ARGS *a, const double *old, const struct own_cell *o,
                               double smallr)
{
    const double dx = a->p.dx;
    double div = 0.0;
    for (int d = 0; d < 3; d++) {
        double from, to, lo = velocity_across(a, old, o, 2 * d, smallr, &from),
                         hi = velocity_across(a, old, o, 2 * d + 1, smallr, &to);
        div += (hi - lo) / (from * dx + to * dx);
    }
    return div;
}
#endif
