/* param/stencil: checks of runs of solver='stencil', which reads &STENCIL_PARAMS, &TURB_PARAMS and
 * those parameters of &RUN_PARAMS and &OUTPUT_PARAMS that say how a run is controlled, not what it
 * computes. */
#include <string.h>

#include "param/row.h"

/* The parameters of other groups that such a run honours. */
static const char *const SHARED[][2] = {
    {"run", "solver"},          {"run", "verbose"},         {"run", "nrestart"},
    {"run", "ncontrol"},        {"run", "nstepmax"},        {"run", "jobcontrolfile"},
    {"run", "exchange_method"}, {"run", "exchange_shared"}, {"run", "exchange_letters"},
    {"run", "gpu_device"},      {"run", "gpu_seed"},        {"output", "noutput"},
    {"output", "foutput"},      {"output", "fbackup"},      {"output", "backup_minutes"},
    {"output", "keep_last"},    {"output", "tout"},         {"output", "tend"},
    {"output", "delta_tout"},   {"output", "walltime_hrs"}, {"output", "minutes_dump"},
};

bool param_stencil(const struct params *p)
{
    return strcmp(p->run.solver, "stencil") == 0;
}

bool param_stencil_forced(const struct params *p, const char *forcing)
{
    return p->stencil.hydro && strcmp(p->stencil.forcing, forcing) == 0;
}

static bool is_shared(const struct param_row *row)
{
    if (strcmp(row->group, "stencil") == 0 || strcmp(row->group, "turb") == 0) return true;
    if (row->status == PARAM_HARMLESS) return true; /* reported as such */
    for (size_t i = 0; i < sizeof SHARED / sizeof *SHARED; i++)
        if (strcmp(row->group, SHARED[i][0]) == 0 && strcmp(row->name, SHARED[i][1]) == 0)
            return true;
    return false;
}

/* The first parameter that is given in this group, or, if group is NULL, that the solver does not
 * have. */
static const struct param_row *given_in(const struct params *p, const char *group)
{
    for (int i = 0; i < PARAM_ROWS; i++) {
        const struct param_row *row = param_row_at(i);
        if (p->given[i] && (group ? strcmp(row->group, group) == 0 : !is_shared(row))) return row;
    }
    return NULL;
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
    const bool is = param_stencil(p);
    const struct param_row *row = given_in(p, is ? NULL : "stencil");
    if (row && !is)
        FAIL(ERR_PARAM,
             "%s in &STENCIL_PARAMS is for runs on a uniform mesh: set solver='stencil' in "
             "&RUN_PARAMS, or leave the group out",
             row->name);
    if (!is) return OK;
    if (row)
        FAIL(ERR_PARAM,
             "%s in &%s does not belong to a run of solver='stencil', which has &STENCIL_PARAMS: "
             "leave it out",
             row->name, param_group_find(row->group, true)->namelist);
    TRY(check_equations(&p->stencil));
    return check_clock(&p->stencil);
}
