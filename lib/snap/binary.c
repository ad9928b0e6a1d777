/* snap/binary: files of Gadget in formats 1 and 2. A file is a sequence of Fortran records: the
 * header of 256 bytes, then a record for each block, with the values of all types that have it. In
 * format 2 a record with the name and the length of the block precedes each. Lengths of records are
 * 32 bits wide; longer blocks have their length modulo 2^32, so that offsets follow from counts.
 * The width of values follows from the length of a block. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "io/file.h"
#include "snap/priv.h"

enum { HEADER = 256, TYPES = 6, BATCH = 1 << 15, BLOCKS_MAX = 1000 };

/* ---- byte order ---- */

static void swap_bytes(void *p, int64_t n, int size)
{
    unsigned char *b = p;
    for (int64_t i = 0; i < n; i++, b += size)
        for (int k = 0; k < size / 2; k++) {
            unsigned char c = b[k];
            b[k] = b[size - 1 - k];
            b[size - 1 - k] = c;
        }
}

static enum err read_u4(const struct snap_file *f, int64_t at, uint32_t *x)
{
    TRY(file_read_at(f->fd, f->path, x, 4, at));
    if (f->head.swap) swap_bytes(x, 1, 4);
    return OK;
}

/* Format of a file that begins with these 8 bytes: 1, 2, or 0; and its byte order. head: name of
 * the header in format 2. */
static int format_of(const unsigned char p[8], const char *head, bool *swap)
{
    uint32_t first;
    memcpy(&first, p, 4);
    const uint32_t other = __builtin_bswap32(first);
    *swap = other == HEADER || (other == 8 && memcmp(p + 4, head, 4) == 0);
    const uint32_t n = *swap ? other : first;
    return n == HEADER ? 1 : n == 8 && memcmp(p + 4, head, 4) == 0 ? 2 : 0;
}

bool snap_binary_is(int fd)
{
    unsigned char p[8], mark[4];
    bool swap;
    if (file_read_at(fd, "", p, 8, 0) != OK) return false;
    const int format = format_of(p, "HEAD", &swap);
    /* both marks of the header, so that other Fortran files are not taken for snapshots */
    const int64_t end = (format == 2 ? 16 : 0) + 4 + HEADER;
    if (!format || file_read_at(fd, "", mark, 4, end) != OK) return false;
    return format == 2 || memcmp(p, mark, 4) == 0;
}

/* ---- header ---- */

struct fields {
    const unsigned char *p;
    bool swap;
};

static void take(struct fields *f, int n, int size, void *out)
{
    memcpy(out, f->p, (size_t)(n * size));
    if (f->swap) swap_bytes(out, n, size);
    f->p += n * size;
}

static void take_head(struct snap_file *f, const unsigned char raw[HEADER])
{
    struct snap_head *h = &f->head;
    struct fields p = {raw, h->swap};
    int32_t here[TYPES], word[2], files;
    uint32_t low[TYPES], high[TYPES];
    double redshift;
    take(&p, TYPES, 4, here);
    take(&p, TYPES, 8, h->mass);
    take(&p, 1, 8, &h->a);
    take(&p, 1, 8, &redshift);
    take(&p, 2, 4, word);
    take(&p, TYPES, 4, low);
    take(&p, 1, 4, word);
    take(&p, 1, 4, &files);
    take(&p, 1, 8, &h->box);
    take(&p, 1, 8, &h->omega_m);
    take(&p, 1, 8, &h->omega_l);
    take(&p, 1, 8, &h->h);
    take(&p, 2, 4, word);
    take(&p, TYPES, 4, high);
    h->nfile = files > 1 ? files : 1; /* old files of one part have 0 */
    h->numbers = TYPES;
    for (int t = 0; t < TYPES; t++) {
        f->here[t] = here[t];
        h->total[t] = (int64_t)((uint64_t)low[t] | (uint64_t)high[t] << 32);
        /* some writers of a single file leave the totals 0 */
        if (h->nfile == 1 && h->total[t] == 0) h->total[t] = here[t];
    }
    h->comoving = h->omega_m > 0 && h->h > 0;
    h->omega_b = NAN;
}

/* A file of galaxies is complete, whatever its header says of others. */
static void take_alone(struct snap_file *f)
{
    f->head.nfile = 1;
    for (int t = 0; t < TYPES; t++) f->head.total[t] = f->here[t];
}

/* ---- blocks ---- */

enum { GAS = 1 << 0, STARS = 1 << 4, HOLES = 1 << 5, ALL = (1 << TYPES) - 1, DISCS = 7 << 2 };

/* The types that the blocks of a file have. Metals of galaxies: metal_types. */
static void set_types(struct snap_file *f)
{
    for (int c = 0; c < SNAP_COLUMNS; c++)
        f->types[c] = c <= SNAP_MASS    ? ALL
                      : c == SNAP_BIRTH ? f->layout ? DISCS : STARS
                      : c == SNAP_METAL ? f->layout ? GAS | DISCS : GAS | STARS
                      : c == SNAP_HOLE  ? HOLES
                                        : GAS;
    for (int t = 0; t < TYPES; t++)
        if (f->head.mass[t] > 0) f->types[SNAP_MASS] &= ~(1U << t);
}

static int64_t rows_of(const struct snap_file *f, enum snap_column c)
{
    int64_t n = 0;
    for (int t = 0; t < TYPES; t++)
        if (f->types[c] >> t & 1) n += f->here[t];
    return n;
}

static const char *label_of(const struct snap_file *f, enum snap_column c)
{
    return f->layout ? f->layout->label[c] : snap_row[c].label;
}

/* Takes a block whose record begins at `at` and has a length `mark`, modulo 2^32. *end: offset of
 * the byte behind it. */
static enum err take_block(struct snap_file *f, enum snap_column c, int64_t at, uint32_t mark,
                           int64_t *end)
{
    const int64_t n = rows_of(f, c) * snap_width(c);
    struct snap_block *b = &f->block[c];
    for (int bytes = 4; bytes <= 8; bytes += 4) {
        uint32_t last;
        if ((uint32_t)(n * bytes) != mark || at + 8 > f->size || n > (f->size - at - 8) / bytes)
            continue;
        TRY(read_u4(f, at + 4 + n * bytes, &last));
        if (last != mark) continue;
        *b = (struct snap_block){.at = at + 4, .bytes = bytes, .n = rows_of(f, c)};
        *end = at + 8 + n * bytes;
        return OK;
    }
    FAIL(ERR_FORMAT,
         "%s: block %.4s at byte %ld: its record has %u bytes, which is not the length of %ld "
         "numbers of 4 or 8 bytes within the file: it is truncated or damaged",
         f->path, label_of(f, c), (long)at, mark, (long)n);
}

static bool fits(const struct snap_file *f, enum snap_column c, uint32_t mark);

/* The order of blocks in format 1. Of galaxies RAMSES reads energies before masses; the lengths
 * tell whether they have Gadget's order. at: offset of the first of the two. */
static enum err order_of(const struct snap_file *f, int64_t at, bool *energy_first)
{
    uint32_t mark, next = 0;
    *energy_first = false;
    if (!f->layout || rows_of(f, SNAP_MASS) == 0 || at + 8 > f->size) return OK;
    TRY(read_u4(f, at, &mark));
    if (at + 12 + (int64_t)mark <= f->size) TRY(read_u4(f, at + 8 + (int64_t)mark, &next));
    *energy_first = fits(f, SNAP_ENERGY, mark) && fits(f, SNAP_MASS, next);
    return OK;
}

/* Whether a file of format 1 may end before this block. */
static bool optional(const struct snap_file *f, enum snap_column c)
{
    return f->layout && c > SNAP_MASS;
}

static enum err take_next(struct snap_file *f, enum snap_column c, int64_t *at)
{
    uint32_t mark;
    if (rows_of(f, c) == 0 || (*at >= f->size && optional(f, c))) return OK;
    if (*at + 8 > f->size)
        FAIL(ERR_FORMAT, "%s: ends before its block %.4s: it is truncated", f->path,
             snap_row[c].label);
    TRY(read_u4(f, *at, &mark));
    return take_block(f, c, *at, mark, at);
}

static void metal_types(struct snap_file *f, uint32_t mark);

/* The blocks of galaxies after the ids. */
static enum err find_rest1(struct snap_file *f, int64_t at)
{
    bool energy_first;
    uint32_t mark;
    TRY(order_of(f, at, &energy_first));
    if (energy_first) TRY(take_next(f, SNAP_ENERGY, &at));
    TRY(take_next(f, SNAP_MASS, &at));
    if (!energy_first) TRY(take_next(f, SNAP_ENERGY, &at));
    if (at + 4 <= f->size) {
        TRY(read_u4(f, at, &mark));
        metal_types(f, mark);
    }
    TRY(take_next(f, SNAP_METAL, &at));
    return take_next(f, SNAP_BIRTH, &at);
}

static enum err find_blocks1(struct snap_file *f, int64_t at)
{
    for (int c = SNAP_POSITION; c <= SNAP_ID; c++) TRY(take_next(f, (enum snap_column)c, &at));
    return f->layout ? find_rest1(f, at) : take_next(f, SNAP_MASS, &at);
}

/* Skips a block that is not read; its length is that of its record. */
static enum err skip_block(const struct snap_file *f, const char *label, int64_t at, uint32_t mark,
                           int64_t *end)
{
    uint32_t last = 0;
    const int64_t next = at + 8 + (int64_t)mark;
    if (next <= f->size) TRY(read_u4(f, next - 4, &last));
    if (next > f->size || last != mark)
        FAIL(ERR_FORMAT,
             "%s: block %.4s at byte %ld: the lengths of its record, %u and %u, are not equal, or "
             "it ends beyond the file: it is truncated or damaged",
             f->path, label, (long)at, mark, last);
    *end = next;
    return OK;
}

/* Whether a block has the length of its types. */
static bool fits(const struct snap_file *f, enum snap_column c, uint32_t mark)
{
    const int64_t n = rows_of(f, c) * snap_width(c);
    return n > 0 && (mark == (uint32_t)(4 * n) || mark == (uint32_t)(8 * n));
}

/* Metals of galaxies are those of gas and stars, or of all types. */
static void metal_types(struct snap_file *f, uint32_t mark)
{
    if (!f->layout || fits(f, SNAP_METAL, mark)) return;
    f->types[SNAP_METAL] = ALL;
}

static enum snap_column column_of(const struct snap_file *f, const char label[4])
{
    int c = 0;
    while (c < SNAP_COLUMNS && !(label_of(f, (enum snap_column)c) &&
                                 memcmp(label, label_of(f, (enum snap_column)c), 4) == 0))
        c++;
    return (enum snap_column)c;
}

static enum err find_blocks2(struct snap_file *f, int64_t at)
{
    for (int k = 0; at < f->size; k++) {
        char label[4];
        uint32_t mark, last;
        if (k == BLOCKS_MAX || at + 24 > f->size)
            FAIL(ERR_FORMAT,
                 "%s: the name of block %d at byte %ld is cut off, or there are more "
                 "than %d blocks: it is truncated or damaged",
                 f->path, k + 1, (long)at, BLOCKS_MAX);
        TRY(read_u4(f, at, &mark));
        TRY(read_u4(f, at + 12, &last));
        if (mark != 8 || last != 8)
            FAIL(ERR_FORMAT,
                 "%s: record of a block's name at byte %ld: its lengths %u and %u "
                 "should be 8: the file is damaged",
                 f->path, (long)at, mark, last);
        TRY(file_read_at(f->fd, f->path, label, 4, at + 4));
        TRY(read_u4(f, at + 16, &mark));
        const enum snap_column c = column_of(f, label);
        const bool known = c < SNAP_COLUMNS && f->block[c].at == 0;
        if (c == SNAP_METAL) metal_types(f, mark);
        if (known && (c <= SNAP_MASS || fits(f, c, mark)))
            TRY(take_block(f, c, at + 16, mark, &at));
        else
            TRY(skip_block(f, label, at + 16, mark, &at));
    }
    return OK;
}

static enum err check_blocks(const struct snap_file *f)
{
    for (int c = SNAP_POSITION; c <= SNAP_MASS; c++)
        if (rows_of(f, c) > 0 && f->block[c].at == 0 && !(f->layout && c == SNAP_ID))
            FAIL(ERR_FORMAT, "%s: has no block %.4s", f->path, label_of(f, (enum snap_column)c));
    return OK;
}

enum err snap_binary_open(struct snap_file *f)
{
    unsigned char p[8], raw[HEADER];
    uint32_t mark[2];
    if (f->size < 8) FAIL(ERR_FORMAT, "%s: is empty or has only %ld bytes", f->path, (long)f->size);
    TRY(file_read_at(f->fd, f->path, p, 8, 0));
    const int format = format_of(p, f->layout ? f->layout->head : "HEAD", &f->head.swap);
    if (format && f->layout && format != f->layout->format)
        FAIL(ERR_FORMAT, "%s: has Gadget's format %d, not %d: set ic_format='Gadget%d'", f->path,
             format, f->layout->format, format);
    if (!format)
        FAIL(ERR_FORMAT,
             "%s: is not a snapshot of Gadget: its first record is neither a header of %d bytes "
             "nor the name of one, and it is not HDF5",
             f->path, HEADER);
    f->head.code = format == 2 ? SNAP_GADGET2 : SNAP_GADGET1;
    const int64_t at = format == 2 ? 16 : 0;
    if (f->size < at + HEADER + 8)
        FAIL(ERR_FORMAT, "%s: ends within its header: it is truncated", f->path);
    for (int k = 0; k < 2; k++) TRY(read_u4(f, at + k * (HEADER + 4), &mark[k]));
    if (mark[0] != HEADER || mark[1] != HEADER)
        FAIL(ERR_FORMAT,
             "%s: header: the lengths of its record, %u and %u, should be %d: the file is damaged",
             f->path, mark[0], mark[1], HEADER);
    TRY(file_read_at(f->fd, f->path, raw, HEADER, at + 4));
    take_head(f, raw);
    if (f->layout) take_alone(f);
    set_types(f);
    TRY(snap_check_head(f));
    TRY(format == 2 ? find_blocks2(f, at + HEADER + 8) : find_blocks1(f, at + HEADER + 8));
    return check_blocks(f);
}

/* ---- values ---- */

/* Rows of a block before those of a type. */
static int64_t rows_before(const struct snap_file *f, int type, enum snap_column c)
{
    int64_t n = 0;
    for (int t = 0; t < type; t++)
        if (f->types[c] >> t & 1) n += f->here[t];
    return n;
}

static void widen(const void *raw, int64_t n, int bytes, bool whole, void *out)
{
    const char *p = raw;
    double *real = out;
    int64_t *id = out;
    for (int64_t i = 0; i < n; i++, p += bytes) {
        float x;
        uint32_t k;
        if (bytes == 8) {
            memcpy(&real[i], p, 8);
        } else if (whole) {
            memcpy(&k, p, 4);
            id[i] = k;
        } else {
            memcpy(&x, p, 4);
            real[i] = (double)x;
        }
    }
}

enum err snap_binary_read(struct snap_file *f, int type, enum snap_column c, int64_t first,
                          int64_t n, void *out)
{
    const struct snap_block *b = &f->block[c];
    const int width = snap_width(c);
    const int64_t at = (rows_before(f, type, c) + first) * width, all = n * width;
    BUG_ON(b->at == 0 || at + all > b->n * width);
    char *raw = mem_new((size_t)BATCH * 8, "snapshot batch");
    enum err err = OK;
    for (int64_t i = 0; i < all && err == OK; i += BATCH) {
        const int64_t k = all - i < BATCH ? all - i : BATCH;
        err = file_read_at(f->fd, f->path, raw, (size_t)(k * b->bytes),
                           b->at + (at + i) * b->bytes);
        if (f->head.swap) swap_bytes(raw, k, b->bytes);
        if (err == OK) widen(raw, k, b->bytes, snap_whole(c), (double *)out + i);
    }
    mem_free(raw);
    return err;
}
