/* io/grafic_out: writes GRAFIC2 files, see grafic.h. A plane and its markers go to disk in one
 * call. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

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

enum err grafic_create(struct grafic_out *f, const char *dir, const char *name,
                       const struct grafic_head *head, bool swap, bool force)
{
    enum err err = OK;
    char path[PATH_MAX];
    *f = (struct grafic_out){.head = *head, .temp.fd = -1, .swap = swap};
    if (snprintf(path, sizeof path, "%s/%s", dir, name) >= (int)sizeof path)
        FAIL(ERR_FILE, "%.80s…: the path is too long", dir);
    TRY(temp_may_write(path, force));
    TRY(dir_has_room(dir, (double)plane_bytes(f) * head->n[2]));
    TRY(temp_create(&f->temp, path));
    if (!*f->temp.name)
        TRY_OUT(err_set(ERR_FILE, "%s: is not a regular file, and is not replaced", path));
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
    TRY(file_write_at(f->temp.fd, f->temp.path, f->record, (size_t)bytes + 2 * MARK, f->at));
    f->at += bytes + 2 * MARK;
    /* starts writing to disk early; errors do not matter */
    if (f->at - f->sent >= STREAM) {
        sync_file_range(f->temp.fd, f->sent, f->at - f->sent, SYNC_FILE_RANGE_WRITE);
        f->sent = f->at;
    }
    return OK;
}

enum err grafic_finish(struct grafic_out *f)
{
    BUG_ON(f->done != f->head.n[2]);
    FREE(f->record);
    return temp_sync(&f->temp);
}

enum err grafic_publish(struct grafic_out *f)
{
    BUG_ON(f->record || f->temp.fd < 0);
    TRY(temp_publish(&f->temp));
    *strrchr(f->temp.path, '/') = 0; /* the file name is no longer needed */
    return dir_sync(f->temp.path);
}

void grafic_drop(struct grafic_out *f)
{
    temp_drop(&f->temp);
    FREE(f->record);
}

static enum err write_head(struct grafic_out *f)
{
    const struct grafic_head *h = &f->head;
    const double real[] = {h->dx,      h->off[0],  h->off[1], h->off[2], h->astart,
                           h->omega_m, h->omega_l, h->h0,     h->omega_b};
    enum { MAX = sizeof real / sizeof *real };
    char b[4 * (3 + MAX) + 2 * MARK];
    int nreal = grafic_has_baryons(h) ? MAX : MAX - 1;
    int32_t mark = 4 * (3 + nreal);
    put4(b, &mark, f->swap);
    for (int d = 0; d < 3; d++) put4(b + MARK + 4 * d, &h->n[d], f->swap);
    for (int i = 0; i < nreal; i++) {
        float r = (float)real[i];
        put4(b + MARK + 12 + 4 * i, &r, f->swap);
    }
    put4(b + MARK + mark, &mark, f->swap);
    f->at = mark + 2 * MARK;
    return file_write_at(f->temp.fd, f->temp.path, b, (size_t)f->at, 0);
}

static void put4(char *at, const void *v, bool swap)
{
    uint32_t x;
    memcpy(&x, v, 4);
    if (swap) x = __builtin_bswap32(x);
    memcpy(at, &x, 4);
}
