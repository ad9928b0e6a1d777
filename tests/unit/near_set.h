/* Sets of points for the tests of tree/near: random, clustered, coincident and collinear points and
 * points at the boundary, with radii over six orders of magnitude. */
#pragma once
#include <math.h>

#include "base/mem.h"
#include "base/rng.h"
#include "tree/near.h"

enum kind { UNIFORM, CLUSTERED, COINCIDENT, LINE, BOUNDARY, KINDS };

static const char *const KIND[] = {"random", "clustered", "coincident", "collinear", "boundary"};

static const struct near_frame PERIODIC = {{-1, 0, 10}, {2, 1, 0.5}, {2, 1, 0.5}};
/* Some points are beyond it. */
static const struct near_frame OPEN = {{-1, 0.2, 10}, {2, 0.7, 0.2}, {0, 0, 0}};
static const struct near_frame SLAB = {{-1, 0.2, 10}, {2, 0.7, 0.5}, {2, 0, 0.5}};

struct set {
    struct near_points p;
    double *x[3], *reach;
    int64_t *id;
};

static double place_of(enum kind kind, struct rng *r, int64_t i, int k)
{
    double u = rng_uniform(r);
    switch (kind) {
    case CLUSTERED: /* a sphere whose density falls steeply, across the boundary */
        u = 0.02 + pow(u, 5) * (rng_uniform(r) - 0.5);
        return u - floor(u);
    case COINCIDENT: /* twenty places, two of which are neighbours across the boundary */
        return i % 20 == 0 ? 0 : i % 20 == 1 ? 1 - 0x1p-30 : fmod(0.618 * (double)(i % 20), 1);
    case LINE:
        return k == 1 ? u : 0.25;
    case BOUNDARY:
        return i % 3 == k ? (i % 2 ? 0 : 1 - 0x1p-53) : u;
    case UNIFORM:
    case KINDS:
        break;
    }
    return u;
}

static struct set new_set(enum kind kind, int64_t n, uint64_t seed)
{
    struct rng r = rng_make(seed, (uint64_t)kind, 17);
    struct set s = {.id = mem_new(sizeof *s.id * (size_t)n + 1, "test"),
                    .reach = mem_new(sizeof *s.reach * (size_t)n + 1, "test")};
    s.p.n = n;
    for (int k = 0; k < 3; k++) s.x[k] = mem_new(sizeof *s.x[k] * (size_t)n + 1, "test");
    for (int64_t i = 0; i < n; i++) {
        s.id[i] = (i * 7919 + 5) % 1000003 - 500000;
        s.reach[i] = 0.2 * pow(10, -6 * rng_uniform(&r));
        for (int k = 0; k < 3; k++)
            s.x[k][i] = PERIODIC.lo[k] + PERIODIC.side[k] * place_of(kind, &r, i, k);
    }
    for (int k = 0; k < 3; k++) s.p.x[k] = s.x[k];
    s.p.id = s.id;
    return s;
}

static void free_set(struct set *s)
{
    for (int k = 0; k < 3; k++) FREE(s->x[k]);
    FREE(s->id);
    FREE(s->reach);
}
