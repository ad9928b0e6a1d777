#include "plot/contour.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"

/* The squares have their corners in the middles of pixels. Each piece of a line joins two edges
 * of a square; pieces with an edge in common are then joined. An edge has a number: 2·pixel + 0
 * from this pixel to the right, + 1 upwards. */
struct end {
    int64_t edge, at; /* at: 2·piece + 0 or 1 */
};
struct contour {
    int n, rows;
    const double *x;
    double level;
    int64_t pieces, room;
    struct end *end; /* [2·pieces] in the order of the pieces */
    int64_t *other;  /* [2·pieces] the end of another piece at this edge; −1: none */
};

static double value(const struct contour *k, int i, int j)
{
    return k->x[(int64_t)j * k->n + i];
}

static int64_t edge_of(const struct contour *k, int i, int j, bool up)
{
    return 2 * ((int64_t)j * k->n + i) + up;
}

static void add_piece(struct contour *k, int64_t a, int64_t b)
{
    if (k->pieces == k->room) {
        k->room = 2 * k->room + 256;
        k->end = mem_grow(k->end, 2 * sizeof *k->end * (size_t)k->room, "contours");
    }
    struct end *e = k->end + 2 * k->pieces;
    e[0] = (struct end){a, 2 * k->pieces}, e[1] = (struct end){b, 2 * k->pieces + 1};
    k->pieces++;
}

/* The pieces in a square. In a saddle the mean of the corners tells which of them are joined. */
static void cut_square(struct contour *k, int i, int j)
{
    const double v[4] = {value(k, i, j), value(k, i + 1, j), value(k, i + 1, j + 1),
                         value(k, i, j + 1)};
    /* bottom, right, top, left: edge e joins corners e and e + 1 */
    const int64_t edge[4] = {edge_of(k, i, j, false), edge_of(k, i + 1, j, true),
                             edge_of(k, i, j + 1, false), edge_of(k, i, j, true)};
    int crossed[4], n = 0;
    for (int e = 0; e < 4; e++) {
        if (!isfinite(v[e])) return;
        if ((v[e] >= k->level) != (v[(e + 1) % 4] >= k->level)) crossed[n++] = e;
    }
    if (n == 2) add_piece(k, edge[crossed[0]], edge[crossed[1]]);
    if (n != 4) return;
    const bool high = 0.25 * (v[0] + v[1] + v[2] + v[3]) >= k->level,
               joined = high == (v[0] >= k->level); /* corners 0 and 2 are joined */
    add_piece(k, edge[0], edge[joined ? 1 : 3]);
    add_piece(k, edge[2], edge[joined ? 3 : 1]);
}

static int by_edge(const void *a, const void *b)
{
    const struct end *x = a, *y = b;
    if (x->edge != y->edge) return x->edge < y->edge ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static void join(struct contour *k)
{
    const int64_t n = 2 * k->pieces;
    struct end *sorted = mem_new(sizeof *sorted * (size_t)n, "contours");
    k->other = mem_new(sizeof *k->other * (size_t)n, "contours");
    for (int64_t i = 0; i < n; i++) sorted[i] = k->end[i], k->other[i] = -1;
    mem_sort(sorted, (size_t)n, sizeof *sorted, by_edge);
    for (int64_t i = 1; i < n; i++)
        if (sorted[i].edge == sorted[i - 1].edge)
            k->other[sorted[i].at] = sorted[i - 1].at, k->other[sorted[i - 1].at] = sorted[i].at;
    FREE(sorted);
}

/* The place of the level along an edge. */
static void point_of(const struct contour *k, int64_t edge, double xy[2])
{
    const int64_t pixel = edge / 2;
    const int i = (int)(pixel % k->n), j = (int)(pixel / k->n), up = (int)(edge % 2);
    const double a = value(k, i, j), b = value(k, i + !up, j + up), t = (k->level - a) / (b - a);
    xy[0] = i + 0.5 + (up ? 0 : t), xy[1] = j + 0.5 + (up ? t : 0);
}

/* Follows a line from an end of a piece, and marks the pieces that it has. Returns the number of
 * points. */
static int follow(const struct contour *k, int64_t from, bool *used, double (*xy)[2])
{
    int n = 0;
    point_of(k, k->end[from].edge, xy[n++]);
    for (int64_t at = from; at >= 0 && !used[at / 2]; at = k->other[at ^ 1]) {
        used[at / 2] = true;
        point_of(k, k->end[at ^ 1].edge, xy[n++]);
    }
    return n;
}

void contour_trace(int n, int rows, const double *x, double level, contour_line *fn, void *ctx)
{
    struct contour k = {.n = n, .rows = rows, .x = x, .level = level};
    for (int j = 0; j + 1 < rows; j++)
        for (int i = 0; i + 1 < n; i++) cut_square(&k, i, j);
    if (!k.pieces) return;
    join(&k);
    bool *used = mem_zero(sizeof *used * (size_t)k.pieces, "contours");
    double(*xy)[2] = mem_new(sizeof *xy * ((size_t)k.pieces + 1), "contours");
    /* open lines begin at their ends, closed ones anywhere */
    for (int closed = 0; closed < 2; closed++)
        for (int64_t at = 0; at < 2 * k.pieces; at++) {
            if (used[at / 2] || (!closed && k.other[at] >= 0)) continue;
            fn(ctx, follow(&k, at, used, xy), (const double(*)[2])xy);
        }
    FREE(xy);
    FREE(used);
    FREE(k.other);
    FREE(k.end);
}
