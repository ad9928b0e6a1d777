/* gravdev/fourier_dev: a complete level of a periodic box in Fourier space on the device of a
 * single rank, as grav/fourier does on hosts with lines of fft/fixed, in five launches. No array of
 * the size of the level is transferred; the host computes a table of the response. */
#include "fft/fixed.h"
#include "grav/mg.h"
#include "gravdev/dev_priv.h"
#include "gravdev/fourier_kernels.h"
#include "oct/fields.h"

bool fourier_dev_can(int l)
{
    return l <= 30 && 1 << l <= FOURIER_POINTS;
}

void fourier_dev_drop(struct grav_dev *g)
{
    struct fourier_dev *f = &g->fourier;
    struct dev_room *all[] = {&f->root, &f->denominator, &f->exact, &f->window,
                              &f->part, &f->factor,      &f->wave};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) dev_free(g->dev, all[i]->p);
    *f = (struct fourier_dev){0};
}

/* A table of the host, n numbers; NULL: there is none. */
static enum err put(struct grav_dev *g, struct dev_room *to, const double *from, size_t n)
{
    if (!from) return OK;
    TRY(dev_room_need(g->stream, to, sizeof *from * n, "fft"));
    dev_put(g->stream, to->p, from, sizeof *from * n);
    return OK;
}

static enum err put_tables(struct grav_dev *g, int n, const struct green_tables *t,
                           const struct fft_fixed *plan)
{
    struct fourier_dev *f = &g->fourier;
    const size_t waves = 3 * (size_t)(n / 2) * (size_t)(n / 2) + 1;
    TRY(put(g, &f->root, plan->root, 2 * (size_t)n));
    TRY(put(g, &f->denominator, t->denominator, (size_t)n));
    TRY(put(g, &f->exact, t->exact, (size_t)n));
    TRY(put(g, &f->window, t->window, (size_t)n));
    TRY(put(g, &f->part, t->part, waves));
    return put(g, &f->factor, t->factor, waves);
}

/* Copies the host tables to the device unless present. The response varies and is always copied. */
static enum err tables_need(struct grav_dev *g, int n, const struct fourier_green *green)
{
    struct fourier_dev *f = &g->fourier;
    if (f->n == n && f->kind == green->kind && !green->response) return OK;
    struct fft_fixed *plan = fft_fixed_new(n);
    struct green_tables t = green_tables(n, green);
    f->n = 0;
    enum err err = put_tables(g, n, &t, plan), waited = dev_wait(g->stream);
    if (err == OK) err = waited;
    f->whole = plan->whole;
    f->half = plan->half;
    f->kind = green->kind;
    if (err == OK) f->n = n;
    green_tables_free(&t);
    fft_fixed_free(&plan);
    return err;
}

/* Row stride in complex numbers, rounded up to whole memory sectors. */
static int fourier_pitch(int n)
{
    return (n / 2 + 4) / 4 * 4;
}

/* Chooses as many lines as fit into a block; the stride is odd if threads read along a line. */
static struct fourier_lines lines_of(const struct fourier_dev *f, const struct fft_passes *p,
                                     int count)
{
    struct fourier_lines g = {
        .p = *p, .n = f->n, .lanes = FOURIER_POINTS / p->size, .count = count, .root = f->root.p};
    while (1 << g.log_lanes < g.lanes) g.log_lanes++;
    g.stride = g.lanes < 4 ? g.lanes : g.lanes + 1;
    BUG_ON(g.stride * p->size > FOURIER_ROOM);
    return g;
}

static void launch(struct grav_dev *g, const struct dev_kernel *k,
                   const struct fourier_lines *lines, const void *args)
{
    dev_launch(g->stream, k, grav_blocks(lines->count, lines->lanes), args);
}

static void transform(struct grav_dev *g, int l, double fourpi, double rho_tot)
{
    const struct fourier_dev *f = &g->fourier;
    const struct level *im = &g->mirror->image->lev[l];
    const int n = f->n, nk = n / 2 + 1;
    struct fourier_rows_args rows = {.g = lines_of(f, &f->half, n * n),
                                     .pitch = fourier_pitch(n),
                                     .cell = im->fld[FLD_RHO],
                                     .mean = rho_tot,
                                     .wave = f->wave.p};
    struct fourier_columns_args y = {.g = lines_of(f, &f->whole, n * nk),
                                     .nk = nk,
                                     .outer = (int64_t)n * rows.pitch,
                                     .step = rows.pitch,
                                     .wave = f->wave.p};
    struct fourier_green_args z = {.c = y,
                                   .t = {.denominator = f->denominator.p,
                                         .exact = f->exact.p,
                                         .window = f->window.p,
                                         .part = f->part.p,
                                         .factor = f->factor.p},
                                   .scale = green_scale(n, fourpi)};
    z.c.outer = y.step, z.c.step = y.outer;
    launch(g, &fourier_rows, &rows.g, &rows);
    launch(g, &fourier_columns, &y.g, &y);
    launch(g, &fourier_green, &z.c.g, &z);
    y.back = true;
    launch(g, &fourier_columns, &y.g, &y);
    rows.cell = im->fld[FLD_PHI];
    launch(g, &fourier_rows_back, &rows.g, &rows);
}

enum err fourier_dev_solve(struct grav_dev *g, struct mesh *m, int l, double fourpi, double rho_tot,
                           const struct grav_par *p)
{
    struct mirror *x = g->mirror;
    const struct fourier_green green = grav_green(p);
    const int n = 1 << l;
    const size_t waves = (size_t)n * (size_t)n * (size_t)fourier_pitch(n);
    TRY(tables_need(g, n, &green));
    TRY(dev_room_need(g->stream, &g->fourier.wave, sizeof(struct fourier_pair) * waves, "fft"));
    TRY(mirror_need(x, m, l, FLD_RHO, 1, LOCATION_DEVICE));
    TRY(mirror_room(x, m, l, FLD_PHI, 1));
    transform(g, l, fourpi, rho_tot);
    mirror_wrote(x, l, FLD_PHI, 1, LOCATION_DEVICE);
    ghosts_set(m, l, SET_PHI, true);
    grav_log_fourier(l, p);
    return OK;
}
