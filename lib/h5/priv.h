/* h5/priv: structs and functions shared by the files of h5. Private to h5. */
#pragma once
#include <string.h>

#include "h5/parse.h"

enum {
    MSG_SPACE = 1,
    MSG_LINKS = 2,
    MSG_TYPE = 3,
    MSG_LINK = 6,
    MSG_EXTERNAL = 7,
    MSG_LAYOUT = 8,
    MSG_FILTERS = 11
};
enum { MSG_ATTR = 12, MSG_MORE = 16, MSG_TABLE = 17, MSG_ATTRS = 21 };
enum { H5_BLOCKS = 256, H5_SHARED = 2 };
/* maximum bytes of an object header, and of the objects that one walk visits */
static const int64_t H5_HEADER_MAX = 16 << 20, H5_BUDGET = 64 << 20;

/* A range of bytes read in sequence; beyond the end all reads give zero and set `bad`. */
struct h5_bytes {
    const unsigned char *p, *end;
    bool bad;
};

struct h5_message {
    int type, flags;
    struct h5_bytes data;
};

/* Header of an object: messages in blocks. */
struct h5_object {
    int nblock, nmsg, room;
    int64_t at[H5_BLOCKS], bytes[H5_BLOCKS], total;
    unsigned char *block[H5_BLOCKS];
    struct h5_message *msg;
};

static inline uint64_t h5_take(struct h5_bytes *b, int n)
{
    uint64_t x = 0;
    if (b->end - b->p < n) {
        b->bad = true;
        b->p = b->end;
        return 0;
    }
    for (int i = 0; i < n && i < 8; i++) x |= (uint64_t)b->p[i] << 8 * i;
    b->p += n;
    return x;
}

static inline struct h5_bytes h5_cut(struct h5_bytes *b, int64_t n)
{
    struct h5_bytes part = {b->p, b->p, true};
    if (n < 0 || b->end - b->p < n) {
        b->bad = true;
        b->p = b->end;
        return part;
    }
    part = (struct h5_bytes){b->p, b->p + n, false};
    b->p += n;
    return part;
}

/* Reads an address; -1: undefined. */
static inline int64_t h5_address(const struct h5_file *f, struct h5_bytes *b)
{
    uint64_t x = h5_take(b, f->offset);
    return f->offset == 4 && x == UINT32_MAX ? -1 : x > INT64_MAX ? -1 : (int64_t)x;
}

static inline bool h5_magic(const unsigned char *p, const char *word)
{
    return memcmp(p, word, 4) == 0;
}

enum err h5_damage(struct h5_file *f, int64_t at, const char *what);
/* Reads n bytes from `at` into a new block. NULL: they are outside the file or cannot be read, see
 * f->err. */
unsigned char *h5_load(struct h5_file *f, int64_t at, int64_t n, const char *what);
/* Reads bytes that end with a checksum of all before it, as h5_load. */
unsigned char *h5_load_summed(struct h5_file *f, int64_t at, int64_t n, const char *what);

/* Finds the chunk that begins with element `first`. false: no such chunk, or an error in f->err. */
bool h5_find_chunk(struct h5_file *f, struct h5_set *s, int64_t first, struct h5_chunk *c);

/* object header; NULL: error in f->err */
struct h5_object *h5_object_load(struct h5_file *f, int64_t at);
void h5_object_free(struct h5_object **o);

/* Calls fn for each object in a fractal heap that a B-tree of version 2 lists: links (record type
 * 5) or attributes (8). With a name, only objects whose name has the same hash are visited. fn
 * returns true to end the walk. */
typedef bool h5_heap_fn(struct h5_file *f, struct h5_bytes object, void *ctx);
bool h5_dense(struct h5_file *f, int64_t heap, int64_t tree, const char *name, h5_heap_fn *fn,
              void *ctx);
