/* mhd/cells: half a step of cells and of the field on faces (Fromang, Hennebelle & Teyssier 2006;
 * docs/method/mhd.md). Slopes are limited; derivatives of a component of the field along itself do
 * not appear, so that the scheme is right without div B in it. */
#include <string.h>

#include "mhd/mhd_law.h"
#include "mhd/step_kern.h"

enum { PS = PLANE_STRIDE };

/* Field on the face −x, −y or −z (axis d), or on the opposite one, in the gathered planes. */
static const double *face_of(const struct sweep *s, int k, int d, int upper)
{
    return s->in.u[k & 3] + (mhd_field(s) + 2 * d + upper) * PS;
}

/* ---- primitive variables ---- */

void mhd_primitive(struct sweep *s, int k, struct run at)
{
    const struct mhd_law *law = mhd_law_of(s);
    const struct mhd_gas g = law->g;
    const int n = 4 * at.fours, cells = mhd_field(s);
    const double *restrict u = s->in.u[k & 3] + at.at, *restrict b = u + cells * PS,
                           *restrict f = u + s->nvar * PS;
    double *restrict q = s->q[k & 3] + at.at, *restrict c = q + cells * PS;
    const double *restrict e = u + GAS_ENERGY * PS;
    const double half_dt = 0.5 * s->dt;
    if (mhd_mixed(s)) {
        double *without = mhd_planes(s, k).none + at.at;
        gas_energies_primitive(s, k, at, without);
        e = without;
    }
#pragma omp simd simdlen(LANES)
    for (int i = 0; i < n; i++) mhd_primitive_at(u, e, b, PS, i, g, q, c);
    double *old = mhd_planes(s, k).old + at.at;
    for (int d = 0; d < 3 && law->gas.law.extra; d++)
        memcpy(old + d * PS, q + (1 + d) * PS, (size_t)n * sizeof *q);
    for (int d = 0; d < s->ndim && law->gas.gravity; d++)
#pragma omp simd simdlen(LANES)
        for (int i = 0; i < n; i++) q[(1 + d) * PS + i] += f[d * PS + i] * half_dt;
    for (int v = gas_passive(s); v < cells; v++)
#pragma omp simd simdlen(LANES)
        for (int i = 0; i < n; i++) q[v * PS + i] = u[v * PS + i] * (1.0 / q[i]);
}

/* ---- electromotive forces at the start ---- */

/* v × B along axis d at the lower edge: velocities are means of four cells, the field of two faces.
 */
static void start_along(struct sweep *s, int d, int k, struct run at)
{
    const int n = 4 * at.fours, b = (d + 1) % 3, c = (d + 2) % 3;
    const int db = sweep_step(s, b), dc = sweep_step(s, c);
    const int kb = b == 2, kc = c == 2; /* whether the lower neighbour is in the plane below */
    const struct mhd_start x = {.q11 = s->q[k & 3] + at.at,
                                .q01 = s->q[(k - kb) & 3] + at.at - db,
                                .q10 = s->q[(k - kc) & 3] + at.at - dc,
                                .q00 = s->q[(k - kb - kc) & 3] + at.at - db - dc,
                                .b1 = face_of(s, k, b, 0) + at.at,
                                .b0 = face_of(s, k - kc, b, 0) + at.at - dc,
                                .c1 = face_of(s, k, c, 0) + at.at,
                                .c0 = face_of(s, k - kb, c, 0) + at.at - db,
                                .v = (1 + b) * PS,
                                .w = (1 + c) * PS};
    double *restrict e = mhd_planes(s, k).start + d * PS + at.at;
#pragma omp simd simdlen(LANES)
    for (int i = 0; i < n; i++) e[i] = mhd_start_at(x, i);
}

void mhd_start(struct sweep *s, int k, struct run at)
{
    for (int d = s->ndim > 2 ? 0 : 2; d < 3; d++) start_along(s, d, k, at);
}

/* ---- the field on faces ---- */

INLINE void steep_rows(enum slope type, double theta, int n, const double *restrict lo,
                       const double *restrict mid, const double *restrict hi, double *restrict out)
{
#pragma omp simd simdlen(LANES)
    for (int i = 0; i < n; i++) out[i] = hydro_slope(type, mid[i] - lo[i], hi[i] - mid[i], theta);
}

/* Limited slopes of n values. */
static void slopes_of(enum slope type, double theta, int n, const double *lo, const double *mid,
                      const double *hi, double *out)
{
    switch (type) {
    case SLOPE_MINMOD:
        steep_rows(SLOPE_MINMOD, theta, n, lo, mid, hi, out);
        break;
    case SLOPE_MONCEN:
        steep_rows(SLOPE_MONCEN, theta, n, lo, mid, hi, out);
        break;
    case SLOPE_VANLEER:
        steep_rows(SLOPE_VANLEER, theta, n, lo, mid, hi, out);
        break;
    case SLOPE_THETA:
        steep_rows(SLOPE_THETA, theta, n, lo, mid, hi, out);
        break;
    case SLOPE_NONE:
    case SLOPE_POSITIVE: /* slopes_positive */
    case SLOPE_SUPERBEE:
    case SLOPE_ULTRABEE:
    case SLOPE_CENTRAL:
        memset(out, 0, (size_t)n * sizeof *out);
        break;
    }
}

/* Slopes along the face of the field on the lower faces across axis d. */
static void face_slopes(struct sweep *s, int d, int k, struct run at)
{
    const struct mhd_par *p = mhd_law_of(s)->par;
    double *out = mhd_planes(s, k).steep + 2 * d * PS + at.at;
    for (int t = 0; t < 2; t++, out += PS) {
        const int along = (d + 1 + t) % 3, z = along == 2;
        if (along >= s->ndim) continue;
        slopes_of(p->slope_mag, p->gas->slope_theta, 4 * at.fours,
                  face_of(s, k - z, d, 0) + at.at - sweep_step(s, along),
                  face_of(s, k, d, 0) + at.at,
                  face_of(s, k + z, d, 0) + at.at + sweep_step(s, along), out);
    }
}

/* Field on the lower faces across axis d after half a step, from the forces at the edges. */
static void face_half(struct sweep *s, int d, int k, struct run at)
{
    const int n = 4 * at.fours, b = (d + 1) % 3, c = (d + 2) % 3;
    const int db = sweep_step(s, b), dc = sweep_step(s, c), kb = b == 2, kc = c == 2;
    const double *restrict from = face_of(s, k, d, 0) + at.at;
    double *restrict to = mhd_planes(s, k).half + d * PS + at.at;
    const double h = 0.5 * s->dtdx;
    const double *restrict ec0 = mhd_planes(s, k).start + c * PS + at.at,
                           *restrict ec1 = mhd_planes(s, k + kb).start + c * PS + at.at + db,
                           *restrict eb0 = mhd_planes(s, k).start + b * PS + at.at,
                           *restrict eb1 = mhd_planes(s, k + kc).start + b * PS + at.at + dc;
    const double on_c = b < s->ndim ? h : 0.0, on_b = c < s->ndim ? h : 0.0;
    if (s->ndim < 2) {
        memcpy(to, from, (size_t)n * sizeof *to);
        return;
    }
#pragma omp simd simdlen(LANES)
    for (int i = 0; i < n; i++)
        to[i] = mhd_face_half(from[i], on_c, ec0[i], ec1[i], on_b, eb0[i], eb1[i]);
}

void mhd_half(struct sweep *s, int k, bool z, struct run at)
{
    for (int d = z ? 2 : 0; d < (z ? 3 : 2) && d < s->ndim; d++) {
        face_half(s, d, k, at);
        face_slopes(s, d, k, at);
    }
}

/* ---- cells ---- */

static void slopes_positive(struct sweep *s, int v, int k, struct run at)
{
    const int n = 4 * at.fours, w = s->in.w, o = v * PS + at.at;
    const double *restrict lo = s->q[(k - 1) & 3] + o, *restrict mid = s->q[k & 3] + o,
                           *restrict hi = s->q[(k + 1) & 3] + o;
    const struct mhd_planes p = mhd_planes(s, k);
    double *restrict x = p.slope[0] + o, *restrict y = p.slope[1] + o, *restrict z = p.slope[2] + o;
#pragma omp simd simdlen(LANES)
    for (int i = 0; i < n; i++) {
        const struct hydro_slope3 d = hydro_slope_positive(lo + i, mid + i, hi + i, w);
        x[i] = d.x, y[i] = d.y, z[i] = d.z;
    }
}

static void cell_slopes(struct sweep *s, int nq, int k, struct run at)
{
    const struct hydro_par *par = mhd_law_of(s)->par->gas;
    const struct mhd_planes p = mhd_planes(s, k);
    for (int v = 0; v < nq; v++) {
        const int o = v * PS + at.at;
        if (par->slope_type == SLOPE_POSITIVE) {
            slopes_positive(s, v, k, at);
            continue;
        }
        for (int d = 0; d < s->ndim; d++)
            slopes_of(par->slope_type, par->slope_theta, 4 * at.fours,
                      s->q[(k - (d == 2)) & 3] + o - sweep_step(s, d), s->q[k & 3] + o,
                      s->q[(k + (d == 2)) & 3] + o + sweep_step(s, d), p.slope[d] + o);
    }
}

/* mixed: whether there are non-thermal energies, a constant. */
INLINE void cell_rows(int ndim, bool mixed, struct sweep *s, int k, struct run at)
{
    const struct mhd_law *law = mhd_law_of(s);
    const struct mhd_planes p = mhd_planes(s, k);
    const double *restrict q = s->q[k & 3] + at.at, *restrict x = p.slope[0] + at.at,
                           *restrict y = p.slope[1] + at.at, *restrict z = p.slope[2] + at.at;
    double *restrict to = p.cell + at.at;
    const int n = 4 * at.fours, b = mhd_field(s), total = mixed ? b + 3 : GAS_ENERGY;
    const double h = 0.5 * s->dtdx, gamma = law->g.gamma;
    const bool moves = law->par->flow == FLOW_NONE;
#pragma omp simd simdlen(LANES)
    for (int i = 0; i < n; i++)
        mhd_cell_half(ndim, moves, PS, b, total, h, gamma, q + i, x + i, y + i, z + i, to + i);
}

/* Rows of the MHD_MIXED sums over all pressures, of values or of slopes. */
static void mixed_sums(const struct sweep *s, double *rows, int n)
{
    const struct mhd_gas g = mhd_law_of(s)->g;
    const struct gas_energies *e = &mhd_law_of(s)->par->gas->energy;
    double *restrict sum = rows + (mhd_field(s) + 3) * PS;
    for (int k = -1; k < e->n; k++) {
        const double *restrict p = rows + (GAS_SCALARS + k) * PS; /* −1: the thermal one */
        const double gamma = k < 0 ? g.gamma : e->gamma[k], entho = 1.0 / gas_gm1(gamma);
#pragma omp simd simdlen(LANES)
        for (int i = 0; i < n; i++) {
            sum[MHD_TOTAL * PS + i] = (k < 0 ? 0.0 : sum[MHD_TOTAL * PS + i]) + p[i];
            sum[MHD_STIFF * PS + i] = (k < 0 ? 0.0 : sum[MHD_STIFF * PS + i]) + gamma * p[i];
            sum[MHD_INNER * PS + i] = (k < 0 ? 0.0 : sum[MHD_INNER * PS + i]) + entho * p[i];
        }
    }
}

/* Half a step of the pressures of non-thermal energies. */
static void energies_half(struct sweep *s, int k, struct run at)
{
    const struct gas_energies *e = &mhd_law_of(s)->par->gas->energy;
    const struct mhd_planes p = mhd_planes(s, k);
    const double h = 0.5 * s->dtdx;
    for (int v = GAS_SCALARS; v < GAS_SCALARS + e->n; v++)
        for (int d = 0; d < s->ndim; d++) {
            const double *restrict q = s->q[k & 3] + v * PS + at.at,
                                   *restrict speed = s->q[k & 3] + (1 + d) * PS + at.at,
                                   *restrict slope = p.slope[d] + v * PS + at.at,
                                   *restrict along = p.slope[d] + (1 + d) * PS + at.at;
            double *restrict to = p.cell + v * PS + at.at;
            const double gamma = e->gamma[v - GAS_SCALARS];
#pragma omp simd simdlen(LANES)
            for (int i = 0; i < 4 * at.fours; i++)
                to[i] = (d ? to[i] : q[i]) - h * (speed[i] * slope[i] + gamma * q[i] * along[i]);
        }
}

static void mixed_half(struct sweep *s, int k, struct run at)
{
    const struct mhd_planes p = mhd_planes(s, k);
    for (int d = 0; d < s->ndim; d++) mixed_sums(s, p.slope[d] + at.at, 4 * at.fours);
    if (s->ndim > 2)
        cell_rows(3, true, s, k, at);
    else if (s->ndim > 1)
        cell_rows(2, true, s, k, at);
    else
        cell_rows(1, true, s, k, at);
    energies_half(s, k, at);
    mixed_sums(s, p.cell + at.at, 4 * at.fours);
}

static void cells_half(struct sweep *s, int k, struct run at)
{
    if (mhd_mixed(s))
        mixed_half(s, k, at);
    else if (s->ndim > 2)
        cell_rows(3, false, s, k, at);
    else if (s->ndim > 1)
        cell_rows(2, false, s, k, at);
    else
        cell_rows(1, false, s, k, at);
}

static void scalars_half(struct sweep *s, int k, struct run at)
{
    const struct mhd_planes p = mhd_planes(s, k);
    const double h = 0.5 * s->dtdx;
    for (int v = gas_passive(s); v < mhd_field(s); v++)
        for (int d = 0; d < s->ndim; d++) {
            const double *restrict q = s->q[k & 3] + v * PS + at.at,
                                   *restrict speed = s->q[k & 3] + (1 + d) * PS + at.at,
                                   *restrict slope = p.slope[d] + v * PS + at.at;
            double *restrict to = p.cell + v * PS + at.at;
#pragma omp simd simdlen(LANES)
            for (int i = 0; i < 4 * at.fours; i++)
                to[i] = mhd_scalar_half(d ? to[i] : q[i], h, speed[i], slope[i]);
        }
}

/* Field at the centre after half a step: the mean of both faces. */
static void field_half(struct sweep *s, int k, struct run at)
{
    for (int d = 0; d < s->ndim; d++) {
        const double *restrict lo = mhd_planes(s, k).half + d * PS + at.at,
                               *restrict hi = mhd_planes(s, k + (d == 2)).half + d * PS + at.at +
                                              sweep_step(s, d);
        double *restrict to = mhd_planes(s, k).cell + (mhd_field(s) + d) * PS + at.at;
#pragma omp simd simdlen(LANES)
        for (int i = 0; i < 4 * at.fours; i++) to[i] = mhd_middle(lo[i], hi[i]);
    }
}

void mhd_trace(struct sweep *s, int k, struct run at)
{
    cell_slopes(s, mhd_field(s) + 3, k, at);
    cells_half(s, k, at);
    scalars_half(s, k, at);
    field_half(s, k, at);
}

/* Divergence of the old velocities by central differences, for pressure_fix and
 * non-thermal energies. */
void mhd_expansion(struct sweep *s, int k, struct run at)
{
    const int n = 4 * at.fours;
    double *restrict out = s->sum[k & 1] + (s->nsum - 1) * PS + at.at;
    const double dx2 = s->dx + s->dx;
    for (int d = 0; d < s->ndim; d++) {
        const double *restrict lo = mhd_planes(s, k - (d == 2)).old + d * PS + at.at -
                                    sweep_step(s, d),
                               *restrict hi = mhd_planes(s, k + (d == 2)).old + d * PS + at.at +
                                              sweep_step(s, d);
#pragma omp simd simdlen(LANES)
        for (int i = 0; i < n; i++) out[i] = mhd_expansion_add(d ? out[i] : 0.0, lo[i], hi[i], dx2);
    }
}
