#include "view/spectra.h"

#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "plot/chart.h"

/* ---- curves ---- */

/* Adds the curve of column l of pair i. */
static void add_curve(struct spectra *p, const struct pk_table *t, int i, int l)
{
    double wave = 2 * M_PI / t->from.length, volume = pow(t->from.length, 3);
    struct spectrum *c = &p->curve[p->n++];
    char name[48];
    *c = (struct spectrum){.k = mem_new(sizeof(double) * (size_t)t->nbin, "pk plot"),
                           .p = mem_new(sizeof(double) * (size_t)t->nbin, "pk plot"),
                           .multipole = t->axis >= 0};
    snprintf(name, sizeof name, t->axis >= 0 ? "%s, P%d" : "%s", t->name[i], 2 * l);
    if (t->from.cosmo)
        snprintf(c->label, sizeof c->label, "%s, z = %.3g", name, 1 / t->from.aexp - 1);
    else
        snprintf(c->label, sizeof c->label, "%s, t = %.4g", name, t->from.t);
    for (int b = 0; b < t->nbin; b++) {
        const struct pk_bin *q = &t->bin[(size_t)i * (size_t)t->nbin + (size_t)b];
        if (q->modes == 0) continue;
        if (l == 0) c->shot = q->shot * volume;
        c->k[c->n] = q->k * wave;
        /* a logarithmic axis cannot show p ≤ 0: the line gets a gap */
        c->p[c->n++] = q->p[l] > 0 || c->multipole ? q->p[l] * volume : NAN;
    }
}

void spectra_add(struct spectra *p, const struct pk_table *t)
{
    int columns = t->axis >= 0 ? PK_BIN_COLUMNS : 1;
    p->curve = mem_grow(p->curve, sizeof *p->curve * (size_t)(p->n + columns * t->npair),
                        "pk plot");
    p->cosmo = t->from.cosmo;
    for (int i = 0; i < t->npair; i++)
        for (int l = 0; l < columns; l++) add_curve(p, t, i, l);
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

/* Stores the magnitude of a multipole in y, and of its negative values in y + n. */
static void split_signs(const struct spectrum *k, double *y)
{
    for (int b = 0; b < k->n; b++) {
        y[b] = fabs(k->p[b]);
        y[k->n + b] = k->p[b] < 0 ? y[b] : NAN;
    }
}

/* Makes the curves of a spectrum: values, negative values, and shot noise as a horizontal line. y:
 * scratch. Returns the number of curves. */
static int curves_of(const struct spectrum *k, int colour, double *y, struct curve *q)
{
    int n = 0;
    const double *p = k->multipole ? y : k->p;
    if (k->n == 0) return 0;
    if (k->multipole) split_signs(k, y);
    q[n++] = (struct curve){.label = k->label, .n = k->n, .x = k->k, .y = p, .colour = colour};
    if (k->multipole)
        q[n++] = (struct curve){
            .n = k->n, .x = k->k, .y = y + k->n, .dots = true, .colour = colour};
    if (k->shot > 0) q[n++] = (struct curve){.across = k->shot, .dashed = true, .colour = colour};
    return n;
}

void spectra_draw(struct canvas *c, const void *what)
{
    const struct spectra *p = what;
    struct curve *q = mem_zero(sizeof *q * (size_t)(3 * p->n + 2), "pk plot");
    bool noise = false, multipoles = false;
    size_t points = 1, at = 0;
    int n = 0;
    for (int i = 0; i < p->n; i++) points += 2 * (size_t)p->curve[i].n;
    double *y = mem_new(sizeof *y * points, "pk plot");
    for (int i = 0; i < p->n; i++) {
        const struct spectrum *k = &p->curve[i];
        n += curves_of(k, i, y + at, q + n);
        at += 2 * (size_t)k->n;
        noise |= k->n && k->shot > 0;
        multipoles |= k->multipole;
    }
    if (multipoles)
        q[n++] = (struct curve){
            .label = "of negative sign", .across = NAN, .dots = true, .colour = -1};
    if (noise)
        q[n++] = (struct curve){.label = "shot noise", .across = NAN, .dashed = true, .colour = -1};
    char name[64];
    snprintf(name, sizeof name, "%s [%s]", multipoles ? "|P(k)|" : "P(k)",
             p->cosmo ? "(Mpc/h)^3, comoving" : "(code length)^3");
    struct chart h = {
        .x = {.log = true, .name = p->cosmo ? "k [h/Mpc, comoving]" : "k [1/code length]"},
        .y = {.log = true, .name = name},
        .in = frame_in(frame_whole(false), 0),
        .n = n,
        .curve = q};
    chart_draw(c, &h);
    FREE(y);
    FREE(q);
}
