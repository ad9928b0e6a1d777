/* cone/galaxies: galaxies on light cones. A galaxy is where its particle is: it is on the cone in
 * the events of the particle, and crosses as often as that does, once in each replica. */
#include <string.h>

#include "base/mem.h"
#include "cone/rows.h"

MEM_ORDER(order_galaxy, struct cone_galaxy, id)

static void put(uint64_t *row, int v, double x)
{
    memcpy(row + CONE_KEY + v, &x, sizeof x);
}

static void set_row(const struct cone_slice *s, const struct cone_event *e,
                    const struct cone_galaxy *g, uint64_t *row)
{
    const struct parts *p = s->parts;
    double v[3] = {p->v[0][e->at], p->v[1][e->at], p->v[2][e->at]}, u[3];
    cone_turn(s->view, v, u);
    cone_row_key(e->image, 0, (uint64_t)g->id ^ (uint64_t)1 << 63, row);
    for (int d = 0; d < 3; d++)
        put(row, ROW_POSITION + d, e->r[d]), put(row, ROW_VELOCITY + d, u[d]);
    put(row, ROW_REDSHIFT, e->z);
    put(row, ROW_MASS, g->mass);
    row[CONE_KEY + ROW_ID] = (uint64_t)g->id;
    row[CONE_KEY + ROW_KIND] = (uint64_t)g->kind;
    row[CONE_KEY + ROW_CLUMP] = (uint64_t)g->clump;
    put(row, ROW_STARS, g->stars);
}

/* First of n galaxies, in order, at a particle or behind it. */
static int64_t first_of(const struct cone_galaxy *g, int64_t n, int64_t id)
{
    int64_t lo = 0, hi = n;
    MEM_BISECT(lo, hi, mid, g[mid].id < id)
    return lo;
}

/* Rows of this rank's events; a particle may be the galaxy of a clump and an orphan. */
static void add_rows(const struct cone_slice *s, int64_t n, const struct cone_galaxy *g,
                     struct cone_rows *out)
{
    const size_t bytes = sizeof(uint64_t) * (size_t)(CONE_KEY + out->width);
    for (int64_t i = 0; i < s->events->n; i++) {
        const struct cone_event *e = &s->events->at[i];
        const int64_t id = s->parts->id[e->at];
        for (int64_t k = first_of(g, n, id); k < n && g[k].id == id; k++) {
            if (out->n == out->room) {
                out->room = 2 * out->room + 64;
                out->at = mem_grow(out->at, bytes * (size_t)out->room, "light cone");
            }
            set_row(s, e, &g[k], cone_row(out, out->n++));
        }
    }
}

void cone_rows_galaxies(const struct cone_slice *s, struct cone_rows *out)
{
    const size_t bytes = sizeof(uint64_t) * (CONE_KEY + ROW_GALAXY);
    struct cone_rows mine = {.width = ROW_GALAXY};
    int64_t n = s->galaxies->n;
    comm_bcast(s->comm, &n, sizeof n, 0);
    struct cone_galaxy *g = mem_new(sizeof *g * (size_t)n + 1, "light cone");
    if (s->comm->rank == 0 && n) memcpy(g, s->galaxies->at, sizeof *g * (size_t)n);
    comm_bcast(s->comm, g, sizeof *g * (size_t)n, 0);
    mem_sort(g, (size_t)n, sizeof *g, order_galaxy);
    add_rows(s, n, g, &mine);
    *out = (struct cone_rows){.width = ROW_GALAXY};
    out->at = comm_exchange_root(s->comm, mine.at, mine.n, bytes, &out->n);
    cone_rows_sort(out);
    cone_rows_free(&mine);
    FREE(g);
}
