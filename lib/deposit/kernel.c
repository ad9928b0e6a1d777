/* deposit/kernel: kernels and their integrals along lines. */
#include <math.h>

#include "deposit/deposit.h"
#include "smooth/kern.h"

enum { STEPS = 400 }; /* of the integral along half a line, even */

/* The last values of a row that is no multiple of VEC are computed in a padded vector. */
VEC_INLINE void values(const enum smooth_kernel k, int64_t n, double *q)
{
    for (int64_t i = 0; i < n; i += VEC) {
        double pad[VEC];
        const int64_t rest = n - i < VEC ? n - i : VEC;
        for (int j = 0; j < VEC; j++) pad[j] = q[j < rest ? i + j : i];
        vec f, slope;
        kern_at(k, vec_load(pad), &f, &slope);
        vec_store(pad, f);
        for (int j = 0; j < rest; j++) q[i + j] = pad[j];
    }
}

static void cubic(int64_t n, double *q)
{
    values(SMOOTH_M4, n, q);
}

static void quintic(int64_t n, double *q)
{
    values(SMOOTH_M6, n, q);
}

const struct deposit_kernel *deposit_kernel(enum smooth_kernel k)
{
    static const struct deposit_kernel TABLE[SMOOTH_KERNELS] = {
        [SMOOTH_M4] = {2, 1 / SMOOTH_PI, cubic}, [SMOOTH_M6] = {3, 1 / (120 * SMOOTH_PI), quintic}};
    return &TABLE[k];
}

/* Simpson's rule; the kernel is smooth to the second derivative and more. */
static double integrate(const struct deposit_kernel *k, double q2)
{
    const double rest = k->support * k->support - q2, end = rest > 0 ? sqrt(rest) : 0,
                 dz = end / STEPS;
    double f[STEPS + 1], sum = 0;
    for (int i = 0; i <= STEPS; i++) f[i] = sqrt(q2 + (i * dz) * (i * dz));
    k->f(STEPS + 1, f);
    for (int i = 0; i <= STEPS; i++) sum += f[i] * (i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2);
    return 2 * k->norm * sum * dz / 3;
}

void deposit_line_init(struct deposit_line *l, enum smooth_kernel k)
{
    l->kernel = deposit_kernel(k);
    l->scale = DEPOSIT_LINE / (l->kernel->support * l->kernel->support);
    for (int i = 0; i < DEPOSIT_LINE; i++) l->y[i] = integrate(l->kernel, i / l->scale);
    l->y[DEPOSIT_LINE] = l->y[DEPOSIT_LINE + 1] = 0;
}
