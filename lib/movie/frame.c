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

enum err movie_write(const char *path, const void *p, size_t n)
{
    struct temp t;
    TRY(temp_create_quick(&t, path));
    enum err err = file_write_at(t.fd, path, p, n, 0);
    if (err == OK) return temp_publish(&t);
    temp_drop(&t);
    return err;
}

static char *put_record(char *at, const void *p, size_t n)
{
    const int32_t bytes = (int32_t)n;
    memcpy(at, &bytes, sizeof bytes);
    memcpy(at + sizeof bytes, p, n);
    memcpy(at + sizeof bytes + n, &bytes, sizeof bytes);
    return at + n + 2 * sizeof bytes;
}

enum err movie_write_ramses(const struct movie_frame *f, int c, int v)
{
    const struct movie_view *k = paint_view(f->paint, c);
    const double head[4] = {f->movie->t1 > 0 ? f->head->t : f->head->aexp, k->width[0], k->width[1],
                            k->width[2]};
    const int32_t side[2] = {k->nw, k->nh};
    const size_t bytes = sizeof(float) * (size_t)k->nw * (size_t)k->nh,
                 all = bytes + sizeof head + sizeof side + 6 * sizeof(int32_t);
    char path[PATH_MAX];
    TRY(movie_path(f, c, f->movie->variable[v].name, "map", path));
    char *text = mem_new(all, "movie frame");
    put_record(put_record(put_record(text, head, sizeof head), side, sizeof side),
               paint_map(f->paint, c, v), bytes);
    enum err err = movie_write(path, text, all);
    FREE(text);
    return err;
}
