/* ckpt/rest: see rest.h, and info.h for info_tables. The cooling table of RAMSES is not used, since
 * it follows from the parameters; its presence and any damage are reported. */
#include "ckpt/rest.h"

#include <limits.h>
#include <stdio.h>

#include "base/mem.h"
#include "ckpt/info.h"
#include "ckpt/manifest.h"
#include "io/file.h"
#include "io/fortran.h"

static const size_t COOLING_MAX = (size_t)1 << 30;

static enum err copy_table(struct catalog *to, const struct catalog *from)
{
    int64_t *all = mem_new(sizeof *all * (size_t)from->n + 1, "catalog");
    for (int64_t i = 0; i < from->n; i++) all[i] = i;
    enum err err = catalog_select(to, from, from->n, all);
    FREE(all);
    return err;
}

enum err rest_copy(struct ckpt_rest *to, const struct source *s)
{
    *to = (struct ckpt_rest){.formed = s->formed};
    TRY(copy_table(&to->sinks, s->sinks));
    TRY(copy_table(&to->stellar, s->stellar));
    return *s->cooling ? file_load(s->cooling, COOLING_MAX, &to->cooling, &to->cooling_bytes) : OK;
}

void rest_free(struct ckpt_rest *r)
{
    catalog_free(&r->sinks);
    catalog_free(&r->stellar);
    FREE(r->cooling);
    *r = (struct ckpt_rest){0};
}

/* ---- reading ---- */

/* Sets the file name of a table that exists or is listed; reading reports a missing file. */
static enum err find_table(const struct source *s, struct catalog *t, enum files_kind k,
                           char path[PATH_MAX])
{
    char name[FILES_NAME];
    files_name(k, s->number, 1, name);
    TRY(info_path(s, k, path));
    if (file_exists(path) || manifest_has(s->list, name))
        snprintf(t->from, sizeof t->from, "%s", name);
    return OK;
}

/* Reads the sinks from the best file: all bits before eleven digits, code units before Msun. */
static enum err read_sinks(struct source *s)
{
    static const enum files_kind order[] = {FILES_SINK_OUT, FILES_SINK_CSV, FILES_SINK_INFO};
    char path[PATH_MAX];
    struct catalog *t = &s->table[0];
    if (*t->from) return OK; /* already read from the HDF5 file */
    for (int i = 0; i < 3; i++) {
        TRY(find_table(s, t, order[i], path));
        if (!*t->from) continue;
        return order[i] == FILES_SINK_OUT ? catalog_read_sinks(t, path, s->head.ndim)
                                          : catalog_read_text(t, path);
    }
    return OK;
}

static enum err read_stellar(struct source *s)
{
    char path[PATH_MAX];
    struct catalog *t = &s->table[1];
    TRY(find_table(s, t, FILES_STELLAR, path));
    return *t->from ? catalog_read_text(t, path) : OK;
}

/* Checks the cooling table: sizes, two axes, eleven tables, and six abundances in one record. */
static enum err check_cooling(struct source *s, struct fort_in *f)
{
    int32_t n[2];
    struct fort_rec rec;
    TRY(fort_get(f, "sizes of the tables", 4, n, 2));
    if (n[0] < 1 || n[1] < 1 || n[0] > 1 << 16 || n[1] > 1 << 16)
        FAIL(ERR_FORMAT,
             "%s: the sizes of the cooling tables, %d x %d, are not between 1 and 65536: the file "
             "is damaged",
             f->path, n[0], n[1]);
    for (int i = 0; i < 2; i++) TRY(fort_next_real(f, "axis of the tables", n[i], &rec));
    for (int i = 0; i < 11; i++) TRY(fort_next_real(f, "table", (int64_t)n[0] * n[1], &rec));
    TRY(fort_next_real(f, "abundances", (int64_t)n[0] * n[1] * 6, &rec));
    TRY(fort_at_end(f));
    s->cooling_size[0] = n[0], s->cooling_size[1] = n[1];
    return OK;
}

static enum err read_cooling(struct source *s)
{
    char path[PATH_MAX];
    struct fort_in f;
    TRY(info_path(s, FILES_COOLING, path));
    if (!file_exists(path)) return OK;
    enum err err = fort_open(&f, path);
    if (err == OK) err = check_cooling(s, &f);
    fort_shut(&f);
    if (err == OK) snprintf(s->cooling, sizeof s->cooling, "%s", path);
    return err;
}

enum err info_tables(struct source *s)
{
    TRY(read_sinks(s));
    TRY(read_stellar(s));
    return read_cooling(s);
}
