/* gadget/file: see file.h. File k of F has the particles N k / F to N (k+1) / F of each type. */
#include "gadget/file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/dir.h"
#include "io/file.h"

enum { FILES_MAX = 100000 };

int64_t gadget_count(const struct gadget_out *g, int file, int type)
{
    __int128 n = g->count[type];
    return (int64_t)(n * (file + 1) / g->nfile - n * file / g->nfile);
}

/* ---- names ---- */

static void name_of(const struct gadget_out *g, int file, char path[PATH_MAX])
{
    g->layout->name(g, file, path);
}

/* Path of a file while incomplete. */
static enum err temp_of(const struct gadget_out *g, int file, char name[PATH_MAX])
{
    char path[PATH_MAX];
    name_of(g, file, path);
    if (g->layout->creates) snprintf(path, sizeof path, "%s.%d", g->path, file);
    return temp_name(&g->first, path, name);
}

static enum err check_names(const struct gadget_out *g)
{
    char path[PATH_MAX];
    size_t n = strlen(g->path);
    if (n == 0 || n > PATH_MAX - 32)
        FAIL(ERR_FILE,
             "%.80s: is empty or too long for the path of a Gadget snapshot: give another -o",
             g->path);
    if (g->path[n - 1] == '/')
        FAIL(ERR_FILE,
             "%s: is the name of a directory, but a Gadget snapshot is a file: give another -o",
             g->path);
    struct stat st;
    if (stat(g->path, &st) == 0 && !S_ISREG(st.st_mode))
        FAIL(ERR_FILE, "%s: is %s, but a Gadget snapshot is a file: give another -o", g->path,
             file_kind(st.st_mode));
    struct gadget_out several = *g;
    several.nfile = 2;
    g->layout->name(&several, 0, path);
    bool first = file_exists(path);
    if (!g->overwrite && (first || file_exists(g->path)))
        FAIL(ERR_FILE, "%s: exists; --force replaces it", first ? path : g->path);
    return OK;
}

/* ---- writing ---- */

/* Creates a file. The first file stays open, which protects the others (io/temp). */
static enum err make_file(struct gadget_out *g, int file)
{
    char path[PATH_MAX];
    int fd;
    name_of(g, file, path);
    if (file == 0) {
        if (g->nfile > 1) temp_sweep(g->path);
        TRY(temp_create(&g->first, g->layout->creates ? g->path : path));
        if (!g->layout->creates) return g->layout->make(g, file, g->first.fd, path);
    }
    TRY(temp_of(g, file, path));
    g->made = file + 1;
    if (g->layout->creates) return g->layout->make(g, file, -1, path);
    TRY(file_create(path, &fd));
    enum err err = g->layout->make(g, file, fd, path);
    if (err == OK) return file_close_synced(fd, path);
    close(fd);
    return err;
}

enum err gadget_create(struct gadget_out *g)
{
    int min = g->layout->files(g);
    for (int t = 0; t < GADGET_TYPES; t++) g->fd[t] = -1, g->file[t] = -1, g->done[t] = 0;
    g->made = 0;
    g->first.fd = -1;
    if (g->nfile < min) g->nfile = min;
    if (g->nfile > FILES_MAX)
        FAIL(ERR_LIMIT, "%s: the snapshot would need more than %d files", g->path, FILES_MAX);
    TRY(check_names(g));
    for (int k = 0; k < g->nfile; k++) TRY(make_file(g, k));
    return OK;
}

static enum err leave_file(struct gadget_out *g, int type)
{
    char path[PATH_MAX];
    int fd = g->fd[type];
    g->fd[type] = -1;
    if (fd < 0) return OK;
    name_of(g, g->file[type], path);
    return file_close_synced(fd, path);
}

static enum err enter_file(struct gadget_out *g, int type, int file)
{
    char path[PATH_MAX];
    if (g->fd[type] >= 0 && g->file[type] == file) return OK;
    TRY(leave_file(g, type));
    TRY(temp_of(g, file, path));
    TRY(file_reopen(path, &g->fd[type]));
    g->file[type] = file;
    return OK;
}

/* Writes n particles to a file, starting at number `first` of this file. */
static enum err put_here(struct gadget_out *g, int type, int64_t first, int64_t n, int64_t from,
                         const void *const block[GADGET_BLOCKS])
{
    char path[PATH_MAX];
    int file = g->file[type];
    name_of(g, file, path);
    for (int b = 0; b < GADGET_BLOCKS; b++) {
        if (!g->layout->has(g, b, type)) continue;
        int64_t size = g->layout->size(g, b), at = g->layout->at(g, file, type, b);
        TRY(file_write_at(g->fd[type], path, (const char *)block[b] + size * from,
                          (size_t)(size * n), at + size * first));
    }
    return OK;
}

enum err gadget_put(struct gadget_out *g, enum gadget_type type, int64_t n,
                    const void *const block[GADGET_BLOCKS])
{
    if (g->done[type] + n > g->count[type])
        FAIL(ERR_FILE,
             "%s: the checkpoint changed while it was read: convert it again when it is complete",
             g->path);
    for (int64_t from = 0; from < n;) {
        int file = g->file[type] < 0 ? 0 : g->file[type];
        int64_t begin = (int64_t)((__int128)g->count[type] * file / g->nfile);
        while (g->done[type] >= begin + gadget_count(g, file, type))
            begin += gadget_count(g, file++, type);
        int64_t left = begin + gadget_count(g, file, type) - g->done[type],
                k = n - from < left ? n - from : left;
        TRY(enter_file(g, type, file));
        TRY(put_here(g, type, g->done[type] - begin, k, from, block));
        from += k;
        g->done[type] += k;
    }
    return OK;
}

/* ---- completion ---- */

/* Removes files of an older snapshot with this name that had more files. */
static void remove_rest(const struct gadget_out *g)
{
    char path[PATH_MAX];
    struct gadget_out several = *g;
    several.nfile = 2;
    if (g->nfile > 1) unlink(g->path);
    for (int k = g->nfile > 1 ? g->nfile : 0;; k++) {
        g->layout->name(&several, k, path);
        if (unlink(path) != 0) return;
    }
}

static enum err sync_parent(const struct gadget_out *g)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", g->path);
    char *slash = strrchr(path, '/');
    if (slash) slash[slash == path] = 0;
    return dir_sync(slash ? path : ".");
}

/* Renames the files, the first one last, so that a reader that finds it finds all. */
static enum err publish(struct gadget_out *g)
{
    char from[PATH_MAX], to[PATH_MAX];
    const int last = g->layout->creates ? 0 : 1;
    TRY(temp_sync(&g->first));
    for (int k = g->nfile - 1; k >= last; k--) {
        TRY(temp_of(g, k, from));
        name_of(g, k, to);
        if (rename(from, to) != 0)
            FAIL(ERR_FILE, "%s: cannot rename to %s: %s", from, to, strerror(errno));
    }
    g->made = 0;
    if (!g->layout->creates) return temp_publish(&g->first);
    temp_drop(&g->first);
    return OK;
}

enum err gadget_finish(struct gadget_out *g, char *name, size_t n)
{
    char first[PATH_MAX];
    for (int t = 0; t < GADGET_TYPES; t++) {
        TRY(leave_file(g, t));
        if (g->done[t] != g->count[t])
            FAIL(ERR_FILE,
                 "%s: the checkpoint changed while it was read: convert it again when it is "
                 "complete",
                 g->path);
    }
    int turn = temp_turn(g->path);
    enum err err = publish(g);
    if (err == OK && g->overwrite) remove_rest(g);
    temp_turn_end(turn);
    TRY(err);
    name_of(g, 0, first);
    snprintf(name, n, "%s", first);
    return sync_parent(g);
}

void gadget_drop(struct gadget_out *g)
{
    char path[PATH_MAX];
    for (int t = 0; t < GADGET_TYPES; t++)
        if (g->fd[t] >= 0) close(g->fd[t]), g->fd[t] = -1;
    for (int k = g->layout->creates ? 0 : 1; k < g->made; k++)
        if (temp_of(g, k, path) == OK) unlink(path);
    g->made = 0;
    temp_drop(&g->first);
}
