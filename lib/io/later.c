/* io/later: see later.h. */
#include "io/later.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/timer.h"
#include "io/file.h"

static void add(struct later *l, int fd, const char *path)
{
    size_t n = strlen(path) + 1;
    char *copy = memcpy(mem_new(n, "file name"), path, n);
#pragma omp critical(later)
    {
        if (l->n == l->room)
            l->file = mem_grow(l->file, sizeof *l->file * (size_t)(l->room = 2 * l->room + 16),
                               "file names");
        l->file[l->n++] = (struct later_file){fd, copy};
    }
}

static enum err ask(void *ctx)
{
    const struct later *l = ctx;
    file_write_all_soon(l->soon);
    return OK;
}

void later_soon(struct later *l, int fd, size_t n, int64_t at)
{
    enum err err = OK;
    if (!l) file_write_soon(fd, n, at);
    if (!l || n < FILE_SOON) return;
#pragma omp critical(later)
    {
        bool idle = aside_is_done(&l->early);
        if (idle) l->soon = fd;
        if (idle) err = aside_begin(&l->early, ask, l);
    }
    BUG_ON(err != OK);
}

enum err later_close(struct later *l, int fd, const char *path)
{
    if (!l) return file_close_synced(fd, path);
    add(l, fd, path);
    return OK;
}

enum err later_save(struct later *l, const char *path, const void *p, size_t n)
{
    int fd;
    TRY(file_create(path, &fd));
    enum err err = file_write_at(fd, path, p, n, 0);
    if (err == OK) return later_close(l, fd, path);
    close(fd);
    return err;
}

enum err later_dir(struct later *l, const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) FAIL(ERR_FILE, "%s: cannot open the directory: %s", path, strerror(errno));
    return later_close(l, fd, path);
}

/* The disk begins with all of them before the first is waited for: so a file system that keeps a
 * journal has the places of all in one entry of it, where each of a dozen small files took another
 * one. After an error the others are only closed. */
static enum err sync_all(void *ctx)
{
    struct later *l = ctx;
    enum err err = aside_wait(&l->early);
    for (int64_t i = 0; i < l->n; i++) file_write_all_soon(l->file[i].fd);
    for (int64_t i = 0; i < l->n; i++) {
        struct later_file *f = &l->file[i];
        if (err == OK)
            err = file_close_synced(f->fd, f->path);
        else
            close(f->fd);
        f->fd = -1;
    }
    l->ended = timer_wall();
    return err;
}

enum err later_begin(struct later *l)
{
    l->begun = timer_wall();
    return aside_begin(&l->aside, sync_all, l);
}

bool later_is_done(struct later *l)
{
    return aside_is_done(&l->aside);
}

enum err later_wait(struct later *l)
{
    return aside_wait(&l->aside);
}

double later_seconds(const struct later *l)
{
    return l->ended - l->begun;
}

void later_fini(struct later *l)
{
    aside_fini(&l->aside);
    aside_fini(&l->early);
    for (int64_t i = 0; i < l->n; i++) {
        if (l->file[i].fd >= 0) close(l->file[i].fd);
        FREE(l->file[i].path);
    }
    FREE(l->file);
    *l = (struct later){0};
}
