/* Laws of parallel regions (base/alone): for any number of threads and depth, each thread of a
 * region does its share of a loop, together they do all of it, and a region of one thread does all
 * of it without a team. Catches: a region inside another that shares the loop with the outer team
 * or ends it, a team for one thread, one thread where several were asked for. */
#include <omp.h>

#include "check.h"

enum { MANY = 1000 };

/* Number of times that the calling region executes a loop of MANY iterations. */
static int share(void)
{
    int n = 0;
#pragma omp for schedule(static)
    for (int i = 0; i < MANY; i++) n++;
    return n;
}

static void test_loops(int threads)
{
    int all = 0, seen = 0;
    omp_set_num_threads(threads);
#pragma omp parallel reduction(+ : all, seen)
    {
        all += share();
        seen++;
    }
    CHECK(all == MANY, "%d threads: %d", threads, all);
    CHECK(seen == threads, "%d threads: %d", threads, seen);
}

static void test_alone(void)
{
    int all = 0, level = -1;
    omp_set_num_threads(4);
#pragma omp parallel if (0) reduction(+ : all) reduction(max : level)
    {
        all += share();
#pragma omp barrier
        level = omp_get_level();
    }
    CHECK(all == MANY, "%d", all);
    CHECK(level == 0, "a team of one at level %d", level);
    omp_set_num_threads(1);
#pragma omp parallel reduction(max : level)
    level = omp_get_level();
    CHECK(level == 0, "a team of one at level %d", level);
}

static void test_inside(int inner)
{
    int each = 0, outer = 0;
    omp_set_num_threads(3);
    omp_set_max_active_levels(2);
#pragma omp parallel reduction(+ : each, outer)
    {
        int all = 0;
#pragma omp parallel num_threads(inner) reduction(+ : all)
        all += share();
        each += all == MANY;
        outer++;
    }
    CHECK(outer == 3 && each == 3, "%d threads inside: %d of %d did all", inner, each, outer);
}

/* As share, with dynamic scheduling, for which both loops ask libgomp for chunks. */
static int share_dynamic(void)
{
    int n = 0;
#pragma omp for schedule(dynamic, 16)
    for (int i = 0; i < MANY; i++) n++;
    return n;
}

static void test_dynamic(int threads)
{
    enum { ROWS = 50 };
    int all = 0, seen = 0;
    omp_set_num_threads(threads);
#pragma omp parallel reduction(+ : all, seen)
    {
        seen++;
#pragma omp for schedule(dynamic, 1)
        for (int k = 0; k < ROWS; k++) {
            int each = 0;
#pragma omp parallel num_threads(1) reduction(+ : each)
            each += share_dynamic();
            all += each;
        }
    }
    CHECK(seen == threads && all == ROWS * MANY, "%d threads: %d", threads, all);
}

int main(void)
{
    for (int n = 1; n <= 4; n++) test_loops(n);
    test_alone();
    for (int n = 1; n <= 2; n++) test_inside(n);
    for (int n = 1; n <= 2; n++) test_dynamic(n);
    printf("%d passed, %d failed\n", passed, failed);
    return failed ? 1 : 0;
}
