/* io/image: pictures of 8-bit RGB, as PNG. */
#pragma once
#include <stdio.h>

/* width*height*3 bytes, top row first. text: pairs of keyword and value, ended by NULL, kept in the
 * picture; or NULL. Flushes out. Returns 0 or an errno. */
int image_write_png(FILE *out, int width, int height, const unsigned char *rgb,
                    const char *const *text);
