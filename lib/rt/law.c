/* rt/law: the rows of the law of photons.
 *
 * A plane of cells first gets its pressures, and with HLL the speeds of its waves, which all faces
 * of a cell share. Faces read the planes of their cells: at first order states at faces are those
 * of the cells. */
#include "rt/law.h"

#include "hydro/interp_kern.h"
#include "patch/children.h"
#include "patch/sweep.h"

enum { PS = PLANE_STRIDE, PRESSURES = 6, WAVES = 6, VALUES = RT_COMPONENTS };

/* Pressures between axis d and x, y, z. */
static const int PRESSURE[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};

static int planes_of_group(const struct rt *rt)
{
    return rt->scheme == RT_HLL ? PRESSURES + WAVES : PRESSURES;
}

static inline const struct rt_law *law_of(const struct sweep *s)
{
    return (const struct rt_law *)s->law;
}

/* Planes of the law of a group in plane k: pressures, then speeds of the slowest waves along x, y,
 * z, then of the fastest ones. */
static inline double *own_planes(const struct sweep *s, int k, int group)
{
    const struct rt_law *law = law_of(s);
    const int each = planes_of_group(law->rt);
    return s->own + (size_t)(((k & 3) * law->groups + group) * each) * PS;
}

/* ---- cells ---- */

static void row_pressures(int n, double c2, const double *restrict u, double *restrict p)
{
#pragma omp simd simdlen(LANES)
    for (int i = 0; i < n; i++) {
        const struct m1_pressure q = m1_pressure(u[i], u[PS + i], u[2 * PS + i], u[3 * PS + i], c2);
        p[i] = q.xx, p[PS + i] = q.xy, p[2 * PS + i] = q.xz;
        p[3 * PS + i] = q.yy, p[4 * PS + i] = q.yz, p[5 * PS + i] = q.zz;
    }
}

static void row_waves(int n, double c, const double *restrict u, double *restrict w)
{
#pragma omp simd simdlen(LANES)
    for (int i = 0; i < n; i++) {
        const double x = u[PS + i], y = u[2 * PS + i], z = u[3 * PS + i];
        const struct m1_shape s = m1_shape(u[i], x, y, z, c);
        const struct m1_waves a = m1_waves(s, x), b = m1_waves(s, y), d = m1_waves(s, z);
        w[i] = a.lo, w[PS + i] = b.lo, w[2 * PS + i] = d.lo;
        w[3 * PS + i] = a.hi, w[4 * PS + i] = b.hi, w[5 * PS + i] = d.hi;
    }
}

/* Likewise by the table of RAMSES-RT, cell by cell. */
static void row_waves_of(const struct rt_waves *t, int n, double c, const double *u, double *w)
{
    for (int i = 0; i < n; i++) {
        const double q[VALUES] = {u[i], u[PS + i], u[2 * PS + i], u[3 * PS + i]};
        for (int d = 0; d < 3; d++) {
            const struct m1_waves a = rt_waves_at(t, q, d, c);
            w[d * PS + i] = a.lo, w[(3 + d) * PS + i] = a.hi;
        }
    }
}

/* Whether the cells at coordinate x of the tile along axis d are beyond the face of the box. */
static bool beyond_box(const struct sweep *s, int d, int x)
{
    const int64_t at = 2 * s->slots.tile->x0[d] + x, n = (int64_t)1 << s->in.l;
    return d < s->ndim && (at < 0 || at >= n);
}

/* Empties the cells of plane k that are beyond a face of a periodic box, and so are those of the
 * opposite side. */
static void plane_empty(struct sweep *s, int k, struct run at)
{
    const int w = s->in.w, width = w > 0 ? w : PS;
    double *u = s->in.u[k & 3];
    const bool whole = beyond_box(s, 2, k);
    for (int i = at.at; i < at.at + 4 * at.fours; i++) {
        const int y = w > 0 ? i / width - 2 : 0;
        if (!whole && !beyond_box(s, 0, i % width - 2) && !beyond_box(s, 1, y)) continue;
        for (int v = 0; v < s->nvar; v++) u[v * PS + i] = 0;
        s->in.split[k & 3][i] = 0;
    }
}

static void primitive(struct sweep *s, int k, struct run at)
{
    const struct rt_law *law = law_of(s);
    const double c = law->rt->c;
    if (law->vacuum) plane_empty(s, k, at);
    for (int g = 0; g < law->groups; g++) {
        const double *u = s->in.u[k & 3] + g * VALUES * PS + at.at;
        double *own = own_planes(s, k, g) + at.at;
        row_pressures(4 * at.fours, c * c, u, own);
        if (law->rt->waves)
            row_waves_of(law->rt->waves, 4 * at.fours, c, u, own + PRESSURES * PS);
        else if (law->rt->scheme == RT_HLL)
            row_waves(4 * at.fours, c, u, own + PRESSURES * PS);
    }
}

/* States at faces are those of cells. */
static void trace(struct sweep *s, int y, int k, struct run at)
{
}

/* ---- faces ---- */

/* A row of faces of a group: states, and fluxes of the states by quantity, below and above. */
struct row {
    int n;
    double c, dtdx;
    const double *u[2], *f[2][VALUES];
    double *to;
};

static void row_glf(const struct row *r)
{
    const double c = r->c, dtdx = r->dtdx;
    for (int v = 0; v < VALUES; v++) {
        const double *restrict a = r->u[0] + v * PS, *restrict b = r->u[1] + v * PS;
        const double *restrict fa = r->f[0][v], *restrict fb = r->f[1][v];
        double *restrict to = r->to + v * PS;
#pragma omp simd simdlen(LANES)
        for (int i = 0; i < r->n; i++) to[i] = dtdx * m1_glf(a[i], b[i], fa[i], fb[i], c);
    }
}

/* lo, hi: speeds of the waves below and above. */
static void row_hll(const struct row *r, const double *const lo[2], const double *const hi[2])
{
    double below[STRIP], above[STRIP], jump[STRIP];
    const double *restrict lo0 = lo[0], *restrict lo1 = lo[1];
    const double *restrict hi0 = hi[0], *restrict hi1 = hi[1];
    const double c = r->c, dtdx = r->dtdx;
#pragma omp simd simdlen(LANES)
    for (int i = 0; i < r->n; i++) {
        const struct m1_waves a = {lo0[i], hi0[i]}, b = {lo1[i], hi1[i]};
        const struct m1_weights w = m1_weights(a, b, c);
        below[i] = w.below, above[i] = w.above, jump[i] = w.jump;
    }
    for (int v = 0; v < VALUES; v++) {
        const double *restrict a = r->u[0] + v * PS, *restrict b = r->u[1] + v * PS;
        const double *restrict fa = r->f[0][v], *restrict fb = r->f[1][v];
        double *restrict to = r->to + v * PS;
#pragma omp simd simdlen(LANES)
        for (int i = 0; i < r->n; i++) {
            const struct m1_weights w = {below[i], above[i], jump[i]};
            to[i] = dtdx * m1_hll(a[i], b[i], fa[i], fb[i], w);
        }
    }
}

static void job_group(struct sweep *s, const struct face_job *j, int k, int g)
{
    const struct rt_law *law = law_of(s);
    const int at[2] = {j->at - step_below(s, j), j->at}, plane[2] = {plane_below(j, k), k & 3};
    struct row r = {.n = 4 * j->fours, .c = law->rt->c, .dtdx = s->dtdx};
    const double *lo[2], *hi[2];
    r.to = j->F + g * VALUES * PS;
    for (int side = 0; side < 2; side++) {
        const double *own = own_planes(s, plane[side], g) + at[side];
        r.u[side] = s->in.u[plane[side]] + g * VALUES * PS + at[side];
        r.f[side][0] = r.u[side] + (1 + j->dir) * PS;
        for (int d = 0; d < 3; d++) r.f[side][1 + d] = own + PRESSURE[j->dir][d] * PS;
        lo[side] = own + (PRESSURES + j->dir) * PS;
        hi[side] = own + (PRESSURES + 3 + j->dir) * PS;
    }
    if (law->rt->scheme == RT_HLL)
        row_hll(&r, lo, hi);
    else
        row_glf(&r);
}

static void fluxes(struct sweep *s, const struct face_jobs *jobs)
{
    for (const struct face_job *j = jobs->job; j < jobs->job + jobs->n; j++)
        for (int g = 0; g < law_of(s)->groups; g++) job_group(s, j, jobs->k, g);
}

void rt_law_flux(const struct rt *rt, int d, const double *const u[2], int n, double *flux)
{
    const double c = rt->c;
    const bool hll = rt->scheme == RT_HLL;
    struct m1_waves w[2];
    for (int side = 0; side < 2 && hll; side++)
        w[side] = rt->waves ? rt_waves_at(rt->waves, u[side], d, c) : rt_state_waves(u[side], d, c);
    rt_face_flux(u[0], u[1], hll ? w : NULL, d, c, n, flux);
}

/* ---- octs that do not exist, and boundaries ---- */

static bool missing_minmod(const struct gathered *g, lidx i, int c, struct target t)
{
    const int ndim = g->m->ndim;
    struct crossing at;
    if (!crossing_find(&at, ndim, &g->m->lev[g->l - 1], i, c)) return false;
    for (int v = 0; v < g->law->nvar; v++) {
        if (g->law->zero >> v & 1) continue;
        const struct children x = children_of(crossed_of(g->up[v], &at));
        put_layers8(ndim, g->u, v, t, (const double *)&x);
    }
    return true;
}

static void missing_slopes(const struct gathered *g, int type, lidx i, int c, struct target t)
{
    const struct patch_cell own = {g->l - 1, i, c};
    for (int v = 0; v < g->law->nvar; v++) {
        double a[7], w[3], out[8];
        if (g->law->zero >> v & 1) continue;
        a[0] = g->up[v][i][c];
        for (int f = 0; f < 6 && type != 0; f++)
            a[1 + f] = patch_value_across(g->m, own, f, g->law->field[v], g->law->odd[v]);
        hydro_interp_slope(type, a, w);
        for (int k = 0; k < 8; k++) out[k] = hydro_interp_child(a[0], w[0], w[1], w[2], k);
        put8(g->u, v, t, out);
    }
}

/* |F| <= cN in cells interpolated one quantity at a time: in a dark cell between beams that part
 * from each other the flux has slopes, but the density has none. */
static void missing_confine(const struct gathered *g, const struct rt_law *law, struct target t)
{
    const double c = law->rt->c;
    for (int k = 0; k < 8 * law->groups; k++) {
        double *u = g->u[k & 4 ? t.b : t.a] + (k >> 3) * VALUES * PS + t.at;
        u += (k & 2 ? t.w : 0) + (k & 1);
        const double by = m1_limit(u[0], m1_flux2(u[PS], u[2 * PS], u[3 * PS]), c);
        for (int d = 1; d < VALUES && by < 1.0; d++) u[d * PS] *= by;
    }
}

static void missing(const struct gathered *g, lidx i, int c, struct target t)
{
    const struct rt_law *law = (const struct rt_law *)g->law;
    const int type = law->rt->interpol == 4 ? 2 : law->rt->interpol;
    if (type != 1 || !missing_minmod(g, i, c, t)) missing_slopes(g, type, i, c, t);
    if (type != 0 && law->rt->confines) missing_confine(g, law, t);
}

void rt_law_beyond(const struct rt *rt, int group, int f, double u[RT_COMPONENTS])
{
    rt_beyond(rt->bound[f], rt->bound_state[f] + group * VALUES, f, u);
}

static void beyond(const struct law *law, int f, double *u)
{
    const struct rt_law *own = (const struct rt_law *)law;
    for (int g = 0; g < own->groups; g++)
        if (own->rt->bound[f] == BOUND_IMPOSED) rt_law_beyond(own->rt, g, f, u + g * VALUES);
}

struct rt_law rt_law_make(const struct rt *rt, const struct mesh *m)
{
    const int groups = m->nphoton / VALUES;
    struct rt_law x = {.rt = rt, .groups = groups};
    struct law *law = &x.law;
    x.vacuum = rt->outflow && !mesh_has_boundaries(m);
    law->nvar = law->nfield = law->nflux = law->nsum = m->nphoton;
    law->nscratch = 4 * groups * planes_of_group(rt);
    law->system = REFLUX_RT;
    law->near = rt->interpol != 0;
    law->missing = missing;
    for (int f = 0; f < 6; f++)
        if (rt->bound[f] == BOUND_IMPOSED) law->beyond = beyond;
    law->primitive = primitive;
    law->trace = trace;
    law->fluxes = fluxes;
    for (int v = 0; v < m->nphoton; v++) {
        const int axis = v % VALUES - 1;
        law->field[v] = FLD_PHOTONS + v;
        if (axis >= m->ndim) law->zero |= UINT64_C(1) << v;
        for (int f = 2 * axis; axis >= 0 && f < 2 * axis + 2; f++)
            if (rt->bound[f] == BOUND_REFLECT) law->odd[v] |= 1 << f;
    }
    for (int f = 0; f < 6; f++) law->mirrored[f] = rt->bound[f] == BOUND_REFLECT;
    return x;
}
