/* hydro/energies: gas with non-thermal energies (struct gas_energies): the Riemann problems of rows
 * of faces, and what differs from gas without them.
 *
 * A face sees one gas with the total pressure P + Σ P_i and the sound speed
 * c² = (γP + Σ γ_i P_i)/ρ. Behind a wave, an energy per mass is that of the upwind side, for all
 * solvers: a non-thermal energy has the flux of a passive scalar E_i/ρ, and so has the part of the
 * total energy by which it differs from that of a gas of index γ at the total pressure. The exact
 * and the acoustic solver take the mean index of both sides, (γP + Σ γ_i P_i)/(P + Σ P_i). */
#include "hydro/gas_law.h"

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

/* One side of a vector of faces: struct hydro_mixed of each. */
struct mixed {
    double p[LANES], stiff[LANES], e[LANES], thermal[LANES], r[LANES];
};

INLINE struct hydro_mixed mixed_at(const struct mixed *m, int i)
{
    return (struct hydro_mixed){m->p[i], m->stiff[i], m->e[i], m->thermal[i], m->r[i]};
}

INLINE void mixed_put(struct mixed *m, int i, struct hydro_mixed x)
{
    m->p[i] = x.p, m->stiff[i] = x.stiff, m->e[i] = x.e, m->thermal[i] = x.thermal, m->r[i] = x.r;
}

INLINE void mix(bool floors, const struct gas_energies *more, struct hydro_gas g,
                const double *restrict q, struct mixed *restrict m)
{
#pragma omp simd simdlen(LANES)
    for (int i = 0; i < LANES; i++) mixed_put(m, i, hydro_mix(floors, q[i], q[P * PS + i], g));
    for (int k = 0; k < more->n; k++) {
        const double *restrict p = q + (FIRST + k) * PS;
        const double gamma = more->gamma[k];
#pragma omp simd simdlen(LANES)
        for (int i = 0; i < LANES; i++) mixed_put(m, i, hydro_mix_add(mixed_at(m, i), p[i], gamma));
    }
}

/* Offsets of the components of the velocity. */
struct turned {
    int n, a, b;
};

/* The flux of one vector of faces. */
INLINE void vector_solve(enum riemann rs, struct sweep *s, struct turned t,
                         const double *restrict L, const double *restrict R, double *restrict F,
                         double *restrict left)
{
    const struct gas_law *law = gas_law_of(s);
    const struct gas_energies *more = &law->par->energy;
    const bool pfix = s->nflux > s->nvar;
    const double dtdx = s->dtdx;
    const int vel = s->nvar * PS;
    struct mixed l, r;
    mix(hydro_mix_floors(rs), more, law->gas, L, &l);
    mix(hydro_mix_floors(rs), more, law->gas, R, &r);
#pragma omp simd simdlen(LANES)
    for (int i = 0; i < LANES; i++) {
        const struct hydro_state sl = {L[i], L[t.n + i], L[t.a + i], L[t.b + i], l.p[i]},
                                 sr = {R[i], R[t.n + i], R[t.a + i], R[t.b + i], r.p[i]};
        const struct hydro_flux f = hydro_mixed_flux(rs, sl, sr, law->gas, mixed_at(&l, i),
                                                     mixed_at(&r, i));
        F[i] = f.r * dtdx;
        F[t.n + i] = f.u * dtdx;
        F[t.a + i] = f.v * dtdx;
        F[t.b + i] = f.w * dtdx;
        F[P * PS + i] = f.e * dtdx;
        left[i] = f.left * dtdx;
        if (pfix) F[vel + i] = 0.5 * (sl.u + sr.u) * dtdx;
        if (pfix) F[vel + PS + i] = f.eint * dtdx;
    }
    for (int k = 0; k < more->n; k++) {
        const int v = (FIRST + k) * PS;
        const double gamma = more->gamma[k];
#pragma omp simd simdlen(LANES)
        for (int i = 0; i < LANES; i++)
            F[v + i] = hydro_carried(left[i], F[i], gas_internal_of(L[v + i], gamma), l.r[i],
                                     gas_internal_of(R[v + i], gamma), r.r[i]);
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
