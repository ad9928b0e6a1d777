/* base/alone: parallel regions of a single thread.
 *
 * libgomp makes a team of one thread, too, and ends its barriers by a system call (futex) that
 * wakes nobody: a microsecond for each region, and a run on one thread has thousands in a coarse
 * step. Programs are linked with --wrap=GOMP_parallel, so that such a region is a call of its
 * function instead. Worksharing and barriers outside of a region act as in a team of one (OpenMP
 * 5.0, 2.6). A region nested in such a call goes to libgomp: its loops must not share the storage
 * in which libgomp keeps the enclosing loop. */
#include <omp.h>
#include <stdbool.h>

typedef void region(void *);
void __real_GOMP_parallel(region *f, void *data, unsigned threads, unsigned flags);
void __wrap_GOMP_parallel(region *f, void *data, unsigned threads, unsigned flags);

static _Thread_local bool inside;

static bool is_alone(unsigned threads)
{
    if (inside || omp_get_level() > 0) return false;
    return (threads ? threads : (unsigned)omp_get_max_threads()) == 1;
}

/* threads: requested number, 0 for the maximum. */
void __wrap_GOMP_parallel(region *f, void *data, unsigned threads, unsigned flags)
{
    if (!is_alone(threads)) {
        __real_GOMP_parallel(f, data, threads, flags);
        return;
    }
    inside = true;
    f(data);
    inside = false;
}
