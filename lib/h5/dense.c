/* h5/dense: reads the links of large groups, and numerous attributes, as newer versions of HDF5
 * store them: objects in a fractal heap, listed by a B-tree of version 2 in the order of the hashes
 * of their names (HDF5 File Format Specification III.A.2, III.G). A search for one name reads only
 * that object in the heap. */
#include "base/checksum.h"
#include "base/mem.h"
#include "h5/priv.h"

enum { LINKS = 5, ATTRS = 8 }; /* types of B-tree records */
/* bytes of signature, version, type and checksum; maximum depth of a tree */
enum { NODE_HEAD = 10, DEPTH_MAX = 16 };

struct heap {
    /* addresses of the header and of the root block; bytes of the smallest and of the largest
     * direct blocks */
    int64_t at, root, start, max;
    /* rows: number of rows of the root block; 0: the root is a direct block */
    int width, rows, wide_offset, wide_length;
    bool summed;
};

struct tree {
    int64_t root;
    int type, node, record, depth, n; /* n: number of records in the root */
    /* bytes of the number of records in a child, and of the number in a child's subtree by its
     * height */
    int wide_n, wide_all[DEPTH_MAX + 1];
};

struct listing {
    struct heap heap;
    const char *name; /* the only name wanted; NULL: all names */
    uint32_t hash;
    h5_heap_fn *fn;
    void *ctx;
    int64_t budget;
};

/* Number of bytes that hold an integer up to n. */
static int width_of(uint64_t n)
{
    int k = 1;
    while (n >>= 8) k++;
    return k;
}

static bool read_heap(struct h5_file *f, int64_t at, struct heap *h)
{
    int L = f->length, O = f->offset;
    unsigned char *p = h5_load_summed(f, at, 26 + 12 * L + 3 * O, "a heap's header");
    if (!p) return false;
    struct h5_bytes b = {p + 5, p + 26 + 12 * L + 3 * O, false};
    h5_take(&b, 2);
    int filters = (int)h5_take(&b, 2);
    h->summed = h5_take(&b, 1) & 2;
    uint64_t max = h5_take(&b, 4);
    h5_cut(&b, 10 * L + 2 * O);
    h->width = (int)h5_take(&b, 2);
    h->start = (int64_t)h5_take(&b, L);
    h->max = (int64_t)h5_take(&b, L);
    int bits = (int)h5_take(&b, 2);
    h5_take(&b, 2);
    h->root = h5_address(f, &b);
    h->rows = (int)h5_take(&b, 2);
    h->at = at;
    h->wide_offset = (bits + 7) / 8;
    bool sound = h5_magic(p, "FRHP") && !filters && h->start > 0 && h->max >= h->start &&
                 h->max <= 1 << 20 && bits <= 64 && h->width > 0 && h->width <= 64 && h->rows <= 32;
    if (sound) {
        int a = width_of((uint64_t)h->max), c = width_of(max);
        h->wide_length = a < c ? a : c;
    }
    FREE(p);
    if (!sound) h5_damage(f, at, "a heap, or one that this reader does not know,");
    return sound;
}

/* A heap block that contains an object: its address, its first byte and its length in the heap. */
struct block {
    int64_t at, start, bytes;
};

/* Bytes of a block in this row: the first two rows have the minimum, each further row twice the
 * length of the row before. */
static int64_t row_bytes(const struct heap *h, int row)
{
    return row < 2 ? h->start : h->start << (row - 1);
}

/* Number of rows of an indirect block that covers `bytes` bytes. */
static int rows_of(const struct heap *h, int64_t bytes)
{
    int rows = 1;
    for (int64_t all = h->start * h->width; all < bytes; all *= 2) rows++;
    return rows;
}

/* Descends from an indirect block of `rows` rows, which begins at b->start in the heap, to its
 * child that contains `offset`. b->at = −1: no such child. */
static void descend(struct h5_file *f, const struct heap *h, int64_t offset, int rows,
                    struct block *b)
{
    int head = 5 + f->offset + h->wide_offset;
    unsigned char *p = h5_load_summed(f, b->at, head + (int64_t)rows * h->width * f->offset + 4,
                                      "a heap's block");
    if (p && !h5_magic(p, "FHIB")) h5_damage(f, b->at, "a heap's block");
    b->at = -1;
    for (int r = 0; p && r < rows; r++) {
        b->bytes = row_bytes(h, r);
        int64_t all = b->bytes * h->width;
        if (offset - b->start < all) {
            int64_t k = (offset - b->start) / b->bytes;
            struct h5_bytes at = {p + head + (r * h->width + k) * f->offset,
                                  p + head + (r * h->width + k + 1) * f->offset, false};
            b->start += k * b->bytes;
            b->at = h5_address(f, &at);
            break;
        }
        b->start += all;
    }
    FREE(p);
}

static struct block find_block(struct h5_file *f, const struct heap *h, int64_t offset)
{
    struct block b = {h->root, 0, h->start};
    int rows = h->rows;
    if (rows == 0 && offset >= h->start) b.at = -1;
    while (rows && b.at >= 0 && f->err == OK) {
        descend(f, h, offset, rows, &b);
        if (b.at < 0 || b.bytes <= h->max) break;
        int fewer = rows_of(h, b.bytes);
        if (fewer >= rows) b.at = -1; /* guarantees termination */
        rows = fewer;
    }
    return b;
}

static unsigned char *load_block(struct h5_file *f, const struct heap *h, int64_t at, int64_t n)
{
    int head = 5 + f->offset + h->wide_offset;
    unsigned char *p = h5_load(f, at, n, "a heap's block");
    bool sound = p && n > head + 4 && h5_magic(p, "FHDB");
    if (sound && h->summed) {
        struct h5_bytes b = {p + head, p + head + 4, false};
        uint64_t sum = h5_take(&b, 4);
        memset(p + head, 0, 4);
        sound = checksum_agrees(sum, h5_metadata_sum(p, (size_t)n));
    }
    if (sound) return p;
    FREE(p);
    h5_damage(f, at, "a heap's block");
    return NULL;
}

/* Reads a record: the heap id of an object and the hash of its name. */
static bool read_record(struct h5_bytes b, int type, uint32_t *hash, struct h5_bytes *id)
{
    if (type == LINKS) *hash = (uint32_t)h5_take(&b, 4);
    *id = h5_cut(&b, type == LINKS ? 7 : 8);
    if (type == ATTRS) h5_take(&b, 5); /* flags, order */
    if (type == ATTRS) *hash = (uint32_t)h5_take(&b, 4);
    return !b.bad;
}

static bool see_record(struct h5_file *f, struct listing *l, struct h5_bytes b, int type)
{
    struct h5_bytes id;
    uint32_t hash = 0;
    bool sound = read_record(b, type, &hash, &id), found = false;
    if (sound && l->name && hash != l->hash) return false;
    int kind = (int)h5_take(&id, 1);
    int64_t offset = (int64_t)h5_take(&id, l->heap.wide_offset),
            bytes = (int64_t)h5_take(&id, l->heap.wide_length);
    struct block k = {.at = -1};
    if (sound && kind == 0 && !id.bad && offset >= 0) k = find_block(f, &l->heap, offset);
    l->budget -= k.bytes;
    if (k.at < 0 || l->budget < 0 || offset - k.start > k.bytes ||
        bytes > k.bytes - (offset - k.start)) {
        h5_damage(f, l->heap.at, "an entry of a heap, or one that this reader does not know,");
        return false;
    }
    unsigned char *p = load_block(f, &l->heap, k.at, k.bytes);
    if (!p) return false;
    unsigned char *object = p + offset - k.start;
    found = l->fn(f, (struct h5_bytes){object, object + bytes, false}, l->ctx);
    FREE(p);
    return found;
}

/* Visits a node; height: number of levels above the leaves. */
static bool see_node(struct h5_file *f, struct listing *l, const struct tree *t, int64_t at, int n,
                     int height)
{
    int wide = height ? f->offset + t->wide_n + t->wide_all[height - 1] : 0,
        pointers = height ? (n + 1) * wide : 0, bytes = 6 + n * t->record + pointers + 4;
    bool found = false;
    l->budget -= bytes;
    if (bytes > t->node || l->budget < 0) h5_damage(f, at, "a tree of names");
    unsigned char *p = h5_load_summed(f, at, bytes, "a tree of names");
    if (!p) return false;
    if (!h5_magic(p, height ? "BTIN" : "BTLF") || p[5] != t->type)
        h5_damage(f, at, "a tree of names");
    for (int i = 0; i < n && !found && f->err == OK; i++) {
        unsigned char *r = p + 6 + i * t->record;
        found = see_record(f, l, (struct h5_bytes){r, r + t->record, false}, t->type);
    }
    for (int i = 0; height && i <= n && !found && f->err == OK; i++) {
        unsigned char *r = p + 6 + n * t->record + i * wide;
        struct h5_bytes b = {r, r + wide, false};
        int64_t child = h5_address(f, &b);
        found = see_node(f, l, t, child, (int)h5_take(&b, t->wide_n), height - 1);
    }
    FREE(p);
    return found;
}

/* Finds the widths of the numbers in child pointers, which follow from the number of records that
 * fit a node. */
static void find_widths(const struct h5_file *f, struct tree *t)
{
    uint64_t max = (uint64_t)((t->node - NODE_HEAD) / t->record), all = max;
    t->wide_n = width_of(max);
    t->wide_all[0] = 0;
    for (int u = 1; u <= t->depth; u++) {
        int pointer = f->offset + t->wide_n + t->wide_all[u - 1];
        max = (uint64_t)((t->node - NODE_HEAD - pointer) / (t->record + pointer));
        all = max < UINT32_MAX && all < UINT32_MAX ? (max + 1) * all + max : UINT64_MAX;
        t->wide_all[u] = width_of(all);
    }
}

static bool read_tree(struct h5_file *f, int64_t at, struct tree *t)
{
    int n = 22 + f->offset + f->length;
    unsigned char *p = h5_load_summed(f, at, n, "a tree of names");
    if (!p) return false;
    struct h5_bytes b = {p + 5, p + n, false};
    t->type = (int)h5_take(&b, 1);
    t->node = (int)h5_take(&b, 4);
    t->record = (int)h5_take(&b, 2);
    t->depth = (int)h5_take(&b, 2);
    h5_take(&b, 2);
    t->root = h5_address(f, &b);
    t->n = (int)h5_take(&b, 2);
    bool sound = h5_magic(p, "BTHD") && (t->type == LINKS || t->type == ATTRS) && t->record > 0 &&
                 t->record < 64 && t->node > 100 && t->node <= 1 << 20 && t->depth <= DEPTH_MAX;
    FREE(p);
    if (sound) find_widths(f, t);
    if (!sound) h5_damage(f, at, "a tree of names, or one that this reader does not know,");
    return sound;
}

bool h5_dense(struct h5_file *f, int64_t heap, int64_t tree, const char *name, h5_heap_fn *fn,
              void *ctx)
{
    struct listing l = {.name = name, .fn = fn, .ctx = ctx, .budget = H5_BUDGET};
    if (name) l.hash = h5_metadata_sum((const unsigned char *)name, strlen(name));
    struct tree t;
    if (!read_heap(f, heap, &l.heap) || !read_tree(f, tree, &t) || (t.n == 0 && !t.depth))
        return false;
    return see_node(f, &l, &t, t.root, t.n, t.depth);
}
