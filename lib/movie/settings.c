/* movie/settings: &MOVIE_PARAMS as cameras and variables, with a sentence about what cannot be
 * drawn. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "movie/camera.h"
#include "oct/gas.h"

/* ---- names ---- */

enum subject { GAS, METALS, SCALAR, FIELD, PARTICLES };

static const struct {
    const char *name, *help;
    enum subject of;
} ROW[MOVIE_QUANTITIES] = {
#define VARIABLE(symbol, name, of, needs, help) {name, help, of},
#include "movie/variables.def"
};

/* All names, for a message. */
static const char NAMES[] =
#define VARIABLE(symbol, name, ...) name ", "
#include "movie/variables.def"
    "or ";

/* N of a name such as var6: 1 or more; 0: the name has another form. */
static int number_in(const char *name, const char *before)
{
    const size_t n = strlen(before);
    char *end;
    if (strncmp(name, before, n) != 0 || name[n] < '1' || name[n] > '9') return 0;
    const long k = strtol(name + n, &end, 10);
    return *end == 0 && k < GAS_VARS ? (int)k : 0;
}

/* Variable N of RAMSES's files as a variable of a run, which has three momenta; −1: there is none.
 * A magnetic field, whose faces are none, lies between the pressure and the scalars there. */
static int place_of(int n, const struct movie_kinds *k)
{
    const int velocities = gas_velocities(k->ndim, k->magnetic), faces = k->magnetic ? 6 : 0;
    const int fluid = velocities + 2, v = n - 1;
    if (v < 0 || (v >= fluid && v < fluid + faces)) return -1;
    const int at = v >= fluid ? v - faces + 3 - velocities : v == fluid - 1 ? GAS_PRESSURE : v;
    return at < k->gas->n ? at : -1;
}

static enum err numbered(const char *name, const struct movie_kinds *k, struct movie_variable *out)
{
    const int at = place_of(number_in(name, "var"), k);
    if (at < 0)
        FAIL(ERR_PARAM,
             "movie_vars_txt='%s' in &MOVIE_PARAMS: the gas has no such variable (they are counted "
             "from 1, and of a magnetic field only pmag is drawn)",
             name);
    out->quantity = at == GAS_DENSITY    ? MOVIE_DENSITY
                    : at == GAS_PRESSURE ? MOVIE_PRESSURE
                    : at < GAS_PRESSURE  ? (enum movie_quantity)(MOVIE_VX + at - GAS_VELOCITY)
                                         : MOVIE_SCALAR;
    out->scalar = at;
    return OK;
}

/* A scalar by its own name, such as xHII. */
static enum err named(const char *name, const struct movie_kinds *k, struct movie_variable *out)
{
    static const char *const radiation[] = {"xHI", "xHII", "xHeII", "xHeIII", "xH2"};
    const int at = k->gas ? gas_vars_find(k->gas, name) : -1;
    bool known = number_in(name, "Fp") > 0;
    for (size_t i = 0; i < sizeof radiation / sizeof *radiation; i++)
        known |= strcmp(name, radiation[i]) == 0;
    out->quantity = MOVIE_SCALAR, out->scalar = at;
    if (at >= GAS_SCALARS) return OK;
    if (known)
        FAIL(ERR_PARAM,
             "movie_vars_txt='%s' in &MOVIE_PARAMS is of radiation and ionised gas, which this run "
             "does not follow: leave it out",
             name);
    FAIL(ERR_PARAM, "movie_vars_txt='%s' in &MOVIE_PARAMS is not known: use %sthe name of a scalar",
         name, NAMES);
}

static enum err check_needs(const char *name, enum subject of, const struct movie_kinds *k)
{
    if (of != PARTICLES && !k->gas)
        FAIL(ERR_PARAM, "movie_vars_txt='%s' in &MOVIE_PARAMS is of gas, but hydro=.false.", name);
    if (of == FIELD && !k->magnetic)
        FAIL(ERR_PARAM,
             "movie_vars_txt='%s' in &MOVIE_PARAMS is of a magnetic field, but mhd=.false.", name);
    if (of == METALS && k->gas->at[SCALAR_METAL] < 0)
        FAIL(ERR_PARAM, "movie_vars_txt='%s' in &MOVIE_PARAMS is of metals, but metal=.false.",
             name);
    return OK;
}

enum err movie_variable(const char *name, const struct movie_kinds *k, struct movie_variable *out)
{
    *out = (struct movie_variable){.scalar = -1};
    if (strlen(name) >= sizeof out->name || strchr(name, '/'))
        FAIL(ERR_PARAM,
             "movie_vars_txt='%.40s' in &MOVIE_PARAMS cannot be the name of a file of at most %d "
             "characters",
             name, MOVIE_NAME - 1);
    memcpy(out->name, name, strlen(name) + 1);
    for (int q = 0; q < MOVIE_QUANTITIES; q++) {
        if (strcmp(ROW[q].name, name) != 0 || q == MOVIE_SCALAR) continue;
        out->quantity = (enum movie_quantity)q;
        if (ROW[q].of == METALS && k->gas) out->scalar = k->gas->at[SCALAR_METAL];
        return check_needs(name, ROW[q].of, k);
    }
    if (number_in(name, "var") == 0) return named(name, k, out);
    TRY(check_needs(name, SCALAR, k));
    return numbered(name, k, out);
}

bool movie_of_particles(enum movie_quantity q)
{
    return ROW[q].of == PARTICLES;
}

const char *movie_help(enum movie_quantity q)
{
    return ROW[q].help;
}

static enum err choose(const char *name, const char *parameter, const char *const *of, int n,
                       int *out)
{
    char list[200] = "";
    for (int i = 0, at = 0; i < n; i++) {
        *out = i;
        if (strcmp(of[i], name) == 0) return OK;
        at += snprintf(list + at, sizeof list - (size_t)at, "%s%s", i > 0 ? ", " : "", of[i]);
    }
    FAIL(ERR_PARAM, "%s='%.40s' in &MOVIE_PARAMS is not known: use one of %s", parameter, name,
         list);
}

enum err movie_shader(const char *name, enum movie_shader *out)
{
    static const char *const of[] = {"square", "cube", "sphere"};
    int i;
    TRY(choose(name, "shader_frame", of, 3, &i));
    *out = (enum movie_shader)i;
    return OK;
}

enum err movie_method(const char *name, enum movie_method *out)
{
    static const char *const of[] = {"mean_mass", "mean_dens", "mean_vol", "sum", "min", "max"};
    int i;
    TRY(choose(name, "method_frame", of, 6, &i));
    *out = (enum movie_method)i;
    return OK;
}

/* ---- cameras ---- */

static enum err check_finite(const struct movie_camera *k, int c)
{
    const double x[] = {k->theta,    k->phi,          k->dtheta,     k->dphi,
                        k->ddist,    k->tstart_theta, k->tstart_phi, k->tend_theta,
                        k->tend_phi, k->focal,        k->dist,       k->smooth};
    double sum = 0;
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) sum += 0 * x[i];
    for (int d = 0; d < 3; d++) {
        for (int i = 0; i < 4; i++) sum += 0 * k->centre[d][i];
        for (int i = 0; i < 2; i++) sum += 0 * k->width[d][i];
    }
    if (!isfinite(sum) || isnan(k->varmin) || isnan(k->varmax))
        FAIL(ERR_PARAM, "&MOVIE_PARAMS: camera %d has a value that is not a finite number", c + 1);
    if (!(k->smooth > 0))
        FAIL(ERR_PARAM, "smooth_frame(%d)=%g in &MOVIE_PARAMS must be above 0", c + 1, k->smooth);
    return OK;
}

/* Widths in the plane of the frame; both may come from one of x and y. */
static enum err check_widths(const struct movie_camera *k, int c, int ndim)
{
    const double(*w)[2] = k->width;
    const bool along[3] = {w[0][0] > 0 || w[0][1] > 0 || w[1][0] > 0,
                           w[1][0] > 0 || w[1][1] > 0 || w[0][0] > 0, w[2][0] > 0 || w[2][1] > 0};
    for (int d = 0; d < ndim; d++) {
        if (w[d][0] < 0 || w[d][1] < 0)
            FAIL(ERR_PARAM, "delta%c_frame in &MOVIE_PARAMS is negative for camera %d", "xyz"[d],
                 c + 1);
        if (!along[d] && d != k->axis)
            FAIL(ERR_PARAM,
                 "delta%c_frame in &MOVIE_PARAMS is 0 for camera %d: give the width of its frame",
                 "xyz"[d], c + 1);
    }
    return OK;
}

/* The variable that selects cells. RAMSES counts from 1 and draws all cells for numbers beyond. */
static enum err select_by(int n, int c, const struct movie_kinds *of, int *ivar)
{
    *ivar = of->gas && n > 0 ? place_of(n, of) : -1;
    if (n < -1 || (n > 0 && *ivar < 0))
        FAIL(ERR_PARAM,
             "ivar_frame(%d)=%d in &MOVIE_PARAMS: the gas has no such variable, counted from 1",
             c + 1, n);
    return OK;
}

static enum err check_camera(const struct movie_camera *k, int c, const struct movie_kinds *of)
{
    TRY(check_finite(k, c));
    TRY(check_widths(k, c, of->ndim));
    if (of->ndim == 2 &&
        (k->shader == SHADER_CUBE || k->perspective || k->phi != 0 || k->dphi != 0))
        FAIL(ERR_PARAM,
             "&MOVIE_PARAMS: camera %d has shader_frame='cube', perspective_camera, phi_camera or "
             "dphi_camera, which exist in three dimensions only",
             c + 1);
    if (of->ndim == 2 && k->axis != 2)
        FAIL(ERR_PARAM,
             "proj_axis in &MOVIE_PARAMS has camera %d look along %c: in two dimensions "
             "all look along z",
             c + 1, "xyz"[k->axis]);
    return OK;
}

static enum err camera_of(const struct param_movie *p, int c, const struct movie_kinds *of,
                          struct movie_camera *k)
{
    const double *centre[3] = {p->xcentre_frame, p->ycentre_frame, p->zcentre_frame};
    const double *width[3] = {p->deltax_frame, p->deltay_frame, p->deltaz_frame};
    const char *axis = strchr("xyz", p->proj_axis[c]);
    if (!axis)
        FAIL(ERR_PARAM, "proj_axis='%.40s' in &MOVIE_PARAMS: '%c' is none of x, y and z",
             p->proj_axis, p->proj_axis[c]);
    *k = (struct movie_camera){.axis = (int)(axis - "xyz"),
                               .theta = p->theta_camera[c],
                               .phi = p->phi_camera[c],
                               .dtheta = p->dtheta_camera[c],
                               .dphi = p->dphi_camera[c],
                               .ddist = p->ddist_camera[c],
                               .tstart_theta = p->tstart_theta_camera[c],
                               .tstart_phi = p->tstart_phi_camera[c],
                               .tend_theta = p->tend_theta_camera[c],
                               .tend_phi = p->tend_phi_camera[c],
                               .focal = p->focal_camera[c],
                               .dist = p->dist_camera[c],
                               .perspective = p->perspective_camera[c],
                               .smooth = p->smooth_frame[c],
                               .zoom_only = p->zoom_only_frame[c] || p->zoom_only,
                               .varmin = p->varmin_frame[c],
                               .varmax = p->varmax_frame[c]};
    for (int d = 0; d < 3; d++) {
        for (int i = 0; i < 4; i++) k->centre[d][i] = centre[d][4 * c + i];
        for (int i = 0; i < 2; i++) k->width[d][i] = width[d][2 * c + i];
    }
    TRY(select_by(p->ivar_frame[c], c, of, &k->ivar));
    TRY(movie_shader(p->shader_frame[c], &k->shader));
    TRY(movie_method(p->method_frame[c], &k->method));
    return check_camera(k, c, of);
}

/* ---- the movie ---- */

static enum err check_times(const struct param_movie *p, bool cosmo)
{
    if (!isfinite(p->tstartmov + p->tendmov + p->astartmov + p->aendmov))
        FAIL(ERR_PARAM, "&MOVIE_PARAMS: tstartmov, tendmov, astartmov or aendmov is not finite");
    if (p->aendmov > 0 && !cosmo)
        FAIL(ERR_PARAM, "aendmov=%g in &MOVIE_PARAMS needs cosmo=.true.: otherwise give tendmov",
             p->aendmov);
    if (p->tendmov > 0 && !(p->tendmov > p->tstartmov))
        FAIL(ERR_PARAM, "tendmov=%g in &MOVIE_PARAMS must be after tstartmov=%g", p->tendmov,
             p->tstartmov);
    if (p->aendmov > 0 && !(p->aendmov > p->astartmov))
        FAIL(ERR_PARAM, "aendmov=%g in &MOVIE_PARAMS must be after astartmov=%g", p->aendmov,
             p->astartmov);
    if (p->imovout < 0 || p->imovout > 99999)
        FAIL(ERR_PARAM, "imovout=%d in &MOVIE_PARAMS must be from 0 to 99999", p->imovout);
    return OK;
}

static enum err check_frame(const struct param_movie *p, int levelmin)
{
    const int side[2] = {p->nw_frame, p->nh_frame};
    for (int i = 0; i < 2; i++)
        if (side[i] < 1 || side[i] > MOVIE_PIXELS_MAX)
            FAIL(ERR_PARAM, "n%c_frame=%d in &MOVIE_PARAMS must be from 1 to %d pixels", "wh"[i],
                 side[i], MOVIE_PIXELS_MAX);
    if (p->levelmax_frame != 0 && p->levelmax_frame < levelmin)
        FAIL(ERR_PARAM,
             "levelmax_frame=%d in &MOVIE_PARAMS is below levelmin=%d: no cell would be drawn",
             p->levelmax_frame, levelmin);
    return OK;
}

enum err movie_of(const struct params *par, const struct movie_kinds *k, struct movie *m)
{
    const struct param_movie *p = &par->movie;
    *m = (struct movie){.nw = p->nw_frame, .nh = p->nh_frame, .cosmo = par->run.cosmo};
    if (!p->movie) return OK;
    TRY(check_times(p, par->run.cosmo));
    TRY(check_frame(p, par->amr.levelmin));
    m->first = p->imov > 1 ? p->imov : 1;
    m->last = p->tendmov > 0 || p->aendmov > 0 ? p->imovout : 0;
    m->t0 = p->tstartmov, m->t1 = p->tendmov, m->a0 = p->astartmov, m->a1 = p->aendmov;
    m->levelmax = par->amr.levelmax;
    if (p->levelmax_frame > 0 && p->levelmax_frame < m->levelmax) m->levelmax = p->levelmax_frame;
    m->ncamera = (int)strlen(p->proj_axis);
    if (m->ncamera < 1 || m->ncamera > MOVIE_CAMERAS)
        FAIL(ERR_PARAM, "proj_axis='%.40s' in &MOVIE_PARAMS has %d cameras: give one to five",
             p->proj_axis, m->ncamera);
    for (int c = 0; c < m->ncamera; c++) TRY(camera_of(p, c, k, &m->camera[c]));
    for (int v = 0; v < MOVIE_VARIABLES && p->movie_vars_txt[v][0]; v++)
        TRY(movie_variable(p->movie_vars_txt[v], k, &m->variable[m->nvariable++]));
    m->zoom_ivar = k->gas && par->refine.ivar_refine > 0 ? par->refine.ivar_refine - 1 : -1;
    m->zoom_cut = par->refine.var_cut_refine, m->mass_cut = par->refine.mass_cut_refine;
    return OK;
}
