/* convert: fields of an octree on a uniform mesh of the box or of a region, as an array of numpy,
 * FITS, ImageData of VTK, HDF5 or openPMD (lib/export). */
#include <stdio.h>
#include <string.h>

#include "convert.h"
#include "export/cube_out.h"
#include "grid/grid.h"
#include "io/dir.h"
#include "io/temp.h"
#include "sphfile/either.h"

bool convert_is_cube(const struct request *r)
{
    if (!r->format || !cube_format_named(r->format->name)) return false;
    const bool other = format_is(r->format, "hdf5") || format_is(r->format, "vti");
    return !other || r->uniform || r->level;
}

enum err convert_name_export(const struct request *r, const char *stem, int number,
                             const char *suffix, char *path, size_t n)
{
    const bool single = r->out && r->npath == 1 && strcmp(r->paths[0], "-") != 0;
    const char *dir = r->out ? r->out : r->format->name;
    if (!single) TRY(dir_make(dir));
    const int k = single ? snprintf(path, n, "%s", dir)
                         : snprintf(path, n, "%s/%s_%05d.%s", dir, stem, number, suffix);
    if (k < 0 || (size_t)k >= n) FAIL(ERR_FILE, "%.80s…: the path is too long", dir);
    return OK;
}

static enum err write_cube(const struct request *r, const struct cube_format *f, struct source *s,
                           const char *path)
{
    struct cube q = {0};
    struct cube_ask ask = {.n = r->uniform,
                           .level = r->level ? r->level : s->head.levelmin,
                           .part = r->region != NULL,
                           .fields = r->fields,
                           .physical = r->physical,
                           .memory = r->memory};
    const struct cube_out out = {.path = path, .force = r->force, .provenance = r->provenance};
    for (int d = 0; d < 3; d++) {
        ask.lo[d] = r->cut.centre[d] - r->cut.half[d];
        ask.hi[d] = r->cut.centre[d] + r->cut.half[d];
    }
    enum err err = cube_open(&q, s, &ask);
    if (err == OK && strcmp(path, "-") != 0)
        err = dir_has_room(path, (double)sizeof(double) * q.list.n * (double)cube_cells(&q));
    if (err == OK) err = f->write(&q, &out);
    cube_free(&q);
    return err;
}

enum err convert_cube(const struct request *r, const char *in, char *path, size_t n)
{
    const struct cube_format *f = cube_format_named(r->format->name);
    const bool standard = r->out && strcmp(r->out, "-") == 0;
    struct source *s = NULL;
    if (standard && !f->pipes)
        FAIL(ERR_PARAM,
             "-f %s needs a file, as it is not written from its beginning to its end: "
             "npy, fits and vti can be written to a pipe",
             f->name);
    enum err err = source_open(in, &s);
    if (err == OK) err = convert_name_export(r, "cube", s->number, f->suffix, path, n);
    if (err == OK && !standard) err = temp_may_write(path, r->force);
    if (err == OK && !standard) err = dir_outside(path, s->path);
    if (err == OK) err = write_cube(r, f, s, path);
    source_close(&s);
    return err;
}
