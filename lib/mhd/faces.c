/* mhd/faces: states at faces and at edges, and the Riemann problems there. */
#include "mhd/mhd_law.h"
#include "mhd/step_kern.h"

enum { PS = PLANE_STRIDE };

/* ---- faces ---- */

/* Faces of a run, and where the fluxes go. */
struct faces {
    int n;
    struct mhd_sides at;
    double *F, *left;
    /* fluxes of the field along the next two axes, and, with pressure_fix, volume and internal
     * energy; what has no flux goes to a plane that nobody reads */
    double *fa, *fb, *volume, *internal;
    bool plain; /* whether these four are not needed, and no solver is switched */
    double dtdx;
};

/* plain, drift, mixed (whether there are non-thermal energies): constants. */
INLINE void faces_solve(enum mhd_solver solver, bool drift, bool plain, bool mixed,
                        const struct faces *at, struct mhd_gas g)
{
    struct faces f = *at;
    const struct mhd_turned t = f.at.t;
    if (!mixed) f.at.t.total = 0;
    double *restrict F = f.F, *restrict left = f.left;
    if (plain) g.switches = false;
#pragma omp simd simdlen(LANES)
    for (int i = 0; i < f.n; i++) {
        const struct mhd_through x = mhd_through_at(solver, drift, f.at, PS, i, f.dtdx, g);
        F[i] = x.f.r;
        F[t.n * PS + i] = x.f.u;
        F[t.a * PS + i] = x.f.v;
        F[t.b * PS + i] = x.f.w;
        F[4 * PS + i] = x.f.e;
        left[i] = x.f.left;
        if (plain) continue;
        f.fa[i] = x.f.b;
        f.fb[i] = x.f.c;
        f.volume[i] = x.volume;
        f.internal[i] = x.f.eint;
    }
}

INLINE void faces_choose(enum mhd_solver solver, const struct faces *f, struct mhd_gas g)
{
    if (f->plain)
        faces_solve(solver, false, true, false, f, g);
    else if (f->at.t.total)
        faces_solve(solver, false, false, true, f, g);
    else
        faces_solve(solver, false, false, false, f, g);
}

static void faces_by_solver(enum mhd_solver solver, bool drift, const struct faces *f,
                            struct mhd_gas g)
{
    if (drift) {
        faces_solve(MHD_LLF, true, false, false, f, g);
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

static void faces_energies(const struct sweep *s, const struct faces *f)
{
    const struct gas_energies *e = &mhd_law_of(s)->par->gas->energy;
    const double smallr = mhd_law_of(s)->g.smallr;
    const struct mhd_sides at = f->at;
    const double *restrict left = f->left, *restrict mass = f->F;
    for (int k = 0; k < e->n; k++) {
        const int v = (GAS_SCALARS + k) * PS;
        const double entho = 1.0 / gas_gm1(e->gamma[k]);
        double *restrict F = f->F + v;
#pragma omp simd simdlen(LANES)
        for (int i = 0; i < f->n; i++) {
            const double lo = mhd_energy_side(at.lo[v + i], at.lo_slope[v + i], at.lo[i],
                                              at.lo_slope[i], 0.5, entho, smallr),
                         hi = mhd_energy_side(at.hi[v + i], at.hi_slope[v + i], at.hi[i],
                                              at.hi_slope[i], -0.5, entho, smallr);
            F[i] = left[i] * lo + (mass[i] - left[i]) * hi;
        }
    }
}

static void faces_scalars(const struct sweep *s, const struct faces *f)
{
    for (int v = gas_passive(s); v < mhd_field(s); v++) {
        const double *restrict lo = f->at.lo + v * PS, *restrict ls = f->at.lo_slope + v * PS,
                               *restrict hi = f->at.hi + v * PS,
                               *restrict hs = f->at.hi_slope + v * PS, *restrict left = f->left,
                               *restrict mass = f->F;
        double *restrict F = f->F + v * PS;
#pragma omp simd simdlen(LANES)
        for (int i = 0; i < f->n; i++)
            F[i] = mhd_scalar_flux(mass[i], left[i], lo[i], ls[i], hi[i], hs[i]);
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
                      .at = {.lo = lo.cell + at.at - sweep_step(s, d),
                             .lo_slope = lo.slope[d] + at.at - sweep_step(s, d),
                             .hi = hi.cell + at.at,
                             .hi_slope = hi.slope[d] + at.at,
                             .normal = hi.half + d * PS + at.at,
                             .t = mhd_turned_to(d, field)},
                      .F = F + at.at,
                      .left = hi.left + at.at,
                      .fa = a < s->ndim ? none : F + (field + a - s->ndim) * PS + at.at,
                      .fb = b < s->ndim ? none : F + (field + b - s->ndim) * PS + at.at,
                      .volume = fix ? extra : none,
                      .internal = fix ? extra + PS : none,
                      .plain = s->ndim > 2 && !fix && !law->g.switches,
                      .dtdx = s->dtdx};
    if (mhd_mixed(s)) f.at.t.total = field + 3, f.plain = false;
    faces_by_solver(law->par->riemann, law->par->flow != FLOW_NONE, &f, law->g);
    faces_energies(s, &f);
    faces_scalars(s, &f);
}

/* ---- edges ---- */

/* Edges of a run. */
struct edges {
    int n;
    struct mhd_around at;
    double *E;
    double dtdx;
};

INLINE void edges_solve(enum mhd_edge_solver solver, bool switches, bool mixed,
                        const struct edges *at, struct mhd_gas g)
{
    struct edges e = *at;
    double *restrict E = e.E;
    if (!switches) g.switches_edge = false;
    if (!mixed) e.at.total = 0;
#pragma omp simd simdlen(LANES)
    for (int i = 0; i < e.n; i++) E[i] = mhd_force_at(solver, &e.at, PS, i, e.dtdx, g);
}

static void edges_by_solver(enum mhd_edge_solver solver, const struct edges *e, struct mhd_gas g)
{
    switch (solver) {
#define FACE(name, text)
#define EDGE(name, text)                                                                           \
    case MHD_EDGE_##name:                                                                          \
        if (e->at.total)                                                                           \
            edges_solve(MHD_EDGE_##name, true, true, e, g);                                        \
        else if (g.switches_edge)                                                                  \
            edges_solve(MHD_EDGE_##name, true, false, e, g);                                       \
        else                                                                                       \
            edges_solve(MHD_EDGE_##name, false, false, e, g);                                      \
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
                      .at = {.u = 1 + b,
                             .v = 1 + c,
                             .w = 1 + d,
                             .c = field + d,
                             .total = mhd_mixed(s) ? field + 3 : 0},
                      .E = E + at.at,
                      .dtdx = s->dtdx};
    for (int i = 0; i < 4; i++) {
        const int x = i & 1, y = i >> 1; /* sides along the first and the second axis */
        const int back = (x ? 0 : sweep_step(s, b)) + (y ? 0 : sweep_step(s, c));
        const struct mhd_planes p = mhd_planes(s, k - (!x && b == 2) - (!y && c == 2));
        e.at.of[x][y] = (struct mhd_corner){p.cell + at.at - back, p.slope[b] + at.at - back,
                                            p.slope[c] + at.at - back, x ? -0.5 : 0.5,
                                            y ? -0.5 : 0.5};
    }
    for (int side = 0; side < 2; side++) {
        const struct mhd_planes over_c = mhd_planes(s, k - (!side && c == 2)),
                                over_b = mhd_planes(s, k - (!side && b == 2));
        const int back_c = side ? 0 : sweep_step(s, c), back_b = side ? 0 : sweep_step(s, b);
        e.at.face_b[side] = over_c.half + b * PS + at.at - back_c;
        e.at.slope_b[side] = over_c.steep + (2 * b) * PS + at.at - back_c;
        e.at.face_c[side] = over_b.half + c * PS + at.at - back_b;
        e.at.slope_c[side] = over_b.steep + (2 * c + 1) * PS + at.at - back_b;
    }
    edges_by_solver(law->par->riemann2d, &e, law->g);
}
