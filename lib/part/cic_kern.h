/* part/cic_kern: particle formulas for hosts and devices. */
#pragma once
#include <math.h>

#include "base/device.h"
#include "oct/find_kern.h"
#include "part/family.h"

/* Wraps a position into a periodic box. False: the position is beyond a boundary (or more than a
 * box length outside). */
PTAH_HD_FN bool part_wrap(const struct mesh *m, double at[3])
{
    double box = m->boxlen;
    for (int d = 0; d < 3; d++) {
        double x = at[d];
        bool periodic = !m->bounded[2 * d] && !m->bounded[2 * d + 1];
        if (periodic && x < 0) x += box;
        if (periodic && x >= box) x -= box; /* also after -tiny + box == box */
        if (!(x >= 0 && x < box)) return false;
        at[d] = x;
    }
    return true;
}

/* ---- clouds ---- */

/* First cell of a cloud along one axis (a whole number), from its particle's position in cells, and
 * its weight. */
PTAH_HD double cloud_along(double cells, double *w)
{
    double u = cells - 0.5, f = floor(u);
    *w = u - f;
    return f;
}

/* Cell coordinates on level l of the cloud of a particle at x, and its weights. Along an axis that
 * the mesh lacks the cloud is in the first cell as a whole: all parts beyond it are 0. */
PTAH_HD void cloud_at(const struct mesh *m, int l, const double x[3], int64_t cell[3], double w[3])
{
    for (int d = 0; d < 3; d++) {
        cell[d] = 0, w[d] = 0;
        if (d < m->ndim) cell[d] = (int64_t)cloud_along(mesh_cells(m, l, x[d]), &w[d]);
    }
}

/* Volumes of the 8 parts of a cloud, x fastest. */
PTAH_HD void cloud_volumes(const double w[3], double vol[8])
{
    double g[3] = {1.0 - w[0], 1.0 - w[1], 1.0 - w[2]};
    double gg = g[0] * g[1], wg = w[0] * g[1], gw = g[0] * w[1], ww = w[0] * w[1];
    vol[0] = gg * g[2], vol[1] = wg * g[2], vol[2] = gw * g[2], vol[3] = ww * g[2];
    vol[4] = gg * w[2], vol[5] = wg * w[2], vol[6] = gw * w[2], vol[7] = ww * w[2];
}

/* Sum over eight cells, weighted by these volumes, in a fixed order. */
#define CLOUD_SUM(f0, f1, f2, f3, f4, f5, f6, f7, vol)                                             \
    ((f0) * (vol)[0] + (f1) * (vol)[1] + (f2) * (vol)[2] + (f3) * (vol)[3] + (f4) * (vol)[4] +     \
     (f5) * (vol)[5] + (f6) * (vol)[6] + (f7) * (vol)[7])

/* Mask for differences of cell coordinates, which are taken modulo wrap+1. */
PTAH_HD int64_t cloud_wrap(const struct mesh *m, int l, int d)
{
    return m->bounded[2 * d] || m->bounded[2 * d + 1] ? -1 : ((int64_t)1 << l) - 1;
}

/* ---- deposit ---- */

/* Weights in the deposit of mass and number, by kind of particle. */
struct deposit_rule {
    double per_mass; /* quanta per unit of mass */
    double mass_cut; /* mass from which dark matter is not counted; infinity: all is counted */
    /* unit of mass in the number deposit: if > 0, matter other than DM counts as m / mass_sph */
    double mass_sph;
    bool dm_mass, dm_number, is_static;
};

/* Weights of a particle in the sums of mass and number, in quanta. */
PTAH_HD void deposit_weights(const struct deposit_rule *r, int family, double m, double *wm,
                             double *wn)
{
    double one = 4294967296.0;
    bool dm = family == FAM_DM, real = family_has_mass(family);
    /* static massless particles feel forces only, and are not counted */
    bool counts = m > 0 || !r->is_static;
    *wm = real && (!dm || r->dm_mass) ? m * r->per_mass : 0;
    if (!dm && r->mass_sph > 0) one *= m / r->mass_sph;
    *wn = real && counts && (!dm || (r->dm_number && m < r->mass_cut)) ? one : 0;
}

/* ---- kick and drift ---- */

/* Velocity after half a step with force f. */
PTAH_HD double part_kicked(double v, double f, double dt)
{
    return v + f * 0.5 * dt;
}

/* Time step that completes the kick of a particle last kicked on levelp. */
PTAH_HD double part_kick_dt(int levelp, int l, const double *dtnew, const double *dtold)
{
    return levelp >= l ? dtnew[levelp] : dtold[levelp];
}

/* ---- sums ---- */

PTAH_HD double part_fastest(double x, double y, double z)
{
    double a = fabs(x), b = fabs(y), c = fabs(z);
    a = a > b ? a : b;
    return a > c ? a : c;
}

PTAH_HD double part_energy(double m, double x, double y, double z)
{
    return 0.5 * m * (x * x + y * y + z * z);
}

/* ---- hosts ---- */

enum {
    HOST_AWAY = -1, /* the oct is on another rank, which follows from the position */
    HOST_LOST = -2  /* beyond a boundary */
};

/* Special value of an oct key: beyond a boundary. */
PTAH_HD okey part_nowhere(void)
{
    return ~(okey)0;
}

/* Whether a host is an own oct. Own octs come first; one comparison covers ghosts and the negative
 * marks. */
PTAH_HD bool host_is_own(lidx host, lidx nown)
{
    return (uint32_t)host < (uint32_t)nown;
}

/* Coordinates of the cell of level l at x (equal to the coordinates of its oct of level l+1). */
PTAH_HD void part_cell(const struct mesh *m, int l, const double x[3], int64_t q[3])
{
    for (int d = 0; d < 3; d++) q[d] = (int64_t)mesh_cells(m, l, x[d]);
}

/* Oct of level l at oct coordinates q, for a particle with host h at o. Only the 26 neighbours are
 * searched, so that the result does not depend on the ghosts of this rank; levelmin is complete, so
 * there the rank of any position is known. */
PTAH_HD_FN lidx part_new_host(const struct mesh *m, int l, lidx h, const int64_t o[3],
                              const int64_t q[3])
{
    int64_t n = (int64_t)1 << (l - 1);
    bool near = true;
    for (int d = 0; d < 3; d++) {
        int64_t s = ((q[d] - o[d] + 1) & (n - 1));
        near &= s <= 2 || n <= 2;
    }
    if (!near && l > m->levelmin) return h;
    lidx j = level_find(&m->lev[l], okey_make((uint64_t)q[0], (uint64_t)q[1], (uint64_t)q[2]));
    if (j >= 0) return j;
    return l == m->levelmin ? HOST_AWAY : h;
}

/* Finest oct in oct h of level *l that contains x; *l becomes its level. */
PTAH_HD lidx part_finest(const struct mesh *m, int *l, lidx h, const double x[3])
{
    for (;; ++*l) {
        int64_t q[3];
        part_cell(m, *l, x, q);
        lidx child = m->lev[*l].child[h][(q[0] & 1) | (q[1] & 1) << 1 | (q[2] & 1) << 2];
        if (child < 0) return h;
        h = child;
    }
}

/* Oct of level l+1 that contains x, in a cell of oct h of level l, at o; −1: no oct, or x is not in
 * h. */
PTAH_HD lidx part_child(const struct mesh *m, int l, lidx h, const int64_t o[3], const double x[3])
{
    int64_t q[3];
    part_cell(m, l, x, q);
    if ((q[0] >> 1 ^ o[0]) | (q[1] >> 1 ^ o[1]) | (q[2] >> 1 ^ o[2])) return -1;
    return m->lev[l].child[h][(q[0] & 1) | (q[1] & 1) << 1 | (q[2] & 1) << 2];
}
