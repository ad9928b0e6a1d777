#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

/* Bytes per system call. Longer writes make Linux search for longer runs of free memory, which is
 * slower: writing 1 MB at a time took up to five times as long. */
static const size_t PIECE = (size_t)1 << 30, WRITE_PIECE = (size_t)512 << 10;

void file_fill_standard(void)
{
    /* access modes by descriptor: reads of 0 and writes to 1 fail, writes to 2 vanish */
    static const int how[] = {O_WRONLY, O_RDONLY, O_WRONLY};
    for (int fd = 0; fd < 3; fd++) {
        if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
        BUG_ON(open("/dev/null", how[fd]) != fd); /* open returns the lowest free descriptor */
    }
}

enum err file_write_at(int fd, const char *path, const void *p, size_t n, int64_t at)
{
    const char *s = p;
    while (n > 0) {
        ssize_t k = pwrite(fd, s, n < WRITE_PIECE ? n : WRITE_PIECE, at);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0)
            FAIL(ERR_FILE, "%s: cannot write at byte %ld: %s", path, (long)at,
                 strerror(k ? errno : ENOSPC));
        s += k, at += k, n -= (size_t)k;
    }
    return OK;
}

void file_write_soon(int fd, size_t n, int64_t at)
{
#ifdef SYNC_FILE_RANGE_WRITE
    if (n >= FILE_SOON) (void)!sync_file_range(fd, at, (off_t)n, SYNC_FILE_RANGE_WRITE);
#endif
}

void file_write_all_soon(int fd)
{
#ifdef SYNC_FILE_RANGE_WRITE
    (void)!sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
#endif
}

enum err file_read_at(int fd, const char *path, void *p, size_t n, int64_t at)
{
    char *s = p;
    while (n > 0) {
        ssize_t k = pread(fd, s, n < PIECE ? n : PIECE, at);
        if (k < 0 && errno == EINTR) continue;
        if (k < 0)
            FAIL(ERR_FILE, "%s: cannot read at byte %ld: %s", path, (long)at, strerror(errno));
        if (k == 0)
            FAIL(ERR_FORMAT, "%s: ends at byte %ld, %zu bytes are missing: the file is truncated",
                 path, (long)at, n);
        s += k, at += k, n -= (size_t)k;
    }
    return OK;
}

void file_reserve(int fd, int64_t at, int64_t n)
{
    /* without space the write will fail */
    int is = fallocate(fd, FALLOC_FL_KEEP_SIZE, at, n);
    (void)is;
}

static enum err cannot_sync(const char *path, int why)
{
    return err_set(ERR_FILE, "%s: cannot sync it to disk: %s", path, strerror(why));
}

enum err file_sync(int fd, const char *path)
{
    int synced;
    do synced = fsync(fd);
    while (synced != 0 && errno == EINTR);
    /* EINVAL, EROFS: the file cannot be synced, for example a device */
    return synced == 0 || errno == EINVAL || errno == EROFS ? OK : cannot_sync(path, errno);
}

enum err file_close_synced(int fd, const char *path)
{
    enum err err = file_sync(fd, path);
    if (close(fd) != 0 && err == OK) err = cannot_sync(path, errno);
    return err;
}

/* ---- opening ---- */

const char *file_kind(unsigned mode)
{
    return S_ISREG(mode)    ? "a file"
           : S_ISDIR(mode)  ? "a directory"
           : S_ISFIFO(mode) ? "a pipe"
           : S_ISSOCK(mode) ? "a socket"
           : S_ISLNK(mode)  ? "a symbolic link"
                            : "a device";
}

const char *file_hint(const char *path)
{
    const bool home = errno == ENOENT && path[0] == '~';
    return home ? "; '~' within quotes or a namelist is no home directory: write the whole path"
                : "";
}

static enum err check_regular(const char *path, unsigned mode)
{
    if (S_ISREG(mode)) return OK;
    if (S_ISDIR(mode)) FAIL(ERR_FILE, "%s: cannot be read: %s", path, strerror(EISDIR));
    FAIL(ERR_FILE, "%s: cannot be read: it is %s, not a regular file", path, file_kind(mode));
}

/* Opens an existing regular file. Its type is checked before opening: opening a device may have
 * side effects, and opening a FIFO unblocks its writer. */
static enum err open_regular(const char *path, int how, int *fd, struct stat *st)
{
    *fd = -1;
    if (stat(path, st) != 0)
        FAIL(ERR_FILE, "%s: cannot open: %s%s", path, strerror(errno), file_hint(path));
    TRY(check_regular(path, st->st_mode));
    *fd = open(path, how | O_CLOEXEC | O_NONBLOCK);
    if (*fd < 0) FAIL(ERR_FILE, "%s: cannot open: %s", path, strerror(errno));
    enum err err = OK;
    if (fstat(*fd, st) != 0)
        err = err_set(ERR_FILE, "%s: %s", path, strerror(errno));
    else
        err = check_regular(path, st->st_mode);
    if (err != OK) close(*fd), *fd = -1;
    return err;
}

enum err file_open(const char *path, int *fd, int64_t *size)
{
    struct stat st;
    *size = 0;
    TRY(open_regular(path, O_RDONLY, fd, &st));
    *size = st.st_size;
    return OK;
}

enum err file_open_any(const char *path, int *fd)
{
    struct stat st;
    *fd = -1;
    if (stat(path, &st) == 0 && (S_ISDIR(st.st_mode) || S_ISSOCK(st.st_mode)))
        return check_regular(path, st.st_mode);
    *fd = open(path, O_RDONLY | O_CLOEXEC);
    if (*fd < 0)
        FAIL(ERR_FILE, "%s: cannot be opened: %s%s", path, strerror(errno), file_hint(path));
    return OK;
}

enum err file_create(const char *path, int *fd)
{
    *fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (*fd < 0) FAIL(ERR_FILE, "%s: cannot create: %s", path, strerror(errno));
    return OK;
}

enum err file_reopen(const char *path, int *fd)
{
    struct stat st;
    return open_regular(path, O_WRONLY | O_NOFOLLOW, fd, &st);
}

enum err file_may_append(const char *path)
{
    struct stat st;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISCHR(st.st_mode))
        FAIL(ERR_FILE, "%s: is %s: lines cannot be appended to it", path, file_kind(st.st_mode));
    return OK;
}

enum err file_append(const char *path, FILE **f)
{
    *f = NULL;
    TRY(file_may_append(path));
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
    if (fd >= 0) *f = fdopen(fd, "a");
    if (!*f) FAIL(ERR_FILE, "%s: cannot be written: %s", path, strerror(errno));
    return OK;
}

static enum err too_long(const char *name, size_t max)
{
    return err_set(ERR_LIMIT, "%s: has more than the %zu bytes expected at most", name, max);
}

enum err file_load(const char *path, size_t max, char **text, size_t *n)
{
    int fd;
    int64_t size;
    TRY(file_open(path, &fd, &size));
    enum err err = OK;
    if ((size_t)size > max) err = too_long(path, max);
    if (err == OK) {
        *n = (size_t)size;
        *text = mem_new(*n + 1, "text file");
        (*text)[*n] = 0;
        err = file_read_at(fd, path, *text, *n, 0);
        if (err != OK) FREE(*text);
    }
    close(fd);
    return err;
}

/* Reads to the end; more than `max` bytes are an error. */
static enum err drain(int fd, const char *name, size_t max, char **text, size_t *n)
{
    size_t room = 1 << 12;
    *text = mem_new(room + 1, "text file");
    for (*n = 0; *n <= max;) {
        ssize_t k = read(fd, *text + *n, room - *n);
        if (k < 0 && errno == EINTR) continue;
        if (k < 0) FAIL(ERR_FILE, "%s: cannot read: %s", name, strerror(errno));
        if (k == 0) break;
        *n += (size_t)k;
        if (*n == room) *text = mem_grow(*text, (room *= 2) + 1, "text file");
    }
    (*text)[*n] = 0;
    return OK;
}

enum err file_load_any(const char *path, size_t max, char **text, size_t *n)
{
    bool standard = strcmp(path, "-") == 0;
    const char *name = standard ? "standard input" : path;
    int fd = STDIN_FILENO;
    *text = NULL;
    if (!standard) TRY(file_open_any(path, &fd));
    enum err err = drain(fd, name, max, text, n);
    if (err == OK && *n > max) err = too_long(name, max);
    if (err != OK) FREE(*text);
    if (!standard) close(fd);
    return err;
}

bool file_exists(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

void file_forget(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return;
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
}
