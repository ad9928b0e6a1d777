/* ckpt/beside: files beside the mesh and the particles: sink particles, stellar objects, the
 * cooling table (info.h). The cooling table is not used: it follows from the parameters. Its
 * presence is reported, and so is damage. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "ckpt/info.h"
#include "ckpt/manifest.h"
#include "io/file.h"
#include "io/fortran.h"

/* The best source comes first: all bits before eleven digits, code units before solar masses. */
static enum err read_sinks(struct source *s)
{
    static const char *const form[] = {"sink_%05d.csv", "sink_%05d.info"};
    char path[PATH_MAX];
    struct catalog *t = &s->table[0];
    if (*t->from) return OK; /* of the HDF5 file */
    char name[32];
    snprintf(name, sizeof name, "sink_%05d.out00001", s->number);
    TRY(info_path(s, name, path, sizeof path));
    if (file_exists(path) || manifest_has(s->list, name)) { /* one that is lost is reported */
        snprintf(t->from, sizeof t->from, "%s", name);
        return catalog_read_sinks(t, path, s->head.ndim);
    }
    for (int i = 0; i < 2; i++) {
        snprintf(name, sizeof name, form[i], s->number);
        TRY(info_path(s, name, path, sizeof path));
        if (!file_exists(path)) continue;
        snprintf(t->from, sizeof t->from, "%s", name);
        return catalog_read_text(t, path);
    }
    return OK;
}

static enum err read_stellar(struct source *s)
{
    char path[PATH_MAX], name[32];
    snprintf(name, sizeof name, "stellar_%05d.csv", s->number);
    TRY(info_path(s, name, path, sizeof path));
    if (!file_exists(path)) return OK;
    snprintf(s->table[1].from, sizeof s->table[1].from, "%s", name);
    return catalog_read_text(&s->table[1], path);
}

/* Sizes, the two axes, eleven tables, and six abundances in one record. */
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
    char path[PATH_MAX], name[32];
    struct fort_in f;
    snprintf(name, sizeof name, "cooling_%05d.out", s->number);
    TRY(info_path(s, name, path, sizeof path));
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
