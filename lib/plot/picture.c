/* inspect: see picture.h. */
#include "plot/picture.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "io/image.h"
#include "io/stream.h"

struct content {
    int width, height;
    const unsigned char *rgb;
    const char *const *text;
    const double *x; /* NULL: a picture */
};

/* Format version 1: magic, length of the header, header padded to a multiple of 64 bytes. */
static int write_npy(FILE *out, const struct content *c)
{
    char head[128];
    memcpy(head, "\x93NUMPY\x01\x00\x76\x00", 10);
    int n = 10 + snprintf(head + 10, sizeof head - 10,
                          "{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }",
                          c->height, c->width);
    memset(head + n, ' ', sizeof head - (size_t)n);
    head[sizeof head - 1] = '\n';
    errno = 0;
    size_t values = (size_t)c->width * (size_t)c->height;
    bool ok = fwrite(head, sizeof head, 1, out) == 1 &&
              fwrite(c->x, sizeof *c->x, values, out) == values;
    return ok && fflush(out) == 0 ? 0 : errno ? errno : EIO;
}

static int write_content(FILE *out, const struct content *c)
{
    return c->x ? write_npy(out, c) : image_write_png(out, c->width, c->height, c->rgb, c->text);
}

static enum err save(const char *path, const struct content *c)
{
    if (strcmp(path, "-") == 0) {
        int why = write_content(stdout, c);
        if (why) FAIL(ERR_FILE, "standard output: %s", strerror(why));
        return OK;
    }
    struct stream s;
    TRY(stream_open(&s, path));
    return stream_close(&s, write_content(s.f, c));
}

enum err picture_save(const char *path, int width, int height, const unsigned char *rgb,
                      const char *const *text)
{
    struct content c = {.width = width, .height = height, .rgb = rgb, .text = text};
    return save(path, &c);
}

enum err array_save(const char *path, int width, int height, const double *x)
{
    struct content c = {.width = width, .height = height, .x = x};
    return save(path, &c);
}
