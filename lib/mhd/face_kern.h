/* mhd/face_kern: Riemann solvers of ideal magnetohydrodynamics at a face, for C, C++ and CUDA.
 * Functions access no memory. All but Roe's are without data-dependent branches, so that loops over
 * them vectorise; roots and divisions, which limit the speed of such loops, are as few as possible:
 * speeds are compared by their squares, ratios by cross multiplication, and one division serves
 * two numbers. Order of operations is part of the method. (Toro 2009 ch. 10; Miyoshi & Kusano 2005;
 * Cargo & Gallice 1997; Stone et al. 2008)
 *
 * The conserved variables have the flux, in terms of the velocity u and the field A along the
 * normal and v, B, w, C across,
 *     ρu, ρu² + P* − A², ρuv − AB, ρuw − AC, u(E + P*) − A(uA + vB + wC), uB − vA, uC − wA
 * with the total pressure P* = P + ½|B|². */
#pragma once
#include "hydro/point_kern.h"
#include "mhd/mhd.h"

struct mhd_gas {
    double gamma, gm1;           /* γ, γ−1 */
    double smallr, smallc, pmin; /* floors of ρ and c; of P: smallr smallc²/γ */
    /* LLF replaces other solvers, mhd_par; constant in a loop that is to be fast without */
    bool switches, switches_edge;
    double switch_b, switch_ratio, switch_density;
};

/* Density, pressure; velocity and field along the normal (u, a) and the transverse axes (v, b) and
 * (w, c). With non-thermal energies the pressure is that of all, and the adiabatic index, which
 * sound has, exceeds γ by `more`. */
struct mhd_state {
    double r, p, u, a, v, b, w, c, more;
};

/* Flux of mass, normal and transverse momenta, energy, transverse field and internal energy. `left`
 * is the part of the mass flux that carries the left state's passive scalars; the rest carries the
 * right state's. */
struct mhd_flux {
    double r, u, v, w, e, b, c;
    double eint, left;
};

/* ---- speeds ---- */

/* Speed from its square, at least smallc. */
PTAH_HD double mhd_speed(double square, struct mhd_gas g)
{
    return sqrt(hydro_max(square, g.smallc * g.smallc));
}

/* ρ times the square of the fast speed; gp = γP, magnetic pressure pm, square t2 of the field
 * across. The difference below the inner root is a sum of squares, which rounding cannot make
 * negative. */
PTAH_HD double mhd_fast2(double gp, double pm, double t2)
{
    double h = 0.5 * gp, d = h - pm;
    return h + pm + sqrt(d * d + gp * t2);
}

/* γP, of all pressures. */
PTAH_HD double mhd_stiffness(struct mhd_state s, struct mhd_gas g)
{
    return (g.gamma + s.more) * s.p;
}

/* `a`: normal field of the face. */
PTAH_HD double mhd_face_fast2(struct mhd_state s, double a, struct mhd_gas g)
{
    return mhd_fast2(mhd_stiffness(s, g), gas_magnetic(a, s.b, s.c), s.b * s.b + s.c * s.c);
}

/* Maximum of the fast speeds on both sides. */
PTAH_HD double mhd_face_fast(struct mhd_state L, struct mhd_state R, double a, struct mhd_gas g)
{
    double inv = 1.0 / (L.r * R.r);
    double l = mhd_face_fast2(L, a, g) * (inv * R.r), r = mhd_face_fast2(R, a, g) * (inv * L.r);
    return mhd_speed(hydro_max(l, r), g);
}

/* Maximum of |u| + fast speed on both sides. */
PTAH_HD double mhd_face_signal(struct mhd_state L, struct mhd_state R, double a, struct mhd_gas g)
{
    double inv = 1.0 / (L.r * R.r);
    double l = mhd_face_fast2(L, a, g) * (inv * R.r), r = mhd_face_fast2(R, a, g) * (inv * L.r);
    return hydro_max(fabs(L.u) + mhd_speed(l, g), fabs(R.u) + mhd_speed(r, g));
}

/* ---- fluxes ---- */

/* Normal field of a face: both sides have the same, but for imposed boundaries. */
PTAH_HD double mhd_face_normal(struct mhd_state L, struct mhd_state R)
{
    return 0.5 * (L.a + R.a);
}

PTAH_HD double mhd_total_pressure(struct mhd_state s, double a)
{
    return s.p + gas_magnetic(a, s.b, s.c);
}

PTAH_HD double mhd_total_energy(struct mhd_state s, double a, double entho)
{
    return gas_total_v(s.p * entho, s.r, s.u, s.v, s.w) + gas_magnetic(a, s.b, s.c);
}

/* Flux of a state with energy e and total pressure pt; ei: specific internal energy. */
PTAH_HD struct mhd_flux mhd_flux_state(struct mhd_state s, double a, double e, double pt, double ei,
                                       bool left)
{
    struct mhd_flux f;
    f.r = s.r * s.u;
    f.u = f.r * s.u + pt - a * a;
    f.v = f.r * s.v - a * s.b;
    f.w = f.r * s.w - a * s.c;
    f.e = (e + pt) * s.u - a * (s.u * a + s.v * s.b + s.w * s.c);
    f.b = s.u * s.b - s.v * a;
    f.c = s.u * s.c - s.w * a;
    f.eint = f.r * ei;
    f.left = left ? f.r : 0.0;
    return f;
}

/* Weights of the flux l·F_L + r·F_R + d·(U_R − U_L). */
struct mhd_blend {
    double l, r, d;
};

PTAH_HD struct mhd_flux mhd_flux_blend(struct mhd_state L, struct mhd_state R, double a,
                                       struct mhd_gas g, struct mhd_blend x)
{
    const double entho = 1.0 / g.gm1;
    double el = mhd_total_energy(L, a, entho), er = mhd_total_energy(R, a, entho);
    double il = L.p * entho, ir = R.p * entho;
    struct mhd_flux fl = mhd_flux_state(L, a, el, mhd_total_pressure(L, a), 0.0, true),
                    fr = mhd_flux_state(R, a, er, mhd_total_pressure(R, a), 0.0, false), f;
    f.r = x.l * fl.r + x.r * fr.r + x.d * (R.r - L.r);
    f.u = x.l * fl.u + x.r * fr.u + x.d * (fr.r - fl.r);
    f.v = x.l * fl.v + x.r * fr.v + x.d * (R.r * R.v - L.r * L.v);
    f.w = x.l * fl.w + x.r * fr.w + x.d * (R.r * R.w - L.r * L.w);
    f.e = x.l * fl.e + x.r * fr.e + x.d * (er - el);
    f.b = x.l * fl.b + x.r * fr.b + x.d * (R.b - L.b);
    f.c = x.l * fl.c + x.r * fr.c + x.d * (R.c - L.c);
    f.eint = x.l * (L.u * il) + x.r * (R.u * ir) + x.d * (ir - il);
    f.left = x.l * fl.r - x.d * L.r;
    return f;
}

/* ---- local Lax-Friedrichs and HLL ---- */

PTAH_HD struct mhd_blend mhd_blend_llf(double speed)
{
    struct mhd_blend x = {0.5, 0.5, -0.5 * speed};
    return x;
}

PTAH_HD struct mhd_blend mhd_blend_hll(double sl, double sr)
{
    double inv = 1.0 / (sr - sl);
    struct mhd_blend x = {sr * inv, -sl * inv, sr * sl * inv};
    return x;
}

/* Whether LLF is to replace another solver: strong fields, density contrasts, low densities. */
PTAH_HD bool mhd_face_switched(struct mhd_state L, struct mhd_state R, double a, struct mhd_gas g)
{
    double low = hydro_min(L.r, R.r), high = hydro_max(L.r, R.r);
    bool left = 2.0 * gas_magnetic(a, L.b, L.c) > g.switch_b * L.p;
    bool right = 2.0 * gas_magnetic(a, R.b, R.c) > g.switch_b * R.p;
    return left | right | (high > g.switch_ratio * low) | (low < g.switch_density);
}

PTAH_HD struct mhd_flux mhd_face_llf(struct mhd_state L, struct mhd_state R, struct mhd_gas g)
{
    double a = mhd_face_normal(L, R);
    return mhd_flux_blend(L, R, a, g, mhd_blend_llf(mhd_face_signal(L, R, a, g)));
}

PTAH_HD struct mhd_flux mhd_face_hll(struct mhd_state L, struct mhd_state R, struct mhd_gas g)
{
    double a = mhd_face_normal(L, R), c = mhd_face_fast(L, R, a, g);
    double sl = hydro_min(hydro_min(L.u, R.u) - c, 0.0),
           sr = hydro_max(hydro_max(L.u, R.u) + c, 0.0);
    struct mhd_blend x = mhd_blend_hll(sl, sr);
    if (g.switches) {
        bool s = mhd_face_switched(L, R, a, g);
        struct mhd_blend y = mhd_blend_llf(mhd_face_signal(L, R, a, g));
        x.l = s ? y.l : x.l;
        x.r = s ? y.r : x.r;
        x.d = s ? y.d : x.d;
    }
    return mhd_flux_blend(L, R, a, g, x);
}

/* Flux of scheme='induction': dissipation by the mean velocity. */
PTAH_HD struct mhd_flux mhd_face_drift(struct mhd_state L, struct mhd_state R, struct mhd_gas g)
{
    double speed = fabs(0.5 * (L.u + R.u));
    return mhd_flux_blend(L, R, mhd_face_normal(L, R), g, mhd_blend_llf(speed));
}

/* ---- HLLD ---- */

/* State behind the fast wave of one side. */
struct mhd_star {
    double r, v, b, w, c;
};

/* Inverse of Δ = k(S − u*) − A², k = ρ(S − u), with |Δ| too small to divide by where the fast wave
 * is an Alfvén wave, which leaves the transverse components as they are. */
struct mhd_resonance {
    double delta;
    bool off;
};

PTAH_HD struct mhd_resonance mhd_hlld_resonance(double k, double su, double a)
{
    double d = k * su - a * a;
    bool off = fabs(d) < 1e-4 * (a * a);
    struct mhd_resonance x = {off ? 1.0 : d, off};
    return x;
}

/* k = ρ(S − u), inv: 1/(S − u*), q: 1/Δ. */
PTAH_HD struct mhd_star mhd_hlld_star(struct mhd_state s, double a, double k, double us, double inv,
                                      double speed, double q, bool off)
{
    double turn = off ? 0.0 : a * (us - s.u) * q;
    double grow = off ? 1.0 : (k * (speed - s.u) - a * a) * q;
    struct mhd_star x = {k * inv, s.v - turn * s.b, s.b * grow, s.w - turn * s.c, s.c * grow};
    return x;
}

/* Contact wave of a face: outer speeds, velocity and total pressure between them. */
struct mhd_contact {
    double sl, sr, u, p;
};

/* speed: mhd_face_fast */
PTAH_HD struct mhd_contact mhd_hlld_contact(struct mhd_state L, struct mhd_state R, double speed)
{
    double a = mhd_face_normal(L, R);
    double sl = hydro_min(L.u, R.u) - speed, sr = hydro_max(L.u, R.u) + speed;
    double pl = mhd_total_pressure(L, a), pr = mhd_total_pressure(R, a);
    double rcl = L.r * (L.u - sl), rcr = R.r * (sr - R.u), inv = 1.0 / (rcr + rcl);
    struct mhd_contact x = {sl, sr, (rcr * R.u + rcl * L.u + (pl - pr)) * inv,
                            (rcr * pl + rcl * pr + rcl * rcr * (L.u - R.u)) * inv};
    return x;
}

/* Number outside of the fast wave, between it and the Alfvén wave (star), or within. */
PTAH_HD double mhd_pick(bool outer, bool star, double o, double s, double within)
{
    double inner = star ? s : within;
    return outer ? o : inner;
}

/* Sides are chosen by the sign of u* before anything that one of them needs is computed. */
PTAH_HD struct mhd_flux mhd_hlld_flux(struct mhd_state L, struct mhd_state R, struct mhd_gas g,
                                      struct mhd_contact m)
{
    const double entho = 1.0 / g.gm1;
    double a = mhd_face_normal(L, R), sl = m.sl, sr = m.sr, us = m.u, ps = m.p;
    double rcl = L.r * (L.u - sl), rcr = R.r * (sr - R.u);
    double ptl = mhd_total_pressure(L, a), ptr = mhd_total_pressure(R, a);

    double dl = sl - us, dr = sr - us, both = 1.0 / (dl * dr);
    struct mhd_resonance xl = mhd_hlld_resonance(-rcl, dl, a), xr = mhd_hlld_resonance(rcr, dr, a);
    double q = 1.0 / (xl.delta * xr.delta);
    struct mhd_star l = mhd_hlld_star(L, a, -rcl, us, both * dr, sl, q * xr.delta, xl.off),
                    r = mhd_hlld_star(R, a, rcr, us, both * dl, sr, q * xl.delta, xr.off);

    /* between the Alfvén waves */
    double sign = a >= 0.0 ? 1.0 : -1.0;
    double ql = sqrt(l.r), qr = sqrt(r.r), t = 1.0 / (ql + qr);
    double v = (ql * l.v + qr * r.v + sign * (r.b - l.b)) * t;
    double w = (ql * l.w + qr * r.w + sign * (r.c - l.c)) * t;
    double b = (ql * r.b + qr * l.b + sign * (ql * qr) * (r.v - l.v)) * t;
    double d = (ql * r.c + qr * l.c + sign * (ql * qr) * (r.w - l.w)) * t;

    bool left = us > 0.0;
    struct mhd_state o = {
        left ? L.r : R.r, left ? L.p : R.p, left ? L.u : R.u, a,  left ? L.v : R.v,
        left ? L.b : R.b, left ? L.w : R.w, left ? L.c : R.c, 0.0};
    struct mhd_star s = {left ? l.r : r.r, left ? l.v : r.v, left ? l.b : r.b, left ? l.w : r.w,
                         left ? l.c : r.c};
    double root = left ? ql : -qr, speed = left ? sl : sr, side = both * (left ? dr : dl);
    double pto = left ? ptl : ptr;
    /* the whole fan, the part of it within the Alfvén waves, is on the other side; bitwise, or gcc
     * halves the vector length */
    bool outer = (left & (sl > 0.0)) | (!left & (sr <= 0.0));
    bool star = (left & (us * ql > fabs(a))) | (!left & (us * qr <= -fabs(a)));
    double e = mhd_total_energy(o, a, entho), so = speed - o.u;
    double vb = o.u * a + o.v * o.b + o.w * o.c, vbs = us * a + s.v * s.b + s.w * s.c;
    double es = (so * e - pto * o.u + ps * us + a * (vb - vbs)) * side;
    double ess = es - sign * root * (vbs - (us * a + v * b + w * d));

    struct mhd_state f = {outer ? o.r : s.r,
                          o.p,
                          outer ? o.u : us,
                          a,
                          mhd_pick(outer, star, o.v, s.v, v),
                          mhd_pick(outer, star, o.b, s.b, b),
                          mhd_pick(outer, star, o.w, s.w, w),
                          mhd_pick(outer, star, o.c, s.c, d),
                          0.0};
    double ei = o.p * entho;
    struct mhd_flux y = mhd_flux_state(f, a, mhd_pick(outer, star, e, es, ess), outer ? pto : ps,
                                       0.0, left);
    y.eint = f.u * (outer ? ei : ei * so * side);
    return y;
}

PTAH_HD struct mhd_flux mhd_face_hlld_only(struct mhd_state L, struct mhd_state R, struct mhd_gas g)
{
    double speed = mhd_face_fast(L, R, mhd_face_normal(L, R), g);
    return mhd_hlld_flux(L, R, g, mhd_hlld_contact(L, R, speed));
}

PTAH_HD struct mhd_flux mhd_face_hlld(struct mhd_state L, struct mhd_state R, struct mhd_gas g)
{
    struct mhd_flux f = mhd_face_hlld_only(L, R, g);
    if (g.switches) {
        bool s = mhd_face_switched(L, R, mhd_face_normal(L, R), g);
        struct mhd_flux o = mhd_face_llf(L, R, g);
        f.r = s ? o.r : f.r;
        f.u = s ? o.u : f.u;
        f.v = s ? o.v : f.v;
        f.w = s ? o.w : f.w;
        f.e = s ? o.e : f.e;
        f.b = s ? o.b : f.b;
        f.c = s ? o.c : f.c;
        f.eint = s ? o.eint : f.eint;
        f.left = s ? o.left : f.left;
    }
    return f;
}

/* ---- Roe ---- */

/* Numbers per volume; of changes, of waves and of fluxes alike. */
struct mhd_conserved {
    double r, u, v, w, e, b, c;
};

PTAH_HD struct mhd_conserved mhd_conserved_of(struct mhd_state s, double a, struct mhd_gas g)
{
    struct mhd_conserved x = {
        s.r, s.r * s.u, s.r * s.v, s.r * s.w, mhd_total_energy(s, a, 1.0 / g.gm1), s.b, s.c};
    return x;
}

/* x + k·y */
PTAH_HD struct mhd_conserved mhd_conserved_add(struct mhd_conserved x, double k,
                                               struct mhd_conserved y)
{
    struct mhd_conserved z = {x.r + k * y.r, x.u + k * y.u, x.v + k * y.v, x.w + k * y.w,
                              x.e + k * y.e, x.b + k * y.b, x.c + k * y.c};
    return z;
}

/* Whether density and internal energy are positive. */
PTAH_HD bool mhd_conserved_sound(struct mhd_conserved x, double a)
{
    double heat = x.e - gas_magnetic(a, x.b, x.c);
    return x.r > 0.0 && 2.0 * x.r * heat > x.u * x.u + x.v * x.v + x.w * x.w;
}

/* Mean state of Roe's linearisation. The terms x and y make up for the jump of the field. (Cargo &
 * Gallice 1997) */
struct mhd_roe {
    double r, u, v, w, h, a, b, c, x, y;
};

PTAH_HD struct mhd_roe mhd_roe_mean(struct mhd_state L, struct mhd_state R, double a,
                                    struct mhd_gas g)
{
    const double entho = 1.0 / g.gm1;
    double ql = sqrt(L.r), qr = sqrt(R.r), r = ql * qr, inv = 1.0 / (ql + qr);
    double hl = (mhd_total_energy(L, a, entho) + mhd_total_pressure(L, a)) / L.r;
    double hr = (mhd_total_energy(R, a, entho) + mhd_total_pressure(R, a)) / R.r;
    struct mhd_roe m;
    m.r = r;
    m.u = (ql * L.u + qr * R.u) * inv;
    m.v = (ql * L.v + qr * R.v) * inv;
    m.w = (ql * L.w + qr * R.w) * inv;
    m.h = (ql * hl + qr * hr) * inv;
    m.a = a;
    m.b = (qr * L.b + ql * R.b) * inv;
    m.c = (qr * L.c + ql * R.c) * inv;
    m.x = 0.5 * ((m.b * m.b - L.b * R.b) + (m.c * m.c - L.c * R.c)) / r;
    m.y = 0.5 * (L.r + R.r) / r;
    return m;
}

/* Characteristics of the mean state in the terms of Stone et al. (2008), appendix B2: speeds of the
 * waves, weights α, direction cosines β of the transverse field, those with a star, and their
 * squares' sum. */
struct mhd_waves {
    double vsq, hp, a2, cf, cs, va, root_r, sign;
    double af, as;             /* α */
    double beta_b, beta_c;     /* β */
    double star_b, star_c, s2; /* β*, |β*|² */
    double qf, qs;             /* c α sign */
    double kf, ks;             /* ã α / √ρ */
    double t;                  /* |B⊥*| */
    double x;                  /* (γ−2)/(γ−1) X */
};

PTAH_HD void mhd_waves_speeds(struct mhd_waves *k, struct mhd_roe m, double floor2, double gm1)
{
    double gm2 = gm1 - 1.0, inv = 1.0 / m.r, t2 = m.b * m.b + m.c * m.c;
    double va2 = m.a * m.a * inv, y = gm1 - gm2 * m.y, ct2 = y * t2 * inv;
    k->vsq = m.u * m.u + m.v * m.v + m.w * m.w;
    k->hp = m.h - (va2 + t2 * inv);
    k->a2 = hydro_max(gm1 * (k->hp - 0.5 * k->vsq) - gm2 * m.x, floor2);
    k->x = gm2 / gm1 * m.x;
    k->va = sqrt(va2);
    /* c_f² − ã² and ã² − c_s² are roots of a quadratic equation whose product is ã² ct2. */
    double tdif = va2 + ct2 - k->a2, diff = sqrt(tdif * tdif + 4.0 * k->a2 * ct2);
    double big = 0.5 * (diff + fabs(tdif)), small = big > 0.0 ? k->a2 * ct2 / big : 0.0;
    double cf2 = 0.5 * (va2 + ct2 + k->a2 + diff);
    k->cf = sqrt(cf2);
    k->cs = sqrt(k->a2 * va2 / cf2);
    k->af = diff > 0.0 ? sqrt((tdif > 0.0 ? small : big) / diff) : 1.0;
    k->as = diff > 0.0 ? sqrt((tdif > 0.0 ? big : small) / diff) : 0.0;
    k->t = sqrt(y * t2);
    double bt = sqrt(t2), root = 1.0 / sqrt(y);
    k->beta_b = bt > 0.0 ? m.b / bt : sqrt(0.5);
    k->beta_c = bt > 0.0 ? m.c / bt : sqrt(0.5);
    k->star_b = k->beta_b * root;
    k->star_c = k->beta_c * root;
}

PTAH_HD struct mhd_waves mhd_waves_of(struct mhd_roe m, struct mhd_gas g)
{
    struct mhd_waves k;
    mhd_waves_speeds(&k, m, g.smallc * g.smallc, g.gm1);
    double a = sqrt(k.a2);
    k.s2 = k.star_b * k.star_b + k.star_c * k.star_c;
    k.root_r = sqrt(m.r);
    k.sign = m.a >= 0.0 ? 1.0 : -1.0;
    k.qf = k.cf * k.af * k.sign;
    k.qs = k.cs * k.as * k.sign;
    k.kf = a * k.af / k.root_r;
    k.ks = a * k.as / k.root_r;
    return k;
}

/* Strengths of the seven waves in the change d: left eigenvectors times d, from fast to the left to
 * fast to the right. */
PTAH_HD void mhd_roe_strengths(double *s, struct mhd_roe m, struct mhd_waves k,
                               struct mhd_conserved d, double gm1)
{
    double du = d.u - m.u * d.r, dv = d.v - m.v * d.r, dw = d.w - m.w * d.r;
    double work = m.u * du + m.v * dv + m.w * dw, field = m.b * d.b + m.c * d.c;
    double norm = 0.5 / k.a2, heat = gm1 * (d.e - work - field - k.hp * d.r);
    /* components along and across the transverse field */
    double bb = (k.star_b * d.b + k.star_c * d.c) / k.s2,
           vb = (k.star_b * dv + k.star_c * dw) / k.s2;
    double cross = 0.5 * (k.beta_b * dw - k.beta_c * dv);
    double twist = 0.5 * k.root_r * k.sign * (k.beta_b * d.c - k.beta_c * d.b);
    double fast = norm * (k.af * (heat + k.cf * k.cf * d.r) + k.ks * (m.r * bb - k.t * d.r));
    double slow = norm * (k.as * (heat + k.cs * k.cs * d.r) - k.kf * (m.r * bb - k.t * d.r));
    double fast_odd = norm * (k.af * k.cf * du - k.qs * vb);
    double slow_odd = norm * (k.as * k.cs * du + k.qf * vb);
    s[0] = fast - fast_odd;
    s[1] = twist + cross;
    s[2] = slow - slow_odd;
    s[3] = d.r + 2.0 * norm * gm1 * ((0.5 * k.vsq + k.x) * d.r + work + field - d.e);
    s[4] = slow + slow_odd;
    s[5] = twist - cross;
    s[6] = fast + fast_odd;
}

/* Right eigenvector of wave n. */
PTAH_HD struct mhd_conserved mhd_roe_wave(int n, struct mhd_roe m, struct mhd_waves k)
{
    double way = n < 3 ? -1.0 : 1.0, vb = m.v * k.star_b + m.w * k.star_c, energy = k.t * k.s2;
    if (n == 3) {
        struct mhd_conserved x = {1.0, m.u, m.v, m.w, 0.5 * k.vsq + k.x, 0.0, 0.0};
        return x;
    }
    if (n == 1 || n == 5) {
        double turn = k.sign / k.root_r;
        struct mhd_conserved x = {0.0,
                                  0.0,
                                  way * k.beta_c,
                                  -way * k.beta_b,
                                  way * (m.v * k.beta_c - m.w * k.beta_b),
                                  -turn * k.beta_c,
                                  turn * k.beta_b};
        return x;
    }
    bool fast = n == 0 || n == 6;
    double c = way * (fast ? k.cf : k.cs), al = fast ? k.af : k.as;
    double q = way * (fast ? -k.qs : k.qf), f = fast ? k.ks : -k.kf;
    struct mhd_conserved x = {al,
                              al * (m.u + c),
                              al * m.v + q * k.star_b,
                              al * m.w + q * k.star_c,
                              al * (k.hp + m.u * c) + q * vb + f * energy,
                              f * k.star_b,
                              f * k.star_c};
    return x;
}

/* Speed of wave n, 0 to 6, in a state with these fast, slow and Alfvén speeds. */
PTAH_HD double mhd_wave_speed(int n, double u, double cf, double cs, double va)
{
    int k = n < 3 ? n : 6 - n;
    double c = k == 0 ? cf : k == 1 ? va : k == 2 ? cs : 0.0;
    return n < 3 ? u - c : u + c;
}

/* Speed of fast or slow wave n in a state. */
PTAH_HD double mhd_state_speed(int n, struct mhd_state s, double a, struct mhd_gas g)
{
    double cf = mhd_speed(mhd_face_fast2(s, a, g) / s.r, g);
    double cs = sqrt(hydro_max(mhd_stiffness(s, g), 0.0)) * fabs(a) / (s.r * cf);
    return mhd_wave_speed(n, s.u, cf, cs, 0.0);
}

/* |λ| of a fast or slow wave, more where it is a rarefaction around a sonic point: the speeds in
 * the left and right state have different signs. */
PTAH_HD double mhd_roe_spread(double speed, double left, double right)
{
    double l = hydro_min(left, speed), r = hydro_max(right, speed);
    if (l < 0.0 && r > 0.0) return (speed * (l + r) - 2.0 * l * r) / (r - l);
    return fabs(speed);
}

/* Dissipation −½ Σ |λ| s r of the waves with strengths s. False if a state between two of them has
 * no positive density or internal energy. */
PTAH_HD bool mhd_roe_dissipation(struct mhd_state L, struct mhd_state R, struct mhd_gas g,
                                 struct mhd_conserved *out)
{
    double a = mhd_face_normal(L, R), strength[7];
    struct mhd_roe m = mhd_roe_mean(L, R, a, g);
    struct mhd_waves k = mhd_waves_of(m, g);
    struct mhd_conserved l = mhd_conserved_of(L, a, g), r = mhd_conserved_of(R, a, g), at = l;
    struct mhd_conserved sum = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    mhd_roe_strengths(strength, m, k, mhd_conserved_add(r, -1.0, l), g.gm1);
    for (int n = 0; n < 7; n++) {
        struct mhd_conserved wave = mhd_roe_wave(n, m, k);
        double speed = mhd_wave_speed(n, m.u, k.cf, k.cs, k.va), size = fabs(speed);
        if (n % 2 == 0)
            size = mhd_roe_spread(speed, mhd_state_speed(n, L, a, g), mhd_state_speed(n, R, a, g));
        sum = mhd_conserved_add(sum, -0.5 * size * strength[n], wave);
        at = mhd_conserved_add(at, strength[n], wave);
        if (!mhd_conserved_sound(at, a)) return false;
    }
    *out = sum;
    return true;
}

PTAH_HD struct mhd_flux mhd_face_roe(struct mhd_state L, struct mhd_state R, struct mhd_gas g)
{
    const struct mhd_blend centred = {0.5, 0.5, 0.0};
    struct mhd_conserved d;
    if (!mhd_roe_dissipation(L, R, g, &d)) return mhd_face_llf(L, R, g);
    struct mhd_flux f = mhd_flux_blend(L, R, mhd_face_normal(L, R), g, centred);
    f.r += d.r;
    f.u += d.u;
    f.v += d.v;
    f.w += d.w;
    f.e += d.e;
    f.b += d.b;
    f.c += d.c;
    bool left = f.r > 0.0;
    f.left = left ? f.r : 0.0;
    f.eint = f.r * ((left ? L.p / L.r : R.p / R.r) / g.gm1);
    return f;
}

/* ---- gas alone ---- */

/* Acoustic solver of the gas; transverse velocity and field are those of the upwind side. */
PTAH_HD struct mhd_flux mhd_face_hydro(struct mhd_state L, struct mhd_state R, struct mhd_gas g)
{
    const double entho = 1.0 / g.gm1, floor = g.smallr * g.smallc * g.smallc;
    double a = mhd_face_normal(L, R);
    struct hydro_gas h = {g.gamma, g.gm1, entho, g.smallr, g.smallc, 0.0, 0.0,
                          0.0,     0.0,   0.0,   0.0,      0.0,      0};
    struct hydro_state l = {L.r, L.u, L.v, L.w, hydro_max(L.p, floor)};
    struct hydro_state r = {R.r, R.u, R.v, R.w, hydro_max(R.p, floor)};
    struct hydro_sample x = hydro_acoustic_sample(l, r, h);
    struct mhd_state o = {
        x.o.r, x.o.p, x.o.u, a, x.o.v, x.left ? L.b : R.b, x.o.w, x.left ? L.c : R.c, 0.0};
    return mhd_flux_state(o, a, mhd_total_energy(o, a, entho), mhd_total_pressure(o, a), x.ei,
                          x.left);
}

/* ---- all ---- */

PTAH_HD struct mhd_flux mhd_face_flux(enum mhd_solver solver, struct mhd_state l,
                                      struct mhd_state r, struct mhd_gas g)
{
    switch (solver) {
    case MHD_LLF:
    case MHD_UPWIND:
        break;
    case MHD_HLL:
        return mhd_face_hll(l, r, g);
    case MHD_HLLD:
        return mhd_face_hlld(l, r, g);
    case MHD_ROE:
        return mhd_face_roe(l, r, g);
    case MHD_HYDRO:
        return mhd_face_hydro(l, r, g);
    case MHD_SOLVERS:
        break;
    }
    return mhd_face_llf(l, r, g);
}
