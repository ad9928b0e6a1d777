/* io/ascii_part: see ascii_part.h. Two passes over a part: count, then parse. */
#include "io/ascii_part.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MAX_BYTES = 4096 };

static enum err line_next(FILE *f, const char *path, char line[LINE_MAX_BYTES], bool *got);
static bool line_blank(const char *s);
static const char *line_parse(char *s, double q[7]);
static int64_t line_number(FILE *f, int64_t at);
static int64_t line_begin(FILE *f, int64_t at);

enum err ascii_part_count(const char *path, int share, int nshare, struct ascii_share *s)
{
    enum err err = OK;
    char line[LINE_MAX_BYTES];
    bool got = true;
    *s = (struct ascii_share){0};
    FILE *f = fopen(path, "r");
    if (!f) FAIL(ERR_FILE, "%s: cannot be opened: %s", path, strerror(errno));
    if (fseeko(f, 0, SEEK_END) != 0) {
        err = err_set(ERR_FILE, "%s: %s", path, strerror(errno));
        goto out;
    }
    int64_t size = ftello(f);
    s->end = line_begin(f, (int64_t)((__int128)size * (share + 1) / nshare));
    s->begin = line_begin(f, (int64_t)((__int128)size * share / nshare));
    fseeko(f, s->begin, SEEK_SET);
    while (got && ftello(f) < s->end) {
        TRY_OUT(line_next(f, path, line, &got));
        s->n += got && !line_blank(line);
    }
out:
    fclose(f); /* read only */
    return err;
}

/* The first axis along which a particle is outside of the box; -1: none. */
static int axis_outside(const struct ascii_share *s, const double q[7])
{
    for (int d = 0; d < 3 && s->boxlen > 0; d++) {
        double x = q[d] + s->boxlen / 2, more = s->periodic[d] ? s->boxlen : 0;
        if (!(x >= -more && x < s->boxlen + more)) return d;
    }
    return -1;
}

enum err ascii_part_read(const char *path, const struct ascii_share *s, double *const x[3],
                         double *const v[3], double *m)
{
    enum err err = OK;
    char line[LINE_MAX_BYTES];
    FILE *f = fopen(path, "r");
    if (!f) FAIL(ERR_FILE, "%s: cannot be opened: %s", path, strerror(errno));
    fseeko(f, s->begin, SEEK_SET);
    for (int64_t i = 0; i < s->n;) {
        int64_t at = ftello(f);
        double q[7];
        bool got;
        TRY_OUT(line_next(f, path, line, &got));
        if (!got) {
            err = err_set(ERR_FILE, "%s: shrank while it was read", path);
            goto out;
        }
        if (line_blank(line)) continue;
        const char *wrong = line_parse(line, q);
        if (wrong) {
            err = err_set(ERR_FORMAT, "%s: line %lld: %s", path, (long long)line_number(f, at),
                          wrong);
            goto out;
        }
        int out = axis_outside(s, q);
        if (out >= 0) {
            err = err_set(ERR_PARAM,
                          "%s: line %lld: particle at %.9g along %c is outside the box: places are "
                          "from its centre, up to %g",
                          path, (long long)line_number(f, at), q[out], 'x' + out, s->boxlen / 2);
            goto out;
        }
        for (int d = 0; d < 3; d++) {
            x[d][i] = q[d];
            v[d][i] = q[3 + d];
        }
        m[i++] = q[6];
    }
out:
    fclose(f);
    return err;
}

/* A line without its end; *got is false at the end of the file. */
static enum err line_next(FILE *f, const char *path, char line[LINE_MAX_BYTES], bool *got)
{
    int64_t at = ftello(f);
    *got = fgets(line, LINE_MAX_BYTES, f) != NULL;
    if (!*got && ferror(f)) FAIL(ERR_FILE, "%s: %s", path, strerror(errno));
    if (!*got) return OK;
    size_t n = strlen(line);
    if (n > 0 && line[n - 1] == '\n')
        line[n - 1] = '\0';
    else if (ftello(f) - at > (int64_t)n)
        FAIL(ERR_FORMAT, "%s: line %lld contains a zero byte: the file is not text", path,
             (long long)line_number(f, at));
    else if (n == LINE_MAX_BYTES - 1)
        FAIL(ERR_FORMAT, "%s: line %lld is longer than %d bytes", path,
             (long long)line_number(f, at), LINE_MAX_BYTES);
    return OK;
}

static bool line_blank(const char *s)
{
    return s[strspn(s, " \t\r")] == '\0';
}

/* Seven numbers, or the error (lent: static text). */
static const char *line_parse(char *s, double q[7])
{
    for (char *p = s; *p; p++)
        if (*p == 'd' || *p == 'D') *p = 'e';
    for (int i = 0; i < 7; i++) {
        char *end;
        q[i] = strtod(s, &end);
        if (end == s) return "needs 7 numbers: x y z vx vy vz m";
        if (*end && !strchr(" \t\r,", *end)) return "holds something that is not a number";
        if (!isfinite(q[i])) return "holds a number that is not finite";
        s = end + strspn(end, " \t\r");
        if (*s == ',') s++;
    }
    return q[6] < 0 ? "holds a negative mass" : NULL;
}

/* Offset of the first line that begins at `at` or later. */
static int64_t line_begin(FILE *f, int64_t at)
{
    if (at == 0) return 0;
    fseeko(f, at - 1, SEEK_SET);
    for (int c = getc(f); c != '\n' && c != EOF; c = getc(f)) continue;
    return ftello(f);
}

static int64_t line_number(FILE *f, int64_t at)
{
    int64_t n = 1;
    rewind(f);
    for (int64_t i = 0; i < at; i++) n += getc(f) == '\n';
    return n;
}
