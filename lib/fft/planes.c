/* fft/planes: transforms of planes, and of columns of planes, that a rank has as a whole. A plane
 * along x and y is transformed, transposed and transformed before the next one, and so is a plane
 * along y and z, back and forth around a filter: each passes through the caches once. Lines and
 * their order of operations are those of fft.c. */
#include "base/mem.h"
#include "fft/lines.h"

static void plane_forward(const struct fft *f, double complex *a, double complex *b)
{
    const struct fft_lines *l = f->lines;
    const size_t row = f->pitch / 2, col = f->kpitch;
    for (int y = 0; y < f->n; y++) fft_line_real(l, false, a + (size_t)y * row);
    fft_transpose(a, row, f->n, f->kcount[0], b, col);
    for (int k = 0; k < f->kcount[0]; k++) fft_line_complex(l, false, b + (size_t)k * col);
}

static void plane_backward(const struct fft *f, double complex *a, double complex *b)
{
    const struct fft_lines *l = f->lines;
    const size_t row = f->pitch / 2, col = f->kpitch;
    for (int k = 0; k < f->kcount[0]; k++) fft_line_complex(l, true, b + (size_t)k * col);
    fft_transpose(b, col, f->kcount[0], f->n, a, row);
    for (int y = 0; y < f->n; y++) fft_line_real(l, true, a + (size_t)y * row);
}

void fft_planes(struct fft *f, bool back)
{
    const struct fft_lines *l = f->lines;
    const size_t real = (size_t)f->n * f->pitch / 2, wave = (size_t)f->kcount[0] * f->kpitch;
#pragma omp parallel for schedule(static)
    for (int z = 0; z < f->count[2]; z++) {
        double complex *a = l->a + (size_t)z * real, *b = l->b + (size_t)z * wave;
        if (back)
            plane_backward(f, a, b);
        else
            plane_forward(f, a, b);
    }
}

/* Filters the waves kx, which are n² numbers of b, in `room`. */
static void wave_filter(const struct fft *f, int kx, fft_filter_row *filter, const void *ctx,
                        double complex *room)
{
    const struct fft_lines *l = f->lines;
    const size_t col = f->kpitch, plane = (size_t)f->kcount[0] * col;
    double complex *b = l->b + (size_t)kx * col;
    fft_transpose(b, plane, f->n, f->n, room, col);
    for (int ky = 0; ky < f->n; ky++) {
        double complex *line = room + (size_t)ky * col;
        fft_line_complex(l, false, line);
        filter(ctx, kx, ky, line);
        fft_line_complex(l, true, line);
    }
    fft_transpose(room, col, f->n, f->n, b, plane);
}

static void whole_filter(struct fft *f, fft_filter_row *filter, const void *ctx)
{
    fft_planes(f, false);
#pragma omp parallel
    {
        double complex *room = mem_new(sizeof *room * (size_t)f->n * f->kpitch, "fft");
#pragma omp for schedule(static)
        for (int kx = 0; kx < f->kcount[0]; kx++) wave_filter(f, kx, filter, ctx, room);
        FREE(room);
    }
    fft_planes(f, true);
}

void fft_filter(struct fft *f, fft_filter_row *filter, const void *ctx)
{
    if (fft_has_planes(f->lines) && f->lines->z.n == 1) {
        whole_filter(f, filter, ctx);
        return;
    }
    fft_forward(f);
#pragma omp parallel for collapse(2) schedule(static)
    for (int i = 0; i < f->kcount[0]; i++)
        for (int j = 0; j < f->kcount[1]; j++)
            filter(ctx, i + f->kfirst[0], j + f->kfirst[1],
                   f->k + ((size_t)i * (size_t)f->kcount[1] + (size_t)j) * f->kpitch);
    fft_backward(f);
}
