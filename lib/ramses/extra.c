/* ramses/extra: what may lie beside the mesh and the particles: sink particles, stellar objects,
 * the cooling table. The cooling table is not used: it follows from the parameters. Its presence is
 * told, its damage too. */
#include <limits.h>
#include <stdio.h>

#include "curamses/read.h"
#include "io/file.h"
#include "ramses/priv.h"

/* The best of what there is: all bits before eleven digits, code units before solar masses. */
static enum err read_sinks(struct ramses *r)
{
    static const char *const form[] = {"sink_%05d.csv", "sink_%05d.info"};
    char path[PATH_MAX];
    struct catalog *t = &r->sinks;
    if (*t->from) return OK; /* of the HDF5 file */
    if (ramses_has_file(r, "sink")) {
        snprintf(t->from, sizeof t->from, "sink_%05d.out00001", r->number);
        TRY(ramses_path(r, "sink", 1, path, sizeof path));
        return catalog_read_sinks(t, path, r->head.ndim);
    }
    for (int i = 0; i < 2; i++) {
        char name[32];
        snprintf(name, sizeof name, form[i], r->number);
        TRY(ramses_text_path(r, name, path, sizeof path));
        if (!file_exists(path)) continue;
        snprintf(t->from, sizeof t->from, "%s", name);
        return catalog_read_text(t, path);
    }
    return OK;
}

static enum err read_stellar(struct ramses *r)
{
    char path[PATH_MAX], name[32];
    snprintf(name, sizeof name, "stellar_%05d.csv", r->number);
    TRY(ramses_text_path(r, name, path, sizeof path));
    if (!file_exists(path)) return OK;
    snprintf(r->stellar.from, sizeof r->stellar.from, "%s", name);
    return catalog_read_text(&r->stellar, path);
}

/* Sizes, the two axes, eleven tables, and six abundances in one record. */
static enum err check_cooling(struct ramses *r, struct fort_in *f)
{
    int32_t n[2];
    struct fort_rec rec;
    TRY(fort_get(f, "sizes of the tables", 4, n, 2));
    if (n[0] < 1 || n[1] < 1 || n[0] > 1 << 16 || n[1] > 1 << 16)
        FAIL(ERR_FORMAT, "%s: has tables of %d x %d", f->path, n[0], n[1]);
    for (int i = 0; i < 2; i++) TRY(fort_next_real(f, "axis of the tables", n[i], &rec));
    for (int i = 0; i < 11; i++) TRY(fort_next_real(f, "table", (int64_t)n[0] * n[1], &rec));
    TRY(fort_next_real(f, "abundances", (int64_t)n[0] * n[1] * 6, &rec));
    TRY(fort_at_end(f));
    r->cooling[0] = n[0], r->cooling[1] = n[1];
    return OK;
}

static enum err read_cooling(struct ramses *r)
{
    char path[PATH_MAX], name[32];
    struct fort_in f;
    snprintf(name, sizeof name, "cooling_%05d.out", r->number);
    TRY(ramses_text_path(r, name, path, sizeof path));
    if (!file_exists(path)) return OK;
    enum err err = fort_open(&f, path);
    if (err == OK) err = check_cooling(r, &f);
    fort_shut(&f);
    return err;
}

enum err ramses_read_extras(struct ramses *r)
{
    TRY(read_sinks(r));
    TRY(read_stellar(r));
    return read_cooling(r);
}
