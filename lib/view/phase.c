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

static const char *share_name(const struct diagram *d)
{
    const int logs = d->axis[0].log + d->axis[1].log;
    return logs == 2   ? "mass fraction per dex^2"
           : logs == 1 ? "mass fraction per dex and unit"
                       : "mass fraction per unit^2";
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
    numbers_of_image(c, f, share_name(d), d->n, d->n, x);
    FREE(x);
}

void phase_plot(struct canvas *c, const void *diagram)
{
    const struct diagram *d = diagram;
    const double(*r)[2] = d->range;
    struct frame f = {
        .x = {.lo = r[0][0], .hi = r[0][1], .log = d->axis[0].log, .name = d->axis[0].label},
        .y = {.lo = r[1][0], .hi = r[1][1], .log = d->axis[1].log, .name = d->axis[1].label},
        .in = frame_in(frame_whole(true), FRAME_BAR),
        .title = d->title,
        .outside = true,
    };
    struct axis share = {
        .lo = log10(d->lo), .hi = log10(d->hi), .log = true, .name = share_name(d)};
    put_shares(c, &f, d);
    unsigned char *rgb = paint(d);
    canvas_pixels(c, f.in, d->n, d->n, rgb);
    FREE(rgb);
    frame_bar(&f, c, d->colours, &share);
    frame_draw(&f, c);
}

/* The parts of the table that name the axes. */
static void put_axes(FILE *out, const struct diagram *d)
{
    for (int a = 0; a < 2 && !d->usual; a++)
        fprintf(out, "# unit\t%s\t%s\n", d->axis[a].name, *d->axis[a].unit ? d->axis[a].unit : "1");
    for (int a = 0; a < 2; a++)
        fprintf(out, "# %s%s\t%.17g\t%.17g\n", d->axis[a].log ? "log10_" : "", d->axis[a].brief,
                d->range[a][0], d->range[a][1]);
    fprintf(out, "# of each bin with gas: its middle, mass in Msun, cells\n#");
    for (int a = 0; a < 2; a++)
        fprintf(out, "%s%s\t", d->axis[a].log ? "log10_" : "", d->axis[a].brief);
    fprintf(out, "mass\tcells\n");
}

void phase_table(FILE *out, const struct diagram *d, const char *path)
{
    fprintf(out, "# ptah phase diagram 1\n# source\t%s\n# mass\t%.17g\n# mass_outside\t%.17g\n",
            path, d->total, (double)d->out * d->quantum);
    fprintf(out, "# cells_outside\t%lld\n", (long long)d->out_cells);
    if (d->cold_cells)
        fprintf(out, "# mass_not_above_0%s\t%.17g\n# cells_not_above_0%s\t%lld\n",
                d->usual ? "_K" : "", (double)d->cold * d->quantum, d->usual ? "_K" : "",
                (long long)d->cold_cells);
    fprintf(out, "# bins\t%d\n", d->n);
    put_axes(out, d);
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
