/* param/stencil: checks of the parameters of solver='stencil'. */
#include <string.h>

#include "param/row.h"

bool param_stencil_forced(const struct params *p, const char *forcing)
{
    return p->stencil.hydro && strcmp(p->stencil.forcing, forcing) == 0;
}

static enum err check_equations(const struct param_stencil *t)
{
    if (t->order % 2) FAIL(ERR_PARAM, "order=%d in &STENCIL_PARAMS must be 2, 4, 6 or 8", t->order);
    if (!t->hydro && !t->magnetic)
        FAIL(ERR_PARAM, "there is nothing to evolve: set hydro=.true. or magnetic=.true. in "
                        "&STENCIL_PARAMS");
    if (t->entropy && !(t->gamma > 1))
        FAIL(ERR_PARAM, "gamma=%g in &STENCIL_PARAMS must be above 1 with entropy=.true.",
             t->gamma);
    if (strcmp(t->forcing, "none") != 0 && !t->hydro)
        FAIL(ERR_PARAM,
             "forcing='%s' in &STENCIL_PARAMS moves the gas, which hydro=.false. freezes: set "
             "forcing='none'",
             t->forcing);
    return OK;
}

/* A step that cannot end: nothing limits it. */
static enum err check_clock(const struct param_stencil *t)
{
    const bool waves = t->hydro || strcmp(t->init_u, "none") != 0 || *t->init_file;
    if (t->dt_fixed > 0 || waves || t->eta > 0) return OK;
    FAIL(ERR_PARAM, "nothing moves and nothing diffuses: set dt_fixed or eta in &STENCIL_PARAMS");
}

enum err param_check_stencil(const struct params *p)
{
    TRY(check_equations(&p->stencil));
    return check_clock(&p->stencil);
}
