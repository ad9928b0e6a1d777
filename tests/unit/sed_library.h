/* Libraries of spectra for tests, written in all layouts: luminosity flat(Z) × decay(age) in
 * L_sun/Å/M_sun at all wavelengths, whose integrals are known. */
#pragma once
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>

#include "io/fortran.h"

enum { WAVES = 400, AGES = 52, METALS = 3, BC03_INDICES = 52 };

static const double LIB_METAL[METALS] = {0.001, 0.004, 0.02};

static double lib_wave(int i)
{
    return 50 + 5.0 * i; /* 50 to 2045 Å */
}

static double lib_age(int a)
{
    return a == 0 ? 0 : pow(10, 6 + 0.1 * (a - 1));
}

static double lib_flat(int z)
{
    return 3e-3 * (1 + z);
}

/* A file that is changed before it is written, to find what readers refuse. */
struct lib_fault {
    int wave, age, metal; /* this luminosity … */
    double value;         /* … is this one */
    int cut;              /* > 0: the file ends after so many spectra, or rows */
    int swap;             /* two wavelengths are exchanged */
};
static const struct lib_fault LIB_GOOD = {-1, -1, -1, 0, 0, 0};

static double lib_value(const struct lib_fault *f, int i, int a, int z)
{
    if (f->wave == i && f->age == a && f->metal == z) return f->value;
    return lib_flat(z) * (a < 30 ? 1 : 0.1);
}

static double lib_waves(const struct lib_fault *f, int i)
{
    return lib_wave(f->swap && (i == 20 || i == 21) ? 41 - i : i);
}

static void lib_list(const char *path, int n, double value(int))
{
    FILE *f = fopen(path, "wb");
    fprintf(f, "%8d\n", n);
    for (int i = 0; i < n; i++) fprintf(f, "%14.6e\n", value(i));
    fclose(f);
}

static double lib_metal(int z)
{
    return LIB_METAL[z];
}

static bool lib_ramses(const char *dir, const struct lib_fault *bad)
{
    char path[200];
    struct fort_out f;
    double x[WAVES];
    mkdir(dir, 0777);
    snprintf(path, sizeof path, "%s/metallicity_bins.dat", dir);
    lib_list(path, METALS, lib_metal);
    snprintf(path, sizeof path, "%s/age_bins.dat", dir);
    lib_list(path, AGES, lib_age);
    snprintf(path, sizeof path, "%s/all_seds.dat", dir);
    remove(path);
    fort_create(&f, path, NULL, NULL);
    const int32_t head[2] = {WAVES, 0};
    fort_record(&f, head, sizeof head);
    for (int i = 0; i < WAVES; i++) x[i] = lib_waves(bad, i);
    fort_record(&f, x, sizeof x);
    for (int k = 0; k < METALS * AGES && !(bad->cut && k >= bad->cut); k++) {
        for (int i = 0; i < WAVES; i++) x[i] = lib_value(bad, i, k % AGES, k / AGES);
        fort_record(&f, x, sizeof x);
    }
    return fort_close(&f) == OK;
}

/* A file of BPASS v2: 10^6 solar masses, 52 columns; wavelengths in steps of 5 Å, there of 1 Å. */
static void lib_bpass(const char *dir, const struct lib_fault *bad)
{
    static const char *const NAME[METALS] = {"z001", "z004", "z020"};
    mkdir(dir, 0777);
    for (int z = 0; z < METALS; z++) {
        char path[200];
        snprintf(path, sizeof path, "%s/spectra-bin-imf135_300.%s.dat", dir, NAME[z]);
        FILE *f = fopen(path, "wb");
        for (int i = 0; i < WAVES && !(bad->cut && i >= bad->cut); i++) {
            fprintf(f, "  %.7E", lib_waves(bad, i));
            for (int a = 1; a < AGES; a++) fprintf(f, " %15.8E", 1e6 * lib_value(bad, i, a, z));
            fprintf(f, "\n");
        }
        fclose(f);
    }
}

static void lib_numbers(FILE *f, int n, double value(const struct lib_fault *, int, int, int),
                        const struct lib_fault *bad, int a, int z)
{
    fprintf(f, "%d", n);
    for (int i = 0; i < n; i++) fprintf(f, "%s%.9E", i % 6 ? " " : "\n ", value(bad, i, a, z));
    fprintf(f, "\n");
}

/* Files of GALAXEV: vectors after their lengths, which wrap; 52 indices after each spectrum. */
static void lib_bc03(const char *dir, const struct lib_fault *bad)
{
    mkdir(dir, 0777);
    for (int z = 0; z < METALS; z++) {
        char path[200];
        snprintf(path, sizeof path, "%s/bc2003_lr_m%d_chab_ssp.ised_ASCII", dir, z);
        FILE *f = fopen(path, "wb");
        fprintf(f, "%12d", AGES);
        for (int a = 0; a < AGES; a++) fprintf(f, "%s%.6E", a % 6 == 5 ? "\n  " : "  ", lib_age(a));
        fprintf(f, "\n 0.10 100.0 3 1.3 0.1 0.5\n 1.0 0.0 0.0 0\nChabrier IMF, X=2.3\n");
        fprintf(f, " BC03, Padova 1994, X=0.70,Y=0.28,Z=%g, ised\n BC03, Z=%g\n", LIB_METAL[z],
                LIB_METAL[z]);
        fprintf(f, "%12d", WAVES);
        for (int i = 0; i < WAVES; i++)
            fprintf(f, "%s%.5E", i % 7 == 6 ? "\n  " : "  ", lib_waves(bad, i));
        fprintf(f, "\n");
        for (int a = 0; a < AGES && !(bad->cut && a >= bad->cut); a++) {
            lib_numbers(f, WAVES, lib_value, bad, a, z);
            fprintf(f, "%12d", BC03_INDICES);
            for (int i = 0; i < BC03_INDICES; i++)
                fprintf(f, "%s%.5E", i % 7 == 6 ? "\n  " : "  ", -1e-3 * i);
            fprintf(f, "\n");
        }
        /* tables of all ages follow the spectra */
        for (int k = 0; k < 3 && !bad->cut; k++) {
            fprintf(f, "%12d", AGES);
            for (int a = 0; a < AGES; a++)
                fprintf(f, "%s%.5E", a % 6 == 5 ? "\n  " : "  ", 1.0 / (1 + a));
            fprintf(f, "\n");
        }
        fclose(f);
    }
}
