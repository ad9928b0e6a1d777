/* film/file: reads frame files. See frame.h. */
#include <math.h>
#include <stdint.h>

#include "base/mem.h"
#include "film/frame.h"
#include "io/fortran.h"

static enum err read_map(struct fort_in *f, struct film_map *m)
{
    double head[4];
    int32_t n[2];
    struct fort_rec r;
    TRY(fort_get(f, "time and extents", sizeof *head, head, 4));
    TRY(fort_get(f, "numbers of pixels", sizeof *n, n, 2));
    if (n[0] == 0 || n[1] == 0) FAIL(ERR_FORMAT, "%s: the frame has no pixels", f->path);
    if (n[0] < 0 || n[1] < 0 || n[0] > FRAME_PIXELS || n[1] > FRAME_PIXELS)
        FAIL(ERR_FORMAT,
             "%s: record 2: the frame has %ld x %ld pixels; at most %d x %d are possible", f->path,
             (long)n[0], (long)n[1], FRAME_PIXELS, FRAME_PIXELS);
    const size_t pixels = (size_t)n[0] * (size_t)n[1];
    TRY(fort_expect(f, "pixels", (int64_t)(sizeof *m->x * pixels), &r));
    TRY(fort_at_end(f));
    m->nw = n[0], m->nh = n[1];
    m->when = head[0];
    for (int d = 0; d < 3; d++) m->size[d] = head[1 + d];
    m->x = mem_new(sizeof *m->x * pixels, "film");
    return fort_load(f, &r, sizeof *m->x, 0, pixels, m->x);
}

enum err film_map_read(const char *path, struct film_map *m)
{
    struct fort_in f = {.fd = -1};
    *m = (struct film_map){0};
    enum err err = fort_open(&f, path);
    if (err == OK) err = read_map(&f, m);
    fort_shut(&f);
    if (err != OK) FREE(m->x);
    return err;
}
