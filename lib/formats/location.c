#include "formats/location.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/formats.h"
#include "io/dir.h"

/* ---- a file of a checkpoint ---- */

static bool is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Whether a directory is named group_NNNNN; its files belong to the parent directory. */
static bool is_group(const char *name)
{
    return strncmp(name, "group_", 6) == 0 && strspn(name + 6, "0123456789") == 5 && !name[11];
}

/* Cuts the last component off a path in place; returns this component in `name`. */
static const char *cut_name(char path[PATH_MAX], char name[FILES_NAME])
{
    char *slash = strrchr(path, '/');
    snprintf(name, FILES_NAME, "%.47s", slash ? slash + 1 : path);
    if (!slash)
        snprintf(path, PATH_MAX, ".");
    else
        slash[slash == path] = 0;
    return name;
}

/* Whether a directory is a checkpoint; RAMSES may store the header in the first group. */
static bool is_checkpoint(const char *dir)
{
    char first[PATH_MAX];
    int n = snprintf(first, sizeof first, "%s/group_00001", dir);
    return format_recognise(dir) || (n < PATH_MAX && format_recognise(first));
}

void location_of(const char *path, char dir[PATH_MAX])
{
    char home[PATH_MAX], name[FILES_NAME];
    snprintf(dir, PATH_MAX, "%s", path);
    if (strlen(path) >= PATH_MAX || !is_file(path)) return;
    snprintf(home, sizeof home, "%s", path);
    struct files_name f = files_of(cut_name(home, name));
    if (f.kind == FILES_KINDS || files_has_role(f.kind, FILES_BESIDE)) return;
    const char *slash = strrchr(home, '/');
    if (is_group(slash ? slash + 1 : home)) cut_name(home, name);
    if (is_checkpoint(home)) memcpy(dir, home, sizeof home);
}

/* ---- other directories ---- */

static bool is_output(const char *name)
{
    const char *rest;
    return dir_output_number(name, &rest) >= 0 && !*rest;
}

static bool is_level(const char *name)
{
    return strncmp(name, "level_", 6) == 0 && strspn(name + 6, "0123456789") == strlen(name + 6);
}

/* Names of one kind in a directory: the first and the last few, in order. */
enum { ENDS = 2, MAX = 2 * ENDS };
struct names {
    bool (*is)(const char *name);
    int n;                  /* number of all names */
    char name[MAX + 1][40]; /* sorted names, with room for one more */
};

static enum err keep_name(void *ctx, const char *name, const struct files_name *f)
{
    struct names *l = ctx;
    int at = l->n < MAX ? l->n : MAX;
    if (!l->is(name)) return OK;
    l->n++;
    for (; at > 0 && strcmp(l->name[at - 1], name) > 0; at--)
        memcpy(l->name[at], l->name[at - 1], sizeof l->name[at]);
    snprintf(l->name[at], sizeof l->name[at], "%.39s", name);
    if (l->n <= MAX) return OK;
    for (int i = ENDS; i < MAX; i++) memcpy(l->name[i], l->name[i + 1], sizeof l->name[i]);
    return OK;
}

/* Lists names as "a, b, …, y, z"; returns their total number. */
static int list_names(const char *dir, bool is(const char *name), char text[200])
{
    struct names l = {.is = is};
    size_t at = 0;
    text[0] = 0;
    if (files_each(dir, keep_name, &l) != OK) return 0;
    for (int i = 0; i < l.n && i < MAX; i++)
        at += (size_t)snprintf(text + at, 200 - at, "%s%s%s", i ? ", " : "",
                               i == ENDS && l.n > MAX ? "…, " : "", l.name[i]);
    return l.n;
}

enum err location_explain(const char *path)
{
    struct stat st;
    char names[200];
    int n;
    if (stat(path, &st) != 0 || !*path) return OK;
    if (S_ISREG(st.st_mode))
        FAIL(ERR_FILE, "%s: is a file, but not of a checkpoint: give the directory output_NNNNN",
             path);
    if ((n = list_names(path, is_output, names)) > 0)
        FAIL(ERR_FILE, "%s: is not a checkpoint, but has %s in it: %s", path,
             n > 1 ? "checkpoints" : "one", names);
    if ((n = list_names(path, is_level, names)) > 0)
        FAIL(ERR_FILE, "%s: is not a checkpoint, but has initial conditions of %s in it: %s", path,
             n > 1 ? "levels" : "a level", names);
    return OK;
}

/* ---- command lines ---- */

static bool is_number(const char *word)
{
    return *word && strspn(word, "0123456789") == strlen(word);
}

/* Reports a missing path; the argument may have been meant for an option. */
static enum err absent(const struct locations *p, int i)
{
    const char *path = p->path[i];
    if (p->ranks && is_number(path))
        FAIL(ERR_FILE, "%s: there is no such checkpoint; for %s ranks use --ranks %s", path, path,
             path);
    if (p->out && p->n > 1 && i == p->n - 1)
        FAIL(ERR_FILE, "%s: there is no such checkpoint; to write to %s use -o %s", path, path,
             path);
    return OK;
}

static enum err check_one(const struct locations *p, int i)
{
    struct source *s = NULL;
    struct stat st;
    const char *path = p->path[i];
    if (format_of(path)) return OK;
    if (stat(path, &st) != 0 && errno == ENOENT) TRY(absent(p, i));
    TRY(source_open(path, &s));
    source_close(&s);
    return OK;
}

enum err locations_check(const struct locations *p)
{
    for (int i = 0; i < p->n; i++)
        if (strcmp(p->path[i], "-") != 0) TRY(check_one(p, i));
    return OK;
}
