/* view/spectra: see spectra.h. */
#include "view/spectra.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "plot/chart.h"

/* ---- curves ---- */

void spectra_add(struct spectra *p, const struct pk_table *t)
{
    double wave = 2 * M_PI / t->from.length, volume = pow(t->from.length, 3);
    p->curve = mem_grow(p->curve, sizeof *p->curve * (size_t)(p->n + t->npair), "pk plot");
    p->cosmo = t->from.cosmo;
    for (int i = 0; i < t->npair; i++) {
        struct spectrum *c = &p->curve[p->n++];
        *c = (struct spectrum){.k = mem_new(sizeof(double) * (size_t)t->nbin, "pk plot"),
                               .p = mem_new(sizeof(double) * (size_t)t->nbin, "pk plot")};
        if (t->from.cosmo)
            snprintf(c->label, sizeof c->label, "%s, z = %.3g", t->name[i], 1 / t->from.aexp - 1);
        else
            snprintf(c->label, sizeof c->label, "%s, t = %.4g", t->name[i], t->from.t);
        for (int b = 0; b < t->nbin; b++) {
            const struct pk_bin *q = &t->bin[(size_t)i * (size_t)t->nbin + (size_t)b];
            if (q->modes == 0) continue;
            c->shot = q->shot * volume;
            c->k[c->n] = q->k * wave;
            /* a logarithm cannot show others: the line has a gap */
            c->p[c->n++] = q->p[0] > 0 ? q->p[0] * volume : NAN;
        }
    }
}

void spectra_free(struct spectra *p)
{
    for (int i = 0; i < p->n; i++) {
        FREE(p->curve[i].k);
        FREE(p->curve[i].p);
    }
    FREE(p->curve);
    p->n = 0;
}

/* ---- the chart ---- */

/* A curve, and its shot noise as a line across. */
void spectra_draw(struct canvas *c, const void *what)
{
    const struct spectra *p = what;
    struct curve *q = mem_zero(sizeof *q * (size_t)(2 * p->n + 1), "pk plot");
    bool noise = false;
    int n = 0;
    for (int i = 0; i < p->n; i++) {
        const struct spectrum *k = &p->curve[i];
        if (k->n == 0) continue;
        q[n++] = (struct curve){.label = k->label, .n = k->n, .x = k->k, .y = k->p, .colour = i};
        if (k->shot > 0) q[n++] = (struct curve){.across = k->shot, .dashed = true, .colour = i};
        noise |= k->shot > 0;
    }
    if (noise)
        q[n++] = (struct curve){.label = "shot noise", .across = NAN, .dashed = true, .colour = -1};
    struct chart h = {
        .x = {.log = true, .name = p->cosmo ? "k [h/Mpc]" : "k [1/code length]"},
        .y = {.log = true, .name = p->cosmo ? "P(k) [(Mpc/h)^3]" : "P(k) [(code length)^3]"},
        .in = frame_in(frame_whole(false), 0),
        .n = n,
        .curve = q};
    chart_draw(c, &h);
    FREE(q);
}
