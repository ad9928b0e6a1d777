#include "cosmo/response.h"

#include <math.h>

#include "base/mem.h"
#include "io/table.h"

enum { SIDE_MAX = 100000, BYTES_MAX = 256 << 20 };

struct response {
    int nk, na;
    double *lnk, *lna, *r; /* axes and [nk][na] response */
};

static enum err next_count(struct table *t, const char *what, int *out)
{
    double n;
    TRY(table_flow(t, what, &n));
    if (n < 1 || n > SIDE_MAX || n != floor(n))
        FAIL(ERR_FORMAT, "%s: line %ld: %g is not %s", t->path, (long)table_line(t), n, what);
    *out = (int)n;
    return OK;
}

/* Reads n ascending positive numbers and takes their logarithms. */
static enum err next_axis(struct table *t, const char *what, int n, double *ln)
{
    for (int i = 0; i < n; i++) {
        double x;
        TRY(table_flow(t, what, &x));
        if (!(x > 0))
            FAIL(ERR_FORMAT, "%s: line %ld: %s %g is not above 0", t->path, (long)table_line(t),
                 what, x);
        ln[i] = log(x);
        if (i > 0 && !(ln[i] > ln[i - 1]))
            FAIL(ERR_FORMAT, "%s: line %ld: %s is not ascending", t->path, (long)table_line(t),
                 what);
    }
    return OK;
}

static enum err parse(struct table *t, struct response *r)
{
    TRY(next_count(t, "a number of wave numbers", &r->nk));
    TRY(next_count(t, "a number of scale factors", &r->na));
    if ((double)r->nk * r->na > 1e7)
        FAIL(ERR_LIMIT, "%s: has %d × %d values, more than 10 million", t->path, r->nk, r->na);
    TRY(table_holds(t, (double)r->nk * r->na));
    r->lnk = mem_new(sizeof(double) * (size_t)r->nk, "response");
    r->lna = mem_new(sizeof(double) * (size_t)r->na, "response");
    r->r = mem_new(sizeof(double) * (size_t)r->nk * (size_t)r->na, "response");
    TRY(next_axis(t, "a wave number", r->nk, r->lnk));
    TRY(next_axis(t, "a scale factor", r->na, r->lna));
    for (int i = 0; i < r->nk * r->na; i++) TRY(table_flow(t, "a response", &r->r[i]));
    return table_over(t, "the last response");
}

enum err response_read(const char *path, struct response **out)
{
    struct table t;
    *out = NULL;
    TRY(table_open(&t, path, TABLE_NOTES, BYTES_MAX));
    struct response *r = mem_zero(sizeof *r, "response");
    enum err err = parse(&t, r);
    table_close(&t);
    if (err != OK) response_free(&r);
    *out = r;
    return err;
}

void response_free(struct response **r)
{
    if (!*r) return;
    FREE((*r)->lnk);
    FREE((*r)->lna);
    FREE((*r)->r);
    FREE(*r);
}

/* Index of the interval that contains x; *part: fraction of the interval, 0..1. */
static int find(const double *axis, int n, double x, double *part)
{
    int lo = 0, hi = n - 1;
    *part = 0;
    if (n == 1 || x <= axis[0]) return 0;
    while (hi - lo > 1) {
        int mid = (lo + hi) / 2;
        if (axis[mid] <= x)
            lo = mid;
        else
            hi = mid;
    }
    *part = fmin((x - axis[lo]) / (axis[hi] - axis[lo]), 1);
    return lo;
}

double response_at(const struct response *r, double k, double a)
{
    double p, q;
    int i = find(r->lnk, r->nk, log(k), &p), j = find(r->lna, r->na, log(a), &q);
    int i1 = i + 1 < r->nk ? i + 1 : i, j1 = j + 1 < r->na ? j + 1 : j;
    const double *lo = r->r + (size_t)i * (size_t)r->na, *hi = r->r + (size_t)i1 * (size_t)r->na;
    return (1 - p) * ((1 - q) * lo[j] + q * lo[j1]) + p * ((1 - q) * hi[j] + q * hi[j1]);
}
