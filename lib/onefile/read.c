/* onefile/read: opens a file, and reads its header, checksums and texts. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/checksum.h"
#include "base/mem.h"
#include "ckpt/manifest.h"
#include "onefile/onefile.h"

/* ---- paths ---- */

/* The directory of the path of a checkpoint, or of a file in it. */
static void directory_of(const char *path, char dir[PATH_MAX])
{
    struct stat st;
    snprintf(dir, PATH_MAX, "%s", path);
    if (strlen(path) >= PATH_MAX || stat(path, &st) != 0 || !S_ISREG(st.st_mode)) return;
    char *slash = strrchr(dir, '/');
    enum files_kind k = files_of(slash ? slash + 1 : dir).kind;
    if (k == FILES_KINDS || files_has_role(k, FILES_BESIDE)) return;
    if (slash)
        slash[slash == dir] = 0;
    else
        snprintf(dir, PATH_MAX, ".");
}

/* Whether a directory is such a checkpoint; its number. */
static bool find(const char *dir, enum files_kind kind, int *number)
{
    struct files_name last;
    int n;
    bool is = files_count(dir, kind, -1, &n, &last) == OK && n == 1;
    if (is) *number = last.number;
    return is;
}

bool onefile_is(const char *path, enum files_kind kind)
{
    char dir[PATH_MAX];
    int number;
    directory_of(path, dir);
    return find(dir, kind, &number);
}

/* ---- attributes ---- */

enum err onefile_numbers(struct onefile *f, const char *name, char type, int64_t *n, int64_t max,
                         void *p)
{
    struct h5_value v = {0};
    int64_t at = h5_find(&f->h5, "header");
    bool exists = at && h5_attr(&f->h5, at, name, &v);
    if (f->h5.err != OK) return f->h5.err;
    bool fits = exists && v.data && v.n <= max && strchr(type == 'd' ? "d" : "qi", v.type);
    if (fits) h5_widen(v.type, v.n, v.data, p);
    FREE(v.data);
    *n = exists ? v.n : 0;
    if (exists && !fits)
        FAIL(ERR_FORMAT, "%s: attribute %s of /header does not have %ld number%s", f->file, name,
             (long)max, max > 1 ? "s at most" : "");
    return OK;
}

enum err onefile_one(struct onefile *f, const char *name, char type, void *p)
{
    int64_t n;
    TRY(onefile_numbers(f, name, type, &n, 1, p));
    if (n != 1)
        FAIL(ERR_FORMAT, "%s: /header has no attribute %s: the file is damaged", f->file, name);
    return OK;
}

enum err onefile_names_of(struct onefile *f, const char *object, const char *name, int max,
                          char (*names)[ONEFILE_NAME], int *n)
{
    struct h5_value v = {0};
    int64_t at = h5_find(&f->h5, object);
    bool exists = at && h5_attr(&f->h5, at, name, &v);
    if (f->h5.err != OK) return f->h5.err;
    bool fits = exists && v.data && v.type == 's' && v.n % ONEFILE_NAME == 0 &&
                v.n <= (int64_t)max * ONEFILE_NAME;
    if (fits) memcpy(names, v.data, (size_t)v.n);
    *n = fits ? (int)(v.n / ONEFILE_NAME) : 0;
    FREE(v.data);
    if (exists && !fits)
        FAIL(ERR_FORMAT, "%s: attribute %s of /%s is not a list of names: the file is damaged",
             f->file, name, object);
    return OK;
}

enum err onefile_names(struct onefile *f, const char *name, int max, char (*names)[ONEFILE_NAME],
                       int *n)
{
    return onefile_names_of(f, "header", name, max, names, n);
}

enum err onefile_keys(struct onefile *f, struct onefile_keys *k)
{
    int64_t n;
    TRY(onefile_names(f, "keys", ONEFILE_KEYS, k->name, &k->n));
    TRY(onefile_numbers(f, "values", 'd', &n, ONEFILE_KEYS, k->value));
    if (n != k->n)
        FAIL(ERR_FORMAT, "%s: /header has %d keys, but %ld values", f->file, k->n, (long)n);
    return OK;
}

static enum err check_solver(struct onefile *f, const char *solver, int expected)
{
    struct h5_value v = {0};
    const int64_t n = (int64_t)strlen(solver);
    int64_t at = h5_find(&f->h5, "header"), version;
    bool is = at && h5_attr(&f->h5, at, "solver", &v) && v.type == 's' && v.n >= n &&
              memcmp(v.data, solver, (size_t)n) == 0 && (v.n == n || v.data[n] == 0);
    FREE(v.data);
    if (f->h5.err != OK) return f->h5.err;
    if (!is)
        FAIL(ERR_FORMAT, "%s: attribute solver of /header is not '%s': the file is damaged",
             f->file, solver);
    TRY(onefile_one(f, "version", 'q', &version));
    if (version != expected)
        FAIL(ERR_FORMAT, "%s: version of /header is %ld, expected %d", f->file, (long)version,
             expected);
    return OK;
}

/* ---- checksums ---- */

static enum err read_sums(struct onefile *f)
{
    struct h5_set s;
    int64_t at = h5_find(&f->h5, "ptah/checksum");
    if (f->h5.err != OK) return f->h5.err;
    if (!at) FAIL(ERR_FORMAT, "%s: has no checksums: the file is damaged", f->file);
    TRY(h5_set_open(&f->h5, at, "ptah/checksum", &s));
    enum err err = OK;
    if (s.type != 'q' || s.n > f->h5.size / 8)
        err = err_set(ERR_FORMAT, "%s: /ptah/checksum is damaged", f->file);
    if (err == OK) {
        f->nsum = s.n;
        f->sum = mem_new(sizeof *f->sum * (size_t)s.n + 8, "snapshot");
        err = h5_set_read(&f->h5, &s, "ptah/checksum", 0, s.n, f->sum);
    }
    h5_set_close(&s);
    return err;
}

enum err onefile_sum(struct onefile *f, int64_t at, const char *name, int64_t n, int64_t *sum)
{
    struct h5_value v = {0};
    bool is = h5_attr(&f->h5, at, "checksum", &v) && v.type == 'q' && v.n == 1 && v.data;
    if (is) memcpy(sum, v.data, 8);
    FREE(v.data);
    if (f->h5.err != OK) return f->h5.err;
    if (!is || *sum < 0 || *sum > f->nsum - n)
        FAIL(ERR_FORMAT, "%s: /%s has no checksums: the file is damaged", f->file, name);
    return OK;
}

/* ---- opening ---- */

enum err onefile_open(struct onefile *f, const char *path, enum files_kind kind, const char *solver,
                      int version)
{
    *f = (struct onefile){.h5 = {.fd = -1}};
    directory_of(path, f->path);
    if (!find(f->path, kind, &f->number))
        FAIL(ERR_FILE, "%s: has no %s, or more than one", path, files_form(kind));
    TRY(files_path(f->path, kind, f->number, 0, f->file));
    TRY(h5_open(&f->h5, f->file));
    TRY(check_solver(f, solver, version));
    return read_sums(f);
}

void onefile_close(struct onefile *f)
{
    h5_close(&f->h5);
    FREE(f->sum);
}

/* ---- small datasets ---- */

enum err onefile_small(struct onefile *f, const char *name, char type, int64_t max, void **p,
                       int64_t *n)
{
    struct h5_set s;
    int64_t sum, at = h5_find(&f->h5, name);
    *p = NULL, *n = 0;
    if (f->h5.err != OK) return f->h5.err;
    if (!at) return OK;
    TRY(h5_table_open(&f->h5, at, name, &s));
    enum err err = onefile_sum(f, at, name, 1, &sum);
    if (err == OK && (s.type != type || s.n > max))
        err = err_set(ERR_FORMAT,
                      "%s: /%s has a wrong type or too many elements: the file is damaged", f->file,
                      name);
    size_t bytes = err == OK ? (size_t)(s.n * h5_size(type)) : 0;
    char *got = mem_zero(bytes + 2, "snapshot");
    if (err == OK) err = h5_set_read(&f->h5, &s, name, 0, s.n, got);
    if (err == OK && !checksum_agrees(f->sum[sum], checksum_of(got, bytes)))
        err = err_set(ERR_FORMAT, "%s: /%s is damaged: it does not match its checksum", f->file,
                      name);
    *n = s.n;
    h5_set_close(&s);
    if (err != OK) FREE(got);
    *p = got;
    return err;
}

enum err onefile_text(struct onefile *f, bool history, char **text, size_t *bytes)
{
    enum { TEXT_MAX = 1 << 26 };
    void *p;
    int64_t n;
    *text = NULL, *bytes = 0;
    TRY(onefile_small(f, history ? "history" : "parameters", 'B', TEXT_MAX, &p, &n));
    char *t = p;
    while (n > 1 && t[n - 1] == '\n' && t[n - 2] == '\n') n--; /* the text is padded */
    if (t) t[n] = 0;
    *text = t, *bytes = (size_t)n;
    return OK;
}

enum err onefile_check_files(const struct onefile *f)
{
    static const enum files_kind TEXTS[] = {FILES_NAMELIST, FILES_HISTORY};
    struct manifest *list;
    TRY(manifest_load(f->path, f->number, &list));
    if (!list) FAIL(ERR_FILE, "%s: has no list of checksums: a file is missing", f->path);
    enum err err = OK;
    for (int i = 0; i < 2 && err == OK; i++) {
        char name[FILES_NAME];
        files_name(TEXTS[i], f->number, 0, name);
        err = manifest_check_file(list, f->path, name);
    }
    manifest_free(&list);
    return err;
}
