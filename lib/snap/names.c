/* snap/names: finds the files of a snapshot: PATH, PATH.0, PATH.hdf5, PATH.0.hdf5, the numbered
 * files of PATH.hdf5, or those of the only snapshot in the directory PATH. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/file.h"
#include "snap/priv.h"

static const char *const SUFFIX[] = {"", ".hdf5", ".h5"};
enum { SUFFIXES = sizeof SUFFIX / sizeof *SUFFIX };

static bool is_regular(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static bool is_directory(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Whether a file begins as a snapshot does. */
static bool begins(const char *path)
{
    int fd;
    int64_t size;
    if (!is_regular(path) || file_open(path, &fd, &size) != OK) return false;
    bool is = snap_binary_is(fd);
    if (!is && snap_hdf5_is(fd)) {
        struct h5_file f;
        is = h5_open(&f, path) == OK && h5_find(&f, "Header");
        bool any = false;
        for (int t = 0; is && t < SNAP_TYPES && !any; t++) {
            char name[32];
            snprintf(name, sizeof name, "PartType%d", t);
            any = h5_find(&f, name) != 0;
        }
        is = is && any && f.err == OK;
        h5_close(&f);
    }
    close(fd);
    return is;
}

/* ---- names ---- */

static const char *suffix_of(const char *name)
{
    size_t n = strlen(name);
    for (int k = 1; k < SUFFIXES; k++) {
        size_t m = strlen(SUFFIX[k]);
        if (n > m && strcmp(name + n - m, SUFFIX[k]) == 0) return SUFFIX[k];
    }
    return "";
}

/* Divides a path into base, number and suffix. Returns whether it has a number. */
static bool divide(const char *path, char base[PATH_MAX], char suffix[16])
{
    snprintf(suffix, 16, "%s", suffix_of(path));
    snprintf(base, PATH_MAX, "%.*s", (int)(strlen(path) - strlen(suffix)), path);
    char *dot = strrchr(base, '.');
    const bool number = dot && dot[1] && dot != base && dot[-1] != '/' &&
                        strspn(dot + 1, "0123456789") == strlen(dot + 1);
    if (number) *dot = 0;
    return number;
}

static bool candidate(const char *name)
{
    char base[PATH_MAX], suffix[16];
    return name[0] != '.' && (divide(name, base, suffix) || *suffix);
}

/* The only snapshot of a directory, as the path of its first file. *n: number of snapshots, 2 for
 * more. */
static void find_in(const char *dir, char path[PATH_MAX], int *n)
{
    char first[PATH_MAX] = "";
    DIR *d = opendir(dir);
    *n = 0;
    path[0] = 0;
    for (struct dirent *e; d && *n < 2 && (e = readdir(d));) {
        char full[PATH_MAX], base[PATH_MAX], suffix[16];
        if (!candidate(e->d_name)) continue;
        if (snprintf(full, sizeof full, "%s/%s", dir, e->d_name) >= (int)sizeof full) continue;
        divide(full, base, suffix);
        if (*n && strcmp(base, first) == 0) {
            if (strcmp(full, path) < 0 && begins(full)) memcpy(path, full, sizeof full);
            continue;
        }
        if (!begins(full)) continue;
        if (++*n == 1) {
            memcpy(first, base, sizeof first);
            memcpy(path, full, sizeof full);
        }
    }
    if (d) closedir(d);
}

/* The first file of a path. False: there is none. */
static bool first_file(const char *path, char out[PATH_MAX], int *snapshots)
{
    *snapshots = 1;
    if (strlen(path) > PATH_MAX - 32 || !*path) return false;
    snprintf(out, PATH_MAX, "%s", path);
    if (is_regular(out)) return true;
    if (is_directory(path)) {
        find_in(path, out, snapshots);
        return *snapshots == 1;
    }
    for (int k = 0; k < 2 * SUFFIXES; k++) {
        snprintf(out, PATH_MAX, "%.*s%s%s", PATH_MAX - 32, path, k % 2 ? "" : ".0", SUFFIX[k / 2]);
        if (is_regular(out)) return true;
    }
    /* BASE.hdf5 of files BASE.0.hdf5 */
    const char *suffix = suffix_of(path);
    snprintf(out, PATH_MAX, "%.*s.0%s", (int)(strlen(path) - strlen(suffix)), path, suffix);
    return *suffix && is_regular(out);
}

bool snap_is(const char *path)
{
    char file[PATH_MAX];
    int n;
    return first_file(path, file, &n) && begins(file);
}

enum err snap_find(struct snap *s)
{
    char file[PATH_MAX];
    int n;
    if (!first_file(s->path, file, &n)) {
        if (n > 1) FAIL(ERR_FILE, "%s: has several snapshots of Gadget: name one of them", s->path);
        if (is_directory(s->path))
            FAIL(ERR_FILE, "%s: is a directory without a snapshot of Gadget", s->path);
        FAIL(ERR_FILE,
             "%s: no such snapshot: there is neither this file nor %s.0, %s.hdf5 or "
             "%s.0.hdf5",
             s->path, s->path, s->path, s->path);
    }
    s->numbered = divide(file, s->base, s->suffix);
    s->head.nfile = 1;
    if (!s->numbered) snprintf(s->base, sizeof s->base, "%s", file);
    if (!s->numbered) s->suffix[0] = 0;
    if (s->numbered) {
        /* The given file may be any of them; its header tells how many there are. */
        char zero[PATH_MAX + 32];
        snprintf(zero, sizeof zero, "%s.0%s", s->base, s->suffix);
        if (is_regular(zero)) return OK;
        snprintf(s->base, sizeof s->base, "%s", file);
        s->suffix[0] = 0;
        s->numbered = false;
    }
    return OK;
}

enum err snap_find_rest(struct snap *s)
{
    char zero[PATH_MAX + 32], base[PATH_MAX], suffix[16];
    if (s->numbered || s->head.nfile == 1) return OK;
    if (divide(s->base, base, suffix))
        FAIL(ERR_FILE, "%s: is one of %d files of a snapshot, but %s.0%s is missing", s->base,
             s->head.nfile, base, suffix);
    snprintf(zero, sizeof zero, "%s.0%s", base, suffix);
    if (!is_regular(zero))
        FAIL(ERR_FILE,
             "%s: is one of %d files of a snapshot according to its header, but there is "
             "no %s",
             s->base, s->head.nfile, zero);
    memcpy(s->base, base, sizeof base);
    memcpy(s->suffix, suffix, sizeof suffix);
    s->numbered = true;
    return OK;
}

void snap_path(const struct snap *s, int file, char path[PATH_MAX])
{
    if (s->numbered)
        snprintf(path, PATH_MAX, "%.*s.%d%s", PATH_MAX - 32, s->base, file, s->suffix);
    else
        snprintf(path, PATH_MAX, "%s", s->base);
}
