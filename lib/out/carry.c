#include "out/carry.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/checksum.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "io/file.h"

static const size_t COPY_MAX = (size_t)1 << 32;

/* A walk over the names in the checkpoint and in RAMSES's groups; dir: directory of the current
 * name. */
struct walk {
    const struct source *s;
    char dir[PATH_MAX];
    enum err (*fn)(void *ctx, const char *dir, const char *name, const struct files_name *f);
    void *ctx;
};

static enum err one_name(void *ctx, const char *name, const struct files_name *f)
{
    struct walk *w = ctx;
    char path[PATH_MAX];
    struct stat st;
    if (snprintf(path, sizeof path, "%s/%s", w->dir, name) >= (int)sizeof path)
        FAIL(ERR_FILE, "%.80s…: the path is too long", w->dir);
    bool file = stat(path, &st) == 0 && S_ISREG(st.st_mode),
         other = f->number >= 0 && f->number != w->s->number;
    struct files_name none = {FILES_KINDS, -1, -1};
    return file ? w->fn(w->ctx, w->dir, name, other ? &none : f) : OK;
}

static enum err each_file(struct walk *w)
{
    struct stat st;
    snprintf(w->dir, sizeof w->dir, "%s", w->s->path);
    if (stat(w->dir, &st) != 0 || !S_ISDIR(st.st_mode)) return OK; /* a file, or the base of some */
    TRY(files_each(w->dir, one_name, w));
    for (int g = 1; w->s->group && (g - 1) * w->s->group < w->s->npiece; g++) {
        if (snprintf(w->dir, sizeof w->dir, "%s/group_%05d", w->s->path, g) >= (int)sizeof w->dir)
            FAIL(ERR_FILE, "%.80s…: the path is too long", w->s->path);
        TRY(files_each(w->dir, one_name, w));
    }
    return OK;
}

/* ---- copied files ---- */

struct copying {
    const struct source *s;
    const struct ckpt_out *o;
    const struct comm *c;
};

static enum err copy(void *ctx, const char *dir, const char *name, const struct files_name *f)
{
    const struct copying *k = ctx;
    char from[PATH_MAX], to[PATH_MAX], *data;
    size_t n;
    if (files_fate(f->kind) != FILES_COPIED ||
        (f->rank > 0 ? f->rank : 0) % k->c->size != k->c->rank)
        return OK;
    if (manifest_has(k->s->list, name)) TRY(manifest_check_file(k->s->list, dir, name));
    if (snprintf(from, sizeof from, "%s/%s", dir, name) >= (int)sizeof from)
        FAIL(ERR_FILE, "%.80s…: the path is too long", dir);
    TRY(files_path(k->o->tmp, f->kind, k->o->output, f->rank, to));
    TRY(file_load(from, COPY_MAX, &data, &n));
    enum err err = sync_save(k->o->sync, to, data, n);
    if (err == OK) manifest_add(k->o->list, to, (int64_t)n, checksum_of(data, n));
    mem_free(data);
    return err;
}

enum err carry_files(const struct source *s, const struct ckpt_out *o, const struct comm *c)
{
    struct copying k = {s, o, c};
    return s->is_cut ? OK : each_file(&(struct walk){.s = s, .fn = copy, .ctx = &k});
}

/* ---- omitted files ---- */

struct losses {
    bool copies, lost[FILES_KINDS];
    bool tabled; /* whether the table has names of this format */
    int unknown;
    char first[100]; /* first unknown name in alphabetical order */
};

static enum err see(void *ctx, const char *dir, const char *name, const struct files_name *f)
{
    struct losses *k = ctx;
    enum files_fate fate = files_fate(f->kind);
    k->tabled |= files_has_role(f->kind, FILES_MAIN);
    if (fate == FILES_MADE || (fate == FILES_COPIED && k->copies)) return OK;
    if (f->kind < FILES_KINDS) {
        k->lost[f->kind] = true;
        return OK;
    }
    if (k->unknown++ == 0 || strcmp(name, k->first) < 0)
        snprintf(k->first, sizeof k->first, "%.90s", name);
    return OK;
}

/* Pattern of the files of all ranks, "clump_00003.txt*". */
static void name_all(enum files_kind k, int number, char name[FILES_NAME])
{
    const char *form = files_form(k), *rank = strstr(form, "RRRRR");
    files_name(k, number, 0, name);
    if (rank) snprintf(name + (rank - form), FILES_NAME - (size_t)(rank - form), "*%s", rank + 5);
}

enum err carry_log_losses(const struct source *s, bool copies)
{
    struct losses k = {.copies = copies && !s->is_cut};
    char text[2000] = "";
    size_t n = 0;
    TRY(each_file(&(struct walk){.s = s, .fn = see, .ctx = &k}));
    for (int i = 0; i < FILES_KINDS; i++) {
        char name[FILES_NAME];
        if (!k.lost[i]) continue;
        name_all((enum files_kind)i, s->number, name);
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s (%s)", n ? ", " : "", name,
                              files_content((enum files_kind)i));
    }
    plain_text(k.first);
    if (k.unknown && k.tabled)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s%s", n ? ", " : "", k.first,
                              k.unknown > 1 ? " and more of other names" : "");
    if (n) log_info(" %s: the result will not contain %s", s->path, text);
    return OK;
}
