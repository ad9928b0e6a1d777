/* io/image: images of 8-bit RGB, as PNG. */
#pragma once
#include <stdio.h>

#include "base/err.h"

/* Writes width*height*3 bytes, top row first. text: pairs of keyword and value, NULL-terminated,
 * stored in the file; or NULL. Flushes out. Returns 0 or an errno. */
int image_write_png(FILE *out, int width, int height, const unsigned char *rgb,
                    const char *const *text);

enum { IMAGE_PIXELS = 1 << 28 }; /* maximum number of pixels that are read */
/* Reads a PNG of any kind as width*height*3 bytes, top row first (owner: caller, FREE);
 * transparent pixels on white. */
MUST_USE enum err image_read_png(const char *path, int *width, int *height, unsigned char **rgb);
