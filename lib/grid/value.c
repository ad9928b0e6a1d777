/* grid/value: see value.h. A derived value of some planes is computed on a brick with a halo that
 * is read from the file, periodic as the mesh. */
#include "grid/value.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "grid/equations.h"

/* SLAB: cells of a slab, roughly. LANES: numbers behind the last cell that a vector may read. */
enum { SLAB = 1 << 22, LANES = 16 };

int64_t grid_value_planes(const struct grid *g)
{
    int64_t n = SLAB / (g->head.n[0] * g->head.n[1]);
    return n < 1 ? 1 : n < g->head.n[2] ? n : g->head.n[2];
}

/* A brick of nz planes of nx × ny cells, and its fields; NULL: not in the checkpoint. */
struct slab {
    struct brick b;
    double *field[FD_FIELDS];
};

static void slab_init(struct slab *s, const struct grid *g, int64_t nx, int64_t ny, int64_t nz)
{
    struct brick *b = &s->b;
    *s = (struct slab){0};
    b->halo = g->head.order / 2;
    b->own[0] = (int)nx, b->own[1] = (int)ny, b->own[2] = (int)nz;
    b->stride[0] = 1;
    b->stride[1] = nx + 2 * b->halo;
    b->stride[2] = b->stride[1] * (ny + 2 * b->halo);
    b->start = b->halo * (b->stride[0] + b->stride[1] + b->stride[2]);
    b->size = (size_t)(b->stride[2] * (nz + 2 * b->halo)) + LANES;
    for (int f = 0; f < FD_FIELDS; f++)
        if (grid_field(&g->head, fd_name[f]) >= 0)
            s->field[f] = mem_zero(sizeof(double) * b->size, "derived values");
}

static void slab_fini(struct slab *s)
{
    for (int f = 0; f < FD_FIELDS; f++) FREE(s->field[f]);
}

/* Reads the cells and the halo of the slab that begins at plane z. */
static enum err slab_read(struct slab *s, struct grid *g, int64_t z)
{
    const struct brick *b = &s->b;
    const int64_t h = b->halo, first[3] = {-h, -h, z - h},
                  n[3] = {b->own[0] + 2 * h, b->own[1] + 2 * h, b->own[2] + 2 * h};
    for (int f = 0; f < FD_FIELDS; f++)
        if (s->field[f])
            TRY(grid_read(g, grid_field(&g->head, fd_name[f]), first, n, s->field[f], b->stride));
    return OK;
}

/* ---- names ---- */

/* Whether the equations of the checkpoint have a value: tried on one cell of a field of zeros. */
static bool has_derived(const struct fd_par *p, const struct slab *cell, enum fd_derived d)
{
    double x;
    for (int f = 0; f < FD_FIELDS; f++)
        if (fd_has(p, (enum fd_field)f) && !cell->field[f]) return false;
    return fd_derive(p, &cell->b, cell->field, d, (int[3]){0}, 1, &x);
}

int grid_values(const struct grid *g, struct grid_value list[GRID_VALUES])
{
    struct fd_par p;
    struct slab cell;
    int n = 0;
    for (int i = 0; i < g->head.nfield; i++)
        list[n++] = (struct grid_value){g->head.field[i], g->head.field[i], i, FD_DERIVED};
    if (grid_equations(g, &p) != OK) return n; /* a file of another program */
    slab_init(&cell, g, 1, 1, 1);
    for (int d = 0; d < FD_DERIVED; d++)
        if (grid_field(&g->head, fd_derived_name[d]) < 0 &&
            has_derived(&p, &cell, (enum fd_derived)d))
            list[n++] = (struct grid_value){fd_derived_name[d], fd_derived_text[d], -1,
                                            (enum fd_derived)d};
    slab_fini(&cell);
    return n;
}

enum err grid_value_find(const struct grid *g, const char *name, struct grid_value *v)
{
    struct grid_value list[GRID_VALUES];
    char names[2048] = "";
    size_t at = 0;
    int n = grid_values(g, list);
    for (int i = 0; i < n; i++) {
        if (strcmp(list[i].name, name) == 0) {
            *v = list[i];
            return OK;
        }
        if (at < sizeof names)
            at += (size_t)snprintf(names + at, sizeof names - at, " %s", list[i].name);
    }
    FAIL(ERR_PARAM, "%s: has no field %.80s; there are:%.1800s", g->path, name, names);
}

/* ---- values ---- */

static enum err read_derived(struct grid *g, enum fd_derived what, int64_t z, int64_t n, double *to)
{
    struct fd_par p;
    struct slab s;
    TRY(grid_equations(g, &p));
    slab_init(&s, g, g->head.n[0], g->head.n[1], n);
    enum err err = slab_read(&s, g, z);
    for (int k = 0; err == OK && k < s.b.own[2]; k++)
        for (int y = 0; y < s.b.own[1]; y++, to += s.b.own[0]) {
            bool has = fd_derive(&p, &s.b, s.field, what, (int[3]){0, y, k}, s.b.own[0], to);
            BUG_ON(!has); /* grid_value_find has found it */
        }
    slab_fini(&s);
    return err;
}

enum err grid_value_read(struct grid *g, const struct grid_value *v, int64_t z, int64_t n,
                         double *to)
{
    const int64_t nx = g->head.n[0], ny = g->head.n[1];
    if (v->field < 0) return read_derived(g, v->derived, z, n, to);
    return grid_read(g, v->field, (int64_t[3]){0, 0, z}, (int64_t[3]){nx, ny, n}, to,
                     (int64_t[3]){1, nx, nx * ny});
}
