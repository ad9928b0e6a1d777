/* sed/read_ramses: libraries of spectra in the layout of RAMSES-RT: metallicity_bins.dat and
 * age_bins.dat, each a number and as many values, and all_seds.dat, Fortran records: the number of
 * wavelengths, the wavelengths, and for each metallicity and age the luminosities. */
#include <stdio.h>

#include "base/mem.h"
#include "io/fortran.h"
#include "io/table.h"
#include "sed/priv.h"

static enum err values(struct table *t, const char *what, int max, int *n, double **x)
{
    double count;
    TRY(table_flow(t, "a number of values", &count));
    if (!(count >= 1 && count <= max) || count != (int)count)
        FAIL(ERR_FORMAT, "%s: line %ld: the number of %s is %g: it must be 1 to %d", t->path,
             (long)table_line(t), what, count, max);
    *n = (int)count;
    *x = mem_new(sizeof **x * (size_t)*n, "spectra");
    for (int i = 0; i < *n; i++) TRY(table_flow(t, what, *x + i));
    return table_over(t, what);
}

static enum err bins(const char *dir, const char *name, const char *what, int max, int *n,
                     double **x)
{
    char path[PATH_MAX];
    struct table t;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    TRY(table_open(&t, path, 0, 1 << 20));
    enum err err = values(&t, what, max, n, x);
    table_close(&t);
    TRY(err);
    return sed_ascending(path, what, *n, *x, 0);
}

static enum err wavelengths(struct fort_in *f, int *n, double **wave)
{
    struct fort_rec rec;
    int32_t count;
    TRY(fort_next(f, "the number of wavelengths", &rec));
    if (rec.bytes != 4 && rec.bytes != 8)
        FAIL(ERR_FORMAT,
             "%s: its first record has %ld bytes: it must have the number of wavelengths, and "
             "perhaps a second number",
             f->path, (long)rec.bytes);
    TRY(fort_load(f, &rec, 4, 0, 1, &count));
    if (count < 3 || count > SED_WAVES_MAX)
        FAIL(ERR_FORMAT, "%s: the number of wavelengths is %d: it must be 3 to %d", f->path,
             (int)count, SED_WAVES_MAX);
    /* a short file is an error before memory is used */
    TRY(fort_next_real(f, "the wavelengths", count, &rec));
    *n = count;
    *wave = mem_new(sizeof **wave * (size_t)count, "spectra");
    TRY(fort_load_real(f, &rec, count, 0, (size_t)count, *wave));
    return sed_ascending(f->path, "wavelength", count, *wave, 1e-3);
}

static enum err spectra(struct sed_reading *r, struct fort_in *f, int n, const struct sed_weight *w,
                        double *y)
{
    char where[80];
    for (int z = 0; z < r->nmetal; z++)
        for (int a = 0; a < r->nage; a++) {
            snprintf(where, sizeof where, "the spectrum of metallicity %d, age %d", z + 1, a + 1);
            TRY(fort_get_real(f, where, y, (size_t)n));
            TRY(sed_luminosity(f->path, where, n, y));
            for (int g = 0; g < r->bands.n; g++)
                sed_weigh(w, g, r->bands.n, n, y, sed_reading_row(r, z, g)[a]);
        }
    return fort_at_end(f);
}

static enum err tables(struct sed_reading *r, struct fort_in *f)
{
    double *wave = NULL, *y = NULL;
    struct sed_weight *w = NULL;
    int n = 0;
    enum err err;
    TRY_OUT(wavelengths(f, &n, &wave));
    TRY_OUT(sed_covered(r, f->path, wave[0], wave[n - 1]));
    sed_reading_room(r);
    w = sed_weights(&r->bands, n, wave);
    y = mem_new(sizeof *y * (size_t)n, "spectra");
    TRY_OUT(spectra(r, f, n, w, y));
out:
    FREE(wave);
    FREE(w);
    FREE(y);
    return err;
}

enum err sed_read_ramses(struct sed_reading *r)
{
    char path[PATH_MAX];
    struct fort_in f;
    TRY(bins(r->dir, "metallicity_bins.dat", "metallicity", SED_METALS_MAX, &r->nmetal, &r->metal));
    TRY(bins(r->dir, "age_bins.dat", "age", SED_AGES_MAX, &r->nage, &r->age));
    snprintf(path, sizeof path, "%s/all_seds.dat", r->dir);
    TRY(fort_open(&f, path));
    enum err err = tables(r, &f);
    fort_shut(&f);
    return err;
}
