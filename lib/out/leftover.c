/* out/leftover: see leftover.h. All names are listed before any is changed, since an open directory
 * must not change. */
#include "out/leftover.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "ckpt/files.h"
#include "io/dir.h"
#include "io/file.h"
#include "io/temp.h"

struct list {
    int64_t n, room;
    char (*name)[NAME_MAX + 1];
};

/* Descending order, in which TO.tmp comes before TO.old. */
static int descending(const void *a, const void *b)
{
    return strcmp(b, a);
}

static bool is_leftover(const char *name)
{
    const char *rest;
    if (dir_output_number(name, &rest) >= 0)
        return strcmp(rest, DIR_TMP) == 0 || strcmp(rest, DIR_OLD) == 0 ||
               strcmp(rest, DIR_REMOVED) == 0;
    return temp_is(name) > 0;
}

static enum err add(void *ctx, const char *name, const struct files_name *f)
{
    struct list *l = ctx;
    if (!is_leftover(name)) return OK;
    if (l->n == l->room)
        l->name = mem_grow(l->name, sizeof *l->name * (size_t)(l->room = 2 * l->room + 16),
                           "file names");
    snprintf(l->name[l->n++], sizeof *l->name, "%s", name);
    return OK;
}

/* Removes an unfinished checkpoint, if no process holds it. */
static bool clear_unfinished(const char *path)
{
    int lock;
    if (!dir_is_idle(path) || dir_take(path, files_may_go, &lock) != OK) return false;
    dir_unmake(path);
    close(lock);
    return !file_exists(path);
}

/* Treats a complete checkpoint that was being replaced: removed if the new one exists, otherwise
 * renamed back. */
static bool clear_replaced(const char *path, const char *dir, const char *name)
{
    char whole[PATH_MAX], next[PATH_MAX];
    int n = (int)(strlen(name) - strlen(DIR_OLD));
    if (snprintf(whole, sizeof whole, "%s/%.*s", dir, n, name) >= (int)sizeof whole ||
        snprintf(next, sizeof next, "%s/%.*s%s", dir, n, name, DIR_TMP) >= (int)sizeof next)
        return false;
    if (file_exists(next)) return false; /* another process is about to replace it */
    if (file_exists(whole)) return dir_may_remove(path) == OK && dir_remove(path) == OK;
    return dir_replace(path, whole) == OK;
}

static bool clear_one(const char *path, const char *dir, const char *name)
{
    const char *rest;
    if (dir_output_number(name, &rest) < 0)
        return files_has_role(files_meant(name), FILES_BESIDE) && temp_clear(path);
    if (strcmp(rest, DIR_TMP) == 0) return clear_unfinished(path);
    if (strcmp(rest, DIR_OLD) == 0) return clear_replaced(path, dir, name);
    return dir_may_remove(path) == OK && dir_remove(path) == OK;
}

void leftover_clear(const char *dir)
{
    struct list l = {0};
    char path[PATH_MAX];
    if (!file_exists(dir) || files_each(dir, add, &l) != OK) l.n = 0;
    mem_sort(l.name, (size_t)l.n, sizeof *l.name, descending);
    for (int64_t i = 0; i < l.n; i++) {
        if (snprintf(path, sizeof path, "%s/%s", dir, l.name[i]) >= (int)sizeof path) continue;
        if (clear_one(path, dir, l.name[i]))
            log_info(" Removed %s, left by a run that was killed", path);
    }
    FREE(l.name);
}
