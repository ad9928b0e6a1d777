/* patch/sweep: the stages of a tile on pairs of rows; see sweep.h. The law computes each row of
 * cells or faces. */
#include "patch/sweep.h"

#include "base/mem.h"
#include "patch/across_kern.h"
#include "patch/patch.h"
#include "patch/transport.h"

#define INLINE static inline __attribute__((always_inline))
enum { PS = PLANE_STRIDE };

/* Masks of own octs in the row of octs of a strip and in adjacent rows. */
struct rows {
    uint32_t own, lower, upper; /* same z: row of the strip, rows below and above in y */
    uint32_t next;              /* adjacent row in z, on the side of the strip's plane */
};

/* Three dimensions and fewer have a loop over strips each, into which their stages are compiled;
 * ndim: s->ndim, a constant in three dimensions. */
INLINE void row_prim(struct sweep *s, int y, int k);
INLINE void strip_trace(struct sweep *s, int y, int k, struct rows at);
INLINE void strip_flux(int ndim, struct sweep *s, int y, int k, struct rows at);
INLINE void strip_sum(int ndim, struct sweep *s, int y, int k, uint32_t own);
INLINE void strip_finish(struct sweep *s, int y, int k, uint32_t own);
INLINE void faces_report(int ndim, struct sweep *s, int y, int k, const struct sweep_user *user);

INLINE struct rows rows_of(int ndim, const struct sweep *s, int y, int k)
{
    const int z = k >> 1;
    const uint32_t *row = s->slots.own[z + 1] + (y + 1);
    return (struct rows){.own = *row,
                         .lower = y >= 0 && ndim > 1 ? row[-1] : 0,
                         .upper = y < s->slots.tile->t[1] && ndim > 1 ? row[1] : 0,
                         .next = ndim < 3 ? 0 : s->slots.own[k & 1 ? z + 2 : z][y + 1]};
}

/* Prefetches a few of the octs that are needed soon, between the SLOT_PARTS stages of a strip. A
 * processor handles a few dozen outstanding cache misses at a time, and would drop some prefetches
 * of a whole row of octs. */
static void strip_fetch(struct sweep *s, const struct sweep_user *user, int y, int k, uint32_t own,
                        int part)
{
    if (!(k & 1))
        gather_prefetch(&s->in, y, k / 2 + 1, part);
    else if (own)
        user->reserve(s, user->ctx, y, k >> 1, part);
}

void sweep_flow(const struct sweep *s, int axis, int y, int k, const double *const lo[2],
                const double *const hi[2])
{
    const int w = s->in.w;
    const double *old = s->in.u[k & 3] + plane_at(w, 0, 2 * y);
    const struct patch_rows_flow at = {.axis = axis,
                                       .y = y,
                                       .k = k,
                                       .octs = s->slots.own[(k >> 1) + 1][y + 1],
                                       .lo = {lo[0], lo[1]},
                                       .hi = {hi[0], hi[1]},
                                       .old = {old, old + w}};
    if (at.octs) s->flow->rows(s, s->flow->ctx, &at);
}

/* The fluxes along x and y of rows 2y and 2y+1 of plane k. */
static void strip_flow(const struct sweep *s, int y, int k)
{
    const int w = s->in.w;
    const double *x = s->fx[y & 1] + 2, *y0 = s->fy[y & 1] + 2, *y1 = s->fy[(y + 1) & 1] + 2;
    sweep_flow(s, 0, y, k, (const double *const[2]){x, x + w},
               (const double *const[2]){x + 1, x + w + 1});
    if (s->ndim > 1)
        sweep_flow(s, 1, y, k, (const double *const[2]){y0, y0 + w},
                   (const double *const[2]){y0 + w, y1});
}

/* The fluxes along z. */
static void strip_flow_z(const struct sweep *s, int y, int k)
{
    const int w = s->in.w, at = plane_at(w, 0, 2 * y);
    const double *lo = s->fz[k & 1] + at, *hi = s->fz[(k + 1) & 1] + at;
    sweep_flow(s, 2, y, k, (const double *const[2]){lo, lo + w},
               (const double *const[2]){hi, hi + w});
}

/* Advances rows 2y and 2y+1 of plane k; sums of rows are completed by the fluxes through their
 * upper faces. */
INLINE void strip_advance(struct sweep *s, const struct sweep_user *user, int y, int k,
                          struct rows at)
{
    int last = 2 * s->slots.tile->t[2];
    strip_fetch(s, user, y, k, at.own, 0);
    if (user->soon && at.own && !(k & 1)) user->soon(s, user->ctx, y, k >> 1);
    strip_trace(s, y, k, at);
    if (k < 0) return;
    strip_fetch(s, user, y, k, at.own, 1);
    strip_flux(3, s, y, k, at);
    strip_fetch(s, user, y, k, at.own, 2);
    if (k > 0) strip_finish(s, y, k - 1, k & 1 ? at.own : at.next);
    strip_fetch(s, user, y, k, at.own, 3);
    if (k < last) strip_sum(3, s, y - 1, k, at.lower);
    strip_fetch(s, user, y, k, at.own, 4);
}

/* Gathers rows of octs and computes their primitive variables, up to row end − 1. A row below the
 * tile may be beyond a boundary, and comes with the next. */
static void rows_reach(struct sweep *s, int *gathered, int *known, int end)
{
    for (; *known < end; ++*known) {
        while (*gathered <= (*known < 0 ? 0 : *known)) gather_line(&s->in, (*gathered)++);
        if (s->law->primitive) row_prim(s, *known, 0);
    }
}

/* One plane, which is its own neighbour: there are no fluxes along z. */
static void plane_run(struct sweep *s, const struct sweep_user *user)
{
    const struct law *law = s->law;
    const int beside = s->ndim > 1; /* rows that a row waits for */
    const int end = s->slots.tile->t[1] + beside;
    int gathered = -beside, known = -beside; /* the next rows of octs */
    if (law->plane) {
        rows_reach(s, &gathered, &known, end);
        law->plane(s, 0), law->plane(s, 1);
    }
    for (int y = -beside; y < end; y++) {
        const struct rows at = rows_of(s->ndim, s, y, 0);
        const uint32_t whole = beside ? at.lower : at.own; /* all fluxes are known */
        for (int part = 0; part < SLOT_PARTS; part++) {
            if (y + 2 < end) gather_prefetch(&s->in, y + 2, 0, part);
            if (at.own && s->ndim > 1) user->reserve(s, user->ctx, y, 0, part);
        }
        rows_reach(s, &gathered, &known, y + 1 + beside < end ? y + 1 + beside : end);
        strip_trace(s, y, 0, at);
        strip_flux(s->ndim, s, y, 0, at);
        strip_sum(s->ndim, s, y - beside, 0, whole);
        if (user->faces) faces_report(s->ndim, s, y, 0, user);
        if (whole) user->ready(s, user->ctx, y - beside, 0);
    }
}

void sweep_run(struct sweep *s, const struct mesh *m, int l, const struct tile *t,
               const struct sweep_user *user)
{
    int planes = 2 * t->t[2];
    const struct law *law = s->law;
    slots_find(&s->slots, m, l, t, law->corners);
    gather_begin(&s->in, &s->slots, m, l, law);
    if (law->edges) {
        transport_run(s, user);
        return;
    }
    if (s->ndim < 3) {
        plane_run(s, user);
        return;
    }
    sweep_primitive(s, -1);
    sweep_primitive(s, 0);
    for (int k = -1; k <= planes; k++) {
        if (k > 0 && k & 1) gather_octs(&s->in, k / 2 + 1);
        if (k > 0 && k & 1) sweep_primitive(s, k / 2 + 1);
        if (law->plane && k == 0) law->plane(s, 0);
        if (law->plane && k >= 0 && k < planes) law->plane(s, k + 1);
        for (int y = -1; y <= t->t[1]; y++) {
            const struct rows at = rows_of(3, s, y, k);
            strip_advance(s, user, y, k, at);
            if (user->faces && k >= 0) faces_report(3, s, y, k, user);
            if (k > 0 && !(k & 1) && at.next) user->ready(s, user->ctx, y, k / 2 - 1);
        }
    }
}

/* Passes on the fluxes through the outer faces of octs at the coarse–fine boundary. Strips solve
 * the lower faces of their octs, which are the upper ones of the rows below in y and z, and both
 * faces in x. */
INLINE void faces_report(int ndim, struct sweep *s, int y, int k, const struct sweep_user *user)
{
    enum { HERE = 1 << 0 | 1 << 1 | 1 << 2, ABOVE_Y = 1 << 3, HERE_Z = 1 << 4, ABOVE_Z = 1 << 5 };
    int w = s->in.w, z = k >> 1, planes = 2 * s->slots.tile->t[2];
    const unsigned char(*exposed)[SLOT_SIDE] = s->slots.exposed_any + z;
    const double *x = s->fx[y & 1] + 2, *fy = s->fy[y & 1] + 2;
    const double *fz = s->fz[k & 1] + plane_at(w, 0, 2 * y);
    const double *const flux[6] = {x, x + 2, fy, fy, fz, fz};
    unsigned faces = 0, there = (1u << 2 * ndim) - 1;
    if (k < planes) faces = exposed[1][y + 1] & HERE;
    if (k < planes && y >= 0) faces |= exposed[1][y] & ABOVE_Y;
    if (!(k & 1)) faces |= (exposed[1][y + 1] & HERE_Z) | (exposed[0][y + 1] & ABOVE_Z);
    for (faces &= there; faces; faces &= faces - 1) {
        int f = __builtin_ctz(faces);
        user->faces(s, user->ctx, f, y - (f == 3), z - (f == 5), flux[f]);
    }
}

/* ---- ranges of cells ---- */

INLINE int fours_of(struct span x)
{
    return x.b > x.a ? (x.b - x.a + 3) >> 2 : 0;
}

/* Run of the cells x of row j. */
INLINE struct run row_run(const struct sweep *s, int j, struct span x)
{
    int w = s->in.w;
    if (x.b <= x.a) return (struct run){0};
    return (struct run){plane_at(w, x.a, j), (j & 1) * w + x.a + 2, fours_of(x)};
}

/* Makes rows 2y and 2y+1 one run if that is shorter. Returns the number of runs. */
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

/* Likewise of rows with the same cells. */
INLINE int twin_runs(const struct sweep *s, int y, struct span x, struct run out[2])
{
    const int w = s->in.w, fours = fours_of(x), both = (x.b + w - x.a + 3) >> 2;
    if (fours == 0) return 0;
    out[0] = row_run(s, 2 * y, x);
    out[1] = (struct run){out[0].at + w, out[0].r + w, fours};
    if (both > 2 * fours) return 2;
    out[0].fours = both;
    return 1;
}

/* ---- primitive variables and tracing ---- */

/* Computes the primitive variables of plane k of a row of octs, where an own cell reads them. */
INLINE void row_prim(struct sweep *s, int y, int k)
{
    const struct span x = span_of(s->slots.seen[(k >> 1) + 1][y + 1]);
    struct run run[2];
    const int n = twin_runs(s, y, x, run);
    for (int i = 0; i < n; i++) s->law->primitive(s, k, run[i]);
}

void sweep_primitive(struct sweep *s, int z)
{
    const int flat = s->ndim < 3, line = s->ndim < 2;
    if (!s->law->primitive) return;
    for (int k = 2 * z; k < 2 * z + 2 - flat; k++)
        for (int y = line - 1; y <= s->slots.tile->t[1] - line; y++) row_prim(s, y, k);
}

/* Traces the cells that share a face with an own cell: this row of octs and one more cell at each
 * end, the upper row of the octs below, the lower row of the octs above, and likewise in z. A
 * second cell at the lower end aligns the vectors. */
INLINE void strip_trace(struct sweep *s, int y, int k, struct rows at)
{
    if (!(at.own | at.next | at.lower | at.upper)) return;
    struct span own = span_of(at.own), row[2];
    struct run run[2];
    own.a -= 2, own.b++;
    row[0] = span_join(own, span_of(at.lower | at.next));
    row[1] = span_join(own, span_of(at.upper | at.next));
    int n = pair_runs(s, y, row[0], row[1], run);
    for (int i = 0; i < n; i++)
        if (run[i].fours) s->law->trace(s, y, k, run[i]);
}

/* ---- fluxes ---- */

static void faces_mask(struct sweep *s, const struct face_job *j, int k);

/* Whether a refined cell may be at these faces. */
static bool faces_split(const struct sweep *s, int y, int k)
{
    int z = k >> 1;
    return s->in.split_octs[z + 1][y + 1] || (y >= 0 && s->in.split_octs[z + 1][y]) ||
           (z >= 0 && s->in.split_octs[z][y + 1]);
}

static void faces_flux(struct sweep *s, struct face_jobs *jobs)
{
    const bool split = faces_split(s, jobs->y, jobs->k);
    s->law->fluxes(s, jobs);
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

INLINE void strip_flux_x(struct sweep *s, int y, uint32_t own, struct face_jobs *jobs)
{
    struct span faces = span_of(own);
    struct run run[2];
    faces.b++;
    int n = twin_runs(s, y, faces, run);
    for (int i = 0; i < n; i++)
        faces_add(s, jobs, 0, &run[i], s->mx + run[i].r - 1, s->px + run[i].r,
                  s->fx[y & 1] + run[i].r);
}

INLINE void strip_flux_y(struct sweep *s, int y, struct rows at, struct face_jobs *jobs)
{
    int w = s->in.w;
    struct run row[2] = {row_run(s, 2 * y, span_of(at.own | at.lower)),
                         row_run(s, 2 * y + 1, span_of(at.own))};
    const double *below[2] = {s->my[(y - 1) & 1] + row[0].r + w, s->my[y & 1] + row[1].r - w};
    for (int i = 0; i < 2; i++)
        faces_add(s, jobs, 1, &row[i], below[i], s->py + row[i].r, s->fy[y & 1] + row[i].r);
}

INLINE void strip_flux_z(struct sweep *s, int y, int k, uint32_t octs, struct face_jobs *jobs)
{
    struct span faces = span_of(octs);
    struct run run[2];
    int n = twin_runs(s, y, faces, run);
    for (int i = 0; i < n; i++)
        faces_add(s, jobs, 2, &run[i], s->mz[(k - 1) & 1] + run[i].at, s->pz + run[i].r,
                  s->fz[k & 1] + run[i].at);
}

/* Computes the fluxes through the lower faces of the cells of rows 2y and 2y+1; above the tile only
 * in z. */
INLINE void strip_flux(int ndim, struct sweep *s, int y, int k, struct rows at)
{
    struct face_jobs jobs;
    jobs.y = y, jobs.k = k, jobs.n = jobs.vectors = 0;
    if (ndim > 2) strip_flux_z(s, y, k, k & 1 ? at.own : at.own | at.next, &jobs);
    if (k < 2 * s->slots.tile->t[2]) {
        strip_flux_x(s, y, at.own, &jobs);
        if (ndim > 1) strip_flux_y(s, y, at, &jobs);
    }
    if (jobs.n > 0) faces_flux(s, &jobs);
}

/* Zeroes fluxes through faces of refined cells, which come from the finer level. */
static void faces_mask(struct sweep *s, const struct face_job *j, int k)
{
    typedef unsigned char four_bytes __attribute__((vector_size(4), may_alias, aligned(1)));
    typedef int64_t four_words __attribute__((vector_size(32)));
    const unsigned char *hi = s->in.split[k & 3] + j->at;
    const unsigned char *lo = s->in.split[plane_below(j, k)] + j->at - step_below(s, j);
    for (int i = 0; i < 4 * j->fours; i += 4) {
        four_bytes split = *(const four_bytes *)(lo + i) | *(const four_bytes *)(hi + i);
        if (!(uint32_t)split) continue;
        four_words whole = __builtin_convertvector(split, four_words) == 0;
        double *F = j->F + i;
        for (int v = 0; v < s->nflux; v++, F += PS)
            *(cells4_any *)F = (cells4)((four_words) * (const cells4_any *)F & whole);
    }
}

/* ---- conservative update ---- */

/* The update treats five variables at a time, at constant distances: short rows would spend more on
 * a loop for each variable than on their cells. Functions of these loops are not inlined: gcc 12
 * would use a pointer for each variable, and they do not fit into the registers. Further variables
 * have a loop each. */
enum { FIVE = 5 };
typedef double (*vars)[PS];
typedef const double (*vars_in)[PS];

static __attribute__((noinline)) void five_sum(int n, vars_in restrict u, vars_in restrict fx,
                                               vars_in restrict y0, vars_in restrict y1,
                                               vars restrict sum)
{
#pragma omp simd simdlen(LANES)
    for (int i = 0; i < n; i++)
        for (int v = 0; v < FIVE; v++)
            sum[v][i] = patch_add_faces(patch_add_faces(u[v][i], fx[v][i], fx[v][i + 1]), y0[v][i],
                                        y1[v][i]);
}

static __attribute__((noinline)) void five_finish(int n, vars_in restrict lo, vars_in restrict hi,
                                                  vars restrict sum)
{
#pragma omp simd simdlen(LANES)
    for (int i = 0; i < n; i++)
        for (int v = 0; v < FIVE; v++) sum[v][i] = patch_add_faces(sum[v][i], lo[v][i], hi[v][i]);
}

/* Adds old values and fluxes in x and y of a row; y0, y1: fluxes through its lower and upper faces.
 */
INLINE void row_sum(int ndim, struct sweep *s, int k, struct run at, const double *restrict fx,
                    const double *restrict y0, const double *restrict y1)
{
    const int n = 4 * at.fours;
    const double *restrict u = s->in.u[k & 3] + at.at;
    double *restrict sum = s->sum[k & 1] + at.at;
    const int first = ndim > 2 && s->nvar >= FIVE ? FIVE : 0;
    if (first > 0) five_sum(n, (vars_in)u, (vars_in)fx, (vars_in)y0, (vars_in)y1, (vars)sum);
    for (int q = first, v = first * PS; q < s->nvar; q++, v += PS)
        if (ndim > 2 || !(s->zero >> q & 1))
#pragma omp simd simdlen(LANES)
            for (int i = v; i < v + n; i++)
                sum[i] = patch_add_faces(patch_add_faces(u[i], fx[i], fx[i + 1]), y0[i], y1[i]);
    for (int v = s->nvar * PS; v < s->nflux * PS; v += PS)
#pragma omp simd simdlen(LANES)
        for (int i = v; i < v + n; i++) sum[i] = (fx[i] - fx[i + 1]) + (y0[i] - y1[i]);
    if (s->law->extra) s->law->extra(s, k, at);
}

INLINE void strip_sum(int ndim, struct sweep *s, int y, int k, uint32_t octs)
{
    if (!octs) return;
    const struct span own = span_of(octs);
    const double *fy[2] = {s->fy[y & 1], s->fy[(y + 1) & 1]};
    for (int i = 0; i < (ndim > 1 ? 2 : 1); i++) {
        struct run row = row_run(s, 2 * y + i, own);
        const double *up = i ? fy[1] + row.r - s->in.w : fy[0] + row.r + s->in.w;
        if (row.fours) row_sum(ndim, s, k, row, s->fx[y & 1] + row.r, fy[0] + row.r, up);
    }
    if (s->flow) strip_flow(s, y, k);
}

INLINE void rows_finish(struct sweep *s, int k, struct run at)
{
    const int n = 4 * at.fours;
    double *restrict sum = s->sum[k & 1] + at.at;
    const double *restrict lo = s->fz[k & 1] + at.at, *restrict hi = s->fz[(k + 1) & 1] + at.at;
    const int first = s->nflux >= FIVE ? FIVE : 0;
    if (first > 0) five_finish(n, (vars_in)lo, (vars_in)hi, (vars)sum);
    for (int v = first * PS; v < s->nflux * PS; v += PS)
#pragma omp simd simdlen(LANES)
        for (int i = v; i < v + n; i++) sum[i] = patch_add_faces(sum[i], lo[i], hi[i]);
}

/* Completes rows 2y and 2y+1 of plane k when the fluxes through its upper faces are known. */
INLINE void strip_finish(struct sweep *s, int y, int k, uint32_t octs)
{
    if (!octs) return;
    const struct span own = span_of(octs);
    struct run run[2];
    int n = twin_runs(s, y, own, run);
    for (int i = 0; i < n; i++) rows_finish(s, k, run[i]);
    if (s->flow) strip_flow_z(s, y, k);
}

/* ---- scratch ---- */

/* Allocates the scratch memory. Arrays are aligned at cell -2, or, for fluxes and sums, which come
 * last in both lists, at cell 0: a vector across two cache lines costs two stores. */
static void scratch_new(struct sweep *s)
{
    enum { STATE_PLANES = 10, STATE_STRIPS = 6, SHIFT = 6 };
    const struct law *law = s->law;
    size_t plane = (size_t)(s->nvar + LAW_BESIDE) * PS;
    double **const planes[] = {&s->q[0],    &s->q[1],    &s->q[2],    &s->q[3],  &s->in.u[0],
                               &s->in.u[1], &s->in.u[2], &s->in.u[3], &s->mz[0], &s->mz[1],
                               &s->fz[0],   &s->fz[1],   &s->sum[0],  &s->sum[1]};
    double **const strips[] = {&s->mx, &s->px,    &s->my[0], &s->my[1], &s->py,
                               &s->pz, &s->fx[0], &s->fx[1], &s->fy[0], &s->fy[1]};
    enum { PLANES = sizeof planes / sizeof *planes, STRIPS = sizeof strips / sizeof *strips };
    enum { BESIDE = PS / STRIP, SETS = PLANES + (STRIPS + BESIDE - 1) / BESIDE };
    size_t words = SETS * plane + (size_t)(law->nscratch + 1) * PS;
    double *d = s->block = mem_zero(words * sizeof *d, "hydro tile scratch");
    for (int i = 0; i < PLANES; i++, d += plane) *planes[i] = d + (i < STATE_PLANES ? 0 : SHIFT);
    for (int i = 0; i < STRIPS; i++)
        *strips[i] = d + i / BESIDE * plane + i % BESIDE * STRIP + (i < STATE_STRIPS ? 0 : SHIFT);
    d += (SETS - PLANES) * plane;
    for (int i = 1; i < 4 && s->ndim < 3; i++) s->q[i] = s->q[0], s->in.u[i] = s->in.u[0];
    if (s->ndim < 3) s->sum[1] = s->sum[0];
    if (s->ndim < 2) s->my[1] = s->my[0], s->fy[1] = s->fy[0], s->fx[1] = s->fx[0];
    for (int i = 0; i < 4 && !law->primitive; i++) s->q[i] = s->in.u[i];
    s->own = d;
    d += (size_t)law->nscratch * PS;
    for (int i = 0; i < 4; i++) s->in.split[i] = (unsigned char *)d + (s->ndim < 3 ? 0 : i) * PS;
}

void sweep_init(struct sweep *s, const struct mesh *m, int l, double dt, const struct law *law)
{
    if (s->block && (s->nvar != law->nvar || s->nscratch != law->nscratch || s->ndim != m->ndim ||
                     s->zero != law->zero || s->edges != law->edges || s->nsum != law->nsum))
        sweep_fini(s);
    s->ndim = m->ndim;
    s->zero = law->zero;
    s->edges = law->edges;
    s->nsum = law->nsum;
    s->law = law;
    s->nvar = law->nvar;
    s->nflux = law->nflux;
    s->nscratch = law->nscratch;
    s->dt = dt;
    s->dx = mesh_dx(m, l);
    s->dtdx = dt / s->dx;
    if (!s->block && law->edges) transport_new(s);
    if (!s->block) scratch_new(s);
}

void sweep_fini(struct sweep *s)
{
    mem_free(s->block);
    s->block = NULL;
}
