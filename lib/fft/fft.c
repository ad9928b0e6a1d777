/* fft: see fft.h.
 *
 *   r[z][y][x]    → transform along x →  A[z][y][kx]
 *                 → transpose among ranks of equal z →  B[z][kx][y]
 *                 → transform along y →  B[z][kx][ky]
 *                 → transpose among ranks of equal kx →  A[kx][ky][z]
 *                 → transform along z →  A[kx][ky][kz]
 *
 * and back. A transpose turns matrices of which a rank has a part of the rows and all columns into
 * matrices with all rows and a part of the columns, one matrix per value of an outer index. Rows
 * are padded to 64 bytes, so that every line has equal alignment and one FFTW plan serves all;
 * where FFTW would allocate a buffer for each line in place, another plan goes out of place. On one
 * rank planes.c transforms whole planes with the same plans. */
#include "fft/fft.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "fft/lines.h"

/* Transpose: out[o*to_o + col*to_c + row] = in[o*from_o + row*from_r + col]. */
struct turn {
    int nout, nrow; /* number of values of the outer index · own rows */
    size_t from_o, from_r, to_o, to_c;
};

/* ---- division ---- */

static int bound(int n, int parts, int i)
{
    int step = n % 2 == 0 ? 2 : 1;
    return step * (int)((int64_t)(n / step) * i / parts);
}

static int wave_bound(int nwave, int parts, int i)
{
    return (int)((int64_t)nwave * i / parts);
}

/* Width of the grid of ranks: slabs if each is at least four planes thick, else nearly square. */
static int grid_width(int n, int ranks)
{
    int best = 1;
    if (ranks <= n / 4) return 1;
    for (int w = 2; w * w <= ranks; w++)
        if (ranks % w == 0) best = w;
    return best;
}

static void line_init(struct line *l, int parts, int me, int n, int nwave, int first, int step)
{
    l->n = parts, l->me = me;
    l->rank = mem_new(sizeof(int) * (size_t)(3 * parts + 2), "fft plan");
    l->real = l->rank + parts;
    l->wave = l->real + parts + 1;
    for (int i = 0; i < parts; i++) l->rank[i] = first + step * i;
    for (int i = 0; i <= parts; i++) {
        l->real[i] = bound(n, parts, i);
        l->wave[i] = wave_bound(nwave, parts, i);
    }
}

static void take_part(const int *bounds, int me, int *first, int *count)
{
    *first = bounds[me];
    *count = bounds[me + 1] - bounds[me];
}

static size_t pad(int n)
{
    return ((size_t)n + 3) / 4 * 4;
}

/* ---- plans ---- */

/* FFTW calls this function by name when an allocation fails, and then aborts. */
_Noreturn void fftw_assertion_failed(const char *what, int line, const char *file);
_Noreturn void fftw_assertion_failed(const char *what, int line, const char *file)
{
    if (strcmp(what, "p") == 0) mem_exhausted("FFTW");
    err_bug(file, line, what);
}

/* Whether the plan `apart` gives the bits of the plan in place, for a few lines of odd numbers. */
static bool same_bits(const struct fft_lines *l, int n, int back)
{
    enum { LINES = 4 };
    double complex a[FFT_APART] __attribute__((aligned(64))),
        b[FFT_APART] __attribute__((aligned(64))), c[FFT_APART] __attribute__((aligned(64)));
    for (int k = 0; k < LINES; k++) {
        for (int i = 0; i < n; i++)
            a[i] = b[i] = sin(7. * i * i + 3. * i + k) + I * cos(5. * i * i + i + 2. * k);
        fftw_execute_dft(l->apart[back], a, c);
        fftw_execute_dft(back ? l->backward[1] : l->forward[1], b, b);
        if (memcmp(b, c, sizeof *b * (size_t)n) != 0) return false;
    }
    return true;
}

/* FFTW transforms some lines in place through a buffer that it allocates for each of them. */
static void plans_apart(struct fft_lines *l, int n)
{
    if (n > FFT_APART) return;
    for (int back = 0; back < 2; back++) {
        l->apart[back] = fftw_plan_dft_1d(n, l->a, l->b, back ? FFTW_BACKWARD : FFTW_FORWARD,
                                          FFTW_ESTIMATE);
        BUG_ON(!l->apart[back]);
        if (same_bits(l, n, back)) continue;
        fftw_destroy_plan(l->apart[back]);
        l->apart[back] = NULL;
    }
}

static void plans_make(struct fft_lines *l, int n)
{
    double complex *a = l->a;
    unsigned how = FFTW_ESTIMATE; /* no measurement, since bits must not depend on timings */
    l->forward[0] = fftw_plan_dft_r2c_1d(n, (double *)a, a, how);
    l->backward[0] = fftw_plan_dft_c2r_1d(n, a, (double *)a, how);
    l->forward[1] = fftw_plan_dft_1d(n, a, a, FFTW_FORWARD, how);
    l->backward[1] = fftw_plan_dft_1d(n, a, a, FFTW_BACKWARD, how);
    for (int i = 0; i < 2; i++) BUG_ON(!l->forward[i] || !l->backward[i]);
    plans_apart(l, n);
}

static struct fft *division_new(const struct comm *c, int n)
{
    BUG_ON(n < 1 || n > FFT_SIZE_MAX);
    struct fft *f = mem_zero(sizeof *f, "fft plan");
    struct fft_lines *l = f->lines = mem_zero(sizeof *l, "fft plan");
    int nkx = n / 2 + 1;
    f->n = l->n = n;
    l->c = c;
    l->ny = grid_width(n, c->size);
    l->nz = c->size / l->ny;
    int py = c->rank % l->ny, pz = c->rank / l->ny;
    line_init(&l->y, l->ny, py, n, nkx, pz * l->ny, 1);
    line_init(&l->z, l->nz, pz, n, n, py, l->ny);
    f->count[0] = n;
    take_part(l->y.real, py, &f->first[1], &f->count[1]);
    take_part(l->z.real, pz, &f->first[2], &f->count[2]);
    take_part(l->y.wave, py, &f->kfirst[0], &f->kcount[0]);
    take_part(l->z.wave, pz, &f->kfirst[1], &f->kcount[1]);
    f->kcount[2] = n;
    f->pitch = 2 * pad(nkx);
    f->kpitch = pad(n);
    return f;
}

struct fft *fft_new(const struct comm *c, int n)
{
    struct fft *f = division_new(c, n);
    fft_begin(f);
    plans_make(f->lines, n);
    fft_end(f);
    return f;
}

struct fft *fft_new_fixed(const struct comm *c, int n)
{
    struct fft *f = division_new(c, n);
    f->lines->fixed = fft_fixed_new(n);
    return f;
}

void fft_begin(struct fft *f)
{
    struct fft_lines *l = f->lines;
    size_t row = f->pitch / 2, ny = (size_t)f->count[1], nz = (size_t)f->count[2],
           nkx = (size_t)f->kcount[0];
    size_t real = nz * ny * row, mid = nz * nkx * f->kpitch,
           wave = nkx * (size_t)f->kcount[1] * f->kpitch;
    size_t line = f->kpitch > row ? f->kpitch : row; /* plans need equal lengths on all ranks */
    l->a = mem_new(sizeof *l->a * ((real > wave ? real : wave) + line), "fft");
    l->b = mem_new(sizeof *l->b * (mid + 1), "fft");
    f->r = (double *)l->a;
    f->k = l->a;
}

void fft_end(struct fft *f)
{
    FREE(f->lines->a);
    FREE(f->lines->b);
    f->r = NULL;
    f->k = NULL;
}

void fft_free(struct fft **fp)
{
    struct fft *f = *fp;
    if (!f) return;
    struct fft_lines *l = f->lines;
    for (int i = 0; i < 2 && !l->fixed; i++) {
        fftw_destroy_plan(l->forward[i]);
        fftw_destroy_plan(l->backward[i]);
        if (l->apart[i]) fftw_destroy_plan(l->apart[i]);
    }
    fft_fixed_free(&l->fixed);
    FREE(l->y.rank);
    FREE(l->z.rank);
    fft_end(f);
    FREE(f->lines);
    FREE(*fp);
}

static int part_of(const int *bounds, int n, int x)
{
    int lo = 0, hi = n;
    while (hi - lo > 1) {
        int mid = (lo + hi) / 2;
        if (bounds[mid] <= x)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

int fft_rank(const struct fft *f, int y, int z)
{
    const struct fft_lines *l = f->lines;
    return part_of(l->y.real, l->ny, y) + l->ny * part_of(l->z.real, l->nz, z);
}

/* ---- transposes ---- */

/* Packs own rows × the columns of part i, matrix by matrix, row by row. */
static void pack(const struct turn *t, const double complex *in, const int *cols, int i,
                 double complex *to)
{
    int n = cols[i + 1] - cols[i];
    for (int o = 0; o < t->nout; o++)
        for (int r = 0; r < t->nrow; r++, to += n)
            memcpy(to, in + (size_t)o * t->from_o + (size_t)r * t->from_r + (size_t)cols[i],
                   sizeof *to * (size_t)n);
}

/* Transposes among the ranks of a line. rows, cols: bounds of the parts of rows and of columns.
 * (collective among the ranks of the line) */
static void turn(const struct line *l, const struct comm *c, const struct turn *t, const int *rows,
                 const int *cols, const double complex *in, double complex *out)
{
    int me = l->me, np = 0, mine = cols[me + 1] - cols[me];
    int *peer = mem_new(sizeof *peer * (size_t)l->n, "fft exchange");
    void **buf = mem_new(sizeof *buf * 2 * (size_t)l->n, "fft exchange");
    size_t *len = mem_new(sizeof *len * 2 * (size_t)l->n, "fft exchange"), total = 0;
    for (int i = 0; i < l->n; i++)
        if (i != me) {
            peer[np] = l->rank[i];
            len[np] = sizeof *in * (size_t)t->nout * (size_t)t->nrow *
                      (size_t)(cols[i + 1] - cols[i]);
            len[l->n + np] = sizeof *in * (size_t)t->nout * (size_t)(rows[i + 1] - rows[i]) *
                             (size_t)mine;
            total += len[np] + len[l->n + np];
            np++;
        }
    char *block = mem_new(total + 1, "fft exchange"), *at = block;
    for (int i = 0; i < np; at += len[i], i++) buf[i] = at;
    for (int i = 0; i < np; at += len[l->n + i], i++) buf[l->n + i] = at;
#pragma omp parallel for schedule(dynamic, 1)
    for (int i = 0; i < np; i++) pack(t, in, cols, i < me ? i : i + 1, buf[i]);
    struct comm_round *round = comm_post(c, np, peer, buf, len, buf + l->n, len + l->n);
#pragma omp parallel for schedule(static)
    for (int o = 0; o < t->nout; o++)
        fft_transpose(in + (size_t)o * t->from_o + (size_t)cols[me], t->from_r, t->nrow, mine,
                      out + (size_t)o * t->to_o + (size_t)rows[me], t->to_c);
    comm_wait(round);
    for (int i = 0; i < np; i++) {
        int part = i < me ? i : i + 1, nrow = rows[part + 1] - rows[part];
        const double complex *got = buf[l->n + i];
#pragma omp parallel for schedule(static)
        for (int o = 0; o < t->nout; o++)
            fft_transpose(got + (size_t)o * (size_t)nrow * (size_t)mine, (size_t)mine, nrow, mine,
                          out + (size_t)o * t->to_o + (size_t)rows[part], t->to_c);
    }
    FREE(block);
    FREE(len);
    FREE(buf);
    FREE(peer);
}

/* ---- transforms ---- */

static void lines_complex(const struct fft_lines *l, bool back, double complex *a, size_t pitch,
                          int64_t n)
{
    if (l->fixed) {
        fft_fixed_complex(l->fixed, back, a, pitch, n);
        return;
    }
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) fft_line_complex(l, back, a + (size_t)i * pitch);
}

static void lines_real(struct fft *f, bool back)
{
    const struct fft_lines *l = f->lines;
    size_t row = f->pitch / 2;
    int64_t n = (int64_t)f->count[1] * f->count[2];
    if (l->fixed) {
        fft_fixed_real(l->fixed, back, l->a, row, n);
        return;
    }
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) fft_line_real(l, back, l->a + (size_t)i * row);
}

void fft_forward(struct fft *f)
{
    struct fft_lines *l = f->lines;
    size_t row = f->pitch / 2, col = f->kpitch;
    int ny = f->count[1], nz = f->count[2], nkx = f->kcount[0], nky = f->kcount[1];
    if (fft_has_planes(l)) {
        fft_planes(f, false);
    } else {
        lines_real(f, false);
        turn(&l->y, l->c,
             &(struct turn){.nout = nz,
                            .nrow = ny,
                            .from_o = (size_t)ny * row,
                            .from_r = row,
                            .to_o = (size_t)nkx * col,
                            .to_c = col},
             l->y.real, l->y.wave, l->a, l->b);
        lines_complex(l, false, l->b, col, (int64_t)nz * nkx);
    }
    turn(&l->z, l->c,
         &(struct turn){.nout = nkx,
                        .nrow = nz,
                        .from_o = col,
                        .from_r = (size_t)nkx * col,
                        .to_o = (size_t)nky * col,
                        .to_c = col},
         l->z.real, l->z.wave, l->b, l->a);
    lines_complex(l, false, l->a, col, (int64_t)nkx * nky);
}

void fft_backward(struct fft *f)
{
    struct fft_lines *l = f->lines;
    size_t row = f->pitch / 2, col = f->kpitch;
    int ny = f->count[1], nz = f->count[2], nkx = f->kcount[0], nky = f->kcount[1];
    lines_complex(l, true, l->a, col, (int64_t)nkx * nky);
    turn(&l->z, l->c,
         &(struct turn){.nout = nkx,
                        .nrow = nky,
                        .from_o = (size_t)nky * col,
                        .from_r = col,
                        .to_o = col,
                        .to_c = (size_t)nkx * col},
         l->z.wave, l->z.real, l->a, l->b);
    if (fft_has_planes(l)) {
        fft_planes(f, true);
        return;
    }
    lines_complex(l, true, l->b, col, (int64_t)nz * nkx);
    turn(&l->y, l->c,
         &(struct turn){.nout = nz,
                        .nrow = nkx,
                        .from_o = (size_t)nkx * col,
                        .from_r = col,
                        .to_o = (size_t)ny * row,
                        .to_c = row},
         l->y.wave, l->y.real, l->b, l->a);
    lines_real(f, true);
}
