/* phys/momentum: supernovae that push all gas around: with the momentum that they have when their
 * shells cool (Kim & Ostriker 2015) where that is not resolved (docs/method/stars.md). At a coarse
 * step, as blasts (phys/blast). */

#include "base/cgs.h"
#include "base/mem.h"
#include "oct/field_sets.h"
#include "phys/blast.h"

static const double TERMINAL = 2.8e5; /* solar masses km/s, for 1e51 erg at 1 H/cm^3 */

static bool wanted(const struct params *p)
{
    return param_momentum(p);
}

static struct blast_law law_of(const struct term_run *r)
{
    const struct units *u = &r->units;
    return (struct blast_law){.kinetic = r->par->physics.f_ek,
                              .terminal = TERMINAL * RAMSES_MSUN * CGS_KM / (u->mass * u->velocity),
                              .supernova = CGS_FOE / (u->mass * (u->velocity * u->velocity))};
}

static struct blast explode(const struct term_run *r, const struct star_deaths *d, int64_t i)
{
    struct parts *p = r->parts;
    double ejecta = star_ejecta(d, p->m[i]), yield = r->par->feedback.yield;
    double Z = p->metal ? p->metal[i] : 0;
    struct blast b = blast_from(p, i);
    b.mass = ejecta;
    b.metals = ejecta * (yield + (1 - yield) * Z);
    b.energy = ejecta * d->specific * star_sampled(d, p->id[i]);
    p->m[i] -= ejecta;
    p->tag[i] = STAR_EXPLODED;
    return b;
}

static enum err apply(const struct term_run *r, bool *changed)
{
    const struct blast_law law = law_of(r);
    const struct star_deaths deaths = star_deaths(r);
    struct sum energy;
    int64_t n, *at = stars_due(r, &deaths, &n);
    struct blast *b = mem_new(sizeof *b * (size_t)n + 1, "supernovae");
    sum_init(&energy);
    for (int64_t i = 0; i < n; i++) {
        b[i] = explode(r, &deaths, at[i]);
        sum_add(&energy, b[i].energy);
    }
    BUG_ON(part_dev_few_send(r->few, r->parts, n, at) != OK); /* the state is lost */
    *changed = n > 0;
    enum err err = blast_spread(r, &law, n, b, changed);
    if (err == OK) star_log_energy(r, n, &energy);
    FREE(b);
    FREE(at);
    return err;
}

const struct term term_momentum = {.name = "momentum",
                                   .stages = TERM_COARSE,
                                   .wanted = wanted,
                                   .reads = GAS | PARTS,
                                   .writes = GAS | PARTS,
                                   .apply = apply,
                                   .sparse = true};
