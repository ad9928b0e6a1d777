/* ckpt/info: see info.h. */
#include "ckpt/info.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "ckpt/manifest.h"
#include "io/file.h"

static const size_t TEXT_MAX = (size_t)64 << 20; /* a domain table of a million ranks */

/* ---- places ---- */

enum err info_path(const struct source *s, enum files_kind k, char path[PATH_MAX])
{
    char dir[PATH_MAX];
    TRY(files_path(s->path, k, s->number, 1, path));
    if (!s->group || file_exists(path)) return OK;
    if (snprintf(dir, sizeof dir, "%s/group_00001", s->path) >= (int)sizeof dir)
        FAIL(ERR_FILE, "%.80s…: path too long", s->path);
    return files_path(dir, k, s->number, 1, path);
}

bool info_has(const struct source *s, enum files_kind k)
{
    char path[PATH_MAX];
    return info_path(s, k, path) == OK && file_exists(path);
}

void info_say_lacks(const struct source *s, bool really, const char *name)
{
    if (really) log_line(1, " %s: has no %s", s->path, name);
}

static void say_missing(const struct source *s, bool expected, enum files_kind k)
{
    char name[FILES_NAME];
    files_name(k, s->number, 1, name);
    info_say_lacks(s, expected && !info_has(s, k), name);
}

void info_say_missing(const struct source *s)
{
    say_missing(s, true, FILES_HEADER);
    say_missing(s, true, FILES_NAMELIST);
    say_missing(s, s->head.hydro, FILES_GAS_NAMES);
    say_missing(s, s->by_rank && s->head.particles, FILES_PART_NAMES);
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
    return verify_text(s, FILES_PART_NAMES);
}

/* ---- info ---- */

double info_real(const char *s, char **end)
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
        *x = info_real(eq + 1, &end);
        if (end == eq + 1 || !isfinite(*x))
            FAIL(ERR_FORMAT, "%s: the value of %s is not a number", path, key);
        return OK;
    }
    FAIL(ERR_FORMAT,
         "%s: has no value of %s: the file is damaged or was written by another program", path,
         key);
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
        info_real(end[0], &end[1]);
        info_real(end[1], &end[2]);
        if (number != n + 1 || end[1] == end[0] || end[2] == end[1]) break;
        n++;
        s = end[2];
    }
    return n;
}

static enum err parse_info(struct info *h, const char *path, const char *text)
{
    TRY(info_get_int(path, text, "ncpu", 1, 99999, &h->ncpu));
    TRY(info_get_int(path, text, "ndim", 1, 3, &h->ndim));
    TRY(info_get_int(path, text, "levelmin", 1, 99, &h->levelmin));
    TRY(info_get(path, text, "boxlen", &h->boxlen));
    TRY(info_get(path, text, "unit_l", &h->unit_l));
    TRY(info_get(path, text, "unit_d", &h->unit_d));
    TRY(info_get(path, text, "unit_t", &h->unit_t));
    h->ndomain = count_domains(text);
    return OK;
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

enum err info_gas(struct source *s, const char *path, int nvar, bool *old)
{
    TRY(info_descriptor(s, FILES_GAS_NAMES, s->field, &s->nhydro, old));
    if (s->nhydro == 0) TRY(default_hydro(path, s->field, s->head.ndim, nvar));
    if (s->nhydro && s->nhydro != nvar)
        FAIL(ERR_FORMAT, "%s: has %d variables, but hydro_file_descriptor.txt names %d", path, nvar,
             s->nhydro);
    s->nhydro = s->head.nvar = nvar;
    return OK;
}

void info_metal(struct source *s, int v)
{
    const char *name = gas_scalar_name(SCALAR_METAL);
    for (int k = 0; k < s->nhydro; k++)
        if (strcmp(s->field[k].name, name) == 0) return;
    snprintf(s->field[v].name, sizeof s->field[v].name, "%s", name);
}
