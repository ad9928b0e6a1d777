/* ramses/info: opens a RAMSES snapshot: its text files, and the variables that the first binary
 * files contain. */
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "io/file.h"
#include "oct/field_sets.h"
#include "ramses/priv.h"

static enum err snapshot_open(struct ramses *r);
static enum err find_number(struct ramses *r);
static enum err read_fields(struct ramses *r, const struct amr_head *a);
static enum err read_box(struct ramses *r, struct fort_in *f, struct amr_head *a);
static void log_format(struct ramses *r);

enum err ramses_open(struct source *s)
{
    struct ramses *r = s->impl = mem_zero(sizeof *r, "snapshot");
    r->s = s;
    TRY(snapshot_open(r));
    TRY(info_tables(s));
    log_format(r);
    s->head.longint = r->wide_counts;
    return OK;
}

static void take_info(struct ramses *r, const struct info *info)
{
    struct ckpt_head *h = &r->s->head;
    const double *x = info->value;
    r->s->npiece = r->s->nwriter = (int)x[INFO_NCPU];
    r->s->by_rank = true;
    r->ndomain = info->ndomain;
    h->ndim = (int)x[INFO_NDIM], h->levelmin = (int)x[INFO_LEVELMIN], h->boxlen = x[INFO_BOXLEN];
    h->unit_l = x[INFO_UNIT_L], h->unit_d = x[INFO_UNIT_D], h->unit_t = x[INFO_UNIT_T];
}

/* Reads the types of the boundaries from the namelist. */
static enum err read_boundary_types(struct ramses *r)
{
    char *text;
    size_t bytes;
    struct boundary *b = &r->s->head.boundary;
    if (b->n == 0) return OK;
    TRY(info_text(r->s, FILES_NAMELIST, &text, &bytes));
    r->s->boundary_untold = !text || !boundary_types(b, text, bytes);
    mem_free(text);
    return OK;
}

static enum err snapshot_open(struct ramses *r)
{
    struct fort_in f = {.fd = -1};
    struct amr_head a = {0};
    char path[PATH_MAX];
    struct info info;
    TRY(find_number(r));
    TRY(info_verify(r->s));
    TRY(info_read(r->s, &info));
    take_info(r, &info);
    TRY(ramses_path(r, FILES_AMR, 1, path));
    enum err err = fort_open(&f, path);
    if (err == OK) err = read_box(r, &f, &a);
    fort_shut(&f);
    if (err == OK) err = read_fields(r, &a);
    if (err == OK) err = ramses_read_columns(r);
    if (err == OK) err = read_boundary_types(r);
    ramses_amr_head_free(&a);
    return err;
}

static enum err read_box(struct ramses *r, struct fort_in *f, struct amr_head *a)
{
    double info = r->s->head.boxlen; /* length along x of one coarse cell */
    TRY(ramses_amr_head(f, r, a, true));
    TRY(ramses_find_box(f, r, a));
    double cell = r->s->head.boxlen / (double)r->s->coarse[0];
    if (!(fabs(cell - info) <= (f->narrow ? 1e-6 : 1e-12) * fabs(cell)))
        FAIL(ERR_FORMAT,
             "%s: boxlen is %.15g with %ld coarse cells, which does not fit boxlen = %.15g in the "
             "info file",
             f->path, r->s->head.boxlen, (long)r->s->coarse[0], info);
    return OK;
}

/* ---- paths ---- */

enum err ramses_path(const struct ramses *r, enum files_kind k, int file, char path[PATH_MAX])
{
    char dir[PATH_MAX];
    if (!r->s->group) return files_path(r->s->path, k, r->s->number, file, path);
    if (snprintf(dir, sizeof dir, "%s/group_%05d", r->s->path, (file - 1) / r->s->group + 1) >=
        (int)sizeof dir)
        FAIL(ERR_FILE, "%.80s…: the path is too long", r->s->path);
    return files_path(dir, k, r->s->number, file, path);
}

enum err ramses_verify(const struct ramses *r, enum files_kind k, int file)
{
    char name[FILES_NAME];
    /* for a part of the snapshot, reading the whole file for its checksum would cost too much */
    if (r->s->pick && r->s->sharers == 0) return OK;
    files_name(k, r->s->number, file, name);
    return manifest_check_file(r->s->list, r->s->path, name);
}

enum err ramses_verify_share(const struct ramses *r, enum files_kind k, int file)
{
    static const enum files_kind kinds[] = {FILES_HYDRO, FILES_GRAV, FILES_PART,
                                            FILES_AMR,   FILES_RT,   FILES_RT_EXACT};
    int i = 0;
    while (kinds[i] != k) i++;
    bool mine = r->s->sharers == 0 || i % r->s->sharers == r->s->share;
    return mine ? ramses_verify(r, k, file) : OK;
}

enum err ramses_verify_sum(const struct ramses *r, enum files_kind k, int file, struct fort_in *f)
{
    char name[FILES_NAME];
    uint64_t sum;
    files_name(k, r->s->number, file, name);
    TRY(fort_sum(f, &sum));
    return manifest_check_sum(r->s->list, r->s->path, name, f->size, sum);
}

bool ramses_has_file(const struct ramses *r, enum files_kind k)
{
    char path[PATH_MAX];
    if (ramses_path(r, k, 1, path) != OK) return false;
    /* a missing file in the list counts, so that it is reported */
    return file_exists(path) || manifest_has(r->s->list, strrchr(path, '/') + 1);
}

/* Finds the number from the info file, since the directory may have been renamed. With groups the
 * file may be in the first one. */
static enum err find_number(struct ramses *r)
{
    char first[PATH_MAX];
    struct files_name last;
    int found, files;
    if (snprintf(first, sizeof first, "%s/group_00001", r->s->path) >= (int)sizeof first)
        FAIL(ERR_FILE, "%.80s…: the path is too long", r->s->path);
    bool groups = file_exists(first);
    TRY(files_count(r->s->path, FILES_INFO, -1, &found, &last));
    if (found == 0 && groups) TRY(files_count(first, FILES_INFO, -1, &found, &last));
    if (found != 1)
        FAIL(ERR_FILE,
             "%s: is not a RAMSES output: it contains %d files info_NNNNN.txt instead of one",
             r->s->path, found);
    r->s->number = last.number;
    if (ramses_has_file(r, FILES_AMR) || !groups) return OK;
    TRY(files_count(first, FILES_AMR, r->s->number, &files, &last));
    r->s->group = files;
    return OK;
}

/* ---- format ---- */

static void append(struct ramses *r, bool really, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void append(struct ramses *r, bool really, const char *fmt, ...)
{
    size_t n = strlen(r->s->format);
    va_list v;
    if (!really) return;
    va_start(v, fmt);
    vsnprintf(r->s->format + n, sizeof r->s->format - n, fmt, v);
    va_end(v);
}

static void log_missing(const struct ramses *r)
{
    const struct ckpt_head *h = &r->s->head;
    info_log_missing(r->s);
    info_log_lacks(r->s, !h->hydro, "hydro files");
    info_log_lacks(r->s, !h->gravity, "grav files");
    info_log_lacks(r->s, !h->particles, "part files");
    info_log_lacks(r->s, !ramses_has_file(r, FILES_EXACT), "exact files");
    info_log_lacks(r->s, h->radiation.groups == 0 && info_has(r->s, FILES_RT_INFO), "rt files");
}

static void log_format(struct ramses *r)
{
    bool id = r->s->column_at[COL_ID] >= 0;
    log_missing(r);
    append(r, r->swap, ", big-endian");
    append(r, r->s->narrow, ", single precision");
    append(r, r->s->group, ", groups of %d file%s", r->s->group, r->s->group > 1 ? "s" : "");
    append(r, r->wide_keys, ", 16-byte keys");
    append(r, r->wide_counts, ", 8-byte counts");
    append(r, id && r->s->head.particles && r->s->part[r->s->column_at[COL_ID]].type == 'q',
           ", 8-byte ids");
    append(r, r->conserved, ", conserved variables");
    append(r, r->old_hydro, ", old hydro descriptor");
    append(r, r->made_family, ", particles without families");
    append(r, r->s->head.gravity && r->s->ngrav == r->s->head.ndim, ", gravity without potential");
    append(r, r->no_mass_sph, ", header of before 2010");
}

/* Fields of the gas files that are rows of the table, by their names. */
static enum err split_gas(struct source *s, const char *path)
{
    const int all = s->nhydro;
    for (int v = 0; v < all; v++) s->fields |= field_beside_gas(s->field[v].name);
    s->nhydro = s->head.nvar = all - fields_count(s->fields, FILE_HYDRO, s->head.ndim);
    s->head.magnetic = s->fields & MAGNETIC;
    return info_order(s, path, all);
}

/* The primitive variable of which a file has the conserved one. */
static void primitive_name(char name[GAS_NAME])
{
    char was[GAS_NAME];
    size_t n = strlen(name);
    memcpy(was, name, sizeof was);
    if (strncmp(was, "momentum_", 9) == 0)
        snprintf(name, GAS_NAME, "velocity_%.30s", was + 9);
    else if (strcmp(was, "total_energy") == 0)
        snprintf(name, GAS_NAME, "pressure");
    else if (strncmp(was, "non_thermal_energy_", 19) == 0)
        snprintf(name, GAS_NAME, "non_thermal_pressure_%.20s", was + 19);
    else if (strcmp(was, "metal_density") == 0)
        snprintf(name, GAS_NAME, "metallicity");
    else if (strncmp(was, "scalar_density_", 15) == 0)
        snprintf(name, GAS_NAME, "scalar_%.30s", was + 15);
    else if (n > 8 && strcmp(was + n - 8, "_density") == 0)
        name[n - 8] = 0;
}

/* Files of RAMSES's write_conservative say so by the names of their variables. The walk over their
 * octs converts them (read.c). */
static void find_conserved(struct source *s, struct ramses *r)
{
    for (int v = 0; v < s->nhydro; v++) r->conserved |= !strcmp(s->field[v].name, "total_energy");
    for (int v = 0; r->conserved && v < s->nhydro; v++) primitive_name(s->field[v].name);
}

static enum err read_hydro_fields(struct ramses *r, const struct amr_head *a)
{
    char path[PATH_MAX];
    struct fort_in f;
    int32_t nvar = 0;
    TRY(ramses_path(r, FILES_HYDRO, 1, path));
    enum err err = fort_open(&f, path);
    if (err == OK) err = ramses_hydro_head(&f, r->s->head.ndim, a, &nvar, &r->s->head.gamma);
    fort_shut(&f);
    TRY(err);
    if (nvar < 1 || nvar > CKPT_FIELDS - GAS_SCALARS)
        FAIL(ERR_FORMAT, "%s: the number of variables is %d, which is not supported", path, nvar);
    r->s->head.hydro = true;
    TRY(info_gas(r->s, path, nvar, &r->old_hydro));
    find_conserved(r->s, r);
    return r->s->foreign ? OK : split_gas(r->s, path);
}

static enum err read_grav_fields(struct ramses *r, const struct amr_head *a)
{
    char path[PATH_MAX];
    struct fort_in f;
    int32_t nvar = 0;
    TRY(ramses_path(r, FILES_GRAV, 1, path));
    enum err err = fort_open(&f, path);
    if (err == OK) err = ramses_grav_head(&f, a, &nvar);
    fort_shut(&f);
    TRY(err);
    struct source *s = r->s;
    const int ndim = s->head.ndim;
    const field_set own = s->foreign ? 0
                                     : fields_written((struct mesh_kind){s->nhydro, 1, false, 0}),
                    rows = fields_of_gravity(nvar, ndim, own);
    if (!rows)
        FAIL(ERR_FORMAT, "%s: the number of variables is %d where %d to %d are expected", path,
             nvar, ndim, ndim + 2);
    s->fields |= rows;
    s->ngrav = nvar;
    s->head.gravity = true;
    return OK;
}

static enum err read_fields(struct ramses *r, const struct amr_head *a)
{
    char exact[PATH_MAX];
    TRY(ramses_path(r, FILES_EXACT, 1, exact));
    r->s->corrected = file_exists(exact);
    r->s->foreign = !r->s->corrected;
    if (ramses_has_file(r, FILES_HYDRO)) TRY(read_hydro_fields(r, a));
    if (ramses_has_file(r, FILES_GRAV)) TRY(read_grav_fields(r, a));
    if (ramses_has_file(r, FILES_RT)) TRY(ramses_read_radiation(r, a));
    return source_add_rows(r->s);
}
