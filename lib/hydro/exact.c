/* hydro/exact: the exact Riemann solver for the faces of a sweep, in vectors of faces. Newton's
 * iterations go on only for vectors in which a face has not converged, and powers, which libm
 * computes one by one, only for faces behind or inside of a rarefaction. The bits are those of
 * hydro_exact_flux for each face alone. */
#include "hydro/gas_law.h"

enum { PS = PLANE_STRIDE };

/* Values of all faces, by vectors; go: 1 until P* has converged, then 0. */
struct problems {
    double pl[VECTORS][LANES], ul[VECTORS][LANES], cl[VECTORS][LANES];
    double pr[VECTORS][LANES], ur[VECTORS][LANES], cr[VECTORS][LANES];
    double p[VECTORS][LANES], go[VECTORS][LANES];
};

/* A vector of faces whose P* is known; left, shock: 1 or 0. */
struct stars {
    double ps[LANES], us[LANES], r[LANES], u[LANES], p[LANES], w[LANES];
    double left[LANES], shock[LANES];
    double out[LANES], in[LANES], rs[LANES]; /* hydro_exact_flux has their meanings */
    double or [LANES], ou[LANES], op[LANES]; /* the state at the face */
};

INLINE struct hydro_state side(const double *q, int i, struct gas_turned t)
{
    return (struct hydro_state){q[i], q[t.n + i], q[t.a + i], q[t.b + i], q[4 * PS + i]};
}

/* Faces behind the end of a run count as converged. */
static void problems_enter(struct problems *x, const struct face_job *j, struct hydro_gas g)
{
    const double *restrict L = j->L, *restrict R = j->R;
    const struct gas_turned t = gas_turned(j->dir);
    int rest = 4 * j->fours;
    for (int v = vectors_of(j), k = j->first; v > 0;
         v--, k++, L += LANES, R += LANES, rest -= LANES)
#pragma omp simd simdlen(LANES)
        for (int i = 0; i < LANES; i++) {
            struct hydro_exact e = hydro_exact_sides(side(L, i, t), side(R, i, t), g);
            x->pl[k][i] = e.pl;
            x->ul[k][i] = e.ul;
            x->cl[k][i] = e.cl;
            x->pr[k][i] = e.pr;
            x->ur[k][i] = e.ur;
            x->cr[k][i] = e.cr;
            x->p[k][i] = hydro_exact_guess(e);
            x->go[k][i] = i < rest ? 1.0 : 0.0;
        }
}

/* One iteration of vector k; whether one of its faces needs another. Whether P* has converged is
 * decided by a product, which is off by less than DOUBT, and where that is not enough by the
 * quotient. */
static int problems_step(struct problems *x, int k, struct hydro_gas g)
{
    const double DOUBT = 1e-14;
    double delta[LANES];
    long long goes = 0, near = 0; /* integers: gcc adds up numbers one after the other */
#pragma omp simd simdlen(LANES) reduction(| : goes) reduction(| : near)
    for (int i = 0; i < LANES; i++) {
        const struct hydro_exact e = {x->pl[k][i], x->ul[k][i], x->cl[k][i],
                                      x->pr[k][i], x->ur[k][i], x->cr[k][i]};
        double old = x->p[k][i], dp, next = hydro_exact_newton(e, g, old, &dp);
        double least = HYDRO_EXACT_CHANGE * (next + g.smallr * g.smallp), off = fabs(dp) - least;
        delta[i] = x->go[k][i] * dp;
        x->p[k][i] = x->go[k][i] > 0.0 ? next : old;
        near |= (x->go[k][i] > 0.0) & !(fabs(off) > DOUBT * least) ? 1 : 0;
        x->go[k][i] = off > 0.0 ? x->go[k][i] : 0.0;
        goes |= x->go[k][i] > 0.0 ? 1 : 0;
    }
    if (!near) return goes != 0;
    goes = 0;
    for (int i = 0; i < LANES; i++) {
        double change = hydro_exact_change(g, x->p[k][i], delta[i]);
        x->go[k][i] = change > HYDRO_EXACT_CHANGE ? 1.0 : 0.0;
        goes |= x->go[k][i] > 0.0;
    }
    return goes != 0;
}

static void problems_iterate(struct problems *x, int n, struct hydro_gas g)
{
    int active[VECTORS];
    for (int k = 0; k < n; k++) active[k] = k;
    for (int it = 0; it < g.niter && n > 0; it++) {
        int left = 0;
        for (int a = 0; a < n; a++) {
            int k = active[a];
            active[left] = k;
            left += problems_step(x, k, g);
        }
        n = left;
    }
}

INLINE struct hydro_star star_at(const struct stars *x, int i)
{
    return (struct hydro_star){x->ps[i], x->us[i], x->r[i],          x->u[i],
                               x->p[i],  x->w[i],  x->left[i] > 0.0, x->shock[i] > 0.0};
}

/* Which waves face the states at some faces: bits. */
enum { WAVE_SHOCK = 1, WAVE_RAREFACTION = 2 };

static int stars_find(struct stars *x, const struct face_job *j, int at, const double *ps,
                      struct hydro_gas g)
{
    const double *restrict L = j->L + at, *restrict R = j->R + at;
    const struct gas_turned t = gas_turned(j->dir);
    long long waves = 0;
#pragma omp simd simdlen(LANES) reduction(| : waves)
    for (int i = 0; i < LANES; i++) {
        struct hydro_star s = hydro_exact_star(side(L, i, t), side(R, i, t), g, ps[i]);
        x->ps[i] = s.ps;
        x->us[i] = s.us;
        x->r[i] = x->or [i] = s.r;
        x->u[i] = x->ou[i] = s.u;
        x->p[i] = x->op[i] = s.p;
        x->w[i] = s.w;
        x->left[i] = s.left ? 1.0 : 0.0;
        x->shock[i] = s.shock ? 1.0 : 0.0;
        waves |= s.shock ? WAVE_SHOCK : WAVE_RAREFACTION;
    }
    return (int)waves;
}

static void stars_shocks(struct stars *x, struct hydro_gas g)
{
#pragma omp simd simdlen(LANES)
    for (int i = 0; i < LANES; i++) {
        struct hydro_star s = star_at(x, i);
        double out = hydro_exact_front(s), rs = hydro_exact_shocked(s, g);
        int reached = s.shock & (out > 0.0);
        x->or [i] = reached ? rs : x->or [i];
        x->ou[i] = reached ? s.us : x->ou[i];
        x->op[i] = reached ? s.ps : x->op[i];
    }
}

/* Rarefactions among n faces. */
static void stars_rarefactions(struct stars *x, int n, struct hydro_gas g)
{
    int reached = 0;
#pragma omp simd simdlen(LANES)
    for (int i = 0; i < LANES; i++) {
        struct hydro_star s = star_at(x, i);
        double out = hydro_exact_head(s, g);
        x->out[i] = s.shock ? 0.0 : out;
        x->rs[i] = s.r;
    }
    for (int i = 0; i < n; i++) {
        if (!(x->out[i] > 0.0)) continue;
        x->rs[i] = hydro_max(hydro_exact_adiabat(star_at(x, i), g, x->ps[i]), g.smallr);
        reached++;
    }
    if (reached == 0) return;
#pragma omp simd simdlen(LANES)
    for (int i = 0; i < LANES; i++) {
        struct hydro_star s = star_at(x, i);
        int star = x->out[i] > 0.0;
        double in = hydro_exact_tail(s, g, x->rs[i]);
        x->in[i] = star ? in : 0.0;
        x->or [i] = star ? x->rs[i] : x->or [i];
        x->ou[i] = star ? s.us : x->ou[i];
        x->op[i] = star ? s.ps : x->op[i];
    }
    for (int i = 0; i < n; i++) {
        if (x->in[i] >= 0.0) continue;
        struct hydro_state o = hydro_exact_fan(star_at(x, i), g, x->out[i], x->in[i]);
        x->or [i] = o.r;
        x->ou[i] = o.u;
        x->op[i] = o.p;
    }
}

INLINE void stars_fluxes(bool pfix, const struct stars *x, struct sweep *s,
                         const struct face_job *j, int at)
{
    const struct hydro_gas g = gas_law_of(s)->gas;
    const double dtdx = s->dtdx, *restrict L = j->L + at, *restrict R = j->R + at;
    const struct gas_turned t = gas_turned(j->dir);
    const int vel = s->nvar * PS;
    double *restrict F = j->F + at, *restrict left = gas_left(s) + LANES * j->first + at;
#pragma omp simd simdlen(LANES)
    for (int i = 0; i < LANES; i++) {
        int lower = x->left[i] > 0.0;
        double v = lower ? L[t.a + i] : R[t.a + i], w = lower ? L[t.b + i] : R[t.b + i];
        double ei = pfix ? x->p[i] / x->r[i] * g.entho : 0.0;
        struct hydro_state o = {x->or [i], x -> ou[i], v, w, x -> op[i]};
        struct hydro_flux f = hydro_flux_state(o, ei, lower, g);
        F[i] = f.r * dtdx;
        F[t.n + i] = f.u * dtdx;
        F[t.a + i] = f.v * dtdx;
        F[t.b + i] = f.w * dtdx;
        F[4 * PS + i] = f.e * dtdx;
        left[i] = f.left * dtdx;
        if (pfix) F[vel + i] = 0.5 * (L[t.n + i] + R[t.n + i]) * dtdx;
        if (pfix) F[vel + PS + i] = f.eint * dtdx;
    }
}

void gas_faces_exact(struct sweep *s, const struct face_jobs *jobs)
{
    const struct hydro_gas g = gas_law_of(s)->gas;
    struct problems x;
    for (int i = 0; i < jobs->n; i++) problems_enter(&x, &jobs->job[i], g);
    problems_iterate(&x, jobs->vectors, g);
    for (const struct face_job *j = jobs->job; j < jobs->job + jobs->n; j++)
        for (int at = 0, k = j->first; at < 4 * j->fours; at += LANES, k++) {
            int n = 4 * j->fours - at < LANES ? 4 * j->fours - at : LANES;
            struct stars star;
            int waves = stars_find(&star, j, at, x.p[k], g);
            if (waves & WAVE_SHOCK) stars_shocks(&star, g);
            if (waves & WAVE_RAREFACTION) stars_rarefactions(&star, n, g);
            if (s->nflux > s->nvar)
                stars_fluxes(true, &star, s, j, at);
            else
                stars_fluxes(false, &star, s, j, at);
        }
}
