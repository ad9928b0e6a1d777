#include "io/fortran.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/file.h"

static const size_t BUF = (size_t)4 << 20, ROWS = (size_t)8 << 20, WINDOW = (size_t)64 << 10,
                    JUMP = 4096,
                    /* bytes between rows: at strides of a power of two they would share a few cache
                     * sets */
    GAP = 320;
enum { GAP_PIECE = 1 << 16 }; /* bytes read at a time for the checksum only */
/* bytes of a row after which writing to disk is requested */
static const int64_t SOON = 1 << 20;
/* elements; pieces are multiples of it where possible, since it is a multiple of the readers' batch
 */
static const int64_t EVEN = 8192;

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "files are written little-endian");

static char *name_copy(const char *path)
{
    size_t n = strlen(path) + 1;
    return memcpy(mem_new(n, "file name"), path, n);
}

/* ---- writing ---- */

/* A buffer whose pages, if they are new, are large: faulting small ones took as long as filling the
 * buffer. */
static char *buffer_new(size_t bytes)
{
    char *p = mem_new(bytes, "file buffer");
    mem_wide(p);
    return p;
}

void fort_create(struct fort_out *f, const char *path, fort_told *told, void *ctx)
{
    *f = (struct fort_out){.fd = -1, .sub_max = FORT_SUB, .told = told, .told_ctx = ctx};
    f->path = name_copy(path);
    f->buf = buffer_new(BUF);
    f->err = file_create(path, &f->fd);
}

static enum err write_now(struct fort_out *f, const void *p, size_t n, int64_t at)
{
    TRY(file_write_at(f->fd, f->path, p, n, at));
    if (f->told) checksum_add(&f->sum, p, n, at);
    return OK;
}

static void write_at(struct fort_out *f, const void *p, size_t n, int64_t at)
{
    if (f->err == OK) f->err = write_now(f, p, n, at);
}

static void flush(struct fort_out *f)
{
    write_at(f, f->buf, f->fill, f->at);
    if (f->err == OK) sync_soon(f->sync, f->fd, f->fill, f->at);
    f->at += (int64_t)f->fill;
    f->fill = 0;
}

static void put_bytes(struct fort_out *f, const void *p, size_t n)
{
    if (n > BUF - f->fill) flush(f);
    if (n > BUF) {
        write_at(f, p, n, f->at);
        f->at += (int64_t)n;
    } else if (n) {
        memcpy(f->buf + f->fill, p, n);
        f->fill += n;
    }
}

static void put_length(struct fort_out *f, int64_t n)
{
    int32_t x = (int32_t)n;
    put_bytes(f, &x, sizeof x);
}

static void sub_begin(struct fort_out *f)
{
    bool more = f->left > f->sub_max;
    f->sub = f->sub_left = more ? f->sub_max : f->left;
    put_length(f, more ? -f->sub : f->sub);
}

static void sub_end(struct fort_out *f)
{
    put_length(f, f->first ? f->sub : -f->sub);
    f->first = false;
}

void fort_begin(struct fort_out *f, int64_t bytes)
{
    f->left = bytes;
    f->first = true;
    sub_begin(f);
}

void fort_put(struct fort_out *f, const void *p, size_t n)
{
    const char *s = p;
    BUG_ON((int64_t)n > f->left);
    while (n > 0) {
        if (f->sub_left == 0) {
            sub_end(f);
            sub_begin(f);
        }
        size_t k = (int64_t)n < f->sub_left ? n : (size_t)f->sub_left;
        put_bytes(f, s, k);
        s += k, n -= k;
        f->left -= (int64_t)k, f->sub_left -= (int64_t)k;
    }
}

void fort_end(struct fort_out *f)
{
    BUG_ON(f->left != 0);
    sub_end(f);
}

void fort_record(struct fort_out *f, const void *p, size_t n)
{
    fort_begin(f, (int64_t)n);
    fort_put(f, p, n);
    fort_end(f);
}

void fort_i4(struct fort_out *f, int32_t x)
{
    fort_record(f, &x, sizeof x);
}

void fort_r8(struct fort_out *f, double x)
{
    fort_record(f, &x, sizeof x);
}

/* A piece of each of the records of a table, at its offset in the file. */
struct fort_piece {
    struct fort_out *f;
    int nrow;
    size_t stride, bytes; /* stride between rows in memory; bytes of a piece */
    int64_t at, step;     /* file offset of the first record's piece; stride between records */
    /* bytes before the piece for which writing is requested as well; -1: no request */
    int64_t soon;
    char *rows;
};

static enum err write_piece(void *ctx)
{
    const struct fort_piece *p = ctx;
    struct fort_out *f = p->f;
    for (int r = 0; r < p->nrow; r++)
        TRY(write_now(f, p->rows + (size_t)r * p->stride, p->bytes, p->at + r * p->step));
    for (int r = 0; r < p->nrow && p->soon >= 0; r++)
        sync_soon(f->sync, f->fd, p->bytes + (size_t)p->soon, p->at - p->soon + r * p->step);
    return OK;
}

/* Writes the lengths of all records of a table, leaving gaps for their contents. */
static void write_lengths(struct fort_out *f, int nrow, int32_t bytes, int64_t step)
{
    int32_t ends[2] = {bytes, bytes};
    for (int r = 0; r <= nrow; r++) {
        bool head = r<nrow, tail = r> 0;
        write_at(f, ends + !tail, sizeof bytes * (size_t)(head + tail),
                 f->at + r * step - (tail ? 4 : 0));
    }
}

/* Writes records longer than the scratch memory: lengths first, then each piece of each record at
 * its offset. If f->beside, one scratch buffer is filled while the other is written. */
static void table_in_pieces(struct fort_out *f, int nrow, size_t elem, int64_t n, int64_t chunk,
                            fort_fill *fill, const void *ctx)
{
    struct fort_piece piece[2];
    int64_t bytes = n * (int64_t)elem, step = bytes + 2 * (int64_t)sizeof(int32_t), soon = 0;
    if (f->beside && !f->rows[1]) f->rows[1] = buffer_new(ROWS);
    flush(f);
    file_reserve(f->fd, f->at, nrow * step);
    write_lengths(f, nrow, (int32_t)bytes, step);
    for (int64_t i = 0, k = 0; i < n && f->err == OK; i += chunk, k ^= f->beside) {
        struct fort_piece *p = &piece[k];
        int64_t here = n - i < chunk ? n - i : chunk, at = i * (int64_t)elem;
        *p = (struct fort_piece){.f = f,
                                 .nrow = nrow,
                                 .stride = (size_t)chunk * elem + GAP,
                                 .bytes = (size_t)here * elem,
                                 .at = f->at + 4 + at,
                                 .step = step,
                                 .soon = -1,
                                 .rows = f->rows[k]};
        if (i + here == n || at + (int64_t)p->bytes - soon >= SOON) {
            p->soon = at - soon;
            soon = at + (int64_t)p->bytes;
        }
        fill(ctx, i, here, p->rows, p->stride);
        f->err = f->beside ? async_begin(&f->async, write_piece, p) : write_piece(p);
    }
    enum err late = async_wait(&f->async);
    if (f->err == OK) f->err = late;
    f->at += nrow * step;
}

/* Number of elements that fit into the scratch buffer, a multiple of the readers' batch where
 * possible. */
static int64_t chunk_of(int nrow, size_t elem)
{
    size_t gaps = (size_t)nrow * GAP;
    BUG_ON(gaps > ROWS);
    int64_t room = (int64_t)((ROWS - gaps) / ((size_t)nrow * elem)), even = EVEN;
    while (even > 64 && even > room) even /= 2;
    BUG_ON(room < even);
    return room / even * even;
}

void fort_table(struct fort_out *f, int nrow, size_t elem, int64_t n, fort_fill *fill,
                const void *ctx)
{
    BUG_ON(n * (int64_t)elem > FORT_SUB);
    if (f->err != OK) return;
    if (!f->rows[0]) f->rows[0] = buffer_new(ROWS);
    int64_t chunk = chunk_of(nrow, elem);
    if (n > chunk) {
        table_in_pieces(f, nrow, elem, n, chunk, fill, ctx);
        return;
    }
    /* Rows are a multiple of 8 bytes apart, so that doubles are aligned. */
    size_t bytes = (size_t)n * elem, stride = (bytes + 7) & ~(size_t)7;
    fill(ctx, 0, n, f->rows[0], stride);
    for (int r = 0; r < nrow; r++) fort_record(f, f->rows[0] + (size_t)r * stride, bytes);
}

enum err fort_close(struct fort_out *f)
{
    flush(f);
    if (f->fd >= 0 && f->err == OK)
        f->err = sync_close(f->sync, f->fd, f->path);
    else if (f->fd >= 0)
        close(f->fd);
    if (f->err == OK && f->told) f->told(f->told_ctx, f->path, f->sum.bytes, checksum_end(&f->sum));
    async_fini(&f->async);
    FREE(f->sum.part);
    for (int k = 0; k < 2; k++) FREE(f->rows[k]);
    FREE(f->buf);
    FREE(f->path);
    f->fd = -1;
    return f->err;
}

/* ---- reading ---- */

static enum err find_order(struct fort_in *f);

enum err fort_open(struct fort_in *f, const char *path)
{
    *f = (struct fort_in){.fd = -1, .record = 1};
    TRY(file_open(path, &f->fd, &f->size));
    f->path = name_copy(path);
    f->win = mem_new(WINDOW, "file buffer");
    return find_order(f);
}

void fort_shut(struct fort_in *f)
{
    if (f->path && f->fd >= 0) close(f->fd);
    FREE(f->path);
    FREE(f->win);
    FREE(f->seen.range);
    FREE(f->seen.sum.part);
    *f = (struct fort_in){.fd = -1};
}

/* ---- checksum of a file that is read in any order ---- */

void fort_watch(struct fort_in *f)
{
    f->seen.wanted = true;
}

/* Adds a range to those read. Adjacent records are read in turns, so the next range to grow is
 * usually the one after the last. */
static void see_range(struct fort_seen *s, size_t n, int64_t at)
{
    int64_t k = s->next;
    if (k >= s->n || s->range[k].end != at)
        for (k = s->n - 1; k >= 0 && s->range[k].end != at; k--) continue;
    if (k < 0) {
        MEM_ROOM(s->range, s->n, s->room, 64, "checksum");
        s->range[k = s->n++].at = at;
    }
    s->range[k].end = at + (int64_t)n;
    s->next = k + 1;
}

/* Adds bytes to the checksum; called by any thread. */
static void see(struct fort_seen *s, const void *p, size_t n, int64_t at)
{
    uint64_t inner = checksum_inner(p, n, at);
#pragma omp critical(fort_seen)
    {
        see_range(s, n, at);
        checksum_add_inner(&s->sum, p, n, at, inner);
    }
}

MEM_ORDER(by_location, struct fort_range, at)

/* Reads one piece of a gap for the checksum. */
static enum err see_piece(struct fort_in *f, int64_t at, int64_t end)
{
    char piece[GAP_PIECE];
    size_t n = end - at < GAP_PIECE ? (size_t)(end - at) : sizeof piece;
    TRY(file_read_at(f->fd, f->path, piece, n, at));
    uint64_t inner = checksum_inner(piece, n, at);
#pragma omp critical(fort_seen)
    checksum_add_inner(&f->seen.sum, piece, n, at, inner);
    return OK;
}

static enum err see_gap(struct fort_in *f, int64_t at, int64_t end)
{
    struct err_first trouble = {0};
    BUG_ON(at > end);
    int pieces = (int)((end - at + GAP_PIECE - 1) / GAP_PIECE);
#pragma omp parallel for schedule(static) if (pieces > 1)
    for (int k = 0; k < pieces; k++)
        err_save(&trouble, see_piece(f, at + k * (int64_t)GAP_PIECE, end), k);
    return err_restore(&trouble);
}

enum err fort_sum(struct fort_in *f, uint64_t *sum)
{
    struct fort_seen *s = &f->seen;
    int64_t at = 0;
    s->wanted = false;
    mem_sort(s->range, (size_t)s->n, sizeof *s->range, by_location);
    for (int64_t k = 0; k < s->n; at = s->range[k++].end) TRY(see_gap(f, at, s->range[k].at));
    TRY(see_gap(f, at, f->size));
    *sum = checksum_end(&s->sum);
    return OK;
}

/* ---- records ---- */

/* Reads bytes; short reads go through a window, so that a walk over the lengths of small records
 * costs one call. After a jump over a long record, the window is short. */
static enum err read_bytes(struct fort_in *f, void *p, size_t n, int64_t at)
{
    if (n > WINDOW / 8) {
        TRY(file_read_at(f->fd, f->path, p, n, at));
        if (f->seen.wanted) see(&f->seen, p, n, at);
        return OK;
    }
    if (at < f->win_at || at + (int64_t)n > f->win_at + f->win_n) {
        bool jumps = at < f->win_at || at - f->win_at - f->win_n > (int64_t)JUMP;
        int64_t left = f->size - at, max = (int64_t)(jumps ? WINDOW / 8 : WINDOW),
                k = left < max ? left : max;
        f->win_n = 0;
        if (k < (int64_t)n)
            FAIL(ERR_FORMAT, "%s: ends at byte %ld, %zu bytes are expected at byte %ld", f->path,
                 (long)f->size, n, (long)at);
        TRY(file_read_at(f->fd, f->path, f->win, (size_t)k, at));
        f->win_at = at;
        f->win_n = k;
    }
    memcpy(p, f->win + (at - f->win_at), n);
    return OK;
}

static int64_t length_of(int32_t marker)
{
    return marker < 0 ? -(int64_t)marker : marker;
}

static int32_t swapped(int32_t x)
{
    return (int32_t)__builtin_bswap32((uint32_t)x);
}

/* Whether the first record is complete, given its length. */
static enum err first_fits(struct fort_in *f, int64_t n, bool swap, bool *fits)
{
    int32_t tail;
    *fits = false;
    if (n > f->size - 8) return OK;
    TRY(read_bytes(f, &tail, sizeof tail, 4 + n));
    *fits = length_of(swap ? swapped(tail) : tail) == n;
    return OK;
}

static enum err find_order(struct fort_in *f)
{
    int32_t head;
    bool little, big;
    if (f->size < 8) return OK;
    TRY(read_bytes(f, &head, sizeof head, 0));
    TRY(first_fits(f, length_of(head), false, &little));
    TRY(first_fits(f, length_of(swapped(head)), true, &big));
    f->swap = big && !little;
    return OK;
}

static enum err read_marker(struct fort_in *f, int64_t at, int32_t *x)
{
    TRY(read_bytes(f, x, sizeof *x, at));
    if (f->swap) *x = swapped(*x);
    return OK;
}

static enum err record_error(const struct fort_in *f, const struct fort_rec *r, const char *what,
                             const char *why)
{
    FAIL(ERR_FORMAT, "%s: record %ld (%s) at byte %ld %s", f->path, (long)r->number, what,
         (long)r->at, why);
}

enum err fort_next(struct fort_in *f, const char *what, struct fort_rec *r)
{
    *r = (struct fort_rec){.number = f->record, .at = f->at};
    int64_t at = f->at;
    for (bool first = true, more = true; more; first = false) {
        int32_t head = 0, tail = 0;
        if (f->size - at < 8) return record_error(f, r, what, "is cut off: the file ends there");
        TRY(read_marker(f, at, &head));
        int64_t n = length_of(head);
        if (n > f->size - at - 8)
            return record_error(f, r, what, "is longer than the rest of the file");
        TRY(read_marker(f, at + 4 + n, &tail));
        if (length_of(tail) != n || (n > 0 && (tail < 0) == first))
            return record_error(f, r, what,
                                "has different lengths before and after it: the file is damaged");
        more = head < 0;
        if (first) r->sub = n;
        bool odd = more ? n == 0 || n != r->sub : !first && (n == 0 || n > r->sub);
        if (odd)
            return record_error(f, r, what, "has inconsistent sub-records: the file is damaged");
        r->bytes += n;
        at += n + 8;
    }
    f->at = at;
    f->record++;
    return OK;
}

enum err fort_expect(struct fort_in *f, const char *what, int64_t bytes, struct fort_rec *r)
{
    TRY(fort_next(f, what, r));
    if (r->bytes != bytes)
        FAIL(ERR_FORMAT, "%s: record %ld (%s) at byte %ld has %ld bytes instead of %ld", f->path,
             (long)r->number, what, (long)r->at, (long)r->bytes, (long)bytes);
    return OK;
}

/* Loads bytes of a record across its sub-records. */
static enum err load_bytes(struct fort_in *f, const struct fort_rec *r, int64_t first, size_t n,
                           void *p)
{
    char *s = p;
    BUG_ON(first < 0 || first + (int64_t)n > r->bytes);
    while (n > 0) {
        int64_t piece = first / r->sub, in = first % r->sub;
        size_t k = (int64_t)n < r->sub - in ? n : (size_t)(r->sub - in);
        TRY(read_bytes(f, s, k, r->at + piece * (r->sub + 8) + 4 + in));
        s += k, n -= k, first += (int64_t)k;
    }
    return OK;
}

static void swap_bytes(void *p, int width, size_t n)
{
    char *s = p;
    for (size_t i = 0; i < n; i++, s += width)
        for (int k = 0; k < width / 2; k++) {
            char c = s[k];
            s[k] = s[width - 1 - k];
            s[width - 1 - k] = c;
        }
}

enum err fort_load(struct fort_in *f, const struct fort_rec *r, int width, int64_t first, size_t n,
                   void *p)
{
    TRY(load_bytes(f, r, first * width, n * (size_t)width, p));
    if (f->swap) swap_bytes(p, width, n);
    return OK;
}

enum err fort_get(struct fort_in *f, const char *what, int width, void *p, size_t n)
{
    struct fort_rec r;
    TRY(fort_expect(f, what, (int64_t)n * width, &r));
    return fort_load(f, &r, width, 0, n, p);
}

enum err fort_next_real(struct fort_in *f, const char *what, int64_t total, struct fort_rec *r)
{
    TRY(fort_next(f, what, r));
    if (r->bytes != 8 * total && r->bytes != 4 * total)
        FAIL(ERR_FORMAT,
             "%s: record %ld (%s) at byte %ld has %ld bytes instead of %ld, or %ld of single "
             "precision",
             f->path, (long)r->number, what, (long)r->at, (long)r->bytes, (long)(8 * total),
             (long)(4 * total));
    f->narrow |= total > 0 && r->bytes == 4 * total;
    return OK;
}

/* Reals of 4 bytes are read into the upper half of x and widened from the lower end. */
enum err fort_load_real(struct fort_in *f, const struct fort_rec *r, int64_t total, int64_t first,
                        size_t n, double *x)
{
    if (r->bytes == 8 * total) return fort_load(f, r, 8, first, n, x);
    const char *from = (const char *)x + 4 * n;
    TRY(fort_load(f, r, 4, first, n, (char *)x + 4 * n));
    for (size_t i = 0; i < n; i++) {
        float one;
        memcpy(&one, from + 4 * i, sizeof one);
        x[i] = one;
    }
    return OK;
}

bool fort_is_plain(const struct fort_rec *r, int64_t bytes)
{
    return r->bytes <= r->sub && bytes > (int64_t)(WINDOW / 8);
}

enum err fort_load_rows(struct fort_in *f, int nrow, const struct fort_rec *r, int64_t total,
                        int64_t first, size_t n, double *const *x)
{
    struct err_first trouble = {0};
    bool plain = total > 0;
    for (int k = 0; k < nrow && plain; k++)
        plain = fort_is_plain(&r[k], (int64_t)n * (r[k].bytes / total));
#pragma omp parallel for schedule(static) if (plain)
    for (int k = 0; k < nrow; k++)
        err_save(&trouble, fort_load_real(f, &r[k], total, first, n, x[k]), k);
    return err_restore(&trouble);
}

enum err fort_get_real(struct fort_in *f, const char *what, double *x, size_t n)
{
    struct fort_rec r;
    TRY(fort_next_real(f, what, (int64_t)n, &r));
    return fort_load_real(f, &r, (int64_t)n, 0, n, x);
}

enum err fort_get_i4(struct fort_in *f, const char *what, int32_t *x)
{
    return fort_get(f, what, 4, x, 1);
}

enum err fort_skip(struct fort_in *f, const char *what, int n)
{
    struct fort_rec r;
    for (int i = 0; i < n; i++) TRY(fort_next(f, what, &r));
    return OK;
}

enum err fort_at_end(const struct fort_in *f)
{
    if (f->at == f->size) return OK;
    FAIL(ERR_FORMAT, "%s: %ld bytes follow after the last record, number %ld", f->path,
         (long)(f->size - f->at), (long)f->record - 1);
}
