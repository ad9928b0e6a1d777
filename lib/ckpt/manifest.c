#include "ckpt/manifest.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/checksum.h"
#include "base/mem.h"
#include "ckpt/files.h"
#include "io/file.h"

enum { LINE = 128 };
static const size_t TEXT_MAX = (size_t)1 << 30, PIECE = (size_t)4 << 20;
static const char HEAD[] = "ptah-checksums 1\n", BACKUP[] = "backup\n";

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct manifest_row *)a)->name, ((const struct manifest_row *)b)->name);
}

static struct manifest_row *new_row(struct manifest *m)
{
    if (m->n == m->room)
        m->row = mem_grow(m->row, sizeof *m->row * (size_t)(m->room = 2 * m->room + 16),
                          "checksums");
    return &m->row[m->n++];
}

void manifest_fini(struct manifest *m)
{
    FREE(m->row);
    *m = (struct manifest){0};
}

/* ---- writing ---- */

void manifest_add(struct manifest *m, const char *path, int64_t bytes, uint64_t sum)
{
    const char *slash = strrchr(path, '/');
    if (!m) return;
    struct manifest_row row = {.bytes = bytes, .sum = sum};
    int k = snprintf(row.name, sizeof row.name, "%s", slash ? slash + 1 : path);
    BUG_ON(k < 0 || k >= (int)sizeof row.name);
#pragma omp critical(manifest)
    *new_row(m) = row;
}

void manifest_told(void *m, const char *path, int64_t bytes, uint64_t sum)
{
    manifest_add(m, path, bytes, sum);
}

static void gather(struct manifest *m, const struct comm *c)
{
    int64_t *count = mem_zero(sizeof *count * (size_t)c->size, "checksums"), n;
    count[0] = m->n;
    void *all = comm_exchange_all(c, m->row, count, sizeof *m->row, &n, NULL);
    FREE(count);
    FREE(m->row);
    m->row = all;
    m->n = m->room = n;
    mem_sort(m->row, (size_t)n, sizeof *m->row, by_name);
}

static char *make_text(const struct manifest *m, size_t *n)
{
    size_t room = LINE * (size_t)(m->n + 3);
    char *text = mem_new(room, "checksums");
    *n = (size_t)snprintf(text, room, "%s%s", HEAD, m->backup ? BACKUP : "");
    for (int64_t i = 0; i < m->n; i++)
        *n += (size_t)snprintf(text + *n, room - *n, "%016lx %ld %s\n",
                               (unsigned long)m->row[i].sum, (long)m->row[i].bytes, m->row[i].name);
    *n += (size_t)snprintf(text + *n, room - *n, "%016lx end\n",
                           (unsigned long)checksum_of(text, *n));
    return text;
}

enum err manifest_write(struct manifest *m, const struct comm *c, const char *dir, int number,
                        struct sync_async *sync)
{
    char path[PATH_MAX];
    size_t n;
    gather(m, c);
    if (c->rank != 0) return OK;
    TRY(files_path(dir, FILES_SUMS, number, 0, path));
    char *text = make_text(m, &n);
    enum err err = sync_save(sync, path, text, n);
    FREE(text);
    return err;
}

/* ---- reading ---- */

static enum err bad_line(const char *path, int64_t number, const char *why)
{
    FAIL(ERR_FORMAT, "%s: line %ld %s", path, (long)number, why);
}

static bool skip_words(const char **s, const char *words)
{
    size_t n = strlen(words);
    if (strncmp(*s, words, n) != 0) return false;
    *s += n;
    return true;
}

/* Parses 16 hexadecimal digits and a space. */
static bool get_sum(const char **s, uint64_t *sum)
{
    *sum = 0;
    for (int i = 0; i < 16; i++) {
        const char *digits = "0123456789abcdef", *d = **s ? strchr(digits, **s) : NULL;
        if (!d) return false;
        *sum = *sum << 4 | (uint64_t)(d - digits);
        (*s)++;
    }
    return *(*s)++ == ' ';
}

/* Parses "BYTES NAME" up to the end of the line; a name has no directory and no characters special
 * to a shell or a terminal. */
static bool get_file(const char **s, struct manifest_row *r)
{
    for (r->bytes = 0; **s >= '0' && **s <= '9' && r->bytes < INT64_MAX / 16; (*s)++)
        r->bytes = 10 * r->bytes + **s - '0';
    if (*(*s)++ != ' ') return false;
    size_t n = strspn(*s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.");
    if (n == 0 || n >= sizeof r->name || **s == '.' || (*s)[n] != '\n') return false;
    memcpy(r->name, *s, n);
    r->name[n] = 0;
    *s += n + 1;
    return true;
}

enum err manifest_parse(const char *path, const char *text, size_t n, struct manifest *m)
{
    const char *s = text, *line = text;
    uint64_t sum;
    int64_t number = 1;
    *m = (struct manifest){0};
    if (strlen(text) != n || !skip_words(&s, HEAD))
        return bad_line(
            path, number,
            "is not 'ptah-checksums 1': this is no list of checksums, or a damaged one");
    if (skip_words(&s, BACKUP)) m->backup = true, number++;
    for (;; number++) {
        line = s;
        if (!get_sum(&s, &sum))
            return bad_line(path, number + 1, "has no checksum: the file is damaged or cut off");
        if (skip_words(&s, "end\n")) break;
        struct manifest_row *r = new_row(m);
        *r = (struct manifest_row){.sum = sum};
        if (!get_file(&s, r))
            return bad_line(path, number + 1, "does not name a file: the file is damaged");
        if (m->n > 1 && by_name(r - 1, r) >= 0)
            return bad_line(path, number + 1, "is out of order: the file is damaged");
    }
    if (s != text + n)
        return bad_line(path, number + 1, "should be the last line: the file is damaged");
    if (!checksum_agrees(sum, checksum_of(text, (size_t)(line - text))))
        FAIL(ERR_FORMAT, "%s: its own checksum is wrong: the file is damaged", path);
    return OK;
}

enum err manifest_load(const char *dir, int number, struct manifest **out)
{
    char path[PATH_MAX], *text;
    size_t n;
    *out = NULL;
    TRY(files_path(dir, FILES_SUMS, number, 0, path));
    if (!file_exists(path)) return OK;
    TRY(file_load(path, TEXT_MAX, &text, &n));
    struct manifest *m = mem_zero(sizeof *m, "checksums");
    enum err err = manifest_parse(path, text, n, m);
    mem_free(text);
    *out = m;
    if (err != OK) manifest_free(out);
    return err;
}

bool manifest_is_backup(const char *dir, int number)
{
    char path[PATH_MAX], text[sizeof HEAD + sizeof BACKUP] = {0};
    const char *s = text;
    int fd;
    int64_t size;
    if (files_path(dir, FILES_SUMS, number, 0, path) != OK) return false;
    if (file_open(path, &fd, &size) != OK) return false;
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    close(fd);
    return n > 0 && skip_words(&s, HEAD) && skip_words(&s, BACKUP);
}

void manifest_free(struct manifest **m)
{
    if (*m) manifest_fini(*m);
    FREE(*m);
}

static enum err sum_file(int fd, const char *path, int64_t bytes, uint64_t *sum)
{
    struct checksum c = {0};
    char *piece = mem_new(PIECE, "checksums");
    enum err err = OK;
    for (int64_t at = 0; err == OK && at < bytes; at += (int64_t)PIECE) {
        size_t n = bytes - at < (int64_t)PIECE ? (size_t)(bytes - at) : PIECE;
        err = file_read_at(fd, path, piece, n, at);
        if (err == OK) checksum_add(&c, piece, n, at);
    }
    FREE(piece);
    if (err == OK)
        *sum = checksum_end(&c);
    else
        FREE(c.part);
    return err;
}

static enum err check_size(const char *path, const struct manifest_row *r, int64_t bytes)
{
    if (bytes == r->bytes) return OK;
    FAIL(ERR_FORMAT, "%s: has %ld bytes where %ld were written: the file is damaged", path,
         (long)bytes, (long)r->bytes);
}

static enum err check_sum(const char *path, const struct manifest_row *r, uint64_t sum)
{
    if (sum == r->sum) return OK;
    FAIL(ERR_FORMAT,
         "%s: its checksum is wrong: the file is damaged, or belongs to another checkpoint", path);
}

static enum err check_row(const char *path, const struct manifest_row *r)
{
    uint64_t sum = 0;
    int64_t size;
    int fd;
    TRY(file_open(path, &fd, &size));
    enum err err = check_size(path, r, size);
    if (err == OK) err = sum_file(fd, path, r->bytes, &sum);
    close(fd);
    return err == OK ? check_sum(path, r, sum) : err;
}

static const struct manifest_row *find_row(const struct manifest *m, const char *name)
{
    struct manifest_row key;
    if (!m || !m->n || snprintf(key.name, sizeof key.name, "%s", name) >= (int)sizeof key.name)
        return NULL;
    return mem_find(&key, m->row, (size_t)m->n, sizeof key, by_name);
}

bool manifest_has(const struct manifest *m, const char *name)
{
    return find_row(m, name) != NULL;
}

/* Finds the row of a file that must be listed. */
static enum err need_row(const struct manifest *m, const char *dir, const char *name,
                         char path[PATH_MAX], const struct manifest_row **r)
{
    if (snprintf(path, PATH_MAX, "%s/%s", dir, name) >= PATH_MAX)
        FAIL(ERR_FILE, "%.80s…: the path is too long", dir);
    *r = find_row(m, name);
    if (!*r)
        FAIL(ERR_FORMAT,
             "%s: is not listed in the checksums of its checkpoint: it belongs to another one",
             path);
    return OK;
}

enum err manifest_check_file(const struct manifest *m, const char *dir, const char *name)
{
    char path[PATH_MAX];
    const struct manifest_row *r;
    if (!m) return OK;
    TRY(need_row(m, dir, name, path, &r));
    return check_row(path, r);
}

enum err manifest_check_sum(const struct manifest *m, const char *dir, const char *name,
                            int64_t bytes, uint64_t sum)
{
    char path[PATH_MAX];
    const struct manifest_row *r;
    TRY(need_row(m, dir, name, path, &r));
    TRY(check_size(path, r, bytes));
    return check_sum(path, r, sum);
}
