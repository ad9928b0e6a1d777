/* sphfile/either: checkpoints, dumps and snapshots by one set of functions. */
#include "sphfile/either.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sphfile/gadget4.h"
#include "sphfile/priv.h"

enum { STEP = 4 * SPHFILE_BLOCK };

bool sphfile_either_is(const char *path)
{
    return sphfile_is(path) || phantom_is(path) || gadget4_is(path);
}

/* ---- other files ---- */

/* The number at the end of a name such as sedov_00010 or snapshot_003.hdf5; 0: there is none. */
static int number_of(const char *path)
{
    const char *dot = strrchr(path, '.'),
               *end = dot && (strcmp(dot, ".hdf5") == 0 || strcmp(dot, ".h5") == 0)
                          ? dot
                          : path + strlen(path),
               *at = end;
    while (at > path && at[-1] >= '0' && at[-1] <= '9') at--;
    return end - at < 9 ? (int)strtol(at, NULL, 10) : 0;
}

struct place {
    int64_t id, at;
};
MEM_ORDER2(by_id, struct place, id, at)

/* Brings the columns into the order of ids. */
static enum err sort(const char *path, struct smooth *p)
{
    struct place *order = mem_new(sizeof *order * (size_t)p->n + 1, "snapshot");
    int64_t twice = -1;
    for (int64_t i = 0; i < p->n; i++) order[i] = (struct place){p->id[i], i};
    mem_sort(order, (size_t)p->n, sizeof *order, by_id);
    for (int64_t i = 1; i < p->n && twice < 0; i++)
        if (order[i].id == order[i - 1].id) twice = i;
    for (int c = 0; c < SMOOTH_COLUMNS && twice < 0; c++) {
        void **column = smooth_at(p, (enum smooth_column)c);
        const size_t bytes = smooth_row[c].bytes;
        char *to = mem_new(bytes * (size_t)p->room + 1, "smoothed particles");
        for (int64_t i = 0; i < p->n; i++)
            memcpy(to + (size_t)i * bytes, (char *)*column + (size_t)order[i].at * bytes, bytes);
        mem_free(*column);
        *column = to;
    }
    const int64_t id = twice < 0 ? 0 : order[twice].id;
    FREE(order);
    if (twice >= 0)
        FAIL(ERR_FORMAT, "%s: two particles have the id %ld (iorig): ids must be distinct", path,
             (long)id);
    return OK;
}

static enum err read_dump(struct sphfile_either *e)
{
    struct phantom *d = NULL;
    struct smooth_par par;
    TRY(phantom_read(e->path, &d));
    enum err err = phantom_particles(d, &e->own, &par, &e->all);
    if (err == OK) err = sort(e->path, &e->all);
    snprintf(e->kind, sizeof e->kind, "dump of Phantom (%s, %s-endian)",
             d->id[0] == 'F' ? "full" : "small", d->swap ? "big" : "little");
    phantom_free(&d);
    return err;
}

static enum err read_snapshot(struct sphfile_either *e)
{
    struct smooth_par par;
    TRY(gadget4_read(e->path, &e->own, &par, &e->all));
    snprintf(e->kind, sizeof e->kind, "HDF5 of Gadget-4");
    return sort(e->path, &e->all);
}

/* ---- either ---- */

static enum err read_checkpoint(struct sphfile_either *e, bool any)
{
    TRY(sphfile_open(e->path, &e->file));
    e->file->any = any;
    e->head = &e->file->head;
    e->number = e->file->number;
    snprintf(e->kind, sizeof e->kind, "HDF5 of smoothed particles, solver sph");
    return OK;
}

enum err sphfile_either_open(const char *path, bool any, struct sphfile_either **out)
{
    struct sphfile_either *e = *out = mem_zero(sizeof *e, "snapshot");
    enum err err = OK;
    if (snprintf(e->path, sizeof e->path, "%s", path) >= (int)sizeof e->path)
        err = err_set(ERR_FILE, "%.80s…: the path is too long", path);
    e->head = &e->own;
    e->number = number_of(e->path);
    if (err == OK)
        err = phantom_is(path)   ? read_dump(e)
              : gadget4_is(path) ? read_snapshot(e)
                                 : read_checkpoint(e, any);
    if (err != OK) sphfile_either_close(out);
    return err;
}

void sphfile_either_close(struct sphfile_either **e)
{
    if (!*e) return;
    if (!(*e)->file) FREE((*e)->own.sink);
    sphfile_close(&(*e)->file);
    smooth_free(&(*e)->all);
    FREE(*e);
}

int64_t sphfile_either_step(const struct sphfile_either *e)
{
    const int64_t n = e->head->n;
    return n < 1 ? 1 : n < STEP ? n : STEP;
}

enum err sphfile_either_rows(struct sphfile_either *e, int64_t first, int64_t n, struct smooth *p)
{
    p->n = 0;
    if (e->file) return sphfile_read(e->file, first, n, p);
    BUG_ON(first < 0 || first + n > e->all.n);
    smooth_reserve(p, n);
    for (int c = 0; c < SMOOTH_COLUMNS && n; c++) {
        const size_t bytes = smooth_row[c].bytes;
        const char *from = *smooth_at(&e->all, (enum smooth_column)c);
        memcpy(*smooth_at(p, (enum smooth_column)c), from + (size_t)first * bytes,
               (size_t)n * bytes);
    }
    p->n = n;
    return OK;
}

enum err sphfile_either_digests(struct sphfile_either *e, const struct comm *c,
                                uint64_t digest[SPHFILE_COLUMNS + 1][2])
{
    if (e->file) return sphfile_digests(e->file, c, digest);
    sphfile_digests_of(e->head, &e->all, digest);
    return OK;
}
