#include "io/table.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "io/file.h"

static const size_t PIECE = (size_t)64 << 10, LINE_MAX = (size_t)64 << 20;
enum { QUOTE = 30 }; /* maximum characters of a word quoted in a message */

/* A loop is faster than strspn, which builds a table of its set at each call. */
static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static char *skip_blanks(char *s)
{
    while (is_blank(*s)) s++;
    return s;
}

/* ---- opening ---- */

static enum err too_long(const struct table *t)
{
    return err_set(ERR_LIMIT, "%s: has more than the %lld bytes expected at most", t->path,
                   (long long)t->max);
}

enum err table_open(struct table *t, const char *path, unsigned how, int64_t max)
{
    bool pipe = how & TABLE_PIPE, standard = pipe && strcmp(path, "-") == 0;
    int64_t size = 0;
    *t = (struct table){.path = standard ? "standard input" : path,
                        .how = how,
                        .fd = STDIN_FILENO,
                        .end = INT64_MAX,
                        .max = max};
    if (!standard) TRY(pipe ? file_open_any(path, &t->fd) : file_open(path, &t->fd, &size));
    if (size > max) {
        close(t->fd);
        return too_long(t);
    }
    t->size = standard || pipe ? max : size;
    t->room = PIECE;
    t->buf = mem_new(t->room + 1, "text file");
    return OK;
}

void table_close(struct table *t)
{
    if (t->buf && t->fd != STDIN_FILENO) close(t->fd);
    FREE(t->buf);
}

/* ---- lines ---- */

/* Reads more bytes after the unread ones; *over: end of file. */
static enum err load(struct table *t, bool *over)
{
    memmove(t->buf, t->buf + t->head, t->fill - t->head);
    t->fill -= t->head;
    t->head = 0;
    if (t->fill == t->room) {
        if (t->room >= LINE_MAX)
            FAIL(ERR_FORMAT, "%s: line %lld is longer than %zu bytes", t->path,
                 (long long)table_line(t), LINE_MAX);
        t->buf = mem_grow(t->buf, (t->room *= 2) + 1, "text file");
    }
    ssize_t n;
    do n = read(t->fd, t->buf + t->fill, t->room - t->fill);
    while (n < 0 && errno == EINTR);
    if (n < 0) FAIL(ERR_FILE, "%s: cannot read: %s", t->path, strerror(errno));
    t->fill += (size_t)n;
    t->location += n;
    *over = n == 0;
    return t->location > t->max ? too_long(t) : OK;
}

/* Takes the next line, blank or not. */
static enum err take_line(struct table *t, bool *got)
{
    size_t seen = 0;
    bool over = false;
    *got = t->location - (int64_t)(t->fill - t->head) < t->end;
    if (!*got) return OK;
    t->line++;
    char *end = NULL;
    for (;;) {
        size_t more = t->fill - t->head - seen;
        char *from = t->buf + t->head + seen;
        end = more ? memchr(from, '\n', more) : NULL;
        if (!(t->how & TABLE_LOG) && memchr(from, 0, end ? (size_t)(end - from) : more))
            FAIL(ERR_FORMAT, "%s: line %lld contains a zero byte: the file is not text", t->path,
                 (long long)table_line(t));
        if (end || over) break;
        seen += more;
        TRY(load(t, &over));
    }
    t->at = t->buf + t->head;
    size_t n = end ? (size_t)(end - t->at) : t->fill - t->head;
    *got = end || n > 0;
    t->at[n] = 0;
    t->head += n + (end != NULL);
    return OK;
}

enum err table_next(struct table *t, bool *got)
{
    do {
        TRY(take_line(t, got));
        if (!*got) return OK;
        char *note = t->how & TABLE_NOTES ? strchr(t->at, '#') : NULL;
        if (note) *note = 0;
    } while (!*skip_blanks(t->at));
    return OK;
}

/* Number of newlines before the first line read. */
static int64_t lines_before(const struct table *t)
{
    char *piece = mem_new(PIECE, "text file");
    int64_t lines = 0;
    for (int64_t at = 0; at < t->begin;) {
        size_t max = t->begin - at < (int64_t)PIECE ? (size_t)(t->begin - at) : PIECE;
        ssize_t n = pread(t->fd, piece, max, at);
        if (n <= 0) break;
        for (ssize_t i = 0; i < n; i++) lines += piece[i] == '\n';
        at += n;
    }
    mem_free(piece);
    return lines;
}

int64_t table_line(const struct table *t)
{
    return t->line + (t->begin ? lines_before(t) : 0);
}

/* ---- parts of a file ---- */

enum err table_seek(struct table *t, int64_t begin, int64_t end)
{
    if (lseek(t->fd, begin, SEEK_SET) < 0)
        FAIL(ERR_FILE, "%s: cannot read from byte %lld on: %s", t->path, (long long)begin,
             strerror(errno));
    t->begin = t->location = begin;
    t->end = end;
    t->line = 0;
    t->head = t->fill = 0;
    return OK;
}

/* Offset of the first line that begins at `at` or later. */
static enum err line_begin(struct table *t, int64_t at, int64_t *begin)
{
    bool got;
    *begin = at;
    if (at == 0) return OK;
    TRY(table_seek(t, at - 1, INT64_MAX)); /* skips the rest of the previous line */
    TRY(take_line(t, &got));
    *begin = t->location - (int64_t)(t->fill - t->head);
    return OK;
}

enum err table_share(struct table *t, int i, int n, int64_t *begin, int64_t *end)
{
    int64_t size = lseek(t->fd, 0, SEEK_END);
    unsigned how = t->how;
    if (size < 0) FAIL(ERR_FILE, "%s: %s", t->path, strerror(errno));
    t->how |= TABLE_LOG; /* the rank that reads a line reports its errors */
    enum err err = line_begin(t, (int64_t)((__int128)size * i / n), begin);
    if (err == OK) err = line_begin(t, (int64_t)((__int128)size * (i + 1) / n), end);
    t->how = how;
    return err;
}

/* ---- words ---- */

enum err table_holds(const struct table *t, double n)
{
    if (2 * n <= (double)t->size + 1) return OK;
    FAIL(ERR_FORMAT,
         "%s: line %lld: %.0f numbers should follow, more than the file's %lld bytes hold", t->path,
         (long long)table_line(t), n, (long long)t->size);
}

char *table_word(struct table *t)
{
    char *word = skip_blanks(t->at), *end = word;
    while (*end && *end != ',' && !is_blank(*end)) end++;
    t->at = skip_blanks(end);
    if (end == word && *end != ',') return NULL;
    if (*t->at == ',') t->at++; /* the comma belongs to the previous word */
    *end = 0;
    return word;
}

static enum err to_number(const struct table *t, const char *word, const char *what, double *x)
{
    if (!*word)
        FAIL(ERR_FORMAT, "%s: line %lld: expected %s before a comma", t->path,
             (long long)table_line(t), what);
    const char *end = word;
    if (!text_real(&end, x) || !isfinite(*x))
        FAIL(ERR_FORMAT, "%s: line %lld: '%.*s%s' is not %s", t->path, (long long)table_line(t),
             QUOTE, word, strlen(word) > QUOTE ? "…" : "", what);
    return OK;
}

enum err table_flow(struct table *t, const char *what, double *x)
{
    const char *word = t->at ? table_word(t) : NULL;
    for (bool got; !word; word = table_word(t)) {
        TRY(table_next(t, &got));
        if (!got)
            FAIL(ERR_FORMAT, "%s: ends after line %lld, where %s should follow", t->path,
                 (long long)table_line(t), what);
    }
    return to_number(t, word, what, x);
}

enum err table_numbers(struct table *t, int n, const char *what, double *x)
{
    for (int i = 0; i < n; i++) {
        const char *word = table_word(t);
        if (!word)
            FAIL(ERR_FORMAT, "%s: line %lld: needs %d numbers: %s; it has %d", t->path,
                 (long long)table_line(t), n, what, i);
        TRY(to_number(t, word, "a number", &x[i]));
    }
    return OK;
}

enum err table_row(struct table *t, int n, const char *what, double *x)
{
    TRY(table_numbers(t, n, what, x));
    return table_end(t, what);
}

enum err table_end(struct table *t, const char *what)
{
    const char *word = table_word(t);
    if (!word) return OK;
    FAIL(ERR_FORMAT, "%s: line %lld: unexpected '%.*s' (expected: %s)", t->path,
         (long long)table_line(t), QUOTE, word, what);
}

enum err table_rest(struct table *t, int max, bool *more)
{
    int n = 0;
    while (table_word(t)) n++;
    *more |= n > 0;
    if (n <= max) return OK;
    FAIL(ERR_FORMAT, "%s: line %lld has %d column%s too many: at most %d could be ignored", t->path,
         (long long)table_line(t), n - max, n - max == 1 ? "" : "s", max);
}

enum err table_over(struct table *t, const char *what)
{
    bool got = false;
    if (t->at) TRY(table_end(t, what));
    TRY(table_next(t, &got));
    return got ? table_end(t, what) : OK;
}
