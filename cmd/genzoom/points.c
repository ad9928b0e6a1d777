/* genzoom/points: see points.h. */
#include "points.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "io/stream.h"

void points_add(struct points *p, const double x[3])
{
    if (p->n == p->cap) {
        p->cap = 2 * p->cap + 1024;
        p->x = mem_grow(p->x, sizeof *p->x * (size_t)p->cap, "points");
    }
    memcpy(p->x[p->n++], x, sizeof *p->x);
}

void points_free(struct points *p)
{
    FREE(p->x);
    p->n = p->cap = 0;
}

/* ---- text ---- */

static enum err read_line(struct points *p, const char *path, long line, char *text)
{
    double x[3];
    char *hash = strchr(text, '#'), *s = text, *end;
    if (hash) *hash = 0;
    if (s[strspn(s, " \t\r\n,")] == 0) return OK;
    for (int d = 0; d < 3; d++) {
        s += strspn(s, " \t,");
        x[d] = strtod(s, &end);
        if (end == s)
            FAIL(ERR_FORMAT, "%s: line %ld: a point needs three numbers, %c is missing", path, line,
                 'x' + d);
        if (!(x[d] >= 0 && x[d] <= 1))
            FAIL(ERR_FORMAT,
                 "%s: line %ld: %c = %g is not between 0 and 1: points are in units of the box",
                 path, line, 'x' + d, x[d]);
        if (x[d] == 1) x[d] = 0;
        s = end;
    }
    points_add(p, x);
    return OK;
}

enum err points_read(struct points *p, const char *path)
{
    FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    char text[1024];
    enum err err = OK;
    if (!f) FAIL(ERR_FILE, "%s: cannot be opened: %s", path, strerror(errno));
    for (long line = 1; err == OK && fgets(text, sizeof text, f); line++) {
        if (!strchr(text, '\n') && strlen(text) + 1 == sizeof text)
            err = err_set(ERR_FORMAT, "%s: line %ld is longer than %zu characters", path, line,
                          sizeof text - 2);
        else
            err = read_line(p, path, line, text);
    }
    if (err == OK && ferror(f))
        err = err_set(ERR_FILE, "%s: cannot be read: %s", path, strerror(errno));
    if (f != stdin) fclose(f); /* read only */
    if (err == OK && p->n == 0) FAIL(ERR_FORMAT, "%s: contains no points", path);
    return err;
}

enum err points_write(const struct points *p, const char *path, bool force)
{
    struct stream s;
    TRY(stream_may_write(path, force));
    TRY(stream_open(&s, path));
    for (int64_t i = 0; i < p->n; i++)
        fprintf(s.f, "%.9f %.9f %.9f\n", p->x[i][0], p->x[i][1], p->x[i][2]);
    return stream_close(&s, 0);
}

/* ---- the periodic box ---- */

enum { BINS = 1 << 14 };

/* First bin after the widest run of empty ones; 0 if there is none. */
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
