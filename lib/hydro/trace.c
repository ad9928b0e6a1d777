/* hydro/trace: limited slopes of the primitive variables, and the states at the faces of cells
 * after half a step (van Leer 1979; Toro 2009 §14.4; Teyssier 2002 §2.2). The formulas are in
 * cell_kern.h. */
#include "hydro/cell_kern.h"
#include "hydro/gas_law.h"

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
    const struct gas_energies *energy; /* non-thermal; NULL, a constant, where there are none */
};

/* Rows of what non-thermal energies need and add: the sum of the slopes of the velocities along
 * their axes; the slopes of the sum of their pressures. */
struct stress {
    double *div, *slope[3];
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
INLINE void trace_gas(struct way way, int fours, const struct around *from, const struct faces *o,
                      struct stress more)
{
    const double *restrict sx = more.slope[0], *restrict sy = more.slope[1],
                           *restrict sz = more.slope[2];
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
        struct hydro_slope3 total = p;
        if (way.energy) total.x += sx[i];
        if (way.energy && ndim > 1) total.y += sy[i];
        if (way.energy && ndim > 2) total.z += sz[i];
        put_faces(ndim, &to, 1, i, u, (rate_advected(ndim, at, u) - total.x * volume) * half_dtdx);
        if (ndim > 1) {
            struct hydro_slope3 v = slopes_at(way, &q, 2, i);
            put_faces(ndim, &to, 2, i, v,
                      (rate_advected(ndim, at, v) - total.y * volume) * half_dtdx);
            div += v.y;
        }
        if (ndim > 2) {
            struct hydro_slope3 x = slopes_at(way, &q, 3, i);
            put_faces(ndim, &to, 3, i, x,
                      (rate_advected(ndim, at, x) - total.z * volume) * half_dtdx);
            div += x.z;
        }
        put_faces(ndim, &to, 4, i, p,
                  (rate_advected(ndim, at, p) - div * way.gamma * p.c) * half_dtdx);
        struct hydro_slope3 d = slopes_at(way, &q, 0, i);
        put_density(ndim, &to, i, d, (rate_advected(ndim, at, d) - div * d.c) * half_dtdx,
                    way.smallr);
    }
}

/* Traces the pressures of non-thermal energies, and adds up their slopes. */
INLINE void trace_energies(struct way way, int fours, const struct around *from,
                           const struct faces *o, struct stress more)
{
    const vars_in mid = from->mid;
    const int n = 4 * fours, ndim = way.ndim;
    const double half_dtdx = 0.5 * way.dtdx;
    double *restrict div = more.div;
    for (int i = 0; i < n; i++) {
        div[i] = slopes_at(way, from, 1, i).x;
        if (ndim > 1) div[i] += slopes_at(way, from, 2, i).y;
        if (ndim > 2) div[i] += slopes_at(way, from, 3, i).z;
        for (int d = 0; d < ndim; d++) more.slope[d][i] = 0.0;
    }
    for (int k = 0; k < way.energy->n; k++) {
        const double gamma = way.energy->gamma[k];
        for (int i = 0; i < n; i++) {
            const struct hydro_slope3 p = slopes_at(way, from, GAS_SCALARS + k, i);
            const double rate = rate_advected(ndim, velocity_at(ndim, mid, i), p);
            put_faces(ndim, o, GAS_SCALARS + k, i, p, (rate - div[i] * gamma * p.c) * half_dtdx);
            more.slope[0][i] += p.x;
            if (ndim > 1) more.slope[1][i] += p.y;
            if (ndim > 2) more.slope[2][i] += p.z;
        }
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
INLINE void trace_waves(struct way way, int fours, const struct around *from, const struct faces *o)
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
}

/* Scalars first … nvar − 1, which move with the gas. */
INLINE void trace_waves_scalars(struct way way, int first, int nvar, int fours,
                                const struct around *from, const struct faces *o)
{
    const vars_in restrict mid = from->mid;
    const vars restrict mx = o->mx, px = o->px;
    const struct around q = {mid, mid, mid, 0};
    const int n = 4 * fours;
    for (int k = first; k < nvar; k++)
        for (int i = 0; i < n; i++) {
            struct hydro_slope3 x = slopes_at(way, &q, k, i);
            px[k][i] = x.c + hydro_wave_lower(x.x, mid[1][i] * way.dtdx);
            mx[k][i] = x.c + hydro_wave_upper(x.x, mid[1][i] * way.dtdx);
        }
}

/* Part of a pressure with slope d that moves with the gas, and that which moves with sound: of the
 * latter dp = c_i² dρ, where the squares c_i² = γ_i P_i/ρ of all pressures add up to that of
 * sound. */
INLINE void trace_pressure(int v, int i, struct hydro_slope3 d, double gamma, double dp, double r,
                           struct hydro_waves w, const struct faces *o)
{
    const double c2 = gas_sound2(r, d.c, gamma), still = d.x - c2 / w.sound2 * dp;
    const double lower = hydro_wave_lower(w.plus, w.by_plus) +
                         hydro_wave_lower(w.minus, w.by_minus),
                 upper = hydro_wave_upper(w.plus, w.by_plus) +
                         hydro_wave_upper(w.minus, w.by_minus);
    o->px[v][i] = d.c + lower * c2 + hydro_wave_lower(still, w.by_contact);
    o->mx[v][i] = d.c + upper * c2 + hydro_wave_upper(still, w.by_contact);
}

/* trace_waves with non-thermal energies. */
INLINE void trace_mixed_waves(struct way way, int fours, const struct around *from,
                              const struct faces *o)
{
    const vars_in mid = from->mid;
    const struct around q = {mid, mid, mid, 0};
    for (int i = 0; i < 4 * fours; i++) {
        const struct hydro_slope3 d = slopes_at(way, &q, 0, i), u = slopes_at(way, &q, 1, i),
                                  p = slopes_at(way, &q, 4, i);
        double total = p.c, stiff = way.gamma * p.c, dp = p.x;
        for (int k = 0; k < way.energy->n; k++) {
            const struct hydro_slope3 e = slopes_at(way, &q, GAS_SCALARS + k, i);
            total += e.c, stiff += way.energy->gamma[k] * e.c, dp += e.x;
        }
        const struct hydro_waves w = hydro_waves_of(d.c, u.c, total, d.x, u.x, dp, stiff / total,
                                                    way.dtdx);
        const double plus[2] = {hydro_wave_lower(w.plus, w.by_plus),
                                hydro_wave_upper(w.plus, w.by_plus)},
                     minus[2] = {hydro_wave_lower(w.minus, w.by_minus),
                                 hydro_wave_upper(w.minus, w.by_minus)};
        const double still[2] = {hydro_wave_lower(w.contact, w.by_contact),
                                 hydro_wave_upper(w.contact, w.by_contact)};
        for (int side = 0; side < 2; side++) {
            const vars to = side ? o->mx : o->px;
            to[0][i] = hydro_max(way.smallr, d.c + (plus[side] + minus[side] + still[side]));
            to[1][i] = u.c + (plus[side] - minus[side]) * w.sound;
        }
        trace_pressure(4, i, p, way.gamma, dp, d.c, w, o);
        for (int k = 0; k < way.energy->n; k++)
            trace_pressure(GAS_SCALARS + k, i, slopes_at(way, &q, GAS_SCALARS + k, i),
                           way.energy->gamma[k], dp, d.c, w, o);
    }
}

/* A run of cells: number of groups of four cells, input and output. */
struct trace_job {
    int fours;
    struct around from;
    struct faces to;
};

/* mixed: whether there are non-thermal energies, a constant. */
INLINE void trace_all(int ndim, bool mixed, enum slope type, const struct sweep *s,
                      const struct trace_job *j)
{
    const struct gas_law *law = gas_law_of(s);
    const struct way way = {type,
                            ndim,
                            law->gas.theta,
                            law->gas.gamma,
                            law->gas.smallr,
                            s->dtdx,
                            mixed ? &law->par->energy : NULL};
    const int passive = mixed ? gas_passive(s) : GAS_SCALARS;
    struct stress more = {NULL, {NULL, NULL, NULL}};
    if (ndim == 1 && law->par->predictor == PREDICT_PLMDE) {
        if (mixed)
            trace_mixed_waves(way, j->fours, &j->from, &j->to);
        else
            trace_waves(way, j->fours, &j->from, &j->to);
        trace_waves_scalars(way, passive, s->nvar, j->fours, &j->from, &j->to);
        return;
    }
    if (mixed) {
        double *own = s->own + GAS_STRESS * PS;
        more = (struct stress){own, {own + PS, own + 2 * PS, own + 3 * PS}};
        trace_energies(way, j->fours, &j->from, &j->to, more);
    }
    trace_gas(way, j->fours, &j->from, &j->to, more);
    for (int v = passive; v < s->nvar; v++) trace_scalar(way, j->fours, &j->from, v, &j->to);
}

INLINE void trace_by_slope(int ndim, bool mixed, const struct sweep *s, const struct trace_job *j)
{
    switch (gas_law_of(s)->par->slope_type) {
#define CASE(type)                                                                                 \
    case type:                                                                                     \
        trace_all(ndim, mixed, type, s, j);                                                        \
        break
#define LINE(type)                                                                                 \
    case type:                                                                                     \
        if (ndim == 1) trace_all(ndim, mixed, type, s, j);                                         \
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
    trace_by_slope(3, false, s, j);
}

static __attribute__((noinline)) void trace_plane(const struct sweep *s, const struct trace_job *j)
{
    trace_by_slope(2, false, s, j);
}

static __attribute__((noinline)) void trace_line(const struct sweep *s, const struct trace_job *j)
{
    trace_by_slope(1, false, s, j);
}

static __attribute__((noinline)) void trace_mixed_space(const struct sweep *s,
                                                        const struct trace_job *j)
{
    trace_by_slope(3, true, s, j);
}

static __attribute__((noinline)) void trace_mixed_plane(const struct sweep *s,
                                                        const struct trace_job *j)
{
    trace_by_slope(2, true, s, j);
}

static __attribute__((noinline)) void trace_mixed_line(const struct sweep *s,
                                                       const struct trace_job *j)
{
    trace_by_slope(1, true, s, j);
}

void gas_trace(struct sweep *s, int y, int k, struct run at)
{
    const struct trace_job job = {
        at.fours,
        {(vars_in)(s->q[(k - 1) & 3] + at.at), (vars_in)(s->q[k & 3] + at.at),
         (vars_in)(s->q[(k + 1) & 3] + at.at), s->in.w},
        {(vars)(s->mx + at.r), (vars)(s->px + at.r), (vars)(s->my[y & 1] + at.r),
         (vars)(s->py + at.r), (vars)(s->mz[k & 1] + at.at), (vars)(s->pz + at.r)}};
    const bool mixed = gas_law_of(s)->par->energy.n > 0;
    if (s->ndim > 2)
        (mixed ? trace_mixed_space : trace_space)(s, &job);
    else if (s->ndim > 1)
        (mixed ? trace_mixed_plane : trace_plane)(s, &job);
    else
        (mixed ? trace_mixed_line : trace_line)(s, &job);
}
