/* hydro/energies: gas with non-thermal energies (struct gas_energies): the Riemann problems of rows
 * of faces, and what differs from gas without them.
 *
 * A face sees one gas with the total pressure P + Σ P_i and the sound speed
 * c² = (γP + Σ γ_i P_i)/ρ. Behind a wave, an energy per mass is that of the upwind side, for all
 * solvers: a non-thermal energy has the flux of a passive scalar E_i/ρ, and so has the part of the
 * total energy by which it differs from that of a gas of index γ at the total pressure. The exact
 * and the acoustic solver take the mean index of both sides, (γP + Σ γ_i P_i)/(P + Σ P_i). */
#include "hydro/gas_law.h"

#define INLINE static inline __attribute__((always_inline))
enum { PS = PLANE_STRIDE, P = GAS_ENERGY, FIRST = GAS_SCALARS };

/* Pressures of the energies in the primitive variables; e: the total energy without them. */
void gas_energies_primitive(struct sweep *s, int k, struct run at, double *restrict e)
{
    const struct gas_energies *g = &gas_law_of(s)->par->energy;
    const double *restrict u = s->in.u[k & 3] + at.at;
    double *restrict q = s->q[k & 3] + at.at;
    const int n = 4 * at.fours;
    for (int i = 0; i < n; i++) e[i] = 0.0;
    for (int v = FIRST; v < FIRST + g->n; v++) {
        const double gm1 = gas_gm1(g->gamma[v - FIRST]);
#pragma omp simd simdlen(LANES)
        for (int i = 0; i < n; i++) {
            e[i] += u[v * PS + i];
            q[v * PS + i] = gm1 * u[v * PS + i];
        }
    }
#pragma omp simd simdlen(LANES)
    for (int i = 0; i < n; i++) e[i] = u[P * PS + i] - e[i];
}

/* One side of a vector of faces: total pressure, Σ γP, sum of the internal energies per volume, the
 * thermal one, density. */
struct mixed {
    double p[LANES], stiff[LANES], e[LANES], thermal[LANES], r[LANES];
};

/* floors: whether pressure and density have their floors, as with all solvers but LLF and HLL,
 * which have them in the sound speed alone. */
INLINE void mix(bool floors, const struct gas_energies *more, struct hydro_gas g,
                const double *restrict q, struct mixed *restrict o)
{
#pragma omp simd simdlen(LANES)
    for (int i = 0; i < LANES; i++) {
        const double r = hydro_max(q[i], g.smallr), p = hydro_max(q[P * PS + i], r * g.smallp);
        o->r[i] = floors ? r : q[i];
        o->p[i] = floors ? p : q[P * PS + i];
        o->thermal[i] = o->e[i] = o->p[i] * g.entho;
        o->stiff[i] = g.gamma * p;
    }
    for (int k = 0; k < more->n; k++) {
        const double *restrict of = q + (FIRST + k) * PS;
        const double gamma = more->gamma[k], entho = 1.0 / gas_gm1(gamma);
#pragma omp simd simdlen(LANES)
        for (int i = 0; i < LANES; i++) {
            o->p[i] += of[i];
            o->stiff[i] += gamma * of[i];
            o->e[i] += of[i] * entho;
        }
    }
}

/* The gas of a face: with a mean index where the solver has one. */
INLINE struct hydro_gas gas_at(enum riemann rs, struct hydro_gas g, const struct mixed *l,
                               const struct mixed *r, int i)
{
    if (rs != RIEMANN_EXACT && rs != RIEMANN_ACOUSTIC) return g;
    return hydro_gas_mean(g, l->stiff[i] + r->stiff[i], l->p[i] + r->p[i]);
}

/* Offsets of the components of the velocity. */
struct turned {
    int n, a, b;
};

/* Flux of a quantity per volume: that per mass goes with the mass. */
INLINE double carried(double left, double mass, double l, double rl, double r, double rr)
{
    return left * (l / rl) + (mass - left) * (r / rr);
}

INLINE void vector_solve(enum riemann rs, struct sweep *s, struct turned t, const double *restrict L,
                         const double *restrict R, double *restrict F, double *restrict left)
{
    const struct gas_law *law = gas_law_of(s);
    const struct gas_energies *more = &law->par->energy;
    const bool floors = rs != RIEMANN_LLF && rs != RIEMANN_HLL, pfix = s->nflux > s->nvar;
    const double dtdx = s->dtdx;
    const int vel = s->nvar * PS;
    struct mixed l, r;
    mix(floors, more, law->gas, L, &l);
    mix(floors, more, law->gas, R, &r);
#pragma omp simd simdlen(LANES)
    for (int i = 0; i < LANES; i++) {
        const struct hydro_gas g = gas_at(rs, law->gas, &l, &r, i);
        const struct hydro_state sl = {L[i], L[t.n + i], L[t.a + i], L[t.b + i], l.p[i]},
                                 sr = {R[i], R[t.n + i], R[t.a + i], R[t.b + i], r.p[i]};
        const struct hydro_flux f = hydro_mixed_solve(rs, sl, sr, g, l.stiff[i], r.stiff[i]);
        F[i] = f.r * dtdx;
        F[t.n + i] = f.u * dtdx;
        F[t.a + i] = f.v * dtdx;
        F[t.b + i] = f.w * dtdx;
        F[P * PS + i] = (f.e + carried(f.left, f.r, l.e[i] - l.p[i] * g.entho, l.r[i],
                                       r.e[i] - r.p[i] * g.entho, r.r[i])) *
                        dtdx;
        left[i] = f.left * dtdx;
        if (pfix) F[vel + i] = 0.5 * (sl.u + sr.u) * dtdx;
        if (pfix)
            F[vel + PS + i] =
                carried(f.left, f.r, l.thermal[i], l.r[i], r.thermal[i], r.r[i]) * dtdx;
    }
    for (int k = 0; k < more->n; k++) {
        const int v = (FIRST + k) * PS;
        const double entho = 1.0 / gas_gm1(more->gamma[k]);
#pragma omp simd simdlen(LANES)
        for (int i = 0; i < LANES; i++)
            F[v + i] = carried(left[i], F[i], L[v + i] * entho, l.r[i], R[v + i] * entho, r.r[i]);
    }
}

INLINE void job_solve(enum riemann rs, struct sweep *s, const struct face_job *j)
{
    const int dir = j->dir;
    const struct turned t = {(1 + dir) * PS, (dir == 0 ? 2 : 1) * PS, (dir == 2 ? 2 : 3) * PS};
    double *left = gas_left(s) + LANES * j->first;
    for (int v = 0, n = vectors_of(j); v < n; v++)
        vector_solve(rs, s, t, j->L + LANES * v, j->R + LANES * v, j->F + LANES * v,
                     left + LANES * v);
}

static void job_by_solver(struct sweep *s, const struct face_job *j)
{
    switch (gas_law_of(s)->par->riemann) {
#define RIEMANN(name, text, flux)                                                                  \
    case RIEMANN_##name:                                                                           \
        job_solve(RIEMANN_##name, s, j);                                                           \
        break;
#define ITERATED(name, text)                                                                       \
    case RIEMANN_##name:                                                                           \
        job_solve(RIEMANN_##name, s, j);                                                           \
        break;
#include "hydro/riemann.def"
#undef RIEMANN
#undef ITERATED
    case RIEMANN_COUNT:
        break;
    }
}

void gas_energies_fluxes(struct sweep *s, const struct face_jobs *jobs)
{
    for (int i = 0; i < jobs->n; i++) job_by_solver(s, &jobs->job[i]);
}
