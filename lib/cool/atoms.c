/* cool/atoms: coefficients of hydrogen and helium (rates.h).
 *
 * theuns: Katz, Weinberg & Hernquist (1996), after Cen (1992), with the factors of Theuns et al.
 * (1998) for collisional ionisation and recombination of hydrogen. abel: Abel et al. (1997, case
 * A); collisional ionisation cools by the ionisation energy, recombination cooling as in Hui &
 * Gnedin (1997), other processes as in Cen (1992), including metastable helium, whose lines need
 * two electrons. */
#include <math.h>

#include "base/cgs.h"
#include "cool/rates.h"

/* ionisation energies, K */
static const double E_HI = 157809.1, E_HEI = 285335.4, E_HEII = 631515.0;

/* ---- processes of Cen (1992) common to both ---- */

/* Cooling by dielectronic recombination to HeI. */
static double dielectronic(double coef, double T)
{
    return coef * pow(T, -1.5) * exp(-470000.0 / T) * (1 + 0.3 * exp(-94000.0 / T));
}

/* Bremsstrahlung of singly charged ions. */
static double bremsstrahlung(double coef, double T)
{
    double off = 5.5 - log10(T);
    return coef * sqrt(T) * (1.1 + 0.34 * exp(-off * off / 3));
}

/* Cooling by collisionally excited lines of HI and HeII. s: 1 + sqrt(T / 1e5) */
static double lines_hi(double T, double s)
{
    return 7.50e-19 / s * exp(-118348.0 / T);
}

static double lines_heii(double T, double s)
{
    return 5.54e-17 / s * pow(T, -0.397) * exp(-473638.0 / T);
}

/* ---- Cen (1992), Theuns et al. (1998) ---- */

static const double F_IONISE = 2.0, F_RECOMBINE = 0.75; /* factors of Theuns et al. (1998) */

static void theuns_chemistry(double T, struct rate_coef *c)
{
    double root = sqrt(T), s = 1 + sqrt(T / 1e5);
    double hydrogenic = pow(T / 1e3, -0.2) / (1 + pow(T / 1e6, 0.7)) / root;
    c->recombine[ION_HI] = F_RECOMBINE * 8.40e-11 * hydrogenic;
    c->recombine[ION_HEI] = 1.50e-10 * pow(T, -0.6353) + dielectronic(1.9e-3, T);
    c->recombine[ION_HEII] = 3.36e-10 * hydrogenic;
    c->ionise[ION_HI] = F_IONISE * 5.85e-11 * root / s * exp(-E_HI / T);
    c->ionise[ION_HEI] = F_IONISE * 2.38e-11 * root / s * exp(-E_HEI / T);
    c->ionise[ION_HEII] = F_IONISE * 5.68e-12 * root / s * exp(-E_HEII / T);
}

static void theuns_at(double T, struct rate_coef *c)
{
    theuns_chemistry(T, c);
    double root = sqrt(T), s = 1 + sqrt(T / 1e5), braking = bremsstrahlung(1.42e-27, T);
    double hydrogenic = root * pow(T / 1e3, -0.2) / (1 + pow(T / 1e6, 0.7));
    c->cool_own[ION_HI] = F_IONISE * 1.27e-21 * root / s * exp(-E_HI / T) + lines_hi(T, s);
    c->cool_own[ION_HEI] = F_IONISE * 9.38e-22 * root / s * exp(-E_HEI / T) +
                           9.10e-27 / s * pow(T, -0.1687) * exp(-13179.0 / T);
    c->cool_own[ION_HEII] = F_IONISE * 4.95e-22 * root / s * exp(-E_HEII / T) + lines_heii(T, s);
    c->cool_next[ION_HI] = braking + 8.70e-27 * hydrogenic;
    c->cool_next[ION_HEI] = braking + 1.55e-26 * pow(T, 0.3647) + dielectronic(1.24e-13, T);
    c->cool_next[ION_HEII] = 4 * braking + 3.48e-26 * hydrogenic;
}

/* ---- Abel et al. (1997) ---- */

static const double PER_EV = 11605;       /* K per eV */
static const double FIT_MIN = 0.8;        /* eV; lower limit of the ionisation fits */
static const double FIT_MAX = 8617;       /* eV; upper limit of the fits, 1e8 K */
static const double RECOMBINE_MIN = 5500; /* K; lower limit of the fit for hydrogen */

/* exp of a polynomial of ln(T/eV). */
static double fit(const double c[], int n, double x)
{
    double sum = 0;
    for (int i = n - 1; i >= 0; i--) sum = sum * x + c[i];
    return exp(sum);
}

/* Ionisation rate; below FIT_MIN the fit continues as Cen's exp(-E/T). */
static double abel_ionise(const double c[9], double energy, double T)
{
    double min = FIT_MIN * PER_EV, from = T > min ? T : min;
    double rate = fit(c, 9, log(fmin(from / PER_EV, FIT_MAX)));
    return T > min ? rate : rate * sqrt(T / min) * exp(energy * (1 / min - 1 / T));
}

static double abel_dielectronic(double eV)
{
    double off = exp(-40.49664394833662 / eV);
    return 1.544e-9 * pow(eV, -1.5) * off * (1 + 0.3 * exp(-8.099328789667 / eV));
}

static void abel_chemistry(double T, struct rate_coef *c)
{
    static const double hi[] = {-32.71396786375,   13.53655609057,     -5.739328757388,
                                1.563154982022,    -0.2877056004391,   0.03482559773737,
                                -0.00263197617559, 0.0001119543953861, -2.039149852002e-6};
    static const double hei[] = {-44.09864886561,    23.91596563469,     -10.75323019821,
                                 3.058038757198,     -0.5685118909884,   0.0679539123379,
                                 -0.005009056101857, 0.0002067236157507, -3.649161410833e-6};
    static const double heii[] = {-68.710409902120,   43.93347632635,     -18.48066993568,
                                  4.701626486759,     -0.7692466334492,   0.08113042097303,
                                  -0.005324020628287, 0.0001975705312221, -3.165581065665e-6};
    static const double hii[] = {-28.61303380689232,     -0.7241125657826851,
                                 -0.02026044731984691,   -0.002380861877349834,
                                 -0.0003212605213188796, -0.00001421502914054107,
                                 4.989108920299513e-6,   5.755614137575758e-7,
                                 -1.856767039775261e-8,  -3.071135243196595e-9};
    double eV = T / PER_EV, radiative = 3.92e-13 * pow(eV, -0.6353);
    c->ionise[ION_HI] = abel_ionise(hi, E_HI, T);
    c->ionise[ION_HEI] = abel_ionise(hei, E_HEI, T);
    c->ionise[ION_HEII] = abel_ionise(heii, E_HEII, T);
    c->recombine[ION_HI] = T > RECOMBINE_MIN ? fit(hii, 10, log(fmin(eV, FIT_MAX))) : radiative;
    c->recombine[ION_HEI] = radiative + abel_dielectronic(eV);
    c->recombine[ION_HEII] = 3.36e-10 / sqrt(T) * pow(T / 1e3, -0.2) / (1 + pow(T / 1e6, 0.7));
}

/* Recombination cooling of hydrogenic ions of this ionisation energy, divided by the charge cubed
 * (Hui & Gnedin 1997). */
static double hydrogenic_cooling(double T, double energy)
{
    double l = 2 * energy / T;
    return 1.778e-29 * T * pow(l, 1.965) / pow(1 + pow(l / 0.541, 0.502), 2.697);
}

static void abel_at(double T, struct rate_coef *c)
{
    abel_chemistry(T, c);
    double s = 1 + sqrt(T / 1e5), braking = bremsstrahlung(1.43e-27, T);
    double helium = 3e-14 * CGS_KB * T * pow(2 * E_HEI / T, 0.654);
    c->cool_own[ION_HI] = 2.18e-11 * c->ionise[ION_HI] + lines_hi(T, s);
    c->cool_own[ION_HEI] = 3.94e-11 * c->ionise[ION_HEI];
    c->cool_own[ION_HEII] = 8.72e-11 * c->ionise[ION_HEII] + lines_heii(T, s);
    c->cool_next[ION_HI] = braking + hydrogenic_cooling(T, E_HI);
    c->cool_next[ION_HEI] = braking + helium + dielectronic(1.24e-13, T);
    c->cool_next[ION_HEII] = 4 * braking + 8 * hydrogenic_cooling(T, E_HEII);
    c->cool_metastable = pow(T, -0.1687) / s *
                         (9.10e-27 * exp(-13179.0 / T) + 5.01e-27 * exp(-55338.0 / T));
}

/* ---- choice of the rates ---- */

void rates_chemistry(enum atomic_rates atoms, double T, struct rate_coef *c)
{
    switch (atoms) {
    case ATOMS_THEUNS:
        theuns_chemistry(T, c);
        return;
    case ATOMS_ABEL:
        abel_chemistry(T, c);
        return;
    }
}

void rates_at(enum atomic_rates atoms, double T, struct rate_coef *c)
{
    c->cool_metastable = 0;
    switch (atoms) {
    case ATOMS_THEUNS:
        theuns_at(T, c);
        return;
    case ATOMS_ABEL:
        abel_at(T, c);
        return;
    }
}
