/* phys/supernovae: stars explode once, at the age t_sne, and give mass, metals and heat to the gas
 * of their cell (docs/method/stars.md). Explosions in a cell are applied in the order of ids, so
 * that their sum does not depend on the order of particles. A star that has exploded has tag 1. */
#include "base/cgs.h"
#include "oct/field_sets.h"
#include "phys/stars.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "sparse/rows.h"

static bool wanted(const struct params *p)
{
    return param_stars(p) && p->feedback.eta_sn > 0 && !param_debris(p) && !param_momentum(p);
}

/* Data common to all supernovae of a call. */
struct job {
    const struct term_run *r;
    struct star_deaths deaths;
    int metal, delayed; /* variables of metals and of delayed cooling, -1: none */
};

struct explosion {
    lidx oct;
    int cell;
    int64_t id, at; /* id and index of the particle */
};

static struct job job_of(const struct term_run *r)
{
    return (struct job){.r = r,
                        .deaths = star_deaths(r),
                        .metal = r->hydro->vars.at[SCALAR_METAL],
                        .delayed = r->hydro->vars.at[SCALAR_DELAYED]};
}

/* Leaf cell of the star's level that contains the star; -1: none on this rank. */
static int cell_of(const struct job *j, int64_t i)
{
    const struct level *lv = &j->r->mesh->lev[j->r->level];
    const struct parts *p = j->r->parts;
    int64_t o[3];
    int c = 0;
    if (p->host[i] < 0 || p->host[i] >= lv->nown) return -1;
    okey_coords(lv->key[p->host[i]], o);
    for (int d = 0; d < 3; d++) {
        int64_t q = (int64_t)mesh_cells(j->r->mesh, j->r->level, p->x[d][i]);
        if (q >> 1 != o[d]) return -1;
        c |= (int)(q & 1) << d;
    }
    return lv->child[p->host[i]][c] < 0 ? c : -1;
}

static int explosion_order(const void *a, const void *b)
{
    const struct explosion *x = a, *y = b;
    if (x->oct != y->oct) return x->oct < y->oct ? -1 : 1;
    if (x->cell != y->cell) return x->cell - y->cell;
    return (x->id > y->id) - (x->id < y->id);
}

static struct explosion *find_explosions(const struct job *j, int64_t *n)
{
    const struct parts *p = j->r->parts;
    int64_t max, *at = stars_due(j->r, &j->deaths, &max);
    *n = 0;
    if (max == 0) return NULL;
    struct explosion *b = mem_new(sizeof *b * (size_t)max, "supernovae");
    for (int64_t k = 0; k < max; k++) {
        const int64_t i = at[k];
        int c = cell_of(j, i);
        if (c >= 0) b[(*n)++] = (struct explosion){p->host[i], c, p->id[i], i};
    }
    mem_sort(b, (size_t)*n, sizeof *b, explosion_order);
    FREE(at);
    return b;
}

/* The octs of explosions, which are sorted by them. */
static struct rows octs_of(int64_t n, const struct explosion *b)
{
    struct rows r = {0, mem_new(sizeof *r.oct * (size_t)n + 1, "supernovae")};
    for (int64_t i = 0; i < n; i++)
        if (i == 0 || b[i].oct != b[i - 1].oct) r.oct[r.n++] = b[i].oct;
    return r;
}

/* Sends the changed stars to a device that has the others. */
static enum err send_stars(const struct term_run *r, int64_t n, const struct explosion *b)
{
    int64_t *at = mem_new(sizeof *at * (size_t)n + 1, "supernovae");
    for (int64_t i = 0; i < n; i++) at[i] = b[i].at;
    enum err err = part_dev_few_send(r->few, r->parts, n, at);
    FREE(at);
    return err;
}

/* Factor of the heat for infrared photons trapped by dust, of which there are 1e53 erg per 1e51 erg
 * of the supernova. */
static double trapped(const struct job *j, const struct level *lv, const struct explosion *b)
{
    const struct param_physics *p = &j->r->par->physics;
    const struct units *u = &j->r->units;
    double rho = level_gas(lv, GAS_DENSITY)[b->oct][b->cell];
    if (!(p->kappa_ir > 0) || !(rho * u->hydrogen > 10)) return 1;
    double metals = j->metal >= 0 ? level_gas(lv, j->metal)[b->oct][b->cell] / 0.02
                                  : rho * p->z_ave;
    return 1 + 100 * (1 - exp(-p->kappa_ir * 200 * CGS_PC * metals * u->density));
}

/* Adds an explosion to its cell. Returns the energy without the kinetic energy of the ejecta's
 * motion. */
static double explode(const struct job *j, const struct level *lv, const struct explosion *b)
{
    struct parts *p = j->r->parts;
    double dx = mesh_dx(j->r->mesh, j->r->level), v[3], yield = j->r->par->feedback.yield;
    double ejected = star_ejecta(&j->deaths, p->m[b->at]), rho = ejected / (dx * dx * dx);
    double heat = j->deaths.specific * star_sampled(&j->deaths, b->id) * trapped(j, lv, b);
    for (int d = 0; d < 3; d++) v[d] = p->v[d][b->at];
    double energy = rho * (gas_kinetic_specific(v[0], v[1], v[2]) + heat);
    gas_add(lv, b->oct, b->cell, rho, v, energy);
    if (j->metal >= 0) {
        double Z = p->metal ? p->metal[b->at] : 0;
        level_gas(lv, j->metal)[b->oct][b->cell] += rho * (yield + (1 - yield) * Z);
    }
    if (j->delayed >= 0) level_gas(lv, j->delayed)[b->oct][b->cell] += rho;
    if (j->r->ledger)
        star_note(&j->r->ledger->ejected, b->id, -1, ejected / p->m[b->at], lv, b->oct, b->cell);
    p->m[b->at] -= ejected;
    p->tag[b->at] = STAR_EXPLODED;
    return ejected * heat;
}

static enum err apply(const struct term_run *r, bool *changed)
{
    struct job j = job_of(r);
    struct sum energy;
    int64_t n;
    struct explosion *b = find_explosions(&j, &n);
    struct rows octs = octs_of(n, b);
    struct star_event *e = mem_new(sizeof *e * (size_t)n + 1, "supernovae");
    sum_init(&energy);
    BUG_ON(rows_home(r->mirror, r->mesh, r->level, GAS, &octs) != OK); /* the state is lost */
    for (int64_t i = 0; i < n; i++) {
        const struct level *lv = &r->mesh->lev[r->level];
        e[i] = star_event(r, STAR_DEATH, lv, b[i].oct, b[i].cell, b[i].at);
        sum_add(&energy, explode(&j, lv, &b[i]));
        *changed = true;
    }
    BUG_ON(rows_send(r->mirror, r->mesh, r->level, GAS, &octs) != OK);
    BUG_ON(send_stars(r, n, b) != OK);
    FREE(octs.oct);
    star_log_energy(r, n, &energy);
    enum err err = star_log(r, n, e);
    FREE(e);
    FREE(b);
    return err;
}

const struct term term_supernovae = {.name = "supernovae",
                                     .stages = TERM_LEVEL,
                                     .wanted = wanted,
                                     .reads = GAS | PARTS,
                                     .writes = GAS | PARTS,
                                     .apply = apply,
                                     .sparse = true};
