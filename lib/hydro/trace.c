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
INLINE void put_faces(const struct faces *o, int v, int i, struct hydro_slope3 d, double h)
{
    o->px[v][i] = hydro_face_lower(d.c, d.x, h);
    o->mx[v][i] = hydro_face_upper(d.c, d.x, h);
    o->py[v][i] = hydro_face_lower(d.c, d.y, h);
    o->my[v][i] = hydro_face_upper(d.c, d.y, h);
    o->pz[v][i] = hydro_face_lower(d.c, d.z, h);
    o->mz[v][i] = hydro_face_upper(d.c, d.z, h);
}

/* Density at the faces; a state below the floor is replaced by the cell value. */
INLINE void put_density(const struct faces *o, int i, struct hydro_slope3 d, double h,
                        double smallr)
{
    o->px[0][i] = hydro_floor_density(hydro_face_lower(d.c, d.x, h), d.c, smallr);
    o->mx[0][i] = hydro_floor_density(hydro_face_upper(d.c, d.x, h), d.c, smallr);
    o->py[0][i] = hydro_floor_density(hydro_face_lower(d.c, d.y, h), d.c, smallr);
    o->my[0][i] = hydro_floor_density(hydro_face_upper(d.c, d.y, h), d.c, smallr);
    o->pz[0][i] = hydro_floor_density(hydro_face_lower(d.c, d.z, h), d.c, smallr);
    o->mz[0][i] = hydro_floor_density(hydro_face_upper(d.c, d.z, h), d.c, smallr);
}

/* Primitive variables of a run of cells in its plane and in the planes below and above; w: stride
 * between rows. */
struct around {
    vars_in lo, mid, hi;
    int w;
};

INLINE struct hydro_velocity velocity_at(vars_in q, int i)
{
    return (struct hydro_velocity){q[1][i], q[2][i], q[3][i]};
}

INLINE struct hydro_slope3 slopes_at(enum slope type, const struct around *q, int v, int i,
                                     double theta)
{
    return hydro_slopes(type, q->lo[v] + i, q->mid[v] + i, q->hi[v] + i, q->w, theta);
}

/* Traces one variable after the other to its faces, as soon as its rate is known: the slopes of all
 * variables do not fit into the registers. */
INLINE void trace_gas(enum slope type, int fours, const struct around *from, const struct faces *o,
                      const struct hydro_gas g, double half_dtdx)
{
    const vars_in restrict lo = from->lo, mid = from->mid, hi = from->hi;
    const vars restrict mx = o->mx, px = o->px, my = o->my, py = o->py, mz = o->mz, pz = o->pz;
    const struct around q = {lo, mid, hi, from->w};
    const struct faces to = {mx, px, my, py, mz, pz};
    const int n = 4 * fours;
#pragma omp simd simdlen(LANES)
    for (int i = 0; i < n; i++) {
        const struct hydro_velocity at = velocity_at(mid, i);
        const double volume = 1.0 / mid[0][i];
        struct hydro_slope3 p = slopes_at(type, &q, 4, i, g.theta);
        struct hydro_slope3 u = slopes_at(type, &q, 1, i, g.theta);
        put_faces(&to, 1, i, u, hydro_rate_velocity(at, u, p.x, volume) * half_dtdx);
        struct hydro_slope3 v = slopes_at(type, &q, 2, i, g.theta);
        put_faces(&to, 2, i, v, hydro_rate_velocity(at, v, p.y, volume) * half_dtdx);
        struct hydro_slope3 x = slopes_at(type, &q, 3, i, g.theta);
        put_faces(&to, 3, i, x, hydro_rate_velocity(at, x, p.z, volume) * half_dtdx);
        const double div = u.x + v.y + x.z;
        put_faces(&to, 4, i, p, hydro_rate_pressure(at, p, div, g.gamma) * half_dtdx);
        struct hydro_slope3 d = slopes_at(type, &q, 0, i, g.theta);
        put_density(&to, i, d, hydro_rate_density(at, d, div) * half_dtdx, g.smallr);
    }
}

INLINE void trace_scalar(enum slope type, int fours, const struct around *from, int k,
                         const struct faces *o, double theta, double half_dtdx)
{
    const vars_in restrict lo = from->lo, mid = from->mid, hi = from->hi;
    const vars restrict mx = o->mx, px = o->px, my = o->my, py = o->py, mz = o->mz, pz = o->pz;
    const struct around q = {lo, mid, hi, from->w};
    const struct faces to = {mx, px, my, py, mz, pz};
    const int n = 4 * fours;
#pragma omp simd simdlen(LANES)
    for (int i = 0; i < n; i++) {
        struct hydro_slope3 d = slopes_at(type, &q, k, i, theta);
        put_faces(&to, k, i, d, hydro_rate_advected(velocity_at(mid, i), d) * half_dtdx);
    }
}

/* A run of cells: number of groups of four cells, input and output. */
struct trace_job {
    int fours;
    struct around from;
    struct faces to;
};

INLINE void trace_all(enum slope type, const struct sweep *s, const struct trace_job *j)
{
    const struct hydro_gas gas = gas_law_of(s)->gas;
    const double h = 0.5 * s->dtdx;
    trace_gas(type, j->fours, &j->from, &j->to, gas, h);
    for (int v = GAS_SCALARS; v < s->nvar; v++)
        trace_scalar(type, j->fours, &j->from, v, &j->to, gas.theta, h);
}

/* Not inlined: gcc 12 would split the pointers again into one for each variable. */
static __attribute__((noinline)) void trace_by_slope(const struct sweep *s,
                                                     const struct trace_job *j)
{
    switch (gas_law_of(s)->par->slope_type) {
    case SLOPE_NONE:
        trace_all(SLOPE_NONE, s, j);
        break;
    case SLOPE_MINMOD:
        trace_all(SLOPE_MINMOD, s, j);
        break;
    case SLOPE_MONCEN:
        trace_all(SLOPE_MONCEN, s, j);
        break;
    case SLOPE_POSITIVE:
        trace_all(SLOPE_POSITIVE, s, j);
        break;
    case SLOPE_VANLEER:
        trace_all(SLOPE_VANLEER, s, j);
        break;
    case SLOPE_THETA:
        trace_all(SLOPE_THETA, s, j);
        break;
    }
}

void gas_trace(struct sweep *s, int y, int k, struct run at)
{
    const struct trace_job job = {
        at.fours,
        {(vars_in)(s->q[(k - 1) & 3] + at.at), (vars_in)(s->q[k & 3] + at.at),
         (vars_in)(s->q[(k + 1) & 3] + at.at), s->in.w},
        {(vars)(s->mx + at.r), (vars)(s->px + at.r), (vars)(s->my[y & 1] + at.r),
         (vars)(s->py + at.r), (vars)(s->mz[k & 1] + at.at), (vars)(s->pz + at.r)}};
    trace_by_slope(s, &job);
}
