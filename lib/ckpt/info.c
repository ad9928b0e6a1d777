#include "ckpt/info.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "ckpt/manifest.h"
#include "io/file.h"

static const size_t TEXT_MAX = (size_t)64 << 20; /* bytes, a domain table of a million ranks */

/* ---- paths ---- */

enum err info_path(const struct source *s, enum files_kind k, char path[PATH_MAX])
{
    char dir[PATH_MAX];
    TRY(files_path(s->path, k, s->number, 1, path));
    if (!s->group || file_exists(path)) return OK;
    if (snprintf(dir, sizeof dir, "%s/group_00001", s->path) >= (int)sizeof dir)
        FAIL(ERR_FILE, "%.80s…: the path is too long", s->path);
    return files_path(dir, k, s->number, 1, path);
}

bool info_has(const struct source *s, enum files_kind k)
{
    char path[PATH_MAX];
    return info_path(s, k, path) == OK && file_exists(path);
}

void info_log_lacks(const struct source *s, bool really, const char *name)
{
    if (really) log_line(1, " %s: has no %s", s->path, name);
}

static void log_missing(const struct source *s, bool expected, enum files_kind k)
{
    char name[FILES_NAME];
    files_name(k, s->number, 1, name);
    info_log_lacks(s, expected && !info_has(s, k), name);
}

void info_log_missing(const struct source *s)
{
    log_missing(s, true, FILES_HEADER);
    log_missing(s, true, FILES_NAMELIST);
    log_missing(s, s->head.hydro, FILES_GAS_NAMES);
    log_missing(s, s->by_rank && s->head.particles, FILES_PART_NAMES);
}

enum err info_text(const struct source *s, enum files_kind k, char **text, size_t *bytes)
{
    char path[PATH_MAX];
    *text = NULL, *bytes = 0;
    TRY(info_path(s, k, path));
    return !file_exists(path) ? OK : file_load(path, TEXT_MAX, text, bytes);
}

static enum err verify_text(const struct source *s, enum files_kind k)
{
    char path[PATH_MAX], name[FILES_NAME];
    TRY(files_path(s->path, k, s->number, 1, path));
    files_name(k, s->number, 1, name);
    return file_exists(path) || manifest_has(s->list, name)
               ? manifest_check_file(s->list, s->path, name)
               : OK;
}

enum err info_verify(struct source *s)
{
    TRY(manifest_load(s->path, s->number, &s->list));
    TRY(verify_text(s, FILES_INFO));
    TRY(verify_text(s, FILES_HEADER));
    TRY(verify_text(s, FILES_GAS_NAMES));
    TRY(verify_text(s, FILES_RT_INFO));
    return verify_text(s, FILES_PART_NAMES);
}

/* ---- info ---- */

static const double NONE = -DBL_MAX, ANY = DBL_MAX, TINY = DBL_TRUE_MIN;

/* Entries of an info file, by enum info_key. */
static const struct row {
    const char *key;
    double min, max;
    bool whole, needed;
} ROW[INFO_KEYS] = {
    [INFO_NCPU] = {"ncpu", 1, 99999, true, true},
    [INFO_NDIM] = {"ndim", 1, 3, true, true},
    [INFO_LEVELMIN] = {"levelmin", 1, 99, true, true},
    [INFO_LEVELMAX] = {"levelmax", 1, 99, true, false},
    [INFO_STEP] = {"nstep_coarse", 0, INT32_MAX, true, false},
    [INFO_BOXLEN] = {"boxlen", TINY, ANY, false, true},
    [INFO_TIME] = {"time", NONE, ANY, false, false},
    [INFO_AEXP] = {"aexp", TINY, ANY, false, false},
    [INFO_H0] = {"H0", NONE, ANY, false, false},
    [INFO_OMEGA_M] = {"omega_m", NONE, ANY, false, false},
    [INFO_OMEGA_L] = {"omega_l", NONE, ANY, false, false},
    [INFO_OMEGA_K] = {"omega_k", NONE, ANY, false, false},
    [INFO_OMEGA_B] = {"omega_b", NONE, ANY, false, false},
    [INFO_UNIT_L] = {"unit_l", TINY, ANY, false, true},
    [INFO_UNIT_D] = {"unit_d", TINY, ANY, false, true},
    [INFO_UNIT_T] = {"unit_t", TINY, ANY, false, true},
};

const char *info_key(enum info_key k)
{
    return ROW[k].key;
}

/* The number of the line that contains this position, from 1. */
static int info_line(const char *text, const char *at)
{
    int n = 1;
    for (; text < at; text++) n += *text == '\n';
    return n;
}

/* Start of the value of a key; NULL if absent. */
static const char *find_value(const char *text, const char *key)
{
    size_t n = strlen(key);
    for (const char *s = text; s; s = strchr(s, '\n')) {
        s += strspn(s, " \n");
        if (strncmp(s, key, n) != 0) continue;
        const char *eq = s + n + strspn(s + n, " ");
        if (*eq == '=') return eq + 1;
    }
    return NULL;
}

static enum err check_range(const char *path, int line, const struct row *r, double x)
{
    char range[64] = "a number above 0";
    if (x >= r->min && x <= r->max && (!r->whole || x == floor(x))) return OK;
    if (r->whole) snprintf(range, sizeof range, "a whole number from %.0f to %.0f", r->min, r->max);
    FAIL(ERR_FORMAT, "%s: line %d: %s is %g, expected %s", path, line, r->key, x, range);
}

static enum err get_value(const char *path, const char *text, const struct row *r, double *x)
{
    const char *at = find_value(text, r->key), *s = at;
    *x = NAN;
    if (!at && !r->needed) return OK;
    if (!at)
        FAIL(ERR_FORMAT,
             "%s: has no value of %s: the file is damaged or was written by another program", path,
             r->key);
    int line = info_line(text, at);
    if (!text_real(&s, x) || !text_line_ends(s) || !isfinite(*x)) {
        at += strspn(at, " \t");
        int n = (int)strcspn(at, "\r\n");
        FAIL(ERR_FORMAT, "%s: line %d: the value of %s, '%.*s', is not a number", path, line,
             r->key, n < 30 ? n : 30, at);
    }
    return check_range(path, line, r, *x);
}

/* Counts the rows "number least-key greatest-key" below the line DOMAIN. */
static enum err count_domains(const char *path, const char *text, int *n)
{
    const char *s = strstr(text, "DOMAIN");
    *n = 0;
    for (s = s ? strchr(s, '\n') : NULL; s && *++s; s = strchr(s, '\n')) {
        const char *at = s;
        int64_t number;
        double key[2];
        if (!strchr("0123456789", at[strspn(at, " \t")])) break;
        if (!text_whole(&at, &number) || number != *n + 1 || !text_real(&at, &key[0]) ||
            !text_real(&at, &key[1]) || !text_line_ends(at))
            FAIL(ERR_FORMAT,
                 "%s: line %d: expected the number of a domain, %d, and its two keys: the file is "
                 "damaged",
                 path, info_line(text, s), *n + 1);
        (*n)++;
    }
    return OK;
}

static enum err parse_info(struct info *h, const char *path, const char *text)
{
    for (int k = 0; k < INFO_KEYS; k++) TRY(get_value(path, text, &ROW[k], &h->value[k]));
    return count_domains(path, text, &h->ndomain);
}

enum err info_read(const struct source *s, struct info *info)
{
    char path[PATH_MAX], *text;
    size_t n;
    TRY(info_path(s, FILES_INFO, path));
    TRY(file_load(path, TEXT_MAX, &text, &n));
    enum err err = parse_info(info, path, text);
    mem_free(text);
    return err;
}

/* ---- descriptors ---- */

/* Parses a row in either form: " 1, density, d" or, before 2017, "variable # 1: density". Returns
 * false if the line is no row. */
static bool parse_row(const char *s, int64_t *number, char name[64], char *type, bool *old)
{
    static const char before[] = "variable #";
    char digits[24];
    s += strspn(s, " \t");
    *old = strncmp(s, before, sizeof before - 1) == 0;
    if (*old) s += sizeof before - 1;
    size_t n = strcspn(s, *old ? ":" : ",");
    if (!s[n] || n >= sizeof digits) return false;
    snprintf(digits, sizeof digits, "%.*s", (int)n, s);
    const char *d = digits;
    if (!text_whole(&d, number) || !text_line_ends(d)) return false;
    *type = 'd';
    return *old ? sscanf(s + n + 1, "%63s", name) == 1
                : sscanf(s + n + 1, " %63[^, ] , %c", name, type) == 2;
}

/* Parses a descriptor: lines except blanks, comments and the number of variables are rows. */
static enum err parse_descriptor(const char *path, char *text, struct ckpt_field *list, int *n,
                                 bool *old)
{
    int line = 0;
    *n = 0;
    for (char *s = text, *next; s; s = next) {
        char name[64], type;
        int64_t number = 0;
        line++;
        next = strchr(s, '\n');
        if (next) *next++ = 0;
        char *first = s + strspn(s, " \t\r");
        if (!*first || *first == '#' || strncmp(first, "nvar", 4) == 0) continue;
        if (!parse_row(first, &number, name, &type, old) || number != *n + 1)
            FAIL(ERR_FORMAT,
                 "%s: line %d: expected the number %d and the name of a variable: the file is "
                 "damaged or was written by another program",
                 path, line, *n + 1);
        TRY(source_add_field(path, list, n, name, type));
    }
    if (*n == 0)
        FAIL(ERR_FORMAT,
             "%s: names no variable: the file is damaged or was written by another program", path);
    return OK;
}

enum err info_descriptor(const struct source *s, enum files_kind k, struct ckpt_field *list, int *n,
                         bool *old)
{
    char path[PATH_MAX], *text;
    size_t size;
    *n = 0, *old = false;
    TRY(info_path(s, k, path));
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
        TRY(source_add_field(path, list, &n,
                             i <= ndim       ? first[i]
                             : i == ndim + 1 ? "pressure"
                                             : name,
                             'd'));
    }
    return OK;
}

/* Counts non-thermal pressures. */
static enum err count_energies(struct source *s, const char *path)
{
    const double usual = 1.33333333334; /* RAMSES's gamma_rad, where the files have none */
    struct gas_energies *e = &s->head.energy;
    for (int v = 0; v < s->nhydro; v++) {
        if (!gas_name_energy(s->field[v].name)) continue;
        if (e->n == GAS_ENERGIES)
            FAIL(ERR_LIMIT, "%s: has more than %d non-thermal pressures, the limit of this program",
                 path, GAS_ENERGIES);
        e->gamma[e->n++] = usual;
    }
    s->energy_untold = e->n > 0;
    return OK;
}

enum err info_gas(struct source *s, const char *path, int nvar, bool *old)
{
    TRY(info_descriptor(s, FILES_GAS_NAMES, s->field, &s->nhydro, old));
    if (s->nhydro == 0) TRY(default_hydro(path, s->field, s->head.ndim, nvar));
    if (s->nhydro && s->nhydro != nvar)
        FAIL(ERR_FORMAT, "%s: has %d variables, but hydro_file_descriptor.txt names %d", path, nvar,
             s->nhydro);
    s->nhydro = s->head.nvar = nvar;
    return count_energies(s, path);
}

enum err info_order(struct source *s, const char *path, int all)
{
    struct ckpt_field was[CKPT_FIELDS];
    memcpy(was, s->field, sizeof was);
    s->ordered = true;
    const struct gas_order order = source_order(s);
    bool good = s->nhydro >= 0;
    for (int v = 0; v < all && good; v++) {
        const int at = fields_column(s->fields, order, v);
        s->field[v] = was[at < all ? at : v];
        char name[FIELD_NAME] = "";
        if (v >= s->nhydro) field_name(field_stored(s->fields, s->nhydro, v, s->head.ndim), name);
        good = v < s->nhydro ? !field_beside_gas(s->field[v].name)
                             : strcmp(s->field[v].name, name) == 0;
    }
    if (good) return OK;
    FAIL(ERR_FORMAT,
         "%s: hydro_file_descriptor.txt names only a part of a field, or in another order: it is "
         "damaged",
         path);
}

void info_metal(struct source *s, int v)
{
    const char *name = gas_scalar_name(SCALAR_METAL);
    for (int k = 0; k < s->nhydro; k++)
        if (strcmp(s->field[k].name, name) == 0) return;
    snprintf(s->field[v].name, sizeof s->field[v].name, "%s", name);
}
