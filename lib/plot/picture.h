/* inspect: files of maps: pictures of 8-bit RGB, arrays. They appear under their name whole or not
 * at all; path "-": standard output. */
#pragma once
#include "base/err.h"

/* width*height*3 bytes, top row first. text: pairs of keyword and value, ended by NULL, kept in the
 * picture. */
MUST_USE enum err picture_save(const char *path, int width, int height, const unsigned char *rgb,
                               const char *const *text);
/* NumPy's format: height rows of width doubles, first row first. */
MUST_USE enum err array_save(const char *path, int width, int height, const double *x);
