/* grav/mg_kern: masks and boundaries of multigrid levels, oct by oct, for hosts and devices. Links
 * and masks are in compact numbering (mg.h); mask NULL: 1 everywhere. */
#pragma once
#include "base/device.h"
#include "oct/mesh.h"

/* Cells of an oct at the boundary of the domain of the solve: diagonal of the operator, 0 for
 * masked cells; `safe` is 0 also for cells that safe mode does not smooth. */
struct mg_boundary {
    double diag[8], safe[8];
};

/* An oct with children that sweeps of the finer level read, and 27 octs around (compact, or <
 * 0). */
struct mg_cube {
    lidx oct, nb[27];
};

/* Fraction of the volume of an oct of `cells` cells that is inside; the masks of others are −1. */
PTAH_HD double mg_volume(const double mask[8], int cells)
{
    double v = 0;
    for (int k = 0; k < 8; k++) v += (1.0 + mask[k]) / 16.0;
    return v * (8.0 / cells);
}

/* Masks of the 2^ndim cells of an oct, the others −1: child[8] in mesh numbering, which map (NULL:
 * identity) converts to the numbering of fine_mask. Returns whether one of the children is in the
 * hierarchy. */
PTAH_HD_FN bool mg_mask_cells(const lidx child[8], const lidx *map, const double (*fine_mask)[8],
                              int ndim, double mask[8])
{
    bool any = false;
    for (int k = 0; k < 8; k++) {
        lidx j = child[k] >= 0 && map ? map[child[k]] : child[k];
        bool none = j < 0 || k >> ndim;
        mask[k] = none ? -1.0 : 2.0 * (fine_mask ? mg_volume(fine_mask[j], 1 << ndim) : 1.0) - 1.0;
        any |= j >= 0;
    }
    return any;
}

/* Whether the oct is at the boundary of the domain: a cell or its neighbour is partly outside. */
PTAH_HD_FN bool mg_at_boundary(const lidx (*nbr)[6], const double (*mask)[8], lidx i)
{
    for (int f = 0; f < 6; f++)
        if (nbr[i][f] < 0) return true;
    if (!mask) return false;
    for (int c = 0; c < 8; c++)
        if (mask[i][c] < 1) return true;
    for (int f = 0; f < 6; f++)
        for (int c = 0, bit = 1 << f / 2; c < 8; c++)
            if (((c & bit) == 0) == (f & 1) && mask[nbr[i][f]][c] <= 0) return true;
    return false;
}

PTAH_HD_FN void mg_boundary_cells(const lidx (*nbr)[6], const double (*mask)[8], lidx i, int ndim,
                                  struct mg_boundary *e)
{
    for (int c = 0; c < 8; c++) {
        double own = c >> ndim ? -1.0 : mask ? mask[i][c] : 1.0, weight = 0;
        for (int k = 0; k < 6; k++) { /* order −x −y −z +x +y +z */
            int f = k < 3 ? 2 * k : 2 * k - 5, bit = 1 << f / 2;
            bool leaves = ((c & bit) != 0) == (f & 1);
            lidx j = leaves ? nbr[i][f] : i;
            double nb = j < 0 ? -1.0 : mask ? mask[j][c ^ bit] : 1.0;
            if (k % 3 < ndim && nb <= 0 && own > 0) weight += nb / own;
        }
        e->diag[c] = own > 0 ? 2 * ndim - weight : 0.0;
        e->safe[c] = own < 1 ? 0.0 : e->diag[c];
    }
}

/* Slot for the mean residual of the child in cell k of coarse oct i: 8 i + k, or −1 if the cell is
 * outside. boundary: row of oct i, or NULL. */
PTAH_HD int32_t mg_up_slot(lidx i, int k, const struct mg_boundary *boundary)
{
    return !boundary || boundary->diag[k] > 0 ? 8 * i + k : -1;
}
