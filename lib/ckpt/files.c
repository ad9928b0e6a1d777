#include "ckpt/files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/file.h"
#include "io/temp.h"

static const struct row {
    const char *form;
    unsigned roles;
    enum files_fate fate;
    const char *content;
} ROW[FILES_KINDS] = {
#define MAIN FILES_MAIN
#define LISTED FILES_LISTED
#define PIECE FILES_PIECE
#define BESIDE FILES_BESIDE
#define PLAIN FILES_PLAIN
#define CKPT_FILE(id, form, roles, fate, content) {form, (unsigned)(roles), FILES_##fate, content},
#include "ckpt/files.def"
#undef MAIN
#undef LISTED
#undef PIECE
#undef BESIDE
#undef PLAIN
};
enum { DIGITS = 5 };

/* ---- names ---- */

/* Whether a form has a number here (NNNNN or RRRRR). */
static bool is_number(const char *form)
{
    return strncmp(form, "NNNNN", DIGITS) == 0 || strncmp(form, "RRRRR", DIGITS) == 0;
}

/* Whether the rest of a row's form is the rank from 0, without leading zeros. */
static bool is_plain(const struct row *r, const char *form)
{
    return (r->roles & FILES_PLAIN) && strcmp(form, "RRRRR") == 0;
}

void files_name(enum files_kind k, int number, int rank, char name[FILES_NAME])
{
    size_t n = 0;
    for (const char *f = ROW[k].form; *f; f++) {
        if (is_plain(&ROW[k], f)) {
            snprintf(name + n, FILES_NAME - n, "%d", rank - 1);
            return;
        }
        bool is = is_number(f);
        int x = *f == 'N' ? number : rank;
        BUG_ON(n + DIGITS + 1 > FILES_NAME || (is && (x < 0 || x > 99999)));
        if (is)
            n += (size_t)snprintf(name + n, FILES_NAME - n, "%05d", x), f += DIGITS - 1;
        else
            name[n++] = *f;
    }
    name[n] = 0;
}

enum err files_path(const char *dir, enum files_kind k, int number, int rank, char path[PATH_MAX])
{
    char name[FILES_NAME];
    files_name(k, number, rank, name);
    if (snprintf(path, PATH_MAX, "%s/%s", dir, name) >= PATH_MAX)
        FAIL(ERR_FILE, "%.80s…: the path is too long", dir);
    return OK;
}

/* Parses five digits; −1 for anything else. */
static int get_number(const char *s)
{
    int x = 0;
    for (int i = 0; i < DIGITS; i++) {
        if (s[i] < '0' || s[i] > '9') return -1;
        x = 10 * x + s[i] - '0';
    }
    return x;
}

/* Parses a rank from 0; −1 for anything else. */
static int get_plain(const char *s)
{
    size_t n = strlen(s);
    bool is = n > 0 && n <= DIGITS && strspn(s, "0123456789") == n && (n == 1 || *s != '0');
    return is ? (int)strtol(s, NULL, 10) : -1;
}

static bool fits(const char *name, const struct row *r, struct files_name *f)
{
    const char *form = r->form;
    while (*form) {
        if (is_plain(r, form)) {
            f->rank = get_plain(name) + 1;
            return f->rank > 0;
        }
        bool is = is_number(form);
        int x = is ? get_number(name) : 0;
        if (is ? x < 0 : *form != *name) return false;
        if (is) *(*form == 'N' ? &f->number : &f->rank) = x;
        form += is ? DIGITS : 1, name += is ? DIGITS : 1;
    }
    return !*name;
}

struct files_name files_of(const char *name)
{
    for (int k = 0; k < FILES_KINDS; k++) {
        struct files_name f = {(enum files_kind)k, -1, -1};
        if (fits(name, &ROW[k], &f)) return f;
    }
    return (struct files_name){FILES_KINDS, -1, -1};
}

bool files_has_role(enum files_kind k, enum files_role role)
{
    return k < FILES_KINDS && ROW[k].roles & role;
}

enum files_fate files_fate(enum files_kind k)
{
    return k < FILES_KINDS ? ROW[k].fate : FILES_LEFT;
}

const char *files_form(enum files_kind k)
{
    return ROW[k].form;
}

const char *files_content(enum files_kind k)
{
    return ROW[k].content;
}

enum files_kind files_meant(const char *name)
{
    char whole[FILES_NAME];
    size_t n = temp_is(name);
    if (n >= sizeof whole) return FILES_KINDS;
    snprintf(whole, sizeof whole, "%.*s", (int)n, name);
    return files_of(n ? whole : name).kind;
}

bool files_may_go(const char *name)
{
    enum files_kind k = files_meant(name);
    return k < FILES_KINDS && !files_has_role(k, FILES_BESIDE);
}

/* ---- directories ---- */

enum err files_each(const char *dir, files_fn *fn, void *ctx)
{
    DIR *d = opendir(dir);
    enum err err = OK;
    if (!d)
        FAIL(ERR_FILE, "%s: cannot read the directory: %s%s", dir, strerror(errno), file_hint(dir));
    for (struct dirent *e; err == OK && (errno = 0, e = readdir(d));) {
        struct files_name f = files_of(e->d_name);
        bool dots = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0;
        if (!dots) err = fn(ctx, e->d_name, &f);
    }
    int trouble = err == OK ? errno : 0;
    closedir(d);
    if (trouble) FAIL(ERR_FILE, "%s: cannot read the directory: %s", dir, strerror(trouble));
    return err;
}

struct count {
    enum files_kind kind;
    int number, n;
    struct files_name *last;
};

static enum err count_one(void *ctx, const char *name, const struct files_name *f)
{
    struct count *c = ctx;
    if (f->kind != c->kind || (c->number >= 0 && f->number != c->number)) return OK;
    c->n++;
    *c->last = *f;
    return OK;
}

enum err files_count(const char *dir, enum files_kind k, int number, int *n,
                     struct files_name *last)
{
    struct count c = {.kind = k, .number = number, .last = last};
    TRY(files_each(dir, count_one, &c));
    *n = c.n;
    return OK;
}
