/* rt/batch: values of a batch from the mesh and to it.
 *
 * As for cooling, the temperature is that above the floor of dense gas. Gas that supernovae have
 * heated does not cool while the delay of cooling lasts. With rt_smooth the transport of a sub-step
 * acts on the cell as rates, between the values before it and after it. */
#include "rt/batch.h"

#include <string.h>

#include "oct/gas_kern.h"
#include "rt/point_kern.h"

/* ---- rows ---- */

/* to[k] is the value of cell k. */
static void rows_read(const struct row_cells *r, double (*const field)[8], double *to)
{
    for (const struct row_oct *o = r->oct; o < r->oct + r->nocts; o++) {
        const double *from = field[o->oct];
        double *at = to + o->first;
        if (o->n == 8)
            memcpy(at, from, 8 * sizeof *at);
        else
            for (int k = 0; k < o->n; k++) at[k] = from[o->cell[k]];
    }
}

static void rows_write(const struct row_cells *r, double (*field)[8], const double *from)
{
    for (const struct row_oct *o = r->oct; o < r->oct + r->nocts; o++) {
        double *to = field[o->oct];
        const double *at = from + o->first;
        if (o->n == 8)
            memcpy(to, at, 8 * sizeof *at);
        else
            for (int k = 0; k < o->n; k++) to[o->cell[k]] = at[k];
    }
}

/* ---- from the mesh ---- */

/* row[k] = row[k] by; the numbers after the last cell are not read by anyone. */
static void scale(int n, double by, double *row)
{
#pragma omp simd
    for (int k = 0; k < n; k++) row[k] *= by;
}

/* Energy per volume that is neither kinetic nor internal. Returns false, if there is none. */
static bool energy_beside(const struct rt_job *j, const struct row_cells *r, double *row)
{
    const struct level *lv = j->lv;
    if (!lv->fld[FLD_MAGNETIC] && lv->nener == 0) return false;
    for (const struct row_oct *o = r->oct; o < r->oct + r->nocts; o++)
        for (int k = 0; k < o->n; k++) row[o->first + k] = gas_cell_beside(lv, o->oct, o->cell[k]);
    return true;
}

/* Densities of mass, momentum and internal energy. */
static void gather_state(const struct rt_job *j, struct rt_batch *b)
{
    const struct row_cells *r = &b->rows;
    const double least = j->r->hydro->smallr;
    double beside[CHEM_BATCH], *rho = b->rho, *e = b->energy;
    rows_read(r, level_gas(j->lv, GAS_DENSITY), rho);
    rows_read(r, level_gas(j->lv, GAS_ENERGY), e);
    for (int d = 0; d < 3; d++) rows_read(r, level_gas(j->lv, GAS_MOMENTUM + d), b->m[d]);
    if (energy_beside(j, r, beside))
        for (int k = 0; k < r->n; k++) e[k] -= beside[k];
#pragma omp simd
    for (int k = 0; k < r->n; k++) {
        rho[k] = rho[k] > least ? rho[k] : least;
        e[k] = gas_internal(e[k], rho[k], b->m[0][k], b->m[1][k], b->m[2][k]);
    }
}

static void gather_T2(const struct rt_job *j, struct rt_batch *b)
{
    struct chem_cells *s = &b->cells;
    const double most = j->rt->par->physics.t2max;
    for (int k = 0; k < s->n; k++) {
        s->nH[k] = b->rho[k] * j->hydrogen;
        s->T2[k] = cell_T2(b->energy[k], b->rho[k], j->per_T2);
    }
    memset(b->floor, 0, sizeof b->floor);
    for (int k = 0; k < s->n && j->chem->cooling; k++) {
        b->floor[k] = floor_T2(&j->floor, s->nH[k]);
        s->T2[k] = cell_T2_above(s->T2[k], b->floor[k], most);
    }
    memcpy(b->begun, s->T2, sizeof b->begun);
}

static void gather_gas(const struct rt_job *j, struct rt_batch *b)
{
    struct chem_cells *s = &b->cells;
    double delayed[CHEM_BATCH];
    gather_state(j, b);
    gather_T2(j, b);
    if (j->metal >= 0) rows_read(&b->rows, level_gas(j->lv, j->metal), s->Z);
    for (int k = 0; k < s->n; k++)
        s->Z[k] = j->metal >= 0 ? s->Z[k] / b->rho[k] / COOL_SOLAR : j->rt->par->physics.z_ave;
    if (j->delayed >= 0) rows_read(&b->rows, level_gas(j->lv, j->delayed), delayed);
    for (int k = 0; k < s->n; k++)
        s->cools[k] = j->delayed < 0 || delayed[k] <= COOLING_DELAYED * b->rho[k];
    for (int f = 0; f < CHEM_FRACTIONS; f++) {
        if (j->x[f] < 0) continue;
        rows_read(&b->rows, level_gas(j->lv, j->x[f]), s->x[f]);
        for (int k = 0; k < s->n; k++) s->x[f][k] /= b->rho[k];
    }
    memset(s->momentum, 0, sizeof s->momentum);
    if (!j->traps) return;
    rows_read(&b->rows, level_gas(j->lv, GAS_SCALARS), b->trapped);
    scale(s->n, j->unit_e, b->trapped);
}

static void gather_photons(const struct rt_job *j, struct rt_batch *b)
{
    struct chem_cells *s = &b->cells;
    for (int v = 0; v < RT_COMPONENTS * j->rt->ngroups; v++) {
        const int g = v / RT_COMPONENTS, d = v % RT_COMPONENTS - 1;
        const double unit = d < 0 ? j->unit_n : j->unit_f;
        double(*old)[8] = j->rt->old[v]; /* NULL: 0 everywhere */
        double *value = d < 0 ? s->N[g] : s->F[g][d],
               *rate = d < 0 ? s->N_rate[g] : s->F_rate[g][d];
        double *now = s->smooth && old ? rate : value;
        rows_read(&b->rows, level_photons(j->lv, v), now);
        scale(s->n, unit, now);
        if (now == rate) {
            rows_read(&b->rows, old, value);
            scale(s->n, unit, value);
#pragma omp simd
            for (int k = 0; k < s->n; k++) rate[k] = (rate[k] - value[k]) / j->dt;
        } else if (s->smooth)
            memset(rate, 0, sizeof *rate * (size_t)s->n);
    }
    for (int g = 0; g < j->rt->ngroups; g++) {
        memset(s->absorbed[g], 0, sizeof s->absorbed[g]);
        memset(s->emitted[g], 0, sizeof s->emitted[g]);
    }
}

/* ---- to the mesh ---- */

/* The energy per volume of a cell with the new temperature and momentum; gas in which cooling is
 * delayed may only be heated. */
static void new_energy(const struct rt_job *j, struct rt_batch *b)
{
    const struct chem_cells *s = &b->cells;
#pragma omp simd
    for (int k = 0; k < s->n; k++) {
        const double internal = cell_internal(s->T2[k], b->begun[k], s->cools[k], b->floor[k],
                                              b->rho[k], j->per_T2);
        b->energy[k] = internal + gas_kinetic(b->rho[k], b->m[0][k], b->m[1][k], b->m[2][k]);
    }
}

/* The gas gets its new temperature and the momentum of photons, whose work is part of the energy.
 */
static void scatter_gas(const struct rt_job *j, struct rt_batch *b)
{
    const struct chem_cells *s = &b->cells;
    const struct row_cells *r = &b->rows;
    double row[CHEM_BATCH];
    rows_write(r, level_gas(j->lv, GAS_DENSITY), b->rho);
    for (int d = 0; d < 3 && j->pushes; d++) {
        for (int k = 0; k < s->n; k++) b->m[d][k] += s->momentum[d][k] / j->unit_m;
        rows_write(r, level_gas(j->lv, GAS_MOMENTUM + d), b->m[d]);
    }
    for (int k = 0; k < s->n && j->traps; k++) row[k] = b->trapped[k] / j->unit_e;
    if (j->traps) rows_write(r, level_gas(j->lv, GAS_SCALARS), row);
    new_energy(j, b);
    if (energy_beside(j, r, row))
        for (int k = 0; k < s->n; k++) b->energy[k] += row[k];
    rows_write(r, level_gas(j->lv, GAS_ENERGY), b->energy);
    if (j->delayed >= 0) {
        rows_read(r, level_gas(j->lv, j->delayed), row);
        scale(s->n, j->decay, row);
        rows_write(r, level_gas(j->lv, j->delayed), row);
    }
    for (int f = 0; f < CHEM_FRACTIONS; f++) {
        if (j->x[f] < 0) continue;
        for (int k = 0; k < s->n; k++) row[k] = s->x[f][k] * b->rho[k];
        rows_write(r, level_gas(j->lv, j->x[f]), row);
    }
}

/* Adds photons per volume, cgs, to an account. */
static void count(const struct rt_job *j, int n, const double *photons, struct sum *sum)
{
    double row[CHEM_BATCH];
#pragma omp simd
    for (int k = 0; k < n; k++) row[k] = photons[k] / j->unit_n * j->volume;
    sum_add_many(sum, n, row);
}

static void scatter_photons(const struct rt_job *j, const struct rt_batch *b, struct rt_account *a)
{
    const struct chem_cells *s = &b->cells;
    double row[CHEM_BATCH];
    for (int v = 0; v < RT_COMPONENTS * j->rt->ngroups; v++) {
        const int g = v / RT_COMPONENTS, d = v % RT_COMPONENTS - 1;
        for (int k = 0; k < s->n && d < 0; k++) row[k] = m1_max(s->N[g][k] / j->unit_n, RT_SMALL);
        for (int k = 0; k < s->n && d >= 0; k++) row[k] = s->F[g][d][k] / j->unit_f;
        rows_write(&b->rows, level_photons(j->lv, v), row);
    }
    for (int g = 0; g < j->rt->ngroups; g++) {
        count(j, s->n, s->absorbed[g], &a->absorbed[g]);
        if (j->chem->law.emits) count(j, s->n, s->emitted[g], &a->emitted[g]);
    }
}

void rt_batch_read(const struct rt_job *j, struct rt_batch *b)
{
    b->cells.n = b->rows.n;
    gather_gas(j, b);
    gather_photons(j, b);
}

void rt_batch_write(const struct rt_job *j, struct rt_batch *b, struct rt_account *a)
{
    scatter_gas(j, b);
    if (j->rt->advect) scatter_photons(j, b, a);
    b->rows.n = b->rows.nocts = 0;
}
