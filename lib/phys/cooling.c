/* phys/cooling: cooling and heating of the leaf cells of a level over its step, at constant density
 * and velocity, above the temperature floor (docs/method/cooling.md). With an equation of state the
 * energy is set to the floor. */
#include <math.h>
#include <string.h>

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

/* Variables of a cell in a block: those of the gas, densities of metals and of the delay scalar. */
enum { BLOCK_METAL = GAS_SCALARS, BLOCK_DELAY, BLOCK_FIELDS };

/* A block of leaf cells, used up to the next multiple of VEC. beside: energy that is neither
 * kinetic nor internal. Rows of variables that the mesh lacks stay 0. */
struct block {
    struct solve_cells cells;
    int nfield, field[BLOCK_FIELDS], as[BLOCK_FIELDS]; /* variable of the mesh, row of `gas` */
    double gas[BLOCK_FIELDS][SOLVE_BLOCK], beside[SOLVE_BLOCK];
    double kinetic[SOLVE_BLOCK], floor[SOLVE_BLOCK], before[SOLVE_BLOCK], after[SOLVE_BLOCK];
    lidx oct[SOLVE_BLOCK];
    int cell[SOLVE_BLOCK];
};

static void block_open(struct block *b, const struct job *j)
{
    memset(b, 0, sizeof *b);
    for (int v = 0; v < BLOCK_FIELDS; v++) {
        int field = v == BLOCK_METAL ? j->law.metal : v == BLOCK_DELAY ? j->law.delayed : v;
        if (field >= 0) b->field[b->nfield] = field, b->as[b->nfield++] = v;
    }
}

static struct gas_cell block_gas(const struct block *b, const struct cooling_law *w, int k)
{
    const double rho = b->gas[GAS_DENSITY][k];
    return (struct gas_cell){
        .rho = rho > w->smallr ? rho : w->smallr,
        .m = {b->gas[GAS_MOMENTUM][k], b->gas[GAS_MOMENTUM + 1][k], b->gas[GAS_MOMENTUM + 2][k]},
        .e = b->gas[GAS_ENERGY][k] - b->beside[k]};
}

/* Everything between the variables of the mesh and those of cooling, in vectors of cells. */
static void block_begin(const struct job *j, struct block *b)
{
    const struct cooling_law w = j->law;
    struct solve_cells *s = &b->cells;
    _Static_assert(SOLVE_BLOCK % VEC == 0, "a block has whole vectors");
    for (int k = 0; k < s->n; k += VEC) {
        const vec rho = vec_max(vec_load(b->gas[GAS_DENSITY] + k), vec_of(w.smallr));
        vec_store(b->floor + k, cooling_floor(&w.floor, rho * w.hydrogen));
        vec_store(s->seen + k, cooling_seen(&w, rho * w.hydrogen));
    }
#pragma omp simd
    for (int k = 0; k < s->n; k++) {
        const struct gas_cell g = block_gas(b, &w, k);
        const struct cooling_cell x = cooling_begin(&w, &g, b->gas[BLOCK_METAL][k], b->floor[k]);
        s->nH[k] = x.nH;
        s->Z[k] = x.Z;
        s->T2[k] = b->before[k] = x.T2;
        b->kinetic[k] = x.kinetic;
    }
}

static void block_end(const struct job *j, struct block *b)
{
    const struct cooling_law w = j->law;
    const struct solve_cells *s = &b->cells;
#pragma omp simd
    for (int k = 0; k < s->n; k++) {
        const struct cooling_cell x = {
            .rho = block_gas(b, &w, k).rho, .floor = b->floor[k], .T2 = b->before[k]};
        const double internal = cooling_end(&w, &x, s->T2[k], b->gas[BLOCK_DELAY][k]);
        b->after[k] = internal + b->kinetic[k] + b->beside[k];
    }
    for (int k = 0; k < s->n; k++) {
        level_gas(j->lv, GAS_ENERGY)[b->oct[k]][b->cell[k]] = b->after[k];
        if (w.delayed >= 0)
            level_gas(j->lv, w.delayed)[b->oct[k]][b->cell[k]] = b->gas[BLOCK_DELAY][k] * w.decay;
    }
}

static void flush(const struct job *j, struct block *b)
{
    if (b->cells.n == 0) return;
    block_begin(j, b);
    cool_cells(j->r->cooling, j->law.dt, &b->cells);
    block_end(j, b);
    b->cells.n = 0;
}

/* Adds the eight cells of an oct. */
static void gather_oct(const struct job *j, lidx i, struct block *b)
{
    const int k = b->cells.n;
    for (int v = 0; v < b->nfield; v++)
        memcpy(b->gas[b->as[v]] + k, level_gas(j->lv, b->field[v])[i], 8 * sizeof(double));
    for (int c = 0; c < 8; c++) {
        b->oct[k + c] = i, b->cell[k + c] = c;
        b->beside[k + c] = gas_cell_beside(j->lv, i, c);
    }
    b->cells.n = k + 8;
}

static void gather(const struct job *j, lidx i, int c, struct block *b)
{
    const int k = b->cells.n++;
    for (int v = 0; v < b->nfield; v++) b->gas[b->as[v]][k] = level_gas(j->lv, b->field[v])[i][c];
    b->beside[k] = gas_cell_beside(j->lv, i, c);
    b->oct[k] = i, b->cell[k] = c;
}

static void cool_octs(const struct job *j, lidx first, lidx last)
{
    struct block b;
    block_open(&b, j);
    for (lidx i = first; i < last; i++) {
        const lidx *child = j->lv->child[i];
        bool whole = j->r->mesh->cells == 8 && b.cells.n <= SOLVE_BLOCK - 8;
        for (int c = 0; c < 8 && whole; c++) whole = child[c] < 0;
        if (whole) gather_oct(j, i, &b);
        for (int c = 0; c < j->r->mesh->cells && !whole; c++) {
            if (child[c] >= 0) continue;
            gather(j, i, c, &b);
            if (b.cells.n == SOLVE_BLOCK) flush(j, &b);
        }
        if (b.cells.n == SOLVE_BLOCK) flush(j, &b);
    }
    flush(j, &b);
}

static void set_octs(const struct job *j, lidx first, lidx last)
{
    double nH[8], floor[8];
    _Static_assert(VEC == 8, "a vector has the cells of an oct");
    for (lidx i = first; i < last; i++) {
        for (int c = 0; c < 8; c++) nH[c] = cooling_density(&j->law, j->lv, i, c) * j->law.hydrogen;
        vec_store(floor, cooling_floor(&j->law.floor, vec_load(nH)));
        for (int c = 0; c < j->r->mesh->cells; c++)
            if (j->lv->child[i][c] < 0) cooling_set(&j->law, j->lv, i, c, floor[c]);
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
