/* param/solver: which groups of parameters a solver has (solvers.def). A solver with groups of its
 * own reads these, and those parameters of &RUN_PARAMS and &OUTPUT_PARAMS that say how a run is
 * controlled, not what it computes. */
#include <string.h>
#include <strings.h>

#include "param/row.h"

static const struct solver_row {
    const char *name, *groups;
} solvers[] = {
#define SOLVER(name, groups) {#name, groups},
#include "param/solvers.def"
};
enum { SOLVERS = sizeof solvers / sizeof *solvers };

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

static const struct solver_row *row_of(const struct params *p)
{
    for (int i = 0; i < SOLVERS; i++)
        if (strcmp(solvers[i].name, p->run.solver) == 0) return &solvers[i];
    return &solvers[0];
}

bool param_solver_is(const struct params *p, const char *name)
{
    return strcmp(row_of(p)->name, name) == 0;
}

/* ---- turbulence ---- */

/* Values of turb_type before 2026. */
enum { TURB_STATIC = 2, TURB_DECAYING = 3 };

static bool gas_on_octree(const struct params *p)
{
    return p->run.hydro && param_solver_is(p, "octree");
}

bool param_turb(const struct params *p)
{
    return gas_on_octree(p) && (p->turb.turb || p->turb.driven_turb);
}

bool param_turb_drives(const struct params *p)
{
    return param_turb(p) && p->turb.turb_type != TURB_DECAYING;
}

bool param_turb_evolves(const struct params *p)
{
    return param_turb_drives(p) && p->turb.turb_evolving && p->turb.turb_type != TURB_STATIC;
}

bool param_turb_starts(const struct params *p)
{
    const bool files = strcmp(p->init.filetype, "grafic") == 0;
    const bool decays = param_turb(p) && p->turb.turb_type == TURB_DECAYING;
    return gas_on_octree(p) && !files && (p->turb.initial_turb || decays);
}

/* ---- groups ---- */

/* Whether a blank-separated list has a word. */
static bool lists(const char *words, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = words; *at; at += strspn(at, " ")) {
        const size_t len = strcspn(at, " ");
        if (len == n && strncmp(at, word, n) == 0) return true;
        at += len;
    }
    return false;
}

const struct param_group *param_solver_group(const struct params *p)
{
    const struct solver_row *s = row_of(p);
    return *s->groups ? param_group_find(s->name, true) : NULL;
}

bool param_solver_own(const char *group)
{
    for (int i = 0; i < SOLVERS; i++)
        if (*solvers[i].groups && strcmp(solvers[i].name, group) == 0) return true;
    return false;
}

static bool is_shared(const struct param_row *row)
{
    if (row->status == PARAM_HARMLESS) return true; /* reported as such */
    for (size_t i = 0; i < sizeof SHARED / sizeof *SHARED; i++)
        if (strcmp(row->group, SHARED[i][0]) == 0 && strcmp(row->name, SHARED[i][1]) == 0)
            return true;
    return false;
}

static bool has(const struct solver_row *s, const struct param_row *row)
{
    if (!*s->groups) return !param_solver_own(row->group);
    return lists(s->groups, row->group) || is_shared(row);
}

enum err param_check_solver(const struct params *p)
{
    const struct solver_row *s = row_of(p);
    for (int i = 0; i < PARAM_ROWS; i++) {
        const struct param_row *row = param_row_at(i);
        if (!p->given[i] || has(s, row)) continue;
        const char *namelist = param_group_find(row->group, true)->namelist;
        if (param_solver_own(row->group))
            FAIL(ERR_PARAM,
                 "%s in &%s is for runs of solver='%s': set this in &RUN_PARAMS, or leave the "
                 "group out",
                 row->name, namelist, row->group);
        FAIL(ERR_PARAM,
             "%s in &%s does not belong to a run of solver='%s', which has &%s: leave it out",
             row->name, namelist, s->name, param_solver_group(p)->namelist);
    }
    return OK;
}
