#include "pk/window.h"

#include <math.h>

/* Step Σ_j (−1)^j C(p,j) (s + p/2 − j)₊^p / p!, summed from the nearer end. */
double window_step(int order, double s)
{
    static const double choose[5][5] = {{1}, {1, 1}, {1, 2, 1}, {1, 3, 3, 1}, {1, 4, 6, 4, 1}};
    static const double factorial[5] = {1, 1, 2, 6, 24};
    double half = 0.5 * order;
    if (s <= -half) return 0;
    if (s >= half) return 1;
    if (s > 0) return 1 - window_step(order, -s);
    double sum = 0;
    for (int j = 0; j <= order && s + half - j > 0; j++) {
        double x = s + half - j, y = x;
        for (int p = 1; p < order; p++) y *= x;
        sum += (j % 2 ? -1 : 1) * choose[order][j] * y;
    }
    return sum / factorial[order];
}

static double sinc_power(double x, int power)
{
    double s = x == 0 ? 1 : sin(x) / x, y = 1;
    for (int p = 0; p < power; p++) y *= s;
    return y;
}

void window_fourier(int order, int n, double *out)
{
    for (int i = 0; i < n; i++) out[i] = sinc_power(M_PI * (i > n / 2 ? i - n : i) / n, order);
}

/* Σ_m W²(x + πm) in closed form: polynomials in sin² x (Jing 2005, eq. 20; PCS likewise). */
static double all_images(int order, double x)
{
    double s = sin(x) * sin(x);
    switch (order) {
    case 1:
        return 1;
    case 2:
        return 1 - 2.0 / 3 * s;
    case 3:
        return 1 - s + 2.0 / 15 * s * s;
    default:
        return 1 - 4.0 / 3 * s + 2.0 / 5 * s * s - 4.0 / 315 * s * s * s;
    }
}

/* Images from the images of a mesh twice as fine, which are the even ones: sin x = 2 sin(x/2)
 * cos(x/2). */
void window_images(int order, int n, double *all, double *alternating)
{
    for (int i = 0; i < n; i++) {
        double x = M_PI * (i > n / 2 ? i - n : i) / n,
               even = pow(cos(0.5 * x), 2 * order) * all_images(order, 0.5 * x);
        all[i] = all_images(order, x);
        alternating[i] = 2 * even - all[i];
    }
}

double window_aliases(int order, double slope, double kappa)
{
    enum { DIRECTIONS = 300, FAR = 2 };
    static const double GOLDEN = 2.399963229728653; /* angle of a Fibonacci spiral, radians */
    double mean = 0;
    for (int i = 0; i < DIRECTIONS; i++) {
        /* half a sphere suffices by symmetry */
        double z = (i + 0.5) / DIRECTIONS, r = sqrt(1 - z * z);
        double u[3] = {0.5 * kappa * r * cos(GOLDEN * i), 0.5 * kappa * r * sin(GOLDEN * i),
                       0.5 * kappa * z};
        double w[3][2 * FAR + 1], sum = 0;
        for (int d = 0; d < 3; d++)
            for (int m = -FAR; m <= FAR; m++)
                w[d][m + FAR] = sinc_power(M_PI * (u[d] + m), 2 * order);
        for (int a = -FAR; a <= FAR; a++)
            for (int b = -FAR; b <= FAR; b++)
                for (int c = -FAR; c <= FAR; c++) {
                    double k2 = (u[0] + a) * (u[0] + a) + (u[1] + b) * (u[1] + b) +
                                (u[2] + c) * (u[2] + c);
                    sum += w[0][a + FAR] * w[1][b + FAR] * w[2][c + FAR] *
                           pow(k2 / (0.25 * kappa * kappa), 0.5 * slope);
                }
        mean += sum / (w[0][FAR] * w[1][FAR] * w[2][FAR]) / DIRECTIONS;
    }
    return mean;
}
