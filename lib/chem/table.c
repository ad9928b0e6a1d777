/* chem/table: the rates of chem/table_kern.h: recombination and its cooling (Hui & Gnedin 1997),
 * collisional ionisation and excitation (Cen 1992; Maselli, Ferrara & Ciardi 2003), bremsstrahlung
 * (Osterbrock & Ferland 2006), dielectronic recombination (Black 1981), molecular hydrogen
 * (Hollenbach & McKee 1979; Dove & Mandy 1986; Martin, Keogh & Mandy 1998; McKee & Krumholz 2010;
 * Forrey 2013; Halle & Combes 2013). There are 1001 temperatures, equidistant in log10 T. */
#include "chem/table_kern.h"

#include <math.h>
#include <string.h>

#include "base/cgs.h"
#include "base/mem.h"
#include "chem/chem.h"

/* A rate and its derivative by ln T. */
struct rate {
    double value, slope;
};

static struct rate power_law(double value, double slope)
{
    return (struct rate){value, value * slope};
}

static struct rate add(struct rate a, struct rate b)
{
    return (struct rate){a.value + b.value, a.slope + b.slope};
}

/* a λ^p / (1 + (λ/b)^q)^r T^s, with λ = hot/T. The last two numbers are q r and s − p as RAMSES
 * rounds them in the slopes, which the interpolated rates show. */
static struct rate fit(double T, double hot, const double f[8])
{
    double lambda = hot / T, high = pow(lambda / f[2], f[3]), sum = 1 + high;
    double value = f[0] * pow(lambda, f[1]) / pow(sum, f[4]) * pow(T, f[5]);
    return power_law(value, f[6] * high / sum + f[7]);
}

/* a T^p e^(-hot/T) / (1 + √(T/10^5)): collisions with electrons. */
static struct rate collision(double T, double a, double p, double hot)
{
    double root = sqrt(T / 1e5), value = a * pow(T, p) / (1 + root) * exp(-hot / T);
    return power_law(value, p + hot / T - 0.5 * root / (1 + root));
}

static struct rate bremsstrahlung(double T, double charge2)
{
    return power_law(charge2 * 1.42e-27 * 1.5 * sqrt(T), 0.5);
}

static struct rate dielectronic(double T)
{
    double f = 1.24e-13 * pow(T, -1.5) * exp(-470000 / T), g = 0.3 * exp(-94000 / T);
    return (struct rate){f * (1 + g), f * (1 + g) * (470000 / T - 1.5) + f * g * 94000 / T};
}

/* ---- temperatures of the ions, in K: twice the ionisation energy ---- */

static const double HOT_HI = 315614, HOT_HEI = 570670, HOT_HEII = 1263030;

#define SLOPE_A                                                                                    \
    SINGLE(1.503), SINGLE(0.522), SINGLE(0.47), SINGLE(1.923), 0, SINGLE(0.90381), -SINGLE(1.503)
#define SLOPE_B 1.5, SINGLE(2.74), SINGLE(0.407), SINGLE(2.242), 0, SINGLE(0.912494), -1.5

static struct rate recombine(enum chem_channel c, double T)
{
    static const double A[8] = {1.269e-13, SLOPE_A}, B[8] = {2.753e-14, SLOPE_B},
                        A2[8] = {2.538e-13, SLOPE_A}, B2[8] = {5.506e-14, SLOPE_B};
    if (c == CHEM_ALPHA_HII) return fit(T, HOT_HI, A);
    if (c == CHEM_ALPHA_HII_B) return fit(T, HOT_HI, B);
    if (c == CHEM_ALPHA_HEIII) return fit(T, HOT_HEII, A2);
    if (c == CHEM_ALPHA_HEIII_B) return fit(T, HOT_HEII, B2);
    if (c == CHEM_ALPHA_HEII)
        return power_law(3e-14 * pow(HOT_HEI / T, SINGLE(0.654)), -SINGLE(0.654));
    return power_law(1.26e-14 * pow(HOT_HEI / T, 0.75), -0.75);
}

/* Cooling by recombination. RAMSES has transposed digits in the slope of hydrogenic ions of case B,
 * 1.39827 for 1.39872. */
#define COOL_A                                                                                     \
    SINGLE(1.965), SINGLE(0.541), SINGLE(0.502), SINGLE(2.697), 1, SINGLE(1.35389), -SINGLE(0.965)
#define COOL_B                                                                                     \
    SINGLE(1.97), SINGLE(2.25), SINGLE(0.376), SINGLE(3.72), 1, SINGLE(1.39827), -SINGLE(0.97)

static struct rate recombine_cool(enum chem_channel c, double T)
{
    static const double A[8] = {1.778e-29, COOL_A}, B[8] = {3.435e-30, COOL_B},
                        A2[8] = {8 * 1.778e-29, COOL_A}, B2[8] = {8 * 3.435e-30, COOL_B};
    if (c == CHEM_COOL_HII) return fit(T, HOT_HI, A);
    if (c == CHEM_COOL_HII_B) return fit(T, HOT_HI, B);
    if (c == CHEM_COOL_HEIII) return fit(T, HOT_HEII, A2);
    if (c == CHEM_COOL_HEIII_B) return fit(T, HOT_HEII, B2);
    bool b = c != CHEM_COOL_HEII;
    struct rate r = recombine(b ? CHEM_ALPHA_HEII_B : CHEM_ALPHA_HEII, T);
    return power_law(r.value * CGS_KB * T, b ? 0.25 : SINGLE(0.346));
}

static struct rate atomic(enum chem_channel c, double T)
{
    switch ((int)c) {
    case CHEM_BETA_HI:
        return collision(T, 5.85e-11, 0.5, 157809.1);
    case CHEM_BETA_HEI:
        return collision(T, 2.38e-11, 0.5, 285335.4);
    case CHEM_BETA_HEII:
        return collision(T, 5.68e-12, 0.5, 631515);
    case CHEM_COOL_HI:
        return add(collision(T, 1.27e-21, 0.5, SINGLE(157809.1)), collision(T, 7.5e-19, 0, 118348));
    case CHEM_COOL_HEI:
        return add(collision(T, 9.38e-22, 0.5, SINGLE(285335.4)),
                   collision(T, 9.10e-27, -SINGLE(0.1687), 13179));
    case CHEM_COOL_HII:
    case CHEM_COOL_HII_B:
        return add(recombine_cool(c, T), bremsstrahlung(T, 1));
    case CHEM_COOL_HEIII:
    case CHEM_COOL_HEIII_B:
        return add(recombine_cool(c, T), bremsstrahlung(T, 4));
    case CHEM_COOL_HEII:
    case CHEM_COOL_HEII_B:
        return add(add(add(recombine_cool(c, T), bremsstrahlung(T, 1)), dielectronic(T)),
                   add(collision(T, 4.95e-22, 0.5, 631515),
                       collision(T, 5.54e-17, -SINGLE(0.397), 473638)));
    default:
        return recombine(c, T);
    }
}

/* ---- molecular hydrogen ---- */

/* Rotational levels that collisions with HI and H2 excite, J = 2 and 3. */
static double excite_hi(double T, double J)
{
    double T3 = T / 1000, shape = SINGLE(0.33) + SINGLE(0.9) * exp(-pow((J - 3.5) / 0.9, 2));
    return shape * (1e-11 * sqrt(T3) / (1 + 60 / pow(T3, 4)) + 1e-12 * T3);
}

static double excite_h2(double T, double J)
{
    double T3 = T / 1000, shape = SINGLE(0.276) * J * J * exp(-pow(J / 3.18, SINGLE(1.7)));
    return shape * (3.3e-12 + 6.6e-12 * T3);
}

static double molecule_cool(double T, bool by_h2)
{
    double (*excite)(double, double) = by_h2 ? excite_h2 : excite_hi;
    double rotate = 1.25 * exp(-170 / T) * 2.35e-14 * excite(T, 2) +
                    1.75 * exp(-505 / T) * 6.97e-14 * excite(T, 3);
    double first = exp(-5860 / T) * 8.09e-13 * sqrt(T),
           second = exp(-11720 / T) * 1.6e-12 * sqrt(T);
    if (by_h2) return rotate + first * 1.4e-12 * exp(-12000 / (T + 1200));
    return rotate + first * 1e-12 * exp(-1000 / T) + second * 1.6e-12 * exp(-pow(400 / T, 2));
}

static double molecule_value(enum chem_channel c, double T)
{
    double T2 = T / 100;
    switch ((int)c) {
    case CHEM_DUST_H2:
        return 9e-17 * sqrt(T2) /
               (1 + SINGLE(0.4) * sqrt(T2) + SINGLE(0.2) * T2 + SINGLE(0.08) * T2 * T2);
    case CHEM_GAS_H2:
        return 8e-19 * pow(T / 1000, SINGLE(0.88));
    case CHEM_THREE_H2:
        return 6e-32 * pow(T, -0.25) + 2e-31 * pow(T, -0.5);
    case CHEM_BREAK_HI:
        return 7.073e-19 * pow(T, SINGLE(2.012)) * exp(-51790 / T) /
               pow(1 + 2.13e-5 * T, SINGLE(3.512));
    case CHEM_BREAK_H2:
        return 5.996e-30 * pow(T, SINGLE(4.1881)) * exp(-54660 / T) /
               pow(1 + 6.761e-6 * T, SINGLE(5.6881));
    default:
        return molecule_cool(T, c == CHEM_COOL_H2H2);
    }
}

/* Slopes are one-sided differences, as in RAMSES: where e^(-51790/T) is steep, the interpolated
 * rates depend on that. The first two are its analytic ones. */
static struct rate molecule(enum chem_channel c, double T)
{
    double value = molecule_value(c, T), T2 = T / 100;
    double f = 1 + SINGLE(0.4) * sqrt(T2) + SINGLE(0.2) * T2 + SINGLE(0.08) * T2 * T2;
    if (c == CHEM_GAS_H2) return power_law(value, SINGLE(0.88));
    if (c == CHEM_DUST_H2)
        return power_law(value, (-SINGLE(0.12) * T2 * T2 - SINGLE(0.1) * T2 + 0.5) / f);
    return (struct rate){value, (molecule_value(c, T * SINGLE(1.0001)) - value) / SINGLE(0.0001)};
}

static struct rate rate_of(int channel, double T)
{
    enum chem_channel c = (enum chem_channel)channel;
    return c >= CHEM_DUST_H2 ? molecule(c, T) : atomic(c, T);
}

/* ---- the tables ---- */

#define METAL(logT, log, slope) {SINGLE(logT), SINGLE(log), SINGLE(slope)},
static const double METALS[][3] = {
#include "cool/metals.def"
};
_Static_assert(sizeof METALS / sizeof *METALS == CHEM_METALS, "nodes of cooling by metals");

static double node_log(int i)
{
    return CHEM_LOG_MIN + i * ((CHEM_LOG_MAX - CHEM_LOG_MIN) / (CHEM_NODES - 1));
}

/* Hermite's polynomial between two nodes, in powers of the distance in log10 T to the lower. */
static void join(double out[4], struct rate a, struct rate b)
{
    double h = (CHEM_LOG_MAX - CHEM_LOG_MIN) / (CHEM_NODES - 1), rise = (b.value - a.value) / h;
    double low = a.slope * CHEM_LN10, high = b.slope * CHEM_LN10;
    out[0] = a.value;
    out[1] = low;
    out[2] = (3 * rise - 2 * low - high) / h;
    out[3] = (low + high - 2 * rise) / (h * h);
}

struct chem_tables *chem_tables_new(void)
{
    struct chem_tables *t = mem_new(sizeof *t, "rates of thermochemistry");
    for (int c = 0; c < CHEM_CHANNELS; c++) {
        struct rate low = rate_of(c, pow(10, node_log(0))), high = low;
        double h = (CHEM_LOG_MAX - CHEM_LOG_MIN) / (CHEM_NODES - 1);
        for (int i = 1; i < CHEM_NODES; i++) {
            low = high;
            high = rate_of(c, pow(10, node_log(i)));
            join(t->node[i - 1][c], low, high);
        }
        t->above[c][0] = log2(high.value);
        t->above[c][1] = log10(high.value / low.value) / h;
    }
    memcpy(t->metal, METALS, sizeof t->metal);
    return t;
}

size_t chem_tables_bytes(void)
{
    return sizeof(struct chem_tables);
}

void chem_tables_free(struct chem_tables *t)
{
    mem_free(t);
}
