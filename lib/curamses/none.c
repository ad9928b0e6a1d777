/* curamses/none: what a build without HDF5 has in place of the writer. (It does read:
 * h5/parse.h.) */
#ifndef PTAH_HDF5
#include "curamses/write.h"

static enum err lacking(const char *path)
{
    FAIL(ERR_LIMIT, "%s: this program was built without HDF5 (install its library, then make)",
         path);
}

enum err ckpt_write_hdf5(const char *dir, int number, const struct ckpt_head *h,
                         const struct mesh *m, const struct parts *p, const struct comm *c,
                         char *path, size_t n)
{
    return lacking(dir);
}
#endif
