/* view/history: star formation history: mass of stars by time of birth.
 *
 * Time is proper time since the Big Bang or, without cosmology, since t = 0. Sums do not depend on
 * the order of the stars. */
#include "view/history.h"

#include <math.h>

#include "base/cgs.h"
#include "base/mem.h"
#include "base/sum.h"
#include "plot/chart.h"
#include "view/births.h"
#include "view/unit.h"

struct stars {
    struct source *r;
    struct births births;
    struct sum *formed, mass;
    struct history *h;
};

/* ---- stars ---- */

static enum err fold_parts(const struct source_parts *p, void *ctx)
{
    struct stars *s = ctx;
    for (int64_t i = 0; i < p->n; i++) {
        double time, mass;
        if (p->family[i] != FAM_STAR) continue;
        TRY(births_star(&s->births, p, i, &time, &mass));
        int bin = (int)fmin(fmax(time / s->births.now * s->h->n, 0), s->h->n - 1);
        s->h->stars[bin]++;
        sum_add(&s->mass, p->m[i]);
        sum_add(&s->formed[bin], mass);
    }
    return OK;
}

static void finish(struct stars *s)
{
    struct history *h = s->h;
    const struct births *t = &s->births;
    const double width = t->now / h->n;
    h->end = t->now / (1e9 * CGS_YEAR);
    h->cosmo = t->cosmo != NULL;
    h->mass = sum_get(&s->mass) * t->solar;
    for (int b = 0; b < h->n; b++) {
        h->formed[b] = sum_get(&s->formed[b]) * t->solar;
        h->rate[b] = h->formed[b] / (width / CGS_YEAR);
        h->redshift[b] = t->cosmo ? births_redshift(t, (b + 0.5) * width) : NAN;
    }
}

static enum err read_stars(struct stars *s)
{
    size_t n = (size_t)s->h->n;
    TRY(births_open(&s->births, s->r));
    s->h->stars = mem_zero(sizeof *s->h->stars * n, "stars");
    s->h->formed = mem_zero(3 * sizeof *s->h->formed * n, "stars");
    s->h->rate = s->h->formed + n, s->h->redshift = s->h->rate + n;
    s->formed = mem_new(sizeof *s->formed * n, "stars");
    sum_init(&s->mass);
    for (size_t b = 0; b < n; b++) sum_init(&s->formed[b]);
    for (int i = 0; i < s->r->npiece && s->r->head.particles; i++)
        TRY(source_parts(s->r, i, SOURCE_STORED, fold_parts, s));
    TRY(births_end(&s->births));
    finish(s);
    unit_title(s->r, true, s->h->title, sizeof s->h->title);
    return OK;
}

enum err history_read(struct history *h, struct source *r)
{
    struct stars s = {.r = r, .h = h};
    enum err err = read_stars(&s);
    FREE(s.formed);
    births_close(&s.births);
    return err;
}

void history_free(struct history *h)
{
    FREE(h->stars);
    FREE(h->formed);
}

/* ---- the plot ---- */

void history_plot(struct canvas *c, const void *history)
{
    const struct history *h = history;
    double max = 0, *x = mem_new(sizeof *x * (size_t)(4 * h->n + 4), "plot of stars");
    double *y = x + 2 * h->n + 2;
    int n = 0;
    for (int b = 0; b < h->n; b++) max = fmax(max, h->rate[b]);
    for (int b = 0; b <= h->n; b++) /* step function, one step per bin */
        for (int side = 0; side < 2; side++, n++) {
            int bin = b - 1 + side;
            x[n] = b * h->end / h->n;
            y[n] = bin < 0 || bin >= h->n ? 0 : h->rate[bin];
        }
    struct curve rate = {.n = n, .x = x, .y = y};
    struct chart f = {
        .x = {.hi = h->end, .name = h->cosmo ? "time since the Big Bang [Gyr]" : "time [Gyr]"},
        .y = {.hi = max > 0 ? 1.08 * max : 1, .name = "star formation rate [Msun/yr]"},
        .in = frame_in(frame_whole(true), 0),
        .title = h->title,
        .n = 1,
        .curve = &rate};
    chart_draw(c, &f);
    FREE(x);
}
