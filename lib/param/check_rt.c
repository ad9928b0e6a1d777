/* param/check_rt: radiation and chemistry: what follows from their parameters, and their checks. */
#include <math.h>
#include <string.h>

#include "param/row.h"

bool param_radiates(const struct params *p)
{
    return p->run.rt && p->run.hydro;
}

bool param_chemistry(const struct params *p)
{
    return p->run.hydro && (p->run.rt || p->physics.neq_chem);
}

bool param_helium(const struct params *p)
{
    return p->rt.ishe || p->rt.y > 0;
}

int param_ions(const struct params *p)
{
    return param_chemistry(p) ? 1 + (p->rt.ish2 ? 1 : 0) + (param_helium(p) ? 2 : 0) : 0;
}

/* Highest index of a group that &RT_GROUPS sets. */
static int groups_given(const struct params *p)
{
    static const char *const of[] = {"groupl0",  "groupl1", "group_egy",
                                     "kappaabs", "kappasc", "group_egy_agnfrac"};
    int most = 0;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        const struct param_row *row = param_row_find(param_group_find("RT_GROUPS", false), of[i]);
        const int k = param_row_index(row), n = p->given[k] ? p->count[k] : 0;
        if (n > most) most = n;
    }
    return most;
}

int param_photon_groups(const struct params *p)
{
    enum { USUAL = 3 }; /* those that ionise HI, HeI and HeII */
    if (!param_radiates(p)) return 0;
    if (p->run.ngroups > 0) return p->run.ngroups;
    const int n = groups_given(p);
    return n > 0 ? n : USUAL;
}

void param_group_bounds(const struct params *p, int i, double *lower, double *upper)
{
    static const double ENERGY[] = {11.20, 13.60, 24.59, 54.42}; /* of H2, HI, HeI, HeII, eV */
    const int first = p->rt.ish2 ? 0 : 1, n = param_ions(p);
    *lower = p->rt_groups.groupl0[i], *upper = p->rt_groups.groupl1[i];
    if (*lower < 0) *lower = ENERGY[i < n ? first + i : 1];
    if (*upper < 0) *upper = i + 1 < n ? ENERGY[first + i + 1] : 0;
}

/* ---- checks ---- */

/* Whether the bounds of a group are meant: given, or those of an ion. */
static bool has_bounds(const struct params *p, int i)
{
    return i < param_ions(p) || (p->rt_groups.groupl0[i] >= 0 && p->rt_groups.groupl1[i] >= 0);
}

/* Groups of which the lower bound is not below the upper one exist beside the spectrum: stars do
 * not feed them. */
static enum err check_pair(const struct params *p, int i, int k)
{
    double a[2], b[2];
    param_group_bounds(p, i, &a[0], &a[1]);
    param_group_bounds(p, k, &b[0], &b[1]);
    const double enda = a[1] > 0 ? a[1] : HUGE_VAL, endb = b[1] > 0 ? b[1] : HUGE_VAL;
    if (!has_bounds(p, i) || !has_bounds(p, k) || a[0] >= enda || b[0] >= endb) return OK;
    if (fmax(a[0], b[0]) >= fmin(enda, endb) * (1 - 1e-6)) return OK;
    FAIL(ERR_PARAM,
         "groups %d and %d of &RT_GROUPS overlap: %g to %g eV and %g to %g eV (0: no upper bound): "
         "change groupL0 or groupL1",
         i + 1, k + 1, a[0], a[1], b[0], b[1]);
}

static enum err check_composition(const struct params *p)
{
    const double x = p->rt.x, y = p->rt.y;
    if (!(x > 0))
        FAIL(ERR_PARAM, "X=%g in &RT_PARAMS leaves the chemistry no hydrogen: set X above 0", x);
    if (x + y > 1 + 1e-10)
        FAIL(ERR_PARAM,
             "X=%g and Y=%g in &RT_PARAMS add up to more than 1: lower one of the mass fractions",
             x, y);
    if (p->run.nions > 0 && p->run.nions < param_ions(p))
        FAIL(ERR_PARAM,
             "nions=%d in &RUN_PARAMS (or --build NIONS) is too small: isH2, isHe and Y=%g in "
             "&RT_PARAMS need %d fractions of ions",
             p->run.nions, y, param_ions(p));
    return OK;
}

static enum err check_groups(const struct params *p)
{
    const int n = param_photon_groups(p), given = groups_given(p);
    if (n > PARAM_GROUPS || given > n)
        FAIL(ERR_PARAM,
             "&RT_GROUPS sets group %d, but the run has %d (ngroups in &RUN_PARAMS, or --build "
             "NGROUPS) of at most %d",
             given, n > PARAM_GROUPS ? PARAM_GROUPS : n, PARAM_GROUPS);
    for (int k = 0; k < n; k++)
        for (int i = 0; i < k; i++) TRY(check_pair(p, i, k));
    return OK;
}

/* Numbers of groups that parameters name. */
static enum err check_numbers(const struct params *p)
{
    const int n = param_photon_groups(p);
    const struct param_rt *r = &p->rt;
    for (int i = 0; i < r->rt_nsource; i++)
        if (r->rt_src_group[i] > n)
            FAIL(ERR_PARAM, "rt_src_group(%d)=%d in &RT_PARAMS: the run has %d groups of photons",
                 i + 1, r->rt_src_group[i], n);
    for (int i = 0; i < r->rt_nregion; i++)
        if (r->rt_reg_group[i] > n)
            FAIL(ERR_PARAM, "rt_reg_group(%d)=%d in &RT_PARAMS: the run has %d groups of photons",
                 i + 1, r->rt_reg_group[i], n);
    for (int i = 0; i < param_ions(p); i++)
        if (p->rt_groups.spec2group[i] > n)
            FAIL(ERR_PARAM, "spec2group(%d)=%d in &RT_GROUPS: the run has %d groups of photons",
                 i + 1, p->rt_groups.spec2group[i], n);
    const struct {
        const char *name;
        int value;
    } of[] = {
        {"iPEH_group", r->ipeh_group}, {"nUVgroups", r->nuvgroups}, {"nSEDgroups", r->nsedgroups}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        if (of[i].value > n)
            FAIL(ERR_PARAM, "%s=%d in &RT_PARAMS: the run has %d groups of photons", of[i].name,
                 of[i].value, n);
    if (r->rt_sink && p->stellar.feedback_photon_group > n)
        FAIL(ERR_PARAM,
             "feedback_photon_group=%d in &STELLAR_PARAMS: the run has %d groups of photons",
             p->stellar.feedback_photon_group, n);
    return OK;
}

/* A source, or region of the initial radiation: its name is that of its parameters. */
struct place {
    const char *name, *shape;
    const double *center[3], *length[3];
};

/* A place that the box does not touch would shine nowhere. */
static enum err check_place(const struct params *p, const struct place *q, int i)
{
    static const char axis[] = "xyz";
    const bool shell = strcmp(q->shape, "shell") == 0, point = strcmp(q->shape, "point") == 0;
    if (shell && !(q->length[1][i] > q->length[0][i]))
        FAIL(
            ERR_PARAM,
            "rt_%s_length_x(%d)=%g and rt_%s_length_y(%d)=%g in &RT_PARAMS are the inner and outer "
            "radius of a shell: the outer one must be larger",
            q->name, i + 1, q->length[0][i], q->name, i + 1, q->length[1][i]);
    for (int d = 0; d < p->run.ndim; d++) {
        const double at = q->center[d][i];
        const double reach = point ? 0 : shell ? q->length[1][i] : 0.5 * q->length[d][i];
        if (at + reach >= 0 && at - reach <= p->amr.boxlen) continue;
        FAIL(ERR_PARAM,
             "rt_%s_%c_center(%d)=%g in &RT_PARAMS: the %s is outside of the box, 0 to %g, and "
             "would not shine",
             q->name, axis[d], i + 1, at, q->shape, p->amr.boxlen);
    }
    return OK;
}

static enum err check_places(const struct params *p)
{
    const struct param_rt *r = &p->rt;
    for (int i = 0; i < r->rt_nsource; i++)
        if (r->rt_src_group[i] > 0)
            TRY(check_place(
                p,
                &(struct place){"src",
                                r->rt_source_type[i],
                                {r->rt_src_x_center, r->rt_src_y_center, r->rt_src_z_center},
                                {r->rt_src_length_x, r->rt_src_length_y, r->rt_src_length_z}},
                i));
    for (int i = 0; i < r->rt_nregion; i++)
        if (r->rt_reg_group[i] > 0)
            TRY(check_place(
                p,
                &(struct place){"reg",
                                r->rt_region_type[i],
                                {r->rt_reg_x_center, r->rt_reg_y_center, r->rt_reg_z_center},
                                {r->rt_reg_length_x, r->rt_reg_length_y, r->rt_reg_length_z}},
                i));
    return OK;
}

static enum err check_holes(const struct params *p)
{
    const int n = param_photon_groups(p);
    double sum = 0;
    if (!p->rt.rt_agn) return OK;
    if (!p->run.sink)
        FAIL(ERR_PARAM, "rt_AGN=.true. in &RT_PARAMS needs black holes: set sink=.true.");
    for (int i = 0; i < n; i++) sum += p->rt_groups.group_egy_agnfrac[i];
    if (sum > 1 + 1e-10)
        FAIL(ERR_PARAM,
             "group_egy_AGNfrac in &RT_GROUPS adds up to %g over the groups: black holes cannot "
             "emit more than all of their energy, 1",
             sum);
    return OK;
}

static enum err check_infrared(const struct params *p)
{
    const struct param_rt *r = &p->rt;
    if (!r->rt_isir) return OK;
    if (r->rt_isirtrap && p->run.nener < 1)
        FAIL(ERR_PARAM, "rt_isIRtrap=.true. in &RT_PARAMS keeps trapped photons as a non-thermal "
                        "energy: set nener=1 in &RUN_PARAMS, or --build NENER=1");
    if (r->rt_t_rad && !r->is_kir_t)
        FAIL(ERR_PARAM,
             "rt_T_rad=.true. in &RT_PARAMS needs the temperature of radiation, by which "
             "infrared opacity grows: set is_kIR_T=.true.");
    if (r->is_kir_t && !(p->rt_groups.kappaabs[0] > 0))
        FAIL(ERR_PARAM, "is_kIR_T=.true. in &RT_PARAMS scales the infrared opacity kappaAbs(1) of "
                        "&RT_GROUPS, which is 0: set it above 0");
    return OK;
}

static enum err check_transport(const struct params *p)
{
    const struct param_rt *r = &p->rt;
    if (!(r->rt_c_fraction > 0 && r->rt_c_fraction <= 1))
        FAIL(ERR_PARAM,
             "rt_c_fraction=%g in &RT_PARAMS must be above 0 and at most 1: it reduces the speed "
             "of light",
             r->rt_c_fraction);
    if (r->rt_courant_factor > 1)
        FAIL(ERR_PARAM,
             "rt_courant_factor=%g in &RT_PARAMS must be at most 1: the transport of photons is "
             "not stable beyond",
             r->rt_courant_factor);
    return OK;
}

enum err param_check_rt(const struct params *p)
{
    if (!param_chemistry(p)) return OK;
    TRY(check_composition(p));
    if (!param_radiates(p)) return OK;
    TRY(check_groups(p));
    TRY(check_numbers(p));
    TRY(check_places(p));
    TRY(check_holes(p));
    TRY(check_infrared(p));
    return check_transport(p);
}
