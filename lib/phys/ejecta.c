/* phys/ejecta: ageing stars return mass, metals and energy by a table of yields (phys/yields.h;
 * docs/method/stars.md). The ejecta since the last call go into the cell of the star or, for
 * supernovae of type II with f_w > 0, into a blast wave. */
#include <math.h>

#include "base/cgs.h"
#include "base/mem.h"
#include "oct/field_sets.h"
#include "phys/blast.h"

static bool wanted(const struct params *p)
{
    return param_yields(p);
}

/* Ejecta to be returned: of[0] to the cell of the star, of[1] by blast waves. */
struct due {
    struct blast *of[2];
    int64_t n[2], supernovae;
    struct sum energy; /* energy of both */
};

/* Starts the record of a star whose checkpoint lacks it: no ejecta are due so far. */
static void begin_history(struct parts *p, int64_t i, double age)
{
    p->birth_mass[i] = p->m[i];
    p->yield_age[i] = age;
}

/* Ejecta of star i in code units; their mass is 0 if too little is due. */
static struct blast blast_of(const struct term_run *r, int64_t i, double age, bool *type2)
{
    struct parts *p = r->parts;
    const struct param_physics *f = &r->par->physics;
    const struct units *u = &r->units;
    double Z = p->metal ? p->metal[i] : f->z_ave * 0.02, m = p->birth_mass[i];
    struct yield a = yields_at(r->yields, p->yield_age[i], Z), b = yields_at(r->yields, age, Z);
    double events = f->eps_sn2 * (b.type2 - a.type2) + f->eps_sn1 * (b.type1 - a.type1);
    struct blast e = blast_from(p, i);
    e.mass = (b.mass - a.mass) * m;
    e.metals = (b.metals - a.metals) * m;
    for (int k = 0; k < YIELD_ELEMENTS; k++) e.element[k] = (b.element[k] - a.element[k]) * m;
    e.energy = events * (m / RAMSES_MSUN) * (CGS_FOE / (u->velocity * u->velocity));
    e.log.metal = Z;
    if (b.mass - a.mass < f->tol || !(e.mass < p->m[i])) e.mass = 0;
    *type2 = b.type2 > a.type2;
    if (!*type2) e.log.kind = STAR_QUIET;
    if (f->f_w == 0) e.delayed = e.mass;
    return e;
}

/* Ejecta of star i, if they are due; true: the star has changed. */
static bool find_of(const struct term_run *r, int64_t i, struct due *due)
{
    struct parts *p = r->parts;
    bool type2;
    const double age = star_age(r, p->birth[i]) / CGS_GYR;
    const bool first = !(p->birth_mass[i] > 0);
    if (first) begin_history(p, i, age);
    struct blast b = blast_of(r, i, age, &type2);
    if (b.mass == 0) return first;
    const int wave = r->par->physics.f_w > 0 && type2;
    if (wave) b.load = r->par->physics.f_w * b.mass;
    due->of[wave][due->n[wave]++] = b;
    due->supernovae += type2;
    sum_add(&due->energy, b.energy);
    p->m[i] -= b.mass;
    p->yield_age[i] = age;
    return true;
}

/* All stars; those that have changed return to where they were. */
static void find_due(const struct term_run *r, struct due *due)
{
    const double ever[2] = {-HUGE_VAL, HUGE_VAL};
    int64_t stars, n = 0, *at = stars_born(r, FAM_STAR, STAR_NO_TAG, ever, &stars);
    for (int k = 0; k < 2; k++)
        due->of[k] = mem_new(sizeof *due->of[k] * (size_t)stars + 1, "yields");
    for (int64_t k = 0; k < stars; k++)
        if (find_of(r, at[k], due)) at[n++] = at[k];
    BUG_ON(part_dev_few_send(r->few, r->parts, n, at) != OK); /* the state is lost */
    FREE(at);
}

/* Returns ejecta. wave: by blasts of the radius of the run; otherwise of a radius so small that
 * only the star's own cell is reached. */
static enum err give_back(const struct term_run *r, struct due *due, int wave, bool *changed)
{
    struct blast_law law = {.kinetic = wave ? r->par->physics.f_ek : 0};
    double radius = 0.49 * mesh_dx(r->mesh, r->mesh->levelmax);
    if (wave) return blast_spread(r, &law, due->n[wave], due->of[wave], changed);
    for (int64_t i = 0; i < due->n[wave]; i++) due->of[wave][i].at.radius = radius;
    return blast_apply(r, &law, due->n[wave], due->of[wave], changed);
}

static enum err apply(const struct term_run *r, bool *changed)
{
    struct due due = {.n = {0}};
    sum_init(&due.energy);
    find_due(r, &due);
    *changed = due.n[0] + due.n[1] > 0;
    enum err err = give_back(r, &due, 0, changed);
    if (err == OK) err = give_back(r, &due, 1, changed);
    if (err == OK) star_log_energy(r, due.supernovae, &due.energy);
    for (int k = 0; k < 2; k++) FREE(due.of[k]);
    return err;
}

const struct term term_ejecta = {.name = "stellar ejecta",
                                 .stages = TERM_COARSE,
                                 .wanted = wanted,
                                 .reads = GAS | PARTS,
                                 .writes = GAS | PARTS,
                                 .apply = apply,
                                 .sparse = true};
