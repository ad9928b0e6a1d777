/* phys/cooling: cooling and heating of the leaf cells of a level over its step, at constant density
 * and velocity, above the temperature floor (docs/method/cooling.md). With an equation of state the
 * energy is set to the floor. */
#include <math.h>

#include "base/cgs.h"
#include "cool/cool.h"
#include "cooldev/cooldev.h"
#include "oct/field_sets.h"
#include "phys/floor.h"
#include "phys/rates_asked.h"
#include "phys/term.h"

static bool wanted(const struct params *p)
{
    return p->run.hydro && (p->physics.cooling || floor_rules(p)) && !param_chemistry(p);
}

static struct cooling_law law_of(const struct term_run *r)
{
    const struct gas_vars *vars = &r->hydro->vars;
    double dt = r->dt * r->units.time;
    return (struct cooling_law){.floor = floor_at(r->par, r->cosmo, &r->units, r->aexp),
                                .smallr = r->hydro->smallr,
                                .hydrogen = r->units.hydrogen,
                                .per_T2 = 1 / (r->units.temperature * gas_gm1(r->hydro->gamma)),
                                .dt = dt,
                                .decay = exp(-dt / (r->par->physics.t_diss * CGS_MYR)),
                                .Z = r->par->physics.z_ave,
                                .max = r->par->physics.t2max,
                                .metal = vars->at[SCALAR_METAL] >= 0 ? vars->at[SCALAR_METAL] : -1,
                                .delayed = vars->at[SCALAR_DELAYED] >= 0 ? vars->at[SCALAR_DELAYED]
                                                                         : -1,
                                .shielded = r->par->physics.self_shielding};
}

/* Data common to all cells of the call. */
struct job {
    const struct term_run *r;
    struct level *lv;
    struct cooling_law law;
    bool cools;
};

/* A block of leaf cells. */
struct block {
    struct solve_cells cells;
    struct cooling_cell of[SOLVE_BLOCK];
    lidx oct[SOLVE_BLOCK];
    int cell[SOLVE_BLOCK];
};

/* Functions of the density of the eight cells of an oct: the floor, and the density at which the
 * table is read. */
struct oct_values {
    double floor[8], seen[8];
};

static void oct_values_of(const struct job *j, lidx i, struct oct_values *o)
{
    double nH[8];
    _Static_assert(VEC == 8, "a vector has the cells of an oct");
    for (int c = 0; c < 8; c++) nH[c] = cooling_density(&j->law, j->lv, i, c) * j->law.hydrogen;
    vec_store(o->floor, cooling_floor(&j->law.floor, vec_load(nH)));
    vec_store(o->seen, cooling_seen(&j->law, vec_load(nH)));
}

static void gather(const struct job *j, lidx i, int c, const struct oct_values *o, struct block *b)
{
    struct solve_cells *s = &b->cells;
    int k = s->n++;
    struct cooling_cell x = cooling_enter(&j->law, j->lv, i, c, o->floor[c]);
    s->nH[k] = x.nH;
    s->seen[k] = o->seen[c];
    s->Z[k] = x.Z;
    s->T2[k] = x.T2;
    b->of[k] = x;
    b->oct[k] = i;
    b->cell[k] = c;
}

static void flush(const struct job *j, struct block *b)
{
    if (b->cells.n == 0) return;
    cool_cells(j->r->cooling, j->law.dt, &b->cells);
    for (int k = 0; k < b->cells.n; k++)
        cooling_leave(&j->law, j->lv, b->oct[k], b->cell[k], &b->of[k], b->cells.T2[k]);
    b->cells.n = 0;
}

static void cool_octs(const struct job *j, lidx first, lidx last)
{
    struct block b = {.cells.n = 0};
    struct oct_values o;
    for (lidx i = first; i < last; i++) {
        bool here = false;
        for (int c = 0; c < j->r->mesh->cells; c++) here |= j->lv->child[i][c] < 0;
        if (here) oct_values_of(j, i, &o);
        for (int c = 0; c < j->r->mesh->cells && here; c++) {
            if (j->lv->child[i][c] >= 0) continue;
            gather(j, i, c, &o, &b);
            if (b.cells.n == SOLVE_BLOCK) flush(j, &b);
        }
    }
    flush(j, &b);
}

static void set_octs(const struct job *j, lidx first, lidx last)
{
    struct oct_values o;
    for (lidx i = first; i < last; i++) {
        oct_values_of(j, i, &o);
        for (int c = 0; c < j->r->mesh->cells; c++)
            if (j->lv->child[i][c] < 0) cooling_set(&j->law, j->lv, i, c, o.floor[c]);
    }
}

/* Copies the values that a cell has got to the numbers that repeat it. */
static void repeat(const struct job *j, lidx first, lidx last)
{
    const int cells = j->r->mesh->cells, field[] = {GAS_ENERGY, j->law.delayed};
    for (int v = 0; v < 2 && cells < 8; v++)
        for (lidx i = first; field[v] >= 0 && i < last; i++)
            oct_repeat(cells, level_gas(j->lv, field[v])[i]);
}

/* Prepares the part of the cooling table that the leaf cells need. */
static void prepare(const struct job *j)
{
    double low = HUGE_VAL, high = 0;
    if (cool_recall(j->r->cooling)) return;
#pragma omp parallel for reduction(min : low) reduction(max : high)
    for (lidx i = 0; i < j->lv->nown; i++)
        for (int c = 0; c < j->r->mesh->cells; c++) {
            double rho = j->lv->child[i][c] < 0 ? cooling_density(&j->law, j->lv, i, c) : 0;
            low = rho > 0 && rho < low ? rho : low;
            high = rho > high ? rho : high;
        }
    double unit = j->law.hydrogen;
    if (high > 0)
        cool_need(j->r->cooling, vec_first(cooling_seen(&j->law, vec_of(low * unit))),
                  vec_first(cooling_seen(&j->law, vec_of(high * unit))));
}

static enum err apply(const struct term_run *r, bool *changed)
{
    enum { PART = 64 }; /* octs per piece of a thread */
    struct level *lv = &r->mesh->lev[r->level];
    struct job j = {.r = r, .lv = lv, .law = law_of(r), .cools = !floor_rules(r->par)};
    *changed = lv->nown > 0;
    if (j.cools) prepare(&j);
#pragma omp parallel for schedule(dynamic)
    for (lidx first = 0; first < lv->nown; first += PART) {
        lidx last = first + PART < lv->nown ? first + PART : lv->nown;
        if (j.cools) cool_octs(&j, first, last);
        if (!j.cools) set_octs(&j, first, last);
        repeat(&j, first, last);
    }
    return OK;
}

/* ---- on a device ---- */

static const char *lacks(const struct params *p)
{
    enum cool_method method = rates_asked(p, NULL).method;
    if (floor_rules(p) || method == COOL_ORIGINAL || method == COOL_IMPLICIT) return NULL;
    return "this method of cooling";
}

static void *dev_context(struct mirror *x)
{
    return cooldev_new(x);
}

static void dev_close_context(void *context)
{
    struct cooldev *d = context;
    cooldev_free(&d);
}

static enum err dev_apply(const struct term_run *r, void *context)
{
    const struct cooling_law law = law_of(r);
    return cooldev_apply(context, r->mesh, r->level, &law, floor_rules(r->par) ? NULL : r->cooling,
                         rates_asked(r->par, NULL).method);
}

static const struct term_device DEVICE = {lacks, dev_context, dev_close_context, dev_apply};

const struct term term_cooling = {.name = "cooling",
                                  .stages = TERM_LEVEL,
                                  .wanted = wanted,
                                  .reads = GAS,
                                  .writes = GAS,
                                  .apply = apply,
                                  .device = &DEVICE};
