/* Preloaded library that makes the n-th memory request of a program fail.
 *
 *     ALLOC_AT    n, from 1; 0: none
 *     ALLOC_LAST  1: all later ones fail as well
 *     ALLOC_FROM  program: those that the program itself makes (not its libraries); libraries: the
 *                 others, from the program's first on, which come by way of the program's malloc
 *                 and its relatives (lib/base/alloc)
 *     ALLOC_LOG   file that gets the number of requests at the end
 *
 * Requests: malloc, calloc, realloc, aligned_alloc, memalign, posix_memalign, and mmap without a
 * file. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t align, size_t n);

static atomic_long count;
static atomic_bool begun; /* the program has requested memory */
static long at;
static bool last, of_program, ready;
static char *low, *high; /* text segment of the program */
enum { PASSES = 6 };
static struct {
    const char *low, *high;
} pass[PASSES]; /* functions of the program that pass on requests of libraries */

/* Finds the first object, which is the program. */
static int find_program(struct dl_phdr_info *info, size_t size, void *ctx)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        if (h->p_type != PT_LOAD || !(h->p_flags & PF_X)) continue;
        low = (char *)(info->dlpi_addr + h->p_vaddr);
        high = low + h->p_memsz;
    }
    return 1;
}

static void find_passes(void)
{
    static const char *const name[PASSES] = {"malloc",        "calloc",   "realloc",
                                             "aligned_alloc", "memalign", "posix_memalign"};
    for (int i = 0; i < PASSES; i++) {
        Dl_info in;
        ElfW(Sym) *symbol = NULL;
        char *at = dlsym(RTLD_DEFAULT, name[i]);
        if (!at || at < low || at >= high) continue;
        if (!dladdr1(at, &in, (void **)&symbol, RTLD_DL_SYMENT) || !symbol) continue;
        pass[i].low = at;
        pass[i].high = at + symbol->st_size;
    }
}

static bool is_of_program(const char *caller)
{
    for (int i = 0; i < PASSES; i++)
        if (caller >= pass[i].low && caller < pass[i].high) return false;
    return caller >= low && caller < high;
}

__attribute__((constructor)) static void begin(void)
{
    const char *n = getenv("ALLOC_AT"), *l = getenv("ALLOC_LAST"), *from = getenv("ALLOC_FROM");
    at = n ? strtol(n, NULL, 10) : 0;
    last = l && *l == '1';
    of_program = !from || strcmp(from, "libraries") != 0;
    dl_iterate_phdr(find_program, NULL);
    find_passes();
    ready = true;
}

__attribute__((destructor)) static void end(void)
{
    const char *log = getenv("ALLOC_LOG");
    char line[32];
    int fd = log && *log ? open(log, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
    if (fd < 0) return;
    int n = snprintf(line, sizeof line, "%ld\n", atomic_load(&count));
    if (write(fd, line, (size_t)n) != n) abort();
    close(fd);
}

static bool fails(const void *caller)
{
    bool mine = ready && is_of_program(caller);
    if (mine) begun = true;
    if (!begun || mine != of_program) return false;
    long n = atomic_fetch_add(&count, 1) + 1;
    return at > 0 && (last ? n >= at : n == at);
}

#define OR_FAIL(failure)                                                                           \
    if (fails(__builtin_return_address(0))) {                                                      \
        errno = ENOMEM;                                                                            \
        return failure;                                                                            \
    }

void *malloc(size_t n)
{
    OR_FAIL(NULL)
    return __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    OR_FAIL(NULL)
    return __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
    OR_FAIL(NULL)
    return __libc_realloc(p, n);
}

void *aligned_alloc(size_t align, size_t n)
{
    OR_FAIL(NULL)
    return __libc_memalign(align, n);
}

void *memalign(size_t align, size_t n)
{
    OR_FAIL(NULL)
    return __libc_memalign(align, n);
}

int posix_memalign(void **p, size_t align, size_t n)
{
    OR_FAIL(ENOMEM)
    *p = __libc_memalign(align, n);
    return *p ? 0 : ENOMEM;
}

void *mmap(void *where, size_t n, int protection, int flags, int fd, off_t from)
{
    if (fd < 0) OR_FAIL(MAP_FAILED)
    return (void *)syscall(SYS_mmap, where, n, protection, flags, fd, from);
}
