/* cone/folder: directories of slices, and their text files. Slices get their names without being
 * synced: after a failure of the machine those since the last checkpoint may be lost or damaged,
 * and the run that resumes from it writes them again. dir_flush makes those before it safe. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cone/priv.h"
#include "io/dir.h"
#include "io/file.h"

/* Whether a name in a directory left by a killed process is one of the files of a slice. */
static bool ours(const char *name)
{
    static const char *const form[] = {"cone_%5d.out%5d%n", "cone_part_%5d.out%5d%n",
                                       "cone_hydro_%5d.out%5d%n", "cone_gal_%5d.out%5d%n"};
    int a, b, end = 0;
    if (sscanf(name, "info_%5d.txt%n", &a, &end) == 1 && end && !name[end]) return true;
    if (sscanf(name, "cone_%5d.h5%n", &a, &end) == 1 && end && !name[end]) return true;
    if (sscanf(name, "cone_gal_%5d.h5%n", &a, &end) == 1 && end && !name[end]) return true;
    end = 0;
    if (sscanf(name, "cone_%5d.fits%n", &a, &end) == 1 && end && !name[end]) return true;
    end = 0;
    if (sscanf(name, "cone_sink_%5d.out%n", &a, &end) == 1 && end)
        return !name[end] || strcmp(name + end, ".txt") == 0;
    for (size_t i = 0; i < sizeof form / sizeof *form; i++) {
        end = 0;
        if (sscanf(name, form[i], &a, &b, &end) == 2 && end &&
            (!name[end] || strcmp(name + end, ".txt") == 0))
            return true;
    }
    return false;
}

const char *cone_name(const struct cone_slice *s)
{
    return s->galaxies ? "cone_gal" : "cone";
}

static enum err name_it(struct cone_folder *f, const struct cone_slice *s)
{
    const int step = s->shell->step;
    char up[PATH_MAX];
    int n = s->view->number == 0
                ? snprintf(f->final, sizeof f->final, "%s/%s_%05d", s->dir, cone_name(s), step)
                : snprintf(f->final, sizeof f->final, "%s/light_cone/%s_%05d/observer%d", s->dir,
                           cone_name(s), step, s->view->number);
    if (n >= (int)sizeof f->final ||
        snprintf(f->tmp, sizeof f->tmp, "%s%s", f->final, DIR_TMP) >= (int)sizeof f->tmp)
        FAIL(ERR_FILE, "%.80s…: the path is too long", s->dir);
    if (s->comm->rank != 0) return OK;
    if (s->view->number) {
        snprintf(up, sizeof up, "%s/light_cone/%s_%05d", s->dir, cone_name(s), step);
        TRY(dir_make(up));
    }
    TRY(dir_may_remove(f->final));
    return dir_take(f->tmp, ours, &f->lock);
}

enum err cone_folder_begin(struct cone_folder *f, const struct cone_slice *s)
{
    f->c = s->comm;
    f->lock = -1;
    f->files = (struct sync_async){0};
    return err_agree(f->c, name_it(f, s));
}

static void drop(struct cone_folder *f)
{
    char message[1024];
    snprintf(message, sizeof message, "%s", err_message());
    enum err err = dir_remove(f->tmp);
    err_set(err == OK ? ERR_FILE : err, "%s", message);
}

enum err cone_close(int fd, const char *path)
{
    if (close(fd) != 0) FAIL(ERR_FILE, "%s: cannot write it: %s", path, strerror(errno));
    return OK;
}

static enum err close_files(struct sync_async *l, enum err err)
{
    for (int64_t i = 0; i < l->n && err == OK; i++) {
        err = cone_close(l->file[i].fd, l->file[i].path);
        l->file[i].fd = -1;
    }
    sync_fini(l);
    return err;
}

enum err cone_folder_end(struct cone_folder *f, enum err err)
{
    const bool root = f->c->rank == 0;
    err = err_agree(f->c, close_files(&f->files, err));
    if (err == OK && root) err = dir_swap(f->tmp, f->final);
    if (err != OK && root) drop(f);
    if (f->lock >= 0) close(f->lock);
    return err_agree(f->c, err);
}

enum err cone_text(const char *path, const char *text)
{
    int fd;
    TRY(file_create(path, &fd));
    enum err err = file_write_at(fd, path, text, strlen(text), 0);
    if (err != OK) {
        close(fd);
        return err;
    }
    return cone_close(fd, path);
}

void cone_real(double x, char out[CONE_REAL])
{
    char digits[32];
    double size = fabs(x);
    if (size >= 0.1 && size < 1e16) {
        int before = size < 1 ? 0 : (int)floor(log10(size)) + 1;
        snprintf(digits, sizeof digits, "%.*f", 17 - before, x);
        snprintf(out, CONE_REAL, "%21.30s     ", digits);
        return;
    }
    snprintf(digits, sizeof digits, "%.16E", x); /* three digits of the exponent, as in Fortran */
    char *letter = strchr(digits, 'E');
    long power = strtol(letter + 1, NULL, 10);
    *letter = 0;
    snprintf(out, CONE_REAL, "%21.30sE%c%03ld", digits, power < 0 ? '-' : '+', labs(power) % 1000);
}
