/* genzoom/set: see set.h. Requirements of simulate are checked by the function that simulate uses
 * (ics_grafic_open). The checks here need all files together: missing and repeated levels, files
 * that belong to another level or cosmology. */
#include "set.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "ics/files.h"

enum { DIRS_MAX = 256, NAMES_MAX = 4096, NAME = 64 };

struct dirs {
    int n;
    struct location {
        char *path;
        struct grafic_head head;
        bool swap;
        int level;
    } at[DIRS_MAX];
};

static const struct comm ALONE = {.rank = 0, .size = 1};

static enum err find_dirs(struct dirs *d, const char *path);
static enum err add_dir(struct dirs *d, const char *path);
static enum err number_levels(struct dirs *d);
static enum err check_files(struct zoom_set *s, int l, bool deep);

static void drop_dirs(struct dirs *d)
{
    for (int i = 0; i < d->n; i++) FREE(d->at[i].path);
    mem_free(d);
}

enum err zoom_set_open(struct zoom_set *s, int ndir, char *const dirs[], bool deep)
{
    struct dirs *d = mem_zero(sizeof *d, "directories");
    const char *path[LEVEL_MAX + 1];
    enum err err = OK;
    bool open = false;
    memset(s, 0, sizeof *s);
    for (int i = 0; i < ndir; i++) TRY_OUT(find_dirs(d, dirs[i]));
    TRY_OUT(number_levels(d));
    for (int i = 0; i < d->n; i++) path[i] = d->at[i].path;
    const struct ics_set set = {.levelmin = d->at[0].level,
                                .nlev = d->n,
                                .dir = path,
                                .cosmo = true,
                                .gas = ics_exists(path[0], "ic_deltab"),
                                .aexp_ini = 1};
    s->gas = set.gas;
    TRY_OUT(ics_grafic_open(&s->g, &set, &ALONE));
    open = true;
    for (int i = 0; i < d->n; i++) {
        int l = d->at[i].level;
        s->lev[l] = (struct zoom_level){.swap = d->at[i].swap};
        TRY_OUT(check_files(s, l, deep));
    }
out:
    if (err != OK && open) zoom_set_close(s);
    drop_dirs(d);
    return err;
}

void zoom_set_close(struct zoom_set *s)
{
    ics_grafic_close(&s->g);
}

/* ---- directories ---- */

/* Level from a directory name level_NNN; 0: another name. */
static int level_of_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *end;
    if (strncmp(name, "level_", 6) != 0) return 0;
    long l = strtol(name + 6, &end, 10);
    return end > name + 6 && !*end && l > 0 && l <= 999 ? (int)l : 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Names in a directory, sorted, without hidden ones. */
static enum err list_names(const char *path, char (*name)[NAME], int *n)
{
    DIR *dir = opendir(path);
    if (!dir) FAIL(ERR_FILE, "%s: cannot be opened: %s", path, strerror(errno));
    enum err err = OK;
    *n = 0;
    for (struct dirent *e; err == OK && (e = readdir(dir));) {
        if (e->d_name[0] == '.' || strlen(e->d_name) >= NAME) continue;
        if (*n == NAMES_MAX)
            err = err_set(ERR_LIMIT,
                          "%s: the directory has more than %d entries: give the directories of the "
                          "levels instead",
                          path, NAMES_MAX);
        else
            snprintf(name[(*n)++], NAME, "%s", e->d_name);
    }
    closedir(dir);
    mem_sort(name, (size_t)*n, NAME, by_name);
    return err;
}

/* Finds level directories: the path itself, or its subdirectories. */
static enum err find_dirs(struct dirs *d, const char *path)
{
    char clean[4096], sub[4096 + NAME];
    int n = snprintf(clean, sizeof clean, "%s", path), names = 0, before = d->n;
    if (n >= (int)sizeof clean) FAIL(ERR_FILE, "%.60s…: the path is too long", path);
    while (n > 1 && clean[n - 1] == '/') clean[--n] = 0;
    if (level_of_name(clean) || ics_is_level(clean)) return add_dir(d, clean);
    char(*name)[NAME] = mem_new(NAMES_MAX * sizeof *name, "directories");
    enum err err = list_names(clean, name, &names);
    for (int i = 0; i < names && err == OK; i++) {
        struct stat st;
        snprintf(sub, sizeof sub, "%s/%s", clean, name[i]);
        if (stat(sub, &st) == 0 && S_ISDIR(st.st_mode) && (level_of_name(sub) || ics_is_level(sub)))
            err = add_dir(d, sub);
    }
    mem_free(name);
    if (err == OK && d->n == before)
        FAIL(ERR_FILE,
             "%s: neither this directory nor one in it contains ic_deltab or ic_velcx: give a "
             "directory of GRAFIC2 initial conditions",
             path);
    return err;
}

static enum err add_dir(struct dirs *d, const char *path)
{
    struct ics_file f;
    if (d->n == DIRS_MAX)
        FAIL(ERR_LIMIT,
             "%s: more than %d directories of levels are given: give those of one set only", path,
             DIRS_MAX);
    TRY(ics_open(&f, path, ics_first_file(path, true, false), true));
    struct location *p = &d->at[d->n++];
    size_t n = strlen(path) + 1;
    p->path = memcpy(mem_new(n, "file names"), path, n);
    p->head = f.whole.head;
    p->swap = f.whole.swap;
    ics_close(&f);
    return OK;
}

static int coarse_first(const void *a, const void *b)
{
    const struct location *p = a, *q = b;
    return p->head.dx < q->head.dx ? 1 : p->head.dx > q->head.dx ? -1 : strcmp(p->path, q->path);
}

/* Derives level numbers from the cells of the base grid and the ratios of cell sizes. */
static enum err number_levels(struct dirs *d)
{
    mem_sort(d->at, (size_t)d->n, sizeof d->at[0], coarse_first);
    struct location *base = &d->at[0];
    int n = base->head.n[0], l = 0;
    while (n > 1 << l) l++;
    if (n != 1 << l || n < 2 || base->head.n[1] != n || base->head.n[2] != n)
        FAIL(ERR_FORMAT,
             "%s: the coarsest level has %d x %d x %d cells, not a power of two per side: the base "
             "level is missing",
             base->path, n, base->head.n[1], base->head.n[2]);
    for (int i = 0; i < d->n; i++) {
        struct location *p = &d->at[i];
        double up = log2(base->head.dx / p->head.dx);
        if (!(fabs(up - nearbyint(up)) < 1e-3))
            FAIL(ERR_FORMAT,
                 "%s: its cell size, %.7g Mpc, is not that of %s, %.7g Mpc, divided by a power of "
                 "two",
                 p->path, p->head.dx, base->path, base->head.dx);
        if (l + up > LEVEL_MAX + 0.5)
            FAIL(ERR_LIMIT,
                 "%s: its level is finer than level %d, the finest that this build supports",
                 p->path, LEVEL_MAX);
        p->level = l + (int)nearbyint(up);
        int named = level_of_name(p->path);
        if (i > 0 && p->level == p[-1].level)
            FAIL(ERR_FORMAT, "%s and %s: both contain level %d: give only one of them", p[-1].path,
                 p->path, p->level);
        if (i > 0 && p->level != p[-1].level + 1)
            FAIL(ERR_FORMAT, "%s: contains level %d and %s level %d: level %d is missing",
                 p[-1].path, p[-1].level, p->path, p->level, p[-1].level + 1);
        if (named && named != p->level)
            FAIL(ERR_FORMAT,
                 "%s: is named level %d, but by its header it is level %d: rename the directory",
                 p->path, named, p->level);
    }
    return OK;
}

/* ---- files ---- */

static enum err read_all(struct ics_file *f, bool ids)
{
    const struct grafic_head *h = &f->whole.head;
    enum err err = OK;
    int64_t row = h->n[0], rows = (1 << 20) / row + 1;
    void *v = mem_new(8 * (size_t)(rows * row), "rows");
    for (int64_t k = 0; k < h->n[2] && err == OK; k++)
        for (int64_t j = 0; j < h->n[1] && err == OK; j += rows) {
            int64_t nj = j + rows < h->n[1] ? rows : h->n[1] - j;
            err = ids ? ics_ids(f, k, j, nj, v) : ics_rows(f, k, j, nj, v);
        }
    mem_free(v);
    return err;
}

static enum err read_file(struct ics_file *f, const char *name, void *ctx)
{
    return read_all(f, strcmp(name, "ic_particle_ids") == 0);
}

/* Whether a file must exist on all levels or none; masks may exist on some levels only, and are
 * written by this program. */
static bool on_all_levels(const char *name)
{
    return strcmp(name, "ic_refmap") != 0 && strncmp(name, "ic_pvar_", 8) != 0;
}

static enum err check_files(struct zoom_set *s, int l, bool deep)
{
    const char *dir = s->g.lev[l].dir;
    const struct ics_level *ic = &s->g.lev[l];
    char name[ICS_FILES][ICS_NAME];
    int n;
    if (deep) TRY(ics_check_files(dir, true, ic->first, &ic->head, read_file, NULL));
    s->lev[l].refmap = ics_exists(dir, "ic_refmap");
    s->lev[l].ids = ics_exists(dir, "ic_particle_ids");
    if (l == s->g.levelmin) return OK;
    const char *above = s->g.lev[l - 1].dir;
    TRY(ics_list_files(dir, true, name, &n));
    for (int i = 0; i < n; i++)
        if (on_all_levels(name[i]) && !ics_exists(above, name[i]))
            FAIL(ERR_FILE,
                 "%s: has %s, but %s does not: this file is needed on all levels or on none", dir,
                 name[i], above);
    TRY(ics_list_files(above, true, name, &n));
    for (int i = 0; i < n; i++)
        if (on_all_levels(name[i]) && !ics_exists(dir, name[i]))
            FAIL(ERR_FILE,
                 "%s: has no %s, but %s does: this file is needed on all levels or on none", dir,
                 name[i], above);
    return OK;
}
