/* h5/set: reads attributes and datasets (HDF5 File Format Specification III.A.1, IV.A.2). */
#include <stdio.h>

#include "base/checksum.h"
#include "base/mem.h"
#include "h5/priv.h"
#include "io/file.h"
#include "io/zip.h"

enum { DEFLATE = 1, SHUFFLE = 2, FLETCHER = 3, DEFLATE_MAX = 1032, CHUNK_MAX = 64 << 20 };

int h5_size(char type)
{
    return strchr("dqQ", type) ? 8 : strchr("fiI", type) ? 4 : strchr("hH", type) ? 2 : 1;
}

/* A loop for each type: sizes are constants, so that the compiler copies many values at a time.
 * Values need not be aligned. */
#define WIDEN(letter, narrow, wide)                                                                \
    case letter:                                                                                   \
        for (int64_t i = 0; i < n; i++) {                                                          \
            narrow x;                                                                              \
            memcpy(&x, p + i * (int64_t)sizeof x, sizeof x);                                       \
            ((wide *)out)[i] = (wide)x;                                                            \
        }                                                                                          \
        break

void h5_widen(char type, int64_t n, const void *raw, void *out)
{
    const unsigned char *p = raw;
    switch (type) {
        WIDEN('f', float, double);
        WIDEN('i', int32_t, int64_t);
        WIDEN('h', int16_t, int64_t);
        WIDEN('b', int8_t, int64_t);
        WIDEN('I', uint32_t, int64_t);
        WIDEN('H', uint16_t, int64_t);
    case 'd':
    case 'q':
    case 'Q':
        memmove(out, raw, 8 * (size_t)n);
        break;
    default: /* B, and texts, which no caller wants as numbers */
        for (int64_t i = 0; i < n; i++) ((int64_t *)out)[i] = p[i];
    }
}

/* Converts to native byte order, and clears or sign-extends the unused bits of a short integer. */
static void make_native(const struct h5_type *t, int64_t n, unsigned char *p)
{
    int size = (int)t->size, unused = 8 * size - t->bits;
    for (int64_t i = 0; t->swap && i < n; i++)
        for (int k = 0; k < size / 2; k++) {
            unsigned char *a = p + i * size + k, *b = p + (i + 1) * size - 1 - k, c = *a;
            *a = *b, *b = c;
        }
    for (int64_t i = 0; unused && i < n; i++) {
        uint64_t x = 0;
        memcpy(&x, p + i * size, (size_t)size);
        x <<= 64 - t->bits;
        x = strchr("qihb", t->name) ? (uint64_t)((int64_t)x >> (64 - t->bits))
                                    : x >> (64 - t->bits);
        memcpy(p + i * size, &x, (size_t)size);
    }
}

/* ---- types and extents ---- */

static char integer_type(struct h5_bytes b, int size, bool is_signed, int *bits)
{
    static const char with[] = "bh i   q", without[] = "BH I   Q";
    int from = (int)h5_take(&b, 2);
    *bits = (int)h5_take(&b, 2);
    if (b.bad || from != 0 || size < 1 || size > 8 || (size & (size - 1)) || *bits < 1 ||
        *bits > 8 * size)
        return 0;
    return is_signed ? with[size - 1] : without[size - 1];
}

/* Letter of an IEEE real of 4 or 8 bytes. */
static char real_type(struct h5_bytes b, int size)
{
    static const unsigned char r4[12] = {0, 0, 32, 0, 23, 8, 0, 23, 127},
                               r8[12] = {0, 0, 64, 0, 52, 11, 0, 52, 255, 3};
    if (b.end - b.p < 12) return 0;
    return size == 8 && !memcmp(b.p, r8, 12) ? 'd' : size == 4 && !memcmp(b.p, r4, 12) ? 'f' : 0;
}

static struct h5_type read_type(struct h5_bytes b)
{
    struct h5_type t = {0};
    int class = (int)h5_take(&b, 1) & 15, flags = (int)h5_take(&b, 3);
    t.size = (int64_t)h5_take(&b, 4);
    if (b.bad || t.size < 1 || t.size > 1 << 20) return t;
    t.swap = class != 3 && flags & 1;
    t.bits = 8 * (int)t.size;
    if (class == 0) t.name = integer_type(b, (int)t.size, flags & 8, &t.bits);
    if (class == 1 && !(flags & 64)) t.name = real_type(b, (int)t.size);
    if (class == 3) t.name = 's';
    return t;
}

/* Number of elements of a dataspace of at most `max` dimensions; -1: unsupported. shape: NULL, or
 * the dataset that gets the dimensions. */
static int64_t read_space(const struct h5_file *f, struct h5_bytes b, int max, struct h5_set *shape)
{
    int version = (int)h5_take(&b, 1), rank = (int)h5_take(&b, 1);
    h5_take(&b, 1);
    int kind = (int)h5_take(&b, 1);
    if (version == 1) h5_take(&b, 4);
    if (version < 1 || version > 2 || rank > max || (version == 2 && kind == 2)) return -1;
    int64_t n = 1;
    for (int d = 0; d < rank; d++) {
        int64_t size = (int64_t)h5_take(&b, f->length);
        if (size < 0 || (n > 0 && size > INT64_MAX / 64 / n)) return -1;
        n *= size;
        if (shape) shape->ndim = d + 1, shape->dim[d] = size;
    }
    return b.bad ? -1 : n;
}

/* ---- attributes ---- */

struct wanted {
    const char *name;
    struct h5_value *v;
};

static bool read_attr(struct h5_file *f, struct h5_bytes b, void *ctx)
{
    struct wanted *w = ctx;
    int version = (int)h5_take(&b, 1), flags = (int)h5_take(&b, 1), pad = version == 1 ? 7 : 0;
    int64_t name = (int64_t)h5_take(&b, 2), type = (int64_t)h5_take(&b, 2),
            space = (int64_t)h5_take(&b, 2);
    h5_take(&b, version == 3 ? 1 : 0);
    struct h5_bytes text = h5_cut(&b, (name + pad) & ~pad), t = h5_cut(&b, (type + pad) & ~pad),
                    s = h5_cut(&b, (space + pad) & ~pad);
    if (version < 1 || version > 3 || b.bad || name < 1) {
        h5_damage(f, 0, "an attribute");
        return false;
    }
    if (strnlen((const char *)text.p, (size_t)name) != strlen(w->name) ||
        memcmp(text.p, w->name, strlen(w->name)) != 0)
        return false;
    struct h5_value *v = w->v;
    struct h5_type kind = read_type(t);
    int64_t left = b.end - b.p, size = kind.size;
    v->type = version > 1 && flags ? 0 : kind.name; /* shared types are not followed */
    v->n = read_space(f, s, 1, NULL);
    if (!v->type || v->n < 0 || v->n > left / size) {
        if (v->type) h5_damage(f, 0, "an attribute");
        v->n = -1;
        return true;
    }
    v->data = mem_new((size_t)(v->n * size) + 1, "snapshot");
    memcpy(v->data, b.p, (size_t)(v->n * size));
    make_native(&kind, v->n, v->data);
    if (v->type == 's') v->n *= size;
    return true;
}

static bool dense_attr(struct h5_file *f, struct h5_bytes b, struct wanted *w)
{
    h5_take(&b, 1);
    h5_take(&b, h5_take(&b, 1) & 1 ? 2 : 0);
    int64_t heap = h5_address(f, &b), tree = h5_address(f, &b);
    return !b.bad && heap >= 0 && h5_dense(f, heap, tree, w->name, read_attr, w);
}

bool h5_attr(struct h5_file *f, int64_t object, const char *name, struct h5_value *v)
{
    struct wanted w = {name, v};
    *v = (struct h5_value){0};
    struct h5_object *o = h5_object_load(f, object);
    bool found = false;
    if (!o) return false;
    for (int i = 0; i < o->nmsg && !found && f->err == OK; i++) {
        const struct h5_message *m = &o->msg[i];
        if (m->type == MSG_ATTR && !(m->flags & H5_SHARED)) found = read_attr(f, m->data, &w);
        if (m->type == MSG_ATTRS) found = dense_attr(f, m->data, &w);
    }
    h5_object_free(&o);
    return found && f->err == OK;
}

/* ---- datasets ---- */

static bool read_filters(struct h5_bytes b, struct h5_set *s)
{
    int version = (int)h5_take(&b, 1), n = (int)h5_take(&b, 1);
    if (version == 1) h5_take(&b, 6);
    if (version < 1 || version > 2 || n > H5_FILTERS) return false;
    for (int i = 0; i < n; i++) {
        int id = (int)h5_take(&b, 2), name = version == 1 || id >= 256 ? (int)h5_take(&b, 2) : 0;
        h5_take(&b, 2);
        int values = (int)h5_take(&b, 2);
        h5_cut(&b, version == 1 ? (name + 7) & ~7 : name);
        h5_cut(&b, 4 * (version == 1 ? (values + 1) & ~1 : values));
        if (id != DEFLATE && id != SHUFFLE && id != FLETCHER) return false;
        s->filter[s->nfilter++] = id;
    }
    return !b.bad;
}

static bool read_compact(struct h5_bytes b, struct h5_set *s)
{
    int64_t n = (int64_t)h5_take(&b, 2);
    struct h5_bytes data = h5_cut(&b, n);
    if (b.bad || n != s->n * h5_size(s->type)) return false;
    s->part = mem_new((size_t)n + 1, "snapshot");
    memcpy(s->part, data.p, (size_t)n);
    return true;
}

/* Bounds the number of elements by the size of the file: deflate shrinks data at most 1032 times,
 * so no small file contains a terabyte. */
static bool sound_chunks(const struct h5_file *f, const struct h5_set *s)
{
    int size = h5_size(s->type);
    return s->chunk > 0 && s->chunk <= CHUNK_MAX / size &&
           s->n <= f->size / size * DEFLATE_MAX + DEFLATE_MAX;
}

/* Reads the shape of chunks, numbers of `width` bytes, the last one the bytes of an element. Chunks
 * must have whole rows: they divide the first dimension alone. */
static bool take_shape(struct h5_bytes *b, int rank, int width, struct h5_set *s)
{
    const int64_t rows = (int64_t)h5_take(b, width);
    bool whole = rank == s->ndim + 1 && rank >= 2 && rows > 0;
    s->row = 1;
    for (int d = 1; d < rank - 1; d++) {
        const int64_t side = (int64_t)h5_take(b, width);
        whole = whole && side == s->dim[d] && side > 0 && side <= CHUNK_MAX / s->row;
        s->row *= whole ? side : 1;
    }
    const int64_t size = (int64_t)h5_take(b, width);
    if (!whole || b->bad || size != h5_size(s->type) || rows > CHUNK_MAX / s->row) return false;
    s->chunk = rows * s->row;
    return true;
}

static bool read_chunked(const struct h5_file *f, struct h5_bytes b, struct h5_set *s)
{
    int rank = (int)h5_take(&b, 1);
    s->at = h5_address(f, &b);
    return rank <= H5_DIMENSIONS + 1 && take_shape(&b, rank, 4, s) && sound_chunks(f, s);
}

/* Reads a layout message of version 4 (HDF5 1.10) or 5, which has wider lengths of filtered chunks.
 */
static bool read_indexed(const struct h5_file *f, struct h5_bytes b, struct h5_set *s)
{
    static const int rest[] = {
        [H5_SINGLE] = 0, [H5_IMPLICIT] = 0, [H5_FIXED] = 1, [H5_EXTENSIBLE] = 5};
    int flags = (int)h5_take(&b, 1), rank = (int)h5_take(&b, 1), width = (int)h5_take(&b, 1);
    if (rank > H5_DIMENSIONS + 1 || width < 1 || width > 8) return false;
    s->partial_plain = flags & 1;
    if (!take_shape(&b, rank, width, s)) return false;
    int index = (int)h5_take(&b, 1);
    if (index < H5_SINGLE || index > H5_EXTENSIBLE)
        return false; /* index 5: B-tree of version 2, for more than one unlimited dimension */
    s->index = (enum h5_index)index;
    if (s->index == H5_SINGLE && flags & 2) {
        s->single.bytes = (int64_t)h5_take(&b, f->length);
        s->single.skipped = h5_take(&b, 4);
    }
    h5_take(&b, rest[index]);
    s->at = h5_address(f, &b);
    return !b.bad && sound_chunks(f, s);
}

static bool read_layout(const struct h5_file *f, struct h5_bytes b, struct h5_set *s)
{
    int version = (int)h5_take(&b, 1), class = (int)h5_take(&b, 1);
    if (version < 3 || version > 5) return false;
    if (class == 0) return read_compact(b, s);
    if (class == 2) return version == 3 ? read_chunked(f, b, s) : read_indexed(f, b, s);
    if (class != 1) return false;
    s->at = h5_address(f, &b);
    int64_t bytes = s->n * h5_size(s->type);
    return !b.bad && (bytes == 0 || (s->at > 0 && bytes <= f->size && s->at <= f->size - bytes));
}

static const char *read_set(const struct h5_file *f, const struct h5_object *o, int max,
                            struct h5_set *s)
{
    struct h5_bytes layout = {0}, filters = {0};
    s->n = -1;
    for (int i = 0; i < o->nmsg; i++) {
        const struct h5_message *m = &o->msg[i];
        bool shared = m->flags & H5_SHARED;
        if (m->type == MSG_SPACE && !shared) s->n = read_space(f, m->data, max, s);
        if (m->type == MSG_TYPE && !shared) s->stored = read_type(m->data);
        if (m->type == MSG_LAYOUT && !shared) layout = m->data;
        if (m->type == MSG_FILTERS && !shared) filters = m->data;
        if (m->type == MSG_EXTERNAL) return "has its data in another file";
    }
    s->type = s->stored.name;
    if (!s->type || s->type == 's') return "contains neither integers nor reals";
    if (s->n < 0) return max > 1 ? "has too many dimensions" : "is not one-dimensional";
    if (filters.p && !read_filters(filters, s)) return "has filters that are not supported";
    if (!layout.p || !read_layout(f, layout, s))
        return "is stored in a way that is not supported, such as chunks of parts of rows "
               "(h5repack "
               "-l CONTI changes that), or lies beyond the end of the file";
    return s->nfilter && !s->chunk ? "has filters, but no chunks" : NULL;
}

static enum err open_set(struct h5_file *f, int64_t object, const char *name, int max,
                         struct h5_set *s)
{
    *s = (struct h5_set){0};
    if (object == 0)
        return f->err = err_set(ERR_LIMIT,
                                "%s: /%s is a soft or external link, which is not followed",
                                f->path, name);
    struct h5_object *o = h5_object_load(f, object);
    if (!o) return f->err;
    const char *why = read_set(f, o, max, s);
    h5_object_free(&o);
    if (!why) return OK;
    h5_set_close(s);
    return f->err = err_set(ERR_FORMAT, "%s: dataset /%s %s", f->path, name, why);
}

enum err h5_set_open(struct h5_file *f, int64_t object, const char *name, struct h5_set *s)
{
    return open_set(f, object, name, 1, s);
}

enum err h5_table_open(struct h5_file *f, int64_t object, const char *name, struct h5_set *s)
{
    return open_set(f, object, name, H5_DIMENSIONS, s);
}

void h5_set_close(struct h5_set *s)
{
    FREE(s->part);
    FREE(s->table);
    *s = (struct h5_set){0};
}

/* ---- chunks ---- */

static uint32_t fletcher32(const unsigned char *p, int64_t n)
{
    uint32_t a = 0, b = 0;
    for (int64_t i = 0; i < n; i += 2) {
        a = (a + ((uint32_t)p[i] << 8 | (i + 1 < n ? p[i + 1] : 0))) % 65535;
        b = (b + a) % 65535;
    }
    return b << 16 | a;
}

static bool inflate_chunk(unsigned char **p, int64_t *n, int64_t room)
{
    size_t got = 0;
    unsigned char *out = mem_new((size_t)room + 1, "snapshot");
    bool ok = zip_inflate(*p, (size_t)*n, out, (size_t)room, &got);
    FREE(*p);
    *p = out, *n = (int64_t)got;
    return ok;
}

static bool unshuffle(unsigned char **p, int64_t n, int size)
{
    int64_t each = n / size;
    unsigned char *out = mem_new((size_t)n + 1, "snapshot");
    for (int k = 0; k < size; k++)
        for (int64_t i = 0; i < each; i++) out[i * size + k] = (*p)[k * each + i];
    memcpy(out + each * size, *p + each * size, (size_t)(n - each * size));
    FREE(*p);
    *p = out;
    return true;
}

static bool check_fletcher(const unsigned char *p, int64_t *n)
{
    if (*n < 4) return false;
    *n -= 4;
    struct h5_bytes b = {p + *n, p + *n + 4, false};
    uint64_t low = h5_take(&b, 2), high = h5_take(&b, 2);
    uint32_t sum = fletcher32(p, *n);
    return checksum_agrees(low % 65535, sum & 65535) &&
           /* sums modulo 65535, where HDF5 may store 65535 for 0 */
           checksum_agrees(high % 65535, sum >> 16);
}

/* Undoes the filters in reverse order. */
static bool decode(const struct h5_set *s, const struct h5_chunk *c, unsigned char **p)
{
    int64_t n = c->bytes, whole = s->chunk * h5_size(s->type);
    bool ok = true;
    for (int i = s->nfilter - 1; ok && i >= 0; i--) {
        if (c->skipped >> i & 1) continue;
        if (s->filter[i] == DEFLATE) ok = inflate_chunk(p, &n, whole + 4);
        if (s->filter[i] == SHUFFLE) ok = unshuffle(p, n, h5_size(s->type));
        if (s->filter[i] == FLETCHER) ok = check_fletcher(*p, &n);
    }
    return ok && n == whole;
}

static enum err load_chunk(struct h5_file *f, struct h5_set *s, const char *name, int64_t first)
{
    struct h5_chunk c;
    FREE(s->part);
    bool ok = h5_find_chunk(f, s, first, &c);
    unsigned char *p = ok && c.bytes <= 2 * (int64_t)CHUNK_MAX
                           ? h5_load(f, c.at, c.bytes, "a chunk")
                           : NULL;
    ok = p && decode(s, &c, &p);
    if (!ok) FREE(p);
    if (ok) make_native(&s->stored, s->chunk, p);
    s->part = p;
    s->first = first;
    if (f->err != OK) return f->err;
    if (!ok)
        FAIL(ERR_FORMAT, "%s: /%s is damaged: cannot read its chunk of element %ld", f->path, name,
             (long)first);
    return OK;
}

static enum err read_chunks(struct h5_file *f, struct h5_set *s, const char *name, int64_t first,
                            int64_t n, unsigned char *out)
{
    int size = h5_size(s->type);
    while (n > 0) {
        int64_t start = first / s->chunk * s->chunk, k = start + s->chunk - first;
        if (!s->part || s->first != start) TRY(load_chunk(f, s, name, start));
        if (k > n) k = n;
        memcpy(out, s->part + (first - start) * size, (size_t)(k * size));
        out += k * size, first += k, n -= k;
    }
    return OK;
}

enum err h5_set_read(struct h5_file *f, struct h5_set *s, const char *name, int64_t first,
                     int64_t n, void *p)
{
    int size = h5_size(s->type);
    if (f->err != OK) return f->err;
    BUG_ON(first < 0 || n < 0 || first > s->n - n);
    if (s->chunk) return read_chunks(f, s, name, first, n, p);
    if (s->part)
        memcpy(p, s->part + first * size, (size_t)(n * size));
    else if (n)
        TRY(f->err = file_read_at(f->fd, f->path, p, (size_t)(n * size), s->at + first * size));
    make_native(&s->stored, n, p);
    return OK;
}
