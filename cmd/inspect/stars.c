/* inspect: --stars, the history of star formation: the mass of stars by the time of their birth.
 *
 * Time is proper time since the Big Bang or, without cosmology, since t = 0. Sums do not depend on
 * the order of the stars. */
#include "stars.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/sum.h"
#include "births.h"
#include "formats/formats.h"
#include "inspect.h"
#include "io/stream.h"

struct stars {
    struct source *r;
    struct births births;
    struct sum *formed, mass;
    struct history h;
};

/* ---- stars ---- */

static enum err fold_parts(const struct source_parts *p, void *ctx)
{
    struct stars *s = ctx;
    for (int64_t i = 0; i < p->n; i++) {
        double time, mass;
        if (p->family[i] != FAM_STAR) continue;
        TRY(births_star(&s->births, p, i, &time, &mass));
        int bin = (int)fmin(fmax(time / s->births.now * s->h.n, 0), s->h.n - 1);
        s->h.stars[bin]++;
        sum_add(&s->mass, p->m[i]);
        sum_add(&s->formed[bin], mass);
    }
    return OK;
}

static void finish(struct stars *s)
{
    struct history *h = &s->h;
    const struct births *t = &s->births;
    const double width = t->now / h->n;
    h->end = t->now / (1e9 * YEAR);
    h->cosmo = t->cosmo != NULL;
    h->mass = sum_get(&s->mass) * t->solar;
    for (int b = 0; b < h->n; b++) {
        h->formed[b] = sum_get(&s->formed[b]) * t->solar;
        h->rate[b] = h->formed[b] / (width / YEAR);
        h->redshift[b] = t->cosmo ? births_redshift(t, (b + 0.5) * width) : NAN;
    }
}

static enum err read_stars(struct stars *s)
{
    size_t n = (size_t)s->h.n;
    TRY(births_open(&s->births, s->r));
    s->h.stars = mem_zero(sizeof *s->h.stars * n, "stars");
    s->h.formed = mem_zero(3 * sizeof *s->h.formed * n, "stars");
    s->h.rate = s->h.formed + n, s->h.redshift = s->h.rate + n;
    s->formed = mem_new(sizeof *s->formed * n, "stars");
    sum_init(&s->mass);
    for (size_t b = 0; b < n; b++) sum_init(&s->formed[b]);
    for (int i = 0; i < s->r->npiece && s->r->head.particles; i++)
        TRY(source_parts(s->r, i, SOURCE_STORED, fold_parts, s));
    TRY(births_end(&s->births));
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
    enum err err = source_open(path, &s.r);
    if (err == OK) err = read_stars(&s);
    if (err == OK && o->map.out) err = save_plot(&s.h, o->map.out, o->stars.svg);
    if (err == OK) (o->json ? print_json : print_text)(&s.h, path);
    FREE(s.formed);
    FREE(s.h.stars);
    FREE(s.h.formed);
    births_close(&s.births);
    source_close(&s.r);
    return err;
}
