/* io/image: images of 8-bit RGB, as PNG. */
#pragma once
#include <stdio.h>

/* Writes width*height*3 bytes, top row first. text: pairs of keyword and value, NULL-terminated,
 * stored in the file; or NULL. Flushes out. Returns 0 or an errno. */
int image_write_png(FILE *out, int width, int height, const unsigned char *rgb,
                    const char *const *text);
