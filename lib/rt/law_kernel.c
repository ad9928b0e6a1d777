/* rt/law_kernel: a step of photons on a device, by the engine's loops (patch/godunov.h), one group
 * after the other: no flux of a group needs another one. At first order the states at faces are
 * those of the cells. In the place of rates of change a cell has its pressures, and with HLL the
 * speeds of its waves. */
#include "dev/kernel.h"
#include "hydro/interp_kern.h"
#include "rt/kernels.h"

enum { PRESSURES = 6, WAVES = 6, VALUES = PHOTON_VALUES };
enum scheme { SCHEME_GLF, SCHEME_HLL };
#define LAW_ARGS struct rt_tile_args
#define LAW_CORE PHOTON_VALUES
#define LAW_RATES PRESSURES
#define LAW_PARTS(a) ((a)->groups)
#define LAW_FIELD(v) (FLD_PHOTONS + (v))
#define LAW_SYSTEM REFLUX_RT
#define LAW_MIRRORED(a, f) ((a)->num->bound[f] == BOUND_REFLECT)
#define LAW_LIMITER enum scheme
#define LAW_SOLVER int
#include "patch/godunov.h"

/* Whether the cell `at` of the patch is beyond a face of the box. */
DEV_FN bool beyond_box(const struct rt_tile_args *a, const struct work *k,
                       const struct godunov_shared *s, int at)
{
    const int x[3] = {at % P % W, at % P / W, at / P};
    const int64_t n = (int64_t)1 << a->p.l;
    bool any = false;
    for (int d = 0; d < 3; d++) {
        const int64_t global = 2 * s->x0[d] + x[d] - 2;
        any |= d < k->ndim && (global < 0 || global >= n);
    }
    return any;
}

DEV_FN_OUT void bound_cell(const struct rt_tile_args *a, const struct work *k,
                           struct godunov_shared *s, int beyond, int at)
{
    double u[VALUES];
    for (int v = 0; v < VALUES; v++) u[v] = s->q[v][at];
    for (int d = 0; d < 3; d++) {
        const int f = face_beyond(beyond, d);
        if (f >= 0) rt_beyond(a->num->bound[f], a->num->state[f] + VALUES * k->part, f, u);
    }
    for (int v = 0; v < VALUES; v++) s->q[v][at] = u[v];
}

DEV_FN void law_primitive(const struct rt_tile_args *a, const struct work *k,
                          struct godunov_shared *s, struct origin o, int at)
{
    if (o.beyond) bound_cell(a, k, s, o.beyond, at);
    if (!a->vacuum || !beyond_box(a, k, s, at)) return;
    for (int v = 0; v < VALUES; v++) s->q[v][at] = 0.0;
    s->split[at] = 0;
}

/* Speeds of waves of the traced cell i: of the slowest along x, y, z, then of the fastest. */
DEV_FN double *wave_of(const struct work *k, int which, int i)
{
    return k->own + which * TRACED + i;
}

DEV_FN void law_rates(const struct rt_tile_args *a, const struct work *k, struct godunov_shared *s,
                      enum scheme type, int at, int to)
{
    const double n = s->q[0][at], x = s->q[1][at], y = s->q[2][at], z = s->q[3][at];
    const struct m1_pressure p = m1_pressure(n, x, y, z, a->c * a->c);
    s->rate[0][to] = p.xx, s->rate[1][to] = p.xy, s->rate[2][to] = p.xz;
    s->rate[3][to] = p.yy, s->rate[4][to] = p.yz, s->rate[5][to] = p.zz;
    if (type == SCHEME_GLF) return;
    const struct m1_shape shape = m1_shape(n, x, y, z, a->c);
    for (int d = 0; d < 3; d++) {
        const struct m1_waves w = m1_waves(shape, s->q[1 + d][at]);
        *wave_of(k, d, to) = w.lo;
        *wave_of(k, 3 + d, to) = w.hi;
    }
}

DEV_FN struct m1_weights weights_of(const struct rt_tile_args *a, const struct work *k,
                                    const struct face *f)
{
    const struct m1_waves low = {*wave_of(k, f->dir, f->lower), *wave_of(k, 3 + f->dir, f->lower)},
                          high = {*wave_of(k, f->dir, f->upper), *wave_of(k, 3 + f->dir, f->upper)};
    return m1_weights(low, high, a->c);
}

DEV_FN void law_flux(const struct rt_tile_args *a, const struct work *k,
                     const struct godunov_shared *s, const struct face *f, enum scheme type,
                     int solver)
{
    const double dtdx = a->p.dt / a->p.dx;
    struct m1_weights w = {0, 0, 0};
    if (type == SCHEME_HLL) w = weights_of(a, k, f);
    for (int v = 0; v < VALUES; v++) {
        const double low = s->q[v][f->at - f->step], high = s->q[v][f->at];
        double f0, f1;
        if (v == 0) {
            f0 = s->q[1 + f->dir][f->at - f->step];
            f1 = s->q[1 + f->dir][f->at];
        } else {
            const int p = rt_pressure_of(f->dir, v - 1);
            f0 = s->rate[p][f->lower];
            f1 = s->rate[p][f->upper];
        }
        const double flux = type == SCHEME_HLL ? m1_hll(low, high, f0, f1, w)
                                               : m1_glf(low, high, f0, f1, a->c);
        k->flux[v * ALL + f->i] = dtdx * flux;
    }
}

DEV_FN void law_fluxes(const struct rt_tile_args *a, const struct work *k, struct godunov_shared *s,
                       struct dev_block *b, enum scheme type)
{
    fluxes(a, k, s, b, type, 0);
}

DEV_FN void law_finish(const struct rt_tile_args *a, const struct work *k, struct own_cell *o)
{
    const int first = LAW_FIRST(k);
    for (int v = 0; v < VALUES; v++)
        *new_of(a, o, first + v) = cell_next(a, k, o, v,
                                             a->p.level.fld[LAW_FIELD(first + v)][o->oct][o->c]);
}

KERNEL(photons_glf, struct rt_tile_args, struct godunov_shared, GODUNOV_THREADS)
{
    tiles(a, s, b, SCHEME_GLF);
}

KERNEL(photons_hll, struct rt_tile_args, struct godunov_shared, GODUNOV_THREADS)
{
    tiles(a, s, b, SCHEME_HLL);
}

/* ---- octs that do not exist ---- */

/* Whether all neighbours of the cell are on its level. */
DEV_FN bool neighbours_complete(const struct mesh *m, struct patch_cell p)
{
    bool all = true;
    for (int d = 0; d < m->ndim; d++)
        all &= m->lev[p.level].nbr[p.oct][2 * d + (p.cell >> d & 1)] >= 0;
    return all;
}

/* Slopes of minmod, in the rounding of patch/children.h. */
DEV_FN double half_slope(double below, double own, double above)
{
    const double r = 0.5 * (above - own), l = 0.5 * (own - below);
    return l * r > 0.0 ? (fabs(l) < fabs(r) ? l : r) : 0.0;
}

/* A value in the children of a cell; odd: boundaries beyond which it has another sign. */
DEV_FN void missing_value(const struct mesh *m, struct patch_cell p, int f, int odd, int type,
                          double out[8])
{
    double a[7], w[3] = {0.0, 0.0, 0.0};
    a[0] = m->lev[p.level].fld[f][p.oct][p.cell];
    for (int n = 0; n < 6 && type != 0; n++) a[1 + n] = patch_value_across(m, p, n, f, odd);
    if (type == 1 && neighbours_complete(m, p)) {
        for (int d = 0; d < m->ndim; d++) w[d] = half_slope(a[1 + 2 * d], a[0], a[2 + 2 * d]);
        for (int k = 0; k < 8; k++)
            out[k] = ((a[0] + w[0] * (k & 1 ? 0.5 : -0.5)) + w[1] * (k & 2 ? 0.5 : -0.5)) +
                     w[2] * (k & 4 ? 0.5 : -0.5);
        return;
    }
    hydro_interp_slope(type, a, w);
    for (int k = 0; k < 8; k++) out[k] = hydro_interp_child(a[0], w[0], w[1], w[2], k);
}

KERNEL(photons_missing, struct patch_missing_args, struct dev_nothing, DEV_THREADS)
{
    const struct rt_numbers *num = (const struct rt_numbers *)a->par;
    const struct law *law = &a->law;
    const int type = num->interpol == 4 ? 2 : num->interpol;
    PHASE (t, DEV_THREADS) {
        const int64_t k = (int64_t)b->index * DEV_THREADS + t;
        if (k >= a->n) continue;
        const struct patch_cell p = {a->l - 1, a->parent[k] >> 3, a->parent[k] & 7};
        double *row = a->row + k * (law->nvar + LAW_BESIDE) * 8;
        for (int v = 0; v < law->nvar; v++)
            missing_value(a->mesh, p, law->field[v], law->odd[v], type, row + 8 * v);
        for (int i = 0; i < 2 * law->nvar && type != 0 && num->confines; i++) {
            double *u = row + i / 8 * 8 * VALUES + i % 8;
            const double by = m1_limit(u[0], m1_flux2(u[8], u[16], u[24]), num->c);
            for (int d = 1; d < VALUES && by < 1.0; d++) u[8 * d] *= by;
        }
    }
}
