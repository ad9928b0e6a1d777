/* sed/priv: for the files of lib/sed alone: integrals over spectra, and the library being read. */
#pragma once
#include <limits.h>
#include <stdint.h>

#include "sed/sed.h"

/* ---- integrals of a spectrum over a group (sed/integrate.c) ---- */

/* Number of photons, their energy (eV), and the products of both with cross sections. */
enum {
    SED_PHOTONS,
    SED_ENERGY,
    SED_PHOTON_CROSS,
    SED_ENERGY_CROSS = SED_PHOTON_CROSS + SED_IONS,
    SED_INTEGRALS = SED_ENERGY_CROSS + SED_IONS
};

/* The integrals over one interval of a spectrum between two of its wavelengths are linear in the
 * values there: from y0 + to y1. */
struct sed_piece {
    double from[SED_INTEGRALS], to[SED_INTEGRALS];
};
/* The part of a group, or of the spectrum above an energy, between two wavelengths (Å). counts:
 * the spectrum is of photons per wavelength, not of energy (erg). False: the interval is outside of
 * the group. */
bool sed_piece(double l0, double l1, bool counts, double wave0, double wave1, struct sed_piece *p);
/* Adds pieces of n spectra with values y0 and y1. */
void sed_piece_add(const struct sed_piece *p, int n, const double *y0, const double *y1,
                   double (*sum)[SED_INTEGRALS]);
/* The integrals over a whole spectrum are linear, too: w[n][groups] are their weights of its values
 * (owner: FREE). sed_weigh adds those of one spectrum, y[n], to the row of each group. */
struct sed_weight {
    double q[SED_INTEGRALS];
};
struct sed_weight *sed_weights(const struct sed_bands *b, int n, const double *wave);
void sed_weigh(const struct sed_weight *w, int group, int groups, int n, const double *y,
               double sum[SED_INTEGRALS]);
/* Longest wavelength of photons of any group, Å; infinite if a group has no lower bound. */
double sed_longest(const struct sed_bands *b);
/* The properties that integrals give; zeros without photons. */
struct sed_props sed_props_of(const double sum[SED_INTEGRALS]);

/* ---- a library while it is read ---- */

enum { SED_AGES_MAX = 4096, SED_METALS_MAX = 256, SED_WAVES_MAX = 1 << 20 };

struct sed_reading {
    const char *dir;
    struct sed_bands bands;
    int nage, nmetal;
    double *age;   /* [nage] yr, ascending */
    double *metal; /* [nmetal] mass fractions, ascending */
    /* [nmetal][groups][nage] of a spectrum in L_sun/Å/M_sun */
    double (*sum)[SED_INTEGRALS];
};
/* Makes room for the integrals, once ages and metallicities are known. */
void sed_reading_room(struct sed_reading *r);
void sed_reading_free(struct sed_reading *r);
static inline double (*sed_reading_row(const struct sed_reading *r, int metal,
                                       int g))[SED_INTEGRALS]
{
    return r->sum + (size_t)(metal * r->bands.n + g) * (size_t)r->nage;
}
/* Errors name the file: a number of n that is no finite number above `min`, or not ascending; a
 * luminosity that is negative or no number; a group beyond the wavelengths of the library. */
MUST_USE enum err sed_ascending(const char *path, const char *what, int n, const double *x,
                                double min);
MUST_USE enum err sed_luminosity(const char *path, const char *where, int64_t n, const double *y);
MUST_USE enum err sed_covered(const struct sed_reading *r, const char *path, double shortest,
                              double longest);

/* Readers of libraries: sed/library.c finds which one a directory holds. */
MUST_USE enum err sed_read_library(struct sed_reading *r);
/* Files of a library, one for each metallicity. */
struct sed_files {
    int n;
    struct sed_file {
        char path[PATH_MAX];
        double metal;
    } * at; /* ascending in metallicity once sed_files_order has run */
};
MUST_USE enum err sed_read_ramses(struct sed_reading *r);
MUST_USE enum err sed_read_bpass(struct sed_reading *r, struct sed_files *f);
MUST_USE enum err sed_read_bc03(struct sed_reading *r, struct sed_files *f);
/* Orders the files; two of equal metallicity are an error. Sets r->metal. */
MUST_USE enum err sed_files_order(struct sed_reading *r, struct sed_files *f);
