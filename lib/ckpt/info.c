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

enum err info_path(const struct source *s, const char *name, char *path, size_t n)
{
    for (int group = 0; group < (s->group ? 2 : 1); group++) {
        int k = snprintf(path, n, "%s/%s%s", s->path, group ? "group_00001/" : "", name);
        if (k < 0 || (size_t)k >= n) FAIL(ERR_FILE, "%.80s…: path too long", s->path);
        if (file_exists(path)) break;
    }
    return OK;
}

bool info_has(const struct source *s, const char *name)
{
    char path[PATH_MAX];
    return info_path(s, name, path, sizeof path) == OK && file_exists(path);
}

void info_say_lacks(const struct source *s, bool really, const char *name)
{
    if (really) log_line(1, " %s: has no %s", s->path, name);
}

void info_say_missing(const struct source *s)
{
    static const char gas[] = "hydro_file_descriptor.txt", part[] = "part_file_descriptor.txt";
    char header[32];
    snprintf(header, sizeof header, "header_%05d.txt", s->number);
    info_say_lacks(s, !info_has(s, header), header);
    info_say_lacks(s, !info_has(s, "namelist.txt"), "namelist.txt");
    info_say_lacks(s, s->head.hydro && !info_has(s, gas), gas);
    info_say_lacks(s, s->by_rank && s->head.particles && !info_has(s, part), part);
}

enum err info_text(const struct source *s, const char *name, char **text, size_t *bytes)
{
    char path[PATH_MAX], file[64];
    *text = NULL, *bytes = 0;
    snprintf(file, sizeof file, "%s.txt", name);
    TRY(info_path(s, file, path, sizeof path));
    return !file_exists(path) ? OK : file_load(path, TEXT_MAX, text, bytes);
}

static enum err verify_text(const struct source *s, const char *name)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s", s->path, name) >= (int)sizeof path)
        FAIL(ERR_FILE, "%.80s…: path too long", s->path);
    return file_exists(path) || manifest_has(s->list, name)
               ? manifest_check_file(s->list, s->path, name)
               : OK;
}

enum err info_verify(struct source *s)
{
    char name[64];
    TRY(manifest_load(s->path, s->number, &s->list));
    snprintf(name, sizeof name, "info_%05d.txt", s->number);
    TRY(verify_text(s, name));
    snprintf(name, sizeof name, "header_%05d.txt", s->number);
    TRY(verify_text(s, name));
    TRY(verify_text(s, "hydro_file_descriptor.txt"));
    return verify_text(s, "part_file_descriptor.txt");
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
    char name[32];
    snprintf(name, sizeof name, "info_%05d.txt", s->number);
    TRY(info_path(s, name, path, sizeof path));
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

enum err info_descriptor(const struct source *s, const char *kind, struct ckpt_field *list, int *n,
                         bool *old)
{
    char path[PATH_MAX], *text;
    char name[64];
    size_t size;
    *n = 0, *old = false;
    snprintf(name, sizeof name, "%s_file_descriptor.txt", kind);
    TRY(info_path(s, name, path, sizeof path));
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
    TRY(info_descriptor(s, "hydro", s->field, &s->nhydro, old));
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
