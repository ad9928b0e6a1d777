/* cool/exact_write: writing of the tables of cool/exact.h, also from the original model. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/mem.h"
#include "cool/exact.h"
#include "io/temp.h"

double exact_point(const struct exact_shape *s, int axis, int i)
{
    const int n[3] = {s->L, s->M, s->N};
    if (axis == 2 && s->T) return s->T[i];
    return s->low[axis] + (n[axis] > 1 ? i * (s->high[axis] - s->low[axis]) / (n[axis] - 1) : 0);
}

/* ---- the original model ---- */

/* Fills the rates of temperature index i; rates independent of metallicity are computed once. */
static void fill_row(const struct exact_shape *s, const struct uv *uv, double a, double *rate,
                     double *mu, int i)
{
    struct uv_rates shine = uv_at(uv, a);
    double measure = uv_metal_measure(uv, a), T = pow(10, exact_point(s, 2, i)), slope;
    for (int k = 0; k < s->L; k++) {
        double nH = pow(10, exact_point(s, 0, k));
        struct gas_rates g = gas_rates_of(T, nH, &shine, a);
        double metal = metal_rate(T, measure / nH, &slope);
        for (int j = 0; j < s->M; j++) {
            double Z = pow(10, exact_point(s, 1, j));
            size_t at = ((size_t)k * (size_t)s->M + (size_t)j) * (size_t)s->N + (size_t)i;
            rate[at] = (g.heat - g.cool - Z * metal) * (nH * nH) +
                       (g.compton_heat - g.compton) * nH;
            mu[at] = g.mu;
        }
    }
}

enum err exact_fill_model(const struct exact_shape *s, int k, double *rate, double *mu,
                          const void *model)
{
    const struct exact_model *m = model;
    double a = m->cosmo ? 1 / (1 + s->z[k]) : 1;
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < s->N; i++) fill_row(s, m->uv, a, rate, mu, i);
    return OK;
}

/* ---- the file ---- */

static bool put(gzFile f, const void *p, size_t bytes)
{
    for (const char *from = p; bytes > 0;) {
        unsigned part = bytes > 1 << 24 ? 1 << 24 : (unsigned)bytes;
        if (gzwrite(f, from, part) != (int)part) return false;
        from += part, bytes -= part;
    }
    return true;
}

static bool put_head(gzFile f, const struct exact_shape *s)
{
    int n[4] = {s->nz, s->L, s->M, s->N};
    double limits[7] = {s->low[0], s->high[0], s->low[1], s->high[1], s->low[2], s->high[2], 0};
    bool one = s->nz == 1, good = one ? put(f, n + 1, 12) : put(f, n, 16);
    good = good && put(f, s->z, sizeof *s->z * (size_t)s->nz);
    good = good && put(f, limits, one ? 48 : 56);
    for (int i = 0; i < s->N; i++) {
        double x = exact_point(s, 2, i);
        good = good && put(f, &x, sizeof x);
    }
    return good;
}

/* Writes the whole table; *good is false after a failed write. */
static enum err write_all(gzFile f, const struct exact_shape *s, exact_fill *fill, const void *ctx,
                          bool *good)
{
    size_t n = (size_t)s->L * (size_t)s->M * (size_t)s->N;
    double *rate = mem_new(sizeof *rate * n, "cooling table");
    double *mu = mem_new(sizeof *mu * n, "cooling table");
    enum err err = OK;
    *good = put_head(f, s);
    for (int k = 0; k < s->nz && *good && err == OK; k++) {
        err = fill(s, k, rate, mu, ctx);
        if (err == OK) *good = put(f, rate, sizeof *rate * n) && put(f, mu, sizeof *mu * n);
    }
    mem_free(rate);
    mem_free(mu);
    return err;
}

static bool ends_with(const char *path, const char *ending)
{
    size_t n = strlen(path), m = strlen(ending);
    return n > m && strcmp(path + n - m, ending) == 0;
}

enum err exact_write(const char *path, const struct exact_shape *s, exact_fill *fill,
                     const void *ctx)
{
    struct temp d;
    bool good;
    TRY(temp_create(&d, path));
    int fd = dup(d.fd);
    gzFile f = fd < 0 ? NULL : gzdopen(fd, ends_with(path, ".gz") ? "wb9" : "wbT");
    enum err err = OK;
    if (f) {
        err = write_all(f, s, fill, ctx, &good);
        if (gzclose(f) != Z_OK) good = false;
    } else {
        good = false;
        if (fd >= 0) close(fd);
    }
    if (err == OK && !good)
        err = err_set(ERR_FILE, "%s: cannot be written: %s", path, strerror(errno));
    if (err == OK) err = temp_sync(&d);
    if (err == OK) return temp_publish(&d);
    temp_drop(&d);
    return err;
}
