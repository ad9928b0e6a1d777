/* mhd/step_kern: half a step of a cell and of the field on a face, and states at faces and at
 * edges, for the rows of the CPU (cells.c, faces.c) and for devices (step_kernel.c). Values of a
 * cell lie `stride` doubles apart in an array; i is the index of the cell. Private to mhd.
 * (Fromang, Hennebelle & Teyssier 2006; docs/method/mhd.md) */
#pragma once
#include "hydro/cell_kern.h"
#include "mhd/edge_kern.h"
#include "mhd/mhd.h"

/* ---- primitive variables ---- */

/* Converts the conserved variables u, with the field on the six faces at b, to primitive variables
 * q and the field at the centre c; etot: total energy without non-thermal ones. */
PTAH_HD void mhd_primitive_at(const double *u, const double *etot, const double *b, int stride,
                              int i, struct mhd_gas g, double *q, double *c)
{
    const double r = hydro_max(u[i], g.smallr), inv = 1.0 / r;
    const double x = u[stride + i] * inv, y = u[2 * stride + i] * inv, z = u[3 * stride + i] * inv;
    const double bx = 0.5 * (b[i] + b[stride + i]),
                 by = 0.5 * (b[2 * stride + i] + b[3 * stride + i]),
                 bz = 0.5 * (b[4 * stride + i] + b[5 * stride + i]);
    const double e = gas_internal_v(etot[i] - gas_magnetic(bx, by, bz), r, x, y, z);
    q[i] = r;
    q[stride + i] = x;
    q[2 * stride + i] = y;
    q[3 * stride + i] = z;
    q[4 * stride + i] = hydro_max(g.gm1 * e, g.pmin);
    c[i] = bx, c[stride + i] = by, c[2 * stride + i] = bz;
}

/* ---- the field on faces ---- */

/* Primitive variables of the four cells at an edge, by side along both axes across it, and the
 * field on its four faces: across the first axis below and above along the second, and the other
 * way round. v, w: offsets of the velocities along both axes. */
struct mhd_start {
    const double *q00, *q10, *q01, *q11, *b0, *b1, *c0, *c1;
    int v, w;
};

/* v × B at the start along an edge: velocities are means of four cells, the field of two faces. */
PTAH_HD double mhd_start_at(struct mhd_start e, int i)
{
    const double x = 0.25 * ((e.q00[e.v + i] + e.q11[e.v + i]) + (e.q01[e.v + i] + e.q10[e.v + i])),
                 y = 0.25 * ((e.q00[e.w + i] + e.q11[e.w + i]) + (e.q01[e.w + i] + e.q10[e.w + i]));
    return x * (0.5 * (e.c0[i] + e.c1[i])) - y * (0.5 * (e.b0[i] + e.b1[i]));
}

/* Field on a face after half a step: forces at the edges along the second axis across the normal,
 * below and above along the first, and at those along the first. on_c, on_b: half of dt/dx, or 0
 * where the axis between two edges is missing. */
PTAH_HD double mhd_face_half(double from, double on_c, double c0, double c1, double on_b, double b0,
                             double b1)
{
    return from + on_c * (c1 - c0) - on_b * (b1 - b0);
}

/* ---- cells ---- */

/* Change of the gas over half a step, h = ½ dt/dx, by the primitive equations, and of the field
 * along missing axes. b: index of the field among the variables; T: of the pressure that moves the
 * gas, which is total where there are non-thermal energies. moves: whether velocities change.
 * Derivatives of a component of the field along itself do not appear, so that the scheme is right
 * without div B in it. */
PTAH_HD void mhd_cell_half(int ndim, bool moves, int stride, int b, int T, double h, double gamma,
                           const double *q, const double *x, const double *y, const double *z,
                           double *to)
{
    enum { R, U, V, W, P };
    const double r = q[R], u = q[U * stride], v = q[V * stride], w = q[W * stride],
                 p = q[P * stride];
    const int fa = b * stride, fb = (b + 1) * stride, fc = (b + 2) * stride;
    const double A = q[fa], B = q[fb], C = q[fc], volume = 1.0 / r;
    double dr = -u * x[R] - r * x[U * stride], dp = -u * x[P * stride] - gamma * p * x[U * stride];
    double du = -u * x[U * stride] - (x[T * stride] + B * x[fb] + C * x[fc]) * volume;
    double dv = -u * x[V * stride] + A * x[fb] * volume;
    double dw = -u * x[W * stride] + A * x[fc] * volume;
    double dB = -u * x[fb] - B * x[U * stride] + A * x[V * stride];
    double dC = -u * x[fc] - C * x[U * stride] + A * x[W * stride];
    if (ndim > 1) {
        dr += -v * y[R] - r * y[V * stride];
        dp += -v * y[P * stride] - gamma * p * y[V * stride];
        du += -v * y[U * stride] + B * y[fa] * volume;
        dv += -v * y[V * stride] - (y[T * stride] + A * y[fa] + C * y[fc]) * volume;
        dw += -v * y[W * stride] + B * y[fc] * volume;
        dC += -v * y[fc] - C * y[V * stride] + B * y[W * stride];
    }
    if (ndim > 2) {
        dr += -w * z[R] - r * z[W * stride];
        dp += -w * z[P * stride] - gamma * p * z[W * stride];
        du += -w * z[U * stride] + C * z[fa] * volume;
        dv += -w * z[V * stride] + C * z[fb] * volume;
        dw += -w * z[W * stride] - (z[T * stride] + A * z[fa] + B * z[fb]) * volume;
    }
    to[R] = r + h * dr;
    to[U * stride] = moves ? u + h * du : u;
    to[V * stride] = moves ? v + h * dv : v;
    to[W * stride] = moves ? w + h * dw : w;
    to[P * stride] = p + h * dp;
    if (ndim < 2) to[fb] = B + h * dB;
    if (ndim < 3) to[fc] = C + h * dC;
}

/* A passive scalar that is advected with this speed along one axis over half a step. */
PTAH_HD double mhd_scalar_half(double x, double h, double speed, double slope)
{
    return x - h * (speed * slope);
}

/* Field at the centre from both faces. */
PTAH_HD double mhd_middle(double lo, double hi)
{
    return 0.5 * (lo + hi);
}

/* Divergence of velocities by central differences: the sum with that along one more axis. */
PTAH_HD double mhd_expansion_add(double sum, double lo, double hi, double dx2)
{
    return sum + (hi - lo) / dx2;
}

/* ---- faces ---- */

/* With non-thermal energies three more variables after the field: the total pressure, Σ γP, and the
 * sum of the internal energies per volume. */
enum { MHD_TOTAL, MHD_STIFF, MHD_INNER, MHD_MIXED };

/* Variables by their role at a face across axis d: velocity and field along the normal and the next
 * two axes in cyclic order; field: index of the field among the variables. */
struct mhd_turned {
    int n, a, b, fn, fa, fb;
    int total; /* index of the total pressure, struct mhd_totals; 0: no non-thermal energies */
};

PTAH_HD struct mhd_turned mhd_turned_to(int d, int field)
{
    const int a = (d + 1) % 3, b = (d + 2) % 3;
    struct mhd_turned t = {1 + d, 1 + a, 1 + b, field + d, field + a, field + b, 0};
    return t;
}

/* Cells below and above a face, after half a step, with their slopes, and the field on the face. */
struct mhd_sides {
    const double *lo, *lo_slope, *hi, *hi_slope, *normal;
    struct mhd_turned t;
};

/* The pressure and the index of a state whose thermal pressure is x->p, without its floor. */
PTAH_HD void mhd_state_mix(struct mhd_state *x, double total, double stiff, struct mhd_gas g)
{
    const double rise = hydro_max(x->p, g.pmin) - x->p;
    x->p = total + rise;
    x->more = (stiff + g.gamma * rise) / x->p - g.gamma;
}

/* State of a cell at its face on side `half`, ½ or −½; normal: the field on the face. */
PTAH_HD struct mhd_state mhd_state_at(const double *q, const double *slope, double half,
                                      double normal, struct mhd_turned t, int stride, int i,
                                      struct mhd_gas g)
{
    struct mhd_state x;
    const double r = q[i] + half * slope[i];
    x.r = r < g.smallr ? q[i] : r;
    x.p = q[4 * stride + i] + half * slope[4 * stride + i];
    x.more = 0.0;
    if (t.total) {
        const int n = t.total * stride + i, k = n + MHD_STIFF * stride;
        mhd_state_mix(&x, q[n] + half * slope[n], q[k] + half * slope[k], g);
    } else {
        x.p = hydro_max(x.p, g.pmin);
    }
    x.u = q[t.n * stride + i] + half * slope[t.n * stride + i];
    x.v = q[t.a * stride + i] + half * slope[t.a * stride + i];
    x.w = q[t.b * stride + i] + half * slope[t.b * stride + i];
    x.a = normal;
    x.b = q[t.fa * stride + i] + half * slope[t.fa * stride + i];
    x.c = q[t.fb * stride + i] + half * slope[t.fb * stride + i];
    return x;
}

/* dt/dx × flux through a face, and dt/dx × velocity. */
struct mhd_through {
    struct mhd_flux f;
    double volume;
};

/* Internal energies per mass at a face, of a state x there: of thermal energy, and by how much all
 * exceed that of the total pressure. */
struct mhd_inner {
    double thermal, excess;
};

PTAH_HD struct mhd_inner mhd_inner_at(const double *q, const double *slope, double half,
                                      struct mhd_state x, int total, int stride, int i,
                                      struct mhd_gas g)
{
    const int n = (total + MHD_INNER) * stride + i;
    const double p = q[4 * stride + i] + half * slope[4 * stride + i],
                 floored = hydro_max(p, g.pmin), entho = 1.0 / g.gm1,
                 all = q[n] + half * slope[n] + (floored - p) * entho;
    struct mhd_inner e = {floored * entho / x.r, (all - x.p * entho) / x.r};
    return e;
}

/* drift: the flow is given, and no gas goes through the face. */
PTAH_HD struct mhd_through mhd_through_at(enum mhd_solver solver, bool drift, struct mhd_sides s,
                                          int stride, int i, double dtdx, struct mhd_gas g)
{
    const double normal = s.normal[i];
    const struct mhd_state l = mhd_state_at(s.lo, s.lo_slope, 0.5, normal, s.t, stride, i, g),
                           r = mhd_state_at(s.hi, s.hi_slope, -0.5, normal, s.t, stride, i, g);
    struct mhd_flux x = drift ? mhd_face_drift(l, r, g) : mhd_face_flux(solver, l, r, g);
    if (s.t.total) {
        const struct mhd_inner a = mhd_inner_at(s.lo, s.lo_slope, 0.5, l, s.t.total, stride, i, g),
                               b = mhd_inner_at(s.hi, s.hi_slope, -0.5, r, s.t.total, stride, i, g);
        x.e += x.left * a.excess + (x.r - x.left) * b.excess;
        x.eint = x.left * a.thermal + (x.r - x.left) * b.thermal;
    }
    struct mhd_through o;
    o.f.r = drift ? 0.0 : x.r * dtdx;
    o.f.u = drift ? 0.0 : x.u * dtdx;
    o.f.v = drift ? 0.0 : x.v * dtdx;
    o.f.w = drift ? 0.0 : x.w * dtdx;
    o.f.e = drift ? 0.0 : x.e * dtdx;
    o.f.left = drift ? 0.0 : x.left * dtdx;
    o.f.b = x.b * dtdx;
    o.f.c = x.c * dtdx;
    o.f.eint = x.eint * dtdx;
    o.volume = 0.5 * (l.u + r.u) * dtdx;
    return o;
}

/* Flux of a passive scalar with the mass; left: part of the mass that comes from below. */
PTAH_HD double mhd_scalar_flux(double mass, double left, double lo, double lo_slope, double hi,
                               double hi_slope)
{
    return left * (lo + 0.5 * lo_slope) + (mass - left) * (hi - 0.5 * hi_slope);
}

/* Non-thermal energy per mass at a face on side `half` of a cell, from its pressure p and the
 * density r with their slopes; entho: 1/(γ_i − 1). */
PTAH_HD double mhd_energy_side(double p, double ps, double r, double rs, double half, double entho,
                               double smallr)
{
    const double at = r + half * rs, density = at < smallr ? r : at;
    return (p + half * ps) * entho / density;
}

/* ---- edges ---- */

/* A cell at an edge: its variables, its slopes along both axes across the edge, and the sides on
 * which the edge is. */
struct mhd_corner {
    const double *q, *sb, *sc;
    double half_b, half_c;
};

/* The four cells around an edge, by side along the first and the second axis, and the field on the
 * four faces that meet. */
struct mhd_around {
    struct mhd_corner of[2][2];
    const double *face_b[2], *slope_b[2]; /* across the first axis, by side along the second */
    const double *face_c[2], *slope_c[2]; /* across the second axis, by side along the first */
    int u, v, w, c; /* velocities, field along the edge, among the variables */
    int total;      /* as in struct mhd_turned */
};

PTAH_HD double mhd_corner_value(struct mhd_corner at, int i)
{
    return at.q[i] + at.half_b * at.sb[i] + at.half_c * at.sc[i];
}

PTAH_HD struct mhd_state mhd_corner_state(struct mhd_corner at, const struct mhd_around *e,
                                          double a, double b, int stride, int i, struct mhd_gas g)
{
    struct mhd_state x;
    const double r = mhd_corner_value(at, i);
    x.r = r < g.smallr ? at.q[i] : r;
    x.p = mhd_corner_value(at, 4 * stride + i);
    x.more = 0.0;
    if (e->total) {
        const int n = e->total * stride + i;
        mhd_state_mix(&x, mhd_corner_value(at, n), mhd_corner_value(at, n + MHD_STIFF * stride), g);
    } else {
        x.p = hydro_max(x.p, g.pmin);
    }
    x.u = mhd_corner_value(at, e->u * stride + i);
    x.v = mhd_corner_value(at, e->v * stride + i);
    x.w = mhd_corner_value(at, e->w * stride + i);
    x.c = mhd_corner_value(at, e->c * stride + i);
    x.a = a;
    x.b = b;
    return x;
}

/* dt/dx × electromotive force along an edge. */
PTAH_HD double mhd_force_at(enum mhd_edge_solver solver, const struct mhd_around *e, int stride,
                            int i, double dtdx, struct mhd_gas g)
{
    const double a0 = e->face_b[0][i] + 0.5 * e->slope_b[0][i],
                 a1 = e->face_b[1][i] - 0.5 * e->slope_b[1][i],
                 b0 = e->face_c[0][i] + 0.5 * e->slope_c[0][i],
                 b1 = e->face_c[1][i] - 0.5 * e->slope_c[1][i];
    const struct mhd_state lb = mhd_corner_state(e->of[0][0], e, a0, b0, stride, i, g),
                           rb = mhd_corner_state(e->of[1][0], e, a0, b1, stride, i, g),
                           lt = mhd_corner_state(e->of[0][1], e, a1, b0, stride, i, g),
                           rt = mhd_corner_state(e->of[1][1], e, a1, b1, stride, i, g);
    return dtdx * mhd_edge_emf(solver, lb, rb, lt, rt, g);
}
