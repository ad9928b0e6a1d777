/* hydro/point_kern: the arithmetic of one cell and one face, for C, C++ and CUDA. Functions access
 * no memory and use selects instead of data-dependent branches where possible, so that loops over
 * them vectorise. Order of operations is part of the method: the bits must not depend on the loop
 * that calls them. (Toro 2009, chapters 4, 9, 10, 14) */
#pragma once
#include <math.h>

#include "base/device.h"
#include "oct/gas_kern.h"

/* The constants of the point functions, precomputed. */
struct hydro_gas {
    double gamma, gm1, entho; /* γ, γ−1, 1/(γ−1) */
    /* floors: density; c; c²; P/ρ = c²/γ; e = c²/γ/(γ−1) */
    double smallr, smallc, smallc2, smallp, smalle;
    double theta;             /* parameter of slope type 8 */
    double gamma6, inv_gamma; /* (γ+1)/2γ, 1/γ */
    double ndim;              /* of the mesh */
    int niter;
};

/* A state at a face: u normal, v and w transverse. */
struct hydro_state {
    double r, u, v, w, p;
};

/* Flux through a face of mass, momentum (normal, transverse), energy and internal energy. `left` is
 * the part of the mass flux that carries the left state's passive scalars; the rest carries the
 * right state's. */
struct hydro_flux {
    double r, u, v, w, e, eint, left;
};

PTAH_HD double hydro_min(double a, double b)
{
    return a < b ? a : b;
}

PTAH_HD double hydro_max(double a, double b)
{
    return a > b ? a : b;
}

/* ---- slopes: limited difference of a cell from its left and right differences ---- */

PTAH_HD double hydro_slope_minmod(double dl, double dr)
{
    double s = fabs(dl) < fabs(dr) ? dl : dr;
    return dl * dr > 0.0 ? s : 0.0;
}

/* Slope sign · min(θ|dl|, θ|dr|, ½|dl+dr|): θ=2 monotonised central, else generalised minmod. */
PTAH_HD double hydro_slope_theta(double dl, double dr, double theta)
{
    double cen = 0.5 * (dl + dr);
    double lim = theta * hydro_min(fabs(dl), fabs(dr));
    double s = copysign(hydro_min(lim, fabs(cen)), cen);
    return dl * dr > 0.0 ? s : 0.0;
}

PTAH_HD double hydro_slope_vanleer(double dl, double dr)
{
    double s = 2.0 * dl * dr / (dl + dr);
    return dl * dr > 0.0 ? s : 0.0;
}

/* Slope limiters, by their numbers in RAMSES. */
enum slope {
    SLOPE_NONE = 0,
    SLOPE_MINMOD = 1,
    SLOPE_MONCEN = 2,
    SLOPE_POSITIVE = 3,
    SLOPE_SUPERBEE = 4,
    SLOPE_ULTRABEE = 5,
    SLOPE_CENTRAL = 6,
    SLOPE_VANLEER = 7,
    SLOPE_THETA = 8
};

PTAH_HD double hydro_slope(enum slope type, double dl, double dr, double theta)
{
    switch (type) {
    case SLOPE_MINMOD:
        return hydro_slope_minmod(dl, dr);
    case SLOPE_MONCEN:
        return hydro_slope_theta(dl, dr, 2.0);
    case SLOPE_VANLEER:
        return hydro_slope_vanleer(dl, dr);
    case SLOPE_THETA:
        return hydro_slope_theta(dl, dr, theta);
    case SLOPE_NONE:
    case SLOPE_POSITIVE: /* needs all neighbours; not a function of dl and dr */
    case SLOPE_SUPERBEE: /* see hydro_slope_line */
    case SLOPE_ULTRABEE:
    case SLOPE_CENTRAL:
        break;
    }
    return 0.0;
}

/* Whether a slope exists in one dimension only. */
PTAH_HD int hydro_slope_is_line(enum slope type)
{
    return type == SLOPE_SUPERBEE || type == SLOPE_ULTRABEE || type == SLOPE_CENTRAL;
}

/* Difference of smaller size, if both have the same sign. */
PTAH_HD double hydro_slope_smaller(double l, double r)
{
    double s = copysign(hydro_min(fabs(l), fabs(r)), l);
    return l * r > 0.0 ? s : 0.0;
}

/* Slope of variable v (0: density) in one dimension; nu: velocity times dt/dx. Superbee and
 * ultrabee compress as much as an advected profile of this Courant number allows (Roe 1985). */
PTAH_HD double hydro_slope_line(enum slope type, int v, double dl, double dr, double nu,
                                double theta)
{
    const double tiny = 1e-10; /* keeps the ultrabee slope of gas at rest finite */
    if (type == SLOPE_SUPERBEE)
        return hydro_slope_smaller(2.0 / (1.0 + nu) * dl, 2.0 / (1.0 - nu) * dr);
    if (type == SLOPE_ULTRABEE) {
        double l = 2.0 / (nu >= 0.0 ? nu + tiny : 1.0 + nu) * dl;
        double r = 2.0 / (nu >= 0.0 ? 1.0 - nu : -nu + tiny) * dr;
        return v == 0 ? hydro_slope_smaller(l, r) : 0.0;
    }
    if (type == SLOPE_CENTRAL) return v == 0 ? 0.5 * (dl + dr) : 0.0;
    return hydro_slope(type, dl, dr, theta);
}

/* ---- Riemann solvers ---- */

PTAH_HD double hydro_state_energy(struct hydro_state s, struct hydro_gas g)
{
    return gas_total_flux(s.p * g.entho, s.r, s.u, s.v, s.w);
}

/* Sound speed and pressure with floors. */
PTAH_HD double hydro_state_sound(struct hydro_state s, struct hydro_gas g)
{
    double r = hydro_max(s.r, g.smallr);
    double p = hydro_max(s.p, r * g.smallp);
    return sqrt(gas_sound2(r, p, g.gamma));
}

/* Flux a·F_L + b·F_R + c·(U_R − U_L), of which HLL and local Lax-Friedrichs are cases. */
PTAH_HD struct hydro_flux hydro_flux_blend(struct hydro_state L, struct hydro_state R,
                                           struct hydro_gas g, double a, double b, double c)
{
    struct hydro_flux f;
    double ml = L.r * L.u, mr = R.r * R.u;
    double el = hydro_state_energy(L, g), er = hydro_state_energy(R, g);
    double il = L.p * g.entho, ir = R.p * g.entho;
    f.r = a * ml + b * mr + c * (R.r - L.r);
    f.u = a * (L.u * ml + L.p) + b * (R.u * mr + R.p) + c * (mr - ml);
    f.v = a * (L.v * ml) + b * (R.v * mr) + c * (R.r * R.v - L.r * L.v);
    f.w = a * (L.w * ml) + b * (R.w * mr) + c * (R.r * R.w - L.r * L.w);
    f.e = a * (L.u * (el + L.p)) + b * (R.u * (er + R.p)) + c * (er - el);
    f.eint = a * (L.u * il) + b * (R.u * ir) + c * (ir - il);
    f.left = a * ml - c * L.r;
    return f;
}

/* The solvers with given sound speeds of both sides. */
PTAH_HD struct hydro_flux hydro_llf_flux(struct hydro_state L, struct hydro_state R,
                                         struct hydro_gas g, double cl, double cr)
{
    double cmax = hydro_max(fabs(L.u) + cl, fabs(R.u) + cr);
    return hydro_flux_blend(L, R, g, 0.5, 0.5, -0.5 * cmax);
}

PTAH_HD struct hydro_flux hydro_hll_flux(struct hydro_state L, struct hydro_state R,
                                         struct hydro_gas g, double cl, double cr)
{
    double c = hydro_max(cl, cr);
    double sl = hydro_min(hydro_min(L.u, R.u) - c, 0.0),
           sr = hydro_max(hydro_max(L.u, R.u) + c, 0.0);
    double inv = 1.0 / (sr - sl);
    return hydro_flux_blend(L, R, g, sr * inv, -sl * inv, sr * sl * inv);
}

PTAH_HD struct hydro_flux hydro_riemann_llf(struct hydro_state L, struct hydro_state R,
                                            struct hydro_gas g)
{
    return hydro_llf_flux(L, R, g, hydro_state_sound(L, g), hydro_state_sound(R, g));
}

PTAH_HD struct hydro_flux hydro_riemann_hll(struct hydro_state L, struct hydro_state R,
                                            struct hydro_gas g)
{
    return hydro_hll_flux(L, R, g, hydro_state_sound(L, g), hydro_state_sound(R, g));
}

/* ---- HLLC, in stages ----
 *
 * A loop over faces performs one stage after the other: each stage waits for a root or a division
 * of the previous one, and short loops overlap more of these. */

PTAH_HD struct hydro_state hydro_hllc_floor(struct hydro_state s, struct hydro_gas g)
{
    s.r = hydro_max(s.r, g.smallr);
    s.p = hydro_max(s.p, s.r * g.smallp);
    return s;
}

/* Maximum of the sound speeds on both sides. */
PTAH_HD double hydro_hllc_sound(struct hydro_state L, struct hydro_state R, struct hydro_gas g)
{
    L = hydro_hllc_floor(L, g);
    R = hydro_hllc_floor(R, g);
    double cl2 = gas_sound2(L.r, L.p, g.gamma), cr2 = gas_sound2(R.r, R.p, g.gamma);
    return sqrt(hydro_max(hydro_max(cl2, cr2), g.smallc2));
}

/* Velocity and pressure at the contact; the speed of the wave on its upwind side. */
struct hydro_contact {
    double u, p, s;
};

/* Contact wave of a face; c: from hydro_hllc_sound. */
PTAH_HD struct hydro_contact hydro_hllc_contact(struct hydro_state L, struct hydro_state R,
                                                struct hydro_gas g, double c)
{
    struct hydro_contact x;
    L = hydro_hllc_floor(L, g);
    R = hydro_hllc_floor(R, g);
    double sl = hydro_min(L.u, R.u) - c, sr = hydro_max(L.u, R.u) + c;
    double rcl = L.r * (L.u - sl), rcr = R.r * (sr - R.u);
    double inv = 1.0 / (rcr + rcl);
    x.u = (rcr * R.u + rcl * L.u + (L.p - R.p)) * inv;
    x.p = (rcr * L.p + rcl * R.p + rcl * rcr * (L.u - R.u)) * inv;
    x.s = x.u > 0.0 ? sl : sr;
    return x;
}

/* Flux of a face. The star state is needed on one side of the contact only, which is chosen first.
 */
PTAH_HD struct hydro_flux hydro_hllc_flux(struct hydro_state L, struct hydro_state R,
                                          struct hydro_gas g, struct hydro_contact x)
{
    int left = x.u > 0.0;
    struct hydro_state o = {left ? L.r : R.r, left ? L.u : R.u, left ? L.v : R.v, left ? L.w : R.w,
                            left ? L.p : R.p};
    o = hydro_hllc_floor(o, g);
    double ei = o.p * g.entho;
    double e = ei + gas_kinetic_flux(o.r, o.u, o.v, o.w);
    double q = 1.0 / (x.s - x.u), su = x.s - o.u;
    /* The whole fan is on the other side; bitwise, or gcc halves the vector length. */
    int outer = (left & (x.s > 0.0)) | (!left & (x.s <= 0.0));
    double ro = outer ? o.r : o.r * su * q;
    double uo = outer ? o.u : x.u;
    double po = outer ? o.p : x.p;
    double eo = outer ? e : (su * e - o.p * o.u + x.p * x.u) * q;
    double io = outer ? ei : ei * su * q;

    struct hydro_flux f;
    f.r = ro * uo;
    f.u = f.r * uo + po;
    f.v = f.r * o.v;
    f.w = f.r * o.w;
    f.e = (eo + po) * uo;
    f.eint = uo * io;
    f.left = left ? f.r : 0.0;
    return f;
}

PTAH_HD struct hydro_flux hydro_riemann_hllc(struct hydro_state L, struct hydro_state R,
                                             struct hydro_gas g)
{
    return hydro_hllc_flux(L, R, g, hydro_hllc_contact(L, R, g, hydro_hllc_sound(L, R, g)));
}

/* Flux of the state o at x/t=0 with transverse velocities from the upwind side; ei: specific
 * internal energy to advect. */
PTAH_HD struct hydro_flux hydro_flux_state(struct hydro_state o, double ei, int left,
                                           struct hydro_gas g)
{
    struct hydro_flux f;
    double e = hydro_state_energy(o, g);
    f.r = o.r * o.u;
    f.u = o.p + o.r * o.u * o.u;
    f.v = f.r * o.v;
    f.w = f.r * o.w;
    f.e = o.u * (e + o.p);
    f.eint = f.r * ei;
    f.left = left ? f.r : 0.0;
    return f;
}

/* State at x/t=0; ei: specific internal energy to advect, of the upwind side (left or not). */
struct hydro_sample {
    struct hydro_state o;
    double ei;
    int left;
};

PTAH_HD struct hydro_sample hydro_acoustic_sample(struct hydro_state L, struct hydro_state R,
                                                  struct hydro_gas g)
{
    L.r = hydro_max(L.r, g.smallr);
    R.r = hydro_max(R.r, g.smallr);
    L.p = hydro_max(L.p, L.r * g.smallp);
    R.p = hydro_max(R.p, R.r * g.smallp);
    double cl = sqrt(gas_sound2(L.r, L.p, g.gamma)), cr = sqrt(gas_sound2(R.r, R.p, g.gamma));
    double wl = cl * L.r, wr = cr * R.r, inv = 1.0 / (wl + wr);
    double ps = ((wr * L.p + wl * R.p) + wl * wr * (L.u - R.u)) * inv;
    double us = ((wr * R.u + wl * L.u) + (L.p - R.p)) * inv;

    int left = us >= 0.0;
    double sign = left ? 1.0 : -1.0;
    double r = left ? L.r : R.r, u = left ? L.u : R.u, p = left ? L.p : R.p, c = left ? cl : cr;
    double rs = hydro_max(r + (ps - p) / (c * c), g.smallr);
    double cs = hydro_max(sqrt(fabs(gas_sound2(rs, ps, g.gamma))), g.smallc);
    double out = c - sign * u, in = cs - sign * us;
    double shock = hydro_max(0.5 * (in + out), -sign * us);
    int is_shock = ps >= p;
    out = is_shock ? shock : out;
    in = is_shock ? shock : in;
    double frac = out / (out - in);
    int before = out < 0.0, star = in >= 0.0;
    struct hydro_state o;
    o.r = before ? r : star ? rs : frac * rs + (1.0 - frac) * r;
    o.u = before ? u : star ? us : frac * us + (1.0 - frac) * u;
    o.p = before ? p : star ? ps : frac * ps + (1.0 - frac) * p;
    o.v = left ? L.v : R.v;
    o.w = left ? L.w : R.w;
    struct hydro_sample x = {o, p / r * g.entho, left};
    return x;
}

PTAH_HD struct hydro_flux hydro_riemann_acoustic(struct hydro_state L, struct hydro_state R,
                                                 struct hydro_gas g)
{
    struct hydro_sample x = hydro_acoustic_sample(L, R, g);
    return hydro_flux_state(x.o, x.ei, x.left, g);
}

/* Exact (two-shock) solver in parts, so that many faces can iterate together (hydro/exact.c): the
 * sides of a face, the first guess of P*, one Newton step, and the sampling. A face that has
 * converged keeps its P*. cl, cr: squares of the Lagrangian sound speeds. */
static const double HYDRO_EXACT_CHANGE = 1e-6; /* |ΔP|/P up to which P* has converged */

struct hydro_exact {
    double pl, ul, cl, pr, ur, cr;
};

PTAH_HD struct hydro_exact hydro_exact_sides(struct hydro_state L, struct hydro_state R,
                                             struct hydro_gas g)
{
    double rl = hydro_max(L.r, g.smallr), rr = hydro_max(R.r, g.smallr);
    double pl = hydro_max(L.p, rl * g.smallp), pr = hydro_max(R.p, rr * g.smallp);
    struct hydro_exact x = {pl, L.u, g.gamma * pl * rl, pr, R.u, g.gamma * pr * rr};
    return x;
}

PTAH_HD double hydro_exact_guess(struct hydro_exact x)
{
    double wl = sqrt(x.cl), wr = sqrt(x.cr);
    double ps = ((wr * x.pl + wl * x.pr) + wl * wr * (x.ul - x.ur)) / (wl + wr);
    return hydro_max(ps, 0.0);
}

/* The next iterate of P*, which differs from p by *dp. */
PTAH_HD double hydro_exact_newton(struct hydro_exact x, struct hydro_gas g, double p, double *dp)
{
    double wl = sqrt(x.cl * (1.0 + g.gamma6 * (p - x.pl) / x.pl)),
           wr = sqrt(x.cr * (1.0 + g.gamma6 * (p - x.pr) / x.pr));
    double ql = 2.0 * (wl * wl * wl) / (wl * wl + x.cl),
           qr = 2.0 * (wr * wr * wr) / (wr * wr + x.cr);
    double ul = x.ul - (p - x.pl) / wl, ur = x.ur + (p - x.pr) / wr;
    *dp = hydro_max(qr * ql / (qr + ql) * (ul - ur), -p);
    return p + *dp;
}

/* |ΔP|/P of an iterate. */
PTAH_HD double hydro_exact_change(struct hydro_gas g, double p, double dp)
{
    return fabs(dp / (p + g.smallr * g.smallp));
}

/* The upwind side of a face and its star region. */
struct hydro_star {
    double ps, us;     /* pressure and velocity of the star region */
    double r, u, p, w; /* upwind side; Lagrangian speed of its shock */
    int left, shock;
};

PTAH_HD struct hydro_star hydro_exact_star(struct hydro_state L, struct hydro_state R,
                                           struct hydro_gas g, double ps)
{
    struct hydro_star x;
    double rl = hydro_max(L.r, g.smallr), rr = hydro_max(R.r, g.smallr);
    double pl = hydro_max(L.p, rl * g.smallp), pr = hydro_max(R.p, rr * g.smallp);
    double wl = sqrt(g.gamma * pl * rl * (1.0 + g.gamma6 * (ps - pl) / pl));
    double wr = sqrt(g.gamma * pr * rr * (1.0 + g.gamma6 * (ps - pr) / pr));
    x.ps = ps;
    x.us = 0.5 * (L.u + (pl - ps) / wl + R.u - (pr - ps) / wr);
    x.left = x.us >= 0.0;
    x.r = x.left ? rl : rr;
    x.u = x.left ? L.u : R.u;
    x.p = x.left ? pl : pr;
    x.w = x.left ? wl : wr;
    x.shock = ps >= x.p;
    return x;
}

/* Speeds away from the upwind side: of its shock, of the head of its rarefaction, and of the tail
 * if rs is the density of the star region. */
PTAH_HD double hydro_exact_front(struct hydro_star x)
{
    return x.w / x.r - (x.left ? x.u : -x.u);
}

PTAH_HD double hydro_exact_sound(double r, double p, struct hydro_gas g)
{
    return hydro_max(sqrt(fabs(gas_sound2(r, p, g.gamma))), g.smallc);
}

PTAH_HD double hydro_exact_head(struct hydro_star x, struct hydro_gas g)
{
    return hydro_exact_sound(x.r, x.p, g) - (x.left ? x.u : -x.u);
}

PTAH_HD double hydro_exact_tail(struct hydro_star x, struct hydro_gas g, double rs)
{
    return hydro_exact_sound(rs, x.ps, g) - (x.left ? x.us : -x.us);
}

/* Density of the star region behind a shock. */
PTAH_HD double hydro_exact_shocked(struct hydro_star x, struct hydro_gas g)
{
    return hydro_max(x.r / (1.0 + x.r * (x.p - x.ps) / (x.w * x.w)), g.smallr);
}

/* Density of the gas of the upwind side that has expanded to the pressure p. */
PTAH_HD double hydro_exact_adiabat(struct hydro_star x, struct hydro_gas g, double p)
{
    return x.r * pow(p / x.p, g.inv_gamma);
}

/* The state at the face, without the transverse velocities, inside of a rarefaction with these
 * speeds of its head and tail. */
PTAH_HD struct hydro_state hydro_exact_fan(struct hydro_star x, struct hydro_gas g, double out,
                                           double in)
{
    struct hydro_state o = {0.0, 0.0, 0.0, 0.0, 0.0};
    double frac = out / (out - in);
    o.u = frac * x.us + (1.0 - frac) * x.u;
    o.p = frac * x.ps + (1.0 - frac) * x.p;
    o.r = hydro_exact_adiabat(x, g, o.p);
    return o;
}

PTAH_HD struct hydro_flux hydro_exact_flux(struct hydro_state L, struct hydro_state R,
                                           struct hydro_gas g, double ps)
{
    const struct hydro_star x = hydro_exact_star(L, R, g, ps);
    double out = x.shock ? hydro_exact_front(x) : hydro_exact_head(x, g), in = out;
    struct hydro_state o = {x.r, x.u, 0.0, 0.0, x.p};
    if (out > 0.0) {
        o.r = x.shock ? hydro_exact_shocked(x, g)
                      : hydro_max(hydro_exact_adiabat(x, g, ps), g.smallr);
        o.u = x.us;
        o.p = x.ps;
        if (!x.shock) in = hydro_exact_tail(x, g, o.r);
        if (!(in >= 0.0)) o = hydro_exact_fan(x, g, out, in);
    }
    o.v = x.left ? L.v : R.v;
    o.w = x.left ? L.w : R.w;
    return hydro_flux_state(o, x.p / x.r * g.entho, x.left, g);
}

/* ---- cells ---- */

/* Signal speed of the unsplit scheme: ndim·c + Σ|v|; hydro_mixed_speed with non-thermal energies,
 * which are not in e, of Σ γ_i P_i = stiff. */
PTAH_HD double hydro_mixed_speed(double r, double mx, double my, double mz, double e, double stiff,
                                 struct hydro_gas g)
{
    r = hydro_max(r, g.smallr);
    double u = mx / r, v = g.ndim > 1 ? my / r : 0.0, w = g.ndim > 2 ? mz / r : 0.0;
    double ei = gas_internal_flux(e, r, u, v, w);
    double p = hydro_max(gas_pressure(ei, g.gamma), r * g.smallp);
    return g.ndim * sqrt((g.gamma * p + stiff) / r) + fabs(u) + fabs(v) + fabs(w);
}

PTAH_HD double hydro_cell_speed(double r, double mx, double my, double mz, double e,
                                struct hydro_gas g)
{
    r = hydro_max(r, g.smallr);
    double u = mx / r, v = g.ndim > 1 ? my / r : 0.0, w = g.ndim > 2 ? mz / r : 0.0;
    double ei = gas_internal_flux(e, r, u, v, w);
    double p = hydro_max(gas_pressure(ei, g.gamma), r * g.smallp);
    return g.ndim * sqrt(gas_sound2(r, p, g.gamma)) + fabs(u) + fabs(v) + fabs(w);
}

/* Courant step at this speed, with the gravity strength s = max(Σ|f| dx/speed², 1e-4). Without
 * gravity the step decreases monotonically with speed, rounding included: the fastest cell has the
 * smallest step. */
PTAH_HD double hydro_speed_dt(double speed, double fsum, double dx, double courant)
{
    double s = hydro_max(fsum * dx / (speed * speed), 0.0001);
    return dx / speed * (sqrt(1.0 + 2.0 * courant * s) - 1.0) / s;
}
