/* base/alone: parallel regions of a single thread.
 *
 * libgomp makes a team of one thread, too, and ends its barriers by a system call (futex) that
 * wakes nobody: a microsecond for each region, and a run on one thread has thousands in a coarse
 * step. Programs are linked with --wrap=GOMP_parallel, so that such a region is a call of its
 * function instead. Worksharing and barriers outside of a region are those of a team of one (OpenMP
 * 5.0, 2.6). */
#include <omp.h>

typedef void region(void *);
void __real_GOMP_parallel(region *f, void *data, unsigned threads, unsigned flags);
void __wrap_GOMP_parallel(region *f, void *data, unsigned threads, unsigned flags);

/* threads: 0: as many as there may be. */
void __wrap_GOMP_parallel(region *f, void *data, unsigned threads, unsigned flags)
{
    if (omp_get_level() == 0 && (threads ? threads : (unsigned)omp_get_max_threads()) == 1)
        f(data);
    else
        __real_GOMP_parallel(f, data, threads, flags);
}
