/* h5/chunks: finds the chunks of a dataset through a B-tree of version 1 or, since HDF5 1.10, the
 * index of a single chunk, an implicit index, a fixed or an extensible array (HDF5 File Format
 * Specification III.A.1, VII.A to VII.D). Arrays are read once into a table. */
#include "base/mem.h"
#include "h5/priv.h"

enum { PAGE_BITS_MAX = 30, ARRAY_BITS_MAX = 62 };

/* ---- B-tree of version 1 ---- */

/* A walk down the tree to the chunk of an element. */
struct walk {
    int offsets;        /* numbers of an offset in a key: dimensions, and one more */
    int64_t row, first; /* elements per step along the first dimension; the element */
};

/* Finds the entry of a node whose range contains the element. *next: address of the child, whose
 * key is returned as well. */
static bool find_entry(struct h5_file *f, int64_t at, int level, const struct walk *w,
                       struct h5_chunk *c, int64_t *key, int *depth)
{
    int start = 8 + 2 * f->offset, row = 8 + 8 * w->offsets + f->offset;
    unsigned char *head = h5_load(f, at, start, "a tree of chunks");
    if (!head) return false;
    struct h5_bytes b = {head + 6, head + 8, false};
    int64_t n = (int64_t)h5_take(&b, 2);
    *depth = head[5];
    bool sound = h5_magic(head, "TREE") && head[4] == 1 && (level < 0 || *depth == level),
         found = false;
    FREE(head);
    if (!sound) h5_damage(f, at, "a tree of chunks");
    unsigned char *rows = h5_load(f, at + start, n * row, "a tree of chunks");
    for (int64_t i = 0; rows && i < n; i++) {
        struct h5_bytes r = {rows + i * row, rows + (i + 1) * row, false};
        int64_t bytes = (int64_t)h5_take(&r, 4);
        uint64_t skipped = h5_take(&r, 4), from = h5_take(&r, 8);
        h5_cut(&r, 8 * (w->offsets - 1));
        if (from > (uint64_t)(w->first / w->row)) break;
        *key = (int64_t)from * w->row;
        *c = (struct h5_chunk){.bytes = bytes, .skipped = skipped, .at = h5_address(f, &r)};
        found = true;
    }
    FREE(rows);
    return found;
}

static bool find_in_tree(struct h5_file *f, const struct h5_set *s, int64_t first,
                         struct h5_chunk *c)
{
    const struct walk w = {s->ndim + 1, s->row, first};
    int64_t at = s->at, key = -1;
    for (int level = -1, depth;; level = depth - 1) {
        if (!find_entry(f, at, level, &w, c, &key, &depth)) return false;
        if (depth == 0) return key == first;
        at = c->at;
    }
}

/* ---- arrays ---- */

/* Reads a fixed or extensible array: each entry is an address and, with filters, a length and the
 * mask of filters that were not applied. */
struct array {
    struct h5_file *f;
    struct h5_set *s;
    int64_t n;      /* number of chunks */
    int64_t filled; /* number of table entries filled */
    int client, entry, page_bits;
    const char *block; /* signature of data blocks */
    int before;        /* bytes of a data block before its elements */
    /* extensible array: elements in the index block, elements of the smallest data block, pointers
     * of the smallest super block, bytes of an offset */
    int inside, min, pointers, bits;
};

static bool sound_array(const struct array *a)
{
    int width = a->entry - a->f->offset - 4; /* bytes of a chunk's length */
    bool plain = a->client == 0 && a->entry == a->f->offset && !a->s->nfilter,
         filtered = a->client == 1 && width >= 1 && width <= 8 && a->s->nfilter;
    return (plain || filtered) && a->page_bits <= PAGE_BITS_MAX;
}

static void take_entries(struct array *a, const unsigned char *p, int64_t n)
{
    const struct h5_file *f = a->f;
    int width = a->entry - f->offset - 4;
    struct h5_bytes b = {p, p + n * a->entry, false};
    for (int64_t i = 0; i < n && a->filled < a->n; i++) {
        struct h5_chunk *c = &a->s->table[a->filled++];
        *c = (struct h5_chunk){.at = h5_address(f, &b), .bytes = a->s->chunk * a->s->stored.size};
        if (a->client) c->bytes = (int64_t)h5_take(&b, width), c->skipped = h5_take(&b, 4);
    }
}

/* Skips entries that were never written: their chunks do not exist. */
static void skip_entries(struct array *a, int64_t n)
{
    for (int64_t i = 0; i < n && a->filled < a->n; i++)
        a->s->table[a->filled++] = (struct h5_chunk){.at = -1};
}

/* Reads a data block of n entries. The pages of a large block have a checksum each, and one bit
 * each in `written`, from bit `first` on. */
static void take_block(struct array *a, int64_t at, int64_t n, const unsigned char *written,
                       int64_t first)
{
    struct h5_file *f = a->f;
    int64_t page = (int64_t)1 << a->page_bits, pages = n > page ? (n + page - 1) / page : 0,
            /* bytes of the page bitmap of a fixed array */
        map = pages && !written ? (pages + 7) / 8 : 0;
    if (at < 0) {
        skip_entries(a, n);
        return;
    }
    if (n > f->size / a->entry) h5_damage(f, at, "a list of chunks");
    unsigned char *p = h5_load_summed(f, at, a->before + map + (pages ? 0 : n * a->entry) + 4,
                                      "a list of chunks");
    if (p && (!h5_magic(p, a->block) || p[5] != a->client)) h5_damage(f, at, "a list of chunks");
    if (p && f->err == OK && !pages) take_entries(a, p + a->before, n);
    at += a->before + map + 4;
    const unsigned char *bits = written ? written : p ? p + a->before : NULL;
    for (int64_t k = 0; p && k < pages && a->filled < a->n && f->err == OK; k++) {
        int64_t mine = n - k * page < page ? n - k * page : page, bit = first + k;
        if (!(bits[bit / 8] >> (7 - bit % 8) & 1)) {
            skip_entries(a, mine);
        } else {
            unsigned char *q = h5_load_summed(f, at, mine * a->entry + 4, "a list of chunks");
            if (q) take_entries(a, q, mine);
            FREE(q);
        }
        at += page * a->entry + 4;
    }
    FREE(p);
}

static void read_fixed(struct array *a)
{
    struct h5_file *f = a->f;
    int L = f->length, O = f->offset;
    unsigned char *p = h5_load_summed(f, a->s->at, 12 + L + O, "a list of chunks");
    if (!p) return;
    struct h5_bytes b = {p + 5, p + 8 + L + O, false};
    a->client = (int)h5_take(&b, 1), a->entry = (int)h5_take(&b, 1);
    a->page_bits = (int)h5_take(&b, 1);
    int64_t n = (int64_t)h5_take(&b, L), block = h5_address(f, &b);
    a->block = "FADB", a->before = 6 + O;
    if (!h5_magic(p, "FAHD") || !sound_array(a) || n < a->n)
        h5_damage(f, a->s->at, "a list of chunks");
    else
        take_block(a, block, n, NULL, 0);
    FREE(p);
}

static int log2_of(int64_t n)
{
    int k = 0;
    while (n >>= 1) k++;
    return k;
}

static bool power_of_two(int n)
{
    return n > 0 && !(n & (n - 1));
}

/* Number of data blocks of super block u, each of 2^((u+1)/2) times the smallest number of entries.
 */
static int64_t dev_blocks(int u)
{
    return (int64_t)1 << u / 2;
}

static int64_t entries_of(const struct array *a, int u)
{
    return ((int64_t)1 << (u + 1) / 2) * a->min;
}

static void read_super(struct array *a, int64_t at, int u)
{
    struct h5_file *f = a->f;
    int64_t n = entries_of(a, u), page = (int64_t)1 << a->page_bits,
            pages = n > page ? n / page : 0, map = dev_blocks(u) * ((pages + 7) / 8);
    if (at < 0) {
        skip_entries(a, n * dev_blocks(u));
        return;
    }
    if (dev_blocks(u) > f->size / f->offset || pages > f->size) {
        h5_damage(f, at, "a list of chunks");
        return;
    }
    unsigned char *p = h5_load_summed(f, at, a->before + map + dev_blocks(u) * f->offset + 4,
                                      "a list of chunks");
    if (!p) return;
    if (!h5_magic(p, "EASB") || p[5] != a->client) h5_damage(f, at, "a list of chunks");
    const unsigned char *row = p + a->before + map;
    for (int64_t k = 0; k < dev_blocks(u) && a->filled < a->n && f->err == OK; k++) {
        struct h5_bytes b = {row + k * f->offset, row + (k + 1) * f->offset, false};
        take_block(a, h5_address(f, &b), n, p + a->before, k * pages);
    }
    FREE(p);
}

/* Reads the index block: the first entries, the addresses of the first data blocks and of the super
 * blocks. */
static void read_index(struct array *a, int64_t at)
{
    struct h5_file *f = a->f;
    int few = 2 * log2_of(a->pointers), nsuper = 1 + a->bits - log2_of(a->min),
        direct = 2 * (a->pointers - 1), rest = nsuper > few ? nsuper - few : 0;
    int64_t start = 6 + f->offset, rows = start + (int64_t)a->inside * a->entry;
    unsigned char *p = h5_load_summed(f, at, rows + (int64_t)(direct + rest) * f->offset + 4,
                                      "a list of chunks");
    if (!p) return;
    if (!h5_magic(p, "EAIB") || p[5] != a->client) h5_damage(f, at, "a list of chunks");
    take_entries(a, p + start, a->inside);
    struct h5_bytes b = {p + rows, p + rows + (int64_t)(direct + rest) * f->offset, false};
    for (int u = 0; u < nsuper && a->filled < a->n && f->err == OK; u++) {
        int64_t n = u < few ? dev_blocks(u) : 0;
        for (int64_t k = 0; k < n; k++) take_block(a, h5_address(f, &b), entries_of(a, u), NULL, 0);
        if (u >= few) read_super(a, h5_address(f, &b), u);
    }
    FREE(p);
}

static void read_extensible(struct array *a)
{
    struct h5_file *f = a->f;
    int L = f->length, O = f->offset;
    unsigned char *p = h5_load_summed(f, a->s->at, 16 + 6 * L + O, "a list of chunks");
    if (!p) return;
    struct h5_bytes b = {p + 5, p + 12 + 6 * L + O, false};
    a->client = (int)h5_take(&b, 1), a->entry = (int)h5_take(&b, 1);
    a->bits = (int)h5_take(&b, 1), a->inside = (int)h5_take(&b, 1);
    a->min = (int)h5_take(&b, 1), a->pointers = (int)h5_take(&b, 1);
    a->page_bits = (int)h5_take(&b, 1);
    h5_cut(&b, 6 * L);
    int64_t block = h5_address(f, &b);
    a->block = "EADB", a->before = 6 + O + (a->bits + 7) / 8;
    if (!h5_magic(p, "EAHD") || !sound_array(a) || !power_of_two(a->min) ||
        !power_of_two(a->pointers) || a->bits > ARRAY_BITS_MAX || a->bits < log2_of(a->min))
        h5_damage(f, a->s->at, "a list of chunks");
    else
        read_index(a, block);
    FREE(p);
}

static bool find_in_array(struct h5_file *f, struct h5_set *s, int64_t k, struct h5_chunk *c)
{
    struct array a = {.f = f, .s = s, .n = (s->n + s->chunk - 1) / s->chunk};
    if (!s->table) {
        if (a.n > f->size / f->offset) return false; /* more addresses than the file can hold */
        s->table = mem_new(sizeof *s->table * (size_t)a.n + 1, "snapshot");
        (s->index == H5_FIXED ? read_fixed : read_extensible)(&a);
        if (a.filled < a.n && f->err == OK) h5_damage(f, s->at, "a list of chunks");
    }
    if (f->err == OK) *c = s->table[k];
    return f->err == OK && c->at >= 0;
}

bool h5_find_chunk(struct h5_file *f, struct h5_set *s, int64_t first, struct h5_chunk *c)
{
    int64_t whole = s->chunk * s->stored.size, k = first / s->chunk;
    bool found = s->at > 0;
    *c = (struct h5_chunk){.at = s->at, .bytes = whole};
    switch (s->index) {
    case H5_TREE:
        found = find_in_tree(f, s, first, c);
        break;
    case H5_SINGLE:
        if (s->nfilter) c->bytes = s->single.bytes, c->skipped = s->single.skipped;
        break;
    case H5_IMPLICIT:
        c->at += k * whole;
        break;
    case H5_FIXED:
    case H5_EXTENSIBLE:
        found = find_in_array(f, s, k, c);
        break;
    }
    if (s->partial_plain && first + s->chunk > s->n) c->skipped = UINT64_MAX;
    return found;
}
