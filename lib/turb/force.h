/* turb/force: the acceleration of driven turbulence at one time on one level, and the nodes around
 * a cell (force_kern.h). For hosts and devices. */
#pragma once
#include "base/device.h"
#include "oct/okey.h"

enum {
    TURB_NODES = 64,
    TURB_REACH = 2,             /* highest wave number of a field that is stored by waves */
    TURB_WAVES = 2 * TURB_REACH /* cos 2πx, sin 2πx, cos 4πx, sin 4πx */
};

struct turb_along;
struct turb_row;
struct turb_force {
    /* values of nodes [z][y][x][4], three components and padding, or waves; NULL: none */
    const double *a, *b;
    const double *a_dev, *b_dev; /* the same on a device; NULL: not there */
    bool waves;
    const struct turb_along *along; /* by oct along x; NULL: the level has too many */
    const struct turb_row *rows;    /* [z][y] of octs; NULL: not known */
    double wa, wb;                  /* weights of both */
    double per_cell;                /* lattice spacings in a cell of the level */
    double min_rho;                 /* gas of lower density is not driven */
    double most; /* no cell has a higher sum of the magnitudes of the components */
    int ndim, level;
    int shift; /* levels below the one whose octs are as wide as the spacings; negative: above */
};

/* Nodes around a cell along each axis, below and above, and the weights of the upper ones. */
struct turb_place {
    int at[3][2];
    double w[3];
};

/* Nodes below and above cell q of the level along an axis, and the weight of the upper one. */
PTAH_HD void turb_axis(const struct turb_force *f, int64_t q, int at[2], double *weight)
{
    const double x = ((double)q + 0.5) * f->per_cell;
    const int64_t low = (int64_t)x;
    at[0] = (int)(low & (TURB_NODES - 1));
    at[1] = (int)((low + 1) & (TURB_NODES - 1));
    *weight = x - (double)low;
}

PTAH_HD double turb_between(double low, double high, double w)
{
    return low * (1.0 - w) + high * w;
}
