/* galaxy/curve: tables of the circular velocity. */
#include <math.h>

#include "base/cgs.h"
#include "base/mem.h"
#include "galaxy/galaxy.h"
#include "io/table.h"

static enum err take_row(struct table *t, struct curve *c, int64_t *room)
{
    double row[2];
    TRY(table_row(t, 2, "radius velocity", row));
    if (c->n > 0 && !(row[0] > c->r[c->n - 1]))
        FAIL(ERR_FORMAT, "%s: line %lld: radius %g kpc is not above that of the line before, %g",
             t->path, (long long)table_line(t), row[0], c->r[c->n - 1]);
    if (!(row[0] >= 0 && row[1] >= 0))
        FAIL(ERR_FORMAT, "%s: line %lld: radius %g and velocity %g: neither may be negative",
             t->path, (long long)table_line(t), row[0], row[1]);
    if (c->n == *room) {
        *room = *room ? 2 * *room : 256;
        c->r = mem_grow(c->r, sizeof *c->r * (size_t)*room, "velocity table");
        c->v = mem_grow(c->v, sizeof *c->v * (size_t)*room, "velocity table");
    }
    c->r[c->n] = row[0];
    c->v[c->n++] = row[1];
    return OK;
}

static enum err take_rows(struct table *t, struct curve *c)
{
    int64_t room = 0;
    bool got;
    for (;;) {
        TRY(table_next(t, &got));
        if (!got) break;
        TRY(take_row(t, c, &room));
    }
    if (c->n < 2)
        FAIL(ERR_FORMAT,
             "%s: has %ld rows: a table of the circular velocity needs at least two, each a radius "
             "in kpc and a velocity in km/s",
             t->path, (long)c->n);
    return OK;
}

enum err curve_read(const char *path, double length, double speed, struct curve *c)
{
    struct table t;
    *c = (struct curve){0};
    TRY(table_open(&t, path, TABLE_NOTES, INT64_C(1) << 30));
    enum err err = take_rows(&t, c);
    table_close(&t);
    for (int64_t i = 0; err == OK && i < c->n; i++) {
        c->r[i] = c->r[i] * RAMSES_KPC_GALAXY / length;
        c->v[i] = c->v[i] * 1e5 / speed;
    }
    return err;
}

void curve_free(struct curve *c)
{
    mem_free(c->r);
    mem_free(c->v);
    *c = (struct curve){0};
}

double curve_at(const struct curve *c, double r)
{
    /* the interval k-1..k with r[k-1] < r <= r[k], as RAMSES finds it */
    int64_t low = 1, high = c->n - 1;
    MEM_BISECT(low, high, middle, r > c->r[middle])
    const double r0 = c->r[low - 1], v0 = c->v[low - 1];
    return v0 + (r - r0) * (c->v[low] - v0) / (c->r[low] - r0);
}
