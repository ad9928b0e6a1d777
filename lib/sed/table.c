/* sed/table: tables of the emission of stellar populations; see sed.h.
 *
 * The integrals at the ages and metallicities of a library are interpolated, linearly in both, at
 * ages 0.02 apart in log10, from the second age of the library on, and at eight metallicities
 * equally apart in the logarithm. Before, stars emit as at the second age. Emission between two
 * ages is a difference of time integrals by trapezoids, so that it adds up over sub-steps (Rosdahl
 * et al. 2013). */
#include <math.h>
#include <string.h>

#include "base/cgs.h"
#include "base/log.h"
#include "base/mem.h"
#include "comm/common.h"
#include "sed/priv.h"

static const double AGE_STEP = 0.02;
enum { METALS = 8, TABLE_AGES_MAX = 1 << 14 };

/* Values of a group at an age and a metallicity. */
struct entry {
    double rate, total; /* per second and solar mass; integral over time */
    struct sed_props props;
};

struct sed {
    struct sed_bands bands;
    bool by_energy;
    int nage, nmetal;
    double *age, *metal;       /* s, mass fraction */
    const struct entry *entry; /* [nmetal][nage][groups], of `common` */
    struct comm_common common;
};

/* ---- interpolation ---- */

/* Index of the last of n ascending numbers that is not above v, at most n − 2, at least 0, and
 * *w: the weight of the next, 0 to 1. */
static int between(const double *x, int n, double v, double *w)
{
    int lo = 0, hi = n - 1;
    *w = 0;
    if (n < 2) return 0;
    while (hi - lo > 1) {
        int mid = (lo + hi) / 2;
        *(x[mid] <= v ? &lo : &hi) = mid;
    }
    *w = fmin(fmax((v - x[lo]) / (x[lo + 1] - x[lo]), 0), 1);
    return lo;
}

/* The four entries around an age and a metallicity, with their weights. */
struct corner {
    const struct entry *e; /* [groups] */
    double w;
};
static void corners(const struct sed *s, double age, double Z, struct corner k[4])
{
    double wa, wz;
    int a = between(s->age, s->nage, age, &wa), z = between(s->metal, s->nmetal, Z, &wz);
    int az[2] = {a, a + (s->nage > 1)}, zz[2] = {z, z + (s->nmetal > 1)};
    for (int i = 0; i < 4; i++) {
        int row = zz[i >> 1] * s->nage + az[i & 1];
        k[i].e = s->entry + (size_t)row * (size_t)s->bands.n;
        k[i].w = (i & 1 ? wa : 1 - wa) * (i & 2 ? wz : 1 - wz);
    }
}

void sed_emission(const struct sed *s, double from, double to, double Z, double out[SED_GROUPS])
{
    struct corner k0[4], k1[4];
    corners(s, fmax(from, 0), Z, k0);
    corners(s, fmax(to, 0), Z, k1);
    for (int g = 0; g < s->bands.n; g++) {
        double before = 0, after = 0;
        for (int i = 0; i < 4; i++) {
            before += k0[i].w * k0[i].e[g].total;
            after += k1[i].w * k1[i].e[g].total;
        }
        out[g] = fmax(after - before, 0);
    }
}

static void add_props(struct sed_props *to, const struct sed_props *p, double w)
{
    to->egy += w * p->egy;
    for (int j = 0; j < SED_IONS; j++) {
        to->csn[j] += w * p->csn[j];
        to->cse[j] += w * p->cse[j];
    }
}

void sed_at(const struct sed *s, double age, double Z, double rate[SED_GROUPS],
            struct sed_props props[SED_GROUPS])
{
    struct corner k[4];
    corners(s, fmax(age, 0), Z, k);
    for (int g = 0; g < s->bands.n; g++) {
        rate[g] = 0;
        props[g] = (struct sed_props){0};
        for (int i = 0; i < 4; i++) {
            rate[g] += k[i].w * k[i].e[g].rate;
            add_props(&props[g], &k[i].e[g].props, k[i].w);
        }
    }
}

void sed_first(const struct sed *s, struct sed_props props[SED_GROUPS])
{
    for (int g = 0; g < s->bands.n; g++) props[g] = s->entry[g].props;
}

const struct sed_bands *sed_bands(const struct sed *s)
{
    return &s->bands;
}

bool sed_by_energy(const struct sed *s)
{
    return s->by_energy;
}

/* ---- making of a table ---- */

static struct entry entry_of(const struct sed *s, const double sum[SED_INTEGRALS])
{
    double rate = sum[s->by_energy ? SED_ENERGY : SED_PHOTONS] * CGS_LSUN;
    return (struct entry){.rate = rate, .props = sed_props_of(sum)};
}

/* Values of a group at the ages of the library from the second on. Where there are no photons,
 * their properties are those at the last age before that has some, or at the next. */
static void entries_of(const struct sed *s, const struct sed_reading *r, int z, int g,
                       struct entry *e)
{
    int n = r->nage - 1, seen = -1;
    for (int a = 0; a < n; a++) {
        e[a] = entry_of(s, sed_reading_row(r, z, g)[a + 1]);
        if (e[a].props.egy > 0 && seen < 0)
            for (int k = 0; k < a; k++) e[k].props = e[a].props;
        if (e[a].props.egy > 0)
            seen = a;
        else if (seen >= 0)
            e[a].props = e[seen].props;
    }
}

static void axes(struct sed *s, const struct sed_reading *r)
{
    double first = log10(r->age[1]), last = log10(r->age[r->nage - 1]);
    int n = (int)((last - first) / AGE_STEP + 1e-9) + 1;
    s->nage = 1 + (n < TABLE_AGES_MAX ? n : TABLE_AGES_MAX);
    s->age = mem_zero(sizeof *s->age * (size_t)s->nage, "spectra");
    for (int a = 1; a < s->nage; a++) s->age[a] = pow(10, first + (a - 1) * AGE_STEP) * CGS_YEAR;
    s->nmetal = r->nmetal > 1 ? METALS : 1;
    s->metal = mem_zero(sizeof *s->metal * (size_t)s->nmetal, "spectra");
    double low = log10(r->metal[0]), high = log10(r->metal[r->nmetal - 1]);
    for (int z = 0; z < s->nmetal; z++)
        s->metal[z] = pow(10, low + (s->nmetal > 1 ? z * (high - low) / (METALS - 1) : 0));
}

static void mix(struct entry *to, const struct entry *e, double w)
{
    to->rate += w * e->rate;
    add_props(&to->props, &e->props, w);
}

/* Interpolates a group into `table`; e[nmetal of the library][ages of the library − 1]. */
static void rebin(const struct sed *s, const struct sed_reading *r, int g, const struct entry *e,
                  struct entry *table)
{
    int n = r->nage - 1;
    for (int z = 0; z < s->nmetal; z++)
        for (int a = 1; a < s->nage; a++) {
            double wa, wz;
            int i = between(r->age + 1, n, s->age[a] / CGS_YEAR, &wa);
            int k = between(r->metal, r->nmetal, s->metal[z], &wz);
            struct entry *to = table + (size_t)((z * s->nage + a) * s->bands.n + g);
            for (int c = 0; c < 4; c++) {
                int i1 = i + (c & 1 && n > 1), k1 = k + (c & 2 && r->nmetal > 1);
                double w = (c & 1 ? wa : 1 - wa) * (c & 2 ? wz : 1 - wz);
                mix(to, e + (size_t)k1 * (size_t)n + i1, w);
            }
        }
}

/* The first age, 0, and integrals over time. */
static void accumulate(const struct sed *s, int g, struct entry *table)
{
    for (int z = 0; z < s->nmetal; z++) {
        struct entry *e = table + (size_t)(z * s->nage * s->bands.n + g);
        e[0] = e[s->bands.n];
        e[0].total = 0;
        for (int a = 1; a < s->nage; a++) {
            struct entry *last = e + (size_t)((a - 1) * s->bands.n), *now = last + s->bands.n;
            now->total = last->total + 0.5 * (s->age[a] - s->age[a - 1]) * (last->rate + now->rate);
        }
    }
}

static size_t entries(const struct sed *s)
{
    return (size_t)s->nmetal * (size_t)s->nage * (size_t)s->bands.n;
}

/* Returns the entries of the table. */
static struct entry *make(struct sed *s, const struct sed_reading *r)
{
    size_t n = (size_t)r->nage - 1;
    axes(s, r);
    struct entry *table = mem_zero(sizeof *table * entries(s) + 1, "spectra");
    struct entry *e = mem_new(sizeof *e * n * (size_t)r->nmetal, "spectra");
    for (int g = 0; g < s->bands.n; g++) {
        for (int z = 0; z < r->nmetal; z++) entries_of(s, r, z, g, e + n * (size_t)z);
        rebin(s, r, g, e, table);
        accumulate(s, g, table);
    }
    FREE(e);
    return table;
}

/* ---- setup ---- */

static enum err read(struct sed *s, const char *dir, struct entry **table)
{
    const char *named = dir && *dir ? dir : getenv("RAMSES_SED_DIR");
    struct sed_reading r = {.dir = named, .bands = s->bands};
    if (!named || !*named)
        FAIL(ERR_PARAM,
             "rt_star=.true. needs spectra of stars: name their directory with sed_dir, or with "
             "the environment variable RAMSES_SED_DIR");
    enum err err = sed_read_library(&r);
    if (err == OK && (r.nage < 2 || !(r.metal[0] > 0)))
        err = err_set(ERR_FORMAT,
                      "%s: has %d ages, and the lowest metallicity is %g: spectra need two ages or "
                      "more, and metallicities above 0",
                      named, r.nage, r.metal[0]);
    if (err == OK) {
        *table = make(s, &r);
        log_info(" Spectra of stars: %s, %d ages, %d metallicities", named, r.nage, r.nmetal);
    }
    sed_reading_free(&r);
    return err;
}

/* Brings the table of rank 0 to all ranks: its entries once to each node, since with eight groups
 * they have more than a megabyte. */
static void share(const struct comm *c, struct sed *s, const struct entry *table)
{
    int n[2] = {s->nage, s->nmetal};
    comm_bcast(c, n, sizeof n, 0);
    s->nage = n[0], s->nmetal = n[1];
    if (c->rank) {
        s->age = mem_new(sizeof *s->age * (size_t)s->nage, "spectra");
        s->metal = mem_new(sizeof *s->metal * (size_t)s->nmetal, "spectra");
    }
    comm_bcast(c, s->age, sizeof *s->age * (size_t)s->nage, 0);
    comm_bcast(c, s->metal, sizeof *s->metal * (size_t)s->nmetal, 0);
    s->common = comm_common_new(c, table, sizeof *table * entries(s));
    s->entry = s->common.at;
}

/* Logs the photons that a solar mass of stars emits in 10 Myr. */
static void tell(const struct sed *s)
{
    double n[SED_GROUPS];
    sed_emission(s, 0, 10 * CGS_MYR, s->metal[0], n);
    for (int g = 0; g < s->bands.n; g++)
        log_info("  group %d: %10.3E %s per solar mass in 10 Myr, mean energy %9.4f eV", g + 1,
                 n[g], s->by_energy ? "eV" : "photons", s->entry[g].props.egy);
}

enum err sed_new(const struct comm *c, const struct sed_par *par, struct sed **out)
{
    struct sed *s = mem_zero(sizeof *s, "spectra");
    struct entry *table = NULL;
    *out = NULL;
    s->bands = par->bands;
    s->by_energy = par->by_energy;
    enum err err = err_agree(c, c->rank ? OK : read(s, par->dir, &table));
    if (err != OK) {
        sed_free(&s);
        return err;
    }
    share(c, s, table);
    FREE(table);
    tell(s);
    *out = s;
    return OK;
}

void sed_free(struct sed **s)
{
    if (!*s) return;
    FREE((*s)->age);
    FREE((*s)->metal);
    comm_common_free(&(*s)->common);
    FREE(*s);
}
