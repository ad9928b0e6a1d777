/* inspect: --stars, the history of star formation: the mass of stars by the time of their birth.
 *
 * Time is proper time since the Big Bang or, without cosmology, since t = 0. Births are stored as
 * times of the code (conformal with cosmology), or as proper times in 1/H0 with
 * use_proper_time=.true. Stars that have exploded have lost eta_sn of their mass; it is added again
 * where the run's namelist tells. Sums do not depend on the order of the stars. */
#include "stars.h"

#include <math.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/sum.h"
#include "cosmo/cosmo.h"
#include "formats/formats.h"
#include "inspect.h"
#include "io/stream.h"
#include "param/param.h"

static const double YEAR = 31557600; /* s */

struct stars {
    struct source *r;
    struct params *par;
    struct cosmo *cosmo; /* NULL: without */
    double begin;        /* 1/H0: the Big Bang, as cosmo_time has it */
    double second;       /* of a unit of time (1/H0 with cosmology) */
    double now;          /* s since the beginning */
    double solar;        /* solar masses in a unit of mass */
    int64_t bad;         /* births after the time of the checkpoint */
    struct sum *formed, mass;
    struct history h;
};

/* ---- times ---- */

static double proper_of(const struct stars *s, double birth)
{
    double a, hexp;
    if (s->par->run.use_proper_time) return birth;
    cosmo_at(s->cosmo, birth, &a, &hexp);
    return cosmo_time(s->cosmo, a);
}

/* Seconds since the beginning. */
static double time_of(const struct stars *s, double birth)
{
    if (!s->cosmo) return birth * s->second;
    return (proper_of(s, birth) - s->begin) * s->second;
}

static double redshift_at(const struct stars *s, double time)
{
    return 1 / cosmo_aexp(s->cosmo, s->begin + time / s->second, s->r->head.aexp) - 1;
}

static enum err begin_cosmology(struct stars *s)
{
    const struct ckpt_head *h = &s->r->head;
    struct cosmo_par p = {.omega_m = h->omega_m,
                          .omega_l = h->omega_l,
                          .omega_k = h->omega_k,
                          .omega_b = h->omega_b,
                          .h0 = h->h0,
                          .boxlen_ini = h->boxlen_ini,
                          .aexp_ini = 1e-5};
    if (!(h->aexp > p.aexp_ini && isfinite(h->aexp)))
        FAIL(ERR_FORMAT, "%s: the expansion factor is %g: the checkpoint is damaged", s->r->path,
             h->aexp);
    TRY(cosmo_new(&p, &s->cosmo));
    s->second = h->unit_t / (h->aexp * h->aexp);
    /* matter rules before (Einstein & de Sitter 1932) */
    s->begin = cosmo_time(s->cosmo, p.aexp_ini);
    if (p.omega_m > 0) s->begin -= 2 * pow(p.aexp_ini, 1.5) / (3 * sqrt(p.omega_m));
    s->now = (cosmo_time(s->cosmo, h->aexp) - s->begin) * s->second;
    return OK;
}

static enum err begin_times(struct stars *s)
{
    const struct ckpt_head *h = &s->r->head;
    double volume = h->unit_l * h->unit_l * h->unit_l;
    s->second = h->unit_t;
    s->now = h->t * h->unit_t;
    s->solar = h->unit_d * volume / SOLAR_MASS;
    if (h->cosmo) TRY(begin_cosmology(s));
    if (!(isnormal(s->second) && isnormal(s->solar) && isfinite(s->now)))
        FAIL(ERR_FORMAT, "%s: its units (unit_l=%g, unit_d=%g, unit_t=%g) give no masses and times",
             s->r->path, h->unit_l, h->unit_d, h->unit_t);
    if (!(s->now > 0)) FAIL(ERR_PARAM, "%s: it is at time 0: no star can have formed", s->r->path);
    return OK;
}

/* ---- stars ---- */

/* Of a star of this age and mass. With f_w > 0 debris had its share from birth on. */
static double mass_at_birth(const struct stars *s, double age, double mass)
{
    const struct params *p = s->par;
    bool exploded = p->physics.f_w > 0 || age >= p->physics.t_sne * 1e6 * YEAR;
    return exploded ? mass / (1 - p->feedback.eta_sn) : mass;
}

static enum err fold_parts(const struct source_parts *p, void *ctx)
{
    struct stars *s = ctx;
    for (int64_t i = 0; i < p->n; i++) {
        if (p->family[i] != FAM_STAR) continue;
        if (!p->birth) FAIL(ERR_FORMAT, "%s: has stars without birth times", p->file);
        double time = time_of(s, p->birth[i]);
        if (!isfinite(time) || !(p->m[i] > 0 && isfinite(p->m[i])))
            FAIL(ERR_FORMAT,
                 "%s: star %ld has the birth time %g and the mass %g, which must be finite and the "
                 "mass above 0: see inspect -cc",
                 p->file, (long)p->id[i], p->birth[i], p->m[i]);
        s->bad += time > s->now * (1 + 1e-9);
        int bin = (int)fmin(fmax(time / s->now * s->h.n, 0), s->h.n - 1);
        s->h.stars[bin]++;
        sum_add(&s->mass, p->m[i]);
        bool told = p->birth_mass && p->birth_mass[i] > 0 && isfinite(p->birth_mass[i]);
        sum_add(&s->formed[bin],
                told ? p->birth_mass[i] : mass_at_birth(s, s->now - time, p->m[i]));
    }
    return OK;
}

static enum err read_namelist(struct stars *s)
{
    char *text = NULL;
    size_t bytes;
    int left_out;
    param_init(s->par);
    TRY(source_text(s->r, "namelist", &text, &bytes));
    enum err err = text ? param_read_loose(s->par, text, bytes, "namelist", &left_out) : OK;
    if (!text)
        log_info("%s: contains no namelist: births are taken for conformal times and masses for "
                 "those at birth",
                 s->r->path);
    mem_free(text);
    double eta = s->par->feedback.eta_sn;
    if (err == OK && !(eta >= 0 && eta < 1))
        err = err_set(ERR_PARAM, "%s: its namelist has eta_sn=%g, which must be from 0 to below 1",
                      s->r->path, eta);
    return err;
}

static void finish(struct stars *s)
{
    struct history *h = &s->h;
    const double width = s->now / h->n;
    h->end = s->now / (1e9 * YEAR);
    h->cosmo = s->cosmo != NULL;
    h->mass = sum_get(&s->mass) * s->solar;
    for (int b = 0; b < h->n; b++) {
        h->formed[b] = sum_get(&s->formed[b]) * s->solar;
        h->rate[b] = h->formed[b] / (width / YEAR);
        h->redshift[b] = s->cosmo ? redshift_at(s, (b + 0.5) * width) : NAN;
    }
}

static enum err read_stars(struct stars *s)
{
    size_t n = (size_t)s->h.n;
    TRY(read_namelist(s));
    TRY(begin_times(s));
    s->h.stars = mem_zero(sizeof *s->h.stars * n, "stars");
    s->h.formed = mem_zero(3 * sizeof *s->h.formed * n, "stars");
    s->h.rate = s->h.formed + n, s->h.redshift = s->h.rate + n;
    s->formed = mem_new(sizeof *s->formed * n, "stars");
    sum_init(&s->mass);
    for (size_t b = 0; b < n; b++) sum_init(&s->formed[b]);
    for (int i = 0; i < s->r->npiece && s->r->head.particles; i++)
        TRY(source_parts(s->r, i, SOURCE_STORED, fold_parts, s));
    if (s->bad)
        FAIL(ERR_FORMAT,
             "%s: %ld stars were born after the time of the checkpoint: are their birth times "
             "proper ones, with use_proper_time missing from its namelist?",
             s->r->path, (long)s->bad);
    finish(s);
    return OK;
}

/* ---- output ---- */

static void print_text(const struct history *h, const char *path)
{
    int64_t stars = 0;
    double total = 0, step = h->end / h->n;
    for (int b = 0; b < h->n; b++) stars += h->stars[b];
    printf("# ptah stars 1\n# source\t%s\n# stars\t%ld\n# mass\t%.9g\n", path, (long)stars,
           h->mass);
    printf("# since the %s: from, to in Gyr; redshift of the middle; stars; mass formed in solar "
           "masses; rate in solar masses per year; mass formed until then\n"
           "#from\tto\tredshift\tstars\tformed\trate\ttotal\n",
           h->cosmo ? "Big Bang" : "beginning");
    for (int b = 0; b < h->n; b++) {
        total += h->formed[b];
        printf("%.9g\t%.9g\t%.6g\t%ld\t%.9g\t%.9g\t%.9g\n", b * step, (b + 1) * step,
               h->redshift[b], (long)h->stars[b], h->formed[b], h->rate[b], total);
    }
}

static void print_json(const struct history *h, const char *path)
{
    json_begin("stars", path);
    json_number("mass", h->mass);
    json_number("end", h->end);
    printf(",\"history\":[");
    for (int b = 0; b < h->n; b++) {
        printf("%s{\"from\":%.17g", b ? "," : "", b * h->end / h->n);
        json_number("to", (b + 1) * h->end / h->n);
        json_number("redshift", h->redshift[b]);
        json_count("stars", h->stars[b]);
        json_number("formed", h->formed[b]);
        json_number("rate", h->rate[b]);
        printf("}");
    }
    printf("]");
    json_end();
}

static enum err save_plot(const struct history *h, const char *file, bool svg)
{
    struct stream out;
    TRY(stream_open(&out, file));
    return stream_close(&out, (svg ? canvas_svg : canvas_png)(out.f, stars_plot, h));
}

enum err stars_print(const char *path, const struct options *o)
{
    struct stars s = {.h = {.n = o->stars.bins}};
    s.par = mem_new(sizeof *s.par, "parameters");
    enum err err = source_open(path, &s.r);
    if (err == OK) err = read_stars(&s);
    if (err == OK && o->map.out) err = save_plot(&s.h, o->map.out, o->stars.svg);
    if (err == OK) (o->json ? print_json : print_text)(&s.h, path);
    FREE(s.formed);
    FREE(s.h.stars);
    FREE(s.h.formed);
    FREE(s.par);
    cosmo_free(s.cosmo);
    source_close(&s.r);
    return err;
}
