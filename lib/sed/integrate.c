/* sed/integrate: cross sections, and integrals of spectra over groups of photons.
 *
 * An integral is the sum of trapezoids between the wavelengths of a spectrum; at the bounds of a
 * group the spectrum is interpolated (Rosdahl et al. 2013). A cross section that jumps at a
 * wavelength is taken from within the interval, so that rounding does not decide about it. */
#include <math.h>

#include "base/cgs.h"
#include "base/mem.h"
#include "sed/priv.h"

const double SED_THRESHOLD[SED_IONS] = {
    [SED_H2] = 11.20, [SED_HI] = 13.60, [SED_HEI] = 24.59, [SED_HEII] = 54.42};

/* ---- cross sections ---- */

/* Parameters of Hui & Gnedin (1997): E0 in eV, cross section in cm². */
static const struct fit {
    double E0, sigma, P, ya, yw, y0, y1;
} FIT[SED_IONS] = {[SED_HI] = {4.298e-1, 5.475e-14, 2.963, 32.88, 0, 0, 0},
                   [SED_HEI] = {1.361e1, 9.492e-16, 3.188, 1.469, 2.039, 0.4434, 2.136},
                   [SED_HEII] = {1.720, 1.369e-14, 2.963, 32.88, 0, 0, 0}};

static double atom(const struct fit *f, double eV)
{
    double x = eV / f->E0 - f->y0, y = sqrt(x * x + f->y1 * f->y1);
    return f->sigma * ((x - 1) * (x - 1) + f->yw * f->yw) * pow(y, 0.5 * f->P - 5.5) /
           pow(1 + sqrt(y / f->ya), f->P);
}

static double molecule(double eV)
{
    if (eV < 13.6) return 2.1e-19;
    if (eV < 15.42) return 0;
    if (eV < 16.5) return 6.2e-18 * eV - 9.4e-17;
    if (eV < 17.7) return 1.4e-18 * eV - 1.48e-17;
    return 2.5e-14 * pow(eV, -2.71);
}

double sed_cross_section(enum sed_ion ion, double eV)
{
    if (!(eV >= SED_THRESHOLD[ion])) return 0;
    return ion == SED_H2 ? molecule(eV) : atom(&FIT[ion], eV);
}

/* ---- integrals ---- */

static const double INSIDE = 1e-9; /* relative distance of a photon energy from a jump */

/* eV × Å of a photon */
static double photon(void)
{
    return 1e8 * RAMSES_PLANCK * RAMSES_C / RAMSES_EV;
}

/* Integrands per value of the spectrum at a wavelength; `side` ±1: towards higher energies, or
 * lower ones. */
static void integrands(double l1, bool counts, double wave, int side, double f[SED_INTEGRALS])
{
    double eV = photon() / wave * (1 + side * INSIDE);
    f[SED_PHOTONS] = counts ? 1 : wave * 1e-8 / (RAMSES_PLANCK * RAMSES_C);
    f[SED_ENERGY] = counts ? photon() / wave : 1 / RAMSES_EV;
    for (int j = 0; j < SED_IONS; j++) {
        bool below = l1 > 0 && l1 <= SED_THRESHOLD[j];
        double s = below ? 0 : sed_cross_section((enum sed_ion)j, eV);
        f[SED_PHOTON_CROSS + j] = s * f[SED_PHOTONS];
        f[SED_ENERGY_CROSS + j] = s * f[SED_ENERGY];
    }
}

bool sed_piece(double l0, double l1, bool counts, double wave0, double wave1, struct sed_piece *p)
{
    double a = l1 > 0 ? fmax(wave0, photon() / l1) : wave0, width = wave1 - wave0;
    double b = l0 > 0 ? fmin(wave1, photon() / l0) : wave1, at_a[SED_INTEGRALS],
           at_b[SED_INTEGRALS];
    if (!(a < b)) return false;
    integrands(l1, counts, a, -1, at_a);
    integrands(l1, counts, b, 1, at_b);
    double ta = (a - wave0) / width, tb = (b - wave0) / width, half = 0.5 * (b - a);
    for (int q = 0; q < SED_INTEGRALS; q++) {
        p->from[q] = half * ((1 - ta) * at_a[q] + (1 - tb) * at_b[q]);
        p->to[q] = half * (ta * at_a[q] + tb * at_b[q]);
    }
    return true;
}

void sed_piece_add(const struct sed_piece *p, int n, const double *y0, const double *y1,
                   double (*sum)[SED_INTEGRALS])
{
    for (int i = 0; i < n; i++)
        for (int q = 0; q < SED_INTEGRALS; q++) sum[i][q] += p->from[q] * y0[i] + p->to[q] * y1[i];
}

struct sed_weight *sed_weights(const struct sed_bands *b, int n, const double *wave)
{
    struct sed_weight *w = mem_zero(sizeof *w * (size_t)n * (size_t)b->n + 1, "spectra");
    struct sed_piece p;
    for (int g = 0; g < b->n; g++)
        for (int i = 0; i + 1 < n && sed_band_fed(b, g); i++) {
            if (!sed_piece(b->l0[g], b->l1[g], false, wave[i], wave[i + 1], &p)) continue;
            for (int q = 0; q < SED_INTEGRALS; q++) {
                w[i * b->n + g].q[q] += p.from[q];
                w[(i + 1) * b->n + g].q[q] += p.to[q];
            }
        }
    return w;
}

void sed_weigh(const struct sed_weight *w, int group, int groups, int n, const double *y,
               double sum[SED_INTEGRALS])
{
    for (int i = 0; i < n; i++)
        for (int q = 0; q < SED_INTEGRALS; q++) sum[q] += w[i * groups + group].q[q] * y[i];
}

double sed_longest(const struct sed_bands *b)
{
    double longest = 0;
    for (int g = 0; g < b->n; g++)
        if (sed_band_fed(b, g))
            longest = fmax(longest, b->l0[g] > 0 ? photon() / b->l0[g] : HUGE_VAL);
    return longest;
}

struct sed_props sed_props_of(const double sum[SED_INTEGRALS])
{
    struct sed_props p = {0};
    if (!(sum[SED_PHOTONS] > 0)) return p;
    p.egy = sum[SED_ENERGY] / sum[SED_PHOTONS];
    for (int j = 0; j < SED_IONS; j++) {
        p.csn[j] = sum[SED_PHOTON_CROSS + j] / sum[SED_PHOTONS];
        p.cse[j] = sum[SED_ENERGY_CROSS + j] / sum[SED_ENERGY];
    }
    return p;
}

void sed_integrate(const struct sed_bands *b, bool by_energy, int n, const double *wavelength,
                   const double *y, double rate[SED_GROUPS], struct sed_props props[SED_GROUPS])
{
    struct sed_weight *w = sed_weights(b, n, wavelength);
    for (int g = 0; g < b->n; g++) {
        double sum[SED_INTEGRALS] = {0};
        sed_weigh(w, g, b->n, n, y, sum);
        rate[g] = sum[by_energy ? SED_ENERGY : SED_PHOTONS];
        props[g] = sed_props_of(sum);
    }
    FREE(w);
}
