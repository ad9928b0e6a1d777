/* cone/gas: the gas of leaf cells. The points are the centres of the cells, which do not move: the
 * light passes each of them in one step. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "cone/rows.h"
#include "oct/gas_kern.h"

enum { OCTS = 4096, CELLS = 8 * OCTS };

struct batch {
    const struct cone_slice *s;
    const struct level *lv;
    double *x[3];
    lidx oct[CELLS];
    unsigned char cell[CELLS];
    int64_t n;
    struct cone_events events;
};

static void add_cell(struct batch *b, lidx i, int c)
{
    double x[3];
    okey_cell_centre(b->lv->key[i], c, ldexp(1, -b->lv->level), x);
    for (int d = 0; d < 3; d++) b->x[d][b->n] = x[d];
    b->oct[b->n] = i;
    b->cell[b->n++] = (unsigned char)c;
}

static void put(uint64_t *row, int v, double x)
{
    memcpy(row + CONE_KEY + v, &x, sizeof x);
}

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

static void end_batch(struct batch *b, struct cone_rows *out)
{
    const struct cone_points p = {
        .n = b->n, .x = {b->x[0], b->x[1], b->x[2]}, .v = {b->x[0], b->x[1], b->x[2]}};
    b->events.n = 0;
    cone_select(b->s->view, b->s->shell, &p, &b->events);
    for (int64_t i = 0; i < b->events.n; i++) add_row(b, &b->events.at[i], out);
    b->n = 0;
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
