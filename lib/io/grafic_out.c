/* io/grafic_out: writing of GRAFIC2 files, see grafic.h. A plane goes to disk with its markers in
 * one call. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/dir.h"
#include "io/file.h"
#include "io/grafic.h"

enum { MARK = 4, STREAM = 8 << 20 };

static void put4(char *at, const void *v, bool swap);
static enum err write_head(struct grafic_out *f);

static int64_t plane_bytes(const struct grafic_out *f)
{
    return (int64_t)f->head.n[0] * f->head.n[1] * 4;
}

static char *join(const char *a, const char *b, const char *c)
{
    size_t n = strlen(a) + strlen(b) + strlen(c) + 1;
    char *s = mem_new(n, "file names");
    snprintf(s, n, "%s%s%s", a, b, c);
    return s;
}

enum err grafic_create(struct grafic_out *f, const char *dir, const char *name,
                       const struct grafic_head *head, bool swap, bool force)
{
    enum err err = OK;
    *f = (struct grafic_out){.head = *head, .fd = -1, .swap = swap, .path = join(dir, "/", name)};
    if (!force && file_exists(f->path)) {
        err = err_set(ERR_FILE, "%s: exists already; --force replaces it", f->path);
        goto out;
    }
    f->tmp = join(f->path, ".tmp", "");
    f->fd = open(f->tmp, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (f->fd < 0) {
        err = err_set(ERR_FILE, "%s: cannot be written: %s", f->tmp, strerror(errno));
        FREE(f->tmp); /* not ours */
        goto out;
    }
    f->record = mem_new((size_t)plane_bytes(f) + 2 * MARK, "grafic plane");
    int32_t mark = (int32_t)plane_bytes(f);
    put4(f->record, &mark, swap);
    put4(f->record + MARK + plane_bytes(f), &mark, swap);
    err = write_head(f);
out:
    if (err != OK) grafic_drop(f);
    return err;
}

enum err grafic_write_plane(struct grafic_out *f, const float *v)
{
    int64_t bytes = plane_bytes(f);
    BUG_ON(f->done >= f->head.n[2]);
    if (f->swap)
        for (int64_t i = 0; i < bytes / 4; i++) put4(f->record + MARK + 4 * i, v + i, true);
    else
        memcpy(f->record + MARK, v, (size_t)bytes);
    f->done++;
    TRY(file_write_at(f->fd, f->tmp, f->record, (size_t)bytes + 2 * MARK, f->at));
    f->at += bytes + 2 * MARK;
    /* the disk works meanwhile; an error does not matter */
    if (f->at - f->sent >= STREAM) {
        sync_file_range(f->fd, f->sent, f->at - f->sent, SYNC_FILE_RANGE_WRITE);
        f->sent = f->at;
    }
    return OK;
}

enum err grafic_finish(struct grafic_out *f)
{
    BUG_ON(f->done != f->head.n[2]);
    int fd = f->fd;
    f->fd = -1;
    FREE(f->record);
    return file_close_synced(fd, f->tmp);
}

enum err grafic_publish(struct grafic_out *f)
{
    BUG_ON(f->fd >= 0 || !f->tmp);
    if (rename(f->tmp, f->path) != 0)
        FAIL(ERR_FILE, "%s: cannot be renamed to %s: %s", f->tmp, f->path, strerror(errno));
    FREE(f->tmp);
    *strrchr(f->path, '/') = 0; /* the name is not needed any more */
    return dir_sync(f->path);
}

void grafic_drop(struct grafic_out *f)
{
    if (f->fd >= 0) close(f->fd); /* what it held is dropped */
    f->fd = -1;
    if (f->tmp) unlink(f->tmp);
    FREE(f->tmp);
    FREE(f->path);
    FREE(f->record);
}

static enum err write_head(struct grafic_out *f)
{
    const struct grafic_head *h = &f->head;
    const double real[] = {h->dx,      h->off[0],  h->off[1], h->off[2], h->astart,
                           h->omega_m, h->omega_l, h->h0,     h->omega_b};
    enum { MOST = sizeof real / sizeof *real };
    char b[4 * (3 + MOST) + 2 * MARK];
    int nreal = grafic_has_baryons(h) ? MOST : MOST - 1;
    int32_t mark = 4 * (3 + nreal);
    put4(b, &mark, f->swap);
    for (int d = 0; d < 3; d++) put4(b + MARK + 4 * d, &h->n[d], f->swap);
    for (int i = 0; i < nreal; i++) {
        float r = (float)real[i];
        put4(b + MARK + 12 + 4 * i, &r, f->swap);
    }
    put4(b + MARK + mark, &mark, f->swap);
    f->at = mark + 2 * MARK;
    return file_write_at(f->fd, f->tmp, b, (size_t)f->at, 0);
}

static void put4(char *at, const void *v, bool swap)
{
    uint32_t x;
    memcpy(&x, v, 4);
    if (swap) x = __builtin_bswap32(x);
    memcpy(at, &x, 4);
}
