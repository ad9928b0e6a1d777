#include "io/image.h"

#include <errno.h>
#include <png.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/file.h"

enum { TEXT_MAX = 16 };

static void on_error(png_structp p, png_const_charp why)
{
    (void)why; /* errno is more specific: only writing can fail here */
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
        t[n].key = (char *)(uintptr_t)text[0]; /* libpng copies both strings */
        t[n].text = (char *)(uintptr_t)text[1];
    }
    png_set_text(p, info, t, n);
}

static void write_picture(png_structp p, png_infop info, int width, int height,
                          const unsigned char *rgb, const char *const *text)
{
    png_set_IHDR(p, info, (png_uint_32)width, (png_uint_32)height, 8, PNG_COLOR_TYPE_RGB,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    add_text(p, info, text);
    png_write_info(p, info);
    for (int y = 0; y < height; y++) png_write_row(p, rgb + (size_t)y * (size_t)width * 3);
    png_write_end(p, info);
}

int image_write_png(FILE *out, int width, int height, const unsigned char *rgb,
                    const char *const *text)
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
    write_picture(p, info, width, height, rgb, text);
    png_destroy_write_struct(&p, &info);
    return fflush(out) == 0 ? 0 : errno;
}

static enum err read_image(const char *path, png_image *p, FILE *f, unsigned char **rgb)
{
    static const png_color white = {255, 255, 255};
    if (!png_image_begin_read_from_stdio(p, f))
        FAIL(ERR_FORMAT, "%s: is no PNG that can be read: %s", path, p->message);
    if ((int64_t)p->width * p->height > IMAGE_PIXELS)
        FAIL(ERR_FORMAT, "%s: the image has %lu x %lu pixels; at most %d in all are read", path,
             (unsigned long)p->width, (unsigned long)p->height, IMAGE_PIXELS);
    p->format = PNG_FORMAT_RGB;
    *rgb = mem_new(PNG_IMAGE_SIZE(*p), "picture");
    if (!png_image_finish_read(p, &white, *rgb, 0, NULL))
        FAIL(ERR_FORMAT, "%s: the image is damaged: %s", path, p->message);
    return OK;
}

enum err image_read_png(const char *path, int *width, int *height, unsigned char **rgb)
{
    png_image p = {.version = PNG_IMAGE_VERSION};
    int fd;
    int64_t size;
    *rgb = NULL;
    TRY(file_open(path, &fd, &size));
    FILE *f = fdopen(fd, "rb");
    if (!f) close(fd);
    if (!f) FAIL(ERR_FILE, "%s: cannot be opened: %s", path, strerror(errno));
    const enum err err = read_image(path, &p, f, rgb);
    *width = (int)p.width, *height = (int)p.height;
    png_image_free(&p);
    fclose(f);
    if (err != OK) FREE(*rgb);
    return err;
}
