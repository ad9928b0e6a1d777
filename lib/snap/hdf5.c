/* snap/hdf5: snapshots in HDF5, by Ptah's own parser. The header is an attribute of /Header for
 * each number; units and cosmology are in /Header (Gadget-2, Gadget-3, Arepo), /Parameters
 * (Gadget-4, Arepo), or /Units and /Cosmology (SWIFT, whose numbers have no h). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "io/file.h"
#include "snap/priv.h"

enum { BATCH = 1 << 14 };

bool snap_hdf5_is(int fd)
{
    static const unsigned char magic[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    unsigned char p[8];
    return file_read_at(fd, "", p, 8, 0) == OK && memcmp(p, magic, 8) == 0;
}

/* ---- attributes ---- */

/* At most `max` numbers of an attribute, as doubles or integers; *n is 0 without it. */
static enum err get_list(struct snap_file *f, const char *group, const char *name, bool whole,
                         int max, void *x, int *n)
{
    struct h5_value v = {0};
    double real[SNAP_TYPES];
    int64_t number[SNAP_TYPES];
    const int64_t at = h5_find(&f->h5, group);
    const bool exists = at && h5_attr(&f->h5, at, name, &v);
    *n = 0;
    if (f->h5.err != OK) return f->h5.err;
    if (!exists) return OK;
    const bool reals = strchr("df", v.type) != NULL,
               fits = v.data && v.n <= max && v.n <= SNAP_TYPES && v.type != 's';
    if (fits) h5_widen(v.type, v.n, v.data, reals ? (void *)real : number);
    for (int i = 0; fits && i < (int)v.n; i++) {
        if (whole)
            ((int64_t *)x)[i] = !reals                             ? number[i]
                                : real[i] >= 0 && real[i] < 0x1p62 ? (int64_t)real[i]
                                                                   : -1;
        else
            ((double *)x)[i] = reals ? real[i] : (double)number[i];
    }
    *n = fits ? (int)v.n : 0;
    FREE(v.data);
    if (!fits)
        FAIL(ERR_FORMAT, "%s: attribute %s of /%s does not have %d numbers at most", f->path, name,
             group, max);
    return OK;
}

/* One number, from the first of these groups that has it; otherwise *x stays. */
static enum err get_one(struct snap_file *f, const char *const group[], const char *name, double *x)
{
    double found[SNAP_TYPES];
    int n = 0;
    for (int k = 0; group[k] && n == 0; k++)
        TRY(get_list(f, group[k], name, false, SNAP_TYPES, found, &n));
    if (n > 0) *x = found[0];
    return OK;
}

static const char *const HEADER[] = {"Header", NULL},
                         *const ANYWHERE[] = {"Header", "Parameters", "Units", NULL},
                         *const COSMOLOGY[] = {"Cosmology", NULL}, *const UNITS[] = {"Units", NULL};

/* ---- header ---- */

static enum err read_counts(struct snap_file *f)
{
    struct snap_head *h = &f->head;
    int64_t high[SNAP_TYPES] = {0}, files[SNAP_TYPES];
    int n, m;
    TRY(get_list(f, "Header", "NumPart_ThisFile", true, SNAP_TYPES, f->here, &n));
    if (n == 0) FAIL(ERR_FORMAT, "%s: has no attribute NumPart_ThisFile of /Header", f->path);
    h->numbers = n;
    TRY(get_list(f, "Header", "NumPart_Total", true, SNAP_TYPES, h->total, &m));
    if (m == 0) memcpy(h->total, f->here, sizeof h->total);
    TRY(get_list(f, "Header", "NumPart_Total_HighWord", true, SNAP_TYPES, high, &m));
    for (int t = 0; t < SNAP_TYPES; t++) {
        if (high[t] < 0 || high[t] > INT32_MAX || (high[t] && h->total[t] >> 32))
            FAIL(ERR_FORMAT,
                 "%s: the numbers of particles of type %d in /Header, NumPart_Total "
                 "%ld with the high word %ld, make no sense",
                 f->path, t, (long)h->total[t], (long)high[t]);
        h->total[t] += high[t] * ((int64_t)1 << 32);
    }
    TRY(get_list(f, "Header", "NumFilesPerSnapshot", true, 1, files, &m));
    if (m && (files[0] < 1 || files[0] > INT32_MAX))
        FAIL(ERR_FORMAT, "%s: NumFilesPerSnapshot of /Header is %ld", f->path, (long)files[0]);
    h->nfile = m ? (int)files[0] : 1;
    return OK;
}

static enum err read_box(struct snap_file *f)
{
    double side[SNAP_TYPES] = {0};
    int n;
    TRY(get_list(f, "Header", "BoxSize", false, 3, side, &n));
    for (int d = 1; d < n; d++)
        if (side[d] != side[0])
            FAIL(ERR_LIMIT, "%s: the box has sides of %g and %g; only a cube can be read", f->path,
                 side[0], side[d]);
    f->head.box = side[0];
    return OK;
}

static enum err read_swift(struct snap_file *f)
{
    struct snap_head *h = &f->head;
    double time = 0, run = -1;
    h->code = SNAP_SWIFT;
    TRY(get_one(f, UNITS, "Unit length in cgs (U_L)", &h->length_cm));
    TRY(get_one(f, UNITS, "Unit mass in cgs (U_M)", &h->mass_g));
    TRY(get_one(f, UNITS, "Unit time in cgs (U_t)", &time));
    if (time > 0) h->speed_cm = h->length_cm / time;
    TRY(get_one(f, COSMOLOGY, "Omega_m", &h->omega_m));
    TRY(get_one(f, COSMOLOGY, "Omega_lambda", &h->omega_l));
    TRY(get_one(f, COSMOLOGY, "Omega_b", &h->omega_b));
    TRY(get_one(f, COSMOLOGY, "h", &h->h));
    TRY(get_one(f, COSMOLOGY, "Scale-factor", &h->a));
    TRY(get_one(f, COSMOLOGY, "Cosmological run", &run));
    h->comoving = run != 0;
    return OK;
}

static enum err read_gadget(struct snap_file *f)
{
    struct snap_head *h = &f->head;
    double on = -1;
    h->code = SNAP_HDF5;
    TRY(get_one(f, ANYWHERE, "UnitLength_in_cm", &h->length_cm));
    TRY(get_one(f, ANYWHERE, "UnitMass_in_g", &h->mass_g));
    TRY(get_one(f, ANYWHERE, "UnitVelocity_in_cm_per_s", &h->speed_cm));
    TRY(get_one(f, ANYWHERE, "Omega0", &h->omega_m));
    TRY(get_one(f, ANYWHERE, "OmegaLambda", &h->omega_l));
    TRY(get_one(f, ANYWHERE, "OmegaBaryon", &h->omega_b));
    TRY(get_one(f, ANYWHERE, "HubbleParam", &h->h));
    TRY(get_one(f, ANYWHERE, "ComovingIntegrationOn", &on));
    h->comoving = on >= 0 ? on != 0 : h->omega_m > 0 && h->h > 0;
    return OK;
}

static enum err check_h5(const struct snap_file *f)
{
    return f->h5.err;
}

enum err snap_hdf5_open(struct snap_file *f)
{
    struct snap_head *h = &f->head;
    int n;
    TRY(h5_open(&f->h5, f->path));
    if (!h5_find(&f->h5, "Header")) {
        TRY(check_h5(f));
        FAIL(ERR_FORMAT, "%s: is HDF5, but not a snapshot of Gadget: it has no group /Header",
             f->path);
    }
    h->omega_m = h->omega_l = h->omega_b = h->h = NAN;
    TRY(read_counts(f));
    TRY(get_list(f, "Header", "MassTable", false, SNAP_TYPES, h->mass, &n));
    TRY(get_one(f, HEADER, "Time", &h->a));
    TRY(read_box(f));
    const int64_t units = h5_find(&f->h5, "Units");
    struct h5_value v = {0};
    const bool swift = units && h5_attr(&f->h5, units, "Unit length in cgs (U_L)", &v);
    FREE(v.data);
    TRY(check_h5(f));
    TRY(swift ? read_swift(f) : read_gadget(f));
    return snap_check_head(f);
}

void snap_hdf5_close(struct snap_file *f)
{
    for (int t = 0; t < SNAP_TYPES; t++)
        for (int c = 0; c < SNAP_COLUMNS; c++)
            if (f->object[t][c]) h5_set_close(&f->set[t][c]);
    h5_close(&f->h5);
}

/* ---- datasets ---- */

static enum err open_set(struct snap_file *f, int type, enum snap_column c, int64_t at)
{
    struct h5_set *set = &f->set[type][c];
    const char *name = f->name[type][c];
    const int width = snap_width(c);
    TRY(width > 1 ? h5_table_open(&f->h5, at, name, set) : h5_set_open(&f->h5, at, name, set));
    f->object[type][c] = at;
    const bool whole = strchr("df", set->type) == NULL,
               shaped = width == 1 || (set->ndim == 2 && set->dim[1] == width);
    if (set->n != f->here[type] * width || !shaped)
        FAIL(ERR_FORMAT, "%s: /%s does not have %ld rows of %d number%s, as NumPart_ThisFile says",
             f->path, name, (long)f->here[type], width, width > 1 ? "s" : "");
    if (whole != snap_whole(c))
        FAIL(ERR_FORMAT, "%s: /%s does not have %s numbers", f->path, name,
             snap_whole(c) ? "whole" : "real");
    return OK;
}

enum err snap_hdf5_has(struct snap_file *f, int type, enum snap_column c, bool *has)
{
    *has = f->object[type][c] != 0;
    if (f->name[type][c][0]) return OK;
    for (int k = 0; k < 3 && !*has; k++) {
        if (!snap_row[c].name[k]) continue;
        snprintf(f->name[type][c], SNAP_NAME, "PartType%d/%s", type, snap_row[c].name[k]);
        const int64_t at = h5_find(&f->h5, f->name[type][c]);
        TRY(check_h5(f));
        if (!at) continue;
        TRY(open_set(f, type, c, at));
        *has = true;
    }
    return OK;
}

enum err snap_hdf5_read(struct snap_file *f, int type, enum snap_column c, int64_t first, int64_t n,
                        void *out)
{
    bool has;
    TRY(snap_hdf5_has(f, type, c, &has));
    if (!has)
        FAIL(ERR_FORMAT, "%s: has no dataset /PartType%d/%s", f->path, type, snap_row[c].name[0]);
    struct h5_set *set = &f->set[type][c];
    const int width = snap_width(c);
    const int64_t from = first * width, all = n * width;
    char *raw = mem_new((size_t)BATCH * 8, "snapshot batch");
    enum err err = OK;
    for (int64_t i = 0; i < all && err == OK; i += BATCH) {
        const int64_t k = all - i < BATCH ? all - i : BATCH;
        err = h5_set_read(&f->h5, set, f->name[type][c], from + i, k, raw);
        if (err == OK) h5_widen(set->type, k, raw, (double *)out + i);
    }
    mem_free(raw);
    return err;
}
