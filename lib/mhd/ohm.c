/* mhd/ohm: magnetic diffusion, ∂B/∂t = −∇×(ηJ) with J = ∇×B, as a law of its own for the engine
 * (patch/law.h) whose only variables are the field on faces. Its electromotive force along an edge
 * is −ηJ from the four faces that meet there, so that div B does not change; the field along a
 * missing axis has the flux −η∇B. The gas does not change: what the field loses is heat. */
#include "mhd/interp_kern.h"
#include "mhd/mhd.h"
#include "patch/across_kern.h"
#include "patch/sweep.h"

enum { PS = PLANE_STRIDE };

struct ohm_law {
    struct law law;
    const struct mhd_par *par;
};

static const struct ohm_law *ohm_of(const struct sweep *s)
{
    return (const struct ohm_law *)s->law;
}

/* η dt/dx²: a difference of two values is a change. */
static double step_factor(const struct sweep *s)
{
    return ohm_of(s)->par->eta * s->dtdx / s->dx;
}

/* ---- one level ---- */

static void nothing(struct sweep *s, int k, struct run at)
{
}

static void nothing_half(struct sweep *s, int k, bool z, struct run at)
{
}

/* Through faces along axis d: of the field along missing axes. */
static void fluxes(struct sweep *s, int d, int k, struct run at, double *F)
{
    const double h = step_factor(s);
    for (int v = s->ndim; v < 3; v++) {
        const double *restrict hi = s->in.u[k & 3] + 2 * v * PS + at.at;
        const double *restrict lo = hi - sweep_step(s, d);
        double *restrict to = F + (v - s->ndim) * PS + at.at;
#pragma omp simd simdlen(LANES)
        for (int i = 0; i < 4 * at.fours; i++) to[i] = -h * (hi[i] - lo[i]);
    }
}

/* −ηJ along axis d at the lower edges: differences of the field across axis c along b, and across b
 * along c. */
static void forces(struct sweep *s, int d, int k, struct run at, double *E)
{
    const int b = (d + 1) % 3, c = (d + 2) % 3, kb = b == 2, kc = c == 2;
    const double h = step_factor(s);
    const double *restrict c1 = s->in.u[k & 3] + 2 * c * PS + at.at,
                           *restrict c0 = s->in.u[(k - kb) & 3] + 2 * c * PS + at.at -
                                          sweep_step(s, b),
                           *restrict b1 = s->in.u[k & 3] + 2 * b * PS + at.at,
                           *restrict b0 = s->in.u[(k - kc) & 3] + 2 * b * PS + at.at -
                                          sweep_step(s, c);
    double *restrict to = E + at.at;
#pragma omp simd simdlen(LANES)
    for (int i = 0; i < 4 * at.fours; i++) to[i] = -h * ((c1[i] - c0[i]) - (b1[i] - b0[i]));
}

static const struct law_edges EDGES = {nothing, nothing_half, nothing, fluxes, forces};

/* Field of an oct that does not exist. */
static void missing(const struct gathered *g, lidx parent, int cell, struct target t)
{
    double gas[NVAR_MAX][8], face[LAW_FACES][8];
    mhd_interp_oct(g->m, g->l - 1, parent, cell, ((const struct ohm_law *)g->law)->par, gas, face);
    for (int f = 0; f < LAW_FACES; f++) put8(g->u, f, t, face[f]);
}

static void wall(const struct law *law, int f, int h, const double *near, double *u)
{
    const struct mhd_par *p = ((const struct ohm_law *)law)->par;
    const int n = p->gas->nvar;
    double from[MHD_VALUES] = {1}, at[MHD_VALUES] = {1}, to[MHD_VALUES];
    for (int v = 0; v < LAW_FACES; v++) from[n + v] = u[v], at[n + v] = near[v];
    mhd_beyond(p, f, h, at, from, to);
    for (int v = 0; v < LAW_FACES; v++) u[v] = to[n + v];
}

void mhd_diffuse(struct mesh *m, int l, double dt, const struct mhd_par *p)
{
    struct ohm_law x = {.par = p};
    struct law *law = &x.law;
    law->edges = &EDGES;
    law->nvar = law->nfield = law->nsum = LAW_FACES;
    law->nflux = mhd_diffuse_nflux(m);
    law->nscratch = 1;
    law->corners = law->near = true;
    for (int f = 0; f < LAW_FACES; f++) law->field[f] = FLD_MAGNETIC + f;
    for (int f = 0; f < 6; f++) law->mirrored[f] = p->gas->bound[f] == BOUND_REFLECT;
    law->missing = missing;
    law->wall = wall;
    patch_update(m, l, dt, law,
                 &(struct patch_how){NULL, p->gas->scratch, p->gas->tile_depth - 1, NULL, NULL});
}

int mhd_diffuse_nflux(const struct mesh *m)
{
    return 3 - m->ndim;
}

int mhd_diffuse_cycles(const struct mesh *m, int finest, double dt, const struct mhd_par *p)
{
    static const double FRACTION = 0.05; /* of dx²/η; an explicit step is stable below 1/6 */
    const double dx = mesh_dx(m, finest);
    const double steps = dt / (FRACTION * (dx * dx) / p->eta);
    return 1 + (int)(steps < MHD_CYCLES ? steps : MHD_CYCLES);
}
