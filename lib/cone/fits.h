/* cone/fits: header blocks of FITS files (Pence et al. 2010): cards of 80 characters in blocks of
 * 2880 bytes. Private to cone. */
#pragma once
#include <stddef.h>
#include <stdint.h>

enum { FITS_CARD = 80, FITS_BLOCK = 2880, FITS_HEAD = 2 * FITS_BLOCK };

struct fits_head {
    size_t n;
    char text[FITS_HEAD];
};

void fits_bool(struct fits_head *f, const char *key, int x);
void fits_whole(struct fits_head *f, const char *key, int64_t x, const char *comment);
void fits_real(struct fits_head *f, const char *key, double x, const char *comment);
void fits_word(struct fits_head *f, const char *key, const char *x, const char *comment);
/* Ends a header, and pads it to whole blocks. */
void fits_end(struct fits_head *f);
/* x in the byte order of FITS. */
void fits_store(uint64_t x, unsigned char to[8]);
