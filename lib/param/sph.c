/* param/sph: checks of the parameters of solver='sph'. */
#include <string.h>

#include "param/row.h"

static bool is(const char *value, const char *name)
{
    return strcmp(value, name) == 0;
}

/* Setups whose box follows from npx. */
static bool has_own_box(const struct param_sph *p)
{
    return is(p->setup, "sod") || is(p->setup, "sedov") || is(p->setup, "kh");
}

static enum err check_box(const struct param_sph *p, bool given)
{
    if (given && has_own_box(p))
        FAIL(ERR_PARAM, "setup='%s' in &SPH_PARAMS has a box of its own: leave out xmin and xmax",
             p->setup);
    for (int d = 0; d < 3; d++)
        if (!(p->xmax[d] > p->xmin[d]))
            FAIL(ERR_PARAM,
                 "the box of &SPH_PARAMS has no width along %c: xmin=%g must be below xmax=%g",
                 "xyz"[d], p -> xmin[d], p -> xmax[d]);
    const bool open = is(p->setup, "evrard") || is(p->setup, "disc");
    const bool closed = has_own_box(p) || is(p->setup, "advect");
    if (open && is(p->boundary, "periodic"))
        FAIL(ERR_PARAM, "setup='%s' in &SPH_PARAMS is in open space: set boundary='free'",
             p->setup);
    if (closed && !is(p->boundary, "periodic"))
        FAIL(ERR_PARAM, "setup='%s' in &SPH_PARAMS is in a periodic box: set boundary='periodic'",
             p->setup);
    return OK;
}

static enum err check_gas(const struct param_sph *p)
{
    const bool adiabatic = is(p->eos, "adiabatic");
    if (adiabatic && !(p->gamma > 1))
        FAIL(ERR_PARAM, "gamma=%g in &SPH_PARAMS must be above 1 with eos='adiabatic'", p->gamma);
    const bool heats = is(p->setup, "sod") || is(p->setup, "sedov") || is(p->setup, "evrard");
    if (heats && !adiabatic)
        FAIL(ERR_PARAM, "setup='%s' in &SPH_PARAMS needs eos='adiabatic'", p->setup);
    if (is(p->eos, "locally_isothermal") && is(p->boundary, "periodic"))
        FAIL(ERR_PARAM, "eos='locally_isothermal' in &SPH_PARAMS is that of gas around a centre in "
                        "open space: set boundary='free'");
    if (p->alpha_min > p->alpha_max)
        FAIL(ERR_PARAM, "alpha_min=%g in &SPH_PARAMS must not be above alpha_max=%g", p->alpha_min,
             p->alpha_max);
    return OK;
}

static enum err check_setup(const struct param_sph *p)
{
    if (is(p->setup, "file") && !*p->init_file)
        FAIL(ERR_PARAM, "setup='file' in &SPH_PARAMS needs init_file, or choose another setup");
    if (!is(p->setup, "file") && *p->init_file)
        FAIL(ERR_PARAM,
             "init_file='%s' in &SPH_PARAMS is for setup='file', but setup is '%s': leave out one "
             "of them",
             p->init_file, p->setup);
    if (is(p->setup, "disc") && !(p->disc_rout > p->disc_rin))
        FAIL(ERR_PARAM, "disc_rout=%g in &SPH_PARAMS must be above disc_rin=%g", p->disc_rout,
             p->disc_rin);
    return OK;
}

/* A gravitating gas has no periodic images. */
static enum err check_gravity(const struct param_sph *p)
{
    if (!is(p->gravity, "none") && is(p->boundary, "periodic"))
        FAIL(ERR_PARAM,
             "gravity='%s' in &SPH_PARAMS is that of gas in open space: set "
             "boundary='free', or gravity='none'",
             p->gravity);
    return OK;
}

enum err param_check_sph(const struct param_sph *p, bool box_given)
{
    TRY(check_setup(p));
    TRY(check_box(p, box_given));
    TRY(check_gas(p));
    return check_gravity(p);
}
