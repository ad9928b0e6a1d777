/* ckpt/ramses_info: opening a RAMSES snapshot: its text files, and from the first binary files which variables there are
 * (spec: ramses_binary §2, 6, 7, 8, 12). */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ckpt/hdf5_read.h"
#include "ckpt/ramses_priv.h"
#include "io/file.h"

static const size_t TEXT_MAX = (size_t)64 << 20; /* a domain table of a million ranks */
static const char *const COLUMN[COL_COUNT] = {"position_x", "position_y", "position_z", "velocity_x", "velocity_y",
                                              "velocity_z", "mass",       "identity",   "levelp",     "family",
                                              "tag",        "birth_time", "metallicity"};

static enum err snapshot_open(struct ramses *r);
static enum err find_number(struct ramses *r);
static enum err read_fields(struct ramses *r, const struct amr_head *a);
static enum err read_columns(struct ramses *r);

enum err ramses_open(const char *dir, struct ramses **out)
{
    struct ramses *r = mem_zero(sizeof *r, "snapshot");
    size_t n = strlen(dir);
    while (n > 1 && dir[n - 1] == '/') n--;
    enum err err = OK;
    if (n >= sizeof r->dir)
        err = err_set(ERR_FILE, "%.80s…: path too long", dir);
    else
        memcpy(r->dir, dir, n);
    if (err == OK) err = hdf5_is(r->dir) ? hdf5_open(r) : snapshot_open(r);
    if (err != OK) ramses_close(&r);
    *out = r;
    return err;
}

void ramses_close(struct ramses **r)
{
    if (*r) hdf5_close_in(&(*r)->hdf5);
    if (*r) FREE((*r)->out_times);
    FREE(*r);
}

static enum err snapshot_open(struct ramses *r)
{
    struct fort_in f = {.fd = -1};
    struct amr_head a = {0};
    char path[PATH_MAX];
    TRY(find_number(r));
    TRY(ramses_read_info(r));
    r->nwriter = r->ncpu;
    TRY(ramses_path(r, "amr", 1, path, sizeof path));
    enum err err = fort_open(&f, path);
    if (err == OK) err = ramses_amr_head(&f, r, &a, true);
    fort_shut(&f);
    if (err == OK) err = read_fields(r, &a);
    if (err == OK) err = read_columns(r);
    ramses_amr_head_free(&a);
    return err;
}

enum err ramses_path(const struct ramses *r, const char *kind, int file, char *path, size_t n)
{
    int k = snprintf(path, n, "%s/%s_%05d.out%05d", r->dir, kind, r->number, file);
    if (k < 0 || (size_t)k >= n) FAIL(ERR_FILE, "%.80s…: path too long", r->dir);
    return OK;
}

static bool has_file(const struct ramses *r, const char *kind)
{
    char path[PATH_MAX];
    return ramses_path(r, kind, 1, path, sizeof path) == OK && file_exists(path);
}

/* The number is that of the info file: the directory may have been renamed. */
static enum err find_number(struct ramses *r)
{
    DIR *d = opendir(r->dir);
    if (!d) FAIL(ERR_FILE, "%s: cannot open directory: %s", r->dir, strerror(errno));
    int found = 0;
    for (struct dirent *e; (e = readdir(d));) {
        int number, end = 0;
        if (sscanf(e->d_name, "info_%5d.txt%n", &number, &end) != 1 || !end || e->d_name[end]) continue;
        r->number = number;
        found++;
    }
    closedir(d);
    if (found != 1) FAIL(ERR_FILE, "%s: not a RAMSES snapshot: %d files info_NNNNN.txt instead of one", r->dir, found);
    return OK;
}

/* ---- info ---- */

static enum err info_get(const char *path, const char *text, const char *key, double *x)
{
    size_t n = strlen(key);
    for (const char *s = text; s; s = strchr(s, '\n')) {
        s += strspn(s, " \n");
        if (strncmp(s, key, n) != 0) continue;
        const char *eq = s + n + strspn(s + n, " ");
        char *end;
        if (*eq != '=') continue;
        *x = strtod(eq + 1, &end);
        if (end == eq + 1 || !isfinite(*x)) FAIL(ERR_FORMAT, "%s: the value of %s is not a number", path, key);
        return OK;
    }
    FAIL(ERR_FORMAT, "%s: has no line for %s", path, key);
}

static enum err info_get_int(const char *path, const char *text, const char *key, int lo, int hi, int *x)
{
    double v;
    TRY(info_get(path, text, key, &v));
    if (!(v >= lo && v <= hi) || v != floor(v))
        FAIL(ERR_FORMAT, "%s: %s is %g, expected a whole number from %d to %d", path, key, v, lo, hi);
    *x = (int)v;
    return OK;
}

static enum err parse_info(struct ramses *r, const char *path, const char *text)
{
    struct ckpt_head *h = &r->head;
    TRY(info_get_int(path, text, "ncpu", 1, 99999, &r->ncpu));
    TRY(info_get_int(path, text, "ndim", 1, 3, &h->ndim));
    if (h->ndim != 3) FAIL(ERR_LIMIT, "%s: has %d dimensions; only 3 are supported", path, h->ndim);
    TRY(info_get_int(path, text, "levelmin", 1, 99, &h->levelmin));
    TRY(info_get(path, text, "boxlen", &h->boxlen));
    TRY(info_get(path, text, "unit_l", &h->unit_l));
    TRY(info_get(path, text, "unit_d", &h->unit_d));
    return info_get(path, text, "unit_t", &h->unit_t);
}

enum err ramses_read_info(struct ramses *r)
{
    char path[PATH_MAX], *text;
    size_t n;
    snprintf(path, sizeof path, "%s/info_%05d.txt", r->dir, r->number);
    TRY(file_load(path, TEXT_MAX, &text, &n));
    enum err err = parse_info(r, path, text);
    mem_free(text);
    return err;
}

/* ---- descriptors ---- */

static enum err add_field(const char *path, struct ramses_field *list, int *n, const char *name, char type)
{
    if (*n == RAMSES_FIELDS) FAIL(ERR_LIMIT, "%s: more than %d variables", path, RAMSES_FIELDS);
    size_t k = strlen(name);
    if (k == 0 || k >= sizeof list->name ||
        strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-.") != k)
        FAIL(ERR_FORMAT, "%s: variable %d has a strange name", path, *n + 1);
    if (!strchr("dfiqhb?", type)) FAIL(ERR_FORMAT, "%s: variable %s has an unknown type '%c'", path, name, type);
    memcpy(list[*n].name, name, k + 1);
    list[(*n)++].type = type == '?' ? 'i' : type;
    return OK;
}

/* Both forms: " 1, density, d" and, before 2017, "variable # 1: density". */
static enum err parse_descriptor(const char *path, char *text, struct ramses_field *list, int *n)
{
    *n = 0;
    char *save = NULL;
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        char name[64], type = 'd';
        int number;
        if (sscanf(line, " variable #%d: %63s", &number, name) == 2 ||
            sscanf(line, " %d, %63[^, ] , %c", &number, name, &type) == 3)
            TRY(add_field(path, list, n, name, type));
    }
    if (*n == 0) FAIL(ERR_FORMAT, "%s: names no variable", path);
    return OK;
}

/* *n = 0 if there is no such file. */
static enum err read_descriptor(const struct ramses *r, const char *kind, struct ramses_field *list, int *n)
{
    char path[PATH_MAX], *text;
    size_t size;
    *n = 0;
    snprintf(path, sizeof path, "%s/%s_file_descriptor.txt", r->dir, kind);
    if (!file_exists(path)) return OK;
    TRY(file_load(path, TEXT_MAX, &text, &size));
    enum err err = parse_descriptor(path, text, list, n);
    mem_free(text);
    return err;
}

static enum err default_hydro(const char *path, struct ramses_field *list, int nvar)
{
    static const char *const first[] = {"density", "velocity_x", "velocity_y", "velocity_z", "pressure"};
    for (int i = 0, n = 0; i < nvar; i++) {
        char name[64];
        snprintf(name, sizeof name, "scalar_%02d", i - 5);
        TRY(add_field(path, list, &n, i < 5 ? first[i] : name, 'd'));
    }
    return OK;
}

enum err ramses_hydro_names(struct ramses *r, const char *path, int nvar)
{
    TRY(read_descriptor(r, "hydro", r->field, &r->nhydro));
    if (r->nhydro == 0) TRY(default_hydro(path, r->field, nvar));
    if (r->nhydro && r->nhydro != nvar)
        FAIL(ERR_FORMAT, "%s: has %d variables, but hydro_file_descriptor.txt names %d", path, nvar, r->nhydro);
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
    if (err == OK) err = ramses_hydro_head(&f, a, &nvar, &r->head.gamma);
    fort_shut(&f);
    TRY(err);
    if (nvar < 1 || nvar > RAMSES_FIELDS - 5) FAIL(ERR_FORMAT, "%s: says it has %d variables", path, nvar);
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
    if (nvar < 3 || nvar > 5) FAIL(ERR_FORMAT, "%s: says it has %d variables, expected 3 to 5", path, nvar);
    int n = r->nhydro;
    for (int i = 5 - nvar; i < 5; i++) TRY(add_field(path, r->field, &n, name[i], 'd'));
    r->ngrav = nvar;
    r->head.gravity = true;
    return OK;
}

static enum err read_fields(struct ramses *r, const struct amr_head *a)
{
    if (has_file(r, "hydro")) TRY(read_hydro_fields(r, a));
    if (has_file(r, "grav")) TRY(read_grav_fields(r, a));
    return OK;
}

/* The words after "level" in the header file's line of particle fields, in the names of the descriptor. */
static enum err optional_columns(struct ramses *r, struct ramses_field *list, int *n)
{
    static const char *const word[3] = {"phi", "tform", "metal"};
    static const char *const name[3] = {"potential", "birth_time", "metallicity"};
    char path[PATH_MAX], *text, *save = NULL;
    size_t size;
    *n = 0;
    snprintf(path, sizeof path, "%s/header_%05d.txt", r->dir, r->number);
    if (!file_exists(path)) return OK;
    TRY(file_load(path, TEXT_MAX, &text, &size));
    char *line = strstr(text, "pos vel mass iord level");
    enum err err = OK;
    if (line) line[strcspn(line, "\n")] = 0;
    char *w = line ? strtok_r(line, " ", &save) : NULL;
    for (int i = 0; err == OK && w; w = strtok_r(NULL, " ", &save), i++) {
        for (int k = 0; k < 3; k++)
            if (i >= 5 && strcmp(w, word[k]) == 0) w = (char *)(uintptr_t)name[k];
        if (i >= 5) err = add_field(path, list, n, w, 'd');
    }
    mem_free(text);
    return err;
}

/* Files from before the descriptor: the optional records are known by counting, their names from the header file. */
static enum err default_columns(struct ramses *r, const char *path, struct fort_in *f, int32_t npart)
{
    struct ramses_field more[RAMSES_FIELDS];
    int n = 0, nmore;
    for (int i = 0; i <= COL_LEVEL; i++) {
        struct fort_rec rec;
        TRY(fort_next(f, COLUMN[i], &rec));
        bool wide = npart > 0 && rec.bytes == 8 * (int64_t)npart;
        TRY(add_field(path, r->part, &n, COLUMN[i], i < COL_ID ? 'd' : i == COL_ID && wide ? 'q' : 'i'));
    }
    TRY(optional_columns(r, more, &nmore));
    for (int i = 0; f->at < f->size; i++) {
        char name[32];
        snprintf(name, sizeof name, "extra_%02d", i - nmore);
        TRY(fort_skip(f, name, 1));
        TRY(add_field(path, r->part, &n, i < nmore ? more[i].name : name, 'd'));
    }
    r->npart_field = n;
    return OK;
}

static enum err count_columns(struct ramses *r)
{
    char path[PATH_MAX];
    struct fort_in f;
    int32_t npart;
    TRY(ramses_path(r, "part", 1, path, sizeof path));
    enum err err = fort_open(&f, path);
    if (err == OK) err = ramses_part_head(&f, r->ncpu, &npart);
    if (err == OK) err = default_columns(r, path, &f, npart);
    fort_shut(&f);
    return err;
}

static enum err read_columns(struct ramses *r)
{
    for (int c = 0; c < COL_COUNT; c++) r->column[c] = -1;
    if (!has_file(r, "part")) return OK;
    TRY(read_descriptor(r, "part", r->part, &r->npart_field));
    if (r->npart_field == 0) TRY(count_columns(r));
    for (int i = 0; i < r->npart_field; i++)
        for (int c = 0; c < COL_COUNT; c++) {
            bool real = strchr("df", r->part[i].type) != NULL, want = c < COL_ID || c >= COL_BIRTH;
            if (strcmp(r->part[i].name, COLUMN[c]) != 0) continue;
            if (real != want)
                FAIL(ERR_FORMAT, "%s/part_file_descriptor.txt: %s has type '%c'", r->dir, COLUMN[c], r->part[i].type);
            r->column[c] = i;
        }
    for (int c = 0; c <= COL_ID; c++)
        if (r->column[c] < 0) FAIL(ERR_FORMAT, "%s/part_file_descriptor.txt: lacks %s", r->dir, COLUMN[c]);
    r->head.particles = true;
    r->head.stars = r->column[COL_BIRTH] >= 0;
    r->head.metal = r->column[COL_METAL] >= 0;
    return OK;
}
