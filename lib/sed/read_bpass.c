/* sed/read_bpass: spectra of BPASS (Eldridge, Stanway et al. 2017): a file for each metallicity,
 * whose rows are a wavelength in Å, from 1 to 100000, and the luminosities in L_sun/Å of 10^6 solar
 * masses at the ages 10^6, 10^6.1, 10^6.2 … years. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "io/table.h"
#include "sed/priv.h"

static const double LAST = 1e5, POPULATION = 1e6;

/* Two consecutive rows. */
struct rows {
    double wave[2];
    double *y[2];
};

static int words(const char *s)
{
    int n = 0;
    while (*(s += strspn(s, " \t,"))) {
        n++;
        s += strcspn(s, " \t,");
    }
    return n;
}

/* Ages of a file with this number of columns. The first spectrum also is that of no age. */
static enum err ages(struct sed_reading *r, const struct table *t)
{
    int n = words(t->at) - 1;
    if (n < 2 || n > 100)
        FAIL(ERR_FORMAT,
             "%s: line %ld: has %d columns: a spectrum of BPASS has a wavelength and 2 to 100 ages",
             t->path, (long)table_line(t), n + 1);
    if (r->age && r->nage != n + 1)
        FAIL(ERR_FORMAT, "%s: has %d ages, but another file of the library has %d", t->path, n,
             r->nage - 1);
    if (r->age) return OK;
    r->nage = n + 1;
    r->age = mem_new(sizeof *r->age * (size_t)r->nage, "spectra");
    r->age[0] = 0;
    for (int i = 0; i < n; i++) r->age[i + 1] = pow(10, 6 + 0.1 * i);
    return OK;
}

static void integrate(struct sed_reading *r, int z, const struct rows *s)
{
    struct sed_piece p;
    for (int g = 0; g < r->bands.n; g++)
        if (sed_band_fed(&r->bands, g) &&
            sed_piece(r->bands.l0[g], r->bands.l1[g], false, s->wave[0], s->wave[1], &p))
            sed_piece_add(&p, r->nage - 1, s->y[0], s->y[1], sed_reading_row(r, z, g) + 1);
}

static enum err row(struct sed_reading *r, struct table *t, double *wave, double *y)
{
    char where[40];
    TRY(table_numbers(t, 1, "a wavelength", wave));
    TRY(table_row(t, r->nage - 1, "luminosities at all ages", y));
    snprintf(where, sizeof where, "line %ld", (long)table_line(t));
    TRY(sed_luminosity(t->path, where, r->nage - 1, y));
    for (int i = 0; i < r->nage - 1; i++) y[i] /= POPULATION;
    return OK;
}

static enum err each_row(struct sed_reading *r, int z, struct table *t, struct rows *s)
{
    double longest = fmin(sed_longest(&r->bands), LAST), first = 0;
    bool got = true;
    for (int64_t n = 0; n == 0 || s->wave[1] < longest; n++) {
        double *old = s->y[0];
        s->wave[0] = s->wave[1], s->y[0] = s->y[1], s->y[1] = old;
        if (n) TRY(table_next(t, &got));
        if (!got)
            FAIL(ERR_FORMAT,
                 "%s: ends at %g angstrom, before the %g that the groups of photons need: the file "
                 "is not whole",
                 t->path, s->wave[0], longest);
        TRY(row(r, t, &s->wave[1], s->y[1]));
        if (!(s->wave[1] > (n ? s->wave[0] : 0)) || !isfinite(s->wave[1]))
            FAIL(ERR_FORMAT, "%s: line %ld: wavelength %g is not above the one before, %g", t->path,
                 (long)table_line(t), s->wave[1], n ? s->wave[0] : 0);
        if (n)
            integrate(r, z, s);
        else
            first = s->wave[1];
    }
    return sed_covered(r, t->path, first, s->wave[1]);
}

static enum err one_file(struct sed_reading *r, int z, struct table *t)
{
    bool got;
    TRY(table_next(t, &got));
    if (!got) FAIL(ERR_FORMAT, "%s: is empty: it should have a spectrum of BPASS", t->path);
    TRY(ages(r, t));
    sed_reading_room(r);
    struct rows s = {{0, 0}, {NULL, NULL}};
    size_t bytes = sizeof(double) * (size_t)r->nage;
    for (int k = 0; k < 2; k++) s.y[k] = mem_new(bytes, "spectra");
    enum err err = each_row(r, z, t, &s);
    for (int k = 0; k < 2; k++) FREE(s.y[k]);
    return err;
}

enum err sed_read_bpass(struct sed_reading *r, struct sed_files *f)
{
    TRY(sed_files_order(r, f));
    for (int z = 0; z < f->n; z++) {
        struct table t;
        TRY(table_open(&t, f->at[z].path, TABLE_NOTES, (int64_t)1 << 32));
        enum err err = one_file(r, z, &t);
        table_close(&t);
        TRY(err);
        for (int g = 0; g < r->bands.n; g++)
            memcpy(sed_reading_row(r, z, g)[0], sed_reading_row(r, z, g)[1],
                   sizeof(double[SED_INTEGRALS]));
    }
    return OK;
}
