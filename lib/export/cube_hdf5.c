/* export/cube_hdf5: cubes as HDF5 for h5py and others: a dataset [z][y][x] a field, with the
 * attributes units, code_unit (a number times it is in that unit) and description; the faces of the
 * cells, x_edges …, in code units; the time and the units of the run as attributes of the file. */
#include "export/cube_out.h"

#ifdef PTAH_HDF5
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "hdf5/single.h"

struct cube_file {
    struct hdf5_single file;
    const struct cube *q;
    const struct cube_out *o;
};

static void fill_edges(struct hdf5_file *f, const struct cube *q, int d)
{
    const char name[] = {(char)('x' + d), '_', 'e', 'd', 'g', 'e', 's', 0};
    const int64_t n = q->n[d] + 1;
    const double box = q->list.s->head.boxlen;
    double *x = mem_new(sizeof *x * (size_t)n, "cube");
    for (int64_t i = 0; i < n; i++) x[i] = (q->lo[d] + (double)i * q->side) * box;
    hdf5_small(f, name, 'd', n, x);
    hdf5_word(f, name, "units", "cm");
    hdf5_scalar(f, name, "code_unit", 'd', &q->list.s->head.unit_l);
    hdf5_word(f, name, "description", "faces of the cells along the axis");
    FREE(x);
}

static void fill_run(struct hdf5_file *f, const struct ckpt_head *h)
{
    const double z = 1 / h->aexp - 1;
    hdf5_scalar(f, "/", "time", 'd', &h->t);
    if (h->cosmo) hdf5_scalar(f, "/", "aexp", 'd', &h->aexp);
    if (h->cosmo) hdf5_scalar(f, "/", "redshift", 'd', &z);
    hdf5_scalar(f, "/", "boxlen", 'd', &h->boxlen);
    hdf5_scalar(f, "/", "unit_l", 'd', &h->unit_l);
    hdf5_scalar(f, "/", "unit_d", 'd', &h->unit_d);
    hdf5_scalar(f, "/", "unit_t", 'd', &h->unit_t);
}

static void fill(struct hdf5_file *f, const void *ctx)
{
    const struct cube_file *c = ctx;
    const struct cube *q = c->q;
    hdf5_word(f, "/", "ptah", "cube 1");
    if (c->o->provenance) hdf5_word(f, "/", "history", c->o->provenance);
    fill_run(f, &q->list.s->head);
    hdf5_make_sets(f);
    for (int i = 0; i < q->list.n; i++) {
        const struct export_field *e = &q->list.field[i];
        const struct unit u = cube_unit(q, i);
        const char *text = export_description(e->name);
        hdf5_word(f, e->name, "units", u.name);
        hdf5_scalar(f, e->name, "code_unit", 'd', &u.worth);
        if (*text) hdf5_word(f, e->name, "description", text);
        hdf5_word(f, e->name, "mean", e->per_mass ? "by mass" : "by volume");
    }
    for (int d = 0; d < q->ndim; d++) fill_edges(f, q, d);
}

static enum err take(void *ctx, int field, int64_t first, int64_t n, const double *value)
{
    struct cube_file *c = ctx;
    hdf5_put(&c->file.h5, field, first, n, value);
    return c->file.h5.err;
}

static enum err write_fields(struct cube_file *c, struct cube *q)
{
    int64_t dim[3];
    for (int d = 0; d < q->ndim; d++) dim[d] = q->n[q->ndim - 1 - d];
    for (int i = 0; i < q->list.n; i++) {
        const int64_t n = cube_cells(q);
        const int set = hdf5_add(&c->file.h5, 'd', n, n + 1, "%s", q->list.field[i].name);
        hdf5_shape(&c->file.h5, set, q->ndim, dim);
    }
    TRY(hdf5_create(&c->file.h5, fill, c));
    return cube_read(q, false, take, c);
}

enum err cube_write_hdf5(struct cube *q, const struct cube_out *o)
{
    struct cube_file c = {.q = q, .o = o};
    TRY(hdf5_single_open(&c.file, o->path, o->force));
    return hdf5_single_close(&c.file, write_fields(&c, q));
}
#else
enum err cube_write_hdf5(struct cube *q, const struct cube_out *o)
{
    FAIL(ERR_LIMIT, "%s: this program was built without HDF5: install its library, then run make",
         o->path);
}
#endif
