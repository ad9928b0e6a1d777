/* inspect: pictures and tables of phase diagrams. See phase.h. */
#include <math.h>

#include "phase.h"
#include "plot/colours.h"
#include "plot/frame.h"

enum { BESIDE = 100, BAR = 18, GAP = 16, STEPS = 128 };

double phase_share(const struct diagram *d, int bin)
{
    double area = 1;
    for (int a = 0; a < 2; a++) area *= (d->range[a][1] - d->range[a][0]) / d->n;
    return (double)d->mass[bin] * d->quantum / d->total / area;
}

static unsigned colour(const struct diagram *d, double t)
{
    unsigned char rgb[3];
    colours_at(d->colours, t, rgb);
    return (unsigned)rgb[0] << 16 | (unsigned)rgb[1] << 8 | rgb[2];
}

static void bins(const struct canvas *c, const struct diagram *d)
{
    double width = (double)(CANVAS_WIDTH - FRAME_LEFT - FRAME_RIGHT - BESIDE) / d->n;
    double height = (double)(CANVAS_HEIGHT - FRAME_TOP - FRAME_BOTTOM) / d->n;
    for (int i = 0; i < d->n * d->n; i++) {
        if (d->cells[i] == 0) continue;
        double t = log(phase_share(d, i) / d->lo) / log(d->hi / d->lo);
        double x = FRAME_LEFT + i % d->n * width;
        double y = CANVAS_HEIGHT - FRAME_BOTTOM - (i / d->n + 1) * height;
        c->fill(c->to, x, y, width, height, colour(d, t));
    }
}

/* The colours, with a label at each power of ten. */
static void bar(const struct canvas *c, const struct diagram *d)
{
    const struct pen pen = {0, 1, false};
    double x = CANVAS_WIDTH - FRAME_RIGHT - BESIDE + GAP, low = CANVAS_HEIGHT - FRAME_BOTTOM;
    double high = low - FRAME_TOP;
    double from = log10(d->lo), to = log10(d->hi);
    for (int i = 0; i < STEPS; i++)
        c->fill(c->to, x, low - (i + 1) * high / STEPS, BAR, high / STEPS,
                colour(d, (i + 0.5) / STEPS));
    int every = 1 + (int)((to - from) / 10);
    for (int e = (int)ceil(from); e <= to; e++) {
        char text[32];
        double y = low - (e - from) / (to - from) * high;
        if (e % every) continue;
        snprintf(text, sizeof text, "10^%d", e);
        struct label l = {x + BAR + 6, y + 5, ANCHOR_START, false, text};
        frame_line(c, x + BAR, y, x + BAR + 4, y, pen);
        c->write(c->to, &l);
    }
    struct label name = {CANVAS_WIDTH - 14, (FRAME_TOP + low) / 2, ANCHOR_MIDDLE, true,
                         "mass fraction per dex^2"};
    c->write(c->to, &name);
}

void phase_plot(const struct canvas *c, const void *diagram)
{
    const struct diagram *d = diagram;
    const double(*r)[2] = d->range;
    struct frame f = {
        .x = {r[PHASE_NH][0], r[PHASE_NH][1], true, "hydrogen nuclei per cm^3"},
        .y = {r[PHASE_T2][0], r[PHASE_T2][1], true, "T/μ [K]"},
        .beside = BESIDE,
    };
    bins(c, d);
    bar(c, d);
    frame_draw(&f, c);
}

void phase_table(FILE *out, const struct diagram *d, const char *path)
{
    fprintf(out, "# ptah phase diagram 1\n# source\t%s\n# mass\t%.17g\n# mass_outside\t%.17g\n",
            path, d->total, (double)d->out * d->quantum);
    fprintf(out, "# cells_outside\t%lld\n# bins\t%d\n", (long long)d->out_cells, d->n);
    fprintf(out, "# log10_nH\t%.17g\t%.17g\n# log10_T\t%.17g\t%.17g\n", d->range[0][0],
            d->range[0][1], d->range[1][0], d->range[1][1]);
    fprintf(out, "# of each bin with gas: its middle, mass in solar masses, cells\n"
                 "#log10_nH\tlog10_T\tmass\tcells\n");
    for (int i = 0; i < d->n * d->n; i++) {
        if (d->cells[i] == 0) continue;
        const int at[2] = {i % d->n, i / d->n};
        double middle[2];
        for (int a = 0; a < 2; a++)
            middle[a] = d->range[a][0] + (at[a] + 0.5) * (d->range[a][1] - d->range[a][0]) / d->n;
        fprintf(out, "%.10g\t%.10g\t%.17g\t%lld\n", middle[0], middle[1],
                (double)d->mass[i] * d->quantum, (long long)d->cells[i]);
    }
}
