#include "hole/spin.h"

#include <math.h>

#include "base/cgs.h"
#include "hole/rates.h"

static const double VISCOSITY = 0.1; /* alpha of King, Pringle & Livio (2007) */
/* minimum mass of a disc as a fraction of the accreted mass: at most 1000 discs */
static const double MIN_DISC = 1e-3;
static const double MIN_RATE = 1e-30; /* minimum accretion rate: the disc radius diverges at zero */
static const double STEP = 1e-3;      /* step in ln M, for arrested discs: error 1e-12 */

/* 3 - Z1 of Bardeen, Press & Teukolsky (1972), eq. 2.21. The terms of Z1 cancel as a goes to 0,
 * where 3 - Z1 is 8 a^2/9; there two steps of Newton's method follow, for the cubic of which it is
 * a root. */
static double three_less_z1(double a)
{
    double a2 = a * a, x = 2 - cbrt(1 - a2) * (cbrt(1 + a) + cbrt(1 - a));
    if (a2 > 0.1) return x;
    for (int i = 0; i < 2; i++)
        x -= (((x - 6) * x + 9 + 3 * a2) * x - 8 * a2) / ((3 * x - 12) * x + 9 + 3 * a2);
    return fmax(x, 0);
}

double spin_lso(double a)
{
    double gap = three_less_z1(a), z1 = 3 - gap, z2 = sqrt(3 * a * a + z1 * z1);
    return 3 + z2 - copysign(sqrt(gap * (3 + z1 + 2 * z2)), a);
}

double spin_efficiency(double a)
{
    return 1 - sqrt(1 - 2 / (3 * spin_lso(a)));
}

double spin_jet(double a)
{
    return 0.01 * (4.10507 + a * (0.328712 + a * (76.0849 + a * (47.9235 + a * 3.86634))));
}

static double limited(double a)
{
    return fmax(-SPIN_MAX, fmin(a, SPIN_MAX));
}

double spin_thin(double a, double growth)
{
    double r = spin_lso(a);
    if (!(growth > 1)) return a;
    if (growth >= sqrt(r)) return SPIN_MAX;
    return limited(sqrt(r) / (3 * growth) * (4 - sqrt(3 * r / (growth * growth) - 2)));
}

/* Derivative da / d ln M for a magnetically arrested disc. */
static double spin_down(double a)
{
    return 0.97166 - a * (12.0026 + a * (4.04337 - a * (5.81317 + a * 2.50482)));
}

double spin_arrested(double a, double growth)
{
    double all = log(growth);
    int n = (int)fmin(ceil(all / STEP), 1e6);
    double h = all / n;
    for (int i = 0; i < n; i++) {
        double k1 = spin_down(a), k2 = spin_down(a + 0.5 * h * k1);
        double k3 = spin_down(a + 0.5 * h * k2), k4 = spin_down(a + h * k3);
        a += h / 6 * (k1 + 2 * (k2 + k3) + k4);
    }
    return limited(a);
}

double spin_axis(const double v[3], double out[3])
{
    double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (int d = 0; d < 3; d++) out[d] = length > 0 ? v[d] / length : 0;
    return length;
}

/* A disc: mass in solar masses, radius in Schwarzschild radii. */
struct disc {
    double mass, radius;
};

/* Properties of a disc that is warped out to the alignment radius (Dubois et al. 2014, eq. 15;
 * Fanidakis et al. 2011, eq. 19) or limited by its own gravity (Dotti et al. 2013). */
static struct disc disc_of(double a, double mass, double rate, bool self_gravity)
{
    const double al = VISCOSITY / 0.1, m8 = mass / 1e8, size = fabs(a);
    const double nu = 2 * (1 + 7 * VISCOSITY * VISCOSITY) /
                      ((4 + VISCOSITY * VISCOSITY) * (VISCOSITY * VISCOSITY)); /* Ogilvie 1999 */
    double efficiency = spin_efficiency(a), flow = fmax(rate, MIN_RATE) / (efficiency / 0.1);
    double warp = 6.4e3 * pow(size, 0.625) * pow(m8, 0.125) * pow(flow, -0.25) * pow(nu, -0.625) /
                  sqrt(al);
    double unstable = 5e2 * pow(al, 28 / 45.) * pow(m8, -52 / 45.) * pow(flow, -22 / 45.);
    if (self_gravity && unstable < warp)
        return (struct disc){6e5 * pow(al, -1 / 45.) * pow(m8, 34 / 45.) * pow(flow, 4 / 45.),
                             unstable};
    double years = 5.3e5 * pow(size, 0.875) * pow(flow, -0.75) * pow(nu, -0.875) * pow(al, -1.5) *
                   pow(m8, 1.375);
    return (struct disc){hole_eddington(efficiency) * rate * mass * years * CGS_YEAR, warp};
}

/* Aligns the hole with its total angular momentum with a disc of mass dm; afterwards a is negative
 * if the disc next to the hole counter-rotates. */
static void align(struct spin *s, double mass, double dm, double radius, const double disc[3])
{
    double share = 2 * (dm / mass) * sqrt(radius) / fabs(s->a), cosine = 0, sum[3];
    for (int d = 0; d < 3; d++) {
        cosine += s->axis[d] * disc[d];
        sum[d] = s->axis[d] + share * disc[d];
    }
    s->a = cosine < -0.5 * share ? -fabs(s->a) : fabs(s->a);
    spin_axis(sum, s->axis);
}

static void accrete_disc(struct spin *s, double growth, bool arrested)
{
    bool against = s->a < 0;
    s->a = arrested ? spin_arrested(s->a, growth) : spin_thin(s->a, growth);
    /* The hole turned over: it now rotates with the disc that was counter-rotating. */
    for (int d = 0; d < 3 && against && s->a >= 0; d++) s->axis[d] = -s->axis[d];
}

void spin_accrete(struct spin *s, const struct spin_flow *f)
{
    double left = f->gain, mass = f->mass, disc[3], min = MIN_DISC * f->gain;
    if (!(spin_axis(f->momentum, disc) > 0)) {
        /* Without angular momentum J is constant, and a falls as 1/M^2. */
        double growth = f->gain > 0 ? 1 + f->gain / f->mass : 1;
        s->a /= growth * growth;
        return;
    }
    while (left > 0) {
        double dm = left, cosine = 0;
        for (int d = 0; d < 3; d++) cosine += s->axis[d] * disc[d];
        if (s->a == 0) {
            spin_axis(disc, s->axis);
        } else {
            struct disc o = disc_of(s->a, mass, f->rate, f->self_gravity);
            if (!(s->a >= SPIN_MAX && cosine >= 0)) dm = fmin(fmax(o.mass, min), left);
            align(s, mass, dm, o.radius, disc);
        }
        accrete_disc(s, 1 + dm / mass, f->arrested);
        mass += dm;
        left -= dm;
    }
}

struct spin spin_merge(const struct spin *one, double mass_one, const struct spin *two,
                       double mass_two, const double orbit[3])
{
    const double s4 = -0.129, s5 = -0.384, t0 = -2.686, t2 = -3.454, t3 = 2.353;
    bool swap = mass_two > mass_one;
    const struct spin *big = swap ? two : one, *small = swap ? one : two;
    double q = swap ? mass_one / mass_two : mass_two / mass_one, q2 = q * q, p = 1 + q2;
    double nu = q / ((1 + q) * (1 + q)), dir[3], a[3], b[3], aa = 0, bb = 0, ab = 0, al = 0, bl = 0;
    struct spin out;
    spin_axis(orbit, dir);
    for (int d = 0; d < 3; d++) {
        a[d] = fabs(big->a) * big->axis[d];
        b[d] = fabs(small->a) * small->axis[d];
        aa += a[d] * a[d], bb += b[d] * b[d], ab += a[d] * b[d];
        al += a[d] * dir[d], bl += b[d] * dir[d];
    }
    double l = s4 / (p * p) * (aa + bb * q2 * q2 + 2 * ab * q2) +
               (s5 * nu + t0 + 2) / p * (al + bl * q2) + 2 * sqrt(3) + nu * (t2 + nu * t3);
    for (int d = 0; d < 3; d++) a[d] = (a[d] + b[d] * q2 + dir[d] * (l * q)) / ((1 + q) * (1 + q));
    out.a = fmin(spin_axis(a, out.axis), SPIN_MAX);
    return out;
}
