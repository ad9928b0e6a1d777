/* balance: time and result of load balance (Kim 2026, section 8.6.3): the 20 Gaussian clusters of
 * tests/scale on a mesh of N^3 cells (each an oct here), initially divided into equal volumes.
 *
 *     mpirun -n RANKS balance N REPEATS
 *
 * A table on stdout. imbalance: the largest cost of a rank over the mean, before and after. Times
 * are of the slowest rank. */
#include <stdio.h>

#include "base/mem.h"
#include "box.h"
#include "dom/domain.h"
#include "repeat.h"

static double imbalance(const struct comm *c, const struct domain *d, const struct box *f,
                        const int64_t *mine, int64_t n)
{
    double *cost = mem_zero(sizeof *cost * (size_t)c->size, "costs"), max = 0, sum = 0;
    for (int64_t i = 0; i < n; i++)
        cost[domain_rank(d, f->level[mine[i]], f->key[mine[i]])] += f->cost[mine[i]];
    comm_add_f64(c, cost, c->size);
    for (int r = 0; r < c->size; r++) {
        sum += cost[r];
        if (cost[r] > max) max = cost[r];
    }
    FREE(cost);
    return max * c->size / sum;
}

/* Octs of this rank in the uniform decomposition, as input of the balancer. */
struct sample {
    int64_t n, *oct;
    int *level;
    okey *key;
    double *cost;
};

static struct sample sample_make(const struct comm *c, const struct domain *d, const struct box *f)
{
    struct sample s = {.oct = mem_new(sizeof *s.oct * (size_t)f->n + 1, "sample")};
    for (int64_t i = 0; i < f->n; i++)
        if (domain_rank(d, f->level[i], f->key[i]) == c->rank) s.oct[s.n++] = i;
    s.level = mem_new(sizeof *s.level * (size_t)s.n + 1, "sample");
    s.key = mem_new(sizeof *s.key * (size_t)s.n + 1, "sample");
    s.cost = mem_new(sizeof *s.cost * (size_t)s.n + 1, "sample");
    for (int64_t i = 0; i < s.n; i++) {
        s.level[i] = f->level[s.oct[i]];
        s.key[i] = f->key[s.oct[i]];
        s.cost[i] = f->cost[s.oct[i]];
    }
    return s;
}

static void measure(const struct comm *c, const struct box *f, enum domain_kind kind,
                    const char *name, int repeats)
{
    struct domain *even = domain_new(kind, c->size, f->levelmax, f->bounded), *d = NULL;
    struct sample s = sample_make(c, even, f);
    struct repeat r = {.comm = c};
    for (int i = 0; i < repeats; i++) {
        domain_free(d);
        repeat_begin(&r);
        d = domain_balance(
            even, kind, c,
            &(struct domain_load){.n = s.n, .level = s.level, .key = s.key, .cost = s.cost}, NULL);
        repeat_end(&r);
    }
    double before = imbalance(c, even, f, s.oct, s.n), after = imbalance(c, d, f, s.oct, s.n);
    struct repeat_times t = repeat_times(&r);
    if (c->rank == 0)
        printf("%d\t%d\t%s\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\n", c->size, 1 << (f->levelmax - 1), name,
               before, after, 1e3 * t.median, 1e3 * t.min, 1e3 * t.spread);
    FREE(s.oct);
    FREE(s.level);
    FREE(s.key);
    FREE(s.cost);
    domain_free(even);
    domain_free(d);
}

int main(int argc, char **argv)
{
    struct comm c;
    struct box f;
    char what[64];
    comm_init(&argc, &argv, &c);
    int repeats = argc == 3 ? (int)strtol(argv[2], NULL, 10) : 0;
    snprintf(what, sizeof what, "clusters:%s", argc == 3 ? argv[1] : "");
    if (repeats < 1 || box_open(what, &f) != OK) {
        if (c.rank == 0) fprintf(stderr, "usage: balance N REPEATS (N: a power of two)\n");
        comm_fini();
        return 2;
    }
    if (c.rank == 0)
        printf("ranks\tN\tdomains\timbalance_before\timbalance\tbalance_ms\tleast_ms\tspread_ms\n");
    measure(&c, &f, DOMAIN_KSECTION, "ksection", repeats);
    measure(&c, &f, DOMAIN_HILBERT, "hilbert", repeats);
    box_close(&f);
    comm_fini();
    return 0;
}
