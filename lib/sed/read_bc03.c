/* sed/read_bc03: spectra of Bruzual & Charlot (2003), as GALAXEV stores them in text
 * (NAME.ised_ASCII): the number of ages and the ages in years; lines about the model, which name
 * the metallicity; the number of wavelengths and the wavelengths in Å; and for each age their
 * number, the luminosities in L_sun/Å of one solar mass, and further values, after their number. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "io/table.h"
#include "sed/priv.h"

enum { LINES = 40 }; /* maximum number of lines about the model */

static enum err count(struct table *t, const char *what, int max, int *n)
{
    double x;
    TRY(table_flow(t, what, &x));
    if (!(x >= 1 && x <= max) || x != (int)x)
        FAIL(ERR_FORMAT, "%s: line %ld: %s is %g: it must be 1 to %d", t->path, (long)table_line(t),
             what, plain_number(x), max);
    *n = (int)x;
    return OK;
}

static enum err flow(struct table *t, const char *what, int n, double *x)
{
    for (int i = 0; i < n; i++) TRY(table_flow(t, what, &x[i]));
    return OK;
}

/* Whether a line begins the wavelengths: their number, and ascending ones. */
static bool begins(const char *s)
{
    int64_t n;
    double a, b;
    return text_whole(&s, &n) && n > 9 && text_real(&s, &a) && text_real(&s, &b) && a > 0 && b > a;
}

/* Reads the lines about the model up to the wavelengths. */
static enum err model(struct table *t, double *metal)
{
    bool got = true;
    for (int i = 0; i < LINES; i++) {
        TRY(table_next(t, &got));
        if (!got || begins(t->at)) break;
        const char *z = strstr(t->at, "Z=");
        if (z) z += 2;
        char word[32] = "";
        if (z) snprintf(word, sizeof word, "%.*s", (int)strspn(z, "0123456789.Ee+-"), z);
        const char *w = word;
        double x;
        if (z && text_real(&w, &x)) *metal = x;
    }
    if (!got || !begins(t->at))
        FAIL(ERR_FORMAT, "%s: line %ld: has no number of wavelengths with wavelengths after it",
             t->path, (long)table_line(t));
    if (!(*metal > 0 && *metal < 1))
        FAIL(ERR_FORMAT, "%s: no line before the wavelengths has the metallicity (Z=0.02)",
             t->path);
    return OK;
}

/* The part of a file before its spectra. */
static enum err head(struct table *t, int *nage, double **age, double *metal)
{
    TRY(count(t, "the number of ages", SED_AGES_MAX, nage));
    *age = mem_new(sizeof **age * (size_t)*nage, "spectra");
    TRY(flow(t, "an age", *nage, *age));
    TRY(table_end(t, "the ages"));
    TRY(sed_ascending(t->path, "age", *nage, *age, 0));
    return model(t, metal);
}

static enum err metal_of(const char *path, double *metal)
{
    struct table t;
    double *age = NULL;
    int n;
    *metal = 0;
    TRY(table_open(&t, path, 0, (int64_t)1 << 32));
    enum err err = head(&t, &n, &age, metal);
    table_close(&t);
    FREE(age);
    return err;
}

static enum err wavelengths(struct table *t, int *n, double **wave)
{
    TRY(count(t, "the number of wavelengths", SED_WAVES_MAX, n));
    TRY(table_holds(t, *n));
    *wave = mem_new(sizeof **wave * (size_t)*n, "spectra");
    TRY(flow(t, "a wavelength", *n, *wave));
    return sed_ascending(t->path, "wavelength", *n, *wave, 1e-3);
}

static enum err one_age(struct table *t, int n, double *y)
{
    char where[40];
    double skipped;
    int k = 0;
    TRY(count(t, "the number of luminosities", SED_WAVES_MAX, &k));
    if (k != n)
        FAIL(ERR_FORMAT, "%s: line %ld: a spectrum has %d luminosities for %d wavelengths", t->path,
             (long)table_line(t), k, n);
    TRY(flow(t, "a luminosity", n, y));
    snprintf(where, sizeof where, "line %ld", (long)table_line(t));
    TRY(sed_luminosity(t->path, where, n, y));
    TRY(count(t, "the number of further values", SED_WAVES_MAX, &k));
    for (int i = 0; i < k; i++) TRY(table_flow(t, "a further value", &skipped));
    return OK;
}

static enum err same_ages(struct sed_reading *r, const char *path, int n, double **age)
{
    if (!r->age) {
        r->nage = n;
        r->age = *age;
        *age = NULL;
        return OK;
    }
    if (n != r->nage || memcmp(*age, r->age, sizeof **age * (size_t)n) != 0)
        FAIL(ERR_FORMAT, "%s: its ages are not those of the other files of the library", path);
    return OK;
}

static enum err spectra(struct sed_reading *r, int z, struct table *t)
{
    double *age = NULL, *wave = NULL, *y = NULL, metal = 0;
    struct sed_weight *w = NULL;
    int nage, n = 0;
    enum err err;
    TRY_OUT(head(t, &nage, &age, &metal));
    TRY_OUT(same_ages(r, t->path, nage, &age));
    TRY_OUT(wavelengths(t, &n, &wave));
    TRY_OUT(sed_covered(r, t->path, wave[0], wave[n - 1]));
    sed_reading_room(r);
    w = sed_weights(&r->bands, n, wave);
    y = mem_new(sizeof *y * (size_t)n, "spectra");
    for (int a = 0; a < r->nage; a++) {
        TRY_OUT(one_age(t, n, y));
        for (int g = 0; g < r->bands.n; g++)
            sed_weigh(w, g, r->bands.n, n, y, sed_reading_row(r, z, g)[a]);
    }
out:
    FREE(age);
    FREE(wave);
    FREE(y);
    FREE(w);
    return err;
}

enum err sed_read_bc03(struct sed_reading *r, struct sed_files *f)
{
    for (int z = 0; z < f->n; z++) TRY(metal_of(f->at[z].path, &f->at[z].metal));
    TRY(sed_files_order(r, f));
    for (int z = 0; z < f->n; z++) {
        struct table t;
        TRY(table_open(&t, f->at[z].path, 0, (int64_t)1 << 32));
        enum err err = spectra(r, z, &t);
        table_close(&t);
        TRY(err);
    }
    return OK;
}
