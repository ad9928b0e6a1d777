/* hydro/flux: MUSCL-Hancock stages on planes of a patch; see flux.h. (van Leer 1979; Toro 2009 ch.
 * 14; Teyssier 2002 §2.2) */
#include "hydro/flux.h"

#include <string.h>

#include "base/mem.h"
#include "hydro/cell_kern.h"

#define INLINE static inline __attribute__((always_inline))
enum { PS = PLANE_STRIDE, US = PATCH_STRIDE };

/* The positions a ≤ i < b of a plane that a loop visits: at least those requested, in full
 * vectors. */
struct range {
    int a, b;
};

INLINE struct range whole_range(int first, int last)
{
    enum { LANES = 8 };
    int n = last + 1 - first;
    return (struct range){first, first + (n + LANES - 1) / LANES * LANES};
}

static void plane_prim(struct sweep *s, int k);
static void plane_trace(struct sweep *s, int k);
static void plane_flux(struct sweep *s, int dir, int k);
static void plane_divergence(struct sweep *s, int k);
static void plane_update(struct sweep *s, int k);
static void plane_expansion(struct sweep *s, int k);

/* Planes are counted from the lowest halo plane; cell plane k of the interior is plane k+2. */
void sweep_run(struct sweep *s, const struct sweep_user *user)
{
    int n = s->patch.n;
    bool difmag = s->par->difmag > 0.0;
    plane_prim(s, 0);
    plane_prim(s, 1);
    for (int k = 1; k <= n + 2; k++) {
        plane_prim(s, k + 1);
        plane_trace(s, k);
        if (k < 2) continue;
        if (difmag && k == 2) plane_divergence(s, 2);
        plane_flux(s, 2, k);
        if (user->faces) user->faces(s, user->ctx, 2, k - 2, s->fz[k & 1]);
        if (k > 2) plane_update(s, k - 1);
        if (k > 2 && !(k & 1)) user->ready(s, user->ctx, (k - 4) / 2);
        if (k == n + 2) break;
        if (difmag) plane_divergence(s, k + 1);
        for (int dir = 0; dir < 2; dir++) {
            plane_flux(s, dir, k);
            if (user->faces) user->faces(s, user->ctx, dir, k - 2, s->flux[dir]);
        }
    }
}

/* ---- primitive variables with the gravity predictor ---- */

static void plane_prim(struct sweep *s, int k)
{
    const struct hydro_gas g = s->gas;
    int w2 = s->patch.w * s->patch.w, end = whole_range(0, w2 - 1).b;
    const double *restrict u = s->patch.u + k * w2, *restrict f = s->patch.f + k * w2;
    double *restrict q = s->q[k & 3], *restrict old = s->v_old[k & 3];
    const double half_dt = s->gravity ? 0.5 * s->dt : 0.0;
#pragma omp simd
    for (int i = 0; i < end; i++) {
        struct hydro_state x = hydro_prim(u[i], u[US + i], u[2 * US + i], u[3 * US + i],
                                          u[4 * US + i], g);
        q[i] = x.r;
        q[PS + i] = x.u;
        q[2 * PS + i] = x.v;
        q[3 * PS + i] = x.w;
        q[4 * PS + i] = x.p;
    }
    if (s->nflux > s->nvar) memcpy(old, q + PS, 3 * PS * sizeof *q);
    if (s->gravity)
        for (int d = 0; d < 3; d++)
#pragma omp simd
            for (int i = 0; i < end; i++) q[(1 + d) * PS + i] += f[d * US + i] * half_dt;
    for (int v = GAS_SCALARS; v < s->nvar; v++)
#pragma omp simd
        for (int i = 0; i < end; i++) q[v * PS + i] = u[v * US + i] * (1.0 / q[i]);
}

/* ---- slopes and tracing ---- */

/* Where the traced states of one plane go. */
struct faces {
    double *mx, *px, *my, *py, *mz, *pz;
};

/* Face states q ± ½D + ½ dt/dx s; h = ½ dt/dx s. */
INLINE void put_faces(const struct faces *o, int at, struct hydro_slope3 d, double h)
{
    o->px[at] = hydro_face_lower(d.c, d.x, h);
    o->mx[at] = hydro_face_upper(d.c, d.x, h);
    o->py[at] = hydro_face_lower(d.c, d.y, h);
    o->my[at] = hydro_face_upper(d.c, d.y, h);
    o->pz[at] = hydro_face_lower(d.c, d.z, h);
    o->mz[at] = hydro_face_upper(d.c, d.z, h);
}

/* The density, where a state below the floor is replaced by the cell value. */
INLINE void put_density(const struct faces *o, int at, struct hydro_slope3 d, double h,
                        double smallr)
{
    o->px[at] = hydro_floor_density(hydro_face_lower(d.c, d.x, h), d.c, smallr);
    o->mx[at] = hydro_floor_density(hydro_face_upper(d.c, d.x, h), d.c, smallr);
    o->py[at] = hydro_floor_density(hydro_face_lower(d.c, d.y, h), d.c, smallr);
    o->my[at] = hydro_floor_density(hydro_face_upper(d.c, d.y, h), d.c, smallr);
    o->pz[at] = hydro_floor_density(hydro_face_lower(d.c, d.z, h), d.c, smallr);
    o->mz[at] = hydro_floor_density(hydro_face_upper(d.c, d.z, h), d.c, smallr);
}

INLINE void trace_gas(enum slope type, struct range r, int w, const double *restrict lo,
                      const double *restrict mid, const double *restrict hi, const struct faces o,
                      const struct hydro_gas g, double half_dtdx)
{
    double *restrict mx = o.mx, *restrict px = o.px, *restrict my = o.my, *restrict py = o.py,
                     *restrict mz = o.mz, *restrict pz = o.pz;
    const struct faces to = {mx, px, my, py, mz, pz};
#pragma omp simd
    for (int i = r.a; i < r.b; i++) {
        struct hydro_slope3 d = hydro_slopes(type, lo + i, mid + i, hi + i, w, g.theta);
        struct hydro_slope3 u = hydro_slopes(type, lo + PS + i, mid + PS + i, hi + PS + i, w,
                                             g.theta);
        struct hydro_slope3 v = hydro_slopes(type, lo + 2 * PS + i, mid + 2 * PS + i,
                                             hi + 2 * PS + i, w, g.theta);
        struct hydro_slope3 x = hydro_slopes(type, lo + 3 * PS + i, mid + 3 * PS + i,
                                             hi + 3 * PS + i, w, g.theta);
        struct hydro_slope3 p = hydro_slopes(type, lo + 4 * PS + i, mid + 4 * PS + i,
                                             hi + 4 * PS + i, w, g.theta);
        struct hydro_state rate = hydro_trace_rates(d, u, v, x, p, g.gamma);
        put_density(&to, i, d, rate.r * half_dtdx, g.smallr);
        put_faces(&to, PS + i, u, rate.u * half_dtdx);
        put_faces(&to, 2 * PS + i, v, rate.v * half_dtdx);
        put_faces(&to, 3 * PS + i, x, rate.w * half_dtdx);
        put_faces(&to, 4 * PS + i, p, rate.p * half_dtdx);
    }
}

INLINE void trace_scalar(enum slope type, struct range r, int w, const double *restrict lo,
                         const double *restrict mid, const double *restrict hi, int at,
                         const struct faces o, double theta, double half_dtdx)
{
    double *restrict mx = o.mx, *restrict px = o.px, *restrict my = o.my, *restrict py = o.py,
                     *restrict mz = o.mz, *restrict pz = o.pz;
    const struct faces to = {mx, px, my, py, mz, pz};
#pragma omp simd
    for (int i = r.a; i < r.b; i++) {
        struct hydro_slope3 d = hydro_slopes(type, lo + at + i, mid + at + i, hi + at + i, w,
                                             theta);
        double sa = -mid[PS + i] * d.x - mid[2 * PS + i] * d.y - mid[3 * PS + i] * d.z;
        put_faces(&to, at + i, d, sa * half_dtdx);
    }
}

INLINE void trace_all(enum slope type, struct sweep *s, int k)
{
    int w = s->patch.w;
    struct range r = whole_range(w + 1, (w - 1) * w - 2);
    const double *lo = s->q[(k - 1) & 3], *mid = s->q[k & 3], *hi = s->q[(k + 1) & 3];
    struct faces o = {s->m[0], s->p[0], s->m[1], s->p[1], s->mz[k & 1], s->pz};
    double h = 0.5 * s->dtdx;
    trace_gas(type, r, w, lo, mid, hi, o, s->gas, h);
    for (int v = GAS_SCALARS; v < s->nvar; v++)
        trace_scalar(type, r, w, lo, mid, hi, v * PS, o, s->gas.theta, h);
}

static void plane_trace(struct sweep *s, int k)
{
    switch (s->par->slope_type) {
    case SLOPE_NONE:
        trace_all(SLOPE_NONE, s, k);
        break;
    case SLOPE_MINMOD:
        trace_all(SLOPE_MINMOD, s, k);
        break;
    case SLOPE_MONCEN:
        trace_all(SLOPE_MONCEN, s, k);
        break;
    case SLOPE_POSITIVE:
        trace_all(SLOPE_POSITIVE, s, k);
        break;
    case SLOPE_VANLEER:
        trace_all(SLOPE_VANLEER, s, k);
        break;
    case SLOPE_THETA:
        trace_all(SLOPE_THETA, s, k);
        break;
    }
}

/* ---- Riemann problems ---- */

/* Left and right states and fluxes of the faces of one plane and direction; n, a, b: offsets of
 * normal and transverse velocity. */
struct face_job {
    const double *L, *R;
    double *F, *left, *F_vel, *F_eint;
    int n, a, b;
    struct range r;
    struct hydro_gas g;
    double dtdx;
};

INLINE struct hydro_state face_state(const double *q, int i, int n, int a, int b)
{
    return (struct hydro_state){q[i], q[n + i], q[a + i], q[b + i], q[4 * PS + i]};
}

INLINE struct hydro_flux face_solve(enum riemann rs, struct hydro_state L, struct hydro_state R,
                                    struct hydro_gas g)
{
    switch (rs) {
#define RIEMANN(name, text, flux)                                                                  \
    case RIEMANN_##name:                                                                           \
        return flux(L, R, g);
#define ITERATED(name, text)                                                                       \
    case RIEMANN_##name:                                                                           \
        break;
#include "hydro/riemann.def"
#undef RIEMANN
#undef ITERATED
    case RIEMANN_COUNT:
        break;
    }
    return (struct hydro_flux){0}; /* never comes here */
}

INLINE void faces_solve(enum riemann rs, bool scalars, bool pfix, const struct face_job *j)
{
    const double *restrict L = j->L, *restrict R = j->R;
    double *restrict F = j->F, *restrict left = j->left, *restrict fv = j->F_vel,
                     *restrict fe = j->F_eint;
    const int n = j->n, a = j->a, b = j->b;
    const struct hydro_gas g = j->g;
    const double dtdx = j->dtdx;
#pragma omp simd
    for (int i = j->r.a; i < j->r.b; i++) {
        struct hydro_state l = face_state(L, i, n, a, b), r = face_state(R, i, n, a, b);
        struct hydro_flux f = face_solve(rs, l, r, g);
        F[i] = f.r * dtdx;
        F[n + i] = f.u * dtdx;
        F[a + i] = f.v * dtdx;
        F[b + i] = f.w * dtdx;
        F[4 * PS + i] = f.e * dtdx;
        if (scalars) left[i] = f.left * dtdx;
        if (pfix) fv[i] = 0.5 * (l.u + r.u) * dtdx;
        if (pfix) fe[i] = f.eint * dtdx;
    }
}

/* Newton iterations on blocks of faces; a face that has converged is not changed, so results do not
 * depend on blocks. */
static void faces_solve_exact(const struct face_job *j)
{
    enum { BLOCK = 32 };
    const int n = j->n, a = j->a, b = j->b;
    const struct hydro_gas g = j->g;
    for (int i0 = j->r.a; i0 < j->r.b; i0 += BLOCK) {
        int m = j->r.b - i0 < BLOCK ? j->r.b - i0 : BLOCK;
        const double *L = j->L + i0, *R = j->R + i0;
        double p[BLOCK], change[BLOCK], worst = 1.0;
        for (int i = 0; i < m; i++) {
            p[i] = hydro_exact_guess(face_state(L, i, n, a, b), face_state(R, i, n, a, b), g);
            change[i] = 1.0;
        }
        for (int it = 0; it < g.niter && worst > 1e-6; it++) {
            worst = 0.0;
#pragma omp simd reduction(max : worst)
            for (int i = 0; i < m; i++) {
                double c, next = hydro_exact_newton(face_state(L, i, n, a, b),
                                                    face_state(R, i, n, a, b), g, p[i], &c);
                bool go = change[i] > 1e-6;
                p[i] = go ? next : p[i];
                change[i] = go ? c : change[i];
                worst = hydro_max(worst, change[i]);
            }
        }
        for (int i = 0; i < m; i++) {
            struct hydro_state l = face_state(L, i, n, a, b), r = face_state(R, i, n, a, b);
            struct hydro_flux f = hydro_exact_flux(l, r, g, p[i]);
            double *F = j->F + i0 + i;
            F[0] = f.r * j->dtdx;
            F[n] = f.u * j->dtdx;
            F[a] = f.v * j->dtdx;
            F[b] = f.w * j->dtdx;
            F[4 * PS] = f.e * j->dtdx;
            j->left[i0 + i] = f.left * j->dtdx;
            j->F_vel[i0 + i] = 0.5 * (l.u + r.u) * j->dtdx;
            j->F_eint[i0 + i] = f.eint * j->dtdx;
        }
    }
}

INLINE void faces_choose(enum riemann rs, const struct face_job *j, bool scalars, bool pfix)
{
    if (!scalars && !pfix)
        faces_solve(rs, false, false, j);
    else if (!pfix)
        faces_solve(rs, true, false, j);
    else
        faces_solve(rs, true, true, j);
}

static void faces_scalars(struct sweep *s, const struct face_job *j);
static void faces_diffuse(struct sweep *s, int dir, int k, const struct face_job *j);
static void faces_mask(struct sweep *s, int dir, int k, const struct face_job *j);

static void plane_flux(struct sweep *s, int dir, int k)
{
    int w = s->patch.w, n = s->patch.n, step = dir == 0 ? 1 : dir == 1 ? w : 0;
    int last = (dir == 1 ? n + 2 : n + 1) * w + (dir == 0 ? n + 2 : n + 1);
    double *F = dir < 2 ? s->flux[dir] : s->fz[k & 1];
    const double *L = dir < 2 ? s->m[dir] - step : s->mz[(k - 1) & 1],
                 *R = dir < 2 ? s->p[dir] : s->pz;
    double *extra = F + s->nvar * PS; /* there also without pressure_fix, but then not read */
    struct face_job j = {.L = L,
                         .R = R,
                         .F = F,
                         .left = s->left,
                         .F_vel = extra,
                         .F_eint = extra + PS,
                         .n = (1 + dir) * PS,
                         .a = (dir == 0 ? 2 : 1) * PS,
                         .b = (dir == 2 ? 2 : 3) * PS,
                         .r = whole_range(2 * w + 2, last),
                         .g = s->gas,
                         .dtdx = s->dtdx};
    bool scalars = s->nvar > GAS_SCALARS, pfix = s->nflux > s->nvar;
    switch (s->par->riemann) {
#define RIEMANN(name, text, flux)                                                                  \
    case RIEMANN_##name:                                                                           \
        faces_choose(RIEMANN_##name, &j, scalars, pfix);                                           \
        break;
#define ITERATED(name, text)
#include "hydro/riemann.def"
#undef RIEMANN
#undef ITERATED
    case RIEMANN_EXACT:
        faces_solve_exact(&j);
        break;
    case RIEMANN_COUNT:
        break;
    }
    if (scalars) faces_scalars(s, &j);
    if (s->par->difmag > 0.0) faces_diffuse(s, dir, k, &j);
    if (s->patch.any_split) faces_mask(s, dir, k, &j);
}

static void faces_scalars(struct sweep *s, const struct face_job *j)
{
    const double *restrict left = j->left, *restrict mass = j->F;
    for (int v = GAS_SCALARS; v < s->nvar; v++) {
        const double *restrict L = j->L + v * PS, *restrict R = j->R + v * PS;
        double *restrict F = j->F + v * PS;
#pragma omp simd
        for (int i = j->r.a; i < j->r.b; i++) F[i] = left[i] * L[i] + (mass[i] - left[i]) * R[i];
    }
}

/* Fluxes through a face of a refined cell come from the finer level. */
static void faces_mask(struct sweep *s, int dir, int k, const struct face_job *j)
{
    int w = s->patch.w, step = dir == 0 ? 1 : dir == 1 ? w : w * w;
    const unsigned char *restrict hi = s->patch.split + k * w * w, *restrict lo = hi - step;
    for (int v = 0; v < s->nflux; v++) {
        double *restrict F = j->F + v * PS;
#pragma omp simd
        for (int i = j->r.a; i < j->r.b; i++) F[i] = lo[i] | hi[i] ? 0.0 : F[i];
    }
}

/* ---- extra diffusion where the flow converges (difmag) ---- */

/* Divergence of the velocity at the lower corner of each cell of plane k, from the eight cells
 * around it. */
static void plane_divergence(struct sweep *s, int k)
{
    int w = s->patch.w;
    const double *restrict a = s->q[(k - 1) & 3], *restrict b = s->q[k & 3];
    double *restrict div = s->div[k & 1];
    const double f = 0.25 / s->dx;
#pragma omp simd
    for (int i = w + 1; i < w * w; i++) { /* corners of the interior need no more */
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

static void faces_diffuse(struct sweep *s, int dir, int k, const struct face_job *j)
{
    int w = s->patch.w, w2 = w * w, step = dir == 0 ? 1 : dir == 1 ? w : w2;
    const double *restrict d0 = s->div[k & 1], *restrict d1 = s->div[(k + 1) & 1];
    /* the face's four corners: i, i+a on d0 and on e0 (z: two rows) */
    const double *restrict e0 = dir == 2 ? d0 : d1;
    int a = dir == 0 ? w : 1, b = dir == 2 ? w : 0;
    const double dt = s->dt, mag = s->par->difmag;
    for (int v = 0; v < s->nvar; v++) {
        const double *restrict u = s->patch.u + v * US + k * w2;
        double *restrict F = j->F + v * PS;
#pragma omp simd
        for (int i = j->r.a; i < j->r.b; i++) {
            double div = 0.25 * d0[i] + 0.25 * d0[i + a] + 0.25 * (e0[i + b] + e0[i + a + b]);
            div = mag * hydro_min(0.0, div);
            F[i] += dt * div * (u[i] - u[i - step]);
        }
    }
}

/* ---- conservative update ---- */

static void plane_update(struct sweep *s, int k)
{
    int w = s->patch.w, w2 = w * w, n = s->patch.n;
    struct range r = whole_range(2 * w + 2, (n + 1) * w + n + 1);
    for (int v = 0; v < s->nflux; v++) {
        const double *restrict u = s->patch.u + v * US + k * w2;
        const double *restrict fx = s->flux[0] + v * PS, *restrict fy = s->flux[1] + v * PS;
        const double *restrict f0 = s->fz[k & 1] + v * PS, *restrict f1 = s->fz[(k + 1) & 1] +
                                                                          v * PS;
        double *restrict out = s->out[k & 1] + v * PS;
        if (v < s->nvar)
#pragma omp simd
            for (int i = r.a; i < r.b; i++)
                out[i] = hydro_add_fluxes(u[i], fx[i], fx[i + 1], fy[i], fy[i + w], f0[i], f1[i]);
        else
#pragma omp simd
            for (int i = r.a; i < r.b; i++)
                out[i] = (fx[i] - fx[i + 1]) + (fy[i] - fy[i + w]) + (f0[i] - f1[i]);
    }
    if (s->nflux > s->nvar) plane_expansion(s, k);
}

/* Divergence of the old velocities (without gravity) by central differences. */
static void plane_expansion(struct sweep *s, int k)
{
    int w = s->patch.w, n = s->patch.n;
    struct range r = whole_range(2 * w + 2, (n + 1) * w + n + 1);
    const double *restrict lo = s->v_old[(k - 1) & 3], *restrict mid = s->v_old[k & 3],
                           *restrict hi = s->v_old[(k + 1) & 3];
    double *restrict out = s->out[k & 1] + s->nout * PS - PS;
    const double dx2 = s->dx + s->dx;
#pragma omp simd
    for (int i = r.a; i < r.b; i++)
        out[i] = (mid[i + 1] - mid[i - 1]) / dx2 + (mid[PS + i + w] - mid[PS + i - w]) / dx2 +
                 (hi[2 * PS + i] - lo[2 * PS + i]) / dx2;
}

/* ---- scratch ---- */

struct hydro_gas hydro_gas_of(const struct hydro_par *par)
{
    struct hydro_gas g = {.gamma = par->gamma,
                          .smallr = par->smallr,
                          .smallc = par->smallc,
                          .theta = par->slope_theta,
                          .niter = par->niter_riemann};
    g.gm1 = g.gamma - 1.0;
    g.entho = 1.0 / g.gm1;
    g.smallc2 = g.smallc * g.smallc;
    g.smallp = g.smallc2 / g.gamma;
    g.smalle = g.smallc2 / g.gamma / g.gm1;
    g.gamma6 = (g.gamma + 1.0) / (2.0 * g.gamma);
    g.inv_gamma = 1.0 / g.gamma;
    return g;
}

void sweep_init(struct sweep *s, const struct mesh *m, int l, double dt,
                const struct hydro_par *par)
{
    memset(s, 0, sizeof *s);
    s->par = par;
    s->gas = hydro_gas_of(par);
    s->nvar = par->nvar;
    s->nflux = par->nvar + (par->pressure_fix ? 2 : 0);
    s->nout = par->nvar + (par->pressure_fix ? 3 : 0);
    s->gravity = m->gravity;
    s->dt = dt;
    s->dx = mesh_dx(m, l);
    s->dtdx = dt / s->dx;
    size_t plane = (size_t)(s->nvar + 3) * PS;
    size_t words = 17 * plane + 15 * PS + (size_t)(s->nvar + 3) * US;
    double *d = s->block = mem_zero(words * sizeof *d + US, "hydro tile scratch");
    for (int i = 0; i < 4; i++, d += plane) s->q[i] = d;
    double **each[] = {&s->m[0],  &s->m[1],   &s->p[0],    &s->p[1],    &s->mz[0],
                       &s->mz[1], &s->pz,     &s->flux[0], &s->flux[1], &s->fz[0],
                       &s->fz[1], &s->out[0], &s->out[1]};
    for (int i = 0; i < 13; i++, d += plane) *each[i] = d;
    for (int i = 0; i < 4; i++, d += 3 * PS) s->v_old[i] = d;
    s->left = d;
    s->div[0] = d + PS;
    s->div[1] = d + 2 * PS;
    d += 3 * PS;
    s->patch.u = d;
    s->patch.f = d + (size_t)s->nvar * US;
    s->patch.split = (unsigned char *)(d + (size_t)(s->nvar + 3) * US);
}

void sweep_fini(struct sweep *s)
{
    mem_free(s->block);
    s->block = NULL;
}
