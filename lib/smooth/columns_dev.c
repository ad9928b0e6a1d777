/* smooth/columns_dev: the columns of particles on a device, and where their newest values are. */
#include "base/mem.h"
#include "smooth/dev_priv.h"

struct smooth_dev *smooth_dev_new(struct dev *d, struct dev_stream *s)
{
    struct smooth_dev *to = mem_zero(sizeof *to, "device");
    to->dev = d;
    to->stream = s;
    to->on_host = SMOOTH_ALL;
    return to;
}

void smooth_dev_free(struct smooth_dev **at)
{
    struct smooth_dev *d = *at;
    if (!d) return;
    near_dev_free(&d->tree);
    near_dev_lists_free(d->stream, &d->lists);
    for (int c = 0; c < SMOOTH_COLUMNS; c++) dev_drop(d->stream, d->column[c].p);
    for (int i = 0; i < SORTED; i++) dev_drop(d->stream, d->sorted[i].p);
    struct dev_room *const room[] = {&d->reach, &d->fault, &d->begin, &d->counter};
    for (size_t i = 0; i < sizeof room / sizeof *room; i++) dev_drop(d->stream, room[i]->p);
    FREE(*at);
}

/* ---- memory ---- */

enum err smooth_dev_reserve(struct smooth_dev *d, struct smooth *s, int64_t rows)
{
    static const char name[] = "smoothed particles";
    if (rows <= d->rows) return OK;
    const int64_t more = rows + rows / 8; /* ghosts come and go */
    const size_t n = (size_t)more;
    TRY(smooth_dev_home(d, s, SMOOTH_ALL));
    d->on_device = 0;
    for (int c = 0; c < SMOOTH_COLUMNS; c++)
        TRY(dev_room_need(d->stream, &d->column[c], smooth_row[c].bytes * n, name));
    for (int i = 0; i < SORTED; i++)
        TRY(dev_room_need(d->stream, &d->sorted[i], sizeof(double) * n, name));
    TRY(dev_room_need(d->stream, &d->reach, sizeof(double) * n, name));
    TRY(dev_room_need(d->stream, &d->fault, n, name));
    TRY(dev_room_need(d->stream, &d->counter, sizeof(int64_t) * SMOOTH_COUNTERS, name));
    d->rows = more;
    return OK;
}

/* ---- where the newest values are ---- */

void smooth_dev_need(struct smooth_dev *d, struct smooth *s, smooth_set which)
{
    const smooth_set lacking = which & ~d->on_device;
    for (int c = 0; c < SMOOTH_COLUMNS; c++) {
        const int64_t rows = s->n + (smooth_row[c].ghost == SMOOTH_NEVER ? 0 : s->ghosts);
        if (lacking >> c & 1)
            dev_put(d->stream, d->column[c].p, *smooth_at(s, c),
                    smooth_row[c].bytes * (size_t)rows);
    }
    d->on_device |= which;
}

enum err smooth_dev_home(struct smooth_dev *d, struct smooth *s, smooth_set which)
{
    const smooth_set lacking = which & ~d->on_host;
    for (int c = 0; c < SMOOTH_COLUMNS; c++)
        if (lacking >> c & 1)
            dev_get(d->stream, *smooth_at(s, c), d->column[c].p,
                    smooth_row[c].bytes * (size_t)s->n);
    TRY(lacking ? dev_wait(d->stream) : OK);
    d->on_host |= which;
    return OK;
}

void smooth_dev_changed(struct smooth_dev *d, smooth_set which, bool on_device)
{
    smooth_set *const newer = on_device ? &d->on_device : &d->on_host;
    smooth_set *const older = on_device ? &d->on_host : &d->on_device;
    *newer |= which;
    *older &= ~which;
}

void *smooth_dev_at(struct smooth_dev *d, enum smooth_column c)
{
    return d->column[c].p;
}
