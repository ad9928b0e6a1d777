/* Laws of dumps of Phantom (sphfile/phantom): a dump of either byte order and precision that is
 * read and written is the same byte for byte; particles become a dump and particles again, exact
 * but for h, alpha and div v, which are of single precision; every cut file and every number that
 * makes no sense is reported by a sentence with file and place. Last line: N passed, N failed.
 *
 * Examples of faults caught: bytes of i1 swapped, tags in the order of our columns, types of
 * particles that share a mass by chance, a dead particle that lives again.
 *
 * test: tier=quick */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/rng.h"
#include "check.h"
#include "io/file.h"
#include "sphfile/phantom.h"

static char home[512], first[600], second[600];

enum { N = 200 };

static double number(int64_t i, int column)
{
    return (double)(rng_mix((uint64_t)(i * 64 + column)) >> 40) / 1e5 + 0.5;
}

static struct smooth make(bool boundary)
{
    struct smooth p = {0};
    smooth_reserve(&p, N);
    p.n = N;
    for (int64_t i = 0; i < N; i++) {
        for (int c = 0; c < SMOOTH_COLUMNS; c++)
            if (smooth_row[c].type == 'd')
                ((double *)*smooth_at(&p, (enum smooth_column)c))[i] = number(i, c);
        p.id[i] = 3 * i + 100;
        p.type[i] = boundary && i % 7 == 0 ? SMOOTH_BOUNDARY : SMOOTH_GAS;
    }
    return p;
}

static double SINK[2 * 8] = {1, 2, 3, 4, 5, 6, 7, 0.5, 8, 9, 10, 11, 12, 13, 14, 0.25};
static const char *const SINK_COLUMN[] = {"m", "x", "y", "z", "vx", "vy", "vz", "racc"};

static struct sphfile_head head_of(const struct smooth_par *par, bool sinks)
{
    struct sphfile_head h = {.t = 1.25, .n = N, .sink_width = 8, .sink = SINK};
    h.nsink = sinks ? 2 : 0, h.sink_column = SINK_COLUMN;
    sphfile_set_par(&h, par, (double[3]){-1, -2, -3}, (double[3]){200, 400, 600}, true);
    sphfile_set(&h, "udist", 1.5e13);
    return h;
}

static struct smooth_par par_of(void)
{
    return (struct smooth_par){.eta = 1.2,
                               .mass = 0.01,
                               .h_tol = 1e-8,
                               .gamma = 1.4,
                               .alpha_switch = SMOOTH_CD10,
                               .alpha_max = 1,
                               .beta = 2,
                               .alpha_u = 1,
                               .sigma = 0.1,
                               .shock_heating = true,
                               .pdv_heating = true};
}

static struct phantom *dump_of(bool boundary, bool sinks)
{
    const struct smooth_par par = par_of();
    const struct sphfile_head h = head_of(&par, sinks);
    struct smooth p = make(boundary);
    struct phantom *d = NULL;
    enum err err = phantom_of(&h, &par, &p, &d);
    CHECK(err == OK, "%s", err_message());
    smooth_free(&p);
    return d;
}

static char *load(const char *path, size_t *n)
{
    char *text = NULL;
    enum err err = file_load(path, 1 << 28, &text, n);
    CHECK(err == OK, "%s", err_message());
    return text;
}

/* ---- laws ---- */

static void rewrite(const char *what, const struct phantom *made)
{
    struct phantom *d = NULL;
    size_t a = 0, b = 0;
    enum err err = phantom_read(first, &d);
    if (err == OK) err = phantom_write(second, d);
    CHECK(err == OK && phantom_is(first), "%s: %s", what, err_message());
    char *p = load(first, &a), *q = load(second, &b);
    CHECK(a == b && a > 0 && memcmp(p, q, a) == 0, "%s: %zu and %zu bytes", what, a, b);
    CHECK(d && d->swap == made->swap && d->real_bytes == made->real_bytes, "%s: form", what);
    phantom_free(&d);
    FREE(p);
    FREE(q);
}

/* In single precision, the bytes of reals are those of floats. */
static void narrow(struct phantom *d)
{
    d->real_bytes = 4;
    d->id[0] = 'S';
    for (int b = 0; b < d->nblock; b++)
        for (int i = 0; i < d->block[b].narray; i++) {
            struct phantom_array *a = &d->block[b].array[i];
            double *x = a->data;
            float *y = a->data;
            for (int64_t k = 0; a->kind == PHANTOM_REAL && k < d->block[b].n; k++)
                y[k] = (float)x[k];
        }
    for (int i = 0; i < d->nnumber; i++)
        if (d->number[i].kind == PHANTOM_REAL) d->number[i].real = (float)d->number[i].real;
}

static void test_rewrite(void)
{
    for (int k = 0; k < 8; k++) {
        struct phantom *d = dump_of(k & 1, k & 1);
        char what[40];
        snprintf(what, sizeof what, "variant %d", k);
        if (k & 2) narrow(d);
        d->swap = k & 4;
        enum err err = phantom_write(first, d);
        CHECK(err == OK, "%s", err_message());
        rewrite(what, d);
        phantom_free(&d);
    }
}

static void test_particles(void)
{
    const struct smooth_par was = par_of();
    struct smooth p = make(true), q = {0};
    struct phantom *made = dump_of(true, true), *d = NULL;
    struct sphfile_head h;
    struct smooth_par par;
    double lo[3], side[3], x;
    bool periodic;
    int bad = 0;
    made->swap = true;
    enum err err = phantom_write(first, made);
    if (err == OK) err = phantom_read(first, &d);
    if (err == OK) err = phantom_particles(d, &h, &par, &q);
    CHECK(err == OK && q.n == N && h.n == N && h.t == 1.25, "%s", err_message());
    for (int64_t i = 0; i < q.n; i++) {
        bad += q.id[i] != p.id[i] || q.type[i] != p.type[i] || q.u[i] != p.u[i];
        for (int k = 0; k < 3; k++)
            bad += q.x[k][i] != p.x[k][i] || q.v[k][i] != p.v[k][i] || q.a[k][i] != 0;
        bad += q.h[i] != (float)p.h[i] || q.alpha[i] != (float)p.alpha[i] ||
               q.divv[i] != (float)p.divv[i];
    }
    CHECK(bad == 0, "%d values differ", bad);
    CHECK(par.kernel == SMOOTH_M4 && par.mass == was.mass && par.gamma == was.gamma &&
              par.h_tol == was.h_tol && par.eta == was.eta,
          "parameters");
    err = sphfile_get_par(&h, "x", &par, lo, side, &periodic);
    CHECK(err == OK && par.mass == was.mass && lo[2] == -3 && side[1] == 400 && periodic, "%s",
          err_message());
    CHECK(sphfile_get(&h, "udist", &x) && x == 1.5e13 && sphfile_get(&h, "fresh", &x) && x == 1,
          "keys");
    CHECK(h.nsink == 2 && strcmp(h.sink_column[0], "m") == 0 && h.sink[h.sink_width] == 8 &&
              strcmp(h.sink_column[10], "racc") == 0 && h.sink[10] == 0.5,
          "sinks");
    mem_free(h.sink);
    phantom_free(&made);
    phantom_free(&d);
    smooth_free(&p);
    smooth_free(&q);
}

/* ---- damage ---- */

static enum err read_all(void)
{
    struct phantom *d = NULL;
    struct sphfile_head h;
    struct smooth_par par;
    struct smooth p = {0};
    TRY(phantom_read(first, &d));
    enum err err = phantom_particles(d, &h, &par, &p);
    if (err == OK) mem_free(h.sink);
    phantom_free(&d);
    smooth_free(&p);
    return err;
}

static void store(const char *p, size_t n)
{
    int fd;
    unlink(first);
    enum err err = file_create(first, &fd);
    if (err == OK) err = file_write_at(fd, first, p, n, 0);
    if (err == OK) close(fd);
    CHECK(err == OK, "%s", err_message());
}

/* A file cut anywhere is refused, in either byte order. */
static void test_cut(void)
{
    for (int swap = 0; swap < 2; swap++) {
        struct phantom *d = dump_of(true, true);
        size_t n;
        int accepted = 0, mute = 0;
        d->swap = swap;
        enum err err = phantom_write(first, d);
        CHECK(err == OK, "%s", err_message());
        char *p = load(first, &n);
        for (size_t k = 0; k < n; k += k < 4000 ? 1 : 509) {
            store(p, k);
            err = read_all();
            accepted += err == OK;
            mute += err != OK && !strstr(err_message(), first);
        }
        CHECK(accepted == 0 && mute == 0, "%d cut files accepted, %d not named", accepted, mute);
        for (int k = 0; k < 500; k++) { /* whatever a bit says, reading ends */
            const size_t at = (size_t)(rng_mix((uint64_t)k) % (n < 6000 ? n : 6000));
            p[at] = (char)(p[at] ^ (1 << k % 8));
            store(p, n);
            err = read_all();
            CHECK(err == OK || strstr(err_message(), first), "%s", err_message());
            p[at] = (char)(p[at] ^ (1 << k % 8));
        }
        FREE(p);
        phantom_free(&d);
    }
}

static struct phantom_array *array_of(struct phantom *d, const char *tag)
{
    for (int i = 0; i < d->block[0].narray; i++)
        if (strcmp(d->block[0].array[i].tag, tag) == 0) return &d->block[0].array[i];
    CHECK(false, "no array %s", tag);
    return NULL;
}

static void put_header(struct phantom *d, const char *tag, int place, double x)
{
    for (int i = 0; i < d->nnumber; i++)
        if (strcmp(d->number[i].tag, tag) == 0 && place-- == 0)
            d->number[i].real = x, d->number[i].integer = (int64_t)x;
}

static void spoil(struct phantom *d, int which)
{
    double *x = array_of(d, "x")->data;
    float *h = array_of(d, "h")->data;
    int8_t *type = array_of(d, "itype")->data;
    if (which == 0) x[4] = NAN;
    if (which == 1) h[5] = 0;
    if (which == 2) type[6] = 4;
    if (which == 3) put_header(d, "nparttot", 1, N + 1);
    if (which == 4) put_header(d, "npartoftype", 8, 1);
    if (which == 5) put_header(d, "massoftype", 2, 0.02);
    if (which == 6) put_header(d, "massoftype", 0, -1);
    if (which == 7) put_header(d, "gamma", 0, NAN);
    if (which == 8) put_header(d, "xmax", 0, -1);
    if (which == 9) put_header(d, "ieos", 0, 9);
    if (which == 10) array_of(d, "u")->tag[0] = 'w';
    if (which == 11) array_of(d, "u")->tag[0] = 7;
    if (which == 12) d->id[1] = ' ';
    if (which == 13) d->version = 3;
    if (which == 14) array_of(d, "vz")->tag[1] = 'w';
}

static void test_values(void)
{
    static const char *const SAY[] = {"(x) at byte ",
                                      "value 6 is 0, expected a positive number",
                                      "value 7 is 4, expected 1 (gas)",
                                      "nparttot 201, but the first block 200",
                                      "npartoftype of the header add up to",
                                      "masses 0.02 and 0.01",
                                      "massoftype -1",
                                      "gamma nan",
                                      "the box has no size",
                                      "equation of state 9",
                                      "has no array u",
                                      "is not printable",
                                      "without tags",
                                      "the version is 3",
                                      "has no array vz"};
    for (int k = 0; k < (int)(sizeof SAY / sizeof *SAY); k++) {
        struct phantom *d = dump_of(true, false);
        spoil(d, k);
        enum err err = phantom_write(first, d);
        CHECK(err == OK, "%s", err_message());
        CHECK_FAILS(read_all(), SAY[k]);
        phantom_free(&d);
    }
}

/* Counts that would need more memory than the file has bytes; a split record. */
static void test_counts(void)
{
    struct phantom *d = dump_of(false, false);
    const int32_t absurd[] = {-1, INT32_MAX, 1 << 24};
    size_t n;
    enum err err = phantom_write(first, d);
    CHECK(err == OK, "%s", err_message());
    char *p = load(first, &n);
    const size_t count = 32 + 108 + 4; /* the number of default ints */
    for (int k = 0; k < 3; k++) {
        int32_t was;
        memcpy(&was, p + count, 4);
        memcpy(p + count, &absurd[k], 4);
        store(p, n);
        CHECK_FAILS(read_all(), "(numbers of the header) at byte 140 is");
        memcpy(p + count, &was, 4);
    }
    char *split = mem_zero(n + 8, "test"); /* the identity, in two parts of 50 */
    const int32_t part[2] = {-50, 50}, end[2] = {50, -50};
    memcpy(split, p, 32);
    memcpy(split + 32, &part[0], 4);
    memcpy(split + 36, p + 36, 50);
    memcpy(split + 86, &end[0], 4);
    memcpy(split + 90, &part[1], 4);
    memcpy(split + 94, p + 86, 50);
    memcpy(split + 144, &end[1], 4);
    memcpy(split + 148, p + 140, n - 140);
    store(split, n + 8);
    CHECK_FAILS(read_all(), "record 2 (identity) at byte 32 is split into sub-records");
    FREE(split);
    FREE(p);
    phantom_free(&d);
}

/* Dead particles are left out; those that wait count. */
static void test_dead(void)
{
    struct phantom *d = dump_of(true, false);
    struct sphfile_head h;
    struct smooth_par par;
    struct smooth p = {0};
    ((float *)array_of(d, "h")->data)[3] = -1;
    ((int8_t *)array_of(d, "itype")->data)[4] = -1;
    enum err err = phantom_particles(d, &h, &par, &p);
    CHECK(err == OK && p.n == N - 1 && p.id[3] == 3 * 4 + 100 && p.type[3] == SMOOTH_GAS, "%s",
          err_message());
    smooth_free(&p);
    phantom_free(&d);
}

/* A dump without particles: an array of another type has no value that a message could show. */
static void test_empty(void)
{
    struct phantom *d = dump_of(true, false);
    struct sphfile_head h;
    struct smooth_par par;
    struct smooth p = {0};
    for (int i = 0; i < N; i++) ((float *)array_of(d, "h")->data)[i] = -1;
    CHECK_FAILS(phantom_particles(d, &h, &par, &p), "all its particles are dead");
    d->block[0].n = 0;
    array_of(d, "u")->kind = PHANTOM_I8;
    CHECK_FAILS(phantom_particles(d, &h, &par, &p), "has no particles");
    smooth_free(&p);
    phantom_free(&d);
}

int main(void)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(home, sizeof home, "%.200s/phantom_test.XXXXXX", tmp ? tmp : "/tmp");
    CHECK(mkdtemp(home) != NULL, "no folder");
    snprintf(first, sizeof first, "%s/first", home);
    snprintf(second, sizeof second, "%s/second", home);
    test_rewrite();
    test_particles();
    test_cut();
    test_values();
    test_counts();
    test_dead();
    test_empty();
    unlink(first);
    unlink(second);
    rmdir(home);
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
