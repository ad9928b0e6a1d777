/* brick/divide: the number of parts of a mesh along each axis. Work is the number of cells of the
 * largest brick, W in Pekkilä et al. (2022), which is equal for all even divisions among all ranks;
 * among equals the halo counts: M − N among nodes, M″ − L″ within one (equations 7 and 12). All
 * divisions are compared, except those whose largest brick another one has with fewer parts. */
#include "brick/divide.h"

#include <limits.h>

#include "brick/brick.h"

static int64_t width(int64_t n, int64_t p)
{
    return (n + p - 1) / p;
}

/* Divisions of the boxes that the parts `outer` make of a mesh. */
struct level {
    const int64_t *n;
    int outer[3], halo;
    bool within; /* true: the parts of a box belong to ranks of one node */
};

/* Cells of the largest brick, and those of its halo that another rank or node may have. */
struct cost {
    double work, halo;
};

static struct cost cost_of(const struct level *l, const int p[3])
{
    double own = 1, all = 1, near = 1;
    for (int d = 0; d < 3; d++) {
        double w = (double)width(l->n[d], (int64_t)l->outer[d] * p[d]);
        own *= w;
        all *= w + 2 * l->halo;
        near *= w + (l->within && p[d] >= 2 ? l->halo : 0);
    }
    return (struct cost){own, all - near};
}

/* Whether p is better than q, whose costs are a and b. Among equals there are few bricks, and those
 * whose rows and planes are whole, since their halos are contiguous. */
static bool is_better(struct cost a, const int p[3], struct cost b, const int q[3])
{
    if (a.work != b.work) return a.work < b.work;
    if (a.halo != b.halo) return a.halo < b.halo;
    int64_t np = (int64_t)p[0] * p[1] * p[2], nq = (int64_t)q[0] * q[1] * q[2];
    if (np != nq) return np < nq;
    return p[0] != q[0] ? p[0] < q[0] : p[1] < q[1];
}

/* The maximum number of parts of a box along axis d, at most `max`. */
static int most(const struct level *l, int d, int64_t max)
{
    int64_t parts = l->n[d] / l->halo / l->outer[d];
    if (parts < 1) parts = 1;
    return (int)(parts < max ? parts : max);
}

/* The minimum number of parts whose widest one is as wide as that of p parts. */
static int fewest(const struct level *l, int d, int p)
{
    int64_t w = width(l->n[d], (int64_t)l->outer[d] * p);
    return (int)width(width(l->n[d], w), l->outer[d]);
}

/* The best division of a box into at most `max` parts. */
static void search(const struct level *l, int max, int best[3])
{
    struct cost least = {0};
    best[0] = 0;
    for (int x = 1; x <= most(l, 0, max); x++) {
        if (fewest(l, 0, x) < x) continue;
        for (int y = 1; y <= most(l, 1, max / x); y++) {
            if (fewest(l, 1, y) < y) continue;
            int p[3] = {x, y, fewest(l, 2, most(l, 2, max / x / y))};
            struct cost c = cost_of(l, p);
            if (best[0] && !is_better(c, p, least, best)) continue;
            least = c;
            for (int d = 0; d < 3; d++) best[d] = p[d];
        }
    }
}

void brick_best(const int64_t n[3], int ranks, int node, int halo, int p[3])
{
    struct level all = {n, {1, 1, 1}, halo, false}, here = {n, {1, 1, 1}, halo, true};
    int flat[3], within[3];
    if (node < 1) node = 1;
    if (node > ranks) node = ranks;
    search(&all, ranks / node, here.outer);
    search(&here, node, within);
    for (int d = 0; d < 3; d++) p[d] = here.outer[d] * within[d];
    if (node == 1) return;
    /* the numbers of nodes and of their ranks may have factors that the mesh does not */
    search(&all, ranks, flat);
    if (cost_of(&all, flat).work >= cost_of(&all, p).work) return;
    for (int d = 0; d < 3; d++) p[d] = flat[d];
}

int64_t brick_first(int64_t n, int p, int i)
{
    return n / p * i + n % p * i / p;
}

/* ---- ranks ---- */

/* Divisions of p in boxes of `near` parts, one for each node: the one with the fewest halo cells of
 * other nodes. */
struct brick_place brick_place_new(const int64_t n[3], int ranks, int node, int halo,
                                   const int p[3])
{
    struct brick_place best = {.p = {p[0], p[1], p[2]}, .near = {1, 1, 1}, .node = 1};
    struct level l = {.n = n, .halo = halo, .within = true};
    double least = 0;
    int near[3];
    if (node > ranks) node = ranks;
    for (near[0] = 1; near[0] <= p[0]; near[0]++)
        for (near[1] = 1; near[1] <= p[1]; near[1]++)
            for (near[2] = 1; near[2] <= p[2]; near[2]++) {
                int64_t inside = (int64_t)near[0] * near[1] * near[2], boxes = 1;
                bool whole = inside > 1 && inside <= node;
                for (int d = 0; d < 3 && whole; d++) {
                    whole = p[d] % near[d] == 0;
                    l.outer[d] = p[d] / near[d];
                    boxes *= l.outer[d];
                }
                if (!whole || boxes > ranks / node) continue;
                double halos = cost_of(&l, near).halo;
                if (best.node > 1 && halos >= least) continue;
                best.node = node;
                least = halos;
                for (int d = 0; d < 3; d++) best.near[d] = near[d];
            }
    return best;
}

/* Number of coordinates below p in the cube of this size at `corner`. */
static int64_t inside(const int p[3], const int corner[3], int size)
{
    int64_t n = 1;
    for (int d = 0; d < 3; d++) {
        int w = p[d] - corner[d];
        n *= w < 0 ? 0 : w < size ? w : size;
    }
    return n;
}

static int cube(const int p[3])
{
    int size = 1;
    while (size < p[0] || size < p[1] || size < p[2]) size *= 2;
    return size;
}

static void corner_of(const int at[3], int child, int size, int corner[3])
{
    for (int d = 0; d < 3; d++) corner[d] = at[d] + (child >> d & 1) * size;
}

/* The number of coordinates below p that precede `at` in Morton order. */
static int64_t order_of(const int p[3], const int at[3])
{
    int64_t n = 0;
    int low[3] = {0}, corner[3];
    for (int size = cube(p) / 2; size > 0; size /= 2) {
        int mine = 0;
        for (int d = 0; d < 3; d++) mine |= (at[d] - low[d] >= size) << d;
        for (int k = 0; k < mine; k++) {
            corner_of(low, k, size, corner);
            n += inside(p, corner, size);
        }
        corner_of(low, mine, size, low);
    }
    return n;
}

/* The coordinates number n, which must exist. */
static void at_of(const int p[3], int64_t n, int at[3])
{
    at[0] = at[1] = at[2] = 0;
    for (int size = cube(p) / 2; size > 0; size /= 2) {
        int corner[3], k = 0;
        for (;; k++) {
            corner_of(at, k, size, corner);
            int64_t here = inside(p, corner, size);
            if (n < here) break;
            n -= here;
        }
        for (int d = 0; d < 3; d++) at[d] = corner[d];
    }
}

int brick_place_rank(const struct brick_place *w, const int at[3])
{
    int box[3], boxes[3], here[3];
    for (int d = 0; d < 3; d++) {
        int i = (at[d] % w->p[d] + w->p[d]) % w->p[d];
        boxes[d] = w->p[d] / w->near[d];
        box[d] = i / w->near[d];
        here[d] = i % w->near[d];
    }
    return (int)(order_of(boxes, box) * w->node + order_of(w->near, here));
}

bool brick_place_at(const struct brick_place *w, int rank, int at[3])
{
    int box[3], boxes[3], here[3];
    for (int d = 0; d < 3; d++) boxes[d] = w->p[d] / w->near[d];
    if (rank / w->node >= boxes[0] * boxes[1] * boxes[2] ||
        rank % w->node >= w->near[0] * w->near[1] * w->near[2])
        return false;
    at_of(boxes, rank / w->node, box);
    at_of(w->near, rank % w->node, here);
    for (int d = 0; d < 3; d++) at[d] = box[d] * w->near[d] + here[d];
    return true;
}
