/* curamses/read_sets: see read_sets.h. Batches are the blocks of the writer's checksums, so that
 * each block is read whole. */
#include "curamses/read_sets.h"

#include <stdio.h>
#include <string.h>

#include "base/checksum.h"
#include "base/mem.h"

/* ---- attributes ---- */

bool hdf5_has(struct hdf5_in *h, const char *path)
{
    return h5_find(&h->file, path) != 0;
}

enum err hdf5_get_attr(struct hdf5_in *h, const char *group, const char *name, char type, int64_t n,
                       void *p, bool may_lack)
{
    struct h5_value v = {0};
    int64_t at = h5_find(&h->file, group);
    bool exists = at && h5_attr(&h->file, at, name, &v);
    if (h->file.err != OK) return h->file.err;
    if (!exists && may_lack) return OK;
    bool fits = exists && v.data && v.n == n && strchr(type == 'd' ? "df" : "qihbQIHB", v.type);
    if (fits) h5_widen(v.type, n, v.data, p);
    FREE(v.data);
    if (!exists)
        FAIL(ERR_FORMAT,
             "%s: /%s has no attribute %s: the file is damaged or was not written by cuRAMSES",
             h->path, group, name);
    if (!fits)
        FAIL(ERR_FORMAT, "%s: attribute %s of /%s does not have %ld number%s", h->path, name, group,
             (long)n, n > 1 ? "s" : "");
    return OK;
}

enum err hdf5_get_count(struct hdf5_in *h, const char *group, const char *name, int64_t lo,
                        int64_t hi, int64_t *x)
{
    TRY(hdf5_get_attr(h, group, name, 'q', 1, x, false));
    if (*x < lo || *x > hi)
        FAIL(ERR_FORMAT, "%s: %s of /%s is %ld, expected %ld to %ld", h->path, name, group,
             (long)*x, (long)lo, (long)hi);
    return OK;
}

/* ---- datasets ---- */

void hdf5_set_close(struct hdf5_open_set *s)
{
    h5_set_close(&s->h5);
    s->name[0] = 0;
}

static enum err set_check(struct hdf5_in *h, struct hdf5_open_set *s, bool real, int64_t n,
                          int64_t block)
{
    if (n < 0) n = s->h5.n;
    if (s->h5.n != n)
        FAIL(ERR_FORMAT, "%s: /%s has %ld elements, expected %ld", h->path, s->name, (long)s->h5.n,
             (long)n);
    if ((strchr("df", s->h5.type) != NULL) != real)
        FAIL(ERR_FORMAT, "%s: dataset /%s is not of type %s", h->path, s->name,
             real ? "real" : "integer");
    s->sum = -1;
    if (!h->ours) return OK;
    TRY(hdf5_get_attr(h, s->name, "checksum", 'q', 1, &s->sum, true));
    if (s->sum < 0 && h->sums) *h->sums = false;
    int64_t blocks = (n + block - 1) / block;
    if (s->sum >= 0 && s->sum > h->nsum - blocks)
        FAIL(ERR_FORMAT,
             "%s: the checksums of /%s lie beyond the end of /ptah/checksum: the file is damaged",
             h->path, s->name);
    return OK;
}

enum err hdf5_set_open(struct hdf5_in *h, struct hdf5_open_set *s, const char *path, bool real,
                       int64_t n, int64_t block)
{
    *s = (struct hdf5_open_set){0};
    snprintf(s->name, sizeof s->name, "%s", path);
    int64_t at = h5_find(&h->file, path);
    if (h->file.err != OK) return h->file.err;
    if (!at)
        FAIL(ERR_FORMAT,
             "%s: has no dataset /%s: the file is damaged or was not written by cuRAMSES", h->path,
             path);
    TRY(h5_set_open(&h->file, at, path, &s->h5));
    enum err err = set_check(h, s, real, n, block);
    if (err != OK) hdf5_set_close(s);
    return err;
}

/* Reads a block as stored and compares its checksum. */
static enum err set_load(struct hdf5_in *h, struct hdf5_open_set *s, int64_t at, int64_t n,
                         int64_t block, void *p)
{
    TRY(h5_set_read(&h->file, &s->h5, s->name, at, n, p));
    if (s->sum >= 0 && !checksum_agrees(h->sum[s->sum + at / block],
                                        checksum_of(p, (size_t)(n * h5_size(s->h5.type)))))
        FAIL(ERR_FORMAT, "%s: /%s is damaged: elements %ld to %ld do not match their checksum",
             h->path, s->name, (long)at, (long)(at + n - 1));
    return OK;
}

/* Reads a block and widens its elements to 8 bytes in p. */
enum err hdf5_set_load(struct hdf5_in *h, struct hdf5_open_set *s, int64_t at, int64_t n,
                       int64_t block, void *raw, void *p)
{
    if (h5_size(s->h5.type) == 8) return set_load(h, s, at, n, block, p);
    TRY(set_load(h, s, at, n, block, raw));
    h5_widen(s->h5.type, n, raw, p);
    return OK;
}

enum err hdf5_read_small(const struct source *s, const char *path, bool real, int64_t max,
                         int64_t *n, void **p)
{
    struct hdf5_in *h = hdf5_in_of(s);
    struct hdf5_open_set x;
    *n = 0, *p = NULL;
    if (!hdf5_has(h, path)) return OK;
    TRY(hdf5_set_open(h, &x, path, real, -1, max));
    enum err err = OK;
    if (x.h5.n > max)
        err = err_set(ERR_FORMAT, "%s: /%s has %ld elements, more than %ld", h->path, path,
                      (long)x.h5.n, (long)max);
    if (err == OK && x.h5.n > 0) {
        char *raw = mem_new(16 * (size_t)x.h5.n, "snapshot");
        err = hdf5_set_load(h, &x, 0, x.h5.n, max, raw + 8 * x.h5.n, raw);
        *n = x.h5.n, *p = raw;
    }
    hdf5_set_close(&x);
    if (err != OK) FREE(*p);
    return err;
}
