/* io/ascii_part: see ascii_part.h. Reads a part in two passes: count, then parse. */
#include "io/ascii_part.h"

#include "io/table.h"

enum { COLUMNS = 7 };

static enum err count_lines(struct table *t, int share, int nshare, struct ascii_share *s)
{
    bool got = true;
    TRY(table_share(t, share, nshare, &s->begin, &s->end));
    TRY(table_seek(t, s->begin, s->end));
    for (;; s->n++) {
        TRY(table_next(t, &got));
        if (!got) return OK;
    }
}

enum err ascii_part_count(const char *path, int share, int nshare, struct ascii_share *s)
{
    struct table t;
    *s = (struct ascii_share){0};
    TRY(table_open(&t, path, TABLE_NOTES, INT64_MAX));
    enum err err = count_lines(&t, share, nshare, s);
    table_close(&t);
    return err;
}

/* Checks a position, which is relative to the centre of the box. */
static enum err check_place(struct table *t, const struct ascii_share *s, const double q[COLUMNS])
{
    for (int d = 0; d < s->ndim && s->boxlen > 0; d++) {
        double x = q[d] + s->boxlen / 2, more = s->periodic[d] ? s->boxlen : 0;
        if (!(x >= -more && x < s->boxlen + more))
            FAIL(ERR_PARAM,
                 "%s: line %lld: particle at %.9g along %c is outside the box: positions are "
                 "relative to its centre, up to %g",
                 t->path, (long long)table_line(t), q[d], 'x' + d, s->boxlen / 2);
    }
    return OK;
}

static enum err read_line(struct table *t, double q[COLUMNS], bool *more)
{
    bool got;
    TRY(table_next(t, &got));
    if (!got) FAIL(ERR_FILE, "%s: shrank while it was read", t->path);
    TRY(table_numbers(t, COLUMNS, "x y z vx vy vz m", q));
    if (q[6] < 0)
        FAIL(ERR_FORMAT, "%s: line %lld: has a negative mass, %g", t->path,
             (long long)table_line(t), q[6]);
    return table_rest(t, COLUMNS - 1, more);
}

static enum err read_lines(struct table *t, struct ascii_share *s, double *const x[3],
                           double *const v[3], double *m)
{
    TRY(table_seek(t, s->begin, s->end));
    for (int64_t i = 0; i < s->n; i++) {
        double q[COLUMNS];
        TRY(read_line(t, q, &s->more));
        TRY(check_place(t, s, q));
        for (int d = 0; d < 3; d++) x[d][i] = q[d], v[d][i] = q[3 + d];
        m[i] = q[6];
    }
    return OK;
}

enum err ascii_part_read(const char *path, struct ascii_share *s, double *const x[3],
                         double *const v[3], double *m)
{
    struct table t;
    TRY(table_open(&t, path, TABLE_NOTES, INT64_MAX));
    enum err err = read_lines(&t, s, x, v, m);
    table_close(&t);
    return err;
}
