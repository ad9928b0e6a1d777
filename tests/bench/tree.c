/* Times of group finding: tree [-s] N LINK KIND: N points, link in mean separations, one line per
 * method: processor seconds to build and to find groups, bytes per point, number of groups. KIND:
 * half (half uniform, half groups of four), uniform, place (all at one position). All pairs up to
 * 200000 points; -s: without all pairs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/rng.h"
#include "tree/tree.h"

enum { BRUTE_MAX = 200000 };

static double processor(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double place_of(const char *kind, struct rng *r, int64_t n, int64_t i, const double *x)
{
    if (strcmp(kind, "place") == 0) return 0.3;
    if (strcmp(kind, "uniform") == 0 || i < n / 2 || i % 4 == 0) return rng_uniform(r);
    double y = x[i / 4 * 4] + 0.05 / cbrt((double)n) * (rng_uniform(r) - 0.5);
    y -= floor(y);
    return y < 1 ? y : 0;
}

static int measure(const struct tree_points *p, enum tree_method m, double link)
{
    struct tree *t;
    size_t before = mem_now();
    int32_t *label = mem_new(sizeof *label * (size_t)p->n + 1, "labels");
    double start = processor();
    if (tree_new(p, m, link, &t) != OK) {
        fprintf(stderr, "tree: %s\n", err_message());
        return 1;
    }
    double built = processor();
    tree_groups(t, link, label);
    double end = processor();
    int64_t groups = 0;
    for (int64_t i = 0; i < p->n; i++) groups += label[i] == i;
    printf("%s\t%s\t%.6g\t%.6g\t%.1f\t%ld\n", tree_method_name(m),
           tree_method_name(tree_method_of(t)), built - start, end - built,
           24 + (double)(mem_peak() - before) / (double)p->n, (long)groups);
    tree_free(&t);
    FREE(label);
    return 0;
}

int main(int argc, char **argv)
{
    int skip = argc > 1 && strcmp(argv[1], "-s") == 0;
    if (argc - skip != 4) {
        fprintf(stderr, "usage: tree [-s] N LINK half|uniform|place\n");
        return 2;
    }
    int64_t n = strtol(argv[1 + skip], NULL, 10);
    double link = strtod(argv[2 + skip], NULL) / cbrt((double)n);
    struct rng r = rng_make(1, 2, 3);
    struct tree_points p = {.n = n, .period = {1, 1, 1}};
    double *x[3];
    for (int k = 0; k < 3; k++) p.x[k] = x[k] = mem_new(sizeof(double) * (size_t)n + 1, "points");
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) x[k][i] = place_of(argv[3 + skip], &r, n, i, x[k]);
    int status = 0;
    printf("#asked\tmethod\tbuild\tgroups\tbytes\tnumber\n");
    for (int m = TREE_AUTO; m < TREE_METHODS && !status; m++) {
        if (m == TREE_BRUTE && (skip || n > BRUTE_MAX)) continue;
        if (m == TREE_GRID && strcmp(argv[3 + skip], "place") == 0) continue;
        status = measure(&p, (enum tree_method)m, link);
    }
    for (int k = 0; k < 3; k++) FREE(x[k]);
    return status;
}
