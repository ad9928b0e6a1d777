#include "plot/picture.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "io/image.h"
#include "io/stream.h"

enum picture_format picture_format_of(const char *path)
{
    static const char *const ending[] = {".png", ".svg", ".pdf"};
    size_t n = strlen(path);
    for (int i = 0; i < 3; i++)
        if (n > 4 && strcmp(path + n - 4, ending[i]) == 0) return (enum picture_format)(i + 1);
    return PICTURE_NONE;
}

/* Content of a file: a drawing, pixels or an array. */
struct content {
    const struct picture *drawing;
    int width, height;
    const unsigned char *rgb;
    const char *const *text;
    const double *const *x; /* [arrays] */
    int arrays;             /* 0: one of two dimensions */
};

/* Format version 1: magic, length of the header, header padded to a multiple of 64 bytes. */
bool array_head(FILE *out, int dimensions, const int *size)
{
    char head[128], shape[64] = "";
    size_t at = 0;
    for (int d = 0; d < dimensions && at < sizeof shape; d++)
        at += (size_t)snprintf(shape + at, sizeof shape - at, d ? ", %d" : "%d", size[d]);
    memcpy(head, "\x93NUMPY\x01\x00\x76\x00", 10);
    int n = 10 + snprintf(head + 10, sizeof head - 10,
                          "{'descr': '<f8', 'fortran_order': False, 'shape': (%s), }", shape);
    memset(head + n, ' ', sizeof head - (size_t)n);
    head[sizeof head - 1] = '\n';
    return fwrite(head, sizeof head, 1, out) == 1;
}

static int write_npy(FILE *out, const struct content *c)
{
    errno = 0;
    const size_t values = (size_t)c->width * (size_t)c->height;
    const int size[3] = {c->arrays, c->height, c->width};
    bool ok = array_head(out, c->arrays ? 3 : 2, c->arrays ? size : size + 1);
    for (int i = 0; i < (c->arrays ? c->arrays : 1) && ok; i++)
        ok = fwrite(c->x[i], sizeof **c->x, values, out) == values;
    return ok && fflush(out) == 0 ? 0 : errno ? errno : EIO;
}

static enum err write_content(FILE *out, const char *name, const struct content *c)
{
    if (c->drawing) return picture_write(out, name, c->drawing);
    int why = c->x ? write_npy(out, c) : image_write_png(out, c->width, c->height, c->rgb, c->text);
    if (why) FAIL(ERR_FILE, "%s: cannot write: %s", name, strerror(why));
    return OK;
}

static enum err write_stdout(const struct content *c)
{
    enum err err = write_content(stdout, "standard output", c);
    if (err != OK) log_stdout_told();
    return err;
}

static enum err save(const char *path, const struct content *c)
{
    if (strcmp(path, "-") == 0) return write_stdout(c);
    struct stream s;
    TRY(stream_open(&s, path));
    enum err err = write_content(s.f, path, c);
    if (err == OK) return stream_close(&s, 0);
    stream_drop(&s);
    return err;
}

enum err picture_save(const char *path, const struct picture *p)
{
    return save(path, &(struct content){.drawing = p});
}

enum err pixels_save(const char *path, int width, int height, const unsigned char *rgb,
                     const char *const *text)
{
    return save(path,
                &(struct content){.width = width, .height = height, .rgb = rgb, .text = text});
}

enum err array_save(const char *path, int width, int height, const double *x)
{
    return save(path, &(struct content){.width = width, .height = height, .x = &x});
}

enum err arrays_save(const char *path, int n, int width, int height, const double *const *x)
{
    return save(path, &(struct content){.width = width, .height = height, .x = x, .arrays = n});
}

enum err picture_save_numbers(const char *path, const char *source, const struct picture *p)
{
    struct stream s = {.f = stdout};
    if (!path) return OK;
    const bool piped = strcmp(path, "-") == 0;
    if (!piped) TRY(stream_open(&s, path));
    fprintf(s.f, "# ptah numbers 1\n# source\t%s\n", source);
    picture_numbers(s.f, p);
    return piped ? OK : stream_close(&s, 0);
}
