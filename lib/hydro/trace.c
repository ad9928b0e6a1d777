/* hydro/trace: limited slopes of the primitive variables, and the states at the faces of cells
 * after half a step (van Leer 1979; Toro 2009 §14.4; Teyssier 2002 §2.2). The formulas are in
 * cell_kern.h. */
#include "hydro/cell_kern.h"
#include "hydro/gas_law.h"

#define INLINE static inline __attribute__((always_inline))
enum { PS = PLANE_STRIDE };

/* All variables of a row of cells: [variable][cell]. An array of pointers, one per variable, would
 * make gcc 12 use more pointers than there are registers. */
typedef double (*vars)[PS];
typedef const double (*vars_in)[PS];

/* Arrays of the states at the lower and upper faces of cells, by axis. */
struct faces {
    vars mx, px, my, py, mz, pz;
};

/* Stores the face states q ± ½D + ½ dt/dx s; h = ½ dt/dx s. */
INLINE void put_faces(int ndim, const struct faces *o, int v, int i, struct hydro_slope3 d,
                      double h)
{
    o->px[v][i] = hydro_face_lower(d.c, d.x, h);
    o->mx[v][i] = hydro_face_upper(d.c, d.x, h);
    if (ndim < 2) return;
    o->py[v][i] = hydro_face_lower(d.c, d.y, h);
    o->my[v][i] = hydro_face_upper(d.c, d.y, h);
    if (ndim < 3) return;
    o->pz[v][i] = hydro_face_lower(d.c, d.z, h);
    o->mz[v][i] = hydro_face_upper(d.c, d.z, h);
}

/* Density at the faces; a state below the floor is replaced by the cell value. */
INLINE void put_density(int ndim, const struct faces *o, int i, struct hydro_slope3 d, double h,
                        double smallr)
{
    o->px[0][i] = hydro_floor_density(hydro_face_lower(d.c, d.x, h), d.c, smallr);
    o->mx[0][i] = hydro_floor_density(hydro_face_upper(d.c, d.x, h), d.c, smallr);
    if (ndim < 2) return;
    o->py[0][i] = hydro_floor_density(hydro_face_lower(d.c, d.y, h), d.c, smallr);
    o->my[0][i] = hydro_floor_density(hydro_face_upper(d.c, d.y, h), d.c, smallr);
    if (ndim < 3) return;
    o->pz[0][i] = hydro_floor_density(hydro_face_lower(d.c, d.z, h), d.c, smallr);
    o->mz[0][i] = hydro_floor_density(hydro_face_upper(d.c, d.z, h), d.c, smallr);
}

/* Primitive variables of a run of cells in its plane and in the planes below and above; w: stride
 * between rows. */
struct around {
    vars_in lo, mid, hi;
    int w;
};

/* How a run is traced: the slopes, the number of dimensions, and numbers that the formulas need.
 * The first two are constants where a loop is compiled. */
struct way {
    enum slope type;
    int ndim;
    double theta, gamma, smallr, dtdx;
};

INLINE struct hydro_velocity velocity_at(int ndim, vars_in q, int i)
{
    return (struct hydro_velocity){q[1][i], ndim > 1 ? q[2][i] : 0.0, ndim > 2 ? q[3][i] : 0.0};
}

/* Rate of change of an advected quantity, as hydro_rate_advected: a missing axis adds nothing, but
 * compilers cannot drop a product with zero. */
INLINE double rate_advected(int ndim, struct hydro_velocity x, struct hydro_slope3 q)
{
    if (ndim < 2) return -x.u * q.x;
    if (ndim < 3) return -x.u * q.x - x.v * q.y;
    return hydro_rate_advected(x, q);
}

INLINE struct hydro_slope3 slopes_at(struct way way, const struct around *q, int v, int i)
{
    const double *x = q->mid[v] + i, c = x[0];
    const int w = q->w;
    if (way.type == SLOPE_POSITIVE || way.ndim > 2)
        return hydro_slopes(way.type, q->lo[v] + i, x, q->hi[v] + i, w, way.theta);
    if (way.ndim < 2)
        return (struct hydro_slope3){
            c,
            hydro_slope_line(way.type, v, c - x[-1], x[1] - c, q->mid[1][i] * way.dtdx, way.theta),
            0.0, 0.0};
    return (struct hydro_slope3){c, hydro_slope(way.type, c - x[-1], x[1] - c, way.theta),
                                 hydro_slope(way.type, c - x[-w], x[w] - c, way.theta), 0.0};
}

/* Traces one variable after the other to its faces, as soon as its rate is known: the slopes of all
 * variables do not fit into the registers. Velocities along missing axes are 0 at all faces. */
INLINE void trace_gas(struct way way, int fours, const struct around *from, const struct faces *o)
{
    const vars_in restrict lo = from->lo, mid = from->mid, hi = from->hi;
    const vars restrict mx = o->mx, px = o->px, my = o->my, py = o->py, mz = o->mz, pz = o->pz;
    const struct around q = {lo, mid, hi, from->w};
    const struct faces to = {mx, px, my, py, mz, pz};
    const int n = 4 * fours, ndim = way.ndim;
    const double half_dtdx = 0.5 * way.dtdx;
#pragma omp simd simdlen(LANES)
    for (int i = 0; i < n; i++) {
        const struct hydro_velocity at = velocity_at(ndim, mid, i);
        const double volume = 1.0 / mid[0][i];
        struct hydro_slope3 p = slopes_at(way, &q, 4, i), u = slopes_at(way, &q, 1, i);
        double div = u.x;
        put_faces(ndim, &to, 1, i, u, (rate_advected(ndim, at, u) - p.x * volume) * half_dtdx);
        if (ndim > 1) {
            struct hydro_slope3 v = slopes_at(way, &q, 2, i);
            put_faces(ndim, &to, 2, i, v, (rate_advected(ndim, at, v) - p.y * volume) * half_dtdx);
            div += v.y;
        }
        if (ndim > 2) {
            struct hydro_slope3 x = slopes_at(way, &q, 3, i);
            put_faces(ndim, &to, 3, i, x, (rate_advected(ndim, at, x) - p.z * volume) * half_dtdx);
            div += x.z;
        }
        put_faces(ndim, &to, 4, i, p,
                  (rate_advected(ndim, at, p) - div * way.gamma * p.c) * half_dtdx);
        struct hydro_slope3 d = slopes_at(way, &q, 0, i);
        put_density(ndim, &to, i, d, (rate_advected(ndim, at, d) - div * d.c) * half_dtdx,
                    way.smallr);
    }
}

INLINE void trace_scalar(struct way way, int fours, const struct around *from, int k,
                         const struct faces *o)
{
    const vars_in restrict lo = from->lo, mid = from->mid, hi = from->hi;
    const vars restrict mx = o->mx, px = o->px, my = o->my, py = o->py, mz = o->mz, pz = o->pz;
    const struct around q = {lo, mid, hi, from->w};
    const struct faces to = {mx, px, my, py, mz, pz};
    const int n = 4 * fours;
    const double half_dtdx = 0.5 * way.dtdx;
#pragma omp simd simdlen(LANES)
    for (int i = 0; i < n; i++) {
        struct hydro_slope3 d = slopes_at(way, &q, k, i);
        put_faces(way.ndim, &to, k, i, d,
                  rate_advected(way.ndim, velocity_at(way.ndim, mid, i), d) * half_dtdx);
    }
}

/* Traces along characteristics, in one dimension: a face sees of each wave that moves towards it
 * the mean over the cells that pass in the step. */
INLINE void trace_waves(struct way way, int nvar, int fours, const struct around *from,
                        const struct faces *o)
{
    const vars_in restrict mid = from->mid;
    const vars restrict mx = o->mx, px = o->px;
    const struct around q = {mid, mid, mid, 0};
    const int n = 4 * fours;
#pragma omp simd simdlen(LANES)
    for (int i = 0; i < n; i++) {
        struct hydro_slope3 d = slopes_at(way, &q, 0, i), u = slopes_at(way, &q, 1, i),
                            p = slopes_at(way, &q, 4, i);
        struct hydro_waves w = hydro_waves_of(d.c, u.c, p.c, d.x, u.x, p.x, way.gamma, way.dtdx);
        double minus = hydro_wave_lower(w.minus, w.by_minus),
               plus = hydro_wave_lower(w.plus, w.by_plus),
               contact = hydro_wave_lower(w.contact, w.by_contact);
        px[0][i] = hydro_max(way.smallr, d.c + (plus + minus + contact));
        px[1][i] = u.c + (plus - minus) * w.sound;
        px[4][i] = p.c + (plus + minus) * w.sound2;
        minus = hydro_wave_upper(w.minus, w.by_minus);
        plus = hydro_wave_upper(w.plus, w.by_plus);
        contact = hydro_wave_upper(w.contact, w.by_contact);
        mx[0][i] = hydro_max(way.smallr, d.c + (plus + minus + contact));
        mx[1][i] = u.c + (plus - minus) * w.sound;
        mx[4][i] = p.c + (plus + minus) * w.sound2;
    }
    for (int k = GAS_SCALARS; k < nvar; k++)
        for (int i = 0; i < n; i++) {
            struct hydro_slope3 x = slopes_at(way, &q, k, i);
            px[k][i] = x.c + hydro_wave_lower(x.x, mid[1][i] * way.dtdx);
            mx[k][i] = x.c + hydro_wave_upper(x.x, mid[1][i] * way.dtdx);
        }
}

/* A run of cells: number of groups of four cells, input and output. */
struct trace_job {
    int fours;
    struct around from;
    struct faces to;
};

INLINE void trace_all(int ndim, enum slope type, const struct sweep *s, const struct trace_job *j)
{
    const struct gas_law *law = gas_law_of(s);
    const struct way way = {type, ndim, law->gas.theta, law->gas.gamma, law->gas.smallr, s->dtdx};
    if (ndim == 1 && law->par->predictor == PREDICT_PLMDE) {
        trace_waves(way, s->nvar, j->fours, &j->from, &j->to);
        return;
    }
    trace_gas(way, j->fours, &j->from, &j->to);
    for (int v = GAS_SCALARS; v < s->nvar; v++) trace_scalar(way, j->fours, &j->from, v, &j->to);
}

INLINE void trace_by_slope(int ndim, const struct sweep *s, const struct trace_job *j)
{
    switch (gas_law_of(s)->par->slope_type) {
#define CASE(type)                                                                                 \
    case type:                                                                                     \
        trace_all(ndim, type, s, j);                                                               \
        break
#define LINE(type)                                                                                 \
    case type:                                                                                     \
        if (ndim == 1) trace_all(ndim, type, s, j);                                                \
        break
        CASE(SLOPE_NONE);
        CASE(SLOPE_MINMOD);
        CASE(SLOPE_MONCEN);
        CASE(SLOPE_POSITIVE);
        CASE(SLOPE_VANLEER);
        CASE(SLOPE_THETA);
        LINE(SLOPE_SUPERBEE);
        LINE(SLOPE_ULTRABEE);
        LINE(SLOPE_CENTRAL);
#undef CASE
#undef LINE
    }
}

/* Not inlined: gcc 12 would split the pointers again into one for each variable. */
static __attribute__((noinline)) void trace_space(const struct sweep *s, const struct trace_job *j)
{
    trace_by_slope(3, s, j);
}

static __attribute__((noinline)) void trace_plane(const struct sweep *s, const struct trace_job *j)
{
    trace_by_slope(2, s, j);
}

static __attribute__((noinline)) void trace_line(const struct sweep *s, const struct trace_job *j)
{
    trace_by_slope(1, s, j);
}

void gas_trace(struct sweep *s, int y, int k, struct run at)
{
    const struct trace_job job = {
        at.fours,
        {(vars_in)(s->q[(k - 1) & 3] + at.at), (vars_in)(s->q[k & 3] + at.at),
         (vars_in)(s->q[(k + 1) & 3] + at.at), s->in.w},
        {(vars)(s->mx + at.r), (vars)(s->px + at.r), (vars)(s->my[y & 1] + at.r),
         (vars)(s->py + at.r), (vars)(s->mz[k & 1] + at.at), (vars)(s->pz + at.r)}};
    if (s->ndim > 2)
        trace_space(s, &job);
    else if (s->ndim > 1)
        trace_plane(s, &job);
    else
        trace_line(s, &job);
}
