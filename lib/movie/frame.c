/* movie/frame: files of frames as RAMSES writes them: Fortran records of time and widths, of the
 * numbers of pixels, and of the pixels in single precision, the lowest row first. */
#include "movie/frame.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "io/dir.h"
#include "io/file.h"
#include "io/temp.h"

bool movie_run_due(const struct movie_run *m, double t, double aexp)
{
    return m && movie_due(&m->movie, m->next, t, aexp);
}

void movie_resume(struct movie_run *m, double t, double aexp)
{
    if (m) m->next = movie_next(&m->movie, m->next, t, aexp);
}

enum err movie_path(const struct movie_frame *f, int c, const char *name, const char *suffix,
                    char path[PATH_MAX])
{
    if (snprintf(path, PATH_MAX, "%s/movie%d/%s_%05d.%s", f->dir, c + 1, name, f->number, suffix) >=
        PATH_MAX)
        FAIL(ERR_FILE, "%.80s…: the path is too long", f->dir);
    return OK;
}

enum err movie_directory(const struct movie_frame *f, int c)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/movie%d", f->dir, c + 1) >= (int)sizeof path)
        FAIL(ERR_FILE, "%.80s…: the path is too long", f->dir);
    TRY(dir_make(path));
    temp_sweep_all(path);
    return OK;
}

/* Writes parts one after the other, and publishes the file. */
struct part {
    const void *p;
    size_t n;
};
static enum err write_parts(const char *path, const struct part *part, int n)
{
    struct temp t;
    int64_t at = 0;
    enum err err = OK;
    TRY(temp_create_quick(&t, path));
    for (int i = 0; err == OK && i < n; i++) {
        err = file_write_at(t.fd, path, part[i].p, part[i].n, at);
        at += (int64_t)part[i].n;
    }
    if (err == OK) return temp_publish(&t);
    temp_drop(&t);
    return err;
}

enum err movie_write(const char *path, const void *p, size_t n)
{
    return write_parts(path, &(struct part){p, n}, 1);
}

enum err movie_write_ramses(const struct movie_frame *f, int c, int v)
{
    const struct movie_view *k = paint_view(f->paint, c);
    const size_t bytes = sizeof(float) * (size_t)k->nw * (size_t)k->nh;
    /* two records, and the marks around the third */
    struct __attribute__((packed)) {
        int32_t from;
        double time, width[3];
        int32_t to, from_side, side[2], to_side, mark;
    } head = {32,
              f->movie->t1 > 0 ? f->head->t : f->head->aexp,
              {k->width[0], k->width[1], k->width[2]},
              32,
              8,
              {k->nw, k->nh},
              8,
              (int32_t)bytes};
    const struct part part[] = {
        {&head, sizeof head}, {paint_map(f->paint, c, v), bytes}, {&head.mark, sizeof head.mark}};
    char path[PATH_MAX];
    TRY(movie_path(f, c, f->movie->variable[v].name, "map", path));
    return write_parts(path, part, 3);
}
