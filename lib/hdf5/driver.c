/* hdf5/driver: see driver.h. */
#ifdef PTAH_HDF5
#include "hdf5/driver.h"

#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <string.h>
#include <unistd.h>

#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

#include "base/mem.h"
#include "io/file.h"

struct driver_file {
    H5FD_t base; /* base class, which must be first: HDF5 sees this member only */
    int fd;
    haddr_t eoa, eof;
    struct hdf5_sink *sink;
};

struct driver_info {
    struct hdf5_sink *sink;
};

static H5FD_t *driver_open(const char *name, unsigned flags, hid_t access, haddr_t max)
{
    const struct driver_info *info = H5Pget_driver_info(access);
    int fd = -1;
    if (!info || file_create(name, &fd) != OK) {
        if (info) info->sink->failed = errno ? errno : EIO;
        return NULL;
    }
    struct driver_file *f = mem_zero(sizeof *f, "checkpoint");
    f->fd = fd;
    f->sink = info->sink;
    return &f->base;
}

static herr_t driver_close(H5FD_t *base)
{
    struct driver_file *f = (struct driver_file *)base;
    if (close(f->fd) != 0 && !f->sink->failed) f->sink->failed = errno;
    FREE(f);
    return 0;
}

static herr_t driver_query(const H5FD_t *base, unsigned long *flags)
{
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA |
             H5FD_FEAT_AGGREGATE_SMALLDATA;
    return 0;
}

static haddr_t driver_get_eoa(const H5FD_t *base, H5FD_mem_t type)
{
    return ((const struct driver_file *)base)->eoa;
}

static herr_t driver_set_eoa(H5FD_t *base, H5FD_mem_t type, haddr_t at)
{
    ((struct driver_file *)base)->eoa = at;
    return 0;
}

static haddr_t driver_get_eof(const H5FD_t *base, H5FD_mem_t type)
{
    return ((const struct driver_file *)base)->eof;
}

/* Reads bytes of the file; bytes that were never written read as zero. */
static herr_t driver_read(H5FD_t *base, H5FD_mem_t type, hid_t how, haddr_t at, size_t n, void *p)
{
    const struct driver_file *f = (struct driver_file *)base;
    memset(p, 0, n);
    for (char *c = p; n > 0;) {
        ssize_t k = pread(f->fd, c, n, (off_t)at);
        if (k < 0 && errno == EINTR) continue;
        if (k < 0 && !f->sink->failed) f->sink->failed = errno;
        if (k <= 0) return 0;
        c += k, at += (haddr_t)k, n -= (size_t)k;
    }
    return 0;
}

static herr_t driver_write(H5FD_t *base, H5FD_mem_t type, hid_t how, haddr_t at, size_t n,
                           const void *p)
{
    struct driver_file *f = (struct driver_file *)base;
    if (at + n > f->eof) f->eof = at + n;
    const char *c = p;
    while (n > 0 && !f->sink->failed) {
        ssize_t k = pwrite(f->fd, c, n, (off_t)at);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) f->sink->failed = k ? errno : ENOSPC;
        c += k, at += (haddr_t)k, n -= (size_t)k;
    }
    return 0;
}

static herr_t driver_truncate(H5FD_t *base, hid_t how, hbool_t closing)
{
    struct driver_file *f = (struct driver_file *)base;
    if (f->eoa == f->eof) return 0;
    if (ftruncate(f->fd, (off_t)f->eoa) != 0 && !f->sink->failed) f->sink->failed = errno;
    f->eof = f->eoa;
    return 0;
}

static const H5FD_class_t DRIVER = {
#if H5_VERSION_GE(1, 13, 0)
    .version = H5FD_CLASS_VERSION,
    .value = 511, /* value from HDF5's range for tests; never stored in a file */
#endif
    .name = "ptah",
    .maxaddr = (haddr_t)INT64_MAX,
    .fc_degree = H5F_CLOSE_STRONG,
    .fapl_size = sizeof(struct driver_info),
    .open = driver_open,
    .close = driver_close,
    .query = driver_query,
    .get_eoa = driver_get_eoa,
    .set_eoa = driver_set_eoa,
    .get_eof = driver_get_eof,
    .read = driver_read,
    .write = driver_write,
    .truncate = driver_truncate,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

int64_t hdf5_driver_set(int64_t access, struct hdf5_sink *sink)
{
    struct driver_info info = {sink};
    hid_t id = H5FDregister(&DRIVER);
    H5Pset_driver((hid_t)access, id, &info);
    return id;
}

void hdf5_driver_end(int64_t *id)
{
    if (*id >= 0) H5FDunregister((hid_t)*id);
    *id = -1;
}
#endif
