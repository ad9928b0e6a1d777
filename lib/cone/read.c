/* cone/read: finds the files of slices by their names. See read.h. */
#include "cone/read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "ckpt/files.h"
#include "cone/read_priv.h"

enum { DEPTH = 4 }; /* of directories: light_cone/cone_NNNNN/observerN/ */

static enum cone_file kind_of(const char *name)
{
    int a, b, end = 0;
    static const struct {
        const char *form;
        enum cone_file kind;
    } names[] = {{"cone_%5d.out%5d%n", CONE_OUT},
                 {"cone_part_%5d.out%5d%n", CONE_PART},
                 {"cone_hydro_%5d.out%5d%n", CONE_HYDRO},
                 {"cone_gal_%5d.out%5d%n", CONE_GAL}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        end = 0;
        if (sscanf(name, names[i].form, &a, &b, &end) == 2 && end && !name[end])
            return names[i].kind;
    }
    end = 0;
    if (sscanf(name, "cone_sink_%5d.out%n", &a, &end) == 1 && end && !name[end]) return CONE_SINK;
    if (sscanf(name, "cone_%5d.h5%n", &a, &end) == 1 && end && !name[end]) return CONE_H5;
    end = 0;
    if (sscanf(name, "cone_gal_%5d.h5%n", &a, &end) == 1 && end && !name[end]) return CONE_H5;
    return CONE_NONE;
}

static bool is_map(const char *path)
{
    const char *end = strrchr(path, '.');
    return end && strcmp(end, ".fits") == 0;
}

enum err cone_check_batch(const char *path, const struct cone_batch *b)
{
    for (int64_t i = 0; i < b->n; i++) {
        double sum = b->r[0][i] + b->r[1][i] + b->r[2][i];
        if (!isfinite(sum) || !isfinite(b->z[i]) || b->z[i] < -1)
            FAIL(ERR_FORMAT,
                 "%s: an event has the position %g, %g, %g and the redshift %g: the file is "
                 "damaged",
                 path, b->r[0][i], b->r[1][i], b->r[2][i], b->z[i]);
    }
    return OK;
}

struct walk {
    const char *dir;
    int depth;
    cone_batch_fn *fn;
    void *ctx;
    int n, room;
    char (*name)[256];
};

static enum err read_any(const char *path, int depth, cone_batch_fn *fn, void *ctx, int64_t *files);

static enum err note(void *ctx, const char *name, const struct files_name *f)
{
    struct walk *w = ctx;
    MEM_ROOM(w->name, w->n, w->room, 32, "light cone");
    snprintf(w->name[w->n++], sizeof *w->name, "%s", name);
    return OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Whether a directory in the directory of a run may hold slices. */
static bool is_of_cones(const char *name)
{
    return strncmp(name, "cone_", 5) == 0 || strncmp(name, "observer", 8) == 0 ||
           strcmp(name, "light_cone") == 0;
}

static bool is_unfinished(const char *name)
{
    const char *end = strrchr(name, '.');
    return end && (strcmp(end, ".tmp") == 0 || strcmp(end, ".old") == 0);
}

/* The text file of a rank whose events are gone would else be a silent gap of the cone. RAMSES
 * may leave the text of a rank without events. */
static enum err check_alone(const struct walk *w, int i)
{
    char path[PATH_MAX];
    const size_t n = strlen(w->name[i]);
    int64_t events = 0;
    struct stat st;
    if (n < 5 || strcmp(w->name[i] + n - 4, ".txt") != 0) return OK;
    char base[sizeof *w->name];
    snprintf(base, sizeof base, "%.*s", (int)n - 4, w->name[i]);
    const enum cone_file kind = kind_of(base);
    if (kind == CONE_NONE) return OK;
    if (snprintf(path, sizeof path, "%s/%s", w->dir, base) >= (int)sizeof path)
        FAIL(ERR_FILE, "%.80s…: the path is too long", w->dir);
    if (stat(path, &st) == 0) return OK;
    TRY(cone_told(path, kind, &events));
    if (events == 0) return OK;
    FAIL(ERR_FORMAT, "%s: is missing, and %s.txt tells of %lld events in it", path, base,
         (long long)events);
}

static enum err read_dir(const char *path, int depth, cone_batch_fn *fn, void *ctx, int64_t *files)
{
    struct walk w = {.dir = path};
    char inner[PATH_MAX];
    struct stat st;
    enum err err = files_each(path, note, &w);
    mem_sort(w.name, (size_t)w.n, sizeof *w.name, by_name);
    for (int i = 0; i < w.n && err == OK; i++) {
        if (!is_of_cones(w.name[i]) || is_unfinished(w.name[i])) continue;
        err = check_alone(&w, i);
        if (err != OK) break;
        if (snprintf(inner, sizeof inner, "%s/%s", path, w.name[i]) >= (int)sizeof inner)
            err = err_set(ERR_FILE, "%.80s…: the path is too long", path);
        else if (kind_of(w.name[i]) || is_map(w.name[i]) ||
                 (depth > 0 && stat(inner, &st) == 0 && S_ISDIR(st.st_mode)))
            err = read_any(inner, depth - 1, fn, ctx, files);
    }
    FREE(w.name);
    return err;
}

static enum err read_any(const char *path, int depth, cone_batch_fn *fn, void *ctx, int64_t *files)
{
    struct stat st;
    const char *slash = strrchr(path, '/');
    const enum cone_file kind = kind_of(slash ? slash + 1 : path);
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) return read_dir(path, depth, fn, ctx, files);
    ++*files;
    if (kind == CONE_H5) return cone_read_hdf5(path, fn, ctx);
    if (kind != CONE_NONE) return cone_read_binary(path, kind, fn, ctx);
    if (is_map(path))
        FAIL(ERR_FORMAT, "%s: is a map of pixels, without particles: healpy.read_map reads it",
             path);
    FAIL(ERR_FORMAT,
         "%s: is no file of a light cone: give cone_NNNNN.h5, cone_NNNNN.outRRRRR, or a "
         "directory of slices",
         path);
}

enum err cone_read(const char *path, cone_batch_fn *fn, void *ctx, int64_t *files)
{
    int64_t before = *files;
    TRY(read_any(path, DEPTH, fn, ctx, files));
    if (*files == before) FAIL(ERR_FORMAT, "%s: has no slices of a light cone (cone_NNNNN)", path);
    return OK;
}
