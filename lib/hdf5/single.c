#include "hdf5/single.h"

#ifdef PTAH_HDF5
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* HDF5 creates its file itself. It is the second one of a set whose first one, empty, holds the
 * lock. */
static enum err name_second(struct hdf5_single *f, const char *path)
{
    char second[PATH_MAX];
    if (snprintf(second, sizeof second, "%s.1", path) >= (int)sizeof second)
        FAIL(ERR_FILE, "%.80s…: the path is too long", path);
    return temp_name(&f->lock, second, f->name);
}

enum err hdf5_single_open(struct hdf5_single *f, const char *path, bool force)
{
    *f = (struct hdf5_single){.alone = {.size = 1}};
    TRY(temp_may_write(path, force));
    TRY(temp_create(&f->lock, path));
    enum err err = OK;
    if (!*f->lock.name)
        err = err_set(ERR_FILE,
                      "%s: HDF5 cannot be written to a device or a pipe: give the name of a file",
                      path);
    if (err == OK) err = name_second(f, path);
    if (err != OK) temp_drop(&f->lock);
    if (err != OK) return err;
    hdf5_init(&f->h5, &f->alone, f->name, 0);
    f->h5.plain = true;
    return OK;
}

enum err hdf5_single_close(struct hdf5_single *f, enum err err)
{
    if (err == OK) err = hdf5_close(&f->h5);
    hdf5_fini(&f->h5);
    /* over the first file, so that no name is left to be removed */
    if (err == OK &&
        (rename(f->name, f->lock.name) != 0 || rename(f->lock.name, f->lock.path) != 0))
        err = err_set(ERR_FILE, "%s: cannot write: %s", f->lock.path, strerror(errno));
    if (err != OK) unlink(f->name), unlink(f->lock.name);
    temp_drop(&f->lock);
    return err;
}
#else
enum err hdf5_single_open(struct hdf5_single *f, const char *path, bool force)
{
    FAIL(ERR_LIMIT, "%s: this program was built without HDF5: install its library, then run make",
         path);
}

enum err hdf5_single_close(struct hdf5_single *f, enum err err)
{
    return err;
}
#endif
