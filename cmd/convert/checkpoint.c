/* convert: conversion of one checkpoint: source, optional cut to a region, and writer of the
 * result. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "convert.h"
#include "formats/formats.h"
#include "gadget/gadget.h"
#include "out/carry.h"
#include "reshape/reshape.h"
#include "sphfile/either.h"

static enum err open_source(const struct request *r, const struct format *f, const char *in,
                            enum source_mode *mode, struct source **s);
static enum err name_result(const struct request *r, const struct format *f, const struct source *s,
                            char *path, size_t n);
static enum err write_checkpoint(const struct request *r, const struct format *f,
                                 enum source_mode mode, struct source *s, const char *path,
                                 const struct comm *c);
static enum err write_gadget(const struct request *r, struct source *s, char *path, size_t n);

static const struct format *other_format(const struct request *r, const char *in)
{
    if (r->deposit) return format_named("hdf5");
    return format_named(format_is(format_of(in), "ramses") ? "hdf5" : "ramses");
}

/* Logs that the result is a directory: in most programs such a name belongs to a file. */
static void log_directory(const char *path, const struct source *s)
{
    const char *end = strrchr(path, '.');
    char name[FILES_NAME];
    if (!end || (strcmp(end, ".h5") != 0 && strcmp(end, ".hdf5") != 0)) return;
    files_name(FILES_HDF5, s->number, 0, name);
    log_info("convert: %s is a directory, as all checkpoints are; its cells and particles are in "
             "%s/%s",
             path, path, name);
}

enum err convert_checkpoint(const struct request *r, const char *in, const struct comm *c,
                            char *path, size_t n)
{
    struct source *s = NULL;
    const struct format *f = r->format ? r->format : other_format(r, in);
    enum source_mode mode;
    if (r->deposit && !sphfile_either_is(in))
        FAIL(ERR_PARAM, "%s: has no smoothed particles for --deposit", in);
    if (convert_is_cube(r)) return err_agree(c, c->rank == 0 ? convert_cube(r, in, path, n) : OK);
    if (convert_has_particles(r, in))
        return err_agree(c, c->rank == 0 ? convert_particles(r, in, path, n) : OK);
    if (r->uniform) return convert_uniform(r, in, c, path, n);
    if (format_is(f, "vtk")) return err_agree(c, c->rank == 0 ? convert_vtk(r, in, path, n) : OK);
    if (format_is(f, "vti")) return err_agree(c, c->rank == 0 ? convert_vti(r, in, path, n) : OK);
    enum err err = err_agree(c, open_source(r, f, in, &mode, &s));
    if (err == OK) {
        err = c->rank == 0 ? name_result(r, f, s, path, n) : OK;
        err = err_agree(c, err);
        if (err == OK) comm_bcast(c, path, n, 0);
        if (err == OK && !f->writer)
            err = err_agree(c, c->rank == 0 ? write_gadget(r, s, path, n) : OK);
        else if (err == OK)
            err = write_checkpoint(r, f, mode, s, path, c);
        if (err == OK && format_is(f, "hdf5")) log_directory(path, s);
    }
    source_close(&s);
    return err;
}

static enum err open_source(const struct request *r, const struct format *f, const char *in,
                            enum source_mode *mode, struct source **s)
{
    *mode = SOURCE_STATE;
    if (!f->writer)
        TRY(source_open_state(in, 0, 0, s));
    else
        TRY(source_open_whole(in, mode, s));
    log_line(1, "%s: %s, output %d, levels %d to %d", in, (*s)->format, (*s)->number,
             (*s)->head.levelmin, (*s)->head.levelmax);
    if (!r->region && !r->cut.levelmax) return OK;
    struct source *whole = *s;
    return source_cut(whole, &r->cut, s);
}

/* Path of the result: OUT for a single checkpoint; otherwise a name in the directory OUT, which is
 * created. */
static enum err name_result(const struct request *r, const struct format *f, const struct source *s,
                            char *path, size_t n)
{
    bool single = r->out && r->npath == 1 && strcmp(r->paths[0], "-") != 0;
    const char *dir = r->out ? r->out : f->name;
    int k;
    if (!single && mkdir(dir, 0777) != 0 && errno != EEXIST)
        FAIL(ERR_FILE, "%s: %s", dir, strerror(errno));
    if (single)
        k = snprintf(path, n, "%s", r->out);
    else if (!f->writer)
        k = snprintf(path, n, "%s/snapshot_%03d%s", dir, s->number,
                     format_is(f, "gadget") ? "" : ".hdf5");
    else
        k = snprintf(path, n, "%s/output_%05d", dir, s->number);
    if (k < 0 || (size_t)k >= n) FAIL(ERR_FILE, "%.80s…: the path is too long", dir);
    if (f->writer)
        while (k > 1 && path[k - 1] == '/') path[--k] = 0;
    return OK;
}

/* Loads a text file of the checkpoint, "" if it has none. Owner: caller. */
static enum err load_text(struct source *s, enum files_kind k, char **text)
{
    size_t n;
    TRY(source_text(s, k, text, &n));
    if (!*text) *text = mem_zero(1, "provenance");
    return OK;
}

/* Provenance: a record of the conversion, followed by the history in the checkpoint. */
static char *log_text(const struct request *r, const struct source *s, const char *before)
{
    size_t n = strlen(r->provenance) + strlen(before) + strlen(s->path) + 256;
    char *text = mem_new(n, "provenance"), from[PATH_MAX];
    snprintf(from, sizeof from, "%s", s->path);
    plain_line(from);
    snprintf(text, n, "%sfrom: %s (%s, output %d)\n%s", r->provenance, from, s->format, s->number,
             before);
    return text;
}

static enum err write_checkpoint(const struct request *r, const struct format *f,
                                 enum source_mode mode, struct source *s, const char *path,
                                 const struct comm *c)
{
    char *namelist = NULL, *before = NULL, *text = NULL;
    enum err err = load_text(s, FILES_NAMELIST, &namelist);
    if (err == OK) err = load_text(s, FILES_HISTORY, &before);
    err = err_agree(c, err);
    if (err == OK) {
        text = log_text(r, s, before);
        struct reshape opt = {.out = path,
                              .writer = f->writer,
                              .mode = mode,
                              .kind = DOMAIN_HILBERT,
                              .nrank = r->ranks ? r->ranks : 1,
                              .memory = r->memory,
                              .deflate = r->deflate,
                              .overwrite = r->force,
                              .namelist = namelist,
                              .provenance = text};
        s->head.legacy = r->legacy;
        err = reshape_run(&opt, s, c);
    }
    FREE(namelist);
    FREE(before);
    FREE(text);
    return err;
}

/* Logs which particles a snapshot lacks, and why. */
static void log_left_out(const struct source *s, const int64_t n[FAMILIES])
{
    for (int i = 0; i < FAMILIES; i++) {
        const char *why = FAMILY_ROW[i].number == FAM_CLOUD ? "they stand for sinks"
                                                            : "tracers have no mass";
        if (n[i])
            log_info("convert: %s: %ld particles of the family %s are left out of the Gadget "
                     "snapshot: %s",
                     s->path, (long)n[i], FAMILY_ROW[i].name, why);
    }
}

/* Whether a snapshot lacks what the source has left out: in HDF5 sinks are black holes. */
static bool loses(const struct source *s, bool binary)
{
    return *s->left_out && (binary || strcmp(s->left_out, "sink particles") != 0);
}

static enum err write_gadget(const struct request *r, struct source *s, char *path, size_t n)
{
    char *out = mem_new(n, "path");
    int64_t left_out[FAMILIES] = {0};
    const enum gadget_form form = format_is(r->format, "gadget")    ? GADGET_FORM_BINARY
                                  : format_is(r->format, "gadget4") ? GADGET_FORM_4
                                                                    : GADGET_FORM_SWIFT;
    memcpy(out, path, n);
    if (loses(s, form == GADGET_FORM_BINARY))
        log_info("convert: %s: left out, since a Gadget snapshot cannot hold it: %s", s->path,
                 s->left_out);
    enum err err = carry_log_losses(s, false);
    struct gadget opt = {.form = form,
                         .out = out,
                         .provenance = r->provenance,
                         .gas = r->gas,
                         .named = r->named,
                         .nfile = r->files,
                         .overwrite = r->force};
    if (err == OK) err = gadget_write(&opt, s, path, n, left_out);
    if (err == OK) log_left_out(s, left_out);
    FREE(out);
    return err;
}
