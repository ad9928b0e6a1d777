/* smooth: nanoseconds of processor time a particle of an evaluation of smooth on one thread: tree,
 * density (from h that is up to 0.25 % off), forces; and evaluations a second. smooth [N [M4|M6]]:
 * N (100000) particles on a lattice with noise, in a periodic box. Medians. */
#include <omp.h>
#include <string.h>
#include <time.h>

#include "base/rng.h"
#include "smooth_world.h"

enum { TURNS = 7 };
enum part { TREE, DENSITY, FORCES, PARTS };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static void must(enum err err)
{
    if (err == OK) return;
    fprintf(stderr, "smooth: %s\n", err_message());
    exit(1);
}

static void turn(const struct smooth_par *p, struct smooth *s, double *spent)
{
    int64_t beyond;
    double *reach = mem_new(sizeof *reach * (size_t)s->n, "reach");
    struct rng r = rng_make(4, 5, 6);
    for (int64_t i = 0; i < s->n; i++) {
        s->h[i] *= 1 + 0.005 * (rng_uniform(&r) - 0.5);
        reach[i] = 1.1 * smooth_support(p->kernel) * s->h[i];
    }
    const double start = now();
    struct near *t = smooth_world_near(s, 1, SMOOTH_LEAF);
    const double built = now();
    must(smooth_density(p, s, t, reach, &beyond));
    const double dense = now();
    must(smooth_forces(p, s, t));
    const double end = now();
    near_free(&t);
    FREE(reach);
    spent[TREE] = built - start, spent[DENSITY] = dense - built, spent[FORCES] = end - dense;
}

static int ascending(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

int main(int argc, char **argv)
{
    const double want = argc > 1 ? strtod(argv[1], NULL) : 1e5;
    const enum smooth_kernel k = argc > 2 && strcmp(argv[2], "M6") == 0 ? SMOOTH_M6 : SMOOTH_M4;
    const int side = (int)lround(cbrt(want));
    const int64_t n = (int64_t)side * side * side;
    struct smooth_par p = smooth_world_par(k, n);
    struct smooth s;
    double spent[PARTS], all[PARTS][TURNS], sum = 0, near = 0;
    p.h_tol = 1e-6;
    omp_set_num_threads(1);
    smooth_world_init(&s, n);
    smooth_world_lattice(&s, side);
    turn(&p, &s, spent);
    for (int i = 0; i < TURNS; i++) {
        turn(&p, &s, spent);
        for (int j = 0; j < PARTS; j++) all[j][i] = spent[j] / (double)n;
    }
    for (int64_t i = 0; i < n; i++) near += s.near[i] / (double)n;
    for (int j = 0; j < PARTS; j++) {
        qsort(all[j], TURNS, sizeof(double), ascending);
        sum += all[j][TURNS / 2];
    }
    printf("| particles | neighbours | tree, ns | density, ns | forces, ns | evaluations/s |\n"
           "|---|---|---|---|---|---|\n| %lld | %.1f | %.0f | %.0f | %.0f | %.3g |\n",
           (long long)n, near, all[TREE][TURNS / 2], all[DENSITY][TURNS / 2],
           all[FORCES][TURNS / 2], 1e9 / sum);
    smooth_free(&s);
    return 0;
}
