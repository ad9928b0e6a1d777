/* plot/picture: files of maps: pictures of 8-bit RGB, arrays. They get their name when they are
 * complete; path "-": standard output. */
#pragma once
#include "base/err.h"

/* width*height*3 bytes, top row first. text: pairs of keyword and value, ended by NULL, stored in
 * the picture. */
MUST_USE enum err picture_save(const char *path, int width, int height, const unsigned char *rgb,
                               const char *const *text);
/* NumPy's format: height rows of width doubles, first row first. */
MUST_USE enum err array_save(const char *path, int width, int height, const double *x);
