#include "gridview/gridview.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "grid/value.h"

/* A source that only has what titles and labels show. boxlen is the longest side. */
static void fill_source(struct source *r, const struct grid *g)
{
    const struct grid_head *h = &g->head;
    snprintf(r->path, sizeof r->path, "%.3999s", g->path);
    r->number = g->number;
    r->head = (struct ckpt_head){.ndim = 3, .t = h->t, .unit_l = 1, .unit_d = 1, .unit_t = 1};
    for (int d = 0; d < 3; d++) r->head.boxlen = fmax(r->head.boxlen, h->length[d]);
}

/* Pixels are nearly square; the longer side has as many as asked for. */
static void find_shape(struct map *m, const struct grid *g)
{
    const int w = m->o->axis, axis[3] = {w == 0 ? 1 : 0, w == 2 ? 1 : 2, w};
    for (int d = 0; d < 3; d++) m->side[d] = g->head.length[axis[d]] / m->r->head.boxlen;
    const double longer = fmax(m->side[0], m->side[1]);
    m->n = (int)fmax(1, rint(m->o->pixels * m->side[0] / longer));
    m->rows = (int)fmax(1, rint(m->o->pixels * m->side[1] / longer));
}

static enum err find_weight(struct map *m, const struct grid *g, const char *name)
{
    m->weight = m->o->weight != BY_DEFAULT     ? m->o->weight
                : strcmp(name, "density") == 0 ? COLUMN
                                               : BY_VOLUME;
    if (m->weight == BY_MASS && grid_field(&g->head, "lnrho") < 0)
        FAIL(ERR_PARAM, "%s: has no density to weight by mass: use --weight volume", g->path);
    return OK;
}

/* Whether planes z and beyond, n of them, can lie in the region. */
static bool meets(const struct map *m, const struct grid *g, int64_t z, int64_t n)
{
    const int d = m->w == 2 ? 2 : m->v == 2 ? 1 : 0; /* the place of axis z in the region */
    const double lo = (double)z / (double)g->head.n[2], hi = (double)(z + n) / (double)g->head.n[2];
    for (int k = -1; k <= 1; k++)
        if (lo + k < m->hi[d] && hi + k > m->lo[d]) return true;
    return false;
}

static void lay_planes(struct map *m, const struct grid *g, int64_t z, int64_t n, const double *q,
                       const double *lnrho)
{
    const int64_t *mesh = g->head.n;
    const int axis[3] = {m->u, m->v, m->w};
    double size[3];
    for (int d = 0; d < 3; d++) size[d] = 1 / (double)mesh[axis[d]];
    for (int64_t i = 0; i < n * mesh[1] * mesh[0]; i++) {
        const int64_t at[3] = {i % mesh[0], i / mesh[0] % mesh[1], z + i / mesh[0] / mesh[1]};
        const double weight = lnrho ? exp(lnrho[i]) : 1;
        double corner[3];
        for (int d = 0; d < 3; d++) corner[d] = (double)at[axis[d]] * size[d];
        map_lay(m, corner, size, q[i] * weight, weight);
    }
}

static enum err read_planes(struct map *m, struct grid *g, const struct grid_value *v)
{
    const int64_t *mesh = g->head.n, step = grid_value_planes(g);
    const size_t bytes = sizeof(double) * (size_t)(step * mesh[0] * mesh[1]);
    const struct grid_value lnrho = {.field = grid_field(&g->head, "lnrho")};
    double *q = mem_new(bytes, "map"),
           *weight = m->weight == BY_MASS ? mem_new(bytes, "map") : NULL;
    enum err err = OK;
    for (int64_t z = 0; z < mesh[2] && err == OK; z += step) {
        const int64_t n = step < mesh[2] - z ? step : mesh[2] - z;
        if (!meets(m, g, z, n)) continue;
        err = grid_value_read(g, v, z, n, q);
        if (err == OK && weight) err = grid_value_read(g, &lnrho, z, n, weight);
        if (err == OK) lay_planes(m, g, z, n, q, weight);
    }
    FREE(q);
    FREE(weight);
    return err;
}

enum err gridview_map(struct map *m, struct source *r, struct grid *g, const struct map_options *o)
{
    struct grid_value v;
    if (o->physical)
        FAIL(ERR_PARAM, "%s: a run of solver='stencil' has no physical units: leave out -u",
             g->path);
    if (o->mesh) FAIL(ERR_PARAM, "%s: has no octs for --mesh: its mesh is uniform", g->path);
    TRY(grid_value_find(g, o->field, &v));
    fill_source(r, g);
    *m = (struct map){.r = r, .o = o, .plain = true, .periodic = true, .species = SPECIES_NONE};
    find_shape(m, g);
    TRY(find_weight(m, g, v.name));
    map_begin(m);
    TRY(read_planes(m, g, &v));
    map_end(m);
    return OK;
}
