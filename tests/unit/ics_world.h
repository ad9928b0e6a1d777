/* ics_world: GRAFIC files that tests of initial conditions write: two nested levels in separate
 * folders, with values that depend on the position of a cell. */
#pragma once
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "ics/ics.h"
#include "io/grafic.h"

static const char *path_in(const char *dir, const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static char tmp[64];
static const struct comm ONE = {.rank = 0, .size = 1};

static bool near(double a, double b, double tol)
{
    return fabs(a - b) <= tol * fmax(fabs(a), fabs(b));
}

/* Whether the error has this kind, and its message contains the text. */
static bool says(enum err got, enum err want, const char *text)
{
    bool good = got == want && strstr(err_message(), text);
    if (!good) printf("  got %d \"%s\"\n", (int)got, got == OK ? "" : err_message());
    return good;
}

struct file {
    int32_t n[3];
    float real[9]; /* dx, offsets, astart, Ω_m, Ω_Λ, h0, Ω_b */
    bool baryons;  /* the header has Ω_b */
    int width;     /* bytes of an id, 4 or 8 */
    bool swap;
    int64_t first; /* offset of ids of 8 bytes */
};

static void put4(FILE *f, const void *p, bool swap)
{
    uint32_t x;
    memcpy(&x, p, 4);
    if (swap) x = __builtin_bswap32(x);
    fwrite(&x, 4, 1, f);
}

static void put8(FILE *f, uint64_t x, bool swap)
{
    if (swap) x = __builtin_bswap64(x);
    fwrite(&x, 8, 1, f);
}

typedef float value_fn(int64_t x, int64_t y, int64_t z, double ctx);

static void write_file(const char *dir, const char *name, const struct file *h, value_fn *value,
                       double ctx, bool ids)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "wb");
    int32_t mark = h->baryons ? 48 : 44, plane = h->n[0] * h->n[1] * h->width;
    put4(f, &mark, h->swap);
    for (int i = 0; i < 3; i++) put4(f, &h->n[i], h->swap);
    for (int i = 0; i < 8 + h->baryons; i++) put4(f, &h->real[i], h->swap);
    put4(f, &mark, h->swap);
    for (int k = 0; k < h->n[2]; k++) {
        put4(f, &plane, h->swap);
        for (int j = 0; j < h->n[1]; j++)
            for (int i = 0; i < h->n[0]; i++) {
                float v = value(i, j, k, ctx);
                int32_t id = (int32_t)v;
                if (h->width == 8)
                    put8(f, (uint64_t)id + (uint64_t)h->first, h->swap);
                else
                    put4(f, ids ? (void *)&id : (void *)&v, h->swap);
            }
        put4(f, &plane, h->swap);
    }
    fclose(f);
}

static float location(int64_t x, int64_t y, int64_t z, double ctx)
{
    return (float)(ctx + (double)(x + 100 * y + 10000 * z));
}

static float delta(int64_t x, int64_t y, int64_t z, double level)
{
    return (float)(sin((double)(x + 2 * y)) * cos((double)z + level) * 1.2);
}

static float speed(int64_t x, int64_t y, int64_t z, double axis)
{
    return (float)(300 * cos(axis + (double)(x + 3 * y + 5 * z)));
}

static float shift(int64_t x, int64_t y, int64_t z, double axis)
{
    return (float)(2 * sin(axis + (double)(x - 3 * y + z)));
}

static float mask(int64_t x, int64_t y, int64_t z, double ctx)
{
    return x == y ? 1.0f : (float)ctx;
}

/* Files of level l: n cells a side from cell off; which: 'p' positions, 'i' ids, 'b' gas
 * velocities, 's' scalar. */
static void write_level(const char *dir, int l, int n, int off, const char *which)
{
    float dx = 128.0f / (float)(1 << l);
    struct file h = {.n = {n, n, n}, .real = {dx, 0, 0, 0, 0.02f, 0.3f, 0.7f, 70}, .width = 4};
    for (int d = 0; d < 3; d++) h.real[1 + d] = (float)off * dx;
    mkdir(dir, 0777);
    write_file(dir, "ic_deltab", &h, delta, l, false);
    write_file(dir, "ic_refmap", &h, mask, 0.5, false);
    for (int d = 0; d < 3; d++) {
        char name[32];
        snprintf(name, sizeof name, "ic_velc%c", 'x' + d);
        write_file(dir, name, &h, speed, 10 * d, false);
        snprintf(name, sizeof name, "ic_velb%c", 'x' + d);
        if (strchr(which, 'b')) write_file(dir, name, &h, speed, 20 * d, false);
        snprintf(name, sizeof name, "ic_posc%c", 'x' + d);
        if (strchr(which, 'p')) write_file(dir, name, &h, shift, d, false);
    }
    if (strchr(which, 'i')) write_file(dir, "ic_particle_ids", &h, location, 1000000.0 * l, true);
    if (strchr(which, 's')) write_file(dir, "ic_pvar_00002", &h, delta, 9, false);
}

static char dirs[2][96];
static const char *dir_list[2] = {dirs[0], dirs[1]};

static void clean_level(const char *dir)
{
    char command[256];
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    if (system(command) != 0) exit(2);
}

static void fresh(const char *which)
{
    for (int i = 0; i < 2; i++) clean_level(dirs[i]);
    write_level(dirs[0], 3, 8, 0, which);
    write_level(dirs[1], 4, 8, 4, which);
}

static enum err open_files(struct ics_grafic *g, int l, int n, double omega_b, double a)
{
    const struct ics_set set = {.levelmin = l,
                                .nlev = n,
                                .dir = dir_list,
                                .cosmo = true,
                                .gas = true,
                                .omega_b = omega_b,
                                .omega_b_given = true,
                                .aexp_ini = a};
    return ics_grafic_open(g, &set, &ONE);
}

/* Level 4 with one file, of this header. */
static void only_file(const struct file *h)
{
    fresh("p");
    clean_level(dirs[1]);
    mkdir(dirs[1], 0777);
    write_file(dirs[1], "ic_deltab", h, delta, 4, false);
}

static const struct file LEVEL_4 = {
    .n = {8, 8, 8}, .real = {8, 32, 32, 32, 0.02f, 0.3f, 0.7f, 70, 0.05f}, .width = 4};

/* Makes folders for a test; world_end removes them. */
static void world_begin(void)
{
    snprintf(tmp, sizeof tmp, "/tmp/ics_testXXXXXX");
    if (!mkdtemp(tmp)) exit(2);
    for (int i = 0; i < 2; i++) snprintf(dirs[i], sizeof dirs[i], "%s/level_%03d", tmp, 3 + i);
}
