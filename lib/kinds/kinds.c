/* kinds/kinds: the table of kinds: names, parameters, opening, particles. */
#include "kinds/kinds.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/log.h"
#include "kinds/priv.h"

static const struct kind_row {
    const struct kind *kind;
    const char *name, *alias, *what;
} KINDS[] = {
#define KIND(symbol, name, alias, what) {&kind_##symbol, name, alias, what},
#include "kinds/kinds.def"
};

enum { KINDS_N = sizeof KINDS / sizeof *KINDS };

static bool row_has(const struct kind_row *r, const char *name)
{
    return strcasecmp(r->name, name) == 0 || (r->alias && strcasecmp(r->alias, name) == 0);
}

static const struct kind_row *row_of(const char *name)
{
    if (!*name) return &KINDS[0];
    for (int i = 0; i < KINDS_N; i++)
        if (row_has(&KINDS[i], name)) return &KINDS[i];
    return NULL;
}

enum err kinds_find(const char *name, const struct kind **kind)
{
    const struct kind_row *r = row_of(name);
    char list[512] = "";
    size_t n = 0;
    *kind = r ? r->kind : NULL;
    if (r) return OK;
    for (int i = 0; i < KINDS_N && n < sizeof list; i++)
        n += (size_t)snprintf(list + n, sizeof list - n, "%s'%s'", i ? ", " : "", KINDS[i].name);
    FAIL(ERR_PARAM,
         "condinit_kind='%.40s' in &INIT_PARAMS is unknown: the kinds of initial states are %s; "
         "init_expr gives others as expressions",
         name, list);
}

/* The name of the kind of a run: filetype='dice' is one too. */
static const char *name_of(const struct params *par)
{
    return strcmp(par->init.filetype, "dice") == 0 ? "dice" : par->init.condinit_kind;
}

enum err kinds_params(struct params *par)
{
    const struct kind *kind, *other;
    TRY(kinds_find(name_of(par), &kind));
    TRY(kinds_find(par->init.condinit_kind, &other));
    if (other != kind && other != &kind_region)
        FAIL(ERR_PARAM,
             "condinit_kind='%s' and filetype='dice' in &INIT_PARAMS are two initial states: leave "
             "one of them out",
             other->name);
    return kind->params ? kind->params(par) : OK;
}

/* Fails if the run lacks a part that the kind needs. */
static enum err check_needs(const struct kind *k, const struct params *p)
{
    const struct {
        enum kind_need need;
        bool has;
        const char *set;
    } all[] = {{KIND_GAS, p->run.hydro, "hydro=.true."},
               {KIND_FIELD, p->run.mhd, "mhd=.true. (or --build SOLVER=mhd)"},
               {KIND_PARTICLES, p->run.pic, "pic=.true."},
               {KIND_GRAVITY, p->run.poisson, "poisson=.true."}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (k->needs & all[i].need && !all[i].has)
            FAIL(ERR_PARAM, "condinit_kind='%s' in &INIT_PARAMS needs %s in &RUN_PARAMS", k->name,
                 all[i].set);
    return OK;
}

static enum err check_kind(const struct kind *k, const struct kind_setup *s)
{
    static const char *const axes[] = {"", "one", "two", "three"};
    const int ndim = s->mesh->ndim;
    if (k == &kind_region) return OK;
    if (k->flow && param_given(s->par, "init", "init_expr"))
        FAIL(ERR_PARAM,
             "init_expr in &INIT_PARAMS cannot change the gas of condinit_kind='%s' (or "
             "filetype='%s'), which all comes from files: leave init_expr out",
             k->name, k->name);
    if (k != &kind_dice && (s->par->run.cosmo || strcmp(s->par->init.filetype, "ascii") != 0))
        FAIL(ERR_PARAM,
             "condinit_kind='%s' in &INIT_PARAMS is an initial state in place of files: set "
             "filetype='ascii' and cosmo=.false., or leave it out",
             k->name);
    if (!(k->dims >> ndim & 1))
        FAIL(ERR_PARAM,
             "condinit_kind='%s' in &INIT_PARAMS does not exist in %s dimension%s: set ndim in "
             "&RUN_PARAMS (or --build NDIM=…)",
             k->name, axes[ndim], ndim == 1 ? "" : "s");
    return check_needs(k, s->par);
}

enum err kinds_open(struct kinds *k, const struct kind_setup *setup,
                    const struct ics_region *region, int nregion)
{
    const char *name = name_of(setup->par);
    *k = (struct kinds){.setup = *setup, .region = region, .nregion = nregion};
    TRY(kinds_find(name, &k->kind));
    TRY(check_kind(k->kind, &k->setup));
    if (k->kind != &kind_region)
        log_info(" Initial state '%s': %s", k->kind->name, row_of(name)->what);
    if (k->kind->open) TRY(k->kind->open(&k->setup, &k->state));
    return kind_expr_open(&k->setup, &k->expr);
}

enum err kinds_flow(struct kinds *k, struct mesh *m, const struct domain *dom)
{
    return k->kind && k->kind->flow ? k->kind->flow(k->state, m, dom) : OK;
}

bool kinds_has_particles(const struct kinds *k)
{
    return k->kind && k->kind->particles;
}

enum err kinds_particles(struct kinds *k, const struct mesh *m, struct parts *p)
{
    return k->kind->particles(k->state, m, k->setup.comm, p);
}

int64_t kinds_particle_count(const struct kinds *k)
{
    return k->kind->particle_count ? k->kind->particle_count(k->state) : 0;
}

void kinds_close(struct kinds *k)
{
    if (k->kind && k->kind->close && k->state) k->kind->close(k->state);
    kind_expr_close(k->expr);
    *k = (struct kinds){.kind = NULL};
}
