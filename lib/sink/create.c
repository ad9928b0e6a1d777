/* sink/create: see create.h. Only few clumps become sinks: all ranks get their indices, whose order
 * defines the ids. */
#include "sink/create.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cgs.h"
#include "base/log.h"
#include "base/mem.h"

/* mass of a new sink before its seed, in units of the mass of its cell */
static const double FIRST = 1e-10;
static const double DENSE = 10; /* min density of a peak with a black hole, in units of n_star */

double sinks_apart(const struct params *par, const struct mesh *m, double aexp)
{
    return fmin(2 * par->sink.ir_cloud * mesh_dx(m, m->levelmax) / aexp, 0.5 * m->boxlen);
}

enum err sinks_before_births(const struct sink_run *s, struct sink_copies *c)
{
    struct sink_state *k = s->sinks;
    struct sink_context context = sink_run_context(s);
    int64_t lost;
    memset(c, 0, sizeof *c);
    sinks_law(s);
    sinks_settle(&k->table, s->mesh, s->comm, s->dom, &lost);
    if (lost) log_info(" %ld sinks have left the box through its boundaries", (long)lost);
    if (k->table.total == 0) return OK;
    double radius = sinks_apart(s->par, s->mesh, s->aexp);
    return sink_call(&context, &k->table, NULL, radius, 0, NULL, c);
}

/* ---- conditions ---- */

/* Thresholds for sink formation, code units. */
struct needs {
    const struct sink_run *s;
    double seed; /* minimum mass near the peak */
    /* for black holes: minimum masses of the clump, and of gas and stars near the peak */
    double halo, clump, stars;
    double forming, ball; /* density threshold of star formation; volume near the peak */
};

static struct needs needs_of(const struct sink_run *s)
{
    const struct param_sink *p = &s->par->sink;
    double sun = RAMSES_MSUN / s->units.mass, radius = 0.5 * sinks_apart(s->par, s->mesh, s->aexp);
    return (struct needs){.s = s,
                          .seed = p->mass_sink_seed * sun,
                          .halo = p->mass_halo_agn * sun,
                          .clump = p->mass_clump_agn * sun,
                          .stars = param_stars(s->par) ? p->mass_star_agn * sun : 0,
                          .forming = s->par->physics.n_star / s->units.hydrogen,
                          .ball = 4. / 3 * M_PI * (radius * radius * radius)};
}

/* Whether black holes may form here: the scalar that limits refinement limits them, too. */
static bool in_region(const struct sink_run *s, const struct clump_core *c)
{
    const struct level *lv = &s->mesh->lev[c->level];
    int ivar = s->par->refine.ivar_refine;
    if (ivar <= 0) return true;
    double d = fmax(level_gas(lv, GAS_DENSITY)[c->oct][c->cell], s->hydro->smallr);
    return level_gas(lv, ivar - 1)[c->oct][c->cell] / d > s->par->refine.var_cut_refine;
}

double sinks_birth_density(const struct sink_run *s)
{
    const struct needs n = needs_of(s);
    return s->par->physics.smbh ? DENSE * n.forming : s->sinks->law.d_sink;
}

static bool may_have_hole(const struct needs *n, const struct clump_core *c)
{
    if (!c->main || c->taken) return false;
    if (!(c->mass > n->halo) || !(c->near > n->clump)) return false;
    if (n->stars > 0 && !(c->stars > n->stars)) return false;
    if (!(c->near / n->ball > n->forming) || !(c->max > DENSE * n->forming)) return false;
    return in_region(n->s, c);
}

static bool may_collapse(const struct needs *n, const struct clump_core *c)
{
    if (c->taken || !(c->max > n->s->sinks->law.d_sink) || !(c->near > n->seed)) return false;
    if (!n->s->par->sink.check_energies) return true;
    return c->kinetic < -c->gravity && c->thermal < -c->gravity;
}

/* ---- formation ---- */

struct birth {
    int64_t index;
    int64_t home, number; /* rank, and index of the clump there */
};

MEM_ORDER(birth_order, struct birth, index)

static void bear(const struct sink_run *s, const struct clump_core *c, int64_t id)
{
    const struct level *lv = &s->mesh->lev[c->level];
    double dx = mesh_dx(s->mesh, c->level), rho = level_gas(lv, GAS_DENSITY)[c->oct][c->cell];
    struct sink *a = sinks_add(&s->sinks->table, 1);
    a->id = id;
    a->born = 1;
    a->birth = s->t;
    a->m = a->dmf = a->accreted = FIRST * rho * (dx * dx * dx);
    for (int d = 0; d < 3; d++) {
        a->x[d] = c->x[d];
        a->v[d] = level_gas(lv, GAS_MOMENTUM + d)[c->oct][c->cell] / rho;
    }
    sink_wrap(s->mesh, a->x);
    gas_cell_scale(lv, c->oct, c->cell, s->hydro->nvar, 1 - FIRST);
}

static enum err check_number(const struct sink_run *s, int64_t born)
{
    int64_t all = s->sinks->table.total + born, max = s->par->amr.nsinkmax;
    if (all > max)
        FAIL(ERR_LIMIT,
             "%ld new sinks would make %ld, more than nsinkmax=%ld of &SINK_PARAMS: raise nsinkmax",
             (long)born, (long)all, (long)max);
    return OK;
}

static enum err bear_all(const struct sink_run *s, const struct clump_cores *k,
                         const struct birth *at, int64_t n)
{
    struct sinks *table = &s->sinks->table;
    TRY(check_number(s, n));
    for (int64_t i = 0; i < n; i++)
        if (at[i].home == s->comm->rank) bear(s, &k->at[at[i].number], table->made + 1 + i);
    table->made += n;
    table->total += n;
    table->level = s->mesh->levelmin; /* finest level, on which the next step begins */
    while (table->level < s->mesh->levelmax && s->noct[table->level + 1] > 0) table->level++;
    log_info(" %ld sinks have formed", (long)n);
    return OK;
}

enum err sinks_create(const struct sink_run *s, const struct clump_cores *k)
{
    struct needs needs = needs_of(s);
    int64_t n = 0, all;
    int64_t *which = mem_new(sizeof *which * (size_t)k->n + 1, "sinks");
    for (int64_t i = 0; i < k->n; i++)
        if (s->par->physics.smbh ? may_have_hole(&needs, &k->at[i])
                                 : may_collapse(&needs, &k->at[i]))
            which[n++] = i;
    all = n;
    comm_add_i64(s->comm, &all, 1);
    struct birth *at = mem_new(sizeof *at * (size_t)(all + n) + 1, "sinks");
    for (int64_t i = 0; i < n; i++)
        at[i] = (struct birth){k->at[which[i]].index, s->comm->rank, which[i]};
    if (all) comm_union(s->comm, n, all, sizeof *at, at, 0, NULL);
    mem_sort(at, (size_t)all, sizeof *at, birth_order);
    enum err err = all ? bear_all(s, k, at, all) : OK;
    FREE(at);
    FREE(which);
    return err;
}
