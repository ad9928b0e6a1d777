/* tracer/drift: classical tracers, which move with the interpolated velocity of the gas.
 *
 * Cloud in cell, on the level of the step where all cells of the cloud exist, else on the next
 * coarser one, as for the force on particles (part/kick). A cloud reaches from the oct that
 * contained the tracer at the start of the step to the octs around it: a tracer moves by less than
 * a cell under the Courant condition, so the predicted position has its cloud there too.
 *
 * Second order: Heun's method, x* = x + dt u(t, x), then x += ½ dt (u(t, x) + u(t + dt, x*)). First
 * order, RAMSES's rule: x += dt u(t + dt, x). */
#include <math.h>
#include <string.h>

#include "tracer/tracer.h"
#include "vec/vec4.h"

enum { CHUNK = 1024 };

/* The 6³ cells in and around an oct. */
struct cube {
    int level;
    lidx oct, cube[27];
    int64_t first[3]; /* coordinates of the first cell */
};

/* The cells around the last host, and around its ancestor one level up. */
struct around {
    const struct tracer_run *r;
    struct cube at[2];
};

static struct around around_new(const struct tracer_run *r)
{
    return (struct around){.r = r, .at = {{.level = -1}, {.level = -1}}};
}

static const struct cube *cube_of(struct around *a, int k, int l, lidx oct)
{
    struct cube *c = &a->at[k];
    if (c->level == l && c->oct == oct) return c;
    mesh_cube(a->r->mesh, l, oct, c->cube);
    okey_coords(a->r->mesh->lev[l].key[oct], c->first);
    for (int d = 0; d < 3; d++) c->first[d] = 2 * c->first[d] - 2;
    c->level = l;
    c->oct = oct;
    return c;
}

/* Cells of a cloud: places among the six along each axis, in twos. flip: bit 2 d + j: component d
 * of the velocity changes sign in the cells of place j along d, beyond a mirror. */
struct cloud {
    int at[3][2], flip;
    double w[3];
};

/* Finds a cloud's places along axis d. A cell beyond a boundary is replaced by the one before it.
 * False: it is too far away. */
static bool places_find(const struct around *a, const struct cube *c, int d, int64_t cell,
                        struct cloud *out)
{
    const struct mesh *m = a->r->mesh;
    const int64_t n = (int64_t)1 << c->level, wrap = cloud_wrap(m, c->level, d);
    for (int j = 0; j < 2; j++) {
        int64_t q = cell + j;
        const bool low = q < 0 && m->bounded[2 * d], high = q >= n && m->bounded[2 * d + 1];
        if (low || high) q = low ? 0 : n - 1;
        if ((low || high) && a->r->parts->reflect[2 * d + high]) out->flip |= 1 << (2 * d + j);
        q = (q - c->first[d]) & wrap;
        if ((uint64_t)q >= 6) return false;
        out->at[d][j] = (int)q;
    }
    return true;
}

static bool cloud_find(const struct around *a, const struct cube *c, const double x[3],
                       struct cloud *out)
{
    int64_t first[3];
    out->flip = 0;
    cloud_at(a->r->mesh, c->level, x, first, out->w);
    for (int d = 0; d < 3; d++)
        if (!places_find(a, c, d, first[d], out)) return false;
    return true;
}

static vec4 cell_velocity(const struct tracer_run *r, const struct level *lv, lidx oct, int c)
{
    const double rho = fmax(level_gas(lv, GAS_DENSITY)[oct][c], r->hydro->smallr);
    return (vec4){level_gas(lv, GAS_MOMENTUM)[oct][c], level_gas(lv, GAS_MOMENTUM + 1)[oct][c],
                  level_gas(lv, GAS_MOMENTUM + 2)[oct][c], 0} /
           rho;
}

/* The velocity at x by the cloud of this level. False: some of its cells are missing. */
static bool cloud_velocity(const struct around *a, const struct cube *c, const double x[3],
                           double u[3])
{
    const struct level *lv = &a->r->mesh->lev[c->level];
    struct cloud q;
    double vol[8];
    vec4 v[8];
    if (!cloud_find(a, c, x, &q)) return false;
    for (int j = 0; j < 8; j++) {
        const int at[3] = {q.at[0][j & 1], q.at[1][j >> 1 & 1], q.at[2][j >> 2]};
        const lidx oct = c->cube[(at[0] >> 1) + 3 * (at[1] >> 1) + 9 * (at[2] >> 1)];
        if (oct < 0) return false;
        v[j] = cell_velocity(a->r, lv, oct, (at[0] & 1) | (at[1] & 1) << 1 | (at[2] & 1) << 2);
        for (int d = 0; d < 3 && q.flip; d++)
            if (q.flip >> (2 * d + (j >> d & 1)) & 1) v[j][d] = -v[j][d];
    }
    cloud_volumes(q.w, vol);
    const vec4 all = CLOUD_SUM(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], vol);
    for (int d = 0; d < 3; d++) u[d] = d < a->r->mesh->ndim ? all[d] : 0;
    return true;
}

/* Velocity of the gas at x, for a tracer in or near oct `host` of level l. */
static void velocity_at(struct around *a, int l, lidx host, const double x[3], double u[3])
{
    for (int k = 0; !cloud_velocity(a, cube_of(a, k > 0, l, host), x, u); k++) {
        host = a->r->mesh->lev[l--].parent[host];
        BUG_ON(l < 1);
    }
}

static bool follows(const struct parts *p, int64_t i)
{
    return p->family[i] == FAM_GAS_TRACER;
}

typedef void tracer_fn(struct around *a, int l, int64_t i);

/* Calls fn for each gas tracer of level l. */
static void each_tracer(struct tracer_run *r, int l, tracer_fn *fn)
{
    const struct parts *p = r->parts;
    if (p->is_static) return;
#pragma omp parallel
    {
        struct around a = around_new(r);
#pragma omp for schedule(static)
        for (int64_t b = p->first[l]; b < p->first[l + 1]; b += CHUNK)
            for (int64_t i = b; i < b + CHUNK && i < p->first[l + 1]; i++)
                if (follows(p, i)) fn(&a, l, i);
    }
}

static void position_of(const struct parts *p, int64_t i, double x[3])
{
    for (int d = 0; d < 3; d++) x[d] = p->x[d][i];
}

static void aim(struct around *a, int l, int64_t i)
{
    struct parts *p = a->r->parts;
    double x[3], u[3];
    position_of(p, i, x);
    velocity_at(a, l, p->host[i], x, u);
    for (int d = 0; d < 3; d++) p->v[d][i] = u[d];
}

static void drift(struct around *a, int l, int64_t i)
{
    struct parts *p = a->r->parts;
    const double dt = a->r->dt[l];
    double x[3], u[3];
    position_of(p, i, x);
    for (int d = 0; d < 3; d++) x[d] += dt * p->v[d][i];
    velocity_at(a, l, p->host[i], x, u);
    for (int d = 0; d < 3; d++) {
        p->x[d][i] += 0.5 * dt * (p->v[d][i] + u[d]);
        p->v[d][i] = u[d];
    }
}

static void drift_first(struct around *a, int l, int64_t i)
{
    struct parts *p = a->r->parts;
    aim(a, l, i);
    for (int d = 0; d < 3; d++) p->x[d][i] += a->r->dt[l] * p->v[d][i];
}

static bool first_order(const struct tracer_run *r)
{
    return strcmp(r->par->tracer.tracer_scheme, "first") == 0;
}

void tracers_aim(struct tracer_run *r, int l)
{
    if (!first_order(r)) each_tracer(r, l, aim);
}

void tracers_drift(struct tracer_run *r, int l)
{
    each_tracer(r, l, first_order(r) ? drift_first : drift);
}
