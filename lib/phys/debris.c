/* phys/debris: kinetic supernovae of RAMSES. With every star a debris particle is born, which has
 * its ejecta, and gas that they take along (phys/stars.c). After t_sne it becomes a blast wave
 * (Dubois & Teyssier 2008; docs/method/stars.md). */

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

static int64_t find_due(const struct term_run *r, int64_t **at)
{
    const struct parts *p = r->parts;
    double last = star_birth(r, r->par->physics.t_sne * CGS_MYR);
    int64_t n = 0;
    for (int64_t i = 0; i < p->n; i++)
        n += p->family[i] == FAM_DEBRIS && p->birth[i] < last && p->id[i] < 0;
    *at = mem_new(sizeof **at * (size_t)n + 1, "supernovae");
    n = 0;
    for (int64_t i = 0; i < p->n; i++)
        if (p->family[i] == FAM_DEBRIS && p->birth[i] < last && p->id[i] < 0) (*at)[n++] = i;
    return n;
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
    part_remove(r->parts, r->mesh, r->level, n, at);
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
                                 .apply = apply};
