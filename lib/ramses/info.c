/* ramses/info: opening a RAMSES snapshot: its text files, and from the first binary files which
 * variables there are. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "curamses/read.h"
#include "io/file.h"
#include "ramses/priv.h"

static const size_t TEXT_MAX = (size_t)64 << 20; /* a domain table of a million ranks */

static enum err snapshot_open(struct ramses *r);
static enum err find_number(struct ramses *r);
static enum err read_fields(struct ramses *r, const struct amr_head *a);
static enum err read_box(struct ramses *r, struct fort_in *f, struct amr_head *a);
static void say_format(struct ramses *r);

enum err ramses_open(const char *dir, struct ramses **out)
{
    struct ramses *r = mem_zero(sizeof *r, "snapshot");
    size_t n = strlen(dir);
    while (n > 1 && dir[n - 1] == '/') n--;
    enum err err = OK;
    if (n == 0)
        err = err_set(ERR_FILE, "an empty path names no checkpoint");
    else if (n >= sizeof r->dir)
        err = err_set(ERR_FILE, "%.80s…: path too long", dir);
    else
        memcpy(r->dir, dir, n);
    r->coarse[0] = r->coarse[1] = r->coarse[2] = 1;
    if (err == OK) err = hdf5_is(r->dir) ? hdf5_open(r) : snapshot_open(r);
    if (err == OK) err = ramses_read_extras(r);
    if (err == OK) say_format(r);
    if (err != OK) ramses_close(&r);
    *out = r;
    return err;
}

void ramses_close(struct ramses **r)
{
    if (*r) hdf5_close_in(&(*r)->hdf5);
    if (*r) manifest_free(&(*r)->list);
    if (*r) FREE((*r)->out_times);
    if (*r) catalog_free(&(*r)->sinks);
    if (*r) catalog_free(&(*r)->stellar);
    FREE(*r);
}

/* Of what type the boundaries are, the namelist tells. */
static enum err read_boundary_types(struct ramses *r)
{
    char *text;
    size_t bytes;
    if (r->head.boundary.n == 0) return OK;
    TRY(ramses_read_text(r, "namelist", &text, &bytes));
    r->boundary_told = text && boundary_types(&r->head.boundary, text, bytes);
    mem_free(text);
    return OK;
}

static enum err snapshot_open(struct ramses *r)
{
    struct fort_in f = {.fd = -1};
    struct amr_head a = {0};
    char path[PATH_MAX];
    TRY(find_number(r));
    TRY(ramses_verify_texts(r));
    TRY(ramses_read_info(r));
    r->nwriter = r->ncpu;
    TRY(ramses_path(r, "amr", 1, path, sizeof path));
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
    double info = r->head.boxlen; /* of the part along x that one coarse cell takes */
    TRY(ramses_amr_head(f, r, a, true));
    TRY(ramses_find_box(f, r, a));
    double cell = r->head.boxlen / (double)r->coarse[0];
    if (!(fabs(cell - info) <= (f->narrow ? 1e-6 : 1e-12) * fabs(cell)))
        FAIL(ERR_FORMAT, "%s: boxlen is %.15g with %ld coarse cells, in the info file %.15g",
             f->path, r->head.boxlen, (long)r->coarse[0], info);
    return OK;
}

/* ---- places ---- */

enum err ramses_path(const struct ramses *r, const char *kind, int file, char *path, size_t n)
{
    char group[32] = "";
    if (r->group) snprintf(group, sizeof group, "group_%05d/", (file - 1) / r->group + 1);
    int k = snprintf(path, n, "%s/%s%s_%05d.out%05d", r->dir, group, kind, r->number, file);
    if (k < 0 || (size_t)k >= n) FAIL(ERR_FILE, "%.80s…: path too long", r->dir);
    return OK;
}

void ramses_file(const struct ramses *r, const char *kind, int file, char path[PATH_MAX])
{
    if (r->hdf5)
        snprintf(path, PATH_MAX, "%s/data_%05d.h5", r->dir, r->number);
    else if (ramses_path(r, kind, file, path, PATH_MAX) != OK)
        snprintf(path, PATH_MAX, "%s", r->dir);
}

enum err ramses_text_path(const struct ramses *r, const char *name, char *path, size_t n)
{
    for (int group = 0; group < (r->group ? 2 : 1); group++) {
        int k = snprintf(path, n, "%s/%s%s", r->dir, group ? "group_00001/" : "", name);
        if (k < 0 || (size_t)k >= n) FAIL(ERR_FILE, "%.80s…: path too long", r->dir);
        if (file_exists(path)) break;
    }
    return OK;
}

/* What our HDF5 file keeps, a byte a letter. */
static enum err read_own_text(const struct ramses *r, const char *name, char **text, size_t *bytes)
{
    char path[64];
    int64_t n;
    void *letter;
    snprintf(path, sizeof path, "ptah/%s", strcmp(name, "compilation") == 0 ? "provenance" : name);
    TRY(hdf5_read_small(r, path, false, 1 << 20, &n, &letter));
    if (letter) *text = mem_zero((size_t)n + 1, "snapshot");
    for (int64_t i = 0; letter && i < n; i++) (*text)[i] = (char)((const int64_t *)letter)[i];
    /* it was filled up with them */
    while (n > 1 && (*text)[n - 1] == '\n' && (*text)[n - 2] == '\n') (*text)[--n] = 0;
    *bytes = (size_t)n;
    mem_free(letter);
    return OK;
}

enum err ramses_read_text(const struct ramses *r, const char *name, char **text, size_t *bytes)
{
    char path[PATH_MAX], file[64];
    *text = NULL, *bytes = 0;
    if (r->hdf5) TRY(read_own_text(r, name, text, bytes));
    snprintf(file, sizeof file, "%s.txt", name);
    TRY(ramses_text_path(r, file, path, sizeof path));
    return *text || !file_exists(path) ? OK : file_load(path, TEXT_MAX, text, bytes);
}

enum err ramses_verify(const struct ramses *r, const char *kind, int file)
{
    char name[64];
    /* a part is wanted: reading all of the file for its sum would be in vain */
    if (r->pick) return OK;
    snprintf(name, sizeof name, "%s_%05d.out%05d", kind, r->number, file);
    return manifest_check_file(r->list, r->dir, name);
}

enum err ramses_verify_sum(const struct ramses *r, const char *kind, int file, struct fort_in *f)
{
    char name[64];
    uint64_t sum;
    snprintf(name, sizeof name, "%s_%05d.out%05d", kind, r->number, file);
    TRY(fort_sum(f, &sum));
    return manifest_check_sum(r->list, r->dir, name, f->size, sum);
}

static enum err verify_text(const struct ramses *r, const char *name)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s", r->dir, name) >= (int)sizeof path)
        FAIL(ERR_FILE, "%.80s…: path too long", r->dir);
    return file_exists(path) || manifest_has(r->list, name)
               ? manifest_check_file(r->list, r->dir, name)
               : OK;
}

enum err ramses_verify_texts(struct ramses *r)
{
    char name[64];
    TRY(manifest_load(r->dir, r->number, &r->list));
    snprintf(name, sizeof name, "info_%05d.txt", r->number);
    TRY(verify_text(r, name));
    snprintf(name, sizeof name, "header_%05d.txt", r->number);
    TRY(verify_text(r, name));
    TRY(verify_text(r, "hydro_file_descriptor.txt"));
    return verify_text(r, "part_file_descriptor.txt");
}

bool ramses_has_file(const struct ramses *r, const char *kind)
{
    char path[PATH_MAX];
    if (ramses_path(r, kind, 1, path, sizeof path) != OK) return false;
    /* one that is lost is missed */
    return file_exists(path) || manifest_has(r->list, strrchr(path, '/') + 1);
}

/* Files of the directory with this name, of which %5d is a number, the last of them in *number; -1:
 * no directory. */
static int count_names(const char *dir, const char *form, int *number)
{
    DIR *d = opendir(dir);
    int found = 0;
    if (!d) return -1;
    for (struct dirent *e; (e = readdir(d));) {
        int k, end = 0;
        /* NOLINT: forms are below */
        if (sscanf(e->d_name, form, &k, &end) != 1 || !end || e->d_name[end]) continue;
        *number = k;
        found++;
    }
    closedir(d);
    return found;
}

/* The number is that of the info file: the directory may have been renamed. With groups it may be
 * in the first one. */
static enum err find_number(struct ramses *r)
{
    static const char info[] = "info_%5d.txt%n";
    char first[PATH_MAX], form[64];
    int last;
    snprintf(first, sizeof first, "%s/group_00001", r->dir);
    int found = count_names(r->dir, info, &r->number);
    if (found < 0) FAIL(ERR_FILE, "%s: cannot open directory: %s", r->dir, strerror(errno));
    if (found == 0 && count_names(first, info, &r->number) > 0)
        found = count_names(first, info, &r->number);
    if (found != 1)
        FAIL(ERR_FILE, "%s: not a RAMSES snapshot: %d files info_NNNNN.txt instead of one", r->dir,
             found);
    if (ramses_has_file(r, "amr")) return OK;
    snprintf(form, sizeof form, "amr_%05d.out%%5d%%n", r->number);
    int files = count_names(first, form, &last);
    r->group = files > 0 ? files : 0;
    return OK;
}

/* ---- what it is ---- */

static void append(struct ramses *r, bool really, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void append(struct ramses *r, bool really, const char *fmt, ...)
{
    size_t n = strlen(r->format);
    va_list v;
    if (!really) return;
    va_start(v, fmt);
    vsnprintf(r->format + n, sizeof r->format - n, fmt, v);
    va_end(v);
}

static bool has_text(const struct ramses *r, const char *name)
{
    char path[PATH_MAX];
    return ramses_text_path(r, name, path, sizeof path) == OK && file_exists(path);
}

/* What is not there and need not be. */
static void say_missing(const struct ramses *r)
{
    char header[32];
    snprintf(header, sizeof header, "header_%05d.txt", r->number);
    const struct {
        bool missing;
        const char *name;
    } row[] = {
        {!has_text(r, header), header},
        {!has_text(r, "namelist.txt"), "namelist.txt"},
        {r->head.hydro && !has_text(r, "hydro_file_descriptor.txt"), "hydro_file_descriptor.txt"},
        {!r->hdf5 && r->head.particles && !has_text(r, "part_file_descriptor.txt"),
         "part_file_descriptor.txt"},
        {!r->hdf5 && !r->head.hydro, "hydro files"},
        {!r->hdf5 && !r->head.gravity, "grav files"},
        {!r->hdf5 && !r->head.particles, "part files"},
        {!r->hdf5 && !ramses_has_file(r, "exact"), "exact files"}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        if (row[i].missing) log_line(1, " %s: without %s", r->dir, row[i].name);
}

static void say_format(struct ramses *r)
{
    bool id = r->column[COL_ID] >= 0;
    say_missing(r);
    append(r, r->hdf5, "HDF5%s", hdf5_has_state(r) ? "" : " of cuRAMSES");
    if (r->hdf5) return;
    append(r, true, "RAMSES binary");
    append(r, r->swap, ", big-endian");
    append(r, r->narrow, ", single precision");
    append(r, r->group, ", groups of %d file%s", r->group, r->group > 1 ? "s" : "");
    append(r, r->wide_keys, ", 16-byte keys");
    append(r, r->wide_counts, ", 8-byte counts");
    append(r, id && r->head.particles && r->part[r->column[COL_ID]].type == 'q', ", 8-byte ids");
    append(r, r->old_hydro, ", old hydro descriptor");
    append(r, r->made_family, ", particles without families");
    append(r, r->head.gravity && r->ngrav == r->head.ndim, ", gravity without potential");
    append(r, r->no_mass_sph, ", header of before 2010");
}

/* ---- info ---- */

double ramses_real(const char *s, char **end)
{
    char text[64];
    double x = strtod(s, end);
    size_t n = (size_t)(*end - s);
    if ((**end != '+' && **end != '-') || n == 0 || n > 40 || !isdigit((unsigned char)(*end)[1]))
        return x;
    long exponent = strtol(*end, end, 10);
    snprintf(text, sizeof text, "%.*sE%ld", (int)n, s, exponent);
    return strtod(text, NULL);
}

static enum err info_get(const char *path, const char *text, const char *key, double *x)
{
    size_t n = strlen(key);
    for (const char *s = text; s; s = strchr(s, '\n')) {
        s += strspn(s, " \n");
        if (strncmp(s, key, n) != 0) continue;
        const char *eq = s + n + strspn(s + n, " ");
        char *end;
        if (*eq != '=') continue;
        *x = ramses_real(eq + 1, &end);
        if (end == eq + 1 || !isfinite(*x))
            FAIL(ERR_FORMAT, "%s: the value of %s is not a number", path, key);
        return OK;
    }
    FAIL(ERR_FORMAT, "%s: has no line for %s", path, key);
}

static enum err info_get_int(const char *path, const char *text, const char *key, int lo, int hi,
                             int *x)
{
    double v;
    TRY(info_get(path, text, key, &v));
    if (!(v >= lo && v <= hi) || v != floor(v))
        FAIL(ERR_FORMAT, "%s: %s is %g, expected a whole number from %d to %d", path, key, v, lo,
             hi);
    *x = (int)v;
    return OK;
}

/* Rows "number least-key greatest-key" below the line DOMAIN. */
static int count_domains(const char *text)
{
    const char *s = strstr(text, "DOMAIN");
    int n = 0;
    for (s = s ? strchr(s, '\n') : NULL; s; s = strchr(s, '\n')) {
        char *end[3];
        long number = strtol(s, &end[0], 10);
        ramses_real(end[0], &end[1]);
        ramses_real(end[1], &end[2]);
        if (number != n + 1 || end[1] == end[0] || end[2] == end[1]) break;
        n++;
        s = end[2];
    }
    return n;
}

static enum err parse_info(struct ramses *r, const char *path, const char *text)
{
    struct ckpt_head *h = &r->head;
    TRY(info_get_int(path, text, "ncpu", 1, 99999, &r->ncpu));
    TRY(info_get_int(path, text, "ndim", 1, 3, &h->ndim));
    TRY(info_get_int(path, text, "levelmin", 1, 99, &h->levelmin));
    TRY(info_get(path, text, "boxlen", &h->boxlen));
    TRY(info_get(path, text, "unit_l", &h->unit_l));
    TRY(info_get(path, text, "unit_d", &h->unit_d));
    TRY(info_get(path, text, "unit_t", &h->unit_t));
    r->ndomain = count_domains(text);
    return OK;
}

enum err ramses_read_info(struct ramses *r)
{
    char path[PATH_MAX], *text;
    size_t n;
    char name[32];
    snprintf(name, sizeof name, "info_%05d.txt", r->number);
    TRY(ramses_text_path(r, name, path, sizeof path));
    TRY(file_load(path, TEXT_MAX, &text, &n));
    enum err err = parse_info(r, path, text);
    mem_free(text);
    return err;
}

/* ---- descriptors ---- */

enum err ramses_add_field(const char *path, struct ckpt_field *list, int *n, const char *name,
                          char type)
{
    if (*n == CKPT_FIELDS) FAIL(ERR_LIMIT, "%s: more than %d variables", path, CKPT_FIELDS);
    size_t k = strlen(name);
    if (k == 0 || k >= sizeof list->name ||
        strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-.") != k)
        FAIL(ERR_FORMAT, "%s: variable %d has a strange name", path, *n + 1);
    if (!strchr("dfiqhb?", type))
        FAIL(ERR_FORMAT, "%s: variable %s has an unknown type '%c'", path, name, type);
    memcpy(list[*n].name, name, k + 1);
    list[(*n)++].type = type == '?' ? 'i' : type;
    return OK;
}

/* Both forms: " 1, density, d" and, before 2017, "variable # 1: density". */
static enum err parse_descriptor(const char *path, char *text, struct ckpt_field *list, int *n,
                                 bool *old)
{
    *n = 0;
    char *save = NULL;
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        char name[64], type = 'd';
        int number;
        *old = sscanf(line, " variable #%d: %63s", &number, name) == 2;
        if (*old || sscanf(line, " %d, %63[^, ] , %c", &number, name, &type) == 3)
            TRY(ramses_add_field(path, list, n, name, type));
    }
    if (*n == 0) FAIL(ERR_FORMAT, "%s: names no variable", path);
    return OK;
}

/* *n = 0 if there is no such file. */
enum err ramses_read_descriptor(const struct ramses *r, const char *kind, struct ckpt_field *list,
                                int *n, bool *old)
{
    char path[PATH_MAX], *text;
    char name[64];
    size_t size;
    *n = 0, *old = false;
    snprintf(name, sizeof name, "%s_file_descriptor.txt", kind);
    TRY(ramses_text_path(r, name, path, sizeof path));
    if (!file_exists(path)) return OK;
    TRY(file_load(path, TEXT_MAX, &text, &size));
    enum err err = parse_descriptor(path, text, list, n, old);
    mem_free(text);
    return err;
}

static enum err default_hydro(const char *path, struct ckpt_field *list, int ndim, int nvar)
{
    static const char *const first[] = {"density", "velocity_x", "velocity_y", "velocity_z"};
    for (int i = 0, n = 0; i < nvar; i++) {
        char name[64];
        snprintf(name, sizeof name, "scalar_%02d", i - ndim - 2);
        TRY(ramses_add_field(path, list, &n,
                             i <= ndim       ? first[i]
                             : i == ndim + 1 ? "pressure"
                                             : name,
                             'd'));
    }
    return OK;
}

enum err ramses_hydro_names(struct ramses *r, const char *path, int nvar)
{
    TRY(ramses_read_descriptor(r, "hydro", r->field, &r->nhydro, &r->old_hydro));
    if (r->nhydro == 0) TRY(default_hydro(path, r->field, r->head.ndim, nvar));
    if (r->nhydro && r->nhydro != nvar)
        FAIL(ERR_FORMAT, "%s: has %d variables, but hydro_file_descriptor.txt names %d", path, nvar,
             r->nhydro);
    r->nhydro = r->head.nvar = nvar;
    for (int i = 0; i < nvar; i++)
        if (strcmp(r->field[i].name, "metallicity") == 0) r->head.imetal = i + 1;
    return OK;
}

static enum err read_hydro_fields(struct ramses *r, const struct amr_head *a)
{
    char path[PATH_MAX];
    struct fort_in f;
    int32_t nvar = 0;
    TRY(ramses_path(r, "hydro", 1, path, sizeof path));
    enum err err = fort_open(&f, path);
    if (err == OK) err = ramses_hydro_head(&f, r->head.ndim, a, &nvar, &r->head.gamma);
    fort_shut(&f);
    TRY(err);
    if (nvar < 1 || nvar > CKPT_FIELDS - 5)
        FAIL(ERR_FORMAT, "%s: says it has %d variables", path, nvar);
    r->head.hydro = true;
    return ramses_hydro_names(r, path, nvar);
}

static enum err read_grav_fields(struct ramses *r, const struct amr_head *a)
{
    static const char *const name[] = {"rho_poisson", "phi", "acc_x", "acc_y", "acc_z"};
    char path[PATH_MAX];
    struct fort_in f;
    int32_t nvar = 0;
    TRY(ramses_path(r, "grav", 1, path, sizeof path));
    enum err err = fort_open(&f, path);
    if (err == OK) err = ramses_grav_head(&f, a, &nvar);
    fort_shut(&f);
    TRY(err);
    int ndim = r->head.ndim, n = r->nhydro;
    if (nvar < ndim || nvar > ndim + 2)
        FAIL(ERR_FORMAT, "%s: says it has %d variables, expected %d to %d", path, nvar, ndim,
             ndim + 2);
    for (int i = ndim + 2 - nvar; i < ndim + 2; i++)
        TRY(ramses_add_field(path, r->field, &n, name[i], 'd'));
    r->ngrav = nvar;
    r->head.gravity = true;
    return OK;
}

static enum err read_fields(struct ramses *r, const struct amr_head *a)
{
    if (ramses_has_file(r, "hydro")) TRY(read_hydro_fields(r, a));
    if (ramses_has_file(r, "grav")) TRY(read_grav_fields(r, a));
    return OK;
}
