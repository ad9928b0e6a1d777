/* h5/dense: the links of large groups, and many attributes, as newer versions of HDF5 keep them:
 * objects in a fractal heap, listed by a B-tree of version 2 (HDF5 File Format Specification
 * III.A.2, III.G). Heaps of up to some 100 kB are read, trees of two levels: a thousand entries. */
#include "base/checksum.h"
#include "base/mem.h"
#include "h5/priv.h"

enum { LINKS = 5, ATTRS = 8 }; /* types of records */

struct heap {
    /* its header · root block · bytes of the first blocks · of the largest */
    int64_t at, root, start, most;
    int width, rows, wide_offset, wide_length;
    bool summed;
};

struct tree {
    int64_t root;
    int type, node, record, depth, n; /* n: records of the root */
};

struct listing {
    struct heap heap;
    h5_heap_fn *fn;
    void *ctx;
    int64_t budget;
};

/* Bytes that hold numbers up to n. */
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
    uint64_t most = h5_take(&b, 4);
    h5_cut(&b, 10 * L + 2 * O);
    h->width = (int)h5_take(&b, 2);
    h->start = (int64_t)h5_take(&b, L);
    h->most = (int64_t)h5_take(&b, L);
    int bits = (int)h5_take(&b, 2);
    h5_take(&b, 2);
    h->root = h5_address(f, &b);
    h->rows = (int)h5_take(&b, 2);
    h->at = at;
    h->wide_offset = (bits + 7) / 8;
    bool sound = h5_magic(p, "FRHP") && !filters && h->start > 0 && h->most >= h->start &&
                 h->most <= 1 << 20 && bits <= 64 && h->width > 0 && h->width <= 64 &&
                 h->rows <= 24;
    if (sound) {
        int a = width_of((uint64_t)h->most), c = width_of(most);
        h->wide_length = a < c ? a : c;
    }
    FREE(p);
    if (!sound) h5_damage(f, at, "a heap, or one that this reader does not know,");
    return sound;
}

/* The block that holds `offset`; start: of the block, in the heap. */
static int64_t find_block(struct h5_file *f, const struct heap *h, int64_t offset, int64_t *start,
                          int64_t *bytes)
{
    *start = 0, *bytes = h->start;
    if (h->rows == 0) return offset < h->start ? h->root : -1;
    int head = 5 + f->offset + h->wide_offset;
    unsigned char *p = h5_load_summed(f, h->root, head + h->rows * h->width * f->offset + 4,
                                      "a heap's block");
    int64_t found = -1;
    if (!p) return -1;
    for (int r = 0; r < h->rows && found < 0 && *bytes <= h->most; r++) {
        int64_t all = *bytes * h->width;
        if (offset < *start + all) {
            int64_t k = (offset - *start) / *bytes;
            struct h5_bytes b = {p + head + (r * h->width + k) * f->offset,
                                 p + head + (r * h->width + k + 1) * f->offset, false};
            *start += k * *bytes;
            found = h5_address(f, &b);
            break;
        }
        *start += all;
        if (r > 0) *bytes *= 2;
    }
    FREE(p);
    return found;
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

static bool see_record(struct h5_file *f, struct listing *l, struct h5_bytes b, int type)
{
    int64_t start, n = 0;
    if (type == LINKS) h5_take(&b, 4);
    int kind = (int)h5_take(&b, 1);
    int64_t offset = (int64_t)h5_take(&b, l->heap.wide_offset),
            bytes = (int64_t)h5_take(&b, l->heap.wide_length);
    int64_t at = kind == 0 && !b.bad && offset >= 0 ? find_block(f, &l->heap, offset, &start, &n)
                                                    : -1;
    l->budget -= n;
    if (at < 0 || l->budget < 0 || offset - start > n || bytes > n - (offset - start)) {
        h5_damage(f, l->heap.at, "an entry of a heap, or one that this reader does not know,");
        return false;
    }
    unsigned char *p = load_block(f, &l->heap, at, n);
    if (!p) return false;
    bool found = l->fn(f, (struct h5_bytes){p + offset - start, p + offset - start + bytes, false},
                       l->ctx);
    FREE(p);
    return found;
}

static bool see_node(struct h5_file *f, struct listing *l, const struct tree *t, int64_t at, int n,
                     int depth)
{
    int width = width_of((uint64_t)((t->node - 10) / t->record)),
        pointer = depth ? (n + 1) * (f->offset + width) : 0;
    unsigned char *p = h5_load_summed(f, at, 6 + n * t->record + pointer + 4, "a tree of names");
    bool found = false;
    if (!p) return false;
    if (!h5_magic(p, depth ? "BTIN" : "BTLF") || p[5] != t->type)
        h5_damage(f, at, "a tree of names");
    for (int i = 0; i < n && !found && f->err == OK; i++) {
        unsigned char *r = p + 6 + i * t->record;
        found = see_record(f, l, (struct h5_bytes){r, r + t->record, false}, t->type);
    }
    struct h5_bytes b = {p + 6 + n * t->record, p + 6 + n * t->record + pointer, false};
    for (int i = 0; depth && i <= n && !found && f->err == OK; i++) {
        int64_t child = h5_address(f, &b);
        found = see_node(f, l, t, child, (int)h5_take(&b, width), depth - 1);
    }
    FREE(p);
    return found;
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
                 t->record < 64 && t->node > 10 && t->node <= 1 << 20 && t->depth <= 1;
    FREE(p);
    if (!sound) h5_damage(f, at, "a tree of names, or one that this reader does not know,");
    return sound;
}

bool h5_dense(struct h5_file *f, int64_t heap, int64_t tree, h5_heap_fn *fn, void *ctx)
{
    struct listing l = {.fn = fn, .ctx = ctx, .budget = H5_BUDGET};
    struct tree t;
    if (!read_heap(f, heap, &l.heap) || !read_tree(f, tree, &t) || (t.n == 0 && !t.depth))
        return false;
    return see_node(f, &l, &t, t.root, t.n, t.depth);
}
