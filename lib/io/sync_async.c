#include "io/sync_async.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/timer.h"
#include "io/file.h"

static void add(struct sync_async *l, int fd, const char *path)
{
    size_t n = strlen(path) + 1;
    char *copy = memcpy(mem_new(n, "file name"), path, n);
#pragma omp critical(sync)
    {
        if (l->n == l->room)
            l->file = mem_grow(l->file, sizeof *l->file * (size_t)(l->room = 2 * l->room + 16),
                               "file names");
        l->file[l->n++] = (struct sync_file){fd, copy};
    }
}

static enum err ask(void *ctx)
{
    const struct sync_async *l = ctx;
    file_write_all_soon(l->soon);
    return OK;
}

void sync_soon(struct sync_async *l, int fd, size_t n, int64_t at)
{
    enum err err = OK;
    if (!l) file_write_soon(fd, n, at);
    if (!l || n < FILE_SOON) return;
#pragma omp critical(sync)
    {
        bool idle = async_is_done(&l->early);
        if (idle) l->soon = fd;
        if (idle) err = async_begin(&l->early, ask, l);
    }
    BUG_ON(err != OK);
}

enum err sync_close(struct sync_async *l, int fd, const char *path)
{
    if (!l) return file_close_synced(fd, path);
    add(l, fd, path);
    return OK;
}

enum err sync_save(struct sync_async *l, const char *path, const void *p, size_t n)
{
    int fd;
    TRY(file_create(path, &fd));
    enum err err = file_write_at(fd, path, p, n, 0);
    if (err == OK) return sync_close(l, fd, path);
    close(fd);
    return err;
}

enum err sync_dir(struct sync_async *l, const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) FAIL(ERR_FILE, "%s: cannot open the directory: %s", path, strerror(errno));
    return sync_close(l, fd, path);
}

/* Syncs and closes all files. Writing of all files is requested before the wait for the first, so
 * that a journalling file system allocates all of them in one transaction; otherwise each of a
 * dozen small files took another one. After an error the remaining files are only closed. */
static enum err sync_all(void *ctx)
{
    struct sync_async *l = ctx;
    enum err err = async_wait(&l->early);
    for (int64_t i = 0; i < l->n; i++) file_write_all_soon(l->file[i].fd);
    for (int64_t i = 0; i < l->n; i++) {
        struct sync_file *f = &l->file[i];
        if (err == OK)
            err = file_close_synced(f->fd, f->path);
        else
            close(f->fd);
        f->fd = -1;
    }
    l->ended = timer_wall();
    return err;
}

enum err sync_begin(struct sync_async *l)
{
    l->begun = timer_wall();
    return async_begin(&l->async, sync_all, l);
}

bool sync_is_done(struct sync_async *l)
{
    return async_is_done(&l->async);
}

enum err sync_wait(struct sync_async *l)
{
    return async_wait(&l->async);
}

double sync_seconds(const struct sync_async *l)
{
    return l->ended - l->begun;
}

void sync_fini(struct sync_async *l)
{
    async_fini(&l->async);
    async_fini(&l->early);
    for (int64_t i = 0; i < l->n; i++) {
        if (l->file[i].fd >= 0) close(l->file[i].fd);
        FREE(l->file[i].path);
    }
    FREE(l->file);
    *l = (struct sync_async){0};
}
