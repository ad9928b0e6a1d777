/* dev/digits: see digits.h. */
#include "dev/digits.h"

#include <string.h>

#include "base/mem.h"
#include "dev/digits_kern.h"

enum { EACH = 6 }; /* packed numbers a sum that the first fetch asks for */

enum err dev_digits_need(struct dev_digits *f, struct dev_stream *s, int n, int width,
                         const char *name)
{
    const size_t bytes = sizeof(int64_t) * (size_t)(digits_head(n) + n * width);
    BUG_ON(n < 1 || n > DIGITS_SUMS || width > DIGITS_WIDTH);
    TRY(dev_room_need(s, &f->there, bytes, name));
    if (f->bytes < bytes) {
        dev_drop_host(s, f->here);
        f->here = mem_new(bytes, "device");
        f->bytes = bytes;
    }
    f->n = n;
    f->width = width;
    if (f->each == 0) f->each = EACH;
    return OK;
}

void dev_digits_pack(const struct dev_digits *f, struct dev_stream *s, const int64_t *from)
{
    dev_launch(s, &digits_pack, 1,
               &(struct digits_pack_args){from, f->n, f->width, (int64_t *)f->there.p});
}

void dev_digits_get(struct dev_digits *f, struct dev_stream *s)
{
    f->s = s;
    f->got = digits_head(f->n) + f->n * (f->each < f->width ? f->each : f->width);
    dev_get(s, f->here, f->there.p, sizeof *f->here * (size_t)f->got);
}

enum err dev_digits_take(struct dev_digits *f, int64_t *to)
{
    struct dev_stream *s = f->s;
    const unsigned char *head = (const unsigned char *)f->here;
    int64_t at = digits_head(f->n), all = at;
    if (!s) return OK;
    f->s = NULL;
    TRY(dev_wait(s));
    for (int j = 0; j < f->n; j++) all += head[2 * j + 1];
    if (all > f->got) {
        dev_get(s, f->here + f->got, (const int64_t *)f->there.p + f->got,
                sizeof *f->here * (size_t)(all - f->got));
        TRY(dev_wait(s));
        f->each = (all - at + f->n - 1) / f->n;
    }
    memset(to, 0, sizeof *to * (size_t)(f->n * f->width));
    for (int j = 0; j < f->n; at += head[2 * j++ + 1])
        memcpy(to + j * f->width + head[2 * j], f->here + at, sizeof *to * head[2 * j + 1]);
    return OK;
}

void dev_digits_free(struct dev_digits *f, struct dev *d)
{
    dev_free(d, f->there.p);
    FREE(f->here);
    *f = (struct dev_digits){0};
}
