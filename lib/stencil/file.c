/* stencil/file: initial fields of init_file: a checkpoint of this solver, or any HDF5 file with
 * datasets lnrho, ux, uy, uz, s, ax, ay, az of [nz][ny][nx] numbers of double precision at its
 * root. Fields that the file does not have are those of init_u, init_a, init_lnrho and init_s. */
#include <math.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "grid/grid.h"
#include "h5/parse.h"
#include "stencil/init.h"

static enum err wrong_size(const char *path, const int64_t has[3], const int64_t n[3])
{
    FAIL(ERR_FORMAT,
         "%s: has %ld x %ld x %ld cells, but nx=%ld, ny=%ld and nz=%ld in &STENCIL_PARAMS", path,
         (long)has[0], (long)has[1], (long)has[2], (long)n[0], (long)n[1], (long)n[2]);
}

/* ---- a checkpoint ---- */

static enum err read_grid(struct stencil *t, struct grid *g, int *nfound)
{
    const struct brick *b = &t->brick;
    const int64_t n[3] = {b->own[0], b->own[1], b->own[2]};
    for (int d = 0; d < 3; d++)
        if (g->head.n[d] != t->n[d]) return wrong_size(g->path, g->head.n, t->n);
    for (int f = 0; f < FD_FIELDS; f++) {
        const int i = fd_has(&t->eq, f) ? grid_field(&g->head, fd_name[f]) : -1;
        if (i < 0) continue;
        (*nfound)++;
        if (!t->a.now[f]) continue; /* only the header is checked */
        TRY(grid_read(g, i, b->first, n, t->a.now[f] + b->start, b->stride));
    }
    return OK;
}

static enum err read_checkpoint(struct stencil *t, const char *path, int *nfound)
{
    struct grid *g = NULL;
    TRY(grid_open(path, &g));
    enum err err = read_grid(t, g, nfound);
    grid_close(&g);
    return err;
}

/* ---- datasets of another program ---- */

static enum err check_set(const struct h5_file *file, const struct h5_set *set, const char *name,
                          const struct stencil *t)
{
    if (set->type != 'd' || set->ndim != 3)
        FAIL(ERR_FORMAT,
             "%s: dataset /%s does not have three dimensions and numbers of double precision",
             file->path, name);
    const int64_t has[3] = {set->dim[2], set->dim[1], set->dim[0]};
    for (int d = 0; d < 3; d++)
        if (has[d] != t->n[d]) return wrong_size(file->path, has, t->n);
    return OK;
}

static enum err read_rows(struct stencil *t, struct h5_file *file, struct h5_set *set,
                          const char *name, double *to)
{
    const struct brick *b = &t->brick;
    for (int z = 0; z < b->own[2]; z++)
        for (int y = 0; y < b->own[1]; y++) {
            double *row = to + stencil_at(b, 0, y, z);
            const int64_t line = (b->first[2] + z) * t->n[1] + b->first[1] + y;
            TRY(h5_set_read(file, set, name, line * t->n[0] + b->first[0], b->own[0], row));
            for (int x = 0; x < b->own[0]; x++)
                if (!isfinite(row[x]))
                    FAIL(ERR_FORMAT, "%s: /%s is %s in cell %ld %ld %ld (counted from 0)",
                         file->path, name, isnan(row[x]) ? "not a number" : "infinite",
                         (long)(b->first[0] + x), (long)(b->first[1] + y), (long)(b->first[2] + z));
        }
    return OK;
}

static enum err read_set(struct stencil *t, struct h5_file *file, enum fd_field f, int *nfound)
{
    struct h5_set set;
    const int64_t at = fd_has(&t->eq, f) ? h5_find(file, fd_name[f]) : 0;
    if (file->err != OK) return file->err;
    if (!at) return OK;
    (*nfound)++;
    TRY(h5_table_open(file, at, fd_name[f], &set));
    enum err err = check_set(file, &set, fd_name[f], t);
    if (err == OK && t->a.now[f]) err = read_rows(t, file, &set, fd_name[f], t->a.now[f]);
    h5_set_close(&set);
    return err;
}

static enum err read_sets(struct stencil *t, const char *path, int *nfound)
{
    struct h5_file *file = mem_zero(sizeof *file, "initial fields");
    enum err err = h5_open(file, path);
    for (int f = 0; f < FD_FIELDS && err == OK; f++) err = read_set(t, file, f, nfound);
    h5_close(file);
    mem_free(file);
    return err;
}

enum err stencil_read_file(struct stencil *t)
{
    const char *path = t->par->stencil.init_file;
    int nfound = 0;
    TRY(grid_is(path) ? read_checkpoint(t, path, &nfound) : read_sets(t, path, &nfound));
    if (nfound == 0)
        FAIL(ERR_FORMAT, "%s: has none of the fields of this run (lnrho, ux, …)", path);
    log_info(" Initial fields: %d of %s", nfound, path);
    return OK;
}
