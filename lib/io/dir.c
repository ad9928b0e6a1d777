#include "io/dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "io/file.h"

int dir_output_number(const char *name, const char **rest)
{
    static const char stem[] = "output_";
    enum { STEM = sizeof stem - 1, DIGITS = 5 };
    if (strncmp(name, stem, STEM) != 0 || strspn(name + STEM, "0123456789") != DIGITS) return -1;
    *rest = name + STEM + DIGITS;
    return (int)strtol(name + STEM, NULL, 10);
}

enum err dir_sync(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) FAIL(ERR_FILE, "%s: cannot open the directory: %s", path, strerror(errno));
    return file_close_synced(fd, path);
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static bool is_group(const char *name)
{
    return strncmp(name, "group_", 6) == 0 && strspn(name + 6, "0123456789") == 5 && !name[11];
}

static bool is_directory(int at, const char *name)
{
    struct stat st;
    return fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

/* Opens a directory; a symbolic link is not followed. */
static int open_dir(int at, const char *name)
{
    return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Calls fn with the name of each entry; closes fd. */
static enum err each(int fd, const char *path,
                     enum err fn(int at, const char *path, const char *name, void *ctx), void *ctx)
{
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    enum err err = OK;
    if (!d) FAIL(ERR_FILE, "%s: cannot open the directory: %s", path, strerror(errno));
    rewinddir(d);
    for (struct dirent *e; err == OK && (e = readdir(d));)
        if (!is_dots(e->d_name)) err = fn(fd, path, e->d_name, ctx);
    closedir(d);
    return err;
}

/* ---- removing ---- */

static enum err remove_entry(int at, const char *path, const char *name, void *ctx)
{
    bool group = ctx && is_group(name) && is_directory(at, name);
    if (group) TRY(each(open_dir(at, name), path, remove_entry, NULL));
    if (unlinkat(at, name, group ? AT_REMOVEDIR : 0) != 0)
        FAIL(ERR_FILE, "%s/%s: cannot remove: %s", path, name, strerror(errno));
    return OK;
}

static enum err empty(int fd, const char *path)
{
    bool groups = true;
    return each(fd, path, remove_entry, &groups);
}

enum err dir_remove(const char *path)
{
    int fd = open_dir(AT_FDCWD, path);
    if (fd < 0 && errno == ENOENT) return OK;
    TRY(empty(fd, path));
    if (rmdir(path) != 0) FAIL(ERR_FILE, "%s: cannot remove: %s", path, strerror(errno));
    return OK;
}

static enum err may_remove(int at, const char *path, const char *name, void *ctx)
{
    if (!is_directory(at, name)) return OK;
    if (!ctx || !is_group(name))
        FAIL(ERR_FILE, "%s: contains a directory, %s; it is not replaced", path, name);
    return each(open_dir(at, name), path, may_remove, NULL);
}

enum err dir_may_remove(const char *path)
{
    struct stat st;
    bool groups = true;
    if (lstat(path, &st) != 0) return OK;
    if (S_ISLNK(st.st_mode)) FAIL(ERR_FILE, "%s: is a symbolic link; it is not replaced", path);
    if (!S_ISDIR(st.st_mode)) FAIL(ERR_FILE, "%s: is not a directory; it is not replaced", path);
    return each(open_dir(AT_FDCWD, path), path, may_remove, &groups);
}

/* ---- locking ---- */

/* Locks a directory against other processes. File systems without locks are accepted. A process
 * that was killed holds its lock until the last of its threads has ended, which may be waiting for
 * the disk; hence several seconds of retries. */
static enum err lock_dir(int fd, const char *path)
{
    enum { TRIES = 200 };
    const struct timespec pause = {.tv_nsec = 50000000};
    for (int i = 0; i < TRIES; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return OK;
        nanosleep(&pause, NULL);
    }
    FAIL(ERR_FILE, "%s: another program is writing there", path);
}

bool dir_is_idle(const char *path)
{
    int fd = open_dir(AT_FDCWD, path);
    bool idle = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;
    if (fd >= 0) close(fd);
    return idle;
}

/* Whether path is still the directory fd: it may have been renamed or removed between opening and
 * locking. */
static bool is_still(int fd, const char *path)
{
    struct stat a, b;
    return fstat(fd, &a) == 0 && lstat(path, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

struct known {
    bool (*ours)(const char *name);
};

static enum err check_name(int at, const char *path, const char *name, void *ctx)
{
    const struct known *k = ctx;
    if (k->ours(name) || (is_group(name) && is_directory(at, name))) return OK;
    FAIL(ERR_FILE,
         "%s: is in the way and contains %s, which is not a file of a checkpoint; remove it", path,
         name);
}

/* Path of the parent directory; parent: PATH_MAX bytes. */
static enum err parent_of(const char *path, char *parent)
{
    if (snprintf(parent, PATH_MAX, "%s", path) >= PATH_MAX)
        FAIL(ERR_FILE, "%.80s…: the path is too long", path);
    for (size_t n = strlen(parent); n > 1 && parent[n - 1] == '/';) parent[--n] = 0;
    char *slash = strrchr(parent, '/');
    if (slash)
        slash[slash == parent] = 0;
    else
        snprintf(parent, PATH_MAX, ".");
    return OK;
}

/* Checks that files can be created, by creating one and removing it: permissions alone do not cover
 * read-only file systems. */
static enum err check_writable(const char *path)
{
    char file[PATH_MAX];
    if (snprintf(file, sizeof file, "%s/.ptah-XXXXXX", path) >= (int)sizeof file)
        FAIL(ERR_FILE, "%.80s…: the path is too long", path);
    int fd = mkstemp(file);
    if (fd < 0)
        FAIL(ERR_FILE, "%s: no files can be created in this directory: %s", path, strerror(errno));
    close(fd);
    if (unlink(file) != 0) FAIL(ERR_FILE, "%s: cannot be removed: %s", file, strerror(errno));
    return OK;
}

enum err dir_ready(const char *path, bool *made)
{
    struct stat st;
    char above[PATH_MAX];
    if (made) *made = mkdir(path, 0777) == 0;
    if (made && !*made && errno != EEXIST)
        FAIL(ERR_FILE, "%s: the directory cannot be created: %s%s", path, strerror(errno),
             *file_hint(path)  ? file_hint(path)
             : errno == ENOENT ? "; create its parent directory first"
                               : "");
    if (stat(path, &st) == 0) {
        if (!S_ISDIR(st.st_mode)) FAIL(ERR_FILE, "%s: is not a directory", path);
        return check_writable(path);
    }
    if (errno != ENOENT) FAIL(ERR_FILE, "%s: %s", path, strerror(errno));
    TRY(parent_of(path, above));
    if (stat(above, &st) != 0)
        FAIL(ERR_FILE, "%s: its parent directory does not exist%s", path,
             *file_hint(path) ? file_hint(path) : "; create it first");
    return check_writable(above);
}

void dir_unmake(const char *path)
{
    (void)!rmdir(path);
}

enum err dir_outside(const char *path, const char *dir)
{
    char up[PATH_MAX];
    struct stat in, at, below = {0};
    TRY(parent_of(path, up));
    if (stat(dir, &in) != 0) return OK;
    for (size_t n = strlen(up); n + 4 < sizeof up && stat(up, &at) == 0; n += 3) {
        if (at.st_dev == in.st_dev && at.st_ino == in.st_ino)
            FAIL(ERR_FILE, "%s: lies in the checkpoint %s: choose a directory outside of it", path,
                 dir);
        /* root of the file system */
        if (at.st_dev == below.st_dev && at.st_ino == below.st_ino) break;
        below = at;
        memcpy(up + n, "/..", 4);
    }
    return OK;
}

enum err dir_has_room(const char *path, double bytes)
{
    static const double GB = 1e9;
    char place[PATH_MAX], up[PATH_MAX];
    struct statvfs s;
    struct stat st;
    if (strcmp(path, "-") == 0) return OK; /* standard output */
    if (snprintf(place, sizeof place, "%s", path) >= (int)sizeof place)
        FAIL(ERR_FILE, "%.80s…: the path is too long", path);
    const bool there = stat(path, &st) == 0;
    if (there && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) return OK; /* a pipe or a device */
    while (statvfs(place, &s) != 0) {
        TRY(parent_of(place, up));
        if (strcmp(up, place) == 0) return OK; /* what follows reports the error */
        memcpy(place, up, sizeof place);
    }
    const double room = (double)s.f_bavail * (double)s.f_frsize;
    if (room >= bytes || s.f_blocks == 0) return OK; /* some file systems do not know */
    const bool large = bytes >= 1e3 * GB;
    FAIL(ERR_FILE,
         "%s: needs %.4g %s, and its file system has %.4g GB left: free some, or choose another "
         "place",
         path, large ? bytes / (1e3 * GB) : bytes / GB, large ? "TB" : "GB", room / GB);
}

enum err dir_take(const char *path, bool ours(const char *name), int *lock)
{
    enum { TRIES = 100 };
    *lock = -1;
    for (int i = 0; i < TRIES; i++) {
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            FAIL(ERR_FILE, "%s: cannot create the directory: %s", path, strerror(errno));
        int fd = open_dir(AT_FDCWD, path);
        if (fd < 0 && errno == ENOENT) continue;
        if (fd < 0)
            FAIL(ERR_FILE, "%s: cannot be opened as a directory: %s", path, strerror(errno));
        enum err err = lock_dir(fd, path);
        bool still = is_still(fd, path);
        if (err == OK && still) err = each(dup(fd), path, check_name, &(struct known){ours});
        if (err == OK && still) err = empty(dup(fd), path);
        if (err == OK && still) *lock = fd;
        if (*lock < 0) close(fd);
        if (err != OK || still) return err;
    }
    FAIL(ERR_FILE, "%s: other programs create and remove this directory at the same time", path);
}

enum err dir_make(const char *path)
{
    char part[PATH_MAX];
    struct stat st;
    snprintf(part, sizeof part, "%s", path);
    for (char *end = part; end;) {
        end = strchr(end + 1, '/');
        if (end) *end = 0;
        if (mkdir(part, 0777) != 0 && errno != EEXIST)
            FAIL(ERR_FILE, "%s: cannot create the directory: %s", part, strerror(errno));
        if (stat(part, &st) != 0)
            FAIL(ERR_FILE, "%s: is a link to nothing: remove it, or create the directory", part);
        if (!S_ISDIR(st.st_mode)) FAIL(ERR_FILE, "%s: is in the way: it is no directory", part);
        if (end) *end = '/';
    }
    return OK;
}

/* ---- replacing ---- */

static enum err sync_parent(const char *path)
{
    char parent[PATH_MAX];
    const char *slash = strrchr(path, '/');
    int n = slash ? (int)(slash - path) : 1;
    snprintf(parent, sizeof parent, "%.*s", n ? n : 1, slash ? path : ".");
    return dir_sync(parent);
}

static enum err move(const char *from, const char *to)
{
    if (rename(from, to) != 0)
        FAIL(ERR_FILE, "%s: cannot rename to %s: %s", from, to, strerror(errno));
    return OK;
}

static enum err replace(const char *from, const char *to, bool synced)
{
    char old[PATH_MAX];
    if (!file_exists(to)) {
        TRY(move(from, to));
        return synced ? sync_parent(to) : OK;
    }
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE) == 0) {
        snprintf(old, sizeof old, "%s", from);
    } else if (errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP) {
        FAIL(ERR_FILE, "%s: cannot rename to %s: %s", from, to, strerror(errno));
    } else {
        if (snprintf(old, sizeof old, "%s%s", to, DIR_OLD) >= (int)sizeof old)
            FAIL(ERR_FILE, "%s: the path is too long", to);
        TRY(dir_remove(old));
        TRY(move(to, old));
        TRY(move(from, to));
    }
    if (synced) TRY(sync_parent(to));
    if (dir_remove(old) != OK)
        log_line(-1, " %s is in place, but the old one could not be removed: %s", to,
                 err_message());
    return OK;
}

enum err dir_replace(const char *from, const char *to)
{
    return replace(from, to, true);
}

enum err dir_swap(const char *from, const char *to)
{
    return replace(from, to, false);
}

enum err dir_flush(const char *dir)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) FAIL(ERR_FILE, "%s: cannot open it: %s", dir, strerror(errno));
    int failed = syncfs(fd) != 0 ? errno : 0;
    close(fd);
    if (failed) FAIL(ERR_FILE, "%s: cannot sync its file system: %s", dir, strerror(failed));
    return OK;
}
