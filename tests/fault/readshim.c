/* Preloaded library: the k-th call of a program that reads below a folder fails, and so do all
 * later calls.
 *
 *     TROUBLE_DIR    the folder, as the program names it
 *     TROUBLE_AT     k, from 1; 0: none
 *     TROUBLE_ERRNO  value of errno
 *     TROUBLE_COUNT  file that gets the number of calls
 *
 * Calls: open for reading, pread, opendir, readdir. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FDS = 4096 };

static bool ours[FDS];
static DIR *dir;
static long calls;

static const char *get(const char *name)
{
    const char *s = getenv(name);
    return s ? s : "";
}

static bool below(const char *path)
{
    const char *folder = get("TROUBLE_DIR");
    return *folder && strncmp(path, folder, strlen(folder)) == 0;
}

static bool fails(void)
{
    long at = strtol(get("TROUBLE_AT"), NULL, 10);
    if (++calls < at || at == 0) return false;
    errno = (int)strtol(get("TROUBLE_ERRNO"), NULL, 10);
    return true;
}

int open(const char *path, int flags, ...)
{
    int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
    va_list ap;
    va_start(ap, flags);
    int mode = va_arg(ap, int);
    va_end(ap);
    bool mine = below(path) && (flags & O_ACCMODE) == O_RDONLY;
    if (mine && fails()) return -1;
    int fd = real(path, flags, mode);
    if (fd >= 0 && fd < FDS) ours[fd] = mine;
    return fd;
}

ssize_t pread(int fd, void *p, size_t n, off_t at)
{
    ssize_t (*real)(int, void *, size_t, off_t) = dlsym(RTLD_NEXT, "pread");
    if (fd >= 0 && fd < FDS && ours[fd] && fails()) return -1;
    return real(fd, p, n, at);
}

DIR *opendir(const char *path)
{
    DIR *(*real)(const char *) = dlsym(RTLD_NEXT, "opendir");
    if (below(path) && fails()) return NULL;
    DIR *d = real(path);
    if (below(path)) dir = d;
    return d;
}

struct dirent *readdir(DIR *d)
{
    struct dirent *(*real)(DIR *) = dlsym(RTLD_NEXT, "readdir");
    if (d == dir && fails()) return NULL;
    return real(d);
}

__attribute__((destructor)) static void say(void)
{
    FILE *f = *get("TROUBLE_COUNT") ? fopen(get("TROUBLE_COUNT"), "w") : NULL;
    if (!f) return;
    fprintf(f, "%ld", calls);
    fclose(f);
}
