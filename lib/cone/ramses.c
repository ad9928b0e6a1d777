/* cone/ramses: slices in the files of RAMSES. */
#include <stdio.h>

#include "base/mem.h"
#include "cone/priv.h"
#include "io/fortran.h"

enum { STRIDE = 65536 }; /* particles of a block of records */

/* Records of particles first … first + n − 1: position and velocity along each axis, redshift. */
static void put_block(struct fort_out *f, const struct cone_slice *s, int64_t first, int64_t n,
                      float (*row)[STRIDE])
{
    for (int64_t i = 0; i < n; i++) {
        const struct cone_event *e = &s->events->at[first + i];
        double v[3] = {s->parts->v[0][e->at], s->parts->v[1][e->at], s->parts->v[2][e->at]}, u[3];
        cone_turn(s->view, v, u);
        for (int d = 0; d < 3; d++) {
            row[2 * d][i] = (float)e->r[d];
            row[2 * d + 1][i] = (float)u[d];
        }
        row[6][i] = (float)e->z;
    }
    for (int k = 0; k < 7; k++) fort_record(f, row[k], sizeof(float) * (size_t)n);
}

static enum err put_particles(const struct cone_slice *s, struct sync_async *files,
                              const char *path)
{
    struct fort_out f;
    int64_t total = s->events->n;
    float(*row)[STRIDE] = mem_new(sizeof *row * 7, "light cone");
    fort_create(&f, path, NULL, NULL);
    f.sync = files;
    fort_i4(&f, s->comm->size);
    fort_i4(&f, STRIDE);
    fort_i4(&f, (int32_t)s->parts->n);
    for (int64_t i = 0; i < total; i += STRIDE)
        put_block(&f, s, i, total - i < STRIDE ? total - i : STRIDE, row);
    mem_free(row);
    return fort_close(&f);
}

static enum err put_rank(const struct cone_slice *s, struct cone_folder *f)
{
    char path[2][PATH_MAX], a[2][CONE_REAL], text[256];
    for (int i = 0; i < 2; i++)
        if (snprintf(path[i], PATH_MAX, "%s/cone_%05d.out%05d%s", f->tmp, s->shell->step,
                     s->comm->rank + 1, i == 0 ? "" : ".txt") >= PATH_MAX)
            FAIL(ERR_FILE, "%.80s…: the path is too long", f->tmp);
    TRY(put_particles(s, &f->files, path[0]));
    for (int i = 0; i < 2; i++) cone_real(s->shell->aexp[i], a[i]);
    snprintf(text, sizeof text, "%12d\n%12d\n%12ld\n%s\n%s\n", s->comm->size, STRIDE,
             (long)s->events->n, a[0], a[1]);
    return cone_text(path[1], text);
}

enum err cone_write_ramses(const struct cone_slice *s)
{
    struct cone_folder f;
    int64_t total = s->events->n;
    comm_add_i64(s->comm, &total, 1);
    if (total == 0) return OK;
    TRY(cone_folder_begin(&f, s));
    return cone_folder_end(&f, s->events->n ? put_rank(s, &f) : OK);
}
