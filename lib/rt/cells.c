/* rt/cells: chemistry of the leaf cells of a level: cells are gathered in batches in cgs units
 * (rt/batch.h), advanced, and written back with the momentum of the photons that they absorbed. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/cgs.h"
#include "base/mem.h"
#include "chem/chem.h"
#include "oct/gas_kern.h"
#include "phys/floor.h"
#include "rt/batch.h"
#include "rt/law.h"

struct rt_job rt_job_of(const struct rt_run *r, int l, double dt)
{
    const struct rt *rt = r->rt;
    const struct gas_vars *vars = &r->hydro->vars;
    const struct units *u = &r->units;
    const double a = r->cosmo ? r->aexp : 1;
    struct rt_job j = {.r = r,
                       .rt = rt,
                       .chem = rt->chem,
                       .lv = &r->mesh->lev[l],
                       .floor = floor_at(rt->par, r->cosmo, u, r->aexp),
                       .dt = dt * u->time,
                       .hydrogen = rt->chem->X / RAMSES_MH * u->density,
                       .per_T2 = 1 / (u->temperature * gas_gm1(r->hydro->gamma)),
                       .unit_n = 1 / (a * a * a),
                       .unit_m = u->density * u->velocity,
                       .unit_e = u->density * u->velocity * u->velocity,
                       .dx = mesh_dx(r->mesh, l) * u->length,
                       .traps = rt->ngroups > 0 && rt->par->rt.rt_isirtrap,
                       .volume = mesh_volume(r->mesh, l),
                       .metal = vars->at[SCALAR_METAL] >= 0 ? vars->at[SCALAR_METAL] : -1,
                       .delayed = vars->at[SCALAR_DELAYED] >= 0 ? vars->at[SCALAR_DELAYED] : -1,
                       .x = {vars->at[SCALAR_X_HI], vars->at[SCALAR_X_HII], vars->at[SCALAR_X_HEII],
                             vars->at[SCALAR_X_HEIII]},
                       .pushes = rt->advect && !rt->par->run.static_};
    j.unit_f = j.unit_n * u->velocity;
    j.decay = exp(-j.dt / (rt->par->physics.t_diss * CGS_MYR));
    return j;
}

/* Names the place of the cell whose chemistry has failed. */
static enum err name_cell(const struct rt_job *j, const struct row_cells *r, int k, enum err err)
{
    const struct row_oct *o = r->oct;
    const struct mesh *m = j->r->mesh;
    char where[150] = "cell at";
    double x[3];
    int n = (int)strlen(where);
    while (k >= o->first + o->n) o++;
    okey_cell_centre(j->lv->key[o->oct], o->cell[k - o->first], j->dx / j->r->units.length, x);
    for (int d = 0; d < m->ndim; d++)
        n += snprintf(where + n, sizeof where - (size_t)n, " %.9g", x[d]);
    snprintf(where + n, sizeof where - (size_t)n, " of level %d", (int)(j->lv - m->lev));
    return err_about(err, where);
}

static void flush(const struct rt_job *j, struct rt_batch *b, struct rt_account *a)
{
    if (b->rows.n == 0) return;
    rt_batch_read(j, b);
    if (j->traps) chem_release(j->chem, &b->cells, b->trapped);
    enum err err = chem_advance(j->chem, &b->cells, j->dt, &a->stats);
    if (err != OK)
        err_save(a->trouble, name_cell(j, &b->rows, a->stats.stuck, err), (int)b->rows.oct[0].oct);
    if (j->traps) chem_trap(j->chem, &b->cells, j->dx, b->trapped);
    rt_batch_write(j, b, a);
}

/* ---- a level ---- */

/* Copies the values of the cells of an oct to the numbers that repeat them. */
static void repeat(const struct rt_job *j, lidx i)
{
    const int cells = j->r->mesh->cells;
    for (int v = 0; v < j->r->mesh->nvar; v++) oct_repeat(cells, level_gas(j->lv, v)[i]);
    for (int v = 0; v < j->r->mesh->nphoton; v++) oct_repeat(cells, level_photons(j->lv, v)[i]);
}

static void some_octs(const struct rt_job *j, lidx first, lidx last, struct rt_batch *b,
                      struct rt_account *a)
{
    for (lidx i = first; i < last; i++) {
        if (b->rows.n + j->r->mesh->cells > CHEM_BATCH) flush(j, b, a);
        rows_add(&b->rows, j->lv, i, j->r->mesh->cells);
    }
    flush(j, b, a);
    if (j->r->mesh->cells < 8)
        for (lidx i = first; i < last; i++) repeat(j, i);
}

static void account_join(struct rt *rt, struct rt_account *a)
{
    struct rt_ledger *x = &rt->ledger;
    for (int g = 0; g < rt->ngroups; g++) {
        sum_join(&x->absorbed[g], &a->absorbed[g]);
        sum_join(&x->emitted[g], &a->emitted[g]);
    }
    x->cells += a->stats.cells;
    x->substeps += a->stats.steps;
    if (a->stats.max_steps > x->most) x->most = a->stats.max_steps;
    for (int i = 0; i < RT_REASONS; i++) x->refused[i] += a->stats.refused[i];
}

enum err rt_host_chemistry(const struct rt_run *r, int l, double dt)
{
    enum { PART = 64 }; /* octs per piece of a thread */
    const struct rt_job j = rt_job_of(r, l, dt);
    struct err_first trouble = {.err = OK};
#pragma omp parallel
    {
        struct rt_account a = {.trouble = &trouble};
        struct rt_batch b;
        for (int g = 0; g < RT_GROUPS; g++) sum_init(&a.absorbed[g]), sum_init(&a.emitted[g]);
        b.rows.n = b.rows.nocts = 0;
        b.cells.smooth = r->rt->smooth && r->rt->advect;
#pragma omp for schedule(dynamic)
        for (lidx first = 0; first < j.lv->nown; first += PART)
            some_octs(&j, first, first + PART < j.lv->nown ? first + PART : j.lv->nown, &b, &a);
#pragma omp critical(rt_ledger)
        account_join(r->rt, &a);
    }
    return err_restore(&trouble);
}

/* ---- equilibrium ---- */

/* Gas, and its fractions in equilibrium. */
struct calm {
    double T2, nH, Z, x[CHEM_FRACTIONS];
};

static struct calm calm_of(const struct rt_job *j, lidx i, int c, const struct gas_cell *g)
{
    return (struct calm){.T2 = gas_cell_internal(g) / (g->rho * j->per_T2),
                         .nH = g->rho * j->hydrogen,
                         .Z = j->metal >= 0 ? level_gas(j->lv, j->metal)[i][c] / g->rho / COOL_SOLAR
                                            : j->rt->par->physics.z_ave};
}

static void set_fractions(const struct rt_job *j, lidx i, int c, const double x[CHEM_FRACTIONS],
                          double rho)
{
    for (int f = 0; f < CHEM_FRACTIONS; f++)
        if (j->x[f] >= 0) level_gas(j->lv, j->x[f])[i][c] = x[f] * rho;
}

/* ---- the initial state ---- */

/* Fractions of cell c of oct i; b: another cell, whose fractions are taken if its gas is the same.
 */
static void ionise_cell(const struct rt_job *j, lidx i, int c, struct calm *b)
{
    const struct gas_cell g = gas_cell_above(j->lv, i, c, j->r->hydro->smallr);
    const struct calm own = calm_of(j, i, c, &g);
    if (own.T2 != b->T2 || own.nH != b->nH || own.Z != b->Z) {
        *b = own;
        chem_equilibrium(j->chem, b->T2, b->nH, b->Z, NULL, b->x);
        /* there is no primordial H2 in cosmological initial conditions, as in RAMSES */
        if (j->r->cosmo) b->x[CHEM_XHI] = 1 - b->x[CHEM_XHII];
    }
    set_fractions(j, i, c, b->x, g.rho);
}

void rt_ionise(const struct rt_run *r, int l)
{
    const struct rt_job j = rt_job_of(r, l, 0);
#pragma omp parallel
    {
        struct calm last = {.nH = -1};
#pragma omp for schedule(static)
        for (lidx i = 0; i < j.lv->nown; i++) {
            for (int c = 0; c < r->mesh->cells; c++) ionise_cell(&j, i, c, &last);
            repeat(&j, i);
        }
    }
}

/* ---- cells whose octs have been removed ---- */

unsigned char *rt_merging(const struct mesh *m, int l)
{
    const struct level *lv = &m->lev[l];
    unsigned char *cells = mem_zero((size_t)lv->nown + 1, "radiation");
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < lv->nown; i++)
        for (int c = 0; c < m->cells; c++)
            if (lv->child[i][c] >= 0 && !lv->flag[i][c]) cells[i] |= (unsigned char)(1 << c);
    return cells;
}

static void calm_cell(const struct rt_job *j, lidx i, int c)
{
    const struct gas_cell g = gas_cell_above(j->lv, i, c, j->r->hydro->smallr);
    struct calm b = calm_of(j, i, c, &g);
    double N[RT_GROUPS];
    /* the temperature above the floor, as chemistry has it (rt/batch.c) */
    b.T2 = cell_T2_above(b.T2, j->chem->cooling ? floor_T2(&j->floor, b.nH) : 0,
                         j->rt->par->physics.t2max);
    for (int k = 0; k < j->rt->ngroups; k++)
        N[k] = level_photons(j->lv, k * RT_COMPONENTS)[i][c] * j->unit_n;
    chem_equilibrium(j->chem, b.T2, b.nH, b.Z, N, b.x);
    set_fractions(j, i, c, b.x, g.rho);
}

void rt_merged(const struct rt_run *r, int l, const unsigned char *cells)
{
    const struct rt_job j = rt_job_of(r, l, 0);
#pragma omp parallel for schedule(dynamic, 64)
    for (lidx i = 0; i < j.lv->nown; i++) {
        for (int c = 0; c < r->mesh->cells; c++)
            if (cells[i] >> c & 1) calm_cell(&j, i, c);
        if (cells[i]) repeat(&j, i);
    }
}
