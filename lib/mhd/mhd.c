/* mhd: the law for the engine (patch), and sources after the fluxes. */
#include "mhd/mhd.h"

#include "base/err.h"
#include "mhd/interp_kern.h"
#include "mhd/mhd_law.h"
#include "patch/edges.h"

static const struct law_edges EDGES = {mhd_start, mhd_half, mhd_trace, mhd_fluxes, mhd_forces};

int mhd_nflux(const struct mesh *m, const struct mhd_par *p)
{
    return p->gas->nvar + (3 - m->ndim) + (p->gas->pressure_fix ? 2 : 0);
}

/* State beyond boundary f; the acceleration is mirrored with the gas. */
static void wall(const struct law *law, int f, int h, const double *near, double *u)
{
    double from[LAW_FIELDS];
    const int normal = law->nvar + (f >> 1);
    for (int v = 0; v < law->nfield; v++) from[v] = u[v];
    mhd_beyond(((const struct mhd_law *)law)->par, f, h, near, from, u);
    if (law->mirrored[f] && normal < law->nfield) u[normal] = -u[normal];
}

struct mhd_law mhd_law_make(const struct mesh *m, const struct mhd_par *p)
{
    const struct hydro_par *gas = p->gas;
    struct mhd_law x = {.gas = gas_law_make(m, gas), .par = p};
    struct law *law = &x.gas.law;
    x.g = (struct mhd_gas){.gamma = gas->gamma,
                           .gm1 = gas_gm1(gas->gamma),
                           .smallr = gas->smallr,
                           .smallc = gas->smallc,
                           .pmin = gas->smallr * gas->smallc * gas->smallc / gas->gamma,
                           .switches = p->switches,
                           .switches_edge = p->switches_edge,
                           .switch_b = p->switch_b,
                           .switch_ratio = p->switch_ratio,
                           .switch_density = p->switch_density};
    law->edges = &EDGES;
    law->nvar = gas->nvar + LAW_FACES;
    law->nflux = mhd_nflux(m, p);
    const bool mixed = gas->energy.n > 0, expands = gas->pressure_fix || mixed;
    law->nsum = law->nvar + (gas->pressure_fix ? 2 : 0) + (expands ? 1 : 0);
    law->zero = 0;
    law->nscratch = mhd_planes_count(gas->nvar + 3 + (mixed ? MHD_MIXED : 0));
    law->corners = true;
    law->near = true;
    law->nfield = 0;
    for (int v = 0; v < gas->nvar; v++) law->field[law->nfield++] = FLD_U + v;
    for (int f = 0; f < LAW_FACES; f++) law->field[law->nfield++] = FLD_MAGNETIC + f;
    for (int d = 0; d < 3 && m->gravity; d++) law->field[law->nfield++] = FLD_FX + d;
    law->missing = mhd_missing_oct;
    law->beyond = NULL;
    law->wall = wall;
    law->primitive = mhd_primitive;
    law->plane = NULL;
    law->trace = NULL;
    law->fluxes = NULL;
    law->extra = expands ? mhd_expansion : NULL;
    law->signal = mhd_signal;
    return x;
}

/* ---- after the fluxes ---- */

/* Magnetic energy of the cells of an oct with this field on its faces. */
static void energy_of(const double *const face[LAW_FACES], double out[8])
{
    for (int c = 0; c < 8; c++)
        out[c] = gas_magnetic_faces(face[0][c], face[1][c], face[2][c], face[3][c], face[4][c],
                                    face[5][c]);
}

/* The field grows with the expansion, and the energy with it. What a finer level adds after the
 * first of two steps grows in the second (docs/method/mhd.md). */
static void expand(struct oct_sums *o, const double *const was[LAW_FACES])
{
    const struct mhd_law *law = (const struct mhd_law *)o->law;
    const struct reflux *r = &o->m->lev[o->l + 1].reflux[law->gas.law.system];
    const double second = law->growth / law->first;
    double(*face)[8] = o->w + law_cells(o->law);
    double now[LAW_FACES][8], energy[4][8];
    const double *is[LAW_FACES];
    if (law->growth == 1) return;
    for (int f = 0; f < LAW_FACES; f++) {
        is[f] = now[f];
        for (int c = 0; c < 8; c++) now[f][c] = law->first * was[f][c];
        for (int c = 0; c < 8; c++) face[f][c] = law->growth * was[f][c] + (face[f][c] - was[f][c]);
    }
    energy_of(was, energy[0]);
    energy_of(is, energy[1]);
    if (o->l < o->m->levelmax && r->row && r->nedge > REFLUX_EDGES) edges_add(o, true, now);
    energy_of(is, energy[2]);
    for (int f = 0; f < LAW_FACES; f++)
        for (int c = 0; c < 8; c++) now[f][c] *= second;
    energy_of(is, energy[3]);
    for (int c = 0; c < 8; c++)
        o->w[GAS_ENERGY][c] += energy[1][c] - energy[0][c] + (energy[3][c] - energy[2][c]);
}

static void finish(struct oct_sums *o)
{
    const struct gas_law *g = (const struct gas_law *)o->law;
    const int field = law_cells(o->law);
    double before[8] = {0}, after[8] = {0};
    const double *was[LAW_FACES], *is[LAW_FACES];
    for (int f = 0; f < LAW_FACES; f++) {
        was[f] = level_magnetic(&o->m->lev[o->l], f)[o->i];
        is[f] = o->w[field + f];
    }
    expand(o, was);
    if (g->par->pressure_fix) {
        energy_of(was, before);
        energy_of(is, after);
    }
    gas_finish_with(o, before, after);
}

void mhd_grow(struct mesh *m, int l, double factor)
{
    for (int k = m->levelmin + 1; k <= l; k++) reflux_grow(m, k, REFLUX_GAS, factor);
}

void mhd_between(struct mesh *m, int l)
{
    reflux_keep(m, l, REFLUX_GAS);
}

void mhd_update(struct mesh *m, int l, double dt, struct mhd_expansion e, const struct mhd_par *p,
                const struct patch_arrival *a, const struct hydro_change *c)
{
    struct mhd_law x = mhd_law_make(m, p);
    x.gas.hexp = e.hexp;
    x.growth = e.growth;
    x.first = e.first;
    x.gas.law.after = p->gas->drive ? gas_drive_row : NULL;
    x.gas.change = c && c->n ? c : NULL;
    if (x.gas.change || m->gravity || p->gas->pressure_fix || p->gas->nvar > GAS_SCALARS ||
        e.growth != 1)
        x.gas.law.finish = finish;
    patch_update(
        m, l, dt, &x.gas.law,
        &(struct patch_how){a, p->gas->scratch, p->gas->tile_depth - 1, p->gas->flow, NULL});
}
