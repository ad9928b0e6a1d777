/* gravdev/fourier_kernel: a complete periodic level in Fourier space: line transforms of
 * fft/fft_kern.h in shared memory, several lines per block.
 *
 * Rows along x are gathered from octs, and each becomes n/2 + 1 modes; columns along y and z are
 * transformed in place: lines adjacent in memory are read together, so no transposes are needed.
 * Along z forward, the Green function, and backward are one kernel. */
#include "gravdev/fourier_kernels.h"
#include "oct/okey.h"

/* Two work arrays, used alternately. */
struct fourier_shared {
    double re[2][FOURIER_ROOM], im[2][FOURIER_ROOM];
};

/* Runs all passes, beginning in array `side`; returns the last one. back: re and im are
 * exchanged. */
DEV_FN int passes(const struct fourier_lines *g, struct fourier_shared *s, int side, bool back,
                  struct dev_block *b)
{
    const int size = g->p.size, lanes = g->lanes;
    int done = 1;
    for (int i = 0; i < g->p.count; i++, side = !side) {
        const double *re = back ? s->im[side] : s->re[side], *im = back ? s->re[side] : s->im[side];
        double *to_re = back ? s->im[!side] : s->re[!side],
               *to_im = back ? s->re[!side] : s->im[!side];
        const int radix = g->p.radix[i], step = g->n / (done * radix);
        PHASE (t, lanes * (size / radix)) {
            int q = t & (lanes - 1), j = t >> g->log_lanes;
            if (radix == 8)
                fft_kern_pass(8, j, size, done, step, g->root, g->stride, re + q, im + q, to_re + q,
                              to_im + q);
            else if (radix == 4)
                fft_kern_pass(4, j, size, done, step, g->root, g->stride, re + q, im + q, to_re + q,
                              to_im + q);
            else
                fft_kern_pass(2, j, size, done, step, g->root, g->stride, re + q, im + q, to_re + q,
                              to_im + q);
        }
        done *= radix;
    }
    return side;
}

/* ---- rows ---- */

/* Numbers 2j and 2j+1 of row q, a pair of adjacent cells. Rows of a row of octs have consecutive
 * q. */
PTAH_HD double *pair_of(const struct fourier_rows_args *a, int q, int j)
{
    unsigned octs = (unsigned)a->g.n / 2, row = (unsigned)q >> 2;
    okey oct = okey_make((uint64_t)j, row % octs, row / octs);
    return &a->cell[oct][2 * (q & 3)];
}

/* Modes of row q. */
PTAH_HD struct fourier_pair *waves_of(const struct fourier_rows_args *a, int q)
{
    unsigned octs = (unsigned)a->g.n / 2, row = (unsigned)q >> 2;
    int y = (int)(2 * (row % octs)) + (q & 1), z = (int)(2 * (row / octs)) + (q >> 1 & 1);
    return &a->wave[((int64_t)z * a->g.n + y) * a->pitch];
}

KERNEL(fourier_rows, struct fourier_rows_args, struct fourier_shared, DEV_THREADS)
{
    const struct fourier_lines *g = &a->g;
    const int h = g->n / 2;
    const int first = b->index * g->lanes;
    PHASE (t, g->lanes * h) {
        int q = t & (g->lanes - 1), j = t >> g->log_lanes, at = j * g->stride + q;
        const double *x = first + q < g->count ? pair_of(a, first + q, j) : NULL;
        s->re[0][at] = x ? x[0] - a->mean : 0;
        s->im[0][at] = x ? x[1] - a->mean : 0;
    }
    const int side = passes(g, s, 0, false, b);
    PHASE (t, g->lanes * (h + 1)) {
        int q = t / (h + 1), k = t % (h + 1);
        int i = (k & (h - 1)) * g->stride + q, j = ((h - k) & (h - 1)) * g->stride + q;
        struct fourier_pair x;
        if (first + q >= g->count) continue;
        fft_kern_to_half(s->re[side][i], s->im[side][i], s->re[side][j], s->im[side][j],
                         g->root[2 * k], g->root[2 * k + 1], &x.re, &x.im);
        waves_of(a, first + q)[k] = x;
    }
}

KERNEL(fourier_rows_back, struct fourier_rows_args, struct fourier_shared, DEV_THREADS)
{
    const struct fourier_lines *g = &a->g;
    const int h = g->n / 2;
    const int first = b->index * g->lanes;
    PHASE (t, g->lanes * h) {
        int q = t / h, k = t % h, at = k * g->stride + q;
        struct fourier_pair x = {0, 0}, y = {0, 0};
        if (first + q < g->count) {
            const struct fourier_pair *w = waves_of(a, first + q);
            x = w[k];
            y = w[h - k];
        }
        fft_kern_from_half(k == 0, x.re, x.im, y.re, y.im, g->root[2 * k], g->root[2 * k + 1],
                           &s->re[0][at], &s->im[0][at]);
    }
    const int side = passes(g, s, 0, true, b);
    PHASE (t, g->lanes * h) {
        int q = t & (g->lanes - 1), j = t >> g->log_lanes, at = j * g->stride + q;
        if (first + q >= g->count) continue;
        double *x = pair_of(a, first + q, j);
        x[0] = s->re[side][at];
        x[1] = s->im[side][at];
    }
}

/* ---- columns ---- */

PTAH_HD struct fourier_pair *column_of(const struct fourier_columns_args *a, int q)
{
    unsigned nk = (unsigned)a->nk, row = (unsigned)q / nk;
    return &a->wave[row * a->outer + (unsigned)q % nk];
}

DEV_FN void columns_load(const struct fourier_columns_args *a, struct fourier_shared *s,
                         struct dev_block *b)
{
    const struct fourier_lines *g = &a->g;
    const int first = b->index * g->lanes;
    PHASE (t, g->lanes * g->n) {
        int q = t & (g->lanes - 1), i = t >> g->log_lanes, at = i * g->stride + q;
        struct fourier_pair x = {0, 0};
        if (first + q < g->count) x = column_of(a, first + q)[i * a->step];
        s->re[0][at] = x.re;
        s->im[0][at] = x.im;
    }
}

DEV_FN void columns_store(const struct fourier_columns_args *a, const struct fourier_shared *s,
                          int side, struct dev_block *b)
{
    const struct fourier_lines *g = &a->g;
    const int first = b->index * g->lanes;
    PHASE (t, g->lanes * g->n) {
        int q = t & (g->lanes - 1), i = t >> g->log_lanes, at = i * g->stride + q;
        struct fourier_pair x = {s->re[side][at], s->im[side][at]};
        if (first + q < g->count) column_of(a, first + q)[i * a->step] = x;
    }
}

KERNEL(fourier_columns, struct fourier_columns_args, struct fourier_shared, DEV_THREADS)
{
    columns_load(a, s, b);
    columns_store(a, s, passes(&a->g, s, 0, a->back, b), b);
}

KERNEL(fourier_green, struct fourier_green_args, struct fourier_shared, DEV_THREADS)
{
    const struct fourier_columns_args *c = &a->c;
    const struct fourier_lines *g = &c->g;
    int side = 0;
    columns_load(c, s, b);
    for (int back = 0; back < 2; back++) {
        side = passes(g, s, side, back, b);
        PHASE (t, back ? 0 : g->lanes * g->n) {
            int q = b->index * g->lanes + (t & (g->lanes - 1));
            int k = t >> g->log_lanes, at = k * g->stride + (t & (g->lanes - 1));
            if (q >= g->count) continue;
            double green = green_at(&a->t, g->n, q % c->nk, q / c->nk, k, a->scale);
            s->re[side][at] *= green;
            s->im[side][at] *= green;
        }
    }
    columns_store(c, s, side, b);
}
