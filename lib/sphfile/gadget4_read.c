/* sphfile/gadget4_read: reads gas as Gadget-4 and its relatives write it, by Ptah's own parser of
 * HDF5. No number in the file is trusted. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "h5/parse.h"
#include "sphfile/gadget4.h"

enum { BATCH = 1 << 14, TYPES = 6 };

struct reader {
    struct h5_file f;
    const char *path;
    int64_t n, first; /* particles; row of the first one in p */
    struct smooth *p;
};

bool gadget4_is(const char *path)
{
    struct stat st;
    struct h5_file f;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) return false;
    const bool is = h5_open(&f, path) == OK && h5_find(&f, "Header") &&
                    h5_find(&f, "PartType0/Coordinates") && !h5_find(&f, "PartType1") &&
                    f.err == OK;
    h5_close(&f);
    return is;
}

/* ---- header ---- */

/* At most `max` numbers of an attribute of the header; *n is 0 if it is missing. */
static enum err get_numbers(struct reader *r, const char *name, int max, double *x, int *n)
{
    struct h5_value v = {0};
    int64_t whole[TYPES];
    const int64_t at = h5_find(&r->f, "Header");
    const bool exists = at && h5_attr(&r->f, at, name, &v);
    *n = 0;
    if (r->f.err != OK) return r->f.err;
    if (!exists) return OK;
    const bool real = strchr("df", v.type),
               fits = v.data && v.n <= max && v.n <= TYPES && v.type != 's';
    if (fits) h5_widen(v.type, v.n, v.data, real ? (void *)x : whole);
    for (int64_t i = 0; fits && !real && i < v.n; i++) x[i] = (double)whole[i];
    *n = fits ? (int)v.n : 0;
    FREE(v.data);
    if (!fits)
        FAIL(ERR_FORMAT, "%s: attribute %s of /Header does not have %d numbers at most", r->path,
             name, max);
    return OK;
}

/* One number in a range, or what it is without the attribute. */
static enum err get_one(struct reader *r, const char *name, const double limit[2], double without,
                        double *x)
{
    int n;
    *x = without;
    TRY(get_numbers(r, name, 1, x, &n));
    if (n == 0) *x = without;
    if (!(*x >= limit[0] && *x <= limit[1]))
        FAIL(ERR_FORMAT, "%s: attribute %s of /Header is %g, expected %g to %g", r->path, name, *x,
             limit[0], limit[1]);
    return OK;
}

static enum err read_kernel(struct reader *r, struct smooth_par *par)
{
    struct h5_value v = {0};
    const int64_t at = h5_find(&r->f, "Header");
    if (at && h5_attr(&r->f, at, "Kernel", &v) && v.type == 's')
        for (int k = 0; k < SMOOTH_KERNELS; k++) {
            const char *name = smooth_kernel_name((enum smooth_kernel)k);
            if (v.n >= 2 && memcmp(v.data, name, 2) == 0) par->kernel = (enum smooth_kernel)k;
        }
    FREE(v.data);
    return r->f.err;
}

static enum err read_box(struct reader *r, double side[3], bool *periodic)
{
    int n;
    TRY(get_numbers(r, "BoxSize", 3, side, &n));
    if (n == 1) side[1] = side[2] = side[0];
    *periodic = n == 3 || (n == 1 && side[0] != 0);
    for (int d = 0; d < 3; d++) {
        if (!*periodic) side[d] = 0;
        if (*periodic && !(side[d] > 0 && side[d] < 1e300))
            FAIL(ERR_FORMAT, "%s: attribute BoxSize of /Header has a side %g", r->path, side[d]);
    }
    return OK;
}

static enum err read_head(struct reader *r, struct sphfile_head *h, struct smooth_par *par,
                          double side[3])
{
    const double any[2] = {-1e300, 1e300}, positive[2] = {1e-3, 1e3}, ratio[2] = {1, 1e3};
    double files, lo[3] = {0};
    bool periodic;
    *par = sphfile_usual();
    TRY(get_one(r, "NumFilesPerSnapshot", any, 1, &files));
    if (files != 1)
        FAIL(ERR_LIMIT,
             "%s: is one of %g files of a snapshot; only snapshots of one file can be "
             "read",
             r->path, files);
    TRY(get_one(r, "Time", any, 0, &h->t));
    TRY(read_kernel(r, par));
    TRY(get_one(r, "Hfact", positive, smooth_eta(par->kernel), &par->eta));
    TRY(get_one(r, "Gamma", ratio, par->gamma, &par->gamma));
    TRY(read_box(r, side, &periodic));
    sphfile_set_par(h, par, lo, side, periodic);
    sphfile_set(h, "fresh", 1);
    return OK;
}

/* ---- arrays ---- */

struct array {
    struct h5_set set;
    char name[64];
    int width;
    bool there, whole;
};

static enum err open_array(struct reader *r, const char *name, int width, bool needed,
                           struct array *a)
{
    *a = (struct array){.width = width};
    snprintf(a->name, sizeof a->name, "PartType0/%s", name);
    const int64_t at = h5_find(&r->f, a->name);
    if (r->f.err != OK) return r->f.err;
    if (!at && needed) FAIL(ERR_FORMAT, "%s: has no dataset /%s", r->path, a->name);
    if (!at) return OK;
    TRY(width > 1 ? h5_table_open(&r->f, at, a->name, &a->set)
                  : h5_set_open(&r->f, at, a->name, &a->set));
    a->there = true;
    a->whole = strchr("dfs", a->set.type) == NULL;
    if (r->n < 0) r->n = a->set.n / width;
    const bool shaped = width == 1 || (a->set.ndim == 2 && a->set.dim[1] == width);
    if (shaped && a->set.n == r->n * width && a->set.type != 's') return OK;
    h5_set_close(&a->set);
    FAIL(ERR_FORMAT, "%s: dataset /%s does not have %ld rows of %d number%s", r->path, a->name,
         (long)r->n, width, width > 1 ? "s" : "");
}

/* Calls store for each number of an array. Reals must be finite. */
typedef void store_fn(void *to, int64_t row, int d, double x, int64_t whole);
static enum err each_number(struct reader *r, struct array *a, store_fn *store, void *to)
{
    char *raw = mem_new(8 * BATCH * 3, "Gadget");
    double *x = mem_new(sizeof *x * BATCH * 3, "Gadget");
    enum err err = OK;
    for (int64_t at = 0; at < a->set.n && err == OK; at += 3 * BATCH) {
        const int64_t n = 3 * BATCH < a->set.n - at ? 3 * BATCH : a->set.n - at;
        err = h5_set_read(&r->f, &a->set, a->name, at, n, raw);
        if (err == OK) h5_widen(a->set.type, n, raw, x);
        for (int64_t i = 0; i < n && err == OK; i++) {
            int64_t whole = 0;
            memcpy(&whole, &x[i], 8);
            if (!a->whole && !isfinite(x[i]))
                err = err_set(ERR_FORMAT, "%s: /%s is %g in row %ld (counted from 0)", r->path,
                              a->name, x[i], (long)((at + i) / a->width));
            store(to, (at + i) / a->width, (int)((at + i) % a->width),
                  a->whole ? (double)whole : x[i], whole);
        }
    }
    FREE(raw);
    FREE(x);
    return err;
}

static void store_real(void *to, int64_t row, int d, double x, int64_t whole)
{
    ((double **)to)[d][row] = x;
}

static void store_id(void *to, int64_t row, int d, double x, int64_t whole)
{
    ((int64_t *)to)[row] = whole;
}

static enum err read_array(struct reader *r, const char *name, int width, double *const to[3],
                           bool needed, bool *there)
{
    struct array a;
    TRY(open_array(r, name, width, needed, &a));
    *there = a.there;
    enum err err = OK;
    if (a.there && a.whole)
        err = err_set(ERR_FORMAT, "%s: dataset /%s does not have real numbers", r->path, a.name);
    if (a.there && err == OK) err = each_number(r, &a, store_real, (void *)to);
    if (a.there) h5_set_close(&a.set);
    return err;
}

/* ---- particles ---- */

static enum err make_room(struct reader *r)
{
    struct array a;
    r->n = -1;
    TRY(open_array(r, "Coordinates", 3, true, &a));
    h5_set_close(&a.set);
    if (r->n == 0) FAIL(ERR_FORMAT, "%s: has no gas", r->path);
    smooth_reserve(r->p, r->first + r->n);
    for (int c = 0; c < SMOOTH_COLUMNS; c++) {
        const size_t bytes = smooth_row[c].bytes;
        memset((char *)*smooth_at(r->p, (enum smooth_column)c) + (size_t)r->first * bytes, 0,
               (size_t)r->n * bytes);
    }
    memset(r->p->type + r->first, SMOOTH_GAS, (size_t)r->n);
    return OK;
}

/* The mass of all, from their own masses or the table of the header. v: scratch. */
static enum err read_mass(struct reader *r, struct smooth_par *par, double *v)
{
    double table[TYPES] = {0};
    bool there;
    int n;
    TRY(read_array(r, "Masses", 1, (double *[3]){v}, false, &there));
    TRY(get_numbers(r, "MassTable", TYPES, table, &n));
    par->mass = there ? v[0] : table[0];
    for (int64_t i = 1; there && i < r->n; i++)
        if (v[i] != v[0])
            FAIL(ERR_LIMIT,
                 "%s: /PartType0/Masses is %.17g in row %ld, but %.17g in row 0: all "
                 "particles must have the same mass",
                 r->path, v[i], (long)i, v[0]);
    if (!(par->mass > 0 && par->mass < 1e300))
        FAIL(ERR_FORMAT, "%s: the mass of a particle is %g, expected a positive number", r->path,
             par->mass);
    return OK;
}

/* h from the radius of the kernel, from the density, or from the mean density of the box. */
static enum err read_lengths(struct reader *r, const struct smooth_par *par, const double side[3],
                             double *h)
{
    const double support = smooth_support(par->kernel), volume = side[0] * side[1] * side[2];
    bool radii, densities = false;
    TRY(read_array(r, "SmoothingLength", 1, (double *[3]){h}, false, &radii));
    if (!radii) TRY(read_array(r, "Density", 1, (double *[3]){h}, false, &densities));
    if (!radii && !densities && !(volume > 0))
        FAIL(ERR_FORMAT,
             "%s: has neither /PartType0/SmoothingLength nor Density nor a box, from "
             "which smoothing lengths could follow",
             r->path);
    for (int64_t i = 0; i < r->n; i++) {
        if (radii)
            h[i] /= support;
        else
            h[i] = par->eta * cbrt(densities ? par->mass / h[i] : volume / (double)r->n);
        if (!(h[i] > 0 && isfinite(h[i])))
            FAIL(ERR_FORMAT,
                 "%s: /PartType0/%s gives the smoothing length %g in row %ld (counted "
                 "from 0)",
                 r->path, radii ? "SmoothingLength" : "Density", h[i], (long)i);
    }
    return OK;
}

static enum err read_ids(struct reader *r)
{
    struct array a;
    int64_t *id = r->p->id + r->first;
    TRY(open_array(r, "ParticleIDs", 1, false, &a));
    for (int64_t i = 0; !a.there && i < r->n; i++) id[i] = i + 1;
    if (!a.there) return OK;
    enum err err = a.whole ? each_number(r, &a, store_id, id)
                           : err_set(ERR_FORMAT, "%s: /%s does not have whole numbers", r->path,
                                     a.name);
    h5_set_close(&a.set);
    return err;
}

static void store_type(void *to, int64_t row, int d, double x, int64_t whole)
{
    if (whole == SMOOTH_BOUNDARY) ((int8_t *)to)[row] = SMOOTH_BOUNDARY;
}

/* Types of our own files; without them all are gas. */
static enum err read_types(struct reader *r)
{
    struct array a;
    TRY(open_array(r, "Type", 1, false, &a));
    enum err err = OK;
    if (a.there && a.whole) err = each_number(r, &a, store_type, r->p->type + r->first);
    if (a.there) h5_set_close(&a.set);
    return err;
}

static enum err read_all(struct reader *r, struct sphfile_head *h, struct smooth_par *par)
{
    double side[3];
    bool there;
    TRY(h5_open(&r->f, r->path));
    TRY(read_head(r, h, par, side));
    TRY(make_room(r));
    struct smooth *p = r->p;
    const int64_t at = r->first;
    TRY(read_mass(r, par, p->u + at));
    TRY(read_array(r, "Coordinates", 3, (double *[3]){p->x[0] + at, p->x[1] + at, p->x[2] + at},
                   true, &there));
    TRY(read_array(r, "Velocities", 3, (double *[3]){p->v[0] + at, p->v[1] + at, p->v[2] + at},
                   true, &there));
    TRY(read_array(r, "InternalEnergy", 1, (double *[3]){p->u + at}, true, &there));
    TRY(read_lengths(r, par, side, p->h + at));
    TRY(read_ids(r));
    TRY(read_types(r));
    for (int64_t i = at; i < at + r->n; i++) p->alpha[i] = par->alpha_min;
    sphfile_set(h, "mass", par->mass);
    p->n += r->n;
    h->n = r->n;
    return OK;
}

enum err gadget4_read(const char *path, struct sphfile_head *h, struct smooth_par *par,
                      struct smooth *p)
{
    struct reader r = {.f = {.fd = -1}, .path = path, .p = p, .first = p->n};
    *h = (struct sphfile_head){0};
    enum err err = read_all(&r, h, par);
    h5_close(&r.f);
    return err;
}
