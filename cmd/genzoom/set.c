/* genzoom/set: see set.h. What simulate needs of a set is checked by the code that simulate uses
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

enum { DIRS_MAX = 256, FILES_MAX = 128, NAME = 64 };

struct dirs {
    int n;
    struct place {
        char *path;
        struct grafic_head head;
        bool swap;
        int level;
    } at[DIRS_MAX];
};

static const char HEADER_FILE[] = "ic_deltab";
static const struct comm ALONE = {.rank = 0, .size = 1};

static enum err find_dirs(struct dirs *d, const char *path);
static enum err add_dir(struct dirs *d, const char *path);
static enum err number_levels(struct dirs *d);
static enum err check_parent_grid(const struct ics_grafic *g, int l);
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
    TRY_OUT(ics_grafic_open(&s->g, d->at[0].level, d->n, path, true, true, 0, 1, &ALONE));
    open = true;
    for (int i = 0; i < d->n; i++) {
        int l = d->at[i].level;
        s->lev[l] = (struct zoom_level){.head = d->at[i].head, .swap = d->at[i].swap};
        if (i > 0) TRY_OUT(check_parent_grid(&s->g, l));
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

/* 0: not called level_NNN. */
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

/* Names in a directory that `wanted` accepts, sorted. */
static enum err list_names(const char *path, bool (*wanted)(const char *name), int most,
                           char (*name)[NAME], int *n)
{
    DIR *dir = opendir(path);
    if (!dir) FAIL(ERR_FILE, "%s: cannot be opened: %s", path, strerror(errno));
    enum err err = OK;
    *n = 0;
    for (struct dirent *e; (e = readdir(dir));) {
        if (!wanted(e->d_name) || strlen(e->d_name) >= NAME) continue;
        if (*n == most) {
            err = err_set(ERR_LIMIT,
                          "%s: the directory has more than %d entries: give the directories of the "
                          "levels instead",
                          path, most);
            break;
        }
        snprintf(name[(*n)++], NAME, "%s", e->d_name);
    }
    closedir(dir);
    qsort(name, (size_t)*n, NAME, by_name);
    return err;
}

static bool not_hidden(const char *name)
{
    return name[0] != '.';
}

/* A directory is a level, or its subdirectories are searched. */
static enum err find_dirs(struct dirs *d, const char *path)
{
    char clean[4096], sub[4096 + NAME];
    int n = snprintf(clean, sizeof clean, "%s", path), names = 0, before = d->n;
    if (n >= (int)sizeof clean) FAIL(ERR_FILE, "%.60s…: the path is too long", path);
    while (n > 1 && clean[n - 1] == '/') clean[--n] = 0;
    if (level_of_name(clean) || grafic_exists(clean, HEADER_FILE)) return add_dir(d, clean);
    char(*name)[NAME] = mem_new(4096 * sizeof *name, "directories");
    enum err err = list_names(clean, not_hidden, 4096, name, &names);
    for (int i = 0; i < names && err == OK; i++) {
        struct stat st;
        snprintf(sub, sizeof sub, "%s/%s", clean, name[i]);
        if (stat(sub, &st) == 0 && S_ISDIR(st.st_mode) &&
            (level_of_name(sub) || grafic_exists(sub, HEADER_FILE)))
            err = add_dir(d, sub);
    }
    mem_free(name);
    if (err == OK && d->n == before)
        FAIL(ERR_FILE,
             "%s: neither this directory nor one in it contains %s: give a directory of GRAFIC2 "
             "initial conditions",
             path, HEADER_FILE);
    return err;
}

static enum err add_dir(struct dirs *d, const char *path)
{
    struct grafic f;
    if (d->n == DIRS_MAX)
        FAIL(ERR_LIMIT,
             "%s: more than %d directories of levels are given: give those of one set only", path,
             DIRS_MAX);
    TRY(grafic_open(&f, path, HEADER_FILE, true));
    struct place *p = &d->at[d->n++];
    size_t n = strlen(path) + 1;
    p->path = memcpy(mem_new(n, "file names"), path, n);
    p->head = f.head;
    p->swap = f.swap;
    grafic_close(&f);
    return OK;
}

static int coarse_first(const void *a, const void *b)
{
    const struct place *p = a, *q = b;
    return p->head.dx < q->head.dx ? 1 : p->head.dx > q->head.dx ? -1 : strcmp(p->path, q->path);
}

/* Levels from the cells of the base grid and the ratios of cell sizes. */
static enum err number_levels(struct dirs *d)
{
    qsort(d->at, (size_t)d->n, sizeof d->at[0], coarse_first);
    struct place *base = &d->at[0];
    int n = base->head.n[0], l = 0;
    while (n > 1 << l) l++;
    if (n != 1 << l || n < 2 || base->head.n[1] != n || base->head.n[2] != n)
        FAIL(ERR_FORMAT,
             "%s: the coarsest level has %d x %d x %d cells, not a power of two per side: the base "
             "level is missing",
             base->path, n, base->head.n[1], base->head.n[2]);
    for (int i = 0; i < d->n; i++) {
        struct place *p = &d->at[i];
        double up = log2(base->head.dx / p->head.dx);
        if (!(fabs(up - nearbyint(up)) < 1e-3))
            FAIL(ERR_FORMAT,
                 "%s: its cells of %.7g Mpc are not those of %s, %.7g Mpc, divided by a power of "
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

/* Refined cells have eight children: a level begins and ends with a cell of its parent. */
static enum err check_parent_grid(const struct ics_grafic *g, int l)
{
    const struct ics_level *ic = &g->lev[l];
    for (int d = 0; d < 3; d++)
        if (ic->off[d] % 2 || ic->n[d] % 2)
            FAIL(ERR_FORMAT,
                 "%s: its cells %lld to %lld along %c begin or end inside a cell of level %d",
                 ic->dir, (long long)ic->off[d], (long long)(ic->off[d] + ic->n[d] - 1), 'x' + d,
                 l - 1);
    return OK;
}

/* A name with a dot is that of a copy, or of a file that another program still writes. */
static bool is_field(const char *name)
{
    static const char *const start[] = {"ic_delta",        "ic_vel",   "ic_pos",  "ic_refmap",
                                        "ic_particle_ids", "ic_pvar_", "ic_temp", "ic_mass"};
    if (strchr(name, '.')) return false;
    for (size_t i = 0; i < sizeof start / sizeof start[0]; i++)
        if (strncmp(name, start[i], strlen(start[i])) == 0) return true;
    return false;
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-5 * fmax(fabs(a), fabs(b));
}

static enum err check_header(const struct grafic *f, const struct grafic_head *want)
{
    const struct grafic_head *h = &f->head;
    for (int d = 0; d < 3; d++) {
        if (h->n[d] != want->n[d])
            FAIL(ERR_FORMAT, "%s: has %d cells along %c where %s has %d", f->path, h->n[d], 'x' + d,
                 HEADER_FILE, want->n[d]);
        if (!(fabs(h->off[d] - want->off[d]) < 0.1 * want->dx))
            FAIL(ERR_FORMAT, "%s: has the offset %.7g along %c where %s has %.7g", f->path,
                 h->off[d], 'x' + d, HEADER_FILE, want->off[d]);
    }
    if (!near(h->dx, want->dx))
        FAIL(ERR_FORMAT, "%s: has cells of %.7g Mpc where %s has %.7g", f->path, h->dx, HEADER_FILE,
             want->dx);
    if (!near(h->omega_m, want->omega_m) || !near(h->omega_l, want->omega_l) ||
        !near(h->h0, want->h0) || !near(h->astart, want->astart))
        FAIL(ERR_FORMAT,
             "%s: has another cosmology or time: astart, omega_m, omega_v, h0 = %g, %g, %g, %g "
             "where %s has %g, %g, %g, %g",
             f->path, h->astart, h->omega_m, h->omega_l, h->h0, HEADER_FILE, want->astart,
             want->omega_m, want->omega_l, want->h0);
    return OK;
}

static enum err read_all(const struct grafic *f, enum grafic_kind kind)
{
    enum err err = OK;
    int64_t row = f->head.n[0], rows = (1 << 20) / row + 1;
    double *v = mem_new(sizeof *v * (size_t)(rows * row), "rows");
    for (int64_t k = 0; k < f->head.n[2] && err == OK; k++)
        for (int64_t j = 0; j < f->head.n[1] && err == OK; j += rows)
            err = grafic_read_rows(f, kind, k, j, j + rows < f->head.n[1] ? rows : f->head.n[1] - j,
                                   v);
    mem_free(v);
    return err;
}

static enum err check_file(const struct zoom_set *s, int l, const char *name, bool deep)
{
    struct grafic f;
    TRY(grafic_open(&f, s->g.lev[l].dir, name, true));
    enum err err = check_header(&f, &s->lev[l].head);
    if (err == OK && deep)
        err = read_all(&f, strcmp(name, "ic_particle_ids") == 0 ? GRAFIC_ID : GRAFIC_REAL);
    grafic_close(&f);
    return err;
}

/* Masks may exist on some levels only, and are written by this program; all other fields exist on
 * all levels or none. */
static bool on_all_levels(const char *name)
{
    return strcmp(name, "ic_refmap") != 0 && strncmp(name, "ic_pvar_", 8) != 0;
}

static enum err check_files(struct zoom_set *s, int l, bool deep)
{
    const char *dir = s->g.lev[l].dir;
    char name[FILES_MAX][NAME];
    int n;
    TRY(list_names(dir, is_field, FILES_MAX, name, &n));
    for (int i = 0; i < n; i++) TRY(check_file(s, l, name[i], deep));
    s->lev[l].refmap = grafic_exists(dir, "ic_refmap");
    s->lev[l].ids = grafic_exists(dir, "ic_particle_ids");
    if (l == s->g.levelmin) return OK;
    const char *above = s->g.lev[l - 1].dir;
    for (int i = 0; i < n; i++)
        if (on_all_levels(name[i]) && !grafic_exists(above, name[i]))
            FAIL(ERR_FILE,
                 "%s: has %s, but %s does not: this file is needed on all levels or on none", dir,
                 name[i], above);
    TRY(list_names(above, is_field, FILES_MAX, name, &n));
    for (int i = 0; i < n; i++)
        if (on_all_levels(name[i]) && !grafic_exists(dir, name[i]))
            FAIL(ERR_FILE,
                 "%s: has no %s, but %s does: this file is needed on all levels or on none", dir,
                 name[i], above);
    return OK;
}
