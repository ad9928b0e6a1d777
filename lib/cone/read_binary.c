/* cone/read_binary: the files of RAMSES and cuRAMSES. A block is records of equal numbers of
 * values; the number of all is in the text file beside. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cone/read_priv.h"
#include "io/fortran.h"
#include "io/table.h"

enum { TEXT_MAX = 1 << 16, GAS_HEAD = 9, SINK_RECORDS = 13 };

struct reader {
    struct fort_in f;
    enum cone_file kind;
    int64_t n, room; /* values of this block */
    double *x[4];    /* position, redshift */
    float *raw;
    int width; /* values of a cell behind its redshift */
    cone_batch_fn *fn;
    void *ctx;
    int64_t total;
};

/* The number of events by the text file. */
enum err cone_told(const char *path, enum cone_file kind, int64_t *n)
{
    char text[4200];
    struct table t;
    double x[3];
    int count = kind == CONE_SINK ? 1 : kind == CONE_HYDRO ? 2 : 3;
    snprintf(text, sizeof text, "%s.txt", path);
    TRY(table_open(&t, text, 0, TEXT_MAX));
    enum err err = OK;
    for (int i = 0; i < count && err == OK; i++) err = table_flow(&t, "a count", &x[i]);
    table_close(&t);
    if (err != OK) return err;
    double last = x[count - 1];
    if (!(last >= 0 && last < 1e15 && last == (double)(int64_t)last))
        FAIL(ERR_FORMAT, "%s: the number of events cannot be %g", text, last);
    *n = (int64_t)last;
    return OK;
}

static void make_room(struct reader *r)
{
    if (r->n <= r->room) return;
    r->room = r->n;
    for (int k = 0; k < 4; k++)
        r->x[k] = mem_grow(r->x[k], sizeof(double) * (size_t)r->n, "light cone");
    r->raw = mem_grow(r->raw, sizeof *r->raw * (size_t)r->n, "light cone");
}

/* The next record of n reals of 4 bytes; x NULL: it is not needed. */
static enum err get4(struct reader *r, const char *what, double *x)
{
    TRY(fort_get(&r->f, what, 4, r->raw, (size_t)r->n));
    for (int64_t i = 0; x && i < r->n; i++) x[i] = r->raw[i];
    return OK;
}

static enum err hand_over(struct reader *r)
{
    const struct cone_batch b = {.n = r->n,
                                 .what = r->kind == CONE_HYDRO  ? CONE_CELLS
                                         : r->kind == CONE_SINK ? CONE_SINKS
                                         : r->kind == CONE_GAL  ? CONE_GALAXIES
                                                                : CONE_PARTICLES,
                                 .r = {r->x[0], r->x[1], r->x[2]},
                                 .z = r->x[3]};
    TRY(cone_check_batch(r->f.path, &b));
    r->total += r->n;
    return r->fn(r->ctx, &b);
}

/* A block of particles; that of cuRAMSES begins with the identities, of which it may have more
 * than particles. */
static enum err read_particles(struct reader *r)
{
    struct fort_rec rec;
    struct fort_in peek = r->f;
    if (r->kind == CONE_PART) {
        TRY(fort_skip(&r->f, "identities", 1));
        peek = r->f;
    }
    TRY(fort_next(&r->f, "positions", &rec));
    if (rec.bytes % 4 || rec.bytes == 0)
        FAIL(ERR_FORMAT,
             "%s: record %ld has %ld bytes, which are no positions: the file is damaged", r->f.path,
             (long)rec.number, (long)rec.bytes);
    r->f.at = peek.at, r->f.record = peek.record;
    r->n = rec.bytes / 4;
    make_room(r);
    for (int d = 0; d < 3; d++) {
        TRY(get4(r, "positions", r->x[d]));
        TRY(get4(r, "velocities", NULL));
        if (r->kind == CONE_GAL) TRY(get4(r, "masses, kinds and clumps", NULL));
    }
    if (r->kind == CONE_PART) TRY(fort_skip(&r->f, "mass, birth and metallicity", 3));
    TRY(get4(r, "redshifts", r->x[3]));
    return hand_over(r);
}

/* The number of events of the next block; −1 ends the file. */
static enum err read_count(struct reader *r, const char *of, bool *end)
{
    int32_t n;
    TRY(fort_get_i4(&r->f, "the number of a block", &n));
    *end = n == -1;
    if (*end) return OK;
    if (n < 1 || (int64_t)n * 8 > r->f.size)
        FAIL(ERR_FORMAT, "%s: a block cannot have %d %s: the file is damaged", r->f.path, n, of);
    r->n = n;
    make_room(r);
    return OK;
}

static enum err read_sinks(struct reader *r, bool *end)
{
    TRY(read_count(r, "sinks", end));
    if (*end) return OK;
    TRY(fort_skip(&r->f, "identities", 1));
    for (int d = 0; d < 3; d++) {
        TRY(fort_get(&r->f, "positions", 8, r->x[d], (size_t)r->n));
        TRY(fort_skip(&r->f, "velocities", 1));
    }
    TRY(fort_skip(&r->f, "values of sinks", SINK_RECORDS));
    TRY(fort_get(&r->f, "redshifts", 8, r->x[3], (size_t)r->n));
    return hand_over(r);
}

static enum err read_gas(struct reader *r, bool *end)
{
    TRY(read_count(r, "cells", end));
    if (*end) return OK;
    const size_t n = (size_t)r->n;
    for (int d = 0; d < 3; d++) TRY(fort_get(&r->f, "positions", 8, r->x[d], n));
    TRY(fort_skip(&r->f, "velocities", 3));
    TRY(fort_get(&r->f, "redshifts", 8, r->x[3], n));
    TRY(fort_skip(&r->f, "values of cells", r->width));
    return hand_over(r);
}

static enum err read_head(struct reader *r)
{
    int32_t n[3];
    if (r->kind == CONE_SINK) return OK;
    for (int i = 0; i < 3; i++) TRY(fort_get_i4(&r->f, "the head", &n[i]));
    if (r->kind != CONE_HYDRO) return OK;
    if (n[2] < 0 || n[2] > 1000)
        FAIL(ERR_FORMAT, "%s: a cell cannot have %d values: the file is damaged", r->f.path, n[2]);
    r->width = n[2];
    return fort_skip(&r->f, "the range", GAS_HEAD);
}

static enum err read_block(struct reader *r, bool *end)
{
    if (r->kind == CONE_HYDRO) return read_gas(r, end);
    return r->kind == CONE_SINK ? read_sinks(r, end) : read_particles(r);
}

static enum err read_all(struct reader *r, int64_t n)
{
    bool end = false;
    TRY(read_head(r));
    while (!end && r->f.at < r->f.size) TRY(read_block(r, &end));
    if ((r->kind == CONE_HYDRO || r->kind == CONE_SINK) && !end)
        FAIL(ERR_FORMAT, "%s: does not end with -1: the file is incomplete", r->f.path);
    TRY(fort_at_end(&r->f));
    if (r->total != n)
        FAIL(ERR_FORMAT, "%s: has %ld events, but %ld by its text file: one of them is damaged",
             r->f.path, (long)r->total, (long)n);
    return OK;
}

enum err cone_read_binary(const char *path, enum cone_file kind, cone_batch_fn *fn, void *ctx)
{
    struct reader r = {.kind = kind, .fn = fn, .ctx = ctx};
    int64_t n;
    TRY(cone_told(path, kind, &n));
    enum err err = fort_open(&r.f, path);
    if (err == OK) err = read_all(&r, n);
    fort_shut(&r.f);
    for (int k = 0; k < 4; k++) FREE(r.x[k]);
    FREE(r.raw);
    return err;
}
