/* cosmo/response: see response.h. */
#include "cosmo/response.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { SIDE_MAX = 100000, SIZE_MAX_MIB = 256 };

struct response {
    int nk, na;
    double *lnk, *lna, *r; /* r[nk][na] */
};

/* Numbers of a text; comments are skipped. */
struct numbers {
    const char *path, *at;
    int line;
};

static void skip_blanks(struct numbers *t)
{
    for (;; t->at++) {
        if (*t->at == '#') t->at += strcspn(t->at, "\n");
        if (*t->at == '\n')
            t->line++;
        else if (!*t->at || !strchr(" \t\r,", *t->at))
            return;
    }
}

/* How much of what is there to quote: a word. */
static int word(const struct numbers *t)
{
    size_t n = strcspn(t->at, " \t\r\n,#");
    return n < 20 ? (int)n : 20;
}

static enum err next_number(struct numbers *t, const char *what, double *out)
{
    char *end;
    skip_blanks(t);
    if (!*t->at)
        FAIL(ERR_FORMAT, "%s: ends in line %d where %s should follow", t->path, t->line, what);
    *out = strtod(t->at, &end);
    if (end == t->at || !isfinite(*out))
        FAIL(ERR_FORMAT, "%s: line %d: '%.*s' is not %s", t->path, t->line, word(t), t->at, what);
    t->at = end;
    return OK;
}

static enum err next_count(struct numbers *t, const char *what, int *out)
{
    double n;
    TRY(next_number(t, what, &n));
    if (n < 1 || n > SIDE_MAX || n != floor(n))
        FAIL(ERR_FORMAT, "%s: line %d: %g is not %s", t->path, t->line, n, what);
    *out = (int)n;
    return OK;
}

/* n ascending numbers above 0, as logarithms. */
static enum err next_axis(struct numbers *t, const char *what, int n, double *ln)
{
    for (int i = 0; i < n; i++) {
        double x;
        TRY(next_number(t, what, &x));
        if (!(x > 0))
            FAIL(ERR_FORMAT, "%s: line %d: %s %g is not above 0", t->path, t->line, what, x);
        ln[i] = log(x);
        if (i > 0 && !(ln[i] > ln[i - 1]))
            FAIL(ERR_FORMAT, "%s: line %d: %s is not ascending", t->path, t->line, what);
    }
    return OK;
}

static enum err parse(struct numbers *t, struct response *r)
{
    TRY(next_count(t, "a number of wave numbers", &r->nk));
    TRY(next_count(t, "a number of scale factors", &r->na));
    if ((double)r->nk * r->na > 1e7)
        FAIL(ERR_LIMIT, "%s: has %d × %d values, more than 10 million", t->path, r->nk, r->na);
    r->lnk = mem_new(sizeof(double) * (size_t)r->nk, "response");
    r->lna = mem_new(sizeof(double) * (size_t)r->na, "response");
    r->r = mem_new(sizeof(double) * (size_t)r->nk * (size_t)r->na, "response");
    TRY(next_axis(t, "a wave number", r->nk, r->lnk));
    TRY(next_axis(t, "a scale factor", r->na, r->lna));
    for (int i = 0; i < r->nk * r->na; i++) TRY(next_number(t, "a response", &r->r[i]));
    skip_blanks(t);
    if (*t->at)
        FAIL(ERR_FORMAT, "%s: line %d: '%.*s' is beyond the %d × %d values", t->path, t->line,
             word(t), t->at, r->nk, r->na);
    return OK;
}

static enum err load(FILE *f, const char *path, char **text)
{
    long size = fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
    if (size < 0 || size > SIZE_MAX_MIB * 1048576L)
        FAIL(ERR_FILE,
             "%s: is not a regular file of at most %d MiB: give a table of the neutrino response",
             path, SIZE_MAX_MIB);
    *text = mem_zero((size_t)size + 1, "response");
    rewind(f);
    if (fread(*text, 1, (size_t)size, f) != (size_t)size)
        FAIL(ERR_FILE, "%s: cannot be read: %s", path, strerror(errno));
    return OK;
}

enum err response_read(const char *path, struct response **out)
{
    char *text = NULL;
    *out = NULL;
    FILE *f = fopen(path, "r");
    if (!f) FAIL(ERR_FILE, "%s: cannot be opened: %s", path, strerror(errno));
    struct response *r = mem_zero(sizeof *r, "response");
    enum err err = load(f, path, &text);
    fclose(f); /* read only */
    if (err == OK) err = parse(&(struct numbers){.path = path, .at = text, .line = 1}, r);
    FREE(text);
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

/* The interval of x and how far into it, 0..1. */
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
