#include "io/temp.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "io/file.h"

static const struct timespec PAUSE = {.tv_nsec = 10000000};
static const char MARK[] = ".ptah-", END[] = ".part";

/* ---- existing files ---- */

/* Whether a path names a system file, such as a device or an open file, which is never replaced. */
static bool is_system(const char *path)
{
    static const char dev[] = "/dev/", fd[] = "/dev/fd/", proc[] = "/proc/";
    if (strncmp(path, dev, sizeof dev - 1) == 0 && !strchr(path + sizeof dev - 1, '/')) return true;
    return strncmp(path, fd, sizeof fd - 1) == 0 || strncmp(path, proc, sizeof proc - 1) == 0;
}

/* Whether a path names a device or a pipe, possibly through a link. */
static bool is_direct(const char *path)
{
    struct stat st;
    if (is_system(path)) return true;
    return stat(path, &st) == 0 && (S_ISCHR(st.st_mode) || S_ISFIFO(st.st_mode));
}

enum err temp_may_write(const char *path, bool force)
{
    struct stat st;
    if (is_direct(path) || lstat(path, &st) != 0) return OK;
    if (S_ISDIR(st.st_mode)) FAIL(ERR_FILE, "%s: is a directory", path);
    if (S_ISBLK(st.st_mode) || S_ISSOCK(st.st_mode))
        FAIL(ERR_FILE, "%s: is %s, and is not replaced", path, file_kind(st.st_mode));
    if (!force) FAIL(ERR_FILE, "%s: exists; --force replaces it", path);
    return OK;
}

bool temp_has_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX];
    if (!slash || slash == path) return true;
    snprintf(folder, sizeof folder, "%.*s/.", (int)(slash - path), path);
    return access(folder, F_OK) == 0;
}

/* Opens a device or a pipe. A pipe without a reader is tried for two seconds. */
static enum err open_direct(struct temp *t)
{
    enum { TRIES = 200 };
    for (int i = 0; i < TRIES; i++) {
        t->fd = open(t->path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        if (t->fd >= 0 || errno != ENXIO) break;
        nanosleep(&PAUSE, NULL);
    }
    if (t->fd < 0)
        FAIL(ERR_FILE, "%s: cannot be written: %s", t->path,
             errno == ENXIO ? "it is a pipe that nobody reads" : strerror(errno));
    fcntl(t->fd, F_SETFL, fcntl(t->fd, F_GETFL) & ~O_NONBLOCK);
    return OK;
}

/* ---- leftovers of other processes ---- */

static bool same_file(int fd, int dir, const char *name)
{
    struct stat a, b;
    return fstat(fd, &a) == 0 && fstatat(dir, name, &b, AT_SYMLINK_NOFOLLOW) == 0 &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Opens and locks a file that no process holds; otherwise -1. */
static int take(int dir, const char *name)
{
    struct stat st;
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode)) return -1;
    int fd = openat(dir, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
    if (fd >= 0) close(fd);
    return -1;
}

/* Whether a string has the form .ptah-TAG.part. */
static bool is_mark(const char *mark)
{
    if (strncmp(mark, MARK, sizeof MARK - 1) != 0) return false;
    const char *tag = mark + sizeof MARK - 1;
    for (int i = 0; i < TEMP_TAG; i++)
        if (!isalnum((unsigned char)tag[i])) return false;
    return strcmp(tag + TEMP_TAG, END) == 0;
}

/* Pointer to .ptah- in a name of the form STEM.ptah-TAG.part, or STEM.N.ptah-TAG.part of a set;
 * otherwise NULL. */
static const char *mark_of(const char *name, const char *stem)
{
    size_t n = strlen(stem), digits;
    if (strncmp(name, stem, n) != 0) return NULL;
    const char *mark = name + n;
    if (mark[0] == '.' && (digits = strspn(mark + 1, "0123456789")) > 0) mark += 1 + digits;
    return is_mark(mark) ? mark : NULL;
}

size_t temp_is(const char *name)
{
    enum { MARKED = sizeof MARK - 1 + TEMP_TAG + sizeof END - 1 };
    size_t n = strlen(name), end = sizeof END - 1;
    if (n > MARKED && is_mark(name + n - MARKED)) return n - MARKED;
    return n > end && strcmp(name + n - end, END) == 0 ? n - end : 0;
}

bool temp_clear(const char *path)
{
    int fd = take(AT_FDCWD, path);
    bool gone = fd >= 0 && same_file(fd, AT_FDCWD, path) && unlink(path) == 0;
    if (fd >= 0) close(fd);
    return gone;
}

/* Whether a locked file of a set is in use: as long as another process holds the first one,
 * STEM.0.ptah-TAG.part, or STEM.ptah-TAG.part. */
static bool is_alive(int fd, int dir, const char *stem, const char *mark)
{
    static const char *const number[] = {".0", ""};
    char first[NAME_MAX + 1];
    struct stat st;
    for (int i = 0; i < 2; i++) {
        if (snprintf(first, sizeof first, "%s%s%s", stem, number[i], mark) >= (int)sizeof first)
            return true;
        if (fstatat(dir, first, &st, AT_SYMLINK_NOFOLLOW) != 0) continue;
        if (same_file(fd, dir, first)) return false;
        fd = take(dir, first);
        if (fd >= 0) close(fd);
        return fd < 0;
    }
    return false;
}

/* Splits a path into its directory and the name, which is returned. */
static const char *split(const char *path, char dir[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    snprintf(dir, PATH_MAX, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    return slash ? slash + 1 : path;
}

void temp_sweep(const char *path)
{
    char dir[PATH_MAX];
    const char *stem = split(path, dir);
    DIR *d = opendir(dir);
    if (!d) return;
    for (struct dirent *e; (e = readdir(d));) {
        const char *mark = mark_of(e->d_name, stem);
        int fd = mark ? take(dirfd(d), e->d_name) : -1;
        if (fd < 0) continue;
        if (!is_alive(fd, dirfd(d), stem, mark) && same_file(fd, dirfd(d), e->d_name))
            unlinkat(dirfd(d), e->d_name, 0);
        close(fd);
    }
    closedir(d);
}

/* ---- a temporary file ---- */

static void draw_tag(char tag[TEMP_TAG + 1])
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    uint64_t x = (uint64_t)getpid();
    if (getrandom(&x, sizeof x, GRND_NONBLOCK) < 0) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        x = x << 40 ^ (uint64_t)now.tv_sec << 30 ^ (uint64_t)now.tv_nsec;
    }
    for (int i = 0; i < TEMP_TAG; i++, x /= sizeof letters - 1)
        tag[i] = letters[x % (sizeof letters - 1)];
    tag[TEMP_TAG] = 0;
}

enum err temp_name(const struct temp *t, const char *path, char name[PATH_MAX])
{
    if (snprintf(name, PATH_MAX, "%s%s%s%s", path, MARK, t->tag, END) >= PATH_MAX)
        FAIL(ERR_FILE, "%.80s…: the path is too long", path);
    return OK;
}

/* Creates and locks a file, unless another process has meanwhile removed it as a leftover. *again:
 * try another name. */
static enum err try_create(struct temp *t, bool *again)
{
    draw_tag(t->tag);
    TRY(temp_name(t, t->path, t->name));
    t->fd = open(t->name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    *again = t->fd < 0 && errno == EEXIST;
    if (*again) return OK;
    if (t->fd < 0) FAIL(ERR_FILE, "%s: cannot create: %s", t->path, strerror(errno));
    bool held = flock(t->fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    *again = !held || !same_file(t->fd, AT_FDCWD, t->name);
    if (*again) close(t->fd);
    return OK;
}

static enum err create(struct temp *t, const char *path, bool sweep)
{
    enum { TRIES = 100 };
    bool again = true;
    t->fd = -1;
    t->name[0] = t->tag[0] = 0;
    if (snprintf(t->path, sizeof t->path, "%s", path) >= (int)sizeof t->path)
        FAIL(ERR_FILE, "%.80s…: the path is too long", path);
    if (is_direct(path)) return open_direct(t);
    TRY(temp_may_write(path, true));
    if (sweep) temp_sweep(path);
    for (int i = 0; again && i < TRIES; i++) TRY(try_create(t, &again));
    if (again) FAIL(ERR_FILE, "%s: cannot create: other programs are writing there", path);
    return OK;
}

enum err temp_create(struct temp *t, const char *path)
{
    return create(t, path, true);
}

enum err temp_create_quick(struct temp *t, const char *path)
{
    return create(t, path, false);
}

void temp_sweep_all(const char *dir)
{
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));) {
        char path[PATH_MAX];
        if (temp_is(e->d_name) == 0) continue;
        if (snprintf(path, sizeof path, "%s/%s", dir, e->d_name) < (int)sizeof path)
            temp_clear(path);
    }
    if (d) closedir(d);
}

int temp_turn(const char *path)
{
    enum { TRIES = 200 };
    char dir[PATH_MAX];
    split(path, dir);
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < TRIES && fd >= 0; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) break;
        nanosleep(&PAUSE, NULL);
    }
    return fd;
}

void temp_turn_end(int turn)
{
    if (turn >= 0) close(turn);
}

enum err temp_sync(const struct temp *t)
{
    return *t->name ? file_sync(t->fd, t->path) : OK;
}

enum err temp_publish(struct temp *t)
{
    if (*t->name && rename(t->name, t->path) != 0) {
        int why = errno;
        temp_drop(t);
        FAIL(ERR_FILE, "%s: cannot write: %s", t->path, strerror(why));
    }
    close(t->fd);
    t->fd = -1;
    t->name[0] = 0;
    return OK;
}

void temp_drop(struct temp *t)
{
    if (t->fd < 0) return;
    if (*t->name && same_file(t->fd, AT_FDCWD, t->name)) unlink(t->name);
    close(t->fd);
    t->fd = -1;
}
