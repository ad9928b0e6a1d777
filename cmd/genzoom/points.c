#include "points.h"

#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "io/stream.h"
#include "io/table.h"

static const int64_t BYTES_MAX = (int64_t)1 << 35; /* maximum size of a list of points, bytes */

void points_add(struct points *p, const double x[3])
{
    MEM_ROOM(p->x, p->n, p->cap, 1024, "points");
    memcpy(p->x[p->n++], x, sizeof *p->x);
}

void points_free(struct points *p)
{
    FREE(p->x);
    p->n = p->cap = 0;
}

/* ---- text ---- */

/* Reads one point; files for MUSIC have velocities as well. */
static enum err read_line(struct points *p, struct table *t, bool *more)
{
    enum { FURTHER = 9 };
    double x[3];
    TRY(table_numbers(t, 3, "x y z of a point", x));
    TRY(table_rest(t, FURTHER, more));
    for (int d = 0; d < 3; d++) {
        if (!(x[d] >= 0 && x[d] <= 1))
            FAIL(ERR_FORMAT,
                 "%s: line %ld: %c = %g is not between 0 and 1: points are in units of the box",
                 t->path, (long)table_line(t), 'x' + d, x[d]);
        if (x[d] == 1) x[d] = 0;
    }
    points_add(p, x);
    return OK;
}

static enum err read_lines(struct points *p, struct table *t)
{
    bool more = false;
    for (bool got;;) {
        TRY(table_next(t, &got));
        if (!got) break;
        TRY(read_line(p, t, &more));
    }
    if (more) log_info("genzoom: %s: columns after the third are ignored", t->path);
    if (p->n == 0) FAIL(ERR_FORMAT, "%s: contains no points", t->path);
    return OK;
}

enum err points_read(struct points *p, const char *path)
{
    struct table t;
    TRY(table_open(&t, path, TABLE_NOTES | TABLE_PIPE, BYTES_MAX));
    enum err err = read_lines(p, &t);
    table_close(&t);
    return err;
}

enum err points_write(const struct points *p, const char *path, bool force)
{
    struct stream s;
    TRY(temp_may_write(path, force));
    TRY(stream_open(&s, path));
    for (int64_t i = 0; i < p->n; i++)
        fprintf(s.f, "%.9f %.9f %.9f\n", p->x[i][0], p->x[i][1], p->x[i][2]);
    return stream_close(&s, 0);
}

/* ---- the periodic box ---- */

enum { BINS = 1 << 14 };

/* First bin after the widest run of empty bins; 0 if no bin is empty. */
static int cut_of(const bool *full)
{
    int cut = 0, widest = 0, run = 0;
    for (int i = 0; i < 2 * BINS; i++) {
        if (!full[i % BINS]) {
            run++;
            continue;
        }
        if (run > widest) widest = run, cut = i % BINS;
        run = 0;
    }
    return cut;
}

void points_unwrap(struct points *p)
{
    bool *full = mem_new(BINS * sizeof *full, "points");
    for (int d = 0; d < 3; d++) {
        memset(full, 0, BINS * sizeof *full);
        for (int64_t i = 0; i < p->n; i++) full[(int)(p->x[i][d] * BINS) % BINS] = true;
        int cut = cut_of(full);
        for (int64_t i = 0; i < p->n; i++)
            if ((int)(p->x[i][d] * BINS) % BINS < cut) p->x[i][d] += 1;
    }
    mem_free(full);
}
