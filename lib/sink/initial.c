/* sink/initial: see initial.h. */
#include "sink/initial.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { NUMBERS = 12 };
static const int64_t BYTES_MOST = (int64_t)1 << 30;

static enum err load(const char *path, char **text, int64_t *bytes)
{
    enum err err = OK;
    FILE *f = fopen(path, "r");
    if (!f) FAIL(ERR_FILE, "%s: cannot be opened: %s", path, strerror(errno));
    *bytes = fseeko(f, 0, SEEK_END) == 0 ? (int64_t)ftello(f) : -1;
    if (*bytes < 0 || *bytes > BYTES_MOST || fseeko(f, 0, SEEK_SET) != 0) {
        err = err_set(ERR_FILE, "%s: is not a text file of at most %ld bytes", path,
                      (long)BYTES_MOST);
        goto out;
    }
    *text = mem_zero((size_t)*bytes + 1, "sinks");
    if (fread(*text, 1, (size_t)*bytes, f) != (size_t)*bytes)
        err = err_set(ERR_FILE, "%s: cannot be read", path);
out:
    fclose(f); /* read only */
    return err;
}

/* Twelve numbers, between commas or blanks; Fortran's D is an exponent. False: something else. */
static bool parse(const char *line, double q[NUMBERS])
{
    char s[1024];
    size_t n = strcspn(line, "\n");
    if (n >= sizeof s) return false;
    memcpy(s, line, n);
    s[n] = 0;
    for (char *c = s; *c; c++) *c = *c == 'd' || *c == 'D' ? 'e' : *c == ',' ? ' ' : *c;
    char *at = s, *end;
    for (int k = 0; k < NUMBERS; k++, at = end) {
        q[k] = strtod(at, &end);
        if (end == at) return false;
    }
    return at[strspn(at, " \t\r")] == 0;
}

static enum err check(const char *path, int64_t line, const struct mesh *m, const double q[NUMBERS])
{
    bool finite = true;
    for (int k = 0; k < NUMBERS; k++) finite &= isfinite(q[k]) != 0;
    if (!finite) FAIL(ERR_FORMAT, "%s: line %ld has a number that is not finite", path, (long)line);
    if (!(q[0] > 0) || !(q[10] >= 0) || !(q[11] >= 0))
        FAIL(ERR_FORMAT,
             "%s: line %ld: a sink needs a mass above 0, not %g, and masses of its black hole and "
             "since its last star, %g and %g, that are not negative",
             path, (long)line, q[0], q[10], q[11]);
    for (int d = 0; d < 3; d++)
        if (!(fabs(q[1 + d]) <= 0.5 * m->boxlen))
            FAIL(
                ERR_FORMAT,
                "%s: line %ld: the sink is at %g from the centre of the box, along axis %d, and so "
                "outside of it: places are from the centre, at most boxlen/2 = %g",
                path, (long)line, q[1 + d], d + 1, 0.5 * m->boxlen);
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

static int by_place(const void *a, const void *b)
{
    const struct sink *x = a, *y = b;
    for (int d = 0; d < 3; d++)
        if (x->x[d] != y->x[d]) return x->x[d] > y->x[d] ? 1 : -1;
    return (x->id > y->id) - (x->id < y->id);
}

static enum err check_places(const char *path, struct sink *at, int64_t n)
{
    mem_sort(at, (size_t)n, sizeof *at, by_place);
    for (int64_t i = 1; i < n; i++)
        if (memcmp(at[i - 1].x, at[i].x, sizeof at->x) == 0)
            FAIL(ERR_FORMAT,
                 "%s: sinks %ld and %ld of the file are in one place, %g %g %g: give them one line "
                 "with the sum of their masses",
                 path, (long)at[i - 1].id, (long)at[i].id, at[i].x[0], at[i].x[1], at[i].x[2]);
    return OK;
}

static enum err read_text(struct sinks *all, const char *path, const char *text,
                          const struct mesh *m, double t)
{
    int64_t line = 1;
    for (const char *s = text; *s; s += strcspn(s, "\n"), s += *s == '\n', line++) {
        double q[NUMBERS];
        if (s[strspn(s, " \t\r")] == '\n' || !s[strspn(s, " \t\r")]) continue;
        if (!parse(s, q))
            FAIL(ERR_FORMAT,
                 "%s: line %ld is not the twelve numbers of a sink: mass, place, velocity, angular "
                 "momentum, mass of its black hole, mass since its last star",
                 path, (long)line);
        TRY(check(path, line, m, q));
        struct sink *a = sinks_add(all, 1);
        a->id = all->made + all->n;
        fill(a, m, q, t);
    }
    return check_places(path, all->at, all->n);
}

enum err sinks_read_initial(struct sinks *s, const char *path, const struct comm *c,
                            const struct mesh *m, double t, int64_t *n)
{
    char *text = NULL;
    int64_t bytes = 0;
    struct sinks all = {.made = s->made};
    enum err err = err_agree(c, c->rank == 0 ? load(path, &text, &bytes) : OK);
    if (err == OK) comm_bcast(c, &bytes, sizeof bytes, 0);
    if (err == OK && c->rank > 0) text = mem_zero((size_t)bytes + 1, "sinks");
    if (err == OK) comm_bcast(c, text, (size_t)bytes, 0);
    if (err == OK) err = err_agree(c, read_text(&all, path, text, m, t));
    for (int64_t i = 0; i < all.n && err == OK; i++)
        if (i % c->size == c->rank) *sinks_add(s, 1) = all.at[i];
    *n = all.n;
    s->made += all.n;
    sinks_free(&all);
    FREE(text);
    return err;
}
