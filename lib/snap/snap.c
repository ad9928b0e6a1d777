/* snap/snap: see snap.h. */
#include "snap/snap.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "snap/priv.h"

const char *snap_text(const struct snap *s)
{
    static const char *const text[] = {[SNAP_GADGET1] = "Gadget format 1",
                                       [SNAP_GADGET2] = "Gadget format 2",
                                       [SNAP_HDF5] = "Gadget HDF5",
                                       [SNAP_SWIFT] = "SWIFT HDF5"};
    return text[s->head.code];
}

/* ---- a snapshot ---- */

static void close_file(struct snap *s)
{
    if (s->open >= 0) snap_file_close(s->file);
    s->open = -1;
}

/* A header agrees with that of the first file. */
static enum err check_same(const struct snap *s, const struct snap_file *f)
{
    const struct snap_head *a = &s->head, *b = &f->head;
    char first[PATH_MAX];
    bool same = a->code == b->code && a->nfile == b->nfile && a->a == b->a && a->box == b->box &&
                a->length_cm == b->length_cm;
    for (int t = 0; t < SNAP_TYPES; t++)
        same &= a->total[t] == b->total[t] && a->mass[t] == b->mass[t];
    snap_path(s, 0, first);
    if (same) return OK;
    FAIL(ERR_FORMAT,
         "%s: does not belong to %s: they differ in format, number of files, time, box, masses or "
         "numbers of particles of their headers",
         f->path, first);
}

static enum err open_file(struct snap *s, int number)
{
    char path[PATH_MAX];
    if (s->open == number) return OK;
    close_file(s);
    snap_path(s, number, path);
    memset(s->file, 0, sizeof *s->file);
    s->file->layout = s->layout;
    s->open = number;
    TRY(snap_file_open(s->file, path));
    return number > 0 || s->count ? check_same(s, s->file) : OK;
}

enum err snap_open(const char *path, struct snap *s)
{
    *s = (struct snap){.open = -1};
    snprintf(s->path, sizeof s->path, "%s", path);
    size_t n = strlen(s->path);
    while (n > 1 && s->path[n - 1] == '/') s->path[--n] = 0;
    s->file = mem_zero(sizeof *s->file, "snapshot");
    TRY(snap_find(s));
    TRY(open_file(s, 0));
    s->head = s->file->head;
    if (s->head.nfile == 1) return OK;
    TRY(snap_find_rest(s));
    close_file(s);
    return OK;
}

void snap_close(struct snap *s)
{
    if (s->file) close_file(s);
    FREE(s->file);
    FREE(s->count);
    FREE(s->first);
}

enum err snap_count(struct snap *s, int share, int nshare)
{
    s->count = mem_zero(sizeof *s->count * (size_t)s->head.nfile, "snapshot");
    for (int k = share; k < s->head.nfile; k += nshare) {
        TRY(open_file(s, k));
        TRY(check_same(s, s->file));
        memcpy(s->count[k], s->file->here, sizeof *s->count);
    }
    return OK;
}

enum err snap_index(struct snap *s)
{
    int64_t sum[SNAP_TYPES] = {0};
    s->first = mem_zero(sizeof *s->first * (size_t)s->head.nfile, "snapshot");
    for (int k = 0; k < s->head.nfile; k++)
        for (int t = 0; t < SNAP_TYPES; t++) {
            s->first[k][t] = sum[t];
            sum[t] += s->count[k][t];
        }
    for (int t = 0; t < SNAP_TYPES; t++)
        if (sum[t] != s->head.total[t])
            FAIL(ERR_FORMAT,
                 "%s: its %d file%s %ld particles of type %d, but %ld according to the "
                 "header",
                 s->path, s->head.nfile, s->head.nfile > 1 ? "s have" : " has", (long)sum[t], t,
                 (long)s->head.total[t]);
    return OK;
}

enum err snap_open_whole(const char *path, struct snap *s)
{
    TRY(snap_open(path, s));
    TRY(snap_count(s, 0, 1));
    return snap_index(s);
}

enum err snap_open_galaxies(const char *path, const struct snap_layout *layout, struct snap *s)
{
    *s = (struct snap){.open = -1, .layout = layout};
    snprintf(s->path, sizeof s->path, "%s", path);
    snprintf(s->base, sizeof s->base, "%s", path);
    s->file = mem_zero(sizeof *s->file, "snapshot");
    TRY(open_file(s, 0));
    s->head = s->file->head;
    TRY(snap_count(s, 0, 1));
    return snap_index(s);
}

/* The file that has a row of a type. */
static int file_of(const struct snap *s, int type, int64_t row)
{
    int lo = 0, hi = s->head.nfile - 1;
    while (lo < hi) {
        const int mid = (lo + hi + 1) / 2;
        if (s->first[mid][type] <= row)
            lo = mid;
        else
            hi = mid - 1;
    }
    return lo;
}

enum err snap_has(struct snap *s, int type, enum snap_column c, bool *has)
{
    *has = false;
    if (s->head.total[type] == 0) return OK;
    TRY(open_file(s, file_of(s, type, 0)));
    return snap_file_has(s->file, type, c, has);
}

enum err snap_read(struct snap *s, int type, enum snap_column c, int64_t first, int64_t n,
                   void *out)
{
    const size_t row = (size_t)snap_width(c) * 8;
    BUG_ON(first < 0 || n < 0 || first + n > s->head.total[type]);
    while (n > 0) {
        const int k = file_of(s, type, first);
        const int64_t at = first - s->first[k][type], left = s->count[k][type] - at,
                      m = left < n ? left : n;
        TRY(open_file(s, k));
        if (s->file->here[type] != s->count[k][type])
            FAIL(ERR_FORMAT, "%s: has changed while it was read", s->file->path);
        TRY(snap_file_read(s->file, type, c, at, m, out));
        out = (char *)out + (size_t)m * row;
        first += m, n -= m;
    }
    return OK;
}
