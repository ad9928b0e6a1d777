/* io/grafic: see grafic.h. Records have a known length, hence a known offset for pread; the markers
 * around each are checked when it is read. */
#include "io/grafic.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/file.h"

enum { HEAD_INTS = 3, HEAD_REALS = 8, HEAD_MAX = 4 * (HEAD_INTS + HEAD_REALS + 1) };
enum { MARK = 4, SIDE_MAX = 65536 };
static const int64_t PLANE_MAX = 2147483639; /* longer records would be split by Fortran */

static enum err open_checked(struct grafic *f, bool cosmo);
static enum err read_head(struct grafic *f);
static void take_reals(struct grafic_head *h, const float *real, bool baryons);
static enum err check_head(const struct grafic *f, bool baryons, bool cosmo);
static enum err check_cosmology(const struct grafic *f);
static enum err check_size(struct grafic *f, int64_t size);
static enum err check_real(const struct grafic *f);
static enum err check_marks(const struct grafic *f, int64_t k);
static enum err check_finite(const struct grafic *f, int64_t k, int64_t j0, const float *v,
                             int64_t n);
static void swap4(void *p, int64_t n);
static void swap8(void *p, int64_t n);

bool grafic_exists(const char *dir, const char *name)
{
    char path[4096];
    struct stat st;
    int n = snprintf(path, sizeof path, "%s/%s", dir, name);
    return n < (int)sizeof path && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

enum err grafic_open(struct grafic *f, const char *dir, const char *name, bool cosmo)
{
    size_t size = strlen(dir) + strlen(name) + 2;
    *f = (struct grafic){.path = mem_new(size, "file names"), .fd = -1};
    snprintf(f->path, size, "%s/%s", dir, name);
    enum err err = open_checked(f, cosmo);
    if (err != OK) grafic_close(f);
    return err;
}

void grafic_close(struct grafic *f)
{
    if (f->fd >= 0) close(f->fd); /* read only: errors of close do not matter */
    f->fd = -1;
    FREE(f->path);
}

static int64_t plane_bytes(const struct grafic *f)
{
    return (int64_t)f->head.n[0] * f->head.n[1] * f->width;
}

/* Offset of the first value of plane k. */
static int64_t plane_at(const struct grafic *f, int64_t k)
{
    return f->start + k * (plane_bytes(f) + 2 * MARK) + MARK;
}

enum err grafic_read_planes(const struct grafic *f, int64_t k0, int64_t nk, float *out)
{
    BUG_ON(k0 < 0 || nk < 0 || k0 + nk > f->head.n[2]);
    TRY(check_real(f));
    int64_t n = (int64_t)f->head.n[0] * f->head.n[1];
    for (int64_t k = k0; k < k0 + nk; k++, out += n) {
        TRY(check_marks(f, k));
        TRY(file_read_at(f->fd, f->path, out, (size_t)n * 4, plane_at(f, k)));
        if (f->swap) swap4(out, n);
        TRY(check_finite(f, k, 0, out, n));
    }
    return OK;
}

/* Reads values of rows without conversion, in the byte order of this machine. */
static enum err read_raw(const struct grafic *f, int64_t k, int64_t j0, int64_t nj, char *raw)
{
    BUG_ON(k < 0 || k >= f->head.n[2] || j0 < 0 || nj < 0 || j0 + nj > f->head.n[1]);
    int64_t row = (int64_t)f->head.n[0] * f->width;
    TRY(check_marks(f, k));
    TRY(file_read_at(f->fd, f->path, raw, (size_t)(nj * row), plane_at(f, k) + j0 * row));
    if (f->swap && f->width == 4) swap4(raw, nj * f->head.n[0]);
    if (f->swap && f->width == 8) swap8(raw, nj * f->head.n[0]);
    return OK;
}

/* Reads rows. In this and the next function values of 4 bytes are read to the end of out and
 * widened from the front: each is read before its location is overwritten. */
enum err grafic_read_rows(const struct grafic *f, int64_t k, int64_t j0, int64_t nj, double *out)
{
    int64_t n = nj * f->head.n[0];
    char *raw = (char *)out + 4 * n;
    TRY(check_real(f));
    TRY(read_raw(f, k, j0, nj, raw));
    TRY(check_finite(f, k, j0, (const float *)raw, n));
    for (int64_t i = 0; i < n; i++) {
        float r;
        memcpy(&r, raw + 4 * i, 4);
        out[i] = (double)r;
    }
    return OK;
}

enum err grafic_read_ids(const struct grafic *f, int64_t k, int64_t j0, int64_t nj, int64_t *out)
{
    int64_t n = nj * f->head.n[0];
    char *raw = (char *)out + (8 - f->width) * n;
    TRY(read_raw(f, k, j0, nj, raw));
    for (int64_t i = 0; i < n && f->width == 4; i++) {
        int32_t id;
        memcpy(&id, raw + 4 * i, 4);
        out[i] = id;
    }
    return OK;
}

static enum err check_real(const struct grafic *f)
{
    if (f->width != 4)
        FAIL(ERR_FORMAT, "%s: contains 8-byte integers where 4-byte reals are expected", f->path);
    return OK;
}

static enum err open_checked(struct grafic *f, bool cosmo)
{
    int64_t size;
    TRY(file_open(f->path, &f->fd, &size));
    TRY(read_head(f));
    TRY(check_head(f, f->start == HEAD_MAX + 2 * MARK, cosmo));
    return check_size(f, size);
}

static enum err read_head(struct grafic *f)
{
    enum { WORDS = HEAD_MAX / 4 };
    int32_t word[WORDS + 2], bytes;
    float real[HEAD_REALS + 1] = {0};
    TRY(file_read_at(f->fd, f->path, word, 4, 0));
    const int32_t plain = HEAD_MAX - 4, more = HEAD_MAX;
    bytes = (int32_t)__builtin_bswap32((uint32_t)word[0]);
    f->swap = bytes == plain || bytes == more;
    if (!f->swap) bytes = word[0];
    if (bytes != plain && bytes != more)
        FAIL(ERR_FORMAT,
             "%s: is not a GRAFIC file: its first record is not one of %d bytes, or of %d with "
             "omega_b",
             f->path, plain, more);
    TRY(file_read_at(f->fd, f->path, word, (size_t)bytes + 2 * MARK, 0));
    if (f->swap) swap4(word, bytes / 4 + 2);
    if (word[bytes / 4 + 1] != bytes)
        FAIL(ERR_FORMAT, "%s: header: record markers %d and %d differ: the file is damaged",
             f->path, bytes, word[bytes / 4 + 1]);
    f->start = bytes + 2 * MARK;
    memcpy(f->head.n, word + 1, sizeof f->head.n);
    memcpy(real, word + 1 + HEAD_INTS, (size_t)bytes - 4 * HEAD_INTS);
    take_reals(&f->head, real, bytes == more);
    return OK;
}

static void take_reals(struct grafic_head *h, const float *real, bool baryons)
{
    h->dx = (double)real[0];
    for (int d = 0; d < 3; d++) h->off[d] = (double)real[1 + d];
    h->astart = (double)real[4];
    h->omega_m = (double)real[5];
    h->omega_l = (double)real[6];
    h->h0 = (double)real[7];
    h->omega_b = baryons ? (double)real[8] : NAN;
}

bool grafic_has_baryons(const struct grafic_head *h)
{
    return !isnan(h->omega_b);
}

static enum err check_head(const struct grafic *f, bool baryons, bool cosmo)
{
    const struct grafic_head *h = &f->head;
    for (int d = 0; d < 3; d++)
        if (h->n[d] < 1 || h->n[d] > SIDE_MAX)
            FAIL(ERR_FORMAT, "%s: header: size %d along %c is not between 1 and %d", f->path,
                 h->n[d], 'x' + d, SIDE_MAX);
    double sum = h->dx + h->off[0] + h->off[1] + h->off[2] + h->astart + h->omega_m + h->omega_l +
                 h->h0 + (baryons ? h->omega_b : 0);
    if (!isfinite(sum))
        FAIL(ERR_FORMAT, "%s: header: contains a number that is not finite", f->path);
    if (!(h->dx > 0)) FAIL(ERR_FORMAT, "%s: header: cell size %g must be positive", f->path, h->dx);
    return cosmo ? check_cosmology(f) : OK;
}

static enum err check_cosmology(const struct grafic *f)
{
    const struct grafic_head *h = &f->head;
    if (!(h->astart > 0 && h->astart <= 1))
        FAIL(ERR_FORMAT, "%s: header: expansion factor %g is not between 0 and 1", f->path,
             h->astart);
    if (!(h->omega_m > 0))
        FAIL(ERR_FORMAT, "%s: header: omega_m = %g must be positive", f->path, h->omega_m);
    if (!(h->h0 > 0)) FAIL(ERR_FORMAT, "%s: header: h0 = %g must be positive", f->path, h->h0);
    if (grafic_has_baryons(h) && !(h->omega_b >= 0 && h->omega_b <= h->omega_m))
        FAIL(ERR_FORMAT, "%s: header: omega_b = %g is not between 0 and omega_m = %g", f->path,
             h->omega_b, h->omega_m);
    return OK;
}

bool grafic_near(double a, double b)
{
    return fabs(a - b) <= 1e-5 * fmax(fabs(a), fabs(b));
}

enum err grafic_check_same(const struct grafic *f, const struct grafic_head *head,
                           const char *first, bool cosmo)
{
    const struct grafic_head *h = &f->head;
    for (int d = 0; d < 3; d++) {
        if (h->n[d] != head->n[d])
            FAIL(ERR_FORMAT, "%s: has %d cells along %c where %s has %d", f->path, h->n[d], 'x' + d,
                 first, head->n[d]);
        if (!(fabs(h->off[d] - head->off[d]) < 0.1 * head->dx))
            FAIL(ERR_FORMAT, "%s: has the offset %.7g along %c where %s has %.7g", f->path,
                 h->off[d], 'x' + d, first, head->off[d]);
    }
    if (!grafic_near(h->dx, head->dx))
        FAIL(ERR_FORMAT, "%s: has cells of %.7g Mpc where %s has %.7g", f->path, h->dx, first,
             head->dx);
    if (!cosmo) return OK;
    if (!grafic_near(h->omega_m, head->omega_m) || !grafic_near(h->omega_l, head->omega_l) ||
        !grafic_near(h->h0, head->h0) || !grafic_near(h->astart, head->astart))
        FAIL(ERR_FORMAT,
             "%s: has another cosmology or time: astart, omega_m, omega_v, h0 = %g, %g, %g, %g "
             "where %s has %g, %g, %g, %g",
             f->path, h->astart, h->omega_m, h->omega_l, h->h0, first, head->astart, head->omega_m,
             head->omega_l, head->h0);
    if (grafic_has_baryons(h) && grafic_has_baryons(head) &&
        !grafic_near(h->omega_b, head->omega_b))
        FAIL(ERR_FORMAT, "%s: has another cosmology: omega_b = %g where %s has %g", f->path,
             h->omega_b, first, head->omega_b);
    return OK;
}

/* Finds the width of the values, 4 or 8 bytes, from the size of the file. */
static enum err check_size(struct grafic *f, int64_t size)
{
    const int32_t *n = f->head.n;
    for (f->width = 8; f->width >= 4; f->width -= 4)
        if (size == plane_at(f, n[2]) - MARK) break;
    if (f->width < 4) {
        f->width = 4;
        FAIL(ERR_FORMAT,
             "%s: has %lld bytes where %d x %d x %d values need %lld: it is truncated or damaged",
             f->path, (long long)size, n[0], n[1], n[2], (long long)(plane_at(f, n[2]) - MARK));
    }
    if (plane_bytes(f) > PLANE_MAX)
        FAIL(ERR_LIMIT, "%s: planes of %lld bytes exceed the limit of %lld", f->path,
             (long long)plane_bytes(f), (long long)PLANE_MAX);
    return OK;
}

static enum err check_marks(const struct grafic *f, int64_t k)
{
    int32_t mark[2];
    TRY(file_read_at(f->fd, f->path, &mark[0], MARK, plane_at(f, k) - MARK));
    TRY(file_read_at(f->fd, f->path, &mark[1], MARK, plane_at(f, k) + plane_bytes(f)));
    if (f->swap) swap4(mark, 2);
    if (mark[0] != plane_bytes(f) || mark[1] != plane_bytes(f))
        FAIL(ERR_FORMAT,
             "%s: plane %lld of %d: record markers %d and %d should be %lld: the file is damaged",
             f->path, (long long)k + 1, f->head.n[2], mark[0], mark[1], (long long)plane_bytes(f));
    return OK;
}

static enum err check_finite(const struct grafic *f, int64_t k, int64_t j0, const float *v,
                             int64_t n)
{
    int64_t bad = 0;
    for (int64_t i = 0; i < n; i++) bad += !isfinite(v[i]);
    if (!bad) return OK;
    int64_t i = 0, row = f->head.n[0];
    while (isfinite(v[i])) i++;
    FAIL(ERR_FORMAT,
         "%s: plane %lld of %d: the value at row %lld, column %lld is %g (%lld such values were "
         "read)",
         f->path, (long long)k + 1, f->head.n[2], (long long)(j0 + i / row + 1),
         (long long)(i % row + 1), (double)v[i], (long long)bad);
}

static void swap4(void *p, int64_t n)
{
    char *b = p;
    for (int64_t i = 0; i < n; i++) {
        uint32_t x;
        memcpy(&x, b + 4 * i, 4);
        x = __builtin_bswap32(x);
        memcpy(b + 4 * i, &x, 4);
    }
}

static void swap8(void *p, int64_t n)
{
    char *b = p;
    for (int64_t i = 0; i < n; i++) {
        uint64_t x;
        memcpy(&x, b + 8 * i, 8);
        x = __builtin_bswap64(x);
        memcpy(b + 8 * i, &x, 8);
    }
}
