/* This file has functions of Linux that macOS lacks. config.mk includes it before every source on
 * macOS, so that the sources need no cases. Advice to the kernel becomes nothing; the rest is done
 * by functions of macOS. */
#pragma once
#ifdef __APPLE__
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Of <unistd.h>, whose read and write some sources have names for of their own. */
int ftruncate(int, off_t);
int unlink(const char *);
int pipe(int[2]);
void sync(void);

/* Of <math.h>, by the System V Interface Definition. */
#undef DOMAIN
#undef SING
#undef OVERFLOW
#undef UNDERFLOW

#define st_mtim st_mtimespec

enum { FALLOC_FL_KEEP_SIZE = 1, SYNC_FILE_RANGE_WRITE = 2, POSIX_FADV_DONTNEED = 4 };
enum { GRND_NONBLOCK = 1, MFD_CLOEXEC = 1, MREMAP_MAYMOVE = 1, RENAME_EXCHANGE = 2 };

static inline int linux_fallocate(int fd, int mode, off_t at, off_t n)
{
    (void)fd, (void)mode, (void)at, (void)n;
    errno = ENOTSUP;
    return -1;
}

static inline int linux_posix_fallocate(int fd, off_t at, off_t n)
{
    struct stat st;
    if (fstat(fd, &st) != 0) return errno;
    return st.st_size >= at + n || ftruncate(fd, at + n) == 0 ? 0 : errno;
}

static inline int linux_sync_file_range(int fd, off_t at, off_t n, unsigned flags)
{
    (void)fd, (void)at, (void)n, (void)flags;
    return 0;
}

static inline int linux_posix_fadvise(int fd, off_t at, off_t n, int advice)
{
    (void)fd, (void)at, (void)n, (void)advice;
    return 0;
}

/* The files of one file system, of which a file is given. */
static inline int linux_syncfs(int fd)
{
    (void)fd;
    sync();
    return 0;
}

static inline ssize_t linux_getrandom(void *p, size_t n, unsigned flags)
{
    (void)flags;
    arc4random_buf(p, n);
    return (ssize_t)n;
}

/* A file without a name. */
static inline int linux_memfd_create(const char *name, unsigned flags)
{
    char path[] = "/tmp/ptah.XXXXXX";
    int fd = mkstemp(path);
    (void)name, (void)flags;
    if (fd < 0) return fd;
    unlink(path);
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    return fd;
}

static inline int linux_pipe2(int ends[2], int flags)
{
    if (pipe(ends) != 0) return -1;
    for (int i = 0; i < 2 && (flags & O_CLOEXEC); i++) fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    return 0;
}

static inline int linux_renameat2(int a, const char *from, int b, const char *to, unsigned flags)
{
    (void)a, (void)b, (void)flags;
    int failed = renamex_np(from, to, RENAME_SWAP);
    if (failed && errno == ENOTSUP) errno = EOPNOTSUPP;
    return failed;
}

static inline void *linux_mremap(void *p, size_t bytes, size_t want, int flags)
{
    void *q = mmap(NULL, want, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (void)flags;
    if (q == MAP_FAILED) return q;
    memcpy(q, p, bytes < want ? bytes : want);
    munmap(p, bytes);
    return q;
}

static inline void *linux_memrchr(const void *p, int c, size_t n)
{
    const unsigned char *s = p;
    while (n > 0)
        if (s[--n] == (unsigned char)c) return (void *)(s + n);
    return NULL;
}

/* A stream that calls a function for what is written. */
typedef struct {
    ssize_t (*write)(void *, const char *, size_t);
} cookie_io_functions_t;

struct linux_cookie {
    void *of;
    cookie_io_functions_t how;
};

static inline int linux_cookie_write(void *p, const char *text, int n)
{
    struct linux_cookie *c = p;
    return (int)c->how.write(c->of, text, (size_t)n);
}

static inline int linux_cookie_close(void *p)
{
    free(p);
    return 0;
}

static inline FILE *linux_fopencookie(void *of, const char *mode, cookie_io_functions_t how)
{
    struct linux_cookie *c = malloc(sizeof *c);
    (void)mode;
    if (!c) return NULL;
    *c = (struct linux_cookie){of, how};
    return funopen(c, NULL, linux_cookie_write, NULL, linux_cookie_close);
}
/* Systems of later years may have some of these functions. */
#define fallocate linux_fallocate
#define posix_fallocate linux_posix_fallocate
#define sync_file_range linux_sync_file_range
#define posix_fadvise linux_posix_fadvise
#define syncfs linux_syncfs
#define getrandom linux_getrandom
#define memfd_create linux_memfd_create
#define pipe2 linux_pipe2
#define renameat2 linux_renameat2
#define mremap linux_mremap
#define memrchr linux_memrchr
#define fopencookie linux_fopencookie
#endif
