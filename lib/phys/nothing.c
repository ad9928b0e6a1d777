/* phys/nothing: the source term that does nothing: a template for others, and the test that calling
 * terms changes no bit. It visits the leaf cells that it may write, as cooling would. */
#include "oct/field_sets.h"
#include "phys/term.h"

static bool wanted(const struct params *p)
{
    return p->physics.nothing && p->run.hydro;
}

/* Rate of change of the energy density of one cell, code units. */
static double rate(const struct term_run *r, const struct level *lv, lidx i, int c)
{
    return 0;
}

static bool level_apply(const struct term_run *r, int l)
{
    struct level *lv = &r->mesh->lev[l];
    bool any = false;
#pragma omp parallel for schedule(static) reduction(|| : any)
    for (lidx i = 0; i < lv->nown; i++)
        for (int c = 0; c < 8; c++) {
            double change = lv->child[i][c] < 0 ? rate(r, lv, i, c) * r->dt : 0;
            if (change != 0) gas_add_energy(lv, i, c, change);
            any = any || change != 0;
        }
    return any;
}

static enum err apply(const struct term_run *r, bool *changed)
{
    int last = r->stage == TERM_LEVEL ? r->level : r->mesh->levelmax;
    for (int l = r->level; l <= last; l++) *changed |= level_apply(r, l);
    return OK;
}

const struct term term_nothing = {.name = "nothing",
                                  .stages = TERM_LEVEL | TERM_COARSE,
                                  .wanted = wanted,
                                  .reads = GAS,
                                  .writes = GAS,
                                  .apply = apply};
