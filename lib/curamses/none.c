/* curamses/none: replacement of the writer in a build without HDF5. Reading works (h5/parse.h). */
#ifndef PTAH_HDF5
#include "curamses/write.h"

static enum err lacking(const char *path)
{
    FAIL(ERR_LIMIT, "%s: this program was built without HDF5: install its library, then run make",
         path);
}

static enum err write_mesh(const char *dir, int number, const struct ckpt_head *h,
                           const struct mesh *m, const struct parts *p, const struct domain *d,
                           const struct comm *c, struct out_pending *out)
{
    return lacking(dir);
}

enum err hdf5_rewrite(struct rewrite *w)
{
    return lacking(w->o.final);
}

const struct writer_kind hdf5_writer = {
    .name = "HDF5", .write = write_mesh, .rewrite = hdf5_rewrite};
#endif
