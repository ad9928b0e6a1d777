/* Overlap of work and exchange of halos: on a slow network a step of eight fields, whose inner box
 * is computed between begin and end, takes about the longer of the times of work and exchange, not
 * their sum. Measured with the network and the clock of latency.h. Catches: a wait in
 * brick_fill_begin, an inner box that is too small.
 *
 * test: tier=check timeout=240 mpi=2,4 */
#include <math.h>
#include <omp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "latency.h"

#include "base/mem.h"
#include "brick/brick.h"
#include "check.h"
#include "comm/comm.h"

enum { FIELDS = 8, HALO = 3, THICK = 128, REPEATS = 7 };

static struct comm c;
static struct brick b;
static double *from[FIELDS], *to[FIELDS];

/* Sums of differences along the axes and along the diagonals of two axes, as of second and mixed
 * derivatives. */
static double stencil(const double *u)
{
    double sum = 0;
    for (int k = 1; k <= HALO; k++)
        for (int a = 0; a < 3; a++) {
            const int64_t s = k * b.stride[a], t = k * b.stride[(a + 1) % 3];
            sum += (u[s] - 2 * u[0] + u[-s]) / k;
            sum += (u[s + t] - u[s - t] + u[-s - t] - u[t - s]) / (k * k);
        }
    return sum;
}

static void box_compute(const int lo[3], const int hi[3])
{
    for (int f = 0; f < FIELDS; f++)
        for (int z = lo[2]; z < hi[2]; z++)
            for (int y = lo[1]; y < hi[1]; y++) {
                const int64_t row = brick_cell(&b, 0, y, z);
                for (int x = lo[0]; x < hi[0]; x++)
                    to[f][row + x] = from[f][row + x] + 0.01 * stencil(from[f] + row + x);
            }
}

static void work(void)
{
    box_compute((int[3]){0, 0, 0}, b.own);
}

static void exchange(void)
{
    brick_fill(&b, FIELDS, from);
}

static void apart(void)
{
    exchange();
    work();
}

static void together(void)
{
    int lo[7][3], hi[7][3], boxes = brick_boxes(&b, lo, hi);
    brick_fill_begin(&b, FIELDS, from);
    box_compute(lo[0], hi[0]);
    brick_fill_end(&b);
    for (int i = 1; i < boxes; i++) box_compute(lo[i], hi[i]);
}

/* Time on the slowest rank, seconds. */
static double seconds(void (*what)(void))
{
    latency_reset();
    what();
    double t = latency_now();
    comm_max_f64(&c, &t, 1);
    return t;
}

static int ascending(const void *x, const void *y)
{
    double p = *(const double *)x, q = *(const double *)y;
    return (p > q) - (p < q);
}

static double median(double x[REPEATS])
{
    qsort(x, REPEATS, sizeof *x, ascending);
    return x[REPEATS / 2];
}

/* The time without other work of the machine. */
static double least(const double x[REPEATS])
{
    double min = x[0];
    for (int i = 1; i < REPEATS; i++) min = fmin(min, x[i]);
    return min;
}

/* latency: in units of the work */
static void test_step(double share)
{
    double alone[REPEATS], sent[REPEATS], whole[REPEATS], both[REPEATS];
    for (int i = 0; i < REPEATS; i++) {
        latency.seconds = share * seconds(work);
        alone[i] = seconds(work);
        sent[i] = seconds(exchange);
        both[i] = seconds(together);
        whole[i] = seconds(apart) / (alone[i] + sent[i]);
        CHECK(sent[i] >= latency.seconds, "the network is not slow: %g s", sent[i]);
    }
    double most = least(both) / fmax(least(alone), least(sent)), sum = median(whole);
    if (c.rank == 0)
        printf("latency %.1f: work %.1f ms, exchange %.1f, together %.1f, ratio %.2f\n", share,
               1e3 * median(alone), 1e3 * median(sent), 1e3 * median(both), most);
    CHECK(most <= 1.15, "together %g times the longer of both", most);
    CHECK(sum >= 0.8, "one after the other takes %g of both", sum);
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv, &c);
    c.empty_messages = 0; /* latency.h needs messages for which receivers wait */
    omp_set_num_threads(1);
    latency_reset();
    const int64_t n[3] = {32, 32, THICK * (int64_t)c.size};
    CHECK(brick_init(&b, &c, n, HALO, (int[3]){1, 1, c.size}) == OK, "%s", err_message());
    for (int f = 0; f < FIELDS; f++) {
        from[f] = mem_zero(sizeof(double) * b.size, "test");
        to[f] = mem_zero(sizeof(double) * b.size, "test");
    }
    apart();
    for (int i = 0; i < 3; i++) test_step((double[3]){0.5, 1, 2}[i]);
    for (int f = 0; f < FIELDS; f++) mem_free(from[f]), mem_free(to[f]);
    brick_fini(&b);
    comm_fini();
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
