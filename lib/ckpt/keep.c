/* ckpt/keep: see keep.h. What is to be removed is renamed first (output_NNNNN.removed), so that
 * nothing incomplete has a checkpoint's name. */
#include "ckpt/keep.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ckpt/manifest.h"
#include "io/dir.h"
#include "io/file.h"
#include "ramses/read.h"

static enum err pass_octs(const struct ramses *r, const struct ramses_octs *o, void *ctx)
{
    return OK;
}

static enum err pass_parts(const struct ramses *r, const struct ramses_parts *p, void *ctx)
{
    return OK;
}

/* HDF5 has its sums inside: this rank's share of the pieces. */
static enum err read_pieces(struct ramses *r, const struct comm *c)
{
    for (int piece = c->rank + 1; piece <= r->ncpu; piece += c->size) {
        TRY(ramses_read_octs(r, piece, true, pass_octs, NULL));
        TRY(ramses_read_parts(r, piece, pass_parts, NULL));
    }
    return OK;
}

static enum err verify_share(const char *path, int number, const struct comm *c)
{
    char data[PATH_MAX];
    struct manifest *m;
    struct ramses *r = NULL;
    TRY(manifest_load(path, number, &m));
    if (!m) FAIL(ERR_FORMAT, "%s: has no list of its files", path);
    enum err err = OK;
    for (int64_t i = c->rank; err == OK && i < m->n; i += c->size) {
        snprintf(data, sizeof data, "%.3900s/%s", path, m->row[i].name);
        file_forget(data);
        err = manifest_check_file(m, path, m->row[i].name);
    }
    manifest_free(&m);
    snprintf(data, sizeof data, "%.3900s/data_%05d.h5", path, number);
    if (err != OK || !file_exists(data)) return err;
    file_forget(data);
    err = ramses_open(path, &r);
    if (err == OK) err = read_pieces(r, c);
    ramses_close(&r);
    return err;
}

enum err ckpt_verify(const char *path, int number, const struct comm *c)
{
    return err_agree(c, verify_share(path, number, c));
}

/* ---- removing ---- */

static int descending(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x < y) - (x > y);
}

static enum err remove_backup(const char *dir, int number)
{
    char from[PATH_MAX], to[PATH_MAX];
    snprintf(from, sizeof from, "%.4000s/output_%05d", dir, number);
    snprintf(to, sizeof to, "%.4000s/output_%05d.removed", dir, number);
    TRY(dir_replace(from, to));
    return dir_remove(to);
}

/* Numbers of the backups, and what a killed run had left of its removing goes. */
static enum err find_backups(const char *dir, int newest, int **list, int *n)
{
    DIR *d = opendir(dir);
    int room = 0;
    enum err err = OK;
    *n = 0;
    if (!d) FAIL(ERR_FILE, "%s: cannot open directory: %s", dir, strerror(errno));
    for (struct dirent *e; err == OK && (e = readdir(d));) {
        char path[PATH_MAX];
        int number, end = 0;
        if (sscanf(e->d_name, "output_%5d%n", &number, &end) != 1 || end != 12 || number < 0 ||
            number > newest)
            continue;
        snprintf(path, sizeof path, "%.3800s/%.200s", dir, e->d_name);
        bool removed = strcmp(e->d_name + end, ".removed") == 0,
             backup = !e->d_name[end] && manifest_is_backup(path, number);
        /* or a link, or more than a checkpoint */
        if ((!removed && !backup) || dir_may_remove(path) != OK) continue;
        if (removed) {
            err = dir_remove(path);
            continue;
        }
        if (*n == room)
            *list = mem_grow(*list, sizeof **list * (size_t)(room = 2 * room + 16), "backups");
        (*list)[(*n)++] = number;
    }
    closedir(d);
    return err;
}

enum err ckpt_keep_last(const char *dir, int newest, int keep)
{
    int *list = NULL, n;
    enum err err = find_backups(dir, newest, &list, &n);
    if (n) qsort(list, (size_t)n, sizeof *list, descending);
    for (int i = keep; err == OK && i < n; i++) err = remove_backup(dir, list[i]);
    FREE(list);
    return err;
}
