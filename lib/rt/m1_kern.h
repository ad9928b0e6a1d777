/* rt/m1_kern: formulas of the M1 closure at a point, for hosts and devices.
 *
 * Photons of a group have a density N and a flux F. Their pressure is N D with the tensor
 *
 *     D = (1-chi)/2 I + (3 chi-1)/2 n n,  n = F/|F|,  chi = (3 + 4 f^2) / (5 + 2 sqrt(4 - 3 f^2)),
 *
 * where f = |F|/(cN) is 0 for isotropic radiation and 1 for a beam (Levermore 1984; Aubert &
 * Teyssier 2008, equation 12). The speeds of the outer waves across a face whose normal makes an
 * angle with F of cosine mu are c times
 *
 *     (f mu -+ sqrt(2/3 (xi^2 - xi) + 2 mu^2 (2 - f^2 - xi))) / xi,  xi = sqrt(4 - 3 f^2)
 *
 * (Gonzalez, Audit & Huynh 2007, section 3.2). With rt_rule='ramses', f may be larger than 1 in
 * interpolated cells of octs that do not exist. */
#pragma once
#include <math.h>

#include "base/device.h"

/* Squares of fluxes below this are those of isotropic radiation, so that quotients are finite. */
#define M1_TINY 1e-280

PTAH_HD double m1_max(double a, double b)
{
    return a > b ? a : b;
}

PTAH_HD double m1_min(double a, double b)
{
    return a < b ? a : b;
}

/* c^2 N D by its six components. */
struct m1_pressure {
    double xx, xy, xz, yy, yz, zz;
};

/* Square of the flux. */
PTAH_HD double m1_flux2(double x, double y, double z)
{
    return x * x + y * y + z * z;
}

/* f^2; 0 without photons. F2: square of the flux, c2: of the speed of light. */
PTAH_HD double m1_reduced2(double N, double F2, double c2)
{
    const double E2 = N * c2 * N;
    return E2 > M1_TINY ? F2 / E2 : 0.0;
}

/* chi from f^2. */
PTAH_HD double m1_eddington(double f2)
{
    return (3.0 + 4.0 * f2) / (5.0 + 2.0 * sqrt(m1_max(4.0 - 3.0 * f2, 0.0)));
}

PTAH_HD struct m1_pressure m1_pressure(double N, double x, double y, double z, double c2)
{
    const double F2 = m1_flux2(x, y, z), chi = m1_eddington(m1_reduced2(N, F2, c2));
    const double even = 0.5 * (1.0 - chi) * (c2 * N), beam = 0.5 * (3.0 * chi - 1.0) * (c2 * N);
    const double a = F2 > M1_TINY ? beam / F2 : 0.0;
    const double ax = a * x, ay = a * y;
    const struct m1_pressure p = {ax * x + even, ax * y, ax * z,
                                  ay * y + even, ay * z, a * z * z + even};
    return p;
}

/* Speeds of the slowest and the fastest wave along an axis in units of c. */
struct m1_waves {
    double lo, hi;
};

/* Numbers that the waves of all axes share: f^2, at most 1; xi and 1/xi; factors of F to f mu and
 * of its square to mu^2. */
struct m1_shape {
    double f2, xi, per_xi, per_flux, per_flux2;
};

PTAH_HD struct m1_shape m1_shape(double N, double x, double y, double z, double c)
{
    const double F2 = m1_flux2(x, y, z), f2 = m1_min(m1_reduced2(N, F2, c * c), 1.0);
    const double xi = sqrt(4.0 - 3.0 * f2), most = m1_max(c * N, sqrt(F2));
    const struct m1_shape s = {f2, xi, 1.0 / xi, most > 0.0 ? 1.0 / most : 0.0,
                               F2 > M1_TINY ? 1.0 / F2 : 0.0};
    return s;
}

/* F: the flux along the axis. */
PTAH_HD struct m1_waves m1_waves(struct m1_shape s, double F)
{
    const double mu2 = m1_min(F * F * s.per_flux2, 1.0), mean = F * s.per_flux;
    const double root = (s.xi * s.xi - s.xi) * (2.0 / 3.0) + 2.0 * mu2 * (2.0 - s.f2 - s.xi);
    const double width = sqrt(m1_max(root, 0.0));
    const struct m1_waves w = {(mean - width) * s.per_xi, (mean + width) * s.per_xi};
    return w;
}

/* The flux of a quantity through a face by the two states beside it: u, and its flux f (Rosdahl et
 * al. 2013, equations 14 and 15). The functions give the mirror image of a mirrored face, to the
 * last bit. */
PTAH_HD double m1_glf(double below, double above, double f_below, double f_above, double c)
{
    return 0.5 * ((f_below + f_above) - c * (above - below));
}

/* Weights of a face: fluxes of both sides, and the difference of the states. They are 0 between
 * beams along the face, through which nothing goes. */
struct m1_weights {
    double below, above, jump;
};

PTAH_HD struct m1_weights m1_weights(struct m1_waves below, struct m1_waves above, double c)
{
    const double lo = m1_min(m1_min(below.lo, above.lo), 0.0),
                 hi = m1_max(m1_max(below.hi, above.hi), 0.0), width = hi - lo;
    const double per = width > M1_TINY ? 1.0 / width : 0.0;
    const struct m1_weights w = {hi * per, lo * per, hi * lo * per * c};
    return w;
}

PTAH_HD double m1_hll(double below, double above, double f_below, double f_above,
                      struct m1_weights w)
{
    return (w.below * f_below - w.above * f_above) + w.jump * (above - below);
}

/* The factor that limits |F| to c N. */
PTAH_HD double m1_limit(double N, double F2, double c)
{
    const double most = c * N;
    return F2 > most * most ? most / sqrt(F2) : 1.0;
}
