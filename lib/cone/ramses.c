/* cone/ramses: slices in the files of RAMSES. */
#include <stdio.h>

#include "base/mem.h"
#include "cone/priv.h"
#include "cone/rows.h"
#include "io/fortran.h"

/* particles of a block of records; most records of a block */
enum { STRIDE = 65536, RECORDS = 10 };

/* The events of a file. */
struct set {
    const struct cone_slice *s;
    int ncpu, number; /* files of the slice, this one from 1 */
    int64_t npart, n; /* what RAMSES searched for them; events */
    int records;      /* of a block: values of an event */
    void (*event)(const struct set *set, int64_t i, float *v);
    const struct cone_rows *rows; /* of galaxies */
};

/* Position and velocity along each axis, redshift. */
static void put_particle(const struct set *set, int64_t i, float *v)
{
    const struct cone_slice *s = set->s;
    const struct cone_event *e = &s->events->at[i];
    double w[3] = {s->parts->v[0][e->at], s->parts->v[1][e->at], s->parts->v[2][e->at]}, u[3];
    cone_turn(s->view, w, u);
    for (int d = 0; d < 3; d++) v[2 * d] = (float)e->r[d], v[2 * d + 1] = (float)u[d];
    v[6] = (float)e->z;
}

/* As of a particle, with the mass, the kind and the clump behind the velocities. */
static void put_galaxy(const struct set *set, int64_t i, float *v)
{
    const struct cone_rows *r = set->rows;
    const double more[3] = {cone_value(r, i, ROW_MASS), (double)cone_whole(r, i, ROW_KIND),
                            (double)cone_whole(r, i, ROW_CLUMP)};
    for (int d = 0; d < 3; d++) {
        v[3 * d] = (float)cone_value(r, i, ROW_POSITION + d);
        v[3 * d + 1] = (float)cone_value(r, i, ROW_VELOCITY + d);
        v[3 * d + 2] = (float)more[d];
    }
    v[9] = (float)cone_value(r, i, ROW_REDSHIFT);
}

static void put_block(struct fort_out *f, const struct set *set, int64_t first, int64_t n,
                      float (*row)[STRIDE])
{
    for (int64_t i = 0; i < n; i++) {
        float v[RECORDS];
        set->event(set, first + i, v);
        for (int k = 0; k < set->records; k++) row[k][i] = v[k];
    }
    for (int k = 0; k < set->records; k++) fort_record(f, row[k], sizeof(float) * (size_t)n);
}

static enum err put_events(const struct set *set, struct sync_async *files, const char *path)
{
    struct fort_out f;
    float(*row)[STRIDE] = mem_new(sizeof *row * (size_t)set->records, "light cone");
    fort_create(&f, path, NULL, NULL);
    f.sync = files;
    fort_i4(&f, set->ncpu);
    fort_i4(&f, STRIDE);
    fort_i4(&f, (int32_t)set->npart);
    for (int64_t i = 0; i < set->n; i += STRIDE)
        put_block(&f, set, i, set->n - i < STRIDE ? set->n - i : STRIDE, row);
    mem_free(row);
    return fort_close(&f);
}

static enum err put_set(const struct set *set, struct cone_folder *f)
{
    const struct cone_shell *shell = set->s->shell;
    char path[2][PATH_MAX], a[2][CONE_REAL], text[256];
    for (int i = 0; i < 2; i++)
        if (snprintf(path[i], PATH_MAX, "%s/%s_%05d.out%05d%s", f->tmp, cone_name(set->s),
                     shell->step, set->number, i == 0 ? "" : ".txt") >= PATH_MAX)
            FAIL(ERR_FILE, "%.80s…: the path is too long", f->tmp);
    TRY(put_events(set, &f->files, path[0]));
    for (int i = 0; i < 2; i++) cone_real(shell->aexp[i], a[i]);
    snprintf(text, sizeof text, "%12d\n%12d\n%12ld\n%s\n%s\n", set->ncpu, STRIDE, (long)set->n,
             a[0], a[1]);
    return cone_text(path[1], text);
}

/* (collective, agreed) */
static enum err write_sets(const struct set *set)
{
    struct cone_folder f;
    int64_t total = set->n;
    comm_add_i64(set->s->comm, &total, 1);
    if (total == 0) return OK;
    TRY(cone_folder_begin(&f, set->s));
    return cone_folder_end(&f, set->n ? put_set(set, &f) : OK);
}

enum err cone_write_ramses(const struct cone_slice *s)
{
    const struct set set = {.s = s,
                            .ncpu = s->comm->size,
                            .number = s->comm->rank + 1,
                            .npart = s->parts->n,
                            .n = s->events->n,
                            .records = 7,
                            .event = put_particle};
    return write_sets(&set);
}

enum err cone_write_galaxies(const struct cone_slice *s)
{
    struct cone_rows rows;
    cone_rows_galaxies(s, &rows);
    const struct set set = {.s = s,
                            .ncpu = 1,
                            .number = 1,
                            .npart = s->galaxies->n,
                            .n = rows.n,
                            .records = RECORDS,
                            .event = put_galaxy,
                            .rows = &rows};
    enum err err = write_sets(&set);
    cone_rows_free(&rows);
    return err;
}
