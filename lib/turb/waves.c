/* turb/waves: see waves.h. A plane of nodes adds up waves along z, then its rows those along y, for
 * all components and waves along x at once. */
#include "turb/waves.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "fft/fixed.h"

enum {
    N = TURB_NODES,
    REACH = TURB_REACH,
    SIDE = 2 * REACH + 1,
    SUMS = 12 /* 3 (REACH + 1) complex numbers, [kx][component], and padding */
};

struct sums {
    double re[SUMS], im[SUMS];
};

/* Amplitudes [ky][kz] with wave numbers from −REACH, of kx ≥ 0; exp(2πi m/N). */
struct work {
    struct sums amp[SIDE][SIDE];
    double root[N][2];
};

int64_t turb_waves_numbers(int ndim)
{
    return TURB_ALONG_X + (int64_t)TURB_COEFS * (ndim > 1 ? N : 1) * (ndim > 2 ? N : 1);
}

static int with_sign(int k)
{
    return ((k + N / 2) & (N - 1)) - N / 2;
}

bool turb_waves_can(int n, const int (*k)[3])
{
    bool can = true;
    for (int i = 0; i < n; i++)
        for (int d = 0; d < 3; d++) can &= abs(with_sign(k[i][d])) <= REACH;
    return can;
}

static void put(struct work *w, const int k[3], int sign, double (*const amp)[2], double factor)
{
    int at[3];
    for (int d = 0; d < 3; d++) at[d] = with_sign(sign * k[d]);
    if (at[0] < 0) return;
    struct sums *s = &w->amp[at[1] + REACH][at[2] + REACH];
    for (int d = 0; d < 3; d++) {
        s->re[3 * at[0] + d] = factor * amp[d][0];
        s->im[3 * at[0] + d] = sign * factor * amp[d][1];
    }
}

static void find_roots(struct work *w)
{
    struct fft_fixed *f = fft_fixed_new(N);
    for (int m = 0; m < N; m++) w->root[m][0] = f->root[2 * m], w->root[m][1] = -f->root[2 * m + 1];
    fft_fixed_free(&f);
}

/* to += s exp(2πi k x/N) */
static inline void add(struct sums *restrict to, const struct sums *restrict s,
                       const struct work *w, int k, int x)
{
    const double *root = w->root[(k * x) & (N - 1)], c = root[0], i = root[1];
#pragma omp simd
    for (int j = 0; j < SUMS; j++) {
        to->re[j] += s->re[j] * c - s->im[j] * i;
        to->im[j] += s->re[j] * i + s->im[j] * c;
    }
}

/* Coefficients of a node. Returns the bound of the sum of magnitudes along x. */
static double coefs_of(const struct sums *s, double to[TURB_COEFS])
{
    double most = 0;
    for (int d = 0; d < 3; d++) to[d] = s->re[d], most += fabs(to[d]);
    for (int k = 1; k <= REACH; k++)
        for (int d = 0; d < 3; d++) {
            const double c = 2 * s->re[3 * k + d], i = -2 * s->im[3 * k + d];
            to[6 * k - 3 + d] = c, to[6 * k + d] = i;
            most += sqrt(c * c + i * i);
        }
    to[TURB_TERMS] = 0;
    return most;
}

static double plane_of(const struct work *w, int ndim, int z, double (*to)[TURB_COEFS])
{
    struct sums along_y[SIDE] = {0};
    double most = 0;
    for (int ky = 0; ky < SIDE; ky++)
        for (int kz = 0; kz < SIDE; kz++) add(&along_y[ky], &w->amp[ky][kz], w, kz - REACH, z);
    for (int y = 0; y < (ndim > 1 ? N : 1); y++) {
        struct sums s = {0};
        for (int ky = 0; ky < SIDE; ky++) add(&s, &along_y[ky], w, ky - REACH, y);
        most = fmax(most, coefs_of(&s, to[y]));
    }
    return most;
}

void turb_waves_make(int ndim, int n, const int (*k)[3], double (*const amp)[3][2], double factor,
                     bool half, struct turb_field *out)
{
    struct work w = {0};
    double most = 0;
    if (!out->a) out->a = mem_new(sizeof(double) * (size_t)turb_waves_numbers(ndim), "turbulence");
    find_roots(&w);
    for (int i = 0; i < n; i++) {
        put(&w, k[i], 1, amp[i], factor);
        if (half) put(&w, k[i], -1, amp[i], factor);
    }
    for (int x = 0; x < N; x++)
        for (int wave = 1; wave <= REACH; wave++)
            memcpy(out->a + x * TURB_WAVES + 2 * (wave - 1), w.root[(wave * x) & (N - 1)],
                   sizeof w.root[0]);
    double(*table)[TURB_COEFS] = (double(*)[TURB_COEFS])(out->a + TURB_ALONG_X);
#pragma omp parallel for schedule(static) reduction(max : most) if (ndim > 2)
    for (int z = 0; z < (ndim > 2 ? N : 1); z++)
        most = fmax(most, plane_of(&w, ndim, z, table + (ndim > 1 ? N : 1) * z));
    out->most = most;
}
