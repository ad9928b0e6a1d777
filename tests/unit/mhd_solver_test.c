/* Riemann solvers of magnetohydrodynamics at faces and edges, on random states: consistency with
 * the equations, invariance under mirrors, rotations about the normal, motion across it and change
 * of the field's sign, the limits without field and of supersonic flow, discontinuities that a
 * solver must leave alone, solvers at edges between equal pairs. Catches, among others: a sign, a
 * wave of the wrong side, a component or term left out, a division by zero in gas at rest.
 *
 * test: tier=quick */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "mhd/edge_kern.h"

enum { CASES = 2000 };

static struct mhd_gas gas(double gamma)
{
    struct mhd_gas g = {gamma, gamma - 1.0, 1e-10, 1e-10, 1e-30 / gamma,
                        false, false,       1e20,  1e20,  1e-20};
    return g;
}

static struct rng rng;

static double between(double a, double b)
{
    return a + (b - a) * rng_uniform(&rng);
}

static struct mhd_state random_state(double speed)
{
    struct mhd_state s;
    s.r = exp(between(-2, 2));
    s.p = exp(between(-2, 2));
    s.u = speed * between(-1, 1), s.v = speed * between(-1, 1), s.w = speed * between(-1, 1);
    s.a = between(-2, 2), s.b = between(-2, 2), s.c = between(-2, 2);
    return s;
}

/* Two sides of a face. */
struct pair {
    struct mhd_state l, r;
};

static struct pair random_pair(double speed)
{
    struct pair x = {random_state(speed), random_state(speed)};
    x.r.a = x.l.a;
    return x;
}

/* The right side is close to the left: no wave is strong. */
static struct pair near_pair(double speed)
{
    struct pair x = random_pair(speed);
    struct mhd_state l = x.l, r = x.r;
    x.r = (struct mhd_state){
        l.r * (1 + 0.02 * r.v), l.p * (1 + 0.02 * r.w), l.u + 0.02 * r.u, l.a, l.v + 0.02 * r.p,
        l.b + 0.02 * r.b,       l.w + 0.02 * r.r,       l.c + 0.02 * r.c, 0};
    return x;
}

static struct mhd_flux face(int solver, struct pair x, struct mhd_gas g)
{
    return mhd_face_flux((enum mhd_solver)solver, x.l, x.r, g);
}

/* Flux of the equations, written without regard to mhd/face_kern. */
static struct mhd_flux exact(struct mhd_state s, struct mhd_gas g)
{
    double b2 = s.a * s.a + s.b * s.b + s.c * s.c, pt = s.p + b2 / 2;
    double heat = s.p / (g.gamma - 1), e = heat + s.r / 2 * (s.u * s.u + s.v * s.v + s.w * s.w);
    struct mhd_flux f = {.r = s.r * s.u, .eint = s.u * heat, .left = s.r * s.u};
    f.u = s.r * s.u * s.u + pt - s.a * s.a;
    f.v = s.r * s.u * s.v - s.a * s.b;
    f.w = s.r * s.u * s.w - s.a * s.c;
    f.e = s.u * (e + b2 / 2 + pt) - s.a * (s.u * s.a + s.v * s.b + s.w * s.c);
    f.b = s.u * s.b - s.v * s.a;
    f.c = s.u * s.c - s.w * s.a;
    return f;
}

/* Largest difference of two fluxes; of the numbers before `left` or of all. */
static double apart(struct mhd_flux x, struct mhd_flux y, bool left)
{
    double a[] = {x.r, x.u, x.v, x.w, x.e, x.b, x.c, x.eint, x.left};
    double b[] = {y.r, y.u, y.v, y.w, y.e, y.b, y.c, y.eint, y.left}, worst = 0, size = 1;
    for (int i = 0; i < 8 + left; i++) {
        size = fmax(size, fabs(b[i]));
        worst = isfinite(a[i]) ? fmax(worst, fabs(a[i] - b[i])) : INFINITY;
        if (!isfinite(worst)) return INFINITY;
    }
    return worst / size;
}

/* ---- faces ---- */

/* Both sides are equal; without a field across the face waves coincide, of which some solvers
 * divide by the difference. */
static void test_consistency(int solver, struct mhd_gas g)
{
    struct mhd_state s = random_state(3);
    for (int k = 0; k < 4; k++) {
        if (k > 0) s.b = s.c = 0, s.r = 1, s.u = 0, s.a = 2;
        if (k == 2) s.p = 1;
        if (k == 3) s.p = 4 / g.gamma; /* fast, slow and Alfvén waves */
        struct mhd_flux f = face(solver, (struct pair){s, s}, g), x = exact(s, g);
        CHECK(apart(f, x, false) < 1e-13, "solver %d: %.2e", solver, apart(f, x, false));
    }
}

/* The normal becomes its opposite. */
static struct pair mirrored(struct pair x)
{
    struct pair y = {x.r, x.l};
    y.l.u = -y.l.u, y.r.u = -y.r.u;
    y.l.a = -y.l.a, y.r.a = -y.r.a;
    return y;
}

static void test_mirror(int solver, struct mhd_gas g)
{
    struct pair x = random_pair(3);
    struct mhd_flux f = face(solver, x, g), m = face(solver, mirrored(x), g);
    struct mhd_flux back = {-m.r, m.u, -m.v, -m.w, -m.e, -m.b, -m.c, -m.eint, m.left - m.r};
    CHECK(apart(f, back, true) < 1e-11, "solver %d: %.2e", solver, apart(f, back, true));
}

static void rotate(double *y, double *z, double c, double s)
{
    double t = c * *y - s * *z;
    *z = s * *y + c * *z;
    *y = t;
}

/* Rotation about the normal, and motion across it at the speed v. */
static struct mhd_state moved(struct mhd_state s, double angle, double v)
{
    rotate(&s.v, &s.w, cos(angle), sin(angle));
    rotate(&s.b, &s.c, cos(angle), sin(angle));
    s.v += v;
    return s;
}

static void test_frames(int solver, struct mhd_gas g)
{
    struct pair x = random_pair(3);
    double angle = between(0, 6), v = between(-2, 2);
    struct mhd_flux f = face(solver, x, g);
    struct pair y = {moved(x.l, angle, v), moved(x.r, angle, v)};
    rotate(&f.v, &f.w, cos(angle), sin(angle));
    rotate(&f.b, &f.c, cos(angle), sin(angle));
    f.e += v * f.v + 0.5 * v * v * f.r;
    f.v += v * f.r;
    f.b -= v * x.l.a;
    struct mhd_flux h = face(solver, y, g);
    CHECK(apart(h, f, true) < 1e-10, "solver %d: %.2e", solver, apart(h, f, true));
}

static void test_sign_of_field(int solver, struct mhd_gas g)
{
    struct pair x = random_pair(3), y = x;
    y.l.a = -x.l.a, y.l.b = -x.l.b, y.l.c = -x.l.c;
    y.r.a = -x.r.a, y.r.b = -x.r.b, y.r.c = -x.r.c;
    struct mhd_flux f = face(solver, x, g), h = face(solver, y, g);
    h.b = -h.b, h.c = -h.c;
    CHECK(apart(h, f, true) < 1e-13, "solver %d: %.2e", solver, apart(h, f, true));
}

/* Without a field, solvers are those of the gas. */
static void test_gas(int solver, struct mhd_gas g)
{
    struct hydro_gas h = {
        .gamma = g.gamma, .gm1 = g.gm1, .entho = 1 / g.gm1, .smallr = g.smallr, .smallc = g.smallc};
    struct pair x = random_pair(3);
    struct hydro_flux o;
    x.l.a = x.l.b = x.l.c = x.r.a = x.r.b = x.r.c = 0;
    struct hydro_state l = {x.l.r, x.l.u, x.l.v, x.l.w, x.l.p};
    struct hydro_state r = {x.r.r, x.r.u, x.r.v, x.r.w, x.r.p};
    if (solver == MHD_ROE) return;
    if (solver == MHD_HLL)
        o = hydro_riemann_hll(l, r, h);
    else if (solver == MHD_HLLD)
        o = hydro_riemann_hllc(l, r, h);
    else if (solver == MHD_HYDRO)
        o = hydro_riemann_acoustic(l, r, h);
    else
        o = hydro_riemann_llf(l, r, h);
    struct mhd_flux f = face(solver, x, g);
    struct mhd_flux y = {o.r, o.u, o.v, o.w, o.e, 0, 0, o.eint, o.left};
    CHECK(apart(f, y, true) < 1e-13, "solver %d: %.2e", solver, apart(f, y, true));
}

/* All waves go one way: the flux is that of the state they come from. LLF does not notice. For Roe
 * this is the property that defines his matrix, A·(U_R − U_L) = F_R − F_L. */
static void test_supersonic(int solver, struct mhd_gas g)
{
    struct pair x = near_pair(1);
    if (solver == MHD_LLF || solver == MHD_UPWIND) return;
    x.l.u += 30, x.r.u += 30;
    struct mhd_flux f = face(solver, x, g), e = exact(x.l, g);
    CHECK(apart(f, e, true) < 1e-12, "solver %d: %.2e", solver, apart(f, e, true));
    x.l.u -= 60, x.r.u -= 60;
    f = face(solver, x, g), e = exact(x.r, g), e.left = 0;
    CHECK(apart(f, e, true) < 1e-12, "solver %d: %.2e", solver, apart(f, e, true));
}

/* A discontinuity at rest, whose flux is that of both sides: contact for HLLD and Roe. */
static void test_contact(int solver, struct mhd_gas g)
{
    struct pair x = random_pair(3);
    if (solver != MHD_HLLD && solver != MHD_ROE) return;
    x.l.u = 0;
    double r = x.r.r;
    x.r = x.l, x.r.r = r;
    struct mhd_flux f = face(solver, x, g), e = exact(x.l, g);
    CHECK(apart(f, e, true) < 1e-12, "solver %d: %.2e", solver, apart(f, e, true));
    /* tangential: only the sum of the pressures is equal */
    x = random_pair(3);
    x.l.u = x.r.u = x.l.a = x.r.a = 0;
    double pt = 10, bl = x.l.b * x.l.b + x.l.c * x.l.c, br = x.r.b * x.r.b + x.r.c * x.r.c;
    x.l.p = pt - bl / 2, x.r.p = pt - br / 2;
    f = face(solver, x, g), e = exact(x.l, g);
    if (solver == MHD_HLLD)
        CHECK(apart(f, e, true) < 1e-12, "solver %d: %.2e", solver, apart(f, e, true));
}

/* An Alfvén wave, to the left or the right, that rotates velocity and field of gas at rest or
 * faster than the wave: the flux is that of the state at the face. */
static void test_rotation(struct mhd_gas g)
{
    struct pair x = random_pair(1);
    double angle = between(0.1, 3), va = fabs(x.l.a) / sqrt(x.l.r), sign = x.l.a > 0 ? 1 : -1;
    double way = between(-1, 1) > 0 ? 1 : -1, root = way * sign / sqrt(x.l.r);
    x.l.u = between(-1, 1) > 0 ? 0 : -2 * way * va;
    x.r = x.l;
    rotate(&x.r.b, &x.r.c, cos(angle), sin(angle));
    x.r.v -= root * (x.r.b - x.l.b), x.r.w -= root * (x.r.c - x.l.c);
    bool left = x.l.u + way * va > 0;
    struct mhd_flux f = face(MHD_HLLD, x, g), e = exact(left ? x.l : x.r, g);
    CHECK(apart(f, e, false) < 1e-11, "way %g: %.2e", way, apart(f, e, false));
}

/* Scalars are further components of LLF and HLL: those with the values 1 and a velocity have the
 * fluxes of mass and momentum, but for the field. */
static void test_scalars(int solver, struct mhd_gas g)
{
    struct pair x = random_pair(3);
    x.l.a = x.r.a = 0;
    if (solver == MHD_ROE) return;
    struct mhd_flux f = face(solver, x, g);
    double v = f.left * x.l.v + (f.r - f.left) * x.r.v;
    CHECK(fabs(v - f.v) < 1e-12 * (1 + fabs(f.v)), "solver %d: %g", solver, v - f.v);
}

/* Largest |u| + fast speed, as the root of its equation c⁴ − 2dc² + a²A²/ρ = 0. */
static void test_llf(struct mhd_gas g)
{
    struct pair x = random_pair(3);
    double top = 0;
    for (int i = 0; i < 2; i++) {
        struct mhd_state s = i ? x.r : x.l;
        double a2 = g.gamma * s.p / s.r;
        double d = ((s.a * s.a + s.b * s.b + s.c * s.c) / s.r + a2) / 2;
        top = fmax(top, fabs(s.u) + sqrt(d + sqrt(d * d - a2 * s.a * s.a / s.r)));
    }
    struct mhd_flux f = face(MHD_LLF, x, g), l = exact(x.l, g), r = exact(x.r, g);
    double b = (l.b + r.b - top * (x.r.b - x.l.b)) / 2;
    double left = (l.r + top * x.l.r) / 2, mass = left + (r.r - top * x.r.r) / 2;
    double heat = (l.eint + r.eint - top * (x.r.p - x.l.p) / g.gm1) / 2;
    CHECK(fabs(f.b - b) < 1e-12 * (1 + top), "%g", f.b - b);
    CHECK(fabs(f.left - left) < 1e-12 * (1 + left), "%g", f.left - left);
    CHECK(fabs(f.r - mass) < 1e-12 * (1 + left), "%g", f.r - mass);
    CHECK(fabs(f.eint - heat) < 1e-11 * (1 + top), "%g", f.eint - heat);
    f = mhd_face_drift(x.l, x.r, g), top = fabs(x.l.u + x.r.u) / 2;
    b = (l.b + r.b - top * (x.r.b - x.l.b)) / 2;
    CHECK(fabs(f.b - b) < 1e-12 * (1 + top), "drift: %g", f.b - b);
}

/* The flux is that of LLF where a threshold of mhd_par.switches is passed, and no other. */
static void test_switches(struct mhd_gas g)
{
    struct pair x = random_pair(1), y;
    x.l.p = x.r.p = 1, x.l.r = 1.1, x.r.r = 0.9;
    struct mhd_flux f[2] = {face(MHD_HLL, x, g), face(MHD_HLLD, x, g)}, llf;
    g.switches = true;
    g.switch_b = 13, g.switch_ratio = 2, g.switch_density = 0.5;
    for (int k = 0; k < 2; k++) {
        int solver = k ? MHD_HLLD : MHD_HLL;
        struct mhd_flux h = face(solver, x, g);
        CHECK(memcmp(&h, f + k, sizeof h) == 0, "solver %d", solver);
        for (int n = 0; n < 6; n++) {
            y = x;
            if (n == 0) y.l.b = 4;
            if (n == 1) y.r.b = 4;
            if (n == 2) y.l.r = 2;
            if (n == 3) y.r.r = 2.5;
            if (n == 4) y.l.r = y.r.r = 0.6, y.l.r = 0.49;
            if (n == 5) y.l.r = y.r.r = 0.6, y.r.r = 0.49;
            h = face(solver, y, g), llf = face(MHD_LLF, y, g);
            CHECK(memcmp(&h, &llf, sizeof h) == 0, "solver %d threshold %d", solver, n);
        }
    }
}

/* Strong rarefactions, for which a linear solver would empty a cell: no density or pressure between
 * the waves becomes negative, as Roe's then is LLF. */
static void test_vacuum(struct mhd_gas g)
{
    struct pair x = near_pair(0.1);
    x.l.u -= 30, x.r.u += 30;
    struct mhd_flux f = face(MHD_ROE, x, g), llf = face(MHD_LLF, x, g);
    CHECK(memcmp(&f, &llf, sizeof f) == 0, "%g", f.r - llf.r);
}

/* A rarefaction around a sonic point needs dissipation: a sound wave with |λ| = 0 has that of the
 * speeds on both sides. Along a strong field it is a slow wave. */
static void test_sonic(struct mhd_gas g, double a)
{
    struct mhd_state s = {1, 1 / g.gamma, 0, a, 0, 0, 0, 0, 0};
    struct pair x = {s, s};
    double d = 0.1; /* waves to the left: u + 2c/(γ−1) is constant, c = 1 ± gm1/2 d */
    double cl = 1 + 0.5 * g.gm1 * d, cr = 1 - 0.5 * g.gm1 * d;
    x.l.u = 1 - d, x.r.u = 1 + d;
    x.l.r = pow(cl, 2 / g.gm1), x.r.r = pow(cr, 2 / g.gm1);
    x.l.p = x.l.r * cl * cl / g.gamma, x.r.p = x.r.r * cr * cr / g.gamma;
    struct mhd_flux f = face(MHD_ROE, x, g), l = exact(x.l, g), r = exact(x.r, g);
    double mean = (l.r + r.r) / 2, half = d * (1 + g.gm1 / 2) / 2 * (x.l.r - x.r.r);
    CHECK(fabs(f.r - mean - half) < 0.05 * half, "%g, not %g", f.r - mean, half);
}

static void test_face(int solver, struct mhd_gas g)
{
    test_consistency(solver, g);
    test_mirror(solver, g);
    test_frames(solver, g);
    test_sign_of_field(solver, g);
    test_gas(solver, g);
    test_supersonic(solver, g);
    test_contact(solver, g);
    test_scalars(solver, g);
}

/* ---- edges ---- */

/* lb, rb, lt, rt */
struct four {
    struct mhd_state s[4];
};

static double edge(int solver, struct four x, struct mhd_gas g)
{
    return mhd_edge_emf((enum mhd_edge_solver)solver, x.s[0], x.s[1], x.s[2], x.s[3], g);
}

static double emf(struct mhd_state s)
{
    return s.u * s.b - s.v * s.a;
}

static struct four random_four(double speed)
{
    struct four x;
    for (int i = 0; i < 4; i++) x.s[i] = random_state(speed);
    return x;
}

static bool near(double x, double y, double eps)
{
    return fabs(x - y) < eps * (1 + fabs(y));
}

static void test_edge_consistency(int solver, struct mhd_gas g)
{
    struct mhd_state s = random_state(3);
    double e = edge(solver, (struct four){{s, s, s, s}}, g);
    CHECK(near(e, emf(s), 1e-12), "solver %d: %g, not %g", solver, e, emf(s));
}

/* The sign of E changes if directions change places, or one of them becomes its opposite, or the
 * field its. */
static void test_edge_mirrors(int solver, struct mhd_gas g)
{
    struct four x = random_four(2), y = x;
    double e = edge(solver, x, g), f;
    y.s[1] = x.s[2], y.s[2] = x.s[1];
    for (int i = 0; i < 4; i++) {
        struct mhd_state s = y.s[i];
        y.s[i] = (struct mhd_state){s.r, s.p, s.v, s.b, s.u, s.a, s.w, s.c, s.more};
    }
    f = edge(solver, y, g);
    CHECK(near(-f, e, 1e-11), "solver %d, exchange: %g, not %g", solver, -f, e);
    for (int i = 0; i < 4; i++) y.s[i] = x.s[i ^ 1], y.s[i].u *= -1, y.s[i].a *= -1;
    f = edge(solver, y, g);
    CHECK(near(-f, e, 1e-11), "solver %d, first direction: %g, not %g", solver, -f, e);
    for (int i = 0; i < 4; i++) y.s[i] = x.s[i ^ 2], y.s[i].v *= -1, y.s[i].b *= -1;
    f = edge(solver, y, g);
    CHECK(near(-f, e, 1e-11), "solver %d, second direction: %g, not %g", solver, -f, e);
    for (int i = 0; i < 4; i++) y.s[i] = x.s[i], y.s[i].a *= -1, y.s[i].b *= -1, y.s[i].c *= -1;
    f = edge(solver, y, g);
    CHECK(near(-f, e, 1e-12), "solver %d, sign of the field: %g, not %g", solver, -f, e);
}

/* States do not depend on the second direction: E is the flux of the solver at a face. That of HLLD
 * is known without a field across the face. */
static void test_edge_face(int solver, struct mhd_gas g)
{
    struct pair x = random_pair(2);
    struct mhd_flux f;
    switch ((enum mhd_edge_solver)solver) {
    case MHD_EDGE_LLF:
        f = face(MHD_LLF, x, g);
        break;
    case MHD_EDGE_ROE:
        f = face(MHD_ROE, x, g);
        break;
    case MHD_EDGE_UPWIND:
        f = mhd_face_drift(x.l, x.r, g);
        break;
    case MHD_EDGE_HLL:
        f = face(MHD_HLL, x, g);
        break;
    case MHD_EDGE_HLLA:
    case MHD_EDGE_HLLD:
    case MHD_EDGE_SOLVERS:
    default:
        x.l.a = x.r.a = 0;
        f = face(MHD_HLLD, x, g);
    }
    if (solver == MHD_EDGE_HLLA) return;
    double e = edge(solver, (struct four){{x.l, x.r, x.l, x.r}}, g);
    CHECK(near(e, f.b, 1e-12), "solver %d: %g, not %g", solver, e, f.b);
}

/* Supersonic flow from one corner: its E. */
static void test_edge_supersonic(int solver, struct mhd_gas g)
{
    struct four x = random_four(1), y;
    if (solver <= MHD_EDGE_UPWIND) return;
    x.s[1].a = x.s[0].a, x.s[3].a = x.s[2].a, x.s[2].b = x.s[0].b, x.s[3].b = x.s[1].b;
    for (int k = 0; k < 4; k++) {
        y = x;
        for (int i = 0; i < 4; i++) y.s[i].u += k & 1 ? -30 : 30, y.s[i].v += k & 2 ? -30 : 30;
        double e = edge(solver, y, g);
        CHECK(near(e, emf(y.s[k]), 1e-12), "solver %d corner %d: %g, not %g", solver, k, e,
              emf(y.s[k]));
    }
}

/* Flow that is supersonic along the second direction alone: E comes from two corners, and the other
 * two, of another density, hardly matter. The states differ little, so that E is that of a face
 * but for the dissipation. */
static void test_edge_stream(int solver, struct mhd_gas g)
{
    struct pair x = near_pair(0.1);
    struct four y;
    if (solver <= MHD_EDGE_UPWIND) return;
    double jump = fabs(x.r.b - x.l.b) + fabs(x.r.v - x.l.v);
    for (int k = 0; k < 2; k++) {
        x.l.v += k ? -60 : 30, x.r.v += k ? -60 : 30;
        y = (struct four){{x.l, x.r, x.l, x.r}};
        for (int i = 0; i < 2; i++) y.s[k ? i : 2 + i].r *= 1.1;
        double e = edge(solver, y, g), want = face(MHD_HLL, x, g).b;
        CHECK(fabs(e - want) < 5 * jump, "solver %d: %g, not %g, jump %g", solver, e, want, jump);
    }
}

/* Gas at rest without a field has no E, with any solver. */
static void test_edge_rest(int solver, struct mhd_gas g)
{
    struct four x = random_four(0);
    for (int i = 0; i < 4; i++) x.s[i].a = x.s[i].b = x.s[i].c = 0;
    double e = edge(solver, x, g);
    CHECK(e == 0.0, "solver %d: %g", solver, e);
}

/* HLLD at an edge, formula by formula. i: corner along the first direction, j: along the second;
 * k[d]: speed of the Alfvén waves on the low and high side of direction d. */
static double hlld_within(struct four x, struct mhd_gas g)
{
    struct mhd_corners c = mhd_edge_corners(x.s[0], x.s[1], x.s[2], x.s[3]);
    struct mhd_fan f = mhd_edge_fan(c, true, g);
    struct mhd_state q[2][2] = {{c.lb, c.lt}, {c.rb, c.rt}};
    double s[2] = {f.l, f.r}, t[2] = {f.b, f.t}, mass[2] = {0, 0}, push[2] = {0, 0};
    double k[2][2] = {{0, 0}, {0, 0}}, a[2][2], b[2][2];
    for (int n = 0; n < 4; n++) {
        int i = n % 2, j = n / 2;
        struct mhd_state o = q[i][j];
        double pt = o.p + (o.a * o.a + o.b * o.b + o.c * o.c) / 2;
        double x1 = o.r * fabs(s[i] - o.u), y1 = o.r * fabs(t[j] - o.v);
        mass[0] += x1, push[0] += x1 * o.u + (i ? -pt : pt);
        mass[1] += y1, push[1] += y1 * o.v + (j ? -pt : pt);
    }
    double u = push[0] / mass[0], v = push[1] / mass[1];
    for (int n = 0; n < 4; n++) {
        int i = n % 2, j = n / 2;
        struct mhd_state o = q[i][j];
        double fx = (s[i] - o.u) / (s[i] - u), fy = (t[j] - o.v) / (t[j] - v);
        a[i][j] = o.a * fy, b[i][j] = o.b * fx;
        k[0][i] = fmax(k[0][i], fabs(o.a) / sqrt(o.r * fx));
        k[0][i] = fmax(k[0][i], fabs(a[i][j]) / sqrt(o.r * fx * fy));
        k[1][j] = fmax(k[1][j], fabs(o.b) / sqrt(o.r * fy));
        k[1][j] = fmax(k[1][j], fabs(b[i][j]) / sqrt(o.r * fx * fy));
    }
    double l = fmin(u - k[0][0], 0), r = fmax(u + k[0][1], 0), w = r - l;
    double d = fmin(v - k[1][0], 0), t1 = fmax(v + k[1][1], 0), h = t1 - d;
    double top = (r * a[1][1] - l * a[0][1]) / w, low = (r * a[1][0] - l * a[0][0]) / w;
    double right = (t1 * b[1][1] - d * b[1][0]) / h, left = (t1 * b[0][1] - d * b[0][0]) / h;
    double e = l * d * (u * b[1][1] - v * a[1][1]) - l * t1 * (u * b[1][0] - v * a[1][0]) -
               r * d * (u * b[0][1] - v * a[0][1]) + r * t1 * (u * b[0][0] - v * a[0][0]);
    return e / w / h - t1 * d / h * (top - low) + r * l / w * (right - left);
}

static void test_edge_hlld(struct mhd_gas g)
{
    struct four x = random_four(0.5);
    double e = edge(MHD_EDGE_HLLD, x, g), want = hlld_within(x, g);
    CHECK(near(e, want, 1e-11), "%g, not %g", e, want);
}

static void test_edge_switches(struct mhd_gas g)
{
    struct four x = random_four(1);
    for (int i = 0; i < 4; i++) x.s[i].r = 1 + 0.1 * i;
    double e = edge(MHD_EDGE_HLLD, x, g);
    g.switches_edge = true, g.switch_density = 0.9;
    CHECK(edge(MHD_EDGE_HLLD, x, g) == e, "%g", edge(MHD_EDGE_HLLD, x, g) - e);
    for (int i = 0; i < 4; i++) {
        struct four y = x;
        y.s[i].r = 0.8;
        struct mhd_corners c = mhd_edge_corners(y.s[0], y.s[1], y.s[2], y.s[3]);
        struct mhd_fan s = mhd_edge_fan(c, true, g);
        double top = fmax(fmax(-s.l, s.r), fmax(-s.b, s.t)), mean = 0;
        struct mhd_state at[] = {c.lb, c.rb, c.lt, c.rt};
        for (int k = 0; k < 4; k++) mean += emf(at[k]) / 4;
        double want = mean + top / 2 * (c.lt.a - c.lb.a) - top / 2 * (c.rb.b - c.lb.b);
        e = edge(MHD_EDGE_HLLD, y, g);
        CHECK(near(e, want, 1e-13), "corner %d: %g, not %g", i, e, want);
    }
}

static void test_edge(int solver, struct mhd_gas g)
{
    test_edge_consistency(solver, g);
    test_edge_mirrors(solver, g);
    test_edge_face(solver, g);
    test_edge_supersonic(solver, g);
    test_edge_stream(solver, g);
    test_edge_rest(solver, g);
}

int main(void)
{
    rng = rng_make(1, 2, 3);
    for (int i = 0; i < CASES; i++) {
        struct mhd_gas g = gas(i % 2 ? 5.0 / 3 : 1.4);
        for (int s = 0; s < MHD_SOLVERS; s++) test_face(s, g);
        for (int s = 0; s < MHD_EDGE_SOLVERS; s++) test_edge(s, g);
        test_rotation(g);
        test_llf(g);
        test_switches(g);
        test_vacuum(g);
        test_sonic(g, 0), test_sonic(g, 3);
        test_edge_hlld(g);
        test_edge_switches(g);
    }
    printf("mhd_solver_test: %d passed, %d failed\n", passed, failed);
    return failed != 0;
}
