/* hydro/flux: MUSCL-Hancock stages on pairs of rows; see flux.h. Slopes and states at faces are in
 * trace.c. (van Leer 1979; Toro 2009 ch. 14; Teyssier 2002 §2.2) */
#include "hydro/flux.h"

#include <string.h>

#include "base/mem.h"
#include "hydro/cell_kern.h"

#define INLINE static inline __attribute__((always_inline))
enum { PS = PLANE_STRIDE };

/* Which octs are advanced in the row of octs of a strip and in those beside it. */
struct rows {
    uint32_t own, lower, upper; /* in y */
    uint32_t next;              /* in z, on the side on which the strip's plane is */
};

static void octs_prim(struct sweep *s, int z);
static void plane_divergence(struct sweep *s, int k);
static void strip_trace(struct sweep *s, int y, int k, struct rows at);
static void strip_flux(struct sweep *s, int y, int k, struct rows at);
static void strip_sum(struct sweep *s, int y, int k, uint32_t own);
static void strip_finish(struct sweep *s, int y, int k, uint32_t own);

INLINE struct rows rows_of(const struct sweep *s, int y, int k)
{
    const int z = k >> 1;
    const uint32_t *row = s->places.own[z + 1] + (y + 1);
    return (struct rows){.own = *row,
                         .lower = y >= 0 ? row[-1] : 0,
                         .upper = y < s->places.tile->t[1] ? row[1] : 0,
                         .next = s->places.own[k & 1 ? z + 2 : z][y + 1]};
}

/* Between the stages of a strip, of which there are PLACE_PARTS: has a few of the octs that are
 * wanted soon brought nearer. A processor waits for a few dozen lines of its cache at a time; of a
 * whole row of octs it forgets some. */
static void strip_fetch(struct sweep *s, const struct sweep_user *user, int y, int k, uint32_t own,
                        int part)
{
    if (!(k & 1))
        gather_prefetch(&s->in, y, k / 2 + 1, part);
    else if (own)
        user->reserve(s, user->ctx, y, k >> 1, part);
}

/* Rows 2y and 2y+1 of plane k; sums of rows wait for the fluxes through their upper faces. */
static void strip_advance(struct sweep *s, const struct sweep_user *user, int y, int k,
                          struct rows at)
{
    int last = 2 * s->places.tile->t[2];
    strip_fetch(s, user, y, k, at.own, 0);
    strip_trace(s, y, k, at);
    if (k < 0) return;
    strip_fetch(s, user, y, k, at.own, 1);
    strip_flux(s, y, k, at);
    strip_fetch(s, user, y, k, at.own, 2);
    if (k > 0) strip_finish(s, y, k - 1, k & 1 ? at.own : at.next);
    strip_fetch(s, user, y, k, at.own, 3);
    if (k < last) strip_sum(s, y - 1, k, at.lower);
    strip_fetch(s, user, y, k, at.own, 4);
}

static void faces_tell(struct sweep *s, int y, int k, const struct sweep_user *user);

void sweep_run(struct sweep *s, const struct mesh *m, int l, const struct tile *t, bool corners,
               const struct sweep_user *user)
{
    int planes = 2 * t->t[2];
    bool difmag = s->par->difmag > 0.0;
    places_find(&s->places, m, l, t, corners);
    gather_begin(&s->in, &s->places, m, l, s->par);
    octs_prim(s, -1);
    octs_prim(s, 0);
    for (int k = -1; k <= planes; k++) {
        if (k > 0 && k & 1) gather_octs(&s->in, k / 2 + 1);
        if (k > 0 && k & 1) octs_prim(s, k / 2 + 1);
        if (difmag && k == 0) plane_divergence(s, 0);
        if (difmag && k >= 0 && k < planes) plane_divergence(s, k + 1);
        for (int y = -1; y <= t->t[1]; y++) {
            const struct rows at = rows_of(s, y, k);
            strip_advance(s, user, y, k, at);
            if (user->faces && k >= 0) faces_tell(s, y, k, user);
            if (k > 0 && !(k & 1) && at.next) user->ready(s, user->ctx, y, k / 2 - 1);
        }
    }
}

/* Fluxes through the outer faces of octs at the coarse–fine boundary. Strips solve the lower faces
 * of their octs, which are the upper ones of the rows below in y and z, and in x both. */
static void faces_tell(struct sweep *s, int y, int k, const struct sweep_user *user)
{
    enum { HERE = 1 << 0 | 1 << 1 | 1 << 2, ABOVE_Y = 1 << 3, HERE_Z = 1 << 4, ABOVE_Z = 1 << 5 };
    int w = s->in.w, z = k >> 1, planes = 2 * s->places.tile->t[2];
    const unsigned char(*edges)[PLACE_SIDE] = s->places.edges + z;
    const double *x = s->fx[y & 1] + 2, *fy = s->fy[y & 1] + 2;
    const double *fz = s->fz[k & 1] + plane_at(w, 0, 2 * y);
    const double *const flux[6] = {x, x + 2, fy, fy, fz, fz};
    unsigned faces = 0;
    if (k < planes) faces = edges[1][y + 1] & HERE;
    if (k < planes && y >= 0) faces |= edges[1][y] & ABOVE_Y;
    if (!(k & 1)) faces |= (edges[1][y + 1] & HERE_Z) | (edges[0][y + 1] & ABOVE_Z);
    for (; faces; faces &= faces - 1) {
        int f = __builtin_ctz(faces);
        user->faces(s, user->ctx, f, y - (f == 3), z - (f == 5), flux[f]);
    }
}

/* ---- which cells ---- */

INLINE int fours_of(struct span x)
{
    return x.b > x.a ? (x.b - x.a + 3) / 4 : 0;
}

/* Row j. */
INLINE struct run row_run(const struct sweep *s, int j, struct span x)
{
    int w = s->in.w;
    if (x.b <= x.a) return (struct run){0};
    return (struct run){plane_at(w, x.a, j), (j & 1) * w + x.a + 2, fours_of(x)};
}

/* Rows 2y and 2y+1 as one run where that is shorter. Returns the number of runs. */
INLINE int pair_runs(const struct sweep *s, int y, struct span lower, struct span upper,
                     struct run out[2])
{
    struct span both = {lower.a, upper.b + s->in.w};
    int apart = fours_of(lower) + fours_of(upper);
    out[0] = row_run(s, 2 * y, lower);
    out[1] = row_run(s, 2 * y + 1, upper);
    if (!out[0].fours || !out[1].fours || fours_of(both) > apart) return 2;
    out[0].fours = fours_of(both);
    return 1;
}

/* ---- primitive variables with the gravity predictor ---- */

static void rows_prim(struct sweep *s, int k, struct run at)
{
    const struct hydro_gas g = s->gas;
    const double *restrict u = s->in.u[k & 3] + at.at, *restrict f = s->in.f[k & 3] + at.at;
    double *restrict q = s->q[k & 3] + at.at, *restrict old = s->v_old[k & 3] + at.at;
    const double half_dt = s->gravity ? 0.5 * s->dt : 0.0;
    const int n = 4 * at.fours;
#pragma omp simd simdlen(LANES)
    for (int i = 0; i < n; i++) {
        struct hydro_state x = hydro_prim(u[i], u[PS + i], u[2 * PS + i], u[3 * PS + i],
                                          u[4 * PS + i], g);
        q[i] = x.r;
        q[PS + i] = x.u;
        q[2 * PS + i] = x.v;
        q[3 * PS + i] = x.w;
        q[4 * PS + i] = x.p;
    }
    for (int d = 0; d < 3 && s->nflux > s->nvar; d++)
        memcpy(old + d * PS, q + (1 + d) * PS, (size_t)n * sizeof *q);
    for (int d = 0; d < 3 && s->gravity; d++)
#pragma omp simd simdlen(LANES)
        for (int i = 0; i < n; i++) q[(1 + d) * PS + i] += f[d * PS + i] * half_dt;
    for (int v = GAS_SCALARS; v < s->nvar; v++)
#pragma omp simd simdlen(LANES)
        for (int i = 0; i < n; i++) q[v * PS + i] = u[v * PS + i] * (1.0 / q[i]);
}

/* Both planes of the octs z, where an own cell reads them. */
static void octs_prim(struct sweep *s, int z)
{
    for (int k = 2 * z; k < 2 * z + 2; k++) {
        for (int y = -1; y <= s->places.tile->t[1]; y++) {
            struct span x = span_of(s->places.seen[z + 1][y + 1]);
            struct run run[2];
            int n = pair_runs(s, y, x, x, run);
            for (int i = 0; i < n; i++) rows_prim(s, k, run[i]);
        }
    }
}

/* ---- tracing ---- */

/* The cells with a face of an own cell: those of this row of octs and one more at each end, the
 * upper row of the octs below, the lower row of those above, and likewise in z. A second one more
 * at the lower end, mostly for nothing: there vectors are aligned. */
static void strip_trace(struct sweep *s, int y, int k, struct rows at)
{
    if (!(at.own | at.next | at.lower | at.upper)) return;
    struct span own = span_of(at.own), row[2];
    struct run run[2];
    own.a -= 2, own.b++;
    row[0] = span_join(own, span_of(at.lower | at.next));
    row[1] = span_join(own, span_of(at.upper | at.next));
    int n = pair_runs(s, y, row[0], row[1], run);
    for (int i = 0; i < n; i++)
        if (run[i].fours) trace_cells(s, y, k, run[i]);
}

/* ---- Riemann problems ---- */

/* The lower faces in direction dir of a run of cells: states below and above them, and where their
 * fluxes go. */
struct face_job {
    int dir, at, fours; /* as in a run */
    int first;          /* of its vectors, among those of all jobs */
    const double *L, *R;
    double *F;
};

/* Faces of rows 2y and 2y+1 of plane k that are solved together, stage after stage: each stage
 * waits for a root or a division, of which more are under way the more faces it has, and runs in
 * small tiles have one or two vectors. */
enum { JOBS = 6, VECTORS = STRIP / LANES + 1 };
struct face_jobs {
    int y, k, n, vectors;
    struct face_job job[JOBS];
};

/* Offsets of normal and transverse velocity. */
struct turned {
    int n, a, b;
};

INLINE struct turned turned_to(int dir)
{
    return (struct turned){(1 + dir) * PS, (dir == 0 ? 2 : 1) * PS, (dir == 2 ? 2 : 3) * PS};
}

INLINE int vectors_of(const struct face_job *j)
{
    return (4 * j->fours + LANES - 1) / LANES;
}

INLINE struct hydro_state face_state(const double *q, int i, struct turned t)
{
    return (struct hydro_state){q[i], q[t.n + i], q[t.a + i], q[t.b + i], q[4 * PS + i]};
}

/* Results of the HLLC solver at each face before its flux: sound speed and contact wave. */
struct contacts {
    double c[VECTORS][LANES], u[VECTORS][LANES], p[VECTORS][LANES], s[VECTORS][LANES];
};

INLINE void faces_contacts(const struct face_jobs *jobs, struct hydro_gas g, struct contacts *x)
{
    const struct face_job *j = jobs->job, *end = j + jobs->n;
    for (; j < end; j++) {
        const double *restrict L = j->L, *restrict R = j->R;
        const struct turned t = turned_to(j->dir);
        for (int v = vectors_of(j), k = j->first; v > 0; v--, k++, L += LANES, R += LANES)
#pragma omp simd simdlen(LANES)
            for (int i = 0; i < LANES; i++)
                x->c[k][i] = hydro_hllc_sound(face_state(L, i, t), face_state(R, i, t), g);
    }
    j = jobs->job;
    for (; j < end; j++) {
        const double *restrict L = j->L, *restrict R = j->R;
        const struct turned t = turned_to(j->dir);
        for (int v = vectors_of(j), k = j->first; v > 0; v--, k++, L += LANES, R += LANES)
#pragma omp simd simdlen(LANES)
            for (int i = 0; i < LANES; i++) {
                struct hydro_contact o = hydro_hllc_contact(face_state(L, i, t),
                                                            face_state(R, i, t), g, x->c[k][i]);
                x->u[k][i] = o.u;
                x->p[k][i] = o.p;
                x->s[k][i] = o.s;
            }
    }
}

INLINE struct hydro_flux face_flux(enum riemann rs, struct hydro_state l, struct hydro_state r,
                                   struct hydro_gas g, const struct contacts *x, int k, int i)
{
    if (rs != RIEMANN_HLLC) return hydro_face_solve(rs, l, r, g);
    struct hydro_contact at = {x->u[k][i], x->p[k][i], x->s[k][i]};
    return hydro_hllc_flux(l, r, g, at);
}

INLINE void faces_solve(enum riemann rs, bool scalars, bool pfix, struct sweep *s,
                        const struct face_jobs *jobs)
{
    struct contacts x;
    const struct hydro_gas g = s->gas;
    const double dtdx = s->dtdx;
    const int vel = s->nvar * PS;
    const struct face_job *j = jobs->job, *end = j + jobs->n;
    double *restrict left = s->left;
    if (rs == RIEMANN_HLLC) faces_contacts(jobs, g, &x);
    for (; j < end; j++) {
        const double *restrict L = j->L, *restrict R = j->R;
        double *restrict F = j->F;
        const struct turned t = turned_to(j->dir);
        for (int v = vectors_of(j), k = j->first; v > 0;
             v--, k++, L += LANES, R += LANES, F += LANES)
#pragma omp simd simdlen(LANES)
            for (int i = 0; i < LANES; i++) {
                struct hydro_state l = face_state(L, i, t), r = face_state(R, i, t);
                struct hydro_flux f = face_flux(rs, l, r, g, &x, k, i);
                F[i] = f.r * dtdx;
                F[t.n + i] = f.u * dtdx;
                F[t.a + i] = f.v * dtdx;
                F[t.b + i] = f.w * dtdx;
                F[4 * PS + i] = f.e * dtdx;
                if (scalars) left[k * LANES + i] = f.left * dtdx;
                if (pfix) F[vel + i] = 0.5 * (l.u + r.u) * dtdx;
                if (pfix) F[vel + PS + i] = f.eint * dtdx;
            }
    }
}

/* Newton iterations on blocks of faces; a face that has converged is not changed, so results do not
 * depend on blocks. */
static void faces_solve_exact(struct sweep *s, const struct face_job *j)
{
    double *left = s->left + LANES * j->first;
    enum { BLOCK = 32 };
    const struct turned t = turned_to(j->dir);
    const struct hydro_gas g = s->gas;
    const double dtdx = s->dtdx;
    const int all = 4 * j->fours, vel = s->nvar * PS;
    for (int i0 = 0; i0 < all; i0 += BLOCK) {
        int m = all - i0 < BLOCK ? all - i0 : BLOCK;
        const double *L = j->L + i0, *R = j->R + i0;
        double p[BLOCK], change[BLOCK], worst = 1.0;
        for (int i = 0; i < m; i++) {
            p[i] = hydro_exact_guess(face_state(L, i, t), face_state(R, i, t), g);
            change[i] = 1.0;
        }
        for (int it = 0; it < g.niter && worst > 1e-6; it++) {
            worst = 0.0;
#pragma omp simd reduction(max : worst)
            for (int i = 0; i < m; i++) {
                double c, next = hydro_exact_newton(face_state(L, i, t), face_state(R, i, t), g,
                                                    p[i], &c);
                bool go = change[i] > 1e-6;
                p[i] = go ? next : p[i];
                change[i] = go ? c : change[i];
                worst = hydro_max(worst, change[i]);
            }
        }
        for (int i = 0; i < m; i++) {
            struct hydro_state l = face_state(L, i, t), r = face_state(R, i, t);
            struct hydro_flux f = hydro_exact_flux(l, r, g, p[i]);
            double *F = j->F + i0 + i;
            F[0] = f.r * dtdx;
            F[t.n] = f.u * dtdx;
            F[t.a] = f.v * dtdx;
            F[t.b] = f.w * dtdx;
            F[4 * PS] = f.e * dtdx;
            left[i0 + i] = f.left * dtdx;
            if (s->nflux == s->nvar) continue;
            F[vel] = 0.5 * (l.u + r.u) * dtdx;
            F[vel + PS] = f.eint * dtdx;
        }
    }
}

INLINE void faces_choose(enum riemann rs, struct sweep *s, const struct face_jobs *j)
{
    bool scalars = s->nvar > GAS_SCALARS, pfix = s->nflux > s->nvar;
    if (!scalars && !pfix)
        faces_solve(rs, false, false, s, j);
    else if (!pfix)
        faces_solve(rs, true, false, s, j);
    else
        faces_solve(rs, true, true, s, j);
}

static void faces_solve_all(struct sweep *s, const struct face_jobs *jobs)
{
    switch (s->par->riemann) {
#define RIEMANN(name, text, flux)                                                                  \
    case RIEMANN_##name:                                                                           \
        faces_choose(RIEMANN_##name, s, jobs);                                                     \
        break;
#define ITERATED(name, text)
#include "hydro/riemann.def"
#undef RIEMANN
#undef ITERATED
    case RIEMANN_EXACT:
        for (int i = 0; i < jobs->n; i++) faces_solve_exact(s, &jobs->job[i]);
        break;
    case RIEMANN_COUNT:
        break;
    }
}

static void faces_scalars(struct sweep *s, const struct face_job *j);
static void faces_diffuse(struct sweep *s, const struct face_job *j, int k);
static void faces_mask(struct sweep *s, const struct face_job *j, int k);

/* A refined cell may be at these faces. */
static bool faces_split(const struct sweep *s, int y, int k)
{
    int z = k >> 1;
    return s->in.split_row[z + 1][y + 1] || (y >= 0 && s->in.split_row[z + 1][y]) ||
           (z >= 0 && s->in.split_row[z][y + 1]);
}

static void faces_flux(struct sweep *s, struct face_jobs *jobs)
{
    const bool split = faces_split(s, jobs->y, jobs->k);
    faces_solve_all(s, jobs);
    for (int i = 0; i < jobs->n && s->nvar > GAS_SCALARS; i++) faces_scalars(s, &jobs->job[i]);
    for (int i = 0; i < jobs->n && s->par->difmag > 0.0; i++)
        faces_diffuse(s, &jobs->job[i], jobs->k);
    for (int i = 0; i < jobs->n && split; i++) faces_mask(s, &jobs->job[i], jobs->k);
    jobs->n = jobs->vectors = 0;
}

INLINE void faces_add(struct sweep *s, struct face_jobs *jobs, int dir, const struct run *at,
                      const double *L, const double *R, double *F)
{
    if (!at->fours) return;
    struct face_job job = {dir, at->at, at->fours, 0, L, R, F};
    if (jobs->vectors + vectors_of(&job) > VECTORS) faces_flux(s, jobs);
    job.first = jobs->vectors;
    jobs->vectors += vectors_of(&job);
    jobs->job[jobs->n++] = job;
}

static void strip_flux_x(struct sweep *s, int y, uint32_t own, struct face_jobs *jobs)
{
    struct span faces = span_of(own);
    struct run run[2];
    faces.b++;
    int n = pair_runs(s, y, faces, faces, run);
    for (int i = 0; i < n; i++)
        faces_add(s, jobs, 0, &run[i], s->mx + run[i].r - 1, s->px + run[i].r,
                  s->fx[y & 1] + run[i].r);
}

static void strip_flux_y(struct sweep *s, int y, struct rows at, struct face_jobs *jobs)
{
    int w = s->in.w;
    struct run row[2] = {row_run(s, 2 * y, span_of(at.own | at.lower)),
                         row_run(s, 2 * y + 1, span_of(at.own))};
    const double *below[2] = {s->my[(y - 1) & 1] + row[0].r + w, s->my[y & 1] + row[1].r - w};
    for (int i = 0; i < 2; i++)
        faces_add(s, jobs, 1, &row[i], below[i], s->py + row[i].r, s->fy[y & 1] + row[i].r);
}

static void strip_flux_z(struct sweep *s, int y, int k, uint32_t octs, struct face_jobs *jobs)
{
    struct span faces = span_of(octs);
    struct run run[2];
    int n = pair_runs(s, y, faces, faces, run);
    for (int i = 0; i < n; i++)
        faces_add(s, jobs, 2, &run[i], s->mz[(k - 1) & 1] + run[i].at, s->pz + run[i].r,
                  s->fz[k & 1] + run[i].at);
}

/* Through the lower faces of the cells of rows 2y and 2y+1; above the tile only those in z. */
static void strip_flux(struct sweep *s, int y, int k, struct rows at)
{
    struct face_jobs jobs;
    jobs.y = y, jobs.k = k, jobs.n = jobs.vectors = 0;
    strip_flux_z(s, y, k, k & 1 ? at.own : at.own | at.next, &jobs);
    if (k < 2 * s->places.tile->t[2]) {
        strip_flux_x(s, y, at.own, &jobs);
        strip_flux_y(s, y, at, &jobs);
    }
    if (jobs.n > 0) faces_flux(s, &jobs);
}

static void faces_scalars(struct sweep *s, const struct face_job *j)
{
    const double *restrict left = s->left + LANES * j->first, *restrict mass = j->F;
    const int n = 4 * j->fours;
    for (int v = GAS_SCALARS; v < s->nvar; v++) {
        const double *restrict L = j->L + v * PS, *restrict R = j->R + v * PS;
        double *restrict F = j->F + v * PS;
#pragma omp simd simdlen(LANES)
        for (int i = 0; i < n; i++) F[i] = left[i] * L[i] + (mass[i] - left[i]) * R[i];
    }
}

/* The planes of the cells below the faces, and where they are relative to those above. */
static int plane_below(const struct face_job *j, int k)
{
    return j->dir == 2 ? (k - 1) & 3 : k & 3;
}

static int step_below(const struct sweep *s, const struct face_job *j)
{
    return j->dir == 0 ? 1 : j->dir == 1 ? s->in.w : 0;
}

/* Fluxes through a face of a refined cell come from the finer level. */
static void faces_mask(struct sweep *s, const struct face_job *j, int k)
{
    typedef unsigned char four_bytes __attribute__((vector_size(4), may_alias, aligned(1)));
    typedef int64_t four_words __attribute__((vector_size(32)));
    const unsigned char *hi = s->in.split[k & 3] + j->at;
    const unsigned char *lo = s->in.split[plane_below(j, k)] + j->at - step_below(s, j);
    for (int i = 0; i < 4 * j->fours; i += 4) {
        four_bytes split = *(const four_bytes *)(lo + i) | *(const four_bytes *)(hi + i);
        four_words whole = __builtin_convertvector(split, four_words) == 0;
        double *F = j->F + i;
        for (int v = 0; v < s->nflux; v++, F += PS)
            *(cells4_any *)F = (cells4)((four_words) * (const cells4_any *)F & whole);
    }
}

/* ---- extra diffusion where the flow converges (difmag) ---- */

/* Divergence of the velocity at the lower corner of each cell of plane k, from the eight cells
 * around it. */
static void plane_divergence(struct sweep *s, int k)
{
    int w = s->in.w, end = w * (2 * s->places.tile->t[1] + 4);
    const double *restrict a = s->q[(k - 1) & 3], *restrict b = s->q[k & 3];
    double *restrict div = s->div[k & 1];
    const double f = 0.25 / s->dx;
#pragma omp simd
    for (int i = w + 1; i < end; i++) { /* corners of the interior need no more */
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
    const double *restrict d0 = s->div[k & 1] + j->at, *restrict d1 = s->div[(k + 1) & 1] + j->at;
    /* the face's four corners: i, i+a on d0 and on e0 (z: two rows) */
    const double *restrict e0 = dir == 2 ? d0 : d1;
    int a = dir == 0 ? w : 1, b = dir == 2 ? w : 0;
    const double dt = s->dt, mag = s->par->difmag;
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

/* ---- conservative update ---- */

/* Divergence of the old velocities (without gravity) by central differences. */
static void row_expansion(struct sweep *s, int k, struct run at)
{
    int w = s->in.w, n = 4 * at.fours;
    const double *restrict lo = s->v_old[(k - 1) & 3] + at.at,
                           *restrict mid = s->v_old[k & 3] + at.at,
                           *restrict hi = s->v_old[(k + 1) & 3] + at.at;
    double *restrict out = s->sum[k & 1] + s->nflux * PS + at.at;
    const double dx2 = s->dx + s->dx;
#pragma omp simd simdlen(LANES)
    for (int i = 0; i < n; i++)
        out[i] = (mid[i + 1] - mid[i - 1]) / dx2 + (mid[PS + i + w] - mid[PS + i - w]) / dx2 +
                 (hi[2 * PS + i] - lo[2 * PS + i]) / dx2;
}

/* Variable after variable: the pointers of all of them at a time do not fit into the registers. */

/* Old values and fluxes in x and y of a row; y0, y1: fluxes through its lower and upper faces. */
static void row_sum(struct sweep *s, int k, struct run at, const double *restrict fx,
                    const double *restrict y0, const double *restrict y1)
{
    const int n = 4 * at.fours;
    const double *restrict u = s->in.u[k & 3] + at.at;
    double *restrict sum = s->sum[k & 1] + at.at;
    for (int v = 0; v < s->nvar * PS; v += PS)
#pragma omp simd simdlen(LANES)
        for (int i = v; i < v + n; i++)
            sum[i] = hydro_add_faces(hydro_add_faces(u[i], fx[i], fx[i + 1]), y0[i], y1[i]);
    for (int v = s->nvar * PS; v < s->nflux * PS; v += PS)
#pragma omp simd simdlen(LANES)
        for (int i = v; i < v + n; i++) sum[i] = (fx[i] - fx[i + 1]) + (y0[i] - y1[i]);
    if (s->nflux > s->nvar) row_expansion(s, k, at);
}

static void strip_sum(struct sweep *s, int y, int k, uint32_t octs)
{
    if (!octs) return;
    const struct span own = span_of(octs);
    const double *fy[2] = {s->fy[y & 1], s->fy[(y + 1) & 1]};
    for (int i = 0; i < 2; i++) {
        struct run row = row_run(s, 2 * y + i, own);
        const double *up = i ? fy[1] + row.r - s->in.w : fy[0] + row.r + s->in.w;
        if (row.fours) row_sum(s, k, row, s->fx[y & 1] + row.r, fy[0] + row.r, up);
    }
}

static void rows_finish(struct sweep *s, int k, struct run at)
{
    const int n = 4 * at.fours;
    double *restrict sum = s->sum[k & 1] + at.at;
    const double *restrict lo = s->fz[k & 1] + at.at, *restrict hi = s->fz[(k + 1) & 1] + at.at;
    for (int v = 0; v < s->nflux * PS; v += PS)
#pragma omp simd simdlen(LANES)
        for (int i = v; i < v + n; i++) sum[i] = hydro_add_faces(sum[i], lo[i], hi[i]);
}

/* New values of rows 2y and 2y+1 of plane k, when the fluxes through its upper faces are known. */
static void strip_finish(struct sweep *s, int y, int k, uint32_t octs)
{
    if (!octs) return;
    const struct span own = span_of(octs);
    struct run run[2];
    int n = pair_runs(s, y, own, own, run);
    for (int i = 0; i < n; i++)
        if (run[i].fours) rows_finish(s, k, run[i]);
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

/* Vectors are stored where they are aligned, those from cell -2 on or, of fluxes and sums, which
 * come last in both lists, from cell 0: one across two lines of the cache costs two stores. */
static void scratch_new(struct sweep *s)
{
    enum { STATE_PLANES = 10, STATE_STRIPS = 6, SHIFT = 6 };
    size_t plane = (size_t)(s->nvar + 3) * PS;
    double **const planes[] = {&s->q[0],    &s->q[1],    &s->q[2],    &s->q[3],  &s->in.u[0],
                               &s->in.u[1], &s->in.u[2], &s->in.u[3], &s->mz[0], &s->mz[1],
                               &s->fz[0],   &s->fz[1],   &s->sum[0],  &s->sum[1]};
    double **const strips[] = {&s->mx, &s->px,    &s->my[0], &s->my[1], &s->py,
                               &s->pz, &s->fx[0], &s->fx[1], &s->fy[0], &s->fy[1]};
    enum { PLANES = sizeof planes / sizeof *planes, STRIPS = sizeof strips / sizeof *strips };
    enum { BESIDE = PS / STRIP, SETS = PLANES + (STRIPS + BESIDE - 1) / BESIDE };
    size_t words = SETS * plane + (4 * 3 + 4 * 3 + 2 + 1 + 1) * PS;
    double *d = s->block = mem_zero(words * sizeof *d, "hydro tile scratch");
    for (int i = 0; i < PLANES; i++, d += plane) *planes[i] = d + (i < STATE_PLANES ? 0 : SHIFT);
    for (int i = 0; i < STRIPS; i++)
        *strips[i] = d + i / BESIDE * plane + i % BESIDE * STRIP + (i < STATE_STRIPS ? 0 : SHIFT);
    d += (SETS - PLANES) * plane;
    for (int i = 0; i < 4; i++, d += 3 * PS) s->v_old[i] = d;
    for (int i = 0; i < 4; i++, d += 3 * PS) s->in.f[i] = d;
    for (int i = 0; i < 2; i++, d += PS) s->div[i] = d;
    s->left = d;
    for (int i = 0; i < 4; i++) s->in.split[i] = (unsigned char *)(d + PS) + i * PS;
}

void sweep_init(struct sweep *s, const struct mesh *m, int l, double dt,
                const struct hydro_par *par)
{
    if (s->block && s->nvar != par->nvar) sweep_fini(s);
    s->par = par;
    s->gas = hydro_gas_of(par);
    s->nvar = par->nvar;
    s->nflux = par->nvar + (par->pressure_fix ? 2 : 0);
    s->nout = par->nvar + (par->pressure_fix ? 3 : 0);
    s->gravity = m->gravity;
    s->dt = dt;
    s->dx = mesh_dx(m, l);
    s->dtdx = dt / s->dx;
    if (!s->block) scratch_new(s);
}

void sweep_fini(struct sweep *s)
{
    mem_free(s->block);
    s->block = NULL;
}
