/* h5/parse: see parse.h. Reads the superblock and object headers (HDF5 File Format Specification
 * II, III, IV.A). */
#include "h5/parse.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/checksum.h"
#include "base/mem.h"
#include "h5/priv.h"
#include "io/file.h"

static const unsigned char SIGNATURE[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};

static enum err read_superblock(struct h5_file *f);

enum err h5_open(struct h5_file *f, const char *path)
{
    *f = (struct h5_file){.fd = -1};
    if (snprintf(f->path, sizeof f->path, "%s", path) >= (int)sizeof f->path)
        return f->err = err_set(ERR_FILE, "%.80s…: the path is too long", path);
    f->err = file_open(path, &f->fd, &f->size);
    if (f->err != OK) return f->err;
    return read_superblock(f);
}

void h5_close(struct h5_file *f)
{
    if (f->fd >= 0) close(f->fd);
    f->fd = -1;
    for (int i = 0; i < H5_PAGES; i++) FREE(f->page[i]);
}

enum err h5_damage(struct h5_file *f, int64_t at, const char *what)
{
    if (f->err == OK)
        f->err = err_set(ERR_FORMAT, "%s: damaged: %s at byte %ld", f->path, what, (long)at);
    return f->err;
}

/* Reads through a cache of pages: headers are small and close together. */
static enum err read_pages(struct h5_file *f, unsigned char *p, int64_t at, int64_t n)
{
    while (n > 0) {
        int64_t page = at / H5_PAGE * H5_PAGE, in = at - page,
                k = H5_PAGE - in < n ? H5_PAGE - in : n;
        int slot = (int)(at / H5_PAGE % H5_PAGES);
        if (!f->page[slot] || f->page_at[slot] != page) {
            if (!f->page[slot]) f->page[slot] = mem_new(H5_PAGE, "snapshot");
            f->page_at[slot] = -1;
            TRY(file_read_at(f->fd, f->path, f->page[slot],
                             (size_t)(f->size - page < H5_PAGE ? f->size - page : H5_PAGE), page));
            f->page_at[slot] = page;
        }
        memcpy(p, f->page[slot] + in, (size_t)k);
        p += k, at += k, n -= k;
    }
    return OK;
}

unsigned char *h5_load(struct h5_file *f, int64_t at, int64_t n, const char *what)
{
    if (f->err != OK) return NULL;
    if (at < 0 || n < 0 || n > f->size || at > f->size - n) {
        f->err = err_set(ERR_FORMAT,
                         "%s: damaged: %s is not inside the file (%ld bytes from %ld of %ld)",
                         f->path, what, (long)n, (long)at, (long)f->size);
        return NULL;
    }
    unsigned char *p = mem_new((size_t)n + 1, "snapshot");
    f->err = n <= H5_PAGE ? read_pages(f, p, at, n)
                          : file_read_at(f->fd, f->path, p, (size_t)n, at);
    if (f->err != OK) FREE(p);
    return p;
}

/* ---- checksums ---- */

static uint32_t turn(uint32_t x, int by)
{
    return x << by | x >> (32 - by);
}

static void mix3(uint32_t v[3])
{
    static const int by[6] = {4, 6, 8, 16, 19, 4};
    for (int k = 0; k < 6; k++) {
        uint32_t *x = &v[k % 3], *y = &v[(k + 1) % 3], *z = &v[(k + 2) % 3];
        *x -= *z;
        *x ^= turn(*z, by[k]);
        *z += *y;
    }
}

static uint32_t finish3(uint32_t v[3])
{
    static const int by[7] = {14, 11, 25, 16, 4, 14, 24};
    for (int k = 0; k < 7; k++) {
        uint32_t *x = &v[(k + 2) % 3], *y = &v[(k + 1) % 3];
        *x ^= *y;
        *x -= turn(*y, by[k]);
    }
    return v[2];
}

uint32_t h5_metadata_sum(const unsigned char *p, size_t n)
{
    uint32_t v[3];
    v[0] = v[1] = v[2] = 0xdeadbeef + (uint32_t)n;
    if (n == 0) return v[2];
    for (; n > 12; n -= 12, p += 12) {
        uint32_t word[3];
        memcpy(word, p, 12); /* little-endian, as every supported host */
        for (int i = 0; i < 3; i++) v[i] += word[i];
        mix3(v);
    }
    for (size_t i = 0; i < n; i++) v[i / 4] += (uint32_t)p[i] << 8 * (i % 4);
    return finish3(v);
}

unsigned char *h5_load_summed(struct h5_file *f, int64_t at, int64_t n, const char *what)
{
    unsigned char *p = n < 4 ? NULL : h5_load(f, at, n, what);
    if (!p) {
        h5_damage(f, at, what);
        return NULL;
    }
    struct h5_bytes sum = {p + n - 4, p + n, false};
    if (checksum_agrees(h5_take(&sum, 4), h5_metadata_sum(p, (size_t)n - 4))) return p;
    if (f->err == OK)
        f->err = err_set(ERR_FORMAT, "%s: damaged: %s at byte %ld does not match its checksum",
                         f->path, what, (long)at);
    FREE(p);
    return NULL;
}

/* ---- superblock ---- */

static enum err check_ends(struct h5_file *f, int64_t base, int64_t end)
{
    if (base != 0)
        return f->err = err_set(ERR_LIMIT,
                                "%s: is an HDF5 file with a base address, which is not supported: "
                                "copy it with h5repack",
                                f->path);
    if (end < 0 || end > f->size)
        return f->err = err_set(ERR_FORMAT, "%s: is truncated: it has %ld of %ld bytes", f->path,
                                (long)f->size, (long)end);
    return OK;
}

static enum err read_old(struct h5_file *f, struct h5_bytes b, int version)
{
    h5_take(&b, 4);
    f->offset = (int)h5_take(&b, 1);
    f->length = (int)h5_take(&b, 1);
    if ((f->offset != 4 && f->offset != 8) || (f->length != 4 && f->length != 8))
        return h5_damage(f, 13, "widths of addresses and lengths");
    h5_cut(&b, version == 1 ? 13 : 9);
    int64_t base = h5_address(f, &b);
    h5_address(f, &b);
    TRY(check_ends(f, base, h5_address(f, &b)));
    h5_address(f, &b);
    h5_address(f, &b); /* address of the root's name, unused */
    f->root = h5_address(f, &b);
    return b.bad || f->root <= 0 ? h5_damage(f, 0, "the superblock") : OK;
}

static enum err read_new(struct h5_file *f, struct h5_bytes b)
{
    f->offset = (int)h5_take(&b, 1);
    f->length = (int)h5_take(&b, 1);
    if (f->offset != 8 || f->length != 8) return h5_damage(f, 9, "widths of addresses and lengths");
    unsigned char *whole = h5_load_summed(f, 0, 48, "the superblock");
    if (!whole) return f->err;
    FREE(whole);
    h5_take(&b, 1);
    int64_t base = h5_address(f, &b);
    h5_address(f, &b);
    TRY(check_ends(f, base, h5_address(f, &b)));
    f->root = h5_address(f, &b);
    return b.bad || f->root <= 0 ? h5_damage(f, 0, "the superblock") : OK;
}

static enum err read_superblock(struct h5_file *f)
{
    unsigned char head[112];
    int64_t n = f->size < (int64_t)sizeof head ? f->size : (int64_t)sizeof head;
    if (n < 48)
        return f->err = err_set(ERR_FORMAT, "%s: is not an HDF5 file, or truncated", f->path);
    TRY(f->err = file_read_at(f->fd, f->path, head, (size_t)n, 0));
    if (memcmp(head, SIGNATURE, 8) != 0)
        return f->err = err_set(ERR_FORMAT, "%s: is not an HDF5 file: its first 8 bytes differ",
                                f->path);
    struct h5_bytes b = {head + 9, head + n, false};
    if (head[8] <= 1) return read_old(f, b, head[8]);
    if (head[8] <= 3) return read_new(f, b);
    return f->err = err_set(ERR_LIMIT,
                            "%s: has an HDF5 superblock of version %d; 0 to 3 are supported",
                            f->path, head[8]);
}

/* ---- headers of objects ---- */

void h5_object_free(struct h5_object **o)
{
    if (!*o) return;
    for (int i = 0; i < (*o)->nblock; i++) FREE((*o)->block[i]);
    FREE((*o)->msg);
    FREE(*o);
}

static void add_block(struct h5_file *f, struct h5_object *o, int64_t at, int64_t n)
{
    o->total += n;
    if (o->nblock == H5_BLOCKS || n > H5_HEADER_MAX || o->total > H5_HEADER_MAX) {
        h5_damage(f, at, "an object's header of impossible size");
        return;
    }
    o->at[o->nblock] = at, o->bytes[o->nblock] = n, o->nblock++;
}

static void add_message(struct h5_file *f, struct h5_object *o, int type, int flags,
                        struct h5_bytes data)
{
    if (type == 0) return;
    if (type == MSG_MORE) {
        int64_t at = h5_address(f, &data), n = (int64_t)h5_take(&data, f->length);
        if (data.bad || at <= 0 || n <= 0)
            h5_damage(f, at, "a header's continuation");
        else
            add_block(f, o, at, n);
        return;
    }
    if (o->nmsg == o->room)
        o->msg = mem_grow(o->msg, sizeof *o->msg * (size_t)(o->room = 2 * o->room + 32),
                          "snapshot");
    o->msg[o->nmsg++] = (struct h5_message){type, flags, data};
}

/* Reads the messages of one block; order: each message has a creation order field. */
static void read_messages(struct h5_file *f, struct h5_object *o, struct h5_bytes b, bool old,
                          bool order)
{
    int head = old ? 8 : order ? 6 : 4;
    while (f->err == OK && b.end - b.p >= head) {
        int type = (int)h5_take(&b, old ? 2 : 1), n = (int)h5_take(&b, 2),
            flags = (int)h5_take(&b, 1);
        h5_take(&b, old ? 3 : order ? 2 : 0);
        struct h5_bytes data = h5_cut(&b, n);
        if (b.bad)
            h5_damage(f, o->at[0], "an object's header");
        else
            add_message(f, o, type, flags, data);
    }
}

/* Loads a header of version 1: 16 bytes, then messages. */
static void load_old(struct h5_file *f, struct h5_object *o, int64_t at, const unsigned char *head)
{
    struct h5_bytes b = {head, head + 16, false};
    if (h5_take(&b, 1) != 1) h5_damage(f, at, "no object's header");
    h5_take(&b, 7);
    if (f->err == OK) add_block(f, o, at + 16, (int64_t)h5_take(&b, 4));
    for (int i = 0; i < o->nblock && f->err == OK; i++) {
        unsigned char *p = o->block[i] = h5_load(f, o->at[i], o->bytes[i], "an object's header");
        if (p) read_messages(f, o, (struct h5_bytes){p, p + o->bytes[i], false}, true, false);
    }
}

/* Loads a header of version 2: block OHDR, continuation blocks OCHK, each with a checksum. */
static void load_new(struct h5_file *f, struct h5_object *o, int64_t at, const unsigned char *head)
{
    int flags = head[5], before = 6 + (flags & 0x20 ? 16 : 0) + (flags & 0x10 ? 4 : 0),
        width = 1 << (flags & 3);
    unsigned char *size = h5_load(f, at, before + width, "an object's header");
    if (!size) return;
    struct h5_bytes b = {size + before, size + before + width, false};
    uint64_t n = h5_take(&b, width);
    FREE(size);
    if (head[4] != 2 || n > (uint64_t)H5_HEADER_MAX) {
        h5_damage(f, at, "an object's header");
        return;
    }
    add_block(f, o, at, before + width + (int64_t)n + 4);
    for (int i = 0; i < o->nblock && f->err == OK; i++) {
        int skip = i ? 4 : before + width;
        unsigned char *p = o->block[i] = h5_load_summed(f, o->at[i], o->bytes[i],
                                                        "an object's header");
        if (p && (o->bytes[i] < skip + 4 || !h5_magic(p, i ? "OCHK" : "OHDR")))
            h5_damage(f, o->at[i], "an object's header");
        if (p && f->err == OK)
            read_messages(f, o, (struct h5_bytes){p + skip, p + o->bytes[i] - 4, false}, false,
                          flags & 4);
    }
}

struct h5_object *h5_object_load(struct h5_file *f, int64_t at)
{
    unsigned char *head = h5_load(f, at, 16, "an object's header");
    if (!head) return NULL;
    struct h5_object *o = mem_zero(sizeof *o, "snapshot");
    if (h5_magic(head, "OHDR"))
        load_new(f, o, at, head);
    else
        load_old(f, o, at, head);
    FREE(head);
    if (f->err != OK) h5_object_free(&o);
    return o;
}
