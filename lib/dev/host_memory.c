/* dev/host_memory: each array is a mapping of its own, followed by an inaccessible page at its end,
 * so that reading beyond the end also ends the program. Freed arrays stay inaccessible for a while.
 * The fault handler names the array. */
#include "dev/host_memory.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"

enum { ALIGN = 64, CACHED = 64 };

struct host_array {
    char *map, *data;
    size_t mapped, bytes; /* mapped: bytes without the guard page */
    const char *name;
    bool live;
};

struct host_memory {
    struct host_array *array;
    int n, cap;
    int dead; /* number of freed arrays in the list */
    size_t page;
    bool open;
    struct host_memory *next; /* list searched by the fault handler */
};

static struct host_memory *all;
static struct sigaction before;

/* ---- faults ---- */

static void on_fault(int number, siginfo_t *info, void *context)
{
    const char *at = info->si_addr;
    char line[300];
    for (const struct host_memory *m = all; m; m = m->next) {
        for (int i = 0; i < m->n; i++) {
            const struct host_array *a = &m->array[i];
            if (at < a->map || at >= a->map + a->mapped + m->page) continue;
            const char *how = !a->live                   ? "after it was freed"
                              : at >= a->data + a->bytes ? "beyond its end"
                              : at < a->data             ? "before its beginning"
                                                         : "by the host";
            int n = snprintf(line, sizeof line,
                             "device memory '%s' (%zu bytes) was accessed %s, at byte %td\n",
                             a->name, a->bytes, how, at - a->data);
            if (write(STDERR_FILENO, line, (size_t)n) < 0) break;
        }
    }
    sigaction(SIGSEGV, &before, NULL); /* the repeated access ends the program */
}

static void faults_watch(struct host_memory *m)
{
    if (!all) {
        struct sigaction act = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
        sigemptyset(&act.sa_mask);
        sigaction(SIGSEGV, &act, &before);
    }
    m->next = all;
    all = m;
}

static void faults_forget(struct host_memory *m)
{
    struct host_memory **at = &all;
    while (*at != m) at = &(*at)->next;
    *at = m->next;
    if (!all) sigaction(SIGSEGV, &before, NULL);
}

/* ---- arrays ---- */

struct host_memory *host_memory_new(void)
{
    struct host_memory *m = mem_zero(sizeof *m, "device");
    m->page = (size_t)sysconf(_SC_PAGESIZE);
    faults_watch(m);
    return m;
}

static void array_unmap(const struct host_memory *m, struct host_array *a)
{
    munmap(a->map, a->mapped + m->page);
}

void host_memory_free(struct host_memory **m)
{
    faults_forget(*m);
    for (int i = 0; i < (*m)->n; i++) array_unmap(*m, &(*m)->array[i]);
    FREE((*m)->array);
    FREE(*m);
}

void *host_memory_take(struct host_memory *m, size_t bytes, const char *name)
{
    size_t room = (bytes + ALIGN - 1) / ALIGN * ALIGN,
           mapped = (room + m->page - 1) / m->page * m->page;
    char *map = mmap(NULL, mapped + m->page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                     -1, 0);
    if (map == MAP_FAILED) return NULL;
    MEM_ROOM(m->array, m->n, m->cap, 64, "device");
    struct host_array *a = &m->array[m->n++];
    *a = (struct host_array){map, map + mapped - room, mapped, bytes, name, true};
    BUG_ON(mprotect(map, mapped, PROT_READ | PROT_WRITE) != 0);
    memset(map, 0xff, mapped);
    if (!m->open) BUG_ON(mprotect(map, mapped, PROT_NONE) != 0);
    return a->data;
}

/* Unmaps the oldest freed array to release its address. */
static void bury(struct host_memory *m)
{
    int i = 0;
    while (m->array[i].live) i++;
    array_unmap(m, &m->array[i]);
    memmove(&m->array[i], &m->array[i + 1], sizeof m->array[0] * (size_t)(m->n - i - 1));
    m->n--;
    m->dead--;
}

void host_memory_give(struct host_memory *m, void *p)
{
    for (int i = m->n - 1; i >= 0; i--) {
        struct host_array *a = &m->array[i];
        if (a->data != p || !a->live) continue;
        a->live = false;
        madvise(a->map, a->mapped, MADV_DONTNEED);
        mprotect(a->map, a->mapped, PROT_NONE);
        if (++m->dead > CACHED) bury(m);
        return;
    }
    BUG_ON(true);
}

static void protect(struct host_memory *m, int how)
{
    for (int i = 0; i < m->n; i++)
        if (m->array[i].live) BUG_ON(mprotect(m->array[i].map, m->array[i].mapped, how) != 0);
    m->open = how != PROT_NONE;
}

void host_memory_open(struct host_memory *m)
{
    protect(m, PROT_READ | PROT_WRITE);
}

void host_memory_close(struct host_memory *m)
{
    protect(m, PROT_NONE);
}

const char *host_memory_name(const struct host_memory *m, const void *p, size_t bytes)
{
    const char *at = p;
    for (int i = 0; i < m->n; i++) {
        const struct host_array *a = &m->array[i];
        if (a->live && at >= a->data && at + bytes <= a->data + a->bytes) return a->name;
    }
    return NULL;
}

bool host_memory_touches(const struct host_memory *m, const void *p, size_t bytes)
{
    const char *at = p;
    for (int i = 0; i < m->n; i++) {
        const struct host_array *a = &m->array[i];
        if (at < a->map + a->mapped + m->page && at + bytes > a->map) return true;
    }
    return false;
}
