#include "sink/initial.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "io/table.h"

enum { NUMBERS = 12 };
static const int64_t BYTES_MAX = (int64_t)1 << 30;
static const char WHAT[] =
    "mass, position, velocity, angular momentum, mass of the black hole, mass "
    "accreted since its last star";

/* Sinks in the order of the file. */
struct rows {
    int64_t n, room;
    double (*at)[NUMBERS];
};

static enum err check(const struct table *t, const struct mesh *m, const double q[NUMBERS])
{
    if (!(q[0] > 0) || !(q[10] >= 0) || !(q[11] >= 0))
        FAIL(ERR_FORMAT,
             "%s: line %ld: a sink needs a mass above 0, not %g, and the mass of its black hole, "
             "%g, "
             "and the mass accreted since its last star, %g, must not be negative",
             t->path, (long)table_line(t), q[0], q[10], q[11]);
    for (int d = 0; d < 3; d++)
        if (!(fabs(q[1 + d]) <= 0.5 * m->boxlen))
            FAIL(ERR_FORMAT,
                 "%s: line %ld: the sink is at %g from the centre of the box, along axis %d, "
                 "outside of it: positions are relative to the centre, at most boxlen/2 = %g",
                 t->path, (long)table_line(t), q[1 + d], d + 1, 0.5 * m->boxlen);
    return OK;
}

static void fill(struct sink *a, const struct mesh *m, const double q[NUMBERS], double t)
{
    a->m = q[0];
    for (int d = 0; d < 3; d++) {
        a->x[d] = q[1 + d] + 0.5 * m->boxlen;
        a->v[d] = q[4 + d];
        a->l[d] = q[7 + d];
    }
    a->hole = q[10];
    a->dmf = q[11];
    a->birth = t;
    sink_wrap(m, a->x);
}

static int by_location(const void *a, const void *b)
{
    const struct sink *x = a, *y = b;
    for (int d = 0; d < 3; d++)
        if (x->x[d] != y->x[d]) return x->x[d] > y->x[d] ? 1 : -1;
    return (x->id > y->id) - (x->id < y->id);
}

static enum err check_places(const char *path, struct sink *at, int64_t n)
{
    mem_sort(at, (size_t)n, sizeof *at, by_location);
    for (int64_t i = 1; i < n; i++)
        if (memcmp(at[i - 1].x, at[i].x, sizeof at->x) == 0)
            FAIL(ERR_FORMAT,
                 "%s: sinks %ld and %ld of the file have the same position, %g %g %g: give them "
                 "one line "
                 "with the sum of their masses",
                 path, (long)at[i - 1].id, (long)at[i].id, at[i].x[0], at[i].x[1], at[i].x[2]);
    return OK;
}

static enum err read_rows(struct table *t, const struct mesh *m, struct rows *r)
{
    for (bool got;;) {
        TRY(table_next(t, &got));
        if (!got) return OK;
        if (r->n == r->room)
            r->at = mem_grow(r->at, sizeof *r->at * (size_t)(r->room = 2 * r->room + 64), "sinks");
        TRY(table_row(t, NUMBERS, WHAT, r->at[r->n]));
        TRY(check(t, m, r->at[r->n++]));
    }
}

static enum err read_file(const char *path, const struct mesh *m, struct rows *r)
{
    struct table t;
    TRY(table_open(&t, path, TABLE_NOTES, BYTES_MAX));
    enum err err = read_rows(&t, m, r);
    table_close(&t);
    return err;
}

static enum err make_sinks(struct sinks *all, const struct rows *r, const char *path,
                           const struct mesh *m, double t)
{
    for (int64_t i = 0; i < r->n; i++) {
        struct sink *a = sinks_add(all, 1);
        a->id = all->made + all->n;
        fill(a, m, r->at[i], t);
    }
    return check_places(path, all->at, all->n);
}

enum err sinks_read_initial(struct sinks *s, const char *path, const struct comm *c,
                            const struct mesh *m, double t, int64_t *n)
{
    struct rows rows = {.n = 0};
    struct sinks all = {.made = s->made};
    enum err err = err_agree(c, c->rank == 0 ? read_file(path, m, &rows) : OK);
    if (err == OK) {
        comm_bcast(c, &rows.n, sizeof rows.n, 0);
        if (c->rank > 0) rows.at = mem_new(sizeof *rows.at * (size_t)rows.n + 1, "sinks");
        comm_bcast(c, rows.at, sizeof *rows.at * (size_t)rows.n, 0);
        err = err_agree(c, make_sinks(&all, &rows, path, m, t));
    }
    for (int64_t i = 0; i < all.n && err == OK; i++)
        if (i % c->size == c->rank) *sinks_add(s, 1) = all.at[i];
    *n = all.n;
    s->made += all.n;
    sinks_free(&all);
    FREE(rows.at);
    return err;
}
