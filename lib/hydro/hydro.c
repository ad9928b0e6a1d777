/* hydro: the Godunov step of a level: the gas as a conservation law for the engine (patch/patch.h),
 * and the update of each oct after fluxes are summed: changes by sources, the gravity source term,
 * pressure_fix, floors. */
#include "hydro/hydro.h"

#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "hydro/cell_kern.h"
#include "hydro/gas_law.h"
#include "hydro/interp_kern.h"
#include "patch/patch.h"
#include "vec/vec.h"

enum riemann hydro_riemann_named(const char *name)
{
    static const char *const names[] = {
#define RIEMANN(name, text, flux) text,
#define ITERATED(name, text) text,
#include "hydro/riemann.def"
#undef RIEMANN
#undef ITERATED
    };
    int r = 0;
    while (r < RIEMANN_COUNT && strcmp(name, names[r]) != 0) r++;
    return (enum riemann)r;
}

struct hydro_gas hydro_gas_of(const struct hydro_par *par, int ndim)
{
    struct hydro_gas g = {.gamma = par->gamma,
                          .smallr = par->smallr,
                          .smallc = par->smallc,
                          .theta = par->slope_theta,
                          .ndim = ndim,
                          .niter = par->niter_riemann};
    g.gm1 = gas_gm1(g.gamma);
    g.entho = 1.0 / g.gm1;
    g.smallc2 = g.smallc * g.smallc;
    g.smallp = g.smallc2 / g.gamma;
    g.smalle = g.smallc2 / g.gamma / g.gm1;
    g.gamma6 = (g.gamma + 1.0) / (2.0 * g.gamma);
    g.inv_gamma = 1.0 / g.gamma;
    return g;
}

/* State beyond boundary f; the acceleration is mirrored with the gas. */
static void gas_beyond(const struct law *law, int f, double *u)
{
    const struct hydro_par *p = ((const struct gas_law *)law)->par;
    const int normal = law->nvar + (f >> 1);
    hydro_boundary_state(p, f, u);
    if (law->mirrored[f] && normal < law->nfield) u[normal] = -u[normal];
}

int hydro_nflux(const struct hydro_par *p)
{
    return p->nvar + (p->pressure_fix ? 2 : 0);
}

struct gas_law gas_law_make(const struct mesh *m, const struct hydro_par *p)
{
    struct gas_law g = {.par = p, .gas = hydro_gas_of(p, m->ndim), .gravity = m->gravity};
    struct law *law = &g.law;
    law->nvar = p->nvar;
    law->nflux = hydro_nflux(p);
    /* one more: divergence of the old velocities */
    const bool expands = p->pressure_fix || p->energy.n > 0;
    law->nsum = law->nflux + (expands ? 1 : 0);
    for (int d = m->ndim; d < 3; d++) law->zero |= UINT64_C(1) << (GAS_MOMENTUM + d);
    law->nscratch = p->energy.n > 0 ? GAS_SCRATCH_MIXED : GAS_SCRATCH;
    law->system = REFLUX_GAS;
    law->corners = p->slope_type == SLOPE_POSITIVE || p->difmag > 0.0;
    law->near = p->interpol_type != 0;
    for (int v = 0; v < p->nvar; v++) law->field[law->nfield++] = FLD_U + v;
    for (int d = 0; d < 3 && m->gravity; d++) law->field[law->nfield++] = FLD_FX + d;
    for (int f = 0; f < 6; f++) law->mirrored[f] = p->bound[f] == BOUND_REFLECT;
    law->missing = gas_missing_oct;
    law->beyond = gas_beyond;
    law->primitive = gas_to_primitive;
    law->plane = p->difmag > 0.0 ? gas_divergence : NULL;
    law->trace = gas_trace;
    law->fluxes = gas_fluxes;
    law->extra = expands ? gas_expansion : NULL;
    law->signal = gas_signal;
    law->step = gas_step;
    return g;
}

void hydro_update(struct mesh *m, int l, double dt, double hexp, const struct hydro_par *p,
                  const struct patch_arrival *a, const struct hydro_change *c)
{
    struct gas_law g = gas_law_make(m, p);
    BUG_ON(p->nvar != m->nvar);
    g.hexp = hexp;
    g.law.after = p->drive ? gas_drive_row : NULL;
    g.change = c && c->n ? c : NULL;
    if (g.change || m->gravity || p->pressure_fix || p->nvar > GAS_SCALARS)
        g.law.finish = gas_finish;
    gas_look_begin(&g, m, l);
    patch_update(m, l, dt, &g.law,
                 &(struct patch_how){a, p->scratch, p->tile_depth - 1, p->flow, NULL});
    gas_look_end(&g, m, l);
}

/* ---- update of one oct ---- */

static inline const struct gas_law *gas_of(const struct oct_sums *o)
{
    return (const struct gas_law *)o->law;
}

static void oct_gravity(struct oct_sums *o);
static void oct_expansion(struct oct_sums *o);
static void oct_energies(struct oct_sums *o, const double *before, const double *after, double *was,
                         double *is);
static void oct_pdv(struct oct_sums *o, const double *beside, double *eint);
static void oct_scalars(struct oct_sums *o);
static void oct_switch_energy(struct oct_sums *o, const double *beside, const double *eint);

double (*hydro_change_row(struct hydro_change *c, lidx nown, lidx i))[8]
{
    if (!c->row) {
        c->row = mem_new(sizeof *c->row * (size_t)nown + 1, "hydro changes");
        for (lidx k = 0; k < nown; k++) c->row[k] = -1;
    }
    size_t bytes = sizeof *c->u * (size_t)c->nvar;
    if (c->row[i] < 0) {
        if (c->n == c->cap) {
            c->cap = 2 * c->cap + 64;
            c->u = mem_grow(c->u, bytes * (size_t)c->cap, "hydro changes");
        }
        memset(c->u + (size_t)c->nvar * (size_t)c->n, 0, bytes);
        c->row[i] = c->n++;
    }
    return c->u + (size_t)c->nvar * (size_t)c->row[i];
}

void hydro_change_free(struct hydro_change *c)
{
    FREE(c->row);
    FREE(c->u);
    c->n = c->cap = 0;
}

void hydro_change_apply(const struct hydro_change *c, struct level *lv)
{
    for (lidx i = 0; c->row && i < lv->nown; i++) {
        if (c->row[i] < 0) continue;
        double(*u)[8] = c->u + (size_t)c->nvar * (size_t)c->row[i];
        for (int v = 0; v < c->nvar; v++)
            for (int k = 0; k < 8; k++) lv->fld[FLD_U + v][i][k] += u[v][k];
    }
}

static void oct_change(struct oct_sums *o)
{
    const struct hydro_change *c = gas_of(o)->change;
    lidx row = c->row[o->i];
    if (row < 0) return;
    for (int v = 0; v < c->nvar; v++)
        for (int k = 0; k < 8; k++) o->w[v][k] += c->u[(size_t)c->nvar * (size_t)row + v][k];
}

void gas_finish_with(struct oct_sums *o, const double *before, const double *after)
{
    double eint[8], was[8], is[8];
    const struct gas_law *g = gas_of(o);
    if (g->change) oct_change(o);
    if (g->gravity) oct_gravity(o);
    if (o->law->extra) oct_expansion(o);
    if (g->par->energy.n > 0) {
        oct_energies(o, before, after, was, is);
        before = was, after = is;
    }
    if (g->par->pressure_fix) oct_pdv(o, before, eint);
    if (g->par->nvar > GAS_SCALARS) oct_scalars(o);
    if (g->par->pressure_fix) oct_switch_energy(o, after, eint);
}

void gas_finish(struct oct_sums *o)
{
    const double none[8] = {0};
    gas_finish_with(o, none, none);
}

/* Half a gravity kick with the old density, at constant internal energy. */
static void oct_gravity(struct oct_sums *o)
{
    const struct level *lv = &o->m->lev[o->l];
    const double *restrict r_old = lv->fld[FLD_U][o->i];
    const double *restrict fx = lv->fld[FLD_FX][o->i], *restrict fy = lv->fld[FLD_FY][o->i],
                           *restrict fz = lv->fld[FLD_FZ][o->i];
    const double smallr = gas_of(o)->par->smallr, dt = o->dt;
    double(*restrict w)[8] = o->w;
#pragma omp simd
    for (int c = 0; c < 8; c++) {
        hydro_pull_cell(w[0][c], &w[1][c], &w[2][c], &w[3][c], &w[GAS_ENERGY][c], r_old[c], fx[c],
                        fy[c], fz[c], smallr, dt);
    }
}

/* Velocity component d in the eight cells of oct i of the level. */
static inline vec oct_velocity(const struct oct_sums *o, lidx i, int d)
{
    const struct level *lv = &o->m->lev[o->l];
    const vec smallr = vec_of(gas_of(o)->par->smallr);
    return vec_load(lv->fld[FLD_U + 1 + d][i]) *
           (1.0 / vec_max(vec_load(lv->fld[FLD_U][i]), smallr));
}

/* The eight cells of an oct, each with the value of its neighbour along axis d in the oct. */
static inline vec cells_swapped(vec v, int d)
{
    return d == 0   ? __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6)
           : d == 1 ? __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5)
                    : __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3);
}

/* Normal velocity of the cell across face f, which is coarser. */
static double velocity_coarser(const struct oct_sums *o, int f)
{
    const int d = f >> 1;
    const struct patch_cell x = patch_across(o->m, o->l, o->i, f & 1 ? 1 << d : 0, f);
    const struct level *up = &o->m->lev[x.level];
    return up->fld[FLD_U + 1 + d][x.oct][x.cell] *
           (1.0 / hydro_max(up->fld[FLD_U][x.oct][x.cell], gas_of(o)->par->smallr));
}

/* Normal velocities beyond face f of the box. Of cells that are not at the face: 0. */
static vec velocities_beyond_box(const struct oct_sums *o, int f)
{
    double out[8] = {0};
    for (int c = 0; c < 8; c++) {
        double u[GAS_SCALARS];
        if ((c >> (f >> 1) & 1) != (f & 1)) continue;
        hydro_gas_across(o->m, o->l, o->i, c, f, gas_of(o)->par, u);
        out[c] = u[1 + (f >> 1)] * (1.0 / hydro_max(u[0], gas_of(o)->par->smallr));
    }
    return vec_load(out);
}

/* Normal velocities beyond face f, in the places of the cells at the face. */
static inline vec velocities_beyond(const struct oct_sums *o, int f)
{
    const lidx j = o->m->lev[o->l].nbr[o->i][f];
    if (j >= 0) return cells_swapped(oct_velocity(o, j, f >> 1), f >> 1);
    return j == NBR_NONE ? vec_of(velocity_coarser(o, f)) : velocities_beyond_box(o, f);
}

/* Divergence of the old velocities in the cells of an oct at the coarse–fine boundary. Neighbours
 * are at a distance of one cell, or of 1½ where they are coarser. */
static void oct_expansion_boundary(const struct oct_sums *o, double *restrict div)
{
    static const vec_bits UPPER[3] = {
        {0, -1, 0, -1, 0, -1, 0, -1}, {0, 0, -1, -1, 0, 0, -1, -1}, {0, 0, 0, 0, -1, -1, -1, -1}};
    const lidx *nbr = o->m->lev[o->l].nbr[o->i];
    const double dx = o->dx;
    const vec one = vec_of(1.0 * dx);
    vec sum = vec_of(0.0);
    for (int d = 0; d < 3; d++) {
        const vec in = cells_swapped(oct_velocity(o, o->i, d), d);
        const vec below = vec_pick(UPPER[d], in, velocities_beyond(o, 2 * d)),
                  above = vec_pick(UPPER[d], velocities_beyond(o, 2 * d + 1), in);
        const vec lower = vec_of((nbr[2 * d] == NBR_NONE ? 1.5 : 1.0) * dx),
                  upper = vec_of((nbr[2 * d + 1] == NBR_NONE ? 1.5 : 1.0) * dx);
        sum += (above - below) / (vec_pick(UPPER[d], one, lower) + vec_pick(UPPER[d], upper, one));
    }
    vec_store(div, sum);
}

/* Divergence of the old velocities in the cells of an oct: the last of the sums. */
static double *expansion_of(struct oct_sums *o)
{
    return o->w[o->law->nsum - 1];
}

static void oct_expansion(struct oct_sums *o)
{
    bool reflux_row = false;
    for (int f = 0; f < 6; f++) reflux_row |= o->m->lev[o->l].nbr[o->i][f] == NBR_NONE;
    if (reflux_row) oct_expansion_boundary(o, expansion_of(o));
}

/* Compression of the non-thermal energies; what is neither kinetic nor internal energy before and
 * after the step: `before` and `after`, and these energies. */
static void oct_energies(struct oct_sums *o, const double *before, const double *after,
                         double *restrict was, double *restrict is)
{
    const struct level *lv = &o->m->lev[o->l];
    const struct gas_energies *e = &gas_of(o)->par->energy;
    const double *restrict div = expansion_of(o), dt = o->dt;
    for (int c = 0; c < 8; c++) was[c] = before[c], is[c] = after[c];
    for (int k = 0; k < e->n; k++) {
        const double *restrict old = lv->fld[FLD_U + GAS_SCALARS + k][o->i];
        double *restrict now = o->w[GAS_SCALARS + k];
        for (int c = 0; c < 8; c++) {
            now[c] += hydro_energy_pdv(old[c], e->gamma[k], div[c], dt);
            was[c] += old[c];
            is[c] += now[c];
        }
    }
}

/* Advances the auxiliary internal energy: fluxes, and −P dV with the old velocities. beside: energy
 * that is neither kinetic nor internal. */
static void oct_pdv(struct oct_sums *o, const double *restrict beside, double *restrict eint)
{
    const struct level *lv = &o->m->lev[o->l];
    const struct hydro_par *par = gas_of(o)->par;
    const double *restrict r = lv->fld[FLD_U][o->i], *restrict x = lv->fld[FLD_U + 1][o->i],
                           *restrict y = lv->fld[FLD_U + 2][o->i],
                           *restrict z = lv->fld[FLD_U + 3][o->i],
                           *restrict etot = lv->fld[FLD_U + GAS_ENERGY][o->i];
    const double *restrict flux = o->w[o->law->nvar + 1];
    const double *restrict div = expansion_of(o);
    const double smallr = par->smallr, gm1 = gas_gm1(par->gamma), dt = o->dt;
#pragma omp simd
    for (int c = 0; c < 8; c++) {
        eint[c] = hydro_pdv_cell(r[c], x[c], y[c], z[c], etot[c] - beside[c], flux[c], div[c],
                                 smallr, gm1, dt);
    }
}

/* Corrects scalar densities where the density falls below its floor or rises from below it. */
static void oct_scalars(struct oct_sums *o)
{
    const struct level *lv = &o->m->lev[o->l];
    double smallr = gas_of(o)->par->smallr;
    const vec least = vec_min(vec_load(lv->fld[FLD_U][o->i]), vec_load(o->w[0]));
    if (!vec_any((vec_bits)(least < smallr))) return;
    for (int c = 0; c < 8; c++) {
        double factor = hydro_scalar_factor(lv->fld[FLD_U][o->i][c], o->w[0][c], smallr);
        if (factor == 0.0) continue;
        for (int v = GAS_SCALARS + gas_of(o)->par->energy.n; v < gas_of(o)->par->nvar; v++)
            o->w[v][c] = lv->fld[FLD_U + v][o->i][c] * factor;
    }
}

/* pressure_fix: takes the auxiliary internal energy where the conserved one is lost in the kinetic
 * energy's truncation error. */
static void oct_switch_energy(struct oct_sums *o, const double *restrict beside,
                              const double *restrict eint)
{
    const struct hydro_par *par = gas_of(o)->par;
    const double dx = o->dx, dt = o->dt, smallr = par->smallr, beta = par->beta_fix;
    const double hubble = 3.0 * gas_of(o)->hexp * dx;
    const double *restrict change = o->w[o->law->nvar]; /* −dt ∇·v from the faces */
    double(*restrict q)[8] = o->w;
#pragma omp simd
    for (int c = 0; c < 8; c++) {
        const double e = q[GAS_ENERGY][c] - beside[c];
        const double chosen = hydro_energy_choose(q[0][c], q[1][c], q[2][c], q[3][c], e, eint[c],
                                                  change[c], hubble, dx, dt, smallr, beta);
        q[GAS_ENERGY][c] = chosen == e ? q[GAS_ENERGY][c] : chosen + beside[c];
    }
}
