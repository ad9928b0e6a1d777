/* film/reel: the file of a film. See film.h. */
#include "film/reel.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "plot/picture.h"

enum err reel_failed(const struct reel *r)
{
    const int why = errno ? errno : EIO;
    FAIL(ERR_FILE, "%s: cannot write: %s", r->path, strerror(why));
}

/* ---- pixels as they are ---- */

static enum err add_raw(struct reel *r, const void *picture)
{
    errno = 0;
    return fwrite(picture, r->bytes, 1, r->out) == 1 ? OK : reel_failed(r);
}

const struct reel_kind reel_raw = {.add = add_raw};

/* ---- values as an array ---- */

static enum err begin_array(struct reel *r)
{
    errno = 0;
    r->bytes = sizeof(double) * (size_t)r->columns * (size_t)r->rows;
    return array_head(r->out, 3, (const int[3]){r->how.frames, r->rows, r->columns})
               ? OK
               : reel_failed(r);
}

const struct reel_kind reel_array = {.begin = begin_array, .add = add_raw};

/* ---- any format ---- */

static const struct reel_kind *const KINDS[FILM_FORMATS] = {[FILM_PNG] = &reel_apng,
                                                            [FILM_MP4] = &reel_piped,
                                                            [FILM_GIF] = &reel_piped,
                                                            [FILM_RGB] = &reel_raw,
                                                            [FILM_NPY] = &reel_array};

static bool to_stdout(const struct reel *r)
{
    return strcmp(r->how.path, "-") == 0;
}

static enum err open_out(struct reel *r)
{
    if (to_stdout(r)) {
        r->out = stdout;
        return OK;
    }
    TRY(stream_open(&r->s, r->how.path));
    r->out = r->s.f;
    return OK;
}

static enum err close_out(struct reel *r, enum err err)
{
    if (to_stdout(r)) {
        errno = 0;
        if (err == OK && fflush(stdout) != 0) err = reel_failed(r);
        if (err != OK) log_stdout_told();
    } else if (err == OK) {
        err = stream_close(&r->s, 0);
    } else {
        stream_drop(&r->s);
    }
    return err;
}

enum err reel_open(struct reel **out, const struct reel_how *how, int columns, int rows)
{
    if (columns < 1 || rows < 1 || columns > REEL_SIDE || rows > REEL_SIDE)
        FAIL(ERR_LIMIT, "%s: a film of %d x %d pixels cannot be written; at most %d x %d",
             how->path, columns, rows, REEL_SIDE, REEL_SIDE);
    struct reel *r = mem_zero(sizeof *r, "film");
    r->kind = KINDS[how->format], r->how = *how, r->errors = -1;
    r->columns = columns, r->rows = rows, r->bytes = 3 * (size_t)columns * (size_t)rows;
    snprintf(r->path, sizeof r->path, "%s", to_stdout(r) ? "standard output" : how->path);
    enum err err = open_out(r);
    if (err != OK) {
        FREE(r);
        return err;
    }
    if (r->kind->begin) err = r->kind->begin(r);
    *out = r;
    return err;
}

enum err reel_add(struct reel *r, const void *picture)
{
    r->done++;
    return r->kind->add(r, picture);
}

enum err reel_close(struct reel **out, enum err err)
{
    struct reel *r = *out;
    if (err == OK && r->done != r->how.frames)
        err = err_set(ERR_LIMIT, "%s: the film has %d of %d frames", r->path, r->done,
                      r->how.frames);
    if (err == OK && r->kind->end) err = r->kind->end(r);
    if (err != OK && r->kind->drop) r->kind->drop(r);
    err = close_out(r, err);
    FREE(r->before);
    FREE(*out);
    return err;
}
