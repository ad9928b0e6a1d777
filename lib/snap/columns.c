/* snap/columns: the table of columns, and what holds for the header of any file. */
#include <math.h>

#include "snap/priv.h"

enum { FILES_MAX = 100000 };

const struct snap_row snap_row[SNAP_COLUMNS] = {
#define SNAP_COLUMN(symbol, width, whole, label, ...) {width, whole, label, {__VA_ARGS__}},
#include "snap/columns.def"
};

int snap_width(enum snap_column c)
{
    return snap_row[c].width;
}

bool snap_whole(enum snap_column c)
{
    return snap_row[c].whole;
}

enum err snap_check_head(const struct snap_file *f)
{
    const struct snap_head *h = &f->head;
    const int64_t most = INT64_MAX / 64;
    if (h->nfile < 1 || h->nfile > FILES_MAX)
        FAIL(ERR_FORMAT, "%s: header: the number of files, %d, is not between 1 and %d", f->path,
             h->nfile, FILES_MAX);
    for (int t = 0; t < SNAP_TYPES; t++) {
        if (f->here[t] < 0 || h->total[t] < 0 || h->total[t] > most || f->here[t] > h->total[t])
            FAIL(ERR_FORMAT,
                 "%s: header: %ld particles of type %d in this file, %ld in all: these numbers "
                 "make no sense",
                 f->path, (long)f->here[t], t, (long)h->total[t]);
        if (!(h->mass[t] >= 0 && isfinite(h->mass[t])))
            FAIL(ERR_FORMAT, "%s: header: the mass of type %d is %g", f->path, t, h->mass[t]);
    }
    if (!isfinite(h->a) || !(h->box >= 0 && isfinite(h->box)))
        FAIL(ERR_FORMAT, "%s: header: time %g or box %g is not a finite number", f->path, h->a,
             h->box);
    return OK;
}
