/* rt/m1_kern: the pressure has the trace of the density and is c^2 N chi along the flux; isotropic
 * radiation and a beam have the pressures that are known. The speeds of waves are zeros of the
 * characteristic polynomial of the flux, whose matrix is made by differences, and no zero is
 * beyond them. Fluxes of equal states are those of the state, of mirrored states mirrored to the
 * last bit; of a beam those of the state that it comes from. A step of random states by fluxes of
 * both solvers leaves N >= 0 and |F| <= cN. Catches: a wrong factor or sign in any formula, a
 * branch that takes a beam for isotropic radiation, sums whose order a mirror changes.
 *
 * test: tier=quick */
#include "rt/m1_kern.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

enum { RANDOM = 20000 };

static uint64_t seed = 47;

static double uniform(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 11) * 0x1p-53;
}

static const double C = 3.7;

/* A state with reduced flux f. */
static void draw(double f, double u[4])
{
    double n[3], r = 0;
    for (int d = 0; d < 3; d++) n[d] = 2 * uniform() - 1, r += n[d] * n[d];
    u[0] = exp(20 * uniform() - 10);
    for (int d = 0; d < 3; d++) u[1 + d] = n[d] / sqrt(r) * f * C * u[0];
}

static void flux_of(const double u[4], double f[4])
{
    const struct m1_pressure p = m1_pressure(u[0], u[1], u[2], u[3], C * C);
    f[0] = u[1], f[1] = p.xx, f[2] = p.xy, f[3] = p.xz;
}

static bool near(double a, double b, double size)
{
    return fabs(a - b) <= 1e-13 * fabs(size);
}

static void test_pressure(void)
{
    for (int i = 0; i < RANDOM; i++) {
        double u[4], f = i % 3 ? uniform() : i % 2;
        draw(f, u);
        const struct m1_pressure p = m1_pressure(u[0], u[1], u[2], u[3], C * C);
        const double c2N = C * C * u[0], F = f * C * u[0], chi = m1_eddington(f * f);
        CHECK(near(p.xx + p.yy + p.zz, c2N, c2N));
        CHECK(near(p.xx * u[1] + p.xy * u[2] + p.xz * u[3], chi * c2N * u[1], c2N * F));
        CHECK(near(p.xz * u[1] + p.yz * u[2] + p.zz * u[3], chi * c2N * u[3], c2N * F));
        if (f == 0) CHECK(near(p.xx, c2N / 3, c2N) && near(p.yy, c2N / 3, c2N) && p.xy == 0);
        if (f == 1) CHECK(near(p.xy, u[1] * u[2] / u[0], c2N) && fabs(chi - 1) < 1e-14);
    }
    const struct m1_pressure none = m1_pressure(0, 0, 0, 0, C * C);
    CHECK(none.xx == 0 && none.yz == 0);
}

/* det(J - lambda) of the flux at a state. */
static double polynomial(const double u[4], double lambda)
{
    double a[4][4], det = 1;
    for (int j = 0; j < 4; j++) {
        double up[4], down[4], hi[4], lo[4], h = 1e-5 * u[0] * (j ? C : 1);
        memcpy(up, u, sizeof up), memcpy(down, u, sizeof down);
        up[j] += h, down[j] -= h;
        flux_of(up, hi), flux_of(down, lo);
        for (int i = 0; i < 4; i++)
            a[i][j] = (hi[i] - lo[i]) / (2 * h) * (j ? C : 1) / (i ? C : 1) / C -
                      (i == j ? lambda : 0);
    }
    for (int k = 0; k < 4; k++) {
        int best = k;
        for (int i = k + 1; i < 4; i++)
            if (fabs(a[i][k]) > fabs(a[best][k])) best = i;
        for (int j = 0; j < 4 && best != k; j++) {
            const double t = a[k][j];
            a[k][j] = a[best][j], a[best][j] = -t;
        }
        det *= a[k][k];
        for (int i = k + 1; i < 4 && a[k][k] != 0; i++)
            for (int j = 3; j >= k; j--) a[i][j] -= a[i][k] / a[k][k] * a[k][j];
    }
    return det;
}

static void test_waves(void)
{
    for (int i = 0; i < RANDOM / 10; i++) {
        double u[4];
        draw(0.98 * uniform(), u);
        const struct m1_shape s = m1_shape(u[0], u[1], u[2], u[3], C);
        const struct m1_waves w = m1_waves(s, u[1]);
        CHECK(fabs(polynomial(u, w.lo)) < 1e-7 && fabs(polynomial(u, w.hi)) < 1e-7, "%g %g",
              polynomial(u, w.lo), polynomial(u, w.hi));
        for (double x = 0.01; x < 2; x += 0.1)
            CHECK(polynomial(u, w.lo - x) > 0 && polynomial(u, w.hi + x) > 0);
        CHECK(w.lo >= -1 && w.hi <= 1 && w.lo < w.hi);
    }
    const struct m1_waves even = m1_waves(m1_shape(2, 0, 0, 0, C), 0);
    CHECK(near(even.hi, 1 / sqrt(3), 1) && even.lo == -even.hi);
    const struct m1_waves beam = m1_waves(m1_shape(2, 2 * C, 0, 0, C), 2 * C);
    CHECK(fabs(beam.lo - 1) < 1e-7 && fabs(beam.hi - 1) < 1e-7);
}

/* Fluxes through a face along x by HLL or GLF. */
static void face(bool hll, const double a[4], const double b[4], double out[4])
{
    double fa[4], fb[4];
    flux_of(a, fa), flux_of(b, fb);
    const struct m1_weights w = m1_weights(m1_waves(m1_shape(a[0], a[1], a[2], a[3], C), a[1]),
                                           m1_waves(m1_shape(b[0], b[1], b[2], b[3], C), b[1]), C);
    for (int v = 0; v < 4; v++)
        out[v] = hll ? m1_hll(a[v], b[v], fa[v], fb[v], w) : m1_glf(a[v], b[v], fa[v], fb[v], C);
}

static void mirror(const double u[4], double out[4])
{
    memcpy(out, u, 4 * sizeof *u);
    out[1] = -out[1];
}

static void test_fluxes(bool hll)
{
    for (int i = 0; i < RANDOM; i++) {
        double a[4], b[4], c[4], am[4], bm[4], F[4], G[4], same[4], f[4];
        draw(i % 2 ? uniform() : 1, a), draw(uniform(), b), draw(i % 3 ? uniform() : 1, c);
        mirror(a, am), mirror(b, bm);
        face(hll, a, b, F), face(hll, bm, am, G), face(hll, a, a, same), flux_of(a, f);
        for (int v = 0; v < 4; v++) {
            CHECK(F[v] == (v == 1 ? G[v] : -G[v]), "number %d: %g %g", v, F[v], G[v]);
            CHECK(near(same[v], f[v], a[0] * C * (v ? C : 1)));
        }
        face(hll, c, a, G);
        double n[4], x = 0;
        for (int v = 0; v < 4; v++) n[v] = a[v] + 0.8 / C * (G[v] - F[v]);
        for (int d = 1; d < 4; d++) x += n[d] * n[d];
        CHECK(n[0] >= 0 && sqrt(x) <= C * n[0] * (1 + 1e-7), "N %g, f %g", n[0],
              sqrt(x) / (C * n[0]));
    }
    const double along[4] = {1e3, 0, C * 1e3, 0}, beam[4] = {1e3, C * 1e3, 0, 0},
                 dark[4] = {1e-50, 0, 0, 0};
    double F[4], f[4];
    face(hll, along, along, F);
    for (int v = 0; v < 4; v++) CHECK(F[v] == 0, "%g", F[v]);
    face(hll, beam, dark, F), flux_of(beam, f);
    CHECK(near(F[0], f[0], f[0]) && near(F[1], f[1], f[1]));
    face(hll, dark, beam, F);
    CHECK(fabs(F[0]) < 1e-7 * f[0], "a beam goes on, %g", F[0] / f[0]);
}

int main(void)
{
    test_pressure();
    test_waves();
    for (int hll = 0; hll < 2; hll++) test_fluxes(hll);
    CHECK(m1_limit(1, 4 * C * C, C) == 0.5 && m1_limit(1, 0.9 * C * C, C) == 1);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
