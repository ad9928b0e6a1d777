/* Preloaded library: the k-th call of a program that changes something below a folder fails, or
 * ends the program.
 *
 *     FAULT_DIR   the folder, as the program names it
 *     FAULT_AT    k, from 1; 0: none
 *     FAULT_KIND  kill   SIGKILL instead of the call
 *                 term   SIGTERM, and the call is done 50 ms later
 *                 tear   of a write, half is done, then SIGKILL; other calls are done, then SIGKILL
 *                 short  of a write, half is done; other calls are left alone
 *                 EINTR  write and fsync only; ENOSPC EDQUOT EIO: the call fails
 *     FAULT_LAST  1: all later calls fail as well
 *     FAULT_SLOW  seconds that each fsync takes longer, or a file that it waits for, all of
 *                 them no longer than 30 s
 *     FAULT_RANK  of MPI, whose calls count
 *     FAULT_ROOM  bytes that file systems have left
 *     FAULT_LOG   file that gets the number and name of each call
 *
 * progress.json is left alone: the clock decides how often it is written, and a run can do without.
 *
 * Calls: open for writing, mkdir, write, fsync, truncate, rename, unlink, rmdir, close. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { FDS = 4096, NOTHING, FAIL_IT, HALF, HALF_KILL };

static bool ours[FDS];
static _Atomic long calls; /* number of calls of all threads */

static const char *get(const char *name)
{
    const char *s = getenv(name);
    return s ? s : "";
}

static bool below(const char *path)
{
    const char *dir = get("FAULT_DIR"), *mine = getenv("OMPI_COMM_WORLD_RANK"),
               *rank = get("FAULT_RANK");
    if (!*dir || !path || (mine && *rank && strcmp(mine, rank) != 0)) return false;
    return strncmp(path, dir, strlen(dir)) == 0 && !strstr(path, "/progress.json");
}

static bool below_at(int dirfd, const char *name)
{
    char link[64], path[4096];
    if (*name == '/' || dirfd == AT_FDCWD) return below(name);
    snprintf(link, sizeof link, "/proc/self/fd/%d", dirfd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n < 0) return false;
    path[n] = 0;
    return below(path);
}

static void log_call(const char *what, const char *path)
{
    const char *log = get("FAULT_LOG");
    char line[4200];
    int (*real_open)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
    ssize_t (*real_write)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
    if (!*log) return;
    int n = snprintf(line, sizeof line, "%ld %s %s\n", (long)calls, what, path),
        fd = real_open(log, O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (fd < 0 || real_write(fd, line, (size_t)n) != n) abort();
    int (*real_close)(int) = dlsym(RTLD_NEXT, "close");
    real_close(fd);
}

/* Trouble for this call, or NOTHING; errno is set for FAIL_IT. */
static int fate(const char *what, const char *path)
{
    static const struct {
        const char *name;
        int code;
    } code[] = {{"ENOSPC", ENOSPC}, {"EDQUOT", EDQUOT}, {"EIO", EIO}, {"EINTR", EINTR}};
    const char *kind = get("FAULT_KIND");
    bool write = strcmp(what, "write") == 0, last = *get("FAULT_LAST") == '1';
    long at = strtol(get("FAULT_AT"), NULL, 10);
    long this = ++calls;
    log_call(what, path);
    if (at == 0 || (last ? this < at : this != at)) return NOTHING;
    if (strcmp(kind, "kill") == 0) kill(getpid(), SIGKILL);
    if (strcmp(kind, "term") == 0) kill(getpid(), SIGTERM), usleep(50000);
    if (strcmp(kind, "tear") == 0) return HALF_KILL;
    if (strcmp(kind, "short") == 0) return write ? HALF : NOTHING;
    if (strcmp(kind, "EINTR") == 0 && !write && strcmp(what, "fsync") != 0) return NOTHING;
    for (size_t i = 0; i < sizeof code / sizeof *code; i++)
        if (strcmp(kind, code[i].name) == 0) {
            errno = code[i].code;
            return FAIL_IT;
        }
    return NOTHING;
}

#define REAL(name) __typeof__(&name) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

/* Wrappers of calls that return int, which fail or succeed as a whole. */
#define WHOLE(cond, what, path, call)                                                              \
    do {                                                                                           \
        int fate_ = (cond) ? fate(what, path) : NOTHING;                                           \
        if (fate_ == FAIL_IT) return -1;                                                           \
        int result_ = (call), why_ = errno;                                                        \
        if (fate_ == HALF_KILL) kill(getpid(), SIGKILL);                                           \
        errno = why_;                                                                              \
        return result_;                                                                            \
    } while (0)

static int opened(int fd, bool mine)
{
    if (fd >= 0 && fd < FDS) ours[fd] = mine;
    return fd;
}

#define OPEN(name)                                                                                 \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        REAL(name);                                                                                \
        va_list args;                                                                              \
        va_start(args, flags);                                                                     \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;                    \
        va_end(args);                                                                              \
        bool mine = below(path) && ((flags & (O_WRONLY | O_RDWR)) || (flags & O_DIRECTORY));       \
        WHOLE(mine, "open", path, opened(real(path, flags, mode), mine));                          \
    }
OPEN(open)
OPEN(open64)

#define IS_OURS(fd) ((fd) >= 0 && (fd) < FDS && ours[fd])

#define PWRITE(name, offset)                                                                       \
    ssize_t name(int fd, const void *p, size_t n, offset at)                                       \
    {                                                                                              \
        REAL(name);                                                                                \
        int f = IS_OURS(fd) ? fate("write", "") : NOTHING;                                         \
        if (f == FAIL_IT) return -1;                                                               \
        ssize_t k = real(fd, p, f != NOTHING && n > 1 ? n / 2 : n, at);                            \
        if (f == HALF_KILL) kill(getpid(), SIGKILL);                                               \
        return k;                                                                                  \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

ssize_t write(int fd, const void *p, size_t n)
{
    REAL(write);
    int f = IS_OURS(fd) ? fate("write", "") : NOTHING;
    if (f == FAIL_IT) return -1;
    ssize_t k = real(fd, p, f != NOTHING && n > 1 ? n / 2 : n);
    if (f == HALF_KILL) kill(getpid(), SIGKILL);
    return k;
}

int dup(int fd)
{
    REAL(dup);
    return opened(real(fd), IS_OURS(fd));
}

static void wait_for(const char *path)
{
    static _Atomic int turns;
    while (access(path, F_OK) != 0 && ++turns < 30000) usleep(1000);
}

int fsync(int fd)
{
    REAL(fsync);
    const char *slow = IS_OURS(fd) ? get("FAULT_SLOW") : "";
    if (*slow == '/')
        wait_for(slow);
    else if (strtod(slow, NULL) > 0)
        usleep((useconds_t)(1e6 * strtod(slow, NULL)));
    WHOLE(IS_OURS(fd), "fsync", "", real(fd));
}

int ftruncate(int fd, off_t n)
{
    REAL(ftruncate);
    WHOLE(IS_OURS(fd), "ftruncate", "", real(fd, n));
}

/* The descriptor is closed in any case, as on Linux. Calls on a file without a name are not
 * counted. */
int close(int fd)
{
    REAL(close);
    struct stat st;
    int f = IS_OURS(fd) && fstat(fd, &st) == 0 && st.st_nlink > 0 ? fate("close", "") : NOTHING,
        why = errno;
    if (fd >= 0 && fd < FDS) ours[fd] = false;
    int result = real(fd);
    if (f == HALF_KILL) kill(getpid(), SIGKILL);
    if (f != FAIL_IT) return result;
    errno = why;
    return -1;
}

int mkdir(const char *path, mode_t mode)
{
    REAL(mkdir);
    WHOLE(below(path), "mkdir", path, real(path, mode));
}

int rename(const char *from, const char *to)
{
    REAL(rename);
    WHOLE(below(to), "rename", to, real(from, to));
}

int renameat2(int fd, const char *from, int gd, const char *to, unsigned flags)
{
    REAL(renameat2);
    WHOLE(below(to), "renameat2", to, real(fd, from, gd, to, flags));
}

int unlinkat(int fd, const char *name, int flags)
{
    REAL(unlinkat);
    WHOLE(below_at(fd, name), "unlinkat", name, real(fd, name, flags));
}

int unlink(const char *path)
{
    REAL(unlink);
    WHOLE(below(path), "unlink", path, real(path));
}

int rmdir(const char *path)
{
    REAL(rmdir);
    WHOLE(below(path), "rmdir", path, real(path));
}

int statvfs(const char *path, struct statvfs *s)
{
    static int (*real)(const char *, struct statvfs *);
    if (!real) real = dlsym(RTLD_NEXT, "statvfs");
    const int status = real(path, s);
    if (status == 0 && *get("FAULT_ROOM"))
        s->f_bavail = strtoul(get("FAULT_ROOM"), NULL, 10) / s->f_frsize;
    return status;
}
