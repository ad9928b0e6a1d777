/* inspect: see picture.h. */
#include "picture.h"

#include <errno.h>
#include <limits.h>
#include <png.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_MAX = 16 };

struct content {
    int width, height;
    const unsigned char *rgb;
    const char *const *text;
    const double *x; /* NULL: a picture */
};

static void on_error(png_structp p, png_const_charp why)
{
    (void)why; /* errno says more: only writing can fail here */
    longjmp(png_jmpbuf(p), 1);
}

static void on_warning(png_structp p, png_const_charp why)
{
    (void)p, (void)why;
}

static void add_text(png_structp p, png_infop info, const char *const *text)
{
    png_text t[TEXT_MAX] = {0};
    int n = 0;
    for (; text && text[0] && text[1] && n < TEXT_MAX; text += 2, n++) {
        t[n].compression = PNG_TEXT_COMPRESSION_NONE;
        t[n].key = (char *)(uintptr_t)text[0]; /* libpng copies both */
        t[n].text = (char *)(uintptr_t)text[1];
    }
    png_set_text(p, info, t, n);
}

static void write_picture(png_structp p, png_infop info, int width, int height, const unsigned char *rgb,
                          const char *const *text)
{
    png_set_IHDR(p, info, (png_uint_32)width, (png_uint_32)height, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    add_text(p, info, text);
    png_write_info(p, info);
    for (int y = 0; y < height; y++) png_write_row(p, rgb + (size_t)y * (size_t)width * 3);
    png_write_end(p, info);
}

/* 0, or errno. */
static int write_png(FILE *out, const struct content *c)
{
    png_structp p = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, on_error, on_warning);
    png_infop info = p ? png_create_info_struct(p) : NULL;
    if (!info) {
        png_destroy_write_struct(&p, NULL);
        return ENOMEM;
    }
    errno = 0;
    if (setjmp(png_jmpbuf(p))) {
        int why = errno ? errno : EIO;
        png_destroy_write_struct(&p, &info);
        return why;
    }
    png_init_io(p, out);
    write_picture(p, info, c->width, c->height, c->rgb, c->text);
    png_destroy_write_struct(&p, &info);
    return fflush(out) == 0 ? 0 : errno;
}

/* Format version 1: magic, length of the header, header padded to a multiple of 64 bytes. */
static int write_npy(FILE *out, const struct content *c)
{
    char head[128];
    memcpy(head, "\x93NUMPY\x01\x00\x76\x00", 10);
    int n = 10 + snprintf(head + 10, sizeof head - 10, "{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }",
                          c->height, c->width);
    memset(head + n, ' ', sizeof head - (size_t)n);
    head[sizeof head - 1] = '\n';
    errno = 0;
    size_t values = (size_t)c->width * (size_t)c->height;
    bool ok = fwrite(head, sizeof head, 1, out) == 1 && fwrite(c->x, sizeof *c->x, values, out) == values;
    return ok && fflush(out) == 0 ? 0 : errno ? errno : EIO;
}

static int write_content(FILE *out, const struct content *c)
{
    return c->x ? write_npy(out, c) : write_png(out, c);
}

static enum err save(const char *path, const struct content *c)
{
    char part[PATH_MAX];
    if (strcmp(path, "-") == 0) {
        int why = write_content(stdout, c);
        if (why) FAIL(ERR_FILE, "standard output: %s", strerror(why));
        return OK;
    }
    if (snprintf(part, sizeof part, "%s.part", path) >= (int)sizeof part) FAIL(ERR_FILE, "%.80s…: path too long", path);
    FILE *out = fopen(part, "wb");
    if (!out) FAIL(ERR_FILE, "%s: cannot create: %s", part, strerror(errno));
    int why = write_content(out, c);
    if (fclose(out) != 0 && !why) why = errno;
    if (!why && rename(part, path) != 0) why = errno;
    if (!why) return OK;
    unlink(part);
    FAIL(ERR_FILE, "%s: cannot write: %s", path, strerror(why));
}

enum err picture_save(const char *path, int width, int height, const unsigned char *rgb, const char *const *text)
{
    struct content c = {.width = width, .height = height, .rgb = rgb, .text = text};
    return save(path, &c);
}

enum err array_save(const char *path, int width, int height, const double *x)
{
    struct content c = {.width = width, .height = height, .x = x};
    return save(path, &c);
}
