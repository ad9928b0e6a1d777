/* fft/box: see box.h. All lines of a length are transformed in one buffer by one plan of FFTW. */
#include "fft/box.h"

#include <fftw3.h>
#include <string.h>

#include "base/mem.h"

struct fft_box_plans {
    const struct comm *c;
    double *line;         /* buffer of a line of real numbers */
    double complex *wave; /* buffer of a line of complex ones */
    fftw_plan x, y, z;
    int64_t *count, *from; /* [size] numbers to and from each rank */
};

static int64_t part(int64_t n, int rank, int size)
{
    return n * rank / size;
}

struct fft_box *fft_box_new(const struct comm *c, const int64_t n[3])
{
    struct fft_box *f = mem_zero(sizeof *f, "fft plan");
    struct fft_box_plans *p = f->plans = mem_zero(sizeof *p, "fft plan");
    const unsigned how = FFTW_ESTIMATE; /* no measurement, since bits must not depend on timings */
    int64_t most = n[0];
    for (int d = 0; d < 3; d++) f->n[d] = n[d], most = n[d] > most ? n[d] : most;
    for (int i = 0; i < 2; i++) {
        f->z[i] = part(n[2], c->rank + i, c->size);
        f->y[i] = part(n[1], c->rank + i, c->size);
    }
    const int64_t nk = n[0] / 2 + 1;
    f->r = mem_zero(sizeof *f->r * (size_t)((f->z[1] - f->z[0]) * n[1] * n[0]) + 8, "fft");
    f->k = mem_zero(sizeof *f->k * (size_t)((f->y[1] - f->y[0]) * nk * n[2]) + 16, "fft");
    p->c = c;
    p->line = mem_zero(sizeof *p->line * (size_t)(n[0] + 2), "fft plan");
    p->wave = mem_zero(sizeof *p->wave * (size_t)(most + 2), "fft plan");
    p->count = mem_zero(2 * sizeof *p->count * (size_t)c->size, "fft plan");
    p->from = p->count + c->size;
    p->x = fftw_plan_dft_r2c_1d((int)n[0], p->line, p->wave, how);
    p->y = fftw_plan_dft_1d((int)n[1], p->wave, p->wave, FFTW_FORWARD, how);
    p->z = fftw_plan_dft_1d((int)n[2], p->wave, p->wave, FFTW_FORWARD, how);
    BUG_ON(!p->x || !p->y || !p->z);
    return f;
}

void fft_box_free(struct fft_box **f)
{
    struct fft_box_plans *p = *f ? (*f)->plans : NULL;
    if (!p) return;
    fftw_destroy_plan(p->x);
    fftw_destroy_plan(p->y);
    fftw_destroy_plan(p->z);
    FREE(p->line);
    FREE(p->wave);
    FREE(p->count);
    FREE((*f)->r);
    FREE((*f)->k);
    FREE((*f)->plans);
    FREE(*f);
}

/* Transforms a plane along x and y: out[ny][nk]. */
static void transform_plane(struct fft_box *f, const double *in, double complex *out)
{
    const struct fft_box_plans *p = f->plans;
    const int64_t nx = f->n[0], ny = f->n[1], nk = nx / 2 + 1;
    for (int64_t y = 0; y < ny; y++) {
        memcpy(p->line, in + y * nx, sizeof *in * (size_t)nx);
        fftw_execute(p->x);
        memcpy(out + y * nk, p->wave, sizeof *out * (size_t)nk);
    }
    for (int64_t k = 0; k < nk; k++) {
        for (int64_t y = 0; y < ny; y++) p->wave[y] = out[y * nk + k];
        fftw_execute(p->y);
        for (int64_t y = 0; y < ny; y++) out[y * nk + k] = p->wave[y];
    }
}

/* Packs the own planes for each rank: [rank][its ky][nk][own z]. */
static double complex *pack(struct fft_box *f)
{
    const struct fft_box_plans *p = f->plans;
    const int64_t ny = f->n[1], nk = f->n[0] / 2 + 1, nz = f->z[1] - f->z[0];
    double complex *send = mem_new(sizeof *send * (size_t)(nz * ny * nk) + 16, "fft"),
                   *plane = mem_new(sizeof *plane * (size_t)(ny * nk), "fft");
    for (int r = 0; r < p->c->size; r++)
        p->count[r] = (part(ny, r + 1, p->c->size) - part(ny, r, p->c->size)) * nk * nz;
    for (int64_t z = 0; z < nz; z++) {
        transform_plane(f, f->r + z * ny * f->n[0], plane);
        for (int64_t i = 0; i < ny * nk; i++) send[i * nz + z] = plane[i];
    }
    FREE(plane);
    return send;
}

void fft_box_forward(struct fft_box *f)
{
    const struct fft_box_plans *p = f->plans;
    const int64_t lines = (f->y[1] - f->y[0]) * (f->n[0] / 2 + 1), nz = f->n[2];
    int64_t got, at = 0;
    double complex *send = pack(f);
    double complex *all = comm_exchange_all(p->c, send, p->count, sizeof *all, &got, p->from);
    BUG_ON(got != lines * nz);
    FREE(send);
    for (int r = 0; r < p->c->size; r++) { /* [lines][planes of the rank] */
        const int64_t z0 = part(nz, r, p->c->size), n = part(nz, r + 1, p->c->size) - z0;
        for (int64_t i = 0; i < lines * n; i++) f->k[i / n * nz + z0 + i % n] = all[at + i];
        at += lines * n;
    }
    FREE(all);
    for (int64_t i = 0; i < lines; i++) {
        memcpy(p->wave, f->k + i * nz, sizeof *f->k * (size_t)nz);
        fftw_execute(p->z);
        memcpy(f->k + i * nz, p->wave, sizeof *f->k * (size_t)nz);
    }
}
