#include "formats/formats.h"

#include <stdio.h>
#include <string.h>

#include "formats/location.h"

#define WRITTEN(symbol)
#define READ(symbol) extern const struct source_kind symbol##_kind;
#define FORMAT(symbol, other)                                                                      \
    extern const struct source_kind symbol##_kind;                                                 \
    extern const struct writer_kind symbol##_writer;
#include "formats/formats.def"
#undef FORMAT
#undef READ
#undef WRITTEN

static const struct format TABLE[] = {
#define READ(symbol)
#define WRITTEN(symbol) {.name = #symbol},
#define FORMAT(symbol, other)                                                                      \
    {.name = #symbol, .alias = other, .reader = &symbol##_kind, .writer = &symbol##_writer},
#include "formats/formats.def"
#undef FORMAT
#undef READ
#undef WRITTEN
};
static const struct format ONLY_READ[] = {
#define FORMAT(symbol, other)
#define READ(symbol) {.name = #symbol, .reader = &symbol##_kind},
#define WRITTEN(symbol)
#include "formats/formats.def"
#undef FORMAT
#undef READ
#undef WRITTEN
};
enum { FORMATS_READ = sizeof ONLY_READ / sizeof *ONLY_READ };
enum { FORMATS = sizeof TABLE / sizeof *TABLE };

static const struct format *added;

void format_add(const struct format *f)
{
    added = f;
}

const struct format *format_recognise(const char *dir)
{
    if (added && added->reader && added->reader->is(dir)) return added;
    for (int k = 0; k < FORMATS; k++)
        if (TABLE[k].reader && TABLE[k].reader->is(dir)) return &TABLE[k];
    for (int k = 0; k < FORMATS_READ; k++)
        if (ONLY_READ[k].reader->is(dir)) return &ONLY_READ[k];
    return NULL;
}

const struct format *format_of(const char *path)
{
    char dir[PATH_MAX];
    location_of(path, dir);
    return format_recognise(dir);
}

const struct format *format_named(const char *name)
{
    if (format_is(added, name)) return added;
    for (int k = 0; k < FORMATS; k++) {
        const char *alias = TABLE[k].alias;
        if (strcmp(name, TABLE[k].name) == 0 || (alias && strcmp(name, alias) == 0))
            return &TABLE[k];
    }
    return NULL;
}

bool format_is(const struct format *f, const char *name)
{
    return f && strcmp(f->name, name) == 0;
}

void format_list(char *text, size_t n)
{
    text[0] = 0;
    for (int k = 0; k < FORMATS; k++) {
        size_t at = strlen(text);
        snprintf(text + at, n - at, "%s%s",
                 k == 0             ? ""
                 : k == FORMATS - 1 ? " or "
                                    : ", ",
                 TABLE[k].name);
    }
}

/* A directory of unknown format is opened as RAMSES binary, whose reader reports the error. */
enum err source_open(const char *path, struct source **out)
{
    char dir[PATH_MAX];
    location_of(path, dir);
    const struct format *f = format_recognise(dir);
    *out = NULL;
    if (!f) TRY(location_explain(dir));
    return source_open_as(f ? f->reader : &ramses_kind, dir, out);
}

enum err source_open_whole(const char *path, enum source_mode *mode, struct source **out)
{
    TRY(source_open(path, out));
    enum err err = source_whole(*out, mode);
    if (err != OK) source_close(out);
    return err;
}

enum err source_open_state(const char *path, double gamma, double smallr, struct source **out)
{
    TRY(source_open(path, out));
    enum err err = source_state(*out, gamma, smallr);
    if (err != OK) source_close(out);
    return err;
}
