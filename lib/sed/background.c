/* sed/background: the ultraviolet background; see background.h. */
#include "sed/background.h"

#include <math.h>
#include <string.h>

#include "base/cgs.h"
#include "base/log.h"
#include "base/mem.h"
#include "io/fortran.h"
#include "sed/priv.h"

enum { SHIFTS_MAX = 4096 };

struct rates {
    double ion[SED_IONS], heat[SED_IONS];
};
struct band {
    double flux; /* photons/cm²/s */
    struct sed_props props;
};

struct sed_background {
    struct sed_bands bands;
    double z_reion;
    const struct uv *model; /* lent; NULL: the table */
    int nz;                 /* redshifts of the table */
    double *z;
    struct rates *rates; /* [nz] */
    struct band *band;   /* [nz][groups] */
};

/* ---- reading ---- */

struct spectra {
    int nz, nwave;
    double *z, *wave, *y; /* y[nz][nwave] */
};

static enum err count(struct fort_in *f, const char *what, int min, int max, int *n)
{
    int32_t x;
    TRY(fort_get_i4(f, what, &x));
    if (x < min || x > max)
        FAIL(ERR_FORMAT, "%s: %s is %d: it must be %d to %d", f->path, what, (int)x, min, max);
    *n = x;
    return OK;
}

static enum err reals(struct fort_in *f, const char *what, int64_t n, double **x)
{
    struct fort_rec rec;
    TRY(fort_next_real(f, what, n, &rec)); /* a short file is an error before memory is used */
    *x = mem_new(sizeof **x * (size_t)n, "ultraviolet table");
    return fort_load_real(f, &rec, n, 0, (size_t)n, *x);
}

static enum err records(struct fort_in *f, struct spectra *s)
{
    TRY(count(f, "the number of redshifts", 2, SHIFTS_MAX, &s->nz));
    TRY(reals(f, "the redshifts", s->nz, &s->z));
    TRY(sed_ascending(f->path, "redshift", s->nz, s->z, 0));
    TRY(count(f, "the number of wavelengths", 3, SED_WAVES_MAX, &s->nwave));
    TRY(reals(f, "the wavelengths", s->nwave, &s->wave));
    TRY(sed_ascending(f->path, "wavelength", s->nwave, s->wave, 1e-3));
    int64_t n = (int64_t)s->nz * s->nwave;
    TRY(reals(f, "the spectra", n, &s->y));
    for (int64_t i = 0; i < n; i++)
        if (!(s->y[i] >= 0) || !isfinite(s->y[i]))
            FAIL(ERR_FORMAT,
                 "%s: the flux at redshift %g, %g angstrom is %g: it must be a number, at least 0",
                 f->path, s->z[i / s->nwave], s->wave[i % s->nwave], s->y[i]);
    return fort_at_end(f);
}

/* ---- integrals ---- */

/* Integrals of 4π times a spectrum of photons between two energies. */
static void integrate(const struct spectra *s, int iz, double l0, double l1,
                      double sum[1][SED_INTEGRALS])
{
    const double *y = s->y + (size_t)iz * (size_t)s->nwave;
    struct sed_piece p;
    memset(sum, 0, sizeof *sum);
    for (int i = 0; i + 1 < s->nwave; i++)
        if (sed_piece(l0, l1, true, s->wave[i], s->wave[i + 1], &p))
            sed_piece_add(&p, 1, y + i, y + i + 1, sum);
    for (int q = 0; q < SED_INTEGRALS; q++) sum[0][q] *= 4 * M_PI;
}

static struct rates rates_of(const struct spectra *s, int iz)
{
    struct rates r;
    double sum[1][SED_INTEGRALS];
    for (int j = 0; j < SED_IONS; j++) {
        integrate(s, iz, SED_THRESHOLD[j], 0, sum);
        double ion = sum[0][SED_PHOTON_CROSS + j], eV = sum[0][SED_ENERGY_CROSS + j];
        r.ion[j] = ion;
        r.heat[j] = fmax(eV - SED_THRESHOLD[j] * ion, 0) * RAMSES_EV;
    }
    return r;
}

/* The group at all redshifts; without photons it has the properties of the redshift below, or, at
 * the lowest ones, of the first that has photons. */
static void band_of(struct sed_background *b, const struct spectra *s, int g)
{
    double sum[1][SED_INTEGRALS];
    int seen = -1;
    for (int iz = 0; iz < s->nz; iz++) {
        struct band *k = &b->band[iz * b->bands.n + g];
        integrate(s, iz, b->bands.l0[g], b->bands.l1[g], sum);
        k->flux = sum[0][SED_PHOTONS];
        k->props = sed_props_of(sum[0]);
        if (k->flux > 0 && seen < 0)
            for (int i = 0; i < iz; i++) b->band[i * b->bands.n + g].props = k->props;
        if (k->flux > 0)
            seen = iz;
        else if (seen >= 0)
            k->props = b->band[seen * b->bands.n + g].props;
    }
}

static enum err make(struct sed_background *b, const char *path, struct spectra *s)
{
    struct sed_reading r = {.bands = b->bands};
    TRY(sed_covered(&r, path, s->wave[0], s->wave[s->nwave - 1]));
    b->nz = s->nz;
    b->z = s->z;
    s->z = NULL;
    if (b->z_reion > b->z[b->nz - 2]) b->z[b->nz - 1] = b->z_reion;
    b->rates = mem_new(sizeof *b->rates * (size_t)b->nz, "ultraviolet table");
    b->band = mem_zero(sizeof *b->band * (size_t)(b->nz * b->bands.n) + 1, "ultraviolet table");
    for (int iz = 0; iz < b->nz; iz++) b->rates[iz] = rates_of(s, iz);
    for (int g = 0; g < b->bands.n; g++)
        if (sed_band_fed(&b->bands, g)) band_of(b, s, g);
    return OK;
}

static enum err read(struct sed_background *b, const char *path)
{
    struct fort_in f;
    struct spectra s = {0};
    TRY(fort_open(&f, path));
    enum err err = records(&f, &s);
    fort_shut(&f);
    if (err == OK) err = make(b, path, &s);
    FREE(s.z);
    FREE(s.wave);
    FREE(s.y);
    return err;
}

/* ---- setup ---- */

static enum err prepare(struct sed_background *b, const struct sed_background_par *par)
{
    const char *path = par->path && *par->path ? par->path : getenv("RAMSES_UV_FILE");
    if (path && *path) {
        TRY(read(b, path));
        log_info(" Ultraviolet background: %s, %d redshifts up to %g", path, b->nz,
                 b->z[b->nz - 1]);
        return OK;
    }
    b->model = par->model;
    if (!b->model || b->bands.n > 0)
        FAIL(ERR_PARAM,
             "rt_UVsrc_nHmax needs spectra of the ultraviolet background: name their file with "
             "uv_file, or with the environment variable RAMSES_UV_FILE");
    return OK;
}

static void share(const struct comm *c, struct sed_background *b)
{
    const char *name = "ultraviolet table";
    comm_bcast(c, &b->nz, sizeof b->nz, 0);
    size_t n = (size_t)b->nz, bands = n * (size_t)b->bands.n;
    if (n == 0) return;
    if (c->rank) {
        b->z = mem_new(sizeof *b->z * n, name);
        b->rates = mem_new(sizeof *b->rates * n, name);
        b->band = mem_new(sizeof *b->band * bands + 1, name);
    }
    comm_bcast(c, b->z, sizeof *b->z * n, 0);
    comm_bcast(c, b->rates, sizeof *b->rates * n, 0);
    comm_bcast(c, b->band, sizeof *b->band * bands, 0);
}

enum err sed_background_new(const struct comm *c, const struct sed_background_par *par,
                            struct sed_background **out)
{
    struct sed_background *b = mem_zero(sizeof *b, "ultraviolet table");
    *out = NULL;
    b->bands = par->bands;
    b->z_reion = par->z_reion;
    enum err err = err_agree(c, c->rank ? OK : prepare(b, par));
    if (err != OK) {
        sed_background_free(&b);
        return err;
    }
    share(c, b);
    if (b->nz == 0) b->model = par->model;
    *out = b;
    return OK;
}

void sed_background_free(struct sed_background **b)
{
    if (!*b) return;
    FREE((*b)->z);
    FREE((*b)->rates);
    FREE((*b)->band);
    FREE(*b);
}

/* ---- values ---- */

/* Index of the redshift of the table below z, and the weight of the next one. */
static int place(const struct sed_background *b, double z, double *w)
{
    int i = 0;
    while (i < b->nz - 2 && b->z[i + 1] <= z) i++;
    *w = fmin(fmax((z - b->z[i]) / (b->z[i + 1] - b->z[i]), 0), 1);
    return i;
}

/* (z/z_reion)^6 */
static double late(const struct sed_background *b, double z)
{
    double x = z / b->z_reion, x3 = x * x * x;
    return b->z_reion > 0 ? x3 * x3 : 0;
}

static void model_rates(const struct sed_background *b, double z, double ion[SED_IONS],
                        double heat[SED_IONS])
{
    struct uv_rates r = uv_at(b->model, 1 / (1 + z));
    ion[SED_H2] = heat[SED_H2] = 0;
    for (int k = 0; k < ION_COUNT; k++) ion[SED_HI + k] = r.ion[k], heat[SED_HI + k] = r.heat[k];
}

void sed_background_rates(const struct sed_background *b, double z, double ion[SED_IONS],
                          double heat[SED_IONS])
{
    double w, damp = pow(10, -20 * late(b, z));
    if (b->model) {
        model_rates(b, z, ion, heat);
        return;
    }
    int i = place(b, z, &w);
    if (z > b->z[b->nz - 1]) damp = 0;
    const struct rates *r = &b->rates[i];
    for (int j = 0; j < SED_IONS; j++) {
        ion[j] = damp * ((1 - w) * r[0].ion[j] + w * r[1].ion[j]);
        heat[j] = damp * ((1 - w) * r[0].heat[j] + w * r[1].heat[j]);
    }
}

static struct sed_props mix(const struct sed_props *a, const struct sed_props *b, double w)
{
    struct sed_props p = {.egy = (1 - w) * a->egy + w * b->egy};
    for (int j = 0; j < SED_IONS; j++) {
        p.csn[j] = (1 - w) * a->csn[j] + w * b->csn[j];
        p.cse[j] = (1 - w) * a->cse[j] + w * b->cse[j];
    }
    return p;
}

bool sed_background_groups(const struct sed_background *b, double z, double flux[SED_GROUPS],
                           struct sed_props props[SED_GROUPS])
{
    double w;
    if (b->model || b->bands.n == 0 || z > b->z[b->nz - 1]) return false;
    const struct band *k = b->band + (size_t)(place(b, z, &w) * b->bands.n);
    for (int g = 0; g < b->bands.n; g++) {
        const struct band *next = &k[g + b->bands.n];
        flux[g] = exp(-2 * late(b, z)) * ((1 - w) * k[g].flux + w * next->flux);
        props[g] = mix(&k[g].props, &next->props, w);
    }
    return true;
}

/* ---- photons in thin gas ---- */

void sed_background_fill(const struct mesh *m, int l, double hydrogen, double n_max,
                         const double density[SED_GROUPS], struct sed_light *light)
{
    const struct level *lv = &m->lev[l];
    const double volume = mesh_volume(m, l);
    for (lidx i = 0; i < lv->nown; i++)
        for (int c = 0; c < 8; c++) {
            double thin = exp(-level_gas(lv, GAS_DENSITY)[i][c] * hydrogen / n_max);
            bool counts = c < m->cells && lv->child[i][c] < 0;
            for (int g = 0; g < light->n; g++) {
                double *N = &light->N[g][i][c], more = density[g] * thin - *N;
                if (!(more > 0)) continue;
                *N += more;
                if (counts) sum_add(&light->emitted[g], more * volume);
            }
        }
}
