/* inspect: pictures of 8-bit RGB. */
#pragma once
#include "base/err.h"

/* width*height*3 bytes, top row first. text: pairs of keyword and value, ended by NULL, kept in the picture. path "-": standard
 * output; otherwise the file appears whole or not at all. */
MUST_USE enum err picture_save(const char *path, int width, int height, const unsigned char *rgb,
                               const char *const *text);
