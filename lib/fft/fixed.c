/* fft/fixed: see fixed.h. Lines are transformed FFT_LANES at a time: each element of a work array
 * is a vector with one number of each line. */
#include "fft/fixed.h"

#include <math.h>
#include <omp.h>

#include "base/mem.h"

/* ---- plan ---- */

bool fft_fixed_can(int n)
{
    return n > 1 && (n & (n - 1)) == 0;
}

/* Chooses the fewest passes, small radices first: 4·4 rather than 2·8. */
static struct fft_passes passes_of(int size)
{
    struct fft_passes p = {.size = size};
    int left = 0;
    while (1 << left < size) left++;
    while (left > 0) {
        int bits = left % 3 == 0 ? 3 : left == 1 ? 1 : 2;
        p.radix[p.count++] = 1 << bits;
        left -= bits;
    }
    return p;
}

/* exp(-2πi m/n) from an angle of at most π/4, so that symmetric roots have equal digits; rounded
 * from long double, so that roots do not depend on the library. */
static void root_of(int n, int m, double root[2])
{
    int eighth = (int)((int64_t)8 * m / n), quarter = (eighth + 1) / 2 % 4;
    long double angle = 2 * 3.14159265358979323846264338327950288L *
                        (long double)(4 * (int64_t)m - (int64_t)(eighth + 1) / 2 * n) / (4 * n);
    double c = (double)cosl(angle), s = (double)sinl(angle);
    double x[4] = {c, -s, -c, s}, y[4] = {s, c, -s, -c};
    root[0] = x[quarter];
    root[1] = -y[quarter];
}

struct fft_fixed *fft_fixed_new(int n)
{
    BUG_ON(!fft_fixed_can(n));
    struct fft_fixed *f = mem_zero(sizeof *f, "fft plan");
    f->n = n;
    f->whole = passes_of(n);
    f->half = passes_of(n / 2);
    f->root = mem_new(sizeof *f->root * 2 * (size_t)n, "fft plan");
    for (int m = 0; m < n; m++) root_of(n, m, f->root + 2 * m);
    return f;
}

void fft_fixed_free(struct fft_fixed **fp)
{
    struct fft_fixed *f = *fp;
    if (!f) return;
    FREE(f->root);
    FREE(*fp);
}

/* ---- lines in vectors ---- */

struct batch {
    double *line[FFT_LANES]; /* lines, padded with copies of the first one */
    int lanes;
};

static struct batch batch_of(double complex *a, size_t pitch, int64_t lines, int64_t first)
{
    struct batch b = {.lanes = lines - first < FFT_LANES ? (int)(lines - first) : FFT_LANES};
    for (int q = 0; q < FFT_LANES; q++)
        b.line[q] = (double *)(a + (size_t)(first + (q < b.lanes ? q : 0)) * pitch);
    return b;
}

static void load(const struct batch *b, int n, fft_vec *re, fft_vec *im)
{
    for (int i = 0; i < n; i++)
        for (int q = 0; q < FFT_LANES; q++) {
            re[i][q] = b->line[q][2 * i];
            im[i][q] = b->line[q][2 * i + 1];
        }
}

static void store(const struct batch *b, int n, const fft_vec *re, const fft_vec *im)
{
    for (int i = 0; i < n; i++)
        for (int q = 0; q < b->lanes; q++) {
            b->line[q][2 * i] = re[i][q];
            b->line[q][2 * i + 1] = im[i][q];
        }
}

/* Two work arrays, used alternately. */
struct work {
    fft_vec *re, *im, *next_re, *next_im;
};

static struct work work_of(fft_vec *room, int n)
{
    size_t each = (size_t)n + 1;
    return (struct work){room, room + each, room + 2 * each, room + 3 * each};
}

static fft_vec *work_new(int n)
{
    return mem_new(sizeof(fft_vec) * 4 * ((size_t)n + 1) * (size_t)omp_get_max_threads(), "fft");
}

static void swap(struct work *w)
{
    *w = (struct work){w->next_re, w->next_im, w->re, w->im};
}

static void turn_about(struct work *w)
{
    *w = (struct work){w->im, w->re, w->next_im, w->next_re};
}

#define PASS(radix)                                                                                \
    for (int j = 0; j < p->size / (radix); j++)                                                    \
    fft_kern_pass(radix, j, p->size, done, n / (done * (radix)), f->root, 1, w->re, w->im,         \
                  w->next_re, w->next_im)

static void passes(const struct fft_fixed *f, const struct fft_passes *p, struct work *w)
{
    int n = f->n;
    for (int i = 0, done = 1; i < p->count; done *= p->radix[i++]) {
        if (p->radix[i] == 2) PASS(2);
        if (p->radix[i] == 4) PASS(4);
        if (p->radix[i] == 8) PASS(8);
        swap(w);
    }
}

/* ---- real lines ---- */

static void to_half(const struct fft_fixed *f, struct work *w)
{
    int h = f->n / 2;
    for (int k = 0; k <= h; k++) {
        int a = k & (h - 1), b = (h - k) & (h - 1);
        fft_kern_to_half(w->re[a], w->im[a], w->re[b], w->im[b], f->root[2 * k], f->root[2 * k + 1],
                         &w->next_re[k], &w->next_im[k]);
    }
    swap(w);
}

static void from_half(const struct fft_fixed *f, struct work *w)
{
    int h = f->n / 2;
    for (int k = 0; k < h; k++)
        fft_kern_from_half(k == 0, w->re[k], w->im[k], w->re[h - k], w->im[h - k], f->root[2 * k],
                           f->root[2 * k + 1], &w->next_re[k], &w->next_im[k]);
    swap(w);
}

void fft_fixed_real(const struct fft_fixed *f, bool back, double complex *a, size_t pitch,
                    int64_t lines)
{
    int n = f->n, h = n / 2;
    fft_vec *room = work_new(n);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < (lines + FFT_LANES - 1) / FFT_LANES; i++) {
        struct batch b = batch_of(a, pitch, lines, i * FFT_LANES);
        struct work w = work_of(room + 4 * (size_t)omp_get_thread_num() * ((size_t)n + 1), n);
        load(&b, back ? h + 1 : h, w.re, w.im);
        if (back) {
            from_half(f, &w);
            turn_about(&w);
        }
        passes(f, &f->half, &w);
        if (back)
            turn_about(&w);
        else
            to_half(f, &w);
        store(&b, back ? h : h + 1, w.re, w.im);
    }
    FREE(room);
}

/* ---- complex lines ---- */

void fft_fixed_complex(const struct fft_fixed *f, bool back, double complex *a, size_t pitch,
                       int64_t lines)
{
    int n = f->n;
    fft_vec *room = work_new(n);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < (lines + FFT_LANES - 1) / FFT_LANES; i++) {
        struct batch b = batch_of(a, pitch, lines, i * FFT_LANES);
        struct work w = work_of(room + 4 * (size_t)omp_get_thread_num() * ((size_t)n + 1), n);
        load(&b, n, w.re, w.im);
        if (back) turn_about(&w);
        passes(f, &f->whole, &w);
        if (back) turn_about(&w);
        store(&b, n, w.re, w.im);
    }
    FREE(room);
}
