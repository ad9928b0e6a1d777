/* snap/file: one file of a snapshot, binary or HDF5. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "io/file.h"
#include "snap/priv.h"

enum err snap_file_open(struct snap_file *f, const char *path)
{
    f->fd = -1;
    f->h5.fd = -1;
    snprintf(f->path, sizeof f->path, "%s", path);
    TRY(file_open(path, &f->fd, &f->size));
    if (f->layout || f->size < 8 || !snap_hdf5_is(f->fd)) return snap_binary_open(f);
    close(f->fd); /* the parser opens it anew */
    f->fd = -1;
    return snap_hdf5_open(f);
}

void snap_file_close(struct snap_file *f)
{
    if (f->fd >= 0) close(f->fd);
    f->fd = -1;
    if (f->h5.fd >= 0 || f->h5.err != OK) snap_hdf5_close(f);
    f->h5.fd = -1;
}

static bool is_binary(const struct snap_file *f)
{
    return f->head.code == SNAP_GADGET1 || f->head.code == SNAP_GADGET2;
}

enum err snap_file_has(struct snap_file *f, int type, enum snap_column c, bool *has)
{
    *has = f->here[type] > 0;
    if (!*has) return OK;
    if (c == SNAP_MASS && f->head.mass[type] > 0) return OK;
    if (!is_binary(f)) return snap_hdf5_has(f, type, c, has);
    *has = f->block[c].at > 0 && f->types[c] >> type & 1;
    return OK;
}

void snap_place(const struct snap_file *f, int type, enum snap_column c, char text[SNAP_NAME + 40])
{
    if (is_binary(f))
        snprintf(text, SNAP_NAME + 40, "block %.4s, type %d",
                 f->layout ? f->layout->label[c] : snap_row[c].label, type);
    else
        snprintf(text, SNAP_NAME + 40, "/%s", f->name[type][c]);
}

static enum err check_finite(const struct snap_file *f, int type, enum snap_column c, int64_t first,
                             int64_t n, const double *x)
{
    const int width = snap_width(c);
    int64_t i = 0;
    while (i < n * width && isfinite(x[i])) i++;
    if (i == n * width) return OK;
    char place[SNAP_NAME + 40];
    snap_place(f, type, c, place);
    FAIL(ERR_FORMAT, "%s: %s: row %ld (counted from 0) has the value %g", f->path, place,
         (long)(first + i / width), x[i]);
}

enum err snap_file_read(struct snap_file *f, int type, enum snap_column c, int64_t first, int64_t n,
                        void *out)
{
    double *x = out;
    if (c == SNAP_MASS && f->head.mass[type] > 0) {
        for (int64_t i = 0; i < n; i++) x[i] = f->head.mass[type];
        return OK;
    }
    TRY(is_binary(f) ? snap_binary_read(f, type, c, first, n, out)
                     : snap_hdf5_read(f, type, c, first, n, out));
    return snap_whole(c) ? OK : check_finite(f, type, c, first, n, x);
}
