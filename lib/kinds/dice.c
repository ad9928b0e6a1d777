/* kinds/dice: gas, dark matter and stars from files of galaxies (galaxy/dice.h), with
 * filetype='dice'. */
#include <stdio.h>

#include "base/mem.h"
#include "galaxy/dice.h"
#include "kinds/kinds.h"

struct state {
    const struct kind_setup *setup; /* lent */
    struct dice dice;
};

static enum err dice_params(struct params *par)
{
    snprintf(par->init.filetype, sizeof par->init.filetype, "dice");
    return OK;
}

static enum err open_dice(const struct kind_setup *s, void **state)
{
    struct state *q = mem_zero(sizeof *q, "galaxies");
    *state = q;
    q->setup = s;
    return err_agree(s->comm,
                     dice_open(&q->dice, s->par, &s->units, s->vars->at[SCALAR_METAL] >= 0));
}

static enum err flow(void *state, struct mesh *m, const struct domain *dom)
{
    struct state *q = state;
    const struct ics_gas *g = q->setup->gas;
    const int mark = q->setup->par->refine.ivar_refine;
    const struct dice_cells cells = {.nvar = g->nvar,
                                     .metal = q->setup->vars->at[SCALAR_METAL],
                                     .mark = mark > GAS_SCALARS ? mark - 1 : -1,
                                     .gamma = g->gamma,
                                     .smallr = g->smallr};
    return dice_gas(&q->dice, m, q->setup->comm, dom, &cells);
}

static enum err potential(const void *state, const double x[3], double A[3])
{
    const struct state *q = state;
    dice_potential(q->setup->par, x, A);
    return OK;
}

static enum err face(const void *state, const double x[3], int d, double *b)
{
    const struct state *q = state;
    (void)x;
    *b = q->setup->par->dice.ic_mag_const[d];
    return OK;
}

static enum err particles(void *state, const struct mesh *m, const struct comm *c, struct parts *p)
{
    struct state *q = state;
    return dice_particles(&q->dice, m, c, p);
}

static int64_t particle_count(const void *state)
{
    const struct state *q = state;
    return q->dice.kept;
}

static void close_dice(void *state)
{
    struct state *q = state;
    dice_close(&q->dice);
    mem_free(q);
}

const struct kind kind_dice = {.name = "dice",
                               .dims = 1 << 3,
                               .needs = KIND_PARTICLES,
                               .params = dice_params,
                               .open = open_dice,
                               .flow = flow,
                               .potential = potential,
                               .face = face,
                               .particles = particles,
                               .particle_count = particle_count,
                               .close = close_dice};
