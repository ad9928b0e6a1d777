/* cone/curamses: slices in the files of cuRAMSES, without their faults (docs/differences.md). */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cone/priv.h"
#include "cone/rows.h"
#include "io/fortran.h"
#include "phys/units.h"

enum { STRIDE = 10000 }; /* rows of a block of records */

struct out {
    const struct cone_slice *s;
    const char *dir;
    struct sync_async *files;
};

/* The file of this rank; of sinks there is one. */
static enum err path_of(const struct out *w, const char *kind, const char *end, char *path)
{
    char rank[16] = "";
    if (strcmp(kind, "sink") != 0) snprintf(rank, sizeof rank, "%05d", w->s->comm->rank + 1);
    if (snprintf(path, PATH_MAX, "%s/cone_%s_%05d.out%s%s", w->dir, kind, w->s->shell->step, rank,
                 end) >= PATH_MAX)
        FAIL(ERR_FILE, "%.80s…: the path is too long", w->dir);
    return OK;
}

/* Records of one value of n rows, in 4 or 8 bytes. */
static void put_real4(struct fort_out *f, const struct cone_rows *r, int64_t first, int64_t n,
                      int v)
{
    float x[STRIDE];
    for (int64_t i = 0; i < n; i++) x[i] = (float)cone_value(r, first + i, v);
    fort_record(f, x, sizeof *x * (size_t)n);
}

static void put_real8(struct fort_out *f, const struct cone_rows *r, int64_t first, int64_t n,
                      int v)
{
    double x[STRIDE];
    for (int64_t i = 0; i < n; i++) x[i] = cone_value(r, first + i, v);
    fort_record(f, x, sizeof *x * (size_t)n);
}

static void put_identities(struct fort_out *f, const struct cone_rows *r, int64_t first, int64_t n)
{
    int64_t id[STRIDE];
    for (int64_t i = 0; i < n; i++) id[i] = cone_whole(r, first + i, ROW_ID);
    fort_record(f, id, sizeof *id * (size_t)n);
}

static void put_particles(struct fort_out *f, const struct cone_rows *r, int64_t first, int64_t n)
{
    static const int rest[] = {ROW_MASS, ROW_BIRTH, ROW_METAL, ROW_REDSHIFT};
    put_identities(f, r, first, n);
    for (int d = 0; d < 3; d++) {
        put_real4(f, r, first, n, ROW_POSITION + d);
        put_real4(f, r, first, n, ROW_VELOCITY + d);
    }
    for (int k = 0; k < 4; k++) put_real4(f, r, first, n, rest[k]);
}

static void put_gas(struct fort_out *f, const struct cone_rows *r, int64_t first, int64_t n)
{
    fort_i4(f, (int32_t)n);
    for (int v = 0; v < ROW_SIZE; v++) put_real8(f, r, first, n, v);
    for (int v = ROW_SIZE; v < r->width; v++) put_real8(f, r, first, n, v);
}

static void put_sinks(struct fort_out *f, const struct cone_rows *r, int64_t first, int64_t n)
{
    fort_i4(f, (int32_t)n);
    put_identities(f, r, first, n);
    for (int d = 0; d < 3; d++) {
        put_real8(f, r, first, n, ROW_POSITION + d);
        put_real8(f, r, first, n, ROW_VELOCITY + d);
    }
    put_real8(f, r, first, n, ROW_MASS);
    for (int k = 0; k < SINK_VALUES; k++) put_real8(f, r, first, n, ROW_SINK + k);
    put_real8(f, r, first, n, ROW_REDSHIFT);
}

typedef void put_fn(struct fort_out *f, const struct cone_rows *r, int64_t first, int64_t n);

static void put_blocks(struct fort_out *f, const struct cone_rows *r, put_fn *put)
{
    for (int64_t i = 0; i < r->n; i += STRIDE) put(f, r, i, r->n - i < STRIDE ? r->n - i : STRIDE);
}

static enum err write_count(const struct out *w, const char *kind, int64_t n, bool stride)
{
    char path[PATH_MAX], text[128];
    TRY(path_of(w, kind, ".txt", path));
    if (stride)
        snprintf(text, sizeof text, "%12d\n%12d\n%12ld\n", w->s->comm->size, STRIDE, (long)n);
    else
        snprintf(text, sizeof text, "%12d\n%12ld\n", w->s->comm->size, (long)n);
    return cone_text(path, text);
}

static enum err write_particles(const struct out *w)
{
    struct cone_rows r;
    struct fort_out f;
    char path[PATH_MAX];
    TRY(path_of(w, "part", "", path));
    cone_rows_of(w->s, &r);
    fort_create(&f, path, NULL, NULL);
    f.sync = w->files;
    fort_i4(&f, w->s->comm->size);
    fort_i4(&f, STRIDE);
    fort_i4(&f, (int32_t)w->s->parts->n);
    put_blocks(&f, &r, put_particles);
    cone_rows_free(&r);
    TRY(fort_close(&f));
    return write_count(w, "part", w->s->events->n, true);
}

static enum err write_gas(const struct out *w, const struct cone_rows *r)
{
    const struct cone_shell *s = w->s->shell;
    const double *a = s->aexp, *D = s->distance;
    /* cuRAMSES's slices overlap by a margin of a; here the margin is 0 */
    const double range[8] = {a[0], a[1], D[0], D[1], a[0], a[1], D[0], D[1]};
    struct fort_out f;
    char path[PATH_MAX];
    TRY(path_of(w, "hydro", "", path));
    fort_create(&f, path, NULL, NULL);
    f.sync = w->files;
    fort_i4(&f, w->s->comm->size);
    fort_i4(&f, 3);
    fort_i4(&f, r->width - ROW_SIZE);
    fort_r8(&f, w->s->head->boxlen_ini);
    for (int i = 0; i < 8; i++) fort_r8(&f, range[i]);
    put_blocks(&f, r, put_gas);
    fort_i4(&f, -1);
    TRY(fort_close(&f));
    return write_count(w, "hydro", r->n, false);
}

/* Sinks, by rank 0. */
static enum err write_sinks(const struct out *w, const struct cone_rows *r)
{
    struct fort_out f;
    char path[PATH_MAX], text[64];
    TRY(path_of(w, "sink", "", path));
    fort_create(&f, path, NULL, NULL);
    f.sync = w->files;
    put_blocks(&f, r, put_sinks);
    fort_i4(&f, -1);
    TRY(fort_close(&f));
    TRY(path_of(w, "sink", ".txt", path));
    snprintf(text, sizeof text, "%12ld\n", (long)r->n);
    return cone_text(path, text);
}

static enum err write_info(const struct out *w)
{
    const struct ckpt_head *h = w->s->head;
    const struct cone_shell *s = w->s->shell;
    const double *a = s->aexp, *D = s->distance, v = h->unit_l / h->unit_t;
    const struct units u = units_of(h->unit_l, h->unit_d, h->unit_t);
    const struct {
        const char *key;
        double value;
    } line[] = {{"a-da", a[1]},
                {"a", a[1]},
                {"Dist(a-da)", D[1]},
                {"Dist(a)", D[1]},
                {"a0-da0", a[0]},
                {"a0", a[0]},
                {"Dist(a0-da0)", D[0]},
                {"Dist(a0)", D[0]},
                {"h0", h->h0},
                {"unit_l", h->unit_l},
                {"unit_d", h->unit_d},
                {"unit_t", h->unit_t},
                {"unit_v", v},
                {"unit_nH", u.hydrogen},
                {"unit_T2", u.temperature},
                {"Lbox (cMpc/h)", h->boxlen_ini}};
    char path[PATH_MAX], text[2048];
    size_t n = 0;
    if (snprintf(path, sizeof path, "%s/info_%05d.txt", w->dir, s->step) >= (int)sizeof path)
        FAIL(ERR_FILE, "%.80s…: the path is too long", w->dir);
    for (size_t i = 0; i < sizeof line / sizeof *line; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%-13s=%23.15E\n", line[i].key,
                              line[i].value);
    return cone_text(path, text);
}

enum err cone_write_curamses(const struct cone_slice *s)
{
    struct cone_folder f;
    struct cone_rows gas = {0}, sinks = {0};
    if (s->mesh) cone_rows_gas(s, &gas);
    if (s->sinks) cone_rows_sinks(s, &sinks);
    int64_t total = s->events->n + gas.n + sinks.n;
    comm_add_i64(s->comm, &total, 1);
    enum err err = total > 0 ? cone_folder_begin(&f, s) : OK;
    if (err == OK && total > 0) {
        const struct out w = {s, f.tmp, &f.files};
        if (s->events->n) err = write_particles(&w);
        if (err == OK && gas.n) err = write_gas(&w, &gas);
        if (err == OK && sinks.n) err = write_sinks(&w, &sinks);
        if (err == OK && s->comm->rank == 0) err = write_info(&w);
        err = cone_folder_end(&f, err);
    }
    cone_rows_free(&gas);
    cone_rows_free(&sinks);
    return err;
}
