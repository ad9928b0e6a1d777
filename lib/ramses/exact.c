/* ramses/exact: see exact.h.
 *
 * The file is a header and chunks, one for each batch of octs of a level. Differences are folded so
 * that small ones of either sign are small numbers, and split into eight planes of bytes. Planes of
 * zeros, usually seven, are left out; the others are compressed by zlib. Checksums cover the header
 * and, in each chunk, the true values, so that any damage is detected, here or in the hydro file.
 */
#include "ramses/exact.h"

#include <omp.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/mem.h"
#include "io/file.h"
#include "io/zip.h"

/* Files without non-thermal energies have the first version. */
enum { VERSION_PLAIN = 1, VERSION };
enum { PLANES = 8, CHUNK = CKPT_BATCH, SAFE = 32, TILES = CKPT_BATCH / GAS_TILE };
_Static_assert(8 * SAFE >= LEVEL_MAX + 2, "all levels");
_Static_assert(CKPT_BATCH % GAS_TILE == 0, "a batch is of whole tiles");

struct file_head {
    char magic[8];
    uint32_t version, order; /* order: 0x01020304 in the byte order of the writer */
    int32_t ncpu, file, nvar, nstep_coarse;
    double gamma, smallr, t, tout_next, aout_next;
    unsigned char safe[SAFE]; /* bit l / SAFE of element l % SAFE */
    double far[4];
    uint32_t nener, crc; /* crc: checksum of the preceding members */
};                       /* then the adiabatic indices of nener non-thermal energies */

struct chunk_head {
    int32_t level, n;
    uint32_t planes; /* mask of the planes stored, bit k: plane k */
    uint32_t bytes;  /* bytes of the zlib stream that follows */
    uint32_t crc;    /* checksum of the true values, row by row */
};

static const char MAGIC[8] = "PtahBits";

/* ---- writing ---- */

static enum err put(struct exact_out *w, const void *p, size_t n)
{
    TRY(file_write_at(w->fd, w->path, p, n, w->at));
    checksum_add(&w->sum, p, n, w->at);
    w->at += (int64_t)n;
    return OK;
}

static enum err put_head(struct exact_out *w)
{
    const struct ckpt_head *h = w->out->o.h;
    struct file_head f;
    memset(&f, 0, sizeof f);
    memcpy(f.magic, MAGIC, sizeof f.magic);
    f.version = h->energy.n ? VERSION : VERSION_PLAIN, f.nener = (uint32_t)h->energy.n,
    f.order = 0x01020304;
    f.ncpu = w->out->o.c->size, f.file = w->out->o.c->rank + 1, f.nvar = h->hydro ? h->nvar : 0;
    f.nstep_coarse = h->nstep_coarse;
    f.gamma = h->gamma, f.smallr = h->smallr, f.t = h->t;
    f.tout_next = h->tout_next, f.aout_next = h->aout_next;
    for (int l = 0; l < LEVEL_MAX + 2; l++) f.safe[l % SAFE] |= (h->safe[l] != 0) << l / SAFE;
    memcpy(f.far, h->far, sizeof f.far);
    f.crc = zip_crc(0, &f, offsetof(struct file_head, crc));
    TRY(put(w, &f, sizeof f));
    return f.nener ? put(w, h->energy.gamma, sizeof *h->energy.gamma * f.nener) : OK;
}

void exact_differ(struct exact_out *w, struct exact_cells k, const double *const *u,
                  const double *const *prim, const double *const *b)
{
    const int nvar = w->out->o.h->nvar, part = k.part, at = k.at, n = k.n, c = k.c;
    double store[NVAR_MAX * EXACT_PITCH], *made[NVAR_MAX] = {NULL};
    uint64_t all = 0;
    BUG_ON(at % GAS_TILE || n > GAS_TILE);
    for (int v = 0; v < nvar; v++) made[v] = store + v * EXACT_PITCH;
    const struct ckpt_head *h = w->out->o.h;
    gas_conserved(&(struct gas_equation){nvar, h->gamma, h->smallr, &h->energy}, n, prim, made);
    if (b) gas_add_field(n, b, made[GAS_ENERGY]);
    for (int v = 0; v < nvar; v++)
        crc_rows_add(&w->crc, part, 8 * v + c, u[v], sizeof *u[v] * (size_t)n);
    for (int v = 1; v < nvar; v++) {
        size_t row = (size_t)(8 * (v - 1) + c), location = row * CKPT_PITCH + (size_t)at;
        uint64_t word[GAS_TILE], any = 0;
        for (int i = 0; i < n; i++) {
            int64_t x, y;
            memcpy(&x, &u[v][i], sizeof x);
            memcpy(&y, &made[v][i], sizeof y);
            int64_t d = (int64_t)((uint64_t)x - (uint64_t)y);
            word[i] = (uint64_t)d << 1 ^ (uint64_t)(d >> 63);
            any |= word[i];
        }
        for (int i = 0; i < n; i++) w->low[location + (size_t)i] = (unsigned char)word[i];
        w->large[row * TILES + (size_t)(at / GAS_TILE)] = any > 0xff;
        if (any > 0xff) memcpy(w->word + location, word, sizeof *word * (size_t)n);
        all |= any;
    }
    w->any[part] |= all;
}

void exact_join(struct exact_out *w)
{
    crc_rows_join(&w->crc);
    for (int k = 1; k < w->parts; k++) w->any[0] |= w->any[k], w->any[k] = 0;
}

/* Extracts plane k of a row of n differences. */
static void cut_row(const struct exact_out *w, size_t row, int k, size_t n, unsigned char *out)
{
    const uint64_t *word = w->word + row * CKPT_PITCH;
    if (k == 0) memcpy(out, w->low + row * CKPT_PITCH, n);
    for (size_t at = 0; k && at < n; at += GAS_TILE) {
        size_t end = at + GAS_TILE < n ? at + GAS_TILE : n;
        if (!w->large[row * TILES + at / GAS_TILE]) {
            memset(out + at, 0, end - at);
            continue;
        }
        for (size_t i = at; i < end; i++) out[i] = (unsigned char)(word[i] >> 8 * k);
    }
}

/* Extracts the nonzero planes of rows of n differences, one after the other. Returns their mask. */
static uint32_t cut_planes(struct exact_out *w, size_t rows, size_t n, size_t *bytes)
{
    uint32_t mask = 0;
    *bytes = 0;
    for (int k = 0; k < PLANES; k++) {
        if (!(w->any[0] >> 8 * k & 0xff)) continue;
        mask |= 1u << k;
        for (size_t r = 0; r < rows; r++, *bytes += n) cut_row(w, r, k, n, w->plane + *bytes);
    }
    w->any[0] = 0;
    return mask;
}

static enum err pack(struct exact_out *w, size_t bytes, size_t *packed)
{
    z_stream z = {0};
    if (deflateInit2(&z, 1, Z_DEFLATED, 15, 8, Z_RLE) != Z_OK)
        FAIL(ERR_LIMIT, "%s: zlib cannot be initialised: the memory may be exhausted", w->path);
    z.next_in = w->plane, z.avail_in = (uInt)bytes;
    z.next_out = w->packed, z.avail_out = (uInt)w->room;
    int end = deflate(&z, Z_FINISH);
    *packed = z.total_out;
    deflateEnd(&z);
    BUG_ON(end != Z_STREAM_END);
    return OK;
}

/* Writes the current chunk. */
static enum err put_chunk(void *ctx)
{
    struct exact_out *w = ctx;
    size_t packed = 0;
    if (w->cut) TRY(pack(w, w->cut, &packed));
    struct chunk_head h = {.level = w->level,
                           .n = w->n,
                           .planes = w->planes,
                           .bytes = (uint32_t)packed,
                           .crc = w->crc_of_chunk};
    TRY(put(w, &h, sizeof h));
    return put(w, w->packed, packed);
}

enum err exact_put(struct exact_out *w, int level, int n)
{
    size_t nvar = (size_t)w->out->o.h->nvar;
    TRY(async_wait(&w->async));
    exact_join(w);
    w->level = level, w->n = n;
    w->crc_of_chunk = crc_rows_end(&w->crc);
    w->planes = cut_planes(w, (nvar - 1) * 8, (size_t)n, &w->cut);
    return async_begin(&w->async, put_chunk, w);
}

enum err exact_create(struct exact_out *w, const struct ramses_out *out, const char *path)
{
    size_t rows = out->o.h->hydro ? (size_t)out->o.h->nvar * 8 : 0, words = rows * CHUNK;
    *w = (struct exact_out){.out = out, .path = path, .parts = omp_get_max_threads()};
    TRY(file_create(path, &w->fd));
    w->room = compressBound((uLong)(words * PLANES)) + 1024;
    size_t tile = (rows + (out->o.h->magnetic ? 48 : 0)) * EXACT_PITCH * (size_t)w->parts;
    w->value = mem_new(sizeof *w->value * tile + 1, "checkpoint");
    w->any = mem_zero(sizeof *w->any * (size_t)w->parts, "checkpoint");
    crc_rows_init(&w->crc, (int)rows, w->parts);
    w->low = mem_zero(rows * CKPT_PITCH + 1, "checkpoint"); /* 0 for cells that do not exist */
    w->large = mem_zero(rows * TILES + 1, "checkpoint");
    w->word = mem_new(sizeof *w->word * rows * CKPT_PITCH + 1, "checkpoint");
    w->plane = mem_new(words * PLANES + 1, "checkpoint");
    w->packed = mem_new(w->room, "checkpoint");
    return put_head(w);
}

enum err exact_close(struct exact_out *w, enum err err)
{
    enum err late = async_wait(&w->async);
    if (err == OK) err = late;
    async_fini(&w->async);
    if (w->fd >= 0 && err == OK)
        err = sync_close(w->out->o.sync, w->fd, w->path);
    else if (w->fd >= 0)
        close(w->fd);
    if (err == OK) manifest_add(w->out->o.list, w->path, w->at, checksum_end(&w->sum));
    FREE(w->sum.part);
    FREE(w->value);
    FREE(w->any);
    crc_rows_free(&w->crc);
    FREE(w->low);
    FREE(w->large);
    FREE(w->word);
    FREE(w->plane);
    FREE(w->packed);
    return err;
}

/* ---- reading ---- */

static enum err damaged(const struct exact_in *x, const char *what)
{
    FAIL(ERR_FORMAT,
         "%s: %s at byte %ld; without the exact_ files a restart is accurate to round-off only",
         x->path, what, (long)x->at);
}

static enum err take(struct exact_in *x, void *p, size_t n)
{
    if (x->size - x->at < (int64_t)n) return damaged(x, "ends early");
    TRY(file_read_at(x->fd, x->path, p, n, x->at));
    x->at += (int64_t)n;
    return OK;
}

static enum err take_head(struct exact_in *x, int ncpu, int file)
{
    struct file_head f;
    TRY(take(x, &f, sizeof f));
    if (memcmp(f.magic, MAGIC, sizeof f.magic) != 0 || f.order != 0x01020304)
        return damaged(x, "is not an exact file");
    if (f.version < VERSION_PLAIN || f.version > VERSION)
        FAIL(ERR_FORMAT, "%s: has version %u, but this program reads versions %d to %d", x->path,
             f.version, VERSION_PLAIN, VERSION);
    if (!checksum_agrees(f.crc, zip_crc(0, &f, offsetof(struct file_head, crc))))
        return damaged(x, "is damaged");
    if (f.ncpu != ncpu || f.file != file)
        FAIL(ERR_FORMAT,
             "%s: is file %d of %d according to its header, where file %d of %d is expected",
             x->path, f.file, f.ncpu, file, ncpu);
    if (f.nvar < 0 || f.nvar > NVAR_MAX || f.nener > GAS_ENERGIES) return damaged(x, "is damaged");
    x->energy.n = (int)f.nener;
    if (f.nener) TRY(take(x, x->energy.gamma, sizeof *x->energy.gamma * f.nener));
    x->nvar = f.nvar, x->nstep_coarse = f.nstep_coarse;
    x->gamma = f.gamma, x->smallr = f.smallr, x->t = f.t;
    x->tout_next = f.tout_next, x->aout_next = f.aout_next;
    for (int l = 0; l < LEVEL_MAX + 2; l++) x->safe[l] = f.safe[l % SAFE] >> l / SAFE & 1;
    memcpy(x->far, f.far, sizeof x->far);
    return OK;
}

enum err exact_open(struct exact_in *x, const char *path, int ncpu, int file)
{
    size_t n = strlen(path) + 1;
    *x = (struct exact_in){.fd = -1, .path = mem_new(n, "snapshot")};
    memcpy(x->path, path, n);
    TRY(file_open(path, &x->fd, &x->size));
    TRY(take_head(x, ncpu, file));
    size_t words = (size_t)(x->nvar + 1) * 8 * CHUNK;
    x->bytes = mem_new(words * PLANES, "snapshot batch");
    return OK;
}

void exact_shut(struct exact_in *x)
{
    if (x->path && x->fd >= 0) close(x->fd);
    FREE(x->path);
    FREE(x->bytes);
    crc_rows_free(&x->crc);
}

/* Decompresses the planes of a chunk one after the other. */
static enum err unpack(struct exact_in *x, const struct chunk_head *h, size_t words)
{
    size_t planes = (size_t)__builtin_popcount(h->planes), room = words * planes;
    if (h->bytes > compressBound((uLong)room) + 1024 || x->size - x->at < (int64_t)h->bytes)
        return damaged(x, "is damaged");
    unsigned char *packed = mem_new((size_t)h->bytes + 1, "snapshot batch");
    size_t got = 0;
    enum err err = take(x, packed, h->bytes);
    if (err == OK && (!zip_inflate(packed, h->bytes, x->bytes, room, &got) || got != room))
        err = damaged(x, "is damaged");
    FREE(packed);
    TRY(err);
    return OK;
}

static enum err take_chunk_head(struct exact_in *x, struct chunk_head *h, int level, int n)
{
    TRY(take(x, h, sizeof *h));
    if (h->level != level || h->n != n || h->planes > 0xff || n > CHUNK)
        return damaged(x, "does not fit the hydro file");
    return OK;
}

enum err exact_skip(struct exact_in *x, int level, int n)
{
    struct chunk_head h;
    TRY(take_chunk_head(x, &h, level, n));
    if (x->size - x->at < (int64_t)h.bytes) return damaged(x, "ends early");
    x->at += (int64_t)h.bytes;
    return OK;
}

enum err exact_begin(struct exact_in *x, int level, int n, int parts)
{
    struct chunk_head h;
    TRY(take_chunk_head(x, &h, level, n));
    if (h.planes)
        TRY(unpack(x, &h, (size_t)(x->nvar - 1) * 8 * (size_t)n));
    else if (h.bytes)
        return damaged(x, "is damaged");
    x->level = level, x->n = n, x->planes = h.planes, x->sum = h.crc;
    if (x->crc.parts == parts) return OK;
    crc_rows_free(&x->crc);
    crc_rows_init(&x->crc, 8 * x->nvar, parts);
    return OK;
}

/* Adds the differences at..at+n-1 of a row to u, n <= GAS_TILE. */
static void add_differences(const struct exact_in *x, int row, int at, int n, double *u)
{
    size_t words = (size_t)(x->nvar - 1) * 8 * (size_t)x->n;
    const unsigned char *p = x->bytes + (size_t)row * (size_t)x->n + at;
    uint64_t word[GAS_TILE] = {0}, y[GAS_TILE];
    for (int k = 0; k < PLANES; k++) {
        if (!(x->planes >> k & 1)) continue;
        for (int i = 0; i < n; i++) word[i] |= (uint64_t)p[i] << 8 * k;
        p += words;
    }
    memcpy(y, u, sizeof *y * (size_t)n);
    for (int i = 0; i < n; i++) y[i] += word[i] >> 1 ^ -(word[i] & 1);
    memcpy(u, y, sizeof *y * (size_t)n);
}

void exact_correct(struct exact_in *x, int part, int at, int n, int c, double *const *u)
{
    for (int v = 0; v < x->nvar; v++) {
        for (int i = 0; v && x->planes && i < n; i += GAS_TILE)
            add_differences(x, 8 * (v - 1) + c, at + i, n - i < GAS_TILE ? n - i : GAS_TILE,
                            u[v] + i);
        crc_rows_add(&x->crc, part, 8 * v + c, u[v], sizeof *u[v] * (size_t)n);
    }
}

enum err exact_end(struct exact_in *x)
{
    if (!checksum_agrees(x->sum, crc_rows_end(&x->crc)))
        return damaged(
            x, "the checksum of the values is wrong: this file or the hydro file is damaged");
    return OK;
}

enum err exact_at_end(const struct exact_in *x)
{
    return x->at == x->size ? OK : damaged(x, "has bytes after its end");
}
