/* sphfile/gadget4_write: writes gas as Gadget-4 does. */
#include "sphfile/gadget4.h"

#ifdef PTAH_HDF5
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "hdf5/file.h"
#include "io/temp.h"

enum { TYPES = 6, BLOCK = 1 << 14 };

struct snapshot {
    const struct sphfile_head *h;
    const struct smooth_par *par;
    const struct smooth *p;
    double lo[3], side[3];
    bool periodic;
    double support;
};

/* ---- header ---- */

static void fill(struct hdf5_file *f, const void *ctx)
{
    const struct snapshot *s = ctx;
    const uint64_t n = (uint64_t)s->p->n;
    const uint32_t low[TYPES] = {(uint32_t)n}, high[TYPES] = {(uint32_t)(n >> 32)};
    const int32_t one = 1, none = 0;
    const double zero[TYPES] = {0};
    const bool cube = s->side[0] == s->side[1] && s->side[0] == s->side[2];
    hdf5_small(f, "Header/", 'i', 0, NULL); /* an empty group */
    hdf5_attr(f, "Header", "NumPart_ThisFile", 'I', TYPES, low);
    hdf5_attr(f, "Header", "NumPart_Total", 'I', TYPES, low);
    hdf5_attr(f, "Header", "NumPart_Total_HighWord", 'I', TYPES, high);
    hdf5_attr(f, "Header", "MassTable", 'd', TYPES, zero);
    hdf5_scalar(f, "Header", "Time", 'd', &s->h->t);
    hdf5_scalar(f, "Header", "Redshift", 'd', zero);
    if (cube)
        hdf5_scalar(f, "Header", "BoxSize", 'd', s->side);
    else
        hdf5_attr(f, "Header", "BoxSize", 'd', 3, s->side);
    hdf5_scalar(f, "Header", "NumFilesPerSnapshot", 'i', &one);
    hdf5_scalar(f, "Header", "Flag_Sfr", 'i', &none);
    hdf5_scalar(f, "Header", "Flag_Cooling", 'i', &none);
    hdf5_scalar(f, "Header", "Flag_Feedback", 'i', &none);
    hdf5_scalar(f, "Header", "Flag_DoublePrecision", 'i', &one);
    hdf5_scalar(f, "Header", "Gamma", 'd', &s->par->gamma);
    hdf5_scalar(f, "Header", "Hfact", 'd', &s->par->eta);
    hdf5_word(f, "Header", "Kernel", smooth_kernel_name(s->par->kernel));
}

/* ---- arrays ---- */

static double position(const struct snapshot *s, int d, int64_t i)
{
    const double side = s->side[d], x = s->p->x[d][i] - s->lo[d];
    if (!s->periodic) return s->p->x[d][i];
    const double in = x - side * floor(x / side);
    return in < side ? in : 0;
}

typedef double value_fn(const struct snapshot *s, int d, int64_t i);
static double velocity(const struct snapshot *s, int d, int64_t i)
{
    return s->p->v[d][i];
}
static double mass(const struct snapshot *s, int d, int64_t i)
{
    return s->par->mass;
}
static double radius(const struct snapshot *s, int d, int64_t i)
{
    return s->support * s->p->h[i];
}
static double density(const struct snapshot *s, int d, int64_t i)
{
    return smooth_rho(s->par, s->p->h[i]);
}
static double energy(const struct snapshot *s, int d, int64_t i)
{
    return s->p->u[i];
}

static const struct array {
    const char *name;
    int width;
    value_fn *of;
} ARRAYS[] = {{"Coordinates", 3, position}, {"Velocities", 3, velocity},
              {"Masses", 1, mass},          {"SmoothingLength", 1, radius},
              {"Density", 1, density},      {"InternalEnergy", 1, energy}};
enum { NARRAY = sizeof ARRAYS / sizeof *ARRAYS };

static void put_array(struct hdf5_file *f, const struct snapshot *s, int a, double *block)
{
    const int w = ARRAYS[a].width;
    for (int64_t at = 0; at < s->p->n; at += BLOCK) {
        const int64_t n = BLOCK < s->p->n - at ? BLOCK : s->p->n - at;
        for (int64_t i = 0; i < n; i++)
            for (int d = 0; d < w; d++) block[i * w + d] = ARRAYS[a].of(s, d, at + i);
        hdf5_put(f, a, at * w, n * w, block);
    }
}

static enum err write_file(struct hdf5_file *f, const struct snapshot *s)
{
    double *block = mem_new(sizeof *block * 3 * BLOCK, "Gadget");
    const int64_t n = s->p->n;
    for (int a = 0; a < NARRAY; a++) {
        const int w = ARRAYS[a].width;
        const int set = hdf5_add(f, 'd', n * w, (int64_t)w * BLOCK, "PartType0/%s", ARRAYS[a].name);
        if (w > 1) hdf5_shape(f, set, 2, (int64_t[]){n, w});
    }
    hdf5_add(f, 'q', n, BLOCK, "PartType0/ParticleIDs");
    hdf5_add(f, 'b', n, BLOCK, "PartType0/Type");
    enum err err = hdf5_create(f, fill, s);
    if (err == OK) {
        for (int a = 0; a < NARRAY; a++) put_array(f, s, a, block);
        hdf5_put(f, NARRAY, 0, n, s->p->id);
        hdf5_put(f, NARRAY + 1, 0, n, s->p->type);
        err = hdf5_close(f);
    }
    FREE(block);
    return err;
}

/* HDF5's file is the second one of a set whose first one, empty, holds the lock: HDF5 creates its
 * files itself. */
static enum err write_renamed(struct snapshot *s, struct temp *lock, const char *path)
{
    const struct comm alone = {.size = 1};
    char second[PATH_MAX], name[PATH_MAX];
    struct hdf5_file f;
    if (snprintf(second, sizeof second, "%s.1", path) >= (int)sizeof second)
        FAIL(ERR_FILE, "%.80s…: the path is too long", path);
    TRY(temp_name(lock, second, name));
    hdf5_init(&f, &alone, name, 0);
    enum err err = write_file(&f, s);
    hdf5_fini(&f);
    if (err == OK && rename(name, path) == 0) return OK;
    if (err == OK) err = err_set(ERR_FILE, "%s: cannot write: %s", path, strerror(errno));
    unlink(name);
    return err;
}

enum err gadget4_write(const char *path, const struct sphfile_head *h, const struct smooth_par *par,
                       const struct smooth *p)
{
    struct snapshot s = {.h = h, .par = par, .p = p, .support = smooth_support(par->kernel)};
    struct smooth_par same;
    struct temp lock;
    enum err err = OK;
    TRY(sphfile_get_par(h, path, &same, s.lo, s.side, &s.periodic));
    TRY(temp_create(&lock, path));
    if (*lock.name)
        err = write_renamed(&s, &lock, path);
    else
        err = err_set(ERR_FILE, "%s: is a device or a pipe, but HDF5 needs a file", path);
    temp_drop(&lock);
    return err;
}
#else
enum err gadget4_write(const char *path, const struct sphfile_head *h, const struct smooth_par *par,
                       const struct smooth *p)
{
    FAIL(ERR_LIMIT, "%s: this program was built without HDF5: install its library, then run make",
         path);
}
#endif
