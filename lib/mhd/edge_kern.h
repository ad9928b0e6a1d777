/* mhd/edge_kern: Riemann solvers at an edge, where four states meet: the electromotive force
 * E = uB − vA along the edge, with velocity and field (u, A) along the first direction of the plane
 * across it, (v, B) along the second and (w, C) along the edge. Conventions are those of
 * mhd/face_kern.h. (Londrillo & Del Zanna 2004; Fromang, Hennebelle & Teyssier 2006; Miyoshi &
 * Kusano 2005)
 *
 * Corners are l or r along the first direction, b (bottom) or t (top) along the second. */
#pragma once
#include "mhd/face_kern.h"

struct mhd_corners {
    struct mhd_state lb, rb, lt, rt;
};

/* Extreme speeds along the first direction (l, r) and the second (b, t). */
struct mhd_fan {
    double l, r, b, t;
};

PTAH_HD double mhd_min4(double a, double b, double c, double d)
{
    return hydro_min(hydro_min(a, b), hydro_min(c, d));
}

PTAH_HD double mhd_max4(double a, double b, double c, double d)
{
    return hydro_max(hydro_max(a, b), hydro_max(c, d));
}

PTAH_HD double mhd_corner_emf(struct mhd_state s)
{
    return s.u * s.b - s.v * s.a;
}

/* Each component of the field in the plane is continuous along itself. */
PTAH_HD struct mhd_corners mhd_edge_corners(struct mhd_state lb, struct mhd_state rb,
                                            struct mhd_state lt, struct mhd_state rt)
{
    lb.a = rb.a = 0.5 * (lb.a + rb.a);
    lt.a = rt.a = 0.5 * (lt.a + rt.a);
    lb.b = lt.b = 0.5 * (lb.b + lt.b);
    rb.b = rt.b = 0.5 * (rb.b + rt.b);
    struct mhd_corners x = {lb, rb, lt, rt};
    return x;
}

/* ---- one-dimensional solvers along both directions ---- */

PTAH_HD struct mhd_state mhd_state_mean(struct mhd_state x, struct mhd_state y)
{
    struct mhd_state m = {0.5 * (x.r + y.r), 0.5 * (x.p + y.p), 0.5 * (x.u + y.u),
                          0.5 * (x.a + y.a), 0.5 * (x.v + y.v), 0.5 * (x.b + y.b),
                          0.5 * (x.w + y.w), 0.5 * (x.c + y.c), 0.5 * (x.more + y.more)};
    return m;
}

/* The second direction becomes the first. */
PTAH_HD struct mhd_state mhd_state_turned(struct mhd_state s)
{
    struct mhd_state t = {s.r, s.p, s.v, s.b, s.u, s.a, s.w, s.c, s.more};
    return t;
}

/* Dissipative part of the flux of the field in the plane and across the face between two states. */
PTAH_HD double mhd_edge_dissipation(enum mhd_edge_solver solver, struct mhd_state L,
                                    struct mhd_state R, struct mhd_gas g)
{
    double speed;
    struct mhd_conserved d;
    if (solver == MHD_EDGE_ROE && mhd_roe_dissipation(L, R, g, &d)) return d.b;
    if (solver == MHD_EDGE_UPWIND)
        speed = fabs(0.5 * (L.u + R.u));
    else
        speed = mhd_face_signal(L, R, mhd_face_normal(L, R), g);
    return -0.5 * speed * (R.b - L.b);
}

PTAH_HD double mhd_edge_mean_emf(struct mhd_corners x)
{
    return 0.25 * ((mhd_corner_emf(x.lb) + mhd_corner_emf(x.rt)) +
                   (mhd_corner_emf(x.rb) + mhd_corner_emf(x.lt)));
}

PTAH_HD double mhd_edge_split(enum mhd_edge_solver solver, struct mhd_corners x, struct mhd_gas g)
{
    struct mhd_state l = mhd_state_mean(x.lb, x.lt), r = mhd_state_mean(x.rb, x.rt),
                     b = mhd_state_turned(mhd_state_mean(x.lb, x.rb)),
                     t = mhd_state_turned(mhd_state_mean(x.lt, x.rt));
    return mhd_edge_mean_emf(x) + mhd_edge_dissipation(solver, l, r, g) -
           mhd_edge_dissipation(solver, b, t, g);
}

/* ---- HLL and HLLA ---- */

/* Squares of speeds along both directions. */
struct mhd_pair {
    double x, y;
};

/* Squares of the speeds of fast waves, or of Alfvén waves, at a corner; inv: 1/ρ. */
PTAH_HD struct mhd_pair mhd_corner_speeds2(struct mhd_state s, bool fast, double inv,
                                           struct mhd_gas g)
{
    double a2 = s.a * s.a, b2 = s.b * s.b, c2 = s.c * s.c;
    double gp = mhd_stiffness(s, g), pm = gas_magnetic(s.a, s.b, s.c);
    struct mhd_pair q = {(fast ? mhd_fast2(gp, pm, b2 + c2) : a2) * inv,
                         (fast ? mhd_fast2(gp, pm, a2 + c2) : b2) * inv};
    return q;
}

PTAH_HD struct mhd_fan mhd_edge_fan(struct mhd_corners x, bool fast, struct mhd_gas g)
{
    double ib = 1.0 / (x.lb.r * x.rb.r), it = 1.0 / (x.lt.r * x.rt.r);
    struct mhd_pair lb = mhd_corner_speeds2(x.lb, fast, ib * x.rb.r, g),
                    rb = mhd_corner_speeds2(x.rb, fast, ib * x.lb.r, g),
                    lt = mhd_corner_speeds2(x.lt, fast, it * x.rt.r, g),
                    rt = mhd_corner_speeds2(x.rt, fast, it * x.lt.r, g);
    double cx = mhd_speed(mhd_max4(lb.x, rb.x, lt.x, rt.x), g),
           cy = mhd_speed(mhd_max4(lb.y, rb.y, lt.y, rt.y), g);
    struct mhd_fan s = {mhd_min4(x.lb.u, x.rb.u, x.lt.u, x.rt.u) - cx,
                        mhd_max4(x.lb.u, x.rb.u, x.lt.u, x.rt.u) + cx,
                        mhd_min4(x.lb.v, x.rb.v, x.lt.v, x.rt.v) - cy,
                        mhd_max4(x.lb.v, x.rb.v, x.lt.v, x.rt.v) + cy};
    return s;
}

PTAH_HD struct mhd_fan mhd_fan_around_zero(struct mhd_fan s)
{
    struct mhd_fan x = {hydro_min(s.l, 0.0), hydro_max(s.r, 0.0), hydro_min(s.b, 0.0),
                        hydro_max(s.t, 0.0)};
    return x;
}

PTAH_HD double mhd_edge_hll(struct mhd_corners x, bool fast, struct mhd_gas g)
{
    struct mhd_fan s = mhd_fan_around_zero(mhd_edge_fan(x, fast, g));
    double wx = s.r - s.l, wy = s.t - s.b, inv = 1.0 / (wx * wy);
    double e = s.l * (s.b * mhd_corner_emf(x.rt) - s.t * mhd_corner_emf(x.rb)) -
               s.r * (s.b * mhd_corner_emf(x.lt) - s.t * mhd_corner_emf(x.lb));
    return (e - s.t * s.b * wx * (x.lt.a - x.lb.a) + s.r * s.l * wy * (x.rb.b - x.lb.b)) * inv;
}

/* ---- HLLD ---- */

/* A corner: mass fluxes ρ|S − u|, ρ|S − v| through the outer waves, total pressure. */
struct mhd_inflow {
    double x, y, pt;
};

/* wx, wy: |S − u|, |S − v| */
PTAH_HD struct mhd_inflow mhd_corner_inflow(struct mhd_state s, double wx, double wy)
{
    struct mhd_inflow k = {s.r * wx, s.r * wy, s.p + gas_magnetic(s.a, s.b, s.c)};
    return k;
}

struct mhd_inflows {
    struct mhd_inflow lb, rb, lt, rt;
};

/* Velocities u*, v* within the fan. */
struct mhd_drift {
    double u, v;
};

PTAH_HD struct mhd_drift mhd_edge_drift(struct mhd_corners x, struct mhd_inflows k)
{
    double kx = (k.lb.x + k.lt.x) + (k.rb.x + k.rt.x), ky = (k.lb.y + k.rb.y) + (k.lt.y + k.rt.y);
    double inv = 1.0 / (kx * ky), falling = k.lb.pt - k.rt.pt, rising = k.lt.pt - k.rb.pt;
    double mx = (k.lb.x * x.lb.u + k.lt.x * x.lt.u) + (k.rb.x * x.rb.u + k.rt.x * x.rt.u),
           my = (k.lb.y * x.lb.v + k.rb.y * x.rb.v) + (k.lt.y * x.lt.v + k.rt.y * x.rt.v);
    struct mhd_drift d = {(mx + (falling + rising)) * (inv * ky),
                          (my + (falling - rising)) * (inv * kx)};
    return d;
}

/* A corner: compression behind the outer wave along the first and the second direction, and field
 * behind the wave along the other direction. */
struct mhd_squeezed {
    double fx, fy, a, b;
};

/* sx, sy: speeds of the outer waves; ix, iy: 1/(S − u*), 1/(S − v*). */
PTAH_HD struct mhd_squeezed mhd_corner_squeezed(struct mhd_state s, double sx, double ix, double sy,
                                                double iy)
{
    double fx = (sx - s.u) * ix, fy = (sy - s.v) * iy;
    struct mhd_squeezed x = {fx, fy, s.a * fy, s.b * fx};
    return x;
}

/* Corners with their states behind the waves. */
struct mhd_edge_stars {
    struct mhd_squeezed lb, rb, lt, rt;
};

/* A quotient n / d of which the maximum is sought. */
struct mhd_ratio {
    double n, d;
};

/* Square of the Alfvén speed over |S − u*|, the higher one of those behind the wave along the first
 * direction and behind both; the other direction alike. field: component along the direction;
 * f: compression along the other. */
PTAH_HD struct mhd_ratio mhd_alfven2(double field, double f, double inflow)
{
    struct mhd_ratio q = {field * field * hydro_max(1.0, f), inflow};
    return q;
}

PTAH_HD struct mhd_ratio mhd_ratio_max(struct mhd_ratio x, struct mhd_ratio y)
{
    bool first = x.n * y.d > y.n * x.d;
    struct mhd_ratio m = {first ? x.n : y.n, first ? x.d : y.d};
    return m;
}

/* Alfvén waves around 0. */
PTAH_HD struct mhd_fan mhd_edge_alfven(struct mhd_corners x, struct mhd_inflows m,
                                       struct mhd_edge_stars k, struct mhd_drift d,
                                       struct mhd_fan s, struct mhd_gas g)
{
    struct mhd_ratio l = mhd_ratio_max(mhd_alfven2(x.lb.a, k.lb.fy, m.lb.x),
                                       mhd_alfven2(x.lt.a, k.lt.fy, m.lt.x));
    struct mhd_ratio r = mhd_ratio_max(mhd_alfven2(x.rb.a, k.rb.fy, m.rb.x),
                                       mhd_alfven2(x.rt.a, k.rt.fy, m.rt.x));
    struct mhd_ratio b = mhd_ratio_max(mhd_alfven2(x.lb.b, k.lb.fx, m.lb.y),
                                       mhd_alfven2(x.rb.b, k.rb.fx, m.rb.y));
    struct mhd_ratio t = mhd_ratio_max(mhd_alfven2(x.lt.b, k.lt.fx, m.lt.y),
                                       mhd_alfven2(x.rt.b, k.rt.fx, m.rt.y));
    double lr = 1.0 / (l.d * r.d), bt = 1.0 / (b.d * t.d);
    struct mhd_fan f = {d.u - mhd_speed(l.n * (d.u - s.l) * (lr * r.d), g),
                        d.u + mhd_speed(r.n * (s.r - d.u) * (lr * l.d), g),
                        d.v - mhd_speed(b.n * (d.v - s.b) * (bt * t.d), g),
                        d.v + mhd_speed(t.n * (s.t - d.v) * (bt * b.d), g)};
    return mhd_fan_around_zero(f);
}

/* The fan does not spread across the first direction: E of the one-dimensional problem between the
 * corners l and r below or above, multiplied by f.r − f.l. */
PTAH_HD double mhd_edge_row(struct mhd_state l, struct mhd_state r, double lb, double rb, double u,
                            struct mhd_fan f)
{
    double el = u * lb - l.v * l.a, er = u * rb - r.v * r.a;
    return f.r * el - f.l * er + f.r * f.l * (r.b - l.b);
}

PTAH_HD double mhd_edge_hlld_only(struct mhd_corners x, struct mhd_fan s, struct mhd_gas g)
{
    struct mhd_inflows m = {mhd_corner_inflow(x.lb, x.lb.u - s.l, x.lb.v - s.b),
                            mhd_corner_inflow(x.rb, s.r - x.rb.u, x.rb.v - s.b),
                            mhd_corner_inflow(x.lt, x.lt.u - s.l, s.t - x.lt.v),
                            mhd_corner_inflow(x.rt, s.r - x.rt.u, s.t - x.rt.v)};
    struct mhd_drift d = mhd_edge_drift(x, m);
    double dl = s.l - d.u, dr = s.r - d.u, db = s.b - d.v, dt = s.t - d.v;
    double ix = 1.0 / (dl * dr), iy = 1.0 / (db * dt);
    double il = ix * dr, ir = ix * dl, ib = iy * dt, it = iy * db;
    struct mhd_edge_stars k = {
        mhd_corner_squeezed(x.lb, s.l, il, s.b, ib), mhd_corner_squeezed(x.rb, s.r, ir, s.b, ib),
        mhd_corner_squeezed(x.lt, s.l, il, s.t, it), mhd_corner_squeezed(x.rt, s.r, ir, s.t, it)};
    struct mhd_fan f = mhd_edge_alfven(x, m, k, d, s, g);
    double wx = f.r - f.l, wy = f.t - f.b, inv = 1.0 / (wx * wy);

    double at = f.r * k.rt.a - f.l * k.lt.a, ab = f.r * k.rb.a - f.l * k.lb.a;
    double br = f.t * k.rt.b - f.b * k.rb.b, bl = f.t * k.lt.b - f.b * k.lb.b;
    double within =
        f.l * (f.b * (d.u * k.rt.b - d.v * k.rt.a) - f.t * (d.u * k.rb.b - d.v * k.rb.a)) -
        f.r * (f.b * (d.u * k.lt.b - d.v * k.lt.a) - f.t * (d.u * k.lb.b - d.v * k.lb.a));
    double e = (within - f.t * f.b * (at - ab) + f.r * f.l * (br - bl)) * inv;

    /* all from the left or the right, then all from below or above, which has precedence */
    bool left = s.l > 0.0, right = s.r<0.0, below = s.b> 0.0, above = s.t < 0.0;
    struct mhd_state sb = left ? x.lb : x.rb, st = left ? x.lt : x.rt;
    double kb = left ? k.lb.a : k.rb.a, kt = left ? k.lt.a : k.rt.a;
    double eb = sb.u * sb.b - d.v * kb, et = st.u * st.b - d.v * kt;
    double column = (f.t * eb - f.b * et - f.t * f.b * (st.a - sb.a)) * (inv * wx);
    struct mhd_state rl = below ? x.lb : x.lt, rr = below ? x.rb : x.rt;
    double row = mhd_edge_row(rl, rr, below ? k.lb.b : k.lt.b, below ? k.rb.b : k.rt.b, d.u, f) *
                 (inv * wy);
    row = left ? mhd_corner_emf(rl) : right ? mhd_corner_emf(rr) : row;
    return (below | above) ? row : (left | right) ? column : e;
}

PTAH_HD double mhd_edge_hlld(struct mhd_corners x, struct mhd_gas g)
{
    struct mhd_fan s = mhd_edge_fan(x, true, g);
    double e = mhd_edge_hlld_only(x, s, g);
    if (g.switches_edge) {
        double low = mhd_min4(x.lb.r, x.rb.r, x.lt.r, x.rt.r);
        double top = mhd_max4(fabs(s.l), fabs(s.r), fabs(s.b), fabs(s.t));
        double other = mhd_edge_mean_emf(x) + 0.5 * top * ((x.lt.a - x.lb.a) - (x.rb.b - x.lb.b));
        e = low < g.switch_density ? other : e;
    }
    return e;
}

/* ---- all ---- */

PTAH_HD double mhd_edge_emf(enum mhd_edge_solver solver, struct mhd_state lb, struct mhd_state rb,
                            struct mhd_state lt, struct mhd_state rt, struct mhd_gas g)
{
    struct mhd_corners x = mhd_edge_corners(lb, rb, lt, rt);
    switch (solver) {
    case MHD_EDGE_LLF:
    case MHD_EDGE_ROE:
    case MHD_EDGE_UPWIND:
        return mhd_edge_split(solver, x, g);
    case MHD_EDGE_HLL:
        return mhd_edge_hll(x, true, g);
    case MHD_EDGE_HLLA:
        return mhd_edge_hll(x, false, g);
    case MHD_EDGE_HLLD:
    case MHD_EDGE_SOLVERS:
        break;
    }
    return mhd_edge_hlld(x, g);
}
