/* hdf5/file: see file.h. Metadata have HDF5's own checksums (format of HDF5 1.8, readable by
 * all later versions). Links and attributes are always stored in object headers, so that only
 * B-trees of chunks lack a checksum. No object has timestamps. */
#ifdef PTAH_HDF5
#include "hdf5/file.h"

#include <hdf5.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
#include <zlib.h>

#include "base/checksum.h"
#include "base/mem.h"
#include "io/file.h"

/* page size; minimum size of a dataset that starts at a page boundary, bytes */
static const int64_t ALIGN = 4096, ALIGN_FROM = 65536;

static void put_deflated(struct hdf5_file *f, struct hdf5_set *s, int64_t first, int64_t n,
                         const void *p);

/* Bytes per value of a type. */
static int size_of(char type)
{
    return type == 'd' || type == 'q' || type == 'Q' ? 8
           : type == 'i' || type == 'I'              ? 4
           : type == 'h'                             ? 2
                                                     : 1;
}

static hid_t type_id(char type)
{
    return type == 'd'   ? H5T_NATIVE_DOUBLE
           : type == 'q' ? H5T_NATIVE_INT64
           : type == 'Q' ? H5T_NATIVE_UINT64
           : type == 'i' ? H5T_NATIVE_INT32
           : type == 'I' ? H5T_NATIVE_UINT32
           : type == 'h' ? H5T_NATIVE_INT16
           : type == 'b' ? H5T_NATIVE_INT8
                         : H5T_NATIVE_UINT8;
}

void hdf5_init(struct hdf5_file *f, const struct comm *c, const char *path, int deflate)
{
    *f = (struct hdf5_file){
        .c = c, .deflate = deflate, .id = -1, .driver = -1, .sum_id = -1, .fd = -1};
    snprintf(f->path, sizeof f->path, "%s", path);
}

int hdf5_add(struct hdf5_file *f, char type, int64_t n, int64_t block, const char *fmt, ...)
{
    va_list args;
    if (f->nset == f->room)
        f->set = mem_grow(f->set, sizeof *f->set * (size_t)(f->room += 64), "checkpoint");
    struct hdf5_set *s = &f->set[f->nset];
    *s = (struct hdf5_set){.type = type, .n = n, .block = block, .sum = f->nsum, .id = -1};
    s->ndim = 1, s->dim[0] = n;
    va_start(args, fmt);
    int k = vsnprintf(s->path, sizeof s->path, fmt, args);
    va_end(args);
    BUG_ON(k < 0 || k >= (int)sizeof s->path);
    f->nsum += (n + block - 1) / block;
    return f->nset++;
}

void hdf5_shape(struct hdf5_file *f, int set, int ndim, const int64_t *dim)
{
    struct hdf5_set *s = &f->set[set];
    int64_t n = 1;
    BUG_ON(ndim > HDF5_DIMENSIONS || f->deflate);
    for (int d = 0; d < ndim; d++) n *= s->dim[d] = dim[d];
    BUG_ON(n != s->n);
    s->ndim = ndim;
}

static enum err trouble(struct hdf5_file *f, const char *what, const char *name)
{
    int why = f->sink.failed;
    if (f->err != OK) return f->err;
    if (why)
        f->err = err_set(ERR_FILE, "%s: cannot write: %s", f->path, strerror(why));
    else
        f->err = err_set(ERR_FILE, "%s: HDF5 cannot %s %s", f->path, what, name);
    return f->err;
}

/* ---- layout, rank 0 ---- */

/* Adds an attribute to an object, and closes the ids of its type and space. */
static void add_attr(struct hdf5_file *f, const char *object, const char *name, hid_t type,
                     hid_t space, const void *p)
{
    hid_t o = H5Oopen(f->id, object, H5P_DEFAULT);
    hid_t a = H5Acreate2(o, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (a < 0 || H5Awrite(a, type, p) < 0) trouble(f, "write", name);
    H5Aclose(a);
    H5Oclose(o);
    H5Sclose(space);
    H5Tclose(type);
}

/* A text type of n bytes. */
static hid_t text_type(size_t n, H5T_str_t pad)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, n);
    H5Tset_strpad(type, pad);
    return type;
}

void hdf5_attr(struct hdf5_file *f, const char *group, const char *name, char type, int64_t n,
               const void *p)
{
    if (f->err != OK || n == 0) return;
    add_attr(f, group, name, H5Tcopy(type_id(type)),
             H5Screate_simple(1, (hsize_t[]){(hsize_t)n}, NULL), p);
}

void hdf5_text(struct hdf5_file *f, const char *group, const char *name, const char *text)
{
    if (f->err != OK) return;
    add_attr(f, group, name, text_type(*text ? strlen(text) : 1, H5T_STR_SPACEPAD),
             H5Screate_simple(1, (hsize_t[]){1}, NULL), *text ? text : " ");
}

void hdf5_scalar(struct hdf5_file *f, const char *object, const char *name, char type,
                 const void *p)
{
    if (f->err == OK) add_attr(f, object, name, H5Tcopy(type_id(type)), H5Screate(H5S_SCALAR), p);
}

void hdf5_word(struct hdf5_file *f, const char *object, const char *name, const char *text)
{
    if (f->err != OK) return;
    add_attr(f, object, name, text_type(strlen(text) + 1, H5T_STR_NULLTERM), H5Screate(H5S_SCALAR),
             text);
}

void hdf5_list(struct hdf5_file *f, const char *object, const char *name, int64_t n, size_t width,
               const char *texts)
{
    if (f->err != OK || n == 0) return;
    add_attr(f, object, name, text_type(width, H5T_STR_NULLPAD),
             H5Screate_simple(1, (hsize_t[]){(hsize_t)n}, NULL), texts);
}

static void plain(hid_t how)
{
    enum { ALL = 60000 };
    H5Pset_obj_track_times(how, 0); /* no timestamps, so that equal states give equal bytes */
    H5Pset_attr_phase_change(how, ALL, ALL);
    if (H5Pisa_class(how, H5P_GROUP_CREATE) > 0) H5Pset_link_phase_change(how, ALL, ALL);
}

/* Creates the parent groups of `path`. */
static void make_groups(struct hdf5_file *f, const char *path)
{
    char part[64];
    hid_t how = H5Pcreate(H5P_GROUP_CREATE);
    plain(how);
    for (const char *s = strchr(path, '/'); s; s = strchr(s + 1, '/')) {
        snprintf(part, sizeof part, "%.*s", (int)(s - path), path);
        if (!*part || H5Lexists(f->id, part, H5P_DEFAULT) > 0) continue;
        hid_t g = H5Gcreate2(f->id, part, H5P_DEFAULT, how, H5P_DEFAULT);
        if (g < 0) trouble(f, "make", part);
        H5Gclose(g);
    }
    H5Pclose(how);
}

/* chunk: elements per chunk, of a dataset of one dimension; 0: contiguous. */
static hid_t make_dataset(struct hdf5_file *f, const char *path, const struct hdf5_set *s,
                          int64_t chunk)
{
    hsize_t size[HDF5_DIMENSIONS], cut = (hsize_t)(chunk < s->n ? chunk : s->n);
    for (int d = 0; d < s->ndim; d++) size[d] = (hsize_t)s->dim[d];
    hid_t space = H5Screate_simple(s->ndim, size, NULL), how = H5Pcreate(H5P_DATASET_CREATE);
    plain(how);
    H5Pset_fill_time(how, H5D_FILL_TIME_NEVER);
    H5Pset_alloc_time(how, H5D_ALLOC_TIME_EARLY);
    if (chunk && s->n) {
        H5Pset_alloc_time(how, H5D_ALLOC_TIME_INCR);
        H5Pset_chunk(how, 1, &cut);
        H5Pset_shuffle(how);
        H5Pset_deflate(how, (unsigned)f->deflate);
    }
    hid_t d = H5Dcreate2(f->id, path, type_id(s->type), space, H5P_DEFAULT, how, H5P_DEFAULT);
    if (d < 0) trouble(f, "make", path);
    H5Pclose(how);
    H5Sclose(space);
    return d;
}

/* A contiguous dataset of n elements. */
static hid_t make_small(struct hdf5_file *f, const char *path, char type, int64_t n)
{
    return make_dataset(f, path, &(struct hdf5_set){.type = type, .n = n, .ndim = 1, .dim = {n}},
                        0);
}

void hdf5_small(struct hdf5_file *f, const char *path, char type, int64_t n, const void *p)
{
    if (f->err != OK) return;
    make_groups(f, path);
    if (n == 0) return;
    hid_t d = make_small(f, path, type, n);
    if (f->err == OK && H5Dwrite(d, type_id(type), H5S_ALL, H5S_ALL, H5P_DEFAULT, p) < 0)
        trouble(f, "write", path);
    H5Dclose(d);
    if (f->plain) return;
    int64_t k = f->nsum + f->nsmall++;
    f->sum = mem_grow(f->sum, sizeof *f->sum * (size_t)(k + 1), "checkpoint");
    f->sum[k] = checksum_of(p, (size_t)(n * size_of(type)));
    hdf5_attr(f, path, "checksum", 'q', 1, &k);
}

void hdf5_words(struct hdf5_file *f, const char *path, const char *text)
{
    size_t n = strlen(text), all = (n + (size_t)ALIGN - 1) / (size_t)ALIGN * (size_t)ALIGN;
    char *p = mem_new(all + 1, "checkpoint");
    memcpy(p, text, n);
    memset(p + n, '\n', all - n);
    hdf5_small(f, path, 'B', (int64_t)all, p);
    FREE(p);
}

static void make_file(struct hdf5_file *f)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), how = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18);
    H5Pset_alignment(access, (hsize_t)ALIGN_FROM, (hsize_t)ALIGN);
    plain(how);
    f->driver = hdf5_driver_set(access, &f->sink);
    f->id = H5Fcreate(f->path, H5F_ACC_TRUNC, how, access);
    if (f->id < 0) trouble(f, "create", "it");
    H5Pclose(how);
    H5Pclose(access);
}

void hdf5_make_sets(struct hdf5_file *f)
{
    for (int i = 0; i < f->nset && f->err == OK; i++) {
        struct hdf5_set *s = &f->set[i];
        if (s->made) continue;
        s->made = true;
        make_groups(f, s->path);
        s->id = make_dataset(f, s->path, s, f->deflate ? s->block : 0);
        if (!f->plain) hdf5_attr(f, s->path, "checksum", 'q', 1, &s->sum);
        s->at = f->deflate || !s->n ? 0 : (int64_t)H5Dget_offset(s->id);
        if (f->err == OK && s->at < 0) trouble(f, "place", s->path);
        if (!f->deflate) H5Dclose(s->id), s->id = -1;
    }
}

/* Closes the file. HDF5 keeps metadata in memory until this point; open objects are closed too. */
static void close_file(struct hdf5_file *f)
{
    if (f->id < 0) return;
    for (int i = 0; i < f->nset; i++)
        if (f->set[i].id >= 0 && H5Dclose(f->set[i].id) < 0) trouble(f, "close", f->set[i].path);
    for (int i = 0; i < f->nset; i++) f->set[i].id = -1;
    if (f->sum_id >= 0) H5Dclose(f->sum_id);
    if (H5Fflush(f->id, H5F_SCOPE_LOCAL) < 0) trouble(f, "write", "it");
    if (H5Fclose(f->id) < 0) trouble(f, "close", "it");
    hdf5_driver_end(&f->driver);
    f->id = f->sum_id = -1;
    if (f->sink.failed) trouble(f, "write", "it");
}

static void lay_out(struct hdf5_file *f, hdf5_fill *fill, const void *ctx)
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    make_file(f);
    if (f->err != OK) return;
    fill(f, ctx);
    hdf5_make_sets(f);
    if (!f->plain) make_groups(f, "ptah/checksum");
    if (f->err == OK && !f->plain && f->nsum + f->nsmall) {
        f->sum_id = make_small(f, "ptah/checksum", 'q', f->nsum + f->nsmall);
        f->sum_at = (int64_t)H5Dget_offset(f->sum_id);
    }
    if (!f->deflate) close_file(f);
}

enum err hdf5_create(struct hdf5_file *f, hdf5_fill *fill, const void *ctx)
{
    f->sum = mem_zero(sizeof *f->sum * (size_t)(f->nsum + 1), "checkpoint");
    if (f->c->rank == 0) lay_out(f, fill, ctx);
    TRY(f->err = err_agree(f->c, f->err));
    if (f->deflate) return OK;
    int64_t *at = mem_new(sizeof *at * (size_t)(f->nset + 1), "checkpoint");
    for (int i = 0; i < f->nset; i++) at[i] = f->set[i].at;
    comm_bcast(f->c, at, sizeof *at * (size_t)f->nset, 0);
    for (int i = 0; i < f->nset; i++) f->set[i].at = at[i];
    FREE(at);
    f->err = file_reopen(f->path, &f->fd);
    return f->err = err_agree(f->c, f->err);
}

/* ---- data ---- */

void hdf5_put(struct hdf5_file *f, int set, int64_t first, int64_t n, const void *p)
{
    struct hdf5_set *s = &f->set[set];
    int64_t size = size_of(s->type);
    BUG_ON(n && first + n > s->n);
    BUG_ON(n && !f->plain && (first % s->block || (n % s->block && first + n != s->n)));
#pragma omp parallel for schedule(dynamic)
    for (int64_t b = 0; b < (f->plain ? 0 : n); b += s->block)
        f->sum[s->sum + (first + b) / s->block] = checksum_of(
            (const char *)p + b * size, (size_t)((n - b < s->block ? n - b : s->block) * size));
    if (f->deflate)
        put_deflated(f, s, first, n, p);
    else if (n && f->err == OK) {
        f->err = file_write_at(f->fd, f->path, p, (size_t)(n * size), s->at + first * size);
        if (f->err == OK) sync_soon(f->sync, f->fd, (size_t)(n * size), s->at + first * size);
    }
}

/* Shuffles and deflates a chunk as HDF5's filters do: the shuffle stores the first bytes of all
 * elements, then the second bytes, and so on. */
static size_t filter_chunk(const struct hdf5_file *f, int64_t elements, int64_t n, int64_t size,
                           const char *p, char *scratch, char *out, size_t room)
{
    uLongf bytes = room;
    for (int64_t k = 0; k < size; k++) {
        for (int64_t i = 0; i < n; i++) scratch[k * elements + i] = p[i * size + k];
        memset(scratch + k * elements + n, 0, (size_t)(elements - n));
    }
    BUG_ON(compress2((Bytef *)out, &bytes, (const Bytef *)scratch, (uLong)(elements * size),
                     f->deflate) != Z_OK);
    return bytes;
}

struct chunk_head {
    int64_t set, first, bytes;
};

static void put_deflated(struct hdf5_file *f, struct hdf5_set *s, int64_t first, int64_t n,
                         const void *p)
{
    int64_t size = size_of(s->type), chunk = s->block < s->n ? s->block : s->n,
            nblock = (n + s->block - 1) / s->block;
    size_t room = compressBound((uLong)(chunk * size)), slot = sizeof(struct chunk_head) + room;
    f->packed = mem_grow(f->packed, (size_t)f->npacked + slot * (size_t)nblock + 1, "checkpoint");
    char *packed = f->packed + f->npacked;
#pragma omp parallel for schedule(dynamic)
    for (int64_t b = 0; b < nblock; b++) {
        char *scratch = mem_new((size_t)(chunk * size) + 1, "checkpoint"),
             *out = packed + slot * (size_t)b;
        int64_t at = b * s->block, k = n - at < s->block ? n - at : s->block;
        struct chunk_head head = {s - f->set, first + at, 0};
        head.bytes = (int64_t)filter_chunk(f, chunk, k, size, (const char *)p + at * size, scratch,
                                           out + sizeof head, room);
        memcpy(out, &head, sizeof head);
        FREE(scratch);
    }
    for (int64_t b = 0; b < nblock; b++) { /* compact the deflated blocks */
        struct chunk_head head;
        memcpy(&head, packed + slot * (size_t)b, sizeof head);
        memmove(f->packed + f->npacked, packed + slot * (size_t)b,
                sizeof head + (size_t)head.bytes);
        f->npacked += (int64_t)sizeof head + head.bytes;
    }
}

static void store_chunks(struct hdf5_file *f, const char *p, int64_t bytes)
{
    struct chunk_head head;
    for (; bytes > 0 && f->err == OK; p += head.bytes, bytes -= (int64_t)sizeof head + head.bytes) {
        memcpy(&head, p, sizeof head);
        p += sizeof head;
        hsize_t at = (hsize_t)head.first;
        if (H5Dwrite_chunk(f->set[head.set].id, H5P_DEFAULT, 0, &at, (size_t)head.bytes, p) < 0)
            trouble(f, "write", f->set[head.set].path);
    }
}

/* Gathers the chunks of a few ranks at a time, to bound the memory of rank 0. */
void hdf5_turn(struct hdf5_file *f)
{
    enum { RANKS = 8 };
    int64_t got, *count = mem_zero(sizeof *count * (size_t)f->c->size, "checkpoint");
    for (int r = 0; f->deflate && r < f->c->size; r += RANKS) {
        count[0] = f->c->rank / RANKS * RANKS == r ? f->npacked : 0;
        char *all = comm_exchange_all(f->c, f->packed, count, 1, &got, NULL);
        if (f->c->rank == 0) store_chunks(f, all, got);
        FREE(all);
    }
    f->npacked = 0;
    FREE(count);
}

/* ---- end ---- */

static void finish(struct hdf5_file *f)
{
    bool root = f->c->rank == 0;
    if (f->deflate) {
        if (root && f->sum_id >= 0 && f->err == OK &&
            H5Dwrite(f->sum_id, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, f->sum) < 0)
            trouble(f, "write", "the checksums");
        if (root) close_file(f);
        if (root && f->err == OK) f->err = file_reopen(f->path, &f->fd);
    } else if (root && f->err == OK && !f->plain) {
        f->err = file_write_at(f->fd, f->path, f->sum,
                               sizeof *f->sum * (size_t)(f->nsum + f->nsmall), f->sum_at);
    }
    if (f->fd < 0 || f->err != OK) return;
    f->err = sync_close(f->sync, f->fd, f->path);
    f->fd = -1;
}

enum err hdf5_close(struct hdf5_file *f)
{
    hdf5_turn(f);
    comm_add_i64(f->c, (int64_t *)f->sum, (int)f->nsum); /* nonzero on one rank only */
    finish(f);
    return f->err = err_agree(f->c, f->err);
}

void hdf5_fini(struct hdf5_file *f)
{
    if (f->c->rank == 0) close_file(f);
    hdf5_driver_end(&f->driver); /* needed if the creation failed */
    if (f->fd >= 0) close(f->fd);
    f->fd = -1;
    FREE(f->set);
    FREE(f->sum);
    FREE(f->packed);
}
#endif
