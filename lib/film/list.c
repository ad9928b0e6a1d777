/* film/list: finds frame files. See frame.h. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "film/frame.h"

static bool is_picture(const char *file)
{
    const size_t n = strlen(file);
    return n >= 4 && strcmp(file + n - 4, ".png") == 0;
}

/* Number of a frame from its name NAME_NNNNN.map or .png, and the length of NAME; −1: no such
 * name. */
static int number_of(const char *file, size_t *length)
{
    enum { DIGITS = 5, DIGITS_MAX = 9 };
    const char *low = strrchr(file, '_');
    if (!low || low == file || low - file >= FRAME_NAME) return -1;
    const size_t n = strspn(low + 1, "0123456789");
    const char *end = low + 1 + n;
    if (n < DIGITS || n > DIGITS_MAX || (strcmp(end, ".map") != 0 && !is_picture(end))) return -1;
    *length = (size_t)(low - file);
    return (int)strtol(low + 1, NULL, 10);
}

static const char *last_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_directory(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool film_has_frames(const char *path)
{
    size_t n;
    bool found = false;
    if (!is_directory(path)) return number_of(last_of(path), &n) >= 0;
    DIR *d = opendir(path);
    bool map = false;
    for (struct dirent *e; d && !map && (e = readdir(d));) {
        const bool is = number_of(e->d_name, &n) >= 0;
        found |= is, map = is && !is_picture(e->d_name);
    }
    if (d) closedir(d);
    return map || (found && !shot_is(path)); /* a checkpoint may have pictures in it */
}

/* ---- names of variables ---- */

enum { VARIABLES = 64 };
struct names {
    int n;
    char name[VARIABLES][FRAME_NAME];
};

static void add_name(struct names *v, const char *file, size_t n)
{
    for (int i = 0; i < v->n; i++)
        if (strlen(v->name[i]) == n && strncmp(v->name[i], file, n) == 0) return;
    if (v->n < VARIABLES) snprintf(v->name[v->n++], FRAME_NAME, "%.*s", (int)n, file);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Lists the variables in a message: those that frames show. */
static void list_names(struct names *v, char *text, size_t room)
{
    size_t at = 0;
    mem_sort(v->name, (size_t)v->n, sizeof *v->name, by_text);
    *text = 0;
    for (int i = 0; i < v->n && at < room; i++)
        at += (size_t)snprintf(text + at, room - at, " %s", v->name[i]);
}

/* ---- the list ---- */

typedef void found_fn(const char *dir, const char *file, size_t length, int number, void *ctx);

/* Calls fn for each frame file of an operand. */
static enum err each_file(const char *path, found_fn *fn, void *ctx)
{
    size_t length;
    if (!is_directory(path)) {
        const char *file = last_of(path);
        const int number = number_of(file, &length);
        if (number < 0)
            FAIL(ERR_FILE,
                 "%s: is neither a directory of frames nor one of them, such as dens_00001.map",
                 path);
        char dir[PATH_MAX];
        snprintf(dir, sizeof dir, "%.*s", (int)(file - path), path);
        fn(dir, file, length, number, ctx);
        return OK;
    }
    DIR *d = opendir(path);
    if (!d) FAIL(ERR_FILE, "%s: the directory cannot be read: %s", path, strerror(errno));
    char dir[PATH_MAX];
    snprintf(dir, sizeof dir, "%.4000s/", path);
    for (struct dirent *e; (e = readdir(d));) {
        const int number = number_of(e->d_name, &length);
        if (number >= 0) fn(dir, e->d_name, length, number, ctx);
    }
    closedir(d);
    return OK;
}

struct finding {
    struct film_list *list;
    struct names names;
    int operand;
};

static void see_name(const char *dir, const char *file, size_t length, int number, void *ctx)
{
    struct finding *f = ctx;
    add_name(&f->names, file, length);
}

static void add_file(const char *dir, const char *file, size_t length, int number, void *ctx)
{
    struct finding *f = ctx;
    struct film_list *l = f->list;
    if (strlen(l->name) != length || strncmp(l->name, file, length) != 0) return;
    const size_t room = strlen(dir) + strlen(file) + 1;
    MEM_ROOM(l->at, l->n, l->room, 64, "film");
    struct film_entry *e = &l->at[l->n++];
    *e = (struct film_entry){number, f->operand, is_picture(file), mem_new(room, "film")};
    snprintf(e->path, room, "%s%s", dir, file);
}

static enum err choose_name(struct finding *f, const char *first, const char *name)
{
    char text[2000];
    const struct names *v = &f->names;
    bool found = false;
    list_names(&f->names, text, sizeof text);
    if (v->n == 0)
        FAIL(ERR_FILE, "%s: there are no frames NAME_NNNNN.map or .png in this directory", first);
    for (int i = 0; i < v->n; i++) found |= name && strcmp(v->name[i], name) == 0;
    if (name && !found) FAIL(ERR_PARAM, "%s: has no frames of %s; there are:%s", first, name, text);
    if (!name && v->n > 1)
        FAIL(ERR_PARAM, "%s: has frames of several variables: choose one by -m; there are:%s",
             first, text);
    snprintf(f->list->name, sizeof f->list->name, "%s", name ? name : v->name[0]);
    return OK;
}

MEM_ORDER2(by_number, struct film_entry, number, rank)

static void drop_pictures(struct film_list *l)
{
    bool map = false;
    int n = 0;
    for (int i = 0; i < l->n; i++) map |= !l->at[i].picture;
    for (int i = 0; i < l->n && map; i++)
        if (l->at[i].picture)
            FREE(l->at[i].path);
        else
            l->at[n++] = l->at[i];
    if (map) l->n = n;
}

/* Of frames with one number, keeps that of the last operand. */
static void drop_earlier(struct film_list *l)
{
    int n = 0;
    for (int i = 0; i < l->n; i++) {
        const bool last = i + 1 == l->n || l->at[i + 1].number != l->at[i].number;
        if (last)
            l->at[n++] = l->at[i];
        else
            FREE(l->at[i].path);
    }
    l->n = n;
}

static enum err add_operand(struct finding *f, const char *path)
{
    const int before = f->list->n;
    TRY(each_file(path, add_file, f));
    if (f->list->n == before) FAIL(ERR_FILE, "%s: has no frames of %s", path, f->list->name);
    return OK;
}

enum err film_list(int n, char *const *paths, const char *name, struct film_list *list)
{
    struct finding *f = mem_zero(sizeof *f, "film");
    enum err err = OK;
    *list = (struct film_list){0};
    f->list = list;
    for (int i = 0; i < n && err == OK; i++) err = each_file(paths[i], see_name, f);
    if (err == OK) err = choose_name(f, paths[0], name);
    for (; f->operand < n && err == OK; f->operand++) err = add_operand(f, paths[f->operand]);
    drop_pictures(list);
    mem_sort(list->at, (size_t)list->n, sizeof *list->at, by_number);
    drop_earlier(list);
    FREE(f);
    return err;
}

void film_list_free(struct film_list *l)
{
    for (int i = 0; i < l->n; i++) FREE(l->at[i].path);
    FREE(l->at);
}
