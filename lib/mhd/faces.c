/* mhd/faces: states at faces and at edges, and the Riemann problems there. */
#include "mhd/edge_kern.h"
#include "mhd/mhd_law.h"

#define INLINE static inline __attribute__((always_inline))
enum { PS = PLANE_STRIDE };

/* ---- faces ---- */

/* Variables by their role at a face across an axis: velocity and field along the normal and the
 * next two axes in cyclic order, as offsets. */
struct turned {
    int n, a, b, fn, fa, fb;
};

static struct turned turned_to(int d, int field)
{
    const int a = (d + 1) % 3, b = (d + 2) % 3;
    return (struct turned){(1 + d) * PS,     (1 + a) * PS,     (1 + b) * PS,
                           (field + d) * PS, (field + a) * PS, (field + b) * PS};
}

/* State of a cell at its face on side `half`, ½ or −½; normal: the field on the face. */
INLINE struct mhd_state state_at(const double *q, const double *slope, double half, double normal,
                                 struct turned t, int i, struct mhd_gas g)
{
    struct mhd_state x;
    const double r = q[i] + half * slope[i];
    x.r = r < g.smallr ? q[i] : r;
    x.p = hydro_max(q[4 * PS + i] + half * slope[4 * PS + i], g.pmin);
    x.u = q[t.n + i] + half * slope[t.n + i];
    x.v = q[t.a + i] + half * slope[t.a + i];
    x.w = q[t.b + i] + half * slope[t.b + i];
    x.a = normal;
    x.b = q[t.fa + i] + half * slope[t.fa + i];
    x.c = q[t.fb + i] + half * slope[t.fb + i];
    return x;
}

/* Faces of a run: cells below and above with their slopes, the field on the faces, and where the
 * fluxes go. */
struct faces {
    int n;
    const double *lo, *lo_slope, *hi, *hi_slope, *normal;
    struct turned t;
    double *F, *left;
    /* fluxes of the field along the next two axes, and, with pressure_fix, volume and internal
     * energy; what has no flux goes to a plane that nobody reads */
    double *fa, *fb, *volume, *internal;
    bool plain; /* whether these four are not needed, and no solver is switched */
    double dtdx;
};

/* plain, drift: constants. */
INLINE void faces_solve(enum mhd_solver solver, bool drift, bool plain, const struct faces *at,
                        struct mhd_gas g)
{
    const struct faces f = *at;
    const double *restrict lo = f.lo, *restrict ls = f.lo_slope, *restrict hi = f.hi,
                           *restrict hs = f.hi_slope, *restrict normal = f.normal;
    double *restrict F = f.F, *restrict left = f.left;
    if (plain) g.switches = false;
#pragma omp simd simdlen(LANES)
    for (int i = 0; i < f.n; i++) {
        const struct mhd_state l = state_at(lo, ls, 0.5, normal[i], f.t, i, g),
                               r = state_at(hi, hs, -0.5, normal[i], f.t, i, g);
        const struct mhd_flux x = drift ? mhd_face_drift(l, r, g) : mhd_face_flux(solver, l, r, g);
        F[i] = drift ? 0.0 : x.r * f.dtdx;
        F[f.t.n + i] = drift ? 0.0 : x.u * f.dtdx;
        F[f.t.a + i] = drift ? 0.0 : x.v * f.dtdx;
        F[f.t.b + i] = drift ? 0.0 : x.w * f.dtdx;
        F[4 * PS + i] = drift ? 0.0 : x.e * f.dtdx;
        left[i] = drift ? 0.0 : x.left * f.dtdx;
        if (plain) continue;
        f.fa[i] = x.b * f.dtdx;
        f.fb[i] = x.c * f.dtdx;
        f.volume[i] = 0.5 * (l.u + r.u) * f.dtdx;
        f.internal[i] = x.eint * f.dtdx;
    }
}

INLINE void faces_choose(enum mhd_solver solver, const struct faces *f, struct mhd_gas g)
{
    if (f->plain)
        faces_solve(solver, false, true, f, g);
    else
        faces_solve(solver, false, false, f, g);
}

static void faces_by_solver(enum mhd_solver solver, bool drift, const struct faces *f,
                            struct mhd_gas g)
{
    if (drift) {
        faces_solve(MHD_LLF, true, false, f, g);
        return;
    }
    switch (solver) {
#define FACE(name, text)                                                                           \
    case MHD_##name:                                                                               \
        faces_choose(MHD_##name, f, g);                                                            \
        break;
#define EDGE(name, text)
#include "mhd/solvers.def"
    case MHD_SOLVERS:
        break;
    }
}

static void faces_scalars(const struct sweep *s, const struct faces *f)
{
    for (int v = GAS_SCALARS; v < mhd_field(s); v++) {
        const double *restrict lo = f->lo + v * PS, *restrict ls = f->lo_slope + v * PS,
                               *restrict hi = f->hi + v * PS, *restrict hs = f->hi_slope + v * PS,
                               *restrict left = f->left, *restrict mass = f->F;
        double *restrict F = f->F + v * PS;
#pragma omp simd simdlen(LANES)
        for (int i = 0; i < f->n; i++)
            F[i] = left[i] * (lo[i] + 0.5 * ls[i]) + (mass[i] - left[i]) * (hi[i] - 0.5 * hs[i]);
    }
}

void mhd_fluxes(struct sweep *s, int d, int k, struct run at, double *F)
{
    const struct mhd_law *law = mhd_law_of(s);
    const int a = (d + 1) % 3, b = (d + 2) % 3, field = mhd_field(s);
    const struct mhd_planes hi = mhd_planes(s, k), lo = mhd_planes(s, k - (d == 2));
    double *none = hi.none + at.at, *extra = F + (field + 3 - s->ndim) * PS + at.at;
    const bool fix = law->gas.par->pressure_fix;
    struct faces f = {.n = 4 * at.fours,
                      .lo = lo.cell + at.at - sweep_step(s, d),
                      .lo_slope = lo.slope[d] + at.at - sweep_step(s, d),
                      .hi = hi.cell + at.at,
                      .hi_slope = hi.slope[d] + at.at,
                      .normal = hi.half + d * PS + at.at,
                      .t = turned_to(d, field),
                      .F = F + at.at,
                      .left = hi.left + at.at,
                      .fa = a < s->ndim ? none : F + (field + a - s->ndim) * PS + at.at,
                      .fb = b < s->ndim ? none : F + (field + b - s->ndim) * PS + at.at,
                      .volume = fix ? extra : none,
                      .internal = fix ? extra + PS : none,
                      .plain = s->ndim > 2 && !fix && !law->g.switches,
                      .dtdx = s->dtdx};
    faces_by_solver(law->par->riemann, law->par->flow != FLOW_NONE, &f, law->g);
    faces_scalars(s, &f);
}

/* ---- edges ---- */

/* A cell at an edge: its variables, its slopes along both axes across the edge, and the sides on
 * which the edge is. */
struct corner {
    const double *q, *sb, *sc;
    double half_b, half_c;
};

/* Edges of a run: the four cells around each, by side along the first and the second axis, and the
 * field on the four faces that meet. */
struct edges {
    int n;
    struct corner of[2][2];
    const double *face_b[2], *slope_b[2]; /* across the first axis, by side along the second */
    const double *face_c[2], *slope_c[2]; /* across the second axis, by side along the first */
    int u, v, w, c; /* offsets of the velocities, of the field along the edge */
    double *E;
    double dtdx;
};

INLINE double corner_value(struct corner at, int i)
{
    return at.q[i] + at.half_b * at.sb[i] + at.half_c * at.sc[i];
}

INLINE struct mhd_state corner_state(struct corner at, const struct edges *e, double a, double b,
                                     int i, struct mhd_gas g)
{
    struct mhd_state x;
    const double r = corner_value(at, i);
    x.r = r < g.smallr ? at.q[i] : r;
    x.p = hydro_max(corner_value(at, 4 * PS + i), g.pmin);
    x.u = corner_value(at, e->u + i);
    x.v = corner_value(at, e->v + i);
    x.w = corner_value(at, e->w + i);
    x.c = corner_value(at, e->c + i);
    x.a = a;
    x.b = b;
    return x;
}

INLINE void edges_solve(enum mhd_edge_solver solver, bool switches, const struct edges *at,
                        struct mhd_gas g)
{
    const struct edges e = *at;
    double *restrict E = e.E;
    if (!switches) g.switches_edge = false;
#pragma omp simd simdlen(LANES)
    for (int i = 0; i < e.n; i++) {
        const double a0 = e.face_b[0][i] + 0.5 * e.slope_b[0][i],
                     a1 = e.face_b[1][i] - 0.5 * e.slope_b[1][i],
                     b0 = e.face_c[0][i] + 0.5 * e.slope_c[0][i],
                     b1 = e.face_c[1][i] - 0.5 * e.slope_c[1][i];
        const struct mhd_state lb = corner_state(e.of[0][0], &e, a0, b0, i, g),
                               rb = corner_state(e.of[1][0], &e, a0, b1, i, g),
                               lt = corner_state(e.of[0][1], &e, a1, b0, i, g),
                               rt = corner_state(e.of[1][1], &e, a1, b1, i, g);
        E[i] = e.dtdx * mhd_edge_emf(solver, lb, rb, lt, rt, g);
    }
}

static void edges_by_solver(enum mhd_edge_solver solver, const struct edges *e, struct mhd_gas g)
{
    switch (solver) {
#define FACE(name, text)
#define EDGE(name, text)                                                                           \
    case MHD_EDGE_##name:                                                                          \
        if (g.switches_edge)                                                                       \
            edges_solve(MHD_EDGE_##name, true, e, g);                                              \
        else                                                                                       \
            edges_solve(MHD_EDGE_##name, false, e, g);                                             \
        break;
#include "mhd/solvers.def"
    case MHD_EDGE_SOLVERS:
        break;
    }
}

void mhd_forces(struct sweep *s, int d, int k, struct run at, double *E)
{
    const struct mhd_law *law = mhd_law_of(s);
    const int b = (d + 1) % 3, c = (d + 2) % 3, field = mhd_field(s);
    struct edges e = {.n = 4 * at.fours,
                      .u = (1 + b) * PS,
                      .v = (1 + c) * PS,
                      .w = (1 + d) * PS,
                      .c = (field + d) * PS,
                      .E = E + at.at,
                      .dtdx = s->dtdx};
    for (int i = 0; i < 4; i++) {
        const int x = i & 1, y = i >> 1; /* sides along the first and the second axis */
        const int back = (x ? 0 : sweep_step(s, b)) + (y ? 0 : sweep_step(s, c));
        const struct mhd_planes p = mhd_planes(s, k - (!x && b == 2) - (!y && c == 2));
        e.of[x][y] = (struct corner){p.cell + at.at - back, p.slope[b] + at.at - back,
                                     p.slope[c] + at.at - back, x ? -0.5 : 0.5, y ? -0.5 : 0.5};
    }
    for (int side = 0; side < 2; side++) {
        const struct mhd_planes over_c = mhd_planes(s, k - (!side && c == 2)),
                                over_b = mhd_planes(s, k - (!side && b == 2));
        const int back_c = side ? 0 : sweep_step(s, c), back_b = side ? 0 : sweep_step(s, b);
        e.face_b[side] = over_c.half + b * PS + at.at - back_c;
        e.slope_b[side] = over_c.steep + (2 * b) * PS + at.at - back_c;
        e.face_c[side] = over_b.half + c * PS + at.at - back_b;
        e.slope_c[side] = over_b.steep + (2 * c + 1) * PS + at.at - back_b;
    }
    edges_by_solver(law->par->riemann2d, &e, law->g);
}
