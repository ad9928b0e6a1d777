/* cool/exact_file: reading of the tables of cool/exact.h, and the rates between redshifts. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/mem.h"
#include "cool/exact.h"
#include "cool/exact_priv.h"
#include "io/file.h"
#include "vec/vec.h"

static size_t cells_of(const struct exact_head *h)
{
    return (size_t)h->L * (size_t)h->M * (size_t)h->N;
}

/* ---- reading ---- */

struct input {
    const char *path;
    gzFile f;
    int64_t at;
};

static enum err take(struct input *in, void *p, size_t bytes, const char *what)
{
    for (char *to = p; bytes > 0;) {
        int part = bytes > 1 << 24 ? 1 << 24 : (int)bytes, n = gzread(in->f, to, (unsigned)part);
        if (n < 0)
            FAIL(ERR_FORMAT, "%s: cannot be read after byte %lld, in its %s: %s", in->path,
                 (long long)in->at, what, gzerror(in->f, &(int){0}));
        if (n == 0)
            FAIL(ERR_FORMAT, "%s: is cut short: it ends at byte %lld, in its %s", in->path,
                 (long long)in->at, what);
        to += n;
        in->at += n;
        bytes -= (size_t)n;
    }
    return OK;
}

static enum err take_doubles(struct input *in, double *x, size_t n, const char *what)
{
    int64_t at = in->at;
    TRY(take(in, x, n * sizeof *x, what));
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i]))
            FAIL(ERR_FORMAT, "%s: %s: %g at byte %lld is out of range", in->path, what, x[i],
                 (long long)(at + 8 * (int64_t)i));
    return OK;
}

static bool shape_fits(const int n[3])
{
    return n[0] >= 1 && n[0] <= 4096 && n[1] >= 1 && n[1] <= 4096 && n[2] >= 2 && n[2] <= 65536;
}

/* Reads the header. Its first four numbers and the next double tell whether the file has one
 * redshift or several; for one redshift, the fourth number is half of the double z. */
static enum err take_head(struct input *in, struct exact_table *t, double limits[7])
{
    struct exact_head *h = &t->head;
    int n[4];
    TRY(take(in, n, sizeof n, "sizes"));
    bool many = n[0] >= 1 && n[0] <= 1000 && shape_fits(n + 1) && n[3] <= 65536;
    bool one = shape_fits(n);
    if (!many && !one)
        FAIL(ERR_FORMAT, "%s: is not a cooling table: its sizes %d, %d, %d, %d are impossible",
             in->path, n[0], n[1], n[2], n[3]);
    if (many) {
        *h = (struct exact_head){.nz = n[0], .L = n[1], .M = n[2], .N = n[3]};
        t->z = mem_new(sizeof *t->z * (size_t)h->nz, "cooling table");
        TRY(take_doubles(in, t->z, (size_t)h->nz, "redshifts"));
        return take_doubles(in, limits, 7, "limits");
    }
    *h = (struct exact_head){.nz = 1, .L = n[0], .M = n[1], .N = n[2]};
    char z[8];
    memcpy(z, &n[3], 4);
    TRY(take(in, z + 4, 4, "redshift"));
    t->z = mem_new(sizeof *t->z, "cooling table");
    memcpy(t->z, z, 8);
    limits[6] = 0;
    return take_doubles(in, limits, 6, "limits");
}

static enum err check_axes(const struct input *in, const struct exact_table *t, const double *log_T)
{
    const struct exact_head *h = &t->head;
    const char *name[] = {"densities", "metallicities"};
    int n[] = {h->L, h->M};
    for (int d = 0; d < 2; d++)
        if (n[d] > 1 && !(h->high[d] > h->low[d]))
            FAIL(ERR_FORMAT, "%s: its %s go from 10^%g to 10^%g: they must ascend", in->path,
                 name[d], h->low[d], h->high[d]);
    for (int i = 1; i < h->N; i++)
        if (!(log_T[i] > log_T[i - 1]) || fabs(log_T[i]) > 30)
            FAIL(ERR_FORMAT, "%s: temperature %d, 10^%g K, must be above the one before, 10^%g K",
                 in->path, i + 1, log_T[i], log_T[i - 1]);
    for (int i = 1; i < h->nz; i++)
        if (!(t->z[i] > t->z[i - 1]))
            FAIL(ERR_FORMAT, "%s: redshift %d, %g, must be above the one before, %g", in->path,
                 i + 1, t->z[i], t->z[i - 1]);
    return OK;
}

/* Converts net rates to cooling per n_H², and checks that T/mu rises with T. */
static enum err check_column(const struct input *in, struct exact_table *t, size_t at, double nH)
{
    for (int i = 0; i < t->head.N; i++) {
        double *rate = &t->rate[at + (size_t)i], *mu = &t->mu[at + (size_t)i];
        *rate = -*rate / (nH * nH);
        if (!(*mu > 0.1 && *mu < 10))
            FAIL(ERR_FORMAT,
                 "%s: has a mean molecular weight of %g, which is not between 0.1 and 10", in->path,
                 *mu);
        if (i > 0 && !(t->T[i] / mu[0] > t->T[i - 1] / mu[-1]))
            FAIL(ERR_FORMAT, "%s: T/mu must increase with T, but decreases at %g K and n_H=%g",
                 in->path, t->T[i], nH);
    }
    return OK;
}

static enum err take_rates(struct input *in, struct exact_table *t)
{
    const struct exact_head *h = &t->head;
    size_t cells = cells_of(h);
    double step = h->L > 1 ? (h->high[0] - h->low[0]) / (h->L - 1) : 0;
    for (int k = 0; k < h->nz; k++) {
        TRY(take_doubles(in, t->rate + (size_t)k * cells, cells, "rates"));
        TRY(take_doubles(in, t->mu + (size_t)k * cells, cells, "molecular weights"));
        for (int i = 0; i < h->L * h->M; i++)
            TRY(check_column(in, t, (size_t)k * cells + (size_t)i * (size_t)h->N,
                             pow(10, h->low[0] + step * (i / h->M))));
    }
    char more;
    int n = gzread(in->f, &more, 1);
    if (n < 0) FAIL(ERR_FORMAT, "%s: is damaged: %s", in->path, gzerror(in->f, &(int){0}));
    if (n > 0)
        FAIL(ERR_FORMAT, "%s: is longer than expected from its sizes (%d x %d x %d x %d)", in->path,
             h->nz, h->L, h->M, h->N);
    return OK;
}

static enum err read_open(struct input *in, struct exact_table *t)
{
    double limits[7], *log_T;
    enum err err = OK;
    TRY(take_head(in, t, limits));
    struct exact_head *h = &t->head;
    size_t cells = cells_of(h), n = cells * (size_t)h->nz;
    if (n > (size_t)1 << 28)
        FAIL(ERR_FORMAT, "%s: has %d x %d x %d x %d rates; this program reads at most 2^28",
             in->path, h->nz, h->L, h->M, h->N);
    for (int d = 0; d < 3; d++) h->low[d] = limits[2 * d], h->high[d] = limits[2 * d + 1];
    t->T = log_T = mem_new(sizeof *t->T * (size_t)h->N, "cooling table");
    TRY(take_doubles(in, log_T, (size_t)h->N, "temperatures"));
    TRY(check_axes(in, t, log_T));
    for (int i = 0; i < h->N; i++) t->T[i] = pow(10, log_T[i]);
    t->rate = mem_new(sizeof *t->rate * n, "cooling table");
    t->mu = mem_new(sizeof *t->mu * n, "cooling table");
    t->now_rate = mem_new(sizeof *t->rate * cells, "cooling table");
    t->now_mu = mem_new(sizeof *t->mu * cells, "cooling table");
    t->z_now = NAN;
    t->ratio_of = -1;
    TRY_OUT(take_rates(in, t));
out:
    return err;
}

enum err exact_read(const char *path, struct exact_table **out)
{
    *out = NULL;
    int fd;
    int64_t size;
    TRY(file_open(path, &fd, &size));
    struct input in = {.path = path, .f = gzdopen(fd, "rb")};
    if (!in.f) {
        close(fd);
        FAIL(ERR_LIMIT, "%s: out of memory while decompressing it", path);
    }
    struct exact_table *t = mem_zero(sizeof *t, "cooling table");
    enum err err = read_open(&in, t);
    gzclose(in.f);
    if (err == OK)
        *out = t;
    else
        exact_free(t);
    return err;
}

void exact_free(struct exact_table *t)
{
    if (!t) return;
    mem_free(t->z);
    mem_free(t->T);
    mem_free(t->rate);
    mem_free(t->mu);
    mem_free(t->now_rate);
    mem_free(t->now_mu);
    mem_free(t->ratio);
    mem_free(t);
}

static void ratios_make(struct exact_table *t, int k)
{
    size_t cells = cells_of(&t->head);
    const double *r0 = t->rate + (size_t)k * cells, *r1 = r0 + cells;
    if (!t->ratio) t->ratio = mem_new(sizeof *t->ratio * cells, "cooling table");
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < cells; i++) {
        bool one_sign = (r0[i] > 0 && r1[i] > 0) || (r0[i] < 0 && r1[i] < 0);
        double ratio = one_sign ? log2(r1[i] / r0[i]) : NAN;
        t->ratio[i] = fabs(ratio) < 900 ? ratio : NAN;
    }
    t->ratio_of = k;
}

/* Interpolates up to VEC rates from index i on, at fraction f in z and w in log(1+z). */
static void rates_between(struct exact_table *t, size_t i, double f, double w)
{
    size_t cells = cells_of(&t->head), n = cells - i < VEC ? cells - i : VEC, bytes = n * sizeof f;
    const double *from = t->rate + (size_t)t->ratio_of * cells + i;
    double r0[VEC] = {0}, r1[VEC] = {0}, ratio[VEC] = {0};
    memcpy(r0, from, bytes);
    memcpy(r1, from + cells, bytes);
    memcpy(ratio, t->ratio + i, bytes);
    vec a = vec_load(r0), x = vec_load(ratio), line = (1 - f) * a + f * vec_load(r1);
    vec_bits one_sign = (vec_bits)(x == x);
    vec_store(r0, vec_pick(one_sign, a * vec_exp2(w * vec_pick(one_sign, x, vec_of(0))), line));
    memcpy(t->now_rate + i, r0, bytes);
}

/* Rates vary as a power of 1+z where both redshifts have one sign, like Compton heating ∝ (1+z)^5
 * and cooling ∝ (1+z)^4, and linearly in z elsewhere. */
void exact_set(struct exact_table *t, double z)
{
    size_t cells = cells_of(&t->head);
    int k = 0, last = t->head.nz - 1;
    z = fmin(fmax(z, t->z[0]), t->z[last]);
    if (t->z_now == z) return;
    while (k < last - 1 && t->z[k + 1] <= z) k++;
    const double *m0 = t->mu + (size_t)k * cells, *m1 = last > 0 ? m0 + cells : m0;
    double f = last > 0 ? (z - t->z[k]) / (t->z[k + 1] - t->z[k]) : 0;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < cells; i++) t->now_mu[i] = (1 - f) * m0[i] + f * m1[i];
    if (last == 0) {
        memcpy(t->now_rate, t->rate, cells * sizeof *t->rate);
    } else {
        double w = log((1 + z) / (1 + t->z[k])) / log((1 + t->z[k + 1]) / (1 + t->z[k]));
        if (t->ratio_of != k) ratios_make(t, k);
#pragma omp parallel for schedule(static)
        for (size_t i = 0; i < cells; i += VEC) rates_between(t, i, f, w);
    }
    t->z_now = z;
}
