/* param/check_sinks: checks of the parameters of sinks. */
#include <math.h>
#include <string.h>

#include "param/row.h"

/* Parameters of &PHYSICS_PARAMS that only sinks of Horizon-AGN and cuRAMSES have. */
static const char *const HORIZON[] = {
    "sink_agn",   "ragn",    "eagn_k",  "eagn_t",     "tagn",   "t2maxagn",
    "mloadagn",   "x_floor", "r_gal",   "boost_acc",  "mseed",  "boost_drag",
    "sigmav_max", "f_bondi", "drag",    "random_jet", "bondi",  "star_ratio_floor",
    "selfgrav",   "spin_bh", "mad_jet", "vrel_merge", "rmerge", "bhspinmerge"};

/* First parameter of &SINK_PARAMS that is given; NULL: none. */
static const char *given_ramses(const struct params *p)
{
    for (int i = 0; i < PARAM_ROWS; i++)
        if (p->given[i] && strcmp(param_row_at(i)->group, "sink") == 0)
            return param_row_at(i)->name;
    return NULL;
}

static const char *given_horizon(const struct params *p)
{
    for (size_t i = 0; i < sizeof HORIZON / sizeof *HORIZON; i++)
        if (param_given(p, "physics", HORIZON[i])) return HORIZON[i];
    return NULL;
}

bool param_sinks_ramses(const struct params *p)
{
    return p->run.sink && given_ramses(p);
}

bool param_creates_sinks(const struct params *p)
{
    return param_sinks_ramses(p) && p->sink.create_sinks;
}

bool param_stellar(const struct params *p)
{
    return p->run.stellar && p->stellar.nstellarmax > 0;
}

static enum err check_stellar(const struct params *p)
{
    const struct param_stellar *s = &p->stellar;
    if (!p->run.hydro)
        FAIL(ERR_PARAM, "stellar=.true. in &RUN_PARAMS needs gas, which stellar objects return to: "
                        "set hydro=.true.");
    if (p->run.cosmo)
        FAIL(ERR_PARAM,
             "stellar=.true. in &RUN_PARAMS with cosmo=.true.: lifetimes of stellar objects are "
             "numbers of code units, which change with the expansion; set one of them to .false.");
    if (!(s->imf_index < -1))
        FAIL(ERR_PARAM, "imf_index=%g in &STELLAR_PARAMS must be below -1, for example -2.35",
             s->imf_index);
    if (!(s->imf_low > 0) || !(s->imf_high > s->imf_low) || !isfinite(s->imf_high))
        FAIL(ERR_PARAM,
             "imf_low=%g and imf_high=%g in &STELLAR_PARAMS: masses of stellar objects lie "
             "between them, 0 < imf_low < imf_high, for example 8 and 120 (solar masses)",
             s->imf_low, s->imf_high);
    if (!(s->stellar_msink_th > 0))
        FAIL(ERR_PARAM,
             "stellar_msink_th=%g in &STELLAR_PARAMS must be above 0: give the mass, in solar "
             "masses, that a sink accretes for each stellar object",
             s->stellar_msink_th);
    return OK;
}

static enum err check_threshold(const struct params *p)
{
    int given = (p->sink.d_sink > 0) + (p->sink.rho_sink > 0) + (p->physics.n_sink > 0);
    bool used = p->sink.create_sinks || strcmp(p->sink.accretion_scheme, "threshold") == 0;
    if (given > 1)
        FAIL(ERR_PARAM,
             "n_sink=%g (H/cm^3), rho_sink=%g (g/cm^3) and d_sink=%g (code units) in &SINK_PARAMS "
             "set the same density: give only one of them",
             p->physics.n_sink, p->sink.rho_sink, p->sink.d_sink);
    if (used && given == 0 && !p->run.cosmo && !(p->physics.t2_star > 0))
        FAIL(ERR_PARAM,
             "accretion_scheme='%s' in &SINK_PARAMS needs the density of sinks: give n_sink, "
             "rho_sink or d_sink, or T2_star in &SF_PARAMS, from which it follows",
             p->sink.accretion_scheme);
    return OK;
}

/* Checks the parameters of clumps, in which sinks form. */
static enum err check_creation(const struct params *p)
{
    if (!p->run.hydro)
        FAIL(ERR_PARAM, "create_sinks=.true. in &SINK_PARAMS forms sinks from gas: set "
                        "hydro=.true., or create_sinks=.false. and give a file ic_sink");
    if (p->run.cosmo && !p->physics.smbh &&
        !(p->sink.d_sink > 0 || p->sink.rho_sink > 0 || p->physics.n_sink > 0))
        FAIL(ERR_PARAM,
             "create_sinks=.true. in &SINK_PARAMS needs the minimum density of peaks that "
             "become sinks: give n_sink, rho_sink or d_sink, or smbh=.true.");
    if (p->physics.smbh && !(p->clumpfind.saddle_threshold > 0))
        FAIL(ERR_PARAM,
             "create_sinks=.true. and smbh=.true. in &SINK_PARAMS put one black hole into each "
             "halo: give saddle_threshold in &CLUMPFIND_PARAMS, which joins clumps to halos");
    if (p->physics.smbh && !(p->physics.n_star > 0))
        FAIL(ERR_PARAM,
             "create_sinks=.true. and smbh=.true. in &SINK_PARAMS need the density of star "
             "formation: n_star=%g in &SF_PARAMS must be above 0",
             p->physics.n_star);
    return OK;
}

static enum err check_ramses(const struct params *p)
{
    if (!(p->sink.mass_sink_seed > 0))
        FAIL(ERR_PARAM,
             "mass_sink_seed=%g in &SINK_PARAMS must be above 0: give the seed mass of "
             "sinks, in solar masses",
             p->sink.mass_sink_seed);
    if (p->amr.levelmax == p->amr.levelmin)
        FAIL(ERR_PARAM, "sink=.true. needs levelmax above levelmin=%d in &AMR_PARAMS, as in RAMSES",
             p->amr.levelmin);
    if (p->sink.nlevelmax_sink > p->amr.levelmax)
        FAIL(ERR_PARAM, "nlevelmax_sink=%d in &SINK_PARAMS must not be greater than levelmax=%d",
             p->sink.nlevelmax_sink, p->amr.levelmax);
    if (strcmp(p->sink.accretion_scheme, "none") != 0 && !p->run.hydro)
        FAIL(ERR_PARAM,
             "accretion_scheme='%s' in &SINK_PARAMS needs gas: set hydro=.true., or 'none'",
             p->sink.accretion_scheme);
    if (p->sink.create_sinks) TRY(check_creation(p));
    if (param_stellar(p)) TRY(check_stellar(p));
    return check_threshold(p);
}

static enum err check_horizon(const struct params *p)
{
    if (param_stellar(p))
        FAIL(ERR_PARAM, "stellar=.true. in &RUN_PARAMS is for the sinks of RAMSES, with "
                        "&SINK_PARAMS: give that group, or set stellar=.false.");
    if (!p->run.hydro)
        FAIL(ERR_PARAM, "sink=.true. without &SINK_PARAMS means the black holes of Horizon-AGN, "
                        "which accrete gas: set hydro=.true., or give &SINK_PARAMS");
    if (!(p->physics.n_star > 0))
        FAIL(ERR_PARAM, "n_star=%g in &PHYSICS_PARAMS must be above 0: black holes form above it",
             p->physics.n_star);
    if (!(p->physics.mseed > 0) || !(p->physics.r_gal >= 0) || !(p->physics.rmerge >= 0))
        FAIL(ERR_PARAM,
             "Mseed=%g, r_gal=%g and rmerge=%g in &PHYSICS_PARAMS: the mass of seeds must be above "
             "0, the distances must not be negative",
             p->physics.mseed, p->physics.r_gal, p->physics.rmerge);
    return OK;
}

enum err param_check_sinks(const struct params *p)
{
    const char *ramses = given_ramses(p), *horizon = given_horizon(p);
    if (param_stellar(p) && !p->run.sink)
        FAIL(ERR_PARAM, "stellar=.true. in &RUN_PARAMS needs sink=.true. and &SINK_PARAMS: sinks "
                        "make stellar objects");
    if (!p->run.sink) return OK;
    if (ramses && horizon)
        FAIL(ERR_PARAM,
             "%s of &SINK_PARAMS is for the sinks of RAMSES, %s of &PHYSICS_PARAMS for those of "
             "Horizon-AGN: a run has one kind only: leave out the parameters of the other",
             ramses, horizon);
    if (p->run.sinkprops)
        FAIL(ERR_PARAM, "sinkprops=.true. in &RUN_PARAMS: there are no files sink_NNNNN.dat for "
                        "each coarse step; set it to .false., and use inspect --sinks, which lists "
                        "the sinks of any number of checkpoints");
    if (!p->run.poisson)
        FAIL(ERR_PARAM, "sink=.true. in &RUN_PARAMS needs poisson=.true.: sinks move by gravity");
    if (p->run.static_)
        FAIL(ERR_PARAM, "sink=.true. in &RUN_PARAMS with static=.true.: sinks move and accrete, "
                        "which a static run does not allow; set one of them to .false.");
    if (ramses) return check_ramses(p);
    return check_horizon(p);
}
