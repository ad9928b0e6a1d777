/* budget: see budget.h. */
#include "budget/budget.h"

#include <string.h>

#include "base/sum.h"
#include "part/family.h"

struct reading {
    int density; /* field of that name; −1: none */
    struct sum gas, stars;
};

static enum err add_octs(const struct source_octs *o, void *ctx)
{
    struct reading *s = ctx;
    const struct source *r = o->source;
    const int ncell = source_cells(r);
    double dx = source_dx(r, o->level), volume = dx;
    for (int d = 1; d < r->head.ndim; d++) volume *= dx;
    for (int i = 0; i < o->n; i++) {
        double mass = 0; /* of an oct, in the order of its cells */
        for (int c = 0; c < ncell; c++)
            if (!(o->split[i] >> c & 1)) mass += o->val[8 * s->density + c][i] * volume;
        if (mass != 0) sum_add(&s->gas, mass);
    }
    return OK;
}

static enum err add_parts(const struct source_parts *p, void *ctx)
{
    struct reading *s = ctx;
    for (int64_t i = 0; i < p->n; i++)
        if (p->family[i] == FAM_STAR) sum_add(&s->stars, p->m[i]);
    return OK;
}

static double mass_of_table(const struct catalog *t)
{
    const struct catalog_column *mass = catalog_find(t, "mass");
    struct sum sum;
    sum_init(&sum);
    for (int64_t i = 0; mass && mass->real && i < t->n; i++) sum_add(&sum, mass->real[i]);
    return sum_get(&sum);
}

enum err budget_read(struct budget *b, struct source *r)
{
    struct reading s = {.density = -1};
    for (int f = 0; f < r->nfield; f++)
        if (strcmp(r->field[f].name, "density") == 0) s.density = f;
    sum_init(&s.gas);
    sum_init(&s.stars);
    for (int i = 0; i < r->npiece; i++) {
        if (s.density >= 0) TRY(source_octs(r, i, SOURCE_STORED, add_octs, &s));
        if (r->head.particles) TRY(source_parts(r, i, SOURCE_STORED, add_parts, &s));
    }
    *b = (struct budget){
        .gas = sum_get(&s.gas), .stars = sum_get(&s.stars), .sinks = mass_of_table(r->sinks)};
    return OK;
}

double budget_baryons(const struct budget *b)
{
    return b->gas + b->stars + b->sinks;
}
