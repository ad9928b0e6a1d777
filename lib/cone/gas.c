/* cone/gas: the gas of leaf cells.
 *
 * Cells do not move, so light passes each place once. The mesh is refined between steps, though: if
 * the centres of leaf cells decided, a cell that is refined where two slices meet would appear with
 * its children, or neither would. The centre of the cell of levelmin that contains a leaf cell
 * decides, as the mesh of levelmin never changes: all leaf cells in it are in the same slice, which
 * together fill each place of the cone exactly once. Each has the redshift of its own distance. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "cone/priv.h"
#include "cone/rows.h"
#include "oct/gas_kern.h"

enum { OCTS = 4096, CELLS = 8 * OCTS };

/* Leaf cells, in runs of those within one cell of levelmin, which is a point of the search. */
struct batch {
    const struct cone_slice *s;
    const struct level *lv;
    lidx oct[CELLS];
    unsigned char cell[CELLS];
    int64_t n, npoint, first[CELLS + 1]; /* first cell of each point */
    okey root[CELLS];                    /* cell of levelmin of each point, by its key */
    double *x[3];
    struct cone_events events;
};

/* Key of the cell of levelmin that contains a cell of level l. */
static okey root_of(const struct batch *b, lidx i, int c)
{
    const int down = b->lv->level - b->s->mesh->levelmin;
    return (b->lv->key[i] << 3 | (okey)c) >> 3 * down;
}

static void add_cell(struct batch *b, lidx i, int c)
{
    const okey root = root_of(b, i, c);
    if (b->npoint == 0 || b->root[b->npoint - 1] != root) {
        double x[3];
        const int64_t p = b->npoint++;
        okey_cell_centre(root >> 3, (int)(root & 7), ldexp(1, -b->s->mesh->levelmin), x);
        for (int d = 0; d < 3; d++) b->x[d][p] = x[d];
        b->root[p] = root;
        b->first[p] = b->n;
    }
    b->oct[b->n] = i;
    b->cell[b->n++] = (unsigned char)c;
}

static void put(uint64_t *row, int v, double x)
{
    memcpy(row + CONE_KEY + v, &x, sizeof x);
}

/* e: event of a cell; its `at` is the place in the batch. */
static void add_row(const struct batch *b, const struct cone_event *e, struct cone_rows *out)
{
    const struct level *lv = b->lv;
    const struct ckpt_head *h = b->s->head;
    const lidx i = b->oct[e->at];
    const int c = b->cell[e->at];
    if (out->n == out->room) {
        out->room = 2 * out->room + 256;
        out->at = mem_grow(out->at,
                           sizeof(uint64_t) * (size_t)(CONE_KEY + out->width) * (size_t)out->room,
                           "light cone");
    }
    uint64_t *row = cone_row(out, out->n++);
    const struct gas_cell g = gas_cell_read(lv, i, c);
    double rho = fmax(g.rho, h->smallr), v[3], u[3];
    const unsigned __int128 id = ((unsigned __int128)lv->key[i] << 3 | (unsigned)c)
                                 << 3 * (LEVEL_MAX - lv->level);
    cone_row_key(e->image, (uint64_t)(id >> 64), (uint64_t)id, row);
    for (int d = 0; d < 3; d++) v[d] = g.m[d] / rho;
    cone_turn(b->s->view, v, u);
    for (int d = 0; d < 3; d++) {
        put(row, ROW_POSITION + d, e->r[d]);
        put(row, ROW_VELOCITY + d, u[d]);
    }
    put(row, ROW_REDSHIFT, e->z);
    put(row, ROW_SIZE, ldexp(1, -lv->level));
    put(row, ROW_GAS, g.rho);
    put(row, ROW_GAS + 1, gas_pressure(gas_cell_internal(&g), h->gamma));
    int at = ROW_GAS + 2;
    for (int k = GAS_SCALARS; k < b->s->mesh->nvar; k++) {
        const double x = level_gas(lv, k)[i][c];
        const int n = k - GAS_SCALARS;
        put(row, at++, n < h->energy.n ? gas_pressure(x, h->energy.gamma[n]) : x / rho);
    }
    put(row, at, level_phi(lv) ? level_phi(lv)[i][c] : 0);
}

/* The cells of a point that has an event: those whose own centres are in the view. */
static void add_cells(const struct batch *b, const struct cone_event *of, struct cone_rows *out)
{
    const struct cone_slice *s = b->s;
    struct cone_event e = *of;
    for (e.at = b->first[of->at]; e.at < b->first[of->at + 1]; e.at++) {
        double x[3], at[3];
        okey_cell_centre(b->lv->key[b->oct[e.at]], b->cell[e.at], ldexp(1, -b->lv->level), x);
        for (int d = 0; d < 3; d++) at[d] = x[d] + e.image[d] - s->view->observer[d];
        if (!cone_view_holds(s->view, at, e.r)) continue;
        e.z = cone_redshift(s->shell, sqrt(at[0] * at[0] + at[1] * at[1] + at[2] * at[2]));
        if (s->shell->rule == CONE_RAMSES || e.z <= s->shell->zmax) add_row(b, &e, out);
    }
}

static void end_batch(struct batch *b, struct cone_rows *out)
{
    const struct cone_points p = {.n = b->npoint,
                                  .x = {b->x[0], b->x[1], b->x[2]},
                                  .v = {b->x[0], b->x[1], b->x[2]},
                                  .half = ldexp(0.5, -b->s->mesh->levelmin)};
    b->first[b->npoint] = b->n;
    b->events.n = 0;
    cone_select(b->s->view, b->s->shell, &p, &b->events);
    for (int64_t i = 0; i < b->events.n; i++) add_cells(b, &b->events.at[i], out);
    b->n = b->npoint = 0;
}

void cone_rows_gas(const struct cone_slice *s, struct cone_rows *out)
{
    const struct mesh *m = s->mesh;
    *out = (struct cone_rows){.width = ROW_GAS + 2 + (m->nvar - GAS_SCALARS) + 1};
    struct batch *b = mem_zero(sizeof *b, "light cone");
    b->s = s;
    for (int d = 0; d < 3; d++) b->x[d] = mem_new(sizeof(double) * CELLS, "light cone");
    for (int l = m->levelmin; l <= m->levelmax; l++) {
        const struct level *lv = b->lv = &m->lev[l];
        for (lidx i = 0; i < lv->nown; i++) {
            for (int c = 0; c < 8; c++)
                if (lv->child[i][c] < 0) add_cell(b, i, c);
            if (b->n > CELLS - 8) end_batch(b, out);
        }
        end_batch(b, out);
    }
    for (int d = 0; d < 3; d++) mem_free(b->x[d]);
    cone_events_free(&b->events);
    mem_free(b);
    cone_rows_sort(out);
}
