/* Times of the tree for sums over neighbours: near N KIND [RADIUS]: N points in a periodic box of
 * side 1, RADIUS in mean separations (2.4: the M4 kernel at h of 1.2), KIND uniform or half (half
 * of the points in groups). Prints nanoseconds of processor time a point for the tree, for the
 * radii and for the lists of leaves, then nanoseconds a list, and the mean numbers of leaves and
 * points in a list. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/rng.h"
#include "tree/near.h"

static double processor(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static double place_of(bool half, struct rng *r, int64_t i, const double *x)
{
    if (!half || i % 8 == 0) return rng_uniform(r);
    double y = x[i / 8 * 8] + 0.01 * (rng_uniform(r) - 0.5);
    y -= floor(y);
    return y < 1 ? y : 0;
}

static void time_lists(const struct near *t, double radius, double *leaves, double *points)
{
    struct near_list list = {0};
    *leaves = *points = 0;
    for (int64_t k = 0; k < t->nleaf; k++) {
        near_leaves(t, k, radius, true, &list);
        *leaves += (double)list.n;
        for (int64_t i = 0; i < list.n; i++)
            *points += (double)(t->first[list.leaf[i] + 1] - t->first[list.leaf[i]]);
    }
    near_list_free(&list);
}

static void measure(const struct near_points *p, double radius)
{
    struct near *t;
    double *reach = mem_new(sizeof *reach * (size_t)p->n + 1, "radii");
    const struct near_frame frame = {{0, 0, 0}, {1, 1, 1}, {1, 1, 1}};
    for (int64_t i = 0; i < p->n; i++) reach[i] = radius;
    double start = processor();
    if (near_new(p, &frame, 0, &t) != OK) {
        fprintf(stderr, "near: %s\n", err_message());
        exit(1);
    }
    double built = processor();
    near_reach(t, reach);
    double reached = processor();
    double leaves, points, n = (double)p->n, lists = (double)t->nleaf;
    time_lists(t, radius, &leaves, &points);
    double end = processor();
    printf("#build\treach\tlists\ta_list\tsize\tleaves\tpoints\n");
    printf("%.4g\t%.4g\t%.4g\t%.4g\t%.4g\t%.4g\t%.4g\n", (built - start) / n, (reached - built) / n,
           (end - reached) / n, (end - reached) / lists, n / lists, leaves / lists, points / lists);
    near_free(&t);
    FREE(reach);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: near N uniform|half [RADIUS]\n");
        return 2;
    }
    int64_t n = strtol(argv[1], NULL, 10);
    double *x[3];
    int64_t *id = mem_new(sizeof *id * (size_t)n + 1, "points");
    struct rng r = rng_make(1, 2, 3);
    for (int k = 0; k < 3; k++) x[k] = mem_new(sizeof(double) * (size_t)n + 1, "points");
    for (int64_t i = 0; i < n; i++) {
        id[i] = i;
        for (int k = 0; k < 3; k++) x[k][i] = place_of(strcmp(argv[2], "half") == 0, &r, i, x[k]);
    }
    const struct near_points p = {n, {x[0], x[1], x[2]}, id};
    for (int repeat = 0; repeat < 3; repeat++)
        measure(&p, (argc > 3 ? strtod(argv[3], NULL) : 2.4) / cbrt((double)n));
    for (int k = 0; k < 3; k++) FREE(x[k]);
    FREE(id);
    return 0;
}
