/* sphfile/phantom: the records of a dump, read:
 *
 *     60769, 60878 as a real, 60878, version, 690706: byte order and precision show in them
 *     a text of 100 characters: F full or S small, then T: arrays have tags
 *     for each of eight types: a number n; if n > 0 n tags of 16 characters, and n values
 *     the number of blocks
 *     for each block: n as i8, then the numbers of its arrays of each type
 *     for each array: a tag, n values
 *
 * No number in a file is trusted: memory is bounded by the length of the record that it holds. */
#include "sphfile/phantom.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/file.h"
#include "io/fortran.h"
#include "sphfile/phantom_priv.h"

enum { BLOCKS = 64, ARRAYS = 1000, NUMBERS = 1 << 16 };

int phantom_bytes(const struct phantom *d, enum phantom_kind kind)
{
    static const int BYTES[PHANTOM_KINDS] = {4, 1, 2, 4, 8, 0, 4, 8};
    return kind == PHANTOM_REAL ? d->real_bytes : BYTES[kind];
}

const struct phantom_number *phantom_find(const struct phantom *d, const char *tag)
{
    for (int i = 0; i < d->nnumber; i++)
        if (strcmp(d->number[i].tag, tag) == 0) return &d->number[i];
    return NULL;
}

void phantom_free(struct phantom **d)
{
    if (!*d) return;
    for (int b = 0; (*d)->block && b < (*d)->nblock; b++) {
        struct phantom_block *k = &(*d)->block[b];
        for (int i = 0; k->array && i < k->narray; i++) FREE(k->array[i].data);
        FREE(k->array);
    }
    FREE((*d)->block);
    FREE((*d)->number);
    FREE(*d);
}

struct reader {
    struct fort_in f;
    struct phantom *d;
};

/* The next record, of this length; one that Fortran has split is refused. */
static enum err expect(struct reader *r, const char *what, int64_t bytes, struct fort_rec *rec)
{
    const int64_t at = r->f.at;
    TRY(fort_next(&r->f, what, rec));
    if (rec->sub < rec->bytes)
        FAIL(ERR_LIMIT,
             "%s: record %ld (%s) at byte %ld is split into sub-records, as records above 2 GiB "
             "are: such dumps cannot be read",
             r->f.path, (long)rec->number, what, (long)at);
    if (rec->bytes != bytes)
        FAIL(ERR_FORMAT, "%s: record %ld (%s) at byte %ld has %ld bytes instead of %ld", r->f.path,
             (long)rec->number, what, (long)at, (long)rec->bytes, (long)bytes);
    return OK;
}

static enum err fault(const struct reader *r, const struct fort_rec *rec, const char *what,
                      const char *why)
{
    FAIL(ERR_FORMAT, "%s: record %ld (%s) at byte %ld %s", r->f.path, (long)rec->number, what,
         (long)rec->at, why);
}

static enum err get_count(struct reader *r, const char *what, int64_t most, int *n)
{
    struct fort_rec rec;
    int32_t x;
    TRY(expect(r, what, 4, &rec));
    TRY(fort_load(&r->f, &rec, 4, 0, 1, &x));
    *n = x;
    if (x < 0 || x > most)
        FAIL(ERR_FORMAT, "%s: record %ld (%s) at byte %ld is %d, expected 0 to %ld", r->f.path,
             (long)rec.number, what, (long)rec.at, x, (long)most);
    return OK;
}

/* Copies a tag without the blanks behind it. Its characters must be printable, and blanks at its
 * end only, so that it is written back as it was. */
static enum err get_tag(struct reader *r, const struct fort_rec *rec, const char *from,
                        char tag[PHANTOM_TAG + 1])
{
    int n = PHANTOM_TAG;
    while (n > 0 && from[n - 1] == ' ') n--;
    memcpy(tag, from, (size_t)n);
    tag[n] = 0;
    for (int i = 0; i < n; i++)
        if (from[i] < ' ' || from[i] > '~') return fault(r, rec, "tag", "is not printable");
    return OK;
}

static enum err read_marks(struct reader *r)
{
    struct fort_in *f = &r->f;
    struct fort_rec rec;
    int32_t whole[6];
    double real = 0;
    float single = 0;
    TRY(fort_next(f, "marks", &rec));
    if (rec.bytes != 20 && rec.bytes != 24)
        return fault(r, &rec, "marks", "has not 20 or 24 bytes: this is no dump of Phantom");
    r->d->real_bytes = rec.bytes == 24 ? 8 : 4;
    r->d->swap = f->swap;
    const int64_t behind = rec.bytes == 24 ? 3 : 2;
    TRY(fort_load(f, &rec, 4, 0, 1, whole));
    TRY(fort_load(f, &rec, 4, behind, 3, whole + 1));
    char raw[24];
    TRY(fort_load(f, &rec, 1, 0, (size_t)rec.bytes, raw));
    if (f->swap) /* the real begins at a multiple of 4, not of 8 */
        for (int k = 0; k < r->d->real_bytes / 2; k++) {
            char *a = raw + 4 + k, *b = raw + 4 + r->d->real_bytes - 1 - k, c = *a;
            *a = *b, *b = c;
        }
    memcpy(&real, raw + 4, 8);
    memcpy(&single, raw + 4, 4);
    if (r->d->real_bytes == 4) real = single;
    if (whole[0] != PHANTOM_MARK_1 || real != PHANTOM_MARK_2 || whole[1] != PHANTOM_MARK_2 ||
        whole[3] != PHANTOM_MARK_3)
        return fault(r, &rec, "marks",
                     "does not have the numbers 60769, 60878, 60878 and 690706: this is no dump "
                     "of Phantom");
    if (whole[2] != PHANTOM_VERSION)
        FAIL(ERR_FORMAT, "%s: record 1 (marks) at byte 0: the version is %d, expected %d", f->path,
             whole[2], PHANTOM_VERSION);
    r->d->version = whole[2];
    return OK;
}

static enum err read_id(struct reader *r)
{
    struct fort_rec rec;
    char *id = r->d->id;
    TRY(expect(r, "identity", PHANTOM_ID, &rec));
    TRY(fort_load(&r->f, &rec, 1, 0, PHANTOM_ID, id));
    for (int i = 0; i < PHANTOM_ID; i++)
        if (id[i] < ' ' || id[i] > '~') return fault(r, &rec, "identity", "is not printable");
    if (id[0] != 'F' && id[0] != 'S')
        return fault(r, &rec, "identity", "begins with neither F (full dump) nor S (small dump)");
    if (id[1] != 'T')
        return fault(r, &rec, "identity",
                     "is that of a dump without tags, of an old Phantom: convert it there first");
    return OK;
}

static void take_number(struct phantom_number *k, int bytes, const char *raw)
{
    float single;
    int64_t bits = 0;
    if (phantom_is_real(k->kind)) {
        memcpy(&single, raw, sizeof single);
        k->real = single;
        if (bytes == 8) memcpy(&k->real, raw, 8);
        return;
    }
    memcpy(&bits, raw, (size_t)bytes); /* little-endian, as every supported host */
    const int unused = 64 - 8 * bytes;
    k->integer = (int64_t)((uint64_t)bits << unused) >> unused;
    k->real = (double)k->integer;
}

static enum err read_numbers(struct reader *r, enum phantom_kind kind)
{
    struct phantom *d = r->d;
    struct fort_rec tags, values;
    int n;
    TRY(get_count(r, "numbers of the header", NUMBERS, &n));
    if (n == 0) return OK;
    const int bytes = phantom_bytes(d, kind);
    TRY(expect(r, "tags of the header", (int64_t)n * PHANTOM_TAG, &tags));
    TRY(expect(r, "values of the header", (int64_t)n * bytes, &values));
    char *tag = mem_new((size_t)n * PHANTOM_TAG, "dump"),
         *raw = mem_new((size_t)(n * bytes), "dump");
    d->number = mem_grow(d->number, sizeof *d->number * (size_t)(d->nnumber + n), "dump");
    enum err err = fort_load(&r->f, &tags, 1, 0, (size_t)n * PHANTOM_TAG, tag);
    if (err == OK) err = fort_load(&r->f, &values, bytes, 0, (size_t)n, raw);
    for (int i = 0; i < n && err == OK; i++) {
        struct phantom_number *k = &d->number[d->nnumber++];
        *k = (struct phantom_number){.kind = kind};
        err = get_tag(r, &tags, tag + (size_t)i * PHANTOM_TAG, k->tag);
        if (err == OK) take_number(k, bytes, raw + (size_t)(i * bytes));
    }
    FREE(tag);
    FREE(raw);
    return err;
}

/* The length of a block and the kinds of its arrays. */
static enum err read_block(struct reader *r, struct phantom_block *b)
{
    struct fort_rec rec;
    int32_t count[PHANTOM_KINDS];
    int64_t all = 0;
    TRY(expect(r, "numbers of a block", 8 + 4 * PHANTOM_KINDS, &rec));
    TRY(fort_load(&r->f, &rec, 8, 0, 1, &b->n));
    TRY(fort_load(&r->f, &rec, 4, 2, PHANTOM_KINDS, count));
    if (b->n < 0 || b->n > r->f.size)
        FAIL(ERR_FORMAT,
             "%s: record %ld (numbers of a block) at byte %ld: has %ld rows, but the "
             "file only %ld bytes",
             r->f.path, (long)rec.number, (long)rec.at, (long)b->n, (long)r->f.size);
    for (int k = 0; k < PHANTOM_KINDS; k++) {
        if (count[k] < 0 || count[k] > ARRAYS)
            FAIL(ERR_FORMAT,
                 "%s: record %ld (numbers of a block) at byte %ld: has %d arrays of "
                 "type %d, expected 0 to %d",
                 r->f.path, (long)rec.number, (long)rec.at, count[k], k + 1, ARRAYS);
        all += count[k];
    }
    b->array = mem_zero(sizeof *b->array * (size_t)all + 1, "dump");
    for (int k = 0; k < PHANTOM_KINDS; k++)
        for (int i = 0; i < count[k]; i++) b->array[b->narray++].kind = (enum phantom_kind)k;
    return OK;
}

static enum err read_array(struct reader *r, int64_t n, struct phantom_array *a)
{
    struct fort_rec rec;
    char tag[PHANTOM_TAG];
    const int bytes = phantom_bytes(r->d, a->kind);
    TRY(expect(r, "tag", PHANTOM_TAG, &rec));
    TRY(fort_load(&r->f, &rec, 1, 0, PHANTOM_TAG, tag));
    TRY(get_tag(r, &rec, tag, a->tag));
    TRY(expect(r, a->tag, n * bytes, &rec));
    a->record = rec.number, a->at = rec.at;
    a->data = mem_new((size_t)(n * bytes) + 1, "dump");
    return fort_load(&r->f, &rec, bytes, 0, (size_t)n, a->data);
}

/* The numbers of particles of the header must be those of the first block. */
static enum err check_counts(const struct reader *r)
{
    const struct phantom *d = r->d;
    int64_t types = 0, want = d->nblock ? d->block[0].n : 0;
    for (int i = 0; i < d->nnumber; i++) {
        const struct phantom_number *k = &d->number[i];
        if (strcmp(k->tag, "npartoftype") == 0 && k->kind == PHANTOM_I8) types += k->integer;
        if (strcmp(k->tag, "nparttot") == 0 && k->kind == PHANTOM_I8 && d->nblock == 2 &&
            k->integer != want)
            FAIL(ERR_FORMAT, "%s: the header has nparttot %ld, but the first block %ld particles",
                 r->f.path, (long)k->integer, (long)want);
    }
    if (types > 0 && d->nblock == 2 && types != want)
        FAIL(ERR_FORMAT,
             "%s: npartoftype of the header add up to %ld, but the first block has %ld "
             "particles",
             r->f.path, (long)types, (long)want);
    return OK;
}

static enum err read_all(struct reader *r, const char *path)
{
    struct phantom *d = r->d;
    TRY(fort_open(&r->f, path));
    TRY(read_marks(r));
    TRY(read_id(r));
    for (int k = 0; k < PHANTOM_KINDS; k++) TRY(read_numbers(r, (enum phantom_kind)k));
    TRY(get_count(r, "number of blocks", BLOCKS, &d->nblock));
    d->block = mem_zero(sizeof *d->block * (size_t)d->nblock + 1, "dump");
    for (int b = 0; b < d->nblock; b++) TRY(read_block(r, &d->block[b]));
    TRY(check_counts(r));
    for (int b = 0; b < d->nblock; b++)
        for (int i = 0; i < d->block[b].narray; i++)
            TRY(read_array(r, d->block[b].n, &d->block[b].array[i]));
    return fort_at_end(&r->f);
}

enum err phantom_read(const char *path, struct phantom **out)
{
    struct reader r = {.f = {.fd = -1}, .d = mem_zero(sizeof *r.d, "dump")};
    *out = NULL;
    enum err err = OK;
    if (snprintf(r.d->path, sizeof r.d->path, "%s", path) >= (int)sizeof r.d->path)
        err = err_set(ERR_FILE, "%.80s…: the path is too long", path);
    if (err == OK) err = read_all(&r, path);
    fort_shut(&r.f);
    if (err == OK)
        *out = r.d;
    else
        phantom_free(&r.d);
    return err;
}

bool phantom_is(const char *path)
{
    struct stat st;
    int32_t head[2] = {0};
    int64_t size;
    int fd;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size < (off_t)sizeof head ||
        file_open(path, &fd, &size) != OK)
        return false;
    const bool got = file_read_at(fd, path, head, sizeof head, 0) == OK;
    close(fd);
    if (head[1] != PHANTOM_MARK_1)
        for (int i = 0; i < 2; i++) head[i] = (int32_t)__builtin_bswap32((uint32_t)head[i]);
    return got && head[1] == PHANTOM_MARK_1 && (head[0] == 20 || head[0] == 24);
}
