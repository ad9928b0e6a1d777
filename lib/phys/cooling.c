/* phys/cooling: cooling and heating of the leaf cells of a level over its step, at constant density
 * and velocity, above the temperature floor (docs/method/cooling.md). With an equation of state the
 * energy is that of the floor alone. */
#include "phys/term.h"

#include <math.h>

#include "base/err.h"
#include "cool/cool.h"
#include "phys/floor.h"

static const double T2_LEAST = 1e-2, DELAYED = 1e-3, MYR = 3.15576e13;

static bool wanted(const struct params *p)
{
    return p->run.hydro && (p->physics.cooling || floor_rules(p));
}

/* What is the same for all cells of the call. */
struct job {
    const struct term_run *r;
    struct level *lv;
    struct temperature_floor floor;
    const struct gas_vars *vars;
    double per_T2; /* energy density per density and T2 */
    double dt;     /* s */
    double decay;  /* of the scalar that delays cooling */
    bool cools;
};

/* Leaf cells, a block at a time. */
struct block {
    struct solve_cells cells;
    double before[SOLVE_BLOCK], floor[SOLVE_BLOCK]; /* T2 */
    double kinetic[SOLVE_BLOCK];
    lidx oct[SOLVE_BLOCK];
    int cell[SOLVE_BLOCK];
};

static double density_of(const struct job *j, lidx i, int c)
{
    double rho = j->lv->fld[FLD_U][i][c], least = j->r->hydro->smallr;
    return rho > least ? rho : least;
}

static double kinetic_of(const struct job *j, lidx i, int c, double rho)
{
    double sum = 0;
    for (int d = 0; d < 3; d++) {
        double m = j->lv->fld[FLD_U + GAS_MOMENTUM + d][i][c];
        sum += 0.5 * (m * m) / rho;
    }
    return sum;
}

static double scalar_of(const struct job *j, int s, lidx i, int c, double rho)
{
    return j->lv->fld[FLD_U + j->vars->at[s]][i][c] / rho;
}

/* Density at which the table is entered: where gas shields itself, as much less radiation reaches
 * it as if it were denser (exp(-n_H/0.01)). */
static double seen(const struct params *p, double nH)
{
    return p->physics.self_shielding ? nH / fmax(exp(-nH / 0.01), 1e-20) : nH;
}

static void gather(const struct job *j, lidx i, int c, struct block *b)
{
    const struct params *p = j->r->par;
    struct solve_cells *s = &b->cells;
    int k = s->n++;
    double rho = density_of(j, i, c), nH = rho * j->r->units.hydrogen;
    double kinetic = kinetic_of(j, i, c, rho), floor = floor_T2(&j->floor, nH);
    double energy = j->lv->fld[FLD_U + GAS_ENERGY][i][c] - kinetic;
    double T2 = energy / (rho * j->per_T2) - floor;
    bool metal = j->vars->at[SCALAR_METAL] >= 0;
    s->nH[k] = nH;
    s->seen[k] = seen(p, nH);
    s->Z[k] = metal ? scalar_of(j, SCALAR_METAL, i, c, rho) / COOL_SOLAR : p->physics.z_ave;
    s->T2[k] = b->before[k] = fmin(fmax(T2, T2_LEAST), p->physics.t2max);
    b->floor[k] = floor;
    b->kinetic[k] = kinetic;
    b->oct[k] = i;
    b->cell[k] = c;
}

static void scatter(const struct job *j, struct block *b)
{
    for (int k = 0; k < b->cells.n; k++) {
        lidx i = b->oct[k];
        int c = b->cell[k];
        double T2 = b->cells.T2[k], rho = density_of(j, i, c);
        bool delayed = j->vars->at[SCALAR_DELAYED] >= 0;
        if (delayed && scalar_of(j, SCALAR_DELAYED, i, c, rho) > DELAYED && T2 < b->before[k])
            T2 = b->before[k];
        double total = T2 + b->floor[k];
        j->lv->fld[FLD_U + GAS_ENERGY][i][c] = total * (rho * j->per_T2) + b->kinetic[k];
        if (delayed) j->lv->fld[FLD_U + j->vars->at[SCALAR_DELAYED]][i][c] *= j->decay;
    }
    b->cells.n = 0;
}

static void flush(const struct job *j, struct block *b)
{
    if (b->cells.n == 0) return;
    cool_cells(j->r->cooling, j->dt, &b->cells);
    scatter(j, b);
}

static void cool_octs(const struct job *j, lidx first, lidx last)
{
    struct block b = {.cells.n = 0};
    for (lidx i = first; i < last; i++)
        for (int c = 0; c < 8; c++) {
            if (j->lv->child[i][c] >= 0) continue;
            gather(j, i, c, &b);
            if (b.cells.n == SOLVE_BLOCK) flush(j, &b);
        }
    flush(j, &b);
}

/* What of the table the leaf cells need. */
static void prepare(const struct job *j)
{
    double low = HUGE_VAL, high = 0;
#pragma omp parallel for reduction(min : low) reduction(max : high)
    for (lidx i = 0; i < j->lv->nown; i++)
        for (int c = 0; c < 8; c++) {
            double rho = j->lv->child[i][c] < 0 ? density_of(j, i, c) : 0;
            low = rho > 0 && rho < low ? rho : low;
            high = rho > high ? rho : high;
        }
    double unit = j->r->units.hydrogen;
    if (high > 0)
        cool_need(j->r->cooling, seen(j->r->par, low * unit), seen(j->r->par, high * unit));
}

static void set_to_floor(const struct job *j, lidx i)
{
    for (int c = 0; c < 8; c++) {
        if (j->lv->child[i][c] >= 0) continue;
        double rho = density_of(j, i, c);
        double T2 = floor_T2(&j->floor, rho * j->r->units.hydrogen);
        j->lv->fld[FLD_U + GAS_ENERGY][i][c] = T2 * (rho * j->per_T2) + kinetic_of(j, i, c, rho);
    }
}

static enum err apply(const struct term_run *r, bool *changed)
{
    enum { PART = 64 }; /* octs a thread takes at a time */
    struct level *lv = &r->mesh->lev[r->level];
    struct job j = {.r = r,
                    .lv = lv,
                    .floor = floor_at(r->par, r->cosmo, &r->units, r->aexp),
                    .vars = &r->hydro->vars,
                    .per_T2 = 1 / (r->units.temperature * (r->hydro->gamma - 1)),
                    .dt = r->dt * r->units.time,
                    .cools = !floor_rules(r->par)};
    j.decay = exp(-j.dt / (r->par->physics.t_diss * MYR));
    *changed = lv->nown > 0;
    if (j.cools) prepare(&j);
#pragma omp parallel for schedule(dynamic)
    for (lidx first = 0; first < lv->nown; first += PART) {
        lidx last = first + PART < lv->nown ? first + PART : lv->nown;
        if (j.cools) cool_octs(&j, first, last);
        for (lidx i = first; i < last && !j.cools; i++) set_to_floor(&j, i);
    }
    return OK;
}

const struct term term_cooling = {.name = "cooling",
                                  .stages = TERM_LEVEL,
                                  .wanted = wanted,
                                  .reads = SET_GAS,
                                  .writes = SET_GAS,
                                  .apply = apply};
