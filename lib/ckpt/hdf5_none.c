/* ckpt/hdf5_none: what a build without HDF5 has in its place. Files are recognised, so that it can be said what is lacking. */
#ifndef PTAH_HDF5
#include <dirent.h>
#include <stdio.h>

#include "ckpt/hdf5_read.h"
#include "ckpt/hdf5_write.h"

static enum err lacking(const char *path)
{
    FAIL(ERR_LIMIT, "%s: this program was built without HDF5 (install its library, then make)", path);
}

enum err ckpt_write_hdf5(const char *dir, int number, const struct ckpt_head *h, const struct mesh *m,
                         const struct parts *p, const struct comm *c, char *path, size_t n)
{
    return lacking(dir);
}

bool hdf5_is(const char *dir)
{
    DIR *d = opendir(dir);
    bool found = false;
    int number, end;
    if (!d) return false;
    for (struct dirent *e; (e = readdir(d));) {
        end = 0;
        found |= sscanf(e->d_name, "data_%5d.h5%n", &number, &end) == 1 && end && !e->d_name[end];
    }
    closedir(d);
    return found;
}

enum err hdf5_open(struct ramses *r)
{
    return lacking(r->dir);
}

void hdf5_close_in(struct hdf5_in **h)
{
}

enum err hdf5_read_octs(struct ramses *r, int piece, bool values, bool conserved, ramses_octs_fn *fn, void *ctx)
{
    return lacking(r->dir);
}

enum err hdf5_read_parts(struct ramses *r, int piece, ramses_parts_fn *fn, void *ctx)
{
    return lacking(r->dir);
}

bool hdf5_has_state(const struct ramses *r)
{
    return false;
}
#endif
