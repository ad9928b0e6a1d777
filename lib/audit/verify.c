#include "audit/verify.h"

#include <limits.h>
#include <stdio.h>

#include "ckpt/manifest.h"
#include "formats/formats.h"
#include "io/file.h"

static enum err pass_octs(const struct source_octs *o, void *ctx)
{
    return OK;
}

static enum err pass_parts(const struct source_parts *p, void *ctx)
{
    return OK;
}

/* Reads the share of this rank in the pieces of a format that contains its checksums. */
static enum err read_pieces(struct source *s, const struct comm *c)
{
    char path[PATH_MAX];
    if (!s->sums) return OK;
    for (int piece = c->rank; piece < s->npiece; piece += c->size) {
        source_file(s, FILES_AMR, piece, path);
        file_forget(path);
        TRY(source_octs(s, piece, SOURCE_STORED, pass_octs, NULL));
        TRY(source_parts(s, piece, SOURCE_STORED, pass_parts, NULL));
    }
    return OK;
}

static enum err verify_share(const char *path, int number, const struct comm *c)
{
    char data[PATH_MAX];
    struct manifest *m;
    struct source *s = NULL;
    TRY(manifest_load(path, number, &m));
    if (!m)
        FAIL(ERR_FORMAT,
             "%s: has no list of its files, checksums_NNNNN.txt, and cannot be verified", path);
    enum err err = OK;
    for (int64_t i = c->rank; err == OK && i < m->n; i += c->size) {
        snprintf(data, sizeof data, "%.3900s/%s", path, m->row[i].name);
        file_forget(data);
        err = manifest_check_file(m, path, m->row[i].name);
    }
    manifest_free(&m);
    if (err == OK) err = source_open(path, &s);
    if (err == OK) err = read_pieces(s, c);
    source_close(&s);
    return err;
}

enum err ckpt_verify(const char *path, int number, const struct comm *c)
{
    return err_agree(c, verify_share(path, number, c));
}
