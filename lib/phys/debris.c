/* phys/debris: kinetic supernovae of RAMSES. With every star a debris particle is born, which has
 * its ejecta, and gas that they take along (phys/stars.c). After t_sne it becomes a blast wave
 * (Dubois & Teyssier 2008; docs/method/stars.md). */
#include <math.h>

#include "base/cgs.h"
#include "base/checksum.h"
#include "base/mem.h"
#include "oct/field_sets.h"
#include "phys/blast.h"

static bool wanted(const struct params *p)
{
    return param_debris(p);
}

/* Unique id of a blast, hashed from all columns of the particle, since debris particles share ids.
 */
static int64_t own_id(const struct parts *p, int64_t i)
{
    const double x[] = {p->x[0][i], p->x[1][i], p->x[2][i],  p->v[0][i],      p->v[1][i],
                        p->v[2][i], p->m[i],    p->birth[i], (double)p->id[i]};
    return (int64_t)(checksum_of((const char *)x, sizeof x) >> 1);
}

static struct blast blast_of(const struct term_run *r, int64_t i)
{
    const struct parts *p = r->parts;
    double Z = p->metal ? p->metal[i] : 0, ejecta = r->par->feedback.eta_sn * star_mass(r);
    struct blast b = blast_from(p, i);
    b.at.id = own_id(p, i);
    b.mass = p->m[i];
    b.metals = p->m[i] * Z;
    b.energy = -(double)p->id[i] * ejecta * star_explosion(r);
    return b;
}

/* Debris that are due. Their ids are negative: a particle of the family without is none. */
static int64_t find_due(const struct term_run *r, int64_t **at)
{
    const struct parts *p = r->parts;
    const double last = star_birth(r, r->par->physics.t_sne * CGS_MYR),
                 birth[2] = {-HUGE_VAL, last};
    int64_t all, n = 0;
    *at = stars_born(r, FAM_DEBRIS, STAR_NO_TAG, birth, &all);
    for (int64_t k = 0; k < all; k++)
        if (p->birth[(*at)[k]] < last && p->id[(*at)[k]] < 0) (*at)[n++] = (*at)[k];
    return n;
}

/* Removes particles. A device cannot do so: if there are any to remove, all particles come to the
 * host first. */
static void remove_due(const struct term_run *r, int64_t n, const int64_t *at)
{
    if (r->few && n > 0) {
        BUG_ON(part_dev_need(r->few, r->parts, LOCATION_HOST) != OK); /* the state is lost */
        part_dev_wrote(r->few);
    }
    if (!r->few || n > 0) part_remove(r->parts, r->mesh, r->level, n, at);
}

static enum err apply(const struct term_run *r, bool *changed)
{
    const struct blast_law law = {.kinetic = r->par->physics.f_ek};
    int64_t *at, n = find_due(r, &at);
    struct blast *b = mem_new(sizeof *b * (size_t)n + 1, "supernovae");
    struct sum energy;
    sum_init(&energy);
    for (int64_t i = 0; i < n; i++) {
        b[i] = blast_of(r, at[i]);
        sum_add(&energy, b[i].energy);
    }
    *changed = n > 0;
    remove_due(r, n, at);
    enum err err = blast_spread(r, &law, n, b, changed);
    if (err == OK) star_log_energy(r, n, &energy);
    FREE(b);
    FREE(at);
    return err;
}

const struct term term_debris = {.name = "debris",
                                 .stages = TERM_COARSE,
                                 .wanted = wanted,
                                 .reads = GAS | PARTS,
                                 .writes = GAS | PARTS,
                                 .apply = apply,
                                 .sparse = true};
