/* brute_bins: bins_each by looking at all cells for each event, for programs that are linked with
 * --wrap=bins_new --wrap=bins_each (Makefile). */
#pragma once
#include <stdint.h>

#include "base/mem.h"
#include "dom/bins.h"

/* Calls of bins_each that look at all cells: BRUTE_FIRST, the next one, BRUTE_REST, those after it.
 * brute_begin counts anew. */
enum { BRUTE_FIRST = 1, BRUTE_REST = 2 };
static struct {
    int calls, call;
    int64_t n;
    const struct event *event;
} brute;

static void brute_begin(int calls)
{
    brute.calls = calls, brute.call = 0;
}

struct bins *__real_bins_new(const struct mesh *m, int64_t n, const struct event *e);
struct bins *__wrap_bins_new(const struct mesh *m, int64_t n, const struct event *e);
void __real_bins_each(const struct bins *b, const struct mesh *m, bins_visit *visit, void *ctx);
void __wrap_bins_each(const struct bins *b, const struct mesh *m, bins_visit *visit, void *ctx);

struct bins *__wrap_bins_new(const struct mesh *m, int64_t n, const struct event *e)
{
    brute.n = n, brute.event = e;
    return __real_bins_new(m, n, e);
}

/* All cells of a level for one event. x: centres of the first cells of octs. */
static void brute_level(const struct level *lv, double dx, const double (*x)[3],
                        const struct event *e, struct bins_hit *h, bins_visit *visit, void *ctx)
{
    for (h->oct = 0; h->oct < lv->nown; h->oct++)
        for (h->cell = 0; h->cell < 8; h->cell++) {
            double r2 = 0;
            for (int d = 0; d < 3; d++) {
                h->r[d] = x[h->oct][d] + (h->cell >> d & 1) * dx - e->x[d];
                r2 += h->r[d] * h->r[d];
            }
            if (r2 < e->radius * e->radius && lv->child[h->oct][h->cell] < 0) visit(h, ctx);
        }
}

void __wrap_bins_each(const struct bins *b, const struct mesh *m, bins_visit *visit, void *ctx)
{
    double(*x[LEVEL_MAX + 1])[3];
    struct bins_hit h = {0};
    if (!(brute.calls & (brute.call++ ? BRUTE_REST : BRUTE_FIRST))) {
        __real_bins_each(b, m, visit, ctx);
        return;
    }
    for (int l = m->levelmin; l <= m->levelmax; l++) {
        x[l] = mem_new(sizeof *x[l] * (size_t)m->lev[l].nown + 1, "events");
        for (lidx i = 0; i < m->lev[l].nown; i++) {
            int64_t q[3];
            okey_coords(m->lev[l].key[i], q);
            for (int d = 0; d < 3; d++) x[l][i][d] = (2 * (double)q[d] + 0.5) * mesh_dx(m, l);
        }
    }
    for (h.event = 0; h.event < brute.n; h.event++)
        for (h.level = m->levelmin; h.level <= m->levelmax; h.level++)
            brute_level(&m->lev[h.level], mesh_dx(m, h.level), x[h.level], &brute.event[h.event],
                        &h, visit, ctx);
    for (int l = m->levelmin; l <= m->levelmax; l++) FREE(x[l]);
}
