/* view/phase: images and tables of phase diagrams. See phase.h. */
#include <math.h>

#include "base/mem.h"
#include "base/text.h"
#include "plot/colours.h"
#include "plot/frame.h"
#include "plot/numbers.h"
#include "view/phase.h"

double phase_share(const struct diagram *d, int bin)
{
    double area = 1;
    for (int a = 0; a < 2; a++) area *= (d->range[a][1] - d->range[a][0]) / d->n;
    return (double)d->mass[bin] * d->quantum / d->total / area;
}

/* RGB image with a pixel per bin, white where there is no gas; top row first. */
static unsigned char *paint(const struct diagram *d)
{
    unsigned char *rgb = mem_new((size_t)d->n * (size_t)d->n * 3, "phase diagram"), *to = rgb;
    for (int row = d->n - 1; row >= 0; row--)
        for (int i = row * d->n; i < (row + 1) * d->n; i++, to += 3)
            if (d->cells[i] == 0)
                to[0] = to[1] = to[2] = 255;
            else
                colours_at(d->colours, log(phase_share(d, i) / d->lo) / log(d->hi / d->lo), to);
    return rgb;
}

static void put_shares(struct canvas *c, const struct frame *f, const struct diagram *d)
{
    if (!canvas_numbers(c)) return;
    double *x = mem_new(sizeof *x * (size_t)d->n * (size_t)d->n, "phase diagram");
    for (int i = 0; i < d->n * d->n; i++) x[i] = d->cells[i] ? phase_share(d, i) : NAN;
    numbers_of_image(c, f, "mass fraction per dex^2", d->n, d->n, x);
    FREE(x);
}

void phase_plot(struct canvas *c, const void *diagram)
{
    const struct diagram *d = diagram;
    const double(*r)[2] = d->range;
    struct frame f = {
        .x = {.lo = r[PHASE_NH][0],
              .hi = r[PHASE_NH][1],
              .log = true,
              .name = "hydrogen nuclei [1/cm^3]"},
        .y = {.lo = r[PHASE_T2][0], .hi = r[PHASE_T2][1], .log = true, .name = "T/μ [K]"},
        .in = frame_in(frame_whole(true), FRAME_BAR),
        .title = d->title,
        .outside = true,
    };
    struct axis share = {
        .lo = log10(d->lo), .hi = log10(d->hi), .log = true, .name = "mass fraction per dex^2"};
    put_shares(c, &f, d);
    unsigned char *rgb = paint(d);
    canvas_pixels(c, f.in, d->n, d->n, rgb);
    FREE(rgb);
    frame_bar(&f, c, d->colours, &share);
    frame_draw(&f, c);
}

void phase_table(FILE *out, const struct diagram *d, const char *path)
{
    fprintf(out, "# ptah phase diagram 1\n# source\t%s\n# mass\t%.17g\n# mass_outside\t%.17g\n",
            path, d->total, (double)d->out * d->quantum);
    fprintf(out, "# cells_outside\t%lld\n", (long long)d->out_cells);
    if (d->cold_cells)
        fprintf(out, "# mass_not_above_0_K\t%.17g\n# cells_not_above_0_K\t%lld\n",
                (double)d->cold * d->quantum, (long long)d->cold_cells);
    fprintf(out, "# bins\t%d\n", d->n);
    fprintf(out, "# log10_nH\t%.17g\t%.17g\n# log10_T\t%.17g\t%.17g\n", d->range[0][0],
            d->range[0][1], d->range[1][0], d->range[1][1]);
    fprintf(out, "# of each bin with gas: its middle, mass in Msun, cells\n"
                 "#log10_nH\tlog10_T\tmass\tcells\n");
    for (int i = 0; i < d->n * d->n; i++) {
        if (d->cells[i] == 0) continue;
        const int at[2] = {i % d->n, i / d->n};
        double middle[2];
        for (int a = 0; a < 2; a++)
            middle[a] = d->range[a][0] + (at[a] + 0.5) * (d->range[a][1] - d->range[a][0]) / d->n;
        fprintf(out, "%.10g\t%.10g\t", middle[0], middle[1]);
        put_number(out, 17, (double)d->mass[i] * d->quantum);
        fprintf(out, "\t%lld\n", (long long)d->cells[i]);
    }
}
