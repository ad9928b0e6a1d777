#include "brick/brick.h"

#include <limits.h>

#include "base/mem.h"
#include "brick/divide.h"
#include "brick/fill.h"

enum { LINE = 8, SETS = 512 }; /* numbers of a cache line; numbers between lines of one set */

static enum err mesh_check(const int64_t n[3], int halo)
{
    if (halo < 1 || halo > BRICK_HALO_MAX)
        FAIL(ERR_LIMIT, "a halo of %d cells: it has 1 to %d", halo, BRICK_HALO_MAX);
    for (int d = 0; d < 3; d++)
        if (n[d] < 1) FAIL(ERR_LIMIT, "a mesh of %ld cells along %c", (long)n[d], "xyz"[d]);
    return OK;
}

static enum err parts_check(const int64_t n[3], int ranks, int halo, const int p[3])
{
    int64_t bricks = 1;
    for (int d = 0; d < 3; d++) {
        if (p[d] < 1) FAIL(ERR_LIMIT, "%d parts of the mesh along %c", p[d], "xyz"[d]);
        if (p[d] > 1 && n[d] / p[d] < halo)
            FAIL(ERR_LIMIT,
                 "%ld cells along %c cannot be divided in %d parts: a part must have the %d cells "
                 "of the halo",
                 (long)n[d], "xyz"[d], p[d], halo);
        if (n[d] / p[d] > INT_MAX / 2)
            FAIL(ERR_LIMIT, "%ld cells along %c in %d parts are too many for a rank", (long)n[d],
                 "xyz"[d], p[d]);
        bricks *= p[d];
        if (bricks > ranks)
            FAIL(ERR_LIMIT, "%d × %d × %d parts of the mesh need more ranks than %d", p[0], p[1],
                 p[2], ranks);
    }
    return OK;
}

/* Ranks of a node, if all nodes have consecutive ranks and, but for the last one, as many of them;
 * otherwise 1. (collective) */
static int node_ranks(const struct comm *c)
{
    int64_t most = c->node_size, apart = 0;
    comm_max_i64(c, &most, 1);
    apart = c->rank % most != c->node_rank;
    comm_max_i64(c, &apart, 1);
    return apart ? 1 : (int)most;
}

static int64_t aligned(int64_t n)
{
    n = (n + LINE - 1) / LINE * LINE;
    return n % SETS ? n : n + LINE;
}

static void layout(struct brick *b)
{
    const int h = b->halo;
    int64_t rows = b->own[1] + 2 * h;
    b->stride[0] = 1;
    b->stride[1] = aligned(b->own[0] + 2 * h);
    b->stride[2] = aligned(rows * b->stride[1]);
    b->start = (h + h * b->stride[1] + h * b->stride[2] + LINE - 1) / LINE * LINE;
    int64_t last = brick_cell(b, b->own[0] + h - 1, b->own[1] + h - 1, b->own[2] + h - 1);
    b->size = (size_t)((last + LINE) / LINE * LINE);
}

enum err brick_init(struct brick *b, const struct comm *c, const int64_t n[3], int halo,
                    const int p[3])
{
    *b = (struct brick){.halo = halo, .comm = c};
    TRY(err_agree(c, mesh_check(n, halo)));
    int node = node_ranks(c);
    if (p[0] || p[1] || p[2])
        for (int d = 0; d < 3; d++) b->p[d] = p[d];
    else
        brick_best(n, c->size, node, halo, b->p);
    TRY(err_agree(c, parts_check(n, c->size, halo, b->p)));
    b->plan = mem_zero(sizeof *b->plan, "bricks");
    b->plan->place = brick_place_new(n, c->size, node, halo, b->p);
    bool has = brick_place_at(&b->plan->place, c->rank, b->at);
    for (int d = 0; d < 3; d++) {
        b->n[d] = n[d];
        if (!has) continue;
        b->first[d] = brick_first(n[d], b->p[d], b->at[d]);
        b->own[d] = (int)(brick_first(n[d], b->p[d], b->at[d] + 1) - b->first[d]);
    }
    if (has) layout(b);
    b->plan->corners = true;
    brick_plan_new(b);
    return OK;
}

void brick_fini(struct brick *b)
{
    if (!b->plan) return;
    brick_plan_free(b);
    FREE(b->plan);
}

int brick_rank(const struct brick *b, const int at[3])
{
    return brick_place_rank(&b->plan->place, at);
}

bool brick_at(const struct brick *b, int rank, int at[3])
{
    return brick_place_at(&b->plan->place, rank, at);
}

struct brick_counts brick_counts(const struct brick *b)
{
    return b->plan->counts;
}

/* ---- boxes ---- */

static int box_add(int n, int lo[7][3], int hi[7][3], const int from[3], const int to[3])
{
    for (int d = 0; d < 3; d++) {
        if (from[d] >= to[d]) return n;
        lo[n][d] = from[d];
        hi[n][d] = to[d];
    }
    return n + 1;
}

int brick_boxes(const struct brick *b, int lo[7][3], int hi[7][3])
{
    int n = 1, from[3] = {0}, to[3] = {b->own[0], b->own[1], b->own[2]};
    for (int d = 2; d >= 0; d--) {
        if (b->p[d] == 1) continue;
        int low = b->halo < to[d] ? b->halo : to[d], high = to[d] - b->halo, end = to[d];
        if (high < low) high = low;
        to[d] = low;
        n = box_add(n, lo, hi, from, to);
        from[d] = high, to[d] = end;
        n = box_add(n, lo, hi, from, to);
        from[d] = low, to[d] = high;
    }
    for (int d = 0; d < 3; d++) lo[0][d] = from[d], hi[0][d] = to[d];
    return n;
}
