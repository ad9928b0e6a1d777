/* film/apng: an animated PNG (W3C, Portable Network Graphics, third edition): a PNG whose further
 * pictures are in chunks fdAT. libpng compresses each, as a PNG of its own in memory, whose chunks
 * are copied. Of a picture only the rectangle in which it differs from the one before is stored. */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>

#include "base/mem.h"
#include "film/reel.h"
#include "io/image.h"

struct area {
    int x, y, columns, rows;
};

/* ---- chunks ---- */

static void put_be(unsigned char *to, int bytes, uint32_t x)
{
    for (int i = 0; i < bytes; i++) to[i] = (unsigned char)(x >> 8 * (bytes - 1 - i));
}

static uint32_t get_be(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Writes a chunk, whose data are a head and a rest. */
static enum err put_chunk(struct reel *r, const char *name, const void *head, size_t nhead,
                          const void *rest, size_t nrest)
{
    unsigned char length[4], sum[4];
    uLong crc = crc32_z(crc32(0, Z_NULL, 0), (const Bytef *)name, 4);
    if (nhead) crc = crc32_z(crc, head, nhead);
    if (nrest) crc = crc32_z(crc, rest, nrest);
    put_be(length, 4, (uint32_t)(nhead + nrest));
    put_be(sum, 4, (uint32_t)crc);
    errno = 0;
    const bool good = fwrite(length, 4, 1, r->out) == 1 && fwrite(name, 4, 1, r->out) == 1 &&
                      fwrite(head, 1, nhead, r->out) == nhead &&
                      fwrite(rest, 1, nrest, r->out) == nrest && fwrite(sum, 4, 1, r->out) == 1;
    return good ? OK : reel_failed(r);
}

/* Number of pictures; 0: they are repeated without end. */
static enum err put_actl(struct reel *r)
{
    unsigned char data[8] = {0};
    put_be(data, 4, (uint32_t)r->how.frames);
    return put_chunk(r, "acTL", data, sizeof data, "", 0);
}

/* The place and the duration of the next picture, as a fraction of a second. */
static enum err put_fctl(struct reel *r, const struct area *a)
{
    unsigned char data[26] = {0}; /* the last two bytes: pixels stay, and are replaced */
    const double rate = r->how.rate;
    const bool whole = rate == rint(rate);
    put_be(data, 4, r->sequence++);
    put_be(data + 4, 4, (uint32_t)a->columns);
    put_be(data + 8, 4, (uint32_t)a->rows);
    put_be(data + 12, 4, (uint32_t)a->x);
    put_be(data + 16, 4, (uint32_t)a->y);
    put_be(data + 20, 2, whole ? 1 : (uint32_t)rint(1000 / rate));
    put_be(data + 22, 2, whole ? (uint32_t)rate : 1000);
    return put_chunk(r, "fcTL", data, sizeof data, "", 0);
}

static enum err put_data(struct reel *r, const unsigned char *data, size_t n)
{
    unsigned char sequence[4];
    if (r->done == 1) return put_chunk(r, "IDAT", data, n, "", 0);
    put_be(sequence, 4, r->sequence++);
    return put_chunk(r, "fdAT", sequence, sizeof sequence, data, n);
}

/* ---- pictures ---- */

/* Copies chunks of a PNG: those before the pixels, of the first picture only; the pixels. */
static enum err copy_chunks(struct reel *r, const struct area *a, const unsigned char *png,
                            size_t n)
{
    enum { SIGNATURE = 8, AROUND = 12 };
    bool begun = false;
    errno = 0;
    if (r->done == 1 && fwrite(png, SIGNATURE, 1, r->out) != 1) return reel_failed(r);
    for (size_t at = SIGNATURE; at + AROUND <= n;) {
        const size_t length = get_be(png + at);
        const char *name = (const char *)png + at + 4;
        const unsigned char *data = png + at + 8;
        BUG_ON(length > n - at - AROUND);
        const bool pixels = strncmp(name, "IDAT", 4) == 0, end = strncmp(name, "IEND", 4) == 0;
        if (pixels && !begun) {
            if (r->done == 1) TRY(put_actl(r));
            TRY(put_fctl(r, a));
        }
        begun |= pixels;
        if (pixels) TRY(put_data(r, data, length));
        if (!pixels && !end && r->done == 1) TRY(put_chunk(r, name, data, length, "", 0));
        at += length + AROUND;
    }
    return OK;
}

/* The smallest rectangle with all pixels that differ; one pixel if none does. */
static struct area changed(const struct reel *r, const unsigned char *rgb)
{
    struct area a = {0, 0, r->columns, r->rows};
    const size_t row = 3 * (size_t)r->columns;
    int lo[2] = {r->columns, r->rows}, hi[2] = {-1, -1};
    if (!r->before) return a;
    for (int y = 0; y < r->rows; y++) {
        const unsigned char *p = rgb + (size_t)y * row, *q = r->before + (size_t)y * row;
        if (memcmp(p, q, row) == 0) continue;
        int first = 0, last = r->columns - 1;
        while (memcmp(p + 3 * first, q + 3 * first, 3) == 0) first++;
        while (memcmp(p + 3 * last, q + 3 * last, 3) == 0) last--;
        if (hi[1] < 0) lo[1] = y;
        hi[1] = y;
        if (first < lo[0]) lo[0] = first;
        if (last > hi[0]) hi[0] = last;
    }
    if (hi[1] < 0) return (struct area){0, 0, 1, 1};
    return (struct area){lo[0], lo[1], hi[0] - lo[0] + 1, hi[1] - lo[1] + 1};
}

static enum err add(struct reel *r, const void *picture)
{
    const unsigned char *rgb = picture;
    const struct area a = changed(r, rgb);
    const size_t row = 3 * (size_t)a.columns;
    unsigned char *part = mem_new(row * (size_t)a.rows, "film");
    char *png = NULL;
    size_t n = 0;
    for (int y = 0; y < a.rows; y++)
        memcpy(part + (size_t)y * row,
               rgb + 3 * ((size_t)(a.y + y) * (size_t)r->columns + (size_t)a.x), row);
    FILE *memory = open_memstream(&png, &n);
    if (!memory) mem_exhausted("the C library");
    if (image_write_png(memory, a.columns, a.rows, part, r->done == 1 ? r->how.text : NULL) != 0)
        mem_exhausted("libpng");
    char *whole = mem_close_text(memory, &png, &n, "film");
    const enum err err = copy_chunks(r, &a, (const unsigned char *)whole, n);
    FREE(whole);
    FREE(part);
    if (!r->before) r->before = mem_new(r->bytes, "film");
    memcpy(r->before, rgb, r->bytes);
    return err;
}

static enum err end(struct reel *r)
{
    return put_chunk(r, "IEND", "", 0, "", 0);
}

const struct reel_kind reel_apng = {.add = add, .end = end};
