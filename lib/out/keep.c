/* out/keep: see keep.h. A checkpoint is renamed (output_NNNNN.removed) before its removal, so that
 * nothing incomplete has the name of a checkpoint. */
#include "out/keep.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ckpt/manifest.h"
#include "io/dir.h"

static int descending(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x < y) - (x > y);
}

static enum err remove_backup(const char *dir, int number)
{
    char from[PATH_MAX], to[PATH_MAX];
    snprintf(from, sizeof from, "%.4000s/output_%05d", dir, number);
    snprintf(to, sizeof to, "%.4000s/output_%05d%s", dir, number, DIR_REMOVED);
    TRY(dir_replace(from, to));
    return dir_remove(to);
}

/* Lists the numbers of the backups, and finishes interrupted removals. */
static enum err find_backups(const char *dir, int newest, int **list, int *n)
{
    DIR *d = opendir(dir);
    int room = 0;
    enum err err = OK;
    *n = 0;
    if (!d) FAIL(ERR_FILE, "%s: cannot open the directory: %s", dir, strerror(errno));
    for (struct dirent *e; err == OK && (e = readdir(d));) {
        char path[PATH_MAX];
        const char *rest;
        int number = dir_output_number(e->d_name, &rest);
        if (number < 0 || number > newest) continue;
        snprintf(path, sizeof path, "%.3800s/%.200s", dir, e->d_name);
        bool removed = strcmp(rest, DIR_REMOVED) == 0,
             backup = !*rest && manifest_is_backup(path, number);
        /* links and directories with other contents are skipped too */
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
    mem_sort(list, (size_t)n, sizeof *list, descending);
    for (int i = keep; err == OK && i < n; i++) err = remove_backup(dir, list[i]);
    FREE(list);
    return err;
}
