/* cone/read_hdf5: HDF5 files of slices (cone/hdf5). Each block that is read is compared with its
 * checksum. */
#include <string.h>

#include "base/checksum.h"
#include "base/mem.h"
#include "cone/read_priv.h"
#include "h5/parse.h"

enum { BLOCK = 8192, VERSION = 1, FORMAT_MAX = 64 };

static const char *const SETS[CONE_OBJECTS][2] = {{"particles/position", "particles/redshift"},
                                                  {"gas/position", "gas/redshift"},
                                                  {"sinks/position", "sinks/redshift"},
                                                  {"galaxies/position", "galaxies/redshift"}};

struct reader {
    struct h5_file f;
    const char *path;
    double box_mpc;
    int64_t nsum;
    uint64_t *sum;
    double *row, *x[4];
};

struct column {
    struct h5_set set;
    const char *name;
    int64_t rows, sum;
    int count;
};

static enum err lacks(const struct reader *r, const char *what)
{
    TRY(r->f.err);
    FAIL(ERR_FORMAT, "%s: has no %s: it is not a slice of a light cone, or damaged", r->path, what);
}

/* A number of the header. */
static enum err number(struct reader *r, int64_t head, const char *name, char type, void *to)
{
    struct h5_value v = {0};
    bool got = h5_attr(&r->f, head, name, &v) && v.type == type && v.n == 1 && v.data;
    if (got) memcpy(to, v.data, 8);
    FREE(v.data);
    return got ? OK : lacks(r, name);
}

static enum err read_head(struct reader *r)
{
    struct h5_value v = {0};
    int64_t version = 0, head = h5_find(&r->f, "header");
    if (!head) return lacks(r, "header");
    bool is = h5_attr(&r->f, head, "format", &v) && v.type == 's' && v.data && v.n >= 9 &&
              v.n < FORMAT_MAX && memcmp(v.data, "ptah-cone", 9) == 0;
    FREE(v.data);
    if (!is) return lacks(r, "format of light cones in its header");
    TRY(number(r, head, "version", 'q', &version));
    if (version != VERSION)
        FAIL(ERR_FORMAT, "%s: has version %ld of this format, this program reads version %d",
             r->path, (long)version, VERSION);
    TRY(number(r, head, "box_mpc", 'd', &r->box_mpc));
    if (!(r->box_mpc > 0 && r->box_mpc < 1e12))
        FAIL(ERR_FORMAT, "%s: a box cannot be %g Mpc long: the file is damaged", r->path,
             r->box_mpc);
    return OK;
}

static enum err read_sums(struct reader *r)
{
    struct h5_set s;
    int64_t at = h5_find(&r->f, "ptah/checksum");
    if (!at) return lacks(r, "checksums");
    TRY(h5_set_open(&r->f, at, "ptah/checksum", &s));
    enum err err = OK;
    if (s.type != 'q' || s.n < 0 || s.n > r->f.size / 8)
        err = err_set(ERR_FORMAT, "%s: damaged checksums", r->path);
    if (err == OK) {
        r->nsum = s.n;
        r->sum = mem_new(sizeof *r->sum * (size_t)s.n + 8, "light cone");
        err = h5_set_read(&r->f, &s, "ptah/checksum", 0, s.n, r->sum);
    }
    h5_set_close(&s);
    return err;
}

static enum err column_open(struct reader *r, const char *name, int count, struct column *c)
{
    *c = (struct column){.name = name, .count = count};
    int64_t at = h5_find(&r->f, name);
    if (!at) return lacks(r, name);
    TRY((count > 1 ? h5_table_open : h5_set_open)(&r->f, at, name, &c->set));
    c->rows = c->set.n / count;
    int64_t blocks = (c->rows + BLOCK - 1) / BLOCK;
    if (c->set.type != 'd' || c->set.n != c->rows * count ||
        (count > 1 && (c->set.ndim != 2 || c->set.dim[1] != count)))
        FAIL(ERR_FORMAT, "%s: %s has another shape or type: the file is damaged", r->path, name);
    TRY(number(r, at, "checksum", 'q', &c->sum));
    if (c->sum < 0 || c->sum > r->nsum - blocks)
        FAIL(ERR_FORMAT, "%s: %s has no checksums: the file is damaged", r->path, name);
    return OK;
}

static enum err column_get(struct reader *r, struct column *c, int64_t first, int64_t n, double *to)
{
    TRY(h5_set_read(&r->f, &c->set, c->name, first * c->count, n * c->count, to));
    uint64_t sum = checksum_of(to, sizeof(double) * (size_t)(n * c->count));
    if (!checksum_agrees(r->sum[c->sum + first / BLOCK], sum))
        FAIL(ERR_FORMAT, "%s: %s is damaged: it does not match its checksum", r->path, c->name);
    return OK;
}

static enum err read_rows(struct reader *r, struct column c[2], enum cone_object what,
                          cone_batch_fn *fn, void *ctx)
{
    if (c[0].rows != c[1].rows)
        FAIL(ERR_FORMAT, "%s: there are %ld positions, but %ld redshifts: the file is damaged",
             r->path, (long)c[0].rows, (long)c[1].rows);
    for (int64_t first = 0; first < c[0].rows; first += BLOCK) {
        int64_t n = c[0].rows - first < BLOCK ? c[0].rows - first : BLOCK;
        TRY(column_get(r, &c[0], first, n, r->row));
        TRY(column_get(r, &c[1], first, n, r->x[3]));
        for (int64_t i = 0; i < n; i++)
            for (int d = 0; d < 3; d++) r->x[d][i] = r->row[3 * i + d] / r->box_mpc;
        const struct cone_batch b = {.n = n,
                                     .what = what,
                                     .r = {r->x[0], r->x[1], r->x[2]},
                                     .z = r->x[3],
                                     .box_mpc = r->box_mpc};
        TRY(cone_check_batch(r->path, &b));
        TRY(fn(ctx, &b));
    }
    return OK;
}

static enum err read_group(struct reader *r, enum cone_object what, cone_batch_fn *fn, void *ctx)
{
    struct column c[2];
    memset(c, 0, sizeof c);
    enum err err = column_open(r, SETS[what][0], 3, &c[0]);
    if (err == OK) err = column_open(r, SETS[what][1], 1, &c[1]);
    if (err == OK) err = read_rows(r, c, what, fn, ctx);
    for (int k = 0; k < 2; k++) h5_set_close(&c[k].set);
    return err;
}

static enum err read_all(struct reader *r, cone_batch_fn *fn, void *ctx)
{
    TRY(read_head(r));
    TRY(read_sums(r));
    r->row = mem_new(sizeof(double) * 7 * BLOCK, "light cone");
    for (int k = 0; k < 4; k++) r->x[k] = r->row + (3 + k) * BLOCK;
    if (h5_find(&r->f, "galaxies")) return read_group(r, CONE_GALAXIES, fn, ctx);
    TRY(read_group(r, CONE_PARTICLES, fn, ctx));
    if (h5_find(&r->f, "gas")) TRY(read_group(r, CONE_CELLS, fn, ctx));
    return h5_find(&r->f, "sinks") ? read_group(r, CONE_SINKS, fn, ctx) : OK;
}

enum err cone_read_hdf5(const char *path, cone_batch_fn *fn, void *ctx)
{
    struct reader r = {.path = path};
    enum err err = h5_open(&r.f, path);
    if (err == OK) err = read_all(&r, fn, ctx);
    h5_close(&r.f);
    FREE(r.row);
    FREE(r.sum);
    return err;
}
