/* export/cube_fits: cubes as FITS (Pence et al. 2010): an image of 64-bit numbers a field, the
 * first in the primary header, others in extensions with its name. Cards of 80 bytes fill blocks of
 * 2880; numbers are big-endian. BSCALE makes code units physical, in BUNIT. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "export/cube_out.h"
#include "export/sink.h"

enum { CARD = 80, BLOCK = 2880, BATCH = 4096, TEXT = 68 };

struct fits {
    struct sink sink;
    const struct cube *q;
    const struct cube_out *o;
    int64_t written; /* bytes of this header or image */
    bool good;
};

static void put(struct fits *f, const void *p, size_t n)
{
    f->good = f->good && sink_put(&f->sink, p, n);
    f->written += (int64_t)n;
}

static void pad(struct fits *f, char with)
{
    char rest[BLOCK];
    memset(rest, with, sizeof rest);
    put(f, rest, (size_t)((BLOCK - f->written % BLOCK) % BLOCK));
    f->written = 0;
}

static void put_card(struct fits *f, const char *text)
{
    char card[CARD + 1];
    snprintf(card, sizeof card, "%-80.80s", text);
    for (int i = 0; i < CARD; i++) /* FITS allows printable ASCII only */
        if (card[i] < ' ' || card[i] > '~') card[i] = '?';
    put(f, card, CARD);
}

static void put_value(struct fits *f, const char *key, const char *value, const char *comment)
{
    char text[256];
    snprintf(text, sizeof text, "%-8s= %20s / %s", key, value, comment);
    put_card(f, text);
}

static void put_whole(struct fits *f, const char *key, int64_t x, const char *comment)
{
    char text[40];
    snprintf(text, sizeof text, "%ld", (long)x);
    put_value(f, key, text, comment);
}

static void put_real(struct fits *f, const char *key, double x, const char *comment)
{
    char text[40];
    snprintf(text, sizeof text, "%.16E", x);
    if (isfinite(x)) put_value(f, key, text, comment);
}

static void put_text(struct fits *f, const char *key, const char *x, const char *comment)
{
    char text[256], value[TEXT + 1];
    size_t n = 0;
    for (const char *c = x; *c && *c != '\n' && n < TEXT - 2; c++) {
        value[n++] = *c;
        if (*c == '\'') value[n++] = '\'';
    }
    value[n] = 0;
    snprintf(text, sizeof text, "%-8s= '%-8s' / %s", key, value, comment);
    put_card(f, text);
}

static void put_axes(struct fits *f)
{
    const struct cube *q = f->q;
    const double box = q->list.s->head.boxlen;
    for (int d = 0; d < q->ndim; d++) {
        char key[16];
        snprintf(key, sizeof key, "CTYPE%d", d + 1);
        put_text(f, key, (const char *const[]){"X", "Y", "Z"}[d], "axis");
        snprintf(key, sizeof key, "CRPIX%d", d + 1);
        put_real(f, key, 0.5, "its lower edge, as a pixel");
        snprintf(key, sizeof key, "CRVAL%d", d + 1);
        put_real(f, key, q->lo[d] * box, "coordinate there, code units");
        snprintf(key, sizeof key, "CDELT%d", d + 1);
        put_real(f, key, q->side * box, "side of a cell, code units");
    }
}

static void put_run(struct fits *f)
{
    const struct ckpt_head *h = &f->q->list.s->head;
    put_real(f, "TIME", h->t, "code units");
    if (h->cosmo) put_real(f, "AEXP", h->aexp, "expansion factor");
    if (h->cosmo) put_real(f, "REDSHIFT", 1 / h->aexp - 1, "");
    put_real(f, "BOXLEN", h->boxlen, "side of the box, code units");
    put_real(f, "UNIT_L", h->unit_l, "code unit of length, cm");
    put_real(f, "UNIT_D", h->unit_d, "code unit of density, g/cm^3");
    put_real(f, "UNIT_T", h->unit_t, "code unit of time, s");
}

static void put_header(struct fits *f, int field)
{
    const struct cube *q = f->q;
    const struct export_field *e = &q->list.field[field];
    const struct unit u = cube_unit(q, field);
    f->written = 0;
    if (field == 0)
        put_value(f, "SIMPLE", "T", "FITS");
    else
        put_text(f, "XTENSION", "IMAGE", "one field");
    put_whole(f, "BITPIX", -64, "64-bit floating point");
    put_whole(f, "NAXIS", q->ndim, "");
    for (int d = 0; d < q->ndim; d++) {
        char key[16];
        snprintf(key, sizeof key, "NAXIS%d", d + 1);
        put_whole(f, key, q->n[d], "cells");
    }
    if (field == 0 && q->list.n > 1) put_value(f, "EXTEND", "T", "a field an extension");
    if (field > 0) put_whole(f, "PCOUNT", 0, "");
    if (field > 0) put_whole(f, "GCOUNT", 1, "");
    put_text(f, "EXTNAME", e->name, export_description(e->name));
    if (*u.name) put_text(f, "BUNIT", u.name, "after scaling by BSCALE");
    if (u.worth != 1) put_real(f, "BSCALE", u.worth, "of a code unit");
    put_axes(f);
    put_run(f);
    put_text(f, "ORIGIN", "Ptah", "");
    if (field == 0 && f->o->provenance) {
        char text[CARD + 1];
        snprintf(text, sizeof text, "HISTORY %.*s", (int)strcspn(f->o->provenance, "\n"),
                 f->o->provenance);
        put_card(f, text);
    }
    put_card(f, "END");
    pad(f, ' ');
}

static enum err take(void *ctx, int field, int64_t first, int64_t n, const double *value)
{
    struct fits *f = ctx;
    unsigned char big[8 * BATCH];
    if (first == 0) put_header(f, field);
    for (int64_t at = 0; at < n; at += BATCH) {
        const int64_t k = BATCH < n - at ? BATCH : n - at;
        for (int64_t i = 0; i < k; i++) {
            uint64_t bits;
            memcpy(&bits, value + at + i, sizeof bits);
            for (int b = 0; b < 8; b++) big[8 * i + b] = (unsigned char)(bits >> (56 - 8 * b));
        }
        put(f, big, 8 * (size_t)k);
    }
    if (first + n == cube_cells(f->q)) pad(f, 0);
    return f->good ? OK : sink_failed(&f->sink);
}

enum err cube_write_fits(struct cube *q, const struct cube_out *o)
{
    struct fits f = {.q = q, .o = o, .good = true};
    TRY(sink_open(&f.sink, o->path, o->force));
    return sink_close(&f.sink, cube_read(q, true, take, &f));
}
