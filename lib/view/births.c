/* view/births: see births.h.
 *
 * Births are stored as code times (conformal with cosmology), or as proper times in 1/H0 with
 * use_proper_time=.true. Exploded stars have lost a fraction eta_sn of their mass, which is added
 * back if the namelist of the run contains it. */
#include "view/births.h"

#include <math.h>

#include "base/cgs.h"
#include "base/log.h"
#include "base/mem.h"
#include "cosmo/cosmo.h"
#include "param/param.h"

/* ---- times ---- */

static double proper_of(const struct births *s, double birth)
{
    double a, hexp;
    if (s->par->run.use_proper_time) return birth;
    cosmo_at(s->cosmo, birth, &a, &hexp);
    return cosmo_time(s->cosmo, a);
}

/* Seconds since the Big Bang, or since t = 0 without cosmology. */
static double time_of(const struct births *s, double birth)
{
    if (!s->cosmo) return birth * s->second;
    return (proper_of(s, birth) - s->begin) * s->second;
}

double births_redshift(const struct births *s, double time)
{
    return 1 / cosmo_aexp(s->cosmo, s->begin + time / s->second, s->r->head.aexp) - 1;
}

static enum err begin_cosmology(struct births *s)
{
    const struct ckpt_head *h = &s->r->head;
    struct cosmo_par p = ckpt_cosmology(h);
    p.aexp_ini = 1e-5;
    if (!(h->aexp > p.aexp_ini && isfinite(h->aexp)))
        FAIL(ERR_FORMAT, "%s: the expansion factor is %g: the checkpoint is damaged", s->r->path,
             h->aexp);
    TRY(cosmo_new(&p, &s->cosmo));
    s->second = h->unit_t / (h->aexp * h->aexp);
    /* before aexp_ini matter dominates (Einstein & de Sitter 1932) */
    s->begin = cosmo_time(s->cosmo, p.aexp_ini);
    if (p.omega_m > 0) s->begin -= 2 * pow(p.aexp_ini, 1.5) / (3 * sqrt(p.omega_m));
    s->now = (cosmo_time(s->cosmo, h->aexp) - s->begin) * s->second;
    return OK;
}

static enum err begin_times(struct births *s)
{
    const struct ckpt_head *h = &s->r->head;
    double volume = h->unit_l * h->unit_l * h->unit_l;
    s->second = h->unit_t;
    s->now = h->t * h->unit_t;
    s->solar = h->unit_d * volume / CGS_MSUN;
    if (h->cosmo) TRY(begin_cosmology(s));
    if (!(isnormal(s->second) && isnormal(s->solar) && isfinite(s->now)))
        FAIL(ERR_FORMAT, "%s: its units (unit_l=%g, unit_d=%g, unit_t=%g) give no masses and times",
             s->r->path, h->unit_l, h->unit_d, h->unit_t);
    if (!(s->now > 0)) FAIL(ERR_PARAM, "%s: it is at time 0: no star can have formed", s->r->path);
    return OK;
}

/* ---- stars ---- */

/* Mass at birth of a star of this age and mass. With f_w > 0 the mass of the debris is removed at
 * birth. */
static double mass_at_birth(const struct births *s, double age, double mass)
{
    const struct params *p = s->par;
    const struct param_feedback *f = &p->feedback;
    bool exploded = p->physics.f_w > 0 || age >= p->physics.t_sne * 1e6 * CGS_YEAR;
    double many = mass / (1 - f->eta_sn), single = mass / (1 - f->eta_ssn);
    if (!exploded) return mass;
    if (!p->sf.sf_imf || many * s->solar > f->mass_star_max) return many;
    bool burst = single * s->solar >= f->mass_sne_min && single * s->solar <= f->mass_star_max;
    return burst ? single : mass;
}

enum err births_star(struct births *s, const struct source_parts *p, int64_t i, double *time,
                     double *mass)
{
    if (!p->birth) FAIL(ERR_FORMAT, "%s: has stars without birth times", p->file);
    *time = time_of(s, p->birth[i]);
    if (!isfinite(*time) || !(p->m[i] > 0 && isfinite(p->m[i])))
        FAIL(ERR_FORMAT,
             "%s: star %ld has the birth time %g and the mass %g, which must be finite and the "
             "mass above 0: see inspect -cc",
             p->file, (long)p->id[i], p->birth[i], p->m[i]);
    s->bad += *time > s->now * (1 + 1e-9);
    bool told = p->birth_mass && p->birth_mass[i] > 0 && isfinite(p->birth_mass[i]);
    *mass = told ? p->birth_mass[i] : mass_at_birth(s, s->now - *time, p->m[i]);
    return OK;
}

enum err births_end(const struct births *s)
{
    if (s->bad)
        FAIL(ERR_FORMAT,
             "%s: %ld stars were born after the time of the checkpoint: are their birth times "
             "proper ones, with use_proper_time missing from its namelist?",
             s->r->path, (long)s->bad);
    return OK;
}

/* ---- opening ---- */

static enum err read_namelist(struct births *s)
{
    char *text = NULL;
    size_t bytes;
    int left_out;
    param_init(s->par);
    TRY(source_text(s->r, FILES_NAMELIST, &text, &bytes));
    enum err err = text ? param_read_loose(s->par, text, bytes, "namelist", &left_out) : OK;
    if (!text)
        log_info("%s: contains no namelist: birth times are taken as conformal, and masses as "
                 "initial masses",
                 s->r->path);
    mem_free(text);
    double eta = s->par->feedback.eta_sn;
    if (err == OK && !(eta >= 0 && eta < 1))
        err = err_set(ERR_PARAM, "%s: its namelist has eta_sn=%g, which must be from 0 to below 1",
                      s->r->path, eta);
    return err;
}

enum err births_open(struct births *s, struct source *r)
{
    s->r = r;
    s->par = mem_new(sizeof *s->par, "parameters");
    TRY(read_namelist(s));
    return begin_times(s);
}

void births_close(struct births *s)
{
    FREE(s->par);
    cosmo_free(s->cosmo);
    s->cosmo = NULL;
}

double births_age(struct source *r)
{
    struct births b = {.r = r};
    if (!r->head.cosmo && r->head.t == 0) return 0;
    const double age = begin_times(&b) == OK ? b.now : NAN;
    births_close(&b);
    return age;
}
