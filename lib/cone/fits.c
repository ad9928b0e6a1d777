/* cone/fits: see fits.h. */
#include "cone/fits.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"

static void card(struct fits_head *f, const char *text)
{
    size_t n = strlen(text);
    BUG_ON(n > FITS_CARD || f->n + FITS_CARD > FITS_HEAD);
    memset(f->text + f->n, ' ', FITS_CARD);
    memcpy(f->text + f->n, text, n);
    f->n += FITS_CARD;
}

static void value(struct fits_head *f, const char *key, const char *x, const char *comment)
{
    char text[FITS_CARD + 1];
    snprintf(text, sizeof text, "%-8s= %20s%s%s", key, x, *comment ? " / " : "", comment);
    card(f, text);
}

void fits_bool(struct fits_head *f, const char *key, int x)
{
    value(f, key, x ? "T" : "F", "");
}

void fits_whole(struct fits_head *f, const char *key, int64_t x, const char *comment)
{
    char text[32];
    snprintf(text, sizeof text, "%ld", (long)x);
    value(f, key, text, comment);
}

void fits_real(struct fits_head *f, const char *key, double x, const char *comment)
{
    char text[32];
    snprintf(text, sizeof text, "%.16E", x);
    value(f, key, text, comment);
}

void fits_word(struct fits_head *f, const char *key, const char *x, const char *comment)
{
    char text[FITS_CARD + 1];
    snprintf(text, sizeof text, "%-8s= '%-8s'%s%s", key, x, *comment ? " / " : "", comment);
    card(f, text);
}

void fits_end(struct fits_head *f)
{
    card(f, "END");
    while (f->n % FITS_BLOCK) card(f, "");
}

void fits_store(uint64_t x, unsigned char to[8])
{
    for (int k = 0; k < 8; k++) to[k] = (unsigned char)(x >> (56 - 8 * k));
}
