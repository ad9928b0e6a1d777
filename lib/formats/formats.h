/* formats: the table of formats known to this build; recognises and opens checkpoints and finds
 * formats by name. The functions of a format are in its table (ckpt/source.h). */
#pragma once
#include "ckpt/source.h"
#include "out/writer.h"

struct format {
    const char *name, *alias;         /* name for users · name in RAMSES's namelist, or NULL */
    const struct source_kind *reader; /* reader; NULL: cannot be read */
    const struct writer_kind *writer; /* writer; NULL: not a checkpoint for resuming a run */
};

/* Adds a program's own format, which is tested first (lent). */
void format_add(const struct format *f);
/* The format of a directory, or NULL. */
const struct format *format_recognise(const char *dir);
/* The format of the checkpoint that a path refers to (formats/location.h), or NULL. */
const struct format *format_of(const char *path);
const struct format *format_named(const char *name); /* NULL: unknown name */
bool format_is(const struct format *f, const char *name);
/* Writes the list of names, such as "hdf5, ramses or gadget". */
void format_list(char *text, size_t n);
/* Opens a checkpoint of any format, given as a directory or a file in it. */
MUST_USE enum err source_open(const char *path, struct source **out);
/* source_open followed by source_whole. */
MUST_USE enum err source_open_whole(const char *path, enum source_mode *mode, struct source **out);
/* source_open followed by source_state. */
MUST_USE enum err source_open_state(const char *path, double gamma, double smallr,
                                    struct source **out);
