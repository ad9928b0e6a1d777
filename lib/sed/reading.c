/* sed/reading: what the readers of libraries share: room, checks, and the order of files. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "sed/priv.h"

void sed_reading_room(struct sed_reading *r)
{
    size_t n = (size_t)r->nmetal * (size_t)r->nage * (size_t)r->bands.n;
    if (!r->sum) r->sum = mem_zero(sizeof *r->sum * n, "spectra");
}

void sed_reading_free(struct sed_reading *r)
{
    FREE(r->age);
    FREE(r->metal);
    FREE(r->sum);
}

/* ---- checks ---- */

enum err sed_ascending(const char *path, const char *what, int n, const double *x, double min)
{
    for (int i = 0; i < n; i++) {
        if (!(x[i] >= min) || !isfinite(x[i]))
            FAIL(ERR_FORMAT, "%s: %s number %d is %g: it must be a number, at least %g", path, what,
                 i + 1, plain_number(x[i]), min);
        if (i && !(x[i] > x[i - 1]))
            FAIL(ERR_FORMAT, "%s: %s number %d, %g, is not above the one before, %g", path, what,
                 i + 1, x[i], x[i - 1]);
    }
    return OK;
}

enum err sed_luminosity(const char *path, const char *where, int64_t n, const double *y)
{
    static const double MAX = 1e12; /* L_sun/Å/M_sun; a larger value is no luminosity */
    for (int64_t i = 0; i < n; i++)
        if (!(y[i] >= 0 && y[i] <= MAX))
            FAIL(ERR_FORMAT, "%s: %s: luminosity %ld is %g: it must be a number from 0 to %g", path,
                 where, (long)i + 1, plain_number(y[i]), MAX);
    return OK;
}

enum err sed_covered(const struct sed_reading *r, const char *path, double shortest, double longest)
{
    struct sed_piece p;
    for (int g = 0; g < r->bands.n; g++) {
        double l0 = r->bands.l0[g], l1 = r->bands.l1[g];
        if (!sed_band_fed(&r->bands, g) || sed_piece(l0, l1, false, shortest, longest, &p))
            continue;
        FAIL(ERR_PARAM,
             "%s: its wavelengths, %g to %g angstrom, have no photons of group %d, %g to %g eV: "
             "change groupL0 or groupL1, or leave the group to other sources (nSEDgroups)",
             path, shortest, longest, g + 1, l0, l1);
    }
    return OK;
}

/* ---- files by metallicity ---- */

MEM_ORDER2(by_metal, struct sed_file, metal, path[0])

enum err sed_files_order(struct sed_reading *r, struct sed_files *f)
{
    mem_sort(f->at, (size_t)f->n, sizeof *f->at, by_metal);
    r->nmetal = f->n;
    r->metal = mem_new(sizeof *r->metal * (size_t)f->n, "spectra");
    for (int i = 0; i < f->n; i++) {
        r->metal[i] = f->at[i].metal;
        if (i && f->at[i].metal == f->at[i - 1].metal)
            FAIL(ERR_FILE,
                 "%s and %s have the same metallicity, %g: a directory must have one library alone",
                 f->at[i - 1].path, f->at[i].path, f->at[i].metal);
    }
    return OK;
}
