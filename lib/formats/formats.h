/* formats: the table of formats that this build knows. It recognises and opens checkpoints and
 * finds formats by name. The functions of a format are its table (ckpt/source.h). */
#pragma once
#include "ckpt/source.h"
#include "out/writer.h"

struct format {
    const char *name, *alias;         /* as users call it · as RAMSES's namelist does; NULL */
    const struct source_kind *reader; /* NULL: it is not read */
    const struct writer_kind *writer; /* NULL: it is no checkpoint that a run could resume from */
};

/* Adds a format, for programs with one of their own; it is tried first (lent). */
void format_add(const struct format *f);
/* The format of a directory, or NULL. */
const struct format *format_recognise(const char *dir);
/* The format of the checkpoint that a path means (formats/location.h), or NULL. */
const struct format *format_of(const char *path);
const struct format *format_named(const char *name); /* or NULL */
bool format_is(const struct format *f, const char *name);
/* "hdf5, ramses or gadget" */
void format_list(char *text, size_t n);
/* Opens a checkpoint of any format: a directory, or a file in it. */
MUST_USE enum err source_open(const char *path, struct source **out);
/* source_open, then source_whole. */
MUST_USE enum err source_open_whole(const char *path, enum source_mode *mode, struct source **out);
/* source_open, then source_state. */
MUST_USE enum err source_open_state(const char *path, double gamma, double smallr,
                                    struct source **out);
