/* patch/transport: passes over the rows of a plane; each pass ends before the next begins. A pass
 * visits the cells within reach of own ones. */
#include "patch/transport.h"

#include <string.h>

#include "base/mem.h"
#include "patch/across_kern.h"
#include "patch/patch.h"

#define INLINE static inline __attribute__((always_inline))
enum { PS = PLANE_STRIDE };

/* ---- rows ---- */

/* Own octs of the rows of octs y, from −2 on, that contain cells of some planes: masks. */
struct own_rows {
    uint32_t of[SLOT_SIDE + 2];
};

/* Rows of the octs that contain cells of planes k0 … k1. */
static struct own_rows own_rows(const struct sweep *s, int k0, int k1)
{
    const int *t = s->slots.tile->t, z0 = k0 >> 1 < -1 ? -1 : k0 >> 1,
              z1 = k1 >> 1 > t[2] ? t[2] : k1 >> 1;
    struct own_rows r;
    memset(r.of, 0, sizeof *r.of * (size_t)(t[1] + 4));
    for (int z = z0; z <= z1; z++)
        for (int y = -1; y <= t[1]; y++) r.of[y + 2] |= s->slots.own[z + 1][y + 1];
    return r;
}

/* Own octs of the rows of octs that contain cells j0 … j1. */
static uint32_t own_octs(const struct own_rows *r, int j0, int j1)
{
    uint32_t own = 0;
    for (int y = j0 >> 1; y <= j1 >> 1; y++) own |= r->of[y + 2];
    return own;
}

static struct run run_of(const struct sweep *s, int j, struct span x)
{
    if (x.b <= x.a) return (struct run){0};
    return (struct run){plane_at(s->in.w, x.a, j), 0, (x.b - x.a + 3) / 4};
}

/* The cells of row j of a plane that are at most `lower` cells below an own cell, and at most
 * `upper` above one, along every axis; r: rows_within. */
static struct run reach(const struct sweep *s, const struct own_rows *r, int j, int lower,
                        int upper)
{
    struct span x = span_of(own_octs(r, j - upper, j + lower));
    x.a -= lower, x.b += upper;
    return run_of(s, j, x);
}

/* Own octs of which a cell is at most `lower` planes above plane k, or `upper` below it. */
static struct own_rows rows_within(const struct sweep *s, int k, int lower, int upper)
{
    return own_rows(s, k - upper, k + lower);
}

/* First and last row of cells that is visited. */
static int row_first(const struct sweep *s)
{
    return s->ndim > 1 ? -2 : 0;
}

static int row_last(const struct sweep *s)
{
    return s->ndim > 1 ? 2 * s->slots.tile->t[1] + 1 : 0;
}

#define ROWS(s, j) for (int j = row_first(s), end_##j = row_last(s); j <= end_##j; j++)

/* ---- passes ---- */

static void plane_start(struct sweep *s, int k)
{
    const struct own_rows own = rows_within(s, k, 1, 2);
    ROWS(s, j)
    {
        const struct run at = reach(s, &own, j, 1, 2);
        if (at.fours) s->law->edges->start(s, k, at);
    }
}

/* Half a step of the field on the lower faces along z, or along x and y, of plane k. */
static void plane_half(struct sweep *s, int k, bool z)
{
    const struct own_rows own = rows_within(s, k, 1, 2);
    ROWS(s, j)
    {
        const struct run at = reach(s, &own, j, 1, 2);
        if (at.fours) s->law->edges->half(s, k, z, at);
    }
}

static void plane_trace(struct sweep *s, int k)
{
    const struct own_rows own = rows_within(s, k, 1, 1);
    ROWS(s, j)
    {
        const struct run at = reach(s, &own, j, 1, 1);
        if (s->ndim > 2 && !(j & 1) && !(k & 1))
            for (int part = 0; part < SLOT_PARTS; part++)
                if (j >> 1 <= s->slots.tile->t[1]) gather_prefetch(&s->in, j >> 1, k / 2 + 1, part);
        if (at.fours) s->law->edges->trace(s, k, at);
    }
}

/* Whether a cell of rows j − 1 and j of planes k − 1 and k may be refined. */
static bool split_near(const struct sweep *s, int j, int k)
{
    const int y0 = (j - 1) >> 1, y1 = j >> 1;
    bool any = false;
    for (int z = s->ndim > 2 ? (k - 1) >> 1 : 0; z <= k >> 1; z++) {
        const uint32_t *row = s->in.split_octs[z + 1] + 1;
        any |= row[y1];
        if (s->ndim > 1 && y0 >= -1) any |= row[y0];
    }
    return any && s->in.finer;
}

/* Zeroes numbers at faces and edges that touch a refined cell: these come from the finer level.
 * axes: along which cells on both sides touch. */
static void mask_split(struct sweep *s, int k, struct run at, unsigned axes, double *to, int n)
{
    unsigned char any[4 * TILE_WIDTH + 16] = {0};
    for (unsigned side = 0; side < 8; side++) {
        if (side & ~axes) continue;
        const unsigned char *split = s->in.split[(k - (side >> 2 & 1)) & 3] + at.at -
                                     (side & 1 ? sweep_step(s, 0) : 0) -
                                     (side & 2 ? sweep_step(s, 1) : 0);
        for (int i = 0; i < 4 * at.fours; i++) any[i] |= split[i];
    }
    for (int v = 0; v < n; v++)
        for (int i = 0; i < 4 * at.fours; i++)
            if (any[i]) to[v * PS + at.at + i] = 0;
}

static void row_fluxes(struct sweep *s, int d, int j, int k, struct run at, double *F)
{
    if (!at.fours) return;
    s->law->edges->fluxes(s, d, k, at, F);
    if (split_near(s, j, k)) mask_split(s, k, at, 1u << d, F, s->nflux);
}

static void plane_fluxes(struct sweep *s, int d, int k, double *F)
{
    const struct own_rows own = own_rows(s, d == 2 ? k - 1 : k, k);
    ROWS(s, j)
    {
        struct span x = span_of(own_octs(&own, d == 1 ? j - 1 : j, j));
        x.b += d == 0;
        row_fluxes(s, d, j, k, run_of(s, j, x), F);
    }
}

/* Electromotive forces at the lower edges along axis d. */
static void plane_forces(struct sweep *s, int d, int k, double *E)
{
    const struct own_rows own = rows_within(s, k, 0, 1);
    ROWS(s, j)
    {
        const struct run at = reach(s, &own, j, 0, 1);
        if (!at.fours) continue;
        s->law->edges->forces(s, d, k, at, E);
        if (split_near(s, j, k)) mask_split(s, k, at, 7u & ~(1u << d), E, 1);
    }
}

/* ---- sums ---- */

/* The cells of row j of plane k that are own, or between own ones. */
static struct run own_run(const struct sweep *s, int j, int k)
{
    return run_of(s, j, span_of(s->slots.own[(k >> 1) + 1][(j >> 1) + 1]));
}

/* Adds to old values the fluxes within the plane. */
static void row_sum(struct sweep *s, int k, struct run at)
{
    const int n = 4 * at.fours, w = s->in.w, cells = law_cells(s->law);
    const double *u = s->in.u[k & 3];
    for (int v = 0; v < s->nflux; v++) {
        const int q = law_sum(s->law, s->ndim, v);
        const double *restrict fx = s->fx[0] + v * PS + at.at;
        const double *restrict fy = s->fy[0] + v * PS + at.at;
        const double *restrict old = u + q * PS + at.at;
        double *restrict sum = s->sum[k & 1] + q * PS + at.at;
        const bool from_zero = q >= s->nvar;
#pragma omp simd simdlen(LANES)
        for (int i = 0; i < n; i++)
            sum[i] = patch_add_faces(from_zero ? 0.0 : old[i], fx[i], fx[i + 1]);
        if (s->ndim < 2) continue;
#pragma omp simd simdlen(LANES)
        for (int i = 0; i < n; i++) sum[i] = patch_add_faces(sum[i], fy[i], fy[i + w]);
    }
    const double *restrict e = s->ez + at.at, *restrict old = u + cells * PS + at.at;
    double *restrict b = s->sum[k & 1] + cells * PS + at.at;
    for (int side = 0; side < 2 && s->ndim < 2; side++) /* does not change along the only axis */
        memcpy(b + side * PS, old + side * PS, (size_t)n * sizeof *b);
    if (s->ndim < 2) return;
    for (int side = 0; side < 2; side++) {
        const double *x = e + side, *y = e + side * w;
#pragma omp simd simdlen(LANES)
        for (int i = 0; i < n; i++) {
            b[side * PS + i] = patch_add_edges(old[side * PS + i], x[i], x[i + w]);
            b[(2 + side) * PS + i] = patch_take_edges(old[(2 + side) * PS + i], y[i], y[i + 1]);
        }
    }
}

/* Adds what comes through the planes below and above. */
static void row_finish(struct sweep *s, int k, struct run at)
{
    const int n = 4 * at.fours, w = s->in.w, cells = law_cells(s->law);
    const double *lo = s->fz[k & 1] + at.at, *hi = s->fz[(k + 1) & 1] + at.at;
    for (int v = 0; v < s->nflux; v++) {
        double *restrict sum = s->sum[k & 1] + law_sum(s->law, s->ndim, v) * PS + at.at;
#pragma omp simd simdlen(LANES)
        for (int i = 0; i < n; i++)
            sum[i] = patch_add_faces(sum[i], lo[v * PS + i], hi[v * PS + i]);
    }
    const double *x[2] = {s->ex[k & 1] + at.at, s->ex[(k + 1) & 1] + at.at},
                 *y[2] = {s->ey[k & 1] + at.at, s->ey[(k + 1) & 1] + at.at};
    const double *restrict old = s->in.u[k & 3] + cells * PS + at.at;
    double *restrict b = s->sum[k & 1] + cells * PS + at.at;
    for (int side = 0; side < 2; side++) {
        const double *x0 = x[0] + side * w, *x1 = x[1] + side * w, *y0 = y[0] + side,
                     *y1 = y[1] + side, *xs = x[side], *ys = y[side];
#pragma omp simd simdlen(LANES)
        for (int i = 0; i < n; i++) {
            b[side * PS + i] = patch_take_edges(b[side * PS + i], y0[i], y1[i]);
            b[(2 + side) * PS + i] = patch_add_edges(b[(2 + side) * PS + i], x0[i], x1[i]);
            b[(4 + side) * PS + i] = patch_take_edges(
                patch_add_edges(old[(4 + side) * PS + i], ys[i], ys[i + 1]), xs[i], xs[i + w]);
        }
    }
}

/* Hands out the fluxes through the faces along axis d of plane k; hi: through the upper faces. */
static void plane_flow(const struct sweep *s, int d, int k, const double *F, const double *hi)
{
    const int w = s->in.w;
    for (int y = 0; y < s->slots.tile->t[1]; y++) {
        const int at = plane_at(w, 0, 2 * y);
        sweep_flow(s, d, y, k, (const double *const[2]){F + at, F + at + w},
                   (const double *const[2]){hi + at, hi + at + w});
    }
}

static void plane_sum(struct sweep *s, int k)
{
    ROWS(s, j)
    {
        const struct run at = own_run(s, j, k);
        if (at.fours) row_sum(s, k, at);
        if (at.fours && s->law->extra) s->law->extra(s, k, at);
    }
    if (!s->flow) return;
    plane_flow(s, 0, k, s->fx[0], s->fx[0] + 1);
    if (s->ndim > 1) plane_flow(s, 1, k, s->fy[0], s->fy[0] + s->in.w);
}

static void plane_finish(struct sweep *s, int k)
{
    ROWS(s, j)
    {
        const struct run at = own_run(s, j, k);
        if (at.fours) row_finish(s, k, at);
    }
    if (s->flow) plane_flow(s, 2, k, s->fz[k & 1], s->fz[(k + 1) & 1]);
}

/* ---- reports ---- */

/* Passes on the fluxes through the outer faces of octs at the coarse–fine boundary that lie in
 * plane k, or are across it. */
static void faces_report(struct sweep *s, int k, const struct sweep_user *user)
{
    const int w = s->in.w, *t = s->slots.tile->t, planes = s->ndim > 2 ? 2 * t[2] : 1;
    for (int y = 0; y < t[1]; y++) {
        const int at = plane_at(w, 0, 2 * y);
        for (int f = 0; f < 2 * s->ndim; f++) {
            const int z = f == 5 ? (k >> 1) - 1 : k >> 1;
            if (f < 4 ? k == planes : k & 1) continue;
            if (z < 0 || !(s->slots.exposed_any[z + 1][y + 1] >> f & 1)) continue;
            const double *flux = f < 2   ? s->fx[0] + at + (f & 1 ? 2 : 0)
                                 : f < 4 ? s->fy[0] + at + (f & 1 ? 2 * w : 0)
                                         : s->fz[k & 1] + at;
            user->faces(s, user->ctx, f, y, z, flux);
        }
    }
}

static void plane_report(struct sweep *s, int k, const struct sweep_user *user)
{
    s->upper = k & 1;
    if (user->faces) faces_report(s, k, user);
    if (user->edges && s->ndim > 1) user->edges(s, user->ctx, k);
}

static void octs_ready(struct sweep *s, int z, const struct sweep_user *user)
{
    for (int y = 0; y < s->slots.tile->t[1]; y++)
        if (s->slots.own[z + 1][y + 1]) user->ready(s, user->ctx, y, z);
}

/* ---- the sweep ---- */

/* In fewer dimensions one plane is its own neighbour. */
static void plane_alone(struct sweep *s, const struct sweep_user *user)
{
    const int beside = s->ndim > 1;
    for (int y = -beside; y < s->slots.tile->t[1] + beside; y++) gather_line(&s->in, y);
    sweep_primitive(s, 0);
    if (s->ndim > 1) plane_start(s, 0);
    plane_half(s, 0, false);
    plane_trace(s, 0);
    plane_fluxes(s, 0, 0, s->fx[0]);
    if (s->ndim > 1) {
        plane_fluxes(s, 1, 0, s->fy[0]);
        plane_forces(s, 2, 0, s->ez);
    }
    plane_sum(s, 0);
    plane_report(s, 0, user);
    octs_ready(s, 0, user);
}

void transport_run(struct sweep *s, const struct sweep_user *user)
{
    const int planes = 2 * s->slots.tile->t[2];
    if (s->ndim < 3) {
        plane_alone(s, user);
        return;
    }
    sweep_primitive(s, -1);
    sweep_primitive(s, 0);
    plane_start(s, -1);
    plane_half(s, -1, true);
    for (int k = -1; k <= planes; k++) {
        if (k > 0 && k & 1) gather_octs(&s->in, k / 2 + 1);
        if (k > 0 && k & 1) sweep_primitive(s, k / 2 + 1);
        plane_start(s, k + 1);
        plane_half(s, k + 1, true);
        plane_half(s, k, false);
        plane_trace(s, k);
        if (k < 0) continue;
        plane_fluxes(s, 2, k, s->fz[k & 1]);
        plane_forces(s, 0, k, s->ex[k & 1]);
        plane_forces(s, 1, k, s->ey[k & 1]);
        if (k > 0) plane_finish(s, k - 1);
        if (k > 0 && !(k & 1)) octs_ready(s, k / 2 - 1, user); /* before sums of this plane */
        if (k < planes) {
            plane_fluxes(s, 0, k, s->fx[0]);
            plane_fluxes(s, 1, k, s->fy[0]);
            plane_forces(s, 2, k, s->ez);
            plane_sum(s, k);
        }
        plane_report(s, k, user);
    }
}

/* ---- scratch ---- */

void transport_new(struct sweep *s)
{
    const struct law *law = s->law;
    const size_t fields = (size_t)law->nfield * PS, flux = (size_t)law->nflux * PS,
                 sums = (size_t)law->nsum * PS, one = PS;
    const bool space = s->ndim > 2;
    const struct {
        double **to;
        size_t n;
        bool space; /* needed in three dimensions only */
    } part[] = {{&s->in.u[0], fields, false}, {&s->in.u[1], fields, true},
                {&s->in.u[2], fields, true},  {&s->in.u[3], fields, true},
                {&s->q[0], fields, false},    {&s->q[1], fields, true},
                {&s->q[2], fields, true},     {&s->q[3], fields, true},
                {&s->sum[0], sums, false},    {&s->sum[1], sums, true},
                {&s->fx[0], flux, false},     {&s->fy[0], flux, false},
                {&s->fz[0], flux, true},      {&s->fz[1], flux, true},
                {&s->ex[0], one, true},       {&s->ex[1], one, true},
                {&s->ey[0], one, true},       {&s->ey[1], one, true},
                {&s->ez, one, false},         {&s->own, (size_t)law->nscratch * PS, false}};
    enum { PARTS = sizeof part / sizeof *part };
    size_t words = PS + 64;
    for (int i = 0; i < PARTS; i++) words += part[i].space && !space ? 0 : part[i].n;
    double *d = s->block = mem_zero(words * sizeof *d, "hydro tile scratch");
    for (int i = 0; i < PARTS; i++) {
        *part[i].to = part[i].space && !space ? *part[i - 1].to : d;
        d += part[i].space && !space ? 0 : part[i].n;
    }
    for (int i = 0; i < 4; i++) s->in.split[i] = (unsigned char *)d + (space ? i : 0) * PS;
}
