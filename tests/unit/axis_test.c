/* The first axis of a k-section: the one along which ranks share each level best, unless the change
 * gains too little, and not x where that would cut cubes of 8^3 octs whose rows cost something.
 * Catches: an axis that is fixed; one that is not that of the new domains; rows that cost the same
 * where the plane is between two cubes.
 * test: tier=quick mpi=1,2 */
#include <stdio.h>

#include "base/mem.h"
#include "check.h"
#include "dom/domain_priv.h"

enum { BASE = 4, TOP = 5 };

static struct comm comm;
static const bool walls[6] = {true, true, true, true, true, true};

/* Whether the octs of level TOP exist here: in a slab at the lower end of `axis`. */
static bool is_refined(okey key, int axis)
{
    int64_t x[3];
    okey_coords(key, x);
    return x[axis] < 2;
}

static struct domain_load load_new(int axis)
{
    static const double work[LEVEL_MAX + 2] = {[BASE] = 1, [TOP] = 2};
    const size_t max = (size_t)9 << 3 * (BASE - 1);
    struct domain_load s = {.base = BASE, .enough = 1.03, .work = work};
    int *level = mem_new(sizeof *level * max, "test");
    okey *key = mem_new(sizeof *key * max, "test");
    double *cost = mem_new(sizeof *cost * max, "test");
    for (okey k = 0; k < (okey)1 << 3 * (BASE - 1); k++) {
        if ((int)(k % (okey)comm.size) != comm.rank) continue;
        level[s.n] = BASE, key[s.n] = k, cost[s.n++] = 1;
        for (okey c = k << 3; is_refined(k, axis) && c < (k + 1) << 3; c++)
            level[s.n] = TOP, key[s.n] = c, cost[s.n++] = 1;
    }
    s.level = level, s.key = key, s.cost = cost;
    return s;
}

/* The axis with which domains cut a box that is refined at one end of `along`. */
static int axis_with(int along, double gain, double *share)
{
    struct domain_load load = load_new(along);
    struct domain *d = domain_new(DOMAIN_KSECTION, 2, TOP, walls);
    load.gain = gain;
    struct domain *e = domain_balance(d, DOMAIN_KSECTION, &comm, &load, NULL);
    double here[2] = {0};
    for (int64_t i = 0; i < load.n; i++)
        if (load.level[i] == TOP) here[domain_rank(e, TOP, load.key[i])]++;
    comm_add_f64(&comm, here, 2);
    *share = here[0] / (here[0] + here[1]);
    int first = e->ksec.first;
    CHECK(e->ksec.axis[0] == first, "axis %d, planned %d", e->ksec.axis[0], first);
    mem_free((void *)load.level);
    mem_free((void *)load.key);
    mem_free((void *)load.cost);
    domain_free(e);
    domain_free(d);
    return first;
}

/* The first axis of a box with one level, of which no axis is better than another. */
static int axis_of(int level, double rows)
{
    static const double work[LEVEL_MAX + 2] = {[4] = 1, [5] = 1};
    const int64_t count = (int64_t)1 << 3 * (level - 1);
    struct domain_load load = {.base = level, .enough = 1.03, .work = work, .rows = rows};
    int *levels = mem_new(sizeof *levels * (size_t)count, "test");
    okey *key = mem_new(sizeof *key * (size_t)count, "test");
    double *cost = mem_new(sizeof *cost * (size_t)count, "test");
    for (okey k = 0; k < (okey)count; k++)
        if ((int)(k % (okey)comm.size) == comm.rank)
            levels[load.n] = level, key[load.n] = k, cost[load.n++] = 1;
    load.level = levels, load.key = key, load.cost = cost;
    struct domain *d = domain_new(DOMAIN_KSECTION, 2, level, walls);
    struct domain *e = domain_balance(d, DOMAIN_KSECTION, &comm, &load, NULL);
    const int first = e->ksec.first;
    domain_free(e);
    domain_free(d);
    mem_free(levels);
    mem_free(key);
    mem_free(cost);
    return first;
}

int main(int argc, char **argv)
{
    double share;
    comm_init(&argc, &argv, &comm);
    for (int a = 0; a < 3; a++) {
        int first = axis_with(a, 0, &share);
        CHECK(first == (a == 0), "refined along %d: cut along %d", a, first);
        CHECK(share == 0.5, "refined along %d: one rank has %g of the fine octs", a, share);
    }
    CHECK(axis_with(0, 10.0, &share) == 0, "another axis although it gains too little");
    CHECK(share != 0.5, "cut across x, but both ranks have half of the fine octs");
    CHECK(axis_of(4, 0) == 0, "another axis than x for no reason");
    CHECK(axis_of(4, 1) == 1, "a cut across the rows of the only cube");
    CHECK(axis_of(5, 1) == 0, "another axis although the plane is between two cubes");
    double bad = failed;
    comm_add_f64(&comm, &bad, 1);
    if (!comm.rank) printf("%d passed, %d failed\n", passed, (int)bad);
    comm_fini();
    return bad > 0;
}
