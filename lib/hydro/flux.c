/* hydro/flux: the MUSCL-Hancock scheme on rows of cells and faces of gas, called by patch/sweep.
 * Slopes and states at faces are in trace.c. (van Leer 1979; Toro 2009 ch. 14; Teyssier 2002 §2.2)
 */
#include <string.h>

#include "hydro/cell_kern.h"
#include "hydro/gas_law.h"

enum { PS = PLANE_STRIDE };

/* ---- primitive variables with the gravity predictor ---- */

/* The primitive variables of cells; ndim: a constant. Velocities along missing axes stay 0. */
INLINE void cells_to_primitive(int ndim, const double *restrict u, const double *restrict e,
                               double *restrict q, int n, struct hydro_gas g)
{
#pragma omp simd simdlen(LANES)
    for (int i = 0; i < n; i++) {
        struct hydro_state x = hydro_prim(u[i], u[PS + i], ndim > 1 ? u[2 * PS + i] : 0.0,
                                          ndim > 2 ? u[3 * PS + i] : 0.0, e[i], g);
        q[i] = x.r;
        q[PS + i] = x.u;
        if (ndim > 1) q[2 * PS + i] = x.v;
        if (ndim > 2) q[3 * PS + i] = x.w;
        q[4 * PS + i] = x.p;
    }
}

void gas_to_primitive(struct sweep *s, int k, struct run at)
{
    const struct gas_law *law = gas_law_of(s);
    const struct hydro_gas g = law->gas;
    const double *restrict u = s->in.u[k & 3] + at.at, *restrict f = u + s->nvar * PS;
    double *restrict q = s->q[k & 3] + at.at, *restrict old = gas_old(s, k) + at.at;
    const double half_dt = law->gravity ? 0.5 * s->dt : 0.0;
    const double *restrict e = u + GAS_ENERGY * PS;
    const int n = 4 * at.fours;
    if (law->par->energy.n > 0) {
        double *without = s->own + GAS_THERMAL * PS + at.at;
        gas_energies_primitive(s, k, at, without);
        e = without;
    }
    if (s->ndim > 2)
        cells_to_primitive(3, u, e, q, n, g);
    else if (s->ndim > 1)
        cells_to_primitive(2, u, e, q, n, g);
    else
        cells_to_primitive(1, u, e, q, n, g);
    for (int d = 0; d < 3 && s->nsum > s->nflux; d++)
        memcpy(old + d * PS, q + (1 + d) * PS, (size_t)n * sizeof *q);
    for (int d = 0; d < s->ndim && law->gravity; d++)
#pragma omp simd simdlen(LANES)
        for (int i = 0; i < n; i++) q[(1 + d) * PS + i] += f[d * PS + i] * half_dt;
    for (int v = gas_passive(s); v < s->nvar; v++)
#pragma omp simd simdlen(LANES)
        for (int i = 0; i < n; i++) q[v * PS + i] = u[v * PS + i] * (1.0 / q[i]);
}

/* ---- Riemann problems ---- */

/* Velocities along missing axes are 0: in two dimensions b, in one a too. */
INLINE struct hydro_state face_state(int ndim, const double *q, int i, struct gas_turned t)
{
    return (struct hydro_state){q[i], q[t.n + i], ndim > 1 ? q[t.a + i] : 0.0,
                                ndim > 2 ? q[t.b + i] : 0.0, q[4 * PS + i]};
}

/* Intermediate results of the HLLC solver at each face: sound speed and contact wave. */
struct contacts {
    double c[VECTORS][LANES], u[VECTORS][LANES], p[VECTORS][LANES], s[VECTORS][LANES];
};

/* Vector k of the faces of a list: states on both sides, fluxes. */
struct faces_at {
    const double *L, *R;
    double *F;
    struct gas_turned t;
    int k;
};

INLINE struct faces_at faces_first(const struct face_job *j)
{
    return (struct faces_at){j->L, j->R, j->F, gas_turned(j->dir), j->first};
}

INLINE void faces_next(struct faces_at *at)
{
    at->L += LANES, at->R += LANES, at->F += LANES, at->k++;
}

/* Vectors of LANES faces of a job. With vectors of eight, four faces may follow: roots and
 * divisions of four numbers take half the time of eight. */
INLINE int whole_vectors(const struct face_job *j)
{
    return 4 * j->fours / LANES;
}

INLINE bool half_vector(const struct face_job *j)
{
    return LANES > 4 && j->fours & 1;
}

/* Products of which the rounding errors are exact: neither these nor sums of two products overflow
 * or underflow. */
static const double PRODUCT_MIN = 1e-250, PRODUCT_MAX = 1e290;

/* hydro_hllc_sound with one division for a face: of the quotients a/b and c/d, rounded, the first
 * is the larger one, or equal, if ad > cb. The products with their rounding errors (fma) decide
 * that exactly: the difference of the products is exact where it is as small as the errors. Returns
 * whether no product was out of range. The root and two divisions of eight numbers take 50 cycles,
 * which is as long as all else that a face needs. */
INLINE bool vector_sound_once(int n, int ndim, struct faces_at at, struct hydro_gas g,
                              struct contacts *x)
{
    const double *restrict L = at.L, *restrict R = at.R;
    double *restrict c = x->c[at.k];
    long long outside = 0;
#pragma omp simd simdlen(LANES) reduction(| : outside)
    for (int i = 0; i < n; i++) {
        const struct hydro_state l = hydro_hllc_floor(face_state(ndim, L, i, at.t), g),
                                 r = hydro_hllc_floor(face_state(ndim, R, i, at.t), g);
        const double pl = g.gamma * l.p, pr = g.gamma * r.p, left = pl * r.r, right = pr * l.r;
        const double errors = __builtin_fma(pl, r.r, -left) - __builtin_fma(pr, l.r, -right);
        const bool more = (left - right) + errors > 0.0;
        const bool inside = (left > PRODUCT_MIN) & (right > PRODUCT_MIN) &
                            (left + right < PRODUCT_MAX);
        outside |= inside ? 0 : 1;
        c[i] = sqrt(hydro_max((more ? pl : pr) / (more ? l.r : r.r), g.smallc2));
    }
    return outside == 0;
}

/* With vectors of four one division is no faster than two, and slower on AMD's processors, where a
 * division of eight numbers takes less time than the products. */
#if defined __AVX512F__ && !defined __znver3__ && !defined __znver4__ && !defined __znver5__
enum { DIVIDES_ONCE = 1 };
#else
enum { DIVIDES_ONCE = 0 };
#endif

/* n: the number of faces, a constant. */
INLINE void vector_sound(int n, int ndim, struct faces_at at, struct hydro_gas g,
                         struct contacts *x)
{
    const double *restrict L = at.L, *restrict R = at.R;
    double *restrict c = x->c[at.k];
    if (DIVIDES_ONCE && vector_sound_once(n, ndim, at, g, x)) return;
#pragma omp simd simdlen(LANES)
    for (int i = 0; i < n; i++)
        c[i] = hydro_hllc_sound(face_state(ndim, L, i, at.t), face_state(ndim, R, i, at.t), g);
}

INLINE void vector_contact(int n, int ndim, struct faces_at at, struct hydro_gas g,
                           struct contacts *x)
{
    const double *restrict L = at.L, *restrict R = at.R;
    const int k = at.k;
#pragma omp simd simdlen(LANES)
    for (int i = 0; i < n; i++) {
        struct hydro_contact o = hydro_hllc_contact(face_state(ndim, L, i, at.t),
                                                    face_state(ndim, R, i, at.t), g, x->c[k][i]);
        x->u[k][i] = o.u;
        x->p[k][i] = o.p;
        x->s[k][i] = o.s;
    }
}

INLINE void faces_contacts(int ndim, const struct face_jobs *jobs, struct hydro_gas g,
                           struct contacts *x)
{
    const struct face_job *first = jobs->job, *end = first + jobs->n;
    for (const struct face_job *j = first; j < end; j++) {
        struct faces_at at = faces_first(j);
        for (int v = whole_vectors(j); v > 0; v--, faces_next(&at))
            vector_sound(LANES, ndim, at, g, x);
        if (half_vector(j)) vector_sound(4, ndim, at, g, x);
    }
    for (const struct face_job *j = first; j < end; j++) {
        struct faces_at at = faces_first(j);
        for (int v = whole_vectors(j); v > 0; v--, faces_next(&at))
            vector_contact(LANES, ndim, at, g, x);
        if (half_vector(j)) vector_contact(4, ndim, at, g, x);
    }
}

INLINE struct hydro_flux face_flux(enum riemann rs, struct hydro_state l, struct hydro_state r,
                                   struct hydro_gas g, const struct contacts *x, int k, int i)
{
    if (rs != RIEMANN_HLLC) return hydro_face_solve(rs, l, r, g);
    struct hydro_contact at = {x->u[k][i], x->p[k][i], x->s[k][i]};
    return hydro_hllc_flux(l, r, g, at);
}

/* How faces are solved, constants where the loop is compiled: the solver, whether there are scalars
 * and pressure_fix; and numbers that the formulas need. */
struct solve {
    int ndim;
    enum riemann rs;
    bool scalars, pfix;
    int vel; /* of the numbers of a face: half of the sum of the velocities, of pressure_fix */
    double dtdx;
    struct hydro_gas g;
};

INLINE void vector_flux(int n, struct solve how, struct faces_at at, const struct contacts *x,
                        double *restrict left)
{
    const double *restrict L = at.L, *restrict R = at.R;
    double *restrict F = at.F;
    const struct gas_turned t = at.t;
    const int ndim = how.ndim, k = at.k, vel = how.vel;
    const double dtdx = how.dtdx;
#pragma omp simd simdlen(LANES)
    for (int i = 0; i < n; i++) {
        struct hydro_state l = face_state(ndim, L, i, t), r = face_state(ndim, R, i, t);
        struct hydro_flux f = face_flux(how.rs, l, r, how.g, x, k, i);
        F[i] = f.r * dtdx;
        F[t.n + i] = f.u * dtdx;
        if (ndim > 1) F[t.a + i] = f.v * dtdx;
        if (ndim > 2) F[t.b + i] = f.w * dtdx;
        F[4 * PS + i] = f.e * dtdx;
        if (how.scalars) left[k * LANES + i] = f.left * dtdx;
        if (how.pfix) F[vel + i] = 0.5 * (l.u + r.u) * dtdx;
        if (how.pfix) F[vel + PS + i] = f.eint * dtdx;
    }
}

INLINE void faces_solve(int ndim, enum riemann rs, bool scalars, bool pfix, struct sweep *s,
                        const struct face_jobs *jobs)
{
    struct contacts x;
    const struct solve how = {ndim, rs, scalars, pfix, s->nvar * PS, s->dtdx, gas_law_of(s)->gas};
    const struct face_job *j = jobs->job, *end = j + jobs->n;
    double *left = gas_left(s);
    if (rs == RIEMANN_HLLC) faces_contacts(ndim, jobs, how.g, &x);
    for (; j < end; j++) {
        struct faces_at at = faces_first(j);
        for (int v = whole_vectors(j); v > 0; v--, faces_next(&at))
            vector_flux(LANES, how, at, &x, left);
        if (half_vector(j)) vector_flux(4, how, at, &x, left);
    }
}

INLINE void faces_choose(int ndim, enum riemann rs, struct sweep *s, const struct face_jobs *j)
{
    bool scalars = s->nvar > GAS_SCALARS, pfix = s->nflux > s->nvar;
    if (!scalars && !pfix)
        faces_solve(ndim, rs, false, false, s, j);
    else if (!pfix)
        faces_solve(ndim, rs, true, false, s, j);
    else
        faces_solve(ndim, rs, true, true, s, j);
}

INLINE void faces_by_solver(int ndim, struct sweep *s, const struct face_jobs *jobs)
{
    switch (gas_law_of(s)->par->riemann) {
#define RIEMANN(name, text, flux)                                                                  \
    case RIEMANN_##name:                                                                           \
        faces_choose(ndim, RIEMANN_##name, s, jobs);                                               \
        break;
#define ITERATED(name, text)
#include "hydro/riemann.def"
#undef RIEMANN
#undef ITERATED
    case RIEMANN_EXACT:
        gas_faces_exact(s, jobs);
        break;
    case RIEMANN_COUNT:
        break;
    }
}

static void faces_solve_all(struct sweep *s, const struct face_jobs *jobs)
{
    if (s->ndim > 2)
        faces_by_solver(3, s, jobs);
    else if (s->ndim > 1)
        faces_by_solver(2, s, jobs);
    else
        faces_by_solver(1, s, jobs);
}

static void faces_scalars(struct sweep *s, const struct face_job *j)
{
    const double *restrict left = gas_left(s) + LANES * j->first, *restrict mass = j->F;
    const int n = 4 * j->fours;
    for (int v = gas_passive(s); v < s->nvar; v++) {
        const double *restrict L = j->L + v * PS, *restrict R = j->R + v * PS;
        double *restrict F = j->F + v * PS;
#pragma omp simd simdlen(LANES)
        for (int i = 0; i < n; i++) F[i] = left[i] * L[i] + (mass[i] - left[i]) * R[i];
    }
}

/* ---- extra diffusion where the flow converges (difmag) ---- */

/* Computes the divergence of the velocity at the lower corner of each cell of plane k, from the
 * eight cells around the corner. */
void gas_divergence(struct sweep *s, int k)
{
    int w = s->in.w, end = plane_cells(&s->in);
    const double *restrict a = s->q[(k - 1) & 3], *restrict b = s->q[k & 3];
    double *restrict div = gas_div(s, k);
    const double f = 0.25 / s->dx;
#pragma omp simd
    for (int i = w + 1; i < end; i++) { /* only corners of the interior are needed */
        int j = i - w;
        const double *u0 = a + PS, *u1 = b + PS, *v0 = a + 2 * PS, *v1 = b + 2 * PS,
                     *w0 = a + 3 * PS, *w1 = b + 3 * PS;
        double ux = f * (u1[i] - u1[i - 1]) + f * (u1[j] - u1[j - 1]) +
                    f * (u0[i] - u0[i - 1] + u0[j] - u0[j - 1]);
        double vy = f * (v1[i] - v1[j] + v1[i - 1] - v1[j - 1]) +
                    f * (v0[i] - v0[j] + v0[i - 1] - v0[j - 1]);
        double wz = f *
                    (w1[i] - w0[i] + w1[j] - w0[j] + w1[i - 1] - w0[i - 1] + w1[j - 1] - w0[j - 1]);
        div[i] = ux + vy + wz;
    }
}

static void faces_diffuse(struct sweep *s, const struct face_job *j, int k)
{
    int w = s->in.w, step = step_below(s, j), dir = j->dir;
    const double *restrict d0 = gas_div(s, k) + j->at, *restrict d1 = gas_div(s, k + 1) + j->at;
    /* four corners of the face: i, i+a on d0 and on e0 (z: two rows) */
    const double *restrict e0 = dir == 2 ? d0 : d1;
    int a = dir == 0 ? w : 1, b = dir == 2 ? w : 0;
    const double dt = s->dt, mag = gas_law_of(s)->par->difmag;
    const int n = 4 * j->fours;
    for (int v = 0; v < s->nvar; v++) {
        const double *restrict hi = s->in.u[k & 3] + v * PS + j->at;
        const double *restrict lo = s->in.u[plane_below(j, k)] + v * PS + j->at - step;
        double *restrict F = j->F + v * PS;
#pragma omp simd simdlen(LANES)
        for (int i = 0; i < n; i++) {
            double div = 0.25 * d0[i] + 0.25 * d0[i + a] + 0.25 * (e0[i + b] + e0[i + a + b]);
            div = mag * hydro_min(0.0, div);
            F[i] += dt * div * (hi[i] - lo[i]);
        }
    }
}

void gas_fluxes(struct sweep *s, const struct face_jobs *jobs)
{
    const bool diffuse = gas_law_of(s)->par->difmag > 0.0;
    if (gas_law_of(s)->par->energy.n > 0)
        gas_energies_fluxes(s, jobs);
    else
        faces_solve_all(s, jobs);
    for (int i = 0; i < jobs->n && s->nvar > GAS_SCALARS; i++) faces_scalars(s, &jobs->job[i]);
    for (int i = 0; i < jobs->n && diffuse; i++) faces_diffuse(s, &jobs->job[i], jobs->k);
}

/* ---- pressure_fix, non-thermal energies ---- */

/* Computes the divergence of the old velocities (without gravity) by central differences. */
void gas_expansion(struct sweep *s, int k, struct run at)
{
    int w = s->in.w, n = 4 * at.fours;
    const double *restrict lo = gas_old(s, k - 1) + at.at, *restrict mid = gas_old(s, k) + at.at,
                           *restrict hi = gas_old(s, k + 1) + at.at;
    double *restrict out = s->sum[k & 1] + s->nflux * PS + at.at;
    const double dx2 = s->dx + s->dx;
#pragma omp simd simdlen(LANES)
    for (int i = 0; i < n; i++)
        out[i] = (mid[i + 1] - mid[i - 1]) / dx2 + (mid[PS + i + w] - mid[PS + i - w]) / dx2 +
                 (hi[2 * PS + i] - lo[2 * PS + i]) / dx2;
}
