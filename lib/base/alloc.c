/* base/alloc: see alloc.h. Functions of the program come before those of its shared libraries, so
 * libraries call these; the next definition (RTLD_NEXT) does the work: the C library's, or a
 * preloaded allocator or tool. */
#include "base/alloc.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Noreturn void alloc_end(const char *sentence)
{
    static bool ending;
    size_t n = strlen(sentence);
    /* another thread ends the program */
    while (__atomic_exchange_n(&ending, true, __ATOMIC_RELAXED)) pause();
    if (write(STDERR_FILENO, sentence, n) != (ssize_t)n) _exit(2);
    _exit(2);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif

#ifdef SANITIZED
void *alloc_try(size_t align, size_t bytes)
{
    return aligned_alloc(align, bytes);
}
#else
static struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void *(*aligned)(size_t, size_t);
} next;

/* Finds the next definitions. Threads that enter at once find equal pointers. A request of dlsym
 * itself, which only older C libraries make, is refused; dlsym then works without the memory. */
static bool find_next(void)
{
    static _Thread_local bool busy;
    if (busy) return false;
    busy = true;
    void *(*m)(size_t) = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
    next.calloc = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc");
    next.realloc = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc");
    next.aligned = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "aligned_alloc");
    __atomic_store_n(&next.malloc, m, __ATOMIC_RELEASE);
    busy = false;
    return true;
}

static bool found(void)
{
    return __atomic_load_n(&next.malloc, __ATOMIC_ACQUIRE) || find_next();
}

/* Ends the program, naming the library that contains the calling address `at`. */
_Noreturn static void refuse(size_t bytes, const void *at)
{
    char sentence[256];
    Dl_info from = {0};
    const char *name = dladdr(at, &from) && from.dli_fname ? from.dli_fname : "a library";
    const char *slash = strrchr(name, '/');
    if (!strstr(name, "libc.so")) fflush(stdout); /* flushing may itself be the failed request */
    snprintf(sentence, sizeof sentence, "ptah: out of memory: %s needs %zu bytes\n",
             slash ? slash + 1 : name, bytes);
    alloc_end(sentence);
}

void *alloc_try(size_t align, size_t bytes)
{
    return found() ? next.aligned(align, bytes) : NULL;
}

void *malloc(size_t bytes)
{
    if (!found()) return NULL;
    void *p = next.malloc(bytes);
    if (!p && bytes) refuse(bytes, __builtin_return_address(0));
    return p;
}

void *calloc(size_t n, size_t bytes)
{
    if (!found()) return NULL;
    void *p = next.calloc(n, bytes);
    if (!p && n && bytes) refuse(n * bytes, __builtin_return_address(0));
    return p;
}

void *realloc(void *old, size_t bytes)
{
    if (!found()) return NULL;
    void *p = next.realloc(old, bytes);
    if (!p && bytes) refuse(bytes, __builtin_return_address(0));
    return p;
}

void *aligned_alloc(size_t align, size_t bytes)
{
    void *p = alloc_try(align, bytes);
    if (!p && bytes) refuse(bytes, __builtin_return_address(0));
    return p;
}

void *memalign(size_t align, size_t bytes)
{
    void *p = alloc_try(align, bytes);
    if (!p && bytes) refuse(bytes, __builtin_return_address(0));
    return p;
}

int posix_memalign(void **p, size_t align, size_t bytes)
{
    *p = alloc_try(align, bytes);
    if (!*p && bytes) refuse(bytes, __builtin_return_address(0));
    return *p || !bytes ? 0 : ENOMEM;
}
#endif
