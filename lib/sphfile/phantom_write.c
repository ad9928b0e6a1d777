/* sphfile/phantom_write: writes a dump, in the byte order and with the precision of the one that
 * was read. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "io/fortran.h"
#include "io/stream.h"
#include "sphfile/phantom_priv.h"

struct writer {
    FILE *f;
    const struct phantom *d;
};

/* Writes n numbers in the byte order of the dump. Errors of the stream are found when it is closed.
 */
static void put(const struct writer *w, const void *p, int width, int64_t n)
{
    const char *s = p;
    if (!w->d->swap || width == 1) {
        fwrite(p, (size_t)width, (size_t)n, w->f);
        return;
    }
    for (int64_t i = 0; i < n; i++, s += width)
        for (int k = width - 1; k >= 0; k--) fputc((unsigned char)s[k], w->f);
}

static void put_record(const struct writer *w, const void *p, int width, int64_t n)
{
    const int32_t bytes = (int32_t)(n * width);
    put(w, &bytes, 4, 1);
    put(w, p, width, n);
    put(w, &bytes, 4, 1);
}

static void put_marks(const struct writer *w)
{
    const int32_t bytes = 16 + w->d->real_bytes, first = PHANTOM_MARK_1,
                  rest[3] = {PHANTOM_MARK_2, w->d->version, PHANTOM_MARK_3};
    const double real = PHANTOM_MARK_2;
    const float single = PHANTOM_MARK_2;
    put(w, &bytes, 4, 1);
    put(w, &first, 4, 1);
    put(w, w->d->real_bytes == 8 ? (const void *)&real : &single, w->d->real_bytes, 1);
    put(w, rest, 4, 3);
    put(w, &bytes, 4, 1);
}

static void pad(char *to, const char *text, size_t n)
{
    memset(to, ' ', n);
    memcpy(to, text, strlen(text));
}

static void put_numbers(const struct writer *w, enum phantom_kind kind)
{
    const struct phantom *d = w->d;
    const int width = phantom_bytes(d, kind);
    int32_t n = 0;
    char *tag = mem_new((size_t)(d->nnumber + 1) * PHANTOM_TAG, "dump"),
         *raw = mem_new(8 * (size_t)(d->nnumber + 1), "dump");
    for (int i = 0; i < d->nnumber; i++) {
        const struct phantom_number *k = &d->number[i];
        const float single = (float)k->real;
        const void *from = !phantom_is_real(kind) ? (const void *)&k->integer
                           : width == 8           ? (const void *)&k->real
                                                  : &single;
        if (k->kind != kind) continue;
        pad(tag + (size_t)n * PHANTOM_TAG, k->tag, PHANTOM_TAG);
        memcpy(raw + (size_t)(n * width), from, (size_t)width); /* little-endian */
        n++;
    }
    put_record(w, &n, 4, 1);
    if (n) {
        put_record(w, tag, 1, (int64_t)n * PHANTOM_TAG);
        put_record(w, raw, width, n);
    }
    FREE(tag);
    FREE(raw);
}

static void put_block(const struct writer *w, const struct phantom_block *b)
{
    const int32_t bytes = 8 + 4 * PHANTOM_KINDS;
    int32_t count[PHANTOM_KINDS] = {0};
    for (int i = 0; i < b->narray; i++) count[b->array[i].kind]++;
    put(w, &bytes, 4, 1);
    put(w, &b->n, 8, 1);
    put(w, count, 4, PHANTOM_KINDS);
    put(w, &bytes, 4, 1);
}

static void put_arrays(const struct writer *w, const struct phantom_block *b)
{
    char tag[PHANTOM_TAG];
    for (int i = 0; i < b->narray; i++) {
        const struct phantom_array *a = &b->array[i];
        pad(tag, a->tag, PHANTOM_TAG);
        put_record(w, tag, 1, PHANTOM_TAG);
        put_record(w, a->data, phantom_bytes(w->d, a->kind), b->n);
    }
}

/* Records must be shorter than Fortran's sub-records. */
static enum err check_sizes(const char *path, const struct phantom *d)
{
    for (int b = 0; b < d->nblock; b++)
        if (d->block[b].n > FORT_SUB / 8)
            FAIL(ERR_LIMIT, "%s: %ld particles need records above 2 GiB, which a dump cannot have",
                 path, (long)d->block[b].n);
    return OK;
}

enum err phantom_write(const char *path, const struct phantom *d)
{
    struct stream s;
    TRY(check_sizes(path, d));
    TRY(stream_open(&s, path));
    const struct writer w = {s.f, d};
    const int32_t nblock = d->nblock;
    char id[PHANTOM_ID];
    put_marks(&w);
    pad(id, d->id, PHANTOM_ID);
    put_record(&w, id, 1, PHANTOM_ID);
    for (int k = 0; k < PHANTOM_KINDS; k++) put_numbers(&w, (enum phantom_kind)k);
    put_record(&w, &nblock, 4, 1);
    for (int b = 0; b < d->nblock; b++) put_block(&w, &d->block[b]);
    for (int b = 0; b < d->nblock; b++) put_arrays(&w, &d->block[b]);
    return stream_close(&s, 0);
}
